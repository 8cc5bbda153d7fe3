"""The rows that fit a person in every subset of the columns: by classes where cells are single values, else by bitmaps.

Of a subset is found how many rows fit each person, how likely one of them is the person's own, and what they say of
every sensitive value. All of it is summed over the subsets of each size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, combinations, pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.attacks.partial.alike import Alike, Codes, subsets
from undercover.forms.boxes import Boxes, Buckets, Index, index_of
from undercover.forms.dealt.law import Law, posteriors
from undercover.forms.written import Written, combine
from undercover.threads import parallel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_MOST_WORDS = 1 << 23  # of bitmaps, 8 bytes each, that are held at once
Told = list[tuple[Floats, Floats]]  # of every sensitive column what is believed of the true value, and right guesses


class Secret(NamedTuple):
    """What boxes say of one sensitive column, and the law by which they say so."""

    buckets: Buckets
    truth: Integers  # (n_people,) the true codes
    law: Law | None


class OwnRows(NamedTuple):
    """A row of everybody, as it was published: inside a group each may be anybody's, one as likely as the other."""

    codes: Codes  # of rows and people, n_people each
    groups: Integers  # (n_people,)
    among: Integers  # (n_people,) rows of everybody's group

    @classmethod
    def of(cls, rows: Integers, people: Integers, sizes: Sequence[int], groups: Integers) -> OwnRows:
        """From (n_people, d) codes of everybody's row and of everybody."""
        return cls(Codes.of(rows, people, sizes), groups, np.bincount(groups)[groups])

    def chance(self, alike: Alike) -> Floats:
        """(n_people,) how likely the own row fits: the share of the group's that are alike; 0 of people not there."""
        found = np.zeros(len(self.groups))
        found[alike.people] = np.diff(alike.row_starts)[alike.class_of] / self.among[alike.people]
        return found


class Sums(NamedTuple):
    """Sums over the subsets of each size."""

    # (2 + 2 s, d + 1, n_people) identity, matches, and of every sensitive column belief and right guesses
    found: Floats

    @classmethod
    def zero(cls, columns: int, people: int, sensitive: int) -> Sums:
        """Nothing yet."""
        return cls(np.zeros((2 + 2 * sensitive, columns + 1, people)))

    def add(self, size: int, people: Integers, matches: Integers, told: Told, chance: Floats | float) -> None:
        """Add what a subset says of some people, with the chance that their own row is among those that match."""
        identity = np.divide(chance, matches, out=np.zeros(len(people)), where=matches > 0)
        for into, each in zip(self.found, (identity, matches, *chain.from_iterable(told)), strict=True):
            into[size, people] += each


@dataclass(frozen=True)
class Equal:
    """Every cell is a single value: rows that fit a person are alike."""

    boxes: Boxes
    codes: Codes  # of boxes and people
    own: OwnRows | None
    secrets: Sequence[Secret]

    def sums(self, threads: int) -> Sums:
        """Go through all subsets: those with the first column, and beside them those without it."""
        n_columns, n_people = self.codes.people.shape
        with_first, without = parallel(self._part, (True, False), threads, steps=n_people * 2**n_columns)
        return Sums(np.add(with_first.found, without.found, out=without.found))

    def _part(self, with_first: bool) -> Sums:
        n_boxes, n_people = len(self.boxes.weights), self.codes.people.shape[1]
        begin, codes = [Alike.in_nothing(n_boxes, n_people)], [self.codes]
        if self.own is not None:
            begin.append(Alike.in_groups(self.own.groups))
            codes.append(self.own.codes)
        sums = Sums.zero(len(self.codes.sizes), n_people, len(self.secrets))
        for size, (alike, *mine) in subsets(begin, codes, with_first=with_first):
            running = np.append(0, np.cumsum(self.boxes.weights[alike.rows]))
            matches, target_of = np.diff(running[alike.row_starts]), alike.class_of
            told = [
                posteriors(law, alike.row_starts, alike.rows, buckets, target_of, truth[alike.people])
                for buckets, truth, law in self.secrets
            ]
            chance = 1.0 if self.own is None else self.own.chance(*mine)[alike.people]
            sums.add(size, alike.people, matches[target_of], told, chance)
        return sums


