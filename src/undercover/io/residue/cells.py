"""Rows inside cells: a text of a table that is no value but a list of values, or much longer than its neighbours.

A cell may hold any text, so nothing here proves anything about an unusual value. Two things are no values of a column:
a text of several lines that all have as many fields, and a text whose fields are values of several other columns of the
release. Anything else that is unusual is reported in a note: it rests on the holder's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from undercover.io.residue.found import ADVICE, Residue
from undercover.model.release import PublishedTable

_BREAKS = "[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"
_MARKS = re.compile(r"[,;|\t\r\n]+")
_LEAST_FIELDS = 3
_LONG, _TIMES = 1000, 20  # characters, and times the middle length, beyond which a cell is unusual
_MOST = 10_000  # texts of a column that are looked at one by one


def find_rows_in_cells(tables: Sequence[PublishedTable]) -> Residue:
    """Look through the different texts of all columns for lists of values."""
    found = Residue()
    if any(has_rows(name) or not name.isprintable() for table in tables for name in table.data.column_names):
        found.problems.append(f"A column has a name that holds rows, or letters that are not printed. {ADVICE}")
    different = {(table.name, name): _texts(values) for table in tables for name, values in table.different.items()}
    known = _Values(tables)
    for (table, name), texts in different.items():
        if texts is None or not len(texts):
            continue
        broken = pc.match_substring_regex(texts, _BREAKS)
        suspects = texts.filter(pc.or_(broken, pc.match_substring_regex(texts, "[,;|\t].*[,;|\t]")))
        form = next(one.form(name) for one in tables if one.name == table)
        listed = [text for text in suspects.slice(0, _MOST).to_pylist() if _is_list(text, form, name, known)]
        if listed:
            found.problems.append(
                f"Column `{name}` of `{table}` has cells that hold lists of values, as rows of a table do "
                f"({len(listed):,} different texts). {ADVICE}"
            )
            continue
        lengths = pc.utf8_length(texts)
        longest, middle = pc.max(lengths).as_py(), pc.quantile(lengths, 0.5)[0].as_py()
        breaks = pc.sum(broken).as_py() or 0
        if breaks or (longest > _LONG and longest > _TIMES * middle):
            found.notes.append(
                f"Column `{name}` of `{table}` has texts of up to {longest:,} characters, {breaks:,} of them with "
                "line breaks. That they are values and nothing else rests on the holder's word."
            )
    return found


def has_rows(text: str) -> bool:
    """Whether a text has several lines that all have as many fields, and more than two.

    >>> has_rows("name,age,zip\\nAda,34,10001"), has_rows("One line, with commas, in it"), has_rows("Two\\nlines")
    (True, False, False)
    """
    lines = [line for line in text.splitlines() if line.strip()]
    for mark in ",;|\t":
        fields = {line.count(mark) + 1 for line in lines}
        if len(lines) > 1 and len(fields) == 1 and min(fields) >= _LEAST_FIELDS:
            return True
    return False


def _is_list(text: str, form: str, name: str, known: _Values) -> bool:
    if has_rows(text):
        return True
    if form != "value":
        return False
    parts = [part.strip(" '\"") for part in _MARKS.split(text)]
    return known.columns_of([part for part in parts if part], name) >= _LEAST_FIELDS


class _Values:
    """The values of all columns of a release, to tell what fits which of them."""

    def __init__(self, tables: Sequence[PublishedTable]) -> None:
        self._tables = tables
        self._texts: dict[str, set[str]] = {}
        self._ranges: dict[str, tuple[float, float]] = {}
        self._is_read = False

    def columns_of(self, parts: Sequence[str], own: str) -> int:
        """How many columns have a value of their own among ``parts``; one may be the column itself."""
        self._read()
        taken: set[str] = set()
        for part in parts:
            column = next((name for name in self._texts if name not in taken and self._fits(part, name)), None)
            taken |= set() if column is None else {column}
        return len(taken) if len(taken - {own}) >= _LEAST_FIELDS - 1 else 0

    def _fits(self, part: str, name: str) -> bool:
        if part in self._texts[name]:
            return True
        number = _number(part)
        low, high = self._ranges.get(name, (1.0, 0.0))
        return number is not None and low <= number <= high

    def _read(self) -> None:
        if self._is_read:
            return
        self._is_read = True
        for name, values in self._all():
            held = self._texts.setdefault(name, set())
            numbers = [number for number in map(_number, values) if number is not None]
            if numbers:
                low, high = self._ranges.get(name, (numbers[0], numbers[0]))
                self._ranges[name] = (min(low, *numbers), max(high, *numbers))
            else:
                held.update(values)

    def _all(self) -> Iterator[tuple[str, list[str]]]:
        for table in self._tables:
            for column in table.columns:
                if column.role == "structure":
                    continue
                cells = table.different[column.name].drop_null().slice(0, _MOST).cast(pa.string()).to_pylist()
                yield column.name, [part for cell in cells for part in _parts(cell)]


def _parts(cell: str) -> Sequence[str]:
    """The ends of an interval, the members of a set, or the cell itself."""
    if cell[:1] == "[" and cell[-1:] == "]":
        return [end.strip('" ') for end in cell[1:-1].split(",")]
    if cell[:1] == "{" and cell[-1:] == "}":
        return [member.strip('" ') for member in cell[1:-1].split(",")]
    return [cell]


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text) else None


def _texts(values: pa.Array) -> pa.Array | None:
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kept = values.drop_null()
    is_text = pa.types.is_string(kept.type) or pa.types.is_large_string(kept.type)
    return kept.cast(pa.large_string()) if is_text else None


def words_with_rows(words: Mapping[str, str]) -> list[str]:
    """The keys of words that hold rows of a table."""
    return [key for key, word in words.items() if has_rows(word)]
