"""Cells of perturbed generalization, and the perturbed row that is published of each.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section IV. Their Phase 2 is top-down
specialisation (Fung, Wang & Yu 2005), one cut through every column's tree, the same for all rows: start with ``*``
everywhere and replace a node by its children, for all rows below it, as long as every cell keeps k rows; the
specialisation of the highest score first.

Deviations. The paper's score is the information gain of (perturbed) sensitive values, which breaks its Theorem 3: what
is cut then tells something about them. Here the score is by default the share of the column's range that is saved,
times the weight of the column: public knowledge only. Columns without a hierarchy get one: ranges are halved again and
again, sets have their values under one root. The score of a node never changes and its smallest child only becomes
smaller, so each node is tried once.

They name full-domain generalisation (LeFevre, DeWitt & Ramakrishnan 2005, "Incognito") among the ways to form cells,
too: of all nodes whose cells have at least k rows, the one of least loss. No sensitive value is looked at.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import look_up, narrowest
from undercover.model.channel import Channel
from undercover.model.form import PEOPLE
from undercover.model.groups import Groups
from undercover.model.protocols import Progress, no_progress
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.table import Table, write_values
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import require_rows
from undercover.steps.cutting.columns import CutColumn, cut_columns, tree_of
from undercover.steps.cutting.partition import Partition
from undercover.steps.lattice.choice import Chooser, search
from undercover.steps.lattice.conditions import CellCondition
from undercover.steps.lattice.cubes import FullDomain, recode
from undercover.steps.lattice.lattice import Levels
from undercover.steps.recoding import Cells
from undercover.steps.shuffling import spare_words

Array = NDArray[np.int64]


@dataclass(frozen=True)
class NodeTree:
    """The nodes of one column as ranges of cutting codes; node 0 is the root."""

    first: Array  # (n_nodes,)
    last: Array
    children: tuple[tuple[int, ...], ...]

    def sizes(self, node: int) -> Array:
        """How many codes lie below each child of a node."""
        return np.array([self.last[child] - self.first[child] + 1 for child in self.children[node]])


def specialized(
    table: Table, *, k: int, labels: NDArray[np.integer] | None = None, progress: Progress = no_progress
) -> Partition:
    """Specialise ``table`` into cells of at least ``k`` rows.

    With ``labels``, sensitive values to be driven by (information gain), it is not safe; without them the cut follows
    from the quasi-identifiers and the weights alone.
    """
    require_rows(table, k)
    from undercover.compiled.shuffle import counting_order
    from undercover.methods.perturbed_generalization.kernels import specialize

    columns = cut_columns(table, "regions")
    trees = [node_tree(table, column) for column in columns]
    leaves = [column.recode.astype(np.int32)[table[column.name].codes] for column in columns]
    below = [counting_order(codes, column.size) for codes, column in zip(leaves, columns, strict=True)]
    score = [
        _saved(table, column, tree)
        if labels is None
        else partial(_information_gain, tree, _tally(codes, labels, column))
        for column, tree, codes in zip(columns, trees, leaves, strict=True)
    ]
    cell = np.zeros(table.n_rows, dtype=np.int32)
    n_cells = 1
    cut = [np.zeros(column.size, dtype=np.int64) for column in columns]  # node above each cutting code
    waiting = [(-score[j](0), j, 0) for j in range(len(columns)) if trees[j].children[0]]
    heapq.heapify(waiting)
    while waiting:
        _, j, node = heapq.heappop(waiting)
        tree = trees[j]
        order, offsets = below[j]
        low, high = int(tree.first[node]), int(tree.last[node])
        rows = order[offsets[low] : offsets[high + 1]]
        child_of = np.repeat(np.arange(len(tree.children[node])), tree.sizes(node))
        found = specialize(rows, cell, leaves[j], low, child_of, len(tree.children[node]), k, n_cells)
        if found < 0:
            continue
        n_cells = found
        cut[j][low : high + 1] = np.array(tree.children[node])[child_of]
        for child in tree.children[node]:
            if tree.children[child]:
                heapq.heappush(waiting, (-score[j](child), j, child))
        progress("specialising", 0.0)
    groups = Groups(cell, n_cells)
    member = groups.order[groups.offsets[:-1]]  # any row of a cell shows its nodes
    nodes = [nodes_of[codes[member]] for nodes_of, codes in zip(cut, leaves, strict=True)]
    bounds = np.stack(
        [np.stack([tree.first[at], tree.last[at]], axis=1) for tree, at in zip(trees, nodes, strict=True)], axis=1
    )
    return Partition(groups, tuple(columns), bounds)


def node_tree(table: Table, column: CutColumn) -> NodeTree:
    """The tree a column is specialised along: its hierarchy, or one made of its range or set."""
    if column.kind == "tree":
        arrays = tree_of(table, column)
        starts = arrays["starts"]
        children = tuple(
            tuple(arrays["children"][starts[node] : starts[node + 1]].tolist()) for node in range(len(arrays["first"]))
        )
        return NodeTree(arrays["first"], arrays["last"], children)
    if column.kind == "set":
        return _of_ranges([(0, column.size - 1)], lambda low, high: [(code, code) for code in range(low, high + 1)])
    missing = table[column.name].domain.has_missing

    def halves(low: int, high: int) -> list[tuple[int, int]]:
        if missing and high == column.size - 1:
            return [(low, high - 1), (high, high)]
        middle = (low + high) // 2
        return [(low, middle), (middle + 1, high)]

    return _of_ranges([(0, column.size - 1)], halves)


def _of_ranges(ranges: list[tuple[int, int]], split: Callable[[int, int], Sequence[tuple[int, int]]]) -> NodeTree:
    """Split ranges until every one is a single code."""
    children: list[tuple[int, ...]] = []
    for low, high in ranges:  # grows while it is gone through
        parts = split(low, high) if high > low else []
        children.append(tuple(range(len(ranges), len(ranges) + len(parts))))
        ranges.extend(parts)
    first, last = np.array(ranges, dtype=np.int64).reshape(-1, 2).T
    return NodeTree(first, last, tuple(children))


def _saved(table: Table, column: CutColumn, tree: NodeTree) -> Callable[[int], float]:
    """How much of the column's range a row below a node is expected to save by its specialisation, times the weight."""
    settings = table[column.name].settings
    positions = np.minimum(table[column.name].domain.positions, 1.0) if column.kind == "range" else None
    leaves = max(1, column.leaves - 1)

    def width(node: int) -> float:
        low, high = int(tree.first[node]), int(tree.last[node])
        return float(positions[high] - positions[low]) if positions is not None else (high - low) / leaves

    def score(node: int) -> float:
        sizes = tree.sizes(node)
        kept = sum(size * width(child) for size, child in zip(sizes, tree.children[node], strict=True)) / sizes.sum()
        return float(settings.weight * (width(node) - kept))

    return score


