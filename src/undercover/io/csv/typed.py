"""Columns of texts as what they are, and what was decided of a file on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import listed
from undercover.io.csv.kinds import infer
from undercover.memory import Store
from undercover.model.encoding.coded import Coded
from undercover.model.figures import counted
from undercover.model.formats.writing import digits_after_point


@dataclass(frozen=True)
class CsvDecisions:
    """How a CSV file was read."""

    separator: str
    decimal: str
    encoding: str
    nulls: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    digits: Mapping[str, int] = field(default_factory=dict)  # after the point, of columns that all have as many
    breaks: int = 0  # cells with a line break inside
    first_break: str = ""  # where the first of them is

    def sentence(self) -> str:
        """The decisions in one line."""
        separator = "tab" if self.separator == "\t" else f"'{self.separator}'"
        nulls = f", missing: empty or {listed(self.nulls)}" if self.nulls else ""
        read = f"read as: separator {separator}, decimal '{self.decimal}', encoding {self.encoding}{nulls}"
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
    columns, kinds, point = infer(texts, decimal=decimal, text=text, rows=rows)
    digits = _digits_of(texts, columns, point)
    empty = np.empty if store is None else store.empty
    columns |= {name: column.changed(columns[name]).column(empty) for name, column in coded.items()}
    columns |= {name: table.column(name) for name in table.column_names if name in leave}
    found = pa.table({name: columns[name] for name in table.column_names})
    return found, replace(decided, decimal=point, kinds=kinds, digits=digits)


def _digits_of(texts: Mapping[str, Any], typed: Mapping[str, Any], point: str) -> dict[str, int]:
    """The digits after the point of columns of decimals in which every number is written with as many."""
    found: dict[str, int] = {}
    for name, column in texts.items():
        if pa.types.is_floating(typed[name].type):
            digits = digits_after_point(column if point == "." else pc.replace_substring(column, point, "."))
            found |= {} if digits is None else {name: digits}
    return found
