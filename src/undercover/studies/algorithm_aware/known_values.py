"""Larger tables: what the values of some people tell of people in other groups, learnt by running the method.

Every participant knows his own value. Where that of one person says more about somebody in another group than this
group says alone, the method is not corruption-robust (:mod:`undercover.studies.algorithm_aware.attack` goes through
everything on a few people). Here the adversary learns by himself, for he has the method: he runs it on tables of the
same people and values, looks at pairs of groups and notes, by how their people interleave in some order of the
quasi-identifiers and where the two stand whom he asks about, how often one has a value given the other's. Then he is
handed fresh releases and the values of a few people drawn at random, and follows what he is sure of from group to
group: one value fixes a second, that one a third.

The groups of a release are paired off, so that, if known values tell nothing, what is noted is independent given the
groups, each with the share of the value in its group as probability: Chernoff's bound, put together over all notes,
finds what tells something. Where it does, groups of one release hang together; so intervals, and what is found without
any known value, rest on the average of a note in each release, for releases are independent in any case.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, UnreachableError
from undercover.forms import read
from undercover.forms.case import Case
from undercover.model.protocols import Effort, Method, Progress, corruption_robust, no_progress
from undercover.model.run import Run
from undercover.model.table import Table
from undercover.parameters import AtLeast, Within, check
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.attack import MOST_TRIALS, with_values
from undercover.studies.algorithm_aware.evidence import chernoff, relative_entropy
from undercover.studies.algorithm_aware.following import Followed, Note, Orders, Released, follow
from undercover.studies.algorithm_aware.known_result import KnownValuesResult, Told
from undercover.verbs.publish import publish_table

MOST_PEOPLE = 1_000
SURE = 0.9  # what a note must certainly exceed to be followed
STRIDES = 6  # groups are paired with those 1, 2, 4, ... further on
NO_GROUPS = (
    "The attack by known values looks at groups with their values. Here people of a group lie in several buckets, or "
    "values were perturbed."
)


@dataclass(frozen=True, kw_only=True)
class KnownValues:
    """What values of some people tell of others, on a table of up to 1,000 people; sampled.

    Parameters
    ----------
    known
        Of how many people, drawn at random, the attacker knows the values.
    trials
        Runs of the method from which he learns, on tables of the same values drawn at random.
    sets
        Fresh releases of the table on which he is tried, each with other people whose values he knows.
    confidence
        That no leak is found where there is none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover import Schema, Streamliner, Table
    >>> data = pa.table({"x": range(40), "s": ["a", "b", "b", "a"] * 10})
    >>> table = Table.from_arrow(data, Schema(quasi_identifiers=["x"], sensitive="s"))
    >>> for algorithm in ("guided", "wrap"):
    ...     found = KnownValues(trials=100, sets=5).on(table, Streamliner(l=2, algorithm=algorithm))
    ...     print(algorithm, found.safe, found.robust)
    guided True False
    wrap True True
    """

    name: ClassVar[str] = "known-values"
    effort: ClassVar[Effort] = "asked"
    slow: ClassVar[bool] = False

    known: Annotated[int, AtLeast(1)] = 1
    trials: Annotated[int, Within(1, MOST_TRIALS)] = 200
    sets: Annotated[int, Within(1, MOST_TRIALS)] = 20
    confidence: Annotated[float, Within(0, 1, "()")] = 0.999

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Case) -> str | None:
        """There is a method to look at, one sensitive column, and not too many people."""
        if case.made_by is None:
            return "Nobody says which method made this release. Attack the run."
        _ = case.method  # one that is not installed is refused before anything else
        if case.reading.channel is not None or (case.run is not None and _crossed(case.run)):
            return NO_GROUPS
        return self._refused(case.original)

    def run(self, case: Case, *, progress: Progress = no_progress) -> KnownValuesResult:
        """Attack the method of a run, the very object that made it, on the people and values of its table."""
        return self.on(case.original, case.method, progress=progress)

    def on(
        self, table: Table, method: Method, *, randomness: Randomness | None = None, progress: Progress = no_progress
    ) -> KnownValuesResult:
        """Attack ``method`` on the people and values of ``table``; ``randomness`` is the operating system's else."""
        refused = self._refused(table)
        if refused is not None:
            raise ParameterError(refused)
        drawn = randomness or Randomness()
        rng = np.random.default_rng(drawn.words("whom to look at", 4))
        seeds = drawn.words("seeds", self.trials + self.sets).tolist()
        sensitive = table.schema.sensitive[0]
        orders = _orders(table)
        seen: dict[Note, _Tally] = defaultdict(_Tally)
        published = 0
        for trial, seed in enumerate(seeds[: self.trials]):
            progress("attacking: running the method", trial / len(seeds))
            dealt = with_values(table, rng.permutation(table[sensitive].codes))
            released = _released(dealt, method, seed, orders)
            if released is not None:
                published += 1
                here: dict[Note, Counter[bool]] = defaultdict(Counter)
                for note, hit in _paired(released, rng):
                    here[note][hit] += 1
                for note, hits in here.items():
                    seen[note].add(hits)
        if not published:
            raise UnreachableError("The method publishes nothing of any table that was tried, so it tells nothing.")
        doubt = math.log(2 * max(len(seen), 1) / (1 - self.confidence))
        rules = {note: sure for note, tally in seen.items() if (sure := tally.surely(doubt)) is not None}
        tried: list[Followed] = []
        for done, seed in enumerate(seeds[self.trials :], self.trials):
            progress("attacking: following what is known", done / len(seeds))
            released = _released(table, method, seed, orders)
            if released is not None:
                whom = rng.choice(table.n_rows, min(self.known, table.n_rows), replace=False)
                tried.append(follow(released, rules, whom.tolist()))
        knowing = {note: tally.divergence(note) for note, tally in seen.items() if note.him is not None}
        unasked = {note: tally.divergence_of_releases(note) for note, tally in seen.items() if note.him is None}
        return KnownValuesResult(
            people=table.n_rows,
            known=self.known,
            draws=published,
            notes=len(seen),
            noted=sum(tally.total for note, tally in seen.items() if note.him == -1),
            sets=tuple(tried),
            unasked=_most(seen, unasked, doubt),
            leak=_most(seen, knowing, doubt),
            declared_safe=method.algorithm_safe,
            declared_robust=corruption_robust(method),
        )

    def _refused(self, table: Table) -> str | None:
        if len(table.schema.sensitive) != 1:
            return "The attack by known values needs exactly one sensitive column."
        if table.n_rows > MOST_PEOPLE:
            return (
                f"The attack by known values runs the method over and over, on at most {MOST_PEOPLE:,} people. "
                f"Got {table.n_rows:,}. Give it some rows that stand for the others."
            )
        return None


