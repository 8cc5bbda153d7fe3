"""Cross-bucket generalization of an encoded table: equivalence groups one way, buckets across them the other.

Li, Liu, Han & Zhang, "Cross-Bucket Generalization for Information and Privacy Preservation", Section 3. The plan says
which sensitive values to take together (:mod:`undercover.methods.cross_bucket.plan`). For each, rows of these values
that lie close together are picked (Algorithm 3), divided into equivalence groups of at least k rows (Algorithm 4) and
dealt into buckets across the groups (Algorithm 5).

Deviations. Algorithm 3 goes through the whole table for every pick and, where the median of a column is its maximum,
never ends. Here one kd-tree is built once, its nodes keep live counts of the sensitive values, and a pick costs a way
down the tree. Algorithm 4 leaves open in which order rows are divided: here column by column, so that the boxes come
out small. Rows of a group take their buckets in a secret uniform order; otherwise whoever knows the quasi-identifiers
would know the order and so the bucket.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import InternalError
from undercover.methods.cross_bucket.plan import Plan, bucket_count, plan_of
from undercover.model.groups import Groups
from undercover.model.protocols import Progress, no_progress
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.arrays import Columns
from undercover.steps.cutting.columns import cut_columns, kernel_columns
from undercover.steps.shuffling import shuffle_within


@dataclass(frozen=True)
class CrossBuckets:
    """Where every row went."""

    groups: Groups  # equivalence groups
    buckets: Groups
    picks: Groups  # rows that were taken together: the union of some groups, and of some buckets


def cross_buckets(
    table: Table,
    sensitive: str,
    counts: NDArray[np.int64],
    *,
    k: int,
    l: int,  # noqa: E741
    randomness: Randomness,
    threads: int = 1,
    progress: Progress = no_progress,
) -> CrossBuckets:
    """Pick, divide and deal the rows of a table whose sensitive values occur ``counts`` times each."""
    rows = np.arange(table.n_rows, dtype=np.int64)
    shuffle_within(rows, np.array([0, table.n_rows]), randomness, "order among equal rows")
    picks, starts, codes, settings = pick(table, sensitive, plan_of(counts, k=k, l=l), rows, progress)
    progress("dividing", 0.7)
    shuffle_within(picks, starts, randomness, "order before dividing")
    group_starts = _divide(codes, picks, starts, k, settings, threads)
    shuffle_within(picks, group_starts, randomness, "order of buckets in a group")
    progress("dealing", 0.9)
    buckets, n_buckets = _deal(starts, k, l)
    numbers = np.arange(n_buckets, dtype=np.int32)
    shuffle_within(numbers, np.array([0, n_buckets]), randomness, "numbers of buckets")
    in_order = rows[picks]
    labels = np.empty(table.n_rows, dtype=np.int32)
    labels[in_order] = numbers[buckets]
    found = CrossBuckets(
        groups=Groups.from_order(in_order, group_starts),
        buckets=Groups(labels, n_buckets),
        picks=Groups.from_order(in_order, starts),
    )
    check(found, table[sensitive].codes, k=k, l=l)
    return found


def pick(
    table: Table, sensitive: str, plan: Plan, rows: NDArray[np.int64], progress: Progress = no_progress
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any], Columns]:
    """Algorithm 3 for every set of the plan: which rows are taken together.

    ``rows`` is put in the order of the kd-tree. Rows that are equal in all quasi-identifiers and the sensitive value
    are taken in the order given; nothing else depends on it.

    Returns
    -------
    (positions in ``rows``, where each pick begins among them, cutting codes by position, settings for kernels)
    """
    from undercover.compiled.jit import needs_compiling
    from undercover.methods.cross_bucket.kernels.selection import count_values, select_rows
    from undercover.methods.cross_bucket.kernels.tree import build_tree

    if needs_compiling(build_tree) or needs_compiling(select_rows):
        progress("compiling the kd-tree (once on this machine, some 20 seconds)", 0.0)
    columns = cut_columns(table, "regions")
    settings = kernel_columns(table, columns)
    codes = np.stack([column.recode[table[column.name].codes[rows]] for column in columns], axis=1).astype(np.int32)
    values = table[sensitive].codes[rows].astype(np.int32)
    progress("building the kd-tree", 0.1)
    nodes = build_tree(codes, values, rows, settings)
    progress("selecting rows", 0.3)
    roots, entries = count_values(nodes, values, table[sensitive].domain.size)
    picks = select_rows(nodes, roots, entries, codes, values, plan.members, plan.offsets, plan.repeats, settings)
    return picks, np.concatenate([[0], np.cumsum(plan.sizes)]), codes, settings


def check(found: CrossBuckets, values: NDArray[np.integer], *, k: int, l: int) -> None:  # noqa: E741
    """Raise where a pick repeats a sensitive value or a pair of group and bucket is above 1/l; in whole numbers.

    With different values in every pick and ``l * Num(E, B) <= |E| |B|`` for every group E and bucket B, a row that is
    matched with E has no value with more than 1/l, and a row matched with several groups a mean of such figures.
    """
    problems = []
    groups, buckets, picks = found.groups, found.buckets, found.picks
    n = len(values)
    if not (len(groups.labels) == len(buckets.labels) == len(picks.labels) == n):
        problems.append("rows were lost")
    if int(groups.sizes.min()) < k:
        problems.append(f"an equivalence group has {int(groups.sizes.min())} rows")
    pairs = np.sort(picks.labels.astype(np.int64) * (int(values.max()) + 1) + values)
    if (pairs[1:] == pairs[:-1]).any():
        problems.append("rows that were taken together have the same sensitive value")
    for parts, name in ((groups, "group"), (buckets, "bucket")):
        owner = np.zeros(parts.count, dtype=np.int64)
        owner[parts.labels] = picks.labels
        if (owner[parts.labels] != picks.labels).any():
            problems.append(f"a {name} has rows that were not taken together")
    keys = np.sort(groups.labels.astype(np.int64) * buckets.count + buckets.labels)
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    group, bucket = keys[first] // buckets.count, keys[first] % buckets.count
    both = np.diff(first, append=n)
    if (l * both > groups.sizes[group] * buckets.sizes[bucket]).any():
        problems.append("an equivalence group has too many rows in one bucket")
    if problems:
        raise InternalError(f"Cross-bucket generalization failed its own check: {'; '.join(problems)}.")


def _divide(
    codes: NDArray[Any], picks: NDArray[np.int64], starts: NDArray[np.int64], k: int, settings: Columns, threads: int
) -> NDArray[np.int64]:
    """Algorithm 4 for every pick, in place; where each equivalence group begins."""
    from undercover.methods.cross_bucket.kernels.division import divide_rows

    edges = np.linspace(0, len(starts) - 1, min(threads, len(starts) - 1) + 1).astype(np.int64)
    parts = [starts[low : high + 1] for low, high in pairwise(edges)]
    if len(parts) == 1:
        return np.asarray(divide_rows(codes, picks, starts, k, settings))
    with ThreadPoolExecutor(len(parts)) as pool:
        found = list(pool.map(lambda part: divide_rows(codes, picks, part, k, settings), parts))
    return np.concatenate([*(part[:-1] for part in found), found[-1][-1:]])


def _deal(starts: NDArray[np.int64], k: int, l: int) -> tuple[NDArray[np.int64], int]:  # noqa: E741
    """Algorithm 5 for every pick: rows go to its buckets in turn. The bucket of every position, and their number."""
    sizes = np.diff(starts)
    distinct, which = np.unique(sizes, return_inverse=True)
    per_pick = np.array([bucket_count(int(g), k=k, l=l) for g in distinct], dtype=np.int64)[which]
    before = np.cumsum(per_pick) - per_pick
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    return np.repeat(before, sizes) + place % np.repeat(per_pick, sizes), int(per_pick.sum())
