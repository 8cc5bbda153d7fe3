"""COUNT answers: by hand on every form of cell, then bounds that hold against every table that fits the release."""

from dataclasses import replace
from datetime import date
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from effort import examples
from undercover.errors import DataError, NotTold, ParameterError
from undercover.forms.answers.asking import ListedColumn
from undercover.forms.answers.recipient import Answer
from undercover.model.form import Buckets, Drawn
from undercover.model.groups import Groups
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.randomness import Randomness
from undercover.steps.recoding import box_cells, generalized_table
from undercover.utility.queries.counts import QueryError
from undercover.utility.queries.workload import draw_workload

TOWNS = uc.Hierarchy([("Bonn", "Germany"), ("Köln", "Germany"), ("Lyon", "France"), ("Nice", "France")])


def release(data, forms, *, suppressed=0, method="mondrian", sensitive=("ill",)):
    columns = tuple(
        PublishedColumn(name, "sensitive" if name in sensitive else "quasi-identifier", forms.get(name, "value"))
        for name in data
    )
    return Release(method, {}, (PublishedTable("table", columns, pa.table(data)),), True, suppressed)


def anatomy(qit, sat, *, forms=None, suppressed=0):
    forms = forms or {}
    first = tuple(
        PublishedColumn(n, "structure" if n == "bucket" else "quasi-identifier", forms.get(n, "value")) for n in qit
    )
    second = tuple(PublishedColumn(n, "sensitive" if n == "ill" else "structure", "value") for n in sat)
    tables = PublishedTable("qit", first, pa.table(qit)), PublishedTable("sat", second, pa.table(sat))
    return Release("anatomy", {}, tables, True, suppressed, form=Buckets())


def count(made, domains=None, **where):
    return uc.answer(made, uc.CountQuery(where=where), domains=domains)


def as_tuple(answer):
    return pytest.approx((answer.estimate, answer.lower, answer.upper))


AGES = release({"age": ["[20, 29]", "[20, 29]", "[30, 34]", "40", "*", ""], "ill": list("abaaba")}, {"age": "interval"})


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        # Whole numbers 20 to 40, and missing: `*` covers 22 values.
        (uc.Between(20, 29), (2 + 10 / 22, 2, 3)),
        (uc.Between(25, 34), (1 + 1 + 10 / 22, 1, 4)),
        (uc.Between(25, 34, closed="left"), (1 + 4 / 5 + 9 / 22, 0, 4)),
        (uc.Between(29, 30, closed="neither"), (0, 0, 0)),
        (uc.Between(29, 30, closed="right"), (1 / 5 + 1 / 22, 0, 2)),
        (uc.Between(low=40), (1 + 1 / 22, 1, 2)),
        (uc.Between(high=19), (0, 0, 0)),
        (uc.Between(40, 20), (0, 0, 0)),
        (uc.Between(24.5, 25.5), (2 / 10 + 1 / 22, 0, 3)),
        (uc.OneOf([20, 40]), (2 / 10 + 1 + 2 / 22, 1, 4)),
        (uc.OneOf([None]), (1 + 1 / 22, 1, 2)),
        (uc.NoneOf([20, 40]), (2 * 9 / 10 + 1 + 20 / 22 + 1, 2, 5)),
        (uc.OneOf([99]), (0, 0, 0)),
    ],
)
def test_ranges_of_whole_numbers(predicate, expected):
    assert as_tuple(count(AGES, age=predicate)) == expected


def test_the_domain_changes_the_estimate_not_the_bounds_here():
    few = {"age": [20, 25, 29, 30, 34, 40]}
    # Of 20, 25, 29 one is up to 24; `*` covers six values and missing.
    assert as_tuple(count(AGES, few, age=uc.Between(high=24))) == (2 / 3 + 1 / 7, 0, 3)
    assert as_tuple(count(AGES, {"age": range(20, 61)}, age=uc.Between(low=50))) == (11 / 42, 0, 1)
    with pytest.raises(DataError, match="lacks published values: 2 values"):
        count(AGES, {"age": [20, 30, 40]}, age=uc.Between(high=24))


