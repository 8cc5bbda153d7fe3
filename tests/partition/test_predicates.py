"""`all_hold` against the definitions of the papers, in exact arithmetic."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from plain_mondrian import check_holds, holds_by_definition
from random_tables import CHECK_KINDS, random_hierarchy

from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.steps.cutting.checks import Check, kernel_checks
from undercover.steps.cutting.nodes import all_hold


def verdict(table: Table, checks: list[Check], rows: list[int]) -> bool:
    """What the kernel says of a group of rows."""
    arrays = kernel_checks(table, checks)
    sensitive, starts = arrays.sensitive, arrays.column_starts
    counts = np.zeros(starts[-1], np.int64)
    for c in range(sensitive.shape[1]):
        np.add.at(counts, starts[c] + sensitive[rows, c].astype(np.int64), 1)
    return bool(all_hold(counts, len(rows), arrays, np.zeros(starts[-1] + 1)))


def table_of(counts: list[int], hierarchy: Hierarchy | None = None) -> tuple[Table, list[list[int]]]:
    """A table in which value i occurs ``counts[i]`` times, and the rows of each value."""
    values = [f"v{i}" for i, count in enumerate(counts) for _ in range(count)]
    schema = Schema(quasi_identifiers=["q"], sensitive="s", columns={"s": Column(hierarchy=hierarchy)})
    table = Table.from_arrow(pa.table({"q": [0] * len(values), "s": values}), schema)
    return table, [[row for row, value in enumerate(values) if value == f"v{i}"] for i in range(len(counts))]


LIMITS = {
    "distinct": [1.0, 2.0, 3.0, 6.0, 50.0],
    "frequency": [1.0, 1.1, 1.5, 2.0, 2.5, 3.2, 5.0],
    "entropy": [1.0, 1.5, 2.0, 3.0, 4.0],
    "recursive": [1.0, 2.0, 3.0, 4.0, 9.0],
    "equal": [0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 1.0],
    "ordered": [0.0, 0.05, 0.1, 0.125, 0.2, 0.3, 1.0],
    "hierarchical": [0.0, 0.05, 0.1, 0.2, 0.3, 1.0],
}


@pytest.mark.parametrize("kind", CHECK_KINDS)
def test_against_the_definition(kind: str) -> None:
    seen = Counter[bool]()
    for number in range(250):
        rng = np.random.default_rng((number, 31))
        size = int(rng.integers(1, 8))
        everywhere = rng.integers(1, 30, size)
        here = np.minimum(rng.integers(0, 12, size), everywhere)
        here[0] = max(1, here[0])
        hierarchy = random_hierarchy(rng, size)
        table, rows_of = table_of(everywhere.tolist(), hierarchy)
        rows = [row for rows, count in zip(rows_of, here, strict=True) for row in rows[:count]]
        limit = float(rng.choice(LIMITS[kind]))
        check = Check(column="s", kind=kind, limit=limit, c=float(rng.choice([0.3, 0.7, 1.1, 2.0, 4.0])))
        expected = check_holds(table, check, rows)
        assert verdict(table, [check], rows) == expected, (number, check, here.tolist(), everywhere.tolist())
        seen[expected] += 1
    assert min(seen[True], seen[False]) >= 20


def test_recursive_diversity_at_the_bound() -> None:
    """r1 = c (r2 + ...) exactly holds, although 0.29 * 100 is less than 29 in floating point."""
    assert 0.29 * 100 < 29
    table, _ = table_of([29, 29, 29, 29, 13])
    for c, expected in ((0.29, True), (0.3, True), (0.28, False)):
        check = Check(column="s", kind="recursive", limit=2.0, c=c)
        assert check_holds(table, check, list(range(table.n_rows))) == expected
        assert verdict(table, [check], list(range(table.n_rows))) == expected


def test_recursive_diversity_at_the_bound_for_many_c() -> None:
    for hundredths in range(1, 400, 3):
        c = hundredths / 100
        for tail in (10, 20, 50, 100):
            most, rest = divmod(hundredths * tail, 100)
            if rest or not tail / 2 <= most <= 300:
                continue
            for first in (most - 1, most, most + 1):
                counts = [first, tail // 2, tail - tail // 2]
                if first < max(counts):
                    continue
                table, _ = table_of(counts)
                check = Check(column="s", kind="recursive", limit=2.0, c=c)
                assert verdict(table, [check], list(range(table.n_rows))) == (first <= most), (c, counts)


@pytest.mark.parametrize("l", [2, 3, 5, 7, 10])
def test_uniform_groups_reach_their_own_l(l: int) -> None:  # noqa: E741
    """log l computed two ways must not refuse a group of l values in equal numbers."""
    for each in (1, 3, 7, 49):
        table, _ = table_of([each] * l)
        rows = list(range(table.n_rows))
        for kind in ("distinct", "frequency", "entropy"):
            assert verdict(table, [Check(column="s", kind=kind, limit=float(l))], rows)
            assert not verdict(table, [Check(column="s", kind=kind, limit=l + 0.001)], rows)


def test_by_hand() -> None:
    """Two of four values, the table having one of each: equal 1/2, ordered (1/4 + 1/2 + 1/4) / 3."""
    table, rows_of = table_of([1, 1, 1, 1])
    rows = rows_of[0] + rows_of[1]
    for kind, distance in (("equal", 1 / 2), ("ordered", 1 / 3)):
        assert verdict(table, [Check(column="s", kind=kind, limit=distance)], rows)
        assert not verdict(table, [Check(column="s", kind=kind, limit=distance - 1e-9)], rows)


def test_hierarchical_distance_by_hand() -> None:
    """Values that are siblings cost 1/2 of what values under different nodes cost."""
    tree = Hierarchy([("v0", "x"), ("v1", "x"), ("v2", "y"), ("v3", "y")])
    table, rows_of = table_of([1, 1, 1, 1], tree)
    for rows, distance in ((rows_of[0] + rows_of[2], 1 / 4), (rows_of[0] + rows_of[1], 1 / 2)):
        assert verdict(table, [Check(column="s", kind="hierarchical", limit=distance)], rows)
        assert not verdict(table, [Check(column="s", kind="hierarchical", limit=distance - 1e-9)], rows)


def test_several_predicates_on_several_columns_must_all_hold() -> None:
    for number in range(100):
        rng = np.random.default_rng((number, 32))
        n = 40
        data = {"q": [0] * n, "a": rng.integers(0, 3, n).astype(str), "b": rng.integers(0, 6, n)}
        data["c"] = [f"v{p}" for p in rng.integers(0, 5, n)]
        columns = {"c": Column(hierarchy=random_hierarchy(rng, 5))}
        schema = Schema(quasi_identifiers=["q"], sensitive=["a", "b", "c"], columns=columns)
        table = Table.from_arrow(pa.table(data), schema)
        checks = []
        for _ in range(int(rng.integers(1, 5))):
            kind = str(rng.choice(CHECK_KINDS))
            column = "c" if kind == "hierarchical" else str(rng.choice(["a", "b", "c"]))
            checks.append(Check(column=column, kind=kind, limit=float(rng.choice(LIMITS[kind][:4])), c=1.1))
        rows = rng.permutation(n)[: int(rng.integers(1, 30))].tolist()
        assert verdict(table, checks, rows) == all(check_holds(table, check, rows) for check in checks), number


def test_the_definitions_themselves_can_fail() -> None:
    """The oracle on cases computed by hand."""
    assert holds_by_definition("distinct", 2.0, 0.0, [1, 1], [1, 1])
    assert not holds_by_definition("distinct", 3.0, 0.0, [1, 1], [1, 1])
    assert not holds_by_definition("frequency", 2.0, 0.0, [2, 1], [2, 2])
    assert holds_by_definition("entropy", 2.0, 0.0, [2, 2], [2, 2])
    assert not holds_by_definition("entropy", 2.0, 0.0, [2, 1], [2, 2])
    assert holds_by_definition("recursive", 2.0, 2.0, [3, 2], [3, 3])
    assert holds_by_definition("recursive", 2.0, 1.5, [3, 2], [3, 3])
    assert not holds_by_definition("recursive", 2.0, 1.4, [3, 2], [3, 3])
    assert not holds_by_definition("equal", 0.1, 0.0, [2, 1], [1, 1])
    assert not holds_by_definition("ordered", 0.1, 0.0, [2, 0, 0], [1, 1, 1])
