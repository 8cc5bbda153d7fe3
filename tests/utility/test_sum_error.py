"""Random sums: the workload, and the error of releases that are known."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, ParameterError, SchemaError
from undercover.forms.answers.recipient import Sums
from undercover.model.form import Drawn
from undercover.model.queries import Between, NoneOf, OneOf
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.table import Table
from undercover.utility.queries.sums import SumError, draw_predicate, numbers_of

NAMES = ["age", "sex", "education", "marital_status", "hours"]


def census(n: int = 400, names: list[str] = NAMES) -> Table:
    return Table.from_arrow(
        uc.datasets.census(n, seed=6), uc.datasets.census_schema(names, "salary", hierarchies=False)
    )


def unchanged(table: Table, method: str = "mondrian") -> Release:
    """The table published as it is."""
    names = (*table.schema.quasi_identifiers, *table.schema.sensitive)
    columns = [
        PublishedColumn(name, "sensitive" if name in table.schema.sensitive else "quasi-identifier", "value")
        for name in names
    ]
    data = pa.table([table[name].domain.take(table[name].codes) for name in names], names=list(names))
    return Release(method, {}, (PublishedTable("table", tuple(columns), data),), True)


def test_the_workload_asks_four_columns_and_knows_the_answers() -> None:
    table = census()
    asked, exact = SumError(queries=60, seed=2).workload(table)
    assert {len(where) for where in asked} == {4}
    assert all(exact > 0)
    assert {name for where in asked for name in where} == set(NAMES)
    kinds = Counter(type(predicate) for where in asked for predicate in where.values())
    assert set(kinds) == {Between, OneOf, NoneOf}
    again = SumError(queries=60, seed=2).workload(table)
    assert again[0] == asked
    assert SumError(queries=60, seed=3).workload(table)[0] != asked
    # A table published as it is answers every query exactly: workload and answers mean the same.
    found = SumError(queries=60, seed=2).of_release(table, unchanged(table))
    assert found.lower == pytest.approx(exact)
    assert found.upper == pytest.approx(exact)
    assert found.mean == pytest.approx(0, abs=1e-12)


def test_missing_values_satisfy_no_comparison() -> None:
    data = pa.table({"age": [1, 2, None, 4], "town": ["x", None, "y", "x"], "pay": [5, 7, 11, None]})
    schema = uc.Schema(quasi_identifiers=["age", "town"], sensitive="pay", missing="category")
    table = Table.from_arrow(data, schema)
    assert numbers_of(table["pay"]).tolist() == [5, 7, 11, 0]
    asked, exact = SumError(queries=80, columns=2).workload(table)
    sums = Sums(unchanged(table), "pay", table)
    for where, true in zip(asked, exact, strict=True):
        assert sums.answer(where).estimate == pytest.approx(true)


def test_predicates_are_uniform(uniform: Any) -> None:
    column = census(50, ["education", "sex", "hours"])["sex"]
    draw = np.random.default_rng(1)
    sizes = Counter(int(draw_predicate(column, draw)[1].sum()) for _ in range(400))
    assert uniform([sizes[size] for size in range(1, column.domain.size + 1)])


def test_a_release_of_drawn_values_is_judged_by_its_plain_sums() -> None:
    table = census()
    off = SumError(queries=30).of_release(table, replace(unchanged(table), form=Drawn()))
    assert not off.bounded
    assert off.mean == pytest.approx(0, abs=1e-12)
    shuffled = table.take(np.arange(table.n_rows))
    turned = np.roll(table["salary"].codes, 1)
    wrong = Table(
        shuffled.schema,
        {
            **shuffled.columns,
            "salary": type(table["salary"])("salary", turned, table["salary"].domain, table["salary"].settings),
        },
        shuffled.n_rows,
        shuffled.rows,
        shuffled.n_input,
        {},
    )
    assert SumError(queries=30).of_release(table, replace(unchanged(wrong), form=Drawn())).mean > 0.01


@pytest.mark.parametrize("method", [uc.Mondrian(k=3, l=4), uc.Anatomy(l=4), uc.CrossBucket(k=3, l=4)], ids=repr)
def test_errors_of_releases_by_their_bounds(method: Any) -> None:
    people = uc.datasets.census(500, seed=6)
    schema = uc.datasets.census_schema(NAMES, "salary", hierarchies=False)
    run = uc.publish(people, schema, method, seed=1)
    assert run.original is not None
    found = SumError(queries=25).of_release(run.original, run.release)
    assert found.lower is not None
    assert found.upper is not None
    assert (found.lower <= found.exact + 1e-6).all()
    assert (found.exact <= found.upper + 1e-6).all()
    assert found.errors == pytest.approx((found.upper - found.lower) / found.exact)
    assert found.to_dict()["mean"] == found.mean > 0


def test_a_wider_release_has_a_larger_error() -> None:
    people = uc.datasets.census(500, seed=6)
    schema = uc.datasets.census_schema(NAMES, "salary", hierarchies=False)
    errors = []
    for k in (2, 10):
        run = uc.publish(people, schema, uc.CrossBucket(k=k, l=4), seed=1)
        assert run.original is not None
        errors.append(SumError(queries=40).of_release(run.original, run.release).mean)
    assert errors[0] < errors[1]


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="2 problems"):
        SumError(queries=0, columns=True)
    table = census()
    with pytest.raises(SchemaError, match="Sensitive column `salry` is not known"):
        SumError(sensitive="salry").workload(table)
    words = Table.from_arrow(
        pa.table({"age": [1, 2], "s": ["a", "b"]}), uc.Schema(quasi_identifiers=["age"], sensitive="s")
    )
    with pytest.raises(SchemaError, match="adds up numbers; `s` is categorical"):
        SumError().workload(words)
    nothing = Table.from_arrow(
        pa.table({"age": [1, 2], "s": [0, 0]}), uc.Schema(quasi_identifiers=["age"], sensitive="s")
    )
    with pytest.raises(DataError, match="nearly always 0"):
        SumError(queries=1).workload(nothing)


@pytest.mark.parametrize("hierarchies", [False, True])
@pytest.mark.parametrize("method", [uc.Mondrian(k=3, l=4), uc.Anatomy(l=4), uc.CrossBucket(k=3, l=4)], ids=repr)
def test_answers_by_codes_are_those_by_predicates(method: Any, hierarchies: bool) -> None:
    people = uc.datasets.census(300, seed=7)
    run = uc.publish(people, uc.datasets.census_schema(NAMES, "salary", hierarchies=hierarchies), method, seed=1)
    assert run.original is not None
    found = SumError(queries=40, seed=4).of_release(run.original, run.release)
    asked, exact = SumError(queries=40, seed=4).workload(run.original)
    sums = Sums(run.release, "salary", run.original)
    answers = [sums.answer(where) for where in asked]
    assert found.estimated == pytest.approx([answer.estimate for answer in answers])
    assert found.lower == pytest.approx([answer.lower for answer in answers])
    assert found.upper == pytest.approx([answer.upper for answer in answers])
    assert found.exact.tolist() == exact.tolist()


def test_a_drawn_value_that_nobody_has_is_understood() -> None:
    data = pa.table({"age": [20, 30, 40], "pay": [1, 2, 4]})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers=["age"], sensitive="pay"))
    columns = (PublishedColumn("age", "quasi-identifier", "value"), PublishedColumn("pay", "sensitive", "value"))
    drawn = pa.table({"age": [25, 30, 40], "pay": [1, 2, 4]})
    release = Release("mutual-cover", {}, (PublishedTable("table", columns, drawn),), False, form=Drawn())
    found = SumError(queries=50).of_release(table, release)
    assert not found.bounded
    assert set(np.abs(found.estimated - found.exact).tolist()) <= {0.0, 1.0}
