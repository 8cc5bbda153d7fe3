"""How likely a person is picked among all rows that carry a value, when everybody carries it by chance.

With N others who carry it, the chance is E[1 / (1 + N)], N being Poisson-binomial. As 1 / (1 + N) is the integral of
s^N over [0, 1], it is the integral of prod(1 - p_i u) over u = 1 - s: one product over all carriers instead of a
distribution. The integrand falls like exp(-u sum p), so it is taken on [0, 40 / sum p] at most; what lies beyond is
less than e^-40 of it.
"""

from __future__ import annotations

from typing import Any

from undercover.compiled.jit import kernel
from undercover.methods.mutual_cover.kernels import Tables

REACH = 40.0


@kernel
def carrier_mass(numbers: Any, tables: Tables, mass: Any) -> None:
    """Add up, over all groups of one attribute, how many rows carry each output value on average."""
    row_starts, _, counts, column_starts, outputs, cell_starts, probabilities = tables
    for p in numbers:
        n = column_starts[p + 1] - column_starts[p]
        for line in range(row_starts[p + 1] - row_starts[p]):
            for j in range(n):
                chance = probabilities[cell_starts[p] + line * n + j]
                mass[outputs[column_starts[p] + j]] += counts[row_starts[p] + line] * chance


@kernel
def carrier_products(numbers: Any, tables: Tables, reach: Any, nodes: Any, products: Any) -> None:
    """Multiply, for each output value, 1 - p u over all who may carry it, at every node u = ``reach`` times a node."""
    row_starts, _, counts, column_starts, outputs, cell_starts, probabilities = tables
    for p in numbers:
        n = column_starts[p + 1] - column_starts[p]
        for line in range(row_starts[p + 1] - row_starts[p]):
            records = counts[row_starts[p] + line]
            for j in range(n):
                chance = probabilities[cell_starts[p] + line * n + j]
                if chance > 0.0:
                    value = outputs[column_starts[p] + j]
                    step = chance * reach[value]
                    for k in range(len(nodes)):
                        factor = 1.0 - step * nodes[k]
                        power = factor
                        for _i in range(records - 1):
                            power *= factor
                        products[value, k] *= power


@kernel
def picked(
    numbers: Any, tables: Tables, as_output: Any, reach: Any, nodes: Any, quadrature: Any, products: Any, chances: Any
) -> None:
    """Fill ``chances`` (lines of all tables): a record of the line keeps its value and is picked among all carriers."""
    row_starts, originals, _, column_starts, outputs, cell_starts, probabilities = tables
    for p in numbers:
        n = column_starts[p + 1] - column_starts[p]
        for line in range(row_starts[p + 1] - row_starts[p]):
            value = as_output[originals[row_starts[p] + line]]
            at = -1
            for j in range(n):
                if outputs[column_starts[p] + j] == value:
                    at = j
            keep = probabilities[cell_starts[p] + line * n + at] if at >= 0 else 0.0
            total = 0.0
            if keep > 0.0:
                for k in range(len(nodes)):
                    total += quadrature[k] * products[value, k] / (1.0 - keep * reach[value] * nodes[k])
                total *= reach[value]
            chances[row_starts[p] + line] = keep * total
