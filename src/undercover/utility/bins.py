"""Values put together, so that distances and classes are about people and not about values hardly anybody has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from undercover.analysis.coverage import Positions
from undercover.model.schema import Kind

RANGES = 20  # of an ordered column
CATEGORIES = 50


def bins_of(kind: Kind, counts: NDArray[np.int64], *, ranges: int, categories: int, missing: bool = False) -> Positions:
    """The bin of each value, by how many people have it.

    A column with at most as many different values as there are bins keeps them all. Otherwise the values of an ordered
    column are cut into ranges of about equally many people, and of a categorical one all but the most frequent are put
    together. Values nobody has do not change the bins of the others. Missing, the last value, is a bin of its own.

    Parameters
    ----------
    kind
        Categories have no order; all other values are given in theirs.
    counts
        (n_values,) people with each value.
    ranges, categories
        The most bins of an ordered and of a categorical column, beside that of missing.
    missing
        Whether the last value is "missing".

    Examples
    --------
    >>> bins_of("numeric", np.array([1, 1, 1, 1, 0, 4]), ranges=2, categories=2).tolist()
    [0, 0, 0, 0, 1, 1]
    >>> bins_of("categorical", np.array([5, 1, 7, 2]), ranges=2, categories=3).tolist()
    [1, 2, 0, 2]
    >>> bins_of("categorical", np.array([5, 1]), ranges=2, categories=3).tolist()
    [0, 1]
    """
    if missing:
        present = bins_of(kind, counts[:-1], ranges=ranges, categories=categories)
        return np.append(present, present.max(initial=-1) + 1)
    everybody = int(counts.sum())
    occurring = int((counts > 0).sum())
    most = categories if kind == "categorical" else ranges
    if occurring <= most or not everybody:
        return np.arange(len(counts), dtype=np.int64)
    if kind == "categorical":
        order = np.argsort(-counts, kind="stable")
        bins = np.full(len(counts), most - 1, dtype=np.int64)
        bins[order[: most - 1]] = np.arange(most - 1)
        return bins
    before = np.cumsum(counts) - counts
    found = np.minimum((before + counts / 2) * ranges / everybody, ranges - 1).astype(np.int64)
    return np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)
