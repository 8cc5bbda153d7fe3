"""The curve of beliefs against counting people one by one, and where it is shown."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.attacks.belief_curve import MOST_POINTS, belief_chart, belief_curve, shares_at_least, shares_table
from undercover.model.view import FigureTable, Picture


@given(st.lists(st.integers(0, 12), min_size=1, max_size=200))
def test_the_curve_says_how_many_people_are_at_least_so_sure(twelfths: list[int]) -> None:
    beliefs = np.array(twelfths) / 12
    curve = belief_curve(beliefs)
    assert [point["belief"] for point in curve] == sorted(set(beliefs.tolist()))
    for point in curve:
        people = sum(belief >= point["belief"] for belief in beliefs.tolist())
        assert point["share"] == pytest.approx(people / len(beliefs), abs=1e-12)


def test_of_many_beliefs_some_are_shown_and_both_ends() -> None:
    beliefs = np.random.default_rng(1).random(5000)
    curve = belief_curve(beliefs)
    assert len(curve) <= MOST_POINTS
    assert curve[0] == {"belief": beliefs.min(), "share": 1.0}
    assert curve[-1] == {"belief": beliefs.max(), "share": pytest.approx(1 / 5000)}
    for point in curve:
        assert point["share"] == pytest.approx((beliefs >= point["belief"]).mean(), abs=1e-12)


def test_a_thin_tail_is_not_left_out() -> None:
    """Nearly everybody below 2%, a few far above: between two points the curve never falls by much."""
    beliefs = np.concatenate([np.random.default_rng(1).random(5000) / 50, np.linspace(0.1, 0.9, 50)])
    curve = belief_curve(beliefs)
    for belief in np.linspace(0.1, 0.9, 200):
        drawn = next(point["share"] for point in curve if point["belief"] >= belief - 1e-12)  # steps before each point
        assert drawn == pytest.approx((beliefs >= belief - 1e-12).mean(), abs=0.001)


def test_beliefs_that_differ_by_rounding_are_one() -> None:
    curve = belief_curve(np.array([0.1 + 0.2, 0.3, 0.1]))
    assert [point["share"] for point in curve] == pytest.approx([1, 2 / 3])
    assert shares_at_least(np.array([0.1 * 3 - 0.1, 0.2]), (0.2,)) == {"0.2": 1.0}  # 0.2 but for rounding


def test_bucket_matching_shows_the_curve() -> None:
    example = uc.datasets.hospital("cross-bucket")
    run = uc.publish(example.table, example.schema, uc.CrossBucket(k=2, l=4), seed=1)
    found = uc.attack(run, uc.BucketMatching())
    told: Any = json.loads(json.dumps(found.to_dict()))["breach"]["disease"]
    assert told["curve"] == belief_curve(found.breach["disease"])
    assert told["curve"][-1]["belief"] == told["max"]
    # The mean is the area below the curve, whose steps go down behind each belief.
    before = [0.0, *(point["belief"] for point in told["curve"])]
    area = sum((point["belief"] - last) * point["share"] for point, last in zip(told["curve"], before, strict=False))
    assert area == pytest.approx(told["mean"])
    made = [part() if callable(part) else part for part in found.view().parts]
    (drawn,) = [part for part in made if isinstance(part, Picture)]
    assert [row["share"] for row in drawn.values][1:] == [point["share"] for point in told["curve"]]
    (shares,) = [part for part in made if isinstance(part, FigureTable) and part.title.startswith("How many")]
    reached = [share for share in told["at_least"].values() if share > 0]
    assert [row[1].value for row in shares.rows] == reached  # type: ignore[union-attr]


def test_two_columns_stand_side_by_side() -> None:
    curves = {name: belief_curve(np.array([0.1, 0.3])) for name in ("a", "b")}
    drawn = belief_chart(curves, {"a": 0.05, "b": 0.1})
    assert {row["column"] for row in drawn.values} == {"a", "b"}
    shown = shares_table({name: shares_at_least(np.array([0.1, 0.3])) for name in ("a", "b")})
    assert [row[0] for row in shown.rows] == ["1% sure", "2% sure", "5% sure", "10% sure", "20% sure"]
