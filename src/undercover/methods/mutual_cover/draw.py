"""Released values of mutual cover: draws from random output tables, and figures about what was drawn.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Algorithms 1 and 3.

How surely a person is found by one known value among all published rows follows Example 1: the person must have kept
the value, and is one of all rows that carry it. The example looks at the group; here everybody counts who may carry the
value, in whatever group. Before unchanged rows are dealt with, as in the example. The number of other carriers is
Poisson-binomial; E[1 / (1 + N)] is computed as an integral by Gauss-Legendre quadrature
(:mod:`undercover.methods.mutual_cover.kernels.sampling`), to about ten digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from undercover.methods.mutual_cover.kernels import People
from undercover.methods.mutual_cover.tables import OutputTables
from undercover.model.groups import Groups
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.threads import parallel

Unchanged = Literal["resample", "paper", "off"]

_CHUNKS_PER_THREAD = 8
_NODES = 32

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sampled:
    """What was drawn for every row."""

    released: NDArray[np.int32]  # (n_rows, d) output codes
    came_through: int  # rows all of whose values were drawn unchanged
    left_unchanged: int  # rows of these that were published so
    cells_changed: int  # values that differ from the original


@dataclass(frozen=True)
class Exposure:
    """Figures beside delta: they follow from the tables, not from what was drawn."""

    shares: NDArray[np.float64]  # (n_tables,) largest share of one record, after unchanged rows were changed
    reidentified: NDArray[np.float64]  # (n_rows, d) probability of being picked by a known value, within the group


def sample(
    table: Table,
    groups: Groups,
    tables: OutputTables,
    randomness: Randomness,
    *,
    unchanged: Unchanged = "resample",
    perturb: int = 1,
    threads: int = 1,
) -> Sampled:
    """Draw what every row releases. Draws belong to rows, so the result does not depend on ``threads``."""
    from undercover.methods.mutual_cover.kernels.sampling import change_rows, sample_rows

    people = _people(table, groups, tables)
    n, d = people.codes.shape
    released = np.empty((n, d), np.int32)
    same = np.empty(n, np.bool_)
    words = randomness.words("output values", 2 * d * n).reshape(n, 2 * d)

    def draw(part: NDArray[np.int64]) -> None:
        sample_rows(part, people, tables.arrays, words, released, same)

    parallel(draw, _portions(groups, threads), threads, steps=n * d)
    rows = np.flatnonzero(same)
    changed = np.zeros(len(rows), np.bool_)
    if unchanged != "off" and len(rows):
        width = 2 * d + 4 * perturb
        again = randomness.words("unchanged rows", width * len(rows)).reshape(-1, width)
        weights = _spread_weights(tables)
        resample = unchanged == "resample"
        arguments = (tables.arrays, weights, resample, perturb, again, released, changed)
        change_rows(rows, groups.labels, people, *arguments)
    own = people.as_output[people.codes + people.output_starts[:-1]]
    return Sampled(released, len(rows), int(len(rows) - changed.sum()), int((released != own).sum()))


def exposure(
    table: Table, groups: Groups, tables: OutputTables, *, unchanged: Unchanged = "resample", threads: int = 1
) -> Exposure:
    """How exposed people are beside what delta bounds."""
    from undercover.methods.mutual_cover.kernels.sampling import OFF, PAPER, RESAMPLE, effective_shares

    people = _people(table, groups, tables)
    shares = np.zeros(len(tables))
    reidentified = np.zeros(people.codes.shape)
    weights = _spread_weights(tables)
    how = {"off": OFF, "paper": PAPER, "resample": RESAMPLE}[unchanged]

    def judge(part: NDArray[np.int64]) -> None:
        effective_shares(part, people, tables.arrays, weights, how, shares, reidentified)

    parallel(judge, _portions(groups, threads), threads, steps=people.codes.size)
    return Exposure(shares, reidentified)


def _people(table: Table, groups: Groups, tables: OutputTables) -> People:
    """The people as the kernels take them."""
    maps = []
    for name, distance in zip(tables.attributes, tables.distances, strict=True):
        size = table[name].domain.size
        codes = np.arange(size)
        if distance.spans_integers:
            present = len(table[name].domain.values)
            codes[:present] = np.searchsorted(distance.output_scale, distance.scale[:present])
            codes[present:] = distance.outputs.size - 1
        maps.append(codes.astype(np.int32))
    starts = np.concatenate([[0], np.cumsum([len(part) for part in maps])])
    codes = np.stack([table[name].codes for name in table.schema.quasi_identifiers], axis=1).astype(np.int32)
    return People(groups.offsets, groups.order.astype(np.int64, copy=False), codes, np.concatenate(maps), starts)


def _spread_weights(tables: OutputTables) -> NDArray[np.float64]:
    """Algorithm 3, line 1: the largest distance in the group over the largest in the table."""
    widest = np.array([distance.widest or 1.0 for distance in tables.distances])
    weights: NDArray[np.float64] = tables.spreads / np.repeat(widest, tables.n_groups)
    return weights


def _portions(groups: Groups, threads: int) -> list[NDArray[np.int64]]:
    """Groups in portions of about equal numbers of rows."""
    everything = np.arange(groups.count)
    if threads == 1:
        return [everything]
    portion = -(-len(groups.labels) // (threads * _CHUNKS_PER_THREAD))
    return np.split(everything, np.flatnonzero(np.diff(groups.offsets[:-1] // portion)) + 1)


def picked_among(keep: float, others: Sequence[float]) -> float:
    """Probability that somebody who keeps a value with probability ``keep`` is picked among all who carry it.

    Example 1 of the paper, from its Figure 2 (Dean is 29, Daphne and Helen may be): 0.382. The column (1, ½, ½), which
    has the share ½, is still found with more than that: 7/12.
    """
    nodes, weights = _quadrature()
    total = keep + float(np.sum(others))
    reach = _reach(np.array([total]))[0]
    values = np.prod(1.0 - np.outer(reach * nodes, np.asarray(others, dtype=np.float64)), axis=1)
    return float(keep * reach * np.dot(weights, values))


def found_among_all(table: Table, tables: OutputTables, *, threads: int = 1) -> Floats:
    """(lines of all tables,) the same for a record of every line, beside ``tables.originals``."""
    from undercover.methods.mutual_cover.kernels.sampling import carrier_mass, carrier_products, picked

    nodes, weights = _quadrature()
    chances = np.zeros(len(tables.originals))

    def of_attribute(a: int) -> None:
        numbers = np.arange(a * tables.n_groups, (a + 1) * tables.n_groups)
        distance = tables.distances[a]
        mass = np.zeros(distance.outputs.size)
        carrier_mass(numbers, tables.arrays, mass)
        reach = _reach(mass)
        products = np.ones((len(mass), _NODES))
        carrier_products(numbers, tables.arrays, reach, nodes, products)
        place = {label: code for code, label in enumerate(distance.outputs.labels)}
        as_output = np.array([place[label] for label in table[tables.attributes[a]].domain.labels], dtype=np.int64)
        picked(numbers, tables.arrays, as_output, reach, nodes, weights, products, chances)

    parallel(of_attribute, range(len(tables.attributes)), threads, steps=chances.size * _NODES)
    return chances


def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights / 2


def _reach(mass: Floats) -> Floats:
    """How far the integrand is worth looking at: it falls at least like exp(-u mass)."""
    from undercover.methods.mutual_cover.kernels.sampling import REACH

    reach: Floats = np.minimum(1.0, REACH / np.maximum(mass, 1.0))
    return reach
