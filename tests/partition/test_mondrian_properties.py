"""What holds of every partition, also where domains are too large for an exact twin."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_mondrian import PlainMondrian, check_holds, plain_columns
from random_tables import random_checks, random_hierarchy, random_table

from effort import examples
from undercover.errors import UnreachableError
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.steps.cutting import partition as mondrian
from undercover.steps.cutting.checks import Check
from undercover.steps.cutting.partition import Partition, partition

RULES = [(cut, recoding) for cut in ("loss", "median") for recoding in ("boxes", "regions")]
TOWNS = Hierarchy([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "y"), ("f", "z")])


def quasi_identifiers(table: Table) -> np.ndarray:
    return np.stack([codes.astype(np.int64) for codes in table.codes(table.schema.quasi_identifiers)], axis=1)


def groups_by_value(table: Table, result: Partition) -> Counter[frozenset[tuple[tuple[int, ...], int]]]:
    """Every group as the multiset of its quasi-identifiers: what an observer of the groups sees without row numbers."""
    rows = [tuple(row) for row in quasi_identifiers(table).tolist()]
    groups = result.groups
    return Counter(
        frozenset(Counter(rows[row] for row in groups.rows_of(g).tolist()).items()) for g in range(groups.count)
    )


def check_promises(table: Table, result: Partition, k: int, checks: list[Check]) -> None:
    """Every row once, groups of at least k that satisfy the checks, equal rows together."""
    groups = result.groups
    assert sorted(groups.order.tolist()) == list(range(table.n_rows))
    assert groups.sizes.min() >= k
    assert groups.sizes.sum() == table.n_rows
    assert (np.bincount(groups.labels, minlength=groups.count) == groups.sizes).all()
    for g in range(groups.count):
        assert all(check_holds(table, check, groups.rows_of(g).tolist()) for check in checks)
    _, same = np.unique(quasi_identifiers(table), axis=0, return_inverse=True)
    pairs = np.unique(np.stack([same.ravel(), groups.labels], axis=1), axis=0)
    assert len(pairs) == len(np.unique(same)), "rows with equal quasi-identifiers were torn apart"


def check_regions(table: Table, result: Partition) -> None:
    """Regions do not overlap, hold their own rows, and are nodes where there is a tree."""
    bounds = result.bounds
    groups = result.groups
    codes = np.stack([cut.recode[table[cut.name].codes] for cut in result.columns], axis=1)
    low, high = bounds[groups.labels, :, 0], bounds[groups.labels, :, 1]
    assert ((low <= codes) & (codes <= high)).all()
    for g in range(groups.count - 1):
        others = bounds[g + 1 :]
        overlap = (bounds[g, :, 0] <= others[:, :, 1]) & (others[:, :, 0] <= bounds[g, :, 1])
        assert not overlap.all(axis=1).any(), f"region {g} overlaps another"
    for j, (cut, plain) in enumerate(zip(result.columns, plain_columns(table, "regions"), strict=True)):
        if cut.kind == "tree":
            nodes = {(min(node), max(node)) for node in plain.nodes}
            assert {(int(a), int(b)) for a, b in bounds[:, j]} <= nodes


@pytest.mark.parametrize(("cut", "recoding"), RULES)
def test_small_tables_keep_every_promise(cut: str, recoding: str) -> None:
    for number in range(40):
        rng = np.random.default_rng((number, 20))
        table = random_table(rng, n=60, d=4, values=10, missing=bool(number % 2))
        checks = [check for check in random_checks(rng, 2) if reaches(table, check)] if number % 3 else []
        result = partition(table, k=3, checks=checks, cut=cut, recoding=recoding)
        check_promises(table, result, 3, checks)
        if recoding == "regions":
            check_regions(table, result)


def reaches(table: Table, check: Check) -> bool:
    try:
        partition(table, k=table.n_rows, checks=[check])
    except UnreachableError:
        return False
    return True


def large_table(rng: np.random.Generator, n: int, values: int) -> Table:
    """A number, a category, a tree and an ordinal column of ``values`` values each, and a sensitive column."""
    picks = rng.integers(0, values, (n, 4))
    picks[:, 1] = np.minimum(picks[:, 1], rng.integers(0, values, n))
    names = [f"v{i:06}" for i in range(values)]
    data = {
        "number": picks[:, 0] * 3,
        "category": [names[p] for p in picks[:, 1]],
        "tree": [names[p] for p in picks[:, 2]],
        "ordinal": [names[p] for p in picks[:, 3]],
        "s": [f"s{p}" for p in rng.integers(0, 6, n)],
    }
    columns = {
        "tree": Column(hierarchy=random_hierarchy(rng, values, names)),
        "ordinal": Column(kind="ordinal", domain=tuple(rng.permutation(names))),
    }
    return Table.from_arrow(
        pa.table(data),
        Schema(quasi_identifiers=["number", "category", "tree", "ordinal"], sensitive="s", columns=columns),
    )


@pytest.mark.parametrize("values", [65, 300, 3000])
@pytest.mark.parametrize(("cut", "recoding"), RULES)
def test_large_domains_keep_promises(values: int, cut: str, recoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mondrian, "_PARALLEL_FROM", 200)
    table = large_table(np.random.default_rng((values, 21)), 2 * values + 500, values)
    for checks in ([], [Check(column="s", kind="frequency", limit=2.0)]):
        result = partition(table, k=4, checks=checks, cut=cut, recoding=recoding, threads=2)
        assert result.groups.count > table.n_rows // 40
        check_promises(table, result, 4, checks)
        if recoding == "regions" and values < 1000:
            check_regions(table, result)


@pytest.mark.parametrize(("cut", "recoding"), RULES)
def test_more_than_65536_values_need_wide_codes(cut: str, recoding: str) -> None:
    rng = np.random.default_rng(22)
    n = 70_000
    data = pa.table({"id": rng.permutation(n) * 2, "sex": rng.integers(0, 2, n)})
    table = Table.from_arrow(data, Schema(quasi_identifiers=["id", "sex"]))
    assert table["id"].codes.dtype == np.uint32
    result = partition(table, k=5, cut=cut, recoding=recoding, threads=2)
    check_promises(table, result, 5, [])
    assert result.groups.count > n // 15
    if recoding == "regions":
        order = np.argsort(result.bounds[:, 0, 0] * 4 + result.bounds[:, 1, 0])
        assert len(np.unique(result.bounds[order], axis=0)) == result.groups.count


def total_loss(table: Table, result: Partition) -> float:
    plain = PlainMondrian(table, k=1)
    groups = result.groups
    return sum(plain._loss(groups.rows_of(g).tolist()) for g in range(groups.count)) / table.n_rows


def test_cutting_by_loss_loses_less_than_cutting_at_the_median() -> None:
    """On average, also where values share bits and the score is blurred."""
    by_loss = at_median = 0.0
    for number in range(4):
        table = large_table(np.random.default_rng((number, 23)), 900, 200)
        by_loss += total_loss(table, partition(table, k=5))
        at_median += total_loss(table, partition(table, k=5, cut="median"))
    assert by_loss < at_median


@st.composite
def small_tables(draw: st.DrawFn) -> pa.Table:
    row = st.tuples(
        st.integers(0, 6), st.sampled_from("pqrs"), st.sampled_from("abcdef"), st.sampled_from(["low", "mid", "high"])
    )
    rows = draw(st.lists(row, min_size=2, max_size=30))
    columns = dict(zip(["number", "category", "town", "level"], zip(*rows, strict=True), strict=True))
    disease = draw(st.lists(st.sampled_from(["flu", "cold", "gout"]), min_size=len(rows), max_size=len(rows)))
    return pa.table({name: list(values) for name, values in columns.items()} | {"disease": disease})


SCHEMA = Schema(
    quasi_identifiers=["number", "category", "town", "level"],
    sensitive="disease",
    columns={
        "town": Column(hierarchy=TOWNS),
        "level": Column(kind="ordinal", domain=("low", "mid", "high")),
        "number": Column(weight=2.0),
    },
)


@examples(30)
@given(small_tables(), st.integers(1, 4), st.sampled_from(RULES), st.randoms(use_true_random=False))
def test_the_order_of_rows_never_changes_the_groups(data: pa.Table, k: int, rule: tuple[str, str], random: Any) -> None:
    order = list(range(data.num_rows))
    random.shuffle(order)
    table, shuffled = Table.from_arrow(data, SCHEMA), Table.from_arrow(data.take(order), SCHEMA)
    k = min(k, table.n_rows)
    one, two = (partition(t, k=k, cut=rule[0], recoding=rule[1]) for t in (table, shuffled))
    assert groups_by_value(table, one) == groups_by_value(shuffled, two)
    by_row = {frozenset(one.groups.rows_of(g).tolist()) for g in range(one.groups.count)}
    again = {frozenset(order[row] for row in two.groups.rows_of(g).tolist()) for g in range(two.groups.count)}
    assert by_row == again


@examples(30)
@given(small_tables(), st.integers(1, 4), st.sampled_from(RULES), st.randoms(use_true_random=False))
def test_sensitive_values_never_change_the_groups_of_k_alone(
    data: pa.Table, k: int, rule: tuple[str, str], random: Any
) -> None:
    """Algorithm safety of Mondrian with k alone rests on this."""
    order = list(range(data.num_rows))
    random.shuffle(order)
    permuted = data.set_column(4, "disease", data.column("disease").take(pa.array(order)))
    replaced = data.set_column(4, "disease", pa.array([f"d{i}" for i in order]))
    k = min(k, data.num_rows)
    results = [
        partition(Table.from_arrow(one, SCHEMA), k=k, cut=rule[0], recoding=rule[1])
        for one in (data, permuted, replaced)
    ]
    for other in results[1:]:
        assert (other.groups.labels == results[0].groups.labels).all()
        assert (other.groups.order == results[0].groups.order).all()
        assert np.array_equal(other.bounds, results[0].bounds)
        assert (other.bounds is None) == (rule[1] == "boxes")


def test_the_comparison_notices_cuts_that_depend_on_sensitive_values() -> None:
    """The same test, with a check: now the groups do depend on the sensitive values."""
    data = pa.table({"age": [1, 2, 3, 4], "disease": ["flu", "cold", "flu", "cold"]})
    schema = Schema(quasi_identifiers=["age"], sensitive="disease")
    table = Table.from_arrow(data, schema)
    permuted = Table.from_arrow(data.set_column(1, "disease", pa.array(["flu", "flu", "cold", "cold"])), schema)
    check = Check(column="disease", kind="distinct", limit=2.0)
    assert partition(table, k=2, checks=[check]).groups.count == 2
    assert partition(permuted, k=2, checks=[check]).groups.count == 1


@pytest.mark.parametrize("values", [300, 3000])
@pytest.mark.parametrize(("cut", "recoding"), RULES)
def test_the_order_of_rows_does_not_matter_on_large_domains(
    values: int, cut: str, recoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mondrian, "_PARALLEL_FROM", 100)
    rng = np.random.default_rng((values, 24))
    table = large_table(rng, 1500, values)
    order = rng.permutation(table.n_rows)
    one = partition(table, k=3, cut=cut, recoding=recoding, threads=2)
    two = partition(table.take(order), k=3, cut=cut, recoding=recoding)
    assert groups_by_value(table, one) == groups_by_value(table.take(order), two)


@examples(30)
@given(small_tables(), st.integers(1, 4), st.sampled_from(["loss", "median"]))
def test_regions_do_not_overlap(data: pa.Table, k: int, cut: str) -> None:
    table = Table.from_arrow(data, SCHEMA)
    k = min(k, table.n_rows)
    result = partition(table, k=k, cut=cut, recoding="regions")
    check_promises(table, result, k, [])
    check_regions(table, result)


def test_overlapping_regions_would_be_noticed() -> None:
    table = Table.from_arrow(pa.table({"age": [1, 2, 3, 4]}), Schema(quasi_identifiers=["age"]))
    result = partition(table, k=2, recoding="regions")
    check_regions(table, result)
    result.bounds[0, 0, 1] += 1
    with pytest.raises(AssertionError, match="overlaps"):
        check_regions(table, result)


def test_no_allowable_cut_is_left_when_k_is_one() -> None:
    """With k = 1 every box ends with a single combination of values."""
    for number in range(10):
        table = random_table(np.random.default_rng((number, 25)), n=40, d=3, values=8)
        result = partition(table, k=1)
        assert result.groups.count == len(np.unique(quasi_identifiers(table), axis=0))


def test_one_row_one_column_one_value() -> None:
    single = Table.from_arrow(pa.table({"age": [7]}), Schema(quasi_identifiers=["age"]))
    constant = Table.from_arrow(pa.table({"age": [7] * 9}), Schema(quasi_identifiers=["age"]))
    for cut, recoding in RULES:
        assert partition(single, k=1, cut=cut, recoding=recoding).groups.sizes.tolist() == [1]
        assert partition(constant, k=2, cut=cut, recoding=recoding).groups.sizes.tolist() == [9]


def test_many_columns_fill_several_words() -> None:
    rng = np.random.default_rng(26)
    table = random_table(rng, n=400, d=20, values=20, missing=True)
    check_promises(table, partition(table, k=2), 2, [])


def test_progress_reaches_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mondrian, "_PARALLEL_FROM", 20)
    table = random_table(np.random.default_rng(27), n=300, d=3, values=9)
    seen: list[float] = []
    partition(table, k=2, threads=2, progress=lambda _stage, share: seen.append(share))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) > 1


def test_k_beyond_the_table_cannot_be_reached() -> None:
    table = Table.from_arrow(pa.table({"age": [1, 2, 3]}), Schema(quasi_identifiers=["age"]))
    with pytest.raises(UnreachableError, match="k=4 cannot be reached") as caught:
        partition(table, k=4)
    assert caught.value.best == {"k": 3}
