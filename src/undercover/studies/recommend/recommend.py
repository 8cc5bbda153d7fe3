"""Which release to make of a table: the methods and parameters that satisfy a policy, ranked by what it is for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from undercover.errors import ParameterError, SchemaError, UnreachableError
from undercover.io.source import ReadOptions, read
from undercover.model.about import Wanted
from undercover.model.figures import baseline, cost, counted, number
from undercover.model.policy import Policy, policy_of
from undercover.model.protocols import Method, with_basis
from undercover.model.queries import CountQuery
from undercover.model.run import Run
from undercover.model.schema import Schema, check_schema
from undercover.model.table import Table
from undercover.model.verdict import Reason, Verdict
from undercover.model.view import Part, View, Viewable, table
from undercover.model.view import Verdict as Colour
from undercover.parameters import Above, check
from undercover.studies.recommend.purpose import LITTLE, Purpose, purpose_of
from undercover.studies.recommend.search import BASIS, Candidate, Search, Trial, alike, candidates_of
from undercover.verbs.judge import check_policy
from undercover.waiting import Progress, teller, telling
from undercover.wording import option

FRESH = (
    "This was chosen after looking at sensitive values. That alone can reveal something: a release by it is not "
    "algorithm-safe, whatever the method, and says so. Publish a fresh draw, not one of the draws that were looked at."
)


@dataclass(frozen=True, eq=False)
class Recommendation(Viewable):
    """Releases that satisfy a policy, the best first, and what stands in the way of better ones.

    ``runs`` are the releases that were judged, of the whole table where ``confirmed``; ``best`` is the method to make a
    fresh one with.
    """

    policy: Policy
    purpose: Purpose
    people: int
    trials: tuple[Trial, ...]  # those that satisfy the policy, the best first; of the sample where time ran out
    tried: tuple[Trial, ...]
    left_out: tuple[Candidate, ...]  # for want of time
    cannot: tuple[str, ...]  # what no release of this table can reach
    seconds: float

    @property
    def confirmed(self) -> bool:
        """Whether releases of the whole table were judged, and not of a sample only."""
        return self.trials[0].whole

    @property
    def candidate(self) -> Candidate:
        """The recommended method and parameters, as a spec has them."""
        return self.trials[0].candidate

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that satisfy the policy, the best first."""
        return tuple(trial.run for trial in self.trials if trial.run is not None)

    @property
    def best(self) -> Method:
        """The recommended method, which knows that it was chosen by looking at sensitive values."""
        return with_basis(self.candidate.made(self.runs[0].schema), BASIS)

    @property
    def verdict(self) -> Verdict:
        """What was judged of the best."""
        return self.runs[0].verdict

    def why(self) -> str:
        """Why the first is the first, in a sentence."""
        first, rows = self.trials[0], counted(self.trials[0].rows, "row")
        where = f"on all {rows}" if first.whole else f"on a sample of {rows}; time was up before all rows were tried"
        beside = f" of the {len(self.trials)} that satisfy it" if len(self.trials) > 1 else ""
        asks = len(self.verdict.weighing("ask"))
        least = f"the least to decide{beside}, and then the least cost" if asks else f"the least cost{beside}"
        assert first.loss is not None
        little = " That is next to nothing: no useful release satisfies the policy." if first.kept < LITTLE else ""
        return (
            f"{self.candidate.title} is {self.verdict.title} under `{self.policy.name}` {where}, with {least}: it "
            f"keeps {baseline(first.kept)} of what there is to lose "
            f"({self.purpose.measured} {cost(first.loss)}).{little}"
        )

    def next_best(self) -> str:
        """What the next best costs that is not merely stronger, in a sentence; empty where there is none."""
        first = self.trials[0]
        second = next((trial for trial in self.trials[1:] if not alike(first, trial)), None)
        if second is None or second.verdict is None:
            return ""
        fewer = first.kept - second.kept
        change = f"{baseline(abs(fewer))} of the whole {'less' if fewer >= 0 else 'more'}"
        said = f"Next best: {second.candidate.title} ({second.verdict.title}) keeps {baseline(second.kept)}, {change}."
        asked = {reason.text for reason in self.verdict.weighing("ask")}
        new = [reason.text for reason in second.verdict.weighing("ask") if reason.text not in asked]
        return " ".join([said, *new])

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "recommend": self.candidate.title,
            "verdict": self.verdict.title,
            "reasons": [reason.to_dict() for reason in self.verdict.ordered()],
            "confirmed": self.confirmed,
            "method": {"name": self.candidate.method, "parameters": dict(self.candidate.parameters)},
            "why": self.why(),
            "next": self.next_best(),
            "cannot": list(self.cannot),
            "policy": self.policy.to_dict(),
            "purpose": {"name": self.purpose.name, "measured": self.purpose.measured},
            "people": self.people,
            "releases": [entry_of(trial) for trial in self.trials],
            "tried": [entry_of(trial) for trial in self.tried],
            "left_out": [candidate.title for candidate in self.left_out],
            "seconds": self.seconds,
        }

    def view(self) -> View:
        """The recommendation, why, what the next best costs, what cannot be reached, and all that was tried."""
        parts: list[Part] = [part for part in (self.why(), self.next_best(), *self.cannot) if part]
        parts += [f"You decide: {_said(reason)}" for reason in self.verdict.weighing("ask")]
        whole = {id(trial.candidate) for trial in self.tried if trial.whole}
        judged = [trial for trial in self.tried if trial.whole or id(trial.candidate) not in whole]
        judged.sort(key=lambda trial: (not trial.satisfies, not trial.whole, trial.rank))
        rows = [
            (trial.candidate.title, trial.verdict.title, _people_over(trial), *_kept(trial), trial.rows, trial.seconds)
            for trial in judged
            if trial.verdict is not None
        ]
        columns = ("release", "verdict", "people over a limit", "kept", "cost", "rows", "time")
        senses = "plain plain plain baseline cost count seconds"
        parts.append(table(columns, senses, rows, f"What was tried (cost: {self.purpose.measured})"))
        refused = {trial.refused: trial for trial in reversed(self.tried) if trial.refused}
        for why, trial in refused.items():
            sample = "" if trial.whole else f" (on a sample of {counted(trial.rows, 'row')})"
            parts.append(f"cannot run: {trial.candidate.title}{sample}: {why}")
        if self.left_out:
            parts.append(f"Not tried for want of time: {', '.join(one.title for one in self.left_out)}.")
        parts.append(FRESH)
        colour: Colour = "good" if self.verdict.status == "ready" and self.confirmed else "care"
        said = self.verdict.title + ("" if self.confirmed else ", unconfirmed")
        following = "`.best` is the method: publish with it."
        return View(
            "recommendation", f"Recommended: {self.candidate.title}", tuple(parts), colour, said, "", following, True
        )

    def __repr__(self) -> str:
        return (
            f"<Recommended: {self.candidate.title} ({self.verdict.title}{'' if self.confirmed else ', unconfirmed'}); "
            ".best is the method, .view() says why>"
        )


