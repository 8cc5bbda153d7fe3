"""Recursive cutting of a table of codes: the compiled core of Mondrian and of every method that partitions like it.

One call of :func:`refine` takes a segment of rows and cuts it until no allowable cut is left, with an explicit stack.
Rows are moved physically, so that a segment is always contiguous. For every node it makes a histogram per column
and from it the candidate cuts; the best one whose sides are large enough and satisfy the predicates is taken.

Three kinds of columns: RANGE (cell = [low, high], loss = its length on the scale), SET (cell = the values present, loss
= their number less one), TREE (cell = lowest common node, loss = its leaves less one; codes are depth-first leaves).

Rules for the cut. MEDIAN is LeFevre et al. 2006, Section 4: the widest column, at the cut nearest to its median.
PAPERS_MEDIAN is Algorithm 2 of Li, Wang & He ("mutual cover"): values up to the lower median go left, categories in the
order of their codes; where that is everything the column is not cut. LOWER_MEDIAN cuts off the largest value there.
BY_LOSS takes the cut that saves most of the node's loss, counted over *all* columns: cutting one column also tightens the others. To know
that for every candidate at once, each code of each column keeps one word per column with a bit for every value it
occurs with; prefix and suffix unions of these words are the cells on either side of a cut. Columns with more than 64
values present share bits (64 bins), which blurs the score of a cut but never what is allowed or published.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel
from undercover.compiled.words import count_bits, leading_zeros, lowest_bit
from undercover.steps.cutting.predicates import all_hold

RANGE, SET, TREE = range(3)
BY_LOSS, MEDIAN, LOWER_MEDIAN, PAPERS_MEDIAN = range(4)

MAX_SLOTS = 1024  # candidate cuts of one column in one node
EVERY_CHILD = -1  # first slot of a candidate that cuts a tree node into all its children
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
TIE = 1e-12  # loss per row below which two cuts are equally good
REFUSED = -np.inf  # score of a candidate whose sides do not satisfy the predicates


@kernel
def lowest_common_node(
    first: Any, last: Any, parent: Any, leaf_node: Any, leaf_start: int, node_start: int, low: int, high: int
) -> int:
    """The lowest node above both depth-first leaves, as an index into the column's nodes."""
    node = leaf_node[leaf_start + low]
    while last[node_start + node] < high or first[node_start + node] > low:
        node = parent[node_start + node]
    return node


@internal
def _tree_loss(
    first: Any,
    last: Any,
    parent: Any,
    leaf_node: Any,
    leaf_start: int,
    node_start: int,
    unit: float,
    low: int,
    high: int,
) -> float:
    """Share of the tree's leaves that the lowest node above ``low`` and ``high`` stands for beyond one."""
    node = lowest_common_node(first, last, parent, leaf_node, leaf_start, node_start, low, high)
    return min(1.0, (last[node_start + node] - first[node_start + node]) * unit)


@internal
def _cell_loss(
    kinds: Any, weights: Any, units: Any, starts: Any, positions: Any, first: Any, last: Any, parent: Any, leaf_node: Any,
    leaf_starts: Any, node_starts: Any, j: int, low: int, high: int, distinct: float,
) -> float:  # fmt: skip
    """Weighted loss of a cell of column j that spans codes low..high and holds ``distinct`` values."""
    if kinds[j] == RANGE:
        return weights[j] * min(1.0, positions[starts[j] + high] - positions[starts[j] + low])
    if kinds[j] == SET:
        return weights[j] * max(0.0, distinct - 1.0) * units[j]
    return weights[j] * _tree_loss(first, last, parent, leaf_node, leaf_starts[j], node_starts[j], units[j], low, high)


@internal
def _clear(array: Any, begin: int, end: int) -> None:
    for i in range(begin, end):
        array[i] = 0


