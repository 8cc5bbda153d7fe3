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

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import borrowing, inlined, internal, kernel
from undercover.compiled.words import count_bits, leading_zeros, lowest_bit
from undercover.steps.cutting.arrays import BY_LOSS, LOWER_MEDIAN, MEDIAN, RANGE, SET, TREE, Columns, Rows, Task
from undercover.steps.cutting.nodes import (
    TIE,
    all_hold,
    cell_loss,
    grown,
    lowest_common_node,
    present,
    put,
    shell_sort,
    tree_loss,
)

MAX_SLOTS = 1024  # candidate cuts of one column in one node
EVERY_CHILD = -1  # first slot of a candidate that cuts a tree node into all its children
NONE = -1
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
REFUSED = -np.inf  # score of a candidate whose sides do not satisfy the predicates


class _Node(NamedTuple):
    """What is known of the rows of one node; the values of a column lie behind its start.

    The columns with more than one value are *active*; their slots lie one behind the other in the order of ``active``.
    """

    bounds: Any  # (2 d,) lowest and highest code of each column
    histogram: Any  # by start + code
    values: Any  # by start + rank: the codes present in the order of cutting
    slots: Any  # by start + code
    found: Any  # (d,) number of values
    active: Any  # (d,)
    first_slot: Any  # (d + 1,) by place in ``active``
    slot_rows: Any  # (slots,)
    slot_high: Any  # (slots,) highest listed value
    part_of_slot: Any  # of the slots of one column
    counts: Any  # of the sensitive values of one part
    per_unit: Any  # rows of one part by person
    work: Any  # scratch


class _Words(NamedTuple):
    """Which values of all active columns occur together, as fields of bits in ``n_words`` words."""

    fields: Any  # (d, 3) by place in ``active``: word, first bit, number of bits
    starts: Any  # (d + 1,) place in ``active`` of the first column of each word
    own: Any  # by start + code: the bit of the code in the word of its column
    places: Any  # by start + code: where the words of its slot begin in ``unions``
    unions: Any  # the words of every slot
    suffix: Any  # the words of a slot of one column and all behind it
    bit_low: Any  # (d, 64) where on its scale (RANGE) or on which leaf (TREE) the lowest value of a bit lies
    bit_high: Any  # (d, 64) the same of the highest
    row: Any  # (d,) the words of one row
    row_places: Any  # (d,) and where those of its slots begin
    inner: Any  # (d,) what is taken out
    outer: Any  # (d,) what lies before it
    sides: Any  # (2 d,) the words of both sides of a cut


class _Cuts(NamedTuple):
    """Candidates: the slots ``begin`` to ``end`` of a column are taken out, or a node is cut into its children."""

    gain: Any
    column: Any  # place in ``active``
    begin: Any  # EVERY_CHILD: then ``end`` is the node
    end: Any


@borrowing
def _clear(array: Any, begin: int, end: int) -> None:
    for i in range(begin, end):
        array[i] = 0


@borrowing
def _row_loss(columns: Columns, found: Any, active: Any, n_active: int, words: _Words, at: int) -> float:
    """Loss of one row of cells; the values present in each column are the bits of its field in ``words.sides[at:]``."""
    fields = words.fields
    total = 0.0
    for y in range(n_active):
        j = active[y]
        field = words.sides[at + fields[y, 0]] >> np.uint64(fields[y, 1])
        field &= ALL_BITS >> np.uint64(64 - fields[y, 2])
        kind = columns.kinds[j]
        if kind == SET:
            distinct = float(count_bits(field))
            if found[j] > 64:
                distinct *= found[j] / 64.0
            total += columns.weights[j] * max(0.0, distinct - 1.0) * columns.units[j]
            continue
        low = words.bit_low[y, lowest_bit(field)]
        high = words.bit_high[y, 63 - leading_zeros(field)]
        if kind == RANGE:
            total += columns.weights[j] * min(1.0, high - low)
        else:
            total += columns.weights[j] * tree_loss(columns, j, int(low), int(high))
    return total


@inlined
def _two_losses(columns: Columns, node: _Node, n_active: int, words: _Words, rows: int, other_rows: int) -> float:
    """Loss of both sides of a cut."""
    width = len(words.row)
    return rows * _row_loss(columns, node.found, node.active, n_active, words, 0) + other_rows * _row_loss(
        columns, node.found, node.active, n_active, words, width
    )


