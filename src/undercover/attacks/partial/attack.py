"""Partial knowledge: what an attacker achieves who knows each column of a person with some probability only.

The attacker of :mod:`undercover.attacks.partial.profile` (Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual
Cover", Section 5.1), before any release and before the original as it is: a neighbour knows age and sex, hardly ever
the education. As there, all subsets of the columns are gone through, each by its weight.

Deviations: in a large table not everybody is attacked but so many people, chosen once and for all by their place
alone, that the work stays bounded; means then come with a 95% interval, and the worst is that of the people attacked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.partial.subsets import Own, subset_sums
from undercover.attacks.sampled import drawn_by_words
from undercover.attacks.views import partial_view, without_beliefs
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.forms.looking.rows import published_rows, rows_of
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.verdict import Exposure
from undercover.model.view import View, Viewable
from undercover.parameters import AtLeast, check

STORY = (
    "The attacker knows that a person is in the table, and of the columns {known} each with probability P only. He "
    "looks for the published rows that fit what he knows, takes the person to be any of them with equal probability, "
    "and gives every sensitive value its share among them. What he achieves is averaged over all he may know."
)
PROBABILITIES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
MOST_COLUMNS = 10
MOST_PAIRS = 60_000_000  # of an attacked person and a row of the table
_FEWEST, _FEWEST_OF_MANY = 500, 30  # people attacked whatever that takes
_MOST_OF_FEWEST = 3_000_000_000  # pairs, up to which it is no fewer
_NORMAL = 1.959963984540054  # 97.5% of a normal distribution lie below

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PartialKnowledgeResult(Viewable):
    """What is reached for several P, with the release and with the original as it is."""

    known: tuple[str, ...]
    people: int
    everybody: bool  # whether everybody was attacked
    drawn: bool  # whether quasi-identifiers of the release were drawn
    baseline: Mapping[str, Any]
    sweep: tuple[Mapping[str, Any], ...]
    sweep_before: tuple[Mapping[str, Any], ...]
    told: str = ""  # what else there is to say of the attacker
    beliefs: bool = True  # whether the rows that fit are what he may believe; False: figures are outcomes

    @property
    def story(self) -> str:
        """What the attacker knows and does."""
        return STORY.format(known=", ".join(f"`{name}`" for name in self.known)) + self.told

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values."""
        return {
            "attack": "p-match",
            "story": self.story,
            "known": list(self.known),
            "targets": self.people,
            "everybody": self.everybody,
            "drawn": self.drawn,
            **({} if self.beliefs else {"beliefs": False}),
            "baseline": dict(self.baseline),
            "sweep": [dict(entry) if self.beliefs else without_beliefs(entry) for entry in self.sweep],
            "sweep_before": [dict(entry) for entry in self.sweep_before],
            **({"told": self.told} if self.told else {}),
        }

    def exposures(self) -> tuple[Exposure, ...]:
        """How often he is right at the best P, where values were drawn; else linkage knows more."""
        if not self.drawn:
            return ()
        best = max((entry["identity"] for entry in self.sweep), key=lambda found: float(found["mean"]))
        ends = (best["low"], best["high"]) if "low" in best else None
        return (Exposure("p-match", np.empty(0, np.int64), rate=best["mean"], interval=ends),)

    def view(self) -> View:
        """What it shows."""
        return partial_view(self.to_dict())

    def __repr__(self) -> str:
        return f"<Partial knowledge on {self.people:,} people, for {len(self.sweep)} P; .to_dict() has everything>"


