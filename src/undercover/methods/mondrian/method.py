"""Mondrian: multidimensional generalisation that keeps rows with equal quasi-identifiers together.

LeFevre, DeWitt & Ramakrishnan 2006, "Mondrian Multidimensional K-Anonymity" (strict partitioning); with l-diversity
(Machanavajjhala et al. 2006; Xiao & Tao 2006 for the frequency form) or t-closeness (Li et al. 2007) as a further
condition on every group.

Deviations: see :mod:`undercover.steps.cutting.partition`; where columns have hierarchies, rows are moved between the
groups afterwards, where that saves loss. A cut is never taken back, so a greedy partition leaves rows where a group
beside it, cut off early, would suit them better. Rows with equal quasi-identifiers, which stay together, go over to the
group where they cost least, and small groups are dissolved, as long as every group keeps k rows and the checks; see
:mod:`undercover.methods.mondrian.regrouping_kernels`. Nothing is done that does not save loss, so no partition gets
worse.

Who may go where: the groups are taken in the order of cutting, in which neighbours were cut from one another late, and
rows are moved within :data:`NEIGHBOURS` of them at a time, fewer in large tables, down to :data:`FEWEST`. So the time
does not outgrow the rows. Neighbourhoods are looked at on every core; which thread did what does not show in the
result.

With k alone every cut and every move follows from the quasi-identifiers, so knowing the algorithm tells nothing beyond
the release. An l- or t-check looks at sensitive values: that a cut or a move was *not* made then tells something about
them (Wong et al. 2007, minimality attack), and ``algorithm_safe`` is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.methods.mondrian.following import Node, follow
from undercover.model.form import Generalized
from undercover.model.groups import Groups, Seen, seen_groups
from undercover.model.protocols import Engine, Guarantee, Progress, no_progress
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.parameters import Above, AtLeast, Within, check
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import Asked, Check, Distance, Diversity, kernel_checks
from undercover.steps.cutting.columns import CutColumn, Recoding, kernel_columns
from undercover.steps.cutting.partition import Cut, Partition, partition
from undercover.steps.recoding import box_cells, generalized_table, region_cells

if TYPE_CHECKING:
    from undercover.methods.mondrian.regrouping_kernels import Layout

NEIGHBOURS = 512  # groups between which rows are moved, at most
FEWEST = 64  # and at least, however large the table is
ROUNDS = 3  # how often every row is looked at, at most; what is left to save then is hardly anything
_PAIRS = 1 << 26  # of equal quasi-identifiers and a group that are looked at in a round: a fraction of a second
_LARGEST_KEY = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Mondrian:
    """Mondrian partitioning.

    Parameters
    ----------
    k
        Every published combination of quasi-identifiers occurs at least k times.
    l, diversity, c
        Every class is l-diverse in every sensitive column; ``c`` belongs to ``diversity="recursive"``.
    t, distance
        Every class is t-close to the whole table in every sensitive column.
    recoding
        ``boxes`` publishes the tightest cell around each group, ``regions`` the cell of the domain it was cut to.
    cut
        ``loss`` takes the cut that saves most, ``median`` the median of the widest column.
    refine
        Whether rows with equal quasi-identifiers are moved together to another group where that saves loss. By default
        where some quasi-identifier has a hierarchy, with boxes and cuts by loss. Needs boxes.

    Examples
    --------
    >>> Mondrian(k=5, l=3)
    Mondrian(k=5, l=3, diversity='frequency', ..., recoding='boxes', cut='loss', refine=None)
    >>> Mondrian(k=5).algorithm_safe, Mondrian(k=5, l=3).algorithm_safe
    (True, False)
    >>> Mondrian(k=0)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'k' parameter of Mondrian must be an int in [1, inf). Got 0 instead.
    """

    name: ClassVar[str] = "mondrian"
    about: ClassVar[str] = "undercover.methods.mondrian.about:ABOUT"

    k: Annotated[int, AtLeast(1)]
    l: Annotated[float | Fraction, AtLeast(1)] | None = None
    diversity: Diversity = "frequency"
    c: Annotated[float | Fraction, Above(0)] | None = None
    t: Annotated[float | Fraction, Within(0, 1)] | None = None
    distance: Distance = "equal"
    recoding: Recoding = "boxes"
    cut: Cut = "loss"
    refine: bool | None = None

    def __post_init__(self) -> None:
        problems = self._asked.problems()
        if self.refine is True and self.recoding == "regions":
            problems.append(
                "The 'refine' parameter of Mondrian moves rows to other boxes; a region is where its rows were cut to. "
                "Give recoding='boxes', or leave refine out."
            )
        check(self, problems)

    @property
    def algorithm_safe(self) -> bool:
        """With k alone the cuts depend on quasi-identifiers only."""
        return self.l is None and self.t is None

    @property
    def corruption_robust(self) -> bool:
        """With k alone, too: no value has a say in who is with whom."""
        return self.algorithm_safe

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """k-anonymity, and l-diversity and t-closeness where asked for."""
        return (KAnonymity(k=self.k), *self._asked.claims(table))

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Cut the table, recode every group, publish the rows class by class."""
        self._asked.require_sensitive(table)
        parts = Partition.join(engine.map_parts(table, self._cutter(table, engine.threads, progress)))
        cells = box_cells(table, parts.groups) if self.recoding == "boxes" else region_cells(table, parts)
        published = generalized_table(table, parts.groups, cells, randomness)
        return Draft(
            tables=(published,), groups=parts.groups, form=Generalized(), diagnostics={"groups": parts.groups.count}
        )

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, Seen]]:
        """The one partition of a tiny table, as an adversary sees it: nothing in Mondrian is random."""
        (sensitive,) = table.schema.sensitive
        groups = self._cutter(table)(table).groups
        yield Fraction(1), seen_groups(groups.labels, table[sensitive].codes)

    def checks(self, table: Table) -> tuple[Check, ...]:
        """What every group must satisfy beyond its size."""
        return self._asked.checks(table)

    def follow(self, table: Table, *, progress: Progress = no_progress) -> Iterator[Node]:
        """Every node of the cutting, with the cuts that were refused there."""
        if self._refines(table):
            raise ParameterError(
                "The cuts of this release cannot be followed: after cutting, rows were moved between groups (refine). "
                "Publish with refine=False to have its cuts attacked."
            )
        return follow(
            table, k=self.k, checks=self.checks(table), cut=self.cut, recoding=self.recoding, progress=progress
        )

    def _refines(self, table: Table) -> bool:
        """Whether rows of ``table`` are moved between groups after cutting."""
        if self.refine is not None:
            return self.refine
        trees = any(table[name].settings.hierarchy is not None for name in table.schema.quasi_identifiers)
        return trees and self.recoding == "boxes" and self.cut == "loss"

    def _cutter(self, table: Table, threads: int = 1, progress: Progress = no_progress) -> Callable[[Table], Partition]:
        """What cuts ``table`` or a part of it."""
        checks = self.checks(table)

        def cut(part: Table) -> Partition:
            found = partition(
                part, k=self.k, checks=checks, cut=self.cut, recoding=self.recoding, threads=threads, progress=progress
            )
            if not self._refines(part):
                return found
            return regrouped(found, part, k=self.k, checks=checks, threads=threads, progress=progress)

        return cut

    @property
    def _asked(self) -> Asked:
        return Asked(method="Mondrian", l=self.l, diversity=self.diversity, c=self.c, t=self.t, distance=self.distance)


