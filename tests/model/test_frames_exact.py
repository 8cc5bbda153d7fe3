"""Numbers and moments that a float or a clock does not tell apart: in, through every role, and back."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from both_ways import read
from effort import examples
from undercover.errors import DataError

pytestmark = pytest.mark.usefixtures("unjudged")

AGE = [31, 34, 52, 58, 31, 34, 52, 58]
TWICE = [1729990800, 1729987200] * 4  # 02:00 in winter and in summer time
LONG = [12345678901234567890, 12345678901234567891] * 4
FRAMES = {
    "pandas clock": pd.to_datetime(pd.Series(TWICE), unit="s", utc=True).dt.tz_convert("Europe/Berlin"),
    "pandas clock with holes": pd.to_datetime(pd.Series([*TWICE[:-1], None]), unit="s", utc=True).dt.tz_convert(
        "Europe/Berlin"
    ),
    "pandas decimals": pd.Series([Decimal(one) for one in LONG]),
    "pandas fractions": pd.Series(
        [Decimal("0.12345678901234567891"), Decimal("0.12345678901234567892"), None, Decimal(2)] * 2
    ),
    "pandas unsigned": pd.Series(LONG, dtype="uint64"),
    "pandas nullable": pd.Series(pd.array([*LONG[:-1], None], "UInt64")),
    "polars clock": pl.Series([second * 10**6 for second in TWICE], dtype=pl.Int64)
    .cast(pl.Datetime("us", "UTC"))
    .dt.convert_time_zone("Europe/Berlin"),
    "polars decimals": pl.Series([Decimal(one) for one in LONG], dtype=pl.Decimal(38, 0)),
    "polars unsigned": pl.Series([*LONG[:-1], None], dtype=pl.UInt64),
    "pyarrow clock": pa.array(TWICE, pa.timestamp("s", "Europe/Berlin")),
    "pyarrow decimals": pa.array([Decimal("1" * 45), Decimal("1" * 44 + "2")] * 4),
}


def framed(kind: str, column: Any) -> Any:
    data = {"key": list(range(len(column))), "age": (AGE * len(column))[: len(column)], "x": column}
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind](data)


def back(frame: Any, **roles: Any) -> Any:
    """The column `x` of the release, by the key."""
    schema = uc.Schema(**({"quasi_identifiers": "age", "insensitive": ["key", "x"], "missing": "category"} | roles))
    table = uc.publish(frame, schema, uc.Mondrian(k=1), seed=1).release.table()
    if isinstance(table, pd.DataFrame):
        return table.sort_values("key", ignore_index=True)["x"]
    return table.sort("key")["x"] if isinstance(table, pl.DataFrame) else table.sort_by("key")["x"]


def same(one: Any, other: Any) -> bool:
    """Equal in type and in every value."""
    if isinstance(one, pd.Series):
        return bool(one.dtype == other.dtype and one.equals(other))
    if isinstance(one, pl.Series):
        return bool(one.dtype == other.dtype and one.equals(other, null_equal=True))
    return bool(one.type == other.type and one.equals(other))


@pytest.mark.parametrize("label", list(FRAMES))
@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_what_is_published_unchanged_comes_back_exactly(label: str, role: str) -> None:
    frame = framed(label.split()[0], FRAMES[label])
    roles = {"insensitive": ["key"], "sensitive": "x"} if role == "sensitive" else {}
    assert same(frame["x"], back(frame, **roles))


@pytest.mark.parametrize("label", [label for label in FRAMES if "holes" not in label and "fractions" not in label])
def test_two_values_never_become_one_cell(label: str) -> None:
    roles = {"quasi_identifiers": ["x"], "insensitive": ["key"]}
    cells = back(framed(label.split()[0], FRAMES[label]), **roles)
    texts = cells.to_pylist() if isinstance(cells, pa.ChunkedArray) else cells.to_list()
    assert [texts.index(text) for text in texts[:2]] == [0, 1], texts


def test_long_numbers_have_ranges_like_others() -> None:
    frame = framed("pandas", pd.Series([LONG[0] + more for more in (0, 1, 5, 6, 100, 101, 200, 201)], dtype="uint64"))
    release = uc.publish(frame, uc.Schema(quasi_identifiers="x"), uc.Mondrian(k=4), seed=1).release
    assert set(release.table()["x"]) == {
        "[12345678901234567890, 12345678901234567896]",
        "[12345678901234567990, 12345678901234568091]",
    }
    assert release.table(cells="bounds")["x_low"].tolist()[0] == "12345678901234567890"


def test_decimals_are_the_numbers_they_say() -> None:
    frame = framed("pandas", pd.Series([Decimal("1.2"), Decimal("0.7")] * 4))
    assert set(back(frame, quasi_identifiers="x", insensitive="key")) == {"1.2", "0.7"}
    assert pa.array([Decimal("1.2")]).cast(pa.float64()).to_pylist() != [1.2], "which arrow does not say"


def test_a_column_in_utc_is_told(tmp_path: Path) -> None:
    frame = framed("pyarrow", FRAMES["pyarrow clock"])
    schema = uc.Schema(quasi_identifiers="age", insensitive="x", drop="*")
    told = "`x` is published in UTC, or with its zone: a clock shows two of its moments alike"
    assert any(told in warning for warning in uc.publish(frame, schema, uc.Mondrian(k=2)).warnings)
    once = framed("pyarrow", FRAMES["pyarrow clock"].take([1] * 8))
    assert not any("UTC" in warning for warning in uc.publish(once, schema, uc.Mondrian(k=2)).warnings)
    from pyarrow import parquet

    parquet.write_table(frame, tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").utc == ("x",)
    assert read(tmp_path / "t.parquet").data.column("x").to_pylist() == read(frame).data.column("x").to_pylist()


def test_moments_finer_than_microseconds_are_refused_in_words() -> None:
    fine = pd.to_datetime(pd.Series([1729990800000000001] * 8), unit="ns")
    with pytest.raises(DataError, match=r"^Column `x` has moments finer than microseconds\. Round them first\.$"):
        back(framed("pandas", fine))


ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"])
SECONDS = st.integers(1729900000, 1730700000)  # both ends of summer time lie in it, in Europe and in America
COLUMNS = st.one_of(
    st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=9, min_value=-(10**18), max_value=10**18)).map(
        lambda values: pl.Series(values, dtype=pl.Decimal(38, 9))
    ),
    st.lists(st.none() | st.integers(0, 2**64 - 1)).map(lambda values: pl.Series(values, dtype=pl.UInt64)),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)).map(lambda values: pl.Series(values, dtype=pl.Int64)),
    st.lists(st.none() | st.booleans()).map(lambda values: pl.Series(values, dtype=pl.Boolean)),
    st.lists(st.none() | st.sampled_from("cab")).map(lambda values: pl.Series(values, dtype=pl.Categorical)),
    st.lists(st.none() | st.dates(date(1, 1, 1), date(9999, 12, 31))).map(lambda days: pl.Series(days, dtype=pl.Date)),
    st.tuples(st.lists(st.none() | SECONDS), ZONES).map(
        lambda both: pl.Series(
            [None if one is None else datetime.fromtimestamp(one, UTC) for one in both[0]],
            dtype=pl.Datetime("us", "UTC"),
        ).dt.convert_time_zone(both[1])
    ),
)


@given(column=COLUMNS.filter(len), kind=st.sampled_from(["pandas", "polars", "pyarrow"]))
@examples(60)
def test_whatever_is_published_unchanged_comes_back(column: pl.Series, kind: str) -> None:
    made: Any = {"pandas": column.to_pandas, "polars": lambda: column, "pyarrow": column.to_arrow}[kind]()
    frame = framed(kind, made)
    assert same(frame["x"], back(frame))
