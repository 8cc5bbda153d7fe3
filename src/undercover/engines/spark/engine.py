"""The Spark engine: counts and parts where the rows lie, the same kernels in the executors."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.engines.cube import Cube, cube_of
from undercover.engines.divided import OnOnePart
from undercover.engines.joining import ROW
from undercover.engines.local import LocalEngine
from undercover.engines.parts import CutRule, Division, cut_rule, divide, least_rows
from undercover.engines.spark import making, pieces
from undercover.engines.spark.door import coded_frame
from undercover.engines.spark.far import FarTable, Held, far_table
from undercover.engines.spark.session import session_of
from undercover.errors import InternalError
from undercover.model.protocols import no_progress
from undercover.model.run import Draft
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness

T = TypeVar("T")

AT_ONCE = 1_000_000
"""Rows whose release comes to the driver in one go."""


@dataclass(frozen=True, kw_only=True)
class SparkEngine:
    """Runs on Spark.

    Parameters
    ----------
    session
        A session; by default the active one, else one that is started on this machine.
    parts
        Parts the table is cut into, by quasi-identifiers alone, each anonymised by one task; by default as many as
        a session that is given runs tasks at once, else ``threads``.
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

    @property
    def version(self) -> str:
        """That of Spark."""
        return str(self.running.version)

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
        return count(table[column].codes, table[column].domain.size)

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
        wanted = self.parts if parts is None else parts
        if isinstance(work, OnOnePart):
            work = replace(work, threads=1, progress=no_progress)  # type: ignore[assignment]
        if not isinstance(table, FarTable) or table.held is None:
            return self._on_sent(divide(table, wanted, least=least, together=together), table, work)
        columns = table.schema.quasi_identifiers if together is None else tuple(together)
        if wanted > 1 and columns:
            least = least_rows(table.n_rows, wanted, least)
            rule = cut_rule(self._combinations(table.held, columns), table, wanted, least=least, together=together)
            if rule.n_parts > 1:
                return self._on_far(table.held, rule, work)
        return [(np.arange(table.n_rows), work(table))]

    def _on_far(self, held: Held, rule: CutRule, work: Callable[[Table], T]) -> list[tuple[NDArray[np.int64], T]]:
        """Parts of rows that lie in Spark, by their numbers in the order of their values."""
        counts = {name: held.found.counts[name] for name in held.like.schema.sensitive} if held.found else {}
        found = _collected(making.made(held, rule, work, counts), rule.n_parts, held.like.n_input)
        codes = [own for _, own in found]
        ends = np.cumsum([len(own[held.layout.names[0]]) for own in codes])
        rows = held.keep({name: np.concatenate([own[name] for own in codes]) for name in held.layout.names})
        return [(own, _numbered(one, own)) for own, (one, _) in zip(np.split(rows, ends[:-1]), found, strict=True)]

    def _on_sent(
        self, division: Division, table: Table, work: Callable[[Table], T]
    ) -> list[tuple[NDArray[np.int64], T]]:
        """Parts of a table that lies here, sent to the executors."""
        if division.n_parts == 1:
            return [(np.arange(table.n_rows), work(table))]
        rows, parts = zip(*(division[number] for number in range(division.n_parts)), strict=True)
        cells = [pickle.dumps(part, protocol=5) for part in parts]
        numbers = pa.array(range(len(cells)), pa.int32())
        frame = self.running.createDataFrame(pa.table({"part": numbers, "cell": pa.array(cells, pa.binary())}))
        found = _collected(making.made_of(frame, work), len(cells), table.n_rows)
        return [(own, one) for own, (one, _) in zip(rows, found, strict=True)]

    def _combinations(self, held: Held, columns: Sequence[str]) -> Cube:
        """What the coarse cut is found from."""
        if held.found is not None and tuple(columns) == held.found.cube.columns:
            return held.found.cube
        return making.counted(held, tuple(columns)).cube


def _numbered(made: T, rows: NDArray[np.int64]) -> T:
    """A draft whose private frames name rows by their numbers in the whole table, which an executor does not know."""
    if not isinstance(made, Draft):
        return made
    frames = dict(made.frames)
    for name, frame in frames.items():
        if ROW in frame.column_names:
            there = rows[frame.column(ROW).to_numpy()]
            frames[name] = frame.set_column(
                frame.column_names.index(ROW), ROW, pa.array(there, frame.schema.field(ROW).type)
            )
    return replace(made, frames=frames)


def _collected(frame: Any, n_parts: int, rows: int) -> list[tuple[Any, dict[str, NDArray[Any]]]]:
    """What was made of every part, with its codes; the first error of a part is raised as it was."""
    fetched = frame.collect() if rows <= AT_ONCE else _one_by_one(frame)
    found = pieces.together(pieces.Piece(*row) for row in fetched)
    for one in found.values():
        if isinstance(one, pieces.Failed):
            raise one.error
    if sorted(found) != list(range(n_parts)):
        raise InternalError("Spark lost a part of the table.")
    return [found[part] for part in range(n_parts)]


def _one_by_one(frame: Any) -> Iterator[Any]:
    """All parts are made, side by side, before the first is fetched; one after the other they spare the driver."""
    held = frame.persist()
    try:
        held.count()
        yield from held.toLocalIterator()
    finally:
        held.unpersist()
