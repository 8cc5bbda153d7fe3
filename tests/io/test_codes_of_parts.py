"""Columns that are read a slice at a time: the cells are those of the whole, the codes as narrow as they can be."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.io.release import parts
from undercover.io.release.parts import Codes, coded

TEXTS = st.lists(st.one_of(st.none(), st.sampled_from("abcdef")), max_size=12)


def whole(slices: list[pa.ChunkedArray]) -> Codes:
    codes = Codes()
    for one in slices:
        codes.add(one)
    return codes


@given(st.lists(TEXTS, min_size=1, max_size=5), st.booleans(), st.sampled_from([2, 1000]))
def test_cells_are_those_of_the_slices(slices: list[list[str | None]], in_codes: bool, most: int) -> None:
    columns = [pa.chunked_array([pa.array(one, pa.string())]) for one in slices]
    columns = [column.dictionary_encode() for column in columns] if in_codes else columns
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "MOST_VALUES", most)
        found = whole(columns).column()
    assert found.to_pylist() == [cell for one in slices for cell in one]
    different = {cell for one in slices for cell in one} - {None}
    assert pa.types.is_dictionary(found.type) == (len(different) <= most)


@pytest.mark.parametrize(("count", "width"), [(128, "int8"), (129, "int16"), (32_768, "int16"), (32_769, "int32")])
def test_codes_grow_with_what_there_is(count: int, width: str) -> None:
    texts = [f"{number}" for number in range(count)]
    found = whole([pa.chunked_array([texts[:1]]), pa.chunked_array([texts]), pa.chunked_array([texts[:2]])]).column()
    assert str(found.type.index_type) == width
    assert found.to_pylist() == [*texts[:1], *texts, *texts[:2]]


def test_a_dictionary_with_something_twice_and_with_nothing() -> None:
    odd = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None], pa.int32()), pa.array(["a", "b", "a", None]))
    found = whole([pa.chunked_array([odd]), pa.chunked_array([["b"]])]).column()
    assert found.dictionary.to_pylist() == ["a", "b"]
    assert found.to_pylist() == ["a", "b", "a", None, None, "b"]


def test_what_is_no_number_is_one_value() -> None:
    slices = [pa.chunked_array([np.array([1.5, np.nan])]), pa.chunked_array([np.array([np.nan, 2.5])])]
    found = whole(slices).column()
    assert len(found.dictionary) == 3
    assert found.indices.to_pylist() == [0, 1, 1, 2]


def test_what_is_read_differently_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    slices = [pa.chunked_array([[1, 2]]), pa.chunked_array([["x"]]), pa.chunked_array([[3]])]
    assert whole(slices).column().to_pylist() == ["1", "2", "x", "3"]
    monkeypatch.setattr(parts, "MOST_VALUES", 1)
    assert whole(slices).column().to_pylist() == ["1", "2", "x", "3"]


def test_a_column_that_a_slice_lacks_is_left_out() -> None:
    assert coded([pa.table({"a": [1], "b": [2]}), pa.table({"a": [3]})]).to_pydict() == {"a": [1, 3]}