@inlined
def _lay_out(node: _Node, n_active: int, words: _Words) -> int:
    """Give every active column a field of at most 64 bits, several to a word, and order the columns by word.

    Returns the number of words.
    """
    active, fields = node.active, words.fields
    n_words, placed = 0, 0
    while placed < n_active:
        words.starts[n_words] = placed
        used = 0
        for y in range(placed, n_active):
            width = min(node.found[active[y]], 64)
            if used + width <= 64:
                active[placed], active[y] = active[y], active[placed]
                fields[placed, 0], fields[placed, 1], fields[placed, 2] = n_words, used, width
                used += width
                placed += 1
        n_words += 1
    words.starts[n_words] = n_active
    return n_words


@inlined
def _collect(codes: Any, starts: Any, active: Any, n_active: int, words: _Words, n_words: int, s: int, e: int) -> None:
    """For every slot of every active column, which values its rows s..e have in all the active columns."""
    own, places, unions, row, row_places = words.own, words.places, words.unions, words.row, words.row_places
    if n_words == 1:
        for p in range(s, e):
            word = np.uint64(0)
            for x in range(n_active):
                i = starts[active[x]] + codes[p, active[x]]
                word |= own[i]
                row_places[x] = places[i]
            for x in range(n_active):
                unions[row_places[x]] |= word
        return
    for p in range(s, e):
        for w in range(n_words):
            word = np.uint64(0)
            for x in range(words.starts[w], words.starts[w + 1]):
                i = starts[active[x]] + codes[p, active[x]]
                word |= own[i]
                row_places[x] = places[i]
            row[w] = word
        for x in range(n_active):
            at = row_places[x]
            for w in range(n_words):
                unions[at + w] |= row[w]


@internal
def _scratch(task: Task) -> Any:
    """Room for what is known of one node."""
    columns = task.columns
    starts, d = columns.starts, len(columns.kinds)
    total, n_sensitive = starts[d], task.checks.column_starts[-1]
    n_slots = 0
    for j in range(d):
        size = starts[j + 1] - starts[j]
        n_slots += size if columns.kinds[j] == TREE else min(size, MAX_SLOTS)
    node = _Node(
        np.empty(2 * d, np.int64), np.zeros(total, np.int64), np.empty(total, np.int64), np.zeros(total, np.int64),
        np.zeros(d, np.int64), np.empty(d, np.int64), np.zeros(d + 1, np.int64), np.zeros(n_slots, np.int64),
        np.zeros(n_slots, np.int64), np.zeros(max(MAX_SLOTS, total), np.int64), np.zeros(n_sensitive, np.int64),
        np.zeros(task.units.max() + 1 if len(task.units) > 0 else 0, np.int64), np.zeros(n_sensitive + 1),
    )  # fmt: skip
    by_words = task.rule == BY_LOSS and not task.regions
    words = _Words(
        np.zeros((d, 3), np.int64), np.zeros(d + 1, np.int64), np.zeros(total, np.uint64), np.zeros(total, np.int64),
        np.zeros(n_slots * d if by_words else 0, np.uint64), np.zeros((n_slots + 1) * d if by_words else 0, np.uint64),
        np.zeros((d, 64)), np.zeros((d, 64)), np.zeros(d, np.uint64), np.zeros(d, np.int64), np.zeros(d, np.uint64),
        np.zeros(d, np.uint64), np.zeros(2 * d, np.uint64),
    )  # fmt: skip
    room = 3 * n_slots + d
    cuts = _Cuts(np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64))
    return node, words, cuts


@inlined
def _count(codes: Any, s: int, e: int, starts: Any, regions: bool, node: _Node) -> int:
    """Count the values of the rows s..e in every column; return how many columns have more than one."""
    histogram, values, found, bounds = node.histogram, node.values, node.found, node.bounds
    d = len(found)
    for p in range(s, e):
        for j in range(d):
            histogram[starts[j] + codes[p, j]] += 1
    n_active = 0
    for j in range(d):
        found[j] = present(histogram, values, starts[j], bounds[2 * j], bounds[2 * j + 1], codes, j, s, e)
        if not regions:
            bounds[2 * j] = values[starts[j]]
            bounds[2 * j + 1] = values[starts[j] + found[j] - 1]
        if found[j] > 1:
            node.active[n_active] = j
            n_active += 1
    return n_active


