"""The encoded table: compact integer codes over sorted domains.

Everything below the door works on codes. A column of ``n`` rows is an array of uint8, uint16 or uint32 (as narrow as
its domain allows) and a :class:`Domain` that says which value each code stands for. Codes follow the order of the
values: numbers and dates ascending, ordinal values as declared, categories by label. Missing, where the schema makes
it a category, is the last code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.errors import DataError, HierarchyError, listed
from undercover.model.bins import Bins
from undercover.model.figures import counted
from undercover.model.kinds.dates import as_dates
from undercover.model.kinds.settle import settled
from undercover.model.schema import Column, Kind, Schema
from undercover.randomness import Randomness
from undercover.units import one_row_each, units_of, weights_of
from undercover.wording import option

Codes = NDArray[np.unsignedinteger[Any]]
CellKind = Literal["range", "set", "tree"]


@dataclass(frozen=True)
class Domain:
    """The values of one column, in order."""

    kind: Kind
    values: pa.Array  # distinct, sorted, no nulls
    has_missing: bool = False

    @property
    def size(self) -> int:
        """Number of codes, missing included."""
        return len(self.values) + self.has_missing

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Each code's value as it is written in a cell; missing is empty."""
        return tuple(write_values(self.values)) + (("",) if self.has_missing else ())

    @cached_property
    def positions(self) -> NDArray[np.float64]:
        """Each code's place on the column's scale, from 0 to 1.

        Numbers and dates by their value, everything else by rank. Missing lies a whole scale away, so that a cell
        that joins it with anything else has lost everything.
        """
        if self.kind in ("numeric", "date"):
            scale = as_numbers(self.values)
        else:
            scale = np.arange(len(self.values), dtype=np.float64)
        if len(scale):
            scale = scale / 2 - scale[0] / 2  # halves, lest the span of the largest numbers be infinite
            scale = scale / (scale[-1] or 1.0)
        return np.append(scale, 2.0) if self.has_missing else scale

    def take(self, codes: NDArray[Any]) -> pa.Array:
        """The values of ``codes``, missing as null."""
        values = pa.concat_arrays([self.values, pa.nulls(1, self.values.type)]) if self.has_missing else self.values
        return values.take(pa.array(codes))


@dataclass(frozen=True)
class EncodedColumn:
    """One column: codes and what they stand for."""

    name: str
    codes: Codes
    domain: Domain
    settings: Column

    @cached_property
    def leaf_codes(self) -> NDArray[np.int64]:
        """For a column with a hierarchy: the depth-first leaf of each code; missing lies behind the last leaf."""
        hierarchy = self.settings.hierarchy
        if hierarchy is None:
            raise HierarchyError(f"Column `{self.name}` has no hierarchy.")
        place = np.empty(len(hierarchy.rows), dtype=np.int64)
        place[hierarchy.tree.leaf_order] = np.arange(len(hierarchy.rows))
        return np.array(
            [place[hierarchy.leaf_index[label]] for label in write_values(self.domain.values)]
            + ([len(hierarchy.rows)] if self.domain.has_missing else []),
            dtype=np.int64,
        )


