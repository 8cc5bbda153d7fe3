"""Query workload error: by hand, against plain loops over values, from groups and from published cells."""

import json
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from effort import examples
from undercover.errors import DataError, ParameterError, SchemaError
from undercover.forms.meaning import leaf_values
from undercover.forms.spread import spread_of_groups, spread_of_rows
from undercover.model.groups import Groups
from undercover.model.release import Release
from undercover.randomness import Randomness
from undercover.steps.recoding import box_cells, generalized_table
from undercover.utility.queries.counts import QueryError, QueryErrorResult, answers_together, query_errors
from undercover.utility.queries.workload import Workload, draw_workload, evaluate

TOWNS = uc.Hierarchy(
    [("Bonn", "Germany"), ("Köln", "Germany"), ("Lyon", "France"), ("Nice", "France"), ("Rome", "Italy")]
)
AGES = uc.Hierarchy([(str(age), f"{age // 10}0s") for age in range(20, 40)])
SCHEMA = uc.Schema(
    quasi_identifiers=["age", "sex", "town", "grade", "years"],
    sensitive="ill",
    columns={
        "town": uc.Column(hierarchy=TOWNS),
        "grade": uc.Column(kind="ordinal", domain=("low", "middle", "high")),
        "years": uc.Column(hierarchy=AGES),
    },
    missing="category",
)
ROW = st.tuples(
    st.sampled_from([18, 20, 21, 30, 55, None]),
    st.sampled_from(["F", "M", "X", None]),
    st.sampled_from(["Bonn", "Köln", "Lyon", "Rome", None]),
    st.sampled_from(["low", "middle", "high", None]),
    st.sampled_from([20, 22, 29, 31, 38, None]),
    st.sampled_from(["flu", "cold", "gout"]),
)
NAMES = SCHEMA.quasi_identifiers
SETS = [["age"], ["sex"], ["town", "age"], ["years", "grade"], list(NAMES)]


def table_of(rows) -> uc.Table:
    types = [pa.int64(), pa.string(), pa.string(), pa.string(), pa.int64(), pa.string()]
    columns = {
        name: pa.array(list(values), kind)
        for name, values, kind in zip((*NAMES, "ill"), zip(*rows, strict=True), types, strict=True)
    }
    return uc.Table.from_arrow(pa.table(columns), SCHEMA)


def labels_of(table, name) -> list[str]:
    """Every row's value as text; missing is empty."""
    return [table[name].domain.labels[code] for code in table[name].codes]


def plain_cell(table, name, present: set[str]) -> set[str]:
    """The values a published cell around ``present`` stands for, from the rules in words."""
    leaves = list(leaf_values(table[name]).labels)
    hierarchy = table[name].settings.hierarchy
    if hierarchy is not None:
        if "" in present:
            return set(present) if len(present) == 1 else set(leaves)
        for level in range(hierarchy.n_levels):
            above = {hierarchy.generalize(leaf, level) for leaf in present}
            if len(above) == 1:
                if above == {"*"}:
                    return set(leaves)
                return {leaf for leaf in hierarchy.leaves if hierarchy.generalize(leaf, level) in above}
    if table[name].domain.kind == "categorical":
        return set(present)
    if "" in present:
        return {""} if len(present) == 1 else set(leaves)
    places = sorted(leaves.index(label) for label in present)
    return set(leaves[places[0] : places[-1] + 1])


def plain_answers(table, groups, workload) -> tuple[list[float], list[float]]:
    """Exact and estimated answers by loops over groups, rows and values."""
    ill = table["ill"].codes
    columns = {name: labels_of(table, name) for name in workload.names}
    exact, estimated = [], []
    for value, lows, highs in zip(workload.values, workload.lows, workload.highs, strict=True):
        asked = {
            name: set(leaf_values(table[name]).labels[low : high + 1])
            for name, low, high in zip(workload.names, lows, highs, strict=True)
        }
        exact.append(
            sum(
                ill[row] == value and all(columns[name][row] in asked[name] for name in workload.names)
                for row in range(table.n_rows)
            )
        )
        total = 0.0
        for group in range(groups.count):
            members = [row for row in range(table.n_rows) if groups.labels[row] == group]
            expected = float(sum(ill[row] == value for row in members))
            for name in workload.names:
                cell = plain_cell(table, name, {columns[name][row] for row in members})
                expected *= len(cell & asked[name]) / len(cell)
            total += expected
        estimated.append(total)
    return exact, estimated


