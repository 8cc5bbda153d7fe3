"""What the minimality attack found: belief in everybody's true value, beside what the release alone says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.methods.mondrian.minimality.beliefs import Evidence
from undercover.model.verdict import Exposure
from undercover.model.view import Figure, Part, Verdict, View, Viewable, facts, say, table

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
_HOW_TOLD = (
    "Of the groups with refused cuts {count} were counted exactly, {count} by drawing, {count} given up (the release "
    "alone is believed). In {count} what was refused on the way was too much to use, so he may learn more."
)

Floats = NDArray[np.float64]


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
    sensitive: str = ""  # the column that is attacked

    def exposures(self) -> tuple[Exposure, ...]:
        """What he believes of everybody's value, as an estimate where arrangements were drawn."""
        return (Exposure("minimality", self.rows, belief={self.sensitive: self.informed}),) if self.sensitive else ()

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


def _figures(believed: Floats, hits: Floats, low: Floats) -> dict[str, Any]:
    return {
        "mean": float(believed.mean()),
        "max": float(believed.max()),
        "guess_success": float(hits.mean()),
        "certain_rows": int((low > 1.0 - 1e-12).sum()),
    }
