"""Ties by label: buckets of neighbouring numbers told everybody's number nearly.

Anatomy and the streamliner's `rda` take the most frequent values together. Where values are equally frequent, they took
them in the order of their labels: in a column of different numbers every bucket then held neighbours, and whoever found
a person's bucket knew the person's number to 0.2% of its range.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.dealing.groups import rank_values, value_rankings

SCHEMA = uc.Schema(quasi_identifiers=["age"], sensitive="income")
METHODS = [uc.Anatomy(l=4), uc.Streamliner(l=4, algorithm="rda")]


def people(copies: int = 1) -> pa.Table:
    """Two thousand rows; every income is that of so many people."""
    draw = np.random.default_rng(1)
    income = np.repeat(draw.choice(90_000, 2_000 // copies, replace=False), copies)
    return pa.table({"age": np.arange(2_000) % 60, "income": draw.permutation(income)})


def spread(labels: np.ndarray, income: np.ndarray) -> float:
    """The median range of a group's incomes, over the range of all."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    ranges = np.maximum.reduceat(income[order], starts) - np.minimum.reduceat(income[order], starts)
    return float(np.median(ranges) / (income.max() - income.min()))


@pytest.mark.parametrize("copies", [1, 5])
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_bucket_of_different_numbers_does_not_tell_each_of_them_nearly(method: Any, copies: int) -> None:
    data = people(copies)
    run = uc.publish(data, SCHEMA, method, seed=4, policy="none")
    income = data["income"].to_numpy()
    found = spread(run.groups.labels, income)
    by_chance = spread(np.random.default_rng(2).permutation(2_000) // 4, income)
    assert abs(found - by_chance) < 0.1, "where ties went by label it was below 0.01"


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_which_values_meet_depends_on_the_seed_and_not_on_threads(method: Any) -> None:
    def met(seed: int, threads: int) -> list[int]:
        made = uc.publish(people(), SCHEMA, method, seed=seed, policy="none", engine=uc.LocalEngine(threads=threads))
        return list(made.groups.labels)

    assert met(1, 1) == met(1, 3) != met(2, 1)


def test_equally_frequent_values_are_ranked_in_every_order_equally_often() -> None:
    counts = np.array([2, 5, 2, 2, 0])
    drawn = [tuple(rank_values(counts, Randomness(seed)).tolist()) for seed in range(1_200)]
    possible = {tuple(ranking.tolist()) for ranking in value_rankings(counts)}
    assert set(drawn) == possible
    assert len(possible) == 6
    times = np.array([drawn.count(ranking) for ranking in possible])
    assert ((times - 200) ** 2 / 200).sum() < 40  # chi-squared of 5 degrees: one in ten million


def test_the_listed_outcomes_of_a_tie_are_all_ways_to_pair_values() -> None:
    data = pa.table({"age": [1, 2, 3, 4], "income": [10, 20, 30, 40]})
    table = Table.from_arrow(data, SCHEMA)
    for method in (uc.Anatomy(l=2), uc.Streamliner(l=2, algorithm="rda")):
        found: dict[Any, Any] = {}
        for probability, seen in method.outcomes(table):
            found[seen] = found.get(seen, 0) + probability
        assert set(found.values()) == {Fraction(1, 3)}
        assert len(found) == 3
