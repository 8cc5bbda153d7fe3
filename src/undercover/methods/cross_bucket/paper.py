"""The paper's cross-bucket generalization, repaired: rows are picked by value and closeness, then divided both ways.

Li, Liu, Han & Zhang, "Cross-Bucket Generalization for Information and Privacy Preservation" (TKDE 2018). The plan says
which sensitive values to take together (Section 3, Algorithm 2, after the assignment of m-invariance: Xiao & Tao 2007).
For each, rows of these values that lie close together are picked (Algorithm 3), divided into equivalence groups of at
least k rows (Algorithm 4) and dealt into buckets across the groups (Algorithm 5). What is published was checked in
whole numbers before.

Deviations: the printed algorithms break the promise on the paper's own example. Algorithm 2 as printed takes all values
that are left once they are few, whatever their counts, and so ends with rows no set of l values can be made of: on the
paper's own eight rows a residue of two. Here every step keeps ``m * (largest count) <= rows left``, with m the least
size of a set, which is what makes a next step possible. Algorithm 5 always makes k buckets; its proof needs a bucket to
have at least |T_gen|/k rows, which fails where k does not divide |T_gen|. Here the number of buckets is the largest of
at most k for which every equivalence group and bucket satisfy the condition itself.

Algorithm 3 goes through the whole table for every pick and, where the median of a column is its maximum, never ends.
Here one kd-tree is built once, its nodes keep live counts of the sensitive values, and a pick costs a way down the
tree. Algorithm 4 leaves open in which order rows are divided: here column by column, so that the boxes come out small.
Rows of a group take their buckets in a secret uniform order; otherwise whoever knows the quasi-identifiers would know
the order and so the bucket.

Which rows are taken together depends on sensitive values and quasi-identifiers at once, so somebody who knows the
algorithm may infer more than the release shows: it is not algorithm-safe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import InternalError, UnreachableError
from undercover.model.groups import Groups
from undercover.model.protocols import Progress, no_progress
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.arrays import Columns
from undercover.steps.cutting.checks import require_rows
from undercover.steps.cutting.columns import cut_columns, kernel_columns
from undercover.steps.dealing.groups import require_eligible
from undercover.steps.shuffling import shuffle_within
from undercover.threads import parallel


@dataclass(frozen=True)
class Plan:
    """Sets of sensitive values, each to be taken so many times."""

    members: NDArray[np.int64]  # values of all sets, one set behind the other
    offsets: NDArray[np.int64]  # (n_sets + 1,)
    repeats: NDArray[np.int64]  # (n_sets,)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], int]]:
        for start, end, times in zip(self.offsets, self.offsets[1:], self.repeats, strict=False):
            yield tuple(self.members[start:end].tolist()), int(times)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each pick of the plan takes, in the order of the plan."""
        return np.repeat(np.diff(self.offsets), self.repeats)


def require_plannable(table: Table, sensitive: str, counts: NDArray[np.int64], k: int, l: int) -> None:
    """Raise where max(k, l) different values cannot be taken together until no row is left."""
    require_rows(table, k)
    require_eligible(table, sensitive, counts, l)
    top = int(counts.argmax())
    if int(counts[top]) * k > table.n_rows:
        best = table.n_rows // int(counts[top])
        raise UnreachableError(
            f"k={k} cannot be reached: CrossBucket takes k rows of different `{sensitive}` together, and the most "
            f"frequent one is {counts[top] / table.n_rows:.1%} of the rows "
            f"({counts[top]:,} of {table.n_rows:,}); the largest feasible k is {best}.",
            best={"k": best},
        )


def plan_of(counts: NDArray[np.integer], *, k: int, l: int) -> Plan:
    """The plan for a column whose values occur ``counts`` times each; max(k, l) times the largest is at most their sum.

    Sets have at least m values: l rounded up to a multiple of k if the most frequent value is rare enough for that,
    else max(k, l).
    """
    from undercover.methods.cross_bucket.kernels import plan_sets

    rounded, most = -(-l // k) * k, int(counts.max())
    m = rounded if most * rounded <= int(counts.sum()) else max(k, l)
    values = np.argsort(-counts.astype(np.int64), kind="stable")
    values = values[counts[values] > 0].astype(np.int64)
    return Plan(*plan_sets(values, counts[values].astype(np.int64), k, m))


def group_sizes(g: int, k: int) -> list[int]:
    """The sizes of the equivalence groups of g rows: as many as can be, as even as can be, none below k."""
    groups = max(1, g // k)
    size, larger = divmod(g, groups)
    return [size + 1] * larger + [size] * (groups - larger)


def bucket_count(g: int, *, k: int, l: int) -> int:
    """Into how many buckets g rows are dealt in turn: the most, up to k, that keep every value below 1/l.

    A row of an equivalence group E has a given value of bucket B with probability Num(E, B) / (size of E times size of
    B), which is to be at most 1/l for every pair.
    """
    ends = np.cumsum([0, *group_sizes(g, k)])
    for b in range(min(k, g), 1, -1):
        place = np.arange(b)
        upto = (ends[:, None] + b - 1 - place) // b  # (n_groups + 1, b) rows before each end that go to each bucket
        if (l * np.diff(upto, axis=0) <= np.diff(ends)[:, None] * upto[-1]).all():
            return b
    return 1


@dataclass(frozen=True)
class CrossBuckets:
    """Where every row went."""

    groups: Groups  # equivalence groups
    buckets: Groups
    picks: Groups  # rows that were taken together: the union of some groups, and of some buckets
    numbers: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))  # of buckets, as they were dealt


