"""Releases of the same people together: by hand, against brute force over all worlds, and every form by its facts."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.joint import anonymity
from undercover.attacks.joint.overlap import OverlapResult, overlap
from undercover.attacks.joint.subtraction import Accounts, Sums, possible_values
from undercover.errors import ParameterError
from undercover.model.form import Drawn, Generalized
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.table import Table

ROWS = [(30, "H"), (45, "M"), (60, "H"), (60, "M"), (30, "M")]


def table_of(rows: list[tuple[int, str]]) -> Table:
    data = pa.table({"age": [age for age, _ in rows], "pay": [pay for _, pay in rows]})
    return Table.from_arrow(data, uc.Schema(quasi_identifiers=["age"], sensitive="pay"))


def cut(rows: list[tuple[int, str]], *ends: int) -> Release:
    """The rows with ages from one end to the next, both ends among the ages that may be."""
    borders = [0, *ends, 100]
    cells = [next(f"[{a}, {b - 1}]" for a, b in pairwise(borders) if a <= age < b) for age, _ in rows]
    return by_hand([(cell, pay) for cell, (_, pay) in zip(cells, rows, strict=True)])


def by_hand(rows: list[tuple[str, str]]) -> Release:
    columns = (PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("pay", "sensitive", "value"))
    data = pa.table({"age": [cell for cell, _ in rows], "pay": [pay for _, pay in rows]})
    return Release("by hand", {}, (PublishedTable("table", columns, data),), True, form=Generalized())


def test_cuts_that_cross_are_subtracted() -> None:
    found = overlap([cut(ROWS, 40), cut(ROWS, 50)], table_of(ROWS))
    assert found.joined.tolist() == [2, 2, 2, 2, 2]  # every class has both values
    assert found.together.left.tolist() == [2, 1, 2, 2, 2]
    assert found.together.truth[1] == found.together.highest[1] == 1.0
    assert found.newly_certain.tolist() == [False, True, False, False, False]
    said = found.to_dict()
    assert (said["together"]["certain"], said["newly_certain"], said["by_subtraction"]) == (1, 1, 1)
    assert [entry["alone"]["certain"] for entry in said["releases"]] == [0, 0]
    assert said["worst_rows"][0]["row"] == 1
    assert found.view().private
    assert found.view().verdict == "bad"


def test_one_release_says_what_linkage_says() -> None:
    people = uc.datasets.census(800, seed=3)
    run = uc.publish(people, uc.datasets.census_schema(["age", "sex"]), uc.Mondrian(k=8), seed=1)
    assert run.original is not None
    found = overlap([run.release], run.original)
    linked = uc.attack(run).after
    assert found.together.truth == pytest.approx(linked.attribute["income"])
    assert found.parts[0].alone is not None
    assert found.parts[0].alone.truth == pytest.approx(linked.attribute["income"])


def plain_beliefs(tables: list[list[dict[str, str]]], people: list[dict[str, Any]]) -> list[dict[str, float]]:
    """The twin: rows that fit by comparing numbers, shares by counting, beliefs by the formula."""
    values = sorted({str(person["pay"]) for person in people})
    prior = {value: sum(str(p["pay"]) == value for p in people) / len(people) for value in values}
    found = []
    for person in people:
        weight = dict(prior)
        for rows in tables:
            names = [name for name in rows[0] if name != "pay"]
            fitting = [row["pay"] for row in rows if all(fits(row[name], person[name]) for name in names)]
            for value in values:
                weight[value] *= fitting.count(value) / len(fitting) / prior[value]
        total = sum(weight.values())
        found.append({value: weight[value] / total for value in values})
    return found


def fits(cell: str, value: int) -> bool:
    low, high = cell[1:-1].split(", ") if cell.startswith("[") else (cell, cell)
    return cell == "*" or int(low) <= value <= int(high)


@pytest.mark.parametrize("seed", range(6))
def test_beliefs_against_their_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    data = pa.table(
        {
            "a": rng.integers(0, 12, n),
            "b": rng.integers(0, 6, n),
            "pay": [str(value) for value in rng.integers(0, 4, n)],
        }
    )
    original = Table.from_arrow(data, uc.Schema(quasi_identifiers=["a", "b"], sensitive="pay"))
    # Boxes overlap; medians of different columns cross.
    made = [
        uc.publish(data, uc.Schema(quasi_identifiers=names, sensitive="pay"), method, seed=seed).release
        for names, method in ((["a"], uc.Mondrian(k=9)), (["a", "b"], uc.Mondrian(k=7)), (["b"], uc.Mondrian(k=9)))
    ]
    found = overlap(made, original)
    people = data.to_pylist()
    rows = [[{k: str(v) for k, v in row.items()} for row in r.tables[0].data.to_pylist()] for r in made]
    expected = plain_beliefs(rows, people)
    joined = [sum(share > 0 for share in belief.values()) for belief in expected]
    assert found.joined.tolist() == joined
    same = found.together.left == found.joined  # nothing struck out by subtraction
    assert same.any()
    for person, belief, truth, highest, as_is in zip(
        people, expected, found.together.truth, found.together.highest, same, strict=True
    ):
        if as_is:
            assert truth == pytest.approx(belief[person["pay"]])
            assert highest == pytest.approx(max(belief.values()))


def worlds(classes: list[tuple[int, ...]], values: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every way in which people may have these values such that each class of each release has its multiset."""

    def seen(world: tuple[str, ...]) -> list[Any]:
        return [sorted(zip(own, world, strict=True)) for own in classes]

    shown = seen(values)
    yield from (world for world in sorted(set(permutations(values))) if seen(world) == shown)


