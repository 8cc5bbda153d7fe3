"""One door for every input: a file (or its parts), a database, or a frame in memory.

A CSV file has no empty text, only missing fields; tables from other files, databases and frames are held to the same
rule, so that a release does not depend on where its input came from. Neither pandas nor polars is imported here:
narwhals recognises a frame by what its owner has already imported.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError, listed
from undercover.io.coded.columns import Tell
from undercover.io.csv.text import CsvDecisions
from undercover.io.database import fetch_database, is_database_url, without_password
from undercover.io.files import read_place
from undercover.io.limits import check_columns
from undercover.io.place import place_of
from undercover.io.place import sha256 as sha256
from undercover.memory import Store, size_in_words
from undercover.model.encoding.coded import Coded
from undercover.model.formats.writing import Writing, typed_writing
from undercover.model.frames.exact import (
    beyond_calendar,
    exact_cells,
    exact_moments,
    exact_numbers,
    in_utc,
    long_numbers,
)
from undercover.model.frames.types import Given, given_type, unified
from undercover.waiting import Progress, no_progress

_FRAMES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read an input; what is ``None`` is found from a CSV file. ``nulls`` hold for every kind of input."""

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    nulls: tuple[str, ...] = ()
    text: tuple[str, ...] = ()


@dataclass(frozen=True)
class Input:
    """A table that was read, what kind of frame its owner uses, and where it came from."""

    data: pa.Table
    frame: str
    source: Mapping[str, Any]  # path, sha256, rows, read_as
    decisions: CsvDecisions | None = None
    types: Mapping[str, Given] = field(default_factory=dict)  # of the columns of a frame
    utc: tuple[str, ...] = ()  # columns whose moments are held in UTC, since their clock shows two alike
    writing: Mapping[str, Writing] = field(default_factory=dict)  # of the columns of a file
    notes: Mapping[str, str] = field(default_factory=dict)  # what the holder should know of columns
    once: bool = False  # whether nobody needs the rows after they were encoded
    seconds: float = field(default=0.0, compare=False)  # that reading took

    def let_go(self) -> None:
        """Forget the rows: whoever reads a table for himself alone does so as soon as it is encoded."""
        object.__setattr__(self, "data", self.data.schema.empty_table())


def read(
    source: Any, *, options: ReadOptions | None = None, store: Store | None = None, progress: Progress = no_progress
) -> Input:
    """Read a table from wherever it is; what was read before is handed back.

    Parameters
    ----------
    source
        A path (a file, ``FILE.xlsx#SHEET``, a folder or pattern of parts), a database URL, or a pandas, polars or
        pyarrow frame.
    options
        How to read it.
    store
        Where a large table is held as codes, batch by batch; by default every table is held as it is written.
    progress
        Told that a table is held as codes, and how many rows were read.
    """
    if isinstance(source, Input):
        return source
    started = time.perf_counter()
    given = _read(source, options or ReadOptions(), store, _teller(progress))
    return replace(given, seconds=time.perf_counter() - started)


def _read(source: Any, options: ReadOptions, store: Store | None, tell: Tell) -> Input:
    if not isinstance(source, str | os.PathLike):
        table, kind = to_arrow(source)
        data = tidy(table, nulls=options.nulls, where="The frame", store=_for(table, store))
        described = _described(None, None, data, f"a {kind} frame")
        utc = in_utc(table, data)
        types = _types(source, table, kind, utc)
        writing = typed_writing(table, data, utc)
        return Input(data, kind, described, types=types, utc=utc, writing=writing, notes=long_numbers(table, data))
    given = os.fspath(source)
    if is_database_url(given):
        shown = without_password(given)
        table, own, notes = fetch_database(given, store, tell)
        data = tidy(table, nulls=options.nulls, where=f"`{shown}`", store=_for(table, store))
        described = _described(shown, None, data, f"a database table{_held(store)}")
        utc, notes = in_utc(table, data), {**notes, **long_numbers(table, data)}
        writing = {**typed_writing(table, data, utc), **own}
        return Input(data, "pyarrow", described, utc=utc, writing=writing, notes=notes)
    if "://" in given:
        raise DataError(f"`{given}` cannot be read: there are files, duckdb://, sqlite:// and postgres:// URLs.")
    place = place_of(given)
    found = read_place(place, options, store, tell)
    data = found.table
    if found.decisions is None:
        data = tidy(data, nulls=options.nulls, where=f"`{given}`", store=_for(data, store))
    described = _described(given, place.digest(), data, f"{found.read_as}{_held(store)}")
    utc = in_utc(found.table, data)
    writing = {**typed_writing(found.table, data, utc), **found.writing}
    notes = {**found.notes, **long_numbers(found.table, data)}
    return Input(data, "pyarrow", described, found.decisions, utc=utc, writing=writing, notes=notes)