@dataclass(frozen=True)
class Table:
    """Encoded columns with their schema; identifiers and columns without a role are left at the door.

    Examples
    --------
    >>> schema = Schema(quasi_identifiers=["age"], sensitive="disease")
    >>> table = Table.from_arrow(pa.table({"age": [34, 28], "disease": ["flu", "cold"], "name": ["Al", "Bo"]}), schema)
    >>> table
    <Table of 2 rows: 1 quasi-identifier, 1 sensitive; hand it to a method>
    >>> table["disease"].codes.tolist()
    [1, 0]
    """

    schema: Schema
    columns: Mapping[str, EncodedColumn]
    n_rows: int
    rows: NDArray[np.int64]  # (n_rows,) number of each row in the input, where missing = "drop" left some out
    n_input: int
    repeated: Mapping[str, int]  # identifier -> rows that share its value with another row, where no unit says whose
    units: NDArray[np.int64] | None = None  # (n_rows,) number of the person each row is of; None: every row is a person
    weights: NDArray[np.float64] | None = None  # (n_rows,) people of the population each row stands for
    set_aside: int = 0  # rows of people of whom another one was kept
    population: Table | None = None  # everybody the table is a sample of, where the schema names a table of them
    part: Any = None  # where it is a part of a table: what it knows of the whole (engines.parts.Part)

    @classmethod
    def from_arrow(cls, data: pa.Table, schema: Schema, *, one_row: Randomness | None = None) -> Table:
        """Check ``data`` against ``schema`` and encode what will be needed of it.

        ``one_row`` draws the row of every unit that is kept where ``one_row_per = "random"``.
        """
        _check_shape(data, schema)
        units = None if schema.unit is None else units_of(_plain(data.column(schema.unit)), schema.unit)
        weights = None if schema.weight is None else weights_of(_plain(data.column(schema.weight)), schema.weight)
        rows = np.arange(data.num_rows, dtype=np.int64)
        if units is not None and schema.one_row_per is not None:
            rows, units = one_row_each(units, schema.one_row_per, one_row or Randomness()), None
        set_aside, whole = data.num_rows - len(rows), data
        kept = data = data.take(pa.array(rows)) if set_aside else data
        if schema.missing != "category":
            empty = {name: _as_missing(data.column(name)) for name in schema.quasi_identifiers + schema.sensitive}
            holes = {name: mask for name, mask in empty.items() if mask.any()}
            if holes and schema.missing == "error":
                lacking = {name: counted(int(mask.sum()), "missing value") for name, mask in holes.items()}
                raise DataError(
                    [f"Column `{name}` has {values}." for name, values in lacking.items()]
                    + [
                        f"Say what they mean: {option(missing='drop')} leaves the rows out, "
                        f"{option(missing='category')} makes it a value."
                    ]
                )
            if holes:
                keep = ~np.logical_or.reduce(list(holes.values()))
                kept, rows, units = data.filter(pa.array(keep)), rows[keep], None if units is None else units[keep]
                if not len(rows):
                    raise DataError("Every row has a missing value; nothing is left to publish.")
        schema = settled(kept, schema)
        columns: dict[str, EncodedColumn] = {}
        problems: list[str] = []
        for name in schema.published:
            policy = "category" if name in schema.insensitive else schema.missing
            try:
                columns[name] = encode(name, kept.column(name), schema.column(name), missing=policy)
            except (DataError, HierarchyError) as error:
                problems += error.problems
        if problems:
            raise DataError(problems)
        repeated = {}
        for name in schema.identifiers if schema.unit is None else ():
            counts = pc.value_counts(_plain(whole.column(name)).drop_null()).field("counts").to_numpy()
            repeated[name] = int(counts[counts > 1].sum())
        if units is not None:
            people, units = np.unique(units, return_inverse=True)
            units = units.reshape(-1).astype(np.int64) if len(people) < len(rows) else None
        weights = None if weights is None else weights[rows]
        return cls(schema, columns, kept.num_rows, rows, whole.num_rows, repeated, units, weights, set_aside)

    def __getitem__(self, name: str) -> EncodedColumn:
        return self.columns[name]

    def codes(self, names: Iterable[str]) -> list[Codes]:
        """The code arrays of several columns."""
        return [self.columns[name].codes for name in names]

    def take(self, rows: NDArray[np.int64]) -> Table:
        """The same table with only ``rows``, domains unchanged."""
        columns = {
            name: EncodedColumn(name, column.codes[rows], column.domain, column.settings)
            for name, column in self.columns.items()
        }
        units = None if self.units is None else self.units[rows]
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, columns=columns, n_rows=len(rows), rows=self.rows[rows], units=units, weights=weights)

    def __repr__(self) -> str:
        quasi = counted(len(self.schema.quasi_identifiers), "quasi-identifier")
        rows, sensitive = counted(self.n_rows, "row"), len(self.schema.sensitive)
        return f"<Table of {rows}: {quasi}, {sensitive} sensitive; hand it to a method>"


