"""Safe cross-bucket generalization: boxes that never see a sensitive value, buckets that are whole safe groups.

Our own; the two tables and their promise are those of Li, Liu, Han & Zhang (TKDE 2018). Boxes follow from
quasi-identifiers alone: Mondrian with k (LeFevre, DeWitt & Ramakrishnan 2006), or a division into n // k boxes of k
rows or one more. A bucket is a group of at least l rows of pairwise different values, made by a dealing that is safe
by itself: class dealing, in which the rows of a bucket lie close together, or `wrap`, which stays safe when values of
others are known.

Why it is safe (docs/theory/safe_covers.md): boxes say nothing about values. Somebody who is even told everybody's
bucket gives each value of a bucket B with 1/|B|, at most 1/l; whoever sees boxes and counts alone knows an average of
that. Buckets stay whole: parts of them, as the paper's division makes them, would tell which values were dealt
together.

Rows that are equal in all quasi-identifiers may come into different boxes of exactly k rows. Which of them goes where
is drawn in secret, for the order of the input may follow the sensitive column.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from undercover.errors import InternalError
from undercover.model.groups import Groups
from undercover.model.protocols import Engine, Progress, no_progress
from undercover.model.run import Shuffle
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.partition import partition
from undercover.steps.cutting.regrouping import has_hierarchies, regrouped
from undercover.steps.dealing.groups import numbering, wrap
from undercover.steps.shuffling import shuffle_within

Boxes = Literal["mondrian", "exact"]


def boxes_of(
    table: Table, k: int, boxes: Boxes, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
) -> Groups:
    """Equivalence groups of at least k rows, from quasi-identifiers alone."""
    threads = engine.threads

    if boxes == "mondrian":
        found = partition(table, k=k, threads=threads, progress=progress)
        if has_hierarchies(table):
            found = regrouped(found, table, k=k, threads=threads, progress=progress)
        return found.groups
    from undercover.steps.blocks import exact_blocks

    return exact_blocks(table, k, randomness=randomness, threads=threads, progress=progress)


def buckets_of(
    table: Table,
    sensitive: str,
    l: int,
    *,
    robust: bool,
    randomness: Randomness,
    threads: int = 1,
    progress: Progress = no_progress,
) -> tuple[Groups, tuple[Shuffle, ...]]:
    """Buckets of at least l rows of different values, numbered at random; and what was dealt in secret."""
    from undercover.steps.dealing.classes import deal_classes

    if robust:
        deal = wrap(table, sensitive, l)
        dealt = deal.draw(randomness)
        shuffles = deal.shuffles(dealt)
    else:
        dealt, shuffles = deal_classes(table, sensitive, l, randomness=randomness, threads=threads, progress=progress)
    numbers = np.arange(dealt.count, dtype=np.int32)
    shuffle_within(numbers, np.array([0, dealt.count]), randomness, "numbers of buckets")
    buckets = Groups(numbers[dealt.labels], dealt.count)
    return buckets, (*shuffles, *numbering(buckets, dealt))


def bucket_outcomes(
    table: Table, sensitive: str, l: int, *, robust: bool
) -> Iterator[tuple[Fraction, NDArray[np.int32]]]:
    """Every way to deal a tiny table into buckets, with its exact probability; numbers of buckets mean nothing."""
    from undercover.steps.dealing.classes import class_outcomes

    return wrap(table, sensitive, l).outcomes() if robust else class_outcomes(table, sensitive, l)


def check_safe(groups: Groups, buckets: Groups, values: NDArray[np.integer], *, k: int, l: int) -> None:
    """Raise where a box has fewer than k rows, or a bucket fewer than l or a value twice.

    A bucket then gives each of its values 1/|B| <= 1/l, and a box a mean of such figures: (k, l)-anonymity.
    """
    problems = []
    if int(groups.sizes.min()) < k:
        problems.append(f"a box has {int(groups.sizes.min())} rows")
    if int(buckets.sizes.min()) < l:
        problems.append(f"a bucket has {int(buckets.sizes.min())} rows")
    pairs = np.sort(buckets.labels.astype(np.int64) * (int(values.max()) + 1) + values)
    if (pairs[1:] == pairs[:-1]).any():
        problems.append("a bucket has a sensitive value twice")
    if problems:
        raise InternalError(f"Safe cross-bucket generalization failed its own check: {'; '.join(problems)}.")
