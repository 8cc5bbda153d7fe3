"""Everybody else corrupted: what is left of the published sensitive values when those of all others are struck out.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Lemma 2: of a table that shows the true
values somebody who has learnt all but one of them knows the last. He need not even find the victim's class, since the
values of the whole table are enough, so no grouping helps, however the values are arranged. Only values that were
changed before they were published do; :class:`undercover.Corruption` has that case.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError
from undercover.guarantees.classes import COUNT
from undercover.guarantees.encoding import written
from undercover.model.perturbation import is_perturbed
from undercover.model.release import Release
from undercover.model.table import Table


def full_corruption(
    original: Table, release: Release, *, published: NDArray[np.bool_] | None = None
) -> dict[str, NDArray[np.float64]]:
    """How sure of everybody's true value somebody is who knows the values of all others.

    Parameters
    ----------
    original, release
        The people, and what is published of them.
    published
        (n_rows,) whose row is in the release; everybody's by default. Of others the attacker learns nothing from it.

    Returns
    -------
    For every sensitive column (n_rows,) the probability given to the true value.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=100, l=4))
    >>> float(full_corruption(run.original, run.release)["income"].min())
    1.0
    """
    if is_perturbed(release):
        raise ParameterError("Values of perturbed generalization are not the true ones. Use Corruption.")
    inside = np.ones(original.n_rows, dtype=bool) if published is None else published
    found = {}
    for name in original.schema.sensitive:
        column = original[name]
        left = _published(release, name, column.domain.labels) - np.bincount(
            column.codes[inside], minlength=column.domain.size
        )
        shares = np.bincount(column.codes, minlength=column.domain.size) / original.n_rows
        # Of a victim with value v he strikes out everybody's values but one v.
        others = np.clip(left, 0, None)
        own = np.clip(left + 1, 0, None)
        total = others.sum() - others + own
        sure = np.divide(own, total, out=np.zeros(len(own)), where=total > 0)
        found[name] = np.where(inside, sure[column.codes], shares[column.codes])
    return found


def _published(release: Release, name: str, labels: tuple[str, ...]) -> NDArray[np.int64]:
    """(n_values,) how often each value is in the release."""
    two_tables = len(release.tables) > 1
    table = release.published("sat" if two_tables else None).data
    column = written(table.column(name))
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place[label] for label in column.labels], dtype=np.int64)[column.codes]
    weights = np.asarray(table.column(COUNT).to_numpy(), dtype=np.float64) if two_tables else None
    return np.bincount(codes, weights=weights, minlength=len(labels)).astype(np.int64)
