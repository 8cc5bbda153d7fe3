"""The journalist: somebody who does not know who is in the table, and looks for its rows among the whole population.

Sweeney 2002 for k-map; the names of the three attackers (prosecutor, journalist, marketer) are those of El Emam,
"Guide to the De-Identification of Personal Health Information", 2013. A published class that f people of the table are
in fits F people of the population. Whoever takes one of these for the person behind a row is right with 1/F; and of the
F, f are in the table, so that somebody who fits is known to be in it with f/F. The smallest F is the k of k-map.

The ends of an interval, and the values of a set, are values that occur in the class (those of a region: in the table)
unless the release rounded them. So of the E people of the population who fit and have such a value, at least one is in
the table. With any f of the F equally likely, each of the E is then in it with (f/F) / (1 - C(F - E, f) / C(F, f)): for
certain where E is 1. Of several such values the one that tells most is used: somebody reaches at least this.

F is counted in a table of the population, or estimated: the sum of the sampling weights of the class, or f over the
share of the population that is in the table. An estimate never falls below f: these people exist. A table takes
precedence. By Jensen's inequality E(1/F) is at least 1/E(F), so that 1/F errs low where F is estimated: the result says
so (``is_estimated``), and a verdict that rests on it is *Decide* at best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.people import Targets, first_rows, groups_of, own_boxes
from undercover.attacks.views import NUMBERS
from undercover.forms.boxes import match
from undercover.forms.case import Case
from undercover.forms.disclosure import distinct_rows
from undercover.forms.meaning import domain_values
from undercover.forms.written import combine
from undercover.forms.written import first_rows as representatives
from undercover.model.cells import EVERYTHING, named
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.table import Table
from undercover.model.verdict import Exposure
from undercover.model.view import Figure, Said, View, Viewable, certainty, facts, table

STORY = (
    "The attacker does not know who is in the table. He takes a published row, looks among the people of the "
    "population for those who fit its quasi-identifiers, and takes it to be any of them. And of somebody he knows he "
    "asks how many of those who fit are in the table at all. How many people fit was {how}."
)
_HOW = {"table": "counted in a table of the population", "weight": "estimated by the sampling weights"}
_SHARE = "estimated from the share of the population that is in the table"
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
_CERTAIN = 1 - 1e-12
_FACTORS = 2_000  # of a product that is next to 0 by then, or tells next to nothing


@dataclass(frozen=True)
class JournalistResult(Viewable):
    """What he reaches on everybody of the table."""

    rows: Integers  # (n_people,) input row of each person, the first where there are several
    found: Floats  # (n_people,) probability that the row he took is that person's
    membership: Floats  # (n_people,) share of those who fit the person's cells who are in the table
    k_map: float  # people of the population who fit the class that fewest fit
    population: float  # how many people there are, in and out of the table
    how: str  # whence it is known how many fit
    certain_by_ends: int = 0  # people who are certainly in the table only because an end of their cells is their value

    @property
    def is_estimated(self) -> bool:
        """Whether how many people fit was estimated: by Jensen's inequality the risk then errs low."""
        return self.how != "table"

    def to_dict(self) -> dict[str, Any]:
        """Means, worst cases and how many people are certain."""
        return {
            "attack": "journalist",
            "story": STORY.format(how=_HOW.get(self.how, _SHARE)),
            "targets": len(self.rows),
            "estimated": self.is_estimated,
            "k_map": self.k_map,
            "found": {"mean": float(self.found.mean()), "max": float(self.found.max())},
            "membership": {
                "mean": float(self.membership.mean()),
                "max": float(self.membership.max()),
                "certain": int((self.membership > _CERTAIN).sum()),
                "certain_by_ends": self.certain_by_ends,
            },
            "baseline": {"found": 1 / self.population, "membership": len(self.rows) / self.population},
        }

    def exposures(self) -> tuple[Exposure, ...]:
        """Everybody's row, and presence in the table."""
        return (
            Exposure(
                "journalist",
                self.rows,
                self.found,
                membership=self.membership,
                population=True,
                estimated=self.is_estimated,
            ),
        )

    def view(self) -> View:
        """How surely he finds people and knows that they are in the table."""
        found = self.to_dict()
        said = {"found": "finds the person behind a row", "membership": "knows that somebody is in the table"}
        rows: list[Any] = []
        for key, text in said.items():
            rows.append((f"{text}, on average", found[key]["mean"], found["baseline"][key]))
            rows.append((f"{text}, worst case", found[key]["max"], None))
        fewest = Figure(self.k_map, text=f"{int(self.k_map):,}")
        parts: list[Any] = [
            facts(
                ("people", found["targets"]),
                ("people of the population who fit the smallest class (k-map)", Said("{}", (fewest,))),
                ("people who are certainly in the table", found["membership"]["certain"]),
                *(
                    (("of these, because an end of an interval is their value", self.certain_by_ends),)
                    if self.certain_by_ends
                    else ()
                ),
            ),
            table(("the attacker", "release", "guessing"), "plain risk baseline", rows),
        ]
        highest = certainty(found["found"]["max"])
        return View("journalist", "The journalist", tuple(parts), *highest, found["story"], NUMBERS, private=True)

    def __repr__(self) -> str:
        return (
            f"<Journalist on {len(self.rows):,} people: finds one with {self.found.max():.3f} at worst, k-map "
            f"{self.k_map:.1f}; .to_dict() has everything>"
        )