@inlined
def _fill_slots(task: Task, node: _Node, n_active: int, words: _Words, n_words: int) -> None:
    """Put the values of every active column into slots, in the order of cutting, and give each its bit."""
    columns, histogram, values = task.columns, node.histogram, node.values
    for x in range(n_active):
        j = node.active[x]
        start, q, kind = columns.starts[j], node.found[j], columns.kinds[j]
        if kind == SET and not task.regions and task.rule <= MEDIAN:
            shell_sort(values, start, q, histogram, True)
        n = q if kind == TREE else min(q, MAX_SLOTS)
        offset = node.first_slot[x]
        node.first_slot[x + 1] = offset + n
        _clear(node.slot_rows, offset, offset + n)
        last_bit = -1
        for rank in range(q):
            code = values[start + rank]
            slot = rank if n == q else rank * n // q
            node.slots[start + code] = slot
            node.slot_rows[offset + slot] += histogram[start + code]
            node.slot_high[offset + slot] = code
            if len(words.unions) == 0:
                continue
            bit = rank if q <= 64 else rank * 64 // q
            words.own[start + code] = np.uint64(1) << np.uint64(words.fields[x, 1] + bit)
            words.places[start + code] = (offset + slot) * n_words
            if kind != SET:
                where = columns.positions[start + code] if kind == RANGE else float(code)
                if bit != last_bit:
                    words.bit_low[x, bit] = where
                words.bit_high[x, bit] = where
                last_bit = bit


@inlined
def _add(cuts: _Cuts, n_cuts: int, gain: float, x: int, begin: int, end: int) -> int:
    """One more candidate; return how many there are."""
    cuts.gain[n_cuts], cuts.column[n_cuts], cuts.begin[n_cuts], cuts.end[n_cuts] = gain, x, begin, end
    return n_cuts + 1


@inlined
def _cut_into_children(task: Task, node: _Node, x: int, m: int, width: float, cuts: _Cuts, n_cuts: int) -> int:
    """Regions of a TREE column: the node of the region into all its children."""
    columns, k, j = task.columns, task.k, node.active[x]
    start, offset, n = columns.starts[j], node.first_slot[x], node.first_slot[x + 1] - node.first_slot[x]
    top = lowest_common_node(columns, j, node.bounds[2 * j], node.bounds[2 * j + 1])
    cost, i = 0.0, 0
    for c in range(columns.child_starts[top + j], columns.child_starts[top + j + 1]):
        child = columns.node_starts[j] + columns.children[c]
        rows = 0
        while i < n and node.values[start + i] <= columns.last[child]:
            rows += node.slot_rows[offset + i]
            i += 1
        if rows > 0:
            if rows < k:
                return n_cuts
            cost += rows * cell_loss(columns, j, columns.first[child], columns.last[child], 0.0)
    return _add(cuts, n_cuts, m * width - cost if task.rule == BY_LOSS else width, x, EVERY_CHILD, top)


@inlined
def _median_slot(task: Task, node: _Node, x: int, m: int) -> int:
    """The last slot that goes left where a column is cut at its median, NONE if that is not allowed."""
    rule, k, slot_rows, offset = task.rule, task.k, node.slot_rows, node.first_slot[x]
    n = node.first_slot[x + 1] - offset
    if rule == MEDIAN:
        # LeFevre et al. 2006, Section 4: the widest column first, cut at the median.
        left, best, best_at = 0, m, NONE
        for i in range(n - 1):
            left += slot_rows[offset + i]
            if left >= k and m - left >= k and abs(2 * left - m) < best:
                best, best_at = abs(2 * left - m), i
        return best_at
    left, i = slot_rows[offset], 0
    while 2 * left < m:
        i += 1
        left += slot_rows[offset + i]
    if i == n - 1 and rule == LOWER_MEDIAN:
        left -= slot_rows[offset + i]
        i -= 1
    return i if i < n - 1 and left >= k and m - left >= k else NONE


@inlined
def _cut_regions(task: Task, node: _Node, x: int, m: int, width: float, cuts: _Cuts, n_cuts: int) -> int:
    """Regions of a RANGE or SET column: the region between any two slots, by what its two parts lose."""
    columns, k, j = task.columns, task.k, node.active[x]
    low, high, offset = node.bounds[2 * j], node.bounds[2 * j + 1], node.first_slot[x]
    left = 0
    for i in range(node.first_slot[x + 1] - offset - 1):
        left += node.slot_rows[offset + i]
        if left < k or m - left < k:
            continue
        at = node.slot_high[offset + i]
        cost = left * cell_loss(columns, j, low, at, at - low + 1.0)
        cost += (m - left) * cell_loss(columns, j, at + 1, high, float(high - at))
        n_cuts = _add(cuts, n_cuts, m * width - cost, x, 0, i)
    return n_cuts


