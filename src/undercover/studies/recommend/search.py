"""The search: candidates of every method on a sample of people, the best of them on the whole table.

A method names its candidates itself (:attr:`~undercover.model.about.About.candidates`). Each is published, judged by
the policy as any release is, and measured by the purpose. A sample shows more cheaply which of them expose people and
which keep more: classes on it are as large and no purer than on the whole table, so that what fails there hardly ever
passes here. The reverse is not so, and a candidate counts as confirmed only when a release of the whole table has been
judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np

from undercover import plugins
from undercover.errors import InternalError, UndercoverError
from undercover.io.source import Input, ReadOptions
from undercover.model.about import Wanted, about_of
from undercover.model.policy import Policy
from undercover.model.protocols import Method, Progress, no_progress
from undercover.model.release import Basis, Choice
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.model.verdict import Verdict
from undercover.parameters import make
from undercover.randomness import Randomness
from undercover.studies.recommend.purpose import LITTLE, Loss, Purpose, nothing_kept
from undercover.verbs.joint import with_published
from undercover.verbs.publish import publish, publish_table

BASIS: Final[Basis] = "looked"  # of a choice by what releases of the table reach and keep
SAMPLE = 3000  # rows
CONFIRMED = 3  # releases that are enough to choose from
NEAREST = 3  # candidates that fail on the sample and are tried on the whole table all the same
SAMPLING = 0.4  # share of the time that goes into the sample
HURRIED = 0.8  # the same of somebody who does not wait for a release of the whole table

Rank = tuple[float, bool, int, float]


@dataclass(frozen=True)
class Candidate:
    """A method with parameters."""

    method: str
    parameters: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What it is called.

        >>> Candidate("anatomy", {"l": 4}).title
        'Anatomy, l=4'
        """
        return ", ".join([self.called, *(f"{name}={value}" for name, value in self.parameters.items())])

    @property
    def called(self) -> str:
        """The title of its method."""
        return about_of(self.method).title

    def made(self, schema: Schema) -> Method:
        """The method."""
        return with_published(make("methods", self.method, self.parameters), schema)


def share_over(verdict: Verdict, rows: int) -> float:
    """The share of people to whom something happens that the policy forbids; 1 where that is no matter of people."""
    stops = verdict.weighing("stop")
    return max((1.0 if stop.people is None else max(1, stop.people) / max(rows, 1) for stop in stops), default=0.0)


