"""The compiled cutter must give exactly the groups of its plain twin."""

from __future__ import annotations

import numpy as np
import plain_mondrian
import pyarrow as pa
import pytest
from plain_mondrian import PlainMondrian, plain_columns
from random_tables import random_checks, random_table

from undercover.errors import UnreachableError
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.steps.cutting import partition as mondrian
from undercover.steps.cutting.checks import Check
from undercover.steps.cutting.partition import Partition, partition

RULES = [(cut, recoding) for cut in ("loss", "median") for recoding in ("boxes", "regions")]


def as_sets(result: Partition) -> set[frozenset[int]]:
    groups = result.groups
    return {frozenset(groups.rows_of(g).tolist()) for g in range(groups.count)}


def differences(table: Table, seed: object, *, threads: int = 1, fault: str = "", **asked: object) -> str:
    """Nothing where both give the same groups (and regions), and otherwise what they give."""
    twin = PlainMondrian(table, fault=fault, **asked).groups()
    result = partition(table, threads=threads, **asked)
    ours, theirs = as_sets(result), {rows for rows, _ in twin}
    if ours != theirs:
        return f"seed {seed}, {asked}: compiled only {ours - theirs}, plain only {theirs - ours}"
    if asked.get("recoding") == "regions":
        regions = dict(twin)
        for g in range(result.groups.count):
            bounds = result.bounds[g]
            region = regions[frozenset(result.groups.rows_of(g).tolist())]
            if [(min(cell), max(cell)) for cell in region] != [(int(low), int(high)) for low, high in bounds]:
                return f"seed {seed}, {asked}: region {region} against bounds {bounds.tolist()}"
    return ""


def reachable_checks(table: Table, rng: np.random.Generator) -> list[Check]:
    """Random predicates of which the whole table satisfies every one."""
    checks = []
    for check in random_checks(rng, int(rng.integers(1, 3))):
        try:
            partition(table, k=table.n_rows, checks=[check])
        except UnreachableError:
            continue
        checks.append(check)
    return checks


def random_case(seed: tuple[int, ...], *, checked: bool) -> tuple[Table, dict[str, object]]:
    rng = np.random.default_rng(seed)
    table = random_table(
        rng,
        n=int(rng.integers(2, 45)),
        d=int(rng.integers(1, 6)),
        values=int(rng.integers(2, 13)),
        missing=bool(rng.random() < 0.3),
    )
    k = min(int(rng.integers(1, 5)), table.n_rows)
    return table, {"k": k, "checks": reachable_checks(table, rng) if checked else []}


@pytest.mark.parametrize(("cut", "recoding"), RULES)
@pytest.mark.parametrize("checked", [False, True])
def test_same_groups_as_the_plain_twin(cut: str, recoding: str, checked: bool) -> None:
    for number in range(120):
        table, asked = random_case((number, checked), checked=checked)
        assert not differences(table, number, cut=cut, recoding=recoding, **asked)


@pytest.mark.parametrize("kind", ["integer", "float", "ordinal", "categorical", "tree", "date"])
@pytest.mark.parametrize(("cut", "recoding"), RULES)
def test_same_groups_on_tables_of_one_kind(kind: str, cut: str, recoding: str) -> None:
    for number in range(6):
        rng = np.random.default_rng((number, 2))
        table = random_table(rng, n=40, d=3, values=15, missing=bool(number % 2), kinds=(kind,))
        assert not differences(table, number, k=2, cut=cut, recoding=recoding)


@pytest.mark.parametrize("kind", ["distinct", "frequency", "entropy", "recursive", "equal", "ordered", "hierarchical"])
def test_same_groups_with_each_predicate(kind: str) -> None:
    """Every predicate must bind somewhere, or the comparison says nothing about it."""
    limits = {"distinct": 3.0, "frequency": 2.0, "entropy": 2.0, "recursive": 2.0}
    bound = 0
    for number in range(12):
        rng = np.random.default_rng((number, 3))
        table = random_table(rng, n=40, d=3, values=6, missing=bool(number % 2))
        check = Check(column="s", kind=kind, limit=limits.get(kind, 0.25), c=1.1)
        if partition_or_none(table, check) is None:
            continue
        for cut, recoding in RULES:
            assert not differences(table, number, k=2, cut=cut, recoding=recoding, checks=[check])
        bound += as_sets(partition(table, k=2)) != as_sets(partition(table, k=2, checks=[check]))
    assert bound >= 5