def publish(table, groups) -> Release:
    published = generalized_table(table, groups, box_cells(table, groups), Randomness(seed=3))
    return Release("streamliner", {}, (published,), True)


@st.composite
def grouped_tables(draw):
    rows = draw(st.lists(ROW, min_size=1, max_size=14))
    table = table_of(rows)
    labels = np.array(draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))))
    present, labels = np.unique(labels, return_inverse=True)
    return table, Groups(labels.astype(np.int32), len(present))


def test_by_hand():
    """Ages 20 to 50 in two groups of two; every answer can be seen."""
    people = pa.table({"age": [20, 30, 40, 50], "sex": ["F", "M", "F", "F"], "ill": ["flu", "cold", "flu", "gout"]})
    table = uc.Table.from_arrow(people, uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill"))
    groups = Groups(np.array([0, 0, 1, 1], np.int32), 2)
    flu = table["ill"].domain.labels.index("flu")
    asked = Workload(
        ("age", "sex"),
        np.array([flu, flu, flu]),
        np.array([[0, 0], [1, 0], [1, 1]]),  # sex 0 is F
        np.array([[0, 0], [2, 0], [3, 1]]),
    )
    for evaluator in ("cube", "direct"):
        (estimated,) = evaluate(spread_of_groups(table, groups, NAMES[:2], "ill"), [asked], {"age"}, evaluator)
        # Group 0: ages [20, 30], sex {F, M}, one flu; group 1: [40, 50], F, one flu.
        # age 20, F: 1/2 · 1/2; ages 30–40, F: 1/2 · 1/2 + 1/2 · 1; ages 30–50, M: 1/2 · 1/2 + 0.
        assert estimated.tolist() == [0.25, 0.75, 0.25]
        (exact,) = evaluate(spread_of_rows(table, NAMES[:2], "ill"), [asked], {"age"}, evaluator)
        assert exact.tolist() == [1, 1, 0]


def test_the_error_of_an_answer():
    result = QueryErrorResult(
        ("age",), "ill", 1000, np.array([10.0, 2.0, 0.0, 100.0]), np.array([8.0, 4.0, 1.0, 100.0])
    )
    # The floor is 5 rows: 2/10, 2/5, 1/5, 0.
    assert result.errors.tolist() == [0.2, 0.4, 0.2, 0.0]
    assert (result.mean, result.median) == pytest.approx((0.2, 0.2))
    assert result.to_dict() == {
        "quasi_identifiers": ["age"],
        "sensitive": "ill",
        "queries": 4,
        "mean": pytest.approx(0.2),
        "median": pytest.approx(0.2),
        "p90": pytest.approx(0.34),
        "by_answer": [
            {"from": 0.0, "to": 0.0, "queries": 1, "median": 0.2, "p90": 0.2},
            {"from": 0.001, "to": 0.005, "queries": 1, "median": 0.4, "p90": 0.4},
            {"from": 0.01, "to": 0.05, "queries": 1, "median": 0.2, "p90": 0.2},
            {"from": 0.05, "to": 0.2, "queries": 1, "median": 0.0, "p90": 0.0},
        ],
    }


def test_workloads_are_put_together_by_size_of_the_answer():
    one = QueryErrorResult(("age",), "ill", 1000, np.array([100.0, 0.0]), np.array([90.0, 0.0]))
    other = QueryErrorResult(("sex",), "ill", 1000, np.array([100.0, 100.0]), np.array([80.0, 100.0 + 1e-11]))
    assert answers_together([one, other]) == [
        {"from": 0.0, "to": 0.0, "queries": 1, "median": 0.0, "p90": 0.0},
        {"from": 0.05, "to": 0.2, "queries": 3, "median": 0.1, "p90": pytest.approx(0.18)},
    ]


@examples(25)
@given(grouped_tables(), st.integers(0, 1000))
def test_against_plain_loops(case, seed):
    table, groups = case
    for evaluator in ("cube", "direct"):
        found = query_errors(
            table, groups, quasi_identifiers=SETS, queries=8, randomness=Randomness(seed=seed), evaluator=evaluator
        )
        for names in SETS:
            workload = draw_workload(table, names, "ill", 8, Randomness(seed=seed))
            exact, estimated = plain_answers(table, groups, workload)
            assert found[tuple(names)].exact.tolist() == exact
            assert found[tuple(names)].estimated == pytest.approx(estimated, abs=1e-9)


def test_a_planted_fault_is_seen_by_the_plain_loops():
    """Counting a set by the span of its codes, as if it were a range, must disagree with the loops."""
    people = pa.table({"sex": ["F", "X", "M", "M"], "ill": ["flu", "cold", "flu", "cold"]})
    table = uc.Table.from_arrow(people, uc.Schema(quasi_identifiers=["sex"], sensitive="ill"))
    groups = Groups(np.array([0, 0, 1, 1], np.int32), 2)
    workload = draw_workload(table, ["sex"], "ill", 50, Randomness(seed=1))
    right = spread_of_groups(table, groups, ["sex"], "ill")
    runs = right.coverage["sex"]
    spanned = type(runs).of_ranges(runs.low[runs.starts[:-1]], runs.high[runs.starts[1:] - 1], runs.n_positions)
    wrong = type(right)({"sex": spanned}, right.cells, right.value_starts, right.pair_box, right.pair_weight)
    _, estimated = plain_answers(table, groups, workload)
    for evaluator in ("cube", "direct"):
        assert evaluate(right, [workload], set(), evaluator)[0] == pytest.approx(estimated)
        assert evaluate(wrong, [workload], set(), evaluator)[0] != pytest.approx(estimated)


@examples(25)
@given(grouped_tables())
def test_a_release_and_its_groups_give_the_same_figure(case):
    table, groups = case
    asked = QueryError(quasi_identifiers=SETS, queries=10, seed=5)
    from_groups, from_cells = asked.of_groups(table, groups), asked.of_release(table, publish(table, groups))
    assert list(from_groups) == list(from_cells) == [tuple(names) for names in SETS]
    for names, found in from_cells.items():
        assert found.estimated == pytest.approx(from_groups[names].estimated, abs=1e-9)
        assert found.mean == pytest.approx(from_groups[names].mean, abs=1e-9)


def test_a_saved_release_gives_the_same_figure(tmp_path):
    people = uc.datasets.census(600, seed=2)
    schema = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="occupation")
    run = uc.publish(people, schema, uc.Mondrian(k=8, l=2), seed=1)
    uc.save(run, tmp_path / "out")
    asked = QueryError(queries=200)
    (fresh,) = asked.of_release(run.original, run.release).values()
    (loaded,) = asked.of_release(run.original, uc.load(tmp_path / "out").release).values()
    (grouped,) = asked.of_groups(run.original, run.groups).values()
    assert fresh.quasi_identifiers == ("age", "sex", "education")
    assert loaded.mean == pytest.approx(fresh.mean)
    assert grouped.mean == pytest.approx(fresh.mean)
    assert fresh.mean > 0


