"""Recursive cutting of a table of codes: the compiled core of Mondrian and of every method that partitions like it.

One call of :func:`refine` takes a segment of rows and cuts it until no allowable cut is left, with an explicit stack.
Rows are moved physically, so that a segment is always contiguous. For every node it makes a histogram per column
and from it the candidate cuts; the best one whose sides are large enough and satisfy the predicates is taken.

Three kinds of columns: RANGE (cell = [low, high], loss = its length on the scale), SET (cell = the values present, loss
= their number less one), TREE (cell = lowest common node, loss = its leaves less one; codes are depth-first leaves).

Two rules for the cut. MEDIAN is LeFevre et al. 2006, Section 4: the widest column, at its median. BY_LOSS takes the cut
that saves most of the node's loss, counted over *all* columns: cutting one column also tightens the others. To know
that for every candidate at once, each code of each column keeps one word per column with a bit for every value it
occurs with; prefix and suffix unions of these words are the cells on either side of a cut. Columns with more than 64
values present share bits (64 bins), which blurs the score of a cut but never what is allowed or published.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from undercover.kernels.bits import count_bits, leading_zeros, lowest_bit
from undercover.kernels.predicates import all_hold

RANGE, SET, TREE = range(3)
BY_LOSS, MEDIAN = range(2)

MAX_SLOTS = 1024  # candidate cuts of one column in one node
EVERY_CHILD = -1  # first slot of a candidate that cuts a tree node into all its children
REFUSED = -np.inf  # score of a candidate whose sides do not satisfy the predicates


@njit(nogil=True, cache=True)
def lowest_common_node(tree: Any, leaf_start: int, node_start: int, low: int, high: int) -> int:
    """The lowest node above both depth-first leaves, as an index into the column's nodes."""
    first, last, parent, leaf_node = tree[0], tree[1], tree[2], tree[5]
    node = leaf_node[leaf_start + low]
    while last[node_start + node] < high or first[node_start + node] > low:
        node = parent[node_start + node]
    return node


@njit(nogil=True, cache=True)
def _cell_loss(columns: Any, tree: Any, j: int, low: int, high: int, distinct: float) -> float:
    """Weighted loss of a cell of column j that spans codes low..high and holds ``distinct`` values."""
    starts, kinds, weights, positions, units = columns[0], columns[1], columns[2], columns[3], columns[4]
    if kinds[j] == RANGE:
        return weights[j] * min(1.0, positions[starts[j] + high] - positions[starts[j] + low])
    if kinds[j] == SET:
        return weights[j] * max(0.0, distinct - 1.0) * units[j]
    node = lowest_common_node(tree, columns[5][j], columns[6][j], low, high)
    leaves = tree[1][columns[6][j] + node] - tree[0][columns[6][j] + node]
    return weights[j] * min(1.0, leaves * units[j])


@njit(nogil=True, cache=True)
def _present(histogram: Any, values: Any, start: int, low: int, high: int, codes: Any, j: int, s: int, e: int) -> int:
    """List the codes present in rows s..e in ascending order; return how many."""
    found = 0
    if high - low + 1 <= 8 * (e - s):
        for code in range(low, high + 1):
            if histogram[start + code] > 0:
                values[start + found] = code
                found += 1
        return found
    ordered = np.sort(codes[s:e, j])
    previous = -1
    for i in range(len(ordered)):
        code = np.int64(ordered[i])
        if code != previous:
            values[start + found] = code
            found += 1
            previous = code
    return found


@njit(nogil=True, cache=True)
def _by_frequency(values: Any, histogram: Any, start: int, found: int) -> None:
    """Reorder the listed codes by falling frequency; equal ones stay in code order."""
    if found > 64:
        counts = np.empty(found, np.int64)
        for i in range(found):
            counts[i] = -histogram[start + values[start + i]]
        values[start : start + found] = values[start : start + found][np.argsort(counts, kind="mergesort")]
        return
    for i in range(1, found):
        value = values[start + i]
        count = histogram[start + value]
        place = i
        while place > 0 and histogram[start + values[start + place - 1]] < count:
            values[start + place] = values[start + place - 1]
            place -= 1
        values[start + place] = value


