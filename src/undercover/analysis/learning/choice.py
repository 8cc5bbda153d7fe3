"""Which classifier to trust, from perturbed values alone: never one that is not clearly better than the majority.

Noise may leave less to learn than a tree takes for it. Rows stand for different numbers of people, and where a few
stand for most of them, a tree that weighs rows by people splits by the noise of these few; one that weighs all rows
alike is then steadier, though it looks at rows instead of people. So three are compared by cross-validation over cells:
a tree weighed by people, a tree weighed alike, and the class of the majority, which is a tree without a split.

What is compared is the difference in hits on held-out rows, row by row, with the channel undone: a row of weight w adds
w (hit - (1 - p) s) / p with s the share of its predicted class in the declared domain, so that the sum has the number
of people who are hit as its mean (Tao, Xiao, Li & Zhang, equation 11, inverted). Both predict the same for most rows,
and these cancel. A tree is taken where it is ahead of the majority by twice the standard error of that difference; of
two such trees, the one that is ahead further.
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

AHEAD: Final = 2.0  # standard errors
NO_SPLIT: Final = 1e300  # a gain that no split has


def candidates(weight: Floats) -> Mapping[Learnt, tuple[dict[str, Any], Floats]]:
    """What is compared: settings of the classifier, and the weights of the rows it is fitted with."""
    alike = np.full(len(weight), weight.sum() / len(weight))
    return {"people": ({}, weight), "alike": ({}, alike), "majority": ({"tau": NO_SPLIT}, weight)}


def best(gains: Mapping[Learnt, Floats]) -> Learnt:
    """The one to take, by what every held-out row adds to the people who are hit.

    >>> rows = np.array([1.0, -1.0, 1.0, -1.0])
    >>> best({"people": rows, "alike": rows + 0.1, "majority": np.zeros(4)})
    'majority'
    >>> best({"people": rows + 9, "alike": rows + 5, "majority": np.zeros(4)})
    'people'
    """
    ahead: dict[Learnt, float] = {}
    for name in ("people", "alike"):
        difference = gains[name] - gains["majority"]  # type: ignore[index]
        if difference.sum() > AHEAD * np.sqrt((difference**2).sum()):
            ahead[name] = float(difference.sum())  # type: ignore[index]
    return max(ahead, key=lambda name: ahead[name], default="majority")


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
