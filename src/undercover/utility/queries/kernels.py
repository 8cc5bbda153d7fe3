"""COUNT queries over boxes with sensitive values: a cube of expected counts, and the direct sum it stands for.

A release is a list of boxes; a box covers some positions of every column and holds a weight of every sensitive value.
Under the uniform assumption a query (one value, a range of positions in every column) is answered by

    sum over boxes of  weight(box, value) * product over columns of  |range ∩ cell| / |cell|

(LeFevre, DeWitt & Ramakrishnan 2006, "Workload-aware anonymization", for the uniform assumption.) The direct form
walks through the boxes of the value for every query. The cube spreads every box over the positions it covers once:
each box is an outer product of sparse vectors, one per column, and a query is then a handful of look-ups.

Cells are numbered through all columns. What cell c covers are the runs ``run_starts[c]:run_starts[c + 1]``.

Sums over rows are answered one query at a time: the share of every cell that is asked for, then for every box (rows
that are written alike) the product of its shares. It is 1 where its rows surely count, above 0 where they possibly do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from undercover.compiled.jit import internal, kernel


@kernel
def scatter_products(
    cube: Any, value_starts: Any, pair_box: Any, pair_weight: Any, cells: Any, touch_starts: Any, touch_at: Any,
    touch_weight: Any,
) -> None:  # fmt: skip
    """Add every box, spread over what it covers, to the slab of each of its values.

    ``cube`` (n_values, slab) is changed. Pairs of a box and a value are sorted by value: those of value v are
    ``value_starts[v]:value_starts[v + 1]``, so that one slab at a time is at hand. ``cells`` is (n_boxes, n_columns);
    cell c adds ``touch_weight[t]`` at the offsets ``touch_at[t]`` for t in ``touch_starts[c]:touch_starts[c + 1]``.
    The last column is the innermost loop.
    """
    d = cells.shape[1]
    cursor = np.zeros(d, np.int64)
    at = np.zeros(d, np.int64)
    weight = np.zeros(d, np.float64)
    for value in range(cube.shape[0]):
        slab = cube[value]
        for pair in range(value_starts[value], value_starts[value + 1]):
            box = pair_box[pair]
            level = 0
            at[0] = 0
            weight[0] = pair_weight[pair]
            cursor[0] = touch_starts[cells[box, 0]]
            while level >= 0:
                end = touch_starts[cells[box, level] + 1]
                if level == d - 1:
                    base, factor = at[level], weight[level]
                    for touch in range(cursor[level], end):
                        slab[base + touch_at[touch]] += factor * touch_weight[touch]
                    level -= 1
                elif cursor[level] == end:
                    level -= 1
                else:
                    touch = cursor[level]
                    cursor[level] += 1
                    at[level + 1] = at[level] + touch_at[touch]
                    weight[level + 1] = weight[level] * touch_weight[touch]
                    level += 1
                    cursor[level] = touch_starts[cells[box, level]]


@kernel
def sum_products(
    value_starts: Any, pair_box: Any, pair_weight: Any, runs: Any, values: Any, lows: Any, highs: Any
) -> Any:
    """Answer each query by walking through the boxes of its value: (n_queries,) expected counts.

    Query q asks for value ``values[q]`` and the positions ``lows[q, j]`` to ``highs[q, j]`` of column j; ``runs`` are
    :class:`undercover.utility.queries.workload.Runs`, of the columns of the queries only.
    """
    cells, run_starts, run_low, run_high, sizes = runs
    n, d = lows.shape
    answers = np.zeros(n, np.float64)
    for query in range(n):
        value = values[query]
        total = 0.0
        for pair in range(value_starts[value], value_starts[value + 1]):
            box = pair_box[pair]
            expected = pair_weight[pair]
            for j in range(d):
                cell = cells[box, j]
                low, high = lows[query, j], highs[query, j]
                covered = 0
                for run in range(run_starts[cell], run_starts[cell + 1]):
                    first, last = max(run_low[run], low), min(run_high[run], high)
                    if last >= first:
                        covered += last - first + 1
                if covered == 0:
                    expected = 0.0
                    break
                expected *= covered / sizes[cell]
            total += expected
        answers[query] = total
    return answers


@kernel
def ask_values(cells: Any, weights: Any, value_starts: Any, queries: Any, shares: Any, answers: Any) -> None:
    """Add to ``answers`` (n_queries,) what some rows say, those of one value to the queries about it.

    ``cells`` (n_rows, d), numbered through all columns, and ``weights`` are sorted by value: those of value v are
    ``value_starts[v]:value_starts[v + 1]``, and ``queries[v]:queries[v + 1]`` ask about it. ``shares`` (n_queries,
    n_cells) is the part of each that a query asks for.
    """
    for value in range(len(value_starts) - 1):
        for query in range(queries[value], queries[value + 1]):
            asked, total = shares[query], 0.0
            for row in range(value_starts[value], value_starts[value + 1]):
                expected = asked[cells[row, 0]]
                for j in range(1, cells.shape[1]):
                    if expected == 0.0:
                        break
                    expected *= asked[cells[row, j]]
                total += expected * weights[row]
            answers[query] += total


@kernel
def shares_asked(asked: Any, starts: Any, low: Any, high: Any, sizes: Any, shares: Any) -> None:
    """Write into ``shares`` (n_cells,) the part of what each cell covers that is ``asked`` for (n_positions,)."""
    before = np.zeros(len(asked) + 1, np.int64)
    for place in range(len(asked)):
        before[place + 1] = before[place] + asked[place]
    for cell in range(len(sizes)):
        covered = 0
        for run in range(starts[cell], starts[cell + 1]):
            covered += before[high[run] + 1] - before[low[run]]
        shares[cell] = covered / sizes[cell]


@internal
def _matching(cells: Any, columns: Any, shares: Any) -> Any:
    """The boxes that possibly satisfy every predicate, and by what share.

    ``cells`` is (n_columns, n_boxes), of which ``columns`` are asked about; ``shares`` is (n_columns, most cells). A
    column looks only at the boxes the ones before it have left, and no branch depends on what it finds.
    """
    left = cells.shape[1]
    boxes, products = np.arange(left, dtype=np.int32), np.ones(left)
    for j in columns:
        kept = 0
        for i in range(left):
            box = boxes[i]
            product = products[i] * shares[j, cells[j, box]]
            boxes[kept], products[kept] = box, product
            kept += product > 0.0
        left = kept
    return boxes[:left], products[:left]


@kernel
def sum_of_rows(cells: Any, columns: Any, shares: Any, starts: Any, ends: Any) -> Any:
    """The sum over rows that carry their own values, at least ``ends[row, 0]`` and at most ``ends[row, 1]`` each.

    The rows of box b of :func:`_matching` are ``starts[b]:starts[b + 1]``. Returns estimate, lower and upper bound.
    """
    estimate, lower, upper = 0.0, 0.0, 0.0
    for box, share in zip(*_matching(cells, columns, shares)):  # noqa: B905
        for row in range(starts[box], starts[box + 1]):
            low, high = ends[row, 0], ends[row, 1]
            estimate += share * ((low + high) / 2)
            lower += low if share == 1.0 else min(low, 0.0)
            upper += high if share == 1.0 else max(high, 0.0)
    return estimate, lower, upper


@kernel
def sum_of_buckets(cells: Any, columns: Any, shares: Any, starts: Any, bucket: Any, values: Any) -> Any:
    """The sum over rows whose values are known by ``bucket`` (n_rows,) only; boxes as in :func:`sum_of_rows`.

    ``values`` are the sizes of buckets, where the values of each begin, sums of the values before each by their lower
    ends, how many are negative, the same by upper ends and positive, and the total of each bucket by middles.
    """
    sizes, begins, below, negative, above, positive, totals = values
    n = len(sizes)
    surely, perhaps, expected = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)
    for box, share in zip(*_matching(cells, columns, shares)):  # noqa: B905
        for row in range(starts[box], starts[box + 1]):
            surely[bucket[row]] += share == 1.0
            perhaps[bucket[row]] += 1
            expected[bucket[row]] += share
    estimate, lower, upper = 0.0, 0.0, 0.0
    for b in range(n):
        left = begins[b + 1] - begins[b]
        least, most = max(surely[b] + left - sizes[b], 0), min(perhaps[b], left)
        estimate += expected[b] * totals[b] / sizes[b]
        lower += below[begins[b] + min(max(negative[b], least), most)] - below[begins[b]]
        upper += above[begins[b + 1]] - above[begins[b + 1] - min(max(positive[b], least), most)]
    return estimate, lower, upper
