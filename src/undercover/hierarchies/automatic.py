"""The levels of a column nobody gave a hierarchy: ranges of its values, from fine to coarse, where these have an order.

Whole numbers lie in intervals of 5, 10, 20 and 40 (or what fits their span), dates in months, quarters, years and
decades, bands and other ordered values in twos, fours and eights, codes of one make under their prefixes. Every level
is a function of the one below. Cells are written as intervals, so that nobody needs the tree to read them. What the
levels are follows from the quasi-identifier's own values (or its declared domain), which an attacker knows anyway.
"""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import HierarchyError
from undercover.model.cells import write_interval
from undercover.model.hierarchy import ROOT, Hierarchy
from undercover.model.kinds.orders import are_codes, is_no_answer
from undercover.model.table import Domain, EncodedColumn, as_numbers, write_values

MOST = 4
"""Levels between the values and everything."""
_FINEST = 40  # intervals of the lowest level, about
_SMALL = 10  # whole numbers of a smaller span lie in twos and fours
_CODE_DIGITS = 5  # whole numbers that all have as many digits, or more, are generalised as codes are


def automatic_levels(column: EncodedColumn) -> list[list[str]]:
    """The range every value lies in, missing left out, on each level between the values and everything.

    Examples
    --------
    >>> from undercover.model.schema import Column
    >>> from undercover.model.table import encode
    >>> ages = encode("age", pa.array([17, 23, 28, 64]), Column(), missing="error")
    >>> automatic_levels(ages)[0]
    ['[10, 19]', '[20, 29]', '[20, 29]', '[60, 69]']
    >>> automatic_levels(encode("town", pa.array(["Bonn", "Rome"]), Column(), missing="error"))
    []
    """
    domain = column.domain
    if domain.kind == "categorical" or not len(domain.values):
        return []
    if domain.kind == "date":
        return _coarsening(_of_dates(domain))
    if domain.kind == "numeric":
        return _coarsening(_of_numbers(domain))
    return _coarsening(_of_ranks(write_values(domain.values), column.settings.domain))


def automatic_hierarchy(column: EncodedColumn) -> Hierarchy:
    """The same levels as a hierarchy, to look at and to change.

    >>> from undercover.model.schema import Column
    >>> from undercover.model.table import encode
    >>> automatic_hierarchy(encode("age", pa.array([17, 23, 28]), Column(), missing="error")).rows[0]
    ('17', '[10, 19]', '*')
    """
    levels = automatic_levels(column)
    if not levels:
        raise HierarchyError(f"Column `{column.name}` has no order, or too few values to be joined. Write a hierarchy.")
    labels = write_values(column.domain.values)
    return Hierarchy(zip(labels, *levels, [ROOT] * len(labels), strict=True), observed=True)


def _coarsening(levels: Sequence[list[str]]) -> list[list[str]]:
    """Those levels that join something the one below keeps apart, and do not join everything; the coarsest few."""
    kept: list[list[str]] = []
    nodes = len(levels[0]) if levels else 0
    for level in levels:
        if 1 < len(set(level)) < nodes:
            kept.append(level)
            nodes = len(set(level))
    return kept[-MOST:]


def _of_numbers(domain: Domain) -> list[list[str]]:
    """Intervals whose widths are multiples of each other; of whole numbers with round ends, of others with own ones."""
    values = domain.values
    numbers: Any = values.to_numpy(zero_copy_only=False) if pa.types.is_integer(values.type) else as_numbers(values)
    labels = write_values(values)
    whole = pa.types.is_integer(values.type)
    base, factor = _widths(numbers, labels, whole)
    places = np.floor_divide(numbers, base)
    span = float(numbers[-1]) - float(numbers[0])
    levels = []
    for step in range(MOST + 1):
        at = (places // factor**step).tolist()
        if base * factor**step <= span:
            levels.append([_rounded(place, base * factor**step) for place in at] if whole else _ends(labels, at))
    return levels


def _widths(numbers: NDArray[Any], labels: Sequence[str], whole: bool) -> tuple[Any, int]:
    """The finest width, and how many of its intervals the next coarser one joins."""
    digits = {len(label) for label in labels}
    if whole and numbers[0] > 0 and len(digits) == 1 and digits.pop() >= _CODE_DIGITS:
        return 10, 10
    span = float(numbers[-1]) - float(numbers[0])
    if whole and span < _SMALL:
        return 2, 2
    exponent = math.ceil(math.log10(span / _FINEST / 5)) if span else 0
    return (5 * 10 ** max(exponent, 0) if whole else 5 * 10.0**exponent), 2


def _rounded(place: int, width: int) -> str:
    return write_interval(str(place * width), str((place + 1) * width - 1))


def _ends(labels: Sequence[str], nodes: Sequence[Any]) -> list[str]:
    """Every value as the first and last one of its node; values of a node follow each other."""
    written: list[str] = []
    for _, inside in groupby(zip(nodes, labels, strict=True), key=lambda pair: pair[0]):
        own = [label for _, label in inside]
        written += [write_interval(own[0], own[-1])] * len(own)
    return written


_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
"""How many months a period has."""


def _of_dates(domain: Domain) -> list[list[str]]:
    """Calendar periods, from their first day to their last; of moments days, too."""
    moments = domain.values.to_pylist()
    timed = any("T" in label for label in domain.labels)
    end = "23:59:59.999999" if any("." in label for label in domain.labels) else "23:59:59"

    def written(first: date, last: date) -> str:
        return write_interval(f"{first}T00:00:00", f"{last}T{end}") if timed else write_interval(str(first), str(last))

    days = [moment.date() if isinstance(moment, datetime) else moment for moment in moments]
    levels = [[written(day, day) for day in days]] if timed else []
    return levels + [[written(*_period(day, months)) for day in days] for months in _MONTHS_OF.values()]


def _period(day: date, months: int) -> tuple[date, date]:
    """The first and the last day of the period of so many months that holds a day.

    >>> _period(date(2020, 2, 29), 3), _period(date(1999, 12, 31), 120)[0].isoformat()
    ((datetime.date(2020, 1, 1), datetime.date(2020, 3, 31)), '1990-01-01')
    """
    first = (day.year * 12 + day.month - 1) // months * months
    last = first + months - 1
    year, month = last // 12, last % 12 + 1
    return date(max(first // 12, 1), first % 12 + 1, 1), date(year, month, monthrange(year, month)[1])


def _of_ranks(labels: Sequence[str], order: Sequence[str] | None) -> list[list[str]]:
    """Prefixes of codes; otherwise so many values in a row. What stands for no answer stays by itself."""
    answers = [label for label in labels if not is_no_answer(label)]
    others = labels[len(answers) :]
    if answers + list(others) != list(labels):  # an order of the holder's own
        answers, others = list(labels), []
    if are_codes(answers):
        nodes: list[list[Any]] = [[code[:length] for code in answers] for length in range(len(answers[0]) - 1, 0, -1)]
    else:
        known = list(order or labels)
        place = {label: rank for rank, label in enumerate(known)}
        base = max(2, 2 ** math.ceil(math.log2(max(1, len(known) / _FINEST))))
        nodes = [[place[label] // (base * 2**step) for label in answers] for step in range(MOST + 2)]
    return [_ends(labels, [*level, *others]) for level in nodes]