def counted_out(classes: list[tuple[int, ...]], values: tuple[str, ...]) -> list[set[str]]:
    names = sorted(set(values))
    accounts = []
    for own in classes:
        counts = np.zeros((max(own) + 1, len(names)), dtype=np.int64)
        np.add.at(counts, (np.array(own), np.array([names.index(v) for v in values])), 1)
        accounts.append(Accounts(np.array(own), counts))
    found = possible_values(accounts, np.ones(len(values), dtype=np.int64))
    assert found is not None
    return [{name for name, can in zip(names, found[1][cell], strict=True) if can} for cell in found[0]]


def test_counting_out_never_strikes_a_value_that_some_world_has() -> None:
    rng = np.random.default_rng(5)
    tight = cases = helped = 0
    for _ in range(150):
        n, k, tables = int(rng.integers(4, 8)), int(rng.integers(2, 4)), int(rng.integers(2, 4))
        values = tuple("HML"[v] for v in rng.integers(0, k, n))
        classes = [tuple(np.unique(rng.integers(0, 3, n), return_inverse=True)[1].tolist()) for _ in range(tables)]
        all_worlds = list(worlds(classes, values))
        truth = [{world[person] for world in all_worlds} for person in range(n)]
        found = counted_out(classes, values)
        assert all(real <= ours for real, ours in zip(truth, found, strict=True))
        joined = [
            set.intersection(*({v for v, c in zip(values, own, strict=True) if c == own[i]} for own in classes))
            for i in range(n)
        ]
        helped += found != joined
        tight += found == truth
        cases += 1
    assert helped > cases // 2  # intersections alone would miss these
    assert tight > cases * 4 // 5


def test_the_worlds_catch_bounds_that_strike_out_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.attacks.joint import subtraction

    right = subtraction.bounds_of

    def wrong(sums: list[Sums], count: int) -> Any:  # a fault planted: one person of every class is forgotten
        return right([Sums(own, np.asarray(totals) - 1) for own, totals in sums], count)

    monkeypatch.setattr(subtraction, "bounds_of", wrong)
    with pytest.raises(AssertionError):
        test_counting_out_never_strikes_a_value_that_some_world_has()


