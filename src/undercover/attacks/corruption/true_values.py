"""Corruption before an ordinary generalised table: values of others that are known are struck out of the class.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section III and Lemma 2: a table that shows
true values gives more and more away as others are corrupted, and everything in the end.
:class:`undercover.Corruption` has the same for perturbed generalization, where it does not.

Deviations: everybody is the victim once, and who is corrupted is chosen once and for all by place alone. The attacker
is taken to know the class (of a release in two tables: the bucket) of everybody, which is more than the release says
where somebody fits several.

Everybody else corrupted: what is left of the published sensitive values when those of all others are struck out.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Lemma 2: of a table that shows the true
values somebody who has learnt all but one of them knows the last. He need not even find the victim's class, since the
values of the whole table are enough, so no grouping helps, however the values are arranged. Only values that were
changed before they were published do; :class:`undercover.Corruption` has that case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError
from undercover.forms.classes import COUNT
from undercover.forms.written import number, written
from undercover.model.drawn import is_drawn, is_perturbed
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.table import Table
from undercover.randomness import Randomness

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
STORY = (
    "The attacker knows who is in the table with which quasi-identifiers, and has learnt the sensitive values of some "
    "of them, up to everybody's but the victim's. He knows who is in which class, strikes the values he knows out of "
    "the victim's, and gives every value its share of what is left."
)


def ordinary_corruption(original: Table, run: Run, *, shares: Sequence[float] = SHARES) -> dict[str, Any] | None:
    """How sure of everybody's true value an attacker is who has corrupted a share of the others.

    Returns
    -------
    dict or None
        ``sweep``: for every share and sensitive column the mean and the largest confidence, and how many people are
        certain. ``None`` where values were drawn, or no column is sensitive.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=100, l=4))
    >>> found = ordinary_corruption(run.original, run)
    >>> found["sweep"][0]["attribute"]["income"]["max"] <= 1 / 4, found["sweep"][-1]["attribute"]["income"]["mean"]
    (True, 1.0)
    """
    sensitive = original.schema.sensitive
    if is_drawn(run.release) or is_perturbed(run.release) or not sensitive:
        return None
    label = np.asarray(run.groups.labels if run.buckets is None else run.buckets, dtype=np.int64)
    inside = np.searchsorted(original.rows, run.rows)  # who is not among them was suppressed
    sizes = np.bincount(label)
    n = len(inside)
    rank = np.empty(n, dtype=np.int64)
    rank[Randomness(0).words("corrupted", n).argsort(kind="stable")] = np.arange(n)
    pairs = {}  # a class and a value in it, numbered as they occur: there are no more than people
    for name in sensitive:
        key, count = number(label * original[name].domain.size + original[name].codes[inside])
        pairs[name] = key, np.bincount(key, minlength=count)
    sweep = []
    for share in shares:
        corrupted = rank < round(share * n)
        known = np.bincount(label[corrupted], minlength=len(sizes))[label] - corrupted
        attribute = {}
        for name in sensitive:
            key, left = pairs[name]
            gone = np.bincount(key[corrupted], minlength=len(left))
            confidence = (left[key] - gone[key] + corrupted) / (sizes[label] - known)  # the victim is not corrupted
            attribute[name] = {
                "mean": float(confidence.mean()),
                "max": float(confidence.max()),
                "certain_rows": int((confidence > 1 - 1e-12).sum()),
            }
        sweep.append({"share": float(share), "attribute": attribute})
    return {
        "attack": "ordinary-corruption",
        "story": STORY,
        "targets": n,
        "baseline": {name: _guessing(original[name].codes) for name in sensitive},
        "sweep": sweep,
    }


def _guessing(codes: NDArray[Any]) -> float:
    shares = np.bincount(codes) / len(codes)
    return float((shares**2).sum())


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
