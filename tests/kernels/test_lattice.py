"""Kernels of the lattice search against plain numpy."""

import numpy as np
import pytest

from undercover.steps.lattice import kernels as lattice
from undercover.steps.lattice import kernels as lattice_checks


def test_rows_find_their_cells_and_leave_counts_bits_and_tallies() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 5, (3, 200)).astype(np.uint8)
    level = [np.array([0, 0, 1, 1, 2]), np.array([0, 1, 2, 3, 4]), np.zeros(5, dtype=np.int64)]
    sizes = [3, 5, 1]
    keys = np.zeros(200, dtype=np.int32)
    for column, table in zip(codes, (level[0] * 5, level[1]), strict=False):
        lattice.cell_keys(column, table.astype(np.int32), keys)
    expected = np.ravel_multi_index([level[j][codes[j]] for j in range(3)], sizes)
    assert keys.tolist() == expected.tolist()
    counts = np.zeros(15, dtype=np.int64)
    lattice.count_rows(keys, counts)
    assert counts.tolist() == np.bincount(expected, minlength=15).tolist()
    values = rng.integers(0, 70, 200).astype(np.uint8)
    bits = np.zeros((15, 3), dtype=np.uint64)
    lattice.mark_values(keys, values, 1, bits)
    tally = np.zeros((15, 72), dtype=np.int64)
    lattice.count_values(keys, values, 2, tally)
    for cell in range(15):
        inside = values[expected == cell]
        assert sum(1 << int(v) for v in set(inside.tolist())) == int(bits[cell, 1]) | int(bits[cell, 2]) << 64
        assert tally[cell, 2:].tolist() == np.bincount(inside, minlength=70).tolist()
    assert not bits[:, 0].any()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rolling_up_joins_children(axis: int) -> None:
    rng = np.random.default_rng(2)
    cells = rng.integers(0, 16, (2, 4, 3))
    parent = np.array([1, 0, 1, 0])[: cells.shape[axis]]
    for kernel, join in ((lattice.roll_up_sums, np.add), (lattice.roll_up_bits, np.bitwise_or)):
        moved = np.moveaxis(cells, axis, 0)
        expected = np.zeros((2, *moved.shape[1:]), dtype=np.int64)
        for child, up in enumerate(parent):
            expected[up] = join(expected[up], moved[child])
        shape = (int(np.prod(cells.shape[:axis], dtype=int)), cells.shape[axis], -1, 1)
        finer = cells.reshape(shape)
        coarser = np.zeros((finer.shape[0], 2, finer.shape[2], 1), dtype=np.int64)
        kernel(finer, parent, coarser)
        found = coarser.reshape([2 if i == axis else n for i, n in enumerate(cells.shape)])
        assert np.moveaxis(found, axis, 0).tolist() == expected.tolist()


def test_merging_joins_cells_of_one_label() -> None:
    cells = np.array([[1, 2], [4, 8], [3, 1]])
    labels = np.array([1, 0, 1])
    sums, bits = np.zeros((2, 2), dtype=np.int64), np.zeros((2, 2), dtype=np.int64)
    lattice.roll_up_sums(cells[None, :, None], labels, sums[None, :, None])
    lattice.roll_up_bits(cells[None, :, None], labels, bits[None, :, None])
    assert sums.tolist() == [[4, 8], [4, 3]]
    assert bits.tolist() == [[4, 8], [3, 3]]


def test_small_cells_are_counted_until_the_limit() -> None:
    counts = np.array([0, 1, 5, 2, 3])
    assert lattice_checks.rows_in_small_cells(counts, 4, 100) == 6
    assert lattice_checks.rows_in_small_cells(counts, 4, 0) == 1  # the first is enough to know
    assert lattice_checks.rows_in_small_cells(counts, 1, 0) == 0


def test_few_values_by_column_with_and_without_counts() -> None:
    masks = np.array([[0b11, 0b1], [0b111, 0b11], [0, 0], [0b1, 0b111]], dtype=np.uint64)
    counts = np.array([3, 3, 0, 9])
    starts, least = np.array([0, 1, 2]), np.array([2, 2])
    failing = np.zeros(4, dtype=bool)
    rows = lattice_checks.rows_of_few_values(counts, True, masks, 2, starts, least, 100, failing)
    assert (rows, failing.tolist()) == (12, [True, False, False, True])
    nowhere = np.zeros(0, dtype=bool)
    assert lattice_checks.rows_of_few_values(counts, True, masks, 4, starts, least, 100, nowhere) == 15
    none = np.zeros(0, dtype=np.int64)
    assert lattice_checks.rows_of_few_values(none, False, masks, 99, starts, least, 100, nowhere) == 2
