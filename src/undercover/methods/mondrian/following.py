"""Which cuts Mondrian tried and refused at every node: what an attacker who knows it can work out for himself.

Which cuts are tried at a node, and in which order, follows from quasi-identifiers alone. Of a partition made with
predicates that a union keeps if its parts do (l-diversity, t-closeness), everything else follows, too: a cut whose
sides are made up of whole groups would have been allowed, so the cut that was taken at a node is the first of this
kind, and all that come before it, and at a group all there are, were refused because of sensitive values.

The cuts are those that :func:`undercover.steps.cutting.splits.refine` itself reports while it cuts the table once more,
node by node, so that they cannot differ from what the method does. Source of the idea: Wong, Fu, Wang & Pei 2007,
"Minimality attack in privacy preserving data publishing".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from undercover.model.protocols import Progress, no_progress
from undercover.model.table import Table
from undercover.steps.cutting.checks import Check, require_whole_table
from undercover.steps.cutting.columns import Recoding
from undercover.steps.cutting.partition import Rule, kernel_arguments

_ROOM = 64  # refused cuts of one node that are written down at the first attempt


@dataclass(frozen=True)
class Node:
    """Rows that were together at some time, and the cuts of them that were refused."""

    rows: NDArray[np.int64]  # (m,)
    refused: NDArray[np.uint16]  # (cuts, m) part of each row; no two cuts alike, the first row is in part 0
    is_group: bool  # nothing was left to cut it by


@runtime_checkable
class Followable(Protocol):
    """A method whose cuts can be followed."""

    def checks(self, table: Table) -> tuple[Check, ...]:
        """What every group must satisfy beyond its size."""
        ...

    def follow(self, table: Table, *, progress: Progress = no_progress) -> Iterator[Node]:
        """Every node it came by."""
        ...


def follow(
    table: Table,
    *,
    k: int,
    checks: Sequence[Check],
    cut: Rule = "loss",
    recoding: Recoding = "boxes",
    progress: Progress = no_progress,
) -> Iterator[Node]:
    """Cut ``table`` as :func:`undercover.steps.cutting.partition.partition` does, and tell every node."""
    require_whole_table(table, checks)
    from undercover.steps.cutting import splits

    refine: Any = splits.refine
    _, arrays, task, everything = kernel_arguments(table, k=k, checks=checks, cut=cut, recoding=recoding)
    pending = [np.concatenate([[0, table.n_rows], everything])]
    room, done = _ROOM, 0
    while pending:
        part = pending.pop()
        begin, end = int(part[0]), int(part[1])
        while True:
            rows = arrays.ids[begin:end].astype(np.int64)
            tried = np.empty((room if end - begin >= 2 * k else 0, end - begin), np.uint16)
            leaves, parts, n_tried = refine(arrays, begin, end, part[2:], task, 0, tried)
            # Rows of a node that was cut have changed places, which changes nothing about its cuts.
            if n_tried <= len(tried):
                break
            room = n_tried
        room = _ROOM
        is_group = len(leaves) == 1
        yield Node(rows, _distinct(tried[: n_tried if is_group else n_tried - 1]), is_group)
        pending.extend(parts)
        if is_group:
            done += end - begin
            progress("following the cuts", done / table.n_rows)


def _distinct(cuts: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Each way to part the rows once, in the order tried, with parts numbered as they appear."""
    if not len(cuts):
        return cuts
    cuts = cuts ^ cuts[:, :1] if cuts.max() <= 1 else np.stack([_by_appearance(cut) for cut in cuts])
    first = {cut.tobytes(): i for i, cut in reversed(list(enumerate(cuts)))}
    kept: NDArray[np.uint16] = cuts[sorted(first.values())]
    return kept


def _by_appearance(cut: NDArray[np.uint16]) -> NDArray[np.uint16]:
    parts, first, place = np.unique(cut, return_index=True, return_inverse=True)
    rank = np.empty(len(parts), np.uint16)
    rank[np.argsort(first)] = np.arange(len(parts))
    return rank[place.reshape(-1)]
