"""Looking for some of the people in a whole release, where looking for everybody would take too long.

Three things together say what everybody's figures would: a random sample gives means and shares, with 95% intervals;
the people whose own class gives away most are looked for besides, since the worst off are few and chance would miss
them; and a bound that holds for everybody without looking (:class:`undercover.forms.disclosure.AtMost`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.forms.case import Case
from undercover.forms.disclosure import AtMost, Disclosure
from undercover.forms.reading import Reading
from undercover.model.run import Run
from undercover.model.table import EncodedColumn, Table
from undercover.model.verdict import Exposure, one_struck_out
from undercover.randomness import Randomness

EVERYBODY = 500_000  # rows up to which everybody is looked for
SAMPLE = 50_000  # people looked for where there are more
WORST_OFF = 5_000  # people looked for besides, since their own class gives away most
MOST_PAIRS = 20_000_000_000  # of somebody looked for and a row, where cells cover several values
_WORDS = 1 << 22  # random words at a time

Rows = NDArray[np.int64]


def part_of_sample(reading: Reading, known: Sequence[str]) -> float:
    """Of how many people as usual a sample may be: rows that are one value each are looked up, others compared."""
    if all(reading.main.form(name) == "value" for name in known):
        return 1.0
    return min(1.0, MOST_PAIRS / (SAMPLE * max(reading.main.rows, 1)))


def drawn_people(original: Table, most: int | None, part: float = 1.0) -> Rows | None:
    """Rows of a random sample, the same ones every time so that a figure can be had again; ``None``: everybody.

    ``part`` is that of the usual sample that is enough where nobody says how many.
    """
    if original.units is not None or original.n_rows <= (EVERYBODY if most is None else most):
        return None
    drawn = np.random.default_rng(0).choice(original.n_rows, most or int(part * SAMPLE), replace=False, shuffle=False)
    return np.sort(drawn).astype(np.int64)


def drawn_by_words(purpose: str, n_rows: int, most: int) -> Rows:
    """Everybody, or as many as drew the lowest words: the same ones every time, and of one purpose alone."""
    if most >= n_rows:
        return np.arange(n_rows)
    lowest, places = np.empty(0, np.uint32), np.empty(0, np.int64)
    for first in range(0, n_rows, _WORDS):
        words = Randomness(0).words(purpose, min(_WORDS, n_rows - first), start=first)
        near = np.flatnonzero(words <= lowest[-1]) if len(lowest) == most else np.arange(len(words))
        lowest, places = np.concatenate([lowest, words[near]]), np.concatenate([places, first + near])
        order = np.argsort(lowest, kind="stable")[:most]
        lowest, places = lowest[order], places[order]
    return np.sort(places)


def most_given_away(case: Case, part: float = 1.0) -> Rows:
    """The rows in whose own class the true value has the largest share, then those in the smallest classes."""
    original, run = case.original, case.run
    if run is None or not case.reading.covers:
        return np.empty(0, np.int64)
    classes, names = OwnClasses.of(run), original.schema.sensitive
    small = (1e-6 / classes.sizes).astype(np.float32)  # decides among those he is as sure of
    sure = small[classes.labels]
    for name in names:
        shares = classes.surest(original[name], classes.times(original[name]))
        np.maximum(sure, shares + small[classes.labels], out=sure)
    return classes.highest(sure, int(part * WORST_OFF))


@dataclass(frozen=True, eq=False)
class OwnClasses:
    """The class of everybody who was published (of a release in two tables: the bucket), as the private run has it."""

    labels: NDArray[np.int32]  # (n_published,)
    starts: Rows  # (n_classes + 1,) where each begins, one behind the other
    inside: Rows | None  # (n_published,) the row of the table; None where that is every row in order

    @classmethod
    def of(cls, run: Run) -> OwnClasses:
        """Those of a run that knows its original."""
        assert run.original is not None
        labels = np.asarray(run.groups.labels if run.buckets is None else run.buckets)
        whole = len(labels) == run.original.n_rows
        inside = None if whole else np.searchsorted(run.original.rows, run.rows)  # who is not among them was suppressed
        return cls(labels, np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64), inside)

    @property
    def sizes(self) -> Rows:
        """(n_classes,) rows of each, 1 where there is none."""
        return np.maximum(np.diff(self.starts), 1)

    def laid_out(self, column: EncodedColumn) -> NDArray[Any]:
        """(n_published,) codes of a column, one class behind the other."""
        from undercover.attacks.kernels import laid_out

        codes = column.codes if self.inside is None else column.codes[self.inside]
        found: NDArray[Any] = laid_out(self.labels, self.starts, codes)
        return found

    def times(self, column: EncodedColumn) -> NDArray[np.int32]:
        """(n_published,) how many of the own class have the own value."""
        from undercover.attacks.kernels import taken_back, times_of_own

        times = times_of_own(self.starts, self.laid_out(column), column.domain.size)
        found: NDArray[np.int32] = taken_back(self.labels, self.starts, times)
        return found

    def places(self, rows: Rows | None, n_rows: int) -> tuple[NDArray[np.bool_], Rows]:
        """Which of some rows of the table were published (``None``: all that were), and where these stand here."""
        if rows is None:
            return np.ones(len(self.labels), dtype=bool), np.arange(len(self.labels))
        if self.inside is None:
            return np.ones(len(rows), dtype=bool), rows
        place = np.full(n_rows, -1, dtype=np.int32)
        place[self.inside] = np.arange(len(self.inside))
        found = place[rows]
        return found >= 0, found[found >= 0].astype(np.int64)

    def sizes_of(self, column: EncodedColumn) -> Rows:
        """(n_classes,) rows of each that have a value of a column, 1 where there is none."""
        lacking = self._lacking(column)
        if lacking is None:
            return self.sizes
        gone = np.bincount(self.labels[lacking], minlength=len(self.sizes))
        return np.maximum(np.diff(self.starts) - gone, 1)

    def shares(
        self, column: EncodedColumn, times: NDArray[np.int32], places: Rows, *, struck: bool = False
    ) -> NDArray[np.float64]:
        """The share of the own value among the values of the own class, or once another's value is struck out.

        Of those at some ``places`` among everybody published; ``times`` are those of :meth:`times`. Of somebody whose
        value is missing it is the share of those whose value is.
        """
        labels = self.labels[places]
        many, lacking = self.sizes_of(column)[labels], self._lacking(column)
        if lacking is not None:
            many = np.where(lacking[places], self.sizes[labels], many)
        share = times[places] / many
        return one_struck_out(share, many) if struck else np.asarray(share)

    def surest(self, column: EncodedColumn, times: NDArray[np.int32], *, struck: bool = False) -> NDArray[np.float32]:
        """(n_published,) the same of everybody, by which the worst off are found: nobody by a value that is missing."""
        many = self.sizes_of(column).astype(np.float32)[self.labels]
        if struck:
            found = np.where(times < many, times / np.maximum(many - 1, 1), 1).astype(np.float32)
        else:
            found = np.asarray(times / many, dtype=np.float32)
        lacking = self._lacking(column)
        if lacking is not None:
            found[lacking] = 0.0
        return found

    def _lacking(self, column: EncodedColumn) -> NDArray[np.bool_] | None:
        """(n_published,) whose value of a column is missing; ``None`` where nobody's is."""
        lacking = column.lacking
        return lacking if lacking is None or self.inside is None else lacking[self.inside]

    def highest(self, figures: NDArray[np.float32], most: int) -> Rows:
        """The rows of the table with the highest figures (n_published,), in order."""
        most = min(most, len(figures))
        least = np.partition(figures, len(figures) - most)[len(figures) - most] if most else np.inf
        near = np.flatnonzero(figures >= least)
        found = np.sort(near[np.argsort(-figures[near], kind="stable")[:most]])
        return found if self.inside is None else self.inside[found]