def test_measures_hold_it_where_it_was_asked_for():
    people = uc.datasets.census(200, seed=2)
    run = uc.publish(people, uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income"), uc.Mondrian(k=8))
    asked = QueryError(quasi_identifiers=[["age"], ["sex"]], queries=20)
    found = uc.measure(run.original, run.release, query_error=asked)
    assert [result.quasi_identifiers for result in found.query_errors] == [("age",), ("sex",)]
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))["query_errors"]
    assert written == [result.to_dict() for result in found.query_errors]
    assert "query_errors" not in uc.measure(run.original, run.release).to_dict()


def test_anatomy_by_plain_loops():
    people = uc.datasets.census(300, seed=4)
    run = uc.publish(
        people, uc.Schema(quasi_identifiers=["age", "sex"], sensitive="occupation"), uc.Anatomy(l=3), seed=1
    )
    table, buckets = run.original, run.groups
    workload = draw_workload(table, ["age", "sex"], "occupation", 40, Randomness(seed=0))
    (found,) = QueryError(queries=40).of_release(table, run.release).values()
    codes = np.stack(table.codes(["age", "sex"]), axis=1)
    for i in range(40):
        inside = ((workload.lows[i] <= codes) & (codes <= workload.highs[i])).all(axis=1)
        has = table["occupation"].codes == workload.values[i]
        expected = sum(inside[rows].sum() * has[rows].mean() for rows in map(buckets.rows_of, range(buckets.count)))
        assert found.estimated[i] == pytest.approx(expected)
        assert found.exact[i] == (inside & has).sum()


