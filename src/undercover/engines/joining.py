"""Drafts of the parts of a table, joined into one draft of the whole.

Published rows stand part after part, and numbers of groups and buckets go on where those of the part before ended. So
a reader can tell which rows were made together. That is no more than the cut tells, which follows from
quasi-identifiers alone, and every part keeps the promise by itself (decision 62). Rows that are written alike and were
promised something only together are never cut apart: ``together`` of :func:`~undercover.engines.parts.cut_rule`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.errors import ParameterError
from undercover.model.groups import Groups
from undercover.model.release import PublishedTable
from undercover.model.run import Draft
from undercover.wording import option

Rows = NDArray[np.integer[Any]]
Made = Sequence[tuple[Rows, Draft]]
"""The rows of every part, numbers in the whole table, with what was made of them."""

ROW, PLACES, NUMBERS = "row", ("published", "cells"), {"group": "groups", "block": "blocks"}
"""Columns of private frames: of a grouped row, of a place in the published table, and of a number that is counted on.

(Numbers by name of the column, with the name of the diagnostic that says how many there are.)
"""


def joined(parts: Made, n_rows: int) -> Draft:
    """One draft of all parts, which hold each of ``n_rows`` rows once."""
    drafts = [draft for _, draft in parts]
    first = drafts[0]
    if len(drafts) == 1:
        return first
    _must_agree(drafts)
    kept = [rows if draft.kept is None else rows[draft.kept] for rows, draft in parts]
    place = _places(kept, n_rows)
    starts = _starts([draft.groups.count for draft in drafts])
    return replace(
        first,
        tables=tuple(_table(drafts, number) for number in range(len(first.tables))),
        groups=Groups(_gathered([d.groups.labels for d in drafts], starts, place), int(starts[-1])),
        buckets=_buckets(drafts, place),
        suppressed=sum(draft.suppressed for draft in drafts),
        kept=None if len(place) == n_rows else np.sort(np.concatenate(kept)),
        diagnostics=_figures([draft.diagnostics for draft in drafts], [draft.groups for draft in drafts]),
        frames={name: _frame(name, drafts, place) for name in first.frames},
        claims=_once([claim for draft in drafts for claim in draft.claims]),
        warnings=tuple(dict.fromkeys(warning for draft in drafts for warning in draft.warnings)),
        order=_order(drafts, place),
        row_of_group=_rows_of_groups(drafts),
        shuffles=tuple(shuffle for draft in drafts for shuffle in draft.shuffles),  # every part was dealt by itself
    )


def _must_agree(drafts: Sequence[Draft]) -> None:
    """What is said of the whole release must be the same in every part."""
    first = drafts[0]
    for draft in drafts[1:]:
        for said in ("form", "used", "dropped"):
            if getattr(draft, said) != getattr(first, said):
                raise ParameterError(
                    f"The method says something else of every part ({said}), so it cannot be run on parts. "
                    f"Run it on the whole table: {option(parts=1)}."
                )


def _places(kept: Sequence[Rows], n_rows: int) -> NDArray[np.integer]:
    """(n_grouped,) the place among all grouped rows of those of every part, part after part."""
    rows = np.concatenate(kept)
    if len(rows) == n_rows:
        return rows
    counted = np.zeros(n_rows, dtype=rows.dtype)
    counted[rows] = 1
    return np.asarray((np.cumsum(counted, dtype=rows.dtype) - 1)[rows])


def _starts(counts: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _gathered(numbers: Sequence[NDArray[Any]], starts: NDArray[np.int64], place: NDArray[np.integer]) -> NDArray[Any]:
    """Numbers of every part, counted on from its start, where their rows lie in the whole."""
    found = np.empty(len(place), dtype=numbers[0].dtype)
    begin = 0
    for own, start in zip(numbers, starts, strict=False):
        found[place[begin : begin + len(own)]] = own + own.dtype.type(start)
        begin += len(own)
    return found


def _buckets(drafts: Sequence[Draft], place: NDArray[np.integer]) -> NDArray[np.int32] | None:
    buckets = [draft.buckets for draft in drafts if draft.buckets is not None]
    return None if not buckets else _gathered(buckets, _bucket_starts(drafts), place)


def _bucket_starts(drafts: Sequence[Draft]) -> NDArray[np.int64]:
    return _starts([0 if draft.buckets is None else int(draft.buckets.max(initial=-1)) + 1 for draft in drafts])


def _order(drafts: Sequence[Draft], place: NDArray[np.integer]) -> NDArray[Any] | None:
    """The grouped row in each published row: those of every part, by their place in the whole."""
    orders = [draft.order for draft in drafts if draft.order is not None]
    if len(orders) < len(drafts):
        return None
    begins = _starts([len(draft.groups.labels) for draft in drafts])
    return np.concatenate([place[begin + order] for begin, order in zip(begins, orders, strict=False)])


def _rows_of_groups(drafts: Sequence[Draft]) -> NDArray[Any] | None:
    """The published row of every group, counted on from part to part."""
    rows = [draft.row_of_group for draft in drafts if draft.row_of_group is not None]
    if len(rows) < len(drafts):
        return None
    begins = _starts([draft.tables[0].rows for draft in drafts])
    return np.concatenate([begin + own for begin, own in zip(begins, rows, strict=False)])


def _table(drafts: Sequence[Draft], number: int) -> PublishedTable:
    """One published table of all parts; numbers that tie it to another table are counted on."""
    tables = [draft.tables[number] for draft in drafts]
    first, form = tables[0], drafts[0].form
    times = Counter(name for table in drafts[0].tables for name in form.structure(table.name))
    starts = _bucket_starts(drafts)
    columns = {}
    for name in first.data.column_names:
        chunks = [table.data.column(name) for table in tables]
        if times[name] > 1:
            chunks = [
                pc.add(chunk, pa.scalar(int(start), chunk.type)) for chunk, start in zip(chunks, starts, strict=False)
            ]
        columns[name] = _column(chunks)
    return replace(first, data=pa.table(columns))


def _column(parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """A column of all parts; where it is coded in one of them, which depends on its rows, by one dictionary."""
    chunks = [chunk for part in parts for chunk in part.chunks]
    coded = [part.type for part in parts if pa.types.is_dictionary(part.type)]
    if not coded:
        return pa.chunked_array(chunks, parts[0].type)
    chunks = [chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode() for chunk in chunks]
    values = pa.chunked_array([chunk.dictionary for chunk in chunks]).unique()
    kind = _index_type(len(values), max(chunk.type.index_type.bit_width for chunk in chunks))
    recoded = []
    for chunk in chunks:
        place = pc.index_in(chunk.dictionary, value_set=values).cast(kind)
        recoded.append(pa.DictionaryArray.from_arrays(place.take(chunk.indices), values, ordered=coded[0].ordered))
    return pa.chunked_array(recoded)


def _index_type(size: int, width: int) -> pa.DataType:
    """The narrowest signed type that numbers ``size`` values, and no narrower than ``width`` bits."""
    needed = 8 if size <= 1 << 7 else 16 if size <= 1 << 15 else 32
    return {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[max(width, needed)]


def _frame(name: str, drafts: Sequence[Draft], place: NDArray[np.integer]) -> pa.Table:
    """A private frame of all parts: rows in the order of the whole, places and numbers counted on."""
    frames = [draft.frames[name] for draft in drafts]
    published = _starts([draft.tables[0].rows for draft in drafts])
    shifted = []
    for nth, frame in enumerate(frames):
        for column in frame.column_names:
            start = int(published[nth]) if column in PLACES else _numbers_before(column, drafts[:nth])
            if start:
                more = pc.add(frame.column(column), pa.scalar(start, frame.column(column).type))
                frame = frame.set_column(frame.column_names.index(column), column, more)
        shifted.append(frame)
    whole = pa.concat_tables(shifted).unify_dictionaries()
    if ROW not in whole.column_names or whole.num_rows != len(place):
        return whole
    back = np.empty(len(place), dtype=place.dtype)
    back[place] = np.arange(len(place), dtype=place.dtype)
    return whole.take(pa.array(back))


def _numbers_before(column: str, drafts: Sequence[Draft]) -> int:
    """How many groups or blocks the parts before have, where a column numbers them."""
    if column not in NUMBERS:
        return 0
    return sum(int(draft.diagnostics.get(NUMBERS[column], draft.groups.count)) for draft in drafts)


def _once(claims: Sequence[Any]) -> tuple[Any, ...]:
    """Every claim once."""
    found: list[Any] = []
    for claim in claims:
        if claim not in found:
            found.append(claim)
    return tuple(found)


def _figures(parts: Sequence[Mapping[str, Any]], groups: Sequence[Groups]) -> dict[str, Any]:
    """Diagnostics of the whole: what is counted is added up, shares are averaged over rows, ends are ends."""
    weights = [len(group.labels) for group in groups]
    return {name: _figure(name, [part.get(name) for part in parts], weights, groups) for name in parts[0]}


def _figure(name: str, values: Sequence[Any], weights: Sequence[int], groups: Sequence[Groups]) -> Any:
    first = values[0]
    if all(isinstance(value, Mapping) for value in values):
        return _figures(values, groups)
    plain = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if not plain:
        return first
    if name.startswith("smallest"):
        return min(values)
    if name.startswith("largest") or name == "max":
        return max(values)
    if all(isinstance(value, int) for value in values):
        return sum(values)
    return first if len(set(values)) == 1 else float(np.average(values, weights=weights))
