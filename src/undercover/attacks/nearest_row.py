"""The nearest row: the attacker knows a person's quasi-identifiers and takes the published row that is most like them.

Record linkage by distance (Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001), for tables whose values were moved: he
needs to know neither groups nor how values were drawn. Two rows are apart by the mean over the known columns of how far
their values are apart, each on a scale from 0 to 1. Where several rows are equally near, he picks one of them.

He may also know that every row was changed (mutual cover's default says so): then a row that equals the person's
values is somebody else's, and he takes the nearest of the others. Both are given; what counts is the better one.

Where cells cover the truth, the nearest rows are those that fit, and linkage says it all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import look_up
from undercover.attacks.sampled import drawn_by_words
from undercover.attacks.views import NUMBERS
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.forms.disclosure import mean_with_interval
from undercover.forms.meaning import domain_values
from undercover.model.distance.between import NUMERIC, ValueDistance
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.table import EncodedColumn
from undercover.model.verdict import Exposure
from undercover.model.view import Figure, View, Viewable, certainty, facts, listed, table
from undercover.parameters import AtLeast, check

Floats = NDArray[np.float64]
Rows = NDArray[np.integer]

STORY = (
    "The attacker knows that a person is in the table and knows the person's values in the columns {known}. Knowing "
    "neither groups nor how values were drawn, he takes the published row nearest to these values to be the person's."
)
_NEAR = 1e-9
_MOST, _FEWEST, _MOST_PAIRS = 1_500, 300, 500_000_000  # people looked for, and pairs of one and a published row
_MOST_COMBINED = 1 << 15  # combinations of values whose distances are added up before rows are looked at
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
        far = _packed([_distances(case, original[name]) for name in known])
        codes = np.stack([original[name].codes[chosen] for name in known], axis=1).tolist()
        shown = {name: _shown(case, name) for name in original.schema.sensitive}
        laws = {} if case.reading.among is None else case.reading.boxes(known, original).laws
        mine = _own(case)
        identity = {way: np.zeros(len(chosen)) for way in _WAYS}
        attribute = {name: {way: np.zeros(len(chosen)) for way in _WAYS} for name in shown}
        n_rows = case.reading.main.rows

        def look(place: int) -> None:
            row, distance, further = chosen[place], np.zeros(n_rows), np.empty(n_rows)
            for columns, cells in far:
                apart = reduce(np.add.outer, [between(codes[place][at]) for at, between in columns]).ravel()
                distance += np.take(apart, cells, out=further, mode="clip")
            for way, nearest in zip(_WAYS, _nearest(distance), strict=True):
                possible, among = mine(row)
                identity[way][place] = possible(nearest) / max(len(nearest), 1) / among
                for name, values in shown.items():
                    truth, seen = original[name].codes[row], values[nearest]
                    share = (seen == truth).mean() if len(nearest) else 0.0
                    if name in laws and len(nearest):
                        share = laws[name].believed(truth, share, laws[name].spread[seen].mean())
                    attribute[name][way][place] = share

        with ThreadPoolExecutor(case.threads) as pool:
            for place, _ in enumerate(pool.map(look, range(len(chosen)))):
                if place % 256 == 0:
                    progress("looking for the nearest rows", place / len(chosen))
        rows, told = original.rows[chosen], case.reading.story if case.reading.permuted else ""
        return NearestRowResult(known, original.n_rows, rows, identity, attribute, case.baseline(), told)


def _people(rows: int) -> int:
    """How many people can be compared with all rows of a release.

    >>> _people(10_000), _people(1_000_000), _people(100_000_000)
    (1500, 500, 300)
    """
    return min(_MOST, max(_FEWEST, _MOST_PAIRS // max(rows, 1)))


def _own(case: Case) -> Callable[[int], tuple[Callable[[Rows], int], int]]:
    """Of a person how many of some published rows are the own one, or may be where rows were dealt, and of how many."""
    own, dealt = case.own, case.dealt
    assert own is not None
    if dealt is None:
        return lambda row: (lambda rows: int((rows == own[row]).sum()), 1)
    of_row = np.empty(len(own), dtype=np.int64)
    of_row[own] = dealt.groups
    group, sizes = dealt.groups, dealt.sizes
    return lambda row: (lambda rows: int((of_row[rows] == group[row]).sum()), int(sizes[group[row]]))


def _nearest(distance: Floats) -> Sequence[NDArray[np.int64]]:
    """The nearest rows, and the nearest of those that differ."""
    first = np.flatnonzero(distance <= distance.min() + _NEAR)
    differs = distance > _NEAR
    if not differs.any():
        return first, np.empty(0, np.int64)
    return first, np.flatnonzero(differs & (distance <= distance[differs].min() + _NEAR))


def _packed(far: Sequence[tuple[Any, Rows]]) -> list[tuple[list[tuple[int, Any]], Rows]]:
    """Columns taken together as long as their values have few combinations: one look-up for all of them in a row."""
    packed: list[tuple[list[tuple[int, Any]], Rows]] = []
    sizes: list[int] = []
    for at in sorted(range(len(far)), key=lambda at: -int(far[at][1].max(initial=0))):
        between, cells = far[at]
        size = len(between(0))
        place = next((i for i, combined in enumerate(sizes) if combined * size <= _MOST_COMBINED), None)
        if place is None:
            packed.append(([(at, between)], cells))
            sizes.append(size)
        else:
            columns, together = packed[place]
            packed[place] = [*columns, (at, between)], together * size + cells
            sizes[place] *= size
    return packed


def _distances(case: Case, column: EncodedColumn) -> tuple[Any, NDArray[np.int32]]:
    """How far each published value of a column is from an original one, and the published values as codes."""
    covered = case.reading.coverage(column.name, domain_values(column))
    places = covered.low[covered.starts[:-1]]
    apart = ValueDistance.of(column)
    width = apart.widest or 1.0

    def between(code: int) -> Floats:
        if apart.kind == NUMERIC:
            found: Floats = np.abs(apart.scale[places] - apart.scale[code]) / width
            return found
        return np.array([apart.between(code, int(place)) / width for place in places])

    return _remembered(between), case.reading.column(column.name).codes.astype(np.int32)


def _remembered(between: Any) -> Any:
    found: dict[int, Floats] = {}

    def get(code: int) -> Floats:
        if code not in found:
            found[code] = between(code)
        return found[code]

    return get


def _shown(case: Case, name: str) -> NDArray[np.int64]:
    """The published sensitive values as codes of the original; those it does not have come behind."""
    written = case.reading.column(name)
    place = {label: code for code, label in enumerate(case.original[name].domain.labels)}
    codes = [place.setdefault(label, len(place)) for label in written.labels]
    return look_up(np.array(codes, dtype=np.int64), written.codes)
