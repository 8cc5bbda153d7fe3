"""What is reached on people who have several rows, by somebody who knows all of them (docs/theory/units.md).

A person is found where one of his rows is taken for one of his: of the rows that fit one of them, his own ones. A value
is his if it is in at least one of his rows: with m rows among n that fit, c of them with the value, it is in none with
C(n - c, m) / C(n, m); where values stand in buckets, each row is a chance of its own. Rows in different classes are
independent, so what they leave open multiplies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from undercover.forms.boxes import Boxes, match
from undercover.forms.case import Case
from undercover.forms.disclosure import Disclosure, distinct_rows
from undercover.forms.looking.rows import look_for, rows_of
from undercover.forms.reading import Reading
from undercover.model.table import Table
from undercover.model.verdict import among_values

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_AT_ONCE = 4096  # groups whose fitting boxes are listed together; where boxes are wide, there are thousands for each


@dataclass(frozen=True)
class Beliefs:
    """How surely each value that a person really has is believed to be among his."""

    rows: Integers  # an input row of the person with that value
    belief: Floats
    prior: Floats  # from the shares of the whole table alone


@dataclass(frozen=True)
class Targets:
    """Rows of people, and by which of the distinct people somebody who knows ``known`` looks for each."""

    original: Table
    known: tuple[str, ...]
    target_of: Integers  # (n_rows,)
    targets: Integers  # (n_targets, n_known)
    threads: int = 1

    @classmethod
    def of(cls, original: Table, known: tuple[str, ...], rows: Integers | None, threads: int) -> Targets:
        """Everybody, or the people in some ``rows``."""
        people = original if rows is None else original.take(rows)
        codes = np.stack([people[name].codes for name in known], axis=1).astype(np.int64)
        return cls(people, known, *distinct_rows(codes), threads)

    def disclosure(self, reading: Reading) -> Disclosure:
        """What is reached on every row."""
        found = reading.disclosure(self.known, self.original, self.target_of, self.targets, self.threads)
        return self._knowing_missing(found)

    def looked_for(self, reading: Reading | None, original: Table) -> Disclosure:
        """The same by going through all rows, where these people are few of many; ``None``: through the original's."""
        asked = self.original, self.target_of, self.targets, self.threads
        if reading is None:
            return self._knowing_missing(look_for(rows_of(original, self.known), *asked))
        return self._knowing_missing(reading.look_for(self.known, original, *asked))

    def _knowing_missing(self, found: Disclosure) -> Disclosure:
        """The same, with whose values are missing."""
        lacking = {name: lacks for name in found.attribute if (lacks := self.original[name].lacking) is not None}
        return replace(found, lacking=lacking) if lacking else found

    def asking(self, rows: Integers, name: str, codes: Integers) -> Targets:
        """The same of ``rows``, each with another value of a sensitive column."""
        table = self.original.take(rows)
        column = replace(table[name], codes=codes.astype(table[name].codes.dtype))
        table = replace(table, columns={**table.columns, name: column})
        return replace(self, original=table, target_of=self.target_of[rows])


def of_people(
    rows: Disclosure, reading: Reading, asked: Targets, groups: Integers | None
) -> tuple[Disclosure, dict[str, Beliefs]]:
    """What is reached on every person, from what is reached on ``rows``; ``groups`` are those of the private run."""
    units = asked.original.units
    assert units is not None
    within = asked.target_of if groups is None else groups
    order = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(units[order]) != 0))
    mine = _own_rows(reading, asked, within, order, starts)
    found = np.maximum.reduceat((mine * rows.identity)[order], starts)
    beliefs = {name: _beliefs(name, rows, reading, asked, within) for name in rows.attribute}
    best = {name: np.zeros(len(starts)) for name in beliefs}
    lacking = {}
    for name, (person, told) in beliefs.items():
        missing = asked.original[name].lacking
        has_value = np.ones(len(person), bool) if missing is None else ~missing[asked.original.places(told.rows)]
        np.maximum.at(best[name], person[has_value], told.belief[has_value])
        if missing is not None:
            lacking[name] = np.ones(len(starts), dtype=bool)
            lacking[name][person[has_value]] = False
    hits = {
        name: np.add.reduceat(hit[order], starts) / np.diff([*starts, len(order)]) for name, hit in rows.hits.items()
    }
    matches = np.minimum.reduceat(rows.matches[order], starts)
    return Disclosure(matches, best, hits, found, lacking), {name: told for name, (_, told) in beliefs.items()}


def first_rows(table: Table) -> Integers:
    """(n_people,) the first input row of each person, in the order of :func:`of_people`."""
    assert table.units is not None
    return np.asarray(table.rows[np.unique(table.units, return_index=True)[1]])


def groups_of(case: Case, known: tuple[str, ...]) -> Integers | None:
    """(n_rows,) rows that were published with the same cells, -1 where a row was not; ``None`` without a run."""
    if case.run is None:
        return None
    original, run = case.original, case.run
    labels = np.full(original.n_rows, -1, dtype=np.int64)
    labels[np.searchsorted(original.rows, run.rows)] = run.groups.labels
    unchanged = [name for name in known if name in original.schema.insensitive]
    apart, _ = distinct_rows(np.stack([labels + 1, *(original[name].codes.astype(np.int64) for name in unchanged)], 1))
    return np.where(labels < 0, -1, apart)


