"""The types of a frame as they came in, so that what is published unchanged goes back in them.

Inside, a column is text, whole numbers, floats, truth values, days or moments (:mod:`.exact`). What was a decimal, a
category or a moment in a zone before is remembered by its type alone: of categories a release keeps those that it
publishes, since one that nobody has in it would tell of somebody who was left out. A type comes back where every
published value fits it; otherwise the column stays as it is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.model.encoding.coded import distinct_values

if TYPE_CHECKING:
    from undercover.model.release import PublishedTable

_UNFIT = (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, TypeError, OverflowError)


@dataclass(frozen=True)
class Given:
    """The type of one column as it was given."""

    arrow: pa.DataType | None  # none where the column was generalised
    native: Any = None  # of pandas or polars
    categories: pa.Array | None = None  # in their order, where it has some
    index: bool = False  # whether it was a level of the index
    text: bool = False  # whether its values were texts
    utc: bool = False  # whether its moments are held in UTC


def given_type(column: pa.ChunkedArray, native: Any = None, *, index: bool = False, utc: bool = False) -> Given:
    """What is to be remembered of a column that arrow holds."""
    type_, categories = column.type, None
    if pa.types.is_dictionary(type_):
        column = unified(column)
        categories = column.chunk(0).dictionary if column.num_chunks else pa.nulls(0, type_.value_type)
    values = type_ if categories is None else categories.type
    text = pa.types.is_string(values) or pa.types.is_large_string(values) or values == pa.string_view()
    return Given(type_, native, categories, index, bool(text), utc)


def published_types(types: Mapping[str, Given], tables: Sequence[PublishedTable]) -> dict[str, Given]:
    """What a release may know of the types: of published columns, and no category that it does not publish."""
    found: dict[str, Given] = {}
    for name, given in types.items():
        shown = [
            (column.form, table.data.column(name))
            for table in tables
            for column in table.columns
            if column.name == name and column.role != "structure"
        ]
        if any(form != "value" for form, _ in shown):
            found[name] = Given(None, index=given.index, text=given.text)
        elif shown:
            found[name] = _occurring(given, [column for _, column in shown])
    return found


def as_given(column: pa.ChunkedArray, given: Given) -> pa.ChunkedArray | None:
    """A published column in the arrow type in which it was given; none where it has changed or does not fit it."""
    if given.arrow is None:
        return None
    if pa.types.is_integer(given.arrow) and pa.types.is_floating(column.type):  # drawn from halves, too
        return None
    try:
        found = _cast(column, given)
    except _UNFIT:
        return None
    return found if found.null_count == column.null_count else None


def comes_back(column: pa.ChunkedArray, inside: pa.ChunkedArray) -> bool:
    """Whether a column can be had again from what is held of it; not where an hour occurs twice on its clock.

    >>> berlin = pa.timestamp("s", "Europe/Berlin")
    >>> clock = pa.chunked_array([pa.array([1729990800, 1729987200], berlin)])  # 02:00 in winter and in summer time
    >>> comes_back(clock, pc.local_timestamp(clock)), comes_back(clock[1:], pc.local_timestamp(clock[1:]))
    (False, True)
    """
    if not (pa.types.is_decimal(column.type) or pa.types.is_timestamp(column.type)):
        return True
    back = as_given(inside, Given(column.type))
    return back is not None and back.equals(column)


def unified(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of categories with one dictionary for all of it, in which missing is no category.

    >>> parts = [pa.DictionaryArray.from_arrays([0, 1], ["b", None]), pa.DictionaryArray.from_arrays([0], ["a"])]
    >>> unified(pa.chunked_array(parts)).chunk(0).dictionary.to_pylist()
    ['b', 'a']
    """
    type_, chunks = column.type, []
    for chunk in column.chunks:
        if chunk.dictionary.null_count:
            labels = chunk.dictionary.drop_null()
            places = pc.index_in(chunk.dictionary_decode(), value_set=labels).cast(type_.index_type)
            chunk = pa.DictionaryArray.from_arrays(places, labels, ordered=type_.ordered)
        chunks.append(chunk)
    return pa.chunked_array(chunks, type_).unify_dictionaries()


def one_piece(column: pa.ChunkedArray) -> Any:
    """A column as one array; it is copied only where it has several pieces."""
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_dictionary(column.type) and not _alike(column):
        column = unified(column)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _alike(column: pa.ChunkedArray) -> bool:
    """Whether all pieces of a column of categories have the same ones, none of them missing, which is soon seen."""
    first = column.chunk(0).dictionary if column.num_chunks else pa.nulls(0)
    return not first.null_count and all(chunk.dictionary.equals(first) for chunk in column.chunks[1:])


def _occurring(given: Given, columns: Sequence[pa.ChunkedArray]) -> Given:
    """A type with the categories that occur; a plain one where something else occurs."""
    if given.categories is None:
        return given
    try:
        distinct = [pa.chunked_array([distinct_values(column)]) for column in columns]
        values = [_cast(column, Given(given.categories.type)).unique() for column in distinct]
    except _UNFIT:
        return Given(None, index=given.index)
    kept = pc.is_in(given.categories, value_set=pa.concat_arrays(values))
    native = None if given.native is None else _narrowed(given.native, kept.to_pylist())
    return replace(given, categories=given.categories.filter(kept), native=native)


def _narrowed(native: Any, kept: Sequence[bool]) -> Any:
    """A type of pandas or polars with some of its categories; those of a polars `Categorical` are not in its type."""
    if hasattr(native, "ordered"):
        return type(native)(native.categories[list(kept)], native.ordered)
    return type(native)(native.categories.filter(list(kept))) if type(native).__name__ == "Enum" else native


def _cast(column: pa.ChunkedArray, given: Given) -> pa.ChunkedArray:
    """A column in a type that it had; raises where it cannot."""
    type_: Any = given.arrow
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if given.categories is not None:
        values = _cast(column, Given(given.categories.type)).combine_chunks()
        places = pc.index_in(values, value_set=given.categories).cast(type_.index_type)
        return pa.chunked_array([pa.DictionaryArray.from_arrays(places, given.categories, ordered=type_.ordered)])
    if column.type == type_:
        return column
    if pa.types.is_null(type_):
        return pa.chunked_array([pa.nulls(len(column))])
    if pa.types.is_decimal(type_):  # by its text: arrow rounds numbers otherwise
        return column.cast(pa.string()).cast(type_)
    if pa.types.is_timestamp(type_) and type_.tz not in (None, "UTC"):
        local = column.cast(pa.timestamp(type_.unit))
        zone = "UTC" if given.utc else type_.tz
        return pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest").cast(type_)
    if pa.types.is_time(type_):
        moments = [None if one is None else time.fromisoformat(one) for one in column.to_pylist()]
        return pa.chunked_array([pa.array(moments, type_)])
    if pa.types.is_duration(type_):
        column = column.cast(pa.int64())
    return column.cast(type_)
