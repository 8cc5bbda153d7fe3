"""Random sums: the workload, and the error of releases that are known."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, ParameterError, SchemaError
from undercover.forms import read
from undercover.forms.answers.recipient import Sums
from undercover.model.form import Drawn
from undercover.model.queries import Between, NoneOf, OneOf
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.table import Table
from undercover.model.view import FigureTable, View
from undercover.utility.queries.sum_workload import draw_predicate, numbers_of
from undercover.utility.queries.sums import SumError, SumErrorResult, _known_values, sums_of_each
from undercover.utility.views import sum_error_chart

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
    sizes = Counter(int(draw_predicate(column, draw).inside.sum()) for _ in range(400))
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


def with_debts(people: pa.Table) -> pa.Table:
    """Salaries of which many are below 0: fewer people may then have more together."""
    salary = people["salary"].to_numpy().astype(np.int64) - 40_000
    return people.set_column(people.column_names.index("salary"), "salary", pa.array(salary))


COVERS = [uc.MutualCover(delta="1/3", l=4, variant=variant) for variant in ("layers", "paper")]
BUCKETS = [uc.Anatomy(l=4), uc.CrossBucket(k=3, l=4)]


@pytest.mark.parametrize("hierarchies", [False, True])
@pytest.mark.parametrize("method", [uc.Mondrian(k=3, l=4), *BUCKETS, *COVERS], ids=repr)
def test_answers_by_codes_are_those_by_predicates(method: Any, hierarchies: bool) -> None:
    """The plain twin: every question asked of the release as a recipient would, one by one."""
    people = with_debts(uc.datasets.census(300, seed=7))
    schema = uc.datasets.census_schema(NAMES, "salary", hierarchies=hierarchies)
    schema = replace(schema, columns={name: column for name, column in schema.columns.items() if name != "salary"})
    run = uc.publish(people, schema, method, seed=1)
    assert run.original is not None
    found = SumError(queries=40, seed=4).of_release(run.original, run.release)
    asked, exact = SumError(queries=40, seed=4).workload(run.original)
    drawn = not found.bounded
    names = run.original.schema.quasi_identifiers
    known = _known_values(run.original, names, read(run.release)) if drawn else run.original
    sums = Sums(run.release, "salary", known)
    answers = [sums.answer(where) for where in asked]
    assert found.exact.tolist() == exact.tolist()
    for mine, end in ((found.estimated, "estimate"), (found.lower, "lower"), (found.upper, "upper")):
        if mine is not None:
            assert mine == pytest.approx([getattr(answer, end) for answer in answers], rel=1e-12, abs=1e-6)
    measure = SumError(queries=40, seed=4)
    handed = measure.of_release(run.original, run.release, measure.drawn(run.original))
    assert handed.estimated.tolist() == found.estimated.tolist()


def test_a_drawn_value_that_nobody_has_is_understood() -> None:
    data = pa.table({"age": [20, 30, 40], "pay": [1, 2, 4]})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers=["age"], sensitive="pay"))
    columns = (PublishedColumn("age", "quasi-identifier", "value"), PublishedColumn("pay", "sensitive", "value"))
    drawn = pa.table({"age": [25, 30, 40], "pay": [1, 2, 4]})
    release = Release("mutual-cover", {}, (PublishedTable("table", columns, drawn),), False, form=Drawn())
    found = SumError(queries=50).of_release(table, release)
    assert not found.bounded
    assert set(np.abs(found.estimated - found.exact).tolist()) <= {0.0, 1.0}


def test_the_error_of_estimates_is_counted_as_that_of_counts_is() -> None:
    exact, estimated = np.array([1.0, 100.0, -50.0]), np.array([2.0, 90.0, -40.0])
    found = SumErrorResult("pay", exact, estimated, None, None, columns=2, whole=1000.0)
    # 1 is divided by half a percent of the whole, the others by themselves.
    assert found.estimate_errors.tolist() == [1 / 5, 10 / 100, 10 / 50]
    told = found.to_dict()
    assert told["estimate"] == {"mean": pytest.approx(0.5 / 3), "median": 0.2, "p90": 0.2}
    assert [(entry["from"], entry["queries"]) for entry in told["by_answer"]] == [(0.001, 1), (0.05, 2)]
    assert told["mean"] == pytest.approx((1 + 0.1 + 0.2) / 3)  # the papers' divides by the sum alone


def test_sums_are_asked_of_numbers_that_are_published() -> None:
    people = uc.datasets.census(300, seed=7)
    nothing = pa.array(np.zeros(len(people), dtype=np.int64))
    people = people.append_column("bonus", nothing)
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive=["salary", "work_class", "bonus"])
    run = uc.publish(people, schema, uc.Mondrian(k=5), seed=1)
    assert run.original is not None
    (asked,) = sums_of_each(run.original, run.release, 10)
    assert (asked.sensitive, asked.quasi_identifiers, asked.queries) == ("salary", ("age", "sex"), 10)
    found = uc.measure(people, run, sum_error=asked).to_dict()["sum_errors"]
    assert [(one["sensitive"], one["columns"], one["queries"]) for one in found] == [("salary", 2, 10)]
    with pytest.raises(SchemaError, match="Quasi-identifier `sexx` is not known"):
        SumError(quasi_identifiers=("sexx",), sensitive="salary").workload(run.original)


def test_what_measure_shows_of_sums() -> None:
    run = uc.publish(uc.datasets.census(300, seed=7), uc.Schema(quasi_identifiers=["age"], sensitive="salary"),
                     uc.Mondrian(k=5), seed=1)  # fmt: skip
    found = uc.measure(run.original, run, sum_error=SumError(queries=20))
    (shown,) = [part for part in _views(found.view()) if part.kind == "sum-errors"]
    (figures,) = [part for part in shown.parts if isinstance(part, FigureTable)]
    estimate, bounds = found.sum_errors[0].to_dict()["estimate"], found.sum_errors[0].median
    assert [cell.value for cell in figures.rows[0][2:]] == [
        *(estimate[key] for key in ("median", "mean", "p90")),
        bounds,
    ]
    drawn = sum_error_chart(found.to_dict()["sum_errors"])
    assert {row["error"] for row in drawn.values} == {
        entry[key] for entry in found.to_dict()["sum_errors"][0]["by_answer"] for key in ("median", "p90")
    }


def _views(view: View) -> Iterator[View]:
    yield view
    for part in view.parts:
        if isinstance(part, View):
            yield from _views(part)
