"""Columns of texts as what they are, and what was decided of a file on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import listed
from undercover.io.csv.kinds import Marks, infer
from undercover.memory import Store
from undercover.model.encoding.coded import Coded
from undercover.model.formats.spelling import ISO, NUMBERS, spelled
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

    def sentence(self) -> str:
        """The decisions in one line."""
        separator = "tab" if self.separator == "\t" else f"'{self.separator}'"
        nulls = f", missing: empty or {listed(self.nulls)}" if self.nulls else ""
        marks = f"decimal '{self.decimal}'" + (f", thousands '{self.thousands}'" if self.thousands else "")
        return f"read as: separator {separator}, {marks}, encoding {self.encoding}{nulls}"


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
    writing, told = _writing(texts, columns, coded, (point, marks.thousands))
    empty = np.empty if store is None else store.empty
    columns |= {name: column.changed(columns[name]).column(empty) for name, column in coded.items()}
    columns |= {name: table.column(name) for name in table.column_names if name in leave}
    found = pa.table({name: columns[name] for name in table.column_names})
    return found, replace(decided, decimal=point, kinds=kinds, writing=writing, notes=notes | told)


def _writing(
    texts: Mapping[str, Any], typed: Mapping[str, Any], coded: Mapping[str, Coded], marks: tuple[str, str | None]
) -> tuple[dict[str, Writing], dict[str, str]]:
    """How columns are written, where a release would not do it so by itself, and where values have several spellings.

    The marks of decimals and thousands belong to a file and not to its values: releases have the point and no other.
    """
    point, thousands = marks
    writing: dict[str, Writing] = {}
    told: dict[str, str] = {}
    for name, values in typed.items():
        if pa.types.is_string(values.type) or pa.types.is_null(values.type):
            continue
        numbers, cells, digits = not pa.types.is_temporal(values.type), texts[name], None
        if numbers:
            cells = cells if thousands is None else pc.replace_substring(cells, thousands, "")
            cells = cells if point == "." else pc.replace_substring(cells, point, ".")
        if pa.types.is_floating(values.type):
            digits = digits_after_point(cells)
        counts = coded[name].counts if name in coded else None
        found = None if digits is not None else spelled(cells, values, NUMBERS if numbers else ISO, counts)
        if digits is not None or (found is not None and len(found.texts)):
            writing[name] = Writing(digits=digits, spellings=found)
        told |= {name: found.sentence(name)} if found is not None and found.several else {}
    return writing, told
