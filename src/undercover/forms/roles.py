"""Whether what a release says of its columns can be: known roles, structure where the form has it, cells that fit.

A manifest is read by people who did not write it. Whatever it says of a column steers the verification: a column that
is no quasi-identifier makes no class, a column that is sensitive is counted for diversity. So the roles are a closed
list, and a role that the cells contradict is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.arrays import numbered
from undercover.errors import listed, unknown
from undercover.forms.classes import Classes
from undercover.forms.reading import Reading
from undercover.forms.written import labels_of
from undercover.model.release import PublishedTable, Release
from undercover.model.schema import INSENSITIVE
from undercover.model.spellings import find_near, list_spellings

ROLES = ("quasi-identifier", "sensitive", "insensitive", "structure")
"""Of published columns."""

_ENOUGH_ROWS = 20  # numbers that follow one another in fewer rows may be values
_MANY_ROWS = 100  # and whole numbers that are all different, though there are few to choose from
_ONE_NUMBER = re.compile(r"(\D*)(\d{1,15})(\D*)")
_COARSE = r"(?s)^(\[.*, .*\]|\{.*, .*\})$"
_SHOWN = 6


def misfits(release: Release) -> list[str]:
    """What a release says of its tables and columns that cannot be, one sentence each."""
    found = list(release.form.problems(release.tables))
    names = [table.name for table in release.tables]
    found += [f"Table `{name}` is there twice." for name in dict.fromkeys(names) if names.count(name) > 1]
    if release.suppressed_rows < 0:
        found.append(f"{release.suppressed_rows} suppressed rows are said: a number of rows cannot be below 0.")
    roles: dict[str, str] = {}
    for table in release.tables:
        found += _of_columns(release, table)
        for column in table.columns:
            if roles.setdefault(column.name, column.role) != column.role:
                found.append(f"Column `{column.name}` has the role {roles[column.name]} and the role {column.role}.")
    return found


def _of_columns(release: Release, table: PublishedTable) -> Iterator[str]:
    structure, names = release.form.structure(table.name), [column.name for column in table.columns]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"Table `{table.name}` has the column `{name}` twice."
    for column in table.columns:
        called = f"Column `{column.name}` of table `{table.name}`"
        if column.role == "identifier":
            yield f"{called} is an identifier: identifiers are never published."
        elif column.role not in ROLES:
            yield f"{called}: {unknown('Role', column.role, ROLES)}"
        elif (column.role == "structure") != (column.name in structure):
            has = listed(structure) if structure else "no such column"
            yield (
                f"{called} has the role {column.role}. In this table the form `{release.form.name}` has {has} to hold "
                "tables together."
            )
        elif column.role == "insensitive" and column.form != "value":
            yield f"{called} is insensitive, so it is published unchanged; its cells are written as {column.form}."


def strange_cells(reading: Reading) -> list[str]:
    """Cells that contradict the role of their column, or the form."""
    found = [
        f"Column `{name}` is sensitive and numbers the rows: a number of a row is no value, and "
        "any number of them are different."
        for table in reading.release.tables
        for name in table.names("sensitive")
        if _numbers_rows(reading, table, name)
    ]
    alike = reading.classes
    if not reading.one_each and len(alike.labels) != alike.count:
        found.append("Some cell is published more than once; every row stands for a cell of its own.")
    return found


def spellings(classes: Classes) -> tuple[str, ...]:
    """Sensitive values that are spelled in several ways, and columns of which the holder says that they are not."""
    counted_as_one = [
        f"Column `{name}` spells one value in {len(same)} ways, {_ascii(same)}. They are counted as one."
        for name, labels, distinct in _sensitive(classes)
        for same in list_spellings(labels, distinct=distinct)
    ]
    declared = [
        f"That spellings of `{name}` which differ in case, punctuation or letters that look alike are different values "
        "is what the holder says. They are counted so."
        for name, labels, distinct in _sensitive(classes)
        if distinct and list_spellings(labels)
    ]
    return (*counted_as_one, *declared)


def resembling(classes: Classes) -> tuple[str, ...]:
    """Sensitive values that are nearly spelled like others."""
    return tuple(
        f"Column `{name}` has values that are nearly spelled alike, such as {_ascii(near[0])} "
        f"({len(near):,} {'pair' if len(near) == 1 else 'pairs'}). They are counted as different values."
        for name, labels, distinct in _sensitive(classes)
        if not distinct and (near := find_near(labels))
    )


def remarks(reading: Reading) -> list[str]:
    """What a reader should know of the columns though nothing is wrong with them."""
    found = list(resembling(reading.classes))
    if not reading.one_each:
        found.append(
            "How many people a row stands for is what the holder says; published tables cannot count them again."
        )
    unchanged = dict.fromkeys(name for table in reading.release.tables for name in table.names("insensitive"))
    if reading.permuted:
        dealt = "" if reading.among is None else f", and sensitive values dealt among at least {reading.among} people"
        found.append(f"That columns were permuted{dealt}, is what the holder says; published tables cannot show it.")
    elif unchanged:
        found.append(f"{INSENSITIVE.capitalize()}: {listed(unchanged)}.")
    found += [
        f"Every row has another value of `{name}`. If these are numbers of rows and no values, what is promised of "
        "them says nothing."
        for table in reading.release.tables
        for name in table.names("sensitive")
        if _all_different(reading, table, name) and not _numbers_rows(reading, table, name)
    ]
    return found + [
        f"Column `{name}` is said to be published unchanged; most of its cells are ranges or sets, as "
        "quasi-identifiers are published."
        for table in reading.release.tables
        for name in table.names("insensitive")
        if not reading.permuted and _is_coarse(reading.cells(table, name).values)
    ]


def _sensitive(classes: Classes) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """The sensitive columns of text with their distinct values, and whether the holder calls spellings distinct."""
    for name, column in classes.sensitive.items():
        if pa.types.is_string(column.values.type) or pa.types.is_large_string(column.values.type):
            yield name, labels_of(column.values), column.is_distinct


def _is_coarse(values: pa.Array) -> bool:
    """Whether most cells look as if they were generalised."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return False
    coarse = pc.sum(pc.match_substring_regex(values, _COARSE)).as_py() or 0
    return bool(2 * coarse > len(values))


