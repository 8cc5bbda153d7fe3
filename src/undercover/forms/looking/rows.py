"""Some people looked for in all rows that are published, a chunk of rows at a time.

Boxes (:mod:`undercover.forms.boxes`) are for looking for everybody: what they take to make grows with the table, and
so do they. Here nothing is kept of a row, so that a few thousand people are looked for in a hundred million rows with
the memory of one chunk. What comes out is the same: of each person the rows that fit, and how often each sensitive
value is among them (of buckets: by its share of the bucket).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, described
from undercover.forms.boxes import value_codes
from undercover.forms.coverage import Coverage
from undercover.forms.dealt.law import Law
from undercover.forms.disclosure import Disclosure
from undercover.forms.distribution import Distribution
from undercover.forms.meaning import NOTHING, Values, domain_values
from undercover.forms.spread import positions_of_codes
from undercover.model.table import EncodedColumn, Table
from undercover.model.verdict import among_values
from undercover.threads import parallel

if TYPE_CHECKING:
    from undercover.forms.reading import Reading

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
MANY = 500_000  # rows from which on a release is gone through rather than read at once
CHUNK = 1 << 17  # rows at a time
_MOST_COUNTS = 1 << 22  # people times values that are counted at once, 8 bytes each, in every thread
_AT_ONCE = 4096  # people whose bits are held at once
_MOST_BITS = 1 << 29  # of cells and people, a bit each, that are held at once
_ROOM = 1 << 18  # pairs of a row and a person that are held at once
_EQUAL = 1.0 - 1e-12


class Held(NamedTuple):
    """The values of groups of rows, as kernels take them: those of group g are ``starts[g]:starts[g + 1]``."""

    starts: NDArray[Any]
    values: NDArray[Any]
    times: NDArray[Any]
    sizes: NDArray[Any]  # rows of each group


class Secret(NamedTuple):
    """A sensitive column: of every row its value, or the group whose values it has by their shares."""

    name: str
    codes: NDArray[Any] | None  # (n_rows,); None: every row is its own group
    place: Integers  # of each published value among the codes of the original; others come behind these
    n_values: int
    held: Held | None = None
    law: Law | None = None

    def groups(self, rows: slice) -> NDArray[Any]:
        """The group of each of some rows."""
        return np.arange(rows.start, rows.stop) if self.codes is None else self.codes[rows]

    def entries(self, rows: slice, weights: NDArray[np.int64]) -> tuple[Integers, Integers, Floats]:
        """Of some rows, counted from the first: the row of every value it has, the value, and how many rows have it."""
        if self.held is None:
            return np.arange(len(weights)), self.place[self.groups(rows)], weights.astype(np.float64)
        groups = self.groups(rows)
        first = self.held.starts[groups]
        times = self.held.starts[groups + 1] - first
        own = np.repeat(np.arange(len(groups)), times)
        entry = np.arange(len(own)) + np.repeat(first - np.cumsum(times) + times, times)
        each = (weights / self.held.sizes[groups])[own] * self.held.times[entry]
        return own, self.place[self.held.values[entry]], each


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows that people are looked for in, or what is written alike of them."""

    cells: Sequence[NDArray[Any]]  # of every known column (n_rows,) the cell
    covers: Sequence[Coverage]  # of every known column what its cells cover, in codes of the original
    secrets: Sequence[Secret]
    weights: NDArray[Any] | None = None  # (n_rows,) rows that each stands for; None: itself

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.cells[0])

    @property
    def chunks(self) -> list[slice]:
        """All rows, some after the others."""
        return [slice(first, min(first + CHUNK, self.n_rows)) for first in range(0, self.n_rows, CHUNK)]

    def weights_of(self, rows: slice) -> NDArray[np.int64]:
        """(n_rows,) rows that each of some stands for."""
        if self.weights is None:
            return np.ones(rows.stop - rows.start, np.int64)
        return self.weights[rows].astype(np.int64)

    @cached_property
    def exact(self) -> bool:
        """Whether every cell is one value at most."""
        return all(bool((cover.sizes <= 1).all()) for cover in self.covers)

    def values_of(self, rows: slice) -> NDArray[np.int32]:
        """(n_rows, d) the only value of each cell of some rows, -1 where it has none."""
        found = np.empty((rows.stop - rows.start, len(self.cells)), np.int32)
        for j, (codes, only) in enumerate(zip(self.cells, self._only, strict=True)):
            found[:, j] = only[codes[rows]]
        return found

    @cached_property
    def narrowest(self) -> list[int]:
        """The columns, first those whose cells cover least: most rows then need no second look."""
        some = slice(0, CHUNK)
        wide = [float((o.sizes / o.n_positions)[c[some]].mean()) for c, o in zip(self.cells, self.covers, strict=True)]
        return sorted(range(len(wide)), key=wide.__getitem__)

    def cells_of(self, rows: slice) -> NDArray[np.int32]:
        """(n_rows, d) the cells of some rows, numbered through all columns, the narrowest first."""
        found = np.empty((rows.stop - rows.start, len(self.cells)), np.int32)
        first = 0
        for place, j in enumerate(self.narrowest):
            np.add(self.cells[j][rows], first, out=found[:, place], dtype=np.int32, casting="unsafe")
            first += self.covers[j].n_cells
        return found

    @cached_property
    def _only(self) -> list[NDArray[np.int32]]:
        each = [np.where(cover.sizes == 1, cover.low[cover.starts[:-1]], -1) for cover in self.covers]
        return [only.astype(np.int32) for only in each]


