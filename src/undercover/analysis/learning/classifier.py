"""A decision tree that learns from perturbed values: a scikit-learn classifier with relabelled leaves.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section VII, mine a release with an
algorithm of their extended version; this is another one, on three facts:

- Uniform perturbation maps class shares q to p q + (1 - p) |c| / |U|. All differences of Gini impurity shrink by the
  same factor p², so a stock tree finds the same splits, each row weighing the G people it stands for.
- Only the shares in the leaves are wrong. They are inverted, n_c = (observed_c - (1 - p) n |c| / |U|) / p, and the leaf
  takes the largest.
- A split of n_eff independent rows lowers the impurity by about (1 - Σ q²) / n_eff by chance alone. Splits must gain
  ``tau`` times as much (n_eff = (Σ w)² / Σ w²; perturbation leaves little signal, so noise must be kept out).

Accuracy is estimated from the release alone in the same way: hits are counted on perturbed values, and what would be
hit by chance is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.analysis.learning.choice import AHEAD, best, candidates, held_out_gains, majority_is_clear
from undercover.analysis.learning.features import Classes, PerturbedFeatures
from undercover.errors import MissingExtraError, described
from undercover.forms.answers.channel import Estimate
from undercover.model.release import Release

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError("scikit-learn", "analysis", "The classifier for perturbed releases") from error

Array = NDArray[Any]
FOLDS = 5


class PerturbedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Decision tree for values that were kept with probability ``p`` and otherwise drawn uniformly.

    Parameters
    ----------
    p
        Probability of keeping a value.
    domain
        The values they are otherwise drawn from; by default those that occur in ``y``.
    class_of
        The class of each value; by default each is a class of its own.
    tau
        How much more than by chance a split must gain.
    min_samples_leaf, max_depth
        As in scikit-learn's trees.
    random_state
        For ties between splits.

    Attributes
    ----------
    classes_
        The classes, sorted.
    tree_
        The fitted ``DecisionTreeClassifier``; its own labels are those of perturbed values.
    leaf_shares_
        (n_nodes, n_classes) inverted shares of every node.

    Examples
    --------
    >>> import undercover as uc
    >>> people, schema = uc.datasets.census(60_000, seed=1), uc.datasets.census_schema(["age", "education", "hours"])
    >>> release = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.5), seed=1).release
    >>> model = fit_release(release, {"low": uc.Between(0, 24), "high": uc.Between(25, 49)})
    >>> features = model.features_
    >>> right = model.predict(features.rows(people)) == features.classes_of(people)
    >>> bool(right.mean() > 0.7)
    True
    """

    def __init__(
        self,
        *,
        p: float = 1.0,
        domain: Sequence[Any] | None = None,
        class_of: Mapping[Any, Any] | None = None,
        tau: float = 8.0,
        min_samples_leaf: int = 50,
        max_depth: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.p = p
        self.domain = domain
        self.class_of = class_of
        self.tau = tau
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.random_state = random_state

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> PerturbedClassifier:
        """Fit to published values ``y``; ``sample_weight`` is the people each row stands for."""
        X, y = validate_data(self, X, y)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if not 0 < self.p <= 1:
            raise ValueError(f"p must lie in (0, 1]: with p = 0 nothing can be learnt. Got {self.p!r}.")
        if len(weight) != len(y):
            raise ValueError(f"There are {len(y)} rows and {len(weight)} weights.")
        observed = self._prepared(y)
        shares = np.bincount(observed, weights=weight, minlength=len(self.classes_)) / weight.sum()
        rows = weight.sum() ** 2 / (weight**2).sum()
        self.tree_ = DecisionTreeClassifier(
            criterion="gini",
            min_samples_leaf=min(self.min_samples_leaf, max(1, len(y) // 2)),
            max_depth=self.max_depth,
            min_impurity_decrease=self.tau * (1 - (shares**2).sum()) / rows,
            random_state=self.random_state,
        ).fit(X, observed, sample_weight=weight)
        self.leaf_shares_ = self._inverted(self.tree_.apply(X), observed, weight)
        return self

    def predict_proba(self, X: Array) -> Array:
        """Inverted class shares of each row's leaf, drawn into [0, 1]."""
        check_is_fitted(self)
        shares = np.clip(self.leaf_shares_, 0.0, None)
        total = shares.sum(axis=1, keepdims=True)
        shares = np.divide(shares, total, out=np.full_like(shares, 1 / shares.shape[1]), where=total > 0)
        return np.asarray(shares[self.tree_.apply(validate_data(self, X, reset=False))])

    def predict(self, X: Array) -> Array:
        """The class that is most frequent in each row's leaf, perturbation undone."""
        check_is_fitted(self)
        best = self.leaf_shares_.argmax(axis=1)
        return np.asarray(self.classes_[best[self.tree_.apply(validate_data(self, X, reset=False))]])

    def perturbed_accuracy(self, X: Array, y: Array, sample_weight: Array | None = None) -> Estimate:
        """The accuracy on true values, estimated from published ones; on rows it was fitted to it looks too good."""
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        predicted = np.searchsorted(self.classes_, self.predict(X))
        hits = (self._codes(np.asarray(y)) == predicted).astype(np.float64)
        by_chance = self.value_shares_[predicted]
        total = float(weight.sum())
        value = float((weight * (hits - (1 - self.p) * by_chance)).sum()) / (self.p * total)
        squares = weight**2
        draws = float(squares.sum() ** 2 / (squares**2).sum())
        centre = float((squares * hits).sum() / squares.sum())
        # Few heavy rows tell little of their own spread; one tells nothing.
        spread = (
            float((squares * (hits - centre) ** 2).sum()) * draws / (draws - 1) if draws >= 2 else squares.sum() / 4
        )
        return Estimate(value, math.sqrt(spread) / (self.p * total))

    def people_hit(self, X: Array, y: Array, weight: Array) -> Array:
        """(n_rows,) what each row adds to the people who are predicted rightly, the perturbation undone."""
        predicted = np.searchsorted(self.classes_, self.predict(X))
        hits = (self._codes(np.asarray(y)) == predicted).astype(np.float64)
        return np.asarray(weight * (hits - (1 - self.p) * self.value_shares_[predicted]) / self.p)

    def _prepared(self, y: Array) -> NDArray[np.int64]:
        """Read off classes and their shares of the domain; the classes of ``y`` as codes."""
        domain = np.unique(y) if self.domain is None else np.asarray(list(self.domain), dtype=np.asarray(y).dtype)
        classes = np.asarray([self._class(value) for value in domain])
        self.classes_, codes = np.unique(classes, return_inverse=True)
        self.value_shares_ = np.bincount(codes, minlength=len(self.classes_)) / len(domain)
        self.class_codes_ = dict(zip(domain.tolist(), codes.tolist(), strict=True))
        return self._codes(y)

    def _class(self, value: Any) -> Any:
        return value if self.class_of is None else self.class_of[value]

    def _codes(self, y: Array) -> NDArray[np.int64]:
        distinct, place = np.unique(y, return_inverse=True)
        strange = [value for value in distinct.tolist() if value not in self.class_codes_]
        if strange:
            raise ValueError(f"Not in the declared domain: {described(strange)}.")
        return np.array([self.class_codes_[value] for value in distinct.tolist()], dtype=np.int64)[place]

    def _inverted(self, leaves: NDArray[np.int64], observed: NDArray[np.int64], weight: Array) -> Array:
        """Class shares of every leaf with the perturbation undone."""
        n_nodes, n_classes = self.tree_.tree_.node_count, len(self.classes_)
        counts = np.bincount(leaves * n_classes + observed, weights=weight, minlength=n_nodes * n_classes)
        counts = counts.reshape(n_nodes, n_classes)
        total = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
        return np.asarray((shares - (1 - self.p) * self.value_shares_) / self.p)


def fit_release(
    release: Release,
    classes: Classes,
    *,
    points: int = 1,
    domains: Any = None,
    ahead: float = AHEAD,
    **options: Any,
) -> PerturbedClassifier:
    """Fit a classifier to a release.

    Parameters
    ----------
    release
        A release of perturbed generalization.
    classes
        The classes to learn, as in :class:`~undercover.analysis.learning.features.PerturbedFeatures`.
    points
        Points per cell: 1 for its middle.
    domains
        Which values quasi-identifiers can have, where the release does not tell.
    ahead
        By how many standard errors a tree must be ahead of the majority to be taken: with 2 one that is behind it is
        taken in about one release of twenty at most, with 3 in one of several hundred, and less is learnt.
    **options
        Of :class:`PerturbedClassifier`: ``tau``, ``min_samples_leaf``, ``max_depth``, ``random_state``.

    Returns
    -------
    The classifier, with ``features_`` that turn exact rows into its columns and ``accuracy_``: what it is estimated to
    reach on people it has not seen, from the release alone (five-fold cross-validation over cells). ``learnt_`` says
    what it came from: a tree that weighs rows by their ``people``, one that weighs them ``alike``, or, where neither is
    found to be better, the class of the ``majority`` (:mod:`undercover.analysis.learning.choice`). ``majority_clear_``
    says whether it is clear which class that is; only then is the classifier held to be no worse than it.

    Examples
    --------
    >>> import undercover as uc
    >>> people, schema = uc.datasets.census(1000, seed=1), uc.datasets.census_schema(["age", "sex"])
    >>> release = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.5), seed=1).release
    >>> fit_release(release, {"low": uc.Between(0, 24), "high": uc.Between(25, 49)}).classes_.tolist()
    ['high', 'low']
    """
    features = PerturbedFeatures(release, classes, domains)
    X, y, weight = features.cells(points=points)
    model = PerturbedClassifier(
        p=float(features.noise.p), domain=features.noise.domain, class_of=dict(features.class_of), **options
    )
    fold = _folds(len(y), len(y) // points)
    compared = candidates(weight)
    without_split = clone(model).set_params(**compared["majority"][0]).fit(X, y, sample_weight=weight)
    clear = majority_is_clear(without_split.leaf_shares_[0], weight, model.p)
    learnt = best(held_out_gains(model, X, y, weight, fold), clear=clear, ahead=ahead)
    settings, weights = compared[learnt]
    model.set_params(**settings).fit(X, y, sample_weight=weights)
    model.features_ = features
    model.learnt_ = learnt
    model.majority_clear_ = clear
    model.accuracy_ = release_accuracy(model, X, y, weight, cells=len(y) // points, fit_weight=weights)
    return model


def release_accuracy(
    model: PerturbedClassifier,
    X: Array,
    y: Array,
    weight: Array,
    *,
    folds: int = FOLDS,
    cells: int | None = None,
    fit_weight: Array | None = None,
) -> Estimate:
    """The accuracy of a model fitted in the same way to other cells, estimated by cross-validation.

    ``cells`` is their number where each has several points, which stay together. ``fit_weight`` are the weights it is
    fitted with, where these are not those of the people.
    """
    fitting = weight if fit_weight is None else fit_weight
    fold = _folds(len(y), cells or len(y), folds)
    values, variances = 0.0, 0.0
    total = float(np.sum(weight))
    for number in range(folds):
        held = fold == number
        fitted = clone(model).fit(X[~held], y[~held], sample_weight=fitting[~held])
        found = fitted.perturbed_accuracy(X[held], y[held], weight[held])
        share = float(np.sum(weight[held])) / total
        values += share * found.value
        variances += (share * found.standard_error) ** 2
    return Estimate(values, math.sqrt(variances))


def _folds(rows: int, cells: int, folds: int = FOLDS) -> NDArray[np.int64]:
    """(n_rows,) the fold of each row; points of one cell are in the same."""
    return np.arange(rows) % cells % folds
