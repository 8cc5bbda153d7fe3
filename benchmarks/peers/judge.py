"""What a published table keeps and what it lost, counted the same plain way for everybody.

The table is read from the file that was written, as text, and counted in dictionaries: nothing here is shared with what
made or verified it. A column ``count`` says how many rows a line stands for.

*k* is the smallest number of rows with the same text in all quasi-identifiers, *l* the smallest number of different
sensitive values among them. *Loss* is the loss of detail (docs/theory/loss.md): of a cell (L - 1) / (N - 1), where L is
how many leaves of the column's hierarchy the cell stands for and N how many there are; 1 in every cell of a row that
was left out; the mean over all cells of all rows of the original. *Invented* are rows with a sensitive value beyond
those that the original has of it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TOKEN = re.compile(r"[\w.]+")
ALL = ("*", "", "None", "nan")


@dataclass(frozen=True)
class Judged:
    """What was found in a published table."""

    rows: int
    k: int
    l: int  # noqa: E741
    loss: float
    invented: int

    def keeps(self, k: int, l: int | None) -> bool:  # noqa: E741
        """Whether k rows are alike, with l values if asked, and no row was invented."""
        return self.rows > 0 and self.invented == 0 and self.k >= k and (l is None or self.l >= l)


class Domain:
    """The leaves of one quasi-identifier, and how many of them a cell stands for."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self.size = len(rows)
        self.below: dict[str, set[str]] = {}
        for leaf, *nodes in rows:
            for label in (leaf, *nodes):
                self.below.setdefault(label, set()).add(leaf)
        self.leaves = {row[0] for row in rows}
        self.numbers = [int(leaf) for leaf in self.leaves] if all(leaf.isdigit() for leaf in self.leaves) else []

    def covered(self, cell: str) -> int:
        """How many leaves a cell stands for: a leaf, a node, all, a range of numbers, or several of the former."""
        if cell in ALL:
            return self.size
        if cell in self.below:
            return len(self.below[cell])
        tokens = TOKEN.findall(cell)
        if self.numbers:
            low, high = float(tokens[0]), float(tokens[-1])
            return sum(low <= number <= high for number in self.numbers)
        return len(set().union(*(self.below[token] for token in tokens)))

    def loss(self, cell: str) -> float:
        return (self.covered(cell) - 1) / (self.size - 1)


def judge(
    published: Iterable[Mapping[str, str]],
    original: Counter[str],
    hierarchies: Mapping[str, Sequence[Sequence[str]]],
    sensitive: str,
) -> Judged:
    """Count a published table; ``original`` has how often each sensitive value stood in the table before."""
    names = list(hierarchies)
    sizes: Counter[tuple[str, ...]] = Counter()
    values: dict[tuple[str, ...], set[str]] = {}
    seen: Counter[str] = Counter()
    for row in published:
        cells, times, value = tuple(row[name] for name in names), int(row.get("count") or 1), row[sensitive]
        sizes[cells] += times
        values.setdefault(cells, set()).add(value)
        seen[value] += times
    before, rows = original.total(), seen.total()
    lost = float(max(before - rows, 0) * len(names))
    for position, name in enumerate(names):
        domain, cells_of = Domain(hierarchies[name]), Counter[str]()
        for cells, times in sizes.items():
            cells_of[cells[position]] += times
        lost += sum(times * domain.loss(cell) for cell, times in cells_of.items())
    return Judged(
        rows,
        min(sizes.values(), default=0),
        min(map(len, values.values()), default=0),
        lost / (max(before, rows) * len(names)),
        (seen - original).total(),
    )


def judge_file(path: Path, table: Path, hierarchies: Mapping[str, Sequence[Sequence[str]]], sensitive: str) -> Judged:
    """The same, from the two files."""
    with table.open(newline="") as original:
        before = Counter(row[sensitive] for row in csv.DictReader(original))
    with path.open(newline="") as published:
        return judge(csv.DictReader(published), before, hierarchies, sensitive)
