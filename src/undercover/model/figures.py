"""Figures for people: rounded to the safe side, with thousands separators.

A risk or a cost is rounded up, a promise or a baseline down, so that no page looks safer than the numbers are. What
floating point got wrong in the last digits does not count: 0.1 is shown as 10%, not 10.1%.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

_SLACK = 1e-12


def risk(share: float) -> str:
    """A probability as a percentage, rounded up.

    >>> risk(0.1), risk(0.12345), risk(0.0000333), risk(0), risk(0.99999)
    ('10%', '12.4%', '0.0034%', '0%', '100%')
    """
    return _percent(share, up=True)


def baseline(share: float) -> str:
    """A probability as a percentage, rounded down: what an attacker reaches without the release.

    >>> baseline(0.12345), baseline(0.99999), baseline(0.3)
    ('12.3%', '99.9%', '30%')
    """
    return _percent(share, up=False)


def cost(value: float) -> str:
    """A loss to three digits, rounded up.

    >>> cost(0.010001), cost(0.5), cost(0), cost(1.0), cost(12345.6)
    ('0.0101', '0.5', '0', '1', '12,346')
    """
    return _rounded(value, max(0, _digits(value, 3)), up=True)


def number(value: float) -> str:
    """A count, or another number to three digits, neither side being safer.

    >>> number(30000), number(12.3456), number(1234.5), number(0.0), number(7.0)
    ('30,000', '12.3', '1,234', '0', '7')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return _plain(f"{value:,.{max(0, _digits(value, 3))}f}")


def rows(count: int) -> str:
    """So many rows.

    >>> rows(1), rows(1200)
    ('1 row', '1,200 rows')
    """
    return f"{number(count)} row{'' if count == 1 else 's'}"


def outwards(value: float, *, up: bool = False) -> str:
    """A bound to at least three digits that still bounds.

    >>> outwards(12.345), outwards(12.345, up=True), outwards(1234.0), outwards(-0.1234)
    ('12.3', '12.4', '1,234', '-0.124')
    """
    unit = Decimal(1).scaleb(-max(0, _digits(value, 3)))
    return _plain(f"{Decimal(repr(value)).quantize(unit, rounding=ROUND_CEILING if up else ROUND_FLOOR):,f}")


def signed(value: float) -> str:
    """A correlation, to three decimals.

    >>> signed(0.12345), signed(-0.5), signed(0.00001)
    ('0.123', '-0.5', '0')
    """
    shown = _plain(f"{value:.3f}")
    return "0" if shown == "-0" else shown


def seconds(value: float) -> str:
    """A duration.

    >>> seconds(0.0004), seconds(0.1234), seconds(12.34), seconds(125)
    ('under 1 ms', '123 ms', '12.3 s', '2 min 5 s')
    """
    if value < 0.001:
        return "under 1 ms"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def memory(value: float) -> str:
    """A number of bytes, rounded up.

    >>> memory(0), memory(1_500_000), memory(47_200_000), memory(2_340_000_000)
    ('under 1 MB', '1.5 MB', '48 MB', '2.4 GB')
    """
    if value < 1e6:
        return "under 1 MB"
    shown, unit = (value / 1e6, "MB") if value < 1e9 else (value / 1e9, "GB")
    return f"{_rounded(shown, 0 if shown >= 10 else 1, up=True)} {unit}"


def span(bin_: Any, end: str = "to") -> str:
    """The label of a bin of whole numbers; without an end it is open.

    >>> span({"from": 5, "to": 9}), span({"from": 1, "to": 1}), span({"from": 100, "to": None})
    ('5–9', '1', '100+')
    """
    low, high = bin_["from"], bin_[end]
    if high is None:
        return f"{low:,}+"
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def parameters(values: Any) -> str:
    """Parameters as a person writes them; a long list only by its length.

    >>> parameters({"k": 5, "l": 3, "seed": None, "hierarchy": [["a", "*"]] * 20})
    'k = 5, l = 3, hierarchy = 20 entries'
    """
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