@njit(nogil=True, cache=True)
def _word_loss(columns: Any, tree: Any, values: Any, j: int, found: int, word: Any) -> float:
    """Loss of the cell of column j whose present values are the bits of ``word``."""
    low = lowest_bit(word)
    high = 63 - leading_zeros(word)
    distinct = float(count_bits(word))
    if found > 64:
        low = (low * found + 63) // 64
        high = ((high + 1) * found + 63) // 64 - 1
        distinct *= found / 64.0
    start = columns[0][j]
    return _cell_loss(columns, tree, j, values[start + low], values[start + high], distinct)


@njit(nogil=True, cache=True)
def _side_holds(
    codes: Any, ids: Any, sensitive: Any, checks: Any, counts: Any, work: Any, slots: Any, start: int, j: int,
    s: int, e: int, a: int, b: int, inside: bool,
) -> bool:  # fmt: skip
    """Whether the rows of s..e whose slot lies in a..b (or outside of it) satisfy every predicate."""
    column_starts = checks[4]
    counts[:] = 0
    size = 0
    for p in range(s, e):
        slot = slots[start + codes[p, j]]
        if (a <= slot <= b) == inside:
            size += 1
            for c in range(sensitive.shape[1]):
                counts[column_starts[c] + sensitive[ids[p], c]] += 1
    return all_hold(
        counts, size, checks[0], checks[1], checks[2], checks[3], checks[4], checks[5], checks[6], checks[7], work
    )


@njit(nogil=True, cache=True)
def _move(
    codes: Any, packed: Any, ids: Any, packed_spare: Any, ids_spare: Any, slots: Any, start: int, j: int,
    s: int, e: int, a: int, b: int,
) -> int:  # fmt: skip
    """Bring the rows of s..e with slot in a..b to the front, keeping the order on both sides; return where they end."""
    left, right = s, s
    width = packed.shape[1]
    for p in range(s, e):
        slot = slots[start + codes[p, j]]
        row = ids[p]
        if a <= slot <= b:
            for w in range(width):
                packed[left, w] = packed[p, w]
            ids[left] = row
            left += 1
        else:
            for w in range(width):
                packed_spare[right, w] = packed[p, w]
            ids_spare[right] = row
            right += 1
    packed[left:e] = packed_spare[s:right]
    ids[left:e] = ids_spare[s:right]
    return left


