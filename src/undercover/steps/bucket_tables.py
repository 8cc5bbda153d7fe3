"""The published tables of buckets: quasi-identifiers with the number of the bucket, and the values of each bucket.

Xiao & Tao 2006, "Anatomy", for the two tables (QIT and SAT); Li, Liu, Han & Zhang, "Cross-Bucket Generalization", for
the QIT with generalised cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import SchemaError, listed
from undercover.model.form import BUCKET, COUNT
from undercover.model.groups import Groups
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.schema import Column, Schema
from undercover.model.table import Domain, EncodedColumn, Table
from undercover.randomness import Randomness
from undercover.steps.recoding import Cells, generalized_table
from undercover.steps.shuffling import shuffle_within


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
