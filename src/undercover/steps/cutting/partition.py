"""Strict Mondrian partitioning with a predicate, on every core.

LeFevre, DeWitt & Ramakrishnan 2006, "Mondrian Multidimensional K-Anonymity": cut the table by one quasi-identifier at a
time as long as both sides keep what is required. Strict: rows with equal quasi-identifiers stay together.

Deviations: the cut is by default the one that saves most loss (the paper cuts the widest column at its median:
``cut="median"``); a column with a hierarchy is cut along its tree; columns without order are cut in frequency order.

The table is cut into parts in a queue served by several threads. Which thread cut what does not show in the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from undercover.model.groups import Groups
from undercover.model.protocols import Progress, no_progress
from undercover.model.table import Table
from undercover.steps.cutting.arrays import Rows, Task
from undercover.steps.cutting.checks import Check, kernel_checks, require_part, require_rows, require_whole_table
from undercover.steps.cutting.columns import CutColumn, Recoding, cut_columns, kernel_columns, packed_codes

Cut = Literal["loss", "median"]
Rule = Literal["loss", "median", "lower-median", "papers-median"]
"""How a cut is chosen; the last two are for mutual cover (:mod:`undercover.steps.cutting.splits`)."""

_RULES: tuple[Rule, ...] = get_args(Rule)  # in the order of the kernel's numbers
_PARALLEL_FROM = 20_000  # rows below which handing work to threads costs more than it saves


@dataclass(frozen=True)
class Partition:
    """Groups, how the columns were cut, and the region of each group in cutting codes."""

    groups: Groups
    columns: tuple[CutColumn, ...]
    bounds: NDArray[np.signedinteger[Any]] | None  # (n_groups, d, 2) regions; none of boxes


def partition(
    table: Table,
    *,
    k: int,
    checks: Sequence[Check] = (),
    cut: Rule = "loss",
    recoding: Recoding = "boxes",
    threads: int = 1,
    progress: Progress = no_progress,
) -> Partition:
    """Cut ``table`` into groups of at least ``k`` rows that all satisfy ``checks``, as the whole table must.

    Where people have several rows, none has more than one in ``k`` of the rows of his group.
    """
    require_whole_table(table, checks)  # before k, which may follow from the l of a check
    require_rows(table, k)
    from undercover.compiled.jit import needs_compiling
    from undercover.steps.cutting import median_regions, splits

    # Median cuts into regions need not look at every column.
    one_at_a_time = cut == "median" and recoding == "regions" and not checks and table.units is None
    refine: Any = median_regions.refine_regions if one_at_a_time else splits.refine
    if needs_compiling(refine):
        progress("compiling the cutting kernel (once on this machine, some 10 seconds)", 0.0)

    columns, rows, task, everything = kernel_arguments(table, k=k, checks=checks, cut=cut, recoding=recoding)
    if table.part is not None:
        require_part(table, checks, task.checks)
    ids, regions = rows.ids, recoding == "regions"
    starts, bounds = _serve(refine, rows, task, everything, threads, progress)
    del rows  # codes and scratch of every row
    order = np.argsort(starts)
    groups = Groups.from_order(ids, np.append(starts[order], table.n_rows), threads)
    return Partition(groups, tuple(columns), bounds.reshape(-1, len(columns), 2)[order] if regions else None)


def kernel_arguments(
    table: Table, *, k: int, checks: Sequence[Check], cut: Rule, recoding: Recoding
) -> tuple[list[CutColumn], Rows, Task, NDArray[np.int64]]:
    """What the kernel ``refine`` takes: columns, rows, how they are cut, and the bounds of everything."""
    columns = cut_columns(table, recoding)
    codes, packed = packed_codes(table, columns)
    ids = np.arange(table.n_rows, dtype=np.uint32)
    rows = Rows(codes, packed, ids, np.empty_like(packed), np.empty_like(ids))
    task = Task(
        kernel_columns(table, columns),
        kernel_checks(table, checks),
        np.empty(0, np.int64) if table.units is None else table.units,
        k,
        _RULES.index(cut),
        recoding == "regions",
    )
    everything = np.array([end for column in columns for end in _ends(table, column, recoding)], dtype=np.int64)
    return columns, rows, task, everything


def _ends(table: Table, column: CutColumn, recoding: Recoding) -> tuple[int, int]:
    """The lowest and highest cutting code there can be: of the whole column, or in the region a part was cut to."""
    if table.part is None or recoding == "boxes":
        return 0, column.size - 1
    if column.kind == "set":
        return 0, int(table.part.holds(column.name).sum()) - 1
    _, first, last = table.part.bounds[column.name]
    return first, last


def _serve(
    refine: Any, rows: Rows, task: Task, everything: NDArray[np.int64], threads: int, progress: Progress
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Run ``refine`` on the whole table and then on the parts it hands back, several at a time.

    Where each group begins, and its region, if there are any.
    """
    n_rows = len(rows.ids)
    big = max(_PARALLEL_FROM, n_rows // (8 * threads)) if threads > 1 else n_rows
    tried = np.empty((0, 0), np.uint16)
    starts, bounds = [], []
    done = 0

    def cut(part: NDArray[np.int64]) -> Any:
        leaves, pending, _ = refine(rows, int(part[0]), int(part[1]), part[2:], task, big, tried)
        # Copies, as narrow as they may be: the kernel hands out more room than it filled.
        region = leaves[:, 2 if task.regions else leaves.shape[1] :].astype(np.int32)
        return leaves[:, 0].copy(), region, pending, int((leaves[:, 1] - leaves[:, 0]).sum())

    whole = np.concatenate([[0, n_rows], everything])
    if n_rows <= big:  # nothing is handed back, so nobody is needed to take it
        first, region, _, _ = cut(whole)
        progress("cutting", 1.0)
        return first, region
    with ThreadPoolExecutor(threads) as pool:

        def submit(part: NDArray[np.int64]) -> Future[Any]:
            return pool.submit(cut, part)

        running = {submit(whole)}
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                first, region, pending, cut_up = future.result()
                starts.append(first)
                bounds.append(region)
                done += cut_up
                running |= {submit(part) for part in pending}
            progress("cutting", done / n_rows)
    return np.concatenate(starts), np.concatenate(bounds)
