"""Schemas are checked when they are made, and all that is wrong with one is said at once."""

from __future__ import annotations

from typing import Any

import pytest

from undercover.errors import SchemaError
from undercover.model.schema import Column, Schema


def test_one_name_stands_for_a_list_of_one() -> None:
    schema = Schema(quasi_identifiers="age", sensitive="disease", identifiers="name", insensitive="shoe")
    assert schema.quasi_identifiers == ("age",)
    assert schema.published == ("age", "disease", "shoe")
    assert schema.by_role()["identifier"] == ("name",)


def test_everything_wrong_with_a_schema_is_said_at_once() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema(sensitive=["a", "b", "b"], identifiers=["a"], missing="dropp")
    problems = caught.value.problems
    assert len(problems) == 4
    assert "Column `a` has more than one role: identifier, sensitive." in problems
    assert "Column `b` is named twice as sensitive." in problems
    assert any("At least one quasi-identifier" in problem for problem in problems)
    assert any("Did you mean `drop`?" in problem for problem in problems)


def test_everything_wrong_with_a_column_is_said_at_once() -> None:
    with pytest.raises(SchemaError) as caught:
        Column(kind="numerical", weight=-1, domain=("a", "a"))
    assert len(caught.value.problems) == 3
    assert "Did you mean `numeric`?" in str(caught.value)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf"), "heavy", None])
def test_weights_are_positive_numbers(weight: Any) -> None:
    with pytest.raises(SchemaError, match=r"must be a number in \(0, inf\)"):
        Column(weight=weight)


def test_an_ordinal_column_needs_its_order() -> None:
    with pytest.raises(SchemaError, match="needs its values in order"):
        Column(kind="ordinal")
    assert Column(kind="ordinal", domain=(1, 2)).domain == ("1", "2")


def test_settings_of_a_column_nobody_spoke_of_are_the_defaults() -> None:
    schema = Schema(quasi_identifiers=["age"], columns={"age": Column(weight=2.0)})
    assert schema.column("age").weight == 2.0
    assert schema.column("zip") == Column()


def test_schemas_are_frozen_and_comparable() -> None:
    one, two = (Schema(quasi_identifiers=["age"], sensitive="disease") for _ in range(2))
    assert one == two
    with pytest.raises(AttributeError):
        one.missing = "drop"


def test_every_unknown_column_is_named() -> None:
    schema = Schema(quasi_identifiers=["age", "zipp"], sensitive="disease", identifiers=["nam"])
    schema.check_against(["age", "zipp", "disease", "nam", "more"])
    with pytest.raises(SchemaError) as caught:
        schema.check_against(["age", "zip", "disease", "name"])
    assert len(caught.value.problems) == 2
    assert "Did you mean `zip`?" in str(caught.value)
    assert "Did you mean `name`?" in str(caught.value)
