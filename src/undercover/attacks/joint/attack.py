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
tables hang together without a cycle. Beside l, the number of values left, the highest probability is reported, and a
number of values that stay possible even for somebody who knows everybody's quasi-identifiers. Which columns of
different tables are one is found by their spelling; where it is in doubt they count as different, which never leaves
more values, and where that could hide cells that cross, somebody has to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.joint.correlation import CorrelationResult, bounds, known_correlation
from undercover.attacks.joint.result import Combination, JointRisk
from undercover.errors import DataError, ParameterError, unknown
from undercover.guarantees.joint.sets import least_intersection
from undercover.guarantees.joint.shared import SharedCells, shared_cells
from undercover.guarantees.joint.tables import Together, set_bits, together
from undercover.model.published import Doubt, Matching, Published, match_columns
from undercover.parameters import AtLeast, check
from undercover.wording import option

_SHOWN = 5  # of columns that may be one
_MOST_WORK = 2_000_000_000  # combinations times values that are gone through one by one


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
    same
        Columns of different tables that are one, as ``a=b``.
    distinct
        Columns that are not one although they are spelled alike, as ``a,b``; a single name for columns of that very
        name.
    worst
        How many of the worst combinations to list.
    size
        For an attacker who also knows how many people are in a combination: that number.

    Examples
    --------
    >>> import pyarrow as pa
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
    same: tuple[str, ...] = ()
    distinct: tuple[str, ...] = ()
    worst: Annotated[int, AtLeast(1)] = 10
    size: Annotated[int, AtLeast(1)] | None = None

    def __post_init__(self) -> None:
        check(self)

    def run(self, tables: Sequence[Published]) -> JointRisk:
        """Join the tables."""
        matching = match_columns([(table.name, table.labels()) for table in tables], self.same, self.distinct)
        joined = together([table.renamed(names) for table, names in zip(tables, matching.names, strict=True)])
        known = self._known(matching)
        taken = _taken(tables, matching)
        try:
            shared = shared_cells(joined, nested=self.shared == "nested", known=known)
        except DataError as error:
            raise DataError([*error.problems, *taken]) from error
        notes = (*taken, *_doubts(joined, tables, matching))
        views = [_view(joined, table, known) for table in range(len(tables))]
        found = _survey(joined, views, shared, self.worst)
        if not found.worst:
            raise DataError("No class of one table meets one of the other: the tables are not about the same people.")
        worst = tuple(_combination(joined, views, chosen) for chosen in found.worst)
        # With columns in common, classes that exclude each other are no combination, and all were gone through.
        sets = [view.sets() for view in views]
        least = worst[0].l if found.exhaustive else least_intersection(sets)[0]
        surest = _combination(joined, views, found.surest)
        return JointRisk(
            tables=joined.tables,
            values=joined.values,
            totals=tuple(joined.totals.tolist()),
            l=least,
            max_probability=surest.highest,
            possible_l=found.possible,
            possible_through=found.through,
            alone=tuple(min(bits.bit_count() for bits in bits_of) for bits_of in sets),
            alone_probability=tuple(float((view.counts.max(axis=1) / view.counts.sum(axis=1)).max()) for view in views),
            baseline=float(joined.totals.max() / joined.totals.sum()),
            combinations=prod(len(view.counts) for view in views),
            impossible=found.impossible,
            worst=worst,
            surest=surest,
            exhaustive=found.exhaustive,
            correlation=tuple(self._correlated(joined, combination) for combination in worst) if self.size else (),
            notes=notes,
        )

    def _known(self, matching: Matching) -> tuple[str, ...] | None:
        """The columns he knows by their common names."""
        if self.known is None:
            return None
        common = [(name, names[name]) for name in self.known for names in matching.names if name in names]
        every = list(dict.fromkeys(name for names in matching.names for name in names))
        problems = [unknown("Quasi-identifier", name, every) for name in self.known if name not in every]
        if problems:
            raise ParameterError(problems)
        return tuple(dict.fromkeys(name for _, name in common))

    def _correlated(self, joined: Together, combination: Combination) -> CorrelationResult | None:
        """What the size tells; ``None`` where a combination cannot have it."""
        assert self.size is not None
        totals = joined.totals.tolist()
        least, most = bounds(combination.counts, totals)
        if not max(1, sum(least)) <= self.size <= sum(most):
            return None
        return known_correlation(combination.counts, totals, self.size)


