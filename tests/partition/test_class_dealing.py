"""Class dealing: layouts, groups, the assignment, and what an adversary makes of it."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import undercover as uc
from undercover.errors import UnreachableError
from undercover.model.groups import seen_groups
from undercover.model.table import Table
from undercover.multisets import distinct_orders
from undercover.randomness import Randomness
from undercover.steps.blocks import block_outcomes, exact_blocks, halved
from undercover.steps.dealing import classes
from undercover.steps.dealing.class_kernels import join_cells
from undercover.steps.dealing.classes import Layout, class_groups, class_outcomes
from undercover.steps.scales import places_of, scales_of
from undercover.threads import however_little


def people(n: int, seed: int, values: int = 12) -> Table:
    drawn = np.random.default_rng(seed)
    data = {
        "age": drawn.integers(18, 90, n),
        "city": [f"c{code}" for code in drawn.integers(0, 9, n)],
        "pay": drawn.lognormal(8, 1, n).round(2),
        "ill": [f"v{code}" for code in np.minimum(drawn.geometric(0.2, n), values)],
    }
    schema = uc.Schema(quasi_identifiers=["age", "city", "pay"], sensitive="ill")
    return Table.from_arrow(pa.table(data), schema)


def tiny(columns: dict[str, list[object]], values: str) -> Table:
    return Table.from_arrow(
        pa.table({**columns, "ill": list(values)}), uc.Schema(quasi_identifiers=list(columns), sensitive="ill")
    )


@given(st.lists(st.integers(1, 30), min_size=2, max_size=14), st.integers(2, 8))
@example([1, 1, 1, 1, 1], 3)  # more is left over than a class has slots
@example([2, 2, 2, 2, 2, 1], 4)
def test_no_value_lies_twice_in_a_zone(counts: list[int], least: int) -> None:
    n = sum(counts)
    if max(counts) * least > n:
        return
    layout = Layout.of(np.array(counts), least)
    assert all(width >= least for _, _, width in layout.zones)
    assert sorted(layout.order.tolist()) == list(range(len(counts)))
    assert layout.slots == n // least
    assert sum((last - first) * width for first, last, width in layout.zones) == n
    value = np.repeat(layout.order, np.array(counts)[layout.order])
    place = np.arange(n)
    for first, last, width in layout.zones:
        inside = (place % layout.slots >= first) & (place % layout.slots < last) & (place // layout.slots < width)
        home = defaultdict(set)
        for code, line in zip(value[inside].tolist(), (place[inside] // layout.slots).tolist(), strict=True):
            home[code].add(line)
        assert all(len(lines) == 1 for lines in home.values())
    for start, end in zip(layout.segments, layout.segments[1:], strict=False):
        one_class = start // layout.slots == (end - 1) // layout.slots
        assert one_class or len(set(value[start:end].tolist())) == 1


@however_little()
@pytest.mark.parametrize(("n", "least", "seed"), [(400, 3, 1), (1003, 4, 2), (517, 4, 3), (60, 2, 4)])
def test_groups_have_l_different_values(n: int, least: int, seed: int) -> None:
    table = people(n, seed)
    groups = class_groups(table, "ill", least, randomness=Randomness(seed), threads=2)
    assert sorted(groups.order.tolist()) == list(range(n))
    assert set(groups.sizes.tolist()) <= {least, least + 1}
    codes = table["ill"].codes
    assert all(len(set(codes[groups.rows_of(g)].tolist())) == groups.sizes[g] for g in range(groups.count))
    alone = class_groups(table, "ill", least, randomness=Randomness(seed), threads=1)
    assert np.array_equal(alone.labels, groups.labels)


def test_more_than_eligible_is_refused() -> None:
    with pytest.raises(UnreachableError, match="the largest feasible l is 2"):
        class_groups(tiny({"x": [1, 2, 3, 4]}, "aabc"), "ill", 3, randomness=Randomness(1))


def test_groups_are_nearer_than_those_dealt_at_random() -> None:
    table, pairs = people(900, 5), {}
    near = class_groups(table, "ill", 3, randomness=Randomness(1))
    far = uc.Streamliner(l=3).groups(table, Randomness(1))
    for name, groups in (("near", near), ("far", far)):
        age = table["age"].codes.astype(int)
        pairs[name] = np.mean([np.ptp(age[groups.rows_of(g)]) for g in range(groups.count)])
    assert pairs["near"] < 0.6 * pairs["far"]


def test_the_assignment_is_the_best() -> None:
    table = people(12, 7)
    places = places_of(table)
    rows = np.arange(12).reshape(2, 6)
    joined = rows.copy()
    join_cells(joined, np.array([0, 6]), np.array([0, 1]), True, places)
    assert np.array_equal(joined[0], rows[0])
    assert sorted(joined[1].tolist()) == rows[1].tolist()

    def cost(line: tuple[int, ...]) -> int:
        total = 0
        for first, second in zip(rows[0], line, strict=True):
            for a, ordered in enumerate(places.ordered):
                x, y = int(places.at[first, a]), int(places.at[second, a])
                total += abs(x - y) if ordered else int(places.apart[a]) * (x != y)
        return total

    assert cost(tuple(joined[1])) == min(cost(line) for line in permutations(rows[1].tolist()))


def test_cuts_treat_lines_alike() -> None:
    table = people(600, 3)
    rows = np.random.default_rng(1).permutation(600).reshape(4, 150)
    one, other = rows.copy(), rows[::-1].copy()
    each = np.arange(151)
    starts = [halved(lines, each, 9, scales_of(table), 1) for lines in (one, other)]
    assert np.array_equal(*starts)
    assert np.array_equal(one, other[::-1])
    assert np.diff(np.append(starts[0], 150)).max() <= 9


@however_little()
@pytest.mark.parametrize("size", [2, 5, 7, 100])
def test_blocks(size: int) -> None:
    table = people(633, 6)
    blocks = exact_blocks(table, size, randomness=Randomness(2), threads=2)
    assert blocks.count == 633 // size
    assert blocks.sizes.min() >= size
    assert blocks.sizes.max() - blocks.sizes.min() <= 1
    again = exact_blocks(table, size, randomness=Randomness(2), threads=1)
    assert np.array_equal(blocks.labels, again.labels)
    spread = [np.ptp(table["age"].codes[blocks.rows_of(b)].astype(int)) for b in range(blocks.count)]
    assert size == 100 or np.mean(spread) < 0.8 * np.ptp(table["age"].codes.astype(int))


def test_blocks_do_not_look_at_values() -> None:
    one, other = tiny({"x": [3, 1, 1, 2]}, "aabc"), tiny({"x": [3, 1, 1, 2]}, "caba")
    seen = [sorted((share, *labels.tolist()) for share, labels in block_outcomes(table, 2)) for table in (one, other)]
    assert seen[0] == seen[1]
    assert sum(share for share, *_ in seen[0]) == 1


CASES = [
    ({"x": [0, 1, 2, 3]}, "aabc", 2),
    ({"x": [0, 1, 2, 3]}, "aabb", 2),
    ({"x": [0, 0, 1, 1]}, "aabc", 2),
    ({"x": [0, 1, 2, 7, 8, 9]}, "aaabbc", 2),
    ({"x": [0, 1, 2, 7, 8, 9]}, "aabbcd", 3),
    ({"x": [0, 1, 2, 7, 8, 9], "y": [0, 5, 1, 3, 0, 2]}, "aabbcc", 2),
    ({"x": [0, 1, 2, 2, 1, 0], "y": list("ababab")}, "aabbcc", 3),
    ({"x": [0, 1, 4, 6, 9]}, "aabbc", 2),
    ({"x": [0, 1, 4, 6, 9]}, "abcde", 3),
]


def posteriors(columns: dict[str, list[object]], values: str, least: int) -> tuple[Fraction, Fraction]:
    """The surest an adversary is who is told the groups, and the most he gains over what they say."""
    weight: dict[object, dict[tuple[int, str], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    total: dict[object, Fraction] = defaultdict(Fraction)
    for order in distinct_orders(sorted(values)):
        codes = np.array([ord(value) for value in order])
        chances: dict[object, Fraction] = defaultdict(Fraction)
        for share, labels in class_outcomes(tiny(columns, "".join(order)), "ill", least):
            chances[seen_groups(labels, codes)] += share
        assert sum(chances.values()) == 1
        for seen, share in chances.items():
            total[seen] += share
            for row, value in enumerate(order):
                weight[seen][row, value] += share
    surest = gain = Fraction(0)
    for seen, found in weight.items():
        alone = {row: (len(rows), shown) for rows, shown in seen for row in rows}  # type: ignore[attr-defined]
        for (row, value), share in found.items():
            posterior = share / total[seen]
            size, shown = alone[row]
            surest, gain = max(surest, posterior), max(gain, abs(posterior - Fraction(shown.count(ord(value)), size)))
    return surest, gain


@pytest.mark.parametrize("cell", [320, 4], ids=["one cell", "cut in cells"])
@pytest.mark.parametrize(("columns", "values", "least"), CASES)
def test_who_knows_the_algorithm_gains_nothing(
    columns: dict[str, list[object]], values: str, least: int, cell: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classes, "_CELL", cell)
    surest, gain = posteriors(columns, values, least)
    assert gain == 0
    assert surest <= Fraction(1, least)


@pytest.mark.parametrize("case", [CASES[5], CASES[7]])
def test_rows_that_are_not_dealt_in_secret_are_caught(
    case: tuple[dict[str, list[object]], str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault: rows take the places of their values in the order of the table."""
    monkeypatch.setattr(classes, "distinct_orders", lambda cells: [tuple(cells)])
    assert posteriors(*case)[0] == 1


def test_real_draws_follow_the_outcomes_listed() -> None:
    table = tiny({"x": [0, 1, 1, 5]}, "aabc")
    listed: dict[object, Fraction] = defaultdict(Fraction)
    for share, labels in class_outcomes(table, "ill", 2):
        listed[seen_groups(labels, table["ill"].codes)] += share
    drawn: dict[object, int] = defaultdict(int)
    for seed in range(400):
        labels = class_groups(table, "ill", 2, randomness=Randomness(seed)).labels
        drawn[seen_groups(labels, table["ill"].codes)] += 1
    assert set(drawn) == set(listed)
    for seen, share in listed.items():
        assert abs(drawn[seen] / 400 - share) < 5 * (share * (1 - share) / 400) ** 0.5 + 1e-9
