"""The adversary who joins everybody's published tables: what do they say together?

Several holders have published tables about the same people with the same sensitive column. The attacker knows the
quasi-identifiers of a person, finds the class in every table, and concludes that the value is one that all of these
classes have. Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Sections 4 and 5.1. How likely each value
is he works out as if, given the sensitive value, attributes of different tables were independent (Assumption 1):

    P(k | classes)  proportional to  n_k · Π_i  (rows of k in class i) / n_k

Deviations: the paper's Equations 2 to 4 lose terms; this is Equation 5 with the conditional probabilities it means. All
combinations of classes count, also those nobody is in, because no holder can know. A combination without a common value
is impossible; by the paper's rule it leaves 0 values. Columns that several tables share break the argument (whoever
knows where cuts cross can subtract), so such tables are refused unless their cells are nested in each other and the
tables hang together without a cycle. Beside l, the number of values left, the highest probability is reported, and the
stricter number of values that stay possible even for somebody who knows how many people a combination has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.attacks.joint.correlation import CorrelationResult, bounds, known_correlation
from undercover.errors import DataError, ParameterError, unknown
from undercover.guarantees.joint.sets import least_intersection
from undercover.guarantees.joint.shared import SharedCells, shared_cells
from undercover.guarantees.joint.tables import Together, set_bits, together
from undercover.model import figures
from undercover.model.published import Published
from undercover.model.view import Figure, Part, View, Viewable, certainty, listed, say, table
from undercover.parameters import AtLeast, check

STORY = (
    "The attacker has every one of these tables and knows the quasi-identifiers of a person who is in all of them. He "
    "finds the person's class in each and keeps the sensitive values that all of the classes have."
)
_SHOWN = 5  # of the worst combinations
_MOST_WORK = 2_000_000_000  # combinations times values that are gone through one by one


@dataclass(frozen=True)
class Combination:
    """One class of every table, and what it says of whoever is in all of them."""

    cells: tuple[Mapping[str, str], ...]  # of the class in each table
    probabilities: Mapping[str, Fraction]  # of the values that are left
    counts: tuple[tuple[int, ...], ...] = field(repr=False)  # per table the rows of each value

    @property
    def l(self) -> int:  # noqa: E743
        """How many values are left."""
        return len(self.probabilities)

    @property
    def highest(self) -> Fraction:
        """The probability of the likeliest value; 0 where none is left."""
        return max(self.probabilities.values(), default=Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports."""
        return {
            "cells": [dict(cells) for cells in self.cells],
            "l": self.l,
            "highest": float(self.highest),
            "probabilities": {label: float(share) for label, share in self.probabilities.items()},
        }


