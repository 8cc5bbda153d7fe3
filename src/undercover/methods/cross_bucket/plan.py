"""The plan of cross-bucket generalization: which sensitive values are taken together, and into how many buckets.

Li, Liu, Han & Zhang, "Cross-Bucket Generalization for Information and Privacy Preservation", Algorithms 2 and 5, after
the assignment of m-invariance (Xiao & Tao 2007).

Deviations. Algorithm 2 as printed takes all values that are left once they are few, whatever their counts, and so ends
with rows no set of l values can be made of: on the paper's own eight rows a residue of two. Here every step keeps
``m * (largest count) <= rows left``, with m the least size of a set, which is what makes a next step possible.
Algorithm 5 always makes k buckets; its proof needs a bucket to have at least |T_gen|/k rows, which fails where k does
not divide |T_gen|. Here the number of buckets is the largest of at most k for which every equivalence group and bucket
satisfy the condition itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercover.errors import UnreachableError
from undercover.model.table import Table
from undercover.steps.dealing.deal import require_eligible


@dataclass(frozen=True)
class Plan:
    """Sets of sensitive values, each to be taken so many times.

    Examples
    --------
    >>> list(plan_of(np.array([2, 1, 1]), k=2, l=2))
    [((0, 1), 1), ((0, 2), 1)]
    >>> list(plan_of(np.array([4, 2, 2]), k=2, l=2))
    [((0, 1), 2), ((0, 2), 2)]
    """

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


def require_plannable(table: Table, sensitive: str, counts: NDArray[np.int64], k: int, l: int) -> None:  # noqa: E741
    """Raise where max(k, l) different values cannot be taken together until no row is left."""
    if k > table.n_rows:
        raise UnreachableError(
            f"k={k} cannot be reached: the table has only {table.n_rows:,} rows, and that is the largest feasible k.",
            best={"k": table.n_rows},
        )
    require_eligible(table, sensitive, counts, l)
    top = int(counts.argmax())
    if int(counts[top]) * k > table.n_rows:
        best = table.n_rows // int(counts[top])
        raise UnreachableError(
            f"k={k} cannot be reached: CrossBucket takes k rows of different `{sensitive}` together, and "
            f"{table[sensitive].domain.labels[top]!r} is {counts[top] / table.n_rows:.1%} of the rows "
            f"({counts[top]:,} of {table.n_rows:,}); the largest feasible k is {best}.",
            best={"k": best},
        )


def plan_of(counts: NDArray[np.integer], *, k: int, l: int) -> Plan:  # noqa: E741
    """The plan for a column whose values occur ``counts`` times each; max(k, l) times the largest is at most their sum.

    Sets have at least m values: l rounded up to a multiple of k if the most frequent value is rare enough for that,
    else max(k, l).
    """
    from undercover.methods.cross_bucket.kernels.sets import plan_sets

    rounded, most = -(-l // k) * k, int(counts.max())
    m = rounded if most * rounded <= int(counts.sum()) else max(k, l)
    values = np.argsort(-counts.astype(np.int64), kind="stable")
    values = values[counts[values] > 0].astype(np.int64)
    return Plan(*plan_sets(values, counts[values].astype(np.int64), k, m))


def group_sizes(g: int, k: int) -> list[int]:
    """The sizes of the equivalence groups of g rows: as many as can be, as even as can be, none below k.

    >>> group_sizes(14, 3)
    [4, 4, 3, 3]
    """
    groups = max(1, g // k)
    size, larger = divmod(g, groups)
    return [size + 1] * larger + [size] * (groups - larger)


def bucket_count(g: int, *, k: int, l: int) -> int:  # noqa: E741
    """Into how many buckets g rows are dealt in turn: the most, up to k, that keep every value below 1/l.

    A row of an equivalence group E has a given value of bucket B with probability Num(E, B) / (size of E times size of
    B), which is to be at most 1/l for every pair.

    >>> bucket_count(8, k=2, l=4), bucket_count(5, k=2, l=5), bucket_count(14, k=3, l=10)
    (2, 1, 3)
    """
    ends = np.cumsum([0, *group_sizes(g, k)])
    for b in range(min(k, g), 1, -1):
        place = np.arange(b)
        upto = (ends[:, None] + b - 1 - place) // b  # (n_groups + 1, b) rows before each end that go to each bucket
        if (l * np.diff(upto, axis=0) <= np.diff(ends)[:, None] * upto[-1]).all():
            return b
    return 1
