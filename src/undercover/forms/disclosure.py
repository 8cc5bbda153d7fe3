"""What somebody achieves on every person: from the boxes that fit, listed or counted.

With m matching rows the person is any of them with probability 1/m; a sensitive value is as probable as it is frequent
among them. Where boxes are so wide that people and the boxes that fit them cannot be listed, they are counted: exactly,
but for the best guess, which is then looked at for a part of the people (:mod:`undercover.forms.matching`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.forms.boxes import Boxes, match
from undercover.forms.matching import MOST_PAIRS, can_be_counted, counted_matches, pairs_expected
from undercover.forms.written import first_rows
from undercover.model.groups import number
from undercover.model.table import Table

AT_RISK = 0.2  # the threshold commonly used by statistics offices and health data holders
_LEAST_GUESSED = 1000  # people whose whole distribution is looked at, where boxes are too wide for everybody's


@dataclass(frozen=True)
class Disclosure:
    """What the attacker achieves on every row."""

    matches: NDArray[Any]  # (n_rows,) published rows that fit; with p_match the expected number
    attribute: Mapping[str, NDArray[np.float64]]  # probability he gives the true value
    hits: Mapping[str, NDArray[np.float64]]  # probability that his guess is right; NaN where it was not looked at
    found: NDArray[np.float64] | None = None  # identity, where it is not simply one of the rows that fit

    @property
    def identity(self) -> NDArray[np.float64]:
        """Probability of picking the person's own row; 0 where nothing fits."""
        if self.found is not None:
            return self.found
        matches: NDArray[np.float64] = self.matches.astype(np.float64)
        return np.divide(1.0, matches, out=np.zeros(len(matches)), where=matches > 0)

    def to_dict(self) -> dict[str, Any]:
        """Means and worst cases."""
        identity = self.identity
        return {
            "identity": {
                "mean": float(identity.mean()),
                "max": float(identity.max()),
                "at_risk_share": float((identity > AT_RISK).mean()),
                "unique_rows": int((identity > 1.0 - 1e-12).sum()),
            },
            "attribute": {
                name: {
                    "mean": float(probability.mean()),
                    "max": float(probability.max()),
                    **_success(self.hits[name]),
                    "certain_rows": int((probability > 1.0 - 1e-12).sum()),
                }
                for name, probability in self.attribute.items()
            },
        }


def _success(hits: NDArray[np.float64]) -> dict[str, Any]:
    """How often a guess is right; where only some people were looked at, how many and between which bounds (95%).

    >>> _success(np.array([1.0, 0.0]))
    {'guess_success': 0.5}
    >>> found = _success(np.array([1.0, 0.0, 1.0, 0.0, np.nan]))
    >>> found["guess_success"], found["guess_sample"], [round(end, 3) for end in found["guess_interval"]]
    (0.5, 4, [0.0, 1.0])
    """
    looked_at = hits[~np.isnan(hits)]
    mean = float(looked_at.mean())
    if len(looked_at) == len(hits):
        return {"guess_success": mean}
    spread = 1.96 * float(looked_at.std(ddof=1)) / math.sqrt(len(looked_at))
    interval = [max(0.0, mean - spread), min(1.0, mean + spread)]
    return {"guess_success": mean, "guess_sample": len(looked_at), "guess_interval": interval}


def distinct_rows(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct rows: (number of each row, the distinct rows)."""
    keys = codes[:, 0]
    for j in range(1, codes.shape[1]):
        keys, _ = number(keys * (int(codes[:, j].max()) + 1) + codes[:, j])
    keys, count = number(keys)
    return keys, codes[first_rows(keys, count)]


def disclosure_of(
    boxes: Boxes, original: Table, target_of: NDArray[np.int64], targets: NDArray[np.int64], threads: int
) -> Disclosure:
    """What somebody achieves who takes a person to be any of the rows that fit."""
    pairs = pairs_expected(boxes, targets)
    if pairs <= MOST_PAIRS or not can_be_counted(boxes):
        return _listed(boxes, original, target_of, targets, threads)
    names: list[str | None] = [*boxes.sensitive] or [None]
    counted = [counted_matches(boxes, targets, target_of, None if n is None else original[n], threads) for n in names]
    matches = counted[0][0]
    # Who is guessed is looked at for some people only: rows, not targets, so that everybody is as likely to be among.
    some = max(_LEAST_GUESSED, int(MOST_PAIRS / 10 / pairs * len(targets)))
    rows = np.sort(np.random.default_rng(0).permutation(original.n_rows)[:some])
    chosen, position = np.unique(target_of[rows], return_inverse=True)
    guessed = _listed(boxes, original, position.reshape(-1), targets[chosen], threads, rows=rows)
    hits = {name: np.full(original.n_rows, np.nan) for name in boxes.sensitive}
    for name, found in guessed.hits.items():
        hits[name][rows] = found
    return Disclosure(
        matches[target_of], {n: found for n, (_, found) in zip(names, counted, strict=True) if n is not None}, hits
    )


def _listed(
    boxes: Boxes,
    original: Table,
    target_of: NDArray[np.int64],
    targets: NDArray[np.int64],
    threads: int,
    *,
    rows: NDArray[np.int64] | None = None,
) -> Disclosure:
    """From a list of all boxes that fit; ``rows`` are the rows ``target_of`` is about, by default all."""
    from undercover.forms.kernels import posteriors

    offsets, members = match(boxes, targets, threads)
    running = np.concatenate([[0], np.cumsum(boxes.weights[members])])
    matches = running[offsets[1:]] - running[offsets[:-1]]
    order = np.argsort(target_of, kind="stable")
    attribute, hits = {}, {}
    for name in boxes.sensitive:
        truth = original[name].codes if rows is None else original[name].codes[rows]
        probability, hit = posteriors(
            offsets, members, boxes.buckets(original[name]), target_of[order], truth[order].astype(np.int64)
        )
        attribute[name], hits[name] = np.empty(len(order)), np.empty(len(order))
        attribute[name][order], hits[name][order] = probability, hit
    return Disclosure(matches[target_of], attribute, hits)
