"""What nobody said of the quasi-identifiers of a table: which texts are dates, and which have an order.

Only quasi-identifiers are looked at, since only they are generalised; what is published unchanged stays as it is
written. What was declared, a hierarchy or distances of the holder's own stand. A column of a frame whose categories
are ordered has that order, whatever its role.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from undercover.errors import DataError
from undercover.model.encoding.coded import distinct_values
from undercover.model.kinds.dates import find_dates, is_day_number
from undercover.model.kinds.orders import in_order
from undercover.model.schema import Column, Kind, Schema
from undercover.wording import in_column

_LOOKED_AT = 64  # values by which a column is left alone that holds nothing of the kind
_MOST_IN_ORDER = 100_000  # distinct texts that may have an order; more is no column of bands or postcodes


class Found(NamedTuple):
    """What a column turned out to be: its kind with the format of its dates or its values in order; or a problem."""

    kind: Kind | None = None
    format: str | None = None
    domain: tuple[str, ...] | None = None
    problem: str = ""


def settled(data: pa.Table, schema: Schema) -> Schema:
    """The schema with the kinds that were found; the same one where none was.

    >>> bands = pa.table({"age": ["65+", "<18", "18-64"], "born": ["31.12.1950", "01.02.2010", "03.04.1990"]})
    >>> found = settled(bands, Schema(quasi_identifiers=["age", "born"]))
    >>> found.column("age").domain, found.column("born").format
    (('<18', '18-64', '65+'), 'DD.MM.YYYY')
    """
    columns: dict[str, Column] = {}
    problems: list[str] = []
    for name in schema.published:
        settings, column = schema.column(name), data.column(name)
        if settings.found and settings.kind == "ordinal" and not _within(column, settings):
            settings = columns[name] = forgotten(settings)
        if settings.kind == "date" and settings.format is None and (form := find(column).format):
            columns[name] = replace(settings, format=form)
        if settings.kind or settings.hierarchy or settings.domain or settings.distance:
            continue
        found = _ordered(column) if pa.types.is_dictionary(column.type) and column.type.ordered else Found()
        if found.kind is None and name in schema.quasi_identifiers:
            found = find(column)
        if found.problem:
            problems.append(
                f"Column `{name}` {found.problem} To publish its values as they are, in lists, say "
                f"{in_column(name, kind='categorical')}."
            )
        elif found.kind is not None:
            columns[name] = replace(settings, kind=found.kind, format=found.format, domain=found.domain, found=True)
    if problems:
        raise DataError(problems)
    return replace(schema, columns={**schema.columns, **columns}) if columns else schema


def forgotten(settings: Column) -> Column:
    """Settings without an order that was found, for a table in which it is to be found again."""
    found = settings.found and settings.kind == "ordinal"
    return replace(settings, kind=None, domain=None, found=False) if found else settings


def _within(column: pa.ChunkedArray, settings: Column) -> bool:
    """Whether an order that was found in one table speaks of all values of another."""
    return {str(value) for value in distinct_values(column).to_pylist() if value} <= set(settings.domain or ())


def find(column: pa.Array | pa.ChunkedArray) -> Found:
    """What the values of a column are; nothing for numbers and dates, which say it themselves, and for mere words."""
    plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(plain):
        values = distinct_values(column) if plain != column.type else column
        return Found("date", "YYYYMMDD") if is_day_number(values) else Found()
    if not _is_text(plain):
        return Found()
    few = [text for text in _few(column) if text]
    if not few or not any(character.isdigit() for text in few for character in text):
        return Found()
    texts = [text for text in distinct_values(column).to_pylist() if text]
    dates = find_dates(texts)
    if dates.format or dates.problem:
        return Found("date" if dates.format else None, dates.format, None, dates.problem)
    order = in_order(texts) if len(texts) <= _MOST_IN_ORDER else None
    return Found() if order is None else Found("ordinal", None, order)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or type_ == pa.string_view())


def _few(column: pa.Array | pa.ChunkedArray) -> list[str]:
    """Values from everywhere in a column."""
    rows = np.unique(np.linspace(0, max(len(column) - 1, 0), min(len(column), _LOOKED_AT)).astype(np.int64))
    return [text for row in rows.tolist() if (text := column[row].as_py()) is not None]


def _ordered(column: pa.ChunkedArray) -> Found:
    """The order of a column whose categories have one."""
    if not column.num_chunks or not _is_text(column.type.value_type):
        return Found()
    labels = [label for label in column.chunk(0).dictionary.to_pylist() if label]
    same = all(chunk.dictionary.equals(column.chunk(0).dictionary) for chunk in column.chunks)
    return Found("ordinal", None, tuple(labels)) if labels and same else Found()
