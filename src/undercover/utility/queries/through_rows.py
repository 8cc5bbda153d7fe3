"""COUNT queries about a large release, answered by going through its rows: the same answers, and nothing kept of a row.

Queries about one column are answered from a table of its cells and the sensitive values. For the others every row asks
the queries about its value, a few out of all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from undercover.forms.looking.counting import Floats, together, value_counts
from undercover.forms.looking.rows import ShownRows
from undercover.forms.spread import Spread
from undercover.utility.queries.workload import Answers, Workload, evaluate


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
    alone = sorted({names.index(work.names[0]) for work in workloads if len(work.names) == 1})
    tables = dict(zip(alone, value_counts(_only(shown, alone), place, threads), strict=True)) if alone else {}
    found = []
    for work in workloads:
        columns = [names.index(name) for name in work.names]
        if len(columns) == 1:
            spread = _of_table(work.names[0], shown, columns[0], tables[columns[0]])
            found += evaluate(spread, [work], ranges)
        else:
            found.append(_asked(_only(shown, columns), place, work, threads))
    return found


def _only(shown: ShownRows, columns: Sequence[int]) -> ShownRows:
    return replace(shown, cells=[shown.cells[j] for j in columns], covers=[shown.covers[j] for j in columns])


def _of_table(name: str, shown: ShownRows, column: int, table: Floats) -> Spread:
    """Every cell of a column as a box."""
    cells, values = np.nonzero(table)
    pairs = cells, values, table[cells, values]
    boxes = {name: np.arange(len(table))}
    return Spread.of_pairs({name: shown.covers[column]}, boxes, pairs, table.shape[1])


def _asked(shown: ShownRows, place: int, work: Workload, threads: int) -> Answers:
    """Every row asks the queries about its value."""
    from undercover.utility.queries.kernels import ask_groups, ask_rows

    secret, order = shown.secrets[place], np.argsort(work.values, kind="stable")
    queries = np.searchsorted(work.values[order], np.arange(secret.n_values + 1)).astype(np.int64)
    lows, highs = (np.ascontiguousarray(each[order][:, shown.narrowest]) for each in (work.lows, work.highs))
    covers = [shown.covers[j] for j in shown.narrowest]
    first = np.cumsum([0, *(len(cover.low) for cover in covers)])
    starts = [cover.starts[:-1] + before for cover, before in zip(covers, first[:-1], strict=True)]
    runs: tuple[NDArray[np.int64], ...] = (
        np.concatenate([*starts, first[-1:]]).astype(np.int64),
        *(np.concatenate([getattr(cover, part) for cover in covers]) for part in ("low", "high", "sizes")),
    )

    def add(rows: slice, tables: list[Floats]) -> None:
        cells = shown.cells_of(rows)
        if secret.held is None:
            assert secret.codes is not None
            ask_rows(cells, secret.codes[rows], secret.place, runs, queries, lows, highs, tables[0])
        else:
            weights, groups = shown.weights_of(rows), secret.groups(rows)
            ask_groups(cells, groups, weights, secret.held, secret.place, runs, queries, lows, highs, tables[0])

    found = np.empty(work.count)
    (found[order],) = together(shown, [(work.count,)], add, threads)
    return found