def test_sets_nodes_and_sensitive_values():
    made = release(
        {"sex": ["{F, M}", "F", "*"], "town": ["Germany", "Bonn", "*"], "ill": ["flu", "flu", "cold"]},
        {"sex": "set", "town": "node"},
    )
    known = {"town": TOWNS}
    assert as_tuple(count(made, sex="F")) == (2, 1, 3)
    assert as_tuple(count(made, known, town="Bonn")) == (1 / 2 + 1 + 1 / 4, 1, 3)
    assert as_tuple(count(made, known, town=["Bonn", "Köln"])) == (2 + 1 / 2, 2, 3)
    assert as_tuple(count(made, known, town="Bonn", sex="F", ill="flu")) == (1 / 4 + 1, 1, 2)
    assert as_tuple(count(made, known, town="Nice", ill="flu")) == (0, 0, 0)
    assert as_tuple(count(made, {"sex": ["F", "M", "X"]}, sex="X")) == (1 / 3, 0, 1)
    with pytest.raises(DataError, match="hierarchy nodes"):
        count(made, town="Bonn")
    with pytest.raises(ParameterError, match="Did you mean `Bonn`"):
        count(made, known, town="Bon")
    with pytest.raises(ParameterError, match="have no order"):
        count(made, sex=uc.Between("F", "M"))


def test_an_order_has_to_be_said():
    made = release({"grade": ["[low, high]", "middle"], "ill": ["a", "b"]}, {"grade": "interval"})
    known = {"grade": ["low", "middle", "high"]}
    assert as_tuple(count(made, known, grade=uc.Between("middle", "high"))) == (2 / 3 + 1, 1, 2)
    with pytest.raises(DataError, match="order the release does not state"):
        count(made, grade="low")
    with pytest.raises(ParameterError, match="Value of column `grade` `hihg`"):
        count(made, known, grade=uc.Between("middle", "hihg"))


def test_days():
    made = release({"born": ["[2020-01-30, 2020-02-02]", "2020-01-30"], "ill": ["a", "b"]}, {"born": "interval"})
    assert as_tuple(count(made, born=uc.Between(low=date(2020, 2, 1)))) == (2 / 4, 0, 1)
    assert as_tuple(count(made, born=uc.Between("2020-01-30", "2020-01-31"))) == (2 / 4 + 1, 1, 2)
    with pytest.raises(ParameterError, match="asked for a date"):
        count(made, born=uc.Between(low="soon"))


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (uc.Between(20, 25), (5 / 10.5 + 1 + 1 / 2, 1, 3)),
        (uc.Between(20.5, 25), (4.5 / 10.5 + 4.5 / 10, 0, 2)),
        (uc.Between(20, 30.5), (3, 3, 3)),
        (uc.Between(low=30.5), (0, 0, 1)),
        (uc.Between(low=30.5, closed="neither"), (0, 0, 0)),
        (uc.Between(30, 20), (0, 0, 0)),
        (uc.OneOf([20]), (1, 1, 3)),
        (uc.OneOf([22]), (0, 0, 2)),
        (uc.OneOf([None]), (1, 1, 1)),
        (uc.NoneOf([20]), (3, 1, 3)),
    ],
)
def test_a_continuum(predicate, expected):
    made = release({"bmi": ["[20, 30.5]", "20", "[20, 30]", ""], "ill": list("abca")}, {"bmi": "interval"})
    assert as_tuple(count(made, bmi=predicate)) == expected


def test_a_continuum_with_everything_and_missing():
    made = release({"bmi": ["[20, 30.5]", "*", ""], "ill": list("aba")}, {"bmi": "interval"})
    assert as_tuple(count(made, bmi=uc.Between(20, 30.5))) == (2, 1, 2)  # `*` may be the missing one
    assert as_tuple(count(made, bmi=None)) == (1, 1, 2)
    wide = release({"pay": ["[0, 4000000]", "[1000000, 2000000]"], "ill": ["a", "b"]}, {"pay": "interval"})
    assert as_tuple(count(wide, pay=uc.Between(high=1_500_000))) == (3 / 8 + 1 / 2, 0, 2)
    mixed = release({"bmi": ["[20, 30.5]", '{20, ""}'], "ill": ["a", "b"]}, {"bmi": "interval"})
    with pytest.raises(DataError, match="ranges and sets"):
        count(mixed, bmi=20)


