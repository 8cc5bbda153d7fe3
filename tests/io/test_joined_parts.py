"""Parts of a table one below the other: the cells are those of the parts, the codes as narrow as they can be."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.io.coded import parts as below
from undercover.io.release.parts import joined
from undercover.memory import Store

TEXTS = st.lists(st.one_of(st.none(), st.sampled_from("abcdef")), max_size=12)


def column(*parts: pa.Array) -> pa.ChunkedArray:
    return joined([pa.table({"a": one}) for one in parts], Store(10**6)).column("a")


@given(st.lists(TEXTS, min_size=1, max_size=5), st.sampled_from([2, 1000]))
def test_cells_are_those_of_the_parts(parts: list[list[str | None]], many: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(below, "MANY", many)
        found = column(*(pa.array(one, pa.string()).dictionary_encode() for one in parts))
    assert found.to_pylist() == [cell for one in parts for cell in one]
    different = {cell for one in parts for cell in one} - {None}
    assert pa.types.is_dictionary(found.type) == (len(different) <= many)


@pytest.mark.parametrize(("count", "width"), [(128, "int8"), (129, "int16"), (32_769, "int32")])
def test_codes_are_as_wide_as_what_there_is(count: int, width: str) -> None:
    texts = pa.array([f"{number}" for number in range(count)])
    parts = [texts[5:6], texts, texts[:2]]
    found = column(*(part.dictionary_encode() for part in parts))
    assert str(found.type.index_type) == width
    assert found.to_pylist() == [cell for part in parts for cell in part.to_pylist()]


def test_what_is_read_differently_is_one_type() -> None:
    whole, half, word = (pa.array(cells).dictionary_encode() for cells in ([1, 2], [0.5], ["x"]))
    assert column(whole, half).to_pylist() == [1.0, 2.0, 0.5]
    assert column(whole, word, whole).to_pylist() == ["1", "2", "x", "1", "2"]


def test_not_a_number_is_one_value() -> None:
    found = column(*(pa.array(np.array(cells)).dictionary_encode() for cells in ([1.5, np.nan], [np.nan, 2.5])))
    assert len(found.chunk(0).dictionary) == 3


def test_a_column_that_a_part_lacks_is_left_out() -> None:
    assert joined([pa.table({"a": [1], "b": [2]}), pa.table({"a": [3]})], Store(10**6)).to_pydict() == {"a": [1, 3]}