@dataclass(frozen=True, kw_only=True)
class Journalist:
    """An attacker who knows the population and not who of it is in the table.

    It needs ``weight`` or ``population`` in the schema.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income", population=0.01)
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> found = uc.attack(run, Journalist())
    >>> bool(found.found.max() <= 1 / 1000), round(float(found.membership.max()), 3)
    (True, 0.01)
    """

    name: ClassVar[str] = "journalist"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    def applies(self, case: Case) -> str | None:
        """The schema says whom the table is a sample of, and the run which row was published where."""
        schema = case.original.schema
        if schema.weight is None and schema.population is None:
            return "Nobody says whom the table is a sample of: give `weight` or `population` in the schema."
        if schema.weight is None and not _is_share(schema.population) and case.original.population is None:
            return "The table of the population is not at hand."
        if case.run is None:
            return "Which row is in which class stays in the private run. Attack the run."
        return (
            None if case.reading.covers and case.reading.one_each else "Cells of this release do not cover the truth."
        )

    def run(self, case: Case, *, progress: Progress = no_progress) -> JournalistResult:
        """Count or estimate who fits every class."""
        original, known = case.original, case.original.schema.quasi_identifiers
        asked = Targets(original, known, *case.targets(known), case.threads)
        boxes = case.reading.boxes(known, original)
        groups = groups_of(case, known)
        assert groups is not None
        if boxes.exact is not None:
            of_row = np.where(groups < 0, -1, asked.target_of)
        else:
            of_row = own_boxes(boxes, asked, groups, np.arange(original.n_rows))
        there = np.flatnonzero(of_row >= 0)
        names, label = np.unique(of_row[there], return_inverse=True)
        label = label.reshape(-1)
        inside, weight = _people(original, there, label, len(names))
        people = original.n_rows if original.units is None else len(np.unique(original.units))
        if original.population is not None:  # counted: it takes precedence over any estimate
            how, everybody = "table", float(original.population.n_rows)
            fitting = _counted(case, original.population, known)[names]
            if boxes.exact is not None:
                fitting = _alike(original, original.population, known, asked.targets[names])
        elif original.schema.weight is not None:
            how, fitting = "weight", weight
            everybody = float(weight.sum())
        else:
            how, fitting = "share", inside / float(original.schema.population)
            everybody = people / float(original.schema.population)
        fitting = np.maximum(fitting, inside)
        found, membership = np.zeros(original.n_rows), np.zeros(original.n_rows)
        found[there], membership[there] = (1 / fitting)[label], (inside / fitting)[label]
        by_ends = np.zeros(original.n_rows)
        if how == "table" and boxes.exact is None:
            by_ends[there] = _by_ends(case, known, names, label, there)
        rows = original.rows
        if original.units is not None:
            order = np.argsort(original.units, kind="stable")
            starts = np.flatnonzero(np.append(True, np.diff(original.units[order]) != 0))
            found, membership, by_ends = (
                np.maximum.reduceat(each[order], starts) for each in (found, membership, by_ends)
            )
            rows = first_rows(original)
        certain = int(((by_ends > _CERTAIN) & (membership <= _CERTAIN)).sum())
        membership = np.maximum(membership, by_ends)
        return JournalistResult(rows, found, membership, float(fitting.min()), max(everybody, people), how, certain)


