"""Figures for people: rounded to the safe side, with thousands separators.

A risk or a cost is rounded up, a promise or a baseline down, so that no page looks safer than the numbers are. What
floating point got wrong in the last digits does not count: 0.1 is shown as 10%, not 10.1%.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

_SLACK = 1e-12

LOSSES = {"arx": "loss of detail", "shift": "values moved", "iloss": "ILoss", "ncp": "NCP"}
"""The one name of every loss wherever it is shown, by its name in JSON."""


def risk(share: float) -> str:
    """A probability as a percentage, rounded up."""
    return _percent(share, up=True)


def baseline(share: float) -> str:
    """A probability as a percentage, rounded down: what an attacker reaches without the release."""
    return _percent(share, up=False)


def cost(value: float) -> str:
    """A loss to three digits, rounded up."""
    return _rounded(value, max(0, _digits(value, 3)), up=True)


def number(value: float) -> str:
    """A count, or another number to three digits, neither side being safer."""
    if isinstance(value, int):
        return f"{value:,}"
    return _plain(f"{value:,.{max(0, _digits(value, 3))}f}")


def counted(count: int, one: str, many: str = "") -> str:
    """So many of something: one row, two rows.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def rows(count: int) -> str:
    """So many rows."""
    return counted(count, "row")


def outwards(value: float, *, up: bool = False) -> str:
    """A bound to at least three digits that still bounds."""
    unit = Decimal(1).scaleb(-max(0, _digits(value, 3)))
    return _plain(f"{Decimal(repr(value)).quantize(unit, rounding=ROUND_CEILING if up else ROUND_FLOOR):,f}")


def signed(value: float) -> str:
    """A correlation, to three decimals."""
    shown = _plain(f"{value:.3f}")
    return "0" if shown == "-0" else shown


def seconds(value: float) -> str:
    """A duration."""
    if value < 0.001:
        return "under 1 ms"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def memory(value: float) -> str:
    """A number of bytes, rounded up."""
    if value < 1e6:
        return "under 1 MB"
    shown, unit = (value / 1e6, "MB") if value < 1e9 else (value / 1e9, "GB")
    return f"{_rounded(shown, 0 if shown >= 10 else 1, up=True)} {unit}"


def span(bin_: Any, end: str = "to") -> str:
    """The label of a bin of whole numbers; without an end it is open."""
    low, high = bin_["from"], bin_[end]
    if high is None:
        return f"{low:,}+"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def parameters(values: Any) -> str:
    """Parameters as a person writes them; a long list only by its length."""
    parts = []
    for key, value in values.items():
        if value is None:
            continue
        if isinstance(value, list | tuple):
            value = f"{len(value)} entries" if len(value) > 6 else ", ".join(str(item) for item in value)
        parts.append(f"{key} = {value}")
    return ", ".join(parts)


def _percent(share: float, *, up: bool) -> str:
    percent = share * 100
    return _rounded(percent, min(max(1, _digits(percent, 2)), 9), up=up) + "%"


def _digits(value: float, significant: int) -> int:
    """Decimals that show ``significant`` digits of ``value``."""
    return significant - 1 - math.floor(math.log10(abs(value))) if value else 0


def _rounded(value: float, decimals: int, *, up: bool) -> str:
    nudged = Decimal(value * (1 - _SLACK if up else 1 + _SLACK))
    rounded = nudged.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return _plain(f"{rounded:,f}")


def _plain(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