@internal
def _shell_sort(values: Any, start: int, n: int, rank: Any, by_rank: bool) -> None:
    """Sort ``values[start:start + n]``: ascending, or by falling ``rank[start + value]`` and then ascending."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            value = values[start + i]
            place = i
            while place >= gap:
                other = values[start + place - gap]
                if by_rank and rank[start + other] != rank[start + value]:
                    if rank[start + other] > rank[start + value]:
                        break
                elif other <= value:
                    break
                values[start + place] = other
                place -= gap
            values[start + place] = value
        gap = 1 if gap == 2 else gap * 5 // 11


@internal
def _present(histogram: Any, values: Any, start: int, low: int, high: int, codes: Any, j: int, s: int, e: int) -> int:
    """List the codes present in rows s..e in ascending order; return how many."""
    found = 0
    if high - low + 1 <= 8 * (e - s):
        for code in range(low, high + 1):
            if histogram[start + code] > 0:
                values[start + found] = code
                found += 1
        return found
    # A wide column in a small node: look at the rows, not at the domain.
    for p in range(s, e):
        values[start + p - s] = codes[p, j]
    _shell_sort(values, start, e - s, histogram, False)
    for i in range(e - s):
        code = values[start + i]
        if found == 0 or values[start + found - 1] != code:
            values[start + found] = code
            found += 1
    return found


@internal
def _row_loss(
    kinds: Any, weights: Any, units: Any, found: Any, active: Any, n_active: int, fields: Any, words: Any, at: int,
    bit_low: Any, bit_high: Any, first: Any, last: Any, parent: Any, leaf_node: Any, leaf_starts: Any, node_starts: Any,
) -> float:  # fmt: skip
    """Loss of one row of cells; the values present in each column are the bits of its field in ``words[at:]``.

    ``bit_low`` and ``bit_high`` say where on its scale (RANGE) or on which leaf (TREE) the lowest and the highest value
    of a bit lie.
    """
    total = 0.0
    for y in range(n_active):
        j = active[y]
        field = (words[at + fields[y, 0]] >> np.uint64(fields[y, 1])) & (ALL_BITS >> np.uint64(64 - fields[y, 2]))
        kind = kinds[j]
        if kind == SET:
            distinct = float(count_bits(field))
            if found[j] > 64:
                distinct *= found[j] / 64.0
            total += weights[j] * max(0.0, distinct - 1.0) * units[j]
            continue
        low = bit_low[y, lowest_bit(field)]
        high = bit_high[y, 63 - leading_zeros(field)]
        if kind == RANGE:
            total += weights[j] * min(1.0, high - low)
        else:
            total += weights[j] * _tree_loss(
                first, last, parent, leaf_node, leaf_starts[j], node_starts[j], units[j], int(low), int(high)
            )
    return total


@internal
def _two_losses(
    kinds: Any, weights: Any, units: Any, found: Any, active: Any, n_active: int, fields: Any, sides: Any, width: int,
    rows: int, other_rows: int, bit_low: Any, bit_high: Any, first: Any, last: Any, parent: Any, leaf_node: Any,
    leaf_starts: Any, node_starts: Any,
) -> float:  # fmt: skip
    """Loss of both sides of a cut, whose words lie in ``sides[:width]`` and ``sides[width:]``."""
    total = 0.0
    for side in range(2):
        total += (rows if side == 0 else other_rows) * _row_loss(
            kinds, weights, units, found, active, n_active, fields, sides, side * width, bit_low, bit_high,
            first, last, parent, leaf_node, leaf_starts, node_starts,
        )  # fmt: skip
    return total


@internal
def _lay_out(found: Any, active: Any, n_active: int, fields: Any, word_starts: Any) -> int:
    """Give every active column a field of at most 64 bits, several to a word, and order the columns by word.

    ``word_starts[w]:word_starts[w + 1]`` are then the columns of word w. Returns the number of words.
    """
    n_words, placed = 0, 0
    while placed < n_active:
        word_starts[n_words] = placed
        used = 0
        for y in range(placed, n_active):
            width = min(found[active[y]], 64)
            if used + width <= 64:
                active[placed], active[y] = active[y], active[placed]
                fields[placed, 0], fields[placed, 1], fields[placed, 2] = n_words, used, width
                used += width
                placed += 1
        n_words += 1
    word_starts[n_words] = n_active
    return n_words


@internal
def _collect(
    codes: Any, active: Any, n_active: int, active_starts: Any, places: Any, words: Any, word_starts: Any, n_words: int,
    unions: Any, row_words: Any, row_places: Any, s: int, e: int,
) -> None:  # fmt: skip
    """For every slot of every active column, which values its rows s..e have in all the active columns.

    ``places`` is where the words of a code's slot begin in ``unions``, ``words`` the code's bit in its own word.
    """
    if n_words == 1:
        for p in range(s, e):
            word = np.uint64(0)
            for x in range(n_active):
                i = active_starts[x] + codes[p, active[x]]
                word |= words[i]
                row_places[x] = places[i]
            for x in range(n_active):
                unions[row_places[x]] |= word
        return
    for p in range(s, e):
        for w in range(n_words):
            word = np.uint64(0)
            for x in range(word_starts[w], word_starts[w + 1]):
                i = active_starts[x] + codes[p, active[x]]
                word |= words[i]
                row_places[x] = places[i]
            row_words[w] = word
        for x in range(n_active):
            at = row_places[x]
            for w in range(n_words):
                unions[at + w] |= row_words[w]


@internal
def _best(gain: Any, n_cuts: int, cut_column: Any, active: Any, rows: int) -> int:
    """The best candidate; of those that differ by rounding only, the first one of the first column."""
    highest = gain[0]
    for c in range(1, n_cuts):
        highest = max(highest, gain[c])
    best = -1
    for c in range(n_cuts):
        if gain[c] >= highest - TIE * rows and (best < 0 or active[cut_column[c]] < active[cut_column[best]]):
            best = c
    return best


@internal
def _parts_hold(
    codes: Any, ids: Any, sensitive: Any, checks: Any, counts: Any, work: Any, part_of_slot: Any, slots: Any, start: int,
    j: int, s: int, e: int, n_parts: int,
) -> bool:  # fmt: skip
    """Whether every part of the rows s..e satisfies every predicate; a row's part is that of its slot."""
    kinds, columns, limits, seconds, column_starts, reference, level_starts, level_codes = checks
    for part in range(n_parts):
        _clear(counts, 0, len(counts))
        size = 0
        for p in range(s, e):
            if part_of_slot[slots[start + codes[p, j]]] == part:
                size += 1
                for c in range(sensitive.shape[1]):
                    counts[column_starts[c] + sensitive[ids[p], c]] += 1
        if size > 0 and not all_hold(
            counts, size, kinds, columns, limits, seconds, column_starts, reference, level_starts, level_codes, work
        ):
            return False
    return True