@inlined
def _cut_in_two(
    task: Task, node: _Node, n_active: int, words: _Words, n_words: int, x: int, m: int, before: float, cuts: _Cuts,
    n_cuts: int,
) -> int:  # fmt: skip
    """Boxes: between any two slots, by what is saved over all columns."""
    unions, suffix, inner, sides, k = words.unions, words.suffix, words.inner, words.sides, task.k
    offset, d = node.first_slot[x], len(node.found)
    n = node.first_slot[x + 1] - offset
    _clear(suffix, n * n_words, (n + 1) * n_words)
    for i in range(n - 1, -1, -1):
        for w in range(n_words):
            suffix[i * n_words + w] = suffix[(i + 1) * n_words + w] | unions[(offset + i) * n_words + w]
    _clear(inner, 0, n_words)
    left = 0
    for i in range(n - 1):
        left += node.slot_rows[offset + i]
        for w in range(n_words):
            inner[w] |= unions[(offset + i) * n_words + w]
        if left < k or m - left < k:
            continue
        for w in range(n_words):
            sides[w], sides[d + w] = inner[w], suffix[(i + 1) * n_words + w]
        cost = _two_losses(task.columns, node, n_active, words, left, m - left)
        n_cuts = _add(cuts, n_cuts, before - cost, x, 0, i)
    return n_cuts


@inlined
def _cut_out_nodes(
    task: Task, node: _Node, n_active: int, words: _Words, n_words: int, x: int, m: int, before: float, cuts: _Cuts,
    n_cuts: int,
) -> int:  # fmt: skip
    """Boxes of a TREE column: a node anywhere below the lowest common one against the rest, which keeps the upper label.

    Comes behind :func:`_cut_in_two`, whose suffixes it uses.
    """
    columns, unions, inner, outer, sides, k = task.columns, words.unions, words.inner, words.outer, words.sides, task.k
    j, offset, d = node.active[x], node.first_slot[x], len(node.found)
    n, values, start, nodes = node.first_slot[x + 1] - offset, node.values, columns.starts[j], columns.node_starts[j]
    top = lowest_common_node(columns, j, node.bounds[2 * j], node.bounds[2 * j + 1])
    _clear(outer, 0, n_words)
    for a in range(n):
        here = nodes + columns.leaf_node[columns.leaf_starts[j] + values[start + a]]
        _clear(inner, 0, n_words)
        b, rows = a, 0
        while here != top and (a == 0 or values[start + a - 1] < columns.first[here]):
            grown = b
            while b < n and values[start + b] <= columns.last[here]:
                rows += node.slot_rows[offset + b]
                for w in range(n_words):
                    inner[w] |= unions[(offset + b) * n_words + w]
                b += 1
            # A first or last run is a prefix cut and was counted above.
            if 0 < a and grown < b < n and rows >= k and m - rows >= k:
                for w in range(n_words):
                    sides[w], sides[d + w] = inner[w], outer[w] | words.suffix[b * n_words + w]
                cost = _two_losses(columns, node, n_active, words, rows, m - rows)
                n_cuts = _add(cuts, n_cuts, before - cost, x, a, b - 1)
            here = nodes + columns.parent[here]
        for w in range(n_words):
            outer[w] |= unions[(offset + a) * n_words + w]
    return n_cuts


@inlined
def _candidates(task: Task, node: _Node, n_active: int, words: _Words, n_words: int, m: int, cuts: _Cuts) -> int:
    """All cuts of a node of m rows that leave k rows on every side; return how many."""
    columns, bounds = task.columns, node.bounds
    before = 0.0
    for x in range(n_active):
        j = node.active[x]
        before += m * cell_loss(columns, j, bounds[2 * j], bounds[2 * j + 1], float(node.found[j]))
    n_cuts = 0
    for x in range(n_active):
        j = node.active[x]
        span = bounds[2 * j + 1] - bounds[2 * j] + 1.0 if task.regions else float(node.found[j])
        width = cell_loss(columns, j, bounds[2 * j], bounds[2 * j + 1], span)
        if task.regions and columns.kinds[j] == TREE:
            n_cuts = _cut_into_children(task, node, x, m, width, cuts, n_cuts)
        elif task.rule != BY_LOSS:
            slot = _median_slot(task, node, x, m)
            if slot != NONE:
                n_cuts = _add(cuts, n_cuts, width, x, 0, slot)
        elif task.regions:
            n_cuts = _cut_regions(task, node, x, m, width, cuts, n_cuts)
        else:
            n_cuts = _cut_in_two(task, node, n_active, words, n_words, x, m, before, cuts, n_cuts)
            if columns.kinds[j] == TREE:
                n_cuts = _cut_out_nodes(task, node, n_active, words, n_words, x, m, before, cuts, n_cuts)
    return n_cuts


