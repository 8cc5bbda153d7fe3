"""Checks while cutting against the guarantees that are verified afterwards, and what cannot be reached at all."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from random_tables import CHECK_KINDS, random_checks, random_hierarchy, random_table

from undercover.errors import UnreachableError
from undercover.guarantees.checking import Checkable
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness
from undercover.guarantees.verify import verify_table
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.steps.cutting.checks import Check, largest_feasible
from undercover.steps.cutting.partition import Partition, partition


def as_guarantee(table: Table, check: Check) -> Checkable:
    if check.kind in ("distinct", "frequency", "entropy"):
        return LDiversity(l=check.limit, form=check.kind, column=check.column)
    if check.kind == "recursive":
        return LDiversity(l=int(check.limit), form="recursive", c=check.c, column=check.column)
    column = table[check.column]
    labels = column.domain.labels[: len(column.domain.values)]
    return TCloseness(
        t=check.limit,
        distance=check.kind,
        order=labels if check.kind == "ordered" else None,
        hierarchy=column.settings.hierarchy if check.kind == "hierarchical" else None,
        column=check.column,
    )


def published(table: Table, result: Partition) -> pa.Table:
    """One row per row: for every quasi-identifier the values of its group, and the sensitive values as they are."""
    groups = result.groups
    data: dict[str, object] = {}
    for name in table.schema.quasi_identifiers:
        codes = table[name].codes
        cells = [" or ".join(map(str, sorted(set(codes[groups.rows_of(g)].tolist())))) for g in range(groups.count)]
        data[name] = [cells[group] for group in groups.labels]
    for name in table.schema.sensitive:
        data[name] = table[name].domain.take(table[name].codes)
    return pa.table(data)


@pytest.mark.parametrize("recoding", ["boxes", "regions"])
@pytest.mark.parametrize("kind", CHECK_KINDS)
def test_what_was_checked_while_cutting_is_found_to_hold(kind: str, recoding: str) -> None:
    cut = 0
    for number in range(25):
        rng = np.random.default_rng((number, 40))
        table = random_table(rng, n=120, d=3, values=8, missing=bool(number % 2))
        check = next(c for _ in range(1000) for c in random_checks(rng, 1) if c.kind == kind)
        try:
            result = partition(table, k=3, checks=[check], recoding=recoding)
        except UnreachableError:
            continue
        cut += result.groups.count > 1
        names = table.schema.quasi_identifiers
        guarantees = [KAnonymity(k=3), as_guarantee(table, check)]
        found = verify_table(published(table, result), names, table.schema.sensitive, guarantees)
        assert found.holds, (number, check, found.failures)
    assert cut >= 5


def test_a_forgotten_check_is_found_out() -> None:
    """The same comparison fails where the cuts ignore the check."""
    failed = 0
    for number in range(25):
        rng = np.random.default_rng((number, 40))
        table = random_table(rng, n=120, d=3, values=8)
        check = Check(column="s", kind="frequency", limit=2.0)
        names = table.schema.quasi_identifiers
        data = published(table, partition(table, k=3))
        failed += not verify_table(data, names, table.schema.sensitive, [as_guarantee(table, check)]).holds
    assert failed >= 20


def single_column(counts: list[int], **settings: object) -> Table:
    values = [f"v{i}" for i, count in enumerate(counts) for _ in range(count)]
    schema = Schema(quasi_identifiers=["q"], sensitive="s", columns={"s": Column(**settings)})
    return Table.from_arrow(pa.table({"q": [0] * len(values), "s": values}), schema)


@pytest.mark.parametrize(
    ("kind", "counts", "c", "best"),
    [
        ("distinct", [5, 1, 1], 0.0, 3.0),
        ("frequency", [5, 3, 2], 0.0, 2.0),
        ("frequency", [3, 1], 0.0, 4 / 3),
        ("entropy", [4, 4], 0.0, 2.0),
        ("recursive", [5, 3, 2], 1.0, 2.0),
        ("recursive", [5, 3, 2], 0.99, 1.0),
        ("recursive", [5, 4, 2], 1.0, 2.0),
        ("recursive", [5, 4, 2], 3.0, 3.0),
        ("recursive", [5, 4, 2], 0.1, 0.0),
        ("recursive", [55, 50, 50], 0.55, 2.0),
    ],
)
def test_the_largest_feasible_l(kind: str, counts: list[int], c: float, best: float) -> None:
    check = Check(column="s", kind=kind, limit=99.0, c=c)
    assert largest_feasible(np.array(counts), check) == pytest.approx(best, rel=1e-9)
    with pytest.raises(UnreachableError, match="cannot be reached on `s`") as caught:
        partition(single_column(counts), k=1, checks=[check])
    assert caught.value.best["l"] == pytest.approx(best, rel=1e-9)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("kind", ["distinct", "frequency", "entropy", "recursive"])
def test_the_largest_feasible_l_is_feasible_and_no_more_is(kind: str) -> None:
    for number in range(40):
        rng = np.random.default_rng((number, 41))
        counts = rng.integers(1, 20, int(rng.integers(1, 7))).tolist()
        table = single_column(counts)
        c = float(rng.choice([0.55, 1.1, 2.0, 5.0]))
        best = largest_feasible(np.array(counts), Check(column="s", kind=kind, limit=1.0, c=c))
        whole = kind in ("distinct", "recursive")
        if best >= 1:
            reached = Check(column="s", kind=kind, limit=math.floor(best) if whole else best * (1 - 1e-9), c=c)
            assert partition(table, k=1, checks=[reached]).groups.count == 1
        with pytest.raises(UnreachableError):
            partition(table, k=1, checks=[Check(column="s", kind=kind, limit=best + (1 if whole else 1e-6), c=c)])


def test_closeness_always_holds_on_the_whole_table() -> None:
    table = single_column([7, 1, 3], hierarchy=random_hierarchy(np.random.default_rng(42), 3))
    for kind in ("equal", "ordered", "hierarchical"):
        assert partition(table, k=1, checks=[Check(column="s", kind=kind, limit=0.0)]).groups.count == 1


def test_one_sensitive_value_satisfies_closeness_and_one_diversity() -> None:
    table = single_column([6], hierarchy=random_hierarchy(np.random.default_rng(43), 1))
    for kind in ("equal", "ordered", "hierarchical"):
        assert partition(table, k=2, checks=[Check(column="s", kind=kind, limit=0.0)]).groups.sizes.sum() == 6
    for kind in ("distinct", "frequency", "entropy"):
        assert partition(table, k=2, checks=[Check(column="s", kind=kind, limit=1.0)]).groups.sizes.sum() == 6
