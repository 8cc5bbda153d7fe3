"""Frames in and back: unchanged columns in the types they had, generalised cells as what they stand for."""

import datetime
import pickle
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, InputError, ParameterError
from undercover.model.frames.cells import opened
from undercover.model.frames.types import Given, as_given, one_piece, published_types, unified
from undercover.model.release import PublishedColumn, PublishedTable, Release

pytestmark = pytest.mark.usefixtures("unjudged")

KEY = list(range(8))
AGE = [31, 34, 52, 58, 31, 34, 52, 58]
ILL = ["flu", "cold", "flu", "gout", "cold", "flu", "gout", "flu"]
DAYS = [datetime.date(2024, 1, 2), datetime.date(2024, 7, 1)] * 4
CLOCK = [datetime.datetime(2024, 1, 2, 10, 30), datetime.datetime(2024, 7, 1, 2)] * 4
MONEY = [Decimal("1.10"), Decimal("2.00"), Decimal("-3.33"), None] * 2


def published(frame: Any, *, missing: str = "category", **more: Any) -> uc.Release:
    """A release in which everything but `age` is unchanged."""
    names = list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)
    names += more.pop("index", [])
    others = [name for name in names if name not in ("age", "ill")]
    schema = uc.Schema(quasi_identifiers="age", sensitive="ill", insensitive=others, missing=missing)
    return uc.publish(frame, schema, uc.Mondrian(k=4), seed=1).release


def pandas_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "key": KEY,
            "age": AGE,
            "ill": pd.Categorical(ILL, ["gout", "flu", "cold"], ordered=True),
            "numbers": pd.Categorical([3, 1, 2, None] * 2, [3, 2, 1], ordered=True),
            "band": pd.cut(pd.Series([1, 20, 70, 5] * 2), [0, 18, 65, 99]),
            "count": pd.array([1, None, 2**60 + 1, 3] * 2, "Int64"),
            "small": pd.Series([1, -2] * 4, dtype="int8"),
            "huge": pd.Series([2**60 + 1, 3] * 4, dtype="uint64"),
            "whole": [1.0, 2.0] * 4,
            "maybe": pd.array([True, None] * 4, "boolean"),
            "yes": [True, False] * 4,
            "text": pd.Series(["x", None] * 4, dtype=object),
            "mixed": pd.Series([2**60 + 1, None] * 4, dtype=object),
            "nothing": pd.Series([None] * 8, dtype=object),
            "string": pd.array(["x", None] * 4, "string"),
            "zoned": pd.to_datetime(pd.Series(CLOCK)).dt.tz_localize("Europe/Berlin"),
            "nano": pd.to_datetime(pd.Series(CLOCK)).astype("datetime64[ns]"),
            "utc": pd.to_datetime(pd.Series(CLOCK)).dt.tz_localize("UTC"),
            "money": MONEY,
            "day": DAYS,
            "long": pd.to_timedelta([1, 2] * 4, unit="h"),
            "arrow": pd.array([1, None] * 4, pd.ArrowDtype(pa.int16())),
        }
    )


def polars_frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "key": KEY,
            "age": AGE,
            "ill": pl.Series(ILL, dtype=pl.Enum(["gout", "flu", "cold"])),
            "words": pl.Series(["b", "a", None, "b"] * 2, dtype=pl.Categorical),
            "money": pl.Series(MONEY, dtype=pl.Decimal(12, 2)),
            "fine": pl.Series(MONEY, dtype=pl.Decimal(38, 20)),
            "day": DAYS,
            "zoned": pl.Series(CLOCK).dt.replace_time_zone("America/New_York"),
            "milli": pl.Series(CLOCK, dtype=pl.Datetime("ms")),
            "time": [datetime.time(1, 2), datetime.time(3, 4, 5, 6)] * 4,
            "long": [datetime.timedelta(1), datetime.timedelta(2)] * 4,
            "small": pl.Series([1, None] * 4, dtype=pl.Int8),
            "half": pl.Series([1.5, 2.0] * 4, dtype=pl.Float32),
            "yes": [True, None] * 4,
            "nothing": [None] * 8,
        }
    )


