"""Hierarchies from intervals, prefixes and dates, and the check against a column."""

from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercover.errors import HierarchyError
from undercover.hierarchies.build import from_dates, from_intervals, from_prefixes
from undercover.hierarchies.check import covers
from undercover.model.cells import read_interval
from undercover.model.schema import Column
from undercover.model.table import encode


@settings(deadline=None)
@given(st.sets(st.integers(-200, 200), min_size=1, max_size=20), st.integers(-7, 7))
def test_a_whole_number_lies_in_each_of_its_intervals(values: set[int], origin: int) -> None:
    hierarchy = from_intervals(values, widths=[3, 6, 30], origin=origin)
    for row in hierarchy.rows:
        assert row[-1] == "*"
        for label, width in zip(row[1:-1], (3, 6, 30), strict=True):
            low, high = (int(end) for end in read_interval(label))
            assert low <= int(row[0]) <= high
            assert high - low + 1 == width
            assert (low - origin) % width == 0


def test_decimal_numbers_fall_into_the_interval_one_reads_off() -> None:
    rows = from_intervals([0.1, 0.3, 0.7, -0.05], widths=[0.1, 0.5]).rows
    assert [row[1] for row in rows] == ["[-0.1, 0)", "[0.1, 0.2)", "[0.3, 0.4)", "[0.7, 0.8)"]
    assert [row[2] for row in rows] == ["[-0.5, 0)", "[0, 0.5)", "[0, 0.5)", "[0.5, 1)"]


def test_an_interval_of_one_number_is_that_number() -> None:
    assert from_intervals([3, 4], widths=[1, 2]).rows == (("3", "3", "[2, 3]", "*"), ("4", "4", "[4, 5]", "*"))


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        ([5, 12], "12 is none of 5"),
        ([5, 5], "5 is none of 5"),
        ([10, 5], "5 is none of 10"),
        ([0], r"\(0, inf\). Got 0"),
        ([float("nan")], "Got nan"),
        ([], "at least one width"),
    ],
)
def test_widths_that_do_not_nest_are_refused(widths: list[float], message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        from_intervals([1, 2], widths=widths)


def test_intervals_need_finite_numbers() -> None:
    with pytest.raises(HierarchyError, match="need numbers"):
        from_intervals(["a"])
    with pytest.raises(HierarchyError, match="non-finite"):
        from_intervals([1.0, float("inf")])
    with pytest.raises(HierarchyError, match="without values"):
        from_intervals([None])


def test_prefixes_of_codes_of_different_length_meet() -> None:
    rows = from_prefixes(["10115", "1011", "10", "20"], lengths=[3, 1]).rows
    assert rows == (
        ("10", "10", "1****", "*"),
        ("1011", "101**", "1****", "*"),
        ("10115", "101**", "1****", "*"),
        ("20", "20", "2****", "*"),
    )


@pytest.mark.parametrize("lengths", [[1, 3], [2, 2], [0], [], [True]])
def test_lengths_that_do_not_descend_are_refused(lengths: list[int]) -> None:
    with pytest.raises(HierarchyError):
        from_prefixes(["10115"], lengths=lengths)


def test_dates_from_dates_times_and_texts_agree() -> None:
    expected = (("1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "*"),)
    for value in (date(1999, 12, 31), datetime(1999, 12, 31), "1999-12-31"):
        assert from_dates([value]).rows == expected


def test_times_keep_their_hour_as_a_leaf() -> None:
    rows = from_dates([datetime(2024, 1, 2, 3, 4), datetime(2024, 1, 2)], levels=["day"]).rows
    assert rows == (("2024-01-02T00:00:00", "2024-01-02", "*"), ("2024-01-02T03:04:00", "2024-01-02", "*"))


@pytest.mark.parametrize("levels", [["year", "month"], ["week"], [], ["year", "year"]])
def test_levels_of_dates_are_checked(levels: list[str]) -> None:
    with pytest.raises(HierarchyError):
        from_dates(["2024-01-01"], levels=levels)


def test_texts_that_are_no_dates_are_named() -> None:
    with pytest.raises(HierarchyError, match="holds values that are no dates: 1 value"):
        from_dates(["March"])


@pytest.mark.parametrize(
    ("column", "build"),
    [
        (pa.array([34, 28, None]), from_intervals),
        (pa.array([0.5, 2.0]), from_intervals),
        (pa.array(["10115", None]).dictionary_encode(), from_prefixes),
        (pa.array([date(2024, 1, 2)]), from_dates),
        (pa.array([datetime(2024, 1, 2, 3)]), from_dates),
    ],
)
def test_a_built_hierarchy_covers_the_column_as_the_table_encodes_it(column: pa.Array, build: object) -> None:
    hierarchy = build(column)  # type: ignore[operator]
    encoded = encode("x", column, Column(hierarchy=hierarchy), missing="category")
    assert len(set(encoded.leaf_codes.tolist())) == encoded.domain.size
    assert covers(hierarchy, column)


def test_covers_names_what_is_left_out_and_what_is_unused() -> None:
    found = covers(from_intervals([1, 2, 3]), pa.array([2, 3, 9, None]))
    assert not found
    assert (found.uncovered, found.unused) == (("9",), ("1",))
