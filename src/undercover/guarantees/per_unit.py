"""What a promise comes to for people who have several rows: only the private run knows whose rows they are.

docs/theory/units.md has the definitions and the proofs. The run keeps a number for every row's person in its private
frame ``units``; published tables never say which rows are of one person.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Guarantee
from undercover.model.run import UNITS, Run
from undercover.units import most_of_one

NEEDS = "private"


class Held(NamedTuple):
    """Of every group of a run: its rows, those of the person with most of them, and how many people are in it."""

    sizes: NDArray[np.int64]
    most: NDArray[np.int64]
    people: NDArray[np.int64]


def held(run: Run) -> Held | None:
    """Who holds how much of each group, or bucket where there are buckets; ``None`` where the run does not say."""
    frame = run.frames.get(UNITS)
    labels = run.groups.labels if run.buckets is None else run.buckets
    if frame is None or frame.num_rows != len(labels):
        return None
    groups = np.unique(labels, return_inverse=True)[1].reshape(-1)
    count = int(groups.max(initial=-1)) + 1
    return Held(np.bincount(groups, minlength=count), *most_of_one(groups, frame["unit"].to_numpy(), count))


def untold(guarantee: Guarantee, required: float, sense: Sense) -> Finding:
    """Published tables cannot tell."""
    return Finding(guarantee.name, dict(guarantee.parameters()), required, needs=NEEDS, sense=sense)


def missing(guarantee: Guarantee, required: float, sense: Sense) -> Finding:
    """The run does not say whose rows they are."""
    note = f"The private run has no `{UNITS}`: it does not say whose rows they are."
    return Finding(guarantee.name, dict(guarantee.parameters()), required, holds=False, note=note, sense=sense)
