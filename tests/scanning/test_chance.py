"""The tests of places: what they bound is bounded, what they say they find is found."""

import math
from itertools import permutations

import numpy as np
import pytest

from undercover.scanning.places import LEVEL, _expected, _in_order_of, by_coin, by_place, in_order


@pytest.mark.parametrize("pairs", [1, 7, 30, 64])
def test_coins_are_bounded_by_their_exact_tail(pairs: int) -> None:
    for same in range(pairs + 1):
        off = abs(2 * same - pairs)
        exact = sum(math.comb(pairs, k) for k in range(pairs + 1) if abs(2 * k - pairs) >= off) / 2**pairs
        assert by_coin(pairs, same)[0] >= exact - 1e-12
    assert by_coin(30, 30)[0] < LEVEL < by_coin(30, 29)[0] * 100


@pytest.mark.parametrize("values", [(0, 1, 2, 3, 4, 5), (0, 0, 1, 1, 2, 2), (0, 0, 0, 0, 0, 1)])
def test_links_are_bounded_by_all_orders(values: tuple[int, ...]) -> None:
    alone = np.zeros(6, dtype=np.int64)
    mean = _expected(alone, np.array(values), np.array(values), 6)
    right = np.array([sum(a == b for a, b in zip(order, values, strict=True)) for order in permutations(values)])
    assert right.mean() == pytest.approx(mean)
    for least in range(7):
        assert by_place(least, mean, 6)[0] >= (right >= least).mean() - 1e-12


def test_what_is_expected_of_several_classes() -> None:
    which, shown, values = np.array([0, 0, 0, 1, 1]), np.array([1, 1, 2, 0, 3]), np.array([1, 2, 2, 0, 0])
    assert _expected(which, shown, values, 4) == pytest.approx(2 * 1 / 3 + 1 * 2 / 3 + 1 * 2 / 2)


@pytest.mark.parametrize("kind", [np.uint32, np.int32, np.int64])
def test_places_are_counted_out_as_sorting_has_them(kind: type[np.integer]) -> None:
    draw = np.random.default_rng(9)
    own, which = draw.permutation(500).astype(kind), np.sort(draw.integers(0, 40, 500)).astype(kind)
    by_owner = _in_order_of(own, 500)
    assert np.array_equal(by_owner, np.argsort(own, kind="stable"))
    assert np.array_equal(by_owner[_in_order_of(which[by_owner], 40)], np.lexsort((own, which)))
    assert not len(_in_order_of(own[:0], 0))


def test_pairs_share_no_row_and_have_a_fair_chance() -> None:
    draw, starts = np.random.default_rng(3), np.array([0, 5, 9, 10, 40])
    pairs = [in_order(draw.permutation(40), starts) for _ in range(4000)]
    assert {count for count, _ in pairs} == {2 + 2 + 0 + 15}
    found = np.array([same for _, same in pairs])
    assert abs(found.mean() - 19 / 2) < 5 * math.sqrt(19 / 4 / 4000)
    assert found.var() == pytest.approx(19 / 4, rel=0.15)


def test_as_much_order_as_is_said_is_found_in_19_of_20() -> None:
    """Of some rows, taken at random, the order is kept; the others stand anywhere."""
    draw, rows = np.random.default_rng(4), 2000
    starts = np.array([0, rows])
    kept = by_coin(rows // 2, 0)[1]
    found = 0
    for _ in range(200):
        numbers = np.arange(rows)
        moved = np.flatnonzero(draw.random(rows) >= math.sqrt(kept))  # a pair is kept where both rows are
        numbers[moved] = draw.permutation(numbers[moved])
        found += by_coin(*in_order(numbers, starts))[0] < LEVEL
    assert found >= 185
    assert by_coin(8, 8)[1] == math.inf
