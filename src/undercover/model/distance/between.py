"""How far apart two values of a column are, as mutual cover counts it.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Definitions 6 and 7. Numbers and dates: the
absolute difference (dates in seconds). Categories with a hierarchy: the leaves below the lowest common node, less one,
over all leaves less one. Categories without one: 0 or 1. Distances of the holder's own (``Column.distance``) come
before all of these.

Deviations: the paper speaks of numbers and of "a customized hierarchy tree". Ordinal values without a tree are apart by
their ranks. A missing value lies a whole scale behind the largest number, at distance 1 from every category, and where
distances are the holder's own, as far from every value as the largest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import ParameterError
from undercover.model.distance.declared import Distances
from undercover.model.table import Domain, EncodedColumn, as_numbers, write_values
from undercover.wording import parameter

Columns = Literal["observed", "integer_range"]

_MOST_INTEGERS = 100_000  # a column that spans more whole numbers than this is no case for integer_range

NUMERIC, TREE, FLAT, MATRIX = range(4)  # as in the kernels that read them, which are loaded when needed

_NO_NUMBERS: NDArray[np.float64] = np.zeros(0)
_NO_NODES: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
_NO_MATRIX: NDArray[np.float64] = np.zeros((0, 0))


@dataclass(frozen=True)
class ValueDistance:
    """The distance of one column in the form the kernel reads."""

    name: str
    kind: int
    scale: NDArray[np.float64]  # (size,) number or depth-first leaf of each code
    output_scale: NDArray[np.float64]  # the same of the output codes
    outputs: Domain  # what the output codes stand for
    tree: tuple[NDArray[np.int64], ...]  # leaf_node, first, last, parent
    matrix: NDArray[np.float64]

    @classmethod
    def of(cls, column: EncodedColumn, *, columns: Columns = "observed") -> ValueDistance:
        """The distance of ``column``: its own if it has one, else what its kind suggests.

        Only where numbers are apart by their difference, ``integer_range`` adds values that do not occur.

        Raises
        ------
        ParameterError
            If the column spans too many whole numbers for ``integer_range``.
        """
        domain, no_tree = column.domain, (_NO_NODES, _NO_NODES, _NO_NODES, _NO_NODES)
        if column.settings.distance is not None:
            own = _matrix(domain, column.settings.distance)
            return cls(column.name, MATRIX, _NO_NUMBERS, _NO_NUMBERS, domain, no_tree, own)
        scale = _NO_NUMBERS
        if domain.kind in ("numeric", "date") or (domain.kind == "ordinal" and column.settings.hierarchy is None):
            scale = _numbers(domain)
            outputs, output_scale = domain, scale
            if columns == "integer_range" and domain.kind == "numeric" and pa.types.is_integer(domain.values.type):
                outputs = _every_integer(column)
                output_scale = _numbers(outputs)
            return cls(column.name, NUMERIC, scale, output_scale, outputs, no_tree, _NO_MATRIX)
        if column.settings.hierarchy is not None:
            tree = column.settings.hierarchy.tree
            nodes = (tree.leaf_node, tree.first, tree.last, tree.parent)
            leaves = column.leaf_codes.astype(np.float64)
            return cls(column.name, TREE, leaves, leaves, domain, nodes, _NO_MATRIX)
        return cls(column.name, FLAT, scale, scale, domain, no_tree, _NO_MATRIX)

    @property
    def kernel_arguments(self) -> tuple[Any, ...]:
        """The ``distance`` argument of :func:`undercover.methods.mutual_cover.kernels.programs.cover_tables`."""
        return (self.kind, self.scale, self.output_scale, *self.tree, self.matrix)

    @property
    def spans_integers(self) -> bool:
        """Whether the output values are all whole numbers between the group's ends."""
        return self.output_scale is not self.scale

    @property
    def widest(self) -> float:
        """The largest distance between two values of the whole column."""
        size = self.outputs.size
        if size < 2:
            return 0.0
        if self.kind == NUMERIC:
            return float(self.scale.max() - self.scale.min())
        if self.kind == MATRIX:
            return float(self.matrix.max())
        if self.kind == FLAT:
            return 1.0
        return self.between(int(self.scale.argmin()), int(self.scale.argmax()))

    def between(self, code: int, output: int) -> float:
        """The distance from an original to an output code."""
        if self.kind == NUMERIC:
            return float(abs(self.scale[code] - self.output_scale[output]))
        if self.kind == MATRIX:
            return float(self.matrix[code, output])
        if code == output or self.kind == FLAT:
            return float(code != output)
        leaf_node, first, last, parent = self.tree
        leaf, other = int(self.scale[code]), int(self.scale[output])
        if max(leaf, other) >= len(leaf_node):
            return 1.0
        node = leaf_node[leaf]
        while not first[node] <= other <= last[node]:
            node = parent[node]
        return float((last[node] - first[node]) / (len(leaf_node) - 1))


def _numbers(domain: Domain) -> NDArray[np.float64]:
    """Each code's number; missing lies a whole scale behind the last."""
    if domain.kind in ("numeric", "date"):
        numbers = as_numbers(domain.values)
    else:
        numbers = np.arange(len(domain.values), dtype=np.float64)
    if not domain.has_missing:
        return numbers
    if not len(numbers):
        return np.zeros(1)
    return np.append(numbers, 2 * numbers[-1] - numbers[0] + (len(numbers) == 1))


def _every_integer(column: EncodedColumn) -> Domain:
    values = column.domain.values
    if not len(values):
        return column.domain
    low, high = values[0].as_py(), values[-1].as_py()
    if high - low >= _MOST_INTEGERS:
        raise ParameterError(
            f"Column `{column.name}` spans {high - low + 1:,} whole numbers; an integer range allows at most "
            f"{_MOST_INTEGERS:,}. Use {parameter(columns='observed')}: by the absolute difference nothing is lost."
        )
    return Domain("numeric", pa.array(np.arange(low, high + 1, dtype=np.int64)), column.domain.has_missing)


def _matrix(domain: Domain, own: Distances) -> NDArray[np.float64]:
    """Codes by codes; missing, the last code, is as far from all as any two values are from each other."""
    known = own.among(write_values(domain.values))
    if not domain.has_missing:
        return known
    matrix = np.full((domain.size, domain.size), own.largest)
    matrix[:-1, :-1] = known
    matrix[-1, -1] = 0.0
    return matrix
