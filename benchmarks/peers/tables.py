"""The tables everybody is given: the built-in census as CSV, with hierarchies, under names that nobody can misread.

Packages join the values of a cell by commas or by hyphens, and labels of the census have both; so a category is called
``education_0_3`` here, the third leaf, and a node above it ``education_1_0``. Numbers stay numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import undercover as uc

NUMBERS = ("age", "hours")
SENSITIVE = "income"
QUASI_IDENTIFIERS: tuple[str, ...] = uc.datasets.census_schema().quasi_identifiers
Rows = list[tuple[str, ...]]


def hierarchies() -> dict[str, Rows]:
    """A row per leaf, from the leaf to the root, of every quasi-identifier."""
    trees = uc.datasets.census_hierarchies()
    found: dict[str, Rows] = {}
    for name in QUASI_IDENTIFIERS:
        rows = trees[name].rows
        if name in NUMBERS:
            found[name] = list(rows)
            continue
        levels = [list(dict.fromkeys(level)) for level in list(zip(*rows, strict=True))[:-1]]
        found[name] = [
            (*(f"{name}_{i}_{levels[i].index(label)}" for i, label in enumerate(row[:-1])), "*") for row in rows
        ]
    return found


def census(rows: int) -> pa.Table:
    """The quasi-identifiers and the income of so many people."""
    people = uc.datasets.census(rows, seed=1)
    trees, renamed = uc.datasets.census_hierarchies(), hierarchies()
    columns: dict[str, Any] = {}
    for name in (*QUASI_IDENTIFIERS, SENSITIVE):
        column = people.column(name)
        if name in renamed and name not in NUMBERS:
            position = pc.index_in(column.cast(pa.string()), pa.array(trees[name].leaves))
            column = pa.array([row[0] for row in renamed[name]]).take(position.combine_chunks())
        columns[name] = column
    return pa.table(columns)


def write(rows: int, path: Path) -> None:
    pyarrow.csv.write_csv(census(rows), path)
