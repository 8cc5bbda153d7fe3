"""Top-down specialisation as one would write it down: the plain twin."""

from __future__ import annotations

from collections import Counter

from undercover.methods.perturbed_generalization.cells import node_tree
from undercover.model.table import Table
from undercover.steps.cutting.columns import cut_columns


def plain_specialized(table: Table, k: int) -> list[tuple[tuple[int, int], ...]]:
    """The region of every row: from * everywhere, specialise what saves most and leaves no cell below k."""
    columns = cut_columns(table, "regions")
    trees = [node_tree(table, column) for column in columns]
    leaves = [column.recode[table[column.name].codes].tolist() for column in columns]
    rows = range(table.n_rows)
    cut = [{0} for _ in columns]

    def node_above(j: int, leaf: int) -> int:
        (node,) = (v for v in cut[j] if trees[j].first[v] <= leaf <= trees[j].last[v])
        return node

    def width(j: int, node: int) -> float:
        low, high = int(trees[j].first[node]), int(trees[j].last[node])
        if columns[j].kind == "range":
            positions = [min(position, 1.0) for position in table[columns[j].name].domain.positions.tolist()]
            return positions[high] - positions[low]
        return (high - low) / max(1, columns[j].leaves - 1)

    def gain(j: int, node: int) -> float:
        sizes = [int(trees[j].last[c] - trees[j].first[c] + 1) for c in trees[j].children[node]]
        kept = sum(s * width(j, c) for s, c in zip(sizes, trees[j].children[node], strict=True)) / sum(sizes)
        return float(table[columns[j].name].settings.weight * (width(j, node) - kept))

    refused: set[tuple[int, int]] = set()
    while True:
        open_nodes = [
            (j, v) for j in range(len(columns)) for v in cut[j] if trees[j].children[v] and (j, v) not in refused
        ]
        if not open_nodes:
            break
        j, node = min(open_nodes, key=lambda at: (-gain(*at), at))
        cut[j] = (cut[j] - {node}) | set(trees[j].children[node])
        cells = Counter(tuple(node_above(i, leaves[i][row]) for i in range(len(columns))) for row in rows)
        if min(cells.values()) < k:
            cut[j] = (cut[j] - set(trees[j].children[node])) | {node}
            refused.add((j, node))
    regions = []
    for row in rows:
        nodes = [node_above(j, leaves[j][row]) for j in range(len(columns))]
        regions.append(tuple((int(t.first[v]), int(t.last[v])) for t, v in zip(trees, nodes, strict=True)))
    return regions
