"""Tables to try things on: four to eight people whose answers can be worked out, and people who are marked.

Nothing of a marked table could stand anywhere by accident: numbers are of five digits, words begin with a letter and a
q. What is found of them in a public file was leaked. The two marked tables have no value and no count in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from undercover.model.schema import Column, Schema
from undercover.model.table import Table

VALUES = tuple(f"s{number}" for number in range(1, 7))
ILLNESSES = tuple(f"Xqill-{number}{side}" for side in "ab" for number in range(6))
MARKED = Schema(
    quasi_identifiers=["years", "place"],
    sensitive="illness",
    identifiers="hqholder",
    columns={"illness": Column(domain=ILLNESSES)},
)
FILE = "jqvault-73917.csv"


def people(x: Sequence[int], counts: Sequence[int], **more: Sequence[Any]) -> Table:
    """People with the quasi-identifier ``x`` (and more), of whom as many have s1, s2, ... as ``counts`` says.

    >>> people((0, 1, 2, 3), (2, 1, 1))["s"].codes.tolist()
    [0, 0, 1, 2]
    """
    values = [VALUES[place] for place, count in enumerate(counts) for _ in range(count)]
    schema = Schema(quasi_identifiers=["x", *more], sensitive="s", columns={"s": Column(domain=VALUES)})
    return Table.from_arrow(pa.table({"x": list(x), **more, "s": values}), schema)


def visits() -> Table:
    """Sixteen people, half of them with two rows.

    >>> visits()
    <Table of 24 rows: 1 quasi-identifier, 1 sensitive; hand it to a method>
    """
    rows = [*range(16), *range(8)]
    values = [VALUES[place % len(VALUES)] for place in range(len(rows))]
    schema = Schema(quasi_identifiers="x", sensitive="s", unit="who", columns={"s": Column(domain=VALUES)})
    return Table.from_arrow(pa.table({"who": rows, "x": rows, "s": values}), schema)


def tiny() -> tuple[Table, ...]:
    """Four to eight people: with two quasi-identifiers, all different, in pairs, with ties.

    >>> [table.n_rows for table in tiny()]
    [8, 4, 4, 5, 6, 6]
    """
    return (
        people((0, 1, 2, 3, 10, 11, 12, 13), (3, 2, 2, 1), town=list("aabbabab")),
        people((0, 1, 2, 3), (2, 1, 1)),
        people((0, 0, 1, 1), (2, 2)),
        people((0, 0, 1, 2, 5), (2, 2, 1)),
        people((0, 0, 1, 1, 1, 1), (2, 1, 1, 1, 1)),
        people((0, 0, 1, 1, 1, 1), (2, 2, 2)),
    )


def marked(which: str = "first") -> pa.Table:
    """48 or 60 marked people, with names and remarks that are nobody's business.

    >>> set(marked("first")["years"].to_pylist()) & set(marked("second")["years"].to_pylist())
    set()
    """
    n, side, start = (48, "a", 72005) if which == "first" else (60, "b", 72202)
    rows = range(n)
    return pa.table(
        {
            "hqholder": [f"Vqname-{side}{i}" for i in rows],
            "yqremark": [f"Yqnote-{side}{i}" for i in rows],
            "years": [start + (i * 37) % 110 for i in rows],
            "place": [f"Zqmoor-{(i * i + i // 7) % 5}{side}" for i in rows],
            "illness": [f"Xqill-{(i * 5 + i // 6) % 6}{side}" for i in rows],
        }
    )


def crowd(n: int = 1200) -> pa.Table:
    """As many people as it takes to cut a table into parts, with the columns of the marked ones.

    >>> crowd().num_rows
    1200
    """
    rows = range(n)
    return pa.table(
        {
            "hqholder": [f"Vqname-c{i}" for i in rows],
            "years": [73000 + (i * 7919) % 97 for i in rows],
            "place": [f"Zqmoor-{(i * i + i // 7) % 11}c" for i in rows],
            "illness": [ILLNESSES[(i * 5 + i // 6) % 12] for i in rows],
        }
    )


def marked_file(folder: Path) -> Path:
    """The first marked table as a file with a name that must not be told."""
    path = folder / FILE
    pyarrow.csv.write_csv(marked(), path)
    return path


def secrets_of(table: pa.Table, schema: Schema, **more: set[str]) -> dict[str, set[str]]:
    """What must not be found in public files: every value, and the names of columns that are not published.

    >>> sorted(secrets_of(marked(), MARKED, seed={"7"}))
    ['hqholder', 'illness', 'names of columns', 'place', 'seed', 'years', 'yqremark']
    """
    values = {name: set(map(str, table.column(name).to_pylist())) for name in table.column_names}
    return {**values, "names of columns": set(table.column_names) - set(schema.published), **more}