@dataclass(frozen=True)
class JointRisk(Viewable):
    """What several published tables say together; a probabilistic table, worst combinations first.

    ``l`` is exact. Where there are too many combinations to go through one by one (``exhaustive`` is false), the
    highest probability is the highest of those looked at, and the number of possible values is not known.
    """

    tables: tuple[Published, ...]
    values: tuple[str, ...]
    totals: tuple[int, ...]
    l: int  # noqa: E741
    max_probability: Fraction
    possible_l: int | None
    alone: tuple[int, ...]  # l of every table by itself
    alone_probability: tuple[float, ...]
    baseline: float  # guessing the most frequent value
    combinations: int
    impossible: int | None
    worst: tuple[Combination, ...]
    surest: Combination
    exhaustive: bool
    correlation: tuple[CorrelationResult | None, ...] = ()
    story: str = field(default=STORY, repr=False)

    def table(self) -> pa.Table:
        """The probabilistic table (the paper's Table 7) of the worst combinations: a row per value that is left."""
        rows: list[dict[str, Any]] = []
        for combination in self.worst:
            cells = {name: cell for part in combination.cells for name, cell in part.items()}
            rows += [
                {**cells, self.tables[0].column: label, "probability": float(combination.probabilities.get(label, 0))}
                for label in self.values
            ]
        return pa.Table.from_pylist(rows)

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports; all of it follows from published tables."""
        return {
            "attack": "joint-release",
            "story": self.story,
            "tables": [
                {
                    "name": table.name,
                    "quasi_identifiers": list(table.quasi_identifiers),
                    "classes": table.n_classes,
                    "rows": table.rows,
                    "suppressed_rows": table.suppressed,
                    "l": own,
                    "max_probability": sure,
                }
                for table, own, sure in zip(self.tables, self.alone, self.alone_probability, strict=True)
            ],
            "sensitive": self.tables[0].column,
            "values": len(self.values),
            "l": self.l,
            "max_probability": float(self.max_probability),
            "possible_l": self.possible_l,
            "baseline": self.baseline,
            "combinations": self.combinations,
            "impossible_combinations": self.impossible,
            "exhaustive": self.exhaustive,
            "surest": self.surest.to_dict(),
            "worst": [
                combination.to_dict()
                | ({"correlation": None if found is None else found.to_dict()} if self.correlation else {})
                for combination, found in zip(self.worst, self.correlation or (None,) * len(self.worst), strict=True)
            ],
        }

    def view(self) -> View:
        """What tables say together, beside each of them alone."""
        found = self.to_dict()
        surest = Figure(found["max_probability"], "risk")
        surest = surest if found["exhaustive"] else replace(surest, text=f"at least {surest.shown}")
        rows: list[Any] = [
            (
                f"`{entry['name']}`",
                listed(entry["quasi_identifiers"]),
                entry["classes"],
                entry["l"],
                entry["max_probability"],
            )
            for entry in found["tables"]
        ]
        rows.append(("together", None, found["combinations"], found["l"], surest))
        rows.append(("guessing", None, None, found["values"], Figure(found["baseline"], "baseline")))
        columns = ("table", "known", "classes", f"values of `{found['sensitive']}` left", "surest")
        worst = [
            (*map(_cells, entry.cells), entry.l, _shares(entry.probabilities), *self._known_size(place))
            for place, entry in enumerate(self.worst[:_SHOWN])
        ]
        headings = [*(f"`{entry.name}`" for entry in self.tables), "left", "probabilities"]
        if self.correlation:
            headings.append(f"with {self.correlation[0].size if self.correlation[0] else '?'} people")
        parts: list[Part] = [
            table(columns, "plain plain count count risk", rows),
            table(headings, "plain " * len(headings), worst, "Worst combinations of classes", detail=1),
            "All combinations count, also those nobody is in: no holder can know which.",
        ]
        if found["impossible_combinations"]:
            text = "{count} combinations have no value in common: nobody can be in them."
            parts.append(say(text, found["impossible_combinations"]))
        if found["possible_l"] is not None:
            text = "Values that stay possible for somebody who knows how many people are in a combination: {count}."
            parts.append(say(text, found["possible_l"]))
        if not found["exhaustive"]:
            parts.append("Too many combinations to go through: l is exact, the surest value at least what is shown.")
        following = "`.worst` lists the combinations, `.table()` shows them."
        verdict = certainty(found["max_probability"])
        return View("joint-release", "Tables together", tuple(parts), *verdict, found["story"], following)

    def _known_size(self, place: int) -> tuple[str, ...]:
        """The shares of one of the worst combinations, where it is known how many people it has."""
        if not self.correlation:
            return ()
        known = self.correlation[place]
        if known is None:
            return ("impossible",)
        shares = zip(self.values, known.by_instances, strict=True)
        return (_shares({label: share for label, share in shares if share}),)

    def __repr__(self) -> str:
        return (
            f"<JointRisk of {len(self.tables)} tables: l={self.l}, up to {float(self.max_probability):.3f} sure; "
            ".worst lists the combinations, .table() shows them>"
        )


def _cells(cells: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {cell}" for name, cell in cells.items()) or "(nothing known)"


def _shares(probabilities: Mapping[str, Fraction], most: int = 3) -> str:
    """The likeliest values with their probability, as a fraction where that is a short one."""
    ranked = sorted(probabilities.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = [
        f"{label} {share if share.denominator <= 100 else figures.risk(float(share))}" for label, share in ranked[:most]
    ]
    return ", ".join(shown) + (f" and {len(ranked) - most} more" if len(ranked) > most else "") or "impossible"


@dataclass(frozen=True, kw_only=True)
class JointRelease:
    """Join published tables through the sensitive column they share.

    Parameters
    ----------
    known
        The quasi-identifiers the attacker knows; by default all of them.
    shared
        What becomes of columns that several tables have: ``refuse``, or ``nested`` where the cells of one table lie in
        those of the other.
    worst
        How many of the worst combinations to list.
    size
        For an attacker who also knows how many people are in a combination: that number.

    Examples
    --------
    >>> import undercover as uc
    >>> from undercover.guarantees.joint.tables import foreign_table
    >>> ages = pa.table({"age": ["old", "old", "young", "young"], "pay": ["high", "low", "low", "middle"]})
    >>> towns = pa.table({"zip": ["1", "1", "2", "2"], "pay": ["high", "low", "low", "middle"]})
    >>> tables = [foreign_table(ages, "revenue", sensitive="pay"), foreign_table(towns, "census", sensitive="pay")]
    >>> found = JointRelease().run(tables)
    >>> found
    <JointRisk of 2 tables: l=1, up to 1.000 sure; .worst lists the combinations, .table() shows them>
    >>> found.alone, found.worst[0].cells, dict(found.worst[0].probabilities)
    ((2, 2), ({'age': 'old'}, {'zip': '2'}), {'low': Fraction(1, 1)})
    """

    known: tuple[str, ...] | None = None
    shared: Literal["refuse", "nested"] = "refuse"
    worst: Annotated[int, AtLeast(1)] = 10
    size: Annotated[int, AtLeast(1)] | None = None

    def __post_init__(self) -> None:
        check(self)

    def run(self, tables: Sequence[Published]) -> JointRisk:
        """Join the tables."""
        joined = together(tables)
        shared = shared_cells(joined, nested=self.shared == "nested", known=self.known)
        views = [self._view(joined, table) for table in range(len(tables))]
        found = _survey(joined, views, shared, self.worst)
        if not found.worst:
            raise DataError("No class of one table meets one of the other: the tables are not about the same people.")
        worst = tuple(_combination(joined, views, chosen) for chosen in found.worst)
        # With columns in common, classes that exclude each other are no combination, and all were gone through.
        sets = [view.sets() for view in views]
        least = worst[0].l if found.exhaustive else least_intersection(sets)[0]
        surest = _combination(joined, views, found.surest)
        return JointRisk(
            tables=tuple(tables),
            values=joined.values,
            totals=tuple(joined.totals.tolist()),
            l=least,
            max_probability=surest.highest,
            possible_l=found.possible,
            alone=tuple(min(bits.bit_count() for bits in bits_of) for bits_of in sets),
            alone_probability=tuple(float((view.counts.max(axis=1) / view.counts.sum(axis=1)).max()) for view in views),
            baseline=float(joined.totals.max() / joined.totals.sum()),
            combinations=prod(len(view.counts) for view in views),
            impossible=found.impossible,
            worst=worst,
            surest=surest,
            exhaustive=found.exhaustive,
            correlation=tuple(self._correlated(joined, combination) for combination in worst) if self.size else (),
        )

    def _view(self, joined: Together, table: int) -> _View:
        """The classes as told apart by what the attacker knows."""
        counts = joined.counts[table]
        names = joined.tables[table].quasi_identifiers
        if self.known is None or set(names) <= set(self.known):
            return _View(counts, np.arange(len(counts)), None)
        every = list(dict.fromkeys(name for each in joined.tables for name in each.quasi_identifiers))
        problems = [unknown("Quasi-identifier", name, every) for name in self.known if name not in every]
        if problems:
            raise ParameterError(problems)
        kept = tuple(name for name in names if name in self.known)
        cells = joined.tables[table].cells
        if joined.tables[table].in_buckets and kept:
            return _View(counts, np.arange(len(counts)), None)  # a bucket is found by any of its columns
        keys = [
            tuple(int(cells[name].codes[index]) for name in kept) for index in range(joined.tables[table].n_classes)
        ]
        keys += [(-1,) if kept else ()] * (len(counts) - len(keys))
        place: dict[tuple[int, ...], int] = {}
        labels = np.array([place.setdefault(key, len(place)) for key in keys])
        merged = np.zeros((len(place), counts.shape[1]), dtype=np.int64)
        np.add.at(merged, labels, counts)
        first = np.array([int(np.flatnonzero(labels == label)[0]) for label in range(len(place))])
        return _View(merged, first, kept)

    def _correlated(self, joined: Together, combination: Combination) -> CorrelationResult | None:
        """What the size tells; ``None`` where a combination cannot have it."""
        assert self.size is not None
        totals = joined.totals.tolist()
        least, most = bounds(combination.counts, totals)
        if not max(1, sum(least)) <= self.size <= sum(most):
            return None
        return known_correlation(combination.counts, totals, self.size)


@dataclass(frozen=True)
class _View:
    """The classes of one table as the attacker tells them apart."""

    counts: NDArray[np.int64]  # (n_classes, n_values)
    first: NDArray[np.int64]  # a class of the table that belongs to each
    names: tuple[str, ...] | None  # the columns he knows, where not all

    def sets(self) -> list[int]:
        return set_bits(self.counts > 0)


@dataclass(frozen=True)
class _Survey:
    worst: list[tuple[int, ...]]
    surest: tuple[int, ...]
    possible: int | None
    impossible: int | None
    exhaustive: bool


def _survey(joined: Together, views: Sequence[_View], shared: SharedCells, most: int) -> _Survey:
    """Go through the combinations; where there are too many, through those of the smallest sets."""
    from undercover.compiled.joint import least_possible, survey_combinations

    chosen = [np.arange(len(view.counts)) for view in views]
    exhaustive = prod(map(len, chosen)) * len(joined.values) <= _MOST_WORK
    if not exhaustive:
        shared.require_none()
        chosen = [_smallest_classes(view, share=prod(map(len, chosen))) for view in views]
    counts = np.concatenate([view.counts[rows] for view, rows in zip(views, chosen, strict=True)])
    starts = np.cumsum([0, *map(len, chosen)]).astype(np.int64)
    cells = shared.of([view.first[rows] for view, rows in zip(views, chosen, strict=True)])
    spread = np.zeros(len(joined.values) + 1, dtype=np.int64)
    worst = np.zeros((most + 1, len(views)), dtype=np.int64)
    figures = np.zeros((most + 1, 2))
    totals = joined.totals.astype(np.int64)
    kept = survey_combinations(counts, starts, totals, cells, shared.overlap, most, spread, worst, figures)

    def named(row: NDArray[np.int64]) -> tuple[int, ...]:
        return tuple(int(rows[index - start]) for rows, index, start in zip(chosen, row, starts, strict=False))

    possible: int | None = None
    if exhaustive:
        place = np.zeros(len(views), dtype=np.int64)
        possible = max(0, int(least_possible(counts, starts, totals, cells, shared.overlap, place)))
    return _Survey(
        [named(row) for row in worst[:kept]],
        named(worst[most]),
        possible,
        int(spread[0]) if exhaustive else None,
        exhaustive,
    )


def _smallest_classes(view: _View, share: int) -> NDArray[np.int64]:
    """The classes with fewest values, as many as can be gone through with those of the other tables."""
    room = max(1, int(len(view.counts) * (_MOST_WORK / (share * view.counts.shape[1])) ** 0.5))
    return np.sort(np.argsort((view.counts > 0).sum(axis=1), kind="stable")[:room])


def _combination(joined: Together, views: Sequence[_View], chosen: tuple[int, ...]) -> Combination:
    rows = [view.counts[index].tolist() for view, index in zip(views, chosen, strict=True)]
    totals = joined.totals.tolist()
    weights = [
        Fraction(prod(counts[value] for counts in rows), total ** (len(rows) - 1)) for value, total in enumerate(totals)
    ]
    whole = sum(weights)
    cells = []
    for place, (view, index) in enumerate(zip(views, chosen, strict=True)):
        described = joined.describe(place, int(view.first[index]))
        cells.append(described if view.names is None else {name: described[name] for name in view.names})
    left = {label: weight / whole for label, weight in zip(joined.values, weights, strict=True) if weight}
    return Combination(tuple(cells), left, tuple(tuple(counts) for counts in rows))
