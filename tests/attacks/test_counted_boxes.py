"""Counting the boxes that fit gives what listing them gives, in every form of release."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from effort import examples
from undercover.forms import disclosure, read
from undercover.forms.boxes import boxes_of, match, merged_boxes
from undercover.forms.disclosure import Weights, can_be_counted, counted_matches, distinct_rows, pairs_expected
from undercover.forms.kernels import bit_planes, weigh_covering

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="income")
METHODS = {
    "wide boxes": uc.Streamliner(l=4),
    "boxes of a tree": uc.Mondrian(k=7),
    "two tables": uc.CrossBucket(k=3, l=3, variant="paper"),
    "one group": uc.Streamliner(l=2, algorithm="ria"),
}


@pytest.fixture(scope="module", params=list(METHODS))
def run(request):
    return uc.publish(uc.datasets.census(700, seed=4), SCHEMA, METHODS[request.param], seed=3)


def attacked(run, monkeypatch, most):
    monkeypatch.setattr(disclosure, "MOST_PAIRS", most)
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
    monkeypatch.setattr(disclosure, "_LEAST_GUESSED", 300)
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
    boxes = merged_boxes(read(run.release), run.original, SCHEMA.quasi_identifiers, ("income",)).boxes
    assert not can_be_counted(boxes)
    assert attacked(run, monkeypatch, 0).to_dict() == attacked(run, monkeypatch, 10**9).to_dict()


def test_how_many_pairs_to_expect():
    run = uc.publish(uc.datasets.census(200, seed=4), SCHEMA, uc.Streamliner(l=4), seed=3)
    boxes = boxes_of(read(run.release), run.original, SCHEMA.quasi_identifiers, ("income",))
    codes = np.stack([run.original[name].codes for name in SCHEMA.quasi_identifiers], axis=1).astype(np.int64)
    _, targets = distinct_rows(codes)
    assert pairs_expected(boxes, targets) == match(boxes, targets, 1)[0][-1]  # few targets: all are looked at


NONE = np.zeros(0, dtype=np.int64)


def weighed(bitmaps, targets, weights, least=0, n_planes=None):
    """The weight of what covers each target, by planes."""
    bits = max(1, int(np.max(weights)).bit_length()) if n_planes is None else n_planes
    planes = bit_planes(np.arange(len(weights)), np.array(weights), bits, bitmaps.shape[1])
    rows = np.zeros(len(targets) + 1, dtype=np.int64)
    held = Weights(planes, np.array([0, bits]), np.zeros(2, np.int64), NONE, NONE)
    found, _ = weigh_covering(bitmaps, targets, rows, NONE, least, held)
    return found.tolist()


def test_a_lost_plane_would_show():
    """The twin tells a wrong count apart: without its highest plane a weight is too small."""
    every, target = np.full((1, 1), 0b1111, dtype=np.uint64), np.zeros((1, 1), dtype=np.int64)
    assert weighed(every, target, [1, 2, 3, 4]) == [10]
    assert weighed(every, target, [1, 2, 3, 4], n_planes=2) != [10]
    assert weighed(every, target, [0, 1, 2, 3], least=1) == [10]


@examples(40)
@given(st.data())
def test_planes_and_lists_against_plain_sums(data):
    weights = data.draw(st.lists(st.integers(0, 2**40), min_size=1, max_size=150))
    n_words = -(-len(weights) // 64)
    covers = [data.draw(st.sets(st.integers(0, len(weights) - 1))) for _ in range(3)]
    bitmaps = np.zeros((3, n_words), dtype=np.uint64)
    for value, covered in enumerate(covers):
        for box in covered:
            bitmaps[value, box // 64] |= np.uint64(1 << (box % 64))
    columns = data.draw(st.integers(1, 3))
    asked = st.lists(st.integers(0, 2), min_size=columns, max_size=columns)
    targets = np.array(sorted(data.draw(st.lists(asked, min_size=1, max_size=6))))
    least = data.draw(st.integers(0, 5))
    inside = [set.intersection(*(covers[value] for value in target)) for target in targets]
    expected = [sum(weights[box] + least for box in boxes) for boxes in inside]
    assert weighed(bitmaps, targets, weights, least) == expected
    values = np.array(weights, dtype=np.int64)
    _, true = weigh_covering(
        bitmaps,
        targets,
        np.arange(len(targets) + 1),
        np.zeros(len(targets), dtype=np.int64),
        least,
        Weights(
            np.zeros((0, n_words), dtype=np.uint64),
            np.zeros(3, dtype=np.int64),
            np.array([0, 0, len(values)]),
            np.arange(len(values)),
            values * 3,
        ),
    )
    assert true.tolist() == [3 * sum(weights[box] for box in boxes) for boxes in inside]


def test_counted_by_several_threads_is_the_same():
    run = uc.publish(uc.datasets.census(500, seed=4), SCHEMA, uc.Streamliner(l=4), seed=3)
    boxes = boxes_of(read(run.release), run.original, SCHEMA.quasi_identifiers, ("income",))
    codes = np.stack([run.original[name].codes for name in SCHEMA.quasi_identifiers], axis=1).astype(np.int64)
    target_of, targets = distinct_rows(codes)
    one, many = (counted_matches(boxes, targets, target_of, run.original["income"], threads) for threads in (1, 3))
    assert one[0].tolist() == many[0].tolist()
    assert one[1].tolist() == many[1].tolist()