def _teller(progress: Progress) -> Tell:
    return lambda rows: progress(f"reading: {rows:,} rows as codes", 0.0)


def _for(table: pa.Table, store: Store | None) -> Store | None:
    return store if store is not None and table.num_rows >= store.large else None


def _held(store: Store | None) -> str:
    """How a large table is held, in words."""
    if store is None or not store.coded:
        return ""
    return ", held as codes" + (f", {size_in_words(store.on_disk)} of them in temporary files" if store.on_disk else "")


def _described(path: str | None, digest: str | None, data: pa.Table, read_as: str) -> dict[str, Any]:
    return {"path": path, "sha256": digest, "rows": data.num_rows, "read_as": read_as}


def to_arrow(data: Any) -> tuple[pa.Table, str]:
    """Turn a frame into an arrow table, and say what kind of frame it was.

    Levels of a pandas index that have a name are columns, before the others; row labels without a name are ignored.
    """
    if isinstance(data, pa.Table):
        return data, "pyarrow"
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data]), "pyarrow"
    import narwhals as nw  # whoever reads files does not wait for it

    if nw.dependencies.is_pandas_dataframe(data):
        _check_names([*_levels(data), *data.columns])
        data = data.reset_index(_levels(data)) if _levels(data) else data
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        lazy = " Collect the lazy frame first: .collect()." if hasattr(data, "collect") else ""
        raise DataError(
            f"A table must be a pandas, polars or pyarrow frame or a path. Got {type(data).__name__} instead.{lazy}"
        ) from error
    columns, problems = {}, []
    for name in frame.columns:
        try:
            columns[name] = _column(frame[name])
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            problems.append(f"Column `{name}` holds values of different or unknown types. Make them one type.")
    if problems:
        raise DataError(problems)
    kind = str(frame.implementation.name).lower()
    return pa.table(columns), kind if kind in _FRAMES else "pyarrow"


def _check_names(names: list[Any]) -> None:
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(
            f"Column names must be texts. Got {', '.join(repr(name) for name in odd[:5])} instead. "
            "Rename them: frame.columns = [str(name) for name in frame.columns]."
        )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"The frame has more than one column named {listed(repeated)}. Rename them.")


def _levels(frame: Any) -> list[str]:
    """The levels of a pandas index that have a name, and so are data."""
    return [name for name in frame.index.names if isinstance(name, str)]


def _types(source: Any, table: pa.Table, kind: str, utc: Sequence[str]) -> dict[str, Given]:
    """The types of a frame."""
    index = _levels(source) if kind == "pandas" else []
    levels = {name: source.index.get_level_values(name).dtype for name in index}
    native = {} if kind == "pyarrow" else {**dict(zip(source.columns, source.dtypes, strict=True)), **levels}
    return {
        name: given_type(table.column(name), native.get(name), index=name in index, utc=name in utc)
        for name in table.column_names
    }


def _column(series: Any) -> Any:
    import narwhals as nw

    native = series.to_native()
    if series.implementation.is_pandas():
        kind: Any = getattr(native.dtype, "categories", ())
        if hasattr(getattr(kind, "dtype", None), "closed"):  # the intervals of `pandas.cut`, as they are written
            codes = pa.array(native.cat.codes.to_numpy(), mask=native.isna().to_numpy())
            return pa.DictionaryArray.from_arrays(codes, [str(one) for one in kind], ordered=native.dtype.ordered)
        try:  # NaN and None in object columns are missing values; arrow is told so
            return pa.Array.from_pandas(native)
        except (OverflowError, pa.ArrowInvalid, pa.ArrowTypeError):
            return exact_cells(native.tolist())
    found = series.alias("").to_arrow()  # polars hands over no name that holds a NUL
    if isinstance(series.dtype, nw.Enum) and not found.type.ordered:  # polars 1 does not say that it has an order
        return pa.DictionaryArray.from_arrays(found.indices, found.dictionary, ordered=True)
    return found


