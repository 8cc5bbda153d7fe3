"""Runs of positions against sets of positions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from undercover.forms.coverage import Coverage
from undercover.forms.meaning import Meaning

CELLS = st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=6)


def meaning_of(members: set[int]) -> Meaning:
    places = sorted(members)
    whole = places[-1] - places[0] + 1 == len(places)
    return Meaning(places[0], places[-1], None if whole else tuple(places))


@given(CELLS, st.sets(st.integers(0, 9)))
def test_covered_is_the_size_of_the_intersection(cells, asked):
    mask = np.isin(np.arange(10), sorted(asked))
    flat = [(i, place) for i, members in enumerate(cells) for place in sorted(members)]
    by_members = Coverage.of_members(*np.array(flat).T, len(cells), 10)
    by_meanings = Coverage.of_meanings([meaning_of(members) for members in cells], 10)
    for coverage in (by_members, by_meanings):
        assert coverage.n_cells == len(cells)
        assert coverage.sizes.tolist() == [len(members) for members in cells]
        assert coverage.covered(mask).tolist() == [len(members & asked) for members in cells]
        runs = [set(range(low, high + 1)) for low, high in zip(coverage.low, coverage.high, strict=True)]
        for i, members in enumerate(cells):
            own = runs[coverage.starts[i] : coverage.starts[i + 1]]
            assert set().union(*own) == members
            assert sum(map(len, own)) == len(members)


def test_runs_are_as_long_as_they_can_be():
    """Planted fault: a reader that forgets that a new cell begins would join 4 of one cell and 5 of the next."""
    coverage = Coverage.of_members(np.array([0, 0, 1, 1]), np.array([3, 4, 5, 9]), 2, 10)
    assert list(zip(coverage.low.tolist(), coverage.high.tolist(), strict=True)) == [(3, 4), (5, 5), (9, 9)]
    assert coverage.starts.tolist() == [0, 1, 3]


def test_no_cells():
    none = Coverage.of_meanings([], 3)
    assert none.sizes.tolist() == none.covered(np.ones(3, dtype=bool)).tolist() == []