@internal
def _move(
    codes: Any, packed: Any, ids: Any, packed_spare: Any, ids_spare: Any, part_of_slot: Any, slots: Any, start: int,
    j: int, s: int, e: int, part: int,
) -> int:  # fmt: skip
    """Bring the rows of s..e that belong to ``part`` to the front, keeping the order; return where they end."""
    left, right = s, s
    width = packed.shape[1]
    for p in range(s, e):
        # Every row is written to both sides and only one of them advances: no branch to mispredict.
        taken = np.int64(part_of_slot[slots[start + codes[p, j]]] == part)
        row = ids[p]
        for w in range(width):
            word = packed[p, w]
            packed[left, w] = word
            packed_spare[right, w] = word
        ids[left] = row
        ids_spare[right] = row
        left += taken
        right += 1 - taken
    for p in range(right - s):
        for w in range(width):
            packed[left + p, w] = packed_spare[s + p, w]
        ids[left + p] = ids_spare[s + p]
    return left


@kernel
def refine(
    codes: Any, packed: Any, ids: Any, packed_spare: Any, ids_spare: Any, begin: int, end: int, begin_bounds: Any,
    columns: Any, tree: Any, k: int, rule: int, regions: bool, sensitive: Any, checks: Any, big: int,
    tried: Any = None, n_tried: Any = None,
) -> Any:  # fmt: skip
    """Cut rows begin..end; a node larger than ``big`` is cut once and its parts handed back.

    Parameters
    ----------
    codes, packed
        (n, width) the same memory twice: as codes and as 64-bit words to move rows by.
    ids
        (n,) row number of each position; ``*_spare`` are scratch of the same shape.
    begin_bounds
        (2 d,) lowest and highest code of each column: the region, or bounds of the values present.
    columns
        starts (d+1,), kinds, weights, positions (by start + code), units (1 / (domain size - 1)), leaf starts, node
        starts.
    tree
        first, last, parent, child starts, children and leaf nodes of all TREE columns, one behind the other.
    checks
        the arrays of :func:`undercover.steps.cutting.predicates.all_hold` behind ``size``.
    tried, n_tried
        where somebody follows the cuts of one node (``big`` = 0): (room, rows) the part of each row in every cut that
        is tried, in turn, and (1,) how many there were, even if they did not fit.

    Returns
    -------
    leaves (groups, 2 + 2 d), pending (parts, 2 + 2 d)
        One row per part: where it begins and ends, then its bounds.
    """
    starts, kinds, weights, positions, units, leaf_starts, node_starts = columns
    first, last, parent, child_starts, children, leaf_node = tree
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
    fields = np.zeros((d, 3), np.int64)  # by position in `active`: word, first bit, number of bits
    word_starts = np.zeros(d + 1, np.int64)
    active_starts = np.zeros(d, np.int64)
    row_places = np.zeros(d, np.int64)
    places = np.zeros(total, np.int64)
    part_of_slot = np.zeros(max(MAX_SLOTS, total), np.int64)
    bit_low = np.zeros((d, 64))
    bit_high = np.zeros((d, 64))
    n_words = 0
    inner = np.zeros(d, np.uint64)
    outer = np.zeros(d, np.uint64)
    sides = np.zeros(2 * d, np.uint64)
    gain = np.empty(3 * n_slots + d)
    cut_column = np.empty(3 * n_slots + d, np.int64)
    cut_from = np.empty(3 * n_slots + d, np.int64)
    cut_to = np.empty(3 * n_slots + d, np.int64)
    checking = len(checks[0]) > 0
    counts = np.zeros(checks[4][-1], np.int64)
    work = np.zeros(checks[4][-1] + 1)

    # A node is a row: where it begins and ends, then the lowest and highest code of each column.
    stack = np.empty((64, 2 + 2 * d), np.int64)
    _put(stack, 0, begin, end, begin_bounds)
    depth = 1
    leaves = np.empty((64, 2 + 2 * d), np.int64)
    n_leaves = 0
    bounds = np.empty(2 * d, np.int64)

    while depth > 0:
        depth -= 1
        s, e = stack[depth, 0], stack[depth, 1]
        for i in range(2 * d):
            bounds[i] = stack[depth, 2 + i]
        m = e - s
        n_cuts = 0
        n_active = 0
        if m >= 2 * k:
            for p in range(s, e):
                for j in range(d):
                    histogram[starts[j] + codes[p, j]] += 1
            for j in range(d):
                found[j] = _present(histogram, values, starts[j], bounds[2 * j], bounds[2 * j + 1], codes, j, s, e)
                if not regions:
                    bounds[2 * j] = values[starts[j]]
                    bounds[2 * j + 1] = values[starts[j] + found[j] - 1]
                if found[j] > 1:
                    active[n_active] = j
                    n_active += 1
            n_words = _lay_out(found, active, n_active, fields, word_starts)
            for x in range(n_active):
                j = active[x]
                start, q = starts[j], found[j]
                if kinds[j] == SET and not regions and rule <= MEDIAN:
                    _shell_sort(values, start, q, histogram, True)
                n = min(q, capacity[j])
                offset = first_slot[x]
                first_slot[x + 1] = offset + n
                _clear(slot_rows, offset, offset + n)
                active_starts[x] = start
                last_bit = -1
                for rank in range(q):
                    code = values[start + rank]
                    slot = rank if n == q else rank * n // q
                    slots[start + code] = slot
                    bit = rank if q <= 64 else rank * 64 // q
                    words[start + code] = np.uint64(1) << np.uint64(fields[x, 1] + bit)
                    places[start + code] = (offset + slot) * n_words
                    if by_words and kinds[j] != SET:
                        where = positions[start + code] if kinds[j] == RANGE else float(code)
                        if bit != last_bit:
                            bit_low[x, bit] = where
                        bit_high[x, bit] = where
                        last_bit = bit
                    slot_rows[offset + slot] += histogram[start + code]
                    slot_high[offset + slot] = code
            if by_words:
                _clear(unions, 0, first_slot[n_active] * n_words)
                _collect(
                    codes, active, n_active, active_starts, places, words, word_starts, n_words,
                    unions, row_words, row_places, s, e,
                )  # fmt: skip

        before = 0.0
        for x in range(n_active):
            j = active[x]
            before += m * _cell_loss(
                kinds,
                weights,
                units,
                starts,
                positions,
                first,
                last,
                parent,
                leaf_node,
                leaf_starts,
                node_starts,
                j,
                bounds[2 * j],
                bounds[2 * j + 1],
                float(found[j]),
            )
        for x in range(n_active):
            j = active[x]
            start, offset = starts[j], first_slot[x]
            n = first_slot[x + 1] - offset
            span = bounds[2 * j + 1] - bounds[2 * j] + 1.0 if regions else float(found[j])
            width = _cell_loss(
                kinds,
                weights,
                units,
                starts,
                positions,
                first,
                last,
                parent,
                leaf_node,
                leaf_starts,
                node_starts,
                j,
                bounds[2 * j],
                bounds[2 * j + 1],
                span,
            )
            if regions and kinds[j] == TREE:
                node = lowest_common_node(
                    first, last, parent, leaf_node, leaf_starts[j], node_starts[j], bounds[2 * j], bounds[2 * j + 1]
                )
                cost, allowed, i = 0.0, True, 0
                at = node_starts[j] + node
                for c in range(child_starts[at + j], child_starts[at + j + 1]):
                    child = children[c]
                    high = last[node_starts[j] + child]
                    rows = 0
                    while i < n and values[start + i] <= high:
                        rows += slot_rows[offset + i]
                        i += 1
                    if rows > 0:
                        allowed = allowed and rows >= k
                        low = first[node_starts[j] + child]
                        cost += rows * _cell_loss(
                            kinds,
                            weights,
                            units,
                            starts,
                            positions,
                            first,
                            last,
                            parent,
                            leaf_node,
                            leaf_starts,
                            node_starts,
                            j,
                            low,
                            high,
                            0.0,
                        )
                if allowed:
                    gain[n_cuts], cut_column[n_cuts] = (m * width - cost if rule == BY_LOSS else width), x
                    cut_from[n_cuts], cut_to[n_cuts] = EVERY_CHILD, node
                    n_cuts += 1
                continue
            if rule >= LOWER_MEDIAN:
                left, i = slot_rows[offset], 0
                while 2 * left < m:
                    i += 1
                    left += slot_rows[offset + i]
                if i == n - 1 and rule == LOWER_MEDIAN:
                    left -= slot_rows[offset + i]
                    i -= 1
                if i < n - 1 and left >= k and m - left >= k:
                    gain[n_cuts], cut_column[n_cuts], cut_from[n_cuts], cut_to[n_cuts] = width, x, 0, i
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
                    low, high, at = bounds[2 * j], bounds[2 * j + 1], slot_high[offset + i]
                    cost = left * _cell_loss(
                        kinds,
                        weights,
                        units,
                        starts,
                        positions,
                        first,
                        last,
                        parent,
                        leaf_node,
                        leaf_starts,
                        node_starts,
                        j,
                        low,
                        at,
                        at - low + 1.0,
                    )
                    cost += (m - left) * _cell_loss(
                        kinds,
                        weights,
                        units,
                        starts,
                        positions,
                        first,
                        last,
                        parent,
                        leaf_node,
                        leaf_starts,
                        node_starts,
                        j,
                        at + 1,
                        high,
                        float(high - at),
                    )
                    gain[n_cuts], cut_column[n_cuts], cut_from[n_cuts], cut_to[n_cuts] = m * width - cost, x, 0, i
                    n_cuts += 1
                continue

            # The cut that saves most, counted over all columns.
            _clear(suffix, n * n_words, (n + 1) * n_words)
            for i in range(n - 1, -1, -1):
                for w in range(n_words):
                    suffix[i * n_words + w] = suffix[(i + 1) * n_words + w] | unions[(offset + i) * n_words + w]
            _clear(inner, 0, n_words)
            left = 0
            for i in range(n - 1):
                left += slot_rows[offset + i]
                for w in range(n_words):
                    inner[w] |= unions[(offset + i) * n_words + w]
                if left < k or m - left < k:
                    continue
                for w in range(n_words):
                    sides[w], sides[d + w] = inner[w], suffix[(i + 1) * n_words + w]
                cost = _two_losses(
                    kinds, weights, units, found, active, n_active, fields, sides, d, left, m - left, bit_low, bit_high,
                    first, last, parent, leaf_node, leaf_starts, node_starts,
                )  # fmt: skip
                gain[n_cuts], cut_column[n_cuts], cut_from[n_cuts], cut_to[n_cuts] = before - cost, x, 0, i
                n_cuts += 1
            if kinds[j] == TREE:
                # A node anywhere below the lowest common one against the rest, which keeps the upper label.
                top = lowest_common_node(
                    first, last, parent, leaf_node, leaf_starts[j], node_starts[j], bounds[2 * j], bounds[2 * j + 1]
                )
                _clear(outer, 0, n_words)
                for a in range(n):
                    node = leaf_node[leaf_starts[j] + values[start + a]]
                    _clear(inner, 0, n_words)
                    b, rows = a, 0
                    while node != top and (a == 0 or values[start + a - 1] < first[node_starts[j] + node]):
                        grown = b
                        while b < n and values[start + b] <= last[node_starts[j] + node]:
                            rows += slot_rows[offset + b]
                            for w in range(n_words):
                                inner[w] |= unions[(offset + b) * n_words + w]
                            b += 1
                        # A first or last run is a prefix cut and was counted above.
                        if 0 < a and grown < b < n and rows >= k and m - rows >= k:
                            for w in range(n_words):
                                sides[w], sides[d + w] = inner[w], outer[w] | suffix[b * n_words + w]
                            cost = _two_losses(
                                kinds, weights, units, found, active, n_active, fields, sides, d, rows, m - rows, bit_low, bit_high,
                                first, last, parent, leaf_node, leaf_starts, node_starts,
                            )  # fmt: skip
                            gain[n_cuts], cut_column[n_cuts] = before - cost, x
                            cut_from[n_cuts], cut_to[n_cuts] = a, b - 1
                            n_cuts += 1
                        node = parent[node_starts[j] + node]
                    for w in range(n_words):
                        outer[w] |= unions[(offset + a) * n_words + w]

        if m >= 2 * k:
            for j in range(d):
                for i in range(found[j]):
                    histogram[starts[j] + values[starts[j] + i]] = 0

        chosen = -1
        while chosen < 0 and n_cuts > 0:
            best_cut = _best(gain, n_cuts, cut_column, active, m)
            if gain[best_cut] == REFUSED:
                break
            j = active[cut_column[best_cut]]
            # The parts of the cut, by slot: the children of the node, or what is taken out and the rest.
            n_parts, a, b = 2, cut_from[best_cut], cut_to[best_cut]
            for i in range(first_slot[cut_column[best_cut] + 1] - first_slot[cut_column[best_cut]]):
                part_of_slot[i] = 1 - (np.int64(a <= i) & np.int64(i <= b))
            if a == EVERY_CHILD:
                i, n_parts = 0, 0
                for c in range(child_starts[node_starts[j] + b + j], child_starts[node_starts[j] + b + j + 1]):
                    while i < found[j] and values[starts[j] + i] <= last[node_starts[j] + children[c]]:
                        part_of_slot[i] = n_parts
                        i += 1
                    n_parts += 1
            if tried is not None:
                if n_tried[0] < tried.shape[0]:
                    for p in range(s, e):
                        tried[n_tried[0], p - s] = part_of_slot[slots[starts[j] + codes[p, j]]]
                n_tried[0] += 1
            allowed = not checking or _parts_hold(
                codes, ids, sensitive, checks, counts, work, part_of_slot, slots, starts[j], j, s, e, n_parts
            )
            if allowed:
                chosen = best_cut
            else:
                gain[best_cut] = REFUSED

        if chosen < 0:
            if n_leaves == len(leaves):
                leaves = _grown(leaves)
            _put(leaves, n_leaves, s, e, bounds)
            n_leaves += 1
            continue

        x = cut_column[chosen]
        j = active[x]
        children_from = child_starts[node_starts[j] + b + j] if a == EVERY_CHILD else 0
        here = s
        for part in range(n_parts):
            stop = _move(codes, packed, ids, packed_spare, ids_spare, part_of_slot, slots, starts[j], j, here, e, part)
            if stop == here:
                continue
            if depth == len(stack):
                stack = _grown(stack)
            _put(stack, depth, here, stop, bounds)
            if a == EVERY_CHILD:
                child = node_starts[j] + children[children_from + part]
                stack[depth, 2 + 2 * j], stack[depth, 3 + 2 * j] = first[child], last[child]
            elif regions:
                at = slot_high[first_slot[x] + b]
                stack[depth, 2 + 2 * j + 1 - part] = at + part
            depth += 1
            here = stop
        if m > big:
            break

    return leaves[:n_leaves], stack[:depth]


@internal
def _grown(array: Any) -> Any:
    """The same rows in an array twice as long."""
    larger = np.empty((2 * array.shape[0], array.shape[1]), array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            larger[i, j] = array[i, j]
    return larger


@internal
def _put(target: Any, at: int, begin: int, end: int, bounds: Any) -> None:
    """Write one node: where it begins and ends, and its bounds."""
    target[at, 0], target[at, 1] = begin, end
    for i in range(len(bounds)):
        target[at, 2 + i] = bounds[i]
