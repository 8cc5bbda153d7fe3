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

from undercover.arrays import narrowest
from undercover.errors import SchemaError, listed
from undercover.model.cells import EVERYTHING, CellForm, quote, read_interval, write_interval, write_set
from undercover.model.form import BUCKET, COUNT
from undercover.model.groups import Groups
from undercover.model.interval_ends import Ends, are_rounded, rounded_ends
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.schema import Role, Schema
from undercover.model.table import CellKind, EncodedColumn, Table, cell_kind
from undercover.randomness import Randomness
from undercover.steps.cutting.partition import Partition
from undercover.steps.shuffling import shuffle_within
from undercover.threads import parallel, segments

MANY = 1 << 20
"""Rows from which on numbers and days are held as codes of their values, as texts always are."""

_FEW = 1 << 15  # different values that make codes narrower than they are
_LARGEST_INDEX = 1 << 22  # entries of a table that numbers pairs
_FORM: dict[CellKind, CellForm] = {"range": "interval", "set": "set", "tree": "node"}


@dataclass(frozen=True)
class Cells:
    """One quasi-identifier of every group: a code per group and the text of each code."""

    name: str
    form: CellForm
    codes: NDArray[np.integer]  # (n_groups,) as narrow as there are labels
    labels: tuple[str, ...]
    ends: Ends = "exact"  # of intervals


def box_cells(table: Table, groups: Groups, threads: int = 1) -> list[Cells]:
    """The tightest cell around the values of each group, for every quasi-identifier."""
    columns = [table[name] for name in table.schema.quasi_identifiers]
    return parallel(lambda column: _box_cells(column, groups), columns, threads, steps=table.n_rows * len(columns))