def partition_or_none(table: Table, check: Check) -> Partition | None:
    try:
        return partition(table, k=table.n_rows, checks=[check])
    except UnreachableError:
        return None


@pytest.mark.parametrize(("cut", "recoding"), RULES)
def test_threads_do_not_show(cut: str, recoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mondrian, "_PARALLEL_FROM", 3)
    for number in range(12):
        table, asked = random_case((number, 4), checked=bool(number % 2))
        assert not differences(table, number, cut=cut, recoding=recoding, threads=2, **asked)


@pytest.mark.parametrize("recoding", ["boxes", "regions"])
def test_threads_on_a_larger_table_give_the_same_labels(recoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(np.random.default_rng(5), n=6000, d=4, values=30)
    alone = partition(table, k=3, recoding=recoding, threads=1)
    monkeypatch.setattr(mondrian, "_PARALLEL_FROM", 50)
    for _ in range(3):
        together = partition(table, k=3, recoding=recoding, threads=2)
        assert (together.groups.labels == alone.groups.labels).all()
        assert (together.bounds is None) == (recoding == "boxes")
        assert together.bounds is None or np.array_equal(together.bounds, alone.bounds)


def test_wide_columns_below_64_values_share_words_without_a_loss() -> None:
    """Several columns of 30 to 60 values: more than one word, fields side by side."""
    for number in range(4):
        rng = np.random.default_rng((number, 6))
        table = random_table(rng, n=110, d=5, values=60)
        assert not differences(table, number, k=2)


def test_exactly_64_values_are_still_exact() -> None:
    rng = np.random.default_rng(7)
    values = np.concatenate([np.arange(64), rng.integers(0, 64, 40)])
    data = pa.table({"a": values, "b": rng.permutation(values), "c": [f"v{v}" for v in rng.permutation(values)]})
    table = Table.from_arrow(data, Schema(quasi_identifiers=["a", "b", "c"]))
    assert [table[name].domain.size for name in "abc"] == [64, 64, 64]
    assert not differences(table, 7, k=2)


def test_the_twin_reads_trees_in_the_same_leaf_order() -> None:
    for number in range(20):
        table = random_table(np.random.default_rng((number, 8)), n=20, d=2, values=8, kinds=("tree",))
        for name, plain in zip(table.schema.quasi_identifiers, plain_columns(table, "boxes"), strict=True):
            assert table[name].leaf_codes[table[name].codes].tolist() == plain.rows


def test_ties_go_to_the_first_cut_of_the_first_column() -> None:
    """1 2 | 3 4 5 and 1 2 3 | 4 5 save the same, in either column."""
    numbers = pa.table({"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5]})
    table = Table.from_arrow(numbers, Schema(quasi_identifiers=["a", "b"]))
    for cut in ("loss", "median"):
        assert as_sets(partition(table, k=2, cut=cut)) == {frozenset({0, 1}), frozenset({2, 3, 4})}
    assert differences(table, "by hand", fault="last of ties", k=2)


def test_a_planted_fault_in_ties_is_noticed() -> None:
    noticed = 0
    for number in range(80):
        table, asked = random_case((number, 9), checked=False)
        noticed += bool(differences(table, number, fault="last of ties", **asked))
    assert noticed >= 3


def test_a_forgotten_check_is_noticed() -> None:
    noticed = 0
    for number in range(30):
        table, asked = random_case((number, 9), checked=True)
        noticed += bool(differences(table, number, fault="no checks", **asked))
    assert noticed >= 10


def test_a_planted_fault_in_the_loss_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_first_column(self: PlainMondrian, rows: list[int]) -> float:
        return len(rows) * self._loss_of_column(rows, 0)

    monkeypatch.setattr(plain_mondrian.PlainMondrian, "_loss", only_first_column)
    noticed = 0
    for number in range(30):
        table, asked = random_case((number, 9), checked=False)
        noticed += bool(differences(table, number, cut="loss", recoding="boxes", **asked))
    assert noticed >= 10
