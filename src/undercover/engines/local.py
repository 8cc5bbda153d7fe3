"""The local engine: this process, on all cores it may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.engines.cube import Cube, cube_of
from undercover.engines.parts import divide
from undercover.memory import cores
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class LocalEngine:
    """Runs everything here.

    Parameters
    ----------
    threads
        Threads a kernel may use; by default as many as there are cores.
    parts
        Parts the table is cut into, by quasi-identifiers alone, and anonymised one after the other. That bounds the
        memory a method needs beside the table; cells do not reach across parts, which costs a little.

    Examples
    --------
    >>> LocalEngine(threads=2, parts=16)
    LocalEngine(threads=2, parts=16)
    >>> LocalEngine(parts=0)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'parts' parameter of LocalEngine must be an int in [1, inf). Got 0 instead.
    """

    name: ClassVar[str] = "local"
    threads: Annotated[int, AtLeast(1)] = field(default_factory=cores)
    parts: Annotated[int, AtLeast(1)] = 1

    def __post_init__(self) -> None:
        check(self)

    def encode(self, data: pa.Table, schema: Schema, *, one_row: Randomness | None = None) -> Table:
        """Check and encode a table."""
        return Table.from_arrow(data, schema, one_row=one_row)

    def histogram(self, table: Table, column: str) -> NDArray[np.int64]:
        """Rows of each code of ``column``."""
        return count(table[column].codes, table[column].domain.size)

    def cube(self, table: Table, columns: Sequence[str]) -> Cube:
        """The combinations of codes of ``columns`` that occur, and their rows."""
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
        """Call ``work`` on one part after the other; on the table itself where there is only one."""
        division = divide(table, self.parts if parts is None else parts, least=least, together=together)
        found = []
        for number in range(division.n_parts):
            rows, part = division[number]
            found.append((rows, work(part)))
        return found