def encode(name: str, data: pa.Array | pa.ChunkedArray, settings: Column, *, missing: str) -> EncodedColumn:
    """Dictionary-encode one column in the order of its values."""
    plain = _plain(data)
    kind = settings.kind or kind_of(plain.type)
    if kind in ("numeric", "date"):
        plain = _as_scale(name, plain, kind, settings.format)
    elif pa.types.is_floating(plain.type):
        plain = plain.cast(pa.string()) if not _integral(plain) else plain.cast(pa.int64())
    if not _single_values(plain.type):
        raise DataError(f"Column `{name}` holds {plain.type}; only text, numbers, dates and booleans can be published.")
    encoded = plain.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], plain.type).dictionary_encode()
    if settings.bins is not None:
        encoded, kind = _in_bins(name, encoded, Bins(settings.bins)), "ordinal"
    values, order = _sorted_values(name, encoded.dictionary, kind, settings)
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = len(values)
    indices = encoded.indices
    has_missing = indices.null_count > 0
    raw = indices.fill_null(len(order)).to_numpy() if has_missing else indices.to_numpy()
    if has_missing and missing != "category":
        raise DataError(f"Column `{name}` has {counted(indices.null_count, 'missing value')}.")
    domain = Domain(kind, values, has_missing)
    codes = place.astype(code_type(domain.size))[raw]
    _check_hierarchy(name, domain, settings)
    _check_distance(name, domain, settings)
    return EncodedColumn(name, codes, domain, settings)


def cell_kind(column: EncodedColumn) -> CellKind:
    """How cells of a column are generalised: along its hierarchy, as a range, or as a set."""
    if column.settings.hierarchy is not None:
        return "tree"
    return "set" if column.domain.kind == "categorical" else "range"


def code_type(size: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest code that tells ``size`` values apart."""
    return np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32


def kind_of(arrow: pa.DataType) -> Kind:
    """The kind of a column nobody declared."""
    if pa.types.is_integer(arrow) or pa.types.is_floating(arrow) or pa.types.is_decimal(arrow):
        return "numeric"
    if pa.types.is_date(arrow) or pa.types.is_timestamp(arrow):
        return "date"
    return "categorical"


def _single_values(arrow: pa.DataType) -> bool:
    """Whether a column holds what can be written in a cell: no lists, records or bytes."""
    binary = pa.types.is_binary(arrow) or pa.types.is_large_binary(arrow) or pa.types.is_fixed_size_binary(arrow)
    return not (binary or pa.types.is_nested(arrow))


def write_values(values: pa.Array) -> list[str]:
    """Values as text: whole numbers without a fraction, dates in ISO form, a time only where there is one."""
    if pa.types.is_floating(values.type):
        return [repr(int(v)) if v == int(v) and abs(v) < 1e16 else repr(v) for v in values.to_pylist()]
    if pa.types.is_timestamp(values.type):
        moments = values.to_pylist()
        midnight = all((m.hour, m.minute, m.second, m.microsecond) == (0, 0, 0, 0) for m in moments)
        return [m.date().isoformat() if midnight else m.isoformat() for m in moments]
    if pa.types.is_boolean(values.type):
        return ["true" if value else "false" for value in values.to_pylist()]
    return [str(value) for value in values.to_pylist()]


def as_numbers(values: pa.Array) -> NDArray[np.float64]:
    """Numbers and dates as floats."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _check_shape(data: pa.Table, schema: Schema) -> None:
    names = data.column_names
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"The table has more than one column named {listed(repeated)}. Rename them.")
    if data.num_rows == 0:
        raise DataError("The table is empty: it has no rows.")
    schema.check_against(names)