def _tally(codes: NDArray[Any], labels: NDArray[np.integer], column: CutColumn) -> Array:
    """(size + 1, n_labels) how often each label occurs below the first codes."""
    n_labels = int(labels.max()) + 1
    counts = np.bincount(codes.astype(np.int64) * n_labels + labels, minlength=column.size * n_labels)
    return np.concatenate([np.zeros((1, n_labels), np.int64), np.cumsum(counts.reshape(column.size, n_labels), axis=0)])


def _information_gain(tree: NodeTree, tally: Array, node: int) -> float:
    """By how many bits the labels below a node become surer once its children are told apart."""

    def labels_below(at: int) -> Array:
        found: Array = tally[tree.last[at] + 1] - tally[tree.first[at]]
        return found

    everything = labels_below(node)
    total = int(everything.sum())
    if not total:
        return 0.0
    parts = [labels_below(child) for child in tree.children[node]]
    left = sum(int(part.sum()) / total * _entropy(part) for part in parts)
    return round(_entropy(everything) - left, 12)  # equal gains must not differ by how they round


def _entropy(counts: Array) -> float:
    present = np.sort(counts[counts > 0])
    if not len(present):
        return 0.0
    shares = present / present.sum()
    return float(-(shares * np.log2(shares)).sum())


def full_domain_partition(table: Table, *, k: int, progress: Progress = no_progress) -> Partition:
    """Cells of at least ``k`` rows on one level of every column; regions of the domain that do not overlap."""
    require_rows(table, k)
    domain = FullDomain(table, table.schema.quasi_identifiers)
    condition = CellCondition(table, k)
    passing = search(domain, condition, progress=progress)
    levels = Chooser(domain, condition).best(passing, suppressing=False).levels
    columns = cut_columns(table, "regions")
    groups = recode(domain, levels).groups
    member = groups.order[groups.offsets[:-1]]  # any row of a cell shows its nodes
    bounds = np.stack(
        [
            _ranges(domain, column, levels, axis)[table[column.name].codes[member]]
            for axis, column in enumerate(columns)
        ],
        axis=1,
    )
    return Partition(groups, tuple(columns), bounds)


