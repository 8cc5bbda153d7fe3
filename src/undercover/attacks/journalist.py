"""The journalist: somebody who does not know who is in the table, and looks for its rows among the whole population.

Sweeney 2002 for k-map; the names of the three attackers (prosecutor, journalist, marketer) are those of El Emam,
"Guide to the De-Identification of Personal Health Information", 2013. A published class that f people of the table are
in fits F people of the population. Whoever takes one of these for the person behind a row is right with 1/F; and of the
F, f are in the table, so that somebody who fits is known to be in it with f/F. The smallest F is the k of k-map.

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


@dataclass(frozen=True)
class JournalistResult(Viewable):
    """What he reaches on everybody of the table."""

    rows: Integers  # (n_people,) input row of each person, the first where there are several
    found: Floats  # (n_people,) probability that the row he took is that person's
    membership: Floats  # (n_people,) share of those who fit the person's cells who are in the table
    k_map: float  # people of the population who fit the class that fewest fit
    population: float  # how many people there are, in and out of the table
    how: str  # whence it is known how many fit

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
                "certain": int((self.membership > 1 - 1e-12).sum()),
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
        rows = original.rows
        if original.units is not None:
            order = np.argsort(original.units, kind="stable")
            starts = np.flatnonzero(np.append(True, np.diff(original.units[order]) != 0))
            found, membership = (np.maximum.reduceat(each[order], starts) for each in (found, membership))
            rows = first_rows(original)
        return JournalistResult(rows, found, membership, float(fitting.min()), max(everybody, people), how)


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
