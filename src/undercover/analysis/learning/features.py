"""A release of perturbed generalization as numbers a decision tree can split.

A cell is the mean of the values it covers: the midpoint of a range, the mean rank of an ordinal column. Categories have
no order, so they get one from the release: by the estimated mean class of the people who have them, inverted as in
:mod:`undercover.forms.answers.channel` and drawn towards the overall mean where few people have them. A split of
this order is the best there is for two classes (Breiman et al. 1984, Section 4.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import look_up
from undercover.errors import DataError, ParameterError, listed
from undercover.forms import read
from undercover.forms.answers.channel import PerturbedCounts
from undercover.forms.answers.domains import Domains, domain_of, stated_domains
from undercover.forms.meaning import NOTHING, Meaning, Values
from undercover.forms.written import written
from undercover.model.bins import Bins, bin_ends
from undercover.model.cells import EVERYTHING, read_interval
from undercover.model.channel import Channel
from undercover.model.queries import Between, NoneOf, OneOf, Predicate, Scalar
from undercover.model.release import Release
from undercover.model.table import Table
from undercover.randomness import Randomness

Floats = NDArray[np.float64]
Classes = Mapping[Any, Predicate | Scalar | Sequence[Scalar]]


@dataclass(frozen=True)
class _Feature:
    """One quasi-identifier: its values with a number each, and what the distinct cells cover."""

    name: str
    cells: NDArray[np.integer]  # (n_rows,) distinct cell of each published row
    values: Values | None  # None for a continuum
    numbers: Floats  # (n_values,)
    covered: tuple[Meaning, ...]
    ends: Floats  # (n_cells, 2) of a continuum

    def midpoints(self) -> Floats:
        """(n_rows,) the mean number of the values each row's cell covers."""
        if self.values is None:
            return np.asarray(self.ends.mean(axis=1)[self.cells])
        running = np.concatenate([[0.0], np.cumsum(self.numbers)])
        means = [
            (running[meaning.high + 1] - running[meaning.low]) / meaning.size
            if meaning.members is None
            else float(self.numbers[list(meaning.members)].mean())
            for meaning in self.covered
        ]
        return look_up(np.array(means), self.cells)

    def points(self, words: NDArray[np.uint32]) -> Floats:
        """(n_rows,) a random value of each row's cell."""
        place = words / 2.0**32
        if self.values is None:
            low, high = self.ends[self.cells].T
            return np.asarray(low + place * (high - low))
        sizes = np.array([meaning.size for meaning in self.covered])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        positions = np.concatenate(
            [np.array(meaning.members or range(meaning.low, meaning.high + 1)) for meaning in self.covered]
        )
        chosen = positions[starts[self.cells] + (place * sizes[self.cells]).astype(np.int64)]
        return np.asarray(self.numbers[chosen])

    def spread(self, weights: Floats) -> Floats:
        """(n_values,) what the rows weigh, each spread evenly over the values of its cell."""
        total = np.bincount(self.cells, weights=weights, minlength=len(self.covered))
        edges = np.zeros(len(self.numbers) + 1)
        scattered = np.zeros(len(self.numbers))
        for meaning, weight in zip(self.covered, total, strict=True):
            if meaning.members is None:
                edges[meaning.low] += weight / meaning.size
                edges[meaning.high + 1] -= weight / meaning.size
            else:
                scattered[list(meaning.members)] += weight / meaning.size
        return np.asarray(np.cumsum(edges)[:-1] + scattered)

    def of_labels(self, labels: Sequence[str]) -> Floats:
        """The numbers of exact values; what nobody has told of lies in the middle."""
        if self.values is None:
            return np.array([float(label) for label in labels])
        middle = float(self.numbers.mean())
        found = [self.values.read(label, "value") for label in labels]
        return np.array(
            [
                float(label)
                if self.values.kind == "numeric" and meaning == NOTHING and _is_number(label)
                else middle
                if meaning == NOTHING
                else float(self.numbers[meaning.low])
                for label, meaning in zip(labels, found, strict=True)
            ]
        )


