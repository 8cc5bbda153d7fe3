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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.sampled import EVERYBODY, WORST_OFF, OwnClasses, drawn_people, part_of_sample
from undercover.attacks.views import NUMBERS, ordinary_corruption_chart
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.forms.reading import Reading
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.table import Table
from undercover.model.verdict import Exposure
from undercover.model.view import FigureTable, Part, View, Viewable, facts, say, table
from undercover.parameters import Within, check
from undercover.randomness import Randomness

Floats = NDArray[np.float64]
_WORDS = 1 << 22  # random words at a time
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
MOST_SHARES = int(np.iinfo(np.uint8).max)  # whose numbers a byte of each person holds
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
    exposed: tuple[Exposure, ...] = field(repr=False)  # belief in true values, one other's known
    story: str = field(default=STORY, repr=False)

    def exposures(self) -> tuple[Exposure, ...]:
        """What is believed of everybody's values by somebody who knows that of one other."""
        return self.exposed

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

    shares: tuple[Annotated[float, Within(0, 1)], ...] = SHARES

    def __post_init__(self) -> None:
        check(self, self._problems())

    def _problems(self) -> Iterator[str]:
        if isinstance(self.shares, tuple) and not 1 <= len(self.shares) <= MOST_SHARES:
            yield f"OrdinaryCorruption needs from 1 to {MOST_SHARES} shares. Got {len(self.shares)} instead."

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
        from undercover.attacks.kernels import laid_out, struck_out

        original, sensitive = case.original, case.original.schema.sensitive
        classes, shares = OwnClasses.of(case.run), sorted(self.shares)
        corrupted = laid_out(classes.labels, classes.starts, _corrupted(len(classes.labels), shares))
        by_share: dict[float, dict[str, Any]] = {share: {} for share in shares}
        for name in sensitive:
            values, size = classes.laid_out(original[name]), original[name].domain.size
            found = struck_out(classes.starts, values, corrupted, size, len(shares))
            for share, (mean, most, certain) in zip(shares, found.tolist(), strict=True):
                by_share[share][name] = {"mean": mean, "max": most, "certain_rows": int(certain)}
        sweep = tuple({"share": float(share), "attribute": by_share[share]} for share in self.shares)
        guessing = {name: case.guessing(name)["mean"] for name in sensitive}
        exposed = _exposed(case, classes)
        return OrdinaryCorruptionResult(len(classes.labels), guessing, sweep, exposed, STORY + case.by_rows)


def _corrupted(n: int, shares: Sequence[float]) -> NDArray[np.uint8]:
    """(n,) the first of ascending shares at which somebody is corrupted: by rank, of very many by the word alone."""
    if n <= EVERYBODY:
        rank = np.empty(n, dtype=np.int64)
        rank[Randomness(0).words("corrupted", n).argsort(kind="stable")] = np.arange(n)
        return np.searchsorted([round(share * n) for share in shares], rank, side="right").astype(np.uint8)
    found, ends = np.empty(n, np.uint8), [round(share * 2**32) for share in shares]
    for first in range(0, n, _WORDS):
        words = Randomness(0).words("corrupted", min(_WORDS, n - first), start=first)
        found[first : first + _WORDS] = np.searchsorted(ends, words.astype(np.int64), side="right")
    return found


def _exposed(case: Case, classes: OwnClasses) -> tuple[Exposure, ...]:
    """What is believed of people's values by somebody who knows that of one other: of everybody, or of a sample.

    Of a sample also who is worst off, which is what nobody is beyond.
    """
    original, run, attack = case.original, case.run, "ordinary-corruption"
    assert run is not None
    part = part_of_sample(case.reading, case.known(None))
    chosen, worst = drawn_people(original, None, part), np.empty(0, np.int64)
    columns = [original[name] for name in original.schema.sensitive]
    times = {column.name: classes.times(column) for column in columns}
    for column in columns if chosen is not None else ():
        surest = classes.surest(column, times[column.name], struck=True)
        worst = np.union1d(worst, classes.highest(surest, int(part * WORST_OFF)))
    beliefs: list[dict[str, Floats]] = [{}, {}]
    for believed, rows in zip(beliefs, (chosen, worst), strict=True):
        there, places = classes.places(rows, original.n_rows)
        for column in columns:
            believed[column.name] = np.zeros(len(there))
            believed[column.name][there] = classes.shares(column, times[column.name], places, struck=True)
    if chosen is None:
        return (Exposure(attack, run.rows, belief=beliefs[0], known_values=True),)
    lacking = {column.name: column.lacking for column in columns if column.lacking is not None}
    most = {
        name: float(found[~lacking[name][worst]].max(initial=0.0) if name in lacking else found.max(initial=0.0))
        for name, found in beliefs[1].items()
    }
    drawn = original.numbers(chosen)
    return (
        Exposure(attack, drawn, belief=beliefs[0], known_values=True, of=original.n_rows, belief_at_most=most),
        Exposure(attack, original.numbers(worst), belief=beliefs[1], known_values=True),
    )


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
