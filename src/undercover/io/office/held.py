"""What office and statistics programs hold of a published column as it is, and what only as text.

A number stays a number where the program gives every digit of it back: Excel keeps 15, Stata and SPSS hold doubles.
Days and moments are texts in Excel, which would show them in the way of whoever opens the file. Generalised cells are
texts everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError
from undercover.io.cells import EXACT, as_texts
from undercover.model.formats import FORMATS

_LARGEST = 8.9e307  # Stata means missing by more
_FIRST_YEAR = 1583  # before it SPSS counts by another calendar
_EXCEL = 10**15


def held(column: pa.ChunkedArray, form: str, file_format: str) -> pa.Array:
    """A column as numbers, days, moments or truth values where the format gives every one back, else as texts.

    >>> numbers = pa.chunked_array([[0.5, 0.30000000000000004]])
    >>> [held(numbers, "value", one).type for one in ("xlsx", "sav")]
    [DataType(string), DataType(double)]
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    whole: Any = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if form != "value" or not _fits(whole, file_format):
        return as_texts(column)
    if pa.types.is_integer(whole.type) or pa.types.is_floating(whole.type):
        return whole if pa.types.is_integer(whole.type) else pc.if_else(pc.is_nan(whole), None, whole)
    return whole


def _fits(values: pa.Array, file_format: str) -> bool:
    kind = values.type
    if pa.types.is_boolean(kind):
        return file_format != "xlsx"  # which shows truth in the language of whoever opens the file
    if pa.types.is_integer(kind):
        return _below(values, _EXCEL if file_format == "xlsx" else EXACT)
    if pa.types.is_floating(kind):
        if file_format != "xlsx":
            return _below(values, _LARGEST)
        numbers = values.drop_null().to_numpy(zero_copy_only=False)
        distinct = np.unique(numbers[~np.isnan(numbers)])
        if (distinct == np.trunc(distinct)).all() and (np.abs(distinct) >= EXACT).any():
            return False  # as whole numbers they would be taken for ones that lost their last digits
        return all(float(f"{number:.15g}") == number for number in distinct.tolist())
    if file_format == "xlsx" or not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return False
    if pc.any(pc.less(pc.year(values), _FIRST_YEAR)).as_py():
        return False
    return pa.types.is_date(kind) or not pc.any(pc.greater(pc.subsecond(values), 0)).as_py()


def _below(values: pa.Array, limit: float) -> bool:
    ends = pc.min_max(values).as_py()
    return ends["min"] is None or (-limit < ends["min"] and ends["max"] < limit)


def check_cells(name: str, texts: pa.Array, file_format: str) -> list[str]:
    """What a column of texts has that a format cannot hold."""
    kind = FORMATS[file_format]
    longest = max((_length(text, file_format) for text in texts.unique().drop_null().to_pylist()), default=0)
    if kind.characters is not None and longest > kind.characters:
        return [f"A cell of `{name}` has {longest:,} characters, and {kind.title} holds {kind.characters:,}."]
    if file_format == "sav" and pc.any(pc.ends_with(texts, " ")).as_py():
        return [f"Texts of `{name}` end in blanks, which SPSS does not tell from none."]
    return []


def _length(text: str, file_format: str) -> int:
    return len(text.encode()) if file_format == "sav" else len(text.encode("utf-16-le", "surrogatepass")) // 2


def refuse(problems: list[str], file_format: str) -> None:
    """Raise where a format cannot hold a table."""
    if problems:
        raise DataError(
            [*problems, f"{FORMATS[file_format].title} cannot hold this table. Choose the format csv or parquet."]
        )
