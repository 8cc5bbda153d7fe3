"""A method of another package: every command works with it, and nothing here knows its name."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import undercover as uc
from undercover import plugins
from undercover.model.about import About, Stop, Sweep, about_of
from undercover.model.form import Generalized
from undercover.model.groups import Groups
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.steps.recoding import box_cells, generalized_table
from undercover.studies.compare.plan import without_sweep
from undercover.studies.tour import stops
from undercover.verbs.joint import method_of

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Neighbours in the file are published together. Nothing more is done.

    Parameters
    ----------
    size
        Rows of a group.
    """

    name: ClassVar[str] = "pairs"

    size: int = 2

    @property
    def algorithm_safe(self) -> bool:
        return True

    def claims(self, table: Table) -> tuple[uc.KAnonymity, ...]:
        return (uc.KAnonymity(k=self.size),)

    def anonymize(self, table: Table, *, randomness: Any, **_: Any) -> Draft:
        count = table.n_rows // self.size
        groups = Groups(np.minimum(np.arange(table.n_rows) // self.size, count - 1).astype(np.int32), count)
        published = generalized_table(table, groups, box_cells(table, groups), randomness)
        return Draft(tables=(published,), groups=groups, form=Generalized())


class ToldPairs(Pairs):
    name: ClassVar[str] = "told-pairs"
    about: ClassVar[str] = f"{__name__}:TOLD"


TOLD = About(
    title="Pairs of neighbours",
    did=lambda release: "Neighbours were paired.",
    main=lambda release: {"size": release.parameters["size"]},
    stages=lambda run: [("Paired", f"{run.groups.count} pairs were made.")],
    limits=lambda release: ["Neighbours may be brothers."],
    sweeps=(Sweep("Pairs", "size", (3, 6)),),
    tour=(Stop("pairs-4", "Pairs of 4", {"size": 4}),),
)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    offered = {
        kind.name: EntryPoint(kind.name, f"{__name__}:{kind.__name__}", "undercover.methods")
        for kind in (Pairs, ToldPairs)
    }
    monkeypatch.setattr(plugins, "_installed", lambda kind: offered if kind == "methods" else {})
    about_of.cache_clear()
    yield
    about_of.cache_clear()


@pytest.fixture
def made(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> Callable[[str], Path]:
    def publish(method: str) -> Path:
        out = tmp_path / method
        done = undercover("publish", people, *roles, "--method", method, "--set", "size=3", "--out", out)
        assert done.code == 0, done.err
        return out

    return publish


@pytest.mark.parametrize("method", ["pairs", "told-pairs"])
def test_every_command_works_with_it(
    undercover: Command, made: Callable[[str], Path], people: Path, tmp_path: Path, method: str
) -> None:
    folder = made(method)
    assert undercover("verify", folder / "public").code == 0
    assert undercover("attack", folder).code == 0
    assert undercover("measure", folder, "--original", people).code == 0
    read = uc.load(folder)
    assert read.recipe == {"size": 3}
    assert type(method_of(read)) is plugins.load("methods", method)
    assert method_of(read).size == 3  # type: ignore[attr-defined]
    spec = (folder / "private" / "spec.toml").read_text()
    assert f'name = "{method}"\nsize = 3\n' in spec
    again = undercover("publish", people, "--spec", folder / "private" / "spec.toml", "--out", tmp_path / "again")
    assert again.code == 0, again.err
    applied = undercover("apply", folder, "--to", people, "--out", tmp_path / "applied")
    assert applied.code == 0, applied.err
    assert f"{method}, size=3: the recipe of" in applied.out
    found = undercover("compare", people, "--spec", folder / "private" / "spec.toml", "--methods", method,
                       "--out", tmp_path / "compared", "--queries", "5", "--json")  # fmt: skip
    assert found.code == 0, found.err
    titles = [release["title"] for release in json.loads(found.out)["releases"]]
    assert titles == [*(["Pairs, size=3", "Pairs, size=6"] if method == "told-pairs" else []), "As in the spec"]


def test_one_that_says_nothing_of_itself_has_words_all_the_same(made: Callable[[str], Path]) -> None:
    folder = made("pairs")
    for page in (folder / "private" / "report.html", folder / "public" / "datasheet.html"):
        assert "Neighbours in the file are published together." in page.read_text()
        assert "Pairs" in page.read_text()
    assert without_sweep(["pairs"]) == ["pairs"]


def test_one_that_does_is_shown_as_it_says(made: Callable[[str], Path]) -> None:
    folder = made("told-pairs")
    report, datasheet = ((folder / name).read_text() for name in ("private/report.html", "public/datasheet.html"))
    for page in (report, datasheet):
        assert "Pairs of neighbours, size = 3" in page
        assert "Neighbours were paired." in page
        assert "Neighbours may be brothers." in page
    assert "pairs were made." in report
    assert "pairs were made." not in datasheet
    assert [stop.folder for method, stop in stops() if method == "told-pairs"] == ["pairs-4"]


def test_a_release_of_a_method_that_is_not_installed_here_can_be_read(
    undercover: Command, made: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made("told-pairs")
    monkeypatch.setattr(plugins, "_installed", lambda kind: {})
    about_of.cache_clear()
    assert undercover("verify", folder).code == 0
    assert undercover("attack", folder).code == 0
    refused = undercover("attack", folder, "--knows-algorithm")
    assert (refused.code, "Method `told-pairs` is not known" in refused.err) == (2, True)
