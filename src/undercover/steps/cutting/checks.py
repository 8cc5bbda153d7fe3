"""What every group must satisfy while a table is being cut, beyond its size.

And l-diversity and t-closeness as the methods ask for them that take l and t beside k (Mondrian, Incognito): what is
promised, and what is checked while rows are grouped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.errors import ParameterError, UnreachableError
from undercover.exact import exact
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness
from undercover.model.protocols import Guarantee
from undercover.model.table import EncodedColumn, Table, write_values
from undercover.steps.cutting.arrays import Checks
from undercover.wording import option

CheckKind = Literal["distinct", "frequency", "entropy", "recursive", "equal", "ordered", "hierarchical"]

_KINDS: tuple[CheckKind, ...] = get_args(CheckKind)  # in the order of the kernel's numbers
_NO_LEVELS: NDArray[np.int64] = np.zeros((0, 1), dtype=np.int64)
Diversity = Literal["frequency", "distinct", "entropy", "recursive"]
Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One predicate on one sensitive column: l-diversity in one of its forms, or t-closeness by one distance."""

    column: str
    kind: CheckKind
    limit: float
    c: float = 0.0
    whole: bool = False  # whether l is a whole number for whoever asks


def kernel_checks(
    table: Table, checks: Sequence[Check], counts: Mapping[str, NDArray[np.int64]] | None = None
) -> Checks:
    """Checks as the kernels take them; with ``counts`` of every value no row is asked."""
    told = counts if table.part is None else table.part.counts
    names = list(dict.fromkeys(check.column for check in checks))
    sizes = [table[name].domain.size for name in names]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    sensitive = np.zeros((table.n_rows if names and counts is None else 0, len(names)), dtype=np.uint32)
    reference = np.zeros(starts[-1])
    for c, name in enumerate(names):
        if counts is None:
            sensitive[:, c] = table[name].codes
        whole = count(table[name].codes, sizes[c]) if told is None else told[name]
        reference[starts[c] : starts[c + 1]] = whole / whole.sum()
    levels = [_parents(table[check.column]) if check.kind == "hierarchical" else _NO_LEVELS for check in checks]
    width = max([1, *(level.shape[1] for level in levels)])
    level_codes = np.zeros((sum(len(level) for level in levels), width), dtype=np.int64)
    level_starts = np.concatenate([[0], np.cumsum([len(level) for level in levels])]).astype(np.int64)
    for start, level in zip(level_starts, levels, strict=False):
        level_codes[start : start + len(level), : level.shape[1]] = level
    return Checks(
        sensitive,
        np.array([_KINDS.index(check.kind) for check in checks], dtype=np.int64),
        np.array([names.index(check.column) for check in checks], dtype=np.int64),
        np.array([check.limit for check in checks], dtype=np.float64),
        np.array([check.c for check in checks], dtype=np.float64),
        starts,
        reference,
        level_starts,
        level_codes,
    )


def require_rows(table: Table, k: int, **share: object) -> None:
    """Raise where the table has fewer than k rows; ``share`` is what was asked for where k follows from it."""
    if k > table.n_rows:
        for name, value in share.items():
            if value is not None:
                raise UnreachableError(
                    f"{name}={value} cannot be reached: it takes {k} rows together, and the table has only "
                    f"{table.n_rows:,} rows; the smallest feasible {name} is 1/{table.n_rows}.",
                    best={name: Fraction(1, table.n_rows)},
                    by_values=False,
                )
        raise UnreachableError(
            f"k={k} cannot be reached: the table has only {table.n_rows:,} rows, and that is the largest feasible k.",
            best={"k": table.n_rows},
            by_values=False,
        )
    if table.units is not None:
        most = int(np.bincount(table.units).max())
        if most * k > table.n_rows:
            best = table.n_rows // most
            raise UnreachableError(
                f"k={k} cannot be reached: one `{table.schema.unit}` has {most:,} of the {table.n_rows:,} rows; the "
                f"largest feasible k is {best}. Ask for less, or keep one row of each: {option(one_row_per='first')}.",
                best={"k": best},
                by_values=False,
            )


def require_whole_table(
    table: Table, checks: Sequence[Check], counted: Mapping[str, NDArray[np.int64]] | None = None
) -> None:
    """Raise where the table as one group already fails: then no partition can help, since unions only gain."""
    for check in checks:
        column = table[check.column]
        counts = count(column.codes, column.domain.size) if counted is None else counted[check.column]
        best = largest_feasible(counts, check)
        if best < check.limit and check.kind in ("distinct", "frequency", "entropy", "recursive"):
            top = int(counts.argmax())
            share = counts[top] / counts.sum()
            form = f"{check.kind} l-diversity"
            best = int(best) if check.whole else best
            raise UnreachableError(
                f"l={check.limit:g} ({form}) cannot be reached on `{check.column}`: "
                + (
                    f"it has {int((counts > 0).sum())} distinct values"
                    if check.kind == "distinct"
                    else f"its most frequent value is {share:.1%} of the rows"
                )
                + f"; the largest feasible l is {_floor(best)}.",
                best={"l": best, "column": check.column},
            )


