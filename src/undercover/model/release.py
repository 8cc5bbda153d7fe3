"""What may leave the house: published tables and the manifest.

A :class:`Release` holds no original value, row number or seed, nor anything from which they follow. It is the same
object whether it was just made or read back from a folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from undercover.errors import InputError, unknown
from undercover.model.cells import CellForm
from undercover.model.form import Form, Generalized
from undercover.model.schema import Role
from undercover.model.view import Shown

STATEMENTS = ("algorithm_safe", "corruption_robust")
"""What a release declares of the method that made it: true or false, and no published table shows which."""

NOT_SAFE = (
    "Not algorithm-safe: how rows were grouped depends on sensitive values, so somebody who knows the algorithm and "
    "every quasi-identifier may infer more than the release alone shows."
)
"""The warning that goes with ``algorithm_safe = False``."""


@dataclass(frozen=True)
class PublishedColumn:
    """Name, role and form of one published column; ``bucket`` and ``count`` columns have the role ``structure``."""

    name: str
    role: Role | str
    form: CellForm


@dataclass(frozen=True)
class PublishedTable:
    """One published table; rows are in an order that tells nothing."""

    name: str
    columns: tuple[PublishedColumn, ...]
    data: pa.Table

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.data.num_rows)

    def names(self, role: str) -> tuple[str, ...]:
        """The columns of one role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def has_missing(self, name: str) -> bool:
        """Whether a cell of a column is empty, which is how a missing value is published."""
        column: Any = self.data.column(name)
        return bool(column.null_count) or pa.scalar("") in column.unique().cast(pa.string())

    def form(self, name: str) -> CellForm:
        """How the cells of a column are written."""
        return next(column.form for column in self.columns if column.name == name)


@dataclass(frozen=True)
class Release(Shown):
    """Published tables and what is claimed of them.

    ``guarantees`` are the findings of the verification, one mapping each, as written to ``release.json``; ``form`` says
    what the tables stand for, whoever made them. ``algorithm_safe`` and ``corruption_robust`` are what the method
    declares: that whoever knows it learns no more than the release says, and that neither do known values of others.
    """

    method: str
    parameters: Mapping[str, Any]
    tables: tuple[PublishedTable, ...]
    algorithm_safe: bool
    suppressed_rows: int = 0
    guarantees: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    version: str = ""
    frame: str = field(default="pyarrow", compare=False)
    form: Form = field(default_factory=Generalized)
    corruption_robust: bool = False

    def published(self, name: str | None = None) -> PublishedTable:
        """One of the tables; the only one where there is only one."""
        names = [table.name for table in self.tables]
        if name is None:
            if len(names) > 1:
                raise InputError(f"This release has several tables. Name one: {', '.join(names)}.")
            return self.tables[0]
        if name not in names:
            raise InputError(unknown("Table", name, names))
        return self.tables[names.index(name)]

    def table(self, name: str | None = None) -> Any:
        """One of the tables, as the kind of frame that was given."""
        return to_frame(self.published(name).data, self.frame)

    def with_guarantees(self, guarantees: tuple[Mapping[str, Any], ...]) -> Release:
        """The same release with the findings of its verification."""
        return self.changed(guarantees=guarantees)

    def changed(self, **changes: Any) -> Release:
        """The same tables with something else said of them; what was read of the tables before is kept."""
        again = replace(self, **changes)
        reading = self.__dict__.get("_reading")
        if reading is not None and again.form == self.form:
            again.__dict__["_reading"] = reading.of(again)
        return again

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.name} of {table.rows:,} rows" for table in self.tables)
        return f"<Release by {self.method}: {tables}; .table() shows it, undercover.verify() checks it>"


def to_frame(data: pa.Table, kind: str) -> Any:
    """``data`` as pandas, polars or pyarrow; dictionary columns become plain text in pandas."""
    if kind == "pandas":
        plain = [
            column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            for column in data.columns
        ]
        return pa.table(plain, names=data.column_names).to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(data)
    return data
