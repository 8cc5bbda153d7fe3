"""Frames in memory: pandas, polars and pyarrow in, one arrow table out, and which kind it was.

Neither pandas nor polars is imported here: narwhals recognises a frame by what its owner has already imported.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw
import pyarrow as pa

from undercover.errors import DataError, listed

_KINDS = ("pandas", "polars", "pyarrow")


def to_arrow(data: Any) -> tuple[pa.Table, str]:
    """Turn a frame into an arrow table, and say what kind of frame it was.

    The row labels (index) of a pandas frame are ignored.
    """
    if isinstance(data, pa.Table):
        return data, "pyarrow"
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data]), "pyarrow"
    if nw.dependencies.is_pandas_dataframe(data):
        _check_names(list(data.columns))
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        lazy = " Collect the lazy frame first: .collect()." if hasattr(data, "collect") else ""
        raise DataError(
            f"A table must be a pandas, polars or pyarrow frame or a path. Got {type(data).__name__} instead.{lazy}"
        ) from error
    columns, problems = {}, []
    for name in frame.columns:
        try:
            columns[name] = _column(frame[name])
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
            problems.append(f"Column `{name}` holds values of different or unknown types: {error}. Make them one type.")
    if problems:
        raise DataError(problems)
    kind = str(frame.implementation.name).lower()
    return pa.table(columns), kind if kind in _KINDS else "pyarrow"


def _check_names(names: list[Any]) -> None:
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(
            f"Column names must be texts. Got {', '.join(repr(name) for name in odd[:5])} instead. "
            "Rename them: frame.columns = [str(name) for name in frame.columns]."
        )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"The frame has more than one column named {listed(repeated)}. Rename them.")


def _column(series: Any) -> Any:
    native = series.to_native()
    if series.implementation.is_pandas():
        # NaN and None in object columns are missing values; arrow is told so.
        return pa.Array.from_pandas(native)
    return series.to_arrow()
