"""A table whose rows lie in Spark: domains and numbers here, codes fetched when somebody asks for them.

Rows are numbered in the order of their values (:func:`.packed.canonical_order`): Spark has no other order that stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.engines.cube import Cube
from undercover.engines.spark.packed import Codes, Layout, canonical_order
from undercover.errors import DataError
from undercover.model.encoding.domain import Domain, EncodedColumn
from undercover.model.schema import Column
from undercover.model.table import Table

MOST_FETCHED = 400_000_000
"""Rows that are brought to one machine, as codes: some ten bytes each."""


class FarColumn(EncodedColumn):
    """A column whose codes are fetched when they are asked for."""

    def __init__(self, name: str, codes: Codes | Callable[[], Codes], domain: Domain, settings: Column) -> None:
        held = {"name": name, "domain": domain, "settings": settings}
        self.__dict__.update(held, **({"fetch": codes} if callable(codes) else {"codes": codes}))

    @cached_property
    def codes(self) -> Codes:
        """(n_rows,) in the order of the table."""
        found: Codes = self.__dict__["fetch"]()
        return found


class Counted(NamedTuple):
    """What the driver knows of the rows: how many, how often each code occurs, and which combinations there are."""

    rows: int
    counts: Mapping[str, NDArray[np.int64]]
    cube: Cube  # of very many combinations, some


@dataclass(frozen=True, eq=False)
class Held:
    """Rows in Spark: a DataFrame of packed cells, how to read them, and a table without rows that has their domains."""

    cells: Any
    layout: Layout
    like: Table
    found: Counted | None = None
    fetched: dict[str, Codes] = field(default_factory=dict)

    def codes(self, name: str) -> Codes:
        """The codes of one column; the first to ask brings all of them here."""
        if not self.fetched:
            self.keep(self.layout.unpack([row.cell for row in self.cells.toLocalIterator()]))
        return self.fetched[name]

    def keep(self, codes: Mapping[str, Codes]) -> Codes:
        """Put rows that came in any order into theirs; the place of each that came."""
        order = canonical_order(codes, [self.like[name].domain.size for name in self.layout.names])
        self.fetched.update({name: codes[name][order] for name in self.layout.names})
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place


@dataclass(frozen=True)
class FarTable(Table):
    """A table whose rows lie in Spark."""

    held: Held | None = None


def far_table(held: Held, rows: int) -> FarTable:
    """The table of rows in Spark."""
    if rows > MOST_FETCHED:
        raise DataError(
            f"The table has {rows:,} rows; the Spark engine of this version takes at most {MOST_FETCHED:,}, since a "
            "release is verified and attacked on one machine, as codes. Publish it in pieces of different people."
        )
    like = held.like
    columns = {
        name: FarColumn(name, _fetcher(held, name), column.domain, column.settings)
        for name, column in like.columns.items()
    }
    own = {name: getattr(like, name) for name in like.__dataclass_fields__}
    return FarTable(**{**own, "columns": columns, "n_rows": rows, "kept": None}, held=held)


def let_go(table: Table) -> None:
    """Free what the executors hold of a table; who asks for rows that were not fetched has them read once more."""
    if isinstance(table, FarTable) and table.held is not None:
        table.held.cells.unpersist()


def _fetcher(held: Held, name: str) -> Callable[[], Codes]:
    return lambda: held.codes(name)


def with_codes(like: Table, codes: Mapping[str, Codes]) -> Table:
    """A table of other rows with the same domains."""
    columns = {name: replace(like[name], codes=codes[name]) for name in like.columns}
    rows = len(next(iter(codes.values())))
    return replace(like, columns=columns, n_rows=rows, kept=None)
