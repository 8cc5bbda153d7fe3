"""The nearest row: the attacker knows a person's quasi-identifiers and takes the published row that is most like them.

Record linkage by distance (Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001), for tables whose values were moved: he
needs to know neither groups nor how values were drawn. Two rows are apart by the mean over the known columns of how far
their values are apart, each on a scale from 0 to 1. Where several rows are equally near, he picks one of them.

He may also know that every row was changed (mutual cover's default says so): then a row that equals the person's
values is somebody else's, and he takes the nearest of the others. Both are given; what counts is the better one.

Where cells cover the truth, the nearest rows are those that fit, and linkage says it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.sampled import drawn_by_words
from undercover.attacks.views import NUMBERS
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.forms.disclosure import mean_with_interval
from undercover.forms.looking.rows import ShownRows, published_rows
from undercover.forms.meaning import domain_values
from undercover.model.distance.between import NUMERIC, ValueDistance
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.table import Table
from undercover.model.verdict import Exposure
from undercover.model.view import Figure, View, Viewable, certainty, facts, listed, table
from undercover.parameters import AtLeast, check
from undercover.threads import parallel

Floats = NDArray[np.float64]
Rows = NDArray[np.integer]

STORY = (
    "The attacker knows that a person is in the table and knows the person's values in the columns {known}. Knowing "
    "neither groups nor how values were drawn, he takes the published row nearest to these values to be the person's."
)
_NEAR = 1e-9
_MOST, _FEWEST, _MOST_PAIRS = 1_500, 300, 500_000_000  # people looked for, and pairs of one and a published row
_FEWEST_OF_MANY, _MOST_OF_FEWEST = 30, 3_000_000_000  # the same where there are so many rows that it would take minutes
_WAYS = ("nearest", "nearest that differs")


@dataclass(frozen=True)
class NearestRowResult(Viewable):
    """How often the nearest row is the person's own, and how often it shows the person's value."""

    known: tuple[str, ...]
    people: int
    rows: NDArray[np.int64]  # input row of everybody looked at
    identity: Mapping[str, Floats]  # of the nearest row, and of the nearest that differs: whether it is the own one
    attribute: Mapping[str, Mapping[str, Floats]]  # the same for every sensitive column: the share with the true value
    baseline: Mapping[str, Any]
    told: str = ""  # what else there is to say of the attacker

    @property
    def best(self) -> str:
        """The way that finds more rows."""
        return max(self.identity, key=lambda way: float(self.identity[way].mean()))

    @property
    def story(self) -> str:
        """What the attacker knows and does."""
        return STORY.format(known=", ".join(f"`{name}`" for name in self.known)) + self.told

    def to_dict(self) -> dict[str, Any]:
        """Means, with intervals where only some people were looked at."""
        return {
            "attack": "nearest-row",
            "story": self.story,
            "known": list(self.known),
            "people": self.people,
            "targets": len(self.rows),
            "best": self.best,
            "identity": {way: self._mean(found) for way, found in self.identity.items()},
            "attribute": {
                name: {way: self._mean(found) for way, found in ways.items()} for name, ways in self.attribute.items()
            },
            "strongest": {
                "identity": _mean_and_worst(self.identity[self.best]),
                "attribute": {name: _mean_and_worst(ways[self.best]) for name, ways in self.attribute.items()},
            },
            "certain": {way: int((found == 1).sum()) for way, found in self.identity.items()},
            "baseline": dict(self.baseline),
        }

    def exposures(self) -> tuple[Exposure, ...]:
        """How often the row he takes is the person's own."""
        found = self._mean(self.identity[self.best])
        ends = tuple(found["interval"]) if "interval" in found else None
        return (Exposure("nearest-row", self.rows, rate=found["mean"], interval=ends),)

    def _mean(self, found: Floats) -> dict[str, Any]:
        return mean_with_interval(found, sampled=len(self.rows) < self.people)

    def view(self) -> View:
        """How often he is right, beside guessing."""
        found = self.to_dict()
        rows: list[Any] = []
        for way in _WAYS:
            entry = found["identity"][way]
            rows.append((f"the {way} row is the own one", _figure(entry), found["baseline"]["identity"]))
        for name, ways in found["attribute"].items():
            guessing = found["baseline"]["attribute"][name]["mean"]
            rows.extend((f"the {way} row shows the own `{name}`", _figure(ways[way]), guessing) for way in _WAYS)
        parts = (
            facts(("people", found["targets"]), ("known of each", listed(found["known"]))),
            table(("the attacker", "release", "guessing"), "plain risk baseline", rows),
        )
        highest = certainty(max(entry["mean"] for entry in found["identity"].values()))
        return View("nearest-row", "The nearest row", parts, *highest, found["story"], NUMBERS, private=True)

    def __repr__(self) -> str:
        found = self.identity[self.best].mean()
        return f"<The {self.best} row is the own one of {found:.1%} of {len(self.rows):,} people; .to_dict() has more>"


def _mean_and_worst(found: Floats) -> dict[str, float]:
    return {"mean": float(found.mean()), "max": float(found.max())}


def _figure(entry: Mapping[str, Any]) -> Figure:
    return Figure(entry["mean"], "risk", interval=entry.get("interval"))


