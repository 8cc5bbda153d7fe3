"""What several releases of the same people say together of each of them, worked out by whoever holds the original.

Other people's tables can be joined only where their cells are nested (:mod:`undercover.attacks.joint.attack`). Of his
own releases a holder knows who fits which cells, so cells may overlap, cross, or come from different columns. The
attacker has every release, knows that a person is in all of them, and knows the quasi-identifiers of everybody.

What a release j says of person i is the multiset of sensitive values in the rows whose cells cover i: a share q_j(v) of
every value v. Under Assumption 1 of Cheong, Wu & Wong 2012 (given the sensitive value, releases tell nothing of each
other), with the overall shares π, Bayes' rule gives

    P(v | i)  proportional to  π(v) · Π_j  q_j(v) / π(v)

Sure, whatever is assumed: v is impossible where a release has no row that fits i and shows v, and where rows that are
accounted for elsewhere leave none (:mod:`undercover.attacks.joint.subtraction`). Both take it that everybody is in
every release. A value that went through a public channel is weighed by the channel and rules nothing out. Drawn
quasi-identifiers do not say who fits; such a release is left out, and the result says so.

Beside it stands k of all together: how few people fit the same rows (:mod:`undercover.attacks.joint.anonymity`).

A belief is no upper bound: whoever assumes something else can believe more. What is ruled out is impossible. What
follows without the assumption stands beside it as bounds (:class:`~undercover.model.beliefs.JointBeliefs`), on which
guarantees decide whether they hold for people who are in all of these releases: people whom no release tells apart
form a cell, and how many of a cell have a value lies between what counting out leaves at least and at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.joint.anonymity import people_alike
from undercover.attacks.joint.evidence import Evidence, evidence_of
from undercover.attacks.joint.subtraction import ValueBounds, value_bounds
from undercover.errors import ParameterError, unknown
from undercover.forms import read
from undercover.forms.disclosure import distinct_rows
from undercover.model.beliefs import BeliefBlock, JointBeliefs
from undercover.model.groups import number
from undercover.model.release import Release
from undercover.model.table import EncodedColumn, Table
from undercover.model.verdict import Exposure as Judged
from undercover.model.view import Part, View, Viewable, certainty, listed, say, table
from undercover.waiting import Progress, no_progress, through

STORY = (
    "The attacker has every one of these releases, knows the quasi-identifiers of everybody, and knows that a person "
    "is in all of them. In each he keeps the values of the rows that fit the person, strikes out what must belong to "
    "others, and weighs what is left as if the releases had nothing but the value in common."
)
JOINT = "together with earlier releases"
_BLOCK = 1 << 20  # numbers held at a time
_CERTAIN = 1.0 - 1e-9
_WORST = 20

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Exposure:
    """What is believed of every person, in the order of the original's rows."""

    truth: Floats  # (n_rows,) probability given to the true value
    highest: Floats  # (n_rows,) probability given to the likeliest value, true or not
    left: Whole  # (n_rows,) values that are possible; 0 where the releases contradict each other

    @property
    def certain(self) -> int:
        """People of whose value the attacker is certain, rightly."""
        return int((self.truth >= _CERTAIN).sum())

    def to_dict(self) -> dict[str, Any]:
        """Figures over everybody; nobody is named."""
        return {
            "l": int(self.left.min()),
            "certain": self.certain,
            "highest": float(self.highest.max()),
            "truth_max": float(self.truth.max()),
            "truth_mean": float(self.truth.mean()),
        }


@dataclass(frozen=True)
class OverlapPart:
    """One of the releases: what it says alone, or why it was left out."""

    name: str
    known: tuple[str, ...]  # what is known of people and published in it
    alone: Exposure | None
    why_not: str = ""
    subtracted: bool = False  # whether its classes were subtracted from those of others
    alike: Whole | None = field(default=None, repr=False)  # (n_rows,) people who fit the same rows, at worst