def ranked(over: float, kept: float, asks: int, loss: float | None) -> Rank:
    """What is better is smaller: people over a limit, whether it is useless, what is left to decide, and loss.

    What nobody knows of the table, whatever is made of it, is asked of every release alike.
    """
    return over, kept < LITTLE, asks, np.inf if loss is None else loss


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate that was tried: its run with its verdict and loss, or why there is none."""

    candidate: Candidate
    rows: int  # of the table or sample it was tried on
    seconds: float
    whole: bool = False
    run: Run | None = field(default=None, repr=False)
    loss: float | None = None
    kept: float = 0.0  # of all there is to lose
    refused: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """What was judged; ``None`` of one that was refused."""
        return None if self.run is None else self.run.verdict

    @property
    def over(self) -> float:
        """The share of people over a limit."""
        return 1.0 if self.verdict is None else share_over(self.verdict, self.rows)

    @property
    def satisfies(self) -> bool:
        """Whether no limit of the policy is exceeded."""
        return self.verdict is not None and not self.verdict.withheld and self.loss is not None

    @property
    def rank(self) -> Rank:
        """Its place beside others."""
        asks = 0 if self.verdict is None else len(self.verdict.weighing("ask"))
        return ranked(self.over, self.kept, asks, self.loss)


def candidates_of(wanted: Wanted, methods: Sequence[str] | str | None = None) -> list[Candidate]:
    """What the methods propose, the first of each, then the second of each, and so on."""
    asked = plugins.chosen("methods", methods)
    names = [name for name in plugins.names("methods") if name in asked]
    proposed = [[Candidate(name, dict(said)) for said in about_of(name).candidates(wanted)] for name in names]
    longest = max(map(len, proposed), default=0)
    return [found[place] for place in range(longest) for found in proposed if place < len(found)]


def sample_of(table: Table, most: int = SAMPLE) -> Table:
    """A random part of the people with all their rows; the table where it is small."""
    if table.n_rows <= most:
        return table
    units = np.arange(table.n_rows) if table.units is None else table.units
    words = Randomness(0).words("people to try", int(units.max()) + 1)
    people = np.argsort(words, kind="stable")
    rows = np.cumsum(np.bincount(units)[people])
    chosen = np.zeros(len(people), dtype=bool)
    chosen[people[: max(1, int(np.searchsorted(rows, most, side="right")))]] = True
    small = table.take(np.flatnonzero(chosen[units]))
    if small.units is None:
        return small
    return replace(small, units=np.unique(small.units, return_inverse=True)[1].reshape(-1).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Measured:
    """How releases of one table are measured, and what there is to lose."""

    loss: Loss
    nothing: float

    @classmethod
    def on(cls, table: Table, purpose: Purpose) -> _Measured:
        loss = purpose.on(table)
        return cls(loss, loss(nothing_kept(table)))


@dataclass(frozen=True, eq=False)
class Search:
    """A table, what may happen to its people, what a release of it is for, and how long there is."""

    given: Input
    schema: Schema
    table: Table
    policy: Policy
    purpose: Purpose
    options: ReadOptions | None = None
    seconds: float = 120.0
    progress: Progress = no_progress
    patient: bool = True  # whether one release of the whole table is made however long it takes
    basis: Basis = BASIS  # of a release by what is found
    started: float = field(default_factory=time.perf_counter)

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.started

    def on_sample(self, candidates: Sequence[Candidate]) -> Iterator[Trial]:
        """Try one after the other for as long as there is time; somebody patient waits for one that satisfies."""
        small = sample_of(self.table, SAMPLE if self.patient else SAMPLE // 2)
        whole = small is self.table
        measured = _Measured.on(small, self.purpose)
        enough = False
        limit = self.seconds * (1.0 if whole else SAMPLING if self.patient else HURRIED)
        for place, candidate in enumerate(candidates):
            if enough and self.spent > limit:
                return
            self.progress(f"trying: {candidate.title}, {place + 1} of {len(candidates)}", place / len(candidates))
            published = self._published if whole else self._of(small)
            found = self._tried(candidate, published, measured, whole, small.n_rows)
            enough = enough or (found.satisfies if self.patient else found.run is not None)
            yield found

    def once(self, candidate: Candidate, most: int = SAMPLE) -> Trial:
        """Try one: on the whole table, or on a sample where it has more rows than so many."""
        small = sample_of(self.table, most)
        whole = small is self.table
        published = self._published if whole else self._of(small)
        return self._tried(candidate, published, _Measured.on(small, self.purpose), whole, small.n_rows)

    def confirmed(self, trials: Sequence[Trial]) -> Iterator[Trial]:
        """Publish the best of a sample from the whole table, until enough satisfy the policy or time is up.

        Somebody patient tries at least one, and wants several to choose from. One that would take longer than there is
        left, by what it took of the sample, is left out, unless nothing is confirmed yet and nothing quicker is left.
        Of a method that has been confirmed, what promises more and loses more is of no interest.
        """
        measured = _Measured.on(self.table, self.purpose)
        # The first of a method may have been compiled, so that the quickest tells how long it takes.
        expected: dict[str, float] = {}
        for trial in (trial for trial in trials if trial.run is not None):
            seconds = trial.seconds * self.table.n_rows / max(trial.rows, 1)
            expected[trial.candidate.method] = min(seconds, expected.get(trial.candidate.method, np.inf))
        order = _expected_order([trial for trial in trials if trial.run is not None])
        left = [trial for trial in order if trial.satisfies]
        left += [trial for trial in order if not trial.satisfies][:NEAREST]
        good = tried = 0
        wanted = CONFIRMED if self.patient else 1
        while left and good < wanted and not (tried and self.spent > self.seconds / (2 if good else 1)):
            quick = [trial for trial in left if self.spent + expected[trial.candidate.method] <= self.seconds]
            if (good or not self.patient) and not any(trial.satisfies for trial in quick):
                return
            trial = (quick or left)[0]
            self.progress(f"confirming: {trial.candidate.title}", min(1.0, self.spent / self.seconds))
            found = self._tried(trial.candidate, self._published, measured, True, self.table.n_rows)
            left.remove(trial)
            left = [other for other in left if not (found.satisfies and _dominated(other, trial))]
            tried += 1
            good += found.satisfies
            if found.satisfies:  # next, what would lose less, were it not for what is left to decide
                left.sort(key=lambda other: (not other.satisfies, other.rank[-1]))
            yield found

    def _of(self, small: Table) -> Callable[[Method], Run]:
        def published(method: Method) -> Run:
            run = publish_table(small, method)
            source = {**run.source, "options": asdict(self.options or ReadOptions())}  # for a spec made of it
            return replace(run, policy=self.policy, source=source).chosen(Choice(self.basis))

        return published

    def _published(self, method: Method) -> Run:
        return publish(self.given, self.schema, method, options=self.options, policy=self.policy, choice=self.basis)

    def _tried(
        self, candidate: Candidate, published: Callable[[Method], Run], measured: _Measured, whole: bool, rows: int
    ) -> Trial:
        began = time.perf_counter()
        try:
            run = published(candidate.made(self.schema))
            run.verdict  # noqa: B018  (judged now, and timed)
            far = measured.loss(run.release)
        except (UndercoverError, InternalError) as error:
            if isinstance(error, InternalError) and plugins.origin("methods", candidate.method) == plugins.HOME:
                raise
            return Trial(candidate, rows, time.perf_counter() - began, whole, refused=str(error))
        kept = 1.0 - far / nothing if (nothing := measured.nothing) else 1.0
        return Trial(candidate, rows, time.perf_counter() - began, whole, run, far, kept)


def _expected_order(trials: Sequence[Trial]) -> list[Trial]:
    """The trials by their rank, where what is stronger and loses less on a sample counts for what is weaker, too."""

    def expected(place: int) -> Rank:
        *first, _ = trials[place].rank
        same = (other.rank for other in trials[place:] if alike(trials[place], other))
        return (*trials[place].rank[:3], min(loss for *others, loss in same if others == first))

    return [trials[place] for place in sorted(range(len(trials)), key=expected)]


def alike(one: Trial, other: Trial) -> bool:
    """Whether two trials are of one method with the same parameters, more or less of each."""
    first, second = one.candidate, other.candidate
    return first.called == second.called and set(first.parameters) == set(second.parameters)


def _dominated(other: Trial, confirmed: Trial) -> bool:
    """Whether a trial is of the same method as one that was confirmed, and promises more, or keeps less."""
    assert confirmed.loss is not None
    same = other.candidate.called == confirmed.candidate.called
    return same and (alike(other, confirmed) or (other.loss or 0.0) >= confirmed.loss)
