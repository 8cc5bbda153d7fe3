"""Readers that read everything twice, plainly and as codes in batches of three rows, and insist on the same outcome."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from undercover.errors import UndercoverError
from undercover.io import source
from undercover.io.csv import text
from undercover.memory import Store
from undercover.model.encoding.coded import value_type


def tiny(given: Any = None) -> Store:
    """A store that takes every table for a large one, in batches of three rows; of a long file in about a hundred."""
    size = os.path.getsize(given) if isinstance(given, str | os.PathLike) and os.path.isfile(given) else 0
    return Store(10**9, large=1, batch=max(3, size // 300))


def decoded(table: pa.Table) -> pa.Table:
    """The values of a table, in one chunk each; that they are dictionaries is left out, their order is not."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            assert not column.type.ordered or len({str(chunk.dictionary) for chunk in column.chunks}) <= 1
            plain = column.cast(value_type(column.type)).combine_chunks()
        else:
            plain = column.combine_chunks()
        columns[name] = plain
    return pa.table(columns)


@dataclass(frozen=True)
class Refused:
    """That a reader refused, and how."""

    error: UndercoverError


def outcome(work: Callable[[], Any]) -> Any:
    """What comes of it: a result, or that it was refused."""
    try:
        return work()
    except UndercoverError as error:
        return Refused(error)


def agreed(plain: Refused, coded: Any) -> UndercoverError:
    """The error that both ways have come to."""
    assert isinstance(coded, Refused)
    assert (type(coded.error), str(coded.error)) == (type(plain.error), str(plain.error))
    return plain.error


def read_csv(*arguments: Any, **options: Any) -> Any:
    """:func:`undercover.io.csv.text.read_csv`, both ways."""
    store, plain = tiny(arguments[0]), outcome(lambda: text.read_csv(*arguments, **options))
    coded = outcome(lambda: text.read_csv(*arguments, store=store, **{**options, "dictionaries": ()}))
    if isinstance(plain, Refused):
        raise agreed(plain, coded)
    (table, decisions), (found, decided) = plain, coded
    assert decided == decisions
    assert decoded(found).equals(decoded(table)), found.schema
    return plain


def read(given: Any, *, options: source.ReadOptions | None = None) -> source.Input:
    """:func:`undercover.io.source.read`, both ways."""
    if isinstance(given, source.Input):
        return given
    store, plain = tiny(given), outcome(lambda: source.read(given, options=options))
    coded = outcome(lambda: source.read(given, options=options, store=store))
    if isinstance(plain, Refused):
        raise agreed(plain, coded)
    assert decoded(coded.data).equals(decoded(plain.data)), (coded.data.schema, plain.data.schema)
    said = {**coded.source, "read_as": coded.source["read_as"].removesuffix(", held as codes")}
    assert replace(coded, data=plain.data, source=said) == plain
    return plain