@dataclass(frozen=True, kw_only=True)
class PartialKnowledge:
    """An attacker who knows each column of a person with probability P, for several P.

    Parameters
    ----------
    known
        The columns he may know; by default every quasi-identifier and every insensitive column.
    pairs
        How many pairs of an attacked person and a row of the table may be compared; bounds how many are attacked.

    Examples
    --------
    >>> import undercover as uc
    >>> people, schema = uc.datasets.census(1000, seed=1), uc.datasets.census_schema(["age", "sex", "education"])
    >>> run = uc.publish(people, schema, uc.Mondrian(k=10))
    >>> found = uc.attack(run, PartialKnowledge())
    >>> found.people, found.sweep[-1]["identity"]["max"] <= 1 / 10
    (1000, True)
    >>> found.sweep_before[0]["identity"]["mean"] < found.sweep_before[-1]["identity"]["mean"]
    True
    """

    name: ClassVar[str] = "partial-knowledge"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    known: tuple[str, ...] | None = None
    pairs: Annotated[int, AtLeast(1)] = MOST_PAIRS

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Case) -> str | None:
        """There are few enough columns, and rows that stand for one person each."""
        known = len(case.known(self.known))
        if known > MOST_COLUMNS or not case.reading.one_each:
            return (
                f"Partial knowledge takes at most {MOST_COLUMNS} known columns, and a release in which a row stands "
                f"for one person. Got {known} columns of {case.release.method}."
            )
        return None

    def run(self, case: Case, *, progress: Progress = no_progress) -> PartialKnowledgeResult:
        """Attack the people of the original through the release and through the original itself."""
        why_not = self.applies(case)
        if why_not is not None:
            raise ParameterError(why_not)
        original, known = case.original, case.known(self.known)
        people = attacked(original.n_rows, self.pairs)
        always = Own(np.full(len(people), (1 << len(known)) - 1), np.arange(len(people) + 1))
        sides = [
            subset_sums(shown, original, known, people, mine, case.threads)
            for shown, mine in (
                (published_rows(case.reading, original, known), _own(case, known, people) or always),
                (rows_of(original, known), always),
            )
        ]
        sweep, sweep_before = (
            tuple(_at(p, identity, attribute, original.n_rows) for p in PROBABILITIES) for identity, attribute in sides
        )
        everybody, drawn = len(people) == original.n_rows, not case.reading.covers
        told = (case.reading.story if case.reading.permuted else "") + case.by_rows
        return PartialKnowledgeResult(
            known,
            len(people),
            everybody,
            drawn,
            case.baseline(),
            sweep,
            sweep_before,
            told,
            case.reading.posterior,
        )


def attacked(n_rows: int, pairs: int = MOST_PAIRS) -> NDArray[np.int64]:
    """Who is attacked: everybody, or as many as ``pairs`` allows, in the order of the table."""
    fewest = max(_FEWEST_OF_MANY, min(_FEWEST, _MOST_OF_FEWEST // max(n_rows, 1)))
    return drawn_by_words("attacked", n_rows, max(fewest, pairs // max(n_rows, 1)))


def _own(case: Case, known: Sequence[str], people: NDArray[np.int64]) -> Own | None:
    """The row the run says, or where rows were dealt those it was dealt among; ``None`` where it always fits."""
    if case.dealt is not None:
        return Own(*case.dealt.columns_that_fit(case.reading, known, case.original, people))
    fits = case.reading.own_fits(known, case.original, case.own, people)
    if fits is None:
        return None
    return Own(fits.astype(np.int64) @ (1 << np.arange(len(known))), np.arange(len(people) + 1))


def _at(p: float, identity: Floats, attribute: Mapping[str, Floats], n_rows: int) -> dict[str, Any]:
    """The figures at one P."""
    d = identity.shape[1] - 1
    weights = np.array([p**size * (1 - p) ** (d - size) for size in range(d + 1)])
    return {
        "p": p,
        "identity": _figures(identity @ weights, n_rows),
        "attribute": {name: _figures(sums @ weights, n_rows) for name, sums in attribute.items()},
    }


def _figures(values: Floats, n_rows: int) -> dict[str, Any]:
    mean, m = float(values.mean()), len(values)
    found: dict[str, Any] = {"mean": mean, "max": float(values.max())}
    if m < n_rows:
        half = _NORMAL * float(values.std(ddof=1)) * np.sqrt((n_rows - m) / ((n_rows - 1) * m))
        half = max(float(half), 3 / m)  # what one in m / 3 people have, m people miss with 5%
        found |= {"low": max(0.0, mean - half), "high": min(1.0, mean + half)}
    return found