@dataclass(frozen=True)
class OverlapResult(Viewable):
    """What releases of the same people say together, for every person. Private: it is about the original."""

    sensitive: str
    parts: tuple[OverlapPart, ...]
    together: Exposure
    joined: Whole  # (n_rows,) values that are possible before classes are subtracted
    baseline: float  # guessing the most frequent value
    rows: Whole = field(repr=False)  # (n_rows,) input row of each person
    alike: Whole | None = field(default=None, repr=False)  # (n_rows,) people who fit the same rows of all, at worst
    beliefs: JointBeliefs | None = field(default=None, repr=False, compare=False)  # what guarantees decide on
    story: str = field(default=STORY, repr=False)

    @property
    def used(self) -> tuple[str, ...]:
        """The releases that said something."""
        return tuple(part.name for part in self.parts if part.alone is not None)

    @property
    def newly_certain(self) -> NDArray[np.bool_]:
        """(n_rows,) whether the attacker is certain of the true value, and was not by any release alone."""
        alone = [part.alone.truth >= _CERTAIN for part in self.parts if part.alone is not None]
        before = np.logical_or.reduce(alone) if alone else np.zeros(len(self.rows), dtype=bool)
        return np.asarray((self.together.truth >= _CERTAIN) & ~before)

    def exposures(self) -> tuple[Judged, ...]:
        """What is believed of everybody's true value by having all releases."""
        belief = {self.sensitive: self.together.truth}
        return (Judged("overlap", self.rows, belief=belief, joint=JOINT),) if self.used else ()

    def worst_rows(self, limit: int = _WORST) -> list[dict[str, Any]]:
        """The people most is learned of; for the holder's eyes only."""
        order = np.lexsort((self.rows, self.together.left, -self.together.truth))[:limit]
        return [
            {
                "row": int(self.rows[i]),
                "truth": float(self.together.truth[i]),
                "left": int(self.together.left[i]),
                "alone": [None if part.alone is None else float(part.alone.truth[i]) for part in self.parts],
            }
            for i in order
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values; ``worst_rows`` makes it private."""
        return {
            "attack": "overlap",
            "story": self.story,
            "sensitive": self.sensitive,
            "people": len(self.rows),
            "releases": [
                {
                    "name": part.name,
                    "known": list(part.known),
                    "left_out": part.why_not or None,
                    "subtracted": part.subtracted,
                    "alone": None if part.alone is None else {**part.alone.to_dict(), "k": _least(part.alike)},
                }
                for part in self.parts
            ],
            "together": {**self.together.to_dict(), "k": _least(self.alike)},
            "newly_certain": int(self.newly_certain.sum()),
            "by_subtraction": int((self.together.left < self.joined).sum()),
            "contradicted": int((self.together.left == 0).sum()),
            "baseline": self.baseline,
            "worst_rows": self.worst_rows(),
        }

    def view(self) -> View:
        """Each release alone, all together, and guessing."""
        found = self.to_dict()
        rows: list[Any] = []
        for entry in found["releases"]:
            alone = entry["alone"] or {}
            said = (alone.get(key) for key in ("k", "l", "highest", "truth_max", "certain"))
            rows.append((f"`{entry['name']}`", listed(entry["known"]) if alone else "left out", *said))
        both = found["together"]
        rows.append(("together", None, both["k"], both["l"], both["highest"], both["truth_max"], both["certain"]))
        columns = (
            "release",
            "known",
            "people alike",
            f"values of `{self.sensitive}` left",
            "surest",
            "of the true value",
            "certain of",
        )
        parts: list[Part] = [
            table(columns, "plain plain count count risk risk count", rows),
            say("Guessing the most frequent value is right for {baseline}.", found["baseline"]),
            say("{count} people become certain only by having several releases.", found["newly_certain"]),
        ]
        if found["by_subtraction"]:
            text = "Of {count} people values are ruled out by subtracting classes from each other."
            parts.append(say(text, found["by_subtraction"]))
        if len(self.used) > 1 and not any(part.subtracted for part in self.parts):
            parts.append(
                "No classes were subtracted from each other: that takes two releases whose rows these people account "
                "for, and not too many cells."
            )
        if found["contradicted"]:
            text = "Of {count} people the releases contradict each other: they are not in all of them."
            parts.append(say(text, found["contradicted"]))
        parts += [f"Left out, `{part.name}`: {part.why_not}" for part in self.parts if part.why_not]
        verdict = certainty(both["truth_max"])
        following = "`.together.truth` has every person, `.worst_rows()` the riskiest."
        return View("overlap", "Releases together", tuple(parts), *verdict, self.story, following, private=True)

    def __repr__(self) -> str:
        return (
            f"<Overlap of {len(self.used)} releases on {len(self.rows):,} people, private: certain of "
            f"{self.together.certain:,}, {int(self.together.left.min())} values left at least; .together has everybody>"
        )


def overlap(
    releases: Sequence[Release],
    original: Table,
    *,
    sensitive: str | None = None,
    known: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    overall: Whole | None = None,
    threads: int = 1,
    progress: Progress = no_progress,
) -> OverlapResult:
    """What releases of the same people say together of each of them.

    Parameters
    ----------
    releases
        At least one, of whatever form; their cells may overlap and cross.
    original
        The table with the people: every column that is known of them and published in one of the releases.
    sensitive
        The column that is attacked; needed only where the original has several.
    known
        The columns that are known; by default every quasi-identifier and insensitive column.
    names
        What the releases are called; by default by number.
    overall
        (n_values,) rows of each sensitive value in the whole table, where ``original`` holds some of its people only.
    threads, progress
        That may be used, and whom to tell.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000)
    >>> runs = [
    ...     uc.publish(people, uc.Schema(quasi_identifiers=names, sensitive="income"), uc.Mondrian(k=10))
    ...     for names in (["age"], ["age", "sex"])
    ... ]
    >>> found = overlap([run.release for run in runs], runs[1].original)
    >>> found.used, bool((found.together.left <= found.parts[0].alone.left).all())
    (('release 1', 'release 2'), True)
    """
    column = _column(original, sensitive)
    if not releases:
        raise ParameterError("There is no release to look at. Give at least one.")
    called = tuple(names) if names is not None else tuple(f"release {place}" for place, _ in enumerate(releases, 1))
    possible = original.schema.quasi_identifiers + original.schema.insensitive
    asked = possible if known is None else tuple(known)
    problems = [unknown("Known column", name, possible) for name in asked if name not in possible]
    if problems or not asked or len(called) != len(releases):
        raise ParameterError(problems or "Every release needs a name, and at least one column must be known.")
    target_of, targets = distinct_rows(np.stack([original[name].codes for name in asked], axis=1).astype(np.int64))
    people = np.bincount(target_of, minlength=len(targets))
    each = through(progress, "reading what releases say", tuple(zip(releases, called, strict=True)), lambda one: one[1])
    said = [evidence_of(release, original, column, asked, targets, threads) for release, _ in each]
    accounts = [None if evidence is None else evidence.accounts(people) for evidence, _, _ in said]
    usable = [account for account in accounts if account is not None]
    told_all = all(
        entry is not None or column.name not in read(release).values_table.names("sensitive")
        for release, (entry, _, _) in zip(releases, said, strict=True)
    )
    bounds = value_bounds(usable, people)
    sure = (bounds.cell_of, bounds.possible) if bounds is not None and len(usable) > 1 else None
    beliefs = _Beliefs(column, target_of, len(targets), overall)
    evidence = [entry for entry, _, _ in said if entry is not None]
    *alone, joined, together = beliefs.work_out(evidence, sure, progress)
    by_one = iter(alone)

    def alike(*entries: Evidence) -> Whole | None:
        found = people_alike([entry.fits for entry in entries], people)
        return None if found is None else found[target_of]

    parts = tuple(
        OverlapPart(name, cols, next(by_one), why, sure is not None and account is not None, alike(entry))
        if entry is not None
        else OverlapPart(name, cols, None, why)
        for name, (entry, cols, why), account in zip(called, said, accounts, strict=True)
    )
    guess = float(beliefs.prior.max())
    fitting = alike(*evidence)
    told = JointBeliefs(
        column.name, column.domain.labels, beliefs.overall, beliefs.blocks(evidence, bounds, people, told_all), fitting
    )
    return OverlapResult(column.name, parts, together, joined.left, guess, original.rows, fitting, told)


def _least(alike: Whole | None) -> int | None:
    return None if alike is None else int(alike.min())


def _column(original: Table, sensitive: str | None) -> EncodedColumn:
    there = original.schema.sensitive
    if sensitive is None and len(there) != 1:
        raise ParameterError(f"Say which sensitive column is attacked. There are: {listed(there) or 'none'}.")
    name = there[0] if sensitive is None else sensitive
    if name not in there:
        raise ParameterError(unknown("Sensitive column", name, there))
    return original[name]


class _Beliefs:
    """Beliefs about every person, worked out for a part of the distinct people at a time."""

    def __init__(self, column: EncodedColumn, target_of: Whole, n_targets: int, overall: Whole | None) -> None:
        self.codes = column.codes.astype(np.int64)
        self.overall = np.bincount(self.codes, minlength=column.domain.size) if overall is None else overall
        self.prior: Floats = self.overall / max(int(self.overall.sum()), 1)
        self.target_of, self.n_targets = target_of, n_targets
        self.order = np.argsort(target_of, kind="stable")
        self.ends = np.concatenate([[0], np.cumsum(np.bincount(target_of, minlength=n_targets))])

    def work_out(
        self, evidence: Sequence[Evidence], sure: tuple[Whole, NDArray[np.bool_]] | None, progress: Progress
    ) -> list[Exposure]:
        """By each release alone, by all, and by all less what is ruled out by subtracting classes."""
        n = len(self.codes)
        found = [Exposure(np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64)) for _ in range(len(evidence) + 2)]
        for first, last in self._stretches(evidence):
            progress("attacking everybody", first / self.n_targets)
            weight = np.broadcast_to(self.prior, (last - first, len(self.prior))).copy()
            for entry, alone in zip(evidence, found, strict=False):
                shares = entry.shares(first, last)
                shares[~shares.any(axis=1)] = self.prior  # nothing fits: nothing is said
                self._put(alone, shares, first, last)
                weight *= np.divide(shares, self.prior, out=np.zeros_like(shares), where=self.prior > 0)
            self._put(found[-2], weight, first, last)
            if sure is not None:
                weight *= sure[1][sure[0][first:last]]
            self._put(found[-1], weight, first, last)
        return found

    def _stretches(self, evidence: Sequence[Evidence]) -> Iterator[tuple[int, int]]:
        """Where stretches of targets begin and end that can be looked at together."""
        work = max([len(self.prior) * self.n_targets, *(entry.work for entry in evidence)])
        step = max(1, _BLOCK * self.n_targets // work)
        for first in range(0, self.n_targets, step):
            yield first, min(first + step, self.n_targets)

    def blocks(
        self, evidence: Sequence[Evidence], bounds: ValueBounds | None, people: Whole, told_all: bool
    ) -> Callable[[], Iterator[BeliefBlock]]:
        """What can be believed of all targets, with and without the assumption; worked out again when it is asked for.

        Shares of a cell bound the belief in its people only where no release tells these apart, and each is looked at.
        """
        alike = np.zeros(0 if bounds is None else len(bounds.sizes), dtype=bool)
        if bounds is not None and told_all:
            pattern = np.zeros(self.n_targets, dtype=np.int64)
            for entry in evidence:
                own = entry.fits.patterns()
                pattern, _ = number(pattern * (int(own.max(initial=0)) + 1) + own)
            fewest, most = np.full(len(alike), self.n_targets), np.full(len(alike), -1)
            np.minimum.at(fewest, bounds.cell_of, pattern)
            np.maximum.at(most, bounds.cell_of, pattern)
            alike = np.asarray(fewest == most)

        def of_stretch(first: int, last: int) -> BeliefBlock:
            possible = np.ones((last - first, len(self.prior)), dtype=bool)
            weight = np.broadcast_to(self.prior, possible.shape).copy()
            for entry in evidence:
                shares = entry.shares(first, last)
                fits = np.asarray(shares.any(axis=1))
                possible &= (shares > 0) | ~fits[:, None]
                shares[~fits] = self.prior
                weight *= np.divide(shares, self.prior, out=np.zeros_like(shares), where=self.prior > 0)
            least, most = np.zeros(possible.shape), np.ones(possible.shape)
            if bounds is not None:
                cells = bounds.cell_of[first:last]
                possible &= bounds.possible[cells]
                own = alike[cells][:, None]
                low, high = bounds.shares(cells)
                least, most = np.where(own, low, least), np.where(own, high, most)
            weight = np.where(possible, weight, 0.0)
            total = weight.sum(axis=1, keepdims=True)
            assumed = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
            return BeliefBlock(
                people[first:last], np.where(possible, least, 0.0), np.where(possible, most, 0.0), assumed
            )

        return lambda: (of_stretch(first, last) for first, last in self._stretches(evidence))

    def _put(self, into: Exposure, weight: Floats, first: int, last: int) -> None:
        total = weight.sum(axis=1, keepdims=True)
        belief = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        persons = self.order[self.ends[first] : self.ends[last]]
        own = self.target_of[persons] - first
        into.truth[persons] = belief[own, self.codes[persons]]
        into.highest[persons] = belief.max(axis=1)[own]
        into.left[persons] = (belief > 0).sum(axis=1)[own]
