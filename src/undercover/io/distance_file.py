"""Distances in files: CSV whose header names the values, with a row of numbers for each of them in the same order.

What spreadsheets and data frames write is read as well: a header that begins with an empty cell, and rows that begin
with their value, in any order.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

from undercover.errors import SchemaError, shape_of, unreadable
from undercover.hierarchies.file import SEPARATORS, strict_records
from undercover.model.distance.declared import Distances


def read_distances(path: str | os.PathLike[str]) -> Distances:
    """Read and check distances; every problem is named with its file and, where it has one, its line."""
    records, separator = _records(path)
    if not records:
        raise SchemaError(f"`{path}` is empty. Distances need a header with the values, and a row of numbers for each.")
    header, lines = records[0][1], records[1:]
    named = header[0].strip() == ""
    values = header[1:] if named else header
    problems = [
        f"`{path}`, line {line}: {len(row)} cells where the header has {len(header)}."
        for line, row in lines
        if len(row) != len(header)
    ]
    if len(lines) != len(values):
        hint = ""
        if not named and len(lines) == len(values) - 1 and not any(_is_number(row[0]) for _, row in lines):
            hint = " Where rows begin with their value, the header begins with an empty cell."
        problems.append(f"`{path}`: {len(lines)} rows for the {len(values)} values of the header.{hint}")
    if problems:
        raise SchemaError(problems)
    if named:
        lines = _in_order(str(path), values, lines)
    rows = []
    for line, row in lines:
        rows.append([_number(entry, separator) for entry in row])
        problems += [
            f"`{path}`, line {line}: {shape_of(text)} under `{value}` is not a number."
            for value, text, entry in zip(values, row, rows[-1], strict=True)
            if entry is None
        ]
    if problems:
        raise SchemaError(problems)
    try:
        return Distances(values, rows)
    except SchemaError as error:
        raise SchemaError([f"`{path}`: {problem}" for problem in error.problems]) from error


def distances_text(distances: Distances) -> str:
    """What such a file contains.

    >>> print(distances_text(Distances(["a", "b"], [[0, 0.5], [0.5, 0]])), end="")
    a,b
    0.0,0.5
    0.5,0.0
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(distances.values)
    writer.writerows([repr(entry) for entry in row] for row in distances.rows)
    return stream.getvalue()


def _records(path: str | os.PathLike[str]) -> tuple[list[tuple[int, list[str]]], str]:
    """Every row that is not blank with its line, and what parts the cells."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise SchemaError(unreadable(f"The distances `{path}`", error)) from error
    except ValueError as error:  # a character that no file has in its name
        raise SchemaError(f"{os.fspath(path)!a} is no name of a file of distances.") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    first = text.partition("\n")[0]
    separator = next((mark for mark in reversed(SEPARATORS) if mark in first), ",")
    try:
        return strict_records(text, separator), separator
    except csv.Error as error:
        raise SchemaError(f"`{path}`, {error}") from error


def _in_order(path: str, values: list[str], lines: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Rows that begin with their value, in the order of the header and without it."""
    by_value: dict[str, tuple[int, list[str]]] = {}
    problems = []
    for line, (value, *entries) in lines:
        if value not in values:
            problems.append(f"`{path}`, line {line}: the row is that of `{value}`, which is not in the header.")
        elif by_value.setdefault(value, (line, entries))[0] != line:
            problems.append(f"`{path}`, line {line}: `{value}` already has the row on line {by_value[value][0]}.")
    if problems:
        raise SchemaError(problems)
    return [by_value[value] for value in values]


def _number(text: str, separator: str) -> Any:
    """A number, with a decimal comma where commas do not part the cells; ``None`` where it is none."""
    plain = text.strip().replace(",", ".") if separator != "," else text.strip()
    try:
        return float(plain)
    except ValueError:
        return None


def _is_number(text: str) -> bool:
    return _number(text, ";") is not None
