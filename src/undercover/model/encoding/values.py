"""One column as codes: what its values are, in which order they lie, and what stands in the way of publishing them.

Everything is found out of the distinct values; rows are only counted where a message says how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.errors import DataError, HierarchyError, described
from undercover.model.bins import Bins
from undercover.model.encoding.coded import Coded
from undercover.model.encoding.domain import Domain, EncodedColumn, code_type, kind_of, write_values
from undercover.model.figures import counted
from undercover.model.frames.exact import become_one
from undercover.model.kinds.dates import as_dates
from undercover.model.schema import Column, Kind
from undercover.wording import in_column

Values: TypeAlias = pa.Array | pa.ChunkedArray
Empty = Callable[[int, Any], NDArray[Any]]
"""Gives an array of so many numbers of a type."""


def encode(name: str, data: Values, settings: Column, *, missing: str, empty: Empty = np.empty) -> EncodedColumn:
    """Dictionary-encode one column in the order of its values; ``empty`` gives the array of codes."""
    value_type = data.type.value_type if pa.types.is_dictionary(data.type) else data.type
    kind = settings.kind or kind_of(value_type)
    if pa.types.is_nested(value_type):
        if kind in ("numeric", "date"):
            _as_scale(name, data, kind, settings.format)
        raise _unpublishable(name, value_type)
    coded = plain(data)
    if kind in ("numeric", "date"):
        coded = _on_scale(name, coded, kind, settings.format)
    elif pa.types.is_floating(coded.values.type):
        coded = coded.changed(coded.values.cast(pa.int64() if _integral(coded.values) else pa.string()))
    if not _single_values(coded.values.type):
        raise _unpublishable(name, coded.values.type)
    if settings.bins is not None:
        coded, kind = _in_bins(name, coded, Bins(settings.bins)), "ordinal"
    values, order = _sorted_values(name, coded.values, kind, settings)
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = len(values)
    lacking = coded.missing
    if lacking and missing != "category":
        raise DataError(f"Column `{name}` has {counted(lacking, 'missing value')}.")
    domain = Domain(kind, values, lacking > 0)
    _check_hierarchy(name, domain, settings)
    _check_distance(name, domain, settings)
    codes = coded.codes(place, empty(len(coded), code_type(domain.size)))
    return EncodedColumn(name, codes, domain, settings)


def plain(data: Values) -> Coded:
    """A column with one type for each kind of values: large strings and views are texts, all floats double.

    What is written as an empty cell is missing: empty text and NaN. Minus zero is zero.
    """
    coded = Coded.of(data)
    return coded.changed(plain_values(coded.values))


def plain_values(data: Values) -> Values:
    """The same of values that are no dictionaries."""
    if pa.types.is_large_string(data.type) or data.type == pa.string_view() or pa.types.is_null(data.type):
        data = data.cast(pa.string())
    if pa.types.is_string(data.type):
        empty = pc.equal(data, "")
        if pc.any(empty).as_py():
            data = pc.if_else(empty, pa.scalar(None, data.type), data)
    elif pa.types.is_floating(data.type):
        data = data.cast(pa.float64())
        data = pc.add(pc.if_else(pc.is_nan(data), pa.scalar(None, data.type), data), 0.0)
    return data


def without_value(data: Values) -> NDArray[np.bool_] | None:
    """(n_rows,) whether a row's value is missing; ``None`` where no row's is."""
    if pa.types.is_dictionary(data.type):
        if not data.null_count and all(_all_there(values) for values in _dictionaries(data)):
            return None
        coded = plain(data)
        return coded.without() if coded.missing else None
    mask = pc.is_null(plain_values(data), nan_is_null=True)
    if not pc.any(mask).as_py():
        return None
    found = mask.to_numpy(zero_copy_only=False) if isinstance(mask, pa.Array) else mask.to_numpy()
    return np.asarray(found, dtype=bool)


def _dictionaries(data: Values) -> Iterator[pa.Array]:
    """Those of its chunks; one that follows itself is there once."""
    before = None
    for chunk in data.chunks if isinstance(data, pa.ChunkedArray) else [data]:
        if before is None or not chunk.dictionary.equals(before):
            yield chunk.dictionary
        before = chunk.dictionary


def _all_there(values: pa.Array) -> bool:
    return bool(plain_values(values).null_count == 0)


def _unpublishable(name: str, arrow: pa.DataType) -> DataError:
    return DataError(f"Column `{name}` holds {arrow}; only text, numbers, dates and booleans can be published.")


def _on_scale(name: str, coded: Coded, kind: Kind, form: str | None) -> Coded:
    """Numbers as int64 or float64, dates as date32 or timestamp; infinity is refused."""
    values = _as_scale(name, coded.values, kind, form)
    if pa.types.is_floating(values.type):
        infinite = np.append(np.asarray(pc.fill_null(pc.is_inf(values), False)), False)
        if infinite.any():
            rows = int(coded.counts()[infinite].sum())
            raise DataError(f"Column `{name}` has {rows:,} non-finite numbers. Remove them or leave the cells empty.")
        values = values.cast(pa.int64()) if _integral(values) else values
    return coded.changed(values)


def _as_scale(name: str, data: pa.Array | pa.ChunkedArray, kind: Kind, form: str | None) -> pa.Array | pa.ChunkedArray:
    """Whole numbers as int64, others as float64 without NaN, which is missing; dates as date32 or timestamp."""
    if kind == "date" and pa.types.is_timestamp(data.type):
        return _micro(name, data)
    try:
        if kind == "date":
            return data.cast(pa.date32()) if pa.types.is_date(data.type) else as_dates(data, form)
        if pa.types.is_boolean(data.type):
            return data.cast(pa.int8()).cast(pa.int64())
        if pa.types.is_integer(data.type) and data.type != pa.uint64():
            return data.cast(pa.int64())
        numbers = data.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"Column `{name}` is declared {kind}, but not all of its values are: {_strange(data)}. "
            "Correct these cells, or declare another kind."
        ) from error
    except DataError as error:
        raise DataError(f"Column `{name}` is declared date and {error}") from error
    if pa.types.is_string(data.type) and become_one(data, numbers):
        raise DataError(
            f"Column `{name}` is declared numeric, and has different numbers that would become one: a number tells 15 "
            f"digits apart. To keep them all, say {in_column(name, kind='categorical')}."
        )
    return pc.if_else(pc.fill_null(pc.is_nan(numbers), False), pa.scalar(None, pa.float64()), numbers)


def _strange(data: pa.Array | pa.ChunkedArray) -> str:
    """The values that are no numbers: how many there are, and what they look like."""
    texts = data.cast(pa.string()).to_pylist()
    return described(dict.fromkeys(text for text in texts if text is not None and not _is_number(text)))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _micro(name: str, data: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    try:
        return data.cast(pa.timestamp("us"))
    except pa.ArrowInvalid as error:
        raise DataError(f"Column `{name}` has moments finer than microseconds. Round them first.") from error


def _integral(data: pa.Array | pa.ChunkedArray) -> bool:
    whole = pc.all(pc.and_(pc.equal(data, pc.floor(data)), pc.less(pc.abs(data), 2.0**53))).as_py()
    return bool(whole)


def _sorted_values(name: str, dictionary: pa.Array, kind: Kind, settings: Column) -> tuple[pa.Array, NDArray[np.int64]]:
    """The distinct values in code order, and the dictionary position of each."""
    if settings.domain is not None:
        labels = write_values(dictionary)
        outside = sorted(set(labels) - set(settings.domain))
        if outside:
            raise DataError(
                f"Column `{name}` has values outside its declared domain: {described(outside)}. Add them to the "
                "domain, or correct the cells."
            )
        if kind == "ordinal":
            rank = {label: position for position, label in enumerate(settings.domain)}
            order = np.argsort([rank[label] for label in labels], kind="stable").astype(np.int64)
            return dictionary.take(pa.array(order)), order
    order = np.asarray(pc.sort_indices(dictionary).to_numpy(), dtype=np.int64)
    return dictionary.take(pa.array(order)), order


def _in_bins(name: str, numbers: Coded, bins: Bins) -> Coded:
    """Every number as the label of its bin; the values are the bins that occur."""
    values = numbers.values.to_numpy(zero_copy_only=False)
    place = bins.place(values)
    if (place < 0).any():
        outside = int(numbers.counts()[:-1][place < 0].sum())
        broken = (place < 0) & (values > bins.edges[0]) & (values < bins.edges[-1])
        raise DataError(
            f"Column `{name}` has {outside:,} rows outside its declared bins, which go from {bins.labels[0]} to "
            f"{bins.labels[-1]}. Declare bins for everything there can be"
            + ("; for numbers with a fraction write an edge as a decimal, such as 0.0." if broken.any() else ".")
        )
    return numbers.changed(pa.array([bins.labels[bin_] for bin_ in place], pa.string()))


def _single_values(arrow: pa.DataType) -> bool:
    """Whether a column holds what can be written in a cell: no lists, records or bytes."""
    binary = pa.types.is_binary(arrow) or pa.types.is_large_binary(arrow) or pa.types.is_fixed_size_binary(arrow)
    return not (binary or pa.types.is_nested(arrow))


def _check_hierarchy(name: str, domain: Domain, settings: Column) -> None:
    gaps = None if settings.hierarchy is None else settings.hierarchy.uncovered(write_values(domain.values))
    if gaps:
        raise HierarchyError(f"The hierarchy of `{name}` does not cover {described(gaps)}. Add a row for each.")


def _check_distance(name: str, domain: Domain, settings: Column) -> None:
    gaps = None if settings.distance is None else settings.distance.uncovered(write_values(domain.values))
    if gaps:
        raise DataError(
            f"The distances of `{name}` do not speak of {described(gaps)}. Add a row and a column for each, "
            "written as in the table."
        )
