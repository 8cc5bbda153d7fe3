"""Moving rows between groups: by hand, against a plain twin, and what must hold of every partition afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_mondrian import check_holds, plain_columns
from plain_regrouping import PlainRegrouping
from random_tables import random_checks, random_table

from effort import examples
from undercover.errors import UnreachableError
from undercover.model.groups import Groups
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.steps.cutting import regrouping
from undercover.steps.cutting.checks import Check
from undercover.steps.cutting.columns import cut_columns
from undercover.steps.cutting.partition import Partition, partition
from undercover.steps.cutting.regrouping import regrouped

TOWNS = Hierarchy([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "y"), ("f", "z")])


def given_groups(table: Table, labels: list[int]) -> Partition:
    """A partition as if it had been cut like that."""
    groups = Groups(np.array(labels, dtype=np.int32), max(labels) + 1)
    return Partition(groups, tuple(cut_columns(table, "boxes")), np.zeros((groups.count, 1, 2), dtype=np.int64))


def towns(text: str, ill: str | None = None) -> Table:
    data = {"town": list(text), "ill": list(ill or "s" * len(text))}
    schema = Schema(quasi_identifiers=["town"], sensitive="ill", columns={"town": Column(hierarchy=TOWNS)})
    return Table.from_arrow(pa.table(data), schema)


def as_sets(result: Partition) -> set[frozenset[int]]:
    groups = result.groups
    return {frozenset(groups.rows_of(g).tolist()) for g in range(groups.count)}


def total_loss(table: Table, result: Partition) -> float:
    total = 0.0
    for rows in as_sets(result):
        for column in plain_columns(table, "boxes"):
            total += len(rows) * column.loss(column.tight(frozenset(column.rows[row] for row in rows)))
    return total


def check_promises(table: Table, result: Partition, k: int, checks: list[Check]) -> None:
    groups = result.groups
    assert sorted(groups.order.tolist()) == list(range(table.n_rows))
    assert groups.sizes.min() >= k
    for rows in as_sets(result):
        assert all(check_holds(table, check, sorted(rows)) for check in checks)
    assert result.bounds is None, "rows that move have no region"
    codes = np.stack([cut.recode[table[cut.name].codes] for cut in result.columns], axis=1)
    _, same = np.unique(codes, axis=0, return_inverse=True)
    pairs = np.unique(np.stack([same.ravel(), groups.labels], axis=1), axis=0)
    assert len(pairs) == len(np.unique(same)), "rows with equal quasi-identifiers were torn apart"


def case(seed: int, *, checked: bool) -> tuple[Table, int, list[Check], Partition]:
    rng = np.random.default_rng((seed, 30))
    table = random_table(
        rng,
        n=int(rng.integers(4, 60)),
        d=int(rng.integers(1, 5)),
        values=int(rng.integers(2, 9)),
        missing=seed % 3 == 0,
    )
    checks = [check for check in random_checks(rng, 2) if reaches(table, check)] if checked else []
    k = int(rng.integers(1, 5))
    cut = "loss" if seed % 2 else "median"
    return table, min(k, table.n_rows), checks, partition(table, k=min(k, table.n_rows), checks=checks, cut=cut)


def reaches(table: Table, check: Check) -> bool:
    try:
        partition(table, k=table.n_rows, checks=[check])
    except UnreachableError:
        return False
    return True


def differs(seed: int, *, checked: bool, fault: str = "") -> bool:
    table, k, checks, parts = case(seed, checked=checked)
    twin = PlainRegrouping(table, k=k, checks=checks, fault=fault)
    plain = twin.groups([parts.groups.rows_of(g).tolist() for g in range(parts.groups.count)])
    return as_sets(regrouped(parts, table, k=k, checks=checks)) != set(plain)


def test_a_row_goes_over_by_hand() -> None:
    # c was cut with a and b, which makes them *; with d it is y, and a, b are x.
    table = towns("aabcdd")
    assert regrouped(given_groups(table, [0, 0, 0, 0, 1, 1]), table, k=2).groups.labels.tolist() == [0, 0, 0, 1, 1, 1]
    # Not where its group would be too small without it, although that saves as much.
    assert regrouped(given_groups(table, [0, 0, 0, 0, 1, 1]), table, k=4).groups.count == 2


def test_rows_with_equal_values_go_together() -> None:
    table = towns("aaccdd")
    assert as_sets(regrouped(given_groups(table, [0, 0, 0, 0, 1, 1]), table, k=2)) == {
        frozenset({0, 1}),
        frozenset({2, 3, 4, 5}),
    }


def test_a_group_is_dissolved_by_hand() -> None:
    # b and e are together as *, 2 rows of loss 1. As x and y with the others: 3 rows of 1/5 and 3 of 2/5.
    table = towns("aabedd")
    assert as_sets(regrouped(given_groups(table, [0, 0, 1, 1, 2, 2]), table, k=2)) == {
        frozenset({0, 1, 2}),
        frozenset({3, 4, 5}),
    }


def test_a_check_forbids_a_move() -> None:
    # Without c, of a and b every row is ill with s, and d would be with t alone.
    table = towns("aabcdd", "ssstst")
    parts = given_groups(table, [0, 0, 0, 0, 1, 1])
    two = [Check(column="ill", kind="distinct", limit=2)]
    assert regrouped(parts, table, k=2).groups.sizes.tolist() == [3, 3]
    assert regrouped(parts, table, k=2, checks=two).groups.sizes.tolist() == [4, 2]
    # The group that takes must keep it, too: of t, t, s and another t more than two thirds are t.
    table = towns("aabcdd", "tsttst")
    often = [Check(column="ill", kind="frequency", limit=1.6)]
    assert regrouped(parts, table, k=2, checks=often).groups.sizes.tolist() == [4, 2]
    table = towns("aabcdd", "tstsst")
    assert regrouped(parts, table, k=2, checks=often).groups.sizes.tolist() == [4, 2]
    assert regrouped(
        parts, table, k=2, checks=[Check(column="ill", kind="frequency", limit=1.5)]
    ).groups.sizes.tolist() == [3, 3]


@pytest.mark.parametrize("checked", [False, True])
def test_the_same_groups_as_the_plain_twin(checked: bool) -> None:
    for seed in range(120):
        assert not differs(seed, checked=checked), f"seed {seed}"


@pytest.mark.parametrize("fault", ["no checks", "first that saves"])
def test_the_twin_notices_a_fault(fault: str) -> None:
    assert any(differs(seed, checked=True, fault=fault) for seed in range(120))


def test_promises_are_kept_and_no_partition_gets_worse() -> None:
    gained = 0
    for seed in range(120):
        table, k, checks, parts = case(seed, checked=seed % 4 > 1)
        result = regrouped(parts, table, k=k, checks=checks)
        check_promises(table, result, k, checks)
        before, after = total_loss(table, parts), total_loss(table, result)
        assert after <= before + 1e-9
        gained += after < before - 1e-9
        if as_sets(result) == as_sets(parts):
            assert (result.groups.labels == parts.groups.labels).all()
    assert gained > 30


def test_neighbourhoods_on_several_threads_give_what_one_thread_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regrouping, "NEIGHBOURS", 7)
    for seed in range(10):
        rng = np.random.default_rng((seed, 31))
        table = random_table(rng, n=400, d=4, values=12, missing=True)
        check = Check(column="s", kind="distinct", limit=2)
        for checks in ([], [check] if reaches(table, check) else []):
            parts = partition(table, k=3, checks=checks)
            seen: list[float] = []
            one = regrouped(parts, table, k=3, checks=checks)
            two = regrouped(
                parts, table, k=3, checks=checks, threads=3, progress=lambda _, share, seen=seen: seen.append(share)
            )
            assert (one.groups.labels == two.groups.labels).all()
            assert seen == sorted(seen)
            assert seen[-1] == 1.0
            check_promises(table, one, 3, checks)
            # Nobody left the neighbourhood of the group he was cut to.
            twin = PlainRegrouping(table, k=3, checks=checks)
            before = [parts.groups.rows_of(g).tolist() for g in range(parts.groups.count)]
            assert as_sets(one) == {
                rows for at in range(0, len(before), 7) for rows in twin.groups(before[at : at + 7])
            }


def test_more_columns_than_a_key_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(32)
    table = random_table(rng, n=200, d=6, values=9)
    parts = partition(table, k=3)
    labels = regrouped(parts, table, k=3).groups.labels
    monkeypatch.setattr(regrouping, "_LARGEST_KEY", 2_000)
    assert (regrouped(parts, table, k=3).groups.labels == labels).all()


def test_sets_of_more_than_64_values() -> None:
    rng = np.random.default_rng(33)
    picks = np.minimum(rng.integers(0, 150, 400), rng.integers(0, 150, 400))
    data = pa.table({"job": [f"job {p:03}" for p in picks], "age": rng.integers(0, 40, 400)})
    table = Table.from_arrow(data, Schema(quasi_identifiers=["job", "age"]))
    parts = partition(table, k=4)
    result = regrouped(parts, table, k=4)
    check_promises(table, result, 4, [])
    assert total_loss(table, result) < total_loss(table, parts)


@st.composite
def small_tables(draw: st.DrawFn) -> pa.Table:
    row = st.tuples(st.integers(0, 6), st.sampled_from("pqrs"), st.sampled_from("abcdef"))
    rows = draw(st.lists(row, min_size=2, max_size=30))
    columns = dict(zip(["number", "category", "town"], zip(*rows, strict=True), strict=True))
    disease = draw(st.lists(st.sampled_from(["flu", "cold", "gout"]), min_size=len(rows), max_size=len(rows)))
    return pa.table({name: list(values) for name, values in columns.items()} | {"disease": disease})


SCHEMA = Schema(
    quasi_identifiers=["number", "category", "town"],
    sensitive="disease",
    columns={"town": Column(hierarchy=TOWNS), "number": Column(weight=2.0)},
)


def cut_and_moved(data: pa.Table, k: int) -> Partition:
    table = Table.from_arrow(data, SCHEMA)
    k = min(k, table.n_rows)
    return regrouped(partition(table, k=k), table, k=k)


@examples(40)
@given(small_tables(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_neither_sensitive_values_nor_the_order_of_rows_change_the_groups_of_k_alone(
    data: pa.Table, k: int, random: Any
) -> None:
    """Algorithm safety of Mondrian with k alone rests on this."""
    order = list(range(data.num_rows))
    random.shuffle(order)
    found = cut_and_moved(data, k)
    permuted = data.set_column(3, "disease", data.column("disease").take(pa.array(order)))
    assert (cut_and_moved(permuted, k).groups.labels == found.groups.labels).all()
    shuffled = cut_and_moved(data.take(order), k)
    assert (shuffled.groups.labels == found.groups.labels[order]).all()


def test_the_comparison_notices_moves_that_depend_on_sensitive_values() -> None:
    parts = [0, 0, 0, 0, 1, 1]
    two = [Check(column="ill", kind="distinct", limit=2)]
    tables = [towns("aabcdd", "ssstst"), towns("aabcdd", "stssst")]
    one, other = (regrouped(given_groups(table, parts), table, k=2, checks=two) for table in tables)
    assert (one.groups.labels != other.groups.labels).any()
