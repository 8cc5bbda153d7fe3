"""Strict Mondrian in plain Python: the rules of `undercover.steps.cutting` written down once more, slowly.

Works on the values of each row, not on packed codes; shares no code with the package beyond the encoded table it reads
its input from. Faults can be planted with ``fault`` to see that a comparison notices them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from undercover.model.table import Table
from undercover.steps.cutting.checks import Check

TIE = 1e-12

Cell = frozenset[int]
Region = tuple[Cell, ...]


@dataclass
class PlainColumn:
    """One quasi-identifier: the value of each row as a number in cutting order, and what a cell of it loses."""

    kind: str  # range, set, tree
    rows: list[int]  # cutting code of each row
    everything: Cell
    loss: Callable[[Cell], float]  # of a cell given by all the values it stands for
    nodes: list[Cell]  # of a tree, by size: every node as the leaves below it

    def tight(self, values: Cell) -> Cell:
        """The smallest cell that may be published for these values."""
        if self.kind == "range":
            return frozenset(range(min(values), max(values) + 1))
        if self.kind == "tree":
            return next(node for node in self.nodes if values <= node)
        return values


def plain_columns(table: Table, recoding: str) -> list[PlainColumn]:
    return [_plain_column(table, name, recoding) for name in table.schema.quasi_identifiers]


def _plain_column(table: Table, name: str, recoding: str) -> PlainColumn:
    column = table[name]
    codes, weight = column.codes.tolist(), column.settings.weight
    size = column.domain.size
    if column.settings.hierarchy is not None:
        leaves, nodes = _tree(column.settings.hierarchy.rows)
        n_leaves = len(leaves)
        places = [leaves.index(label) for label in column.domain.labels[: len(column.domain.values)]]
        if column.domain.has_missing:
            places.append(n_leaves)
            nodes = [node for node in nodes if len(node) < n_leaves or n_leaves == 1]
            nodes += [frozenset([n_leaves]), frozenset(range(n_leaves + 1))]
        unit = 1 / max(1, n_leaves - 1)
        everything = frozenset(range(n_leaves + column.domain.has_missing))
        nodes = sorted(set(nodes), key=len)
        return PlainColumn(
            "tree",
            [places[code] for code in codes],
            everything,
            lambda cell: weight * min(1.0, (len(cell) - 1) * unit),
            nodes,
        )
    everything = frozenset(range(size))
    if column.domain.kind == "categorical":
        unit = 1 / max(1, size - 1)
        if recoding == "regions":
            frequency = Counter(codes)
            rank = {code: place for place, code in enumerate(sorted(range(size), key=lambda c: (-frequency[c], c)))}
            codes = [rank[code] for code in codes]
        return PlainColumn("set", codes, everything, lambda cell: weight * (len(cell) - 1) * unit, [])
    scale = _scale(column)
    return PlainColumn(
        "range", codes, everything, lambda cell: weight * min(1.0, scale[max(cell)] - scale[min(cell)]), []
    )


def _scale(column) -> list[float]:
    """Where each value lies between the smallest (0) and the largest (1); missing is a whole scale away."""
    values = column.domain.values.to_pylist()
    if column.domain.kind == "date":
        numbers = [(value - values[0]).total_seconds() for value in values]
    elif column.domain.kind == "numeric":
        numbers = [float(value) for value in values]
    else:
        numbers = [float(place) for place in range(len(values))]
    span = (numbers[-1] - numbers[0]) or 1.0
    return [(number - numbers[0]) / span for number in numbers] + [2.0] * column.domain.has_missing


def _tree(rows: Sequence[Sequence[str]]) -> tuple[list[str], list[Cell]]:
    """Leaves in depth-first order (children by first appearance) and every node as a set of their places."""

    def walk(members: list[int], level: int) -> list[int]:
        if level < 0:
            return members
        children: dict[str, list[int]] = {}
        for member in members:
            children.setdefault(rows[member][level], []).append(member)
        # Children by the first appearance of their label in the whole file, which their first member shows.
        return [leaf for child in sorted(children.values(), key=min) for leaf in walk(child, level - 1)]

    order = walk(list(range(len(rows))), len(rows[0]) - 1)
    nodes: dict[tuple[int, str], set[int]] = {}
    for place, member in enumerate(order):
        for level, label in enumerate(rows[member]):
            nodes.setdefault((level, label), set()).add(place)
    return [rows[member][0] for member in order], [frozenset(node) for node in nodes.values()]


@dataclass
class Candidate:
    score: float
    column: int
    parts: list[tuple[list[int], Region]]


class PlainMondrian:
    """The twin of :func:`undercover.steps.cutting.partition.partition`; :meth:`groups` gives the groups and regions."""

    def __init__(
        self,
        table: Table,
        *,
        k: int,
        checks: Sequence[Check] = (),
        cut: str = "loss",
        recoding: str = "boxes",
        fault: str = "",
    ) -> None:
        self.table, self.k, self.checks, self.cut, self.recoding = table, k, checks, cut, recoding
        self.fault = fault
        self.columns = plain_columns(table, recoding)

    def groups(self) -> list[tuple[frozenset[int], Region]]:
        everything = tuple(column.everything for column in self.columns)
        return self._refine(list(range(self.table.n_rows)), everything)

    def _refine(self, rows: list[int], region: Region) -> list[tuple[frozenset[int], Region]]:
        candidates = self._candidates(rows, region) if len(rows) >= 2 * self.k else []
        while candidates:
            best = self._best(candidates, len(rows))
            if self.fault == "no checks" or all(self._holds(part) for part, _ in best.parts):
                return [group for part, inside in best.parts for group in self._refine(part, inside)]
            candidates.remove(best)
        return [(frozenset(rows), region)]

    def _best(self, candidates: list[Candidate], n_rows: int) -> Candidate:
        highest = max(candidate.score for candidate in candidates)
        tied = [candidate for candidate in candidates if candidate.score >= highest - TIE * n_rows]
        if self.fault == "last of ties":
            return tied[-1]
        return min(tied, key=lambda candidate: candidate.column)

    def _candidates(self, rows: list[int], region: Region) -> list[Candidate]:
        found = []
        for j, column in enumerate(self.columns):
            counts = Counter(column.rows[row] for row in rows)
            if len(counts) < 2:
                continue
            if self.recoding == "regions":
                found += self._region_cuts(rows, region, j, counts)
            else:
                found += self._box_cuts(rows, region, j, counts)
        return found

    def _box_cuts(self, rows: list[int], region: Region, j: int, counts: Counter[int]) -> list[Candidate]:
        column = self.columns[j]
        ordered = sorted(counts)
        if column.kind == "set":
            ordered.sort(key=lambda value: (-counts[value], value))
        sides = [frozenset(ordered[: i + 1]) for i in range(len(ordered) - 1)]
        if self.cut == "median":
            side = self._nearest_to_median(sides, counts)
            return [] if side is None else [self._two_parts(rows, region, j, side, self._loss_of_column(rows, j))]
        if column.kind == "tree":
            sides += self._inner_nodes(column, ordered)
        before = self._loss(rows)
        allowed = []
        for side in sides:
            candidate = self._two_parts(rows, region, j, side, 0.0)
            if all(len(part) >= self.k for part, _ in candidate.parts):
                candidate.score = before - sum(self._loss(part) for part, _ in candidate.parts)
                allowed.append(candidate)
        return allowed

    def _inner_nodes(self, column: PlainColumn, ordered: list[int]) -> list[Cell]:
        """Nodes strictly between the first and the last value present, by where they begin and then by size."""
        runs = {node & frozenset(ordered) for node in column.nodes}
        inner = [run for run in runs if run and ordered[0] not in run and ordered[-1] not in run]
        return sorted(inner, key=lambda run: (min(run), len(run)))

    def _nearest_to_median(self, sides: list[Cell], counts: Counter[int]) -> Cell | None:
        total = sum(counts.values())
        best, distance = None, math.inf
        for side in sides:
            left = sum(counts[value] for value in side)
            if min(left, total - left) >= self.k and abs(2 * left - total) < distance:
                best, distance = side, abs(2 * left - total)
        return best

    def _two_parts(self, rows: list[int], region: Region, j: int, side: Cell, score: float) -> Candidate:
        values = self.columns[j].rows
        inside = [row for row in rows if values[row] in side]
        outside = [row for row in rows if values[row] not in side]
        return Candidate(score, j, [(inside, region), (outside, region)])

    def _region_cuts(self, rows: list[int], region: Region, j: int, counts: Counter[int]) -> list[Candidate]:
        column = self.columns[j]
        cell = region[j]
        width = column.loss(cell)
        if column.kind == "tree":
            cells = [node for node in column.nodes if node < cell and not _between(node, cell, column.nodes)]
            return self._scored(rows, region, j, [sorted(cells, key=min)], width)
        ordered = sorted(counts)
        cuts = [[_up_to(cell, at), cell - _up_to(cell, at)] for at in ordered[:-1]]
        if self.cut == "median":
            side = self._nearest_to_median([frozenset(ordered[: i + 1]) for i in range(len(ordered) - 1)], counts)
            cuts = [] if side is None else [[_up_to(cell, max(side)), cell - _up_to(cell, max(side))]]
        return self._scored(rows, region, j, cuts, width)

    def _scored(self, rows: list[int], region: Region, j: int, cuts: list[list[Cell]], width: float) -> list[Candidate]:
        column = self.columns[j]
        found = []
        for cells in cuts:
            parts = []
            for cell in cells:
                part = [row for row in rows if column.rows[row] in cell]
                if part:
                    parts.append((part, (*region[:j], cell, *region[j + 1 :])))
            if any(len(part) < self.k for part, _ in parts):
                continue
            cost = sum(len(part) * column.loss(inside[j]) for part, inside in parts)
            found.append(Candidate(width if self.cut == "median" else len(rows) * width - cost, j, parts))
        return found

    def _loss_of_column(self, rows: list[int], j: int) -> float:
        column = self.columns[j]
        return column.loss(column.tight(frozenset(column.rows[row] for row in rows)))

    def _loss(self, rows: list[int]) -> float:
        return len(rows) * math.fsum(self._loss_of_column(rows, j) for j in range(len(self.columns)))

    def _holds(self, rows: list[int]) -> bool:
        return all(check_holds(self.table, check, rows) for check in self.checks)


def _up_to(cell: Cell, at: int) -> Cell:
    return frozenset(value for value in cell if value <= at)


def _between(node: Cell, cell: Cell, nodes: list[Cell]) -> bool:
    return any(node < other < cell for other in nodes)


def check_holds(table: Table, check: Check, rows: Sequence[int]) -> bool:
    """Whether one predicate holds on a group, from its definition and in exact arithmetic where there is any."""
    column = table[check.column]
    size = column.domain.size
    everywhere, here = Counter(column.codes.tolist()), Counter(column.codes[list(rows)].tolist())
    counts = [here[code] for code in range(size)]
    parents = None
    if check.kind == "hierarchical":
        hierarchy = column.settings.hierarchy
        paths = [hierarchy.rows[hierarchy.leaf_index[label]] for label in column.domain.labels if label]
        if column.domain.has_missing:
            paths.append((None,) * (hierarchy.n_levels - 1) + (hierarchy.rows[0][-1],))
        parents = paths
    return holds_by_definition(
        check.kind, check.limit, check.c, counts, [everywhere[code] for code in range(size)], parents
    )


def holds_by_definition(
    kind: str,
    limit: float,
    c: float,
    counts: Sequence[int],
    table_counts: Sequence[int],
    paths: Sequence[Sequence[str | None]] | None = None,
) -> bool:
    """One predicate on the counts of a group; ``paths`` are the labels of each value from the leaf to the root."""
    size, total = sum(counts), sum(table_counts)
    falling = sorted((count for count in counts if count), reverse=True)
    exact = Fraction(repr(limit))
    if kind == "distinct":
        return len(falling) >= limit
    if kind == "frequency":
        return Fraction(falling[0], size) <= 1 / exact
    if kind == "entropy":
        entropy = -math.fsum(count / size * math.log(count / size) for count in falling)
        return entropy >= math.log(limit) - 1e-12
    if kind == "recursive":
        return falling[0] <= Fraction(repr(c)) * sum(falling[int(limit) - 1 :])
    extra = [Fraction(count, size) - Fraction(other, total) for count, other in zip(counts, table_counts, strict=True)]
    if kind == "equal":
        return sum(map(abs, extra)) / 2 <= exact
    if kind == "ordered":
        return sum(abs(sum(extra[: i + 1])) for i in range(len(extra))) <= exact * (len(extra) - 1)
    assert kind == "hierarchical"
    assert paths is not None
    height = len(paths[0]) - 1
    cost = Fraction(0)
    for level in range(1, height + 1):
        for node in {path[level] for path in paths}:
            below: dict[str | int | None, Fraction] = {}
            for i, path in enumerate(paths):
                if path[level] == node:
                    child = i if level == 1 else path[level - 1]
                    below[child] = below.get(child, Fraction(0)) + extra[i]
            gives = sum(part for part in below.values() if part > 0)
            takes = -sum(part for part in below.values() if part < 0)
            cost += Fraction(level, height) * min(gives, takes)
    return cost <= exact
