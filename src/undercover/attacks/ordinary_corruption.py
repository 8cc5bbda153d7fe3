"""Corruption before an ordinary generalised table: values of others that are known are struck out of the class.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section III and Lemma 2: a table that shows
true values gives more and more away as others are corrupted, and everything in the end.
:class:`undercover.Corruption` has the same for perturbed generalization, where it does not.

Deviations: everybody is the victim once, and who is corrupted is chosen once and for all by place alone. The attacker
is taken to know the class (of a release in two tables: the bucket) of everybody, which is more than the release says
where somebody fits several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.guarantees.encoding import number
from undercover.model.drawn import is_drawn
from undercover.model.perturbation import is_perturbed
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
