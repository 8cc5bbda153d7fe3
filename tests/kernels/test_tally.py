"""Distinct values of groups, as numpy counts them."""

import numpy as np
import pytest

from undercover.methods.mutual_cover.kernels.sampling import distinct_values


@pytest.mark.parametrize("size", [3, 40, 5000])
def test_values_and_counts_of_every_group(size: int) -> None:
    random = np.random.default_rng(size)
    codes = random.integers(0, size, 600).astype(np.uint32)
    order = random.permutation(600).astype(np.uint32)
    offsets = np.array([0, 1, 30, 31, 200, 600])
    starts, values, counts = distinct_values(codes, order, offsets, size)
    for g in range(5):
        expected = np.unique(codes[order[offsets[g] : offsets[g + 1]]], return_counts=True)
        assert values[starts[g] : starts[g + 1]].tolist() == expected[0].tolist()
        assert counts[starts[g] : starts[g + 1]].tolist() == expected[1].tolist()
