"""Bitmaps of boxes against looking at every box."""

import numpy as np
import pytest
from numpy.typing import NDArray

from undercover.forms.kernels import covering_boxes, index_boxes


def random_boxes(
    rng: np.random.Generator, count: int, sizes: list[int], share: float
) -> tuple[list[NDArray[np.bool_]], NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Boxes that cover each value with probability ``share``: as truth tables and as the kernel wants them."""
    truth = [rng.random((count, size)) < share for size in sizes]
    words = [-(-size // 64) for size in sizes]
    masks = np.zeros((count, sum(words)), np.uint64)
    word_starts = np.concatenate([[0], np.cumsum(words)])[:-1].astype(np.int64)
    for table, start in zip(truth, word_starts.tolist(), strict=True):
        for box, value in np.argwhere(table).tolist():
            masks[box, start + value // 64] |= np.uint64(1 << (value % 64))
    return truth, masks, word_starts, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def by_looking(truth: list[NDArray[np.bool_]], targets: NDArray[np.int64], begin: int, end: int) -> list[list[int]]:
    return [
        [
            box - begin
            for box in range(begin, end)
            if all(table[box, code] for table, code in zip(truth, row, strict=True))
        ]
        for row in targets.tolist()
    ]


@pytest.mark.parametrize(
    ("count", "sizes", "share"),
    [
        (1, [1], 1.0),
        (3, [2], 0.5),
        (64, [64, 3], 0.7),
        (65, [65, 3], 0.7),
        (200, [70, 5, 130], 0.5),
        (4095, [6, 4], 0.3),
        (4097, [6, 4], 0.3),
        (9000, [5, 200], 0.02),
        (300, [4, 4], 0.0),
    ],
)
def test_the_same_boxes_as_by_looking_at_all(count: int, sizes: list[int], share: float) -> None:
    rng = np.random.default_rng((count, 40))
    truth, masks, word_starts, value_starts = random_boxes(rng, count, sizes, share)
    targets = np.stack([rng.integers(0, size, 60) for size in sizes], axis=1)
    for begin, end in {(0, count), (count // 3, count), (count // 4, count // 2 + 1)}:
        bitmaps, summary = index_boxes(masks, word_starts, value_starts, begin, end)
        offsets, boxes = covering_boxes(bitmaps, summary, value_starts, targets)
        found = [boxes[offsets[i] : offsets[i + 1]].tolist() for i in range(len(targets))]
        assert found == by_looking(truth, targets, begin, end)


def test_every_bit_of_the_index_by_hand() -> None:
    # Two boxes: {0, 1} x {0} and {1} x {0, 1}.
    masks = np.array([[0b11, 0b01], [0b10, 0b11]], np.uint64)
    bitmaps, summary = index_boxes(masks, np.array([0, 1]), np.array([0, 2, 4]), 0, 2)
    assert bitmaps.tolist() == [[0b01], [0b11], [0b11], [0b10]]
    assert summary.tolist() == [[1], [1], [1], [1]]


def test_no_targets_and_targets_no_box_covers() -> None:
    masks = np.array([[1]], np.uint64)
    bitmaps, summary = index_boxes(masks, np.array([0]), np.array([0, 2]), 0, 1)
    offsets, boxes = covering_boxes(bitmaps, summary, np.array([0, 2]), np.array([[1], [0], [1]]))
    assert (offsets.tolist(), boxes.tolist()) == ([0, 0, 1, 1], [0])
    offsets, boxes = covering_boxes(bitmaps, summary, np.array([0, 2]), np.zeros((0, 1), np.int64))
    assert (offsets.tolist(), boxes.tolist()) == ([0], [])


def test_more_boxes_than_expected_are_all_kept() -> None:
    # Room for 2 n + 64 boxes is made at first; here every target is in all 500.
    masks = np.ones((500, 1), np.uint64)
    bitmaps, summary = index_boxes(masks, np.array([0]), np.array([0, 1]), 0, 500)
    offsets, boxes = covering_boxes(bitmaps, summary, np.array([0, 1]), np.zeros((3, 1), np.int64))
    assert offsets.tolist() == [0, 500, 1000, 1500]
    assert boxes.tolist() == list(range(500)) * 3