def regrouped(
    parts: Partition,
    table: Table,
    *,
    k: int,
    checks: Sequence[Check] = (),
    threads: int = 1,
    progress: Progress = no_progress,
) -> Partition:
    """The partition after rows were moved between its groups, which are published as boxes."""
    from undercover.compiled.jit import needs_compiling
    from undercover.methods.mondrian.regrouping_kernels import Tuples, regroup

    if needs_compiling(regroup):
        progress("compiling the moving kernel (once on this machine, some 20 seconds)", 0.0)
    columns = parts.columns
    codes = np.stack([column.recode[table[column.name].codes] for column in columns], axis=1)  # (n, d)
    order, starts = _tuples(parts.groups, columns, codes)
    of_tuple = codes[order[starts[:-1]]]  # (m, d)
    group = parts.groups.labels[order[starts[:-1]]].astype(np.int64)
    predicates = kernel_checks(table, checks)
    sensitive = predicates.sensitive[order] if checks else predicates.sensitive
    layout = _layout(table, columns)
    neighbours = min(NEIGHBOURS, max(FEWEST, _PAIRS // len(group)))
    edges = np.append(np.arange(0, parts.groups.count, neighbours), parts.groups.count)

    def one(number: int) -> None:
        first, last = edges[number], edges[number + 1]
        here = slice(*np.searchsorted(group_before, [first, last]))
        rows = slice(starts[here.start], starts[here.stop])
        own = group[here] - first
        tuples = Tuples(of_tuple[here], starts[here.start : here.stop + 1] - rows.start, own)
        asked = predicates._replace(sensitive=sensitive[rows]) if checks else predicates
        regroup(tuples, int(last - first), k, layout, asked, ROUNDS)
        group[here] = own + first

    group_before = group.copy()
    with ThreadPoolExecutor(threads) as pool:
        for number, _ in enumerate(pool.map(one, range(len(edges) - 1)), 1):
            progress("moving rows between groups", number / (len(edges) - 1))
    return _partition(columns, codes, order, np.repeat(group, np.diff(starts)))


def _tuples(
    groups: Groups, columns: Sequence[CutColumn], codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows by group and then by quasi-identifiers, and where each combination begins and the last ends."""
    key, span = groups.labels.astype(np.int64), groups.count
    for j, column in enumerate(columns):
        if span * column.size > _LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            key, span = key.reshape(-1), len(distinct)
        key, span = key * column.size + codes[:, j], span * column.size
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    return order, np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, [len(order)]])


def _layout(table: Table, columns: Sequence[CutColumn]) -> Layout:
    """The ``layout`` argument of ``regroup``, the kernel."""
    from undercover.methods.mondrian.regrouping_kernels import Layout

    asked = kernel_columns(table, columns)
    node_starts, first, last = asked.node_starts, asked.first, asked.last
    trees = [j for j, column in enumerate(columns) if column.kind == "tree"]
    column_of_node = np.repeat(trees, np.diff(np.append(node_starts[trees], len(first)))).astype(np.int64)
    column_of_leaf = np.repeat(trees, [columns[j].size for j in trees]).astype(np.int64)
    words = [-(-column.size // 64) if column.kind == "set" else 0 for column in columns]
    return Layout(
        *asked[:6],
        first,
        last,
        asked.parent + node_starts[column_of_node],  # nobody asks for the parent of a root
        asked.leaf_node + node_starts[column_of_leaf],
        asked.weights[column_of_node] * np.minimum(1.0, (last - first) * asked.units[column_of_node]),
        np.concatenate([[0], np.cumsum(words)]).astype(np.int64),
        np.argsort([column.size for column in columns], kind="stable"),
    )


def _partition(
    columns: tuple[CutColumn, ...], codes: NDArray[np.int64], rows: NDArray[np.int64], labels: NDArray[np.int64]
) -> Partition:
    """The partition that puts ``rows`` into the groups ``labels``, numbered without gaps."""
    kept, labels = np.unique(labels, return_inverse=True)
    labels = labels.reshape(-1)
    by_row = np.empty(len(rows), dtype=np.int32)
    by_row[rows] = labels
    groups = Groups(by_row, len(kept))
    ordered, starts = codes[groups.order], groups.offsets[:-1]
    bounds = np.stack([np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)], axis=2)
    return Partition(groups, columns, bounds)