def test_groups_of_one_row_have_no_error_and_one_group_has_one():
    table = table_of([(20 + i % 30, "FM"[i % 2], "Bonn", "low", 20, ["flu", "cold", "gout"][i % 3]) for i in range(60)])
    own = Groups(np.arange(60, dtype=np.int32), 60)
    one = Groups(np.zeros(60, np.int32), 1)
    asked = [["age"], ["age", "sex"]]
    assert all(found.mean == 0 for found in query_errors(table, own, quasi_identifiers=asked).values())
    assert query_errors(table, one, quasi_identifiers=asked)["age", "sex"].mean > 0.1


def test_queries_depend_on_the_seed_and_the_columns_alone():
    table = table_of([(20 + i % 30, "FM"[i % 2], "Bonn", "low", 20, ["flu", "cold"][i % 2]) for i in range(60)])
    groups = Groups((np.arange(60) % 7).astype(np.int32), 7)
    alone = query_errors(table, groups, quasi_identifiers=[["age"]], randomness=Randomness(seed=9))
    beside = query_errors(table, groups, quasi_identifiers=[["sex"], ["age"]], randomness=Randomness(seed=9))
    other = query_errors(table, groups, quasi_identifiers=[["age"]], randomness=Randomness(seed=10))
    assert alone["age",].exact.tolist() == beside["age",].exact.tolist()
    assert alone["age",].mean == pytest.approx(beside["age",].mean)
    assert alone["age",].exact.tolist() != other["age",].exact.tolist()


def test_workload_is_uniform(uniform):
    """One value for categories, two independent uniform ends for numbers; a triangle is told apart."""
    rows = [(age, sex, "Bonn", "low", 20, "flu") for age in (18, 20, 21, 30, 55) for sex in "FMX"]
    table = table_of(rows)
    asked = draw_workload(table, ["age", "sex"], "ill", 30_000, Randomness(seed=0))
    assert uniform(np.bincount(asked.lows[:, 1], minlength=3))
    assert (asked.lows[:, 1] == asked.highs[:, 1]).all()
    # Of 25 pairs of ends five are single values, and the smaller end is 0 in nine.
    singles = np.count_nonzero(asked.lows[:, 0] == asked.highs[:, 0])
    lowest = np.count_nonzero(asked.lows[:, 0] == 0)
    assert abs(singles / 30_000 - 5 / 25) < 0.015
    assert abs(lowest / 30_000 - 9 / 25) < 0.015
    assert not uniform(np.bincount(asked.lows[:, 0], minlength=5))


def test_missing_is_no_endpoint_but_a_category():
    table = table_of([(20, "F", "Bonn", "low", 20, "flu"), (None, None, "Bonn", "low", 20, "cold")])
    asked = draw_workload(table, ["age", "sex"], "ill", 200, Randomness(seed=0))
    assert set(asked.highs[:, 0]) == {0}
    assert set(asked.lows[:, 1]) == {0, 1}


