"""Cross-bucket generalization in plain Python: the twins of its kernels, slow and easy to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from undercover.model.table import Table
from undercover.steps.cutting.columns import CutColumn, cut_columns

LEAF, MANY, FEW, TIE = 16, 32, 64, 1e-12


def plain_plan(counts: Sequence[int], k: int, l: int) -> list[tuple[tuple[int, ...], int]]:  # noqa: E741
    """Sets of values and how often each is taken."""
    left, rows = Counter(dict(enumerate(counts))), sum(counts)
    rounded = -(-l // k) * k
    m = rounded if max(counts) * rounded <= rows else max(k, l)
    plan = []
    while rows:
        ranked = sorted(+left, key=lambda value: (-left[value], value))
        n = [left[value] for value in ranked]

        def often(b: int, n: list[int] = n, rows: int = rows) -> int:
            bounds = [n[b - 1]]
            if b > m:
                bounds.append((rows - m * n[0]) // (b - m))
            if b < len(n):
                bounds.append((rows - m * n[b]) // b)
            return min(bounds)

        sizes = [b for b in range(m, min(len(n), 2 * m - 1) + 1) if b % k == 0 and often(b) >= 1]
        size = sizes[0] if sizes else max(m, n.count(rows // m))
        times = often(size)
        plan.append((tuple(ranked[:size]), times))
        left.subtract(dict.fromkeys(ranked[:size], times))
        rows -= size * times
    return plan


class PlainColumns:
    """The loss of cells, read from the schema instead of the kernels' arrays."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns: list[CutColumn] = cut_columns(table, "regions")
        self.codes = np.stack([column.recode[table[column.name].codes] for column in self.columns], axis=1)

    def loss(self, j: int, codes: Sequence[int]) -> float:
        """What a cell of column j around some codes loses, weighted."""
        column, low, high = self.columns[j], min(codes), max(codes)
        encoded = self.table[column.name]
        if low == high:
            return 0.0
        if column.kind == "range":
            lost = float(encoded.domain.positions[high] - encoded.domain.positions[low])
        elif column.kind == "set":
            lost = (len(set(codes)) - 1) / max(1, column.leaves - 1)
        else:
            hierarchy = encoded.settings.hierarchy
            assert hierarchy is not None
            if high == len(hierarchy.rows):  # missing
                lost = 1.0
            else:
                paths = [hierarchy.rows[hierarchy.tree.leaf_order[leaf]] for leaf in (low, high)]
                above = next(level for level in range(len(paths[0])) if paths[0][level:] == paths[1][level:])
                below = [row for row in hierarchy.rows if row[above:] == paths[0][above:]]
                lost = (len(below) - 1) / max(1, column.leaves - 1)
        return encoded.settings.weight * min(1.0, lost)

    def box(self, rows: Sequence[int]) -> float:
        """What a box around some rows loses."""
        return sum(self.loss(j, self.codes[list(rows), j].tolist()) for j in range(len(self.columns)))


class PlainTree:
    """A kd-tree as nested tuples (rows, left, right, column, cut)."""

    def __init__(self, columns: PlainColumns, values: np.ndarray, rows: Sequence[int]) -> None:
        self.columns, self.values = columns, values
        self.root = self._node(list(rows))
        self.order: list[int] = self._leaves(self.root)

    def _node(self, rows: list[int]) -> tuple:
        codes = self.columns.codes
        if len(rows) > LEAF:
            losses = [
                (self.columns.loss(j, codes[rows, j].tolist()), -j)
                for j in range(codes.shape[1])
                if len(set(codes[rows, j].tolist())) > 1
            ]
            if losses:
                widest = max(losses)[0]
                j = min(-j for loss, j in losses if loss >= widest - TIE)
                ordered = sorted(codes[rows, j].tolist())
                cut = ordered[(len(rows) - 1) // 2]
                if cut == ordered[-1]:
                    cut = max(code for code in ordered if code < cut)
                left = [row for row in rows if codes[row, j] <= cut]
                right = [row for row in rows if codes[row, j] > cut]
                return rows, self._node(left), self._node(right), j, cut
        rows = sorted(rows, key=lambda row: (codes[row].tolist(), int(self.values[row])))
        return rows, None, None, -1, -1

    def _leaves(self, node: tuple) -> list[int]:
        return node[0] if node[1] is None else self._leaves(node[1]) + self._leaves(node[2])


def plain_picks(
    columns: PlainColumns, values: np.ndarray, rows: Sequence[int], plan: list[tuple[tuple[int, ...], int]]
) -> list[list[int]]:
    """Which rows are taken together, in the order of the plan and of the values of each set."""
    tree = PlainTree(columns, values, rows)
    place = {row: i for i, row in enumerate(tree.order)}
    live = set(rows)
    picks = []
    for wanted, times in plan:
        for _ in range(times):
            node = tree.root
            while node[1] is not None:
                fitting = [
                    child for child in node[1:3] if set(wanted) <= {int(values[row]) for row in child[0] if row in live}
                ]
                if not fitting:
                    break
                node = fitting[0]
            inside = {value: [row for row in node[0] if row in live and values[row] == value] for value in wanted}
            rarest = min(reversed(wanted), key=lambda value: len(inside[value]))
            seed = min(inside[rarest], key=place.__getitem__)
            picked = []
            for value in wanted:
                near = sorted(inside[value], key=lambda row: (abs(place[row] - place[seed]), place[row] < place[seed]))
                picked.append(seed if value == rarest else _nearest(columns, seed, near[:MANY]))
            live -= set(picked)
            picks.append(picked)
    return picks


def _nearest(columns: PlainColumns, seed: int, rows: list[int]) -> int:
    """The first row that is nearer than those before it by more than rounding."""
    best, least = rows[0], columns.box([seed, rows[0]])
    for row in rows[1:]:
        apart = columns.box([seed, row])
        if apart < least - TIE:
            best, least = row, apart
    return best


def plain_division(columns: PlainColumns, rows: list[int], k: int) -> list[list[int]]:
    """Groups of at least k rows, larger ones first, each part ordered by one column and cut between two groups."""
    groups = max(1, len(rows) // k)
    size, larger = divmod(len(rows), groups)
    return _divided(columns, rows, [size + 1] * larger + [size] * (groups - larger))


def _divided(columns: PlainColumns, rows: list[int], sizes: list[int]) -> list[list[int]]:
    if len(sizes) == 1:
        return [rows]
    middle = len(sizes) // 2
    cut = sum(sizes[:middle])
    best: tuple[float, list[int]] | None = None
    for j in range(columns.codes.shape[1]):
        if len(set(columns.codes[rows, j].tolist())) == 1:
            continue
        if len(rows) <= FEW:
            rows = sorted(rows, key=lambda row: columns.codes[row, j])
            loss = cut * columns.box(rows[:cut]) + (len(rows) - cut) * columns.box(rows[cut:])
            ordered = rows
        else:
            loss = -columns.loss(j, columns.codes[rows, j].tolist())
            ordered = sorted(rows, key=lambda row: columns.codes[row, j])
        if best is None or loss < best[0] - TIE * len(rows):
            best = (loss, ordered)
    if best is None:
        ends = np.cumsum([0, *sizes])
        return [rows[low:high] for low, high in pairwise(ends)]
    return _divided(columns, best[1][:cut], sizes[:middle]) + _divided(columns, best[1][cut:], sizes[middle:])
