"""Plain numpy versions of the kernels: what a careful programmer would write without a compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from undercover.forms.answers.asking import ListedColumn, Match
from undercover.forms.answers.recipient import SumAnswer, Sums
from undercover.utility.queries.sum_workload import Asked


def median_mondrian(codes: NDArray[np.int64], sizes: NDArray[np.int64], k: int) -> int:
    """Strict Mondrian with median cuts; returns the number of groups."""
    groups, stack = 0, [np.arange(len(codes))]
    while stack:
        rows = stack.pop()
        part = codes[rows]
        spans = (part.max(axis=0) - part.min(axis=0)) / np.maximum(sizes - 1, 1)
        for j in np.argsort(-spans, kind="stable"):
            if spans[j] == 0:
                continue
            left = part[:, j] <= np.partition(part[:, j], (len(rows) - 1) // 2)[(len(rows) - 1) // 2]
            if k <= left.sum() <= len(rows) - k:
                stack += [rows[left], rows[~left]]
                break
        else:
            groups += 1
    return groups


def shuffle_segments(items: NDArray[np.int64], offsets: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Shuffle inside segments by sorting random keys."""
    keys = np.random.default_rng(seed).random(len(items))
    segment = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return items[np.lexsort((keys, segment))]


def deal(codes: NDArray[np.int64], size: int, l: int) -> NDArray[np.int64]:  # noqa: E741
    """Anatomy's buckets, a bucket at a time."""
    left = np.bincount(codes, minlength=size)
    order = np.argsort(codes, kind="stable")
    heads = np.concatenate([[0], np.cumsum(left)])[:-1]
    bucket = np.full(len(codes), -1)
    count = 0
    while (left > 0).sum() >= l:
        top = np.argpartition(-left, l - 1)[:l]
        bucket[order[heads[top]]] = count
        heads[top] += 1
        left[top] -= 1
        count += 1
    return bucket


def matches(low: NDArray[np.int64], high: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many boxes (ranges in every column) cover each target."""
    found = np.zeros(len(targets), dtype=np.int64)
    for i, target in enumerate(targets):
        found[i] = ((low <= target) & (target <= high)).all(axis=1).sum()
    return found


def sums(asked_of: Sums, asked: Sequence[Mapping[str, Asked]]) -> list[SumAnswer]:
    """Random sums as a recipient asks them, or by the codes of the original where the cells cover the truth."""
    reading = asked_of.asking.reading
    if not reading.covers:
        return [asked_of.answer({name: one.predicate for name, one in where.items()}) for where in asked]
    answers = []
    for where in asked:
        everything = np.ones(reading.main.rows, dtype=bool)
        rows = Match(everything, everything.astype(np.float64), everything)
        for name, one in where.items():
            column = asked_of.asking.column(reading.main, name)
            assert isinstance(column, ListedColumn)
            covered = column.coverage.covered(one.inside)
            sizes = column.coverage.sizes
            cells = Match(covered == sizes, covered / sizes, covered > 0)
            rows = rows.both(cells.of_rows(reading.column(name).codes))
        answers.append(asked_of.of_rows(rows) if reading.buckets is None else asked_of.of_buckets(rows))
    return answers
