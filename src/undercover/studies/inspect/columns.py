"""One column at a time: its codes, its kind, a summary that gives nothing away, and the suggested role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.arrays import narrowest
from undercover.model.kinds.dates import as_dates
from undercover.model.kinds.settle import find
from undercover.model.schema import Kind
from undercover.model.table import kind_of, write_values
from undercover.studies.inspect.neighbours import look_around
from undercover.studies.inspect.roles import Evidence, Suggestion, suggest
from undercover.studies.inspect.uniqueness import CodedColumn
from undercover.studies.inspect.vocabulary import SuggestedRole

SAMPLE = 400  # distinct values whose looks are judged
SHOWN_UP_TO = 100  # categories: with more distinct values none is shown
NULL_MARKERS = ("?", "NA", "N/A", "n/a", "NULL", "null", "None", "nan", "NaN", "-", ".", "")


@dataclass(frozen=True)
class ColumnReport:
    """One column, and what it should probably be."""

    name: str
    kind: Kind
    categories: bool  # numbers, but names of categories: declare it categorical
    distinct: int
    missing: int
    unique_share: float  # share of all rows whose value no other row has
    top_share: float  # share of all rows that have the most frequent value
    role: SuggestedRole
    reason: str
    summary: Mapping[str, Any]  # min and max, or the most frequent values that occur twice; not for identifiers
    null_markers: Mapping[str, int]  # values that may mean "missing", with their counts

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Values:
    """The values of a column and its codes: code i is ``values[i]``; the last code is missing."""

    values: pa.Array
    coded: CodedColumn
    counts: NDArray[np.int64]  # of each value, missing left out
    missing: int


def code(data: pa.ChunkedArray) -> Values:
    """Number the values of a column; NaN and null are missing."""
    if pa.types.is_null(data.type) or data.type == pa.string_view():
        data = data.cast(pa.string())
    if pa.types.is_dictionary(data.type) and any(chunk.dictionary.null_count for chunk in data.chunks):
        data = data.cast(data.type.value_type)
    if pa.types.is_floating(data.type):
        data = pc.if_else(pc.fill_null(pc.is_nan(data), False), pa.scalar(None, data.type), data)
    if not pa.types.is_dictionary(data.type):
        try:
            data = data.dictionary_encode()
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            # Lists and structures: compared by how they are written.
            data = pa.chunked_array([pa.array([None if v is None else str(v) for v in data.to_pylist()], pa.string())])
            data = data.dictionary_encode()
    data = data.unify_dictionaries()
    dictionary = data.chunk(0).dictionary
    # A dictionary handed to us may list a value twice, or values nobody has.
    own = dictionary.dictionary_encode()
    merged = np.asarray(own.indices.cast(pa.int64()).fill_null(len(own.dictionary)))
    place = np.append(merged, len(own.dictionary))
    counts = np.zeros(len(own.dictionary) + 1, dtype=np.int64)
    for indices in _indices(data):
        np.add.at(counts, place, np.bincount(indices, minlength=len(place)))
    used = np.flatnonzero(counts[:-1])
    missing = int(counts[-1])
    size = len(used) + (missing > 0)
    compact = np.full(len(counts), len(used), dtype=narrowest(size))
    compact[used] = np.arange(len(used))
    codes = np.concatenate([compact[place][indices] for indices in _indices(data)])
    return Values(own.dictionary.take(pa.array(used)), CodedColumn(codes, size), counts[used], missing)


def _indices(data: pa.ChunkedArray) -> Iterator[NDArray[Any]]:
    """Of every chunk the places in the dictionary; a missing value is one beyond it."""
    for chunk in data.chunks:
        wide = chunk.indices if chunk.indices.type.bit_width >= 32 else chunk.indices.cast(pa.int32())
        yield np.asarray(wide.fill_null(len(chunk.dictionary)))


def suggest_roles(
    columns: Mapping[str, Values], rows: int, declared: Mapping[str, Kind | None] | None = None
) -> dict[str, Suggestion]:
    """The role each column should probably play: each by itself, then in the light of the others."""
    evidence = {name: _evidence(name, column, rows, (declared or {}).get(name)) for name, column in columns.items()}
    return look_around({name: suggest(known) for name, known in evidence.items()}, evidence)


def _evidence(name: str, column: Values, rows: int, declared: Kind | None) -> Evidence:
    sample = _sample(column.values)
    return Evidence(
        name=name,
        kind=declared or found_kind(column.values),
        rows=rows,
        distinct=len(column.values),
        missing=column.missing,
        whole_numbers=_whole(column.values),
        sample=sample,
        numbers=_numbers(column.values),
    )


def _sample(values: pa.Array) -> list[str]:
    """Some values of a text column, evenly spread over its dictionary; none of any other column."""
    if not _is_text(values.type):
        return []
    return list(_spread(values).to_pylist())


def _numbers(values: pa.Array) -> list[float]:
    """Some values of a column of numbers, its ends among them; none of any other column."""
    if not len(values) or not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return []
    ends = pc.min_max(values)
    return [float(value) for value in (*_spread(values).to_pylist(), ends["min"].as_py(), ends["max"].as_py())]


def _spread(values: pa.Array) -> pa.Array:
    step = max(1, len(values) // SAMPLE)
    return values.take(pa.array(np.arange(0, len(values), step)[:SAMPLE]))


def _is_text(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow))


def found_kind(values: pa.Array) -> Kind:
    """The kind of a column nobody declared: what its values are as a quasi-identifier."""
    found = find(values)
    return "date" if found.problem else found.kind or kind_of(values.type)


def _whole(values: pa.Array) -> bool:
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy(zero_copy_only=False)
        return bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all())
    return bool(pa.types.is_integer(values.type))


def report_column(
    name: str, column: Values, guess: Suggestion, rows: int, declared: Kind | None = None
) -> ColumnReport:
    """What there is to say about one column."""
    kind = declared or found_kind(column.values)
    markers: dict[str, int] = {}
    if _is_text(column.values.type):
        places = pc.index_in(pa.array(NULL_MARKERS, column.values.type), value_set=column.values).to_pylist()
        found = zip(NULL_MARKERS, places, strict=True)
        markers = {marker: int(column.counts[place]) for marker, place in found if place is not None}
    return ColumnReport(
        name=name,
        kind=kind,
        categories=guess.categories and kind == "numeric" and declared is None,
        distinct=len(column.values),
        missing=column.missing,
        unique_share=int((column.counts == 1).sum()) / rows,
        top_share=int(column.counts.max(initial=0)) / rows,
        role=guess.role,
        reason=guess.reason,
        summary={} if guess.role == "identifier" else _summary(column, kind, guess.categories),
        null_markers={} if guess.role == "identifier" else markers,
    )


def _summary(column: Values, kind: Kind, categories: bool) -> dict[str, Any]:
    if not len(column.values):
        return {}
    if kind in ("numeric", "date") and not categories:
        values = column.values
        if kind == "date" and not pa.types.is_temporal(values.type):
            form = find(values).format
            if form is None:
                return {}
            values = as_dates(values, form)
        ends = pc.min_max(values)
        if _is_text(values.type) or kind == "date":
            return {end: write_values(pa.array([ends[end].as_py()], values.type))[0] for end in ("min", "max")}
        return {end: _plain_number(ends[end].as_py()) for end in ("min", "max")}
    if len(column.values) > SHOWN_UP_TO:
        return {}
    top = np.argsort(-column.counts, kind="stable")[:3]
    top = top[column.counts[top] > 1]
    labels = write_values(column.values.take(pa.array(top)))
    return {"top": [{"value": label, "count": int(column.counts[i])} for label, i in zip(labels, top, strict=True)]}


def _plain_number(value: Any) -> int | float | str:
    if isinstance(value, int):
        return value
    number = float(value)
    return number if np.isfinite(number) else str(number)