def test_anatomy():
    """Bucket 1: ages 20, 30, 40 with flu twice and cold; bucket 2: 20, 50 with gout and cold."""
    made = anatomy(
        {"age": [20, 30, 40, 20, 50], "bucket": [1, 1, 1, 2, 2]},
        {"bucket": [1, 1, 2, 2], "ill": ["flu", "cold", "gout", "cold"], "count": [2, 1, 1, 1]},
    )
    assert as_tuple(count(made, age=uc.Between(20, 30))) == (3, 3, 3)
    assert as_tuple(count(made, ill="cold")) == (2, 2, 2)
    # Two of three people of bucket 1 match, two of its three values are flu: at least one, at most two.
    assert as_tuple(count(made, age=uc.Between(20, 30), ill="flu")) == (2 * 2 / 3, 1, 2)
    assert as_tuple(count(made, age=uc.Between(20, 30), ill=["cold", "gout"])) == (2 / 3 + 1, 1, 2)
    assert as_tuple(count(made)) == (5, 5, 5)
    with pytest.raises(ParameterError, match="Column `bucket` is not known"):
        count(made, bucket=1)


def test_two_tables_with_generalised_cells():
    made = anatomy(
        {"age": ["[20, 29]", "[20, 29]", "[30, 39]"], "bucket": [1, 1, 1]},
        {"bucket": [1, 1], "ill": ["flu", "cold"], "count": [2, 1]},
        forms={"age": "interval"},
    )
    # Expected rows 2 · 1/2 + 1, certain 1, possible 3; flu 2 of 3.
    assert as_tuple(count(made, age=uc.Between(25, 39), ill="flu")) == (2 * 2 / 3, 0, 2)
    assert as_tuple(count(made, age=uc.Between(20, 39), ill="flu")) == (2, 2, 2)


def test_suppressed_rows_may_be_anything():
    made = release({"age": ["[20, 29]"], "ill": ["flu"]}, {"age": "interval"}, suppressed=3)
    assert as_tuple(count(made, age=uc.Between(20, 24))) == (0.5, 0, 4)
    assert as_tuple(count(made, ill="flu")) == (1, 1, 4)


def test_unchanged_columns_can_be_asked_about():
    columns = (
        PublishedColumn("age", "quasi-identifier", "interval"),
        PublishedColumn("year", "insensitive", "value"),
        PublishedColumn("ill", "sensitive", "value"),
    )
    data = pa.table({"age": ["[20, 29]"] * 2, "year": [2020, 2021], "ill": ["flu", "flu"]})
    made = Release("mondrian", {}, (PublishedTable("table", columns, data),), True)
    assert as_tuple(count(made, age=uc.Between(20, 24), year=uc.Between(low=2021), ill="flu")) == (0.5, 0, 1)


def test_wrong_questions():
    with pytest.raises(ParameterError, match="Did you mean `age`"):
        count(AGES, agee=20)
    with pytest.raises(ParameterError, match="asked for a number"):
        count(AGES, age=uc.Between(low="young"))
    star = release({"age": ["*"], "ill": ["flu"]}, {"age": "interval"})
    with pytest.raises(DataError, match=r"published as `\*` only"):
        count(star, age=20)
    assert as_tuple(count(star, {"age": range(10)}, age=3)) == (0.1, 0, 1)
    with pytest.raises(DataError, match="has no values"):
        count(star, {"age": []}, age=3)
    with pytest.raises(NotTold, match="drawn at random"):
        count(replace(release({"age": ["20"], "ill": ["flu"]}, {}), form=Drawn()), age=20)
    torn = anatomy({"age": [1, 2], "bucket": [1, 1]}, {"bucket": [1], "ill": ["flu"], "count": [1]})
    with pytest.raises(DataError, match="another number of rows"):
        count(torn, age=1)


def test_an_answer_is_readable():
    answer = Answer(2.25, 1, 1234)
    assert repr(answer) == "<Answer: about 2.25 rows, surely from 1 to 1,234>"
    assert answer.to_dict() == {"estimate": 2.25, "lower": 1, "upper": 1234}


