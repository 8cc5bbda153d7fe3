"""The Spark engine: counts and parts where the rows lie, the same kernels in the executors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.engines.cube import Cube, cube_of, rows_of
from undercover.engines.divided import OnOnePart
from undercover.engines.local import LocalEngine
from undercover.engines.parts import CutRule, cut_rule, least_rows
from undercover.engines.spark import making, pieces
from undercover.engines.spark.door import coded_frame
from undercover.engines.spark.far import FarTable, Held, far_table
from undercover.engines.spark.packed import ROW, Layout
from undercover.engines.spark.session import session_of
from undercover.errors import InternalError
from undercover.model.protocols import no_progress
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SparkEngine:
    """Runs on Spark.

    Parameters
    ----------
    session
        A session; by default the active one, else one that is started on this machine.
    parts
        Parts the table is cut into, by quasi-identifiers alone, each anonymised by one task; by default as many as
        the session runs tasks at once.
    threads
        Cores of a session that is started here.

    Examples
    --------
    >>> SparkEngine(threads=2).parts
    2
    """

    name: ClassVar[str] = "spark"
    session: Any = field(default=None, compare=False, repr=False)
    parts: Annotated[int, AtLeast(0)] = 0
    threads: Annotated[int, AtLeast(1)] = field(default_factory=lambda: LocalEngine().threads)

    def __post_init__(self) -> None:
        check(self)
        if self.parts == 0:
            at_once = self.threads if self.session is None else int(self.session.sparkContext.defaultParallelism)
            object.__setattr__(self, "parts", at_once)

    @cached_property
    def running(self) -> Any:
        """The session, started where there is none."""
        return session_of(self.threads) if self.session is None else self.session

    def encode(self, data: Any, schema: Schema, *, one_row: Randomness | None = None) -> Table:
        """Check and encode a table: an arrow table here, any other where it lies."""
        if isinstance(data, pa.Table):
            return Table.from_arrow(data, schema, one_row=one_row)
        held = coded_frame(data, schema)
        found = making.counted(held, schema.quasi_identifiers)
        return far_table(replace(held, found=found), found.rows)

    def histogram(self, table: Table, column: str) -> NDArray[np.int64]:
        """Rows of each code of ``column``."""
        if isinstance(table, FarTable) and table.held is not None and table.held.found is not None:
            return table.held.found.counts[column]
        return np.bincount(table[column].codes, minlength=table[column].domain.size)

    def cube(self, table: Table, columns: Sequence[str]) -> Cube:
        """The combinations of codes of ``columns`` that occur, and their rows."""
        if not isinstance(table, FarTable) or table.held is None:
            return cube_of(table, columns)
        return making.counted(table.held, tuple(columns), every=1).cube

    def map_parts(
        self,
        table: Table,
        work: Callable[[Table], T],
        *,
        parts: int | None = None,
        least: int = 0,
        together: Mapping[str, NDArray[np.int64]] | None = None,
    ) -> list[tuple[NDArray[np.int64], T]]:
        """Call ``work`` on every part in a task of its own; here, on the table itself, where there is only one."""
        columns = table.schema.quasi_identifiers if together is None else tuple(together)
        wanted = (self.parts if parts is None else parts) if columns else 1
        if wanted > 1:
            least = least_rows(table.n_rows, wanted, least)
            rule = cut_rule(self._combinations(table, columns), table, wanted, least=least, together=together)
            wanted = rule.n_parts
        if wanted == 1:
            return [(np.arange(table.n_rows), work(table))]
        if isinstance(work, OnOnePart):
            work = replace(work, threads=1, progress=no_progress)  # type: ignore[assignment]
        held = table.held if isinstance(table, FarTable) else None
        counts = {name: self.histogram(table, name) for name in table.schema.sensitive}
        found = _collected(held or self._sent(table), rule, work, counts)
        rows = _rows(found, held, rule.n_parts)
        return [(rows[part], found[part][0]) for part in range(rule.n_parts)]

    def _combinations(self, table: Table, columns: Sequence[str]) -> Cube:
        """What the coarse cut is found from."""
        if not isinstance(table, FarTable) or table.held is None:
            return rows_of(table, columns)
        found = table.held.found
        if found is not None and tuple(columns) == found.cube.columns:
            return found.cube
        return making.counted(table.held, tuple(columns)).cube

    def _sent(self, table: Table) -> Held:
        """A table that lies here, sent to the executors with the number of every row."""
        names = (*table.columns, ROW)
        codes = [*(column.codes for column in table.columns.values()), np.arange(table.n_rows, dtype=np.uint32)]
        layout = Layout(names, tuple(one.dtype.str for one in codes))
        starts = range(0, table.n_rows, making.ROWS_SENT)
        cells = [layout.pack([one[start : start + making.ROWS_SENT] for one in codes]) for start in starts]
        frame = self.running.createDataFrame(pa.table({"cell": pa.array(cells, pa.binary())}))
        return Held(frame, layout, table.take(np.empty(0, dtype=np.int64)))


def _collected(
    held: Held, rule: CutRule, work: Callable[[Table], Any], counts: Mapping[str, NDArray[np.int64]]
) -> dict[int, Any]:
    """What was made of every part, with its codes; the first error of a part is raised as it was."""
    frame = making.made(held, rule, work, counts)
    found = pieces.together(pieces.Piece(*row) for row in frame.toLocalIterator())
    for one in found.values():
        if isinstance(one, pieces.Failed):
            raise one.error
    if sorted(found) != list(range(rule.n_parts)):
        raise InternalError("Spark lost a part of the table.")
    return found


def _rows(found: Mapping[int, Any], held: Held | None, n_parts: int) -> list[NDArray[np.int64]]:
    """The rows of every part by their numbers in the whole table."""
    codes = [found[part][1] for part in range(n_parts)]
    if held is None:
        return [one[ROW].astype(np.int64) for one in codes]
    whole = {name: np.concatenate([one[name] for one in codes]) for name in held.layout.names}
    ends = np.cumsum([len(one[held.layout.names[0]]) for one in codes])
    return np.split(held.keep(whole), ends[:-1])