def rows_of(original: Table, known: Sequence[str], values: Mapping[str, Values] | None = None) -> ShownRows:
    """A table as if it were published as it is; cells cover codes, or where ``values`` are given places of these."""
    covers = []
    for name in known:
        column = original[name]
        places = _codes(column) if values is None else positions_of_codes(column, values[name])
        covers.append(Coverage.of_ranges(places, places, column.domain.size if values is None else values[name].size))
    columns = [original[name] for name in original.schema.sensitive]
    secrets = [Secret(column.name, column.codes, _codes(column), column.domain.size) for column in columns]
    return ShownRows([original[name].codes for name in known], covers, secrets)


def _codes(column: EncodedColumn) -> Integers:
    return np.arange(column.domain.size)


def published_rows(reading: Reading, original: Table, known: Sequence[str]) -> ShownRows:
    """The rows of a release, their cells read as codes of the original."""
    covers = []
    for name in known:
        form, column = reading.main.form(name), reading.column(name)
        if form == "value" and (whole := Coverage.of_values(column.values, original[name])) is not None:
            covers.append(whole)
            continue
        labels = column.labels
        meanings = domain_values(original[name]).read_all(labels, form)
        wrong = [label for label, meaning in zip(labels, meanings, strict=True) if meaning == NOTHING]
        if wrong and reading.covers:
            raise DataError(f"Cells of `{name}` stand for no value of the original column: {described(wrong)}.")
        covers.append(Coverage.of_meanings(meanings, original[name].domain.size))
    return _shown(reading, original, known, covers, original.schema.sensitive)


def estimated_rows(reading: Reading, original: Table, values: Mapping[str, Values]) -> ShownRows:
    """The same as a recipient takes them: cells cover places among ``values``, a drawn one the nearest of these."""
    shown = reading.values_table.names("sensitive")
    sensitive = [name for name in original.schema.sensitive if name in shown]
    return _shown(reading, original, list(values), [reading.coverage(n, v) for n, v in values.items()], sensitive)