def matched(rows: list[tuple[str, str]], people: list[tuple[int, str]]) -> bool:
    """Whether every person can be given a row of his own that covers him and shows his value."""
    return any(
        all(fits(cell, age) and shown == pay for (cell, shown), (age, pay) in zip(order, people, strict=True))
        for order in permutations(rows)
    )


def test_cells_that_overlap_within_a_release_are_taken_together() -> None:
    rng = np.random.default_rng(8)
    cells = ([(0, 3), (2, 4), (5, 9)], [(0, 5), (6, 9)])  # the first two overlap, and 5 lies across
    struck = 0
    for _ in range(40):
        ages = rng.choice([1, 3, 4, 5, 8], 5).tolist()
        people = [(age, "HM"[pay]) for age, pay in zip(ages, rng.integers(0, 2, 5), strict=True)]
        releases = []
        for some in cells:
            own = [rng.choice([c for c, (low, high) in enumerate(some) if low <= age <= high]) for age, _ in people]
            texts = [f"[{some[c][0]}, {some[c][1]}]" for c in own]
            releases.append([(text, pay) for text, (_, pay) in zip(texts, people, strict=True)])
        found = overlap([by_hand(rows) for rows in releases], table_of(people))
        possible: list[set[str]] = [set() for _ in people]
        for world in set(permutations(pay for _, pay in people)):
            told = list(zip(ages, world, strict=True))
            if all(matched(rows, told) for rows in releases):
                for place, pay in enumerate(world):
                    possible[place].add(pay)
        assert all(left >= len(real) for left, real in zip(found.together.left, possible, strict=True))
        assert (found.together.truth > 0).all()
        struck += int((found.together.left < found.joined).sum())
    assert struck


def test_every_form_by_its_facts() -> None:
    people = uc.datasets.census(1500, seed=2)
    names = ["age", "sex"]
    schema = uc.datasets.census_schema(names)
    made = {
        "cells": uc.publish(people, schema, uc.Mondrian(k=20), seed=1),
        "buckets": uc.publish(people, schema, uc.Anatomy(l=5), seed=1),
        "channel": uc.publish(people, schema, uc.PerturbedGeneralization(k=20, p=0.3), seed=1),
    }
    original = made["cells"].original
    assert original is not None
    drawn = replace(made["cells"].release, form=Drawn())
    found = overlap([*(run.release for run in made.values()), drawn], original, names=[*made, "drawn"])
    assert found.used == ("cells", "buckets", "channel")
    assert "were drawn" in found.parts[3].why_not
    assert "Left out, `drawn`" in "".join(str(part) for part in found.view().parts)
    assert [part.subtracted for part in found.parts] == [True, True, False, False]
    # A channel rules nothing out, and says just what the linkage attack believes of it.
    channel = found.parts[2].alone
    assert channel is not None
    assert channel.truth == pytest.approx(uc.attack(made["channel"]).after.attribute["income"])
    without = overlap([made["cells"].release, made["buckets"].release], original)
    assert (without.together.left == found.together.left).all()


def test_whoever_is_in_no_row_of_a_release_is_judged_by_the_others() -> None:
    found = overlap([cut(ROWS, 40), cut([(60, "H"), (60, "M")], 50)], table_of(ROWS))
    alone = overlap([cut(ROWS, 40)], table_of(ROWS))
    assert found.together.truth[0] == alone.together.truth[0]
    assert found.together.truth[1] == 1.0  # M: of {M, H, M} from 40 on, the two of 60 account for H and M


def test_whoever_knows_less_rules_out_less() -> None:
    people = uc.datasets.census(600, seed=7)
    runs = [
        uc.publish(people, uc.datasets.census_schema(names), uc.Mondrian(k=6), seed=1)
        for names in (["age", "sex"], ["age", "sex", "race"])
    ]
    original = runs[1].original
    assert original is not None
    every, some = (overlap([run.release for run in runs], original, known=known) for known in (None, ["age"]))
    assert some.parts[1].known == ("age",)
    assert (some.joined >= every.joined).all()
    assert (some.joined > every.joined).any()


