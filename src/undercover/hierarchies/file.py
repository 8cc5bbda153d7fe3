"""Hierarchies in files: CSV with a header ``level0,level1,…``, one row per leaf."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from undercover.errors import HierarchyError, listed, unreadable
from undercover.model.hierarchy import Hierarchy
from undercover.whole import write_whole

SEPARATORS = (",", ";", "\t")


def read_hierarchy(path: str | os.PathLike[str], *, encoding: str | None = None) -> Hierarchy:
    """Read and check a hierarchy; every problem is named with its file and line.

    Without an ``encoding`` it is UTF-8 where the file is UTF-8, and Windows-1252 otherwise.
    """
    text = _decoded(path, encoding)
    separator = _separator(text)
    records = _records(path, text)
    if not records:
        raise HierarchyError(f"`{path}` is empty. A hierarchy needs a header level0, level1, … and a row per leaf.")
    header = records[0][1]
    expected = tuple(f"level{number}" for number in range(len(header)))
    if header != expected:
        raise HierarchyError(
            f"`{path}`, line 1: the header must be {separator.join(expected)!r}. Found {len(header)} other names."
        )
    if len(records) == 1:
        raise HierarchyError(f"`{path}` has a header and nothing else. Add a row per leaf.")
    problems = _problems(str(path), records[1:], len(header))
    if problems:
        raise HierarchyError(problems)
    try:
        return Hierarchy(row for _, row in records[1:])
    except HierarchyError as error:
        raise HierarchyError([f"`{path}`: {problem}" for problem in error.problems]) from error


def leaf_labels(path: str | os.PathLike[str]) -> list[str]:
    """The first label of every row of a file that need not be a hierarchy; none where it cannot be read at all."""
    try:
        records = _records(path, _decoded(path, None))
    except HierarchyError:
        return []
    return [row[0] for _, row in records[1:]]


def write_hierarchy(hierarchy: Hierarchy, path: str | os.PathLike[str]) -> None:
    """Write a hierarchy as :func:`read_hierarchy` reads it."""
    write_whole(path, hierarchy_text(hierarchy))


def hierarchy_text(hierarchy: Hierarchy) -> str:
    """What such a file contains."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([f"level{number}" for number in range(hierarchy.n_levels)])
    writer.writerows(hierarchy.rows)
    return stream.getvalue()


def _decoded(path: str | os.PathLike[str], encoding: str | None) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise HierarchyError(unreadable(f"The hierarchy `{path}`", error)) from error
    except ValueError as error:  # a character that no file has in its name
        raise HierarchyError(f"{os.fspath(path)!a} is no name of a hierarchy's file.") from error
    for name in (encoding,) if encoding else ("utf-8-sig", "cp1252", "latin-1"):
        try:
            return content.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    raise HierarchyError(f"`{path}` is not in the encoding {encoding!r}. Name another, or none to have it found.")


def _separator(text: str) -> str:
    header_line = text.partition("\n")[0].rstrip("\r")
    return next((mark for mark in SEPARATORS if mark in header_line), ",")


def _records(path: str | os.PathLike[str], text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Every row that is not blank, with its line."""
    try:
        return [(line, tuple(record)) for line, record in strict_records(text, _separator(text))]
    except csv.Error as error:
        raise HierarchyError(f"`{path}`, {error}") from error


def strict_records(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """Every row of a small CSV text that is not blank, with the line it ends on; marks that swallow rows are refused.

    >>> strict_records('a,"b\\nc,d', ",")
    Traceback (most recent call last):
    _csv.Error: line 1: a quotation mark is not closed, or text follows one that closes a cell. Mend it; ...
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    found: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        for record in reader:
            found += [(reader.line_num, record)] if record else []
            begins = reader.line_num + 1
    except csv.Error as error:
        if "field larger" in str(error):
            raise csv.Error(f"line {begins}: {error}.") from error
        raise csv.Error(
            f"line {begins}: a quotation mark is not closed, or text follows one that closes a cell. Mend it; a mark "
            'that belongs to a text is written twice ("") in a cell between marks.'
        ) from error
    return found


def _problems(path: str, records: Sequence[tuple[int, tuple[str, ...]]], depth: int) -> list[str]:
    """What is wrong, line by line: ragged rows, blank labels, leaves named twice, labels under two parents."""
    problems = []
    leaves: dict[str, int] = {}
    parents: list[dict[str, tuple[str, int]]] = [{} for _ in range(depth)]
    for line, row in records:
        if len(row) != depth:
            problems.append(f"`{path}`, line {line}: {len(row)} labels where the header has {depth} levels.")
            continue
        blank = [f"level{level}" for level, label in enumerate(row) if not label.strip()]
        if blank:
            problems.append(f"`{path}`, line {line}: no label on {listed(blank)}.")
        first = leaves.setdefault(row[0], line)
        if first != line:
            problems.append(f"`{path}`, line {line}: its leaf is already on line {first}.")
            continue
        for level in range(1, depth):
            parent, seen = parents[level].setdefault(row[level - 1], (row[level], line))
            if parent != row[level]:
                problems.append(
                    f"`{path}`, line {line}: level {level} is not a function of level {level - 1}: "
                    f"what is on level {level - 1} here lies under another label on line {seen}."
                )
    return problems