class Unsatisfied(UnreachableError):  # noqa: N818
    """Nothing that was ``tried`` satisfies the policy."""

    def __init__(self, message: str, *, best: Mapping[str, Any], tried: Sequence[Trial]) -> None:
        self.tried = tuple(tried)
        super().__init__(message, best=best)


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The parameters of :func:`recommend` that are checked as those of a method are."""

    time: Annotated[float, Above(0)]

    def __post_init__(self) -> None:
        check(self)


@telling
def recommend(
    data: Any,
    schema: Schema,
    *,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    purpose: str | Purpose = "looking",
    workload: str | os.PathLike[str] | Sequence[CountQuery] | None = None,
    time: float = 120.0,
    patient: bool = True,
    methods: Sequence[str] | str | None = None,
    options: ReadOptions | None = None,
    progress: Progress | bool = False,
) -> Recommendation:
    """Find the release that loses least of those that satisfy a policy.

    Parameters
    ----------
    data, schema
        As in :func:`undercover.publish`.
    policy
        What may happen to people, by name, file, mapping or as a :class:`undercover.Policy`.
    purpose
        What the release is for: ``looking`` (default), ``queries`` or ``learning:COLUMN``.
    workload
        For ``queries``: COUNT queries, or a file of them in TOML.
    time
        Seconds.
    patient
        Whether at least one release is made of the whole table, however long it takes; otherwise what there was no time
        to confirm is recommended as unconfirmed.
    methods
        Only these, by their names.
    options
        How to read a file.
    progress
        ``True`` shows how far it is on stderr; or a function, called with a stage and the share of it that is done.

    Raises
    ------
    UnreachableError
        (:class:`Unsatisfied`) If nothing that was tried satisfies the policy; it names the nearest.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", drop="*")
    >>> found = uc.recommend(uc.datasets.census(1000, seed=1), schema, methods=["cross-bucket"])
    >>> found.candidate.title, found.verdict.title
    ('Cross-bucket generalization, k=5, l=2', 'Decide')
    """
    _Asked(time=time)
    check_schema(schema)
    limits = policy_of(policy)
    if not limits.judges:
        raise ParameterError("The policy `none` judges nothing, so every release satisfies it. Name another policy.")
    if limits.algorithm_safe == "required":
        raise UnreachableError(
            f"No recommendation satisfies `{limits.name}`: it requires that nobody learns from how a release was made "
            f"(`algorithm_safe`). {FRESH.split(':')[0]}. Name a method yourself before you look at the table, or judge "
            'by a policy with algorithm_safe = "preferred".',
            best={"algorithm_safe": False},
        )
    tell = teller(progress)
    tell("reading", 0.0)
    given = read(data, options=options)
    tell("encoding", 0.0)
    whole = Table.from_arrow(given.data, schema)
    check_policy(limits, whole, asked=True)
    wanted = Wanted.of(whole, limits)
    asked = purpose_of(purpose, schema, workload)
    search = Search(given, schema, whole, limits, asked, options, time, tell, patient)
    candidates = candidates_of(wanted, methods)
    tried = list(search.on_sample(candidates))
    if not any(trial.whole for trial in tried):
        tried += search.confirmed(tried)
    found = sorted((trial for trial in tried if trial.whole and trial.satisfies), key=lambda trial: trial.rank)
    judged = {id(trial.candidate) for trial in tried if trial.whole and trial.run is not None}
    open_ones = [trial for trial in tried if not trial.whole and trial.satisfies and id(trial.candidate) not in judged]
    found = found or sorted(open_ones, key=lambda trial: trial.rank)
    left_out = tuple(candidates[len({id(trial.candidate) for trial in tried}) :])
    if not found:
        raise _unreachable(tried, wanted, limits, len(left_out))
    return Recommendation(
        limits, search.purpose, wanted.people, tuple(found), tuple(tried), left_out, cannot(wanted), search.spent
    )


def cannot(wanted: Wanted) -> tuple[str, ...]:
    """What no release can reach of this table as long as sensitive values stay true, and why.

    >>> from fractions import Fraction
    >>> cannot(Wanted(policy_of("standard"), 2000, 1, {"class": (Fraction(37, 40), Fraction(3, 40))}))[0].split(":")[0]
    '92.5% of the rows have the same `class`'
    """
    told = []
    for name, shares in wanted.shares.items():
        if wanted.ls and shares[0] * wanted.ls[0] <= 1:
            continue
        common, largest = float(shares[0]), int(1 / shares[0])
        said = (
            f"{baseline(common)} of the rows have the same `{name}`: as long as values stay true, no release can leave "
            f"less belief than that in it, and l is at most {largest}."
        )
        named = name in wanted.policy.harmful
        if wanted.policy.belief is not None and common + float(wanted.policy.gain) > 1 and not named:
            said += " Everybody knows that without the release, so the policy excuses these people (`gain`)."
        told.append(said)
    return tuple(told)


def _unreachable(tried: Sequence[Trial], wanted: Wanted, policy: Policy, left_out: int) -> UnreachableError:
    """Nothing satisfies the policy: what was nearest, what stands in the way, and what can be done."""
    judged = sorted((trial for trial in tried if trial.run is not None), key=lambda trial: trial.rank)
    if not judged:
        reasons = list(dict.fromkeys(trial.refused for trial in tried)) or ["No method proposes anything."]
        raise SchemaError([f"No method can run on this table: {reasons[0]}", *reasons[1:]])
    whole = [trial for trial in judged if trial.whole]
    nearest = (whole or judged)[0]
    assert nearest.verdict is not None
    stops = nearest.verdict.weighing("stop")
    where = "" if nearest.whole else f" (on a sample of {counted(nearest.rows, 'row')})"
    lines = [
        f"No release of {len({id(trial.candidate) for trial in judged})} that were tried satisfies `{policy.name}`.",
        f"Nearest: {nearest.candidate.title}{where}. {' '.join(map(_said, stops))}",
        *cannot(wanted),
        *([f"Time was up: {left_out:,} more were not tried. Give it longer: {option(time=...)}"] if left_out else []),
        "Publish fewer or coarser quasi-identifiers, or allow more in a policy of your own.",
    ]
    best = {"method": nearest.candidate.method, **nearest.candidate.parameters}
    reached = {stop.kind: stop.actual for stop in stops}
    return Unsatisfied("\n".join(lines), best={**best, **reached}, tried=tried)


def _said(reason: Reason) -> str:
    return f"{reason.text} {reason.change}".rstrip()


def _kept(trial: Trial) -> tuple[float, float | None]:
    return max(0.0, trial.kept), trial.loss


def _people_over(trial: Trial) -> str:
    assert trial.verdict is not None
    stops = trial.verdict.weighing("stop")
    return number(max((stop.people or 0 for stop in stops), default=0)) if stops else "nobody"


def entry_of(trial: Trial) -> dict[str, Any]:
    """A release that was tried, ready for JSON."""
    verdict = trial.verdict
    return {
        "title": trial.candidate.title,
        "method": trial.candidate.method,
        "parameters": dict(trial.candidate.parameters),
        "rows": trial.rows,
        "whole": trial.whole,
        "verdict": None if verdict is None else verdict.title,
        "reasons": [] if verdict is None else [reason.text for reason in verdict.ordered()],
        "loss": trial.loss,
        "kept": trial.kept if trial.run is not None else None,
        "refused": trial.refused,
        "seconds": trial.seconds,
    }