@inlined
def _best(cuts: _Cuts, n_cuts: int, active: Any, rows: int) -> int:
    """The best candidate; of those that differ by rounding only, the first one of the first column."""
    gain, column = cuts.gain, cuts.column
    highest = gain[0]
    for c in range(1, n_cuts):
        highest = max(highest, gain[c])
    best = NONE
    for c in range(n_cuts):
        if gain[c] >= highest - TIE * rows and (best < 0 or active[column[c]] < active[column[best]]):
            best = c
    return best


@inlined
def _part_slots(columns: Columns, node: _Node, cuts: _Cuts, cut: int) -> int:
    """The part of every slot in a cut: that of the child of the node, or 0 if it is taken out; return how many parts."""
    x, a, b = cuts.column[cut], cuts.begin[cut], cuts.end[cut]
    j, part_of_slot = node.active[x], node.part_of_slot
    if a != EVERY_CHILD:
        for i in range(node.first_slot[x + 1] - node.first_slot[x]):
            part_of_slot[i] = 1 - (np.int64(a <= i) & np.int64(i <= b))
        return 2
    i, begin, end = 0, columns.child_starts[b + j], columns.child_starts[b + j + 1]
    for c in range(begin, end):
        high = columns.last[columns.node_starts[j] + columns.children[c]]
        while i < node.found[j] and node.values[columns.starts[j] + i] <= high:
            part_of_slot[i] = c - begin
            i += 1
    return end - begin


@borrowing
def _parts_hold(rows: Rows, task: Task, node: _Node, j: int, s: int, e: int, n_parts: int) -> bool:
    """Whether every part of the rows s..e satisfies every predicate and nobody has too many; a row's part is its slot's."""
    checks, start, counts, codes, ids = task.checks, task.columns.starts[j], node.counts, rows.codes, rows.ids
    part_of_slot, slots, sensitive, starts = node.part_of_slot, node.slots, checks.sensitive, checks.column_starts
    for part in range(n_parts):
        _clear(counts, 0, len(counts))
        size = 0
        for p in range(s, e):
            # Every row is added, as one or as none: no branch to mispredict.
            inside = np.int64(part_of_slot[slots[start + codes[p, j]]] == part)
            size += inside
            for c in range(sensitive.shape[1]):
                counts[starts[c] + sensitive[ids[p], c]] += inside
        if len(task.units) > 0 and _most_of_one(rows, task, node, j, s, e, part) * task.k > size:
            return False
        if size > 0 and not all_hold(counts, size, checks, node.work):
            return False
    return True


@borrowing
def _most_of_one(rows: Rows, task: Task, node: _Node, j: int, s: int, e: int, part: int) -> int:
    """How many rows of one part somebody has at most."""
    start, units, per_unit, most = task.columns.starts[j], task.units, node.per_unit, 0
    for p in range(s, e):
        if node.part_of_slot[node.slots[start + rows.codes[p, j]]] == part:
            unit = units[rows.ids[p]]
            per_unit[unit] += 1
            most = max(most, per_unit[unit])
    for p in range(s, e):
        per_unit[units[rows.ids[p]]] = 0
    return most


@inlined
def _choose(
    rows: Rows, s: int, e: int, task: Task, node: _Node, cuts: _Cuts, n_cuts: int, tried: Any, n_tried: int
) -> Any:
    """The best cut whose parts satisfy the predicates, or NONE; how many parts it has; how many cuts were tried by now."""
    while n_cuts > 0:
        best = _best(cuts, n_cuts, node.active, e - s)
        if cuts.gain[best] == REFUSED:
            break
        j = node.active[cuts.column[best]]
        n_parts = _part_slots(task.columns, node, cuts, best)
        if n_tried < len(tried):
            for p in range(s, e):
                tried[n_tried, p - s] = node.part_of_slot[node.slots[task.columns.starts[j] + rows.codes[p, j]]]
        n_tried += 1
        unchecked = len(task.checks.kinds) == 0 and len(task.units) == 0
        if unchecked or _parts_hold(rows, task, node, j, s, e, n_parts):
            return best, n_parts, n_tried
        cuts.gain[best] = REFUSED
    return NONE, 0, n_tried