def _taken(tables: Sequence[Published], matching: Matching) -> list[str]:
    """What was taken for one column under different names."""
    return [
        f"`{name}` of `{table.name}` was taken for `{common}`; if it is not, say "
        f"{option(distinct=[f'{common},{name}'])}."
        for table, names in zip(tables, matching.names, strict=True)
        for name, common in names.items()
        if common != name and not common.startswith(f"{name} of {table.name}")
    ]


def _doubts(joined: Together, tables: Sequence[Published], matching: Matching) -> list[str]:
    """What may be one column; raises where that could hide cells that cross."""
    called = [table.name for table in tables]
    doubts, problems = [], []
    for doubt in matching.doubts:
        one, other = doubt.columns
        said = f"Say {option(same=[f'{one}={other}'])} or {option(distinct=[f'{one},{other}'])}."
        try:
            _require_nested(joined, matching, doubt)
        except DataError as error:
            why = " ".join(error.problems)
            problems.append(f"{doubt.sentence(called)}. If they are one column, nothing can be promised: {why} {said}")
        else:
            doubts.append(
                f"{doubt.sentence(called)}. They count as different columns, which leaves no more values. {said}"
            )
    if problems:
        raise DataError(problems)
    more = [f"{len(doubts) - _SHOWN} more pairs of columns may be one."] if len(doubts) > _SHOWN else []
    return [*doubts[:_SHOWN], *more]


def _require_nested(joined: Together, matching: Matching, doubt: Doubt) -> None:
    """Raise where two columns, read as one, have cells that cross."""
    called = "/".join(doubt.columns)
    pair = [
        joined.tables[place].renamed({matching.names[place][column]: called})
        for place, column in zip(doubt.tables, doubt.columns, strict=True)
    ]
    if doubt.by_spelling or any(label[:1] in "[{*" for label in pair[0].labels()[called]):  # else the same plain values
        counts = tuple(joined.counts[place] for place in doubt.tables)
        shared_cells(Together(tuple(pair), joined.values, joined.totals, counts), nested=True, known=(called,))


def _view(joined: Together, table: int, known: tuple[str, ...] | None) -> _View:
    """The classes as told apart by what the attacker knows."""
    counts = joined.counts[table]
    names = joined.tables[table].quasi_identifiers
    if known is None or set(names) <= set(known):
        return _View(counts, np.arange(len(counts)), None)
    kept = tuple(name for name in names if name in known)
    cells = joined.tables[table].cells
    if joined.tables[table].in_buckets and kept:
        return _View(counts, np.arange(len(counts)), None)  # a bucket is found by any of its columns
    keys = [tuple(int(cells[name].codes[index]) for name in kept) for index in range(joined.tables[table].n_classes)]
    keys += [(-1,) if kept else ()] * (len(counts) - len(keys))
    place: dict[tuple[int, ...], int] = {}
    labels = np.array([place.setdefault(key, len(place)) for key in keys])
    merged = np.zeros((len(place), counts.shape[1]), dtype=np.int64)
    np.add.at(merged, labels, counts)
    first = np.array([int(np.flatnonzero(labels == label)[0]) for label in range(len(place))])
    return _View(merged, first, kept)


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
    possible: int
    through: bool
    impossible: int | None
    exhaustive: bool


def _survey(joined: Together, views: Sequence[_View], shared: SharedCells, most: int) -> _Survey:
    """Go through the combinations; where there are too many, through those of the smallest sets."""
    from undercover.compiled.joint import possible_values, survey_combinations

    chosen = [np.arange(len(view.counts)) for view in views]
    totals = joined.totals.astype(np.int64)
    every = np.concatenate([view.counts for view in views])
    begins = np.cumsum([0, *map(len, chosen)]).astype(np.int64)
    met = shared.of([view.first for view in views])
    possible, through = possible_values(every, begins, totals, met, shared.overlap)
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
    kept = survey_combinations(counts, starts, totals, cells, shared.overlap, most, spread, worst, figures)

    def named(row: NDArray[np.int64]) -> tuple[int, ...]:
        return tuple(int(rows[index - start]) for rows, index, start in zip(chosen, row, starts, strict=False))

    return _Survey(
        [named(row) for row in worst[:kept]],
        named(worst[most]),
        possible,
        through,
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