def test_pandas_columns_come_back_as_they_were() -> None:
    frame = pandas_frame()
    back = published(frame).table().sort_values("key", ignore_index=True)
    pd.testing.assert_frame_equal(back[list(frame.columns)].drop(columns="age"), frame.drop(columns="age"))
    assert set(back["age"]) == {"[31, 34]", "[52, 58]"}


def test_polars_columns_come_back_as_they_were() -> None:
    frame = polars_frame()
    back = published(frame).table().sort("key")
    assert back.select(frame.columns).drop("age").equals(frame.drop("age"))
    assert back.select(frame.columns).drop("age").schema == frame.drop("age").schema


def test_pyarrow_columns_come_back_as_they_were() -> None:
    table = polars_frame().to_arrow()
    back = published(table).table().sort_by("key").select(table.column_names)
    assert back.drop_columns("age").schema == table.drop_columns("age").schema
    assert back.drop_columns("age").to_pydict() == table.drop_columns("age").to_pydict()
    labels = back.column("ill").chunk(0).dictionary.to_pylist()
    assert labels == ["gout", "flu", "cold"], "an order is kept"


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_release_knows_no_category_that_it_does_not_publish(kind: str) -> None:
    labels = ["nobody-has-it", "flu", "dropped-with-its-row", "cold"]
    ill = ["flu", "cold", "flu", "cold", "flu", "cold", "flu", "dropped-with-its-row"]
    age = [*AGE[:7], None]
    series = pl.Series(ill, dtype=pl.Enum(labels))
    frame: Any = {
        "pandas": lambda: pd.DataFrame({"age": age, "ill": pd.Categorical(ill, labels, ordered=True)}),
        "polars": lambda: pl.DataFrame({"age": age, "ill": series}),
        "pyarrow": lambda: pl.DataFrame({"age": age, "ill": series}).to_arrow(),
    }[kind]()
    release = published(frame, missing="drop")
    back = release.table()["ill"]
    kept = {
        "pandas": lambda: list(back.cat.categories),
        "polars": lambda: back.dtype.categories.to_list(),
        "pyarrow": lambda: back.chunk(0).dictionary.to_pylist(),
    }[kind]()
    assert kept == ["flu", "cold"]
    for held in (release.types, release.table(cells="bounds")):
        assert b"nobody-has-it" not in pickle.dumps(held)
        assert b"dropped-with-its-row" not in pickle.dumps(held)
    assert b"nobody-has-it" in pickle.dumps(frame), "and would be found"


def test_a_type_that_does_not_fit_is_left() -> None:
    words = pa.chunked_array([["flu", "gout"]])
    assert as_given(words, Given(pa.dictionary(pa.int8(), pa.string()), categories=pa.array(["flu"]))) is None
    assert as_given(pa.chunked_array([[1, 300]]), Given(pa.int8())) is None
    assert as_given(words, Given(None)) is None
    whole = as_given(pa.chunked_array([[1, 30]]), Given(pa.int8()))
    assert whole is not None
    assert whole.type == pa.int8()


def test_columns_that_are_not_published_are_forgotten() -> None:
    column = PublishedColumn("count", "structure", "value")
    table = PublishedTable("table", (column,), pa.table({"count": [1]}))
    assert published_types({"count": Given(pa.int8()), "name": Given(pa.string())}, [table]) == {}