def _plain(data: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Dictionaries, large strings and views as their plain kin, so that the rest sees one type each.

    What is written as an empty cell is null: empty text and NaN. Minus zero is zero.
    """
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
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


def _as_missing(data: pa.ChunkedArray) -> NDArray[np.bool_]:
    plain = _plain(data)
    mask = pc.is_null(plain, nan_is_null=True)
    return np.asarray(
        mask.to_numpy(zero_copy_only=False) if isinstance(mask, pa.Array) else mask.to_numpy(), dtype=bool
    )


def _as_scale(name: str, data: pa.Array | pa.ChunkedArray, kind: Kind, form: str | None) -> pa.Array | pa.ChunkedArray:
    """Numbers as int64 or float64, dates as date32 or timestamp; NaN is missing, infinity is refused."""
    if kind == "date" and pa.types.is_timestamp(data.type):
        return _micro(name, data)
    try:
        if kind == "date":
            return data.cast(pa.date32()) if pa.types.is_date(data.type) else as_dates(data, form)
        if pa.types.is_boolean(data.type):
            return data.cast(pa.int8()).cast(pa.int64())
        if pa.types.is_integer(data.type) and data.type != pa.uint64():
            return data.cast(pa.int64())
        data = data.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"Column `{name}` is declared {kind}, but not all of its values are: {error}") from error
    except DataError as error:
        raise DataError(f"Column `{name}` is declared date and {error}") from error
    nan = pc.is_nan(data)
    data = pc.if_else(pc.fill_null(nan, False), pa.scalar(None, pa.float64()), data)
    infinite = pc.sum(pc.is_inf(data)).as_py() or 0
    if infinite:
        raise DataError(f"Column `{name}` has {infinite:,} non-finite numbers. Remove them or leave the cells empty.")
    return data.cast(pa.int64()) if _integral(data) else data


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
            raise DataError(f"Column `{name}` has values outside its declared domain: {listed(outside)}.")
        if kind == "ordinal":
            rank = {label: position for position, label in enumerate(settings.domain)}
            order = np.argsort([rank[label] for label in labels], kind="stable").astype(np.int64)
            return dictionary.take(pa.array(order)), order
    order = np.asarray(pc.sort_indices(dictionary).to_numpy(), dtype=np.int64)
    return dictionary.take(pa.array(order)), order


def _in_bins(name: str, numbers: pa.DictionaryArray, bins: Bins) -> pa.DictionaryArray:
    """Every number as the label of its bin; the dictionary has the bins that occur."""
    values = numbers.dictionary.to_numpy(zero_copy_only=False)
    place = bins.place(values)
    if (place < 0).any():
        outside = int((place[numbers.indices.drop_null().to_numpy()] < 0).sum())
        broken = (place < 0) & (values > bins.edges[0]) & (values < bins.edges[-1])
        raise DataError(
            f"Column `{name}` has {outside:,} rows outside its declared bins, which go from {bins.labels[0]} to "
            f"{bins.labels[-1]}. Declare bins for everything there can be"
            + ("; for numbers with a fraction write an edge as a decimal, such as 0.0." if broken.any() else ".")
        )
    occurring, of_number = np.unique(place, return_inverse=True)
    labels = pa.array([bins.labels[bin_] for bin_ in occurring], pa.string())
    positions = pa.array(of_number.astype(np.int32)).take(numbers.indices)
    return pa.DictionaryArray.from_arrays(positions, labels)


def _check_hierarchy(name: str, domain: Domain, settings: Column) -> None:
    gaps = None if settings.hierarchy is None else settings.hierarchy.uncovered(write_values(domain.values))
    if gaps:
        raise HierarchyError(f"The hierarchy of `{name}` does not cover {listed(gaps)}. Add a row for each.")


def _check_distance(name: str, domain: Domain, settings: Column) -> None:
    gaps = None if settings.distance is None else settings.distance.uncovered(write_values(domain.values))
    if gaps:
        raise DataError(
            f"The distances of `{name}` do not speak of {listed(gaps)}. Add a row and a column for each, written as in "
            "the table."
        )
