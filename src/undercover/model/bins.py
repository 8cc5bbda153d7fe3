"""Declared bins of a column of numbers: what is published in place of a value.

Bins are given by their edges. Each edge begins a bin; the last one ends the last bin and belongs to it. They are
declared beforehand, from public knowledge, and so are their labels: nothing here looks at the data.

- Edges that are all whole numbers make bins of whole numbers: 0, 10, 20 are ``[0, 9]`` and ``[10, 20]``. A value with a
  fraction lies in none of them.
- With one edge written as a decimal (0.0) the bins hold all numbers: ``[0, 10]`` and ``[10, 20]``. Cells are closed, so
  both labels name the inner edge; the value 10 itself counts in the upper bin.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import SchemaError, listed
from undercover.model.cells import read_interval, write_interval

LARGEST = 2**53  # up to here whole numbers and decimals do not mix up their neighbours


@dataclass(frozen=True)
class Bins:
    """Bins by their edges."""

    edges: tuple[int | float, ...]

    def __post_init__(self) -> None:
        wrong = [repr(edge) for edge in self.edges if not _is_edge(edge)]
        if wrong:
            found = listed(wrong, limit=5)
            raise SchemaError(f"The edges of bins must be numbers from -2^53 to 2^53. Got {found} instead.")
        if len(self.edges) < 2:
            raise SchemaError("Bins need at least two edges: bins = [0, 10, 20] are [0, 9] and [10, 20].")
        falling = [f"{low} before {high}" for low, high in pairwise(self.edges) if low >= high]
        if falling:
            raise SchemaError(f"The edges of bins must ascend, each above the one before. Got {', '.join(falling)}.")

    @classmethod
    def of(cls, edges: Iterable[Any]) -> Bins:
        """Bins from any sequence of numbers, numpy's included; a text is not one."""
        if isinstance(edges, str) or not isinstance(edges, Iterable):
            raise SchemaError(f"Bins are a list of edges: bins = [0, 10, 20]. Got {edges!r} instead.")
        return cls(tuple(edge.item() if isinstance(edge, np.generic) else edge for edge in edges))

    @classmethod
    def of_labels(cls, labels: Iterable[str]) -> Bins:
        """The bins that published labels name, all of them in order."""
        ends = bin_ends(labels)
        edges = [*ends[:, 0].tolist(), float(ends[-1, 1])]
        whole = not touching(ends) and all(edge == int(edge) for edge in edges)
        return cls(tuple(int(edge) for edge in edges) if whole else tuple(edges))

    @property
    def whole(self) -> bool:
        """Whether the bins hold whole numbers only."""
        return all(isinstance(edge, int) for edge in self.edges)

    @cached_property
    def ends(self) -> tuple[tuple[int | float, int | float], ...]:
        """The first and the last number of each bin, both included."""
        last = len(self.edges) - 2
        step = 1 if self.whole else 0
        return tuple((low, high - step * (bin_ < last)) for bin_, (low, high) in enumerate(pairwise(self.edges)))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Each bin as it is written in a cell."""
        return tuple(write_interval(_text(low), _text(high)) for low, high in self.ends)

    def place(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        """The bin of every number; -1 where it lies in none."""
        edges = np.array(self.edges)
        found = np.asarray(np.searchsorted(edges, numbers, side="right"), dtype=np.int64) - 1
        found[numbers == edges[-1]] = len(self.edges) - 2
        found[numbers > edges[-1]] = -1
        if self.whole and not np.issubdtype(numbers.dtype, np.integer):
            found[numbers != np.floor(numbers)] = -1
        return found


def bin_ends(labels: Iterable[str]) -> NDArray[np.float64]:
    """(n, 2) the ends of cells that are bins or single numbers; infinite where it is neither, 0 where it is empty."""
    return np.array([[_number(end) for end in read_interval(label)] for label in labels]).reshape(-1, 2)


def touching(ends: NDArray[np.float64]) -> bool:
    """Whether an end of one bin begins another: then they hold all numbers, not whole ones only."""
    wide = ends[ends[:, 0] < ends[:, 1]]
    return bool(np.isin(wide[:, 1], wide[:, 0]).any())


def _number(end: str) -> float:
    try:
        return float(end) if end else 0.0
    except ValueError:
        return np.inf


def _is_edge(edge: object) -> bool:
    if isinstance(edge, bool) or not isinstance(edge, int | float):
        return False
    return math.isfinite(edge) and abs(edge) <= LARGEST


def _text(number: float) -> str:
    """A number as it is written in a cell: without a fraction where it has none."""
    return str(int(number)) if number == int(number) else repr(float(number))
