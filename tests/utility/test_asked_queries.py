"""Queries from a file: counted as numpy counts, estimated as a recipient estimates."""

import numpy as np
import pytest

import undercover as uc
from undercover.errors import ParameterError, SchemaError
from undercover.model.queries import Between, CountQuery, NoneOf
from undercover.utility.queries.asked import AskedQueries, read_queries

FILE = """
[[count]]
where = {age = {between = [30, 40]}, sex = "F", income = [1, 2, 3]}
[[count]]
where = {age = {between = ["any", 25]}}
[[count]]
where = {sex = {not = ["F"]}, age = {between = [50, "any"]}}
[[count]]
where = {income = 7}
"""


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(3)
    columns = {"age": draw.integers(18, 80, 400), "sex": draw.choice(["F", "M"], 400)}
    return {**columns, "income": draw.integers(0, 10, 400)}


@pytest.fixture(scope="module")
def schema():
    return uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")


@pytest.fixture(scope="module")
def frame(table):
    import pyarrow as pa

    return pa.table(table)


@pytest.fixture
def queries(tmp_path):
    (tmp_path / "w.toml").write_text(FILE)
    return read_queries(tmp_path / "w.toml")


def test_a_file_says_what_python_says(queries):
    assert queries[0] == CountQuery(where={"age": Between(30, 40), "sex": "F", "income": [1, 2, 3]})
    assert queries[1] == CountQuery(where={"age": Between(high=25)})
    assert queries[2] == CountQuery(where={"sex": NoneOf(["F"]), "age": Between(low=50)})


def test_they_are_counted_as_they_are_meant(table, frame, schema, queries):
    run = uc.publish(frame, schema, uc.Mondrian(k=1), policy="none")
    asked = AskedQueries.of(run.original, queries)
    age, sex, income = (np.asarray(table[name]) for name in ("age", "sex", "income"))
    expected = [
        ((age >= 30) & (age <= 40) & (sex == "F") & np.isin(income, [1, 2, 3])).sum(),
        (age <= 25).sum(),
        ((sex == "M") & (age >= 50)).sum(),
        (income == 7).sum(),
    ]
    assert asked.exact.tolist() == expected
    assert asked.errors(run.release).max() < 1e-9


@pytest.mark.parametrize("method", [uc.Mondrian(k=10), uc.Anatomy(l=4)], ids=lambda method: method.name)
def test_estimates_are_those_of_a_recipient(frame, schema, queries, method):
    run = uc.publish(frame, schema, method, policy="none")
    asked = AskedQueries.of(run.original, queries)
    recipient = uc.Recipient(run.release, run.original)
    answers = np.array([recipient.answer(query).estimate for query in queries])
    off = np.abs(answers - asked.exact) / np.maximum(asked.exact, 0.005 * 400)
    assert asked.errors(run.release) == pytest.approx(off)
    assert off.max() > 0  # the comparison can fail


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("count = 3", "must have queries"),
        ("[[count]]\nwhere = {}", "Query 1"),
        ("[[count]]\nwhere = {age = {around = 3}}", "Query 1 of .* What is asked of `age`"),
        ("[[count]]\nwhere = {age = {between = [1, 2, 3]}}", "What is asked of `age`"),
        ("[[count", "is not TOML"),
    ],
)
def test_a_broken_file_is_told(tmp_path, text, said):
    (tmp_path / "w.toml").write_text(text)
    with pytest.raises(ParameterError, match=said):
        read_queries(tmp_path / "w.toml")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_queries(tmp_path / "none.toml")


def test_queries_that_do_not_fit_the_table_are_told_together(frame, schema):
    table = uc.publish(frame, schema, uc.Mondrian(k=5), policy="none").original
    with pytest.raises(SchemaError, match="2 problems") as told:
        AskedQueries.of(table, [CountQuery(where={"agee": 3}), CountQuery(where={"sx": "F"})])
    assert "Did you mean `age`" in str(told.value)
    two = uc.Schema(quasi_identifiers="age", sensitive=["sex", "income"])
    table = uc.publish(frame, two, uc.Mondrian(k=5), policy="none").original
    with pytest.raises(SchemaError, match="one sensitive column at a time"):
        AskedQueries.of(table, [CountQuery(where={"sex": "F", "income": 3})])
