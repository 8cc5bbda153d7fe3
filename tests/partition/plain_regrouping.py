"""Moving rows between groups in plain Python: the search of `undercover.steps.cutting.regrouping_kernels` written
down once more.

Every group is looked at every time, and every loss is counted from the rows. A fault can be planted with ``fault``.
"""

from __future__ import annotations

from collections.abc import Sequence

from plain_mondrian import check_holds, plain_columns

from undercover.model.table import Table
from undercover.steps.cutting.checks import Check

SAVING = 1.0 - 1e-9
Tuples = list[list[int]]  # of one group: each the rows that share their quasi-identifiers


class PlainRegrouping:
    """The twin of :func:`undercover.steps.cutting.regrouping.regrouped` within one neighbourhood."""

    def __init__(self, table: Table, *, k: int, checks: Sequence[Check] = (), rounds: int = 3, fault: str = "") -> None:
        self.table, self.k, self.checks, self.rounds, self.fault = table, k, checks, rounds, fault
        self.columns = plain_columns(table, "boxes")

    def groups(self, groups: Sequence[Sequence[int]]) -> list[frozenset[int]]:
        """What becomes of groups of rows, given in the order of cutting."""
        parts = [self._tuples(rows) for rows in groups]
        stuck: set[int] = set()  # groups that could not be dissolved and have not changed since
        everybody = [one for part in parts for one in part]
        for _ in range(self.rounds):
            if self._move(everybody, parts, stuck) + self._dissolve(parts, stuck) == 0:
                break
        return [frozenset(_rows(part)) for part in parts if part]

    def _tuples(self, rows: Sequence[int]) -> Tuples:
        values: dict[tuple[int, ...], list[int]] = {}
        for row in rows:
            values.setdefault(tuple(column.rows[row] for column in self.columns), []).append(row)
        return [values[value] for value in sorted(values)]

    def _move(self, everybody: Tuples, parts: list[Tuples], stuck: set[int]) -> int:
        moves = 0
        for one in everybody:
            a = next(g for g, part in enumerate(parts) if any(one is other for other in part))
            rest = [other for other in parts[a] if other is not one]
            if len(_rows(rest)) < self.k or self._loss(parts[a]) == 0 or not self._holds(rest):
                continue
            saved = len(_rows(parts[a])) * self._loss(parts[a]) - len(_rows(rest)) * self._loss(rest)
            b, _ = self._cheapest(one, parts, a, saved * SAVING)
            if b is not None:
                parts[a], parts[b] = rest, [one, *parts[b]]
                stuck -= {a, b}
                moves += 1
        return moves

    def _dissolve(self, parts: list[Tuples], stuck: set[int]) -> int:
        dissolved = 0
        losses = [self._loss(part) for part in parts]
        for a in sorted(range(len(parts)), key=lambda g: -losses[g]):
            size = len(_rows(parts[a]))
            if not 0 < size < 3 * self.k or a in stuck or self._loss(parts[a]) == 0:
                continue
            left = size * self._loss(parts[a]) * SAVING
            before, touched = list(parts), set()
            for one in before[a]:
                b, cost = self._cheapest(one, parts, a, left)
                if b is None:
                    parts[:] = before
                    stuck.add(a)
                    break
                left -= cost
                parts[b] = [one, *parts[b]]
                touched.add(b)
            else:
                parts[a] = []
                stuck -= touched
                dissolved += 1
        return dissolved

    def _cheapest(self, one: list[int], parts: list[Tuples], own: int, allowed: float) -> tuple[int | None, float]:
        best, cost = None, 0.0
        for g, part in enumerate(parts):
            if g == own or not part:
                continue
            size = len(_rows(part))
            added = (size + len(one)) * self._loss([one, *part]) - size * self._loss(part)
            if added < allowed and (self.fault == "no checks" or self._holds([one, *part])):
                best, cost, allowed = g, added, added * SAVING
                if self.fault == "first that saves":
                    break
        return best, cost

    def _loss(self, part: Tuples) -> float:
        """Of one row."""
        rows = _rows(part)
        tight = [column.tight(frozenset(column.rows[row] for row in rows)) for column in self.columns] if rows else []
        return sum([column.loss(cell) for column, cell in zip(self.columns, tight, strict=False)], 0.0)

    def _holds(self, part: Tuples) -> bool:
        return all(check_holds(self.table, check, _rows(part)) for check in self.checks)


def _rows(part: Tuples) -> list[int]:
    return [row for one in part for row in one]
