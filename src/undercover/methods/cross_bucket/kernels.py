"""The compiled steps of cross-bucket generalization: planning, a kd-tree, picking from it, dividing what was picked.

The plan is the assignment step of m-invariance (Xiao & Tao 2007) and leaves no rows that fit nowhere: those left always
satisfy ``m * (largest count) <= rows``, so a set of m different values can be taken as long as rows are left.

The tree (Bentley 1975) cuts the widest normalised column (LeFevre, DeWitt & Ramakrishnan 2006) at its median until few
rows are left. What a cell loses is measured as in :mod:`undercover.steps.cutting.columns`. Deviation: where the median
is the greatest value, the cut is at the greatest value below it, so that no side is empty. Which leaf a row lies in
follows from the rows' codes alone, not from the order in which they are given.

Every node of the tree knows how many rows of each sensitive value below it are still there. Only values that occur are
stored; an entry knows the entries of the same value in both children, so that going down one level costs one step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from undercover.compiled.jit import inlined, internal, kernel
from undercover.compiled.shuffle import counting_order
from undercover.steps.cutting.arrays import RANGE, SET, Columns
from undercover.steps.cutting.nodes import TIE, cell_loss, lowest_common_node

LEAF = 16
MANY = 32  # rows of one value that are compared one by one
LEFT = 2  # the columns of `nodes`: start, end, left child, right child, column, cut
FEW = 64  # rows up to which every column is tried


@kernel
def plan_sets(values: Any, counts: Any, k: int, m: int) -> Any:
    """Sets of at least ``m`` and fewer than ``2 m`` different values that use up every row; multiples of ``k``
    preferred.

    Values come largest count first, equal counts by value; all counts are positive, and ``m * counts[0] <=
    counts.sum()``. Returns (members, offsets, repeats): set i has the values ``members[offsets[i]:offsets[i + 1]]``,
    most frequent first, and is taken ``repeats[i]`` times.
    """
    ranked, left = values.copy(), counts.copy()
    n_values = len(ranked)
    head = np.int64(0)  # values before it are used up
    rows = left.sum()
    members = np.empty(4 * n_values + 2 * m, np.int64)
    offsets = np.zeros(n_values + 2, np.int64)
    repeats = np.empty(n_values + 1, np.int64)
    n_sets, n_members = 0, 0
    moved_values, moved_counts = np.empty(2 * m, np.int64), np.empty(2 * m, np.int64)
    while rows > 0:
        available = n_values - head
        size, times = np.int64(0), np.int64(0)
        most = min(np.int64(available), np.int64(2 * m - 1))
        for b in range(-(-m // k) * k, most + 1, k):
            times = _often(left, head, n_values, rows, b, m)
            if times >= 1:
                size = b
                break
        if size == 0:
            largest = rows // m
            equal = np.int64(0)
            while head + equal < n_values and left[head + equal] == largest:
                equal += 1
            size = max(m, equal)
            times = _often(left, head, n_values, rows, size, m)
        if n_members + size > len(members):
            members = _longer(members)
        if n_sets + 2 > len(offsets):
            offsets, repeats = _longer(offsets), _longer(repeats)
        for i in range(size):
            members[n_members + i] = ranked[head + i]
            moved_values[i], moved_counts[i] = ranked[head + i], left[head + i] - times
        n_members += size
        offsets[n_sets + 1], repeats[n_sets] = n_members, times
        n_sets += 1
        rows -= size * times
        # Those with rows left go back in order, last first, into the places just before what is still ranked.
        kept = 0
        for i in range(size):
            if moved_counts[i] > 0:
                moved_values[kept], moved_counts[kept] = moved_values[i], moved_counts[i]
                kept += 1
        head = _merge(ranked, left, head + size, n_values, moved_values, moved_counts, kept)
    return members[:n_members], offsets[: n_sets + 1], repeats[:n_sets]


@internal
def _often(left: Any, head: int, n_values: int, rows: int, b: int, m: int) -> int:
    """How often the first ``b`` values may be taken so that what is left still satisfies ``m * largest <= rows``."""
    times = left[head + b - 1]
    if b > m:
        times = min(times, (rows - m * left[head]) // (b - m))
    if head + b < n_values:
        times = min(times, (rows - m * left[head + b]) // b)
    return times


@internal
def _merge(ranked: Any, left: Any, start: int, n_values: int, values: Any, counts: Any, kept: int) -> int:
    """Merge ``kept`` values (in order of count and, among equals, not yet of value) before ``start``; the new head."""
    for i in range(1, kept):  # equal counts by value
        j = i
        while j > 0 and counts[j - 1] == counts[j] and values[j - 1] > values[j]:
            values[j - 1], values[j] = values[j], values[j - 1]
            j -= 1
    to = start - kept
    i, source = 0, start
    while i < kept:
        if source < n_values and (
            left[source] > counts[i] or (left[source] == counts[i] and ranked[source] < values[i])
        ):
            ranked[to], left[to] = ranked[source], left[source]
            source += 1
        else:
            ranked[to], left[to] = values[i], counts[i]
            i += 1
        to += 1
    return start - kept


@internal
def _longer(array: Any) -> Any:
    larger = np.zeros(2 * len(array), array.dtype)
    for i in range(len(array)):
        larger[i] = array[i]
    return larger


class _Rows(NamedTuple):
    codes: Any  # (n, at least d)
    values: Any  # (n,)
    ids: Any  # (n,)


@kernel
def build_tree(codes: Any, values: Any, ids: Any, columns: Columns) -> Any:
    """Order rows into leaves, in place; ``values`` and ``ids`` (n,) move with the ``codes`` (n, at least d) of their
    row.

    Returns (n_nodes, 6) start, end, left child, right child, column, cut: the root is node 0, a node holds the rows
    from start to end, its children have greater numbers (-1 in a leaf), and codes up to the cut lie on the left. In a
    leaf rows are ordered by codes, then by value; what is equal in both keeps the order it was given in.
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
            for i in range(count):
                for c in range(6):
                    larger[i, c] = nodes[i, c]
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
            for i in range(total):
                longer_names[i] = names[i]
                for c in range(3):
                    longer_entries[i, c] = entries[i, c]
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
    gives the seed, and every other value the row that is nearest to it. Returns (n,) positions, set after set in the
    order of the plan, within a set in the order of its values.
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


