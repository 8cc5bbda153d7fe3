"""Bucket matching: the attacker finds the buckets a person may be in and weighs the sensitive values of each.

Li, Liu, Han & Zhang, "Cross-Bucket Generalization", Section 4.1: with Num(t) rows of the release that fit person t, of
which Num(t, B) lie in bucket B, the probability of the person's own sensitive value s is

    p(t, s) = sum over B of Num(t, B) Num(s, B) / (Num(t) |B|)

In a generalised table every class is its own bucket and this is Num_sen / Num_tuples; in Anatomy the rows that fit are
those with equal quasi-identifiers. So the figure compares all three, as in the paper's Figure 5.

Deviation: the paper shows the mean over all rows; beside it stand the worst row and the curve between them, the share
of people of whom the attacker is at least so sure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.belief_curve import EDGES, belief_chart, belief_curve, shares_at_least, shares_table
from undercover.attacks.views import NUMBERS
from undercover.errors import ParameterError
from undercover.forms.boxes import match
from undercover.forms.case import Case
from undercover.forms.dealt.law import posteriors
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.verdict import Exposure
from undercover.model.view import View, Viewable, certainty, facts, listed, say, table
from undercover.parameters import check

STORY = (
    "The attacker knows that a person is in the table and knows the person's values in the columns {known}. He looks "
    "for the published rows these values fit and for the buckets these rows lie in, takes the person to be any of the "
    "rows with equal probability, and a sensitive value to be as probable as it is frequent in the row's bucket."
)


@dataclass(frozen=True)
class BucketMatchingResult(Viewable):
    """What bucket matching achieves on every row."""

    known: tuple[str, ...]
    rows: NDArray[np.int64]  # input row of each target
    matches: NDArray[np.int64]  # published rows that fit
    buckets: NDArray[np.int64]  # buckets these lie in
    breach: Mapping[str, NDArray[np.float64]]  # sensitive column -> p(t, s) of the true value
    baseline: Mapping[str, float]  # the same without the release: how frequent the value is overall
    told: str = ""  # what else there is to say of the attacker
    lacking: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)  # whose value is missing, where one is

    def of_values(self, name: str) -> NDArray[np.float64]:
        """p(t, s) of everybody who has a value; where nobody has, 0."""
        found, lacking = self.breach[name], self.lacking.get(name)
        return found if lacking is None else np.zeros(1) if lacking.all() else found[~lacking]

    @property
    def story(self) -> str:
        """What the attacker knows and does."""
        return STORY.format(known=", ".join(f"`{name}`" for name in self.known)) + self.told

    def exposures(self) -> tuple[Exposure, ...]:
        """What he believes of everybody's values; nothing where people have several rows, which linkage counts."""
        return () if self.told else (Exposure("bucket-matching", self.rows, belief=self.breach),)

    def to_dict(self) -> dict[str, Any]:
        """Means, worst cases, and the share of people of whom he is at least, or more than, so sure."""
        return {
            "attack": "bucket-matching",
            "story": self.story,
            "known": list(self.known),
            "targets": len(self.rows),
            "matches": {"mean": float(self.matches.mean()), "min": int(self.matches.min())},
            "buckets": {"mean": float(self.buckets.mean()), "min": int(self.buckets.min())},
            "breach": {
                name: {
                    "mean": float(found.mean()),
                    "max": float(found.max()),
                    "above": {f"{edge:g}": float((found > edge + 1e-12).mean()) for edge in EDGES},
                    "at_least": shares_at_least(found),
                    "curve": belief_curve(found),
                }
                for name, found in ((name, self.of_values(name)) for name in self.breach)
            },
            "baseline": dict(self.baseline),
        }

    def view(self) -> View:
        """How sure bucket matching makes him of the sensitive values."""
        found = self.to_dict()
        rows: list[Any] = []
        for name, breach in found["breach"].items():
            rows.append((f"sure of `{name}`, on average", breach["mean"], found["baseline"][name]))
            rows.append((f"sure of `{name}`, worst case", breach["max"], None))
        fits = [
            (label, say("{count} on average, {count} at least", found[key]["mean"], found[key]["min"]))
            for label, key in (("rows that fit a person", "matches"), ("buckets they lie in", "buckets"))
        ]
        parts = (
            facts(("people", found["targets"]), ("known of each", listed(found["known"])), *fits),
            table(("the attacker", "release", "guessing"), "plain risk baseline", rows),
            shares_table({name: breach["at_least"] for name, breach in found["breach"].items()}),
            partial(belief_chart, {name: breach["curve"] for name, breach in found["breach"].items()}, self.baseline),
        )
        highest = certainty(max(breach["max"] for breach in found["breach"].values()))
        return View("bucket-matching", "Bucket matching", parts, *highest, found["story"], NUMBERS, private=True)

    def __repr__(self) -> str:
        worst = ", ".join(f"{name} {self.of_values(name).max():.3f}" for name in self.breach)
        return f"<Bucket matching on {len(self.rows):,} people: {worst} at worst; .to_dict() has everything>"


@dataclass(frozen=True, kw_only=True)
class BucketMatching:
    """An attacker who matches a person's quasi-identifiers with boxes and the boxes with buckets.

    Parameters
    ----------
    known
        The columns he knows; by default every quasi-identifier and every insensitive column.

    Examples
    --------
    >>> import undercover as uc
    >>> example = uc.datasets.hospital("cross-bucket")
    >>> run = uc.publish(example.table, example.schema, uc.CrossBucket(k=2, l=4))
    >>> bool(uc.attack(run, BucketMatching()).breach["disease"].max() <= 1 / 4)
    True
    """

    name: ClassVar[str] = "bucket-matching"
    effort: ClassVar[Effort] = "asked"
    slow: ClassVar[bool] = False

    known: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Case) -> str | None:
        """Something is sensitive, and its values are true."""
        if not case.original.schema.sensitive:
            return "Bucket matching needs a known column and a sensitive one."
        return (
            None
            if case.reading.true_values
            else "Bucket matching weighs true values; here they were drawn or dealt anew."
        )

    def run(self, case: Case, *, progress: Progress = no_progress) -> BucketMatchingResult:
        """Attack every row of the original through the release."""
        from undercover.forms.kernels import count_items

        why_not = self.applies(case)
        if why_not is not None:
            raise ParameterError(why_not)
        original, known = case.original, case.known(self.known, "Bucket matching")
        target_of, targets = case.targets(known)
        merged = case.reading.merged(known, original)
        boxes = merged.boxes
        offsets, members = match(boxes, targets, case.threads)
        running = np.concatenate([[0], np.cumsum(boxes.weights[members])])
        buckets = count_items(offsets, members, merged.starts, merged.buckets, merged.n_buckets)
        order = np.argsort(target_of, kind="stable")
        breach, baseline = {}, {}
        for name in boxes.sensitive:
            truth = original[name].codes[order].astype(np.int64)
            held, missing = boxes.buckets(original[name]), original[name].domain.missing_code
            found, _ = posteriors(None, offsets, members, held, target_of[order], truth, missing)
            breach[name] = np.empty(len(order))
            breach[name][order] = found
            baseline[name] = case.guessing(name)["mean"]
        matches = (running[offsets[1:]] - running[offsets[:-1]])[target_of]
        lacking = {name: lacks for name in breach if (lacks := original[name].lacking) is not None}
        return BucketMatchingResult(
            known, original.rows, matches, buckets[target_of], breach, baseline, case.by_rows, lacking
        )
