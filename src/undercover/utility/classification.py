"""What can be learnt from a release: train on what it shows, test on the original.

Iyengar 2002 measures releases by the classification error of models trained on them; Tao, Xiao, Li & Zhang ("On
Anti-Corruption Privacy Preserving Publication", Section VII) do so for perturbed values. Here one learner serves all
forms of release, so that figures differ by the release and not by the learner: a regression tree whose targets are the
class shares a row is taken to have. For exact labels its squared error is the Gini impurity of a classification tree;
shares of a bucket and corrected indicators of perturbed values, which average to the truth, fit in as they are.

- Rows are points: one random value of each cell for every person (for every published row where it stands for several).
- Numbers, dates and ordinal values are features as they are; a category is its estimated class shares, drawn towards
  the overall ones where few people have it.
- A split must gain eight times what a random one gains, as in :mod:`undercover.analysis.learning.classifier`.
- The classes: below and above the median of an ordered sensitive column; the values of a categorical one, at most ten.

The original rows are those the release was made from, so errors are a little below those on new people, for the
original itself most of all.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, MissingExtraError, ParameterError
from undercover.forms import read
from undercover.forms.coverage import Coverage, Positions
from undercover.forms.estimates import Estimates, estimates_of_rows
from undercover.forms.meaning import leaf_values
from undercover.forms.spread import positions_of_codes
from undercover.model.release import Release
from undercover.model.table import EncodedColumn, Table
from undercover.randomness import Randomness
from undercover.utility.binned_tables import label_bins

Floats = NDArray[np.float64]
MOST_CLASSES = 10
MOST_POINTS = 200_000
TAU = 8.0  # how much more than by chance a split must gain
SMALLEST_LEAF = 50
_DRAWN_TO_ALL = 50  # people of the overall shares that are mixed into those of a category


@dataclass(frozen=True)
class ClassificationResult:
    """How often a tree trained on a release is wrong."""

    sensitive: str
    classes: int
    error: float
    majority: float  # of always saying the most frequent class
    original: float  # of the same tree trained on the original

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        return (
            f"<ClassificationResult: {self.error:.1%} of {self.classes} classes of {self.sensitive} wrong "
            f"(majority {self.majority:.1%}, trained on the original {self.original:.1%})>"
        )


@dataclass(frozen=True, kw_only=True)
class Classification:
    """Learn a sensitive column from the quasi-identifiers of a release. Needs scikit-learn.

    Parameters
    ----------
    sensitive
        What to learn; by default the only sensitive column.
    seed
        Of the points drawn from cells.
    """

    sensitive: str | None = None
    seed: int = 0

    def of_release(self, original: Table, release: Release) -> ClassificationResult:
        """Train on ``release``, test on ``original``; beside it the same tree trained on ``original``."""
        return ClassificationResult(
            self._resolved(original),
            self.task(original).n_classes,
            self.error(original, read(release).estimates(original)),
            self.majority(original),
            self.error(original, estimates_of_rows(original)),
        )

    def error(self, original: Table, shown: Estimates) -> float:
        """The share of the original rows a tree gets wrong that was trained on what is shown."""
        task = self.task(original)
        if task.n_classes < 2:
            return 0.0
        points, targets, weights, draws = self._points(original, shown, task)
        tree = _fitted(points, targets, weights, draws)
        rows = _sample(original.n_rows, Randomness(self.seed), "test rows")
        features = _features(original, shown, task)
        exact = np.concatenate(
            [features[name][positions_of_codes(original[name], leaf_values(original[name]))[original[name].codes[rows]]]
             for name in features], axis=1,
        )  # fmt: skip
        predicted = np.asarray(tree.predict(exact)).reshape(len(rows), -1).argmax(axis=1)
        return float((predicted != task.true[rows]).mean())

    def majority(self, original: Table) -> float:
        """The error of somebody who always says the most frequent class."""
        return 1.0 - float(np.bincount(self.task(original).true).max()) / original.n_rows

    def task(self, original: Table) -> Task:
        """What is to be learnt."""
        column = original[self._resolved(original)]
        bins = label_bins(column, column.domain.labels, ranges=2, categories=MOST_CLASSES)
        return Task(column, int(bins.max()) + 1, bins[column.codes])

    def _resolved(self, original: Table) -> str:
        columns = original.schema.sensitive
        name = self.sensitive or (columns[0] if len(columns) == 1 else None)
        if name is None or name not in columns:
            raise ParameterError(f"Classification learns one sensitive column. The table has {len(columns)}; name one.")
        return name

    def _points(self, original: Table, shown: Estimates, task: Task) -> tuple[Floats, Floats, Floats, Floats]:
        """Points with their class shares and weights, and the weights of independent observations."""
        randomness = Randomness(self.seed)
        box = np.repeat(np.arange(shown.n_boxes), shown.draws)
        if not len(box):
            raise DataError("The release has no rows to learn from.")
        each = np.divide(shown.people, shown.draws, out=np.zeros(shown.n_boxes), where=shown.draws > 0)
        draws = each[box]
        box = box[_sample(len(box), randomness, "points")]
        features = _features(original, shown, task)
        columns = []
        for name, numbers in features.items():
            words = randomness.words(f"point/{name}", len(box))
            columns.append(numbers[_random_positions(shown.coverage[name], shown.cells[name][box], words)])
        return np.concatenate(columns, axis=1), _class_shares(shown, task)[box], each[box], draws


@dataclass(frozen=True, eq=False)
class Task:
    """A sensitive column and its classes."""

    column: EncodedColumn
    n_classes: int
    true: Positions  # (n_rows,)


def _class_shares(shown: Estimates, task: Task) -> Floats:
    """(n_boxes, n_classes) the classes the people of a box are taken to have."""
    secret = shown.sensitive[task.column.name]
    class_of = label_bins(task.column, secret.labels, ranges=2, categories=MOST_CLASSES)
    n_classes = max(task.n_classes, int(class_of.max()) + 1)
    counts = secret.by_class(class_of, n_classes)[:, : task.n_classes]
    return np.divide(counts, shown.people[:, None], out=np.zeros_like(counts), where=shown.people[:, None] > 0)


def _features(original: Table, shown: Estimates, task: Task) -> dict[str, Floats]:
    """For every quasi-identifier (n_leaves, n_features): what a value of it is to the tree."""
    classes = _class_shares(shown, task)
    overall = (classes * shown.people[:, None]).sum(axis=0) / shown.people.sum()
    per_draw = float(shown.people.sum() / max(1, shown.draws.sum()))
    told = 1 if task.n_classes == 2 else task.n_classes  # of two classes one tells all
    found = {}
    for name, coverage in shown.coverage.items():
        values = leaf_values(original[name])
        if values.kind != "categorical":
            found[name] = values.scale[:, None]
            continue
        people = _spread(coverage, shown.cells[name], shown.people)
        mixed = _DRAWN_TO_ALL * per_draw
        found[name] = np.stack(
            [
                (_spread(coverage, shown.cells[name], shown.people * classes[:, c]) + mixed * overall[c])
                / (people + mixed)
                for c in range(told)
            ],
            axis=1,
        )
    return found


def _spread(coverage: Coverage, cells: Positions, weights: Floats) -> Floats:
    """(n_positions,) what boxes weigh, each spread evenly over the values of its cell."""
    per_value = np.bincount(cells, weights=weights, minlength=coverage.n_cells) / coverage.sizes
    runs = np.repeat(per_value, np.diff(coverage.starts))
    steps = np.bincount(coverage.low, weights=runs, minlength=coverage.n_positions + 1)
    steps -= np.bincount(coverage.high + 1, weights=runs, minlength=coverage.n_positions + 1)
    return np.asarray(np.cumsum(steps)[:-1])


def _random_positions(coverage: Coverage, cells: Positions, words: NDArray[np.uint32]) -> Positions:
    """A random value of each cell."""
    lengths = coverage.high - coverage.low + 1
    ends = np.cumsum(lengths)
    before = np.concatenate([[0], np.cumsum(coverage.sizes)])[:-1]
    wanted = before[cells] + ((words.astype(np.uint64) * coverage.sizes[cells].astype(np.uint64)) >> 32).astype(int)
    run = np.searchsorted(ends, wanted, side="right")
    return np.asarray(coverage.high[run] - (ends[run] - 1 - wanted))


def _fitted(points: Floats, targets: Floats, weights: Floats, draws: Floats) -> Any:
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError as error:
        raise MissingExtraError("scikit-learn", "analysis", "Classification") from error

    share = weights / weights.sum()
    centre = share @ targets
    impurity = float((share @ (targets - centre) ** 2).mean())
    observations = draws.sum() ** 2 / (draws**2).sum()
    tree = DecisionTreeRegressor(
        min_samples_leaf=min(SMALLEST_LEAF, max(1, len(points) // 2)),
        min_impurity_decrease=TAU * impurity / observations,
        random_state=0,
    )
    return tree.fit(points, targets, sample_weight=weights)


def _sample(count: int, randomness: Randomness, purpose: str) -> Positions:
    """All rows, or as many as are worked on at most."""
    if count <= MOST_POINTS:
        return np.arange(count)
    chosen = np.argsort(randomness.words(purpose, count), kind="stable")[:MOST_POINTS]
    return np.sort(chosen)
