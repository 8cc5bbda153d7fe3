"""Promises to people who have several rows: kept by methods that say so, refused by others, verified privately."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover import plugins
from undercover.errors import InternalError, ParameterError, UnreachableError
from undercover.guarantees.verify import verify, verify_private
from undercover.model.protocols import per_unit
from undercover.model.run import Run
from undercover.model.table import Table
from undercover.parameters import make
from undercover.randomness import Randomness
from undercover.steps.dealing.rounds import rounds_of
from undercover.testing.methods import minds_people
from undercover.units import most_of_one
from undercover.verbs.publish import publish_table

SETTINGS: dict[str, dict[str, Any]] = {
    "mondrian": {"k": 3},
    "incognito": {"k": 3},
    "anatomy": {"l": 3},
    "streamliner": {"l": 3},
    "mutual-cover": {"delta": "1/3", "l": 2},
    "perturbed-generalization": {"k": 3, "p": 0.3},
    "cross-bucket": {"k": 2, "l": 2},
    "noncentralized": {"l": 2},
}
KEEPING: list[Any] = [
    uc.Mondrian(k=3),
    uc.Mondrian(k=3, l=2),
    uc.Mondrian(k=3, cut="median", recoding="regions"),
    uc.Incognito(k=3),
    uc.Incognito(k=3, suppression=0.2),
    uc.Incognito(k=3, l=2, diversity="distinct", suppression=0.2),
    uc.Anatomy(l=3),
    *(uc.Streamliner(l=3, algorithm=each) for each in ("wrap", "rda", "classes", "guided", "ria")),  # type: ignore[arg-type]
]


def visits(seed: int, n_rows: int = 150, people: int = 110) -> pa.Table:
    """Visits of patients who mostly keep their sex and age, as patients do."""
    draw = np.random.default_rng(seed)
    patient = draw.integers(0, people, n_rows)
    age = draw.integers(20, 60, people)[patient] + draw.integers(0, 3, n_rows)
    return pa.table(
        {
            "patient": patient,
            "age": age,
            "sex": draw.choice(["f", "m"], people)[patient],
            "ill": draw.choice([f"illness {number}" for number in range(25)], n_rows),
        }
    )


def schema(**more: Any) -> uc.Schema:
    return uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", unit="patient", **more)


def held(run: Run) -> tuple[Counter[tuple[int, int]], Counter[int]]:
    """Rows of every person in every group, and of every group, one by one."""
    assert run.original is not None
    assert run.original.units is not None
    person = dict(zip(run.original.rows.tolist(), run.original.units.tolist(), strict=True))
    labels = (run.groups.labels if run.buckets is None else run.buckets).tolist()
    pairs = Counter((label, person[row]) for label, row in zip(labels, run.rows.tolist(), strict=True))
    return pairs, Counter(labels)


@pytest.mark.parametrize("method", KEEPING, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_has_too_much_of_a_group(method: Any, seed: int) -> None:
    run = uc.publish(visits(seed), schema(), method, policy="none")
    pairs, sizes = held(run)
    asked = getattr(method, "k", 3)
    for (group, _), rows in pairs.items():
        assert rows * asked <= sizes[group]
    if not hasattr(method, "k"):
        assert set(pairs.values()) == {1}
    for group in sizes:
        assert len([1 for each, _ in pairs if each == group]) >= asked
    claims = [claim for claim in run.release.guarantees if claim.get("per") == "patient"]
    assert [claim["holds"] for claim in claims] == [True]
    assert claims[0]["needs"] == "private"


def test_without_a_unit_the_same_table_fails() -> None:
    """What units are for: k counts rows, and somebody has most of a class."""
    plain = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", identifiers="patient")
    run = uc.publish(visits(1), plain, uc.Mondrian(k=3), policy="none")
    most, people = most_of_one(run.groups.labels, visits(1)["patient"].to_numpy(), run.groups.count)
    assert (most * 3 > run.groups.sizes).any()
    assert (people < 3).any()


@dataclass(frozen=True, kw_only=True)
class Careless(uc.Mondrian):
    """Says that it minds people, and cuts rows."""

    name: ClassVar[str] = "mondrian"

    def anonymize(self, table: Table, **how: Any) -> Any:
        """Forget whose rows they are."""
        return super().anonymize(replace(table, units=None), **how)


def test_a_method_that_ignores_people_is_caught() -> None:
    with pytest.raises(
        InternalError, match=r"own claim does not hold: <Finding: k-anonymity fails, [12] where at least 3"
    ):
        uc.publish(visits(1), schema(), Careless(k=3), policy="none")


@dataclass(frozen=True, kw_only=True)
class Silent(uc.Mondrian):
    """Says that it minds people, and promises them nothing."""

    name: ClassVar[str] = "mondrian"

    def claims(self, table: Table) -> Any:
        """Rows only."""
        return (uc.KAnonymity(k=self.k),)


def test_a_plug_in_that_declares_it_must_keep_it() -> None:
    minds_people(uc.Mondrian(k=3))
    minds_people(uc.CrossBucket(k=2, l=2))
    with pytest.raises(AssertionError, match="promises them nothing"):
        minds_people(Silent(k=3))
    with pytest.raises(AssertionError, match="k-anonymity fails"):
        minds_people(Careless(k=3))


def test_a_bucket_with_two_rows_of_a_person_is_caught() -> None:
    run = uc.publish(visits(1), schema(), uc.Anatomy(l=3), policy="none")
    units = run.frames["units"]["unit"].to_numpy().copy()
    assert run.buckets is not None
    first, second = np.flatnonzero(run.buckets == run.buckets[0])[:2]
    units[second] = units[first]
    forged = replace(run, frames={"units": pa.table({"unit": units})})
    found = verify_private(verify(run.release), forged)
    assert [finding.holds for finding in found.findings] == [True, False]
    assert found.findings[1].actual == 1.5
    lost = verify_private(verify(run.release), replace(run, frames={}))
    assert "does not say whose rows they are" in lost.findings[1].note


def test_published_tables_alone_cannot_tell_and_say_so(tmp_path: Path) -> None:
    run = uc.publish(visits(2), schema(), uc.Mondrian(k=3), policy="none")
    uc.save(run, tmp_path / "out")
    alone, both = uc.verify(tmp_path / "out" / "public"), uc.verify(tmp_path / "out")
    assert [finding.holds for finding in alone.findings] == [True, None]
    assert [finding.holds for finding in both.findings] == [True, True]
    public = "".join(path.read_text() for path in (tmp_path / "out" / "public").iterdir() if path.suffix != ".parquet")
    claim = json.loads((tmp_path / "out" / "public" / "release.json").read_text())["guarantees"][1]
    assert (claim["per"], claim["needs"]) == ("patient", "private")
    assert 'unit":' not in public
    assert not (tmp_path / "out" / "public" / "units.parquet").exists()
    assert (tmp_path / "out" / "private" / "units.parquet").exists()


@pytest.mark.parametrize("name", plugins.names("methods"))
def test_who_does_not_mind_people_refuses_them(name: str) -> None:
    method = make("methods", name, SETTINGS.get(name, {}))
    if per_unit(method):
        return
    with pytest.raises(ParameterError, match=r"protects rows, and \d+ people have 150 of them.*one_row_per=.first."):
        publish_table(Table.from_arrow(visits(1), schema()), method)


def test_one_row_of_each_is_for_every_method() -> None:
    run = uc.publish(visits(1), schema(one_row_per="random"), uc.CrossBucket(k=2, l=2), policy="none")
    assert run.original is not None
    assert run.original.units is None
    assert "units" not in run.frames


def test_somebody_with_too_many_rows_makes_k_unreachable() -> None:
    data = pa.table({"patient": [1] * 6 + [2, 3, 4, 5], "age": range(10), "sex": ["f"] * 10, "ill": list("abcdefghij")})
    for method in (uc.Mondrian(k=2), uc.Incognito(k=2)):
        with pytest.raises(
            UnreachableError, match="one `patient` has 6 of the 10 rows; the largest feasible k is 1"
        ) as no:
            uc.publish(data, schema(), method, policy="none")
        assert no.value.best == {"k": 1}


def test_rounds_that_are_not_eligible_are_refused() -> None:
    data = pa.table({"patient": [1, 1, 1, 2, 3, 4], "age": range(6), "sex": ["f"] * 6, "ill": list("abcabc")})
    with pytest.raises(UnreachableError, match="one `patient` has 3 rows, so the 6 rows are dealt in as many rounds"):
        uc.publish(data, schema(), uc.Anatomy(l=3), policy="none")


def test_everybody_has_one_row_in_a_round_and_rounds_are_equally_large() -> None:
    units = np.random.default_rng(4).integers(0, 30, 100)
    drawn = rounds_of(units, Randomness())
    assert len(set(zip(units.tolist(), drawn.tolist(), strict=True))) == 100
    sizes = np.bincount(drawn)
    assert sizes.max() - sizes.min() <= 1
    assert rounds_of(units, Randomness(3)).tolist() == rounds_of(units, Randomness(3)).tolist()
    seen = {tuple(rounds_of(np.array([0, 0, 1]), Randomness())) for _ in range(200)}
    assert seen == {(0, 1, 0), (1, 0, 0)}


@pytest.mark.parametrize("method", [uc.Mondrian(k=3), uc.Streamliner(l=3)], ids=str)
def test_linkage_finds_nobody_beyond_the_promise(method: Any) -> None:
    found = uc.attack(uc.publish(visits(2), schema(), method, policy="none"))
    assert found.after.identity.max() <= 1 / 3 + 1e-12
    assert found.before.identity.max() == 1


def test_regrouping_does_not_mind_people() -> None:
    with pytest.raises(ParameterError, match="moves rows, not the people"):
        uc.publish(visits(1), schema(), uc.Mondrian(k=3, refine=True), policy="none")


def worlds(rows: int, marked: int, mine: int) -> float:
    """How often one of ``mine`` rows of a class is marked, over all ways they may lie in it."""
    from itertools import combinations

    ways = list(combinations(range(rows), mine))
    return sum(any(place < marked for place in way) for way in ways) / len(ways)


@pytest.mark.parametrize("rows", [2, 3, 5, 7])
def test_the_bound_of_l_per_person_holds_in_all_worlds(rows: int) -> None:
    """Docs/theory/units.md, proposition 2: at most m c / n; and the published figure is that bound."""
    for marked in range(1, rows + 1):
        for mine in range(1, rows + 1):
            assert worlds(rows, marked, mine) <= mine * marked / rows + 1e-12


def test_a_requirement_of_l_per_person_counts_the_rows_somebody_has() -> None:
    asked: Callable[[float], Any] = lambda l: uc.LDiversity(l=l, per="patient")  # noqa: E731, E741
    run = uc.publish(visits(1), schema(), uc.Mondrian(k=12), require=[asked(1)], policy="none")
    pairs, _ = held(run)
    rows, people = run.release.guarantees[0], run.release.guarantees[-1]
    assert people["name"] == "l-diversity"
    by_row = uc.verify(run.release, also=[uc.LDiversity(l=1)]).findings[-1].actual
    assert by_row is not None
    assert people["actual"] == pytest.approx(by_row / max(pairs.values()))
    assert max(pairs.values()) > 1
    assert rows["name"] == "k-anonymity"
    with pytest.raises(UnreachableError, match="l-diversity asks for 20"):
        uc.publish(visits(1), schema(), uc.Mondrian(k=12), require=[asked(20)], policy="none")
    with pytest.raises(ParameterError, match="'per' parameter of LDiversity belongs to form"):
        uc.LDiversity(l=2, form="entropy", per="patient")
