"""A guarantee of somebody else's package: in a spec, by --require, verified, on both pages, with no edit here."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest

import undercover as uc
from undercover import plugins
from undercover.errors import PluginError
from undercover.forms.classes import Classes
from undercover.guarantees.checking import Given, Outcome, conclude
from undercover.guarantees.requirements import guarantees_from_requirements, requirement_keys
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Guarantee, Short
from undercover.pages.words import limits

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class SmallClasses:
    """No class has more than ``rows`` rows; of ``spare`` more nobody minds."""

    name: ClassVar[str] = "small-classes"
    sense: ClassVar[Sense] = "at most"
    short: ClassVar[Short] = {"class-rows": {"spare": Given("class-rows=9,spare=1")}}

    rows: int
    spare: int = 0

    def parameters(self) -> Mapping[str, Any]:
        return {"rows": self.rows, "spare": self.spare}

    def title(self) -> str:
        return f"Classes of {self.rows}"

    def meaning(self) -> str:
        return f"Nobody is hidden among more than {self.rows} people."

    def covers(self) -> frozenset[Cover]:
        return frozenset({"attribute"})

    def check(self, classes: Classes) -> Finding:
        kept = classes.sizes <= self.rows + self.spare
        return conclude(self, classes, [Outcome(classes.sizes, kept)], required=self.rows)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "SmallClasses")


def offer(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    point = EntryPoint("small-classes", f"{__name__}:{what}", "undercover.guarantees")
    monkeypatch.setattr(plugins, "_installed", lambda kind: {point.name: point} if kind == "guarantees" else {})


@pytest.mark.usefixtures("offered")
def test_it_is_required_like_any_other() -> None:
    promise: Guarantee = SmallClasses(rows=9, spare=1)
    assert guarantees_from_requirements(["class-rows=9,spare=1", "k=2"]) == (promise, uc.KAnonymity(k=2))
    assert {"class-rows", "spare", "k"} <= set(requirement_keys())


@pytest.mark.usefixtures("offered")
def test_it_goes_all_the_way(undercover: Command, people: Path, tmp_path: Path) -> None:
    spec, folder = tmp_path / "spec.toml", tmp_path / "release"
    spec.write_text(
        '[roles]\nquasi_identifiers = ["age", "sex", "zip"]\nsensitive = "disease"\nidentifiers = "name"\n'
        '[[require]]\nname = "small-classes"\nrows = 1000\n'
    )
    asked = ("--method", "mondrian", "--set", "k=5", "--require", "class-rows=999")
    done = undercover("publish", people, "--spec", spec, *asked, "--out", folder)
    assert done.code == 0, done.err
    manifest = json.loads((folder / "public" / "release.json").read_text())
    assert [entry["name"] for entry in manifest["guarantees"]] == ["k-anonymity", "small-classes", "small-classes"]
    checked = undercover("verify", folder, "--json")
    assert checked.code == 0
    assert [finding["holds"] for finding in json.loads(checked.out)["guarantees"]] == [True] * 3
    for page in (folder / "private" / "report.html", folder / "public" / "datasheet.html"):
        text = page.read_text()
        assert "Classes of 999" in text
        assert "Nobody is hidden among more than 1000 people." in text
    release = uc.load(folder).release
    assert not any("Nothing is promised about sensitive values" in limit for limit in limits(release))
    failing = undercover("verify", folder, "--require", "class-rows=2")
    assert (failing.code, "DOES NOT HOLD" in failing.out) == (4, True)


def test_where_the_package_is_missing_it_is_not_checked(
    undercover: Command, people: Path, roles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "release"
    with monkeypatch.context() as installed:
        offer(installed, "SmallClasses")
        asked = ("--method", "mondrian", "--set", "k=5", "--require", "class-rows=999")
        assert undercover("publish", people, *roles, *asked, "--out", folder).code == 0
    checked = undercover("verify", folder)
    assert checked.code == 4
    assert "not checked" in checked.out
    assert "small-classes was not checked: no installed package offers" in " ".join(checked.out.split())
    (_, finding) = json.loads(undercover("verify", folder, "--json").out)["guarantees"]
    assert (finding["holds"], finding["actual"]) == (None, None)
    # What is known of it is only what its manifest says: no promise of anything.
    assert any("Nothing is promised about sensitive values" in limit for limit in limits(uc.load(folder).release))


class Greedy(SmallClasses):
    short: ClassVar[Short] = {"k": {}}


def test_a_key_that_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "Greedy")
    with pytest.raises(PluginError, match=r"small-classes of .* and k-anonymity are both required by `k`"):
        guarantees_from_requirements(["k=5"])
