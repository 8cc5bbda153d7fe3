"""Full-domain generalisation in plain Python: classes as lists of rows, conditions by their definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from undercover.model.table import Table
from undercover.steps.cutting.checks import Check
from undercover.steps.lattice.cubes import column_levels


def small_ranges(rows: Sequence[str]) -> list[list[str]]:
    """Whole numbers whose span is below ten in twos, fours and eights, as long as a level joins some and not all."""
    numbers = [int(row) for row in rows if row]
    span = max(numbers) - min(numbers)
    assert span < 10
    levels, nodes = [], len(set(numbers))
    for width in (2, 4, 8):
        level = [str(int(row) // width) if row else "" for row in rows]
        count = len({number // width for number in numbers})
        if width <= span and 1 < count < nodes:
            levels.append(level)
            nodes = count
    return levels


class PlainDomain:
    """The label of every row on every level of every column, and what classes and conditions follow from them."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.table = table
        self.names = list(names)
        self.columns = []  # per column, per level: the label of each row
        for name in names:
            column, settings = table[name], table[name].settings
            rows = [column.domain.labels[code] for code in column.codes]
            if settings.hierarchy is None:
                between = small_ranges(rows) if column.domain.kind == "numeric" else []
                self.columns.append([rows, *between, ["*"] * len(rows)])
                continue
            tree = settings.hierarchy
            missing = column.domain.has_missing
            levels = []
            for level in range(tree.n_levels):
                top = level == tree.n_levels - 1
                levels.append(
                    [
                        "*" if top and missing else ("" if missing and label == "" else tree.generalize(label, level))
                        for label in rows
                    ]
                )
            self.columns.append(levels)

    @property
    def heights(self) -> tuple[int, ...]:
        return tuple(len(levels) - 1 for levels in self.columns)

    def classes(self, node: Iterable[tuple[int, int]]) -> list[list[int]]:
        """Rows whose cells in the given columns, on the given levels, are alike."""
        chosen = [self.columns[column][level] for column, level in node]
        found: dict[tuple[str, ...], list[int]] = {}
        for row in range(self.table.n_rows):
            found.setdefault(tuple(labels[row] for labels in chosen), []).append(row)
        return list(found.values())

    def values(self, column: str, rows: Iterable[int]) -> list[int]:
        codes = self.table[column].codes
        return [int(codes[row]) for row in rows]

    def failing(
        self, classes: list[list[int]], k: int, checks: Sequence[Check], published: Sequence[int] | None = None
    ) -> list[list[int]]:
        """The classes that break a condition; ``published`` rows are what t-closeness refers to."""
        everybody = range(self.table.n_rows) if published is None else published
        return [rows for rows in classes if len(rows) < k or not all(self.holds(rows, c, everybody) for c in checks)]

    def suppressed(self, classes: list[list[int]], k: int, checks: Sequence[Check]) -> list[list[int]]:
        """Classes that must go so that what is left holds, t-closeness by the rows that are left."""
        gone: list[list[int]] = []
        left = list(classes)
        while left:
            rows = [row for members in left for row in members]
            bad = self.failing(left, k, checks, rows)
            if not bad:
                break
            gone += bad
            left = [members for members in left if members not in bad]
        return gone

    def holds(self, rows: list[int], check: Check, everybody: Iterable[int]) -> bool:
        counts = Counter(self.values(check.column, rows))
        n = len(rows)
        if check.kind == "distinct":
            return len(counts) >= check.limit
        if check.kind == "frequency":
            return max(counts.values()) * check.limit <= n
        if check.kind == "entropy":
            entropy = -sum(c / n * math.log(c / n) for c in counts.values())
            return entropy >= math.log(check.limit) - 1e-9
        if check.kind == "recursive":
            ranked = sorted(counts.values(), reverse=True)
            return ranked[0] <= check.c * sum(ranked[int(check.limit) - 1 :]) + 1e-9
        whole = Counter(self.values(check.column, everybody))
        total = sum(whole.values())
        size = self.table[check.column].domain.size
        extra = [counts[v] / n - whole[v] / total for v in range(size)]
        if check.kind == "equal":
            return sum(abs(x) for x in extra) / 2 <= check.limit + 1e-9
        assert check.kind == "ordered"
        running, distance = 0.0, 0.0
        for x in extra:
            running += x
            distance += abs(running)
        return size == 1 or distance / (size - 1) <= check.limit + 1e-9

    def loss(self, node: Sequence[int], gone: list[list[int]]) -> float:
        """ARX's geometric loss: per column the mean over all rows, a suppressed row losing everything."""
        hidden = {row for members in gone for row in members}
        logs = 0.0
        for name, level in zip(self.names, node, strict=True):
            on = column_levels(self.table[name]).levels[level]
            codes = self.table[name].codes
            lost = [1.0 if row in hidden else on.loss[on.node_of[codes[row]]] for row in range(self.table.n_rows)]
            logs += math.log1p(sum(lost) / len(lost))
        return math.expm1(logs / len(self.names))

    def discernibility(self, classes: list[list[int]], gone: list[list[int]]) -> int:
        kept = sum(len(rows) ** 2 for rows in classes if rows not in gone)
        return kept + sum(len(rows) for rows in gone) * self.table.n_rows
