"""Bands, periods and codes in their order; whatever has none stays a category."""

import random
import time
from itertools import pairwise

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from both_ways import read
from undercover.io.source import ReadOptions
from undercover.model.kinds.orders import are_codes, in_order
from undercover.model.kinds.settle import Found, find
from undercover.model.schema import Column, Schema
from undercover.model.table import Table

ORDERED = {
    "brackets": ["[0-10)", "[10-20)", "[20-30)", "[90-100)"],
    "cuts": ["(17.9, 29.0]", "(29.0, 40.1]", "(40.1, 100.5]"],
    "ages": ["<18", "18-24", "25-34", "65+"],
    "in words": ["under 5", "5 to 9", "10 to 14", "15 and over"],
    "with units": ["under 18 years", "18-24 years", "25-34 years", "35 years and older"],
    "money": ["under $10k", "$10k to $20k", "$20k to $30k", "$30k or more"],
    "thousands": ["LT $1,000", "$1,000 - $4,999", "$5,000 - $9,999", "$10,000 - $14,999", "$25,000 or more"],
    "counts": ["0", "1-2", "3-5", "6+"],
    "German": ["unter 18", "18 bis 29", "30 bis 64", "65 und älter"],
    "no answer": ["20-29", "30-39", "?", "Don't know", "Refused"],
    "months": ["2019-12", "2020-01", "2020-11"],
    "quarters": ["2019-Q4", "2020-Q1", "2020-Q3"],
    "postcodes": ["01067", "01099", "10115", "99994"],
    "zips": ["02138-1001", "02139-4307", "94025-0001"],
    "Canada": ["H2X 1Y4", "K1A 0B1", "M5V 3L9"],
    "United Kingdom": ["EC1A 1BB", "M1 1AE", "SW1A 1AA"],
}


@pytest.mark.parametrize("name", ORDERED)
def test_bands_periods_and_codes_have_an_order(name: str) -> None:
    expected = ORDERED[name]
    mixed = random.Random(1).sample(expected, len(expected))
    assert in_order(mixed) == tuple(expected)
    table = Table.from_arrow(pa.table({"x": mixed}), Schema(quasi_identifiers=["x"]))
    assert (table["x"].domain.kind, table["x"].domain.labels) == ("ordinal", tuple(expected))


@pytest.mark.parametrize(
    "texts",
    [
        ["flu", "cold"],
        ["20-29", "0-100"],  # one within the other
        ["20-29", "30-39", "young"],  # a word that is no missing answer
        ["29-20", "39-30"],
        ["12", "7", "9"],  # numbers as texts
        ["2019-12", "2020-Q1"],
        ["01067", "Bonn"],
        ["?", "unknown"],
        ["20-29"],
    ],
)
def test_what_has_no_order_stays_a_category(texts: list[str]) -> None:
    assert in_order(texts) is None
    table = Table.from_arrow(pa.table({"x": texts}), Schema(quasi_identifiers=["x"]))
    assert table["x"].domain.kind == "categorical"


@given(edges=st.lists(st.integers(0, 10**6), min_size=3, max_size=9, unique=True), mix=st.randoms())
def test_bands_between_edges_lie_as_their_edges_do(edges: list[int], mix: random.Random) -> None:
    edges.sort()
    texts = [
        f"under {edges[0]}",
        *(f"{low:,}-{high - 1:,}" for low, high in pairwise(edges)),
        f"{edges[-1]}+",
    ]
    mixed = list(texts)
    mix.shuffle(mixed)
    assert in_order(mixed) == tuple(texts)


def test_what_was_declared_stands() -> None:
    data = pa.table({"x": ["65+", "<18"], "s": ["65+", "<18"]})
    table = Table.from_arrow(
        data, Schema(quasi_identifiers=["x"], sensitive="s", columns={"x": Column(kind="categorical")})
    )
    assert {table[name].domain.kind for name in "xs"} == {"categorical"}  # and a sensitive column is left alone


def test_codes_are_of_one_make_and_length() -> None:
    assert are_codes(["01067", "99994"])
    assert not are_codes(["1067", "99994"])


CATEGORIES = ["low", "middle", "high"]
FRAMES = {
    "pandas": pd.DataFrame({"x": pd.Categorical(["high", "low", None], categories=CATEGORIES, ordered=True)}),
    "polars": pl.DataFrame({"x": pl.Series(["high", "low", None], dtype=pl.Enum(CATEGORIES))}),
    "arrow": pa.table(
        {"x": pa.DictionaryArray.from_arrays(pa.array([2, 0, None]), pa.array(CATEGORIES), ordered=True)}
    ),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive"])
def test_ordered_categories_of_a_frame_keep_their_order(frame: str, role: str) -> None:
    data = read(FRAMES[frame]).data.append_column("y", pa.array([1, 2, 3]))
    other = "sensitive" if role == "quasi_identifiers" else "quasi_identifiers"
    table = Table.from_arrow(data, Schema(**{role: ["x"], other: ["y"]}, missing="category"))  # type: ignore[arg-type]
    assert (table["x"].domain.kind, table["x"].domain.labels) == ("ordinal", ("low", "high", ""))
    assert table.schema.column("x").domain == tuple(CATEGORIES)


def test_categories_without_an_order_have_none() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["high", "low"], categories=CATEGORIES)})
    table = Table.from_arrow(read(frame).data, Schema(quasi_identifiers=["x"]))
    assert table["x"].domain.kind == "categorical"


def test_ordered_categories_that_mean_missing_are_no_values() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["high", "NA"], categories=["NA", *CATEGORIES], ordered=True)})
    data = read(frame, options=ReadOptions(nulls=("NA",))).data
    table = Table.from_arrow(data, Schema(quasi_identifiers=["x"], missing="category"))
    assert table.schema.column("x").domain == tuple(CATEGORIES)
    assert table["x"].domain.labels == ("high", "")


def test_texts_are_looked_at_however_they_are_held() -> None:
    texts = pa.array(["65+", "<18", None])
    apart = pa.chunked_array([texts.dictionary_encode(), pa.array(["18-64"]).dictionary_encode()])
    held = [texts, texts.cast(pa.large_string()), texts.cast(pa.string_view()), texts.dictionary_encode(), apart]
    assert [find(column).domain for column in held] == [("<18", "65+")] * 4 + [("<18", "18-64", "65+")]
    assert find(pa.array([None, None], pa.string())) == find(pa.array([1.5])) == Found()


@pytest.mark.parametrize(
    "cell", ["1" + " " * 200_000 + "x", "1." * 100_000, "don't know" + " " * 200_000, "(" * 200_000]
)
def test_a_huge_cell_is_looked_at_in_no_time(cell: str) -> None:
    started = time.perf_counter()
    assert find(pa.array([cell, "20-29", "30-39", "31.12.1980"])) == Found()
    assert time.perf_counter() - started < 1