@borrowing
def _move(rows: Rows, part_of_slot: Any, slots: Any, start: int, j: int, s: int, e: int, part: int) -> int:
    """Bring the rows of s..e that belong to ``part`` to the front, keeping the order; return where they end."""
    codes, packed, ids, packed_spare, ids_spare = rows
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


@inlined
def _divide(
    rows: Rows, s: int, e: int, task: Task, node: _Node, cuts: _Cuts, cut: int, n_parts: int, stack: Any, depth: int
) -> int:
    """Move the rows of every part together and put the parts on the stack, which has room; return how many are on it."""
    columns = task.columns
    x, b = cuts.column[cut], cuts.end[cut]
    j = node.active[x]
    here = s
    for part in range(n_parts):
        stop = _move(rows, node.part_of_slot, node.slots, columns.starts[j], j, here, e, part)
        if stop == here:
            continue
        put(stack, depth, here, stop, node.bounds)
        if cuts.begin[cut] == EVERY_CHILD:
            child = columns.node_starts[j] + columns.children[columns.child_starts[b + j] + part]
            stack[depth, 2 + 2 * j], stack[depth, 3 + 2 * j] = columns.first[child], columns.last[child]
        elif task.regions:
            stack[depth, 2 + 2 * j + 1 - part] = node.slot_high[node.first_slot[x] + b] + part
        depth += 1
        here = stop
    return depth


@kernel
def refine(rows: Rows, begin: int, end: int, begin_bounds: Any, task: Task, big: int, tried: Any) -> Any:
    """Cut rows begin..end; a node larger than ``big`` is cut once and its parts handed back.

    ``begin_bounds`` (2 d,) are the lowest and highest code of each column: the region, or bounds of the values present.
    Where somebody follows the cuts of one node (``big`` = 0), ``tried`` (room, rows) gets the part of each row in every
    cut that is tried, in turn, as far as they fit. Returns leaves and pending parts (one row each: where it begins and
    ends, then its bounds) and how many cuts were tried.
    """
    d = len(task.columns.kinds)
    node, words, cuts = _scratch(task)
    # A node is a row: where it begins and ends, then the lowest and highest code of each column.
    stack, leaves = np.empty((64, 2 + 2 * d), np.int64), np.empty((64, 2 + 2 * d), np.int64)
    put(stack, 0, begin, end, begin_bounds)
    depth, n_leaves, n_tried = 1, 0, 0
    while depth > 0:
        depth -= 1
        s, e = stack[depth, 0], stack[depth, 1]
        for i in range(2 * d):
            node.bounds[i] = stack[depth, 2 + i]
        chosen, n_parts = NONE, 0
        if e - s >= 2 * task.k:
            n_active = _count(rows.codes, s, e, task.columns.starts, task.regions, node)
            n_words = _lay_out(node, n_active, words)
            _fill_slots(task, node, n_active, words, n_words)
            if len(words.unions) > 0:
                _clear(words.unions, 0, node.first_slot[n_active] * n_words)
                _collect(rows.codes, task.columns.starts, node.active, n_active, words, n_words, s, e)
            n_cuts = _candidates(task, node, n_active, words, n_words, e - s, cuts)
            for j in range(d):
                start = task.columns.starts[j]
                for i in range(node.found[j]):
                    node.histogram[start + node.values[start + i]] = 0
            chosen, n_parts, n_tried = _choose(rows, s, e, task, node, cuts, n_cuts, tried, n_tried)
        if chosen == NONE:
            if n_leaves == len(leaves):
                leaves = grown(leaves)
            put(leaves, n_leaves, s, e, node.bounds)
            n_leaves += 1
            continue
        while depth + n_parts > len(stack):
            stack = grown(stack)
        depth = _divide(rows, s, e, task, node, cuts, chosen, n_parts, stack, depth)
        if e - s > big:
            break
    return leaves[:n_leaves], stack[:depth], n_tried