class _Segment(NamedTuple):
    """The rows of one segment by place, and their order."""

    codes: Any  # (d, longest)
    scale: Any  # (d, longest) weighted places on the scale
    order: Any
    best: Any  # scratch
    spare: Any  # scratch


@kernel
def divide_rows(codes: Any, rows: Any, offsets: Any, k: int, columns: Columns) -> Any:
    """Order every segment ``rows[offsets[i]:offsets[i + 1]]``, in place, so that its groups are contiguous and narrow.

    A segment of g rows has ``g // k`` groups of at least ``k`` rows, as even as can be, larger ones first. It is
    ordered by the column that leaves least loss on both sides, cut in the middle between two groups, and so are its
    parts until each is one group. Of parts of more than ``FEW`` rows the widest column is taken without trying the
    others. Returns where each group begins in ``rows``, and the end. ``codes`` (n, at least d) are cutting codes.
    """
    units = columns.weights * columns.units
    n_groups = 0
    longest = np.int64(1)
    for i in range(len(offsets) - 1):
        n_groups += max(1, (offsets[i + 1] - offsets[i]) // k)
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts = np.empty(n_groups + 1, np.int64)
    starts[0] = offsets[0]
    d = len(units)
    block, scale = np.empty((d, longest), np.int64), np.empty((d, longest))
    own, order = np.empty(longest, np.int64), np.empty(longest, np.int64)
    segment = _Segment(block, scale, order, np.empty(longest, np.int64), np.empty(longest, np.int64))
    stack = np.empty((2 * longest + 2, 2), np.int64)
    first = 0
    for i in range(len(offsets) - 1):
        offset, size = offsets[i], offsets[i + 1] - offsets[i]
        for place in range(size):
            own[place], order[place] = rows[offset + place], place
            for j in range(d):
                block[j, place] = codes[own[place], j]
                scale[j, place] = columns.positions[columns.starts[j] + block[j, place]] * columns.weights[j]
        groups = max(1, size // k)
        for group in range(1, groups + 1):
            starts[first + group] = offset + group * (size // groups) + min(group, size % groups)
        stack[0, 0], stack[0, 1] = first, first + groups
        depth = 1
        while depth > 0:
            depth -= 1
            low, high = stack[depth, 0], stack[depth, 1]
            if high - low < 2:
                continue
            middle = (low + high) // 2
            if _order(segment, starts[low] - offset, starts[middle] - offset, starts[high] - offset, columns, units):
                stack[depth, 0], stack[depth, 1] = low, middle
                stack[depth + 1, 0], stack[depth + 1, 1] = middle, high
                depth += 2
        for place in range(size):
            rows[offset + place] = own[order[place]]
        first += groups
    return starts


@inlined
def _order(segment: _Segment, begin: int, cut: int, end: int, columns: Columns, units: Any) -> bool:
    """Order the places begin..end, which are cut in two, by the best column; False where all rows are equal."""
    order, best, d = segment.order, segment.best, len(units)
    chosen, least, tie = -1, 0.0, TIE * (end - begin)
    for j in range(d):
        if not _varies(segment.codes, j, order, begin, end):
            continue
        if end - begin <= FEW:
            _sort_few(segment.codes, j, order, begin, end)
            loss = 0.0
            for c in range(d):
                loss += (cut - begin) * _loss(segment, c, begin, cut, columns, units)
                loss += (end - cut) * _loss(segment, c, cut, end, columns, units)
                if chosen >= 0 and loss >= least - tie:
                    break
        else:
            loss = -_loss(segment, j, begin, end, columns, units)
        if chosen < 0 or loss < least - tie:
            chosen, least = j, loss
            for place in range(begin, end):
                best[place] = order[place]
    if chosen < 0:
        return False
    for place in range(begin, end):
        order[place] = best[place]
    if end - begin > FEW:
        _sort_many(segment.codes, chosen, order, begin, end)
    return True


@inlined
def _loss(segment: _Segment, j: int, begin: int, end: int, columns: Columns, units: Any) -> float:
    """What the tightest cell of one column around some rows loses, weighted."""
    block, scale, order, spare, kind = segment.codes, segment.scale, segment.order, segment.spare, columns.kinds[j]
    if kind == RANGE:
        least = most = scale[j, order[begin]]
        for i in range(begin + 1, end):
            place = scale[j, order[i]]
            least, most = min(least, place), max(most, place)
        return min(columns.weights[j], most - least)
    low = high = spare[0] = block[j, order[begin]]
    distinct = 1
    for i in range(begin + 1, end):
        code = block[j, order[i]]
        low, high = min(low, code), max(high, code)
        known = 0
        while known < distinct and spare[known] != code:
            known += 1
        if known == distinct:
            spare[distinct] = code
            distinct += 1
    if kind == SET:
        return (distinct - 1) * units[j]
    if low == high:
        return 0.0
    node = lowest_common_node(columns, j, low, high)
    return min(columns.weights[j], (columns.last[node] - columns.first[node]) * units[j])


@internal
def _varies(block: Any, j: int, order: Any, begin: int, end: int) -> bool:
    for i in range(begin + 1, end):
        if block[j, order[i]] != block[j, order[begin]]:
            return True
    return False


@internal
def _sort_few(block: Any, j: int, order: Any, begin: int, end: int) -> None:
    """By the codes of one column; equal codes keep their order."""
    for i in range(begin + 1, end):
        row, at = order[i], i
        code = block[j, row]
        while at > begin and block[j, order[at - 1]] > code:
            order[at] = order[at - 1]
            at -= 1
        order[at] = row


@internal
def _sort_many(block: Any, j: int, order: Any, begin: int, end: int) -> None:
    keys, before = np.empty(end - begin, np.int64), order[begin:end].copy()
    for i in range(end - begin):
        keys[i] = block[j, before[i]]
    places = np.argsort(keys, kind="mergesort")
    for i in range(end - begin):
        order[begin + i] = before[places[i]]
