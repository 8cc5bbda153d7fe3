"""Minimality: a class that was not cut further says that every cut of it would have broken the promise.

Wong, Fu, Wang & Pei 2007, "Minimality attack in privacy preserving data publishing". The attacker knows the algorithm
with its parameters, everybody's quasi-identifiers and so who is in which group
(:mod:`undercover.attacks.algorithm_aware` has the same one on tables of a few people). Which cuts Mondrian tries, and
in which order, follows from quasi-identifiers. That it published a group whole says that each cut of it left a side
that fails the l- or t-check; that it took one cut on the way and not those tried before, that each of these did. He
excludes the arrangements of the groups' sensitive values in which one of the refused cuts would have been allowed; all
others are equally probable. That is all there is to know (:mod:`undercover.methods.mondrian.following`).

Groups that no refused cut ties together are independent of each other, so each such case is worked out by itself:
exactly where its arrangements can be counted (:func:`undercover.methods.mondrian.minimality.kernels.count_all`),
otherwise by drawing arrangements and keeping those that agree, and then every figure has an interval. Where next to
nothing drawn agrees, he makes do with what was refused within each group, or with the release alone. Whoever uses less
does not guess better: given the release, guesses from all the evidence are right at least as often, and their expected
logarithmic score is at least as high.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, ParameterError
from undercover.forms.case import Case as Holder
from undercover.guarantees.l_diversity import LDiversity
from undercover.methods.mondrian.following import Followable
from undercover.methods.mondrian.minimality.beliefs import JOINT, Case, Evidence, believe, cases
from undercover.model.groups import Groups
from undercover.model.protocols import Effort, Method, Progress, no_progress
from undercover.model.table import Table
from undercover.model.view import Figure, Part, Verdict, View, Viewable, facts, say, table
from undercover.parameters import AtLeast, Within, check
from undercover.randomness import Randomness

WORST = 20
STORY = (
    "The attacker knows everybody's quasi-identifiers, and so who is in which group, and the method with its "
    "parameters. Which cuts it tries follows from what he knows. A cut that was tried and not made would have left a "
    "side that breaks the promise: he excludes every way to give the groups' sensitive values to their members in "
    "which one of these cuts would have been allowed."
)
GROUPS_STORY = " He looks at the cuts of the groups that were published, and not at those refused on the way to them."
SAFE_STORY = " This method does not look at sensitive values when it groups rows, so there is nothing to exclude."
NO_EVIDENCE, EXACT, DRAWN, GIVEN_UP = range(4)
_HIGH_LOW = np.array([1 << 32, 1], dtype=np.uint64)
_HOW = {"exact": EXACT, "drawn": DRAWN, "given up": GIVEN_UP}
_HOW_TOLD = (
    "Of the groups with refused cuts {count} were counted exactly, {count} by drawing, {count} given up (the release "
    "alone is believed). In {count} what was refused on the way was too much to use, so he may learn more."
)

Floats = NDArray[np.float64]


class _Told(NamedTuple):
    """What one group's refused cuts say of its members' true values."""

    rows: NDArray[np.int64]
    informed: Floats
    low: Floats
    high: Floats
    hits: Floats
    how: int
    agreeing: float
    error: Floats
    partly: bool  # what was refused on the way was not used


@dataclass(frozen=True)
class MinimalityResult(Viewable):
    """What the attacker believes of everybody, beside what the release alone says."""

    rows: NDArray[np.int64]  # input row of each target
    sizes: NDArray[np.int64]  # of the person's group
    alone: Floats  # share of the true sensitive value in the group
    informed: Floats  # probability he gives it
    low: Floats  # interval of that probability
    high: Floats
    hits_alone: Floats  # whether that is the true one, shared among equals: from the release alone
    hits: Floats  # and informed
    how: NDArray[np.uint8]  # NO_EVIDENCE, EXACT, DRAWN or GIVEN_UP
    group: NDArray[np.int32]
    agreeing: Floats  # share of the arrangements that are left, of the group and those tied to it
    partly: NDArray[np.bool_]  # what was refused on the way to the person's group was not used
    case: NDArray[np.int64]  # groups that refused cuts tie together
    error: Floats  # standard error of the probability, 0 where exact
    evidence: Evidence
    confidence: float
    promised: float | None  # the probability the method promises nobody is believed beyond
    safe: bool  # the method does not look at sensitive values

    @property
    def story(self) -> str:
        """What the attacker knows and does."""
        return STORY + (GROUPS_STORY if self.evidence == "groups" else "") + (SAFE_STORY if self.safe else "")

    @property
    def gain(self) -> Floats:
        """By how much his belief in the true value exceeds its share in the group."""
        return self.informed - self.alone

    def worst_rows(self, limit: int = WORST) -> list[dict[str, Any]]:
        """The people he learns most about; for the holder's eyes only."""
        order = np.lexsort((self.rows, -self.informed, self.alone - self.low))[:limit]
        return [
            {
                "row": int(self.rows[i]),
                "informed": float(self.informed[i]),
                "interval": [float(self.low[i]), float(self.high[i])],
                "release_alone": float(self.alone[i]),
                "group_size": int(self.sizes[i]),
            }
            for i in order
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values; ``worst_rows`` makes it private."""
        surest = int(np.lexsort((self.alone, -self.low))[0])
        return {
            "attack": "minimality",
            "story": self.story,
            "targets": len(self.rows),
            "evidence": self.evidence,
            "confidence": self.confidence,
            "baseline": _figures(self.alone, self.hits_alone, self.alone),
            "attribute": {
                **_figures(self.informed, self.hits, self.low),
                "max": float(self.informed[surest]),
                "mean_error": self._mean_error(),
                "max_interval": [float(self.low[surest]), float(self.high[surest])],
            },
            "gain": {"mean": float(self.gain.mean()), "max": float(max((self.low - self.alone).max(), 0.0))},
            **self._beyond_promise(),
            "groups": self._by_group(),
            "people": {
                "with_evidence": int((self.how != NO_EVIDENCE).sum()),
                "exact_share": self._share(EXACT),
                "drawn_share": self._share(DRAWN),
                "given_up_share": self._share(GIVEN_UP),
            },
            "worst_rows": self.worst_rows(),
        }

    def _share(self, how: int) -> float:
        """Of the people the attacker has evidence about."""
        with_evidence = int((self.how != NO_EVIDENCE).sum())
        return float((self.how == how).sum() / with_evidence) if with_evidence else 0.0

    def _by_group(self) -> dict[str, Any]:
        _, first = np.unique(self.group, return_index=True)
        how, agreeing, partly = self.how[first], self.agreeing[first], self.partly[first]
        evidence = how != NO_EVIDENCE
        return {
            "all": len(first),
            "with_evidence": int(evidence.sum()),
            "exact": int((how == EXACT).sum()),
            "drawn": int((how == DRAWN).sum()),
            "given_up": int((how == GIVEN_UP).sum()),
            "own_evidence_only": int(partly.sum()),
            "excluded_arrangements_mean": float(1.0 - agreeing[evidence].mean()) if evidence.any() else 0.0,
        }

    def _beyond_promise(self) -> dict[str, Any]:
        if self.promised is None:
            return {}
        return {"promised": self.promised, "beyond_promise": int((self.low > self.promised + 1e-9).sum())}

    def _mean_error(self) -> float:
        """Standard error of the mean: people of a case are taken to err together, cases apart."""
        return float(np.sqrt((np.bincount(self.case, self.error) ** 2).sum()) / len(self.rows))

    def view(self) -> View:
        """What it shows."""
        found = self.to_dict()
        alone, informed, people, groups = found["baseline"], found["attribute"], found["people"], found["groups"]
        drawn = people["drawn_share"] > 0
        surest = Figure(informed["max"], "risk", interval=informed["max_interval"] if drawn else None)
        rows = [
            ("sure of the true value, on average", alone["mean"], informed["mean"]),
            ("sure of the true value, worst case", alone["max"], surest),
            ("best guess is right", alone["guess_success"], informed["guess_success"]),
            ("people he is certain of", alone["certain_rows"], informed["certain_rows"]),
        ]
        with_cuts = "{count}, {count} with refused cuts"
        lines: list[Any] = [
            ("people", say(with_cuts, found["targets"], people["with_evidence"])),
            ("groups", say(with_cuts, groups["all"], groups["with_evidence"])),
            ("surer of the true value", say("by {risk} at worst", found["gain"]["max"])),
            ("computed exactly", say("for {baseline} of the people with refused cuts", people["exact_share"])),
        ]
        if "promised" in found:
            beyond = say("{count} people, {risk} promised", found["beyond_promise"], found["promised"])
            lines.append(("beyond the promise", beyond))
        columns: tuple[str, ...] = ("release alone", "with the algorithm")
        how = (groups[key] for key in ("exact", "drawn", "given_up", "own_evidence_only"))
        parts: list[Part] = [
            facts(*lines),
            table(("the attacker", *columns), "plain risk risk", rows),
            say(_HOW_TOLD, *how, detail=1),
        ]
        if drawn:
            text = "{baseline} of the people with refused cuts rest on draws; intervals hold with {plain} confidence."
            parts.append(say(text, people["drawn_share"], found["confidence"]))
        if people["with_evidence"]:
            keys, title = ("row", "group_size", "release_alone", "informed"), "Rows he learns most about (private)"
            worst = [[row[key] for key in keys] for row in found["worst_rows"][:5]]
            columns = ("input row", "group size", *columns)
            parts.append(table(columns, "count count risk risk", worst, title, private=True, detail=1))
        verdict: tuple[Verdict, str] = ("plain", "refused cuts give something away")
        if found["gain"]["max"] == 0:
            verdict = "good", "refused cuts give nothing away"
        elif informed["certain_rows"]:
            verdict = "bad", "somebody is certain"
        elif found.get("beyond_promise"):
            verdict = "bad", "refused cuts give more away than is promised"
        following = "`.to_dict()` has the numbers, `.story` says what the attacker knows."
        return View("minimality", "Minimality", tuple(parts), *verdict, found["story"], following, private=True)

    def __repr__(self) -> str:
        return (
            f"<Minimality on {len(self.rows):,} people: {self.alone.max():.3f} -> {self.low.max():.3f} at worst, "
            f"{self.alone.mean():.3f} -> {self.informed.mean():.3f} on average; .to_dict() has everything>"
        )


@dataclass(frozen=True, kw_only=True)
class Minimality:
    """An attacker who knows the algorithm, and asks why a group was not cut further.

    Parameters
    ----------
    evidence
        ``all`` that was refused, or only in the ``groups`` that were published.
    draws
        Arrangements that are drawn in a group that has too many to be counted.
    most_draws
        Where less than a quarter agrees with the evidence, more are drawn, but no more than these. A group in which
        hardly any agrees is given up: its shares are believed.
    most_steps
        How far the counting goes before it is given up for drawing.
    confidence
        That all intervals hold together.

    Examples
    --------
    Mondrian would have parted the ages, had the two of 30 not the same disease:

    >>> import pyarrow as pa, undercover as uc
    >>> people = pa.table({"age": [30, 30] + 4 * [40], "disease": ["flu", "flu", "gout", "cold", "rash", "ulcer"]})
    >>> run = uc.publish(people, uc.Schema(quasi_identifiers="age", sensitive="disease"), uc.Mondrian(k=2, l=2))
    >>> found = uc.attack(run, Minimality())
    >>> found.alone.tolist()[:2], found.informed.tolist()[:2]
    ([0.3333333333333333, 0.3333333333333333], [1.0, 1.0])
    """

    name: ClassVar[str] = "minimality"
    effort: ClassVar[Effort] = "asked"
    slow: ClassVar[bool] = False

    evidence: Evidence = "all"
    draws: Annotated[int, AtLeast(1)] = 2_000
    most_draws: Annotated[int, AtLeast(1)] = 200_000
    most_steps: Annotated[int, AtLeast(0)] = 100_000
    confidence: Annotated[float, Within(0, 1, "()")] = 0.999

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Holder) -> str | None:
        """Groups have true values, and the cuts of the method can be followed."""
        if case.run is None or case.made_by is None:
            return "Which row is in which group stays in the private run. Attack the run."
        if not (case.reading.covers and case.reading.true_values):
            return "The minimality attack reads groups with their true values; here values were drawn."
        return self._refused(case.original, case.method)

    def run(self, case: Holder, *, progress: Progress = no_progress) -> MinimalityResult:
        """Attack every row of the original through the groups of its run."""
        why_not = self.applies(case)
        if why_not is not None or case.run is None:
            raise ParameterError(why_not or "")
        run = case.run
        return self.on(case.original, case.method, run.groups, rows=run.rows, threads=case.threads, progress=progress)

    def on(
        self,
        original: Table,
        method: Method,
        groups: Groups,
        *,
        rows: NDArray[np.int64] | None = None,
        randomness: Randomness | None = None,
        threads: int = 1,
        progress: Progress = no_progress,
    ) -> MinimalityResult:
        """Attack every row of ``original``, which ``method`` put into ``groups``.

        ``rows`` are the input rows that were grouped, where some were suppressed; ``randomness`` is for drawing
        arrangements, the operating system's by default.
        """
        if rows is not None and len(rows) < original.n_rows:
            original = original.take(np.searchsorted(original.rows, rows))
        if len(groups.labels) != original.n_rows:
            raise DataError(f"The release groups {len(groups.labels):,} rows, the table has {original.n_rows:,}.")
        refused = self._refused(original, method)
        if refused is not None:
            raise ParameterError(refused)
        codes = original[original.schema.sensitive[0]].codes.astype(np.int64)
        beliefs: list[_Told] = []
        if not method.algorithm_safe and isinstance(method, Followable):
            beliefs = self._beliefs(original, method, groups, codes, randomness or Randomness(), threads, progress)
        return self._result(original, method, groups, codes, beliefs)

    def _refused(self, original: Table, method: Method) -> str | None:
        if len(original.schema.sensitive) != 1:
            return "The minimality attack needs exactly one sensitive column."
        if not method.algorithm_safe and not isinstance(method, Followable):
            return (
                f"The minimality attack follows the cuts of Mondrian; {method.name} groups rows in another way. "
                "On at most 8 people the algorithm-aware attack goes through everything: AlgorithmAware()."
            )
        return None

    def _beliefs(
        self,
        original: Table,
        method: Followable,
        groups: Groups,
        codes: NDArray[np.int64],
        randomness: Randomness,
        threads: int,
        progress: Progress,
    ) -> list[_Told]:
        """What the refused cuts of every group say that has some."""
        from undercover.compiled.jit import needs_compiling
        from undercover.methods.mondrian.minimality.kernels import count_all
        from undercover.steps.cutting.checks import kernel_checks

        if needs_compiling(count_all):
            progress("compiling what follows the cuts (once on this machine, some 40 seconds)", 0.0)
        nodes = list(method.follow(original, progress=progress))
        sizes = groups.sizes
        for node in nodes:
            if not node.is_group:
                continue
            labels = groups.labels[node.rows]
            if (labels != labels[0]).any() or sizes[labels[0]] != len(labels):
                raise DataError(
                    "The table does not explain the release: cut again, it falls into other groups. Give the original "
                    "table, and the version of undercover that made the release."
                )
        column = original[original.schema.sensitive[0]]
        sorted_out = cases(nodes, codes, column.domain.size, self.evidence)
        checks = kernel_checks(original, method.checks(original))
        seeds = randomness.words("arrangements", 2 * len(sorted_out)).astype(np.uint64).reshape(-1, 2)
        doubt = math.log(6 * original.n_rows / (1 - self.confidence))
        done = [0]

        def one(number: int) -> list[_Told]:
            told = self._told(sorted_out[number], codes, checks, int(seeds[number] @ _HIGH_LOW), doubt)
            done[0] += 1
            progress("excluding arrangements", done[0] / len(sorted_out))
            return told

        with ThreadPoolExecutor(threads) as pool:
            return [told for several in pool.map(one, range(len(sorted_out))) for told in several]

    def _told(self, case: Case, codes: NDArray[np.int64], checks: Any, seed: int, doubt: float) -> list[_Told]:
        """What a case says; where hardly anything agrees with all of it, what each of its groups says for itself."""
        belief = believe(
            case,
            codes,
            checks,
            draws=self.draws,
            wanted=-(-self.draws // 4),
            most_draws=self.most_draws,
            most_steps=self.most_steps,
            seed=seed,
        )
        tied = case.n_groups > 1 or (case.group_of_cut == JOINT).any()
        if belief.how == "given up" and tied:
            apart = case.apart()
            return [told for g, own in enumerate(apart) for told in self._told(own, codes, checks, seed + g, doubt)]
        return [
            _Told(
                belief.rows,
                belief.informed,
                *belief.interval(doubt),
                belief.hits,
                _HOW[belief.how],
                belief.agreeing,
                belief.error,
                case.partly,
            )
        ]

    def _result(
        self, original: Table, method: Method, groups: Groups, codes: NDArray[np.int64], beliefs: list[_Told]
    ) -> MinimalityResult:
        n = original.n_rows
        sizes = groups.sizes[groups.labels]
        alone, hits_alone = _from_shares(groups, codes)
        informed, low, high, hits = alone.copy(), alone.copy(), alone.copy(), hits_alone.copy()
        how, agreeing, error = np.zeros(n, np.uint8), np.ones(n), np.zeros(n)
        partly, case = np.zeros(n, np.bool_), np.zeros(n, np.int64)
        for number, told in enumerate(beliefs, 1):
            rows = told.rows
            how[rows], agreeing[rows], error[rows] = told.how, told.agreeing, told.error
            partly[rows], case[rows] = told.partly, number
            informed[rows], low[rows], high[rows], hits[rows] = told.informed, told.low, told.high, told.hits
        promises = [
            1 / float(p.l) for p in method.claims(original) if isinstance(p, LDiversity) and p.form == "frequency"
        ]
        return MinimalityResult(
            rows=original.rows,
            sizes=sizes,
            alone=alone,
            informed=informed,
            low=low,
            high=high,
            hits_alone=hits_alone,
            hits=hits,
            how=how,
            group=groups.labels,
            agreeing=agreeing,
            partly=partly,
            case=case,
            error=error,
            evidence=self.evidence,
            confidence=self.confidence,
            promised=min(promises, default=None),
            safe=method.algorithm_safe,
        )


def _from_shares(groups: Groups, codes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """From the release alone: share of the true value, and whether guessing the most frequent one is right."""
    width = int(codes.max()) + 1
    pairs, pair, counts = np.unique(
        groups.labels.astype(np.int64) * width + codes, return_inverse=True, return_counts=True
    )
    group = pairs // width
    top = np.zeros(groups.count, np.int64)
    np.maximum.at(top, group, counts)
    ties = np.bincount(group[counts == top[group]], minlength=groups.count)
    sizes = groups.sizes[groups.labels]
    best = counts[pair.reshape(-1)] == top[groups.labels]
    return counts[pair.reshape(-1)] / sizes, best / ties[groups.labels]


def _figures(believed: Floats, hits: Floats, low: Floats) -> dict[str, Any]:
    return {
        "mean": float(believed.mean()),
        "max": float(believed.max()),
        "guess_success": float(hits.mean()),
        "certain_rows": int((low > 1.0 - 1e-12).sum()),
    }
