"""The two kernels of COUNT queries against plain Python, on boxes that no table need have made."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercover.utility.queries.kernels import scatter_products, sum_products
from undercover.utility.queries.workload import Runs


@st.composite
def problems(draw):
    """Boxes over one to three columns; cells are lists of runs that neither touch nor overlap."""
    n_columns = draw(st.integers(1, 3))
    sizes = [draw(st.integers(1, 6)) for _ in range(n_columns)]
    cells = [
        [sorted(draw(st.sets(st.integers(0, size - 1), min_size=1))) for _ in range(draw(st.integers(1, 3)))]
        for size in sizes
    ]
    n_boxes, n_values = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    boxes = [[draw(st.integers(0, len(column) - 1)) for column in cells] for _ in range(n_boxes)]
    pairs = draw(
        st.lists(st.tuples(st.integers(0, n_values - 1), st.integers(0, n_boxes - 1), st.integers(1, 5)), max_size=8)
    )
    return sizes, cells, boxes, n_values, sorted(pairs)


def pair_arrays(pairs, n_values):
    starts = np.searchsorted([value for value, _, _ in pairs], np.arange(n_values + 1)).astype(np.int64)
    return (
        starts,
        np.array([box for _, box, _ in pairs], dtype=np.int64),
        np.array([weight for _, _, weight in pairs], dtype=np.float64),
    )


def numbered(boxes, cells):
    before = np.cumsum([0, *(len(column) for column in cells)])[:-1]
    return np.array(boxes, dtype=np.int64) + before


def plain_cube(sizes, cells, boxes, n_values, pairs):
    cube = np.zeros((n_values, *sizes))
    for value, box, weight in pairs:
        for at in np.ndindex(*sizes):
            covered = [cells[j][boxes[box][j]] for j in range(len(sizes))]
            if all(place in members for place, members in zip(at, covered, strict=True)):
                cube[(value, *at)] += weight / np.prod([len(members) for members in covered])
    return cube


@settings(deadline=None)
@given(problems())
def test_scattered_boxes_are_the_plain_cube(problem):
    sizes, cells, boxes, n_values, pairs = problem
    touch_starts, touch_at, touch_weight = [0], [], []
    for j, column in enumerate(cells):
        stride = int(np.prod(sizes[j + 1 :]))
        for members in column:
            touch_at += [member * stride for member in members]
            touch_weight += [1 / len(members)] * len(members)
            touch_starts.append(len(touch_at))
    cube = np.zeros((n_values, int(np.prod(sizes))))
    scatter_products(
        cube,
        *pair_arrays(pairs, n_values),
        numbered(boxes, cells),
        np.array(touch_starts, dtype=np.int64),
        np.array(touch_at, dtype=np.int64),
        np.array(touch_weight, dtype=np.float64),
    )
    assert cube.reshape(n_values, *sizes) == pytest.approx(plain_cube(sizes, cells, boxes, n_values, pairs))
    assert cube.sum() == pytest.approx(sum(weight for _, _, weight in pairs))


@settings(deadline=None)
@given(problems(), st.data())
def test_direct_sums_are_sums_over_the_plain_cube(problem, data):
    sizes, cells, boxes, n_values, pairs = problem
    run_starts, run_low, run_high, cell_sizes = [0], [], [], []
    for column in cells:
        for members in column:
            breaks = [i for i in range(1, len(members)) if members[i] != members[i - 1] + 1]
            run_low += [members[i] for i in [0, *breaks]]
            run_high += [members[i - 1] for i in [*breaks, len(members)]]
            run_starts.append(len(run_low))
            cell_sizes.append(len(members))
    queries = []
    for _ in range(4):
        ends = [sorted(data.draw(st.tuples(*[st.integers(0, size - 1)] * 2))) for size in sizes]
        queries.append((data.draw(st.integers(0, n_values - 1)), ends))
    found = sum_products(
        *pair_arrays(pairs, n_values),
        Runs(
            numbered(boxes, cells),
            np.array(run_starts, dtype=np.int64),
            np.array(run_low, dtype=np.int64),
            np.array(run_high, dtype=np.int64),
            np.array(cell_sizes, dtype=np.int64),
        ),
        np.array([value for value, _ in queries], dtype=np.int64),
        np.array([[low for low, _ in ends] for _, ends in queries], dtype=np.int64),
        np.array([[high for _, high in ends] for _, ends in queries], dtype=np.int64),
    )
    cube = plain_cube(sizes, cells, boxes, n_values, pairs)
    expected = [cube[(value, *(slice(low, high + 1) for low, high in ends))].sum() for value, ends in queries]
    assert found == pytest.approx(expected)


def test_a_forgotten_share_is_caught():
    """Planted fault: a box that counts in full at every position it covers."""
    cube = np.zeros((1, 4))
    starts, box, weight = pair_arrays([(0, 0, 1)], 1)
    full = np.ones(2)
    scatter_products(cube, starts, box, weight, np.array([[0]]), np.array([0, 2]), np.array([1, 2]), full)
    assert cube != pytest.approx(plain_cube([4], [[[1, 2]]], [[0]], 1, [(0, 0, 1)])[0][None])
