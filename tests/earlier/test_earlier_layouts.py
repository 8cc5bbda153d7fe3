"""Release folders and specs that earlier states of this program wrote are read, verified and attacked as ever.

They were written by those states themselves (`Mondrian(k=3)`, `Anatomy(l=3)`, `MutualCover(delta=0.5, l=2)`,
`PerturbedGeneralization(k=3, p=0.3)`) and are never made anew: layout 1 by the last one without forms, 2 by the last
one without hashes of files, 3 by the first one with them, and by 0.1.0 as it was when layouts got their numbers.
"""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

import undercover as uc
from earlier.people import PEOPLE
from undercover.errors import DataError, ParameterError, SchemaError
from undercover.io.release.contents import LAYOUT, public_part
from undercover.io.spec.file import SPEC_VERSION
from undercover.io.spec.load import load_spec
from undercover.parameters import make

STORED = Path(__file__).parent / "stored"
FOLDERS = sorted(STORED.glob("*/*"))
NAMES = [f"{folder.parent.name}-{folder.name}" for folder in FOLDERS]


def test_every_layout_is_stored() -> None:
    assert {f"layout-{number}" for number in range(1, LAYOUT + 1)} <= {folder.parent.name for folder in FOLDERS}


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_they_verify_with_and_without_the_private_part(folder: Path) -> None:
    """None of them says its layout, so each needs permission: a folder that was cut down looks the same."""
    for place in (folder / "public", folder):
        assert ["old layout" in problem for problem in uc.verify(place).problems] == [True]
        found = uc.verify(place, allow_old=True)
        needs_run = place != folder and all(finding.needs for finding in found.findings)
        refutable = any(finding.is_refutable for finding in found.findings)
        assert found.holds is (None if needs_run and not refutable else True)
        assert not found.problems
        assert found.old


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_they_are_attacked(folder: Path) -> None:
    found = uc.attack(folder, original=PEOPLE)
    assert found.rows.size == PEOPLE.num_rows
    assert found.before.identity.max() == 1  # everybody is alone in the original
    assert found.after.attribute["illness"].max() < 1


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_their_spec_makes_the_release_once_more(folder: Path) -> None:
    spec = load_spec(folder / "private" / "spec.toml")
    assert spec.schema.quasi_identifiers == ("age", "sex", "city")
    asked = dict(spec.method_parameters)
    if "keep_order" in asked:  # mutual cover had one variant, which an informed attacker undoes: nobody gets it unasked
        with pytest.raises(ParameterError, match="`layers` of MutualCover takes no partition; `paper` does"):
            make("methods", str(spec.method_name), asked)
        asked["variant"] = "paper"
    made = uc.publish(PEOPLE, spec.schema, make("methods", str(spec.method_name), asked))
    assert made.release.method == json.loads((folder / "public" / "release.json").read_text())["method"]["name"]
    assert uc.verify(made).holds


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_one_changed_cell_is_told(folder: Path, tmp_path: Path) -> None:
    """A layout that cannot tell everything tells this."""
    shutil.copytree(folder, tmp_path / "copy")
    table = next((tmp_path / "copy" / "public").glob("*.csv"))
    table.write_text(table.read_text().replace("flu", "cold").replace("Ulm", "Bonn"))
    assert uc.verify(tmp_path / "copy" / "public", allow_old=True).holds is False


def test_what_is_written_now_says_its_versions(tmp_path: Path) -> None:
    schema = uc.Schema(identifiers="name", quasi_identifiers=["age", "city"], sensitive="illness", drop="sex")
    out = uc.save(uc.publish(PEOPLE, schema, uc.Mondrian(k=3)), tmp_path / "out")
    assert json.loads((public_part(out) / "release.json").read_text())["layout"] == LAYOUT
    assert tomllib.loads((out / "private" / "spec.toml").read_text())["version"] == SPEC_VERSION


@pytest.mark.parametrize("part", ["public", "private"])
def test_a_later_layout_is_refused_with_what_to_do(part: str, tmp_path: Path) -> None:
    shutil.copytree(STORED / "layout-3" / "mondrian", tmp_path / "out")
    place = tmp_path / "out" / ("public/release.json" if part == "public" else "private/run.json")
    content = json.loads(place.read_text())
    (content if part == "public" else content["release"])["layout"] = LAYOUT + 1
    place.write_text(json.dumps(content))
    with pytest.raises(DataError, match=rf"has layout {LAYOUT + 1}.*Install a later version"):
        uc.verify(tmp_path / "out")


@pytest.mark.parametrize("layout", [0, -1, True, "3", 3.0, None, [3]])
def test_a_layout_that_is_none_is_told(layout: object, tmp_path: Path) -> None:
    shutil.copytree(STORED / "layout-3" / "mondrian" / "public", tmp_path / "out")
    place = tmp_path / "out" / "release.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "layout": layout}))
    if layout is None:
        assert uc.verify(tmp_path / "out", allow_old=True).holds
        assert uc.verify(tmp_path / "out").holds is False
    else:
        with pytest.raises(DataError, match="layout"):
            uc.verify(tmp_path / "out")


def test_a_layout_without_the_files_it_has_was_cut_down(tmp_path: Path) -> None:
    shutil.copytree(STORED / "layout-3" / "mondrian" / "public", tmp_path / "out")
    place = tmp_path / "out" / "release.json"
    content = {**json.loads(place.read_text()), "layout": 3}
    del content["files"]
    place.write_text(json.dumps(content))
    found = uc.verify(tmp_path / "out")
    assert not found.holds
    assert any("`layout` and no `files`" in problem for problem in found.problems)


def test_a_later_spec_is_refused_with_what_to_do(tmp_path: Path) -> None:
    place = tmp_path / "spec.toml"
    place.write_text(f"version = {SPEC_VERSION + 1}\n[novel]\nkey = 1\n")
    with pytest.raises(SchemaError, match="Install a later version") as caught:
        load_spec(place)
    assert len(caught.value.problems) == 1
    place.write_text("version = 0\n")
    with pytest.raises(SchemaError, match="version"):
        load_spec(place)