def tidy(
    table: pa.Table, *, nulls: Sequence[str] = (), where: str = "The table", store: Store | None = None
) -> pa.Table:
    """Check names and types, and turn empty texts and ``nulls`` into missing values.

    With a ``store`` dictionaries stay such, whatever their values are.
    """
    check_columns(where, table.num_columns, table.column_names)
    repeated = [name for name, count in Counter(table.column_names).items() if count > 1]
    problems = [f"{where} has more than one column named {listed(repeated)}. Rename them."] if repeated else []
    if not table.num_columns:
        problems.append(f"{where} has no columns.")
    elif not table.num_rows:
        problems.append(f"{where} is empty: it has no rows.")
    markers = pa.array(["", *nulls], pa.string())
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            columns.append(_tidy(column, markers) if store is None else _tidy_codes(column, markers, store))
        except DataError as error:
            problems += [f"Column `{name}` {problem}" for problem in error.problems]
        except pa.ArrowException:
            problems.append(
                f"Column `{name}` cannot be read: its values do not fit its type ({column.type}). Write them as text."
            )
    if problems:
        raise DataError(problems)
    return pa.table(columns, names=table.column_names)


def _tidy(column: pa.ChunkedArray, markers: pa.Array) -> Any:
    type_ = column.type
    if pa.types.is_dictionary(type_):
        if not _is_text(type_.value_type):
            return _tidy(column.cast(type_.value_type), markers)
        plain = pa.dictionary(pa.int32(), pa.string(), ordered=type_.ordered)
        return _without_markers(unified(column.cast(plain)), markers)
    if pa.types.is_null(type_):
        return column.cast(pa.string())
    if _is_text(type_):
        return _without_markers(column if pa.types.is_string(type_) else _as_string(column), markers)
    if pa.types.is_decimal(type_) or type_ == pa.uint64():
        return exact_numbers(column)
    if (pa.types.is_date(type_) or pa.types.is_timestamp(type_)) and beyond_calendar(column):
        raise DataError("holds days outside the years 1 to 9999. Leave these cells empty, or write them as text.")
    if pa.types.is_float16(type_) or pa.types.is_float32(type_):
        return column.cast(pa.float64())
    if pa.types.is_timestamp(type_) and type_.tz is not None:
        return exact_moments(column)
    if pa.types.is_date64(type_):
        return column.cast(pa.date32())
    if pa.types.is_time(type_) or pa.types.is_duration(type_):
        return column.cast(pa.string())
    known = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_date, pa.types.is_timestamp)
    if not any(check(type_) for check in known):
        raise DataError(
            f"holds values of type {type_}; only numbers, texts, dates and truth values can be used. "
            "Convert it or leave it out."
        )
    return column


def _tidy_codes(column: pa.ChunkedArray, markers: pa.Array, store: Store) -> Any:
    """The same of the distinct values of a dictionary; an order of categories is left as its owner made it."""
    if not pa.types.is_dictionary(column.type) or column.type.ordered:
        return _tidy(column, markers)
    coded = Coded.of(column)
    values = _tidy(pa.chunked_array([coded.values]), markers)
    ordered = pa.types.is_dictionary(values.type)  # numbers that are held as texts, in their order
    return coded.changed(values).column(store.empty, ordered=ordered)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or type_ == pa.string_view())


def _as_string(column: pa.ChunkedArray) -> pa.ChunkedArray:
    # More than two gigabytes of text do not fit one chunk with 32-bit offsets.
    parts = [
        chunk.slice(start, 1 << 20).cast(pa.string())
        for chunk in column.chunks
        for start in range(0, max(len(chunk), 1), 1 << 20)
    ]
    return pa.chunked_array(parts, pa.string())


def _without_markers(column: pa.ChunkedArray, markers: pa.Array) -> pa.ChunkedArray:
    if not pa.types.is_dictionary(column.type):
        found = pc.is_in(column, markers)
        return pc.if_else(found, pa.scalar(None, pa.string()), column) if pc.any(found).as_py() else column
    chunks = []
    for chunk in column.chunks:
        found = pc.is_in(chunk.dictionary, markers)
        if pc.any(found).as_py():
            kept = pc.if_else(found.take(chunk.indices), pa.scalar(None, pa.int32()), chunk.indices)
            labels = pc.if_else(found, "", chunk.dictionary)
            chunk = pa.DictionaryArray.from_arrays(kept, labels, ordered=column.type.ordered)
        chunks.append(chunk)
    return pa.chunked_array(chunks, column.type)
