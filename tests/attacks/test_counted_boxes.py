"""Counting the boxes that fit gives what listing them gives, in every form of release."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercover as uc
from undercover.attacks import linkage
from undercover.attacks.boxes import boxes_of, match
from undercover.attacks.counted_boxes import can_be_counted, counted_matches, pairs_expected
from undercover.attacks.linkage import distinct_rows
from undercover.attacks.merged_boxes import merged_boxes
from undercover.kernels.box_counts import bit_planes, weigh_covering

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="income")
METHODS = {
    "wide boxes": uc.Streamliner(l=4),
    "boxes of a tree": uc.Mondrian(k=7),
    "two tables": uc.CrossBucket(k=3, l=3),
    "one group": uc.Streamliner(l=2, algorithm="ria"),
}


@pytest.fixture(scope="module", params=list(METHODS))
def run(request):
    return uc.publish(uc.datasets.census(700, seed=4), SCHEMA, METHODS[request.param], seed=3)


def attacked(run, monkeypatch, most):
    monkeypatch.setattr(linkage, "MOST_PAIRS", most)
    return uc.attack(run)


def test_counting_gives_what_listing_gives(run, monkeypatch):
    listed, counted = attacked(run, monkeypatch, 10**9), attacked(run, monkeypatch, 0)
    assert counted.after.matches.tolist() == listed.after.matches.tolist()
    np.testing.assert_allclose(counted.after.attribute["income"], listed.after.attribute["income"], rtol=1e-12)
    np.testing.assert_allclose(counted.after.identity, listed.after.identity)
    # With no more than a thousand people everybody's guess is looked at.
    np.testing.assert_allclose(counted.after.hits["income"], listed.after.hits["income"])


def test_of_many_people_a_part_is_guessed_and_it_says_so(run, monkeypatch):
    listed = attacked(run, monkeypatch, 10**9).to_dict()["after"]["attribute"]["income"]
    monkeypatch.setattr(linkage, "_LEAST_GUESSED", 300)
    result = attacked(run, monkeypatch, 0)
    found = result.to_dict()["after"]["attribute"]["income"]
    assert found["guess_sample"] == 300
    assert np.isnan(result.after.hits["income"]).sum() == 400
    low, high = found["guess_interval"]
    assert low <= found["guess_success"] <= high
    assert low - 0.05 <= listed["guess_success"] <= high + 0.05
    assert {**found, "guess_success": 0} | {"guess_sample": 0, "guess_interval": 0} == {
        **listed,
        "guess_success": 0,
        "guess_sample": 0,
        "guess_interval": 0,
    }


def test_without_a_sensitive_column(monkeypatch):
    schema = uc.Schema(quasi_identifiers=["age", "education"])
    run = uc.publish(uc.datasets.census(300, seed=4), schema, uc.Mondrian(k=5), seed=3)
    listed, counted = attacked(run, monkeypatch, 10**9), attacked(run, monkeypatch, 0)
    assert counted.after.matches.tolist() == listed.after.matches.tolist()


def test_anatomy_is_listed_because_its_buckets_are_shared(monkeypatch):
    run = uc.publish(uc.datasets.census(300, seed=4), SCHEMA, uc.Anatomy(l=3), seed=3)
    boxes = merged_boxes(run.release, run.original, SCHEMA.quasi_identifiers, ("income",)).boxes
    assert not can_be_counted(boxes)
    assert attacked(run, monkeypatch, 0).to_dict() == attacked(run, monkeypatch, 10**9).to_dict()


def test_how_many_pairs_to_expect():
    run = uc.publish(uc.datasets.census(200, seed=4), SCHEMA, uc.Streamliner(l=4), seed=3)
    boxes = boxes_of(run.release, run.original, SCHEMA.quasi_identifiers, ("income",))
    codes = np.stack([run.original[name].codes for name in SCHEMA.quasi_identifiers], axis=1).astype(np.int64)
    _, targets = distinct_rows(codes)
    assert pairs_expected(boxes, targets) == match(boxes, targets, 1)[0][-1]  # few targets: all are looked at


def test_a_lost_plane_would_show():
    """The twin tells a wrong count apart: without its highest plane a weight is too small."""
    weights = np.array([1, 2, 3, 4])
    boxes = np.arange(4)
    every = np.full((1, 1), 0b1111, dtype=np.uint64)
    targets, rows = np.zeros((1, 1), dtype=np.int64), np.zeros(2, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    starts = np.zeros(2, dtype=np.int64)

    def total(n_planes):
        planes = bit_planes(boxes, weights, n_planes, 1)
        found, _ = weigh_covering(
            every, starts, targets, rows, none, planes, np.array([0, n_planes]), np.zeros(2, np.int64), none, none
        )
        return int(found[0])

    assert total(3) == weights.sum()
    assert total(2) != weights.sum()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 2**40), min_size=1, max_size=150),
    st.sets(st.integers(0, 149), max_size=150),
    st.integers(0, 3),
)
def test_planes_against_plain_sums(weights, covered, chosen):
    n_words = -(-len(weights) // 64)
    bitmaps = np.zeros((4, n_words), dtype=np.uint64)
    inside = [box for box in covered if box < len(weights)]
    for box in inside:
        bitmaps[chosen, box // 64] |= np.uint64(1 << (box % 64))
    values = np.array(weights, dtype=np.int64)
    n_planes = max(1, int(values.max()).bit_length())
    planes = bit_planes(np.arange(len(values)), values, n_planes, n_words)
    none = np.zeros(0, dtype=np.int64)
    target = np.array([[chosen]])
    by_planes, _ = weigh_covering(
        bitmaps,
        np.array([0, 4]),
        target,
        np.zeros(2, int),
        none,
        planes,
        np.array([0, n_planes]),
        np.zeros(2, int),
        none,
        none,
    )
    by_list, true = weigh_covering(
        bitmaps,
        np.array([0, 4]),
        target,
        np.array([0, 1]),
        np.array([0]),
        planes[:0],
        np.zeros(3, int),
        np.array([0, len(values), 2 * len(values)]),
        np.tile(np.arange(len(values)), 2),
        np.concatenate([values, values * 3]),
    )
    expected = sum(weights[box] for box in inside)
    assert by_planes[0] == by_list[0] == expected
    assert true[0] == 3 * expected


def test_counted_by_several_threads_is_the_same():
    run = uc.publish(uc.datasets.census(500, seed=4), SCHEMA, uc.Streamliner(l=4), seed=3)
    boxes = boxes_of(run.release, run.original, SCHEMA.quasi_identifiers, ("income",))
    codes = np.stack([run.original[name].codes for name in SCHEMA.quasi_identifiers], axis=1).astype(np.int64)
    target_of, targets = distinct_rows(codes)
    one, many = (counted_matches(boxes, targets, target_of, run.original["income"], threads) for threads in (1, 3))
    assert one[0].tolist() == many[0].tolist()
    assert one[1].tolist() == many[1].tolist()
