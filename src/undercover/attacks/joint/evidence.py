"""What one release says of people whose quasi-identifiers are known, as evidence to be put beside that of others.

By facts of its reading alone. Cells that cover people and true values: the shares of the values in the rows that fit.
A public channel: how much likelier each value makes what is shown (Tao, Xiao, Li & Zhang 2008, equations 9 to 15, with
nobody corrupted). Anything else says nothing that could be weighed, and the reason is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.joint.subtraction import MOST_COUNTS, Accounts, spans
from undercover.errors import DataError
from undercover.forms import read
from undercover.forms.boxes import Buckets, match, merged_boxes
from undercover.forms.disclosure import MOST_PAIRS, distinct_rows, pairs_expected
from undercover.forms.reading import Reading
from undercover.forms.written import combine
from undercover.model.release import Release
from undercover.model.table import EncodedColumn, Table

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Evidence(Protocol):
    """What a release says of distinct people, the targets."""

    @property
    def fits(self) -> Fits:
        """The boxes that cover each."""

    @property
    def work(self) -> int:
        """About how many numbers are looked at for all targets."""

    def shares(self, first: int, last: int) -> Floats:
        """(last - first, n_values) what the release alone makes of each value of these targets; 0 is impossible.

        A row of zeros says that nothing fits, so that the target is not in the release.
        """

    def accounts(self, people: Whole) -> Accounts | None:
        """Its classes, where it is known who is in each; ``people`` (n_targets,) are those each target stands for."""


def evidence_of(
    release: Release, original: Table, column: EncodedColumn, known: Sequence[str], targets: Whole, threads: int
) -> tuple[Evidence | None, tuple[str, ...], str]:
    """The evidence, the known columns it rests on, and where there is none the reason.

    ``targets`` (n_targets, n_known) are codes of the ``known`` columns of the original.
    """
    reading = read(release)
    if not reading.covers:
        return None, (), "Its quasi-identifiers were drawn or permuted: the rows that fit a person need not be his."
    if column.name not in reading.values_table.names("sensitive"):
        return None, (), f"It does not publish `{column.name}`."
    if not reading.true_values and reading.channel is None:
        return None, (), "Its sensitive values are not true, and it names no channel they went through."
    shown = {*reading.main.names("quasi-identifier"), *reading.main.names("insensitive")}
    places = [place for place, name in enumerate(known) if name in shown]
    names = tuple(known[place] for place in places)
    if not names:
        return None, (), "Nothing that is known of people is published in it."
    of_target, rows = distinct_rows(targets[:, places])
    try:
        boxes = merged_boxes(reading, original, names, (column.name,)).boxes
    except DataError as error:  # cells of another table: what the release says cannot be read, and that is the answer
        return None, names, f"Its cells cannot be read by this table. {error}"
    if pairs_expected(boxes, rows) > MOST_PAIRS:
        return None, names, "Its cells are so wide that the rows that fit everybody cannot be listed."
    offsets, members = match(boxes, rows, threads)
    fits = Fits(of_target, offsets, members)
    if reading.channel is not None and not reading.true_values:
        return _through_channel(reading, column, names, fits), names, ""
    return TrueValues(fits, boxes.buckets(column), column.domain.size), names, ""


@dataclass(frozen=True)
class Fits:
    """The boxes that cover each target."""

    of_target: Whole  # (n_targets,) its number among those told apart by the columns of this release
    offsets: Whole
    members: Whole

    def pairs(self, first: int, last: int) -> tuple[Whole, Whole]:
        """Targets, counted from ``first``, and the boxes that fit them, pair by pair."""
        own = self.of_target[first:last]
        times = self.offsets[own + 1] - self.offsets[own]
        return np.repeat(np.arange(last - first), times), self.members[spans(self.offsets[own], times)]

    def patterns(self) -> Whole:
        """(n_targets,) numbers that two targets share if the same boxes cover them.

        Lists of boxes are compared by the sum of two mixed words of every box: of different lists both are equal once
        in 2^128.
        """
        words = np.stack([_mixed(np.arange(int(self.members.max(initial=-1)) + 1), salt) for salt in (1, 2)], axis=1)
        running = np.zeros((len(self.members) + 1, 2), dtype=np.uint64)
        np.cumsum(words[self.members], axis=0, out=running[1:])
        sums = running[self.offsets[1:]] - running[self.offsets[:-1]]
        return np.asarray(np.unique(sums, axis=0, return_inverse=True)[1]).reshape(-1)[self.of_target]


def _mixed(numbers: Whole, salt: int) -> NDArray[np.uint64]:
    """Numbers as words that look random (the finaliser of SplitMix64, Steele, Lea & Flood 2014)."""
    words = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt << 32)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


def _added(keys: Whole, weights: Floats, count: int) -> Floats:
    """The sum of the weights of every key below ``count``."""
    return np.asarray(np.bincount(keys, weights=weights, minlength=count), dtype=np.float64)


def _shares(held: Floats) -> Floats:
    """Rows that add up to 1, or to 0 where they are empty."""
    total = held.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(held, total, out=np.zeros_like(held), where=total > 0))


@dataclass(frozen=True)
class TrueValues:
    """True values in the rows that fit; a value of a bucket by its share there."""

    fits: Fits
    buckets: Buckets
    n_values: int  # of the original; what nobody in it has is left out

    @property
    def work(self) -> int:
        """Entries of the buckets of all boxes that fit."""
        entries = np.diff(self.buckets.starts)[self.buckets.bucket_of]
        running = np.concatenate([[0], np.cumsum(entries[self.fits.members])])
        per = running[self.fits.offsets[1:]] - running[self.fits.offsets[:-1]]
        return int(per[self.fits.of_target].sum())

    def shares(self, first: int, last: int) -> Floats:
        """As frequent as a value is among the rows that fit."""
        weights, bucket_of, starts, values, counts, sizes, n_published = self.buckets
        target, box = self.fits.pairs(first, last)
        bucket = bucket_of[box]
        times = starts[bucket + 1] - starts[bucket]
        entry = spans(starts[bucket], times)
        keys = np.repeat(target, times) * n_published + values[entry]
        parts = np.repeat(weights[box] / sizes[bucket], times) * counts[entry]
        held = _added(keys, parts, (last - first) * n_published).reshape(-1, n_published)
        return _shares(held[:, : self.n_values])

    def accounts(self, people: Whole) -> Accounts | None:
        """Buckets, each together with those that somebody fits as well: as many people fit them as they have rows."""
        offsets, bucket = self.fits.offsets, self.buckets.bucket_of[self.fits.members]
        if self.buckets.n_values > self.n_values:
            return None
        together = _linked(offsets, bucket, len(self.buckets.sizes))
        if (int(together.max()) + 1) * self.n_values > MOST_COUNTS:
            return None
        class_of = np.full(len(offsets) - 1, -1, dtype=np.int64)
        fitting = np.flatnonzero(np.diff(offsets))
        class_of[fitting] = together[bucket[offsets[fitting]]]
        counts = np.zeros((int(together.max()) + 1, self.n_values), dtype=np.int64)
        rows = np.repeat(together, np.diff(self.buckets.starts))
        np.add.at(counts, (rows, self.buckets.values), self.buckets.counts.astype(np.int64))
        inside = class_of[self.fits.of_target]
        fit = np.bincount(inside + 1, weights=people, minlength=len(counts) + 1)[1:]
        known = np.append(fit == counts.sum(axis=1), False)  # the last is that of nobody's class
        return Accounts(np.where(known[inside], inside, -1), counts) if known.any() else None


def _linked(offsets: Whole, bucket: Whole, count: int) -> Whole:
    """(count,) buckets numbered such that those which fit one target have one number.

    Target t fits ``bucket[offsets[t]:offsets[t + 1]]``. Every bucket takes the least number among those it meets, until
    none changes.

    >>> _linked(np.array([0, 2, 3]), np.array([0, 2, 1]), 4).tolist()
    [0, 1, 0, 2]
    """
    times = np.diff(offsets)
    starts, labels = offsets[:-1][times > 0], np.arange(count)
    while len(starts):
        lowest = np.minimum.reduceat(labels[bucket], starts)
        following = labels.copy()
        np.minimum.at(following, bucket, np.repeat(lowest, times[times > 0]))
        following = following[following]
        if np.array_equal(following, labels):
            break
        labels = following
    return np.asarray(np.unique(labels, return_inverse=True)[1]).reshape(-1)


def _through_channel(reading: Reading, column: EncodedColumn, names: Sequence[str], fits: Fits) -> Evidence:
    """Read the rows of every box, of which each is one of several people with a value that may have been drawn."""
    channel = reading.channel
    assert channel is not None
    people = np.ones(reading.main.rows, dtype=np.int64) if reading.people is None else reading.people
    prior = np.bincount(column.codes, minlength=column.domain.size) / len(column.codes)
    place = {label: code for code, label in enumerate(column.domain.labels)}
    code = np.array([place.get(label, -1) for label in channel.domain], dtype=np.int64)[reading.seen]
    p, u = float(channel.p), float(channel.u)
    shown = p * np.where(code >= 0, prior[code], 0.0) + u  # how likely the value was to be shown
    weight = np.divide(1.0, shown, out=np.zeros(len(shown)), where=shown > 0)
    labels, count = combine([reading.column(name) for name in names])
    box = labels.astype(np.int64)
    alike = _added(box, people - 1 + u * weight, count)
    inside = code >= 0
    keys, place_of = np.unique(box[inside] * len(prior) + code[inside], return_inverse=True)
    extra = _added(place_of.reshape(-1), p * weight[inside], len(keys))
    starts = np.searchsorted(keys, np.arange(count + 1) * len(prior))
    return ChannelValues(fits, prior, alike, starts, keys % len(prior), extra)


@dataclass(frozen=True)
class ChannelValues:
    """Values through a channel: the row that fits is a person's own with one part in the people it stands for."""

    fits: Fits
    prior: Floats
    alike: Floats  # (n_boxes,) weight that every value has
    starts: Whole  # box b has the entries starts[b]:starts[b + 1]
    values: Whole
    extra: Floats  # weight of the value shown, beyond that

    @property
    def work(self) -> int:
        """Boxes that fit all targets."""
        return int(np.diff(self.fits.offsets)[self.fits.of_target].sum())

    def shares(self, first: int, last: int) -> Floats:
        """What is overall in the table, moved by what the rows show."""
        target, box = self.fits.pairs(first, last)
        n, n_values = last - first, len(self.prior)
        times = self.starts[box + 1] - self.starts[box]
        entry = spans(self.starts[box], times)
        keys = np.repeat(target, times) * n_values + self.values[entry]
        moved = _added(keys, self.extra[entry], n * n_values).reshape(n, n_values)
        return _shares(self.prior * (_added(target, self.alike[box], n)[:, None] + moved))

    def accounts(self, people: Whole) -> None:
        """Rows that are not people's own cannot be subtracted."""
        return
