"""Backwards: an engine that works on the last part first, as a queue may that hands work to whoever is free.

What is published must not depend on it: words are drawn by part, and what parts make is joined in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.engines.cube import Cube, cube_of
from undercover.engines.parts import divide
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Backwards:
    """Runs parts here, last to first.

    Examples
    --------
    >>> Backwards(parts=2)
    Backwards(threads=1, parts=2)
    """

    name: ClassVar[str] = "backwards"
    threads: Annotated[int, AtLeast(1)] = 1
    parts: Annotated[int, AtLeast(1)] = 4

    def __post_init__(self) -> None:
        check(self)

    def encode(self, data: pa.Table, schema: Schema, *, one_row: Randomness | None = None) -> Table:
        """Check and encode a table, as it is done here."""
        return Table.from_arrow(data, schema, one_row=one_row)

    def histogram(self, table: Table, column: str) -> NDArray[np.int64]:
        """Rows of each code of ``column``."""
        return count(table[column].codes, table[column].domain.size)

    def cube(self, table: Table, columns: Sequence[str]) -> Cube:
        """The combinations of codes that occur, and their rows."""
        return cube_of(table, columns)

    def map_parts(
        self,
        table: Table,
        work: Callable[[Table], T],
        *,
        parts: int | None = None,
        least: int = 0,
        together: Mapping[str, NDArray[np.int64]] | None = None,
    ) -> list[tuple[NDArray[np.integer[Any]], T]]:
        """Call ``work`` on the last part first; results are in the order of the parts."""
        division = divide(table, self.parts if parts is None else parts, least=least, together=together)
        found = []
        for number in reversed(range(division.n_parts)):
            rows, part = division[number]
            found.append((rows, work(part)))
        return found[::-1]
