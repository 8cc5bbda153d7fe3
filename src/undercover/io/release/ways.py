"""Columns of files that are not written as a release writes values by itself: what is done, and how it is undone.

A CSV file has digits after the point and spellings of the source, every file moments in their zone. The manifest
says of such a column ``digits`` or ``written``, so that whoever reads it comes to the same values; what would not come
back the same is written in the plain way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError
from undercover.model.encoding.coded import Coded
from undercover.model.formats.spelling import Spellings, read_spelled
from undercover.model.formats.writing import Writing, in_its_zone, with_digits
from undercover.model.frames.types import one_piece
from undercover.model.kinds.dates import IN_UTC

Way: TypeAlias = Callable[[pa.ChunkedArray], pa.ChunkedArray | None]


def ways(
    data: pa.Table, file_format: str, writing: Mapping[str, Writing]
) -> tuple[dict[str, Way], dict[str, dict[str, Any]]]:
    """How columns are turned into what is written, and what the manifest says of each."""
    own: dict[str, Way] = {}
    said: dict[str, dict[str, Any]] = {}
    for name, one in writing.items():
        if name not in data.column_names:
            continue
        values = pa.chunked_array([Coded.of(data.column(name)).values])
        texts = file_format == "csv" or (one.type is not None and file_format != "parquet")
        if one.spellings is not None and texts and _comes_back(values, one.spellings):
            own[name], said[name] = one.spellings.of, {"written": one.spellings.form}
        elif one.spellings is not None and file_format == "parquet" and in_its_zone(values, one) is not None:
            own[name], said[name] = partial(in_its_zone, one=one), {"written": one.spellings.form}
        elif one.digits is not None and file_format == "csv" and with_digits(values, one.digits) is not None:
            own[name], said[name] = partial(with_digits, digits=one.digits), {"digits": one.digits}
    return own, said


def in_own_way(data: pa.Table, own: Mapping[str, Way]) -> pa.Table:
    """A table, or a slice of it, with such columns as they are written."""
    for name, way in own.items():
        data = data.set_column(data.column_names.index(name), name, way(data.column(name)))
    return data


def _comes_back(values: pa.ChunkedArray, spellings: Spellings) -> bool:
    """Whether whoever reads spellings comes to the same values."""
    texts = spellings.of(values)
    if texts is None:
        return False
    try:
        again = read_spelled(one_piece(texts).cast(pa.string()), spellings.form)
        return bool(again.cast(values.type).equals(one_piece(values)))
    except (DataError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False


def read_own_way(data: pa.Table, columns: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The values of columns that are written with so many digits, or spelled, as the manifest says."""
    for column in columns:
        name, digits, form = column["name"], column.get("digits"), column.get("written")
        if (digits is None and form is None) or name not in data.column_names or column["form"] != "value":
            continue
        coded = Coded.of(data.column(name)) if pa.types.is_dictionary(data.field(name).type) else None
        texts = data.column(name) if coded is None else pa.chunked_array([coded.values])
        values = _with_digits(name, texts, digits or 0) if form is None else _spelled(name, texts, form)
        found = values if coded is None else coded.changed(values).column()
        data = data.set_column(data.column_names.index(name), name, found)
    return data


def _with_digits(name: str, texts: pa.ChunkedArray, digits: int) -> pa.ChunkedArray:
    try:
        numbers = texts.cast(pa.float64())
        again = with_digits(numbers, digits)
    except pa.ArrowInvalid:
        again = None
    if again is None or not again.combine_chunks().equals(texts.combine_chunks()):
        raise DataError(
            f"Column `{name}` is not of numbers with {digits} digits after the point, as its manifest says."
        )
    return _whole(numbers)


def _spelled(name: str, texts: pa.ChunkedArray, form: str) -> pa.ChunkedArray:
    texts = texts.cast(pa.string()) if pa.types.is_large_string(texts.type) else texts
    kind: Any = texts.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return texts.cast(pa.timestamp(kind.unit)) if form.endswith(IN_UTC) else pc.local_timestamp(texts)
    if not pa.types.is_string(kind):
        raise DataError(f"Column `{name}` is not written as its manifest says.")
    try:
        return pa.chunked_array([read_spelled(one_piece(texts), form)])
    except DataError as error:
        raise DataError([f"Column `{name}` {problem}" for problem in error.problems]) from error


def _whole(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:  # one has a fraction
        return numbers
