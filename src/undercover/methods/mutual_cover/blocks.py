"""Large output tables in blocks: neighbouring values cover each other, and what that costs at most is certified.

A program of q values takes time like q cubed, and loses its digits somewhere above 256. But a value is covered by those
near to it. So a large table is cut where neighbours are farthest apart, every block is solved as a table of its own
(:mod:`undercover.methods.mutual_cover.kernels.programs`), and the prices of the blocks are made a bound for the whole.
``docs/theory/cover_tables.md``, "Blocks", proves that the table keeps delta and that the bound holds.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from undercover.methods.mutual_cover import kernels
from undercover.model.distance.between import FLAT, MATRIX, NUMERIC, TREE, ValueDistance

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]

MOST_VALUES = 128
"""Of a block, where 1/delta rows have no more."""

_CELLS_AT_ONCE = 2**20


def solve_in_blocks(
    distance: ValueDistance, originals: Integers, counts: Integers, outputs: Integers, delta: Fraction
) -> tuple[Floats, float, float]:
    """The table (q, n) of (q,) originals and (n,) output codes, ascending, what it costs and what no table undercuts.

    Blocks release the values of their own rows.
    """
    cost = costs(distance, originals, outputs)
    own = np.arange(len(originals)) if cost.shape[0] == cost.shape[1] else cost.argmin(axis=1)
    ordered = distance.kind in (NUMERIC, TREE)
    order = np.argsort(distance.scale[originals], kind="stable") if ordered else np.arange(len(originals))
    apart = cost[order[:-1], own[order[1:]]]
    ends = block_ends(apart, counts[order], math.ceil(1 / delta))
    x, prices = np.zeros_like(cost), np.zeros(len(originals))
    _fill(distance, originals, counts, outputs, (order, own, ends), delta, x, prices, cost)
    weight = counts.astype(np.float64)
    objective = float((weight[:, None] * cost * x).sum())
    return x, objective, certified_bound(cost, weight, prices, float(delta))


def costs(distance: ValueDistance, originals: Integers, outputs: Integers) -> Floats:
    """(q, n) distances from originals to outputs."""
    found: Floats
    if distance.kind == NUMERIC:
        found = np.abs(distance.scale[originals][:, None] - distance.output_scale[outputs])
    elif distance.kind == MATRIX:
        found = distance.matrix[np.ix_(originals, outputs)]
    else:
        found = (originals[:, None] != outputs).astype(np.float64)
    if distance.kind not in (NUMERIC, MATRIX, FLAT):
        leaf_node, first, last, parent = distance.tree
        others = distance.scale[outputs]
        for a, leaf in enumerate(distance.scale[originals].astype(np.int64)):
            far = found[a] > 0
            node = leaf_node[leaf] if leaf < len(leaf_node) else -1  # a missing value is as far as the root
            while node >= 0 and far.any():
                below = far & (others >= first[node]) & (others <= last[node])
                found[a, below] = (last[node] - first[node]) / (len(leaf_node) - 1)
                far &= ~below
                node = parent[node] if last[node] - first[node] < len(leaf_node) - 1 else -1
    return found


def block_ends(apart: Floats, counts: Integers, least: int) -> NDArray[np.int64]:
    """Where blocks begin and end: half to all of MOST_VALUES values, cut where two neighbours are farthest apart.

    A block has 2/delta rows, so that there is something to choose; 1/delta where so many may have too many values.
    """
    wanted = 2 * least if 2 * least <= MOST_VALUES else least
    rows = np.concatenate([[0], np.cumsum(counts)])
    values, ends = len(counts), [0]
    last = int(np.searchsorted(rows, rows[-1] - wanted, side="right")) - 1  # what follows has enough rows up to here
    while values - ends[-1] > MOST_VALUES:
        first = max(ends[-1] + MOST_VALUES // 2, int(np.searchsorted(rows, rows[ends[-1]] + wanted)))
        if first > last:
            break
        reach = min(last, max(first, ends[-1] + MOST_VALUES))
        ends.append(first + int(apart[first - 1 : reach].argmax()))
    return np.array([*ends, values])


def _fill(
    distance: ValueDistance,
    originals: Integers,
    counts: Integers,
    outputs: Integers,
    places: tuple[Integers, Integers, Integers],
    delta: Fraction,
    x: Floats,
    prices: Floats,
    cost: Floats,
) -> None:
    """Solve all blocks; their tables go into ``x``, what they say of y into ``prices``."""
    from undercover.methods.mutual_cover.kernels.programs import KEPT, LANES, Solved, cover_tables

    order, own, ends = places
    sizes = np.diff(ends)
    cells = np.concatenate([[0], np.cumsum(sizes**2)])
    codes = outputs[own[order]].astype(np.int32)
    rows, weights = originals[order].astype(np.int32), counts[order].astype(np.int32)
    tables = kernels.Tables(ends, rows, weights, ends, codes, cells, np.empty(cells[-1]))
    count = len(sizes)
    objectives, bounds, spreads = np.zeros((3, count))
    origins, y = np.zeros(count, np.uint8), np.zeros(len(order))
    solved = Solved(np.zeros(count, np.int32), objectives, bounds, spreads, origins, y)
    least, whole = math.ceil(1 / delta), delta.numerator == 1
    cover_tables(np.arange(count), tables, distance.kernel_arguments, float(delta), least, whole, False, LANES, solved)
    for b in range(count):
        here = order[ends[b] : ends[b + 1]]
        inside = cost[np.ix_(here, own[here])]
        cheapest = (counts[here] @ inside).argmin()
        kept, iterated = int(solved.kept[b]), solved.prices[ends[b] : ends[b + 1]]
        if kept:
            released = np.searchsorted(outputs, codes[ends[b] :][:kept])
            x[np.ix_(here, released)] = tables.probabilities[cells[b] :][: sizes[b] * kept].reshape(-1, kept)
        else:  # rounding spoilt it
            x[here, own[here[cheapest]]] = 1.0
        prices[here] = iterated if iterated.any() or solved.origins[b] == KEPT else inside[:, cheapest]


def certified_bound(cost: Floats, counts: Floats, prices: Floats, delta: float) -> float:
    """What no table can undercut, from prices y that hold within blocks: lowered where a column breaks them.

    y holds in a column if the mean of y - d over its 1/delta rows of the largest y - d is not above 0. Where it is g
    above, these rows come down by g, and those next below down to where these are then. From the multipliers w and v
    that go with it the bound is computed anew, and what rounding may have added is taken off.
    """
    q, n = cost.shape
    parts = np.array_split(np.arange(n), -(-q * n // _CELLS_AT_ONCE))
    v, lower = np.empty(n), np.zeros(q)
    for part in parts:
        u = prices[:, None] - cost[:, part]
        order = np.argsort(-u, axis=0)
        ranked = np.take_along_axis(u, order, axis=0)
        taken = np.minimum(np.cumsum(delta * counts[order], axis=0), 1.0)
        excess = np.maximum((np.diff(taken, axis=0, prepend=0.0) * ranked).sum(axis=0), 0.0)
        last = np.take_along_axis(ranked, (taken < 1.0).sum(axis=0, keepdims=True).clip(max=q - 1), axis=0)[0]
        v[part] = np.maximum(excess - last, 0.0)
        fall = np.where(excess > 0, np.minimum(excess, u - last + excess), 0.0)
        lower = np.maximum(lower, fall.max(axis=1))
    y = np.full(q, np.inf)
    epsilon = float(np.finfo(np.float64).eps)
    for part in parts:
        d = cost[:, part]
        w = np.maximum((prices - lower)[:, None] + v[part] - d, 0.0)
        price = delta * (counts @ w)
        y = np.minimum(y, (d + w - price - (q + 8) * epsilon * (d + w + price)).min(axis=1))
    return max(0.0, float(counts @ y - (q + 2) * epsilon * (counts @ np.abs(y))))
