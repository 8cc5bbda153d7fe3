"""Cells are read back as they were written, whatever the values contain."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from undercover.errors import DataError
from undercover.model.cells import (
    EVERYTHING,
    looks_generalized,
    read_interval,
    read_set,
    write_interval,
    write_set,
)

AWKWARD = st.one_of(st.text(), st.text(alphabet='ab ,"{}[]*\n\t', max_size=8))


@given(st.lists(AWKWARD, min_size=1, max_size=6))
@example(["*"])
@example(["{a, b}"])
@example(["[1, 2]"])
@example([""])
@example(["", ""])
@example(['"'])
@example(["a,b", " a", "a "])
def test_sets_come_back(values: list[str]) -> None:
    assert read_set(write_set(values)) == tuple(values)


@given(AWKWARD, AWKWARD)
@example("a, b", "c")
@example("*", "*")
@example("[1", "2]")
@example("[1, 2]", "[1, 2]")
@example("", "")
def test_intervals_come_back(low: str, high: str) -> None:
    assert read_interval(write_interval(low, high)) == (low, high)


@given(st.lists(AWKWARD, min_size=1, max_size=4, unique=True))
def test_only_everything_is_written_as_a_star(values: list[str]) -> None:
    assert write_set(values) != EVERYTHING
    assert write_interval(values[0], values[-1]) != EVERYTHING


@given(AWKWARD)
def test_a_plain_value_is_never_taken_for_something_else(value: str) -> None:
    for cell in (write_set([value]), write_interval(value, value)):
        assert cell == value or looks_generalized(cell)
        assert (cell == value) == (not looks_generalized(value))


@given(st.lists(AWKWARD, min_size=1, max_size=4), st.lists(AWKWARD, min_size=1, max_size=4))
def test_different_sets_are_written_differently(one: list[str], two: list[str]) -> None:
    assert (write_set(one) == write_set(two)) == (one == two)


@pytest.mark.parametrize(
    ("cell", "members"),
    [
        ("{a,b}", ("a", "b")),
        ("{a ,  b}", ("a", "b")),
        ('{"a","b"}', ("a", "b")),
        ('{ "a" , b }', ("a", "b")),
        ("{}", ()),
        ("{a, }", ("a", "")),
        ("plain", ("plain",)),
        ("{open", ("{open",)),
    ],
)
def test_sets_that_others_wrote(cell: str, members: tuple[str, ...]) -> None:
    assert read_set(cell) == members


@pytest.mark.parametrize(
    ("cell", "ends"),
    [("[28,35]", ("28", "35")), ("[-5, -1]", ("-5", "-1")), ("[ 1 , 2 ]", ("1", "2")), ("7", ("7", "7"))],
)
def test_intervals_that_others_wrote(cell: str, ends: tuple[str, str]) -> None:
    assert read_interval(cell) == ends


@pytest.mark.parametrize("cell", ["[1]", "[]", "[1, 2, 3]", "[1-2]"])
def test_what_is_no_interval_is_refused(cell: str) -> None:
    with pytest.raises(DataError, match="is not an interval"):
        read_interval(cell)


@pytest.mark.parametrize("cell", ['{"a}', '{"a" b}', '{a, "b}'])
def test_what_is_no_set_is_refused(cell: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_set(cell)
