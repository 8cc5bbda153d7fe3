"""How surely a person is found by one known value among all published rows.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Example 1: the person must have kept the value,
and is one of all rows that carry it. The example looks at the group; here everybody counts who may carry the value, in
whatever group. Before unchanged rows are dealt with, as in the example.

The number of other carriers is Poisson-binomial; E[1 / (1 + N)] is computed as an integral by Gauss-Legendre quadrature
(:mod:`undercover.methods.mutual_cover.kernels.carriers`), to about ten digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from undercover.methods.mutual_cover.tables import OutputTables
from undercover.model.table import Table

_NODES = 32

Floats = NDArray[np.float64]


def picked_among(keep: float, others: Sequence[float]) -> float:
    """Probability that somebody who keeps a value with probability ``keep`` is picked among all who carry it.

    Parameters
    ----------
    keep
        Of the person.
    others
        Probability of carrying the value, of everybody else.

    Examples
    --------
    Example 1 of the paper, from its Figure 2: Dean is 29, Daphne and Helen may be.

    >>> round(picked_among(0.679462, [0.358924, 0.679462]), 6)
    0.381925

    The column (1, ½, ½) has the share ½ and is still found with more than that:

    >>> from fractions import Fraction
    >>> Fraction(picked_among(1, [0.5, 0.5])).limit_denominator(100)
    Fraction(7, 12)
    """
    nodes, weights = _quadrature()
    total = keep + float(np.sum(others))
    reach = _reach(np.array([total]))[0]
    values = np.prod(1.0 - np.outer(reach * nodes, np.asarray(others, dtype=np.float64)), axis=1)
    return float(keep * reach * np.dot(weights, values))


def found_among_all(table: Table, tables: OutputTables, *, threads: int = 1) -> Floats:
    """(lines of all tables,) the same for a record of every line, beside ``tables.originals``."""
    from undercover.methods.mutual_cover.kernels.carriers import carrier_mass, carrier_products, picked

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

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(of_attribute, range(len(tables.attributes))))
    return chances


def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights / 2


def _reach(mass: Floats) -> Floats:
    """How far the integrand is worth looking at: it falls at least like exp(-u mass)."""
    from undercover.methods.mutual_cover.kernels.carriers import REACH

    reach: Floats = np.minimum(1.0, REACH / np.maximum(mass, 1.0))
    return reach