def test_named_levels_of_an_index_are_columns_and_come_back_as_levels() -> None:
    frame = pd.DataFrame({"age": AGE, "ill": ILL})
    frame.index = pd.MultiIndex.from_arrays([pd.array(KEY, "Int16"), AGE[::-1], KEY], names=["ward", "born", None])
    back = published(frame, index=["ward", "born"]).table()
    assert list(back.index.names) == ["ward", "born"]
    assert sorted(back.index.get_level_values("ward")) == KEY
    assert back.index.get_level_values("ward").dtype == "Int16"
    older = uc.publish(frame, uc.Schema(quasi_identifiers="born", sensitive="ill"), uc.Mondrian(k=4)).release.table()
    assert set(older.index) == {"[31, 34]", "[52, 58]"}
    assert older.index.name == "born"
    with pytest.raises(DataError, match="more than one column named `age`"):
        uc.publish(frame.rename_axis(["age", "b", "c"]), uc.Schema(quasi_identifiers="age"), uc.Mondrian(k=4))
    assert isinstance(published(frame.reset_index(drop=True)).table().index, pd.RangeIndex)


def held(kind: str, types: dict[str, Given] | None = None, **columns: tuple[Any, Any]) -> Release:
    """A release of written cells, by form."""
    described = tuple(PublishedColumn(name, "quasi-identifier", form) for name, (form, _) in columns.items())
    data = pa.table({name: cells for name, (_, cells) in columns.items()})
    return Release("m", {}, (PublishedTable("table", described, data),), True, frame=kind, types=types or {})


CELLS: dict[str, tuple[Any, Any]] = {
    "age": ("interval", ["[31, 34]", "52", "*", None]),
    "pay": ("interval", ["[1.5, 2]", "3", "3", "3"]),
    "born": ("interval", ['{"[1980-01-01, 1989-12-31]", ""}', "1990-05-06", "1990-05-06", "1990-05-06"]),
    "zip": ("interval", ["[01067, 50667]", "50667", "50667", "50667"]),
    "job": ("set", ['{cook, ""}', "smith", "*", None]),
    "town": ("node", ["Europe", "*", "Asia", "Asia"]),
}
FIRST = datetime.date(1980, 1, 1), datetime.date(1989, 12, 31)


def test_bounds_are_two_columns_of_numbers_days_or_texts() -> None:
    table = held("pyarrow", **CELLS).table(cells="bounds")
    assert table.column("age_low").to_pylist() == [31, 52, None, None]
    assert table.column("age_high").to_pylist() == [34, 52, None, None]
    assert table.column("pay_low").to_pylist() == [1.5, 3, 3, 3]
    assert (table["born_low"][0].as_py(), table["born_high"][0].as_py()) == FIRST
    assert table.column("zip_low").to_pylist()[0] == "01067"
    assert table.column("job").to_pylist() == [["cook", None], ["smith"], None, None]
    assert table.column("town").to_pylist() == ["Europe", "*", "Asia", "Asia"]
    assert table.column_names[:3] == ["age_low", "age_high", "pay_low"]


def test_midpoints_are_numbers_and_everything_else_is_as_it_is_written() -> None:
    for kind in ("pandas", "polars", "pyarrow"):
        table = held(kind, **CELLS).table(cells="midpoint")
        columns = {name: list(table[name].to_pylist() if kind == "pyarrow" else table[name]) for name in CELLS}
        assert columns["age"][:2] == [32.5, 52.0]
        assert pd.isna(columns["age"][2:]).all()
        assert columns["pay"][0] == 1.75
        assert columns["born"][0] == (FIRST[0].toordinal() + FIRST[1].toordinal()) / 2 - date_of(1970).toordinal()
        assert (columns["zip"][0], columns["job"][0], columns["town"][0]) == ("[01067, 50667]", '{cook, ""}', "Europe")
    far = held("pyarrow", x=("interval", ["[-9223372036854775808, 9223372036854775807]"])).table(cells="midpoint")
    assert far["x"].to_pylist() == [0.0]


def date_of(year: int) -> datetime.date:
    return datetime.date(year, 1, 1)