def _shown(
    reading: Reading, original: Table, known: Sequence[str], covers: Sequence[Coverage], sensitive: Sequence[str]
) -> ShownRows:
    """Rows with what their cells cover; once for all that are written alike, where values stand in the rows and what is
    known is what classes were made of.
    """
    columns, buckets = [original[name] for name in sensitive], reading.buckets
    cells = [reading.column(name).codes for name in known]
    if buckets is not None:
        held = [(column, buckets.distribution(column.name)) for column in columns]
        return ShownRows(cells, covers, [_of_groups(column, found, buckets.rows.codes) for column, found in held])
    if reading.covers and set(known) == set(reading.classes.quasi_identifiers):
        classes = reading.classes
        secrets = [_of_groups(column, classes.sensitive[column.name], None) for column in columns]
        return ShownRows([codes[classes.representatives] for codes in cells], covers, secrets, classes.sizes)
    return ShownRows(cells, covers, [_of_rows(reading, column) for column in columns])


def _of_groups(column: EncodedColumn, found: Distribution, codes: NDArray[Any] | None) -> Secret:
    place, n_values = value_codes(found.labels, column)
    held = Held(found.starts, found.held_values, found.held_counts, found.sizes)
    return Secret(column.name, codes, place, n_values, held)


def _of_rows(reading: Reading, column: EncodedColumn) -> Secret:
    shown = reading.column(column.name)
    place, n_values = value_codes(shown.labels, column)
    law = None
    if reading.among:
        times = np.bincount(shown.codes, minlength=len(shown.labels))
        law = Law.of(reading.among, np.bincount(place, times, n_values))
    return Secret(column.name, shown.codes, place, n_values, None, law)


def look_for(shown: ShownRows, people: Table, target_of: Integers, targets: Integers, threads: int) -> Disclosure:
    """What is reached on some ``people`` by whoever looks for each of the ``targets`` among all rows."""
    n, names = people.n_rows, [secret.name for secret in shown.secrets]
    matches = np.zeros(n, np.int64)
    attribute = {name: np.zeros(n) for name in names}
    hits = {name: np.zeros(n) for name in names}
    if not shown.exact:  # who is alike is looked for at once
        alike = np.lexsort(targets[:, shown.narrowest].T[::-1])
        rank = np.empty_like(alike)
        rank[alike] = np.arange(len(alike))
        targets, target_of = targets[alike], rank[target_of]
    order = np.argsort(target_of, kind="stable")
    of_target = target_of[order]
    for first, found, counts in _counted(shown, targets, threads):
        low, high = np.searchsorted(of_target, [first, first + len(found)])
        rows, mine = order[low:high], of_target[low:high] - first
        matches[rows] = found[mine]
        for secret, weights in zip(shown.secrets, counts, strict=True):
            truth = people[secret.name].codes[rows].astype(np.int64)
            missing = people[secret.name].domain.missing_code
            believed, hit = _believed(secret.law, found, weights, mine, truth, missing)
            attribute[secret.name][rows], hits[secret.name][rows] = believed, hit
    return Disclosure(matches, attribute, hits)


def _believed(
    law: Law | None,
    matches: Integers,
    counts: Floats,
    target_of: Integers,
    truth: Integers,
    missing: int | None = None,
) -> tuple[Floats, Floats]:
    """Probability of the true value of every person and of a right guess, from what the rows that fit show.

    ``missing`` is the code of a missing value. Of somebody who has a value, both are asked among those who have one.
    """
    shares = counts / np.maximum(matches, 1)[:, None]
    if law is not None:
        shares = law.believed(np.arange(shares.shape[1]), shares, (shares @ law.spread)[:, None])
    if missing is not None:
        lacking, lost = truth == missing, shares[:, missing].copy()
        found = _most_believed(shares, matches, target_of, truth)
        shares[:, missing] = 0.0
        believed, hits = _most_believed(shares, matches, target_of, truth)
        believed = among_values(believed, lost[target_of])
        return np.where(lacking, found[0], believed), np.where(lacking, found[1], hits)
    return _most_believed(shares, matches, target_of, truth)


