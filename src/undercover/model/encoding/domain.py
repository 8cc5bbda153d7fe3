"""The values of one column in order, the codes that stand for them, and how values are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import HierarchyError
from undercover.model.schema import Column, Kind

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

    @property
    def missing_code(self) -> int | None:
        """The code of a missing value; ``None`` where no value is missing."""
        return len(self.values) if self.has_missing else None

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

    @property
    def lacking(self) -> NDArray[np.bool_] | None:
        """(n_rows,) whether a row's value is missing; ``None`` where none can be."""
        missing = self.domain.missing_code
        return None if missing is None else np.asarray(self.codes == missing)

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
