"""The levels of a column: what each of its values is called on every level, and what a level does to people.

They come from a hierarchy in a file, from a recipe (intervals, prefixes, dates), or are the automatic ones that follow
from the values. The profile keeps the distinct values of a column with its codes, so that a level of the column is
found of its values, and rows follow by their codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.hierarchies.automatic import automatic_levels
from undercover.io.spec.load import resolve, spec_from_mapping
from undercover.model.hierarchy import ROOT, Hierarchy
from undercover.model.kinds.settle import settled
from undercover.model.table import encode
from undercover.web.desks.columns.singled_out import Figures, Part, Rows, counted, words

MOST: Final = 4_000  # values of a column whose levels are shown
MOST_EDITED: Final = 2_000  # values that may be put into groups by hand

Origin = Literal["automatic", "file", "recipe"]


def keep_values(place: Path, values: pa.Array) -> None:
    """Keep the distinct values of a column in the order of its codes, where these are not too many."""
    if len(values) <= MOST and not pa.types.is_nested(values.type):
        with pa.OSFile(str(place), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("values", values.type)])) as file:
            file.write_table(pa.table({"values": values}))


def kept_values(place: Path) -> pa.Array | None:
    """Read them back; ``None`` where they were too many."""
    if not place.is_file():
        return None
    with pa.OSFile(str(place)) as source:
        return pa.ipc.open_file(source).read_all().column("values").combine_chunks()


@dataclass(frozen=True)
class Levels:
    """What the values of a column are called on each level, from themselves to everything."""

    origin: Origin
    kind: str
    rows: tuple[tuple[str, ...], ...]  # one a leaf, in the order of the values; leaves of a file that nobody has, too
    leaves: tuple[int, ...]  # of every value, in the order of its codes, the number of its row; -1 is an empty text

    def labels(self, level: int) -> list[str]:
        """The nodes of a level, in their order."""
        return list(dict.fromkeys(row[level] for row in self.rows))

    @property
    def depth(self) -> int:
        """How many levels there are, values and everything included."""
        return len(self.rows[0])


def levels_of(
    name: str, values: pa.Array, settings: Mapping[str, Any], folder: Path, own: Hierarchy | None = None
) -> Levels:
    """The levels of a column, as a release would have them; ``own`` is a hierarchy that is in no file yet.

    Raises
    ------
    UndercoverError
        Where the settings do not fit the values: a value without a leaf, dates of no known format.
    """
    table = pa.table({name: values})
    spec = spec_from_mapping({"roles": {"quasi_identifiers": [name]}, "columns": {name: settings}}, folder=folder)
    schema = settled(table, resolve(spec, table))
    known = schema.column(name) if own is None else replace(schema.column(name), hierarchy=own)
    column = encode(name, table.column(name), known, missing="category")
    labels = column.domain.labels[: len(column.domain.values)]
    hierarchy = column.settings.hierarchy
    if hierarchy is None:
        between = automatic_levels(column)
        rows = tuple(zip(labels, *between, [ROOT] * len(labels), strict=True))
        found = [int(code) if code < len(labels) else -1 for code in column.codes]
        return Levels("automatic", column.domain.kind, rows, tuple(found))
    leaves = [hierarchy.leaf_index[label] for label in labels]
    order = [*leaves, *sorted(set(range(len(hierarchy.rows))) - set(leaves))]
    place = {leaf: number for number, leaf in enumerate(order)}
    origin: Origin = "recipe" if spec.recipes else "file"
    rows = tuple(hierarchy.rows[leaf] for leaf in order)
    found = [place[leaves[code]] if code < len(leaves) else -1 for code in column.codes]
    return Levels(origin, column.domain.kind, rows, tuple(found))


@dataclass(frozen=True)
class Level:
    """One level as people see it: its labels with their rows, and whom it leaves alone."""

    number: int
    nodes: Sequence[tuple[str, int]]  # with how many rows each; labels that no row has are left out
    empty: int  # rows without a value, which lie under no label
    people: Figures | None  # with the other columns that others may know

    @property
    def largest(self) -> int:
        """Rows of the most frequent label."""
        return max((count for _, count in self.nodes), default=0)


def looked_at(found: Levels, codes: NDArray[Any], missing: bool, others: Sequence[Part], rows: Rows) -> list[Level]:
    """What each level looks like, and whom it singles out together with the other columns, these as they are.

    ``codes`` are of the column; where ``missing``, the last one is a missing value. It stays by itself on every level
    but the last, where everybody is alike.
    """
    leaves = np.array([*found.leaves, *[-1] * missing], dtype=np.int64)
    counts = np.bincount(codes if rows.kept is None else codes[rows.kept], minlength=len(leaves))
    levels, parts = [], []
    for number in range(found.depth):
        place = {label: at for at, label in enumerate(found.labels(number))}
        above = np.array([*(place[row[number]] for row in found.rows), len(place)], dtype=np.int64)
        nodes = above[leaves]
        inside = np.bincount(nodes, weights=counts, minlength=len(place) + 1).astype(np.int64).tolist()
        shown = [(label, count) for label, count in zip(place, inside[:-1], strict=True) if count]
        levels.append((number, shown, inside[-1]))
        last = number == found.depth - 1
        parts.append(Part(words(len(place) + 1)[np.zeros_like(nodes) if last else nodes], codes))
    people = counted(others, parts, rows)
    return [Level(*level, figures) for level, figures in zip(levels, people, strict=True)]
