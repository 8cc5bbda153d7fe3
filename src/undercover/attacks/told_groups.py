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
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.belief_curve import belief_chart, belief_curve, shares_at_least, shares_table
from undercover.attacks.sampled import WORST_OFF, OwnClasses, drawn_people
from undercover.attacks.views import NUMBERS
from undercover.forms.case import Case
from undercover.forms.dealt.rows import Dealt
from undercover.forms.disclosure import mean_with_interval
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.verdict import Exposure, one_struck_out
from undercover.model.view import View, Viewable, certainty, facts, say, table

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
    of: int | None = None  # people these were drawn from, where not everybody was looked at
    worst: ToldGroupsResult | None = None  # the same of those he knows most of, which nobody is beyond
    with_value: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)  # column -> people of the group who have
    lacking: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)  # a value, and whose is missing, if any is

    def sizes_of(self, name: str) -> NDArray[np.int64]:
        """(n_people,) among how many of the group a value of a column is looked for."""
        if name not in self.lacking:
            return self.sizes
        return np.where(self.lacking[name], self.sizes, self.with_value[name])

    def of_values(self, name: str) -> Floats:
        """Belief in the value of everybody who has one; where nobody has, 0."""
        found, lacking = self.attribute[name], self.lacking.get(name)
        return found if lacking is None else np.zeros(1) if lacking.all() else found[~lacking]

    def exposures(self) -> tuple[Exposure, ...]:
        """Everybody's row and values; and the same for somebody who knows one value of the group besides."""
        at_most: list[dict[str, Any]] = [{}, {}]
        if self.worst is not None:
            found, known = self.worst.exposures()
            lacking = self.worst.lacking
            at_most = [{"of": self.of, "belief_at_most": _most(each.belief, lacking)} for each in (found, known)]
            at_most[0]["found_at_most"] = float(self.worst.identity.max())
        struck = {name: one_struck_out(share, self.sizes_of(name)) for name, share in self.attribute.items()}
        return (
            Exposure("told-groups", self.rows, self.identity, self.attribute, **at_most[0]),
            Exposure("told-groups", self.rows, belief=struck, known_values=True, **at_most[1]),
            *(() if self.worst is None else self.worst.exposures()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Means, worst cases, the people he is certain of, and the curve between."""
        return {
            "attack": "told-groups",
            "story": STORY,
            "targets": len(self.identity),
            **({} if self.of is None else {"of": self.of}),
            "identity": self._ends(self.identity, None if self.worst is None else self.worst.identity),
            "attribute": {
                name: {
                    **self._ends(found, self._worst(name)),
                    "certain_rows": round(int((found == 1).sum()) * (self.of or len(self.rows)) / len(self.rows)),
                    "at_least": shares_at_least(found),
                    "curve": belief_curve(found),
                }
                for name, found in ((name, self.of_values(name)) for name in self.attribute)
            },
            "believed": {
                name: {"mean": float(found.mean()), "max": self._ends(found, self._worst(name))["max"]}
                for name, found in ((name, self.of_values(name)) for name in self.attribute)
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
            facts(("people", _people(found)), *certain),
            table(("the attacker", "release", "guessing"), "plain risk baseline", rows),
        ]
        if found["attribute"]:
            parts.append(shares_table({name: each["at_least"] for name, each in found["attribute"].items()}))
            curves = {name: each["curve"] for name, each in found["attribute"].items()}
            parts.append(partial(belief_chart, curves, guessing))
        highest = certainty(max([found["identity"]["max"], *(each["max"] for each in found["attribute"].values())]))
        return View("told-groups", "Told the groups", tuple(parts), *highest, STORY, NUMBERS, private=True)

    def _worst(self, name: str) -> Floats | None:
        return None if self.worst is None else self.worst.of_values(name)

    def _ends(self, found: Floats, worst: Floats | None) -> dict[str, Any]:
        most = found if worst is None else np.concatenate([found, worst])
        return {**mean_with_interval(found, sampled=self.of is not None), "max": float(most.max())}

    def __repr__(self) -> str:
        worst = ", ".join(f"{name} {found.max():.3f}" for name, found in self.attribute.items())
        return f"<Told the groups of {len(self.identity):,} people: {worst} at worst; .to_dict() has everything>"


def _people(found: Mapping[str, Any]) -> Any:
    return (
        say("{count} of {count}, drawn at random", found["targets"], found["of"]) if "of" in found else found["targets"]
    )


def _most(beliefs: Mapping[str, Floats], lacking: Mapping[str, NDArray[np.bool_]]) -> dict[str, float]:
    """By column what is believed of nobody's value more; a missing value is none."""
    return {
        name: float((found[~lacking[name]] if name in lacking else found).max(initial=0.0))
        for name, found in beliefs.items()
    }


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
        chosen = drawn_people(case.original, None)
        if chosen is not None:
            return _of_some(case, dealt, chosen)
        sizes = dealt.sizes[dealt.groups]
        attribute = {}
        for name in case.original.schema.sensitive:
            column = case.reading.column(name)
            value = column.codes[dealt.published].astype(np.int64)  # of everybody, where the run says it stands
            keys = dealt.groups.astype(np.int64) * len(column.labels) + value
            attribute[name] = np.bincount(keys)[keys] / sizes
        with_value, lacking = _with_value(case, dealt)
        for name, lacks in lacking.items():
            attribute[name] = np.where(lacks, attribute[name], attribute[name] * sizes / with_value[name])
        rows = case.original.rows
        return ToldGroupsResult(
            1 / sizes, attribute, case.baseline(), rows, sizes, with_value=with_value, lacking=lacking
        )


def _with_value(case: Case, dealt: Dealt) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.bool_]]]:
    """By column (n_people,) how many of everybody's group have a value, at least 1, and whose value is missing."""
    columns = {name: case.original[name].lacking for name in case.original.schema.sensitive}
    lacking = {name: lacks for name, lacks in columns.items() if lacks is not None}
    groups = dealt.groups
    there = {
        name: np.maximum(dealt.sizes - np.bincount(groups[lacks], minlength=len(dealt.sizes)), 1)[groups]
        for name, lacks in lacking.items()
    }
    return there, lacking


def _of_some(case: Case, dealt: Dealt, chosen: NDArray[np.int64]) -> ToldGroupsResult:
    """What he believes of a sample, and of those of whom he knows most."""
    original = case.original
    starts = np.concatenate([[0], np.cumsum(dealt.sizes)]).astype(np.int64)
    classes = OwnClasses(dealt.groups.astype(np.int32), starts, None)
    times = {name: classes.times(original[name]) for name in original.schema.sensitive}
    worst = classes.highest((1 / classes.sizes).astype(np.float32)[classes.labels], WORST_OFF)
    for name, counts in times.items():
        for struck in (False, True):
            surest = classes.surest(original[name], counts, struck=struck)
            worst = np.union1d(worst, classes.highest(surest, WORST_OFF))
    with_value, lacking = _with_value(case, dealt)

    def of_rows(rows: NDArray[np.int64], **more: Any) -> ToldGroupsResult:
        sizes = dealt.sizes[dealt.groups[rows]]
        shares = {name: classes.shares(original[name], counts, rows) for name, counts in times.items()}
        held = {name: each[rows] for name, each in with_value.items()}
        lacks = {name: each[rows] for name, each in lacking.items()}
        return ToldGroupsResult(
            1 / sizes,
            shares,
            case.baseline(),
            original.numbers(rows),
            sizes,
            with_value=held,
            lacking=lacks,
            **more,
        )

    return of_rows(chosen, of=original.n_rows, worst=of_rows(worst))
