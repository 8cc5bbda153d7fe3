"""Cross-bucket generalization against plain Python, against brute force, and against faults planted in its result."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_cross_bucket import PlainColumns, PlainTree, plain_division, plain_picks, plain_plan
from random_tables import random_table

from undercover.errors import InternalError, UnreachableError
from undercover.methods.cross_bucket.kernels import build_tree, count_values, divide_rows
from undercover.methods.cross_bucket.paper import (
    CrossBuckets,
    bucket_count,
    check_buckets,
    cross_buckets,
    group_sizes,
    pick,
    plan_of,
    require_plannable,
)
from undercover.model.groups import Groups
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.columns import cut_columns, kernel_columns
from undercover.threads import however_little


def one_sensitive(table: Table) -> Table:
    return replace(table, schema=replace_sensitive(table.schema))


def replace_sensitive(schema: Schema) -> Schema:
    return Schema(
        quasi_identifiers=schema.quasi_identifiers, sensitive=["t"], columns=schema.columns, missing=schema.missing
    )


def counts_of(table: Table) -> np.ndarray:
    return np.bincount(table["t"].codes, minlength=table["t"].domain.size)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(1, 7), st.integers(1, 10))
def test_the_plan_is_the_plain_one_and_uses_up_every_row(counts: list[int], k: int, l: int) -> None:  # noqa: E741
    if max(counts) * max(k, l) > sum(counts):
        return
    plan = list(plan_of(np.array(counts), k=k, l=l))
    assert plan == plain_plan(counts, k, l)
    used: Counter[int] = Counter()
    for values, times in plan:
        assert len(set(values)) == len(values) >= max(k, l)
        used.update(dict.fromkeys(values, times))
    assert [used[value] for value in range(len(counts))] == counts


def test_plans_by_hand() -> None:
    assert list(plan_of(np.array([2, 1, 1]), k=2, l=2)) == [((0, 1), 1), ((0, 2), 1)]
    assert list(plan_of(np.array([4, 2, 2]), k=2, l=2)) == [((0, 1), 2), ((0, 2), 2)]
    assert list(plan_of(np.array([0, 1, 0, 1]), k=1, l=2)) == [((1, 3), 1)]
    # Twelve is a multiple of three, but of 20 rows two have the same value: sets of ten, one of it in each.
    assert list(plan_of(np.array([1, 2, *[1] * 17]), k=3, l=10)) == [
        ((1, 0, *range(2, 10)), 1),
        ((1, *range(10, 19)), 1),
    ]


def test_picks_are_as_small_as_can_be_where_the_most_frequent_value_is_rare_enough() -> None:
    rng = np.random.default_rng(5)
    for n in (22_517, 22_518, 30_001):
        counts = rng.multinomial(n, rng.dirichlet(np.full(300, 4.0)))
        assert counts.max() * 12 <= n
        sizes = [size for g in plan_of(counts, k=3, l=10).sizes.tolist() for size in group_sizes(g, 3)]
        least, larger = divmod(n, 3)
        assert sum(size**2 for size in sizes) == (least - larger) * 9 + larger * 16


@pytest.mark.parametrize("k", range(1, 8))
@pytest.mark.parametrize("l", range(1, 11))
def test_the_number_of_buckets_by_brute_force(k: int, l: int) -> None:  # noqa: E741
    for g in range(max(k, l), 2 * (k + l) + 1):
        groups = np.repeat(np.arange(len(group_sizes(g, k))), group_sizes(g, k))

        def fits(b: int, g: int = g, groups: np.ndarray = groups) -> bool:
            pairs = Counter(zip(groups.tolist(), (np.arange(g) % b).tolist(), strict=True))
            sizes, buckets = Counter(groups.tolist()), Counter((np.arange(g) % b).tolist())
            return all(l * rows <= sizes[e] * buckets[b_] for (e, b_), rows in pairs.items())

        assert bucket_count(g, k=k, l=l) == max(b for b in range(1, k + 1) if fits(b))
        if g % k == 0:
            assert bucket_count(g, k=k, l=l) == k


def kernel_inputs(table: Table, rows: np.ndarray) -> tuple[Any, ...]:
    columns = cut_columns(table, "regions")
    codes = PlainColumns(table).codes[rows].astype(np.int32)
    return (
        codes,
        table["t"].codes[rows].astype(np.int32),
        kernel_columns(table, columns),
    )


@pytest.mark.parametrize("number", range(12))
def test_the_tree_is_the_plain_one_whatever_the_order_of_the_rows(number: int) -> None:
    rng = np.random.default_rng(number)
    table = random_table(rng, n=int(rng.integers(1, 200)), d=3, values=9, missing=number % 2 == 0)
    plain = PlainColumns(table)
    codes, values, settings = kernel_inputs(table, np.arange(table.n_rows))
    for order in (np.arange(table.n_rows), rng.permutation(table.n_rows)):
        rows, own, secret = order.copy(), codes[order], values[order]
        nodes = build_tree(own, secret, rows, settings)
        expected = PlainTree(plain, table["t"].codes, order.tolist())
        assert rows.tolist() == expected.order
        assert (own == codes[rows]).all()
        assert (secret == values[rows]).all()
        waiting = [(0, expected.root)]
        while waiting:
            at, node = waiting.pop()
            assert nodes[at, 1] - nodes[at, 0] == len(node[0])
            assert nodes[at, 4:].tolist() == [node[3], node[4]]
            if node[1] is not None:
                waiting += [(nodes[at, 2], node[1]), (nodes[at, 3], node[2])]
        roots, entries = count_values(nodes, secret, table["t"].domain.size)
        here = [(0, {value: entry for value, entry in enumerate(roots.tolist()) if entry >= 0})]
        while here:
            at, found = here.pop()
            inside = Counter(secret[nodes[at, 0] : nodes[at, 1]].tolist())
            assert {value: entries[entry, 0] for value, entry in found.items()} == inside
            if nodes[at, 2] >= 0:
                for side in (1, 2):
                    below = {value: entries[entry, side] for value, entry in found.items()}
                    here.append((nodes[at, 1 + side], {v: entry for v, entry in below.items() if entry >= 0}))


@pytest.mark.parametrize("number", range(16))
def test_the_picks_are_the_plain_ones(number: int) -> None:
    rng = np.random.default_rng((number, 1))
    table = random_table(rng, n=int(rng.integers(20, 160)), d=3, values=12, missing=number % 4 == 0)
    k, l = int(rng.integers(1, 4)), 2  # noqa: E741
    counts = counts_of(table)
    if counts.max() * max(k, l) > table.n_rows:
        k = l = 1  # noqa: E741
    plan = plan_of(counts, k=k, l=l)
    order = rng.permutation(table.n_rows)
    rows = order.copy()
    picks, starts, _, _ = pick(table, "t", plan, rows)
    expected = plain_picks(PlainColumns(table), table["t"].codes, order.tolist(), list(plan))
    found = [rows[picks[low:high]].tolist() for low, high in pairwise(starts)]
    assert found == expected


@pytest.mark.parametrize("number", range(16))
def test_the_division_is_the_plain_one(number: int) -> None:
    rng = np.random.default_rng((number, 2))
    table = random_table(rng, n=150, d=4, values=8, missing=number % 2 == 0)
    codes, _, settings = kernel_inputs(table, np.arange(150))
    offsets = np.array([0, 5, 12, 14, 30, 150])
    rows = rng.permutation(150)
    k = int(rng.integers(1, 6))
    parts = [rows[low:high].tolist() for low, high in pairwise(offsets)]
    expected = [group for part in parts for group in plain_division(PlainColumns(table), part, k)]
    starts = divide_rows(codes, rows, offsets, k, settings)
    assert [rows[low:high].tolist() for low, high in pairwise(starts)] == expected


def small_table(rng: np.random.Generator, counts: list[int]) -> Table:
    values = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    n = len(values)
    data = {"age": rng.integers(0, 6, n), "town": rng.integers(0, 3, n).astype(str), "t": values}
    return Table.from_arrow(pa.table(data), Schema(quasi_identifiers=["age", "town"], sensitive="t"))


def worst_share(found: CrossBuckets, table: Table) -> Fraction:
    """The highest p(t, s) over all boxes and values, as somebody computes it who sees the release."""
    ages, towns, values = (table[name].codes.tolist() for name in ("age", "town", "t"))
    members: dict[int, list[int]] = {}
    for row, bucket in enumerate(found.buckets.labels.tolist()):
        members.setdefault(bucket, []).append(row)
    boxes: dict[Any, list[int]] = {}
    for group in range(found.groups.count):
        rows = found.groups.rows_of(group).tolist()
        box = min(ages[row] for row in rows), max(ages[row] for row in rows), frozenset(towns[row] for row in rows)
        boxes.setdefault(box, []).extend(rows)
    whole = lcm(*map(len, members.values()))
    worst = Fraction(0)
    for rows in boxes.values():
        expected: Counter[int] = Counter()  # in parts of 1 / whole
        for row in rows:
            bucket = members[int(found.buckets.labels[row])]
            for member in bucket:
                expected[values[member]] += whole // len(bucket)
        worst = max(worst, Fraction(max(expected.values()), whole * len(rows)))
    return worst


@pytest.mark.parametrize("thousand", [0, *(pytest.param(n, marks=pytest.mark.soak) for n in range(1, 10))])
def test_kl_anonymity_holds_on_random_eligible_tables(thousand: int) -> None:
    rng = np.random.default_rng((thousand, 11))
    tried, k_above_l, not_divisible = 0, 0, 0
    while tried < 1000:
        k, l = int(rng.integers(1, 8)), int(rng.integers(1, 11))  # noqa: E741
        counts = rng.integers(1, rng.choice([2, 3, 6]), int(rng.integers(max(k, l), max(k, l) + 8))).tolist()
        if max(counts) * max(k, l) > sum(counts):
            continue
        table = small_table(rng, counts)
        found = cross_buckets(table, "t", np.array(counts), k=k, l=l, randomness=Randomness(tried))
        assert found.groups.sizes.min() >= k
        assert found.groups.sizes.sum() == found.buckets.sizes.sum() == len(table["t"].codes)
        assert worst_share(found, table) <= Fraction(1, l)
        tried += 1
        k_above_l += k > l
        not_divisible += bool((found.picks.sizes % k).any())
    assert min(k_above_l, not_divisible) > 100


def dealt() -> tuple[CrossBuckets, np.ndarray]:
    """Eight rows in two picks of four, two groups and two buckets each."""
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32)
    buckets = np.array([0, 1, 0, 1, 2, 3, 2, 3], np.int32)
    picks = np.array([0] * 4 + [1] * 4, np.int32)
    return CrossBuckets(Groups(labels, 4), Groups(buckets, 4), Groups(picks, 2)), np.array([0, 1, 2, 3, 0, 1, 2, 4])


def test_the_own_check_accepts_what_is_right() -> None:
    found, values = dealt()
    check_buckets(found, values, k=2, l=4)


def faults() -> list[tuple[str, Callable[[CrossBuckets, np.ndarray], tuple[CrossBuckets, np.ndarray]]]]:
    def moved(which: str, labels: list[int]) -> Any:
        def fault(found: CrossBuckets, values: np.ndarray) -> tuple[CrossBuckets, np.ndarray]:
            parts = Groups(np.array(labels, np.int32), max(labels) + 1)
            return replace(found, **{which: parts}), values

        return fault

    def repeated(found: CrossBuckets, values: np.ndarray) -> tuple[CrossBuckets, np.ndarray]:
        return found, np.array([0, 1, 2, 0, 0, 1, 2, 4])

    return [
        ("an equivalence group has 1 rows", moved("groups", [0, 1, 1, 1, 2, 2, 3, 3])),
        ("too many rows in one bucket", moved("buckets", [0, 0, 1, 1, 2, 3, 2, 3])),
        ("a bucket has rows that were not taken together", moved("buckets", [0, 1, 0, 2, 2, 3, 1, 3])),
        ("a group has rows that were not taken together", moved("groups", [0, 0, 1, 2, 1, 2, 3, 3])),
        ("have the same sensitive value", repeated),
    ]


@pytest.mark.parametrize(("message", "fault"), faults(), ids=[message for message, _ in faults()])
def test_the_own_check_rejects_planted_faults(message: str, fault: Any) -> None:
    with pytest.raises(InternalError, match=message):
        check_buckets(*fault(*dealt()), k=2, l=4)


@however_little()
def test_threads_do_not_change_the_result() -> None:
    rng = np.random.default_rng(3)
    table = small_table(rng, [9] * 12)
    one, three = (
        cross_buckets(table, "t", counts_of(table), k=3, l=5, randomness=Randomness(1), threads=threads)
        for threads in (1, 3)
    )
    assert one.groups.labels.tolist() == three.groups.labels.tolist()
    assert one.buckets.labels.tolist() == three.buckets.labels.tolist()


def test_what_cannot_be_reached_is_told() -> None:
    table = small_table(np.random.default_rng(1), [6, 2, 2])
    with pytest.raises(
        UnreachableError,
        match=r"l=2 cannot be reached: the most frequent .* is 60.0% of the rows \(6 of 10\); the larg",
    ):
        require_plannable(table, "t", counts_of(table), 1, 2)
    with pytest.raises(
        UnreachableError, match=r"k=3 cannot .* most frequent one is 60.0% .*\(6 of 10\); the largest feasible k is 1"
    ):
        require_plannable(table, "t", counts_of(table), 3, 1)
    with pytest.raises(UnreachableError, match="k=11 cannot be reached: the table has only 10 rows"):
        require_plannable(table, "t", counts_of(table), 11, 1)
