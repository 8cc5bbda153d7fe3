"""The cuts that Mondrian refused, sorted by whose values they are about.

A cut refused at a group is about that group. A cut refused on the way to it is about the groups that it would have torn
apart; the other rows of its node lie on one side whoever has which value. Groups that refused cuts tie together form a
*case*: given the release, what is refused elsewhere says nothing about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from undercover.methods.mondrian.following import Node

Evidence = Literal["groups", "all"]
OUTSIDE = np.uint16(65535)  # as in the kernels beside
JOINT = -1
Integers = NDArray[np.int64]
_MOST_PLACES = 1_000_000  # cuts times rows of a case; in larger ones next to nothing drawn would agree


@dataclass(frozen=True)
class Case:
    """Groups and the refused cuts that are about them; arrays as in the kernels beside."""

    rows: Integers  # (m,) of all its groups, one group behind the other
    offsets: Integers  # (groups + 1,)
    parts: NDArray[np.uint16]  # (cuts, m)
    n_parts: Integers  # (cuts,)
    base: Integers  # (cuts, parts, codes)
    base_sizes: Integers  # (cuts, parts)
    group_of_cut: Integers  # (cuts,) JOINT where it was refused on the way
    partly: bool = False  # what was refused on the way was left out

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.offsets) - 1

    @property
    def group(self) -> Integers:
        """(m,) group of each row."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.offsets))

    def apart(self) -> list[Case]:
        """Every group as a case of its own, without what was refused on the way."""
        found = []
        for g in range(self.n_groups):
            inside, own = slice(self.offsets[g], self.offsets[g + 1]), self.group_of_cut == g
            size = self.offsets[g + 1] - self.offsets[g]
            found.append(
                Case(
                    self.rows[inside],
                    np.array([0, size]),
                    np.ascontiguousarray(self.parts[own, inside]),
                    self.n_parts[own],
                    self.base[own],
                    self.base_sizes[own],
                    np.zeros(int(own.sum()), np.int64),
                    True,
                )
            )
        return found


def cases(nodes: Iterable[Node], codes: Integers, n_codes: int, evidence: Evidence) -> list[Case]:
    """All cases that have at least one refused cut; ``codes`` (rows of the table,) are the sensitive ones."""
    groups, cuts = [], []
    for node in nodes:
        if node.is_group:
            groups.append(node)
        elif evidence == "all":
            cuts += [(node.rows, cut) for cut in node.refused]
    label = np.empty(len(codes), np.int64)
    for g, node in enumerate(groups):
        label[node.rows] = g
    torn = [_torn(label[rows], cut) for rows, cut in cuts]
    case_of = _tied(len(groups), torn)
    members: dict[int, list[int]] = {}
    for g, case in enumerate(case_of):
        members.setdefault(case, []).append(g)
    joint: dict[int, list[int]] = {}
    for q, several in enumerate(torn):
        if len(several):
            joint.setdefault(case_of[several[0]], []).append(q)
    found = []
    for case, inside in members.items():
        on_the_way = [(*cuts[q], torn[q]) for q in joint.get(case, [])]
        n_cuts = len(on_the_way) + sum(len(groups[g].refused) for g in inside)
        if on_the_way and n_cuts * sum(len(groups[g].rows) for g in inside) > _MOST_PLACES:
            whole = [_case([groups[g].rows], _own(groups, [g]), [], label, codes, n_codes) for g in inside]
            found += [replace(one, partly=True) for one in whole]
        elif n_cuts:
            rows = [groups[g].rows for g in inside]
            found.append(_case(rows, _own(groups, inside), on_the_way, label, codes, n_codes))
    return found


def _own(groups: Sequence[Node], inside: Sequence[int]) -> list[tuple[int, NDArray[np.uint16]]]:
    """The cuts of the groups ``inside`` themselves, with the place of each group."""
    return [(place, cut) for place, g in enumerate(inside) for cut in groups[g].refused]


def _case(
    groups: Sequence[Integers],
    own: Sequence[tuple[int, NDArray[np.uint16]]],
    on_the_way: Sequence[tuple[Integers, NDArray[np.uint16], Integers]],
    label: Integers,
    codes: Integers,
    n_codes: int,
) -> Case:
    rows = np.concatenate(groups)
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
    n_parts = np.array([int(cut.max()) + 1 for cut in [*(c for _, c in own), *(c for _, c, _ in on_the_way)]], np.int64)
    parts = np.full((len(n_parts), len(rows)), OUTSIDE)
    base = np.zeros((len(n_parts), int(n_parts.max(initial=0)), n_codes), np.int64)
    for q, (g, cut) in enumerate(own):
        parts[q, offsets[g] : offsets[g + 1]] = cut
    order = np.argsort(rows)
    for q, (node, cut, several) in enumerate(on_the_way, len(own)):
        torn = np.isin(label[node], several)
        parts[q, order[np.searchsorted(rows[order], node[torn])]] = cut[torn]
        whole = cut[~torn].astype(np.int64) * n_codes + codes[node[~torn]]
        base[q, : n_parts[q]] = np.bincount(whole, minlength=n_parts[q] * n_codes).reshape(n_parts[q], n_codes)
    group_of_cut = np.array([g for g, _ in own] + [JOINT] * len(on_the_way), dtype=np.int64)
    return Case(rows, offsets, parts, n_parts, base, base.sum(axis=2), group_of_cut)


def _torn(labels: Integers, cut: NDArray[np.uint16]) -> Integers:
    """The groups that have rows in more than one part of a cut."""
    order = np.lexsort((cut, labels))
    first = np.flatnonzero(np.diff(labels[order], prepend=-1))
    last = np.append(first[1:], len(order)) - 1
    several: Integers = labels[order][first][cut[order][first] != cut[order][last]]
    return several


def _tied(n_groups: int, torn: Iterable[Integers]) -> list[int]:
    """One number for all groups that are tied together, directly or through others."""
    parent = list(range(n_groups))

    def root(g: int) -> int:
        while parent[g] != g:
            parent[g] = parent[parent[g]]
            g = parent[g]
        return g

    for several in torn:
        for g in several[1:].tolist():
            parent[root(g)] = root(int(several[0]))
    return [root(g) for g in range(n_groups)]
