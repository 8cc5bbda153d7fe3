"""Which values a published column can have, as far as a recipient knows.

The uniform assumption spreads a row over the values its cell covers, so somebody has to say which values there are. In
order of preference: the recipient says it (a list, a ``range``, a hierarchy; the holder has his encoded table), or it
is read off the release:

- ranges of whole numbers or of days: every whole number or day from the least to the greatest end shown;
- ranges of other numbers or of moments, and ranges too wide to list: the continuum between those ends;
- sets and single values: the values shown;
- ranges of codes such as 01067 whose order was read off the data, as the release states: every code of as many digits
  between the ends shown;
- ranges of bands such as 20-29: the values shown, in the order that they have by themselves;
- hierarchy nodes and ranges of any other ordinal column: not in the release; the recipient has to say it.

``*`` then covers everything shown. Bounds are certain as long as the domain is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from undercover.errors import DataError, described
from undercover.forms.meaning import NOTHING, Values, domain_values, leaf_values
from undercover.model.cells import EVERYTHING, CellForm, named
from undercover.model.hierarchy import Hierarchy
from undercover.model.kinds.orders import in_order
from undercover.model.queries import label_of
from undercover.model.release import Release
from undercover.model.schema import Kind
from undercover.model.table import Table

Domains = Table | Mapping[str, Hierarchy | Values | Iterable[Any]]

LONGEST_LIST = 1_000_000


def domain_of(name: str, cells: Sequence[str], form: CellForm, domains: Domains | None) -> Values | None:
    """The values of one published column, in order; ``None`` for a continuum.

    Examples
    --------
    >>> domain_of("age", ["[20, 23]", "25", "*"], "interval", None).labels
    ('20', '21', '22', '23', '24', '25')
    >>> domain_of("age", ["[20, 23]", "25"], "interval", {"age": [20, 21, 23, 25]}).labels
    ('20', '21', '23', '25')
    >>> domain_of("bmi", ["[20.5, 23]"], "interval", None) is None
    True
    >>> domain_of("age", ["[20-29, 40-49]", "<20", "30-39"], "interval", None).labels
    ('<20', '20-29', '30-39', '40-49')
    >>> domain_of("grade", ["[low, high]"], "interval", None)
    Traceback (most recent call last):
    undercover.errors.DataError: Column `grade` is published as ranges in an order the release does not state.
    Say it: domains={'grade': [...]}, values in order.
    """
    if isinstance(domains, Table) and name in domains.columns:
        column = domains[name]
        return leaf_values(column) if name in domains.schema.quasi_identifiers else domain_values(column)
    shown = shown_values(cells, form)
    missing = "" in shown
    if domains is not None and not isinstance(domains, Table) and name in domains:
        return _given(name, domains[name], shown, form, missing)
    present = [label for label in shown if label != ""]
    if form == "node":
        raise DataError(
            f"Column `{name}` is published as hierarchy nodes; their leaves are not in the release. "
            f"Say it: domains={{{name!r}: Hierarchy(...)}}."
        )
    if not present and EVERYTHING in cells:
        raise DataError(f"Column `{name}` is published as `*` only. Say its values: domains={{{name!r}: [...]}}.")
    kind = _kind(present)
    if form != "interval":
        return Values(tuple(_sorted(present, kind)) + ("",) * missing, kind, missing)
    if kind == "categorical":
        order = in_order(present)
        if order is not None:
            return Values(order + ("",) * missing, "ordinal", missing)
        raise DataError(
            f"Column `{name}` is published as ranges in an order the release does not state. "
            f"Say it: domains={{{name!r}: [...]}}, values in order."
        )
    between = _all_between(present, kind)
    return None if between is None else Values(between + ("",) * missing, kind, missing)


def stated_domains(release: Release, given: Domains | None) -> Domains:
    """What the recipient says, and the trees and orders of columns that a release states in its claims."""
    if isinstance(given, Table):
        return given
    trees = {name: rows for entry in release.guarantees for name, rows in entry.get("trees", {}).items()}
    orders = {name: order for entry in release.guarantees for name, order in entry.get("orders", {}).items()}
    observed = {name for entry in release.guarantees for name in entry.get("observed", ())}
    between = {name: _codes_between(orders.get(name, ())) for name in observed}
    return {**{name: Hierarchy(rows) for name, rows in trees.items()}, **orders, **between, **(given or {})}


def shown_values(cells: Iterable[str], form: CellForm) -> list[str]:
    """The values that cells name, each once; a node names none."""
    found: dict[str, None] = {}
    for cell in cells:
        if form == "value":
            found[cell] = None
        elif cell == "":
            found[""] = None
        elif form != "node" and cell != EVERYTHING:
            found |= dict.fromkeys(named(cell))
    return list(found)


def _given(name: str, known: Any, shown: Sequence[str], form: CellForm, missing: bool) -> Values:
    if isinstance(known, Values):
        return known
    hierarchy = known if isinstance(known, Hierarchy) else None
    labels = list(hierarchy.leaves) if hierarchy else [label_of(value) for value in known]
    labels = list(dict.fromkeys(label for label in labels if label != ""))
    if not labels:
        raise DataError(f"The domain given for `{name}` has no values.")
    kind = _kind(labels)
    if kind == "categorical" and form == "interval":
        kind = "ordinal"
    values = Values(tuple(_sorted(labels, kind)) + ("",) * missing, kind, missing, hierarchy)
    outside = [label for label in shown if values.read(label, "value") == NOTHING]
    if outside:
        raise DataError(f"The domain given for `{name}` lacks published values: {described(outside)}.")
    return values


def _kind(labels: Sequence[str]) -> Kind:
    if all(math.isfinite(_number(label)) for label in labels):
        return "numeric"
    values = Values(tuple(labels), "date", False)
    return "date" if all(math.isfinite(number) for number in values.numbers) else "categorical"


def _sorted(labels: Sequence[str], kind: Kind) -> list[str]:
    """Numbers and dates by value, categories by label, an ordinal column as given."""
    if kind == "ordinal":
        return list(labels)
    if kind == "categorical":
        return sorted(labels)
    place = dict(zip(labels, Values(tuple(labels), kind, False).numbers, strict=True))
    return sorted(labels, key=place.__getitem__)


def _all_between(labels: Sequence[str], kind: Kind) -> tuple[str, ...] | None:
    """Every whole number or day from the least to the greatest; ``None`` where they are neither or too many."""
    if kind == "numeric":
        numbers = [_number(label) for label in labels]
        if not all(number.is_integer() for number in numbers) or max(numbers) - min(numbers) >= LONGEST_LIST:
            return None
        return tuple(str(number) for number in range(int(min(numbers)), int(max(numbers)) + 1))
    if not all(len(label) == len("2000-01-31") for label in labels):
        return None
    days = [date.fromisoformat(label) for label in labels]
    first, span = min(days), (max(days) - min(days)).days
    return None if span >= LONGEST_LIST else tuple((first + timedelta(i)).isoformat() for i in range(span + 1))


def _codes_between(values: Sequence[str]) -> Sequence[str]:
    """Every code of as many digits between the ends a release states; the ends alone where they are no numbers.

    >>> _codes_between(["0098", "0101"]), _codes_between(["<20", "20-29"])
    (('0098', '0099', '0100', '0101'), ['<20', '20-29'])
    """
    width = len(values[0]) if values else 0
    if not all(value.isdecimal() and value.isascii() and len(value) == width for value in values):
        return values
    low, high = (int(end(values)) for end in (min, max)) if values else (0, -1)
    return values if high - low >= LONGEST_LIST else tuple(f"{code:0{width}d}" for code in range(low, high + 1))


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return math.nan