def _by_ends(case: Case, known: tuple[str, ...], names: Integers, label: Integers, there: Integers) -> Floats:
    """(n_there,) how surely each published row's person is in the table, by the one value of its cells that tells most.

    ``names`` are the boxes of the classes, ``label`` is the class of each row that is ``there``.
    """
    original, population = case.original, case.original.population
    assert population is not None
    proven = {name: mask for name in known if (mask := _occurring(case, known, name, names, label, there)) is not None}
    most = np.zeros(len(there))
    for name in known:
        if name not in proven:
            most = np.maximum(most, _by_ends_of_regions(case, population, name, there))
    if not proven:
        return most
    inside = np.bincount(label, minlength=len(names))[label]
    targets, people, boxes = _fitting_pairs(case, population, known)
    everybody = _sums(boxes, people, int(names.max()) + 1)[names][label]
    for name, occurs in proven.items():
        size = population[name].domain.size
        place = {text: code for code, text in enumerate(population[name].domain.labels)}
        codes = np.array([place[text] for text in original[name].domain.labels], dtype=np.int64)
        wanted = names[label] * size + codes[original[name].codes[there]]
        asked, which = np.unique(wanted, return_inverse=True)
        keys = boxes * size + targets[:, known.index(name)]
        at = np.minimum(np.searchsorted(asked, keys), len(asked) - 1)
        alike = _sums(at, np.where(asked[at] == keys, people, 0), len(asked))[which.reshape(-1)]
        some = _one_of(inside, everybody, np.maximum(alike, 1))
        most = np.where(occurs, np.maximum(most, some), most)
    return most


def _occurring(
    case: Case, known: tuple[str, ...], name: str, names: Integers, label: Integers, there: Integers
) -> NDArray[np.bool_] | None:
    """(n_there,) whose value must occur in their class, being an end or a member of its cell; ``None`` for nobody.

    Somebody who reads the release can rely on it only where it is so in every class: not of regions and rounded ends.
    """
    reading, column = case.reading, case.reading.column(name)
    form = reading.main.form(name)
    if form not in ("interval", "set"):
        return None
    meanings = domain_values(case.original[name]).read_all(column.labels, form)
    low, high, size = (np.array([getattr(each, part) for each in meanings]) for part in ("low", "high", "size"))
    rows = [reading.column(each) for each in known]
    boxes, count = combine(rows if reading.buckets is None else [*rows, reading.buckets.rows])
    cell = column.codes[representatives(boxes, count)][names][label]
    own = case.original[name].codes[there].astype(np.int64)
    some = np.array([text != EVERYTHING for text in column.labels])[cell]
    present = np.unique(np.stack([label, own]), axis=1)[0]  # once for every value of a class
    different = np.bincount(present, minlength=len(names))
    if form == "set":
        tight = (different[label] == size[cell]) | ~some
        return some if tight.all() else None
    least, largest = np.full(len(names), np.iinfo(np.int64).max), np.full(len(names), -1)
    np.minimum.at(least, label, own)
    np.maximum.at(largest, label, own)
    tight = ((least[label] == low[cell]) & (largest[label] == high[cell])) | ~some
    return some & ((own == low[cell]) | (own == high[cell])) if tight.all() else None


def _by_ends_of_regions(case: Case, population: Table, name: str, there: Integers) -> Floats:
    """(n_there,) the same where an exact end need not occur in its class: it still occurs somewhere in the table."""
    main, own = case.reading.main, case.original[name]
    column = next(column for column in main.columns if column.name == name)
    if column.form != "interval" or column.ends != "exact":
        return np.zeros(len(there))
    ends = {end for cell in case.reading.column(name).labels if cell != EVERYTHING for end in named(cell)}
    is_end = np.array([text in ends for text in own.domain.labels])
    place = {text: code for code, text in enumerate(population[name].domain.labels)}
    people = np.bincount(population[name].codes, minlength=population[name].domain.size)
    having = people[[place[text] for text in own.domain.labels]].astype(np.float64)
    inside = np.full(len(having), len(there))
    chance = np.where(is_end, _one_of(inside, np.full(len(having), float(population.n_rows)), having), 0.0)
    return np.asarray(chance[own.codes[there]])


