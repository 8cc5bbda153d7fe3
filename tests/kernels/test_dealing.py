"""Dealing against Figure 3 in plain Python: every bucket takes one row from each of the l largest values left."""

import numpy as np
import pytest
from numpy.typing import NDArray

from undercover.methods.anatomy.kernels import deal_largest
from undercover.randomness import Randomness


def offsets_of(counts: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def deal(counts: list[int], l: int, seed: int = 1) -> tuple[NDArray[np.int32], int, bool]:  # noqa: E741
    colours = np.argsort(-np.array(counts), kind="stable")
    random = Randomness(seed=seed)
    return deal_largest(offsets_of(counts), colours, l, random.words("words", l), random.words("spare", 64))


def plain_deal(counts: list[int], l: int) -> tuple[list[list[int]], list[int]]:  # noqa: E741
    """Figure 3, lines 3-8, by sorting anew for every bucket: the colours of each bucket, and what is left of each.

    The paper does not say which of equally large values to take; like the kernel, the twin takes those that come last.
    """
    left = list(counts)
    buckets = []
    while sum(value > 0 for value in left) >= l:
        largest = sorted(range(len(counts)), key=lambda colour: (-left[colour], -place(counts, colour)))[:l]
        for colour in largest:
            left[colour] -= 1
        buckets.append(largest)
    return buckets, left


def place(counts: list[int], colour: int) -> int:
    """Where a colour stands by size in the beginning."""
    return sorted(range(len(counts)), key=lambda other: (-counts[other], other)).index(colour)


def compare(counts: list[int], l: int, bucket: NDArray[np.int32], count: int) -> list[int]:  # noqa: E741
    """Hold a dealing to the twin; returns what was left over of each colour."""
    buckets, left = plain_deal(counts, l)
    assert count == len(buckets), "another number of buckets"
    for colour, start in enumerate(offsets_of(counts)[:-1].tolist()):
        rows = bucket[start : start + counts[colour]].tolist()
        dealt = [b for b, colours in enumerate(buckets) if colour in colours]
        assert rows[: len(dealt)] == dealt, "dealt to other buckets"
        late = rows[len(dealt) :]
        assert len(late) == left[colour]
        assert min(late, default=0) >= 0, "a row was not dealt"
        assert not set(late) & set(dealt), "a row left over joined its own kind"
    return left


def random_counts(rng: np.random.Generator) -> tuple[list[int], int]:
    while True:
        counts = rng.integers(0, 15, int(rng.integers(2, 12))).tolist()
        if sum(counts) and sum(counts) // max(counts) >= 2:
            return counts, int(rng.integers(2, sum(counts) // max(counts) + 1))


def test_random_counts_are_dealt_as_in_figure_3() -> None:
    for number in range(400):
        counts, l = random_counts(np.random.default_rng((number, 2)))  # noqa: E741
        bucket, count, enough = deal(counts, l, number)
        assert enough
        try:
            left = compare(counts, l, bucket, count)
        except AssertionError:
            print(f"table {number}: counts {counts}, l={l}")
            raise
        assert max(left) <= 1, "Property 1: each value is left over once at most"
        assert count == sum(counts) // l


@pytest.mark.parametrize(
    ("dealing", "fault"),
    [
        ([0, 1, 1, 0], None),
        ([1, 1, 0, 0], "dealt to other"),  # b and c meet first, and a is left twice
        ([0, -1, 1, 0], "dealt to other"),
    ],
)
def test_a_faulty_dealing_is_found_out(dealing: list[int], fault: str | None) -> None:
    bucket = np.array(dealing, np.int32)
    if fault is None:
        compare([2, 1, 1], 2, bucket, 2)
        return
    with pytest.raises(AssertionError, match=fault):
        compare([2, 1, 1], 2, bucket, 2)


def test_a_row_that_joins_its_own_kind_is_found_out() -> None:
    counts = [1] * 5
    bucket, count, _ = deal(counts, 2)
    compare(counts, 2, bucket, count)
    buckets, left = plain_deal([2, 2, 1], 2)
    (colour,) = (c for c, n in enumerate(left) if n)
    bucket, count, _ = deal([2, 2, 1], 2)
    last = offsets_of([2, 2, 1])[colour + 1] - 1
    bucket[last] = next(b for b, colours in enumerate(buckets) if colour in colours)
    with pytest.raises(AssertionError, match="own kind"):
        compare([2, 2, 1], 2, bucket, count)


def test_a_table_that_is_not_eligible_leaves_rows_without_a_bucket() -> None:
    bucket, count, enough = deal([3, 1], 2)
    assert (count, enough) == (1, True)
    assert sorted(bucket.tolist()) == [-1, -1, 0, 0]


def test_a_lack_of_words_is_reported() -> None:
    # Seven values once each: the row left over may choose among three buckets, and for three the word 0 is rejected.
    nothing, zeros = np.zeros(0, np.uint32), np.zeros(2, np.uint32)
    offsets, colours = offsets_of([1] * 7), np.arange(7)
    assert not deal_largest(offsets, colours, 2, zeros, nothing)[2]
    assert deal_largest(offsets, colours, 2, zeros, np.array([0, 7], np.uint32))[2]


def test_many_equal_values_are_dealt_in_turn() -> None:
    bucket, count, _ = deal([4] * 100, 3)
    compare([4] * 100, 3, bucket, count)
    assert count == 133