def test_nodes_that_are_ranges_have_ends() -> None:
    cells: dict[str, tuple[Any, Any]] = {
        "age": ("node", ["[20, 29]", "34", "*", ""]),
        "pay": ("node", ["[0.3, 0.4)", "0.35", "[0, 1)", "*"]),
        "zip": ("node", ["101**", "10115", "*", "1****"]),
        "year": ("node", ["198", "1987", "*", "19"]),
    }
    table = held("pyarrow", **cells).table(cells="bounds")
    assert table.column_names == ["age_low", "age_high", "pay_low", "pay_high", "zip", "year"]
    assert table["age_low"].to_pylist() == [20, 34, None, None]
    assert table["pay_high"].to_pylist() == [0.4, 0.35, 1, None]
    assert held("pandas", **cells).table(cells="midpoint")["age"].tolist()[:2] == [24.5, 34]


def test_an_empty_cell_is_missing_in_every_frame() -> None:
    cells: dict[str, tuple[Any, Any]] = {"age": ("interval", ["[20, 29]", ""]), "job": ("set", ["", "cook"])}
    assert held("pandas", **cells).table().isna().to_numpy().tolist() == [[False, True], [True, False]]
    assert held("polars", **cells).table().null_count().row(0) == (1, 1)
    assert held("pyarrow", **cells).table()["age"].to_pylist() == ["[20, 29]", None]


def test_days_are_moments_to_pandas() -> None:
    bounds = held("pandas", **CELLS).table(cells="bounds")
    assert bounds["born_low"].dtype.kind == "M"
    assert bounds["born_low"].dt.year[0] == 1980


def test_intervals_of_every_kind_of_frame() -> None:
    frame = held("pandas", **CELLS).table(cells="interval")
    assert frame["age"][0] == pd.Interval(31, 34, closed="both")
    assert frame["age"].isna().tolist() == [False, False, True, True]
    assert frame["born"][0] == pd.Interval(pd.Timestamp(FIRST[0]), pd.Timestamp(FIRST[1]), closed="both")
    assert frame["zip"][0] == ("01067", "50667")
    assert frame["job"][0] == ["cook", None]
    for kind in ("polars", "pyarrow"):
        table = held(kind, **CELLS).table(cells="interval")
        ages = table["age"].to_list() if kind == "polars" else table["age"].to_pylist()
        assert ages == [{"low": 31, "high": 34}, {"low": 52, "high": 52}, None, None]


def test_text_is_the_default_and_numbers_given_as_texts_stay_texts() -> None:
    cells = {"zip": ("interval", ["[10115, 50667]", "50667"])}
    assert held("pandas", **cells).table()["zip"].tolist() == ["[10115, 50667]", "50667"]
    assert held("pyarrow", **cells).table(cells="bounds").column("zip_low").to_pylist() == [10115, 50667]
    texts = held("pyarrow", {"zip": Given(None, text=True)}, **cells).table(cells="bounds")
    assert texts.column("zip_low").to_pylist() == ["10115", "50667"]


def test_cells_that_cannot_be_had_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"'text', 'interval', 'bounds' or 'midpoint'\. Got 'pairs'"):
        held("pyarrow", **CELLS).table(cells="pairs")  # type: ignore[arg-type]
    both = pa.table({"age": ["[1, 2]"], "age_low": ["1"]})
    with pytest.raises(InputError, match="`age_low` already"):
        opened(both, ["interval", "value"], "bounds")
    assert opened(both, ["interval", "value"], "interval").num_columns == 2


@pytest.mark.parametrize("later", [["a", "b"], ["b", "a"], ["a", "c"], ["a"], ["a", None]])
def test_pieces_with_any_categories_become_one_with_the_same_cells(later: list[str | None]) -> None:
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), ["a", "b"])
    second = pa.DictionaryArray.from_arrays(pa.array([0, None, len(later) - 1], pa.int8()), pa.array(later))
    column = pa.chunked_array([first, second])
    assert one_piece(column).to_pylist() == column.to_pylist()
    assert one_piece(column).dictionary.to_pylist() == unified(column).chunk(0).dictionary.to_pylist()
