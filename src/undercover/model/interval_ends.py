"""The ends of published intervals: values that occur in the column, or numbers rounded outwards.

An end that occurs in a class proves that somebody there has exactly this value. Whoever knows that only one person of
the population has it, or sees that it has sixteen digits, knows who is in the table. Rounded outwards, an interval
still covers everybody it covered, and its ends are nobody's values.

Cells that must stay apart (global recoding) cannot grow: their ends move into the gap to the neighbouring value, to the
number with the fewest digits there.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from undercover.model.encoding.domain import EncodedColumn

Ends = Literal["exact", "rounded"]
ENDS: Final[tuple[Ends, ...]] = ("exact", "rounded")

MANY_DIGITS: Final = 6
"""A column whose typical value has more significant digits than these has its ends rounded unless told otherwise."""

_MANY_VALUES = 50  # fewer different values than these are shared by many people
_LOOKED_AT = 1000  # values whose digits are counted
_CELLS = 200  # the range of a column is at least so many steps of the grid ...
_VALUES_PER_STEP = 5  # ... unless a step would then hold fewer different values than this
_EXACT = Context(prec=800)  # digits of the longest sum of two doubles, and more


class RoundedEnds:
    """Ends rounded outwards to a grid.

    >>> ends = RoundedEnds(["26.2778", "31.4412"], Decimal("0.5"))
    >>> ends.low(0), ends.high(1)
    ('26', '31.5')
    """

    def __init__(self, labels: Sequence[str], step: Decimal) -> None:
        self._labels, self._step = labels, step
        self.low, self.high = cache(self._low), cache(self._high)

    def _low(self, code: int) -> str:
        return _text(_on_grid(Decimal(self._labels[code]), self._step, ROUND_FLOOR))

    def _high(self, code: int) -> str:
        return _text(_on_grid(Decimal(self._labels[code]), self._step, ROUND_CEILING))


class SeparateEnds:
    """Ends in the gaps between neighbouring values, so that ranges that share no value share no number.

    >>> ends = SeparateEnds(["26.2778", "26.2951", "31.4412"], Decimal("0.5"))
    >>> (ends.low(0), ends.high(0)), (ends.low(1), ends.high(2))
    (('26', '26.28'), ('26.29', '31.5'))
    """

    def __init__(self, labels: Sequence[str], step: Decimal) -> None:
        self._labels, self._step = labels, step
        self.low, self.high = cache(self._low), cache(self._high)

    def _low(self, code: int) -> str:
        value = Decimal(self._labels[code])
        if not code:
            return _text(_on_grid(value, self._step, ROUND_FLOOR))
        return _text(_roundest(Decimal(self._labels[code - 1]), value, ROUND_FLOOR))

    def _high(self, code: int) -> str:
        value = Decimal(self._labels[code])
        if code + 1 == len(self._labels):
            return _text(_on_grid(value, self._step, ROUND_CEILING))
        return _text(_roundest(value, Decimal(self.low(code + 1)), ROUND_CEILING))


def rounded_ends(column: EncodedColumn, *, disjoint: bool = False) -> RoundedEnds | SeparateEnds:
    """Return the rounded ends of a column of numbers, in gaps where cells must stay ``disjoint``.

    >>> from undercover.model.schema import Column
    >>> from undercover.model.encoding.domain import Domain, EncodedColumn
    >>> import numpy as np, pyarrow as pa
    >>> ages = EncodedColumn("age", np.arange(60), Domain("numeric", pa.array(range(20, 80))), Column(ends=10))
    >>> rounded_ends(ages).low(7)
    '20'
    """
    labels = column.domain.labels[: len(column.domain.values)]
    step = column.settings.ends
    grid = _step(labels) if not isinstance(step, int | float) else Decimal(str(step))
    return SeparateEnds(labels, grid) if disjoint else RoundedEnds(labels, grid)


def are_rounded(column: EncodedColumn) -> bool:
    """Tell whether the interval ends of a column are rounded: on request, or because its values have many digits."""
    asked = column.settings.ends
    if column.domain.kind != "numeric" or asked == "exact" or not len(column.domain.values):
        return False
    return asked is not None or _has_many_digits(column.domain.labels[: len(column.domain.values)])


def _has_many_digits(labels: Sequence[str]) -> bool:
    """Whether most values of a column have so many digits that an end would be somebody's."""
    if len(labels) < _MANY_VALUES:
        return False
    some = labels[:: -(-len(labels) // _LOOKED_AT)]
    digits = sorted(len(Decimal(label).normalize().as_tuple().digits) for label in some)
    return digits[len(digits) // 2] > MANY_DIGITS


def _step(labels: Sequence[str]) -> Decimal:
    """The step of the grid: 1, 2 or 5 times a power of ten."""
    with localcontext(_EXACT):
        span = Decimal(labels[-1]) - Decimal(labels[0])
        if not span:
            span = abs(Decimal(labels[0])) or Decimal(1)
        least = max(span / _CELLS, span * _VALUES_PER_STEP / len(labels))
        power = Decimal(1).scaleb(least.adjusted())
        return next(power * times for times in (1, 2, 5, 10) if power * times >= least)


def _on_grid(value: Decimal, step: Decimal, rounding: str) -> Decimal:
    with localcontext(_EXACT):
        return (value / step).to_integral_value(rounding) * step


def _roundest(low: Decimal, high: Decimal, rounding: str) -> Decimal:
    """The number of fewest digits in (low, high] if rounded down, in [low, high) if rounded up."""
    with localcontext(_EXACT):
        gap = high - low
        for exponent in range(gap.adjusted() + 1, gap.adjusted() - 3, -1):
            power = Decimal(1).scaleb(exponent)
            if rounding == ROUND_FLOOR:
                found = _on_grid(high, power, ROUND_FLOOR)
                if found > low:
                    return found
            else:
                found = _on_grid(low, power, ROUND_CEILING)
                if found < high:
                    return found
        raise AssertionError(f"no multiple of a hundredth of {gap} lies in a gap of that width")


def _text(value: Decimal) -> str:
    """A number as cells have it: without trailing zeros, and without an exponent unless it is long."""
    with localcontext(_EXACT):
        short = value.normalize()
    if not short:
        return "0"
    return format(short, "f") if abs(short.adjusted()) < 16 else str(short)