def _ranges(domain: FullDomain, column: CutColumn, levels: Levels, axis: int) -> NDArray[np.int64]:
    """(domain size, 2) first and last cutting code of the node above each code."""
    table, level = domain.table, levels[axis]
    everything = np.tile(np.array([0, column.size - 1]), (table[column.name].domain.size, 1))
    own = np.stack([column.recode, column.recode], axis=1)
    hierarchy = table[column.name].settings.hierarchy
    if level == domain.lattice.heights[axis]:
        return everything
    if hierarchy is None:
        node_of = domain.columns[axis].levels[level].node_of
        first, last = np.unique(node_of, return_index=True)[1], np.unique(node_of[::-1], return_index=True)[1]
        return np.stack([first, len(node_of) - 1 - last], axis=1)[node_of] if level else own
    place = np.empty(len(hierarchy.rows), dtype=np.int64)
    place[hierarchy.tree.leaf_order] = np.arange(len(hierarchy.rows))
    spans: dict[str, tuple[int, int]] = {}
    for row, position in zip(hierarchy.rows, place.tolist(), strict=True):
        low, high = spans.get(row[level], (position, position))
        spans[row[level]] = (min(low, position), max(high, position))
    labels = table[column.name].domain.labels
    for code in range(len(table[column.name].domain.values)):
        own[code] = spans[hierarchy.generalize(labels[code], level)]
    return own


def draw_rows(groups: Groups, randomness: Randomness) -> Array:
    """One uniformly random row of every group."""
    from undercover.methods.perturbed_generalization.kernels import draw_positions

    attempt = 0
    while True:
        words = randomness.words(f"row of a cell/{attempt}", groups.count)
        spare = randomness.words(f"row of a cell/{attempt}/spare", spare_words(groups.count, int(groups.sizes.max())))
        drawn = draw_positions(groups.offsets, words, spare)
        if len(drawn):
            return np.asarray(groups.order[drawn], dtype=np.int64)
        attempt += 1


def perturbed(codes: NDArray[Any], p: Fraction, size: int, randomness: Randomness) -> Array:
    """Every code kept with probability ``p`` (rounded down to 64 bits), otherwise drawn uniformly below ``size``."""
    from undercover.methods.perturbed_generalization.kernels import perturb

    if p == 1:
        return codes.astype(np.int64)
    threshold = np.uint64(int(p * (1 << 64)))
    attempt = 0
    while True:
        high, low, words = (
            randomness.words(f"{purpose}/{attempt}", len(codes)) for purpose in ("keep", "keep, low", "new value")
        )
        spare = randomness.words(f"new value/{attempt}/spare", spare_words(len(codes), size))
        drawn = perturb(codes.astype(np.int64), high, low, threshold, words, spare, size)
        if len(drawn) or not len(codes):
            return np.asarray(drawn)
        attempt += 1


def published_rows(
    table: Table, sensitive: str, groups: Groups, cells: list[Cells], values: NDArray[np.int64], noise: Channel
) -> tuple[PublishedTable, Array]:
    """One row per cell, in the order of the cells; and the row of each group."""
    order = np.lexsort(np.stack([column.codes for column in cells])[::-1])
    columns = [PublishedColumn(column.name, "quasi-identifier", column.form, column.ends) for column in cells]
    data: list[Any] = [
        pa.DictionaryArray.from_arrays(
            pa.array(column.codes[order].astype(np.int32)), pa.array(column.labels, pa.string())
        )
        for column in cells
    ]
    form = table[sensitive].settings.form
    columns += [PublishedColumn(sensitive, "sensitive", form), PublishedColumn(PEOPLE, "structure", "value")]
    written = typed_domain(table, sensitive, noise.domain)
    assert written is not None
    data += [written.take(pa.array(values[order])), pa.array(groups.sizes[order])]
    row_of_group = np.empty(len(order), dtype=np.int64)
    row_of_group[order] = np.arange(len(order))
    data_of = pa.table(data, names=[column.name for column in columns])
    return PublishedTable("table", tuple(columns), data_of), row_of_group


def typed_domain(table: Table, sensitive: str, domain: tuple[str, ...]) -> pa.Array | None:
    """The declared values as numbers or dates where the column has them; ``None`` where they are written otherwise."""
    texts = pa.array(domain, pa.string())
    if table[sensitive].domain.kind not in ("numeric", "date"):
        return texts
    for kind in dict.fromkeys((table[sensitive].domain.values.type, pa.float64())):
        try:
            values = texts.cast(kind)
        except pa.ArrowInvalid:
            continue
        if tuple(write_values(values)) == domain:
            return values
    return None


def domain_codes(table: Table, sensitive: str, domain: tuple[str, ...]) -> NDArray[np.signedinteger]:
    """The sensitive values as positions in the declared domain; the schema has checked that all lie in it."""
    place = {label: code for code, label in enumerate(domain)}
    column = table[sensitive]
    codes = np.array([place[label] for label in column.domain.labels], dtype=narrowest(len(domain) - 1))
    return look_up(codes, column.codes)