PREDICATES = {
    "age": st.builds(
        uc.Between, st.integers(0, 4), st.integers(0, 4), st.sampled_from(["both", "left", "right", "neither"])
    ),
    "sex": st.one_of(st.builds(uc.OneOf, st.sampled_from([["F"], ["F", "X"]])), st.builds(uc.NoneOf, st.just(["M"]))),
    "ill": st.builds(uc.OneOf, st.sampled_from([["flu"], ["flu", "cold"]])),
}
QUERIES = st.fixed_dictionaries({}, optional=PREDICATES)
ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("FMX"), st.sampled_from(["flu", "cold"]), st.integers(0, 1)),
    min_size=1,
    max_size=6,
)
DOMAINS = {"age": range(5), "sex": ["F", "M", "X"], "ill": ["cold", "flu"]}


def satisfies(where, row):
    """One row against a query, in words of Python."""
    for name, value in zip(("age", "sex", "ill"), row, strict=True):
        asked = where.get(name)
        if isinstance(asked, uc.Between):
            above = value >= asked.low if asked.low_included else value > asked.low
            below = value <= asked.high if asked.high_included else value < asked.high
            if not (above and below):
                return False
        elif asked is not None and (value in asked.values) != isinstance(asked, uc.OneOf):
            return False
    return True


def tables_behind_boxes(rows, groups):
    """Every row's possible values: its group's range of ages and set of sexes, its own illness."""
    for i in range(len(rows)):
        mine = [rows[j] for j in range(len(rows)) if groups[j] == groups[i]]
        ages = range(min(row[0] for row in mine), max(row[0] for row in mine) + 1)
        yield [(age, sex, rows[i][2]) for age, sex in product(ages, sorted({row[1] for row in mine}))]


def exact_bounds(rows, groups, where):
    """Mean, least and most over all tables that fit a generalised table: rows are free of each other."""
    chances = [[satisfies(where, row) for row in choices] for choices in tables_behind_boxes(rows, groups)]
    return sum(map(np.mean, chances)), sum(map(all, chances)), sum(map(any, chances))


@examples(60)
@given(ROWS, QUERIES)
def test_bounds_are_those_of_all_tables_that_fit(rows, where):
    data = pa.table({"age": [r[0] for r in rows], "sex": [r[1] for r in rows], "ill": [r[2] for r in rows]})
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")
    table = uc.Table.from_arrow(data, schema)
    present, labels = np.unique([row[3] for row in rows], return_inverse=True)
    groups = Groups(labels.astype(np.int32), len(present))
    published = generalized_table(table, groups, box_cells(table, groups), Randomness(seed=1))
    made = Release("streamliner", {}, (published,), True)
    # `*` stands for the values that occur, so these are what a recipient has to know.
    occurring = sorted({row[1] for row in rows})
    if "sex" in where and not set(where["sex"].values) <= set(occurring):
        where = {name: asked for name, asked in where.items() if name != "sex"}
    answer = uc.answer(made, uc.CountQuery(where=where), domains={**DOMAINS, "sex": occurring})
    assert as_tuple(answer) == exact_bounds([row[:3] for row in rows], labels.tolist(), where)
    true = sum(satisfies(where, row[:3]) for row in rows)
    assert answer.lower <= true <= answer.upper


@examples(60)
@given(ROWS, QUERIES)
def test_bounds_of_two_tables_are_those_of_all_assignments(rows, where):
    buckets = [row[3] for row in rows]
    sat = sorted({(row[3], row[2]) for row in rows})
    made = anatomy(
        {"age": [r[0] for r in rows], "sex": [r[1] for r in rows], "bucket": buckets},
        {
            "bucket": [bucket for bucket, _ in sat],
            "ill": [ill for _, ill in sat],
            "count": [sum((r[3], r[2]) == pair for r in rows) for pair in sat],
        },
    )
    answer = uc.answer(made, uc.CountQuery(where=where), domains=DOMAINS)
    estimate = lower = upper = 0
    for bucket in set(buckets):
        mine = [row for row in rows if row[3] == bucket]
        counts = [
            sum(satisfies(where, (row[0], row[1], ill)) for row, ill in zip(mine, order, strict=True))
            for order in permutations([row[2] for row in mine])
        ]
        estimate, lower, upper = estimate + np.mean(counts), lower + min(counts), upper + max(counts)
    assert as_tuple(answer) == (estimate, lower, upper)