def require_part(table: Table, checks: Sequence[Check], arrays: Checks) -> None:
    """Raise where a part of a table as one group breaks a check, which the whole cannot where it is about closeness."""
    from undercover.steps.cutting.nodes import all_hold

    names = dict.fromkeys(check.column for check in checks)
    found = [np.bincount(table[name].codes, minlength=table[name].domain.size) for name in names]
    counts = np.concatenate([np.zeros(0, np.int64), *found])
    if not all_hold(counts, table.n_rows, arrays, np.zeros(len(counts))):
        raise UnreachableError("A part of the table does not keep as one group what is asked of every group.")


def largest_feasible(counts: NDArray[np.int64], check: Check) -> float:
    """The largest l that the whole table, taken as one group, satisfies."""
    present = np.sort(counts[counts > 0])[::-1].astype(np.float64)
    if check.kind == "distinct":
        return float(len(present))
    if check.kind == "frequency":
        return float(present.sum() / present[0])
    if check.kind == "entropy":
        shares = present / present.sum()
        return float(np.exp(-(shares * np.log(shares)).sum()) * (1 + 1e-12))
    if check.kind == "recursive":
        tails = np.cumsum(present[::-1])[::-1]
        return float((present[0] <= check.c * tails * (1 + 1e-12)).sum())
    return float("inf")


def _floor(value: float) -> str:
    return f"{np.floor(value * 100) / 100:g}"


def _parents(column: EncodedColumn) -> NDArray[np.int64]:
    """Row ``h``: the parent on level h + 1 of each node of level h, level 0 being the column's codes."""
    hierarchy = column.settings.hierarchy
    assert hierarchy is not None
    rows = [hierarchy.rows[hierarchy.leaf_index[label]] for label in write_values(column.domain.values)]
    if column.domain.has_missing:
        rows.append(("",) * (hierarchy.n_levels - 1) + (hierarchy.rows[0][-1],))
    below = np.arange(len(rows))
    levels = np.zeros((hierarchy.n_levels - 1, len(rows)), dtype=np.int64)
    for level in range(1, hierarchy.n_levels):
        codes: dict[str, int] = {}
        current = np.array([codes.setdefault(row[level], len(codes)) for row in rows])
        nodes, members = np.unique(below, return_index=True)
        levels[level - 1, nodes] = current[members]
        below = current
    return levels


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The parameters of a method beyond k, checked one by one; ``method`` is its name in messages."""

    method: str
    l: float | Fraction | None = None
    diversity: Diversity = "frequency"
    c: float | Fraction | None = None
    t: float | Fraction | None = None
    distance: Distance = "equal"

    def problems(self) -> list[str]:
        """What is wrong with the parameters taken together."""
        problems = [
            f"The '{parameter}' parameter of {self.method} says what {other} means. Give {other} too."
            for parameter, other in (("diversity", "l"), ("c", "l"), ("distance", "t"))
            if getattr(self, other) is None and getattr(self, parameter) not in (None, "frequency", "equal")
        ]
        if self.l is not None and self.diversity in get_args(Diversity):
            try:
                LDiversity(l=self.l, form=self.diversity, c=self.c)
            except ParameterError as error:
                problems += [problem.replace("LDiversity", self.method) for problem in error.problems]
        return problems

    def require_sensitive(self, table: Table) -> None:
        """Raise where l or t is asked for and nothing is sensitive."""
        if (self.l is not None or self.t is not None) and not table.schema.sensitive:
            raise ParameterError(
                f"{self.method} with l or t needs a sensitive column. Name one: {option(sensitive=...)}"
            )

    def claims(self, table: Table) -> list[Guarantee]:
        """The guarantees beyond k."""
        found: list[Guarantee] = []
        if self.l is not None:
            found.append(LDiversity(l=self.l, form=self.diversity, c=self.c))
        if self.t is None:
            return found
        if self.distance == "equal":
            found.append(TCloseness(t=self.t, distance="equal"))
            return found
        for column in table.schema.sensitive:
            settings = table.schema.column(column)
            if self.distance == "hierarchical":
                self._require_hierarchy(table, column)
                found.append(TCloseness(t=self.t, distance="hierarchical", hierarchy=settings.hierarchy, column=column))
            else:
                # Numbers and dates have an order of their own; everything else is read in the order it was cut in.
                domain = table[column].domain
                labels = None if domain.kind in ("numeric", "date") else domain.labels[: len(domain.values)]
                order = settings.domain if domain.kind == "ordinal" else labels
                found.append(TCloseness(t=self.t, distance="ordered", order=order, column=column))
        return found

    def checks(self, table: Table) -> tuple[Check, ...]:
        """The predicates on every group beyond its size."""
        checks = []
        for column in table.schema.sensitive:
            if self.l is not None:
                checks.append(
                    Check(column=column, kind=self.diversity, limit=float(exact(self.l)), c=float(exact(self.c or 0)))
                )
            if self.t is not None:
                if self.distance == "hierarchical":
                    self._require_hierarchy(table, column)
                checks.append(Check(column=column, kind=self.distance, limit=float(exact(self.t))))
        return tuple(checks)

    @staticmethod
    def _require_hierarchy(table: Table, column: str) -> None:
        if table.schema.column(column).hierarchy is None:
            raise ParameterError(f"t-closeness by hierarchical distance needs a hierarchy of `{column}`.")
