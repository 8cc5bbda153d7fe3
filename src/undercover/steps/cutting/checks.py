"""What every group must satisfy while a table is being cut, beyond its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from undercover.errors import UnreachableError
from undercover.model.table import EncodedColumn, Table, write_values
from undercover.steps.cutting.arrays import Checks

CheckKind = Literal["distinct", "frequency", "entropy", "recursive", "equal", "ordered", "hierarchical"]

_KINDS: tuple[CheckKind, ...] = get_args(CheckKind)  # in the order of the kernel's numbers


@dataclass(frozen=True, kw_only=True)
class Check:
    """One predicate on one sensitive column: l-diversity in one of its forms, or t-closeness by one distance."""

    column: str
    kind: CheckKind
    limit: float
    c: float = 0.0


def kernel_checks(table: Table, checks: Sequence[Check]) -> Checks:
    """Checks as the kernels take them."""
    names = list(dict.fromkeys(check.column for check in checks))
    sizes = [table[name].domain.size for name in names]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    sensitive = np.zeros((table.n_rows if names else 0, len(names)), dtype=np.uint32)
    reference = np.zeros(starts[-1])
    for c, name in enumerate(names):
        sensitive[:, c] = table[name].codes
        reference[starts[c] : starts[c + 1]] = np.bincount(table[name].codes, minlength=sizes[c]) / table.n_rows
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


def require_whole_table(table: Table, checks: Sequence[Check]) -> None:
    """Raise where the table as one group already fails: then no partition can help, since unions only gain."""
    for check in checks:
        column = table[check.column]
        counts = np.bincount(column.codes, minlength=column.domain.size)
        best = largest_feasible(counts, check)
        if best < check.limit and check.kind in ("distinct", "frequency", "entropy", "recursive"):
            top = int(counts.argmax())
            share = counts[top] / counts.sum()
            form = f"{check.kind} l-diversity"
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
        return float((present[0] < check.c * tails * (1 - 1e-12)).sum())
    return float("inf")


def _floor(value: float) -> str:
    return f"{np.floor(value * 100) / 100:g}"


_NO_LEVELS: NDArray[np.int64] = np.zeros((0, 1), dtype=np.int64)


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