@dataclass(frozen=True, kw_only=True)
class NearestRow:
    """An attacker who takes the row most like the person.

    Parameters
    ----------
    known
        The columns he knows; by default every quasi-identifier and every insensitive column.
    most
        People he looks for; of more than these a random sample, with intervals. By default 1,500, and fewer in tables
        of more than a third of a million rows, since everybody is compared with every row.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(500), schema, uc.MutualCover(variant="paper", delta="1/3", l=3), seed=1)
    >>> found = uc.attack(run, NearestRow())
    >>> float(found.identity[found.best].mean()) > 1 / 500
    True
    """

    name: ClassVar[str] = "nearest-row"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    known: tuple[str, ...] | None = None
    most: Annotated[int, AtLeast(1)] | None = None

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Case) -> str | None:
        """Values were moved, a row is one person, and the run says whose it is."""
        if case.reading.covers:
            return "The cells of this release cover the truth: the nearest rows are those that fit. Use linkage."
        if not case.reading.one_each:
            return "A row of this release stands for several people, so none is a person's own."
        if case.own is None:
            return "Which published row is whose stays in the private run. Attack the run or its folder."
        return None

    def run(self, case: Case, *, progress: Progress = no_progress) -> NearestRowResult:
        """Look for everybody, or for a sample."""
        why_not = self.applies(case)
        if why_not is not None:
            raise ParameterError(why_not)
        original, known = case.original, case.known(self.known, "The nearest row")
        assert case.own is not None
        chosen = drawn_by_words("people looked for", original.n_rows, self.most or _people(case.reading.main.rows))
        shown = published_rows(case.reading, original, known)
        tables = _tables(case, shown, known, chosen)
        marks, own, among = _marks(case, chosen)
        counts = _nearest(shown, original, chosen, tables, (marks, own), case.threads, progress)
        rows = np.maximum(counts[:, :, 0], 1)
        identity = {way: counts[:, at, 1] / rows[:, at] / among for at, way in enumerate(_WAYS)}
        attribute = {}
        for place, secret in enumerate(shown.secrets):
            share, spread = (counts[:, :, 2 + 2 * place + part] / rows for part in (0, 1))
            if secret.law is not None:
                truth = original[secret.name].codes[chosen].astype(np.int64)[:, None]
                share = np.where(counts[:, :, 0] > 0, secret.law.believed(truth, share, spread), 0.0)
            attribute[secret.name] = {way: share[:, at] for at, way in enumerate(_WAYS)}
        told = case.reading.story if case.reading.permuted else ""
        of = original.numbers(chosen)
        return NearestRowResult(known, original.n_rows, of, identity, attribute, case.baseline(), told)


def _people(rows: int) -> int:
    """How many people can be compared with all rows of a release.

    >>> _people(10_000), _people(1_000_000), _people(100_000_000)
    (1500, 500, 30)
    """
    fewest = max(_FEWEST_OF_MANY, min(_FEWEST, _MOST_OF_FEWEST // max(rows, 1)))
    return min(_MOST, max(fewest, _MOST_PAIRS // max(rows, 1)))


def _marks(case: Case, chosen: Rows) -> tuple[NDArray[Any] | None, Rows, Any]:
    """What marks the published rows that may be a person's own: the group it was dealt in, else (``None``) its number.

    Beside it everybody's mark, and among how many rows the own one is.
    """
    own, dealt = case.own, case.dealt
    assert own is not None
    if dealt is None:
        return None, own[chosen].astype(np.int64), 1
    of_row = np.empty(len(own), dtype=np.int32)
    of_row[own] = dealt.groups
    mine = dealt.groups[chosen].astype(np.int64)
    return of_row, mine, dealt.sizes[mine]


def _tables(case: Case, shown: ShownRows, known: Sequence[str], chosen: Rows) -> Floats:
    """(n_people, n_cells) how far each published cell is from the person's value, in the order of ``shown``."""
    each = []
    for j in shown.narrowest:
        column = case.original[known[j]]
        codes, of_person = np.unique(column.codes[chosen], return_inverse=True)
        covered = case.reading.coverage(column.name, domain_values(column))
        places, apart = covered.low[covered.starts[:-1]], ValueDistance.of(column)
        width = apart.widest or 1.0
        if apart.kind == NUMERIC:
            found = np.abs(apart.scale[places] - apart.scale[codes][:, None]) / width
        else:
            found = np.array([[apart.between(int(code), int(p)) / width for p in places] for code in codes])
        each.append(found[of_person.reshape(-1)])
    return np.concatenate(each, axis=1)


def _nearest(
    shown: ShownRows,
    original: Table,
    chosen: Rows,
    tables: Floats,
    marked: tuple[NDArray[Any] | None, Rows],
    threads: int,
    progress: Progress,
) -> Floats:
    """(n_people, 2, 2 + 2 n_sensitive) what the nearest rows come to, and the nearest of those that differ."""
    from undercover.attacks.kernels import nearest_rows

    (marks, own), chunks = marked, shown.chunks
    codes = [original[secret.name].codes[chosen].astype(np.int32) for secret in shown.secrets]
    truths = np.stack(codes, axis=1) if codes else np.zeros((len(chosen), 0), np.int32)

    def through(part: int) -> tuple[Floats, Floats]:
        best, found = np.full((len(chosen), 2), np.inf), np.zeros((len(chosen), 2, 2 + 2 * len(codes)))
        for place in range(part, len(chunks), threads):
            rows = chunks[place]
            values = np.zeros((rows.stop - rows.start, len(codes)), np.int32)
            spreads = np.zeros(values.shape)
            for at, secret in enumerate(shown.secrets):
                values[:, at] = secret.place[secret.groups(rows)]
                if secret.law is not None:
                    spreads[:, at] = secret.law.spread[values[:, at]]
            of_rows = np.arange(rows.start, rows.stop) if marks is None else marks[rows].astype(np.int64)
            nearest_rows(shown.cells_of(rows), tables, of_rows, own, values, truths, spreads, _NEAR, best, found)
            progress("looking for the nearest rows", place / len(chunks))
        return best, found

    parts = parallel(through, range(min(threads, len(chunks))), threads)
    nearest = np.min([best for best, _ in parts], axis=0)
    return np.asarray(sum(found * (best <= nearest + _NEAR)[:, :, None] for best, found in parts))