@njit(nogil=True, cache=True)
def refine(
    codes: Any, packed: Any, ids: Any, packed_spare: Any, ids_spare: Any, begin: int, end: int, begin_bounds: Any,
    columns: Any, tree: Any, k: int, rule: int, regions: bool, sensitive: Any, checks: Any, big: int,
) -> Any:  # fmt: skip
    """Cut rows begin..end; a node larger than ``big`` is cut once and its parts handed back.

    Parameters
    ----------
    codes, packed
        (n, width) the same memory twice: as codes and as 64-bit words to move rows by.
    ids
        (n,) row number of each position; ``*_spare`` are scratch of the same shape.
    begin_bounds
        (d, 2) lowest and highest code of each column: the region, or bounds of the values present.
    columns
        starts (d+1,), kinds, weights, positions (by start + code), units (1 / (domain size - 1)), leaf starts, node
        starts.
    tree
        first, last, parent, child starts, children and leaf nodes of all TREE columns, one behind the other.
    checks
        the arrays of :func:`undercover.kernels.predicates.all_hold` behind ``size``.

    Returns
    -------
    leaves (groups, 2), leaf_bounds (groups, d, 2), pending (parts, 2), pending_bounds (parts, d, 2)
    """
    starts, kinds = columns[0], columns[1]
    d = len(kinds)
    total = starts[d]
    histogram = np.zeros(total, np.int64)
    values = np.empty(total, np.int64)
    slots = np.zeros(total, np.int64)
    words = np.zeros(total, np.uint64)
    found = np.zeros(d, np.int64)
    active = np.empty(d, np.int64)
    capacity = np.empty(d, np.int64)
    n_slots = 0
    for j in range(d):
        size = starts[j + 1] - starts[j]
        capacity[j] = size if kinds[j] == TREE else min(size, MAX_SLOTS)
        n_slots += capacity[j]
    first_slot = np.zeros(d + 1, np.int64)  # by position in `active`
    slot_rows = np.zeros(n_slots, np.int64)
    slot_high = np.zeros(n_slots, np.int64)  # highest listed value of the slot
    by_words = rule == BY_LOSS and not regions
    unions = np.zeros(n_slots * d if by_words else 0, np.uint64)
    suffix = np.zeros((n_slots + 1) * d if by_words else 0, np.uint64)
    row_words = np.zeros(d, np.uint64)
    inner = np.zeros(d, np.uint64)
    outer = np.zeros(d, np.uint64)
    gain = np.empty(3 * n_slots + d)
    cut_column = np.empty(3 * n_slots + d, np.int64)
    cut_from = np.empty(3 * n_slots + d, np.int64)
    cut_to = np.empty(3 * n_slots + d, np.int64)
    checking = len(checks[0]) > 0
    counts = np.zeros(checks[4][-1], np.int64)
    work = np.zeros(checks[4][-1] + 1)

    stack = np.empty((64, 2), np.int64)
    stack_bounds = np.empty((64, d, 2), np.int64)
    stack[0, 0], stack[0, 1] = begin, end
    stack_bounds[0] = begin_bounds
    depth = 1
    leaves = np.empty((64, 2), np.int64)
    leaf_bounds = np.empty((64, d, 2), np.int64)
    n_leaves = 0
    bounds = np.empty((d, 2), np.int64)

    while depth > 0:
        depth -= 1
        s, e = stack[depth, 0], stack[depth, 1]
        bounds[:] = stack_bounds[depth]
        m = e - s
        n_cuts = 0
        n_active = 0
        if m >= 2 * k:
            for p in range(s, e):
                for j in range(d):
                    histogram[starts[j] + codes[p, j]] += 1
            for j in range(d):
                found[j] = _present(histogram, values, starts[j], bounds[j, 0], bounds[j, 1], codes, j, s, e)
                if not regions:
                    bounds[j, 0] = values[starts[j]]
                    bounds[j, 1] = values[starts[j] + found[j] - 1]
                if found[j] > 1:
                    active[n_active] = j
                    n_active += 1
            for x in range(n_active):
                j = active[x]
                start, q = starts[j], found[j]
                if kinds[j] == SET and not regions:
                    _by_frequency(values, histogram, start, q)
                n = min(q, capacity[j])
                offset = first_slot[x]
                first_slot[x + 1] = offset + n
                slot_rows[offset : offset + n] = 0
                for rank in range(q):
                    code = values[start + rank]
                    slot = rank if n == q else rank * n // q
                    slots[start + code] = slot
                    words[start + code] = np.uint64(1) << np.uint64(rank if q <= 64 else rank * 64 // q)
                    slot_rows[offset + slot] += histogram[start + code]
                    slot_high[offset + slot] = code
            if by_words:
                unions[: first_slot[n_active] * n_active] = 0
                for p in range(s, e):
                    for x in range(n_active):
                        j = active[x]
                        row_words[x] = words[starts[j] + codes[p, j]]
                    for x in range(n_active):
                        j = active[x]
                        at = (first_slot[x] + slots[starts[j] + codes[p, j]]) * n_active
                        for y in range(n_active):
                            unions[at + y] |= row_words[y]

        before = 0.0
        for x in range(n_active):
            j = active[x]
            before += m * _cell_loss(columns, tree, j, bounds[j, 0], bounds[j, 1], float(found[j]))
        for x in range(n_active):
            j = active[x]
            start, offset = starts[j], first_slot[x]
            n = first_slot[x + 1] - offset
            span = bounds[j, 1] - bounds[j, 0] + 1.0 if regions else float(found[j])
            width = _cell_loss(columns, tree, j, bounds[j, 0], bounds[j, 1], span)
            if regions and kinds[j] == TREE:
                node = lowest_common_node(tree, columns[5][j], columns[6][j], bounds[j, 0], bounds[j, 1])
                cost, allowed, i = 0.0, True, 0
                at = columns[6][j] + node
                for c in range(tree[3][at + j], tree[3][at + j + 1]):
                    child = tree[4][c]
                    high = tree[1][columns[6][j] + child]
                    rows = 0
                    while i < n and values[start + i] <= high:
                        rows += slot_rows[offset + i]
                        i += 1
                    if rows > 0:
                        allowed = allowed and rows >= k
                        low = tree[0][columns[6][j] + child]
                        cost += rows * _cell_loss(columns, tree, j, low, high, 0.0)
                if allowed:
                    gain[n_cuts], cut_column[n_cuts] = (m * width - cost if rule == BY_LOSS else width), x
                    cut_from[n_cuts], cut_to[n_cuts] = EVERY_CHILD, node
                    n_cuts += 1
                continue
            if rule == MEDIAN:
                # LeFevre et al. 2006, Section 4: the widest column first, cut at the median.
                left, best, best_at = 0, m, -1
                for i in range(n - 1):
                    left += slot_rows[offset + i]
                    if left >= k and m - left >= k and abs(2 * left - m) < best:
                        best, best_at = abs(2 * left - m), i
                if best_at >= 0:
                    gain[n_cuts], cut_column[n_cuts], cut_from[n_cuts], cut_to[n_cuts] = width, x, 0, best_at
                    n_cuts += 1
                continue
            if regions:
                left = 0
                for i in range(n - 1):
                    left += slot_rows[offset + i]
                    if left < k or m - left < k:
                        continue
                    low, high, at = bounds[j, 0], bounds[j, 1], slot_high[offset + i]
                    cost = left * _cell_loss(columns, tree, j, low, at, at - low + 1.0)
                    cost += (m - left) * _cell_loss(columns, tree, j, at + 1, high, float(high - at))
                    gain[n_cuts], cut_column[n_cuts], cut_from[n_cuts], cut_to[n_cuts] = m * width - cost, x, 0, i
                    n_cuts += 1
                continue

            # The cut that saves most, counted over all columns.
            for y in range(n_active):
                suffix[n * n_active + y] = 0
            for i in range(n - 1, -1, -1):
                for y in range(n_active):
                    union = suffix[(i + 1) * n_active + y] | unions[(offset + i) * n_active + y]
                    suffix[i * n_active + y] = union
            inner[:n_active] = 0
            left = 0
            for i in range(n - 1):
                left += slot_rows[offset + i]
                for y in range(n_active):
                    inner[y] |= unions[(offset + i) * n_active + y]
                if left < k or m - left < k:
                    continue
                cost = 0.0
                for y in range(n_active):
                    q = found[active[y]]
                    cost += left * _word_loss(columns, tree, values, active[y], q, inner[y])
                    after = suffix[(i + 1) * n_active + y]
                    cost += (m - left) * _word_loss(columns, tree, values, active[y], q, after)
                gain[n_cuts], cut_column[n_cuts], cut_from[n_cuts], cut_to[n_cuts] = before - cost, x, 0, i
                n_cuts += 1
            if kinds[j] == TREE:
                # A node anywhere below the lowest common one against the rest, which keeps the upper label.
                top = lowest_common_node(tree, columns[5][j], columns[6][j], bounds[j, 0], bounds[j, 1])
                outer[:n_active] = 0
                for a in range(n):
                    node = tree[5][columns[5][j] + values[start + a]]
                    inner[:n_active] = 0
                    b, rows = a, 0
                    while node != top and (a == 0 or values[start + a - 1] < tree[0][columns[6][j] + node]):
                        grown = b
                        while b < n and values[start + b] <= tree[1][columns[6][j] + node]:
                            rows += slot_rows[offset + b]
                            for y in range(n_active):
                                inner[y] |= unions[(offset + b) * n_active + y]
                            b += 1
                        # A first or last run is a prefix cut and was counted above.
                        if 0 < a and grown < b < n and rows >= k and m - rows >= k:
                            cost = 0.0
                            for y in range(n_active):
                                q = found[active[y]]
                                cost += rows * _word_loss(columns, tree, values, active[y], q, inner[y])
                                rest = outer[y] | suffix[b * n_active + y]
                                cost += (m - rows) * _word_loss(columns, tree, values, active[y], q, rest)
                            gain[n_cuts], cut_column[n_cuts] = before - cost, x
                            cut_from[n_cuts], cut_to[n_cuts] = a, b - 1
                            n_cuts += 1
                        node = tree[2][columns[6][j] + node]
                    for y in range(n_active):
                        outer[y] |= unions[(offset + a) * n_active + y]

        if m >= 2 * k:
            for j in range(d):
                for i in range(found[j]):
                    histogram[starts[j] + values[starts[j] + i]] = 0

        chosen = -1
        while chosen < 0 and n_cuts > 0:
            best_cut = 0
            for c in range(1, n_cuts):
                if gain[c] > gain[best_cut]:
                    best_cut = c
            if gain[best_cut] == REFUSED:
                break
            j = active[cut_column[best_cut]]
            allowed = True
            if checking:
                if cut_from[best_cut] == EVERY_CHILD:
                    at = columns[6][j] + cut_to[best_cut]
                    i, n = 0, found[j]
                    for c in range(tree[3][at + j], tree[3][at + j + 1]):
                        high = tree[1][columns[6][j] + tree[4][c]]
                        a = i
                        while i < n and values[starts[j] + i] <= high:
                            i += 1
                        if allowed and i > a:
                            allowed = _side_holds(
                                codes, ids, sensitive, checks, counts, work, slots, starts[j], j, s, e, a, i - 1, True
                            )
                else:
                    a, b = cut_from[best_cut], cut_to[best_cut]
                    allowed = _side_holds(
                        codes, ids, sensitive, checks, counts, work, slots, starts[j], j, s, e, a, b, True
                    ) and _side_holds(
                        codes, ids, sensitive, checks, counts, work, slots, starts[j], j, s, e, a, b, False
                    )
            if allowed:
                chosen = best_cut
            else:
                gain[best_cut] = REFUSED

        if chosen < 0:
            if n_leaves == len(leaves):
                leaves = _grown2(leaves)
                leaf_bounds = _grown3(leaf_bounds)
            leaves[n_leaves, 0], leaves[n_leaves, 1] = s, e
            leaf_bounds[n_leaves] = bounds
            n_leaves += 1
            continue

        x = cut_column[chosen]
        j = active[x]
        if cut_from[chosen] == EVERY_CHILD:
            at = columns[6][j] + cut_to[chosen]
            i, n, here = 0, found[j], s
            for c in range(tree[3][at + j], tree[3][at + j + 1]):
                child = columns[6][j] + tree[4][c]
                a = i
                while i < n and values[starts[j] + i] <= tree[1][child]:
                    i += 1
                if i == a:
                    continue
                stop = _move(
                    codes, packed, ids, packed_spare, ids_spare, slots, starts[j], j, here, e, a, i - 1
                )
                if depth == len(stack):
                    stack = _grown2(stack)
                    stack_bounds = _grown3(stack_bounds)
                stack[depth, 0], stack[depth, 1] = here, stop
                stack_bounds[depth] = bounds
                stack_bounds[depth, j, 0], stack_bounds[depth, j, 1] = tree[0][child], tree[1][child]
                depth += 1
                here = stop
        else:
            a, b = cut_from[chosen], cut_to[chosen]
            stop = _move(codes, packed, ids, packed_spare, ids_spare, slots, starts[j], j, s, e, a, b)
            if depth + 2 > len(stack):
                stack = _grown2(stack)
                stack_bounds = _grown3(stack_bounds)
            stack[depth, 0], stack[depth, 1] = stop, e
            stack[depth + 1, 0], stack[depth + 1, 1] = s, stop
            stack_bounds[depth] = bounds
            stack_bounds[depth + 1] = bounds
            if regions:
                at = slot_high[first_slot[x] + b]
                stack_bounds[depth, j, 0] = at + 1
                stack_bounds[depth + 1, j, 1] = at
            depth += 2
        if m > big:
            break

    return leaves[:n_leaves], leaf_bounds[:n_leaves], stack[:depth], stack_bounds[:depth]


@njit(nogil=True, cache=True)
def _grown2(array: Any) -> Any:
    larger = np.empty((2 * len(array), array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(nogil=True, cache=True)
def _grown3(array: Any) -> Any:
    larger = np.empty((2 * len(array), array.shape[1], array.shape[2]), array.dtype)
    larger[: len(array)] = array
    return larger