def _own_rows(reading: Reading, asked: Targets, within: Integers, order: Integers, starts: Integers) -> Floats:
    """(n_rows,) how many of a person's rows fit what is known of one of them."""
    boxes = reading.boxes(asked.known, asked.original)
    sizes = np.diff([*starts, len(order)])
    begin, many = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    first = np.repeat(np.arange(len(order)), many)
    second = np.arange(len(first)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(begin, many)
    first, second = order[first], order[second]
    published = within[second] >= 0
    fits = published & ((within[first] == within[second]) | (asked.target_of[first] == asked.target_of[second]))
    if boxes.exact is None:
        apart = np.flatnonzero(published & ~fits)
        own = own_boxes(boxes, asked, within, second[apart])
        fits[apart] = _covers(boxes, own, asked.targets[asked.target_of[first[apart]]])
    return np.bincount(first, fits, minlength=len(order)).astype(np.float64)


def own_boxes(boxes: Boxes, asked: Targets, within: Integers, rows: Integers) -> Integers:
    """The box each of ``rows`` was published in: of those that cover its whole group, the tightest; -1 for none."""
    groups, of_row = np.unique(within[rows], return_inverse=True)
    members = np.flatnonzero(np.isin(within, groups))
    place = np.searchsorted(groups, within[members])
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(len(groups) + 1))
    codes = asked.targets[asked.target_of[members[order]]]
    one_of = np.empty(len(groups), dtype=np.int64)
    one_of[place] = members
    own = np.full(len(groups), -1, dtype=np.int64)
    sizes = np.sum([c.sizes[cells] for c, cells in zip(boxes.covers, boxes.cells.T, strict=True)], axis=0)
    for begin in range(0, len(groups), _AT_ONCE):
        some = one_of[begin : begin + _AT_ONCE]
        offsets, candidates = match(boxes, asked.targets[asked.target_of[some]], asked.threads)
        for group in range(begin, begin + len(some)):
            fitting = candidates[offsets[group - begin] : offsets[group - begin + 1]]
            for cover, cells, held in zip(
                boxes.covers, boxes.cells.T, codes[ends[group] : ends[group + 1]].T, strict=True
            ):
                fitting = fitting[cover.holds_all(cells[fitting], np.unique(held))]
            if len(fitting) and groups[group] >= 0:
                own[group] = fitting[sizes[fitting].argmin()]
    return own[of_row.reshape(-1)]


def _covers(boxes: Boxes, own: Integers, codes: Integers) -> NDArray[np.bool_]:
    """Whether each box covers the codes beside it; no box covers nothing."""
    inside = own >= 0
    for cover, cells, values in zip(boxes.covers, boxes.cells.T, codes.T, strict=True):
        inside &= cover.holds(cells[own].astype(np.int64), values)
    return inside


def _beliefs(
    name: str, rows: Disclosure, reading: Reading, asked: Targets, within: Integers
) -> tuple[Integers, Beliefs]:
    """The people, one entry for every value each has, and how surely it is believed to be among theirs."""
    original, column = asked.original, asked.original[name]
    assert original.units is not None
    size, n_rows = column.domain.size, original.n_rows
    pairs, holder = np.unique(original.units * size + column.codes, return_index=True)
    person, value = pairs // size, pairs % size
    counts = np.bincount(original.units)
    order = np.argsort(original.units, kind="stable")
    starts = np.cumsum(counts) - counts
    # Every row of the person, once for every value he has.
    many = counts[person]
    pair = np.repeat(np.arange(len(pairs)), many)
    row = order[np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(starts[person], many)]
    believed = asked.asking(row, name, value[pair]).disclosure(reading).attribute[name]
    matches, missing = rows.matches[row].astype(np.float64), column.domain.missing_code
    share = np.bincount(column.codes, minlength=size) / n_rows
    if missing is not None:  # of a value, everything is asked among the rows that have one
        lost = asked.asking(row, name, np.full(len(row), missing)).disclosure(reading).attribute[name]
        matches = np.where(value[pair] == missing, matches, matches * (1 - lost))
        share = np.where(np.arange(size) == missing, share, among_values(share, np.full(size, share[missing])))
    left = 1 - believed
    if reading.buckets is None and reading.true_values and not reading.among:
        left = _without_replacement(believed, matches, pair, within[row])
    none = np.ones(len(pairs))
    np.multiply.at(none, pair, left)
    prior = 1 - (1 - share[value]) ** many
    return person, Beliefs(original.rows[holder], 1 - none, prior)


def _without_replacement(believed: Floats, matches: Floats, pair: Integers, within: Integers) -> Floats:
    """What each row leaves open where its predecessors of the same class took rows without the value."""
    order = np.lexsort((within, pair))
    new = np.append(True, (np.diff(pair[order]) != 0) | (np.diff(within[order]) != 0))
    start = np.flatnonzero(new)
    taken = np.empty(len(order))
    taken[order] = np.arange(len(order)) - np.repeat(start, np.diff([*start, len(order)]))
    there = matches - taken
    left = np.divide(matches * (1 - believed) - taken, there, out=1 - believed, where=there > 0)
    clipped: Floats = np.clip(left, 0.0, 1.0)
    return clipped
