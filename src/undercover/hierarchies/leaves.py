"""The leaves of a hierarchy that is built from a column: its distinct values, spelled as the table spells them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import HierarchyError


def distinct(values: Any) -> pa.Array:
    """The distinct values in ascending order, missing ones left out.

    Parameters
    ----------
    values
        A pyarrow array or column, or any iterable of numbers, texts or dates.

    Examples
    --------
    >>> distinct([3, 1, None, 3]).to_pylist()
    [1, 3]
    """
    column = values if isinstance(values, pa.Array | pa.ChunkedArray) else _as_array(values)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type) or pa.types.is_float16(column.type) or pa.types.is_float32(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    single = pc.unique(column).drop_null()
    if not len(single):
        raise HierarchyError("A hierarchy cannot be built from a column without values.")
    if pa.types.is_floating(single.type) and pc.any(pc.is_inf(single)).as_py():
        raise HierarchyError("A hierarchy cannot be built from non-finite numbers. Leave these cells empty.")
    return single.take(pc.sort_indices(single))


def _as_array(values: Iterable[Any]) -> pa.Array:
    try:
        return pa.array(list(values))
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise HierarchyError(f"The values of a hierarchy must be of one type: {error}") from error