def test_large_domains_are_answered_directly(monkeypatch):
    monkeypatch.setattr("undercover.utility.queries.workload.LARGEST_CUBE", 10)
    monkeypatch.setattr("undercover.utility.queries.workload._cube", None)
    table = table_of([(20 + i % 30, "FM"[i % 2], "Bonn", "low", 20, ["flu", "cold"][i % 2]) for i in range(60)])
    groups = Groups((np.arange(60) % 7).astype(np.int32), 7)
    assert query_errors(table, groups, quasi_identifiers=[["age", "sex"]], queries=10)["age", "sex"].queries == 10
    with pytest.raises(ParameterError, match="the largest built is 10"):
        query_errors(table, groups, quasi_identifiers=[["age", "sex"]], evaluator="cube")


def test_auto_takes_the_cube_where_it_pays(monkeypatch):
    monkeypatch.setattr("undercover.utility.queries.workload._direct", None)
    table = table_of([(20 + i % 30, "FM"[i % 2], "Bonn", "low", 20, ["flu", "cold"][i % 2]) for i in range(60)])
    groups = Groups((np.arange(60) % 7).astype(np.int32), 7)
    assert query_errors(table, groups, quasi_identifiers=[["age", "sex"]], queries=5000)["age", "sex"].queries == 5000


def test_order_of_columns_does_not_matter():
    table = table_of([(20 + i % 30, "FM"[i % 2], "Bonn", "low", 20, ["flu", "cold"][i % 2]) for i in range(60)])
    groups = Groups((np.arange(60) % 7).astype(np.int32), 7)
    workload = draw_workload(table, ["age", "sex", "grade"], "ill", 100, Randomness(seed=0))
    answers = []
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        turned = Workload(
            tuple(workload.names[j] for j in order), workload.values, workload.lows[:, order], workload.highs[:, order]
        )
        for evaluator in ("cube", "direct"):
            spread = spread_of_groups(table, groups, turned.names, "ill")
            answers += evaluate(spread, [turned], {"age", "grade"}, evaluator)
    for one, another in pairwise(answers):
        assert one == pytest.approx(another, abs=1e-9)


def test_wrong_input():
    table = table_of([(20, "F", "Bonn", "low", 20, "flu"), (30, "M", "Rome", "low", 20, "cold")])
    groups = Groups(np.zeros(2, np.int32), 1)
    with pytest.raises(SchemaError, match="Did you mean `age`"):
        query_errors(table, groups, quasi_identifiers=[["agee"]])
    with pytest.raises(SchemaError, match="Sensitive column `sex`"):
        query_errors(table, groups, quasi_identifiers=[["age"]], sensitive="sex")
    for wrong in (["age"], "age", [[]], [], [["age", "age"]]):
        with pytest.raises(ParameterError, match=r"sets? of quasi-identifiers"):
            query_errors(table, groups, quasi_identifiers=wrong)
    with pytest.raises(ParameterError, match="'queries'"):
        query_errors(table, groups, quasi_identifiers=[["age"]], queries=0)
    with pytest.raises(ParameterError, match="The 'evaluator' of QueryError `cubes`"):
        query_errors(table, groups, quasi_identifiers=[["age"]], evaluator="cubes")
    with pytest.raises(ParameterError, match="3 problems"):
        QueryError(queries=True, seed=-1, evaluator="fast")
    with pytest.raises(ParameterError, match="'seed'"):
        QueryError(seed=None)
    without = uc.Table.from_arrow(pa.table({"age": [1, 2]}), uc.Schema(quasi_identifiers=["age"]))
    with pytest.raises(SchemaError, match="The table has 0; name one"):
        query_errors(without, groups, quasi_identifiers=[["age"]])
    # A release of another table: its cells stand for nothing here.
    other = table_of([(55, "F", "Bonn", "low", 20, "gout"), (55, "M", "Rome", "low", 20, "cold")])
    with pytest.raises(DataError, match="Cells of `age` that stand for no value"):
        QueryError(quasi_identifiers=[["age"]]).of_release(table, publish(other, groups))
    with pytest.raises(DataError, match="Values of `ill` that are not in its domain: 1 value"):
        QueryError(quasi_identifiers=[["sex"]]).of_release(table, publish(other, groups))
