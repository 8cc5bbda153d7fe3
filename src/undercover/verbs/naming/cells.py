"""Refuse a table before anything is written whose cells would publish an identifier, or rows that were swallowed.

Looked at are texts as they would be published: the distinct values of text columns, and the labels of their
hierarchies. A number or a date is a cell of its own and holds nothing beside itself.

- A cell that has line breaks and lines of as many fields as the table has columns looks like rows that ran together,
  whatever its quotation marks. One that swallowed the end of a row and the beginning of the next has these fields in
  its first and last line together.
- A cell that holds a value of an identifier beside other words (:mod:`undercover.io.words`) is refused, too, unless
  somebody has looked and said ``names_nobody`` of its column.
- A cell that is a value of an identifier and nothing else may be one by chance: a city that is also a first name. Where
  more than half of a column's texts are, ten at least, it is a copy of the identifier and refused; fewer are told to
  the holder, who decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.errors import DataError, listed
from undercover.io.source import Input
from undercover.io.words import Named, Words
from undercover.model.encoding.coded import value_type
from undercover.model.figures import counted, number
from undercover.model.table import EncodedColumn, Table
from undercover.wording import in_column

SEPARATORS = (",", ";", "\t", "|")
COPIED = 10
"""Texts of a column that are an identifier's, from which on more than half of them make it a copy."""
By = Callable[[Words], Mapping[str, Named]]
"""Which texts are named by the values of each identifier."""


def check_cells(
    table: Table, names: Sequence[str], by: By, *, separator: str | None = None, numbered: bool = True
) -> dict[str, dict[str, int]]:
    """Refuse a table with such cells; ``names`` are all columns it was read with.

    Returns
    -------
    For each column whose texts are by chance values of an identifier: how many, by identifier.
    """
    texts = {name: _texts(table[name]) for name in table.schema.published if _is_text(table[name])}
    problems = []
    for name, own in texts.items():
        rows = _like_rows(own, len(names), [separator] if separator else SEPARATORS)
        if len(rows):
            problems.append(
                f"Column `{name}`: {_cells(table, name, rows, numbered)} of several lines that have as many fields as "
                f"the table has columns, {len(names)}, as if rows ran together; all that they hold would be published. "
                "Look for a quotation mark that is missing. If these are texts, write them without line breaks, or "
                "leave the column out."
            )
    said: dict[str, dict[str, int]] = {}
    looked_at = {name: own for name, own in texts.items() if not table.schema.column(name).names_nobody}
    found = by(Words(*looked_at.values())) if looked_at and table.schema.identifiers else {}
    begin = 0
    for name, own in looked_at.items() if found else ():
        mine = slice(begin, begin := begin + len(own))
        held = {one: places for one, named in found.items() if len(places := np.flatnonzero(named.beside[mine]))}
        same = {one: many for one, named in found.items() if (many := int(named.whole[mine].sum()))}
        copied = [one for one, many in same.items() if many >= COPIED and many > len(own) / 2]
        looked = f"If somebody has looked and the words are others', say so: {in_column(name, names_nobody=True)}."
        if held:
            cells = _cells(table, name, np.unique(np.concatenate(list(held.values()))), numbered)
            problems.append(
                f"Column `{name}`: {cells} with a value of the identifier {listed(held)} beside other words; it would "
                "be published. If rows ran together, look for a quotation mark that is missing; take identifiers out "
                f"of the texts, or leave the column out. {looked}"
            )
        elif copied:
            problems.append(
                f"Column `{name}`: most of its texts are values of the identifier {listed(copied)}, and would be "
                f"published. Leave it out, or make it an identifier. {looked}"
            )
        elif same:
            said[name] = same
    if problems:
        raise DataError(problems)
    return said


def check_input(table: Table, given: Input) -> dict[str, dict[str, int]]:
    """The same of a table that was read here."""
    data, how = given.data, given.decisions
    held = [name for name in table.schema.identifiers if name in data.column_names]
    separator = None if how is None else how.separator

    def by(texts: Words) -> dict[str, Named]:
        return {name: texts.named_by(data.column(name)) for name in held}

    return check_cells(table, data.column_names, by, separator=separator)


def _is_text(column: EncodedColumn) -> bool:
    return bool(pa.types.is_string(value_type(column.domain.values.type)))


def _texts(column: EncodedColumn) -> pa.Array:
    """The values of a column, and behind them the labels that stand above them."""
    values, tree = column.domain.values, column.settings.hierarchy
    above = [] if tree is None else dict.fromkeys(label for row in tree.rows for label in row[1:])
    plain = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
    return pa.concat_arrays([plain, pa.array(list(above), pa.string())])


def _like_rows(texts: pa.Array, columns: int, separators: Sequence[str]) -> NDArray[np.int64]:
    """The texts of several lines that are cut into as many fields as a row has."""
    several = np.flatnonzero(np.asarray(pc.match_substring_regex(texts, "[\r\n]")))
    if columns < 2 or not len(several):
        return several[:0]
    found = [
        place
        for place, text in zip(several.tolist(), texts.take(pa.array(several)).to_pylist(), strict=True)
        if any(_like_row(text, columns - 1, separator) for separator in separators)
    ]
    return np.array(found, dtype=np.int64)


def _like_row(text: str, between: int, separator: str) -> bool:
    """Whether a line has so many separators, or the first and the last have together.

    >>> _like_row("flu\\nBo,31,cold", 2, ","), _like_row("36,flu\\nBo,31", 2, ","), _like_row("flu,\\nor cold", 2, ",")
    (True, True, False)
    """
    marks = [line.count(separator) for line in re.split("\r\n|\r|\n", text)]
    return between in marks or marks[0] + marks[-1] == between


def _cells(table: Table, name: str, places: NDArray[np.int64], numbered: bool) -> str:
    """How many cells hold texts, and where the first is; labels of a hierarchy stand in no row."""
    column = table[name]
    chosen = np.zeros(column.domain.size, dtype=bool)
    chosen[places[places < len(column.domain.values)]] = True
    rows = chosen[column.codes] if chosen.any() else chosen[:0]
    if not rows.any():
        return counted(len(places), "label")
    first = int(table.numbers(np.array([np.argmax(rows)]))[0]) + 1
    said = f" (the first in data row {number(first)})" if numbered else ""
    return counted(int(np.count_nonzero(rows)), "cell") + said
