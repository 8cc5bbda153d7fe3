"""A kd-tree over rows of codes: cut the widest column at its median until few rows are left.

Bentley 1975 for the tree; LeFevre, DeWitt & Ramakrishnan 2006 for the widest normalised column. What a cell loses by
covering some codes is measured as in :mod:`undercover.steps.cutting.columns`: the width of a range, the members of a set,
the leaves of the lowest node of a hierarchy, each over what the whole column has.

Deviation: where the median is the greatest value, the cut is at the greatest value below it, so that no side is empty.
Which leaf a row lies in follows from the rows' codes alone, not from the order in which they are given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.steps.cutting.arrays import SET, Columns
from undercover.steps.cutting.nodes import TIE, cell_loss

LEAF = 16


class _Rows(NamedTuple):
    codes: Any  # (n, at least d)
    values: Any  # (n,)
    ids: Any  # (n,)


@kernel
def build_tree(codes: Any, values: Any, ids: Any, columns: Columns) -> Any:
    """Order rows into leaves, in place.

    Parameters
    ----------
    codes
        (n, at least d) cutting codes of every row.
    values, ids
        (n,) sensitive code and number of every row; they move with it.

    Returns
    -------
    (n_nodes, 6) start, end, left child, right child, column, cut: the root is node 0, a node holds the rows from start
    to end, its children have greater numbers (-1 in a leaf), and codes up to the cut lie on the left.

    Notes
    -----
    In a leaf rows are ordered by codes, then by value; what is equal in both keeps the order it was given in.
    """
    n, d = len(ids), len(columns.kinds)
    widest_domain = np.int64(1)
    for j in range(d):
        widest_domain = max(widest_domain, columns.starts[j + 1] - columns.starts[j])
    seen = np.full(widest_domain, -1, np.int64)  # stamps, to count distinct codes without clearing
    histogram = np.zeros(widest_domain, np.int64)
    rows = _Rows(codes, values, ids)
    spare = _Rows(np.empty_like(codes), np.empty_like(values), np.empty_like(ids))
    room = max(64, n // 4)
    nodes = np.full((room, 6), -1, np.int32)
    nodes[0, 0], nodes[0, 1] = 0, n
    count, stamp = 1, 0
    todo = [np.int64(0)]
    while len(todo) > 0:
        node = todo.pop()
        start, end = np.int64(nodes[node, 0]), np.int64(nodes[node, 1])
        best, widest = -1, 0.0
        if end - start > LEAF:
            for j in range(d):
                low, high, distinct = np.int64(codes[start, j]), np.int64(codes[start, j]), np.int64(0)
                stamp += 1
                for i in range(start, end):
                    code = np.int64(codes[i, j])
                    low, high = min(low, code), max(high, code)
                    if columns.kinds[j] == SET and seen[code] != stamp:
                        seen[code] = stamp
                        distinct += 1
                loss = cell_loss(columns, j, low, high, float(distinct))
                if low < high and (best < 0 or loss > widest + TIE):
                    best, widest = j, loss
        if best < 0:
            _sort_leaf(rows, start, end, d, spare)
            continue
        cut = _median(codes, best, start, end, histogram)
        middle = _divide(rows, start, end, best, cut, spare)
        if count + 2 > len(nodes):
            larger = np.full((2 * len(nodes), 6), -1, np.int32)
            larger[:count] = nodes[:count]
            nodes = larger
        nodes[node, 2], nodes[node, 3], nodes[node, 4], nodes[node, 5] = count, count + 1, best, cut
        nodes[count, 0], nodes[count, 1] = start, middle
        nodes[count + 1, 0], nodes[count + 1, 1] = middle, end
        todo.append(np.int64(count + 1))
        todo.append(np.int64(count))
        count += 2
    return nodes[:count]


@internal
def _median(codes: Any, j: int, start: int, end: int, histogram: Any) -> Any:
    """The lower median of a column, or the greatest code below the maximum where the median is the maximum."""
    low, high = np.int64(codes[start, j]), np.int64(codes[start, j])
    for i in range(start, end):
        code = np.int64(codes[i, j])
        low, high = min(low, code), max(high, code)
        histogram[code] += 1
    rank = (end - start - 1) // 2
    before, cut = np.int64(0), low
    for code in range(low, high):
        before += histogram[code]
        if histogram[code] > 0:
            cut = code
        if before > rank:
            break
    for i in range(start, end):
        histogram[codes[i, j]] = 0
    return cut


@internal
def _divide(rows: _Rows, start: int, end: int, j: int, cut: int, spare: _Rows) -> int:
    """Rows with codes up to ``cut`` first, the others behind; order kept on both sides. Returns where the others begin."""
    codes, values, ids = rows
    spare_codes, spare_values, spare_ids = spare
    left, right = start, 0
    for i in range(start, end):
        if codes[i, j] <= cut:
            for c in range(codes.shape[1]):
                codes[left, c] = codes[i, c]
            values[left], ids[left] = values[i], ids[i]
            left += 1
        else:
            for c in range(codes.shape[1]):
                spare_codes[right, c] = codes[i, c]
            spare_values[right], spare_ids[right] = values[i], ids[i]
            right += 1
    for i in range(right):
        for c in range(codes.shape[1]):
            codes[left + i, c] = spare_codes[i, c]
        values[left + i], ids[left + i] = spare_values[i], spare_ids[i]
    return left


@internal
def _sort_leaf(rows: _Rows, start: int, end: int, d: int, spare: _Rows) -> None:
    """By codes, then by value; a leaf of more rows than fit has equal codes throughout."""
    codes, values, ids = rows
    spare_codes, spare_values, spare_ids = spare
    if end - start > LEAF:
        order = np.argsort(values[start:end], kind="mergesort")
        for i in range(end - start):
            spare_values[i], spare_ids[i] = values[start + order[i]], ids[start + order[i]]
        for i in range(end - start):
            values[start + i], ids[start + i] = spare_values[i], spare_ids[i]
        return
    for i in range(start + 1, end):
        at = i
        for c in range(codes.shape[1]):
            spare_codes[0, c] = codes[i, c]
        value, row = values[i], ids[i]
        while at > start and _before(spare_codes[0], value, codes[at - 1], values[at - 1], d):
            for c in range(codes.shape[1]):
                codes[at, c] = codes[at - 1, c]
            values[at], ids[at] = values[at - 1], ids[at - 1]
            at -= 1
        for c in range(codes.shape[1]):
            codes[at, c] = spare_codes[0, c]
        values[at], ids[at] = value, row


@internal
def _before(codes: Any, value: int, others: Any, other: int, d: int) -> bool:
    for j in range(d):
        if codes[j] != others[j]:
            return codes[j] < others[j]
    return value < other
