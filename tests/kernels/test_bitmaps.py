"""Bitmaps of boxes against looking at every box."""

import numpy as np
import pytest
from numpy.typing import NDArray

from undercover.forms.kernels import covering_boxes, index_boxes


def cells_of(truth: list[NDArray[np.bool_]]) -> tuple[NDArray[np.int64], ...]:
    """Truth tables of boxes as the kernel wants them: every box has its own cells, one run for every value."""
    count, starts = len(truth[0]), [0]
    values: list[int] = []
    for first, table in zip(np.cumsum([0, *(table.shape[1] for table in truth)]).tolist(), truth, strict=False):
        for line in table:
            values += (np.flatnonzero(line) + first).tolist()
            starts.append(len(values))
    cells = np.arange(count)[:, None] + count * np.arange(len(truth))
    return cells, *(np.array(each, np.int64) for each in (starts, values, values))


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
    truth = [rng.random((count, size)) < share for size in sizes]
    cells, *runs = cells_of(truth)
    value_starts = np.cumsum([0, *sizes])
    places = np.arange(sum(sizes))
    targets = np.stack([rng.integers(0, size, 60) for size in sizes], axis=1)
    for begin, end in {(0, count), (count // 3, count), (count // 4, count // 2 + 1)}:
        bitmaps, summary = index_boxes(cells[begin:end], *runs, sum(sizes))
        offsets, boxes = covering_boxes(bitmaps, summary, places, value_starts, targets)
        found = [boxes[offsets[i] : offsets[i + 1]].tolist() for i in range(len(targets))]
        assert found == by_looking(truth, targets, begin, end)


def test_every_bit_of_the_index_by_hand() -> None:
    # Two boxes: {0, 1} x {0} and {1} x {0, 1}.
    truth = [np.array([[1, 1], [0, 1]], bool), np.array([[1, 0], [1, 1]], bool)]
    bitmaps, summary = index_boxes(*cells_of(truth), 4)
    assert bitmaps.tolist() == [[0b01], [0b11], [0b11], [0b10]]
    assert summary.tolist() == [[1], [1], [1], [1]]


def test_no_targets_and_targets_no_box_covers() -> None:
    bitmaps, summary = index_boxes(*cells_of([np.array([[1, 0]], bool)]), 2)
    places, starts = np.arange(2), np.array([0, 2])
    offsets, boxes = covering_boxes(bitmaps, summary, places, starts, np.array([[1], [0], [1]]))
    assert (offsets.tolist(), boxes.tolist()) == ([0, 0, 1, 1], [0])
    offsets, boxes = covering_boxes(bitmaps, summary, places, starts, np.zeros((0, 1), np.int64))
    assert (offsets.tolist(), boxes.tolist()) == ([0], [])


def test_more_boxes_than_expected_are_all_kept() -> None:
    # Room for 2 n + 64 boxes is made at first; here every target is in all 500.
    bitmaps, summary = index_boxes(*cells_of([np.ones((500, 1), bool)]), 1)
    offsets, boxes = covering_boxes(bitmaps, summary, np.arange(1), np.array([0, 1]), np.zeros((3, 1), np.int64))
    assert offsets.tolist() == [0, 500, 1000, 1500]
    assert boxes.tolist() == list(range(500)) * 3
