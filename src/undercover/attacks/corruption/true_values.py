"""Corruption before an ordinary generalised table: values of others that are known are struck out of the class.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section III and Lemma 2: a table that shows
true values gives more and more away as others are corrupted, and everything in the end.
:class:`undercover.Corruption` has the same for perturbed generalization, where it does not.

Deviations: everybody is the victim once, and who is corrupted is chosen once and for all by place alone. The attacker
is taken to know the class (of a release in two tables: the bucket) of everybody, which is more than the release says
where somebody fits several.

Everybody else corrupted: what is left of the published sensitive values when those of all others are struck out.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Lemma 2: of a table that shows the true
values somebody who has learnt all but one of them knows the last. He need not even find the victim's class, since the
values of the whole table are enough, so no grouping helps, however the values are arranged. Only values that were
changed before they were published do; :class:`undercover.Corruption` has that case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.views import NUMBERS, ordinary_corruption_chart
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.forms.reading import Reading
from undercover.model.groups import number
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.table import Table
from undercover.model.verdict import Exposure, one_struck_out
from undercover.model.view import FigureTable, Part, View, Viewable, facts, say, table
from undercover.randomness import Randomness

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
STORY = (
    "The attacker knows who is in the table with which quasi-identifiers, and has learnt the sensitive values of some "
    "of them, up to everybody's but the victim's. He knows who is in which class, strikes the values he knows out of "
    "the victim's, and gives every value its share of what is left."
)


@dataclass(frozen=True)
class OrdinaryCorruptionResult(Viewable):
    """Every person as the victim, for several shares of corrupted others, before a release that shows true values."""

    people: int
    baseline: Mapping[str, float]
    sweep: tuple[Mapping[str, Any], ...]
    rows: NDArray[np.int64] = field(repr=False)  # input row of each person
    one_known: Mapping[str, NDArray[np.float64]] = field(repr=False)  # belief in the true value, one other's known
    story: str = field(default=STORY, repr=False)

    def exposures(self) -> tuple[Exposure, ...]:
        """What is believed of everybody's values by somebody who knows that of one other."""
        return (Exposure("ordinary-corruption", self.rows, belief=self.one_known, known_values=True),)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values."""
        return {
            "attack": "ordinary-corruption",
            "story": self.story,
            "targets": self.people,
            "baseline": dict(self.baseline),
            "sweep": [dict(entry) for entry in self.sweep],
        }

    def view(self) -> View:
        """How sure of true values he is, the more of the others he knows."""
        found = self.to_dict()
        figures = [_table(name, found) for name in found["baseline"]]
        people = facts(("people", say("{count}, each the victim once", found["targets"])))
        parts: tuple[Part, ...] = (people, partial(ordinary_corruption_chart, found), *figures)
        title = "Knowing other people's values"
        return View("ordinary-corruption", title, parts, story=found["story"], following=NUMBERS, private=True)

    def __repr__(self) -> str:
        return f"<Corruption of {self.people:,} people, {len(self.sweep)} shares; .to_dict() has everything>"


def _table(name: str, found: Mapping[str, Any]) -> FigureTable:
    """How sure he is of one column; several columns side by side would be wider than a page."""
    columns = ("others known", f"true `{name}`, mean", "worst", "people whose value is certain", "guessing")
    rows = [
        (
            entry["share"],
            *(entry["attribute"][name][key] for key in ("mean", "max", "certain_rows")),
            found["baseline"][name],
        )
        for entry in found["sweep"]
    ]
    return table(columns, "risk risk risk count baseline", rows)


@dataclass(frozen=True, kw_only=True)
class OrdinaryCorruption:
    """An attacker who has learnt other people's values, before a release that shows true ones.

    Parameters
    ----------
    shares
        The shares of the others he has corrupted, one after the other.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=100, l=4))
    >>> found = uc.attack(run, OrdinaryCorruption())
    >>> found.sweep[0]["attribute"]["income"]["max"] <= 1 / 4, found.sweep[-1]["attribute"]["income"]["mean"]
    (True, 1.0)
    """

    name: ClassVar[str] = "ordinary-corruption"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    shares: tuple[float, ...] = SHARES

    def applies(self, case: Case) -> str | None:
        """Values are true, cells cover the truth, and the run says who is in which class."""
        if not (case.reading.covers and case.reading.true_values):
            return "Where values were drawn, striking out those of others is another attack: use Corruption."
        if not case.original.schema.sensitive:
            return "No column is sensitive, so there is nothing to learn from others."
        return None if case.run is not None else "Who is in which class stays in the private run. Attack the run."

    def run(self, case: Case, *, progress: Progress = no_progress) -> OrdinaryCorruptionResult:
        """How sure of everybody's true value an attacker is who has corrupted a share of the others.

        Returns ``sweep``: for every share and sensitive column the mean and the largest confidence, and how many people
        are certain.
        """
        why_not = self.applies(case)
        if why_not is not None or case.run is None:
            raise ParameterError(why_not or "")
        original, run, sensitive = case.original, case.run, case.original.schema.sensitive
        label = np.asarray(run.groups.labels if run.buckets is None else run.buckets, dtype=np.int64)
        inside = np.searchsorted(original.rows, run.rows)  # who is not among them was suppressed
        sizes = np.bincount(label)
        n = len(inside)
        rank = np.empty(n, dtype=np.int64)
        rank[Randomness(0).words("corrupted", n).argsort(kind="stable")] = np.arange(n)
        pairs = {}  # a class and a value in it, numbered as they occur: there are no more than people
        for name in sensitive:
            key, count = number(label * original[name].domain.size + original[name].codes[inside])
            pairs[name] = key, np.bincount(key, minlength=count)
        one_known = {
            name: one_struck_out(counts[key] / sizes[label], sizes[label]) for name, (key, counts) in pairs.items()
        }
        sweep = []
        for share in self.shares:
            corrupted = rank < round(share * n)
            known = np.bincount(label[corrupted], minlength=len(sizes))[label] - corrupted
            attribute = {}
            for name in sensitive:
                key, left = pairs[name]
                gone = np.bincount(key[corrupted], minlength=len(left))
                confidence = (left[key] - gone[key] + corrupted) / (sizes[label] - known)  # the victim is not corrupted
                attribute[name] = {
                    "mean": float(confidence.mean()),
                    "max": float(confidence.max()),
                    "certain_rows": int((confidence > 1 - 1e-12).sum()),
                }
            sweep.append({"share": float(share), "attribute": attribute})
        guessing = {name: case.guessing(name)["mean"] for name in sensitive}
        return OrdinaryCorruptionResult(n, guessing, tuple(sweep), run.rows, one_known, STORY + case.by_rows)


def full_corruption(
    original: Table, reading: Reading, *, published: NDArray[np.bool_] | None = None
) -> dict[str, NDArray[np.float64]]:
    """How sure of everybody's true value somebody is who knows the values of all others.

    For every sensitive column (n_rows,) the probability given to the true value. ``published`` (n_rows,) says whose row
    is in the release, everybody's by default; of others the attacker learns nothing from it.
    """
    if reading.channel is not None:
        raise ParameterError("Values that went through a channel are not the true ones. Use Corruption.")
    inside = np.ones(original.n_rows, dtype=bool) if published is None else published
    found = {}
    for name in original.schema.sensitive:
        column = original[name]
        left = _published(reading, name, column.domain.labels) - np.bincount(
            column.codes[inside], minlength=column.domain.size
        )
        shares = np.bincount(column.codes, minlength=column.domain.size) / original.n_rows
        # Of a victim with value v he strikes out everybody's values but one v.
        others = np.clip(left, 0, None)
        own = np.clip(left + 1, 0, None)
        total = others.sum() - others + own
        sure = np.divide(own, total, out=np.zeros(len(own)), where=total > 0)
        found[name] = np.where(inside, sure[column.codes], shares[column.codes])
    return found


def _published(reading: Reading, name: str, labels: tuple[str, ...]) -> NDArray[np.int64]:
    """(n_values,) how often each value is in the release."""
    column = reading.cells(reading.values_table, name)
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place[label] for label in column.labels], dtype=np.int64)[column.codes]
    weights = None if reading.buckets is None else reading.buckets.people
    return np.bincount(codes, weights=weights, minlength=len(labels)).astype(np.int64)
