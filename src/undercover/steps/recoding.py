"""From groups to published cells: tight boxes around the rows of a group, or the region the group was cut to.

A range becomes ``[low, high]``, a set ``{a, b}``, a column with a hierarchy the lowest node above all its values, and
whatever spans a whole set or joins a missing value with others ``*``. Rows are published class by class, classes in
the order of their cells, rows of one class in a secret uniform order, so that their order tells nothing.

Buckets are published in two tables (Xiao & Tao 2006, "Anatomy"): the QIT has the quasi-identifiers with the number of
the bucket, generalised for cross-bucket generalization, the SAT the values of each bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import SchemaError, listed
from undercover.model.cells import EVERYTHING, CellForm, quote, write_interval, write_set
from undercover.model.form import BUCKET, COUNT
from undercover.model.groups import Groups
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.schema import Column, Role, Schema
from undercover.model.table import CellKind, Domain, EncodedColumn, Table, cell_kind
from undercover.randomness import Randomness
from undercover.steps.cutting.partition import Partition
from undercover.steps.shuffling import shuffle_within

_LARGEST_INDEX = 1 << 22  # entries of a table that numbers pairs
_FORM: dict[CellKind, CellForm] = {"range": "interval", "set": "set", "tree": "node"}


@dataclass(frozen=True)
class Cells:
    """One quasi-identifier of every group: a code per group and the text of each code."""

    name: str
    form: CellForm
    codes: NDArray[np.int64]  # (n_groups,)
    labels: tuple[str, ...]


def box_cells(table: Table, groups: Groups) -> list[Cells]:
    """The tightest cell around the values of each group, for every quasi-identifier."""
    starts = groups.offsets[:-1]
    cells = []
    for name in table.schema.quasi_identifiers:
        column = table[name]
        kind = cell_kind(column)
        codes = column.codes[groups.order]
        if kind == "set":
            cells.append(_set_cells(column, _presence(codes, starts, column.domain.size)))
            continue
        if kind == "tree":
            codes = column.leaf_codes[codes]
        low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
        cells.append(_span_cells(column, kind, low.astype(np.int64), high.astype(np.int64)))
    return cells


def region_cells(table: Table, partition: Partition) -> list[Cells]:
    """The region each group was cut to, for every quasi-identifier; regions do not overlap."""
    cells = []
    for j, cut in enumerate(partition.columns):
        column = table[cut.name]
        low, high = partition.bounds[:, j, 0], partition.bounds[:, j, 1]
        if cut.kind == "set":
            pairs, codes = _distinct_pairs(low, high)  # by rank of frequency
            inside = (pairs[:, :1] <= cut.recode) & (cut.recode <= pairs[:, 1:])
            cells.append(_cells(column.name, "set", codes, [*map(_write_members(column), inside)]))
        else:
            cells.append(_span_cells(column, cut.kind, low, high, disjoint=True))
    return cells


def generalized_table(
    table: Table, groups: Groups, cells: Sequence[Cells], randomness: Randomness, name: str = "table"
) -> PublishedTable:
    """Every row with the cells of its group in place of its quasi-identifiers."""
    return ordered_table(table, groups, cells, randomness, name)[0]


def ordered_table(
    table: Table, groups: Groups, cells: Sequence[Cells], randomness: Randomness, name: str = "table"
) -> tuple[PublishedTable, NDArray[np.int64]]:
    """The same, and the row of the table that stands in each published row, which is nobody's but the holder's."""
    by_group = np.stack([column.codes for column in cells], axis=1)
    group_order = np.lexsort(by_group.T[::-1])
    ordered = by_group[group_order]
    new_class = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    sizes = groups.sizes[group_order]
    row_starts = np.concatenate([[0], np.cumsum(sizes)])
    # Rows group by group in that order, then shuffled inside every class.
    rows = groups.order[np.arange(table.n_rows) + np.repeat(groups.offsets[group_order] - row_starts[:-1], sizes)]
    class_offsets = np.append(row_starts[:-1][new_class], table.n_rows)
    shuffle_within(rows, class_offsets, randomness, "order of rows")
    columns, data = [], []
    for column in cells:
        per_row = np.repeat(column.codes[group_order], sizes).astype(np.int32)
        columns.append(PublishedColumn(column.name, "quasi-identifier", column.form))
        data.append(pa.DictionaryArray.from_arrays(pa.array(per_row), pa.array(column.labels, pa.string())))
    roles: list[tuple[Role, tuple[str, ...]]] = [
        ("sensitive", table.schema.sensitive),
        ("insensitive", table.schema.insensitive),
    ]
    for role, names in roles:
        for value_name in names:
            column_data = table[value_name]
            columns.append(PublishedColumn(value_name, role, column_data.settings.form))
            data.append(column_data.domain.take(column_data.codes[rows]))
    return PublishedTable(name, tuple(columns), pa.table(data, names=[column.name for column in columns])), rows


def _span_cells(
    column: EncodedColumn, kind: CellKind, low: NDArray[np.int64], high: NDArray[np.int64], *, disjoint: bool = False
) -> Cells:
    """Cells given by their lowest and highest code: ranges and tree nodes."""
    pairs, codes = _distinct_pairs(low, high)
    write = _write_node(column) if kind == "tree" else _write_range(column, disjoint)
    texts = [write(first, last) for first, last in pairs.tolist()]
    return _cells(column.name, _FORM[kind], codes, texts)


def _set_cells(column: EncodedColumn, words: NDArray[np.uint64]) -> Cells:
    """Cells given by the bits of the values present; (n_groups, n_words)."""
    distinct, codes = np.unique(words, axis=0, return_inverse=True) if words.shape[1] > 1 else _unique_words(words)
    size, write = column.domain.size, _write_members(column)
    texts = [write(np.unpackbits(row.view(np.uint8), bitorder="little")[:size].view(bool)) for row in distinct]
    return _cells(column.name, "set", codes, texts)


def _write_members(column: EncodedColumn) -> Callable[[NDArray[np.bool_]], str]:
    """What writes the set of the values marked; everything where all are."""
    labels = column.domain.labels
    quoted = [quote(label) for label in labels]

    def write(inside: NDArray[np.bool_]) -> str:
        members = inside.nonzero()[0].tolist()
        if len(members) == 1:
            return write_set([labels[members[0]]])
        return EVERYTHING if len(members) == len(inside) else "{" + ", ".join([quoted[code] for code in members]) + "}"

    return write


def _distinct_pairs(low: NDArray[np.int64], high: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct pairs in order, (n_pairs, 2), and the one of each group."""
    width = int(high.max()) + 1
    keys = low * width + high
    if width * width > _LARGEST_INDEX:
        distinct, codes = np.unique(keys, return_inverse=True)
    else:  # looking up is several times faster than sorting
        place = np.zeros(width * width, dtype=np.int64)
        place[keys] = 1
        distinct = np.flatnonzero(place)
        place[distinct] = np.arange(len(distinct))
        codes = place[keys]
    return np.stack([distinct // width, distinct % width], axis=1), codes.reshape(-1)


def _cells(name: str, form: CellForm, codes: NDArray[np.int64], texts: Sequence[str]) -> Cells:
    """Cells whose equal texts share a code."""
    place: dict[str, int] = {}
    merged = np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.int64)
    return Cells(name, form, merged[codes.reshape(-1)], tuple(place))


def _unique_words(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    distinct, codes = np.unique(words[:, 0], return_inverse=True)
    return distinct[:, None], codes


def _presence(codes: NDArray[np.unsignedinteger], starts: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
    """(n_groups, n_words) a bit for every value that occurs in the group."""
    n_words = -(-size // 64)
    bit = np.left_shift(np.uint64(1), (codes & 63).astype(np.uint64))
    if n_words == 1:
        return np.bitwise_or.reduceat(bit, starts)[:, None]
    word = codes >> 6
    columns = [np.bitwise_or.reduceat(np.where(word == w, bit, np.uint64(0)), starts) for w in range(n_words)]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _write_range(column: EncodedColumn, disjoint: bool) -> Callable[[int, int], str]:
    """Ranges as intervals; one that holds missing as well is everything, or a set if it may not be: of days a range of
    them, of anything else its values one by one."""
    labels = column.domain.labels
    missing = len(column.domain.values)
    quoted = [quote(label) for label in labels]

    def write(low: int, high: int) -> str:
        if column.domain.has_missing and low < high == missing:
            if not disjoint or not low:
                return EVERYTHING
            days = column.domain.kind == "date"
            return write_set([write_interval(labels[low], labels[missing - 1]), ""] if days else labels[low:])
        return f"[{quoted[low]}, {quoted[high]}]" if low < high else write_interval(labels[low], labels[low])

    return write


def _write_node(column: EncodedColumn) -> Callable[[int, int], str]:
    assert column.settings.hierarchy is not None
    tree = column.settings.hierarchy.tree

    def write(low: int, high: int) -> str:
        if high == tree.n_leaves:
            return "" if low == high else EVERYTHING
        node = int(tree.leaf_node[low])
        while tree.last[node] < high:
            node = int(tree.parent[node])
        return tree.labels[node]

    return write


def require_free_names(table: Table, method: str) -> None:
    """Raise where a published column has a name that the two tables need for themselves."""
    taken = [name for name in table.schema.published if name in (BUCKET, COUNT)]
    if taken:
        raise SchemaError(
            f"{method} adds the columns `{BUCKET}` and `{COUNT}` of its own. Rename {listed(taken)} in the table."
        )


def sensitive_table(table: Table, sensitive: str, buckets: NDArray[np.int32]) -> PublishedTable:
    """How often each sensitive value occurs in each bucket."""
    column = table[sensitive]
    size = column.domain.size
    pairs, counts = np.unique(buckets.astype(np.int64) * size + column.codes, return_counts=True)
    columns = (
        PublishedColumn(BUCKET, "structure", "value"),
        PublishedColumn(sensitive, "sensitive", column.settings.form),
        PublishedColumn(COUNT, "structure", "value"),
    )
    data = [
        pa.array((pairs // size).astype(np.int32)),
        column.domain.take(pairs % size),
        pa.array(counts.astype(np.int32)),
    ]
    return PublishedTable("sat", columns, pa.table(data, names=[BUCKET, sensitive, COUNT]))


def generalized_buckets(
    table: Table, groups: Groups, buckets: NDArray[np.int32], cells: Sequence[Cells], randomness: Randomness
) -> PublishedTable:
    """Every row with the cells of its group and the number of its bucket; rows written alike in a secret order."""
    numbers = pa.array(np.arange(int(buckets.max()) + 1, dtype=np.int32))
    published = generalized_table(
        _with(table, {BUCKET: EncodedColumn(BUCKET, buckets.astype(np.uint32), Domain("numeric", numbers), Column())}),
        groups,
        cells,
        randomness,
        name="qit",
    )
    columns = (*published.columns[:-1], PublishedColumn(BUCKET, "structure", "value"))
    return PublishedTable("qit", columns, published.data)


def joined_view(
    table: Table,
    sensitive: str,
    groups: Groups,
    buckets: NDArray[np.int32],
    cells: Sequence[Cells],
    randomness: Randomness,
) -> PublishedTable:
    """One table in which every row has some sensitive value of its bucket, drawn without regard to whose it is."""
    order = np.argsort(buckets, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(buckets))])
    drawn = order.copy()
    shuffle_within(drawn, offsets, randomness, "values of the joined view")
    codes = np.empty_like(table[sensitive].codes)
    codes[order] = table[sensitive].codes[drawn]
    exchanged = _with(table, {sensitive: replace(table[sensitive], codes=codes)})
    published = generalized_table(exchanged, groups, cells, randomness, name="joined")
    columns = (*published.columns[:-1], PublishedColumn(sensitive, "sensitive", table[sensitive].settings.form))
    return PublishedTable("joined", columns, published.data)


def _with(table: Table, more: Mapping[str, EncodedColumn]) -> Table:
    """The table without its sensitive columns and with ``more`` behind the insensitive ones."""
    schema = Schema(
        quasi_identifiers=table.schema.quasi_identifiers,
        insensitive=(*table.schema.insensitive, *more),
        columns=table.schema.columns,
        missing=table.schema.missing,
    )
    return replace(table, schema=schema, columns={**table.columns, **more})