@dataclass(frozen=True)
class Covering:
    """Cells stand for several values: rows are compared by bitmaps of the boxes that cover a value."""

    boxes: Boxes
    index: Index
    people: Integers  # (n_people, d) lines of the index; of those that are alike the first
    rows: slice  # of everybody, which of them these people are
    own: OwnRows | None  # of everybody
    secrets: Sequence[Secret]

    @classmethod
    def all_sums(
        cls, boxes: Boxes, people: Integers, own: OwnRows | None, secrets: Sequence[Secret], threads: int
    ) -> Sums:
        """Go through all subsets for some people after the others, so that the bitmaps stay small."""
        n_words, (n, d) = -(-len(boxes.weights) // 64), people.shape
        some = n if boxes.most_lines * n_words <= _MOST_WORDS else max(64, _MOST_WORDS // (n_words * d))
        parts = [slice(first, min(first + some, n)) for first in range(0, n, some)]
        found = [cls.of(boxes, people[rows], rows, own, secrets).sums(threads).found for rows in parts]
        return Sums(found[0] if len(found) == 1 else np.concatenate(found, axis=2))

    @classmethod
    def of(
        cls, boxes: Boxes, people: Integers, rows: slice, own: OwnRows | None, secrets: Sequence[Secret]
    ) -> Covering:
        """Index the boxes by the values that they cover."""
        everything = boxes.most_lines <= people.size
        index = index_of(boxes, 0, len(boxes.weights), None if everything else people)
        lines = index.lines(people)
        for j, (begin, end) in enumerate(pairwise(index.starts.tolist())):
            _, first, place = np.unique(index.bitmaps[begin:end], axis=0, return_index=True, return_inverse=True)
            lines[:, j] = first[place.reshape(-1)][lines[:, j]]
        mine = [Secret(buckets, truth[rows], law) for buckets, truth, law in secrets]
        return cls(boxes, index, lines, rows, own, mine)

    @property
    def sizes(self) -> list[int]:
        """(d,) lines of the columns."""
        return [int(size) for size in np.diff(self.index.starts)]

    def sums(self, threads: int) -> Sums:
        """Go through all subsets; every thread takes those of some sizes."""
        sums = Sums.zero(len(self.sizes), len(self.people), len(self.secrets))
        steps = len(self.people) * self.index.bitmaps.shape[1] * 2 ** len(self.sizes)
        parallel(lambda size: self._add(size, sums), range(len(self.sizes) + 1), threads, steps=steps)
        return sums

    def _add(self, size: int, sums: Sums) -> None:
        everybody = np.arange(len(self.people))
        for subset in combinations(range(len(self.sizes)), size):
            chance: Floats | float = 1.0
            if self.own is not None:
                begin, codes = Alike.in_groups(self.own.groups), self.own.codes
                alike = reduce(lambda alike, column: alike.split(codes, column), subset, begin)
                chance = self.own.chance(alike)[self.rows]
            sums.add(size, everybody, *self._fit(subset), chance)

    def _fit(self, subset: Sequence[int]) -> tuple[Integers, Told]:
        """(n_people,) rows that fit, and what they say."""
        from undercover.attacks.partial.kernels import covering_posteriors

        n, n_buckets, bucket_of = len(self.people), int(self.boxes.bucket_of.max()) + 1, self.boxes.bucket_of
        columns_of = [Written(self.people[:, j], pa.nulls(self.sizes[j])) for j in subset]
        labels, count = combine(columns_of or [Written(np.zeros(n, dtype=np.int64), pa.nulls(1))])
        order = np.argsort(labels.astype(np.min_scalar_type(count)), kind="stable")  # two bytes are sorted by counting
        target_of, columns = labels.astype(np.int64), np.array(subset, dtype=np.int64)
        weights, starts = self.boxes.weights.astype(np.float64), np.zeros(n_buckets + 1, dtype=np.int64)
        nothing = Buckets(weights, bucket_of, starts, starts[:0], np.zeros(0), np.zeros(n_buckets), 1)
        told, matches = [], np.zeros(n, dtype=np.int64)
        for buckets, truth, _ in self.secrets or (Secret(nothing, np.zeros(n, dtype=np.int64), None),):
            shares = buckets.counts / np.repeat(buckets.sizes, np.diff(buckets.starts))
            matches, probability, hit = covering_posteriors(
                self.index.bitmaps, self.index.starts, columns, self.people, buckets, shares, order, target_of, truth
            )
            told.append((probability, hit))
        return matches, told if self.secrets else []
