"""Whoever knows everybody's quasi-identifier, the values and the method, and sees what is published: by enumeration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import factorial, prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import undercover as uc
from undercover.model.table import Table
from undercover.steps.blocks import block_outcomes
from undercover.steps.dealing.classes import class_outcomes

Assigned = tuple[str, ...]
Publishing = Callable[[Sequence[int], Assigned], Iterator[tuple[Fraction, Hashable]]]
"""Everything a method can publish of people with these quasi-identifiers and values, with its probability."""


def table_of(xs: Sequence[int], values: Assigned) -> Table:
    schema = uc.Schema(quasi_identifiers=["x"], sensitive="s")
    return Table.from_arrow(pa.table({"x": list(xs), "s": list(values)}), schema)


def beliefs(
    publish: Publishing, xs: Sequence[int], values: Iterable[str], *, possible: Callable[[Assigned], bool] = bool
) -> Iterator[Fraction]:
    """The posterior of every value of every person, for everything that may be seen."""
    weight: dict[Hashable, dict[tuple[int, str], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for assigned in sorted(set(permutations(values))):
        if possible(assigned):
            for chance, seen in publish(xs, assigned):
                for person, value in enumerate(assigned):
                    weight[seen][person, value] += chance
    for of in weight.values():
        seen_at_all = sum(of.values(), Fraction(0)) / len(xs)
        yield from (found / seen_at_all for found in of.values())


def inside(labels: NDArray[np.int32]) -> list[tuple[int, ...]]:
    """Every permutation that moves rows only inside their group."""
    members = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    found = []
    for chosen in product(*(permutations(rows) for rows in members)):
        moved = np.empty(len(labels), np.int64)
        for rows, to in zip(members, chosen, strict=True):
            moved[rows] = to
        found.append(tuple(moved.tolist()))
    assert len(found) == prod(factorial(len(rows)) for rows in members)
    return found


def classes(l: int) -> Callable[[Table], Iterator[tuple[Fraction, NDArray[np.int32]]]]:  # noqa: E741
    """Groups by class dealing, with their probabilities."""
    return lambda table: class_outcomes(table, "s", l)


def blocks(size: int) -> Callable[[Table], Iterator[tuple[Fraction, NDArray[np.int32]]]]:
    """Blocks by quasi-identifiers."""
    return lambda table: block_outcomes(table, size)


def permuted(
    of_x: Callable[[Table], Iterator[tuple[Fraction, NDArray[np.int32]]]],
    of_s: Callable[[Table], Iterator[tuple[Fraction, NDArray[np.int32]]]] | None = None,
    *,
    shown: Callable[[list[tuple[int, str]]], Hashable] = lambda rows: tuple(sorted(rows)),
) -> Publishing:
    """x is permuted inside the groups ``of_x``, then s inside those ``of_s``; published are the rows, unordered."""

    def publish(xs: Sequence[int], values: Assigned) -> Iterator[tuple[Fraction, Hashable]]:
        table = table_of(xs, values)
        alone = [(Fraction(1), np.arange(len(xs), dtype=np.int32))]
        for (chance, by_x), (share, by_s) in product(of_x(table), alone if of_s is None else list(of_s(table))):
            sources, owners = inside(by_x), inside(by_s)
            for source, owner in product(sources, owners):
                rows = [(xs[source[i]], values[owner[i]]) for i in range(len(xs))]
                yield chance * share / (len(sources) * len(owners)), shown(rows)

    return publish


def crossed(k: int, grouped: Callable[[Table], Iterator[tuple[Fraction, NDArray[np.int32]]]]) -> Publishing:
    """Boxes of k rows by quasi-identifiers, buckets that are whole groups: every bucket with its boxes and values."""

    def publish(xs: Sequence[int], values: Assigned) -> Iterator[tuple[Fraction, Hashable]]:
        table = table_of(xs, values)
        for (chance, boxes), (share, groups) in product(block_outcomes(table, k), list(grouped(table))):
            low = {box: min(x for x, own in zip(xs, boxes, strict=True) if own == box) for box in set(boxes.tolist())}
            seen = []
            for group in np.unique(groups):
                rows = np.flatnonzero(groups == group)
                seen.append((tuple(sorted(low[int(boxes[i])] for i in rows)), tuple(sorted(values[i] for i in rows))))
            yield chance * share, tuple(sorted(seen))

    return publish
