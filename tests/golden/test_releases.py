"""Every recipe publishes what it published before: files, manifest, datasheet, and what commands say about it."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from golden_comparison import differences
from golden_values import (
    COMMANDS,
    REPORTS,
    STORED,
    answers,
    datasheet,
    differences_of_manifests,
    differences_of_releases,
    manifest,
    other_answers,
    public_files,
    released,
    told,
)
from recipes import RECIPES


def stored(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_gives_what_it_gave_before(name: str, root: Path) -> None:
    before, folder = stored(STORED / f"{name}.json"), released(name, root)
    assert differences(before["public files"], public_files(folder), "public") == []
    assert differences_of_manifests(before["release.json"], manifest(folder)) == []
    assert differences(before["datasheet.html"], datasheet(folder), "datasheet.html") == []
    assert differences(told(before["commands"]), told(answers(name, root)), "commands", RECIPES[name].noise) == []


def test_further_commands_say_what_they_said_before(tmp_path: Path) -> None:
    assert differences(stored(COMMANDS), other_answers(tmp_path.resolve())) == []


def test_every_recipe_is_stored_and_nothing_else() -> None:
    assert {path.stem for path in STORED.glob("*.json")} == {*RECIPES, COMMANDS.stem}
    assert {path.stem for path in REPORTS.glob("*.json")} == {*RECIPES}


def test_every_method_has_at_least_two_recipes() -> None:
    methods = [stored(STORED / f"{name}.json")["release.json"]["method"]["name"] for name in RECIPES]
    assert len(methods) == 30
    assert len(set(methods)) == 8
    assert min(methods.count(method) for method in methods) >= 2


@pytest.mark.parametrize("name", ["mondrian-k", "perturbed-mondrian"])
def test_a_changed_byte_of_a_file_is_named(name: str) -> None:
    before = stored(STORED / f"{name}.json")
    after = copy.deepcopy(before)
    digest = after["public files"]["table.csv"]
    after["public files"]["table.csv"] = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    assert [line.split(":")[0] for line in differences_of_releases(before, after)] == ["public/table.csv"]


def test_a_changed_figure_of_a_command_is_named() -> None:
    before = stored(STORED / "mondrian-k.json")
    before["commands"]["verify DIR/public"] = {"same as": "verify DIR"}
    after = copy.deepcopy(before)
    after["commands"]["attack DIR"]["output"]["after"]["identity"]["mean"] *= 1.001
    after["commands"]["verify DIR"]["output"]["holds"] = False
    found = differences_of_releases(before, after)
    assert [line.split(":")[0] for line in found] == [
        "commands/attack DIR/output/after/identity/mean",
        "commands/verify DIR/output/holds",
        "commands/verify DIR/public/output/holds",
    ]


def test_a_changed_entry_of_a_condensed_list_is_named() -> None:
    before = stored(STORED / "mondrian-k.json")
    after = copy.deepcopy(before)
    after["commands"]["attack DIR"]["output"]["worst_rows"]["condensed"][1] *= 1.001
    assert differences_of_releases(before, after)[0].startswith(
        "commands/attack DIR/output/worst_rows/condensed (sum of numbers): "
    )


def test_noise_in_the_last_digits_is_no_difference() -> None:
    before = stored(STORED / "mondrian-k.json")
    after = copy.deepcopy(before)
    after["commands"]["attack DIR"]["output"]["after"]["identity"]["mean"] *= 1 + 1e-12
    assert differences_of_releases(before, after) == []


def test_a_manifest_may_gain_its_form_and_lose_what_was_used_but_nothing_else() -> None:
    before = stored(STORED / "noncentralized-beside-others.json")["release.json"]
    del before["form"]
    after = copy.deepcopy(before)
    after["form"] = {"name": "generalized"}
    del after["method"]["parameters"]["used"]
    assert differences_of_manifests(before, after) == []
    after["tables"][0]["columns"][0]["form"] = "other"
    after["surprise"] = 1
    after["method"]["parameters"]["l"] = 3
    found = [line.split(":")[0] for line in differences_of_manifests(before, after)]
    assert found == [
        "release.json/method/parameters/l",
        "release.json/tables/0/columns/0/form",
        "release.json/surprise",
    ]