def _fitting_pairs(case: Case, population: Table, known: tuple[str, ...]) -> tuple[Integers, Integers, Integers]:
    """Distinct people of the population with each box they fit: their codes, how many there are, and the box."""
    boxes = case.reading.boxes(known, population)
    target_of, targets = distinct_rows(np.stack([population[name].codes for name in known], axis=1).astype(np.int64))
    offsets, members = match(boxes, targets, case.threads)
    times = np.diff(offsets)
    return np.repeat(targets, times, axis=0), np.repeat(np.bincount(target_of, minlength=len(targets)), times), members


def _one_of(inside: NDArray[Any], fitting: Floats, having: Floats) -> Floats:
    """How surely each of ``having`` people is among the ``inside`` drawn from ``fitting``, where one of them must be.

    >>> _one_of(np.array([5, 5]), np.array([100.0, 100.0]), np.array([1.0, 100.0])).round(3).tolist()
    [1.0, 0.05]
    """
    # C(F - E, f) / C(F, f) as a product over whichever is fewer: the f who are drawn, or the E who are not among them.
    factors = np.minimum(np.minimum(inside, having), _FACTORS)
    other = np.maximum(inside, having)
    none = np.ones(len(fitting))
    for drawn in range(int(factors.max(initial=0))):
        still = drawn < factors
        none[still] *= np.maximum((fitting - other - drawn)[still], 0) / np.maximum((fitting - drawn)[still], 1)
    chance: Floats = np.minimum((inside / fitting) / np.maximum(1 - none, 1e-300), 1.0)
    return np.where(having <= 1, 1.0, chance)


def _is_share(population: Any) -> bool:
    return isinstance(population, int | float)


def _people(original: Table, there: Integers, label: Integers, count: int) -> tuple[Floats, Floats]:
    """(count,) people of the table in each class, and the people of the population their weights stand for.

    Somebody with several rows in a class is one person there, with their mean weight.
    """
    weights = np.ones(original.n_rows) if original.weights is None else original.weights
    if original.units is None:
        return _sums(label, np.ones(len(label)), count), _sums(label, weights[there], count)
    n_units = int(original.units.max()) + 1
    pairs, pair, rows = np.unique(label * n_units + original.units[there], return_inverse=True, return_counts=True)
    mean = np.bincount(pair.reshape(-1), weights[there]) / rows
    of_class = pairs // n_units
    return _sums(of_class, np.ones(len(pairs)), count), _sums(of_class, mean, count)


def _sums(label: Integers, values: NDArray[Any], count: int) -> Floats:
    return np.bincount(label, values, minlength=count).astype(np.float64)


def _counted(case: Case, population: Table, known: tuple[str, ...]) -> Floats:
    """(n_boxes,) people of the population who fit each box; boxes are numbered as they are on the original."""
    boxes = case.reading.boxes(known, population)
    target_of, targets = distinct_rows(np.stack([population[name].codes for name in known], axis=1).astype(np.int64))
    offsets, members = match(boxes, targets, case.threads)
    each = np.repeat(np.bincount(target_of, minlength=len(targets)), np.diff(offsets))
    return _sums(members, each, len(boxes.weights))


def _alike(original: Table, population: Table, known: tuple[str, ...], targets: Integers) -> Floats:
    """(n_targets,) people of the population with exactly the values of each target."""
    columns = []
    for name, codes in zip(known, targets.T, strict=True):
        place = {label: code for code, label in enumerate(population[name].domain.labels)}
        columns.append(np.array([place[label] for label in original[name].domain.labels], dtype=np.int64)[codes])
    own = np.stack([population[name].codes for name in known], axis=1).astype(np.int64)
    together, _ = distinct_rows(np.concatenate([np.stack(columns, axis=1), own]))
    people = np.bincount(together[len(targets) :], minlength=int(together.max()) + 1)
    return people[together[: len(targets)]].astype(np.float64)
