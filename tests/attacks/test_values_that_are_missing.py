"""Belief among those who have a value: every way of counting it against fractions, and against each other."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.people import Targets
from undercover.attacks.sampled import OwnClasses
from undercover.forms.case import Case
from undercover.forms.disclosure import can_be_counted, counted_matches
from undercover.model.run import Run
from undercover.model.verdict import Exposure, among_values

SCHEMA = uc.Schema(quasi_identifiers=["age", "town"], sensitive="ill", missing="category")
METHODS = [
    uc.Mondrian(k=6),
    uc.Anatomy(l=3),
    uc.CrossBucket(k=3, l=3),
    uc.Streamliner(l=3),
    uc.MutualCover(delta="1/3", l=3),
]


def published(method: Any, seed: int = 0, n: int = 120) -> Run:
    rng = np.random.default_rng(seed)
    ill: list[Any] = [("flu", "cold", "gout", "rash", None)[i % 5] for i in rng.permutation(n)]
    people = pa.table({"age": rng.integers(20, 30, n), "town": rng.choice(["Bonn", "Lyon"], n), "ill": ill})
    return uc.publish(people, SCHEMA, method, policy="none")


def exposures(run: Run, attack: str, *, known_values: bool) -> list[Exposure]:
    each = [one for found in run.attacks for one in found.exposures() if one.attack == attack and one.belief]
    return [one for one in each if one.known_values is known_values]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_going_through_all_rows_finds_the_same(method: Any) -> None:
    case = Case.of(published(method))
    asked = Targets.of(case.original, case.known(None), None, 1)
    one, other = asked.disclosure(case.reading), asked.looked_for(case.reading, case.original)
    assert one.attribute["ill"] == pytest.approx(other.attribute["ill"], abs=1e-12)
    assert one.hits["ill"] == pytest.approx(other.hits["ill"], abs=1e-12)
    assert one.lacking["ill"].tolist() == other.lacking["ill"].tolist()
    assert one.lacking["ill"].sum() == 24


def test_counting_over_bitmaps_finds_the_same() -> None:
    case = Case.of(published(uc.Mondrian(k=6)))
    column, known = case.original["ill"], case.known(None)
    boxes, (target_of, targets) = case.reading.boxes(known, case.original), case.targets(known)
    assert can_be_counted(boxes)
    believed = counted_matches(boxes, targets, target_of, column, 1)[1]
    nothing = replace(column, codes=np.full_like(column.codes, column.domain.missing_code))
    lost = counted_matches(boxes, targets, target_of, nothing, 1)[1]
    listed = Targets.of(case.original, known, None, 1).disclosure(case.reading).attribute["ill"]
    there = ~case.original["ill"].lacking  # type: ignore[operator]
    assert among_values(believed, lost)[there] == pytest.approx(listed[there], abs=1e-12)


@pytest.mark.parametrize("method", METHODS[:4], ids=lambda method: method.name)
def test_no_bound_lies_below_what_is_believed(method: Any) -> None:
    for seed in range(3):
        case = Case.of(published(method, seed))
        known = case.known(None)
        most = case.reading.at_most(known, case.original).belief.get("ill")
        found = Targets.of(case.original, known, None, 1).disclosure(case.reading)
        assert most is None or found.of_values("ill", found.attribute["ill"]).max() <= most + 1e-12


def test_shares_of_the_own_class_in_fractions() -> None:
    run = published(uc.Mondrian(k=6))
    assert run.original is not None
    column, classes = run.original["ill"], OwnClasses.of(run)
    values = [column.domain.labels[code] for code in column.codes]
    members = [[values[i] for i in np.flatnonzero(run.groups.labels == label)] for label in range(run.groups.count)]
    for struck in (False, True):
        found = classes.shares(column, classes.times(column), np.arange(len(values)), struck=struck)
        for i, value in enumerate(values):
            group = members[run.groups.labels[i]]
            pool = group if value == "" else [other for other in group if other != ""]
            times = Counter(pool)[value]
            left = len(pool) - (struck and times < len(pool))
            assert found[i] == pytest.approx(float(Fraction(times, left)), abs=1e-12)
    surest = classes.surest(column, classes.times(column))
    assert surest[column.lacking].tolist() == [0.0] * 24


def test_told_the_groups_in_fractions() -> None:
    run = published(uc.MutualCover(delta="1/3", l=3))
    assert run.original is not None
    case, values = Case.of(run), [run.original["ill"].domain.labels[code] for code in run.original["ill"].codes]
    assert case.dealt is not None
    (alone,), (struck,) = (exposures(run, "told-groups", known_values=known) for known in (False, True))
    for i, value in enumerate(values):
        group = [values[j] for j in np.flatnonzero(case.dealt.groups == case.dealt.groups[i])]
        pool = group if value == "" else [other for other in group if other != ""]
        share = Fraction(Counter(pool)[value], len(pool))
        assert alone.belief["ill"][i] == pytest.approx(float(share), abs=1e-12)
        left = 1 if share == 1 else Fraction(Counter(pool)[value], len(pool) - 1)
        assert struck.belief["ill"][i] == pytest.approx(float(left), abs=1e-12)


def test_guessing_is_among_those_who_have_a_value() -> None:
    case = Case.of(published(uc.Mondrian(k=6)))
    assert case.guessing("ill") == {"mean": pytest.approx(0.25), "guess_success": pytest.approx(0.25)}


def test_a_column_that_nobody_has_a_value_of() -> None:
    people = pa.table({"age": [20] * 10 + [30] * 10, "ill": pa.array([None] * 20, pa.string())})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", missing="category")
    run = uc.publish(people, schema, uc.Mondrian(k=10))
    assert run.verdict.status == "ready"
    figures = uc.attack(run).to_dict()["after"]["attribute"]["ill"]
    assert (figures["max"], figures["certain_rows"], figures["missing_rows"]) == (0.0, 0, 20)