@dataclass(frozen=True, eq=False)
class PerturbedFeatures:
    """The cells of a release, and any exact rows, as the same numbers.

    Parameters
    ----------
    release
        A release of perturbed generalization.
    classes
        The classes to learn: a name each, with the sensitive values that belong to it (a list, or a predicate such as
        ``Between(0, 24)``). Every value of the domain belongs to one.
    domains
        Which values quasi-identifiers can have, where the release does not tell.
    """

    release: Release
    classes: Classes
    domains: Domains | None = None
    noise: Channel = field(init=False, repr=False)
    class_of: Mapping[str, Any] = field(init=False, repr=False)  # of every value of the declared domain
    _features: tuple[_Feature, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        noise = read(self.release).channel
        if noise is None:
            raise ParameterError(f"The values of this release by {self.release.method} did not go through a channel.")
        if noise.p == 0:
            raise ParameterError("p = 0: no value was kept, so nothing can be learnt from them.")
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "class_of", self._class_of())
        object.__setattr__(self, "_features", self._numbered())

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order of the columns of X."""
        return tuple(feature.name for feature in self._features)

    def cells(self, *, points: int = 1, seed: int = 0) -> tuple[Floats, NDArray[Any], Floats]:
        """``(X, y, weights)``: cells as numbers, published values, people each row stands for.

        One point is the midpoint of a cell; more are random points of it, each for its share of the people.
        """
        values = np.array(self.noise.domain, dtype=object)[read(self.release).seen]
        if points == 1:
            return np.stack([feature.midpoints() for feature in self._features], axis=1), values, self._people
        randomness = Randomness(seed)
        drawn = [
            np.stack([f.points(randomness.words(f"{f.name}/{i}", len(f.cells))) for f in self._features], axis=1)
            for i in range(points)
        ]
        return np.concatenate(drawn), np.tile(values, points), np.tile(self._people / points, points)

    def rows(self, data: Any) -> Floats:
        """Exact rows as numbers: an encoded table, or a frame that has the quasi-identifiers."""
        columns = []
        for feature in self._features:
            labels, codes = _labelled(data, feature.name)
            columns.append(feature.of_labels(labels)[codes])
        return np.stack(columns, axis=1)

    def classes_of(self, data: Any) -> NDArray[Any]:
        """The true classes of exact rows, for whoever has them."""
        (sensitive,) = self.release.published().names("sensitive")
        labels, codes = _labelled(data, sensitive)
        if self.release.published().form(sensitive) == "interval" and not set(labels) <= set(self.class_of):
            labels = self._binned(sensitive, labels)
        return np.asarray(np.array([self.class_of[label] for label in labels])[codes])

    def _binned(self, sensitive: str, labels: Sequence[str]) -> tuple[str, ...]:
        """Numbers as the declared bins they lie in."""
        bins = Bins.of_labels(self.noise.domain)
        place = bins.place(bin_ends(labels)[:, 0])
        if (place < 0).any():
            raise DataError(f"Column `{sensitive}` has values outside the bins of the release.")
        return tuple(bins.labels[bin_] for bin_ in place)

    @property
    def _people(self) -> Floats:
        people = read(self.release).people
        assert people is not None
        return people.astype(np.float64)

    def _class_of(self) -> dict[str, Any]:
        asked = PerturbedCounts(self.release)
        found: dict[str, Any] = {}
        for name, belongs in self.classes.items():
            predicate = belongs if isinstance(belongs, Between | OneOf | NoneOf) else OneOf(belongs)
            chosen = asked.chosen(predicate)
            twice = [label for label, inside in zip(asked.values, chosen, strict=True) if inside and label in found]
            if twice:
                raise ParameterError(f"Values in more than one class: {listed(twice)}.")
            found |= {label: name for label, inside in zip(asked.values, chosen, strict=True) if inside}
        left = [label for label in asked.values if label not in found]
        if left:
            raise ParameterError(f"Values of the declared domain in no class: {listed(left)}.")
        return found

    def _numbered(self) -> tuple[_Feature, ...]:
        reading = read(self.release)
        table = reading.main
        domains = stated_domains(self.release, self.domains)
        rank = {name: place for place, name in enumerate(self.classes)}
        worth = np.array([rank[self.class_of[label]] for label in self.noise.domain], dtype=np.float64)
        p = float(self.noise.p)
        inverted = (worth[reading.seen] - (1 - p) * worth.mean()) / p
        features = []
        for name in table.names("quasi-identifier"):
            column, form = reading.column(name), table.form(name)
            if column.labels == (EVERYTHING,) and not _is_stated(name, domains):
                features.append(_nothing_told(name, column.codes))
                continue
            values = domain_of(name, column.labels, form, domains)
            if values is None:
                features.append(_continuum(name, column.codes, column.labels))
                continue
            covered = tuple(values.read(label, form) for label in column.labels)
            numbers = values.scale
            feature = _Feature(name, column.codes, values, numbers, covered, np.empty((0, 2)))
            if values.kind == "categorical":
                numbers = _mean_class(feature, inverted, self._people)
                feature = _Feature(name, column.codes, values, numbers, covered, np.empty((0, 2)))
            features.append(feature)
        return tuple(features)


def _is_stated(name: str, domains: Domains) -> bool:
    return name in (domains.columns if isinstance(domains, Table) else domains)


def _nothing_told(name: str, cells: NDArray[np.integer]) -> _Feature:
    """A column of which no cell tells anything is the same for everybody."""
    everything = Values((EVERYTHING,), "categorical", False)
    return _Feature(name, cells, everything, np.zeros(1), (Meaning(0, 0),), np.empty((0, 2)))


def _mean_class(feature: _Feature, inverted: Floats, people: Floats) -> Floats:
    """The estimated mean class of the people with each value, drawn towards the mean of all by how noisy it is."""
    overall = float((people * inverted).sum() / people.sum())
    count = feature.spread(people)
    mean = np.divide(feature.spread(people * inverted), count, out=np.full(len(count), overall), where=count > 0)
    noise = np.divide(
        feature.spread(people**2) * inverted.var(), count**2, out=np.full(len(count), np.inf), where=count > 0
    )
    present = count > 0
    apart = float(np.average((mean - overall)[present] ** 2 - noise[present], weights=count[present]))
    return np.asarray(overall + (mean - overall) / (1 + noise / max(apart, 1e-9)))


def _continuum(name: str, cells: NDArray[np.integer], labels: Sequence[str]) -> _Feature:
    unknown = ("nan", "nan")
    read = [unknown if label in (EVERYTHING, "") else read_interval(label) for label in labels]
    ends = np.array([[float(low), float(high)] for low, high in read])
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    ends = np.where(np.isnan(ends), [low, high], ends)
    return _Feature(name, cells, None, np.empty(0), (), ends)


def _labelled(data: Any, name: str) -> tuple[tuple[str, ...], NDArray[Any]]:
    """The values of a column as text, and the one of each row."""
    if isinstance(data, Table):
        return data[name].domain.labels, data[name].codes
    column = written(_column(data, name))
    return column.labels, column.codes


def _column(data: Any, name: str) -> pa.ChunkedArray | pa.Array:
    if isinstance(data, pa.Table):
        if name not in data.column_names:
            raise DataError(f"The rows have no column `{name}`.")
        return data.column(name)
    import narwhals as nw

    return _column(nw.from_native(data, eager_only=True).to_arrow(), name)


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True