def _most_believed(shares: Floats, matches: Integers, target_of: Integers, truth: Integers) -> tuple[Floats, Floats]:
    """Probability of the true value of every person and of a right guess, from (n_targets, n_values) beliefs."""
    highest = shares.max(axis=1, initial=0.0)
    ties = (shares >= highest[:, None] * _EQUAL).sum(axis=1)
    there = matches[target_of] > 0
    mine = np.where(there, np.minimum(shares[target_of, truth], 1.0), 0.0)
    best = there & (mine >= highest[target_of] * _EQUAL)
    return mine, np.where(best, 1 / ties[target_of], 0.0)


def _counted(shown: ShownRows, targets: Integers, threads: int) -> Iterator[tuple[int, Integers, list[Floats]]]:
    """Of some targets after the other: the first of them, how many rows fit each, and what these show."""
    widest = max((secret.n_values for secret in shown.secrets), default=1)
    at_once = max(256, _MOST_COUNTS // widest)
    if not shown.exact:
        n_cells = sum(cover.n_cells for cover in shown.covers)
        at_once = min(at_once, _AT_ONCE, max(256, _MOST_BITS // max(n_cells, 1) // 256 * 256))
    chunks = shown.chunks
    for first in range(0, len(targets), at_once):
        some = np.ascontiguousarray(targets[first : first + at_once].astype(np.int32))
        pairs_in = _equal(shown, some) if shown.exact else _covering(shown, some)

        def through(mine: Sequence[slice], many: int = len(some), pairs_in: Any = pairs_in) -> list[NDArray[Any]]:
            room = np.empty((_ROOM, 2), np.int32)
            counted: list[NDArray[Any]] = [np.zeros(many, np.int64)]
            counted += [np.zeros((many, secret.n_values)) for secret in shown.secrets]
            for rows in mine:
                for pairs in pairs_in(rows, room):
                    _add(shown, rows, pairs, counted)
            return counted

        found = parallel(through, [chunks[part::threads] for part in range(min(threads, len(chunks)))], threads)
        together = [np.sum(part, axis=0) if len(part) > 1 else part[0] for part in zip(*found, strict=True)]
        yield first, together[0], together[1:]


def _add(shown: ShownRows, rows: slice, pairs: NDArray[np.int32], counted: Sequence[NDArray[Any]]) -> None:
    """Count for people the rows that fit, and the values of these."""
    from undercover.forms.looking.kernels import add_groups, add_rows, add_values

    matches, *counts = counted
    weights = shown.weights_of(rows)
    add_rows(pairs, weights, matches)
    for secret, into in zip(shown.secrets, counts, strict=True):
        if secret.held is None:
            assert secret.codes is not None
            add_values(pairs, secret.codes[rows], secret.place, into)
        else:
            add_groups(pairs, secret.groups(rows), weights, secret.held, secret.place, into)


Pairs = Callable[[slice, NDArray[np.int32]], Iterator[NDArray[np.int32]]]


def _equal(shown: ShownRows, targets: NDArray[np.int32]) -> Pairs:
    from undercover.forms.looking.kernels import equal, indexed

    places = indexed(targets, max(4, int(4 * len(targets)).bit_length()))

    def pairs_in(rows: slice, room: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
        yield room[: equal(shown.values_of(rows), targets, places, room)]

    return pairs_in


def _covering(shown: ShownRows, targets: NDArray[np.int32]) -> Pairs:
    from undercover.forms.looking.kernels import WORDS, fitting, people_of_cells

    several = 64 * WORDS
    bits = [
        np.concatenate(
            [
                people_of_cells(cover.starts, cover.low, cover.high, np.ascontiguousarray(some[:, j]))
                for j, cover in ((j, shown.covers[j]) for j in shown.narrowest)
            ]
        )
        for some in (targets[first : first + several] for first in range(0, len(targets), several))
    ]

    def pairs_in(rows: slice, room: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
        cells = shown.cells_of(rows)
        for place, people in enumerate(bits):
            row = 0
            while row < len(cells):
                found, row = fitting(cells, people, row, room)
                pairs = room[:found]
                pairs[:, 1] += place * several
                yield pairs

    return pairs_in
