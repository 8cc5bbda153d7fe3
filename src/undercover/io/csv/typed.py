"""Columns of texts as what they are, and what was decided of a file on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import listed
from undercover.io.csv.kinds import Marks, dates, infer
from undercover.memory import Store
from undercover.model.encoding.coded import Coded
from undercover.model.figures import counted
from undercover.model.formats.spelling import ISO, NUMBERS, Counts, spelled
from undercover.model.formats.writing import Writing, digits_after_point


@dataclass(frozen=True)
class CsvDecisions:
    """How a CSV file was read."""

    separator: str
    decimal: str
    encoding: str
    nulls: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    writing: Mapping[str, Writing] = field(default_factory=dict)  # of columns that a release would write otherwise
    thousands: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)  # what the holder should know of columns
    breaks: int = 0  # cells with a line break inside
    first_break: str = ""  # where the first of them is

    def sentence(self) -> str:
        """The decisions in one line."""
        separator = "tab" if self.separator == "\t" else f"'{self.separator}'"
        nulls = f", missing: empty or {listed(self.nulls)}" if self.nulls else ""
        marks = f"decimal '{self.decimal}'" + (f", thousands '{self.thousands}'" if self.thousands else "")
        read = f"read as: separator {separator}, {marks}, encoding {self.encoding}{nulls}"
        return f"{read}, {self.broken}" if self.breaks else read

    @property
    def broken(self) -> str:
        """That cells have line breaks inside, in words: nobody expects them, and a row may hide behind one."""
        cells = counted(self.breaks, "cell")
        return f"line breaks inside {cells}, the first in {self.first_break}" if self.breaks else ""


def typed(
    table: pa.Table,
    decided: CsvDecisions,
    decimal: str | None,
    text: Collection[str],
    *,
    leave: Collection[str] = (),
    store: Store | None = None,
) -> tuple[pa.Table, CsvDecisions]:
    """Columns of texts as what they are; of those that are held as codes the distinct texts are looked at.

    What is named in ``leave`` is left alone.
    """
    names = [name for name in table.column_names if name not in leave]
    coded = {name: Coded.of(table.column(name)) for name in names if pa.types.is_dictionary(table.field(name).type)}
    texts = {name: table.column(name) for name in names} | {
        name: pa.chunked_array([column.values]) for name, column in coded.items()
    }
    rows = {name: column.first_row for name, column in coded.items()}
    marks = Marks(separator=decided.separator, decimal=decimal, thousands=decided.thousands)
    columns, kinds, point, notes = infer(texts, marks=marks, text=text, rows=rows)
    counts = {name: column.counts for name, column in coded.items()}
    writing, told = writing_of(texts, columns, counts, replace(marks, decimal=point))
    empty = np.empty if store is None else store.empty
    columns |= {name: column.changed(columns[name]).column(empty) for name, column in coded.items()}
    columns |= {name: table.column(name) for name in table.column_names if name in leave}
    found = pa.table({name: columns[name] for name in table.column_names})
    return found, replace(decided, decimal=point, kinds=kinds, writing=writing, notes=notes | told)


class Written(NamedTuple):
    """A table whose texts are what they are, how its columns are written, and what the holder should know of them."""

    table: pa.Table
    writing: Mapping[str, Writing] = {}
    notes: Mapping[str, str] = {}


def dated(table: pa.Table, text: Collection[str] = ()) -> Written:
    """A table from where days are texts: columns of ISO dates are such, unless they are named in ``text``.

    >>> found = dated(pa.table({"seen": ["2020-01-01 10:00", "2020-01-02 11:30"]}))
    >>> found.table.column("seen").type, found.writing["seen"].spellings.texts.to_pylist()
    (TimestampType(timestamp[us]), ['2020-01-01 10:00', '2020-01-02 11:30'])
    """
    names = [name for name in table.column_names if name not in text and pa.types.is_string(table.field(name).type)]
    found = {name: dates(table.column(name)) for name in names}
    found = {name: column for name, column in found.items() if column is not None}
    writing, told = writing_of({name: table.column(name) for name in found}, found, {}, Marks())
    columns = {name: found.get(name, table.column(name)) for name in table.column_names}
    return Written(pa.table(columns), writing, told)


def writing_of(
    texts: Mapping[str, Any], typed: Mapping[str, Any], counts: Mapping[str, Counts], marks: Marks
) -> tuple[dict[str, Writing], dict[str, str]]:
    """How columns are written, where a release would not do it so by itself, and where values have several spellings.

    Of columns that are different texts ``counts`` says how many rows have each, and last how many have none. The marks
    of decimals and thousands belong to a file and not to its values: releases have the point and no other.
    """
    writing: dict[str, Writing] = {}
    told: dict[str, str] = {}
    for name, values in typed.items():
        if pa.types.is_string(values.type) or pa.types.is_null(values.type):
            continue
        numbers, cells, digits = not pa.types.is_temporal(values.type), texts[name], None
        if numbers:
            cells = cells if marks.thousands is None else pc.replace_substring(cells, marks.thousands, "")
            cells = pc.replace_substring(cells, ",", ".") if marks.decimal == "," else cells
        if pa.types.is_floating(values.type):
            digits = digits_after_point(cells)
        found = None if digits is not None else spelled(cells, values, NUMBERS if numbers else ISO, counts.get(name))
        if digits is not None or (found is not None and len(found.texts)):
            writing[name] = Writing(digits=digits, spellings=found)
        told |= {name: found.sentence(name)} if found is not None and found.several else {}
    return writing, told