def _numbers_rows(reading: Reading, table: PublishedTable, name: str) -> bool:
    """Whether a column has numbers in equal steps, each once, alone or within a text that stays the same.

    Of many rows also whole numbers that are all different and fill half of their range: numbers of rows with gaps.
    """
    column = table.data.column(name)
    if column.null_count or not _all_different(reading, table, name):
        return False
    numbers = _whole_numbers(column)
    if numbers is None:
        return False
    steps = np.diff(np.sort(numbers))
    dense = table.rows >= _MANY_ROWS and steps.sum() < 2 * table.rows
    return bool(steps.min() > 0 and (steps.min() == steps.max() or dense))


def _whole_numbers(column: pa.ChunkedArray) -> NDArray[np.float64] | None:
    """The whole numbers of a column, or those that stand in its texts at one place; ``None`` where it has others."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        found = np.asarray(column.to_numpy(), dtype=np.float64)
        return found if (found == np.floor(found)).all() else None
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    parts: list[re.Match[str] | None] = []
    for some in (column.slice(0, _MANY_ROWS), column):  # few of them tell of most columns that they are others
        parts = [_ONE_NUMBER.fullmatch(text) for text in some.to_pylist()]
        if not all(parts) or len({(part[1], part[3]) for part in parts if part}) > 1:
            return None
    return np.array([float(part[2]) for part in parts if part])


def _all_different(reading: Reading, table: PublishedTable, name: str) -> bool:
    cells = reading.cells(table, name)
    enough = table.rows >= _ENOUGH_ROWS and len(cells.values) >= table.rows
    return enough and len(numbered(cells.codes)[1]) == table.rows


def _ascii(texts: tuple[str, ...]) -> str:
    shown = ", ".join(ascii(text) for text in texts[:_SHOWN])
    return f"{shown} and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else shown
