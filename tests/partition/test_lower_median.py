"""Algorithm 2 of mutual cover: the cutter with its median rules against a plain recursion."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.model.table import Table
from undercover.steps.cutting.checks import Check
from undercover.steps.cutting.partition import partition

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "town"], sensitive="ill")


def table_of(rows: Sequence[tuple[int, str, str, str]]) -> Table:
    age, sex, town, ill = (list(column) for column in zip(*rows, strict=True))
    return Table.from_arrow(pa.table({"age": age, "sex": sex, "town": town, "ill": ill}), SCHEMA)


def plain(rows: Sequence[tuple[int, str, str, str]], l: int, fallback: bool) -> set[frozenset[int]]:  # noqa: E741
    """Algorithm 2 as it reads, over row numbers."""
    columns = [list(column) for column in zip(*rows, strict=True)][:3]
    whole = [(max(columns[0]) - min(columns[0])) or 1, *(max(len(set(column)) - 1, 1) for column in columns[1:])]
    ill = [row[3] for row in rows]

    def span(group: list[int], a: int) -> float:
        values = [columns[a][row] for row in group]
        return (max(values) - min(values) if a == 0 else len(set(values)) - 1) / whole[a]

    def diverse(group: list[int]) -> bool:
        return bool(group) and max(Counter(ill[row] for row in group).values()) * l <= len(group)

    def cut(group: list[int]) -> set[frozenset[int]]:
        for a in sorted(range(3), key=lambda a: -round(span(group, a), 9)):
            values = sorted(columns[a][row] for row in group)
            median = values[(len(values) - 1) // 2]
            below = [value for value in values if value < values[-1]]
            if median == values[-1] and fallback and below:
                median = below[-1]
            small = [row for row in group if columns[a][row] <= median]
            big = [row for row in group if columns[a][row] > median]
            if diverse(small) and diverse(big):
                return cut(small) | cut(big)
        return {frozenset(group)}

    return cut(list(range(len(rows))))


rows_strategy = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("fm"), st.sampled_from("abcd"), st.sampled_from("uvwxyz")),
    min_size=4,
    max_size=40,
)


@given(rows_strategy, st.integers(2, 3), st.booleans())
def test_the_cutter_is_algorithm_2(rows: list[tuple[int, str, str, str]], l: int, fallback: bool) -> None:  # noqa: E741
    if max(Counter(row[3] for row in rows).values()) * l > len(rows):
        return
    found = partition(
        table_of(rows),
        k=l,
        checks=[Check(column="ill", kind="frequency", limit=float(l))],
        cut="lower-median" if fallback else "papers-median",
    )
    groups = {frozenset(found.groups.rows_of(g).tolist()) for g in range(found.groups.count)}
    assert groups == plain(rows, l, fallback)


@pytest.mark.parametrize(("rule", "groups"), [("lower-median", 2), ("papers-median", 1)])
def test_a_binary_column_whose_majority_has_the_larger_code(rule: str, groups: int) -> None:
    rows = [(0, "f", "a", ill) for ill in "uv"] + [(0, "m", "a", ill) for ill in "uvw"]
    found = partition(table_of(rows), k=2, cut=rule)  # type: ignore[arg-type]
    assert found.groups.count == groups
    assert np.sort(found.groups.sizes).tolist() == ([2, 3] if groups == 2 else [5])