@dataclass(frozen=True)
class Sampled:
    """Whom a sample stands for, what was reached on the worst off, and what on nobody is reached more than."""

    of: int
    rows: Rows  # input rows of the people whose own class gives away most
    worst: Disclosure
    at_most: AtMost

    def to_dict(self) -> dict[str, Any]:
        """How many people the sample stands for, and how many were looked for besides."""
        return {"of": self.of, "worst_off": len(self.rows)}

    def note(self, found: Mapping[str, Any]) -> None:
        """Write into the figures of a sample what the worst off and the bound add to them."""
        entries = {"identity": (found["identity"], self.worst.identity, self.at_most.found)}
        for name, entry in found["attribute"].items():
            worst = self.worst.of_values(name, self.worst.attribute[name])
            entries[name] = entry, worst, self.at_most.belief.get(name)
        for entry, worst, bound in entries.values():
            entry["max"] = max(entry["max"], float(worst.max(initial=0.0)))
            if bound is not None:
                entry["at_most"] = bound

    def with_worst(self, rows: Rows, found: Disclosure) -> tuple[Rows, Disclosure]:
        """Everybody who was looked for, each once."""
        both, first = np.unique(np.concatenate([rows, self.rows]), return_index=True)

        def joined(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([one, other])[first]

        names = found.attribute
        return both, Disclosure(
            joined(found.matches, self.worst.matches),
            {name: joined(found.attribute[name], self.worst.attribute[name]) for name in names},
            {name: joined(found.hits[name], self.worst.hits[name]) for name in names},
            joined(found.identity, self.worst.identity),
            {name: joined(found.lacking[name], self.worst.lacking[name]) for name in found.lacking},
        )

    def exposures(self, attack: str, rows: Rows, found: Disclosure) -> tuple[Exposure, ...]:
        """What was reached on the sample, which stands for everybody, and on the worst off, who stand for nobody else.

        Who was drawn and is among the worst off is counted with the sample.
        """
        return (
            Exposure(
                attack,
                rows,
                found.identity,
                found.attribute,
                of=self.of,
                found_at_most=self.at_most.found,
                belief_at_most=self.at_most.belief,
            ),
            Exposure(attack, self.rows, self.worst.identity, self.worst.attribute),
        )
