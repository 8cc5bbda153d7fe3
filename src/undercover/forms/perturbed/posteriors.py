"""Linkage before perturbed generalization: one row stands for G people, and its sensitive value was perhaps drawn.

The attacker of :mod:`undercover.attacks.linkage`, who has corrupted nobody, believes of a person what is overall in the
table, except for the chance of 1/G that the row is the person's own (Tao, Xiao, Li & Zhang, equations 9 to 15, with
everybody undecided). Where he knows some columns only, several cells fit, and each counts by its people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from undercover.forms.written import combine
from undercover.model.table import EncodedColumn

if TYPE_CHECKING:
    from undercover.forms.perturbed.reading import PerturbedReading

Array = NDArray[np.int64]
Floats = NDArray[np.float64]

_BLOCK = 1 << 22  # numbers held at a time


def perturbed_posteriors(
    reading: PerturbedReading,
    column: EncodedColumn,
    known: Sequence[str],
    offsets: Array,
    members: Array,
    target_of: Array,
) -> tuple[Array, Floats, Floats]:
    """For every person: people of the cells that fit, probability given to the true value, and of a right guess.

    Parameters
    ----------
    column
        The sensitive column of the original.
    known
        The columns the attacker knows.
    offsets, members
        The boxes that cover each target are ``members[offsets[t]:offsets[t + 1]]``; a box is the published rows that
        are written alike in the known columns.
    target_of
        (n_rows,) target of each person.
    """
    noise, seen, people = reading.channel, reading.seen, reading.people
    p, u = float(noise.p), float(noise.u)
    own = np.array([noise.code[label] for label in column.domain.labels], dtype=np.int64)[column.codes]
    prior = np.bincount(own, minlength=noise.size) / len(own)
    box, n_boxes = combine([reading.column(name) for name in known])
    order = np.argsort(box, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(box, minlength=n_boxes))])
    weight = np.divide(1.0, p * prior[seen] + u, out=np.zeros(len(seen)), where=p * prior[seen] + u > 0)

    n_targets = len(offsets) - 1
    matches = np.zeros(n_targets, dtype=np.int64)
    by_target = np.argsort(target_of, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(target_of, minlength=n_targets))])
    chance, hits = np.empty(len(own)), np.empty(len(own))
    step = max(1, _BLOCK // noise.size)
    for first in range(0, n_targets, step):
        last = min(first + step, n_targets)
        boxes = members[offsets[first] : offsets[last]]
        counts = starts[boxes + 1] - starts[boxes]
        of_box = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        target = np.repeat(of_box - first, counts)
        inside = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = order[np.repeat(starts[boxes], counts) + inside]
        size = last - first
        matches[first:last] = np.bincount(target, weights=people[rows], minlength=size).astype(np.int64)
        everywhere = np.bincount(target, weights=people[rows] - 1 + u * weight[rows], minlength=size)
        extra = np.bincount(target * noise.size + seen[rows], weights=p * weight[rows], minlength=size * noise.size)
        belief = prior * (everywhere[:, None] + extra.reshape(size, noise.size))
        total = belief.sum(axis=1, keepdims=True)
        belief = np.divide(belief, total, out=np.zeros_like(belief), where=total > 0)
        best = belief >= belief.max(axis=1, keepdims=True) * (1 - 1e-12)
        guess = best / best.sum(axis=1, keepdims=True)
        persons = by_target[ends[first] : ends[last]]
        at = (target_of[persons] - first, own[persons])
        chance[persons], hits[persons] = belief[at], guess[at] * (belief[at] > 0)
    return matches[target_of], chance, hits