def test_releases_that_nobody_accounts_for_are_not_subtracted() -> None:
    twice = ROWS + ROWS  # the releases are of twice as many people as the original has
    found = overlap([cut(twice, 40), cut(twice, 50)], table_of(ROWS))
    assert not any(part.subtracted for part in found.parts)
    assert found.together.left.tolist() == found.joined.tolist()
    assert "No classes were subtracted" in "".join(str(part) for part in found.view().parts)


def test_releases_of_other_columns_are_left_out_with_the_reason() -> None:
    original = table_of(ROWS)
    other = cut(ROWS, 40)
    renamed = tuple(
        replace(column, name="years" if column.name == "age" else column.name) for column in other.tables[0].columns
    )
    data = other.tables[0].data.rename_columns(["years", "pay"])
    strange = replace(other, tables=(PublishedTable("table", renamed, data),))
    found = overlap([other, strange], original)
    assert found.used == ("release 1",)
    assert "Nothing that is known" in found.parts[1].why_not
    unread = replace(
        other, tables=(replace(other.tables[0], data=other.tables[0].data.set_column(0, "age", pa.array(["x"] * 5))),)
    )
    assert "cannot be read by this table" in overlap([unread], original).parts[0].why_not
    for wrong in ({"known": ["agee"]}, {"sensitive": "pays"}, {"names": []}):
        with pytest.raises(ParameterError):
            overlap([other], original, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no release"):
        overlap([], original)


def test_blocks_of_people_give_what_all_at_once_give(monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.attacks.joint import overlap as room

    people = uc.datasets.census(500, seed=4)
    runs = [
        uc.publish(people, uc.datasets.census_schema(names), uc.Mondrian(k=10), seed=1)
        for names in (["age"], ["age", "sex"])
    ]
    original = runs[1].original
    assert original is not None

    def found() -> OverlapResult:
        return overlap([run.release for run in runs], original)

    whole = found()
    monkeypatch.setattr(room, "_BLOCK", 500)
    part = found()
    for name in ("truth", "highest", "left"):
        assert getattr(part.together, name).tolist() == getattr(whole.together, name).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_people_who_fit_the_same_rows_of_all_are_counted_one_by_one(seed: int) -> None:
    """k together against its definition: the worst choice of a cell of each release, and who fits all of them."""
    rng = np.random.default_rng(seed)
    ages = sorted(rng.integers(0, 20, 14).tolist())
    rows = [(age, "HM"[age % 2]) for age in ages]
    boxes = [[sorted(rng.choice(ages, 2).tolist()) for _ in range(5)] + [[0, 19]] for _ in range(2)]
    releases = [by_hand([(f"[{low}, {high}]", "HM"[i % 2]) for i, (low, high) in enumerate(some)]) for some in boxes]
    found = overlap(releases, table_of(rows))
    assert found.alike is not None
    for person, age in enumerate(ages):
        fitting = [[box for box in some if box[0] <= age <= box[1]] for some in boxes]
        counts = [
            sum(first[0] <= other <= first[1] and second[0] <= other <= second[1] for other in ages)
            for first in fitting[0]
            for second in fitting[1]
        ]
        assert found.alike[person] == min(counts)
    said = found.to_dict()
    assert said["together"]["k"] == found.alike.min() <= min(entry["alone"]["k"] for entry in said["releases"])


def test_k_of_each_does_not_hold_together() -> None:
    found = overlap([cut(ROWS, 40), cut(ROWS, 50)], table_of(ROWS)).to_dict()
    assert [entry["alone"]["k"] for entry in found["releases"]] == [2, 2]
    assert found["together"]["k"] == 1  # whoever is 45 is in no class with anybody in both


def test_too_many_combinations_of_cells_are_said_not_to_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anonymity, "MOST_COMBINATIONS", 2)
    found = overlap([cut(ROWS, 40), cut(ROWS, 50)], table_of(ROWS))
    assert found.alike is None
    assert found.to_dict()["together"]["k"] is None
    assert found.view().verdict == "bad"