def _box_cells(column: EncodedColumn, groups: Groups) -> Cells:
    from undercover.steps.recoding_kernels import find_spans, find_values

    kind, count = cell_kind(column), groups.count
    if kind == "set":
        bits = np.zeros((count, -(-column.domain.size // 64)), dtype=np.uint64)
        find_values(groups.order, groups.offsets, column.codes, bits, 0, count)
        return _set_cells(column, bits)
    place = column.leaf_codes if kind == "tree" else np.arange(column.domain.size)
    spans = np.empty((2, count), dtype=np.int32)
    find_spans(groups.order, groups.offsets, column.codes, place, spans, 0, count)
    return _span_cells(column, kind, *spans)


def region_cells(table: Table, partition: Partition) -> list[Cells]:
    """The region each group was cut to, for every quasi-identifier; regions do not overlap."""
    assert partition.bounds is not None
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
    table: Table, groups: Groups, cells: Sequence[Cells], randomness: Randomness, name: str = "table", threads: int = 1
) -> PublishedTable:
    """Every row with the cells of its group in place of its quasi-identifiers."""
    return ordered_table(table, groups, cells, randomness, name, threads)[0]


def ordered_table(
    table: Table,
    groups: Groups,
    cells: Sequence[Cells],
    randomness: Randomness,
    name: str = "table",
    threads: int = 1,
    among: NDArray[np.integer] | None = None,
) -> tuple[PublishedTable, NDArray[np.uint32]]:
    """The same, and the grouped row that stands in each published row, which is nobody's but the holder's.

    Grouped are all rows of the table, or those ``among`` them.
    """
    from undercover.compiled.rows import taken
    from undercover.steps.recoding_kernels import lay_rows

    group_order, new_class = _by_cells(cells)
    starts = np.concatenate([[0], np.cumsum(groups.sizes[group_order])])
    # Rows group by group in that order, then shuffled inside every class.
    rows, (order, offsets) = np.empty(starts[-1], dtype=np.uint32), (groups.order, groups.offsets)
    parallel(lambda run: lay_rows(order, offsets, group_order, starts, rows, *run), segments(starts, threads), threads)
    shuffle_within(rows, np.append(starts[:-1][new_class], len(rows)), randomness, "order of rows", threads)
    columns, data = [], []
    for column in cells:
        columns.append(PublishedColumn(column.name, "quasi-identifier", column.form, column.ends))
        data.append(_repeated(column, group_order, starts, threads))
    roles: list[tuple[Role, tuple[str, ...]]] = [
        ("sensitive", table.schema.sensitive),
        ("insensitive", table.schema.insensitive),
    ]
    of_table = rows if among is None else taken(among, rows, threads)
    for role, names in roles:
        for value_name in names:
            columns.append(PublishedColumn(value_name, role, table[value_name].settings.form))
            data.append(values_of(table[value_name], of_table, threads))
    return PublishedTable(name, tuple(columns), pa.table(data, names=[column.name for column in columns])), rows


def _by_cells(cells: Sequence[Cells]) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Groups in the order of their cells, the first column first, and where in it another class begins."""
    from undercover.steps.recoding_kernels import mark_changes, sort_by

    count = len(cells[0].codes)
    order, spare = np.arange(count, dtype=np.uint32), np.empty(count, dtype=np.uint32)
    for column in reversed(cells):
        sort_by(column.codes, len(column.labels), order, spare)
        order, spare = spare, order
    new = np.zeros(count, dtype=np.bool_)
    new[:1] = True
    for column in cells:
        mark_changes(column.codes, order, new)
    return order, new


def _repeated(cells: Cells, groups: NDArray[np.uint32], starts: NDArray[np.int64], threads: int) -> pa.DictionaryArray:
    """The cells of the groups, in this order, once for each of their rows."""
    from undercover.steps.recoding_kernels import repeat_cells

    codes = np.empty(starts[-1], dtype=narrowest(len(cells.labels) - 1))
    runs = segments(starts, threads)
    parallel(lambda run: repeat_cells(cells.codes, groups, starts, codes, *run), runs, threads)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(cells.labels, pa.string()))


def values_of(column: EncodedColumn, rows: NDArray[np.integer], threads: int = 1) -> pa.Array:
    """The values of ``rows`` as they are: texts as a dictionary of those that occur, in the order in which they do.

    Arrow calls such a dictionary ordered, by which :mod:`undercover.model.frames.cells` tells values from cells. Plain
    texts would take many times the room, and more than there may be of them. Of many rows numbers and days are, too.
    """
    from undercover.compiled.rows import taken

    domain = column.domain
    found = taken(column.codes, rows, threads, narrowest(domain.size - 1))
    if not pa.types.is_string(domain.values.type) and (len(rows) < MANY or domain.size > _FEW):
        return domain.take(found)
    indices = pa.array(found, mask=found == len(domain.values)) if domain.has_missing else pa.array(found)
    occurring = indices.dictionary_encode()
    new = occurring.indices.cast(indices.type)
    return pa.DictionaryArray.from_arrays(new, domain.values.take(occurring.dictionary), ordered=True)


def _span_cells(
    column: EncodedColumn,
    kind: CellKind,
    low: NDArray[np.signedinteger],
    high: NDArray[np.signedinteger],
    *,
    disjoint: bool = False,
) -> Cells:
    """Cells given by their lowest and highest code: ranges and tree nodes."""
    pairs, codes = _distinct_pairs(low, high)
    write = _write_node(column) if kind == "tree" else _write_range(column, disjoint)
    texts = [write(first, last) for first, last in pairs.tolist()]
    if kind != "range" or not are_rounded(column):
        return _cells(column.name, _FORM[kind], codes, texts)
    # In the order of what is published: that of the exact ends would tell more than the cells do.
    order = sorted(range(len(texts)), key=lambda place: _in_order(texts[place]))
    rank = np.empty(len(texts), dtype=np.int64)
    rank[order] = np.arange(len(texts))
    cells = _cells(column.name, _FORM[kind], rank[codes], [texts[place] for place in order])
    return replace(cells, ends="rounded")


def _in_order(cell: str) -> tuple[float, ...]:
    """Where a cell of numbers stands among others: by its ends, and behind them whatever holds a missing value."""
    if cell in ("", EVERYTHING) or cell[:1] == "{":
        return (np.inf, float(cell == ""))
    return tuple(map(float, read_interval(cell)))


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


def _distinct_pairs(
    low: NDArray[np.signedinteger], high: NDArray[np.signedinteger]
) -> tuple[NDArray[np.int64], NDArray[np.signedinteger]]:
    """The distinct pairs in order, (n_pairs, 2), and the one of each group."""
    width = int(high.max()) + 1
    if width * width > _LARGEST_INDEX:
        distinct, codes = np.unique(low * np.int64(width) + high, return_inverse=True)
    else:  # looking up is several times faster than sorting
        keys = low * low.dtype.type(width) + high
        place = np.zeros(width * width, dtype=np.int32)
        place[keys] = 1
        distinct = np.flatnonzero(place)
        place[distinct] = np.arange(len(distinct))
        codes = place[keys]
    return np.stack([distinct // width, distinct % width], axis=1), codes.reshape(-1)


def _cells(name: str, form: CellForm, codes: NDArray[np.signedinteger], texts: Sequence[str]) -> Cells:
    """Cells whose equal texts share a code."""
    place: dict[str, int] = {}
    merged = [place.setdefault(text, len(place)) for text in texts]
    return Cells(name, form, np.array(merged, dtype=narrowest(len(place) - 1))[codes.reshape(-1)], tuple(place))


def _unique_words(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    distinct, codes = np.unique(words[:, 0], return_inverse=True)
    return distinct[:, None], codes


def _write_range(column: EncodedColumn, disjoint: bool) -> Callable[[int, int], str]:
    """Ranges as intervals; one that holds missing as well is everything, or a set if it may not be: of days a range of
    them, of anything else its values one by one."""
    labels = column.domain.labels
    missing = len(column.domain.values)
    quoted = [quote(label) for label in labels]
    ends = rounded_ends(column, disjoint=disjoint) if are_rounded(column) else None

    def write(low: int, high: int) -> str:
        if column.domain.has_missing and low < high == missing:
            if not disjoint or not low:
                return EVERYTHING
            days = column.domain.kind == "date"
            return write_set([write_interval(labels[low], labels[missing - 1]), ""] if days else labels[low:])
        if ends is not None and low != missing:
            return write_interval(ends.low(low), ends.high(high))
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


def sensitive_table(table: Table, sensitive: str, buckets: Groups, threads: int = 1) -> PublishedTable:
    """How often each sensitive value occurs in each bucket."""
    from undercover.steps.recoding_kernels import count_pairs, list_pairs

    column, (order, offsets) = table[sensitive], (buckets.order, buckets.offsets)
    codes, size, runs = column.codes, column.domain.size, segments(offsets, threads)
    starts = np.zeros(buckets.count + 1, dtype=np.int64)
    parallel(lambda run: count_pairs(order, offsets, codes, starts, size, *run), runs, threads)
    np.cumsum(starts, out=starts)
    found = [np.empty(starts[-1], dtype=kind) for kind in (np.int32, codes.dtype, np.int32)]
    pairs = tuple(found)
    parallel(lambda run: list_pairs(order, offsets, codes, size, starts, pairs, *run), runs, threads)
    columns = (
        PublishedColumn(BUCKET, "structure", "value"),
        PublishedColumn(sensitive, "sensitive", column.settings.form),
        PublishedColumn(COUNT, "structure", "value"),
    )
    values = values_of(replace(column, codes=pairs[1]), np.arange(len(pairs[1]), dtype=np.uint32), threads)
    data = [pa.array(pairs[0]), values, pa.array(pairs[2])]
    return PublishedTable("sat", columns, pa.table(data, names=[BUCKET, sensitive, COUNT]))


def generalized_buckets(
    table: Table, groups: Groups, buckets: Groups, cells: Sequence[Cells], randomness: Randomness, threads: int = 1
) -> tuple[PublishedTable, NDArray[np.uint32]]:
    """Every row with the cells of its group and the number of its bucket; rows written alike in a secret order.

    And that order: the grouped row that stands in each published row.
    """
    from undercover.compiled.rows import taken

    published, rows = ordered_table(_with(table, {}), groups, cells, randomness, "qit", threads)
    columns = (*published.columns, PublishedColumn(BUCKET, "structure", "value"))
    numbers = pa.array(taken(buckets.labels, rows, threads))
    return PublishedTable("qit", columns, published.data.append_column(BUCKET, numbers)), rows


def joined_view(
    table: Table,
    sensitive: str,
    groups: Groups,
    buckets: Groups,
    cells: Sequence[Cells],
    randomness: Randomness,
    threads: int = 1,
) -> PublishedTable:
    """One table in which every row has some sensitive value of its bucket, drawn without regard to whose it is."""
    from undercover.compiled.rows import scatter, taken
    from undercover.compiled.shuffle import counting_order

    own, (order, offsets) = table[sensitive], counting_order(buckets.labels, buckets.count)
    drawn = order.copy()
    shuffle_within(drawn, offsets, randomness, "values of the joined view", threads)
    codes = np.empty_like(own.codes)
    scatter(taken(own.codes, drawn, threads), order, codes)
    exchanged = _with(table, {sensitive: replace(own, codes=codes)})
    published = generalized_table(exchanged, groups, cells, randomness, "joined", threads)
    columns = (*published.columns[:-1], PublishedColumn(sensitive, "sensitive", own.settings.form))
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
