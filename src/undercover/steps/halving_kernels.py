"""Halving: rows cut in two again and again at the column whose halves lose least, in parts of stated sizes.

Rows stand in a matrix, a line for each class of rows (one line where there are no classes). A cut takes the lower rows
of *every* line to the left, as many of each, so that it treats the lines alike: exchanging two lines beforehand
exchanges them afterwards and changes nothing else. What a half loses is the mean distance of two of its rows, times its
rows, over all lines together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.scales import MOST_BINS, Scales

_SAMPLE = 4_096  # rows of a part from which its column is chosen


class Part(NamedTuple):
    """Rows of one part, sampled alike from every line: what its columns look like from inside."""

    codes: Any  # (d, lines * per_line) bins numbered anew, from 0 without gaps
    sizes: Any  # (d,) how many bins there are
    bins: Any  # (d, MOST_BINS) which bin each number is
    totals: Any  # (d, MOST_BINS) rows of each number
    left: Any  # (lines * per_line,) whether a row goes to the left; scratch
    counts: Any  # (MOST_BINS,) scratch


@internal
def _look(rows: Any, first: int, last: int, per_line: int, scales: Scales, part: Part) -> None:
    """Fill ``part`` from slots ``first`` to ``last`` of every line, ``per_line`` of them in even steps."""
    lines, slots = rows.shape[0], last - first
    d = scales.bins.shape[1]
    number = np.empty(MOST_BINS, np.int64)
    for a in range(d):
        part.counts[:] = 0
        for c in range(lines):
            for i in range(per_line):
                row = rows[c, first + i * slots // per_line]
                part.counts[scales.bins[row, a]] += 1
        size = 0
        for b in range(MOST_BINS):
            if part.counts[b]:
                number[b] = size
                part.bins[a, size] = b
                part.totals[a, size] = part.counts[b]
                size += 1
        part.sizes[a] = size
        at = 0
        for c in range(lines):
            for i in range(per_line):
                row = rows[c, first + i * slots // per_line]
                part.codes[a, at] = number[scales.bins[row, a]]
                at += 1


@internal
def _halves(part: Part, a: int, lines: int, per_line: int, lower: int) -> None:
    """Which rows go to the left if the ``lower`` lowest of every line do, by column a; equal ones by their order."""
    for c in range(lines):
        start = c * per_line
        part.counts[: part.sizes[a]] = 0
        for i in range(start, start + per_line):
            part.counts[part.codes[a, i]] += 1
        taken, edge = 0, 0
        while taken + part.counts[edge] <= lower:
            taken += part.counts[edge]
            edge += 1
        for i in range(start, start + per_line):
            code = part.codes[a, i]
            part.left[i] = code < edge
            if code == edge and taken < lower:
                part.left[i] = True
                taken += 1


@internal
def _spread(part: Part, b: int, scales: Scales, n_left: int, n_rows: int) -> Any:
    """The mean distance of two rows in column b times rows, of both halves."""
    size = part.sizes[b]
    if size == 1:
        return 0.0
    part.counts[:size] = 0
    for i in range(n_rows):
        part.counts[part.codes[b, i]] += part.left[i]
    n_right = n_rows - n_left
    below_left, below_right = 0, 0
    left, right = 0.0, 0.0
    for code in range(size):
        here_left = part.counts[code]
        here_right = part.totals[b, code] - here_left
        if scales.ordered[b]:
            below_left += here_left
            below_right += here_right
            if code + 1 < size:
                step = scales.places[b, part.bins[b, code + 1]] - scales.places[b, part.bins[b, code]]
                left += step * below_left * (n_left - below_left)
                right += step * below_right * (n_right - below_right)
        else:
            left += here_left * (n_left - here_left) * 0.5
            right += here_right * (n_right - here_right) * 0.5
    return scales.weights[b] * 2.0 * (left / n_left + right / n_right)


@internal
def _best_column(rows: Any, first: int, last: int, middle: int, scales: Scales, part: Part) -> int:
    """The column whose halves lose least over the rows of all lines; the first of those alike, -1 if all rows are."""
    lines, slots = rows.shape[0], last - first
    per_line = min(slots, max(64, _SAMPLE // lines))
    lower = max(1, (middle - first) * per_line // slots)
    _look(rows, first, last, per_line, scales, part)
    d = scales.bins.shape[1]
    best, least = -1, np.inf
    for a in range(d):
        if part.sizes[a] == 1:
            continue
        _halves(part, a, lines, per_line, lower)
        loss = 0.0
        for b in range(d):
            loss += _spread(part, b, scales, lines * lower, lines * per_line)
        if loss < least * (1 - 1e-12):
            best, least = a, loss
    return best


@internal
def _sort(line: Any, first: int, last: int, a: int, scales: Scales, spare: Any) -> None:
    """Put a part of a line in the order of column a; equal rows keep their order, which is that of earlier cuts."""
    heads = np.zeros(MOST_BINS + 1, np.int64)
    for i in range(first, last):
        heads[scales.bins[line[i], a] + 1] += 1
    for b in range(MOST_BINS):
        heads[b + 1] += heads[b]
    for i in range(first, last):
        code = scales.bins[line[i], a]
        spare[heads[code]] = line[i]
        heads[code] += 1
    for i in range(first, last):
        line[i] = spare[i - first]


@kernel
def halve(rows: Any, edges: Any, begin: int, end: int, most: int, scales: Scales) -> Any:
    """Cut the pieces ``begin`` to ``end`` of every line until no part has more than ``most`` pieces.

    Piece i is the slots ``edges[i]`` to ``edges[i + 1]`` of every line of ``rows`` (lines, slots), which is put in
    order in place. Returns where the parts begin, in pieces, ascending.
    """
    lines, d = rows.shape[0], scales.bins.shape[1]
    widest = lines * min(edges[end] - edges[begin], max(64, _SAMPLE // lines))
    part = Part(
        np.empty((d, widest), np.uint8),
        np.empty(d, np.int64),
        np.empty((d, MOST_BINS), np.int64),
        np.empty((d, MOST_BINS), np.int64),
        np.empty(widest, np.bool_),
        np.empty(MOST_BINS, np.int64),
    )
    spare = np.empty(edges[end] - edges[begin], rows.dtype)
    stack = np.empty((130, 2), np.int64)
    stack[0, 0], stack[0, 1] = begin, end
    depth, found = 1, 0
    starts = np.empty(end - begin, np.int64)
    while depth:
        depth -= 1
        low, high = stack[depth, 0], stack[depth, 1]
        if high - low <= most:
            starts[found] = low
            found += 1
            continue
        half = low + (high - low) // 2
        first, middle, last = edges[low], edges[half], edges[high]
        a = _best_column(rows, first, last, middle, scales, part)
        if a >= 0:
            for c in range(lines):
                _sort(rows[c], first, last, a, scales, spare)
        stack[depth, 0], stack[depth, 1] = half, high
        stack[depth + 1, 0], stack[depth + 1, 1] = low, half
        depth += 2
    return starts[:found]
