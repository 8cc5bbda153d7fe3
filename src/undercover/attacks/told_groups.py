"""Told the groups: the attacker who knows everything but how values fell inside the groups they were dealt in.

Where columns were permuted inside groups of rows, every pairing of people and rows of a group is equally likely. So
somebody who is told who was put together with whom, and which published rows are theirs, finds a person's row with 1/m
of m rows, and gives a sensitive value the share of the group's rows that carry it. Nobody outside is told as much, and
whoever knows less knows an average of what this one does: his figures bound all others', whatever they know of
quasi-identifiers and of the method (but not of other people's values).

Where the sensitive values of a group differ, that is 1/m. Where nothing was promised about them, a group may have one
value in common, and then he is certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.belief_curve import belief_chart, belief_curve, shares_at_least, shares_table
from undercover.attacks.views import NUMBERS
from undercover.forms.case import Case
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.verdict import Exposure, one_struck_out
from undercover.model.view import View, Viewable, certainty, facts, table

STORY = (
    "The attacker is told who was put together with whom and which published rows are theirs; only how columns were "
    "permuted inside a group is hidden from him. Every pairing of people and rows is equally likely to him: he takes a "
    "person to be any row of the group, and a sensitive value to be as probable as it is frequent in the group. Nobody "
    "outside knows as much: this is the worst case, as long as values of other people are not known."
)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ToldGroupsResult(Viewable):
    """What he believes of everybody."""

    identity: Floats  # (n_people,)
    attribute: Mapping[str, Floats]  # sensitive column -> belief in the true value
    baseline: Mapping[str, Any]
    rows: NDArray[np.int64]  # input row of each person
    sizes: NDArray[np.int64]  # of everybody's group

    def exposures(self) -> tuple[Exposure, ...]:
        """Everybody's row and values; and the same for somebody who knows one value of the group besides."""
        known = {name: one_struck_out(found, self.sizes) for name, found in self.attribute.items()}
        return (
            Exposure("told-groups", self.rows, self.identity, self.attribute),
            Exposure("told-groups", self.rows, belief=known, known_values=True),
        )

    def to_dict(self) -> dict[str, Any]:
        """Means, worst cases, the people he is certain of, and the curve between."""
        return {
            "attack": "told-groups",
            "story": STORY,
            "targets": len(self.identity),
            "identity": _ends(self.identity),
            "attribute": {
                name: {
                    **_ends(found),
                    "certain_rows": int((found == 1).sum()),
                    "at_least": shares_at_least(found),
                    "curve": belief_curve(found),
                }
                for name, found in self.attribute.items()
            },
            "baseline": dict(self.baseline),
        }

    def view(self) -> View:
        """How sure he is of rows and values, beside guessing."""
        found = self.to_dict()
        guessing = {name: figure["mean"] for name, figure in found["baseline"]["attribute"].items()}
        rows: list[Any] = [
            ("finds the person's row, on average", found["identity"]["mean"], found["baseline"]["identity"]),
            ("finds the person's row, worst case", found["identity"]["max"], None),
        ]
        for name, figures in found["attribute"].items():
            rows.append((f"sure of `{name}`, on average", figures["mean"], guessing[name]))
            rows.append((f"sure of `{name}`, worst case", figures["max"], None))
        certain = [
            (f"people whose `{name}` is certain", each["certain_rows"]) for name, each in found["attribute"].items()
        ]
        parts: list[Any] = [
            facts(("people", found["targets"]), *certain),
            table(("the attacker", "release", "guessing"), "plain risk baseline", rows),
        ]
        if found["attribute"]:
            parts.append(shares_table({name: each["at_least"] for name, each in found["attribute"].items()}))
            curves = {name: each["curve"] for name, each in found["attribute"].items()}
            parts.append(partial(belief_chart, curves, guessing))
        highest = certainty(max([found["identity"]["max"], *(each["max"] for each in found["attribute"].values())]))
        return View("told-groups", "Told the groups", tuple(parts), *highest, STORY, NUMBERS, private=True)

    def __repr__(self) -> str:
        worst = ", ".join(f"{name} {found.max():.3f}" for name, found in self.attribute.items())
        return f"<Told the groups of {len(self.identity):,} people: {worst} at worst; .to_dict() has everything>"


def _ends(found: Floats) -> dict[str, float]:
    return {"mean": float(found.mean()), "max": float(found.max())}


@dataclass(frozen=True, kw_only=True)
class ToldGroups:
    """An attacker who is told who was dealt with whom, and only not how.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(500), schema, uc.MutualCover(delta="1/3", l=4), seed=1)
    >>> float(uc.attack(run, ToldGroups()).attribute["income"].max())
    0.25
    """

    name: ClassVar[str] = "told-groups"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    def applies(self, case: Case) -> str | None:
        """Columns were permuted among rows, and the run says inside which groups."""
        if not case.reading.permuted:
            return "No columns of this release were permuted inside groups."
        return None if case.dealt is not None else "Who was dealt with whom stays in the private run: attack the run."

    def run(self, case: Case, *, progress: Progress = no_progress) -> ToldGroupsResult:
        """Weigh every group."""
        dealt = case.dealt
        assert dealt is not None
        sizes = dealt.sizes[dealt.groups]
        attribute = {}
        for name in case.original.schema.sensitive:
            column = case.reading.column(name)
            value = column.codes[dealt.published].astype(np.int64)  # of everybody, where the run says it stands
            keys = dealt.groups * len(column.labels) + value
            attribute[name] = np.bincount(keys)[keys] / sizes
        return ToldGroupsResult(1 / sizes, attribute, case.baseline(), case.original.rows, sizes)
