"""The self-test must not refuse honest releases: its p-values are valid on small tables, method by method.

A p-value is valid where p below x comes up no more often than with probability x. Two thousand honest runs of a table
of 60 rows are made, and all their p-values are held to that.
"""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import undercover as uc
from undercover.forms.chance import (
    REFUSED_BELOW,
    check_coins,
    check_order,
    check_sum,
    pairings,
    segments_of,
    some_segments,
)
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.verbs.publish import publish_table

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
PERTURBED = uc.Schema(
    quasi_identifiers=["age", "sex"],
    sensitive="income",
    columns={"income": uc.Column(domain=tuple(str(value) for value in range(50)))},
)
METHODS: dict[str, tuple[Any, Any, int]] = {
    "mondrian": (uc.Mondrian(k=5), SCHEMA, 300),
    "wrap": (uc.Streamliner(l=3), SCHEMA, 300),
    "anatomy": (uc.Anatomy(l=3), SCHEMA, 300),
    "cross-bucket": (uc.CrossBucket(k=3, l=3, robust=True), SCHEMA, 200),
    "layers": (uc.MutualCover(delta="1/4", l=3, robust=True), SCHEMA, 300),
    "blocks": (uc.MutualCover(delta="1/4", variant="blocks"), SCHEMA, 300),
    "paper": (uc.MutualCover(delta="1/3", l=3, variant="paper"), SCHEMA, 100),
    "perturbed": (uc.PerturbedGeneralization(k=4, p=0.3), PERTURBED, 200),
}


@pytest.mark.parametrize("name", METHODS)
def test_p_values_of_honest_runs_are_valid(name: str) -> None:
    method, schema, runs = METHODS[name]
    table = Table.from_arrow(uc.datasets.census(60, seed=5), schema)
    found: dict[str, list[float]] = defaultdict(list)
    for seed in range(runs):
        run = publish_table(table, method, randomness=Randomness(seed))
        for check in run.self_test["checks"]:
            found[check["name"]].append(check["p_value"])
    assert found
    for check, values in found.items():
        for level in (0.5, 0.1, 0.01, 1e-4):
            below = int((np.array(values) < level).sum())
            surely = len(values) * level + 5 * np.sqrt(len(values) * level) + 2
            assert below <= surely, f"{check}: {below} of {len(values)} p-values are below {level}"


def test_no_honest_coin_is_called_unfair_too_often() -> None:
    draws = np.random.default_rng(1).binomial(200, 0.5, size=20_000)
    p_values = np.array([check_coins("coin", int(heads), 200).p_value for heads in range(201)])[draws]
    assert all((p_values < level).mean() <= level for level in (0.5, 0.1, 0.01, 1e-3))


def test_the_stated_power_is_the_power_there_is() -> None:
    """The smallest effect that is said to be caught is caught, and the next smaller is not."""
    for tosses in (31, 100, 5_000):
        caught = check_coins("coin", tosses, tosses).refused_from
        assert caught is not None
        least = int(np.ceil(caught * tosses - 1e-6))
        assert check_coins("coin", least, tosses).p_value < REFUSED_BELOW * 1.0001
        assert not check_coins("coin", least - 1, tosses).is_refused
        assert check_coins("coin", tosses - least, tosses).p_value < REFUSED_BELOW * 1.0001
    assert check_coins("coin", 30, 30).refused_from is None
    found = check_sum("kept", 0.0, 260.0, 192.4, 1_000)
    assert found.refused_from is not None
    assert check_sum("kept", found.refused_from * 1_000 + 1e-6, 260.0, 192.4, 1_000).is_refused
    assert not check_sum("kept", found.refused_from * 1_000 - 1, 260.0, 192.4, 1_000).is_refused


def test_sums_that_were_drawn_honestly_pass() -> None:
    draw = np.random.default_rng(2)
    p_values = [
        check_sum("kept", float((draw.random(400) < 0.3).sum()), 120.0, 84.0, 400).p_value for _ in range(2_000)
    ]
    assert all((np.array(p_values) < level).mean() <= level for level in (0.5, 0.1, 0.01))


@pytest.mark.parametrize("way", ["reversed", "rotated by one", "halves exchanged"])
def test_an_order_need_not_be_the_input_to_be_found(way: str) -> None:
    places = np.arange(200)
    made = {"reversed": places[::-1], "rotated by one": np.roll(places, 1), "halves exchanged": np.roll(places, 100)}
    assert check_order("places", made[way], np.array([0, 200])).is_refused


def test_pairs_have_no_item_in_common_and_stay_in_their_segment() -> None:
    sizes = np.array([1, 0, 7, 2, 10, 3])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    segment = np.repeat(np.arange(len(sizes)), sizes)
    for first, second in pairings(offsets):
        assert len(np.unique(np.concatenate([first, second]))) == 2 * len(first) == 2 * int((sizes // 2).sum())
        assert (segment[first] == segment[second]).all()


def test_segments_hold_their_items_in_order() -> None:
    order, offsets = segments_of(np.array([2, 0, 2, 1, 0]), 5)
    assert order.tolist() == [1, 4, 3, 0, 2]
    assert offsets.tolist() == [0, 2, 3, 5]


def test_of_very_many_items_some_segments_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("undercover.forms.chance.MOST_ITEMS", 100)
    order, offsets = some_segments(np.arange(1_000), np.arange(0, 1_001, 10))
    assert len(order) == 100
    assert check_order("places", order, offsets).is_refused
    order, offsets = some_segments(np.arange(1_000), np.array([0, 1_000]))
    assert offsets.tolist() == [0, 100]