def _orders(table: Table) -> Orders:
    """The rank of everybody by each quasi-identifier, and by the sum of all; ties by row."""
    codes = {name: table[name].codes.astype(np.int64) for name in table.schema.quasi_identifiers}
    if len(codes) > 1:
        codes["all of them"] = np.sum(list(codes.values()), axis=0)
    return {name: np.argsort(np.argsort(held, kind="stable"), kind="stable").tolist() for name, held in codes.items()}


def _released(table: Table, method: Method, seed: int, orders: Orders) -> Released | None:
    """What the method makes of a table; nothing where it refuses."""
    try:
        words = Randomness(seed)
        run = publish_table(table, method, engine=LocalEngine(threads=1), randomness=words, self_tested=False)
    except UnreachableError:
        return None
    if _crossed(run) or read(run.release).channel is not None:
        raise ParameterError(NO_GROUPS)
    kept = np.searchsorted(table.rows, run.rows)
    members = [kept[run.groups.rows_of(group)].tolist() for group in range(run.groups.count)]
    return Released(members, table[table.schema.sensitive[0]].codes.tolist(), orders)


def _crossed(run: Run) -> bool:
    return run.buckets is not None and not np.array_equal(run.buckets, run.groups.labels)


def _paired(released: Released, rng: np.random.Generator) -> Iterator[tuple[Note, bool]]:
    """Groups paired off, near ones and far ones, one person of each: whether the second has the value of the first.

    Where nobody of the second group has it, whether he has some value of his own group.
    """
    name = list(released.members)[int(rng.integers(len(released.members)))]
    order, ranks = released.members[name], released.orders[name]
    lowest = sorted(range(len(order)), key=lambda group: ranks[order[group][0]])
    stride = 1 << int(rng.integers(STRIDES))
    chance = rng.random((len(lowest), 4)).tolist()
    for place in range(len(lowest) - stride):
        if place % (2 * stride) >= stride:
            continue
        turn, *picks, other = chance[place]
        pair = (lowest[place], lowest[place + stride])
        known, asked = pair if turn < 0.5 else pair[::-1]
        him, whom = (
            order[group][int(pick * len(order[group]))] for group, pick in zip((known, asked), picks, strict=True)
        )
        value, possible = released.codes[him], sorted(released.values[asked])
        if value not in possible:
            value = possible[int(other * len(possible))]
        for name in released.members:
            notes = released.notes(name, known, asked, whom, value, him, released.codes[him])
            for note in (*notes, *released.unasked(notes[0], value)):
                yield note, released.codes[whom] == value


@dataclass
class _Tally:
    """How often what was asked beside a note was so."""

    hits: int = 0
    total: int = 0
    draws: int = 0  # releases in which it was asked
    shares: Fraction = Fraction(0)  # of hits in each, added up

    def add(self, hits: Counter[bool]) -> None:
        """Of one release."""
        self.hits += hits[True]
        self.total += hits.total()
        self.draws += 1
        self.shares += Fraction(hits[True], hits.total())

    def surely(self, doubt: float) -> bool | None:
        """Whether what is asked is certainly so, or certainly not so; ``None`` where it is open."""
        low, high = chernoff(Fraction(self.hits, self.total), self.total, doubt)
        return True if low >= SURE else False if high <= 1 - SURE else None

    def divergence(self, note: Note) -> float:
        """How far it is from what the release says alone, where notes of one release are independent."""
        return self.total * relative_entropy(self.hits / self.total, note.share)

    def divergence_of_releases(self, note: Note) -> float:
        """The same where they may hang together."""
        return self.draws * relative_entropy(float(self.shares / self.draws), note.share)

    def told(self, note: Note, doubt: float) -> Told:
        """What it says to the attacker."""
        share = self.shares / self.draws
        return Told(float(share), note.share, chernoff(share, self.draws, doubt), self.draws, note.him is not None)


def _most(seen: Mapping[Note, _Tally], far: Mapping[Note, float], doubt: float) -> Told | None:
    """The note that certainly differs from what the release says alone, and most; ``None`` where none does."""
    note = max(far, key=far.__getitem__, default=None)
    return None if note is None or far[note] <= doubt else seen[note].told(note, doubt)
