"""What a published cell stands for: the values of the original column it covers.

A cell is read into positions in a list of values in order: the original's domain, or the leaves of the column's
hierarchy. Intervals are ranges of positions; sets and nodes may be scattered.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.model.cells import EVERYTHING, CellForm, is_days, read_interval, read_set
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Kind
from undercover.model.table import EncodedColumn


class Meaning(NamedTuple):
    """First and last position covered, and all of them where they are not a range."""

    low: int
    high: int
    members: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """How many values the cell covers."""
        return self.high - self.low + 1 if self.members is None else len(self.members)


class Meanings(Sequence[Meaning]):
    """What many cells cover, in a few bytes each: as objects of their own they take more than the cells themselves.

    >>> found = Meanings([Meaning(0, 3), Meaning(1, 4, (1, 2, 4))])
    >>> found[1], len(found)
    (Meaning(low=1, high=4, members=(1, 2, 4)), 2)
    """

    __slots__ = ("_ends", "_members", "_starts")

    def __init__(self, meanings: Iterable[Meaning]) -> None:
        self._ends, self._members, self._starts = array("i"), array("i"), array("q", [0])
        for low, high, members in meanings:
            self._ends.extend((low, high))
            self._members.extend(members or ())
            self._starts.append(len(self._members))

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def ranges(self) -> NDArray[np.int64] | None:
        """(n_cells, 2) first and last position of each; ``None`` where one of them is not a range."""
        return None if self._members else np.array(self._ends, dtype=np.int64).reshape(-1, 2)

    @overload
    def __getitem__(self, place: int) -> Meaning: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Meaning, ...]: ...

    def __getitem__(self, place: int | slice) -> Meaning | tuple[Meaning, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        at = range(len(self))[place]
        first, last = self._starts[at], self._starts[at + 1]
        members = tuple(self._members[first:last]) if last > first else None
        return Meaning(self._ends[2 * at], self._ends[2 * at + 1], members)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


NOTHING = Meaning(0, -1)
_COLUMNS_KEPT = 32


@dataclass(frozen=True)
class Values:
    """The values cells are read against, in order; missing, where there is such a value, is the last."""

    labels: tuple[str, ...]
    kind: Kind
    has_missing: bool
    hierarchy: Hierarchy | None = None

    @property
    def size(self) -> int:
        """Number of values, missing included."""
        return len(self.labels)

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each label stands."""
        return {label: place for place, label in enumerate(self.labels)}

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The values on their scale, for numbers and dates; what is no number lies at infinity."""
        return np.array([_number(label, self.kind) for label in self.labels], dtype=np.float64)

    @property
    def scale(self) -> NDArray[np.float64]:
        """Numbers and dates by value, everything else by rank; missing lies below."""
        if self.kind not in ("numeric", "date"):
            return np.arange(self.size, dtype=np.float64)
        numbers = self.numbers.copy()
        numbers[~np.isfinite(numbers)] = numbers[np.isfinite(numbers)].min(initial=0.0) - 1
        return numbers

    @cached_property
    def nodes(self) -> dict[str, Meaning]:
        """What each label of the hierarchy covers; a label that occurs on several levels means the lowest."""
        if self.hierarchy is None:
            return {}
        leaves_of: dict[str, list[str]] = {}
        for level in range(self.hierarchy.n_levels - 1, -1, -1):
            on_level: dict[str, list[str]] = {}
            for row in self.hierarchy.rows:
                on_level.setdefault(row[level], []).append(row[0])
            leaves_of |= on_level
        tree = self.hierarchy.tree
        for label, first, last in zip(tree.labels, tree.first, tree.last, strict=True):
            leaves_of[label] = [self.hierarchy.rows[place][0] for place in tree.leaf_order[first : last + 1]]
        return {label: self._members(leaves) for label, leaves in leaves_of.items()}

    def read(self, cell: str, form: CellForm) -> Meaning:
        """The positions a cell covers; :data:`NOTHING` where it stands for no value there is."""
        if form == "value" and cell in self.position:
            return self._single(cell)
        if cell == EVERYTHING:
            return Meaning(0, self.size - 1)
        if form == "node" and cell in self.nodes:
            return self.nodes[cell]
        try:
            if form in ("interval", "set") and cell[:1] == "[" and cell[-1:] == "]":
                found = self._interval(*read_interval(cell))
                # A declared bin is a value that is written like an interval.
                return self._single(cell) if found == NOTHING else found
            if form in ("interval", "set") and cell[:1] == "{":
                return self._members(read_set(cell))
        except DataError:
            return NOTHING
        return self._single(cell)

    def read_all(self, cells: tuple[str, ...], form: CellForm) -> Sequence[Meaning]:
        """The same for many cells. A release is read by several attacks and measures; its last columns are kept."""
        return _read_all(self, cells, form)

    def _single(self, label: str) -> Meaning:
        if label in self.position:
            return Meaning(self.position[label], self.position[label])
        if self.kind in ("numeric", "date") and np.isfinite(_number(label, self.kind)):
            return self._interval(label, label)
        if self.kind == "date" and is_days(label):
            return self._interval(*read_interval(label))
        return NOTHING

    def _interval(self, low: str, high: str) -> Meaning:
        start, end = self.position.get(low), self.position.get(high)
        if self.kind in ("numeric", "date"):
            if start is None:
                start = int(np.searchsorted(self.numbers, _number(low, self.kind)))
            if end is None:
                end = int(np.searchsorted(self.numbers, _number(high, self.kind), side="right")) - 1
        if start is None or end is None or start > end:
            return NOTHING
        return Meaning(start, end)

    def _members(self, labels: list[str] | tuple[str, ...]) -> Meaning:
        known = self.position
        try:
            places = sorted({known[label] for label in labels})
        except KeyError:
            found = [self._single(label) for label in labels]
            places = sorted({place for meaning in found for place in range(meaning.low, meaning.high + 1)})
        if not places:
            return NOTHING
        contiguous = places[-1] - places[0] + 1 == len(places)
        return Meaning(places[0], places[-1], None if contiguous else tuple(places))


@lru_cache(maxsize=_COLUMNS_KEPT)
def _read_all(values: Values, cells: tuple[str, ...], form: CellForm) -> Meanings:
    return Meanings(values.read(cell, form) for cell in cells)


def domain_values(column: EncodedColumn) -> Values:
    """The values that occur in a column; positions are its codes."""
    domain = column.domain
    return Values(domain.labels, domain.kind, domain.has_missing, column.settings.hierarchy)


def leaf_values(column: EncodedColumn) -> Values:
    """The leaves of a column's hierarchy; the values that occur where it has none."""
    domain, hierarchy = column.domain, column.settings.hierarchy
    if hierarchy is None:
        return domain_values(column)
    leaves = list(hierarchy.leaves)
    if domain.kind in ("numeric", "date"):
        leaves.sort(key=lambda leaf: _number(leaf, domain.kind))
    return Values(tuple(leaves) + ("",) * domain.has_missing, domain.kind, domain.has_missing, hierarchy)


def _number(label: str, kind: Kind) -> float:
    try:
        if kind == "date":
            moment = datetime.fromisoformat(label)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        return float(label)
    except ValueError:
        return np.inf
