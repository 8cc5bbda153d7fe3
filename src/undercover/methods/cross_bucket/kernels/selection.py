"""Picking rows of given sensitive values that lie close together, again and again, from a kd-tree with live counts.

Every node of the tree knows how many rows of each sensitive value below it are still there. Only values that occur are
stored; an entry knows the entries of the same value in both children, so that going down one level costs one step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import inlined, internal, kernel
from undercover.compiled.shuffle import counting_order
from undercover.steps.cutting.arrays import Columns
from undercover.steps.cutting.nodes import TIE, cell_loss

MANY = 32  # rows of one value that are compared one by one
LEFT = 2  # the columns of `nodes`: start, end, left child, right child, column, cut


@kernel
def count_values(nodes: Any, values: Any, n_values: int) -> Any:
    """Live counts of every node: (roots, entries).

    An entry is (rows, entry of the same value in the left child, in the right child), -1 where a child does not have the
    value or there is none. ``roots[v]`` is the entry of value v at the root, -1 if it does not occur.
    """
    n_nodes = len(nodes)
    starts, ends = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    room = 4 * len(values) + 64
    names, entries = np.empty(room, np.int32), np.empty((room, 3), np.int32)
    total = 0
    for node in range(n_nodes - 1, -1, -1):  # children have greater numbers
        if total + nodes[node, 1] - nodes[node, 0] > len(names):
            longer_names, longer_entries = np.empty(2 * len(names), np.int32), np.empty((2 * len(names), 3), np.int32)
            longer_names[:total], longer_entries[:total] = names[:total], entries[:total]
            names, entries = longer_names, longer_entries
        starts[node] = total
        if nodes[node, 2] < 0:
            ordered = np.sort(values[nodes[node, 0] : nodes[node, 1]])
            for i in range(len(ordered)):
                if i > 0 and ordered[i] == ordered[i - 1]:
                    entries[total - 1, 0] += 1
                else:
                    names[total] = ordered[i]
                    entries[total, 0], entries[total, 1], entries[total, 2] = 1, -1, -1
                    total += 1
        else:
            a, b = starts[nodes[node, 2]], starts[nodes[node, 3]]
            a_end, b_end = ends[nodes[node, 2]], ends[nodes[node, 3]]
            while a < a_end or b < b_end:
                in_left = b == b_end or (a < a_end and names[a] <= names[b])
                in_right = a == a_end or (b < b_end and names[b] <= names[a])
                names[total] = names[a] if in_left else names[b]
                entries[total, 0] = (entries[a, 0] if in_left else 0) + (entries[b, 0] if in_right else 0)
                entries[total, 1] = a if in_left else -1
                entries[total, 2] = b if in_right else -1
                total += 1
                a += in_left
                b += in_right
        ends[node] = total
    roots = np.full(n_values, -1, np.int64)
    for entry in range(starts[0], ends[0]):
        roots[names[entry]] = entry
    return roots, entries[:total].copy()


@kernel
def select_rows(
    nodes: Any, roots: Any, entries: Any, codes: Any, values: Any, members: Any, offsets: Any, repeats: Any,
    columns: Columns,
) -> Any:  # fmt: skip
    """Pick rows for every set of values, as often as it is repeated; uses up ``entries``.

    Down from the root as long as a child has all values of the set, left before right. There the value with fewest rows
    gives the seed, and every other value the row that is nearest to it.

    Returns
    -------
    (n,) positions, set after set in the order of the plan, within a set in the order of its values.
    """
    n = len(values)
    picked = np.empty(n, np.int64)
    order, starts = counting_order(values, len(roots))  # the rows of each value, in the order of the tree
    place = np.empty(n, np.int32)
    for i in range(n):
        place[order[i]] = i
    # Live neighbours among the rows of a value: place i is live if after[i] == i, and so is before[i + 1] == i + 1.
    after, before = np.arange(n + 1).astype(np.int32), np.arange(n + 1).astype(np.int32)
    longest = np.int64(1)
    for i in range(len(repeats)):
        longest = max(longest, offsets[i + 1] - offsets[i])
    at = np.empty(longest, np.int64)  # the entry of each value of the set at the current node
    done = 0
    for i in range(len(repeats)):
        chosen = members[offsets[i] : offsets[i + 1]]
        size = len(chosen)
        for _ in range(repeats[i]):
            for s in range(size):
                at[s] = roots[chosen[s]]
            node = np.int64(0)
            while nodes[node, LEFT] >= 0:
                if _has_all(at, size, entries, 1):
                    side = 1
                elif _has_all(at, size, entries, 2):
                    side = 2
                else:
                    break
                node = np.int64(nodes[node, LEFT - 1 + side])
                for s in range(size):
                    at[s] = entries[at[s], side]
            rarest = 0
            for s in range(1, size):
                if entries[at[s], 0] <= entries[at[rarest], 0]:
                    rarest = s
            low, high = np.int64(nodes[node, 0]), np.int64(nodes[node, 1])
            begin, stop = starts[chosen[rarest]], starts[chosen[rarest] + 1]
            seed = np.int64(order[_live(after, _place(order, begin, stop, low))])
            for s in range(size):
                picked[done + s] = seed
                if s != rarest:
                    begin, stop = starts[chosen[s]], starts[chosen[s] + 1]
                    picked[done + s] = _near_row(order, begin, stop, after, before, codes, low, high, seed, columns)
            for s in range(size):
                row = picked[done + s]
                _take(nodes, roots, entries, chosen[s], row)
                after[place[row]] = place[row] + 1
                before[place[row] + 1] = place[row]
            done += size
    return picked


@internal
def _has_all(at: Any, size: int, entries: Any, side: int) -> bool:
    for s in range(size - 1, -1, -1):  # the rarest value is the last
        child = entries[at[s], side]
        if child < 0 or entries[child, 0] == 0:
            return False
    return True


@internal
def _place(order: Any, begin: int, stop: int, row: int) -> int:
    """Where in ``order[begin:stop]`` (ascending) rows from ``row`` on begin."""
    while begin < stop:
        middle = (begin + stop) // 2
        if order[middle] < row:
            begin = middle + 1
        else:
            stop = middle
    return begin


@inlined
def _near_row(
    order: Any, begin: int, stop: int, after: Any, before: Any, codes: Any, low: int, high: int, seed: int,
    columns: Columns,
) -> Any:  # fmt: skip
    """Of the live rows ``order[begin:stop]`` (ascending) from ``low`` to ``high``, the one nearest to the seed.

    Only the ``MANY`` that stand closest to it in the order of the tree are compared.
    """
    bottom = _place(order, begin, stop, seed)
    right, left = _live(after, bottom), _live(before, bottom)  # `before` is shifted by one
    best, least = np.int64(-1), 0.0
    for _ in range(MANY):
        on_left = left > begin and order[left - 1] >= low
        on_right = right < stop and order[right] < high
        if not on_left and not on_right:
            break
        if on_right and (not on_left or order[right] - seed <= seed - order[left - 1]):
            row = order[right]
            right = _live(after, right + 1)
        else:
            row = order[left - 1]
            left = _live(before, left - 1)
        apart = 0.0  # what a cell around both rows loses, summed over the columns
        for j in range(len(columns.kinds)):
            one, other = np.int64(codes[seed, j]), np.int64(codes[row, j])
            if one != other:
                apart += cell_loss(columns, j, min(one, other), max(one, other), 2.0)
        if best < 0 or apart < least - TIE:
            best, least = row, apart
    return best


@internal
def _live(links: Any, place: int) -> int:
    """Follow links to the next one that points at itself, and shorten the way for those who come after."""
    while links[place] != place:
        links[place] = links[links[place]]
        place = links[place]
    return place


@internal
def _take(nodes: Any, roots: Any, entries: Any, value: int, row: int) -> None:
    """One row less, from the root down to its leaf."""
    node, entry = np.int64(0), np.int64(roots[value])
    entries[entry, 0] -= 1
    while nodes[node, LEFT] >= 0:
        side = 1 if row < nodes[nodes[node, LEFT], 1] else 2
        node, entry = np.int64(nodes[node, LEFT - 1 + side]), np.int64(entries[entry, side])
        entries[entry, 0] -= 1
