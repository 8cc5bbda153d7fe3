"""A small picture of every column: how numbers and dates are spread, and which categories are frequent.

As little is shown as by ``inspect``: nothing of a suspected identifier, and of categories only those that are named
there.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from undercover.model.encoding.domain import as_numbers
from undercover.model.kinds.dates import as_dates
from undercover.model.kinds.settle import find
from undercover.studies.inspect.columns import ColumnReport, Values

BARS: Final = 24


def picture(column: ColumnReport, values: Values) -> dict[str, Any]:
    """``spread``, bars from the smallest value to the largest one, also as a ``path``; or ``top`` values."""
    top = column.summary.get("top")
    if top:
        rows = int(values.counts.sum())
        return {"top": [{"label": one["value"], "share": one["count"] / rows, "count": one["count"]} for one in top]}
    if "min" not in column.summary:
        return {}
    numbers = _numbers(values.values)
    finite = np.isfinite(numbers)
    if finite.sum() < 2 or np.ptp(numbers[finite] / BARS) >= np.finfo(np.float64).max / BARS:
        return {}
    heights, _ = np.histogram(numbers[finite], BARS, weights=values.counts[finite])
    spread = [round(float(one), 4) for one in heights / heights.max()]
    return {"spread": spread, "path": _path(spread), **column.summary}


def _path(heights: Any) -> str:
    """Bars of these heights as one path of 96 by 24.

    >>> _path([1, 0.5])
    'M0 24v-24h3.4v24zM4 24v-12h3.4v12z'
    """
    return "".join(f"M{4 * place} 24v-{24 * one:.3g}h3.4v{24 * one:.3g}z" for place, one in enumerate(heights))


def _numbers(values: pa.Array) -> Any:
    if pa.types.is_string(values.type):
        form = find(values).format
        values = as_dates(values, form) if form else values
    known = pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_temporal(values.type)
    return as_numbers(values) if known else np.full(len(values), np.nan)
