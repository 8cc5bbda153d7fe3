"""People with several rows: what linkage reaches on them, beside going through all that may be."""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.linkage import LinkageResult
from undercover.model.run import Run
from undercover.model.table import Table


def visits(n_rows: int = 40, people: int = 22, seed: int = 3) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "patient": draw.integers(0, people, n_rows),
            "age": draw.integers(20, 60, n_rows),
            "sex": draw.choice(["f", "m"], n_rows),
            "ill": draw.choice(["flu", "cold", "gout", "hiv"], n_rows),
        }
    )


def schema(**more: object) -> uc.Schema:
    return uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", unit="patient", **more)  # type: ignore[arg-type]


def linked(run: Run) -> LinkageResult:
    found: LinkageResult = uc.attack(run, uc.Linkage())
    return found


def classes_of(run: Run) -> tuple[Table, list[list[int]]]:
    assert run.original is not None
    return run.original, [list(map(int, run.groups.rows_of(group))) for group in range(run.groups.count)]


def everything(run: Run, person: int) -> tuple[float, dict[int, float]]:
    """Identity and every value's belief of one person, by all ways his rows may lie among those of their classes."""
    table, classes = classes_of(run)
    assert table.units is not None
    codes = table["ill"].codes
    identity, choices = 0.0, []
    for rows in classes:
        mine = [row for row in rows if table.units[row] == person]
        identity = max(identity, len(mine) / len(rows))
        choices.append(list(combinations(rows, len(mine))))
    beliefs = {}
    for value in {int(codes[row]) for row in range(table.n_rows) if table.units[row] == person}:
        worlds = [any(codes[row] == value for part in world for row in part) for world in product(*choices)]
        beliefs[value] = float(np.mean(worlds))
    return identity, beliefs


def test_identity_and_attribute_are_those_of_all_worlds() -> None:
    """Full-domain classes do not overlap, so the rows that fit somebody are those of his class."""
    run = uc.publish(visits(24, 14), schema(), uc.Incognito(k=3), policy="none")
    found = linked(run)
    table, classes = classes_of(run)
    assert table.units is not None
    assert prod(map(len, classes)) > 1
    several = [person for person, rows in enumerate(np.bincount(table.units)) if rows > 1]
    assert len(several) > 3
    told = found.values["ill"]
    person_of = table.units[told.rows]
    for person in range(int(table.units.max()) + 1):
        identity, beliefs = everything(run, person)
        assert found.after.identity[person] == pytest.approx(identity)
        values = table["ill"].codes[told.rows[person_of == person]]
        assert dict(zip(values.tolist(), told.belief[person_of == person], strict=True)) == pytest.approx(beliefs)
        assert found.after.attribute["ill"][person] == pytest.approx(max(beliefs.values()))


def test_one_entry_for_each_person() -> None:
    run = uc.publish(visits(), schema(), uc.Mondrian(k=3), policy="none")
    found = linked(run)
    assert run.original is not None
    assert run.original.units is not None
    people = len(np.unique(run.original.units))
    assert len(found.rows) == len(found.after.identity) == len(found.after.attribute["ill"]) == people < 40
    assert found.to_dict()["targets"] == people
    assert run.original.units[found.rows].tolist() == list(range(people))
    assert found.baseline["identity"] == 1 / people
    assert found.after.identity.max() <= 1 / 3 + 1e-12
    assert "knows all rows of the person" in found.story


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_rows_in_boxes_that_overlap_are_counted_wherever_they_fit(seed: int) -> None:
    """A person's row fits another one of his if the box of its group does, here worked out from the groups."""
    data = visits(30, 20, seed).set_column(3, "ill", pa.array([str(row % 13) for row in range(30)]))
    run = uc.publish(data, schema(), uc.Streamliner(l=2), policy="none", seed=seed)
    table, classes = classes_of(run)
    assert table.units is not None
    age, sex = table["age"].codes.astype(int), table["sex"].codes.astype(int)
    boxes = [(min(age[rows]), max(age[rows]), {sex[row] for row in rows}, rows) for rows in classes]
    expected = np.zeros(int(table.units.max()) + 1)
    overlapping = 0
    for row, person in enumerate(table.units):
        fitting = [rows for low, high, both, rows in boxes if low <= age[row] <= high and sex[row] in both]
        overlapping += len(fitting) > 1
        mine = sum(table.units[other] == person for rows in fitting for other in rows)
        expected[person] = max(expected[person], mine / sum(map(len, fitting)))
    assert overlapping
    assert linked(run).after.identity.tolist() == pytest.approx(expected.tolist())


def test_before_publication_somebody_is_found_by_any_of_his_rows() -> None:
    data = pa.table({"patient": [1, 1, 2, 3], "age": [30, 30, 30, 40], "sex": ["f"] * 4, "ill": ["a", "b", "a", "c"]})
    found = linked(uc.publish(data, schema(), uc.Mondrian(k=1), policy="none"))
    assert found.before.identity.tolist() == pytest.approx([2 / 3, 1 / 3, 1])
    # Patient 1 has two of the three rows of 30, two of which show "a": it is in none of his never.
    assert found.before.attribute["ill"].tolist() == pytest.approx([1, 2 / 3, 1])


def test_without_units_nothing_changes() -> None:
    plain = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")
    run = uc.publish(visits(), plain, uc.Mondrian(k=3), policy="none")
    found = linked(run)
    assert len(found.rows) == 40
    assert found.values == {}


def test_an_attacker_who_counts_rows_understates_it() -> None:
    """A table whose classes are large in rows and small in people: the fault that units are for."""
    data = pa.table(
        {"patient": [1, 1, 1, 1, 2], "age": [30] * 5, "sex": ["f"] * 5, "ill": ["a", "b", "c", "d", "e"]},
    )
    plain = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", identifiers="patient")
    assert linked(uc.publish(data, plain, uc.Mondrian(k=5), policy="none")).after.identity.max() == pytest.approx(1 / 5)
    run = uc.publish(data, schema(), uc.Mondrian(k=1), policy="none")
    assert linked(run).after.identity.max() == pytest.approx(4 / 5)
    assert linked(run).after.attribute["ill"].max() == pytest.approx(4 / 5)


def test_what_is_believed_without_the_release_is_no_exposure() -> None:
    """With ten rows half of which are flu, flu is among somebody's anyway; the verdict weighs what the release adds."""
    draw = np.random.default_rng(2)
    data = pa.table(
        {
            "patient": np.repeat(np.arange(60), 10),
            "age": np.repeat(draw.integers(20, 30, 60), 10),
            "sex": ["f", "m"] * 300,
            "ill": draw.choice(["flu", "cold"], 600),
        }
    )
    run = uc.publish(data, schema(), uc.Mondrian(k=5))
    told = linked(run).values["ill"]
    assert told.belief.min() > 0.9
    assert told.prior.min() > 0.9
    (excused,) = (reason for reason in run.verdict.reasons if reason.kind == "exposed")
    assert (excused.weight, excused.people, excused.excused) == ("note", 0, 60)
    assert "found" not in [reason.kind for reason in run.verdict.reasons]
    careless = uc.publish(data, schema(), uc.Mondrian(k=1))
    (found,) = (reason for reason in careless.verdict.reasons if reason.kind == "found")
    assert found.people == int((linked(careless).after.identity > 0.2 + 1e-9).sum()) > 0
