"""Declared bins: edges, labels, and the bin of every number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.errors import DataError, SchemaError
from undercover.model.bins import Bins, bin_ends, touching
from undercover.model.cells import read_interval
from undercover.model.schema import Column, Schema
from undercover.model.table import Table, encode

WHOLE = (0, 10_000, 20_000, 50_000)


def plain_bin(edges: tuple[float, ...], number: float, whole: bool) -> int:
    """One number by comparison with every edge."""
    if whole and number != int(number):
        return -1
    for place in range(len(edges) - 2):
        if edges[place] <= number < edges[place + 1]:
            return place
    return len(edges) - 2 if edges[-2] <= number <= edges[-1] else -1


def test_bins_of_whole_numbers_are_closed_and_apart() -> None:
    bins = Bins(WHOLE)
    assert bins.whole
    assert bins.labels == ("[0, 9999]", "[10000, 19999]", "[20000, 50000]")
    values = np.array([0, 9_999, 10_000, 19_999, 20_000, 50_000, 50_001, -1])
    assert bins.place(values).tolist() == [0, 0, 1, 1, 2, 2, -1, -1]
    assert bins.place(np.array([9_999.5, 9_999.0])).tolist() == [-1, 0]
    assert not touching(bin_ends(bins.labels))


def test_bins_of_decimals_share_their_inner_edges() -> None:
    bins = Bins((0.0, 0.5, 2))
    assert not bins.whole
    assert bins.labels == ("[0, 0.5]", "[0.5, 2]")
    assert bins.place(np.array([0, 0.4999, 0.5, 2, 2.1, -0.1])).tolist() == [0, 0, 1, 1, -1, -1]
    assert touching(bin_ends(bins.labels))


def test_labels_follow_the_declaration_and_not_the_data() -> None:
    # The same whole numbers, declared as decimals: the labels do not tell that nobody has a fraction.
    settings = Column(bins=tuple(float(edge) for edge in WHOLE))
    column = encode("pay", pa.array([1.0, 2.0, 30_000.0]), settings, missing="error")
    assert column.domain.labels == ("[0, 10000]", "[20000, 50000]")


def test_a_bin_of_one_whole_number_is_that_number() -> None:
    assert Bins((0, 1, 2, 5)).labels == ("0", "1", "[2, 5]")


@given(
    st.lists(st.integers(-1000, 1000), min_size=2, max_size=8, unique=True).map(sorted),
    st.lists(st.integers(-1100, 1100).map(lambda n: n / 2), max_size=50),
    st.booleans(),
)
def test_the_bin_of_a_number_is_found_by_comparison(edges: list[int], numbers: list[float], whole: bool) -> None:
    kept = tuple(edges) if whole else tuple(map(float, edges))
    bins = Bins(kept)
    if len(edges) > 2:  # one bin alone does not tell whether it holds whole numbers
        assert whole == Bins.of_labels(bins.labels).whole or any(low == high for low, high in bins.ends)
        assert Bins.of_labels(bins.labels).labels == bins.labels
    found = bins.place(np.array(numbers, dtype=np.float64))
    assert found.tolist() == [plain_bin(kept, number, whole) for number in numbers]
    for number, place in zip(numbers, found.tolist(), strict=True):
        if place >= 0:
            low, high = map(float, read_interval(bins.labels[place]))
            assert low <= number <= high


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ((0, 10, 10), "must ascend"),
        ((5,), "at least two edges"),
        ((), "at least two edges"),
        ((0, float("inf")), "must be numbers"),
        ((0, True), "must be numbers"),
        ((0, "10"), "must be numbers"),
        ((0, 2**60), "must be numbers"),
        ("0,10", "a list of edges"),
        (7, "a list of edges"),
    ],
)
def test_bad_edges(edges: object, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        Column(bins=edges)  # type: ignore[arg-type]


def test_a_column_with_bins() -> None:
    column = Column(bins=np.array(WHOLE))  # type: ignore[arg-type]
    assert column.kind == "numeric"
    assert column.bins == WHOLE
    assert column.domain == Bins(WHOLE).labels
    assert column.form == "interval"
    assert Column().form == "value"
    assert replace(column, kind="numeric", weight=2).domain == column.domain
    with pytest.raises(SchemaError, match="not both"):
        Column(bins=WHOLE, domain=("1", "2"))
    with pytest.raises(SchemaError, match="Bins are of numbers"):
        Column(bins=WHOLE, kind="categorical")


def test_bins_are_not_for_quasi_identifiers() -> None:
    with pytest.raises(SchemaError, match="hierarchy"):
        Schema(quasi_identifiers=["age"], columns={"age": Column(bins=(0, 10, 20))})


def test_a_binned_column_is_ordinal_and_has_the_bins_that_occur() -> None:
    column = encode("pay", pa.chunked_array([[25_000, None], [3, 50_000]]), Column(bins=WHOLE), missing="category")
    assert column.domain.kind == "ordinal"
    assert column.domain.labels == ("[0, 9999]", "[20000, 50000]", "")
    assert column.codes.tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize("value", [-77, 60_123, 123.25])
def test_a_value_outside_is_told_without_naming_it(value: float) -> None:
    with pytest.raises(DataError) as error:
        encode("pay", pa.array([1, value, value], pa.float64()), Column(bins=WHOLE), missing="error")
    said = str(error.value)
    assert "2 rows outside its declared bins" in said
    assert ("decimal" in said) == (value == 123.25)
    assert str(value) not in said.replace("[0, 9999]", "").replace("[20000, 50000]", "")


def test_text_in_a_binned_column_is_refused() -> None:
    schema = Schema(quasi_identifiers=["age"], sensitive="pay", columns={"pay": Column(bins=WHOLE)})
    with pytest.raises(DataError, match="declared numeric"):
        Table.from_arrow(pa.table({"age": [1, 2], "pay": ["much", "more"]}), schema)


def test_ends_of_cells() -> None:
    assert bin_ends(["[0, 9]", "12", "", "flu"]).tolist() == [[0, 9], [12, 12], [0, 0], [np.inf, np.inf]]
