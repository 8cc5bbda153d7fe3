"""COUNT queries about a large release, answered by going through its rows: the same answers, and nothing kept of a row.

Queries about one column are answered from a table of its cells and the sensitive values. For the others every row asks
the queries about its values, a few out of all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from undercover.forms.coverage import Coverage, Positions
from undercover.forms.looking.counting import Floats, pieces, together, value_counts
from undercover.forms.looking.rows import ShownRows
from undercover.forms.spread import Spread
from undercover.threads import parallel
from undercover.utility.queries.workload import Answers, Workload, evaluate

_MOST_SHARES = 1 << 21  # of a query and a cell, 8 bytes each
_MOST_RUNS = 1 << 18  # of cells that are looked at together


def answers_of_rows(
    shown: ShownRows,
    names: Sequence[str],
    sensitive: str,
    workloads: Sequence[Workload],
    ranges: Collection[str],
    threads: int,
) -> list[Answers]:
    """The expected count of every query, workload by workload; ``names`` are the columns of ``shown``."""
    place = next(at for at, secret in enumerate(shown.secrets) if secret.name == sensitive)
    found: list[Answers | None] = [None] * len(workloads)
    alone = [at for at, work in enumerate(workloads) if len(work.names) == 1]

    def of_one(at: int) -> Answers:
        work = workloads[at]
        return _of_column(shown, place, names.index(work.names[0]), work, ranges)

    for at, answers in zip(alone, parallel(of_one, alone, threads, steps=shown.n_rows), strict=True):
        found[at] = answers
    return [
        _asked(_only(shown, [names.index(name) for name in work.names]), place, work, threads) if one is None else one
        for work, one in zip(workloads, found, strict=True)
    ]


def _only(shown: ShownRows, columns: Sequence[int]) -> ShownRows:
    return replace(shown, cells=[shown.cells[j] for j in columns], covers=[shown.covers[j] for j in columns])


def _of_column(shown: ShownRows, place: int, column: int, work: Workload, ranges: Collection[str]) -> Answers:
    """The answers to queries about one column: every cell is a box, and rows are added up part by part."""
    name, n_values, cover = work.names[0], shown.secrets[place].n_values, shown.covers[column]
    answers = np.zeros(work.count)
    for cells, values, rows in value_counts(shown, place, column):
        used, box = np.unique(cells, return_inverse=True)
        low, high, times = cover.runs_of(used)
        own = Coverage(np.concatenate([[0], np.cumsum(times)]), low, high, cover.n_positions)
        pairs = box.reshape(-1).astype(np.int64), values, rows
        spread = Spread.of_pairs({name: own}, {name: np.arange(len(used))}, pairs, n_values)
        answers += evaluate(spread, [work], ranges)[0]
    return answers


def _asked(shown: ShownRows, place: int, work: Workload, threads: int) -> Answers:
    """Every row asks the queries about its values; some queries after the others, where cells are very many."""
    from undercover.utility.queries.kernels import ask_values

    secret, order = shown.secrets[place], np.argsort(work.values, kind="stable")
    covers = [shown.covers[j] for j in shown.narrowest]
    at_once = max(1, _MOST_SHARES // sum(cover.n_cells for cover in covers))
    found = np.empty(work.count)
    for first in range(0, work.count, at_once):
        some = order[first : first + at_once]
        queries = np.searchsorted(work.values[some], np.arange(secret.n_values + 1)).astype(np.int64)
        ends = zip(work.lows[some][:, shown.narrowest], work.highs[some][:, shown.narrowest], strict=True)
        shares = np.stack([_shares(covers, low, high) for low, high in ends])

        def add(
            rows: slice, tables: list[Floats], queries: NDArray[np.int64] = queries, shares: Floats = shares
        ) -> None:
            own, values, weights = secret.entries(rows, shown.weights_of(rows))
            sorting = np.argsort(values.astype(np.min_scalar_type(secret.n_values)), kind="stable")
            starts = np.searchsorted(values[sorting], np.arange(secret.n_values + 1))
            ask_values(shown.cells_of(rows)[own[sorting]], weights[sorting], starts, queries, shares, tables[0])

        (found[some],) = together(shown, [(len(some),)], add, threads)
    return found


def _shares(covers: Sequence[Coverage], lows: Positions, highs: Positions) -> Floats:
    """(n_cells,) the part of each cell of all columns that one query asks for."""
    each = []
    for cover, low, high in zip(covers, lows, highs, strict=True):
        share = np.empty(cover.n_cells)
        for first, last in pieces(cover.starts, _MOST_RUNS):
            runs = slice(cover.starts[first], cover.starts[last])
            inside = np.clip(np.minimum(cover.high[runs], high) - np.maximum(cover.low[runs], low) + 1, 0, None)
            covered = np.add.reduceat(inside, cover.starts[first:last] - cover.starts[first])
            share[first:last] = covered / cover.sizes[first:last]
        each.append(share)
    return np.concatenate(each)
