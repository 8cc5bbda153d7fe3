"""Which classifier to trust, from perturbed values alone.

Noise may leave less to learn than a tree takes for it. Rows stand for different numbers of people, and where a few
stand for most of them, a tree that weighs rows by people splits by the noise of these few; one that weighs all rows
alike is then steadier, though it looks at rows instead of people. So three are compared by cross-validation over cells:
a tree weighed by people, a tree weighed alike, and the class of the majority, which is a tree without a split.

What is compared is the difference in hits on held-out rows, row by row, with the channel undone: a row of weight w adds
w (hit - (1 - p) s) / p with s the share of its predicted class in the declared domain, so that the sum has the number
of people who are hit as its mean (Tao, Xiao, Li & Zhang, equation 11, inverted). Both predict the same for most rows,
and these cancel.

The majority is a safe choice only where it is clear which class that is. There a tree must be ``ahead`` of it by two
standard errors of the difference, so that one that is behind it is taken in at most about one release of twenty (of
what may be equally good the simplest is taken: Breiman et al. 1984). Where it is not clear nothing can be promised: no
release of so few rows tells which class the majority has, it may be the wrong one as easily as a tree may be a bad one,
and the best estimate decides, at a tie the majority.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from undercover.analysis.learning.classifier import PerturbedClassifier

Floats = NDArray[np.float64]
Learnt = Literal["people", "alike", "majority"]

CLEAR: Final = 2.0  # standard errors by which the majority leads
AHEAD: Final = 2.0  # standard errors by which a tree must be ahead of it
NO_SPLIT: Final = 1e300  # a gain that no split has


def candidates(weight: Floats) -> Mapping[Learnt, tuple[dict[str, Any], Floats]]:
    """What is compared: settings of the classifier, and the weights of the rows it is fitted with."""
    alike = np.full(len(weight), weight.sum() / len(weight))
    return {"people": ({}, weight), "alike": ({}, alike), "majority": ({"tau": NO_SPLIT}, weight)}


def best(gains: Mapping[Learnt, Floats], *, clear: bool, ahead: float = AHEAD) -> Learnt:
    """The one to take, by what every held-out row adds to the people who are hit.

    >>> rows = np.array([1.0, -1.0, 1.0, -1.0])
    >>> gains = {"people": rows, "alike": rows + 1, "majority": np.zeros(4)}
    >>> best(gains, clear=True), best(gains, clear=False)
    ('majority', 'alike')
    >>> many = np.tile(rows, 9)
    >>> best({"people": many + 9, "alike": many + 5, "majority": 0 * many}, clear=True)
    'people'
    """
    found: dict[Learnt, float] = {}
    trees: tuple[Learnt, ...] = ("people", "alike")
    for name in trees:
        difference = gains[name] - gains["majority"]
        if difference.sum() > (ahead * np.sqrt((difference**2).sum()) if clear else 0.0):
            found[name] = float(difference.sum())
    return max(found, key=lambda name: found[name], default="majority")


def majority_is_clear(shares: Floats, weight: Floats, p: float) -> bool:
    """Whether the largest of the inverted class shares leads by more than what perturbation may have made of it.

    >>> [majority_is_clear(np.array([0.7, 0.3]), np.ones(rows), 0.3) for rows in (10_000, 9)]
    [True, False]
    """
    if len(shares) < 2:
        return True
    second, first = np.sort(shares)[-2:]
    # A row adds at most its weight to one class and takes it from the other.
    return bool(first - second > CLEAR * np.sqrt((weight**2).sum()) / (p * weight.sum()))


def held_out_gains(
    model: PerturbedClassifier, X: Any, y: NDArray[Any], weight: Floats, fold: NDArray[np.int64]
) -> dict[Learnt, Floats]:
    """(n_rows,) what each row adds to the people who are hit, by each candidate fitted to the other folds."""
    from sklearn.base import clone

    found: dict[Learnt, Floats] = {name: np.zeros(len(y)) for name in candidates(weight)}
    for number in np.unique(fold):
        held = fold == number
        for name, (settings, weights) in candidates(weight).items():
            fitted = clone(model).set_params(**settings).fit(X[~held], y[~held], sample_weight=weights[~held])
            found[name][held] = fitted.people_hit(X[held], y[held], weight[held])
    return found
