"""Generalised cells as what they stand for: intervals, two columns of bounds, midpoints, and sets as lists.

Ends are numbers, days or moments where every one of them is written as such, and texts otherwise: `01067` stays a
text. A missing cell and ``*`` name no end and no member. A cell that is a range or missing has the ends of the range;
that it may be missing only its text says. Nodes of a hierarchy are ranges where some are written so, ``[20, 29]`` or
``[0.3, 0.4)``, and all others are numbers or days.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import InputError, ParameterError
from undercover.model.cells import EVERYTHING, CellForm, named, read_set
from undercover.model.table import write_values

CellsAs = Literal["text", "interval", "bounds", "midpoint"]
"""How generalised cells are handed over."""

LOW, HIGH = "low", "high"
_DAY = 86_400_000_000  # microseconds
_SCALES = (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us"))


def opened(data: pa.Table, forms: Sequence[CellForm], cells: CellsAs, texts: Collection[str] = ()) -> pa.Table:
    """A table whose intervals are structs of two ends, or two columns, and whose sets are lists.

    ``texts`` are columns that were given as texts, whose ends are no numbers however they look. With ``"midpoint"`` an
    interval of numbers is the number in its middle, one of days or moments that of days since 1970; everything else is
    as it is written.

    >>> table = pa.table({"age": ["[31, 34]", "52"], "job": ["{cook, smith}", "*"]})
    >>> opened(table, ["interval", "set"], "bounds").to_pylist()
    [{'age_low': 31, 'age_high': 34, 'job': ['cook', 'smith']}, {'age_low': 52, 'age_high': 52, 'job': None}]
    """
    if cells not in ("text", "interval", "bounds", "midpoint"):
        known = "'text', 'interval', 'bounds' or 'midpoint'"
        raise ParameterError(f"The 'cells' of a table are {known}. Got {cells!r} instead.")
    found: list[tuple[str, Any]] = []
    for name, column, form in zip(data.column_names, data.columns, forms, strict=True):
        column = as_values(column)
        column = column if form == "value" else _missing(column)
        ranges = cells != "text" and form in ("interval", "node")
        ends = _ends(column, name in texts, form == "node") if ranges else None
        if ends is not None:
            low, high = ends
            if cells == "midpoint":
                found.append((name, column if pa.types.is_string(low.type) else _middle(low, high)))
            elif cells == "bounds":
                found += [(f"{name}_{LOW}", low), (f"{name}_{HIGH}", high)]
            else:
                found.append((name, pa.StructArray.from_arrays([low, high], [LOW, HIGH], mask=low.is_null())))
        else:
            found.append((name, _lists(column) if form == "set" and cells in ("interval", "bounds") else column))
    names = [name for name, _ in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"The table has a column `{twice[0]}` already, so bounds cannot be called so. Rename it.")
    return pa.table([column for _, column in found], names=names)


def as_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A published column as it is handed over: values written out, cells as a dictionary with the usual indices.

    Inside, texts are held as dictionaries of values, which Arrow calls ordered, numbers and days perhaps as any (cells
    are texts), and all indices are narrow.

    >>> held = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), ["flu", "cold"], ordered=True)
    >>> as_values(pa.chunked_array([held])).type
    DataType(string)
    """
    kind: Any = column.type
    if not pa.types.is_dictionary(kind):
        return column
    if kind.ordered or not pa.types.is_string(kind.value_type):
        return column.cast(kind.value_type)
    usual = pa.dictionary(pa.int32(), kind.value_type)
    chunks = [pa.DictionaryArray.from_arrays(one.indices.cast(pa.int32()), one.dictionary) for one in column.chunks]
    return column if kind == usual else pa.chunked_array(chunks, usual)


def _missing(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of cells in which an empty one, as it is written, is missing."""
    labels, rows = _coded(column)
    if None not in labels:
        return column
    return pa.chunked_array([pa.array(labels, pa.string()).take(rows).dictionary_encode()])


def _coded(column: pa.ChunkedArray) -> tuple[list[str | None], pa.Array]:
    """The distinct cells of a column, and which one stands in each row; an empty one is missing."""
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    coded = column.unify_dictionaries().combine_chunks()
    return [cell or None for cell in coded.dictionary.to_pylist()], coded.indices


def _lists(column: pa.ChunkedArray) -> pa.Array:
    labels, rows = _coded(column)
    members = [None if cell in (None, EVERYTHING) else [one or None for one in read_set(cell)] for cell in labels]
    return pa.array(members, pa.list_(pa.string())).take(rows)


def _ends(column: pa.ChunkedArray, text: bool, node: bool) -> tuple[pa.Array, pa.Array] | None:
    """Both ends of every cell; none where nodes are no ranges."""
    labels, rows = _coded(column)
    if node:
        ranges = [cell is not None and cell[:1] == "[" and cell[-1:] in "])" for cell in labels]
        labels = [f"{cell[:-1]}]" if cell and range_ else cell for cell, range_ in zip(labels, ranges, strict=True)]
    values = [[] if cell in (None, EVERYTHING) else [one for one in named(cell) if one] for cell in labels]
    ends = [ends[place] if ends else None for place in (0, -1) for ends in values]
    typed = _typed(ends, text)
    if node and (not any(ranges) or pa.types.is_string(typed.type)):
        return None
    return typed[: len(labels)].take(rows), typed[len(labels) :].take(rows)


def _middle(low: pa.Array, high: pa.Array) -> pa.Array:
    """Halfway between both ends, halved first lest the largest numbers have no sum."""
    ends = []
    for end in (low, high):
        days = pa.types.is_temporal(end.type)
        number = end.cast(pa.timestamp("us")).cast(pa.int64()) if days else end
        ends.append(pc.divide(number.cast(pa.float64(), safe=False), 2.0 * (_DAY if days else 1)))
    return pc.add(*ends)


def _typed(ends: Sequence[str | None], text: bool) -> pa.Array:
    """Ends as numbers, days or moments, the first as which they all are written."""
    written = pa.array(ends, pa.string())
    for type_ in _SCALES[2:] if text else _SCALES:
        try:
            found = written.cast(type_)
        except pa.ArrowInvalid:
            continue
        if pa.types.is_temporal(type_) or write_values(found.drop_null()) == written.drop_null().to_pylist():
            return found
    return written
