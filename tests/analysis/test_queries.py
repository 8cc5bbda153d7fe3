"""Predicates and queries as objects."""

from datetime import date, datetime

import pytest

import undercover as uc
from undercover.errors import ParameterError
from undercover.model.queries import label_of


def test_plain_values_mean_themselves():
    query = uc.CountQuery(where={"age": uc.Between(30, 40), "sex": "F", "ill": ["flu", "cold"], "zip": None})
    assert query.where == {
        "age": uc.Between(30, 40),
        "sex": uc.OneOf("F"),
        "ill": uc.OneOf(("flu", "cold")),
        "zip": uc.OneOf([None]),
    }
    assert uc.CountQuery().where == {}


def test_a_query_cannot_be_changed_from_outside():
    where = {"sex": "F"}
    query = uc.CountQuery(where=where)
    where["age"] = "30"
    assert list(query.where) == ["sex"]


@pytest.mark.parametrize(
    ("closed", "ends"),
    [("both", (True, True)), ("left", (True, False)), ("right", (False, True)), ("neither", (False, False))],
)
def test_which_ends_belong(closed, ends):
    predicate = uc.Between(1, 2, closed=closed)
    assert (predicate.low_included, predicate.high_included) == ends


def test_wrong_predicates():
    with pytest.raises(ParameterError, match="needs an end"):
        uc.Between()
    with pytest.raises(ParameterError, match="Did you mean `right`"):
        uc.Between(1, 2, closed="rigth")
    for kind in (uc.OneOf, uc.NoneOf):
        with pytest.raises(ParameterError, match="at least one value"):
            kind([])


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (30, "30"),
        (30.0, "30"),
        (2.5, "2.5"),
        ("30", "30"),
        (None, ""),
        (False, "false"),
        (date(2020, 2, 1), "2020-02-01"),
        (datetime(2020, 2, 1), "2020-02-01"),
        (datetime(2020, 2, 1, 12), "2020-02-01T12:00:00"),
    ],
)
def test_values_are_spelled_as_in_a_cell(value, label):
    assert label_of(value) == label
