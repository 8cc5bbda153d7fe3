"""Whom what others may know singles out, for the columns that are chosen at this moment.

Every value of a column is given a random word of 64 bits, and a row is the sum of the words of its values. Rows that
agree have one sum; rows that differ share one by a chance of 2⁻⁶⁴, which nobody can plant, since the words are drawn
anew each time. What the sums are without a column, or with a coarser level of it, is one addition away.

Where people have several rows, a person is as well hidden as in the row that fewest others have, and people are
counted, not rows. In a table of more than :data:`EXACT` rows some people are looked at, drawn at random; each of them
is still compared with the whole table, so that only the number of people is estimated, and not who is alike.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.studies.inspect.uniqueness import CodedColumn

EXACT: Final = 200_000  # rows up to which everybody is counted
EXACT_UNITS: Final = 60_000  # the same where people have several rows
SAMPLE: Final = 3_000  # people who are looked at in a larger table
FEW: Final = (5, 10)
_BUCKETS: Final = 1 << 18
_STRETCH: Final = 1 << 18  # rows of a large table that are compared together
_Z: Final = 1.96  # of an interval that is right in 95 of 100 cases

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Figures:
    """How well people are hidden among those who agree with them on some columns."""

    people: int
    alone: int  # people whom nobody else agrees with
    below: Mapping[int, int]  # people in groups of fewer than so many, themselves included
    highest: float  # 1 / the size of the smallest group
    mean: float
    looked_at: int | None = None  # people of a sample, where the numbers are estimates
    between: tuple[int, int] | None = None  # people who may be alone, in 95 of 100 cases

    @property
    def share(self) -> float:
        """Of all people, those who are alone."""
        return self.alone / self.people if self.people else 0.0


class Part(NamedTuple):
    """What a column adds to the sum of every row."""

    words: Words  # of each code
    codes: NDArray[Any]

    def of(self, rows: Any) -> Words:
        """For some rows."""
        found: Words = self.words[self.codes[rows]]
        return found


@dataclass(frozen=True)
class Rows:
    """The rows that are counted: how many there are, whose they are, and which of them are left out."""

    count: int
    units: NDArray[Any] | None = None
    kept: NDArray[np.bool_] | None = None


def words(size: int) -> Words:
    """A random word for each of so many values."""
    return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)


def singled_out(columns: Mapping[str, CodedColumn], rows: Rows) -> tuple[Figures, dict[str, Figures]]:
    """What all columns do together, and what the others do without each.

    >>> age = CodedColumn(np.array([0, 0, 1, 1]), 2)
    >>> town = CodedColumn(np.array([0, 0, 0, 1]), 2)
    >>> together, without = singled_out({"age": age, "town": town}, Rows(4))
    >>> together.alone, without["town"].alone, without["age"].alone
    (2, 0, 1)
    """
    parts = [Part(words(column.size), column.codes) for column in columns.values()]
    less = [Part(-part.words, part.codes) for part in parts]
    together, *without = counted(parts, [None, *less], rows)
    return together, dict(zip(columns, without, strict=True))


def counted(base: Sequence[Part], variants: Sequence[Part | None], rows: Rows) -> list[Figures]:
    """Figures of the sums of ``base``, each time with one variant added."""
    if rows.count > (EXACT if rows.units is None else EXACT_UNITS):
        return _estimated(base, variants, rows)
    chosen: Any = slice(None) if rows.kept is None else rows.kept
    sums = _sums(base, chosen, rows.count if rows.kept is None else int(rows.kept.sum()))
    units = None if rows.units is None else np.unique(rows.units[chosen], return_inverse=True)[1]
    return [
        _figures(people_alike(sums if variant is None else sums + variant.of(chosen), units)) for variant in variants
    ]


def people_alike(sums: Words, units: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """(n_people,) how many people agree with each, themselves included; in no particular order."""
    if not len(sums):
        return np.empty(0, dtype=np.int64)
    if units is None:
        ordered = np.sort(sums)
        sizes = np.diff(np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])), append=len(ordered))
        return np.repeat(sizes, sizes)
    order = np.argsort(sums)
    ordered = sums[order]
    groups = np.empty(len(sums), dtype=np.int64)
    groups[order] = np.cumsum(np.append(False, ordered[1:] != ordered[:-1]))
    return _fewest(groups, units, int(units.max()) + 1)


def _fewest(groups: NDArray[np.int64], units: NDArray[np.int64], people: int) -> NDArray[np.int64]:
    """(people,) how many people are in the smallest group that somebody has a row in."""
    pairs = _distinct(groups * people + units)
    inside = np.bincount(pairs // people)
    fewest = np.full(people, np.iinfo(np.int64).max)
    np.minimum.at(fewest, pairs % people, inside[pairs // people])
    return fewest


def _distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each once; sorting is several times faster here than what ``np.unique`` does."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _sums(base: Sequence[Part], rows: Any, count: int) -> Words:
    sums = np.zeros(count, dtype=np.uint64)
    for part in base:
        sums += part.of(rows)
    return sums


def _figures(alike: NDArray[np.int64], people: int | None = None) -> Figures:
    """Figures of everybody, or of a sample of so many people."""
    seen = len(alike)
    few = {most: int((alike < most).sum()) for most in (2, *FEW)}
    highest = 1 / int(alike.min()) if seen else 0.0
    mean = float((1 / alike).mean()) if seen else 0.0
    if people is None:
        return Figures(seen, few[2], {most: few[most] for most in FEW}, highest, mean)
    scaled = {most: round(number / seen * people) for most, number in few.items()}
    low, high = share_between(few[2], seen)
    between = (max(few[2], math.floor(low * people)), math.ceil(high * people))
    return Figures(people, scaled[2], {most: scaled[most] for most in FEW}, highest, mean, seen, between)


def share_between(found: int, seen: int) -> tuple[float, float]:
    """Within which a share lies of which so many were found (Wilson 1927).

    >>> [round(end, 3) for end in share_between(0, 3000)], [round(end, 2) for end in share_between(50, 100)]
    ([0.0, 0.001], [0.4, 0.6])
    """
    share, z = found / seen, _Z
    middle, spread = share + z * z / (2 * seen), z * math.sqrt(share * (1 - share) / seen + (z / (2 * seen)) ** 2)
    scale = 1 + z * z / seen
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


class _Looked:
    """Sums that are looked for in the whole table, and who has each."""

    def __init__(self, sums: Words) -> None:
        self.sums, self.place = np.unique(sums, return_inverse=True)
        self._near = np.zeros(_BUCKETS, dtype=bool)
        self._near[self._bucket(self.sums)] = True
        self.counts = np.zeros(len(self.sums), dtype=np.int64)
        self.pairs: list[NDArray[np.int64]] = []

    @staticmethod
    def _bucket(sums: Words) -> Words:
        bucket: Words = sums & np.uint64(_BUCKETS - 1)
        return bucket

    def add(self, sums: Words, units: NDArray[Any] | None, people: int) -> None:
        """Compare some more rows."""
        near = np.flatnonzero(self._near[self._bucket(sums)])
        place = np.searchsorted(self.sums, sums[near])
        place[place == len(self.sums)] = 0
        same = self.sums[place] == sums[near]
        if units is None:
            self.counts += np.bincount(place[same], minlength=len(self.sums))
        else:
            self.pairs.append(_distinct(place[same] * people + units[near[same]].astype(np.int64)))

    def people(self, people: int) -> NDArray[np.int64]:
        """Of each sum, how many people have it."""
        if not self.pairs:
            return self.counts
        return np.bincount(_distinct(np.concatenate(self.pairs)) // people, minlength=len(self.sums))


def _estimated(base: Sequence[Part], variants: Sequence[Part | None], rows: Rows) -> list[Figures]:
    """The same of some people, each compared with the whole table."""
    drawn, whose, people = _drawn(rows)
    if not len(drawn):
        return [_figures(np.empty(0, dtype=np.int64)) for _ in variants]
    sums = _sums(base, drawn, len(drawn))
    looked = [_Looked(sums if variant is None else sums + variant.of(drawn)) for variant in variants]
    numbered = 0 if rows.units is None else int(rows.units.max()) + 1
    for stretch in _stretches(rows):
        sums = _sums(base, stretch, len(stretch))
        units = None if rows.units is None else rows.units[stretch]
        for one, variant in zip(looked, variants, strict=True):
            one.add(sums if variant is None else sums + variant.of(stretch), units, numbered)
    found = []
    for one in looked:
        fewest = np.full(int(whose.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(fewest, whose, one.people(numbered)[one.place])
        found.append(_figures(fewest, people))
    return found


def _drawn(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Rows of people drawn at random, whose each is, and how many people there are."""
    draw = np.random.default_rng(0)
    kept = np.arange(rows.count) if rows.kept is None else np.flatnonzero(rows.kept)
    if rows.units is None:
        drawn = np.sort(draw.choice(kept, min(SAMPLE, len(kept)), replace=False)) if len(kept) else kept
        return drawn, np.arange(len(drawn)), len(kept)
    there = np.bincount(rows.units[kept]) > 0
    everybody = np.flatnonzero(there)
    chosen = np.zeros(len(there), dtype=bool)
    chosen[draw.choice(everybody, min(SAMPLE, len(everybody)), replace=False)] = True
    drawn = kept[chosen[rows.units[kept]]]
    return drawn, np.unique(rows.units[drawn], return_inverse=True)[1], len(everybody)


def _stretches(rows: Rows) -> Iterator[NDArray[np.int64]]:
    for begin in range(0, rows.count, _STRETCH):
        here = np.arange(begin, min(begin + _STRETCH, rows.count))
        yield here if rows.kept is None else here[rows.kept[here]]