def cross_buckets(
    table: Table,
    sensitive: str,
    counts: NDArray[np.int64],
    *,
    k: int,
    l: int,
    randomness: Randomness,
    threads: int = 1,
    progress: Progress = no_progress,
) -> CrossBuckets:
    """Pick, divide and deal the rows of a table whose sensitive values occur ``counts`` times each."""
    rows = np.arange(table.n_rows, dtype=np.int64)
    shuffle_within(rows, np.array([0, table.n_rows]), randomness, "order among equal rows")
    picks, starts, codes, settings = pick(table, sensitive, plan_of(counts, k=k, l=l), rows, progress)
    progress("dividing", 0.0)
    shuffle_within(picks, starts, randomness, "order before dividing")
    group_starts = _divide(codes, picks, starts, k, settings, threads)
    shuffle_within(picks, group_starts, randomness, "order of buckets in a group")
    progress("dealing", 0.0)
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
        numbers=numbers,
    )
    check_buckets(found, table[sensitive].codes, k=k, l=l)
    return found


def pick(
    table: Table, sensitive: str, plan: Plan, rows: NDArray[np.int64], progress: Progress = no_progress
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any], Columns]:
    """Algorithm 3 for every set of the plan: which rows are taken together.

    ``rows`` is put in the order of the kd-tree. Rows that are equal in all quasi-identifiers and the sensitive value
    are taken in the order given; nothing else depends on it. Returns (positions in ``rows``, where each pick begins
    among them, cutting codes by position, settings for kernels).
    """
    from undercover.compiled.jit import needs_compiling
    from undercover.methods.cross_bucket.kernels import build_tree, count_values, select_rows

    if needs_compiling(build_tree) or needs_compiling(select_rows):
        progress("compiling the kd-tree (once on this machine, some 10 seconds)", 0.0)
    columns = cut_columns(table, "regions")
    settings = kernel_columns(table, columns)
    codes = np.stack([column.recode[table[column.name].codes[rows]] for column in columns], axis=1).astype(np.int32)
    values = table[sensitive].codes[rows].astype(np.int32)
    progress("building the kd-tree", 0.0)
    nodes = build_tree(codes, values, rows, settings)
    progress("selecting rows", 0.0)
    roots, entries = count_values(nodes, values, table[sensitive].domain.size)
    picks = select_rows(nodes, roots, entries, codes, values, plan.members, plan.offsets, plan.repeats, settings)
    return picks, np.concatenate([[0], np.cumsum(plan.sizes)]), codes, settings


def check_buckets(found: CrossBuckets, values: NDArray[np.integer], *, k: int, l: int) -> None:
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
    from undercover.methods.cross_bucket.kernels import divide_rows

    edges = np.linspace(0, len(starts) - 1, min(threads, len(starts) - 1) + 1).astype(np.int64)
    parts = [starts[low : high + 1] for low, high in pairwise(edges)]
    found = parallel(lambda part: divide_rows(codes, picks, part, k, settings), parts, threads, steps=codes.size)
    return np.concatenate([*(part[:-1] for part in found), found[-1][-1:]])


def _deal(starts: NDArray[np.int64], k: int, l: int) -> tuple[NDArray[np.int64], int]:
    """Algorithm 5 for every pick: rows go to its buckets in turn. The bucket of every position, and their number."""
    sizes = np.diff(starts)
    distinct, which = np.unique(sizes, return_inverse=True)
    per_pick = np.array([bucket_count(int(g), k=k, l=l) for g in distinct], dtype=np.int64)[which]
    before = np.cumsum(per_pick) - per_pick
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    return np.repeat(before, sizes) + place % np.repeat(per_pick, sizes), int(per_pick.sum())
