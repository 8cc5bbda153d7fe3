"""Minimality: a class that was not cut further says that every cut of it would have broken the promise.

Wong, Fu, Wang & Pei 2007, "Minimality attack in privacy preserving data publishing". The attacker knows the algorithm
with its parameters, everybody's quasi-identifiers and so who is in which group
(:mod:`undercover.studies.algorithm_aware` has the same one on tables of a few people). Which cuts Mondrian tries, and
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
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, ParameterError
from undercover.forms.case import Case as Holder
from undercover.guarantees.l_diversity import LDiversity
from undercover.methods.mondrian.following import Followable
from undercover.methods.mondrian.minimality.beliefs import JOINT, Case, Evidence, believe, cases
from undercover.methods.mondrian.minimality.result import DRAWN, EXACT, GIVEN_UP, MinimalityResult
from undercover.model.groups import Groups
from undercover.model.protocols import Effort, Method, Progress, no_progress
from undercover.model.table import Table
from undercover.parameters import Within, check
from undercover.randomness import Randomness
from undercover.threads import parallel
from undercover.wording import either

MOST_TRIED = 1_000_000_000
"""Draws and steps that may be asked for: hours of work."""
_HIGH_LOW = np.array([1 << 32, 1], dtype=np.uint64)
_HOW = {"exact": EXACT, "drawn": DRAWN, "given up": GIVEN_UP}

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
    draws: Annotated[int, Within(1, MOST_TRIED)] = 2_000
    most_draws: Annotated[int, Within(1, MOST_TRIED)] = 200_000
    most_steps: Annotated[int, Within(0, MOST_TRIED)] = 100_000
    confidence: Annotated[float, Within(0, 1, "()")] = 0.999

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Holder) -> str | None:
        """Groups have true values, and the cuts of the method can be followed."""
        if case.run is None or case.made_by is None:
            return "Which row is in which group stays in the private run. Attack the run."
        if not (case.reading.covers and case.reading.true_values):
            return "The minimality attack reads groups with their true values; here values were drawn."
        parts = (case.run.release.parameters.get("used") or {}).get("parts")
        if parts:
            return f"The cuts of this release cannot be followed: it was made in {parts} parts. Publish it in one."
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
        if original.units is not None:
            return "Cuts were refused for the sake of people with several rows, too: this attack reads rows as people."
        if not method.algorithm_safe and not isinstance(method, Followable):
            return (
                f"The minimality attack follows the cuts of Mondrian; {method.name} groups rows in another way. "
                "On at most 8 people the algorithm-aware attack goes through everything: "
                + either(python="AlgorithmAware().", command="--knows-algorithm.")
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

        return [told for several in parallel(one, range(len(sorted_out)), threads) for told in several]

    def _told(self, case: Case, codes: NDArray[np.int64], checks: Any, seed: int, doubt: float) -> list[_Told]:
        """What a case says; where hardly anything agrees with all of it, what each of its groups says for itself."""
        limits = {"most_draws": self.most_draws, "most_steps": self.most_steps}
        belief = believe(case, codes, checks, draws=self.draws, wanted=-(-self.draws // 4), seed=seed, **limits)
        tied = case.n_groups > 1 or (case.group_of_cut == JOINT).any()
        if belief.how == "given up" and tied:
            apart = case.apart()
            return [told for g, own in enumerate(apart) for told in self._told(own, codes, checks, seed + g, doubt)]
        figures = (belief.informed, *belief.interval(doubt), belief.hits)
        return [_Told(belief.rows, *figures, _HOW[belief.how], belief.agreeing, belief.error, case.partly)]

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
            sensitive=original.schema.sensitive[0],
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