MIXED = uc.Schema(
    quasi_identifiers=["age", "town", "grade"],
    sensitive="ill",
    columns={
        "town": uc.Column(hierarchy=TOWNS),
        "grade": uc.Column(kind="ordinal", domain=("low", "middle", "high")),
    },
    missing="category",
)
MIXED_ROWS = st.lists(
    st.tuples(
        st.sampled_from([18, 20, 25.5, None]),
        st.sampled_from(["Bonn", "Köln", "Lyon", None]),
        st.sampled_from(["low", "high", None]),
        st.sampled_from(["flu", "cold"]),
    ),
    min_size=2,
    max_size=12,
)


@examples(50)
@given(MIXED_ROWS, st.sampled_from([18, 20, 22.0]), st.sampled_from(["Bonn", "Köln", "Lyon"]))
def test_every_count_lies_within_its_bounds(rows, age, town):
    """Missing values, nodes and orders: with the holder's table as the domain, by Mondrian and by Anatomy."""
    columns = zip(*rows, strict=True)
    kinds = [pa.float64(), pa.string(), pa.string(), pa.string()]
    names = (*MIXED.quasi_identifiers, "ill")
    data = pa.table({name: pa.array(list(c), k) for name, c, k in zip(names, columns, kinds, strict=True)})
    runs = [uc.publish(data, MIXED, uc.Mondrian(k=2), seed=1)]
    if 2 * max(sum(row[3] == ill for row in rows) for ill in ("flu", "cold")) <= len(rows):
        runs.append(uc.publish(data, MIXED, uc.Anatomy(l=2), seed=1))
    older = [row[0] is not None and row[0] >= age for row in rows]
    questions = {
        "age": (uc.Between(low=age), older),
        "town": (uc.NoneOf(town), [row[1] != town for row in rows]),
        "grade": (uc.OneOf([None]), [row[2] is None for row in rows]),
        "ill": (uc.OneOf("flu"), [row[3] == "flu" for row in rows]),
    }
    for run in runs:
        # A value that nowhere occurs is taken for a slip of the pen; missing may always be asked for.
        usable = {name: asked for name, asked in questions.items() if name != "ill" or any(asked[1])}
        recipient = uc.Recipient(run.release, run.original)
        for chosen in (*([name] for name in usable), list(usable)):
            answer = recipient.answer(uc.CountQuery(where={name: usable[name][0] for name in chosen}))
            true = sum(all(usable[name][1][i] for name in chosen) for i in range(len(rows)))
            assert answer.lower <= true <= answer.upper
            assert answer.lower - 1e-9 <= answer.estimate <= answer.upper + 1e-9


def test_planted_fault_a_bound_that_is_too_tight_is_caught(monkeypatch):
    """Had a cell to be half inside the query to be possible, the tables that fit would contradict the upper bound."""
    rows, where = [(0, "F", "flu"), (4, "M", "flu")], {"age": uc.Between(0, 1)}
    made = release({"age": ["[0, 4]"] * 2, "ill": ["flu"] * 2}, {"age": "interval"})
    expected = exact_bounds(rows, [0, 0], where)
    assert expected == pytest.approx((2 * 2 / 5, 0, 2))
    assert as_tuple(count(made, **where)) == expected
    right = ListedColumn.match

    def too_tight(self, predicate):
        found = right(self, predicate)
        return found._replace(possible=found.share >= 0.5)

    monkeypatch.setattr(ListedColumn, "match", too_tight)
    assert as_tuple(count(made, **where)) != expected


def test_the_holders_table_gives_the_same_as_query_error():
    people = uc.datasets.census(500, seed=3)
    schema = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="occupation")
    run = uc.publish(people, schema, uc.Mondrian(k=6), seed=1)
    names = ("age", "sex", "education")
    asked = draw_workload(run.original, names, "occupation", 50, Randomness(seed=0))
    (found,) = QueryError(queries=50).of_release(run.original, run.release).values()
    recipient = uc.Recipient(run.release, run.original)
    for i in range(50):
        labels = [run.original[name].domain.labels for name in names]
        ends = [(labels[j][asked.lows[i, j]], labels[j][asked.highs[i, j]]) for j in range(3)]
        where = {
            "age": uc.Between(*map(int, ends[0])),
            "sex": ends[1][0],
            "education": ends[2][0],
            "occupation": run.original["occupation"].domain.labels[asked.values[i]],
        }
        answer = recipient.answer(uc.CountQuery(where=where))
        assert answer.estimate == pytest.approx(found.estimated[i])
        assert answer.lower <= found.exact[i] <= answer.upper
