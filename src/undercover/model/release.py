"""What may leave the house: published tables and the manifest.

A :class:`Release` holds no original value, row number or seed, nor anything from which they follow. It is the same
object whether it was just made or read back from a folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa

from undercover.errors import InputError, unknown
from undercover.model.cells import CellForm
from undercover.model.figures import counted
from undercover.model.form import Form, Generalized
from undercover.model.formats.writing import Writing, as_written
from undercover.model.frames.cells import CellsAs, opened
from undercover.model.frames.types import Given, as_given
from undercover.model.interval_ends import Ends
from undercover.model.schema import Role
from undercover.model.view import Shown

STATEMENTS = ("algorithm_safe", "corruption_robust")
"""What a release declares of the method that made it: true or false, and no published table shows which."""

NOT_SAFE = (
    "Not algorithm-safe: how rows were grouped depends on sensitive values, so somebody who knows the algorithm and "
    "every quasi-identifier may infer more than the release alone shows."
)
"""The warning that goes with ``algorithm_safe = False``."""

LOOKED = "Not algorithm-safe: this was chosen after looking at sensitive values. That alone can reveal something."
"""The warning of a release whose method, parameters or draw were chosen after looking at sensitive values."""

Basis = Literal["declared", "public", "looked"]
"""What a choice of method and parameters rests on; see :class:`Choice`."""

REPRODUCIBLE = "Reproducible: not for publication. Whoever knows the seed can undo the shuffling."
"""The warning of a release that was made with a seed, which is not told."""

WARNINGS = (NOT_SAFE, LOOKED, REPRODUCIBLE)
"""Every warning that is published with a release, in any version so far: a verifier knows no other."""


@dataclass(frozen=True)
class Choice:
    """How method, parameters and draw of a release were chosen.

    ``declared``: fixed before the data were read. ``public``: by what others may know, counts of sensitive values and
    coins. ``looked``: by anything else. Whoever looked at which value belongs to whom tells something by what was
    chosen, so such a release is not algorithm-safe, whatever its method. ``refused`` is how many earlier releases of
    the same table are known to have been refused.

    Examples
    --------
    >>> Choice("looked", refused=2).to_dict()
    {'basis': 'looked', 'refused': 2}
    >>> Choice().has_looked
    False
    """

    basis: Basis = "declared"
    refused: int | None = None

    @property
    def has_looked(self) -> bool:
        """Whether the choice itself can reveal something."""
        return self.basis == "looked"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; a count that nobody knows is left out."""
        return {"basis": self.basis, **({} if self.refused is None else {"refused": self.refused})}


@dataclass(frozen=True)
class PublishedColumn:
    """Name, role and form of one published column; ``bucket`` and ``count`` columns have the role ``structure``.

    ``ends`` says whether the ends of intervals are values that occur or were rounded outwards.
    ``spellings`` is ``distinct`` where the holder says that values which differ in case or punctuation only are
    different values.
    """

    name: str
    role: Role | str
    form: CellForm
    ends: Ends = "exact"
    spellings: str | None = None


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
        different = self.different[name]
        return bool(different.null_count) or pa.scalar("") in different.cast(pa.string())

    @cached_property
    def different(self) -> Mapping[str, pa.Array]:
        """The different cells of every column, looked up once: pages ask for them again and again."""
        return {name: self.data.column(name).unique() for name in self.data.column_names}

    def form(self, name: str) -> CellForm:
        """How the cells of a column are written."""
        return next(column.form for column in self.columns if column.name == name)


@dataclass(frozen=True)
class Release(Shown):
    """Published tables and what is claimed of them.

    ``guarantees`` are the findings of the verification, one mapping each, as written to ``release.json``; ``form`` says
    what the tables stand for, whoever made them. ``algorithm_safe`` and ``corruption_robust`` are what the method
    declares: that whoever knows it learns no more than the release says, and that neither do known values of others.
    Both are false where the ``choice`` of the method looked at sensitive values.

    >>> import undercover as uc
    >>> example = uc.datasets.hospital("cross-bucket")
    >>> release = uc.publish(example.table, example.schema, uc.Anatomy(l=4), policy="none").release
    >>> release.form.name, [table.name for table in release.tables], release.algorithm_safe
    ('buckets', ['qit', 'sat'], True)
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
    types: Mapping[str, Given] = field(default_factory=dict, compare=False, repr=False)  # of the columns as given
    form: Form = field(default_factory=Generalized)
    corruption_robust: bool = False
    choice: Choice = field(default_factory=Choice)
    writing: Mapping[str, Writing] = field(default_factory=dict, compare=False, repr=False)  # of the file it came from

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

    def table(self, name: str | None = None, *, cells: CellsAs = "text") -> Any:
        """One of the tables, as the kind of frame that was given; what was not changed has the type it had.

        ``cells="interval"`` has generalised numbers and days as `pandas.Interval`, or a struct of ``low`` and ``high``
        in polars and pyarrow, ``cells="bounds"`` as two columns, `age_low` and `age_high`; both have sets as lists.
        ``cells="midpoint"`` has one number each, the middle (of days: since 1970), and sets as they are written.

        >>> column = PublishedColumn("age", "quasi-identifier", "interval")
        >>> published = PublishedTable("table", (column,), pa.table({"age": ["[31, 34]", "[31, 34]"]}))
        >>> Release("somebody's", {}, (published,), True).table(cells="bounds").to_pylist()[0]
        {'age_low': 31, 'age_high': 34}
        """
        table = self.published(name)
        texts = [column for column, given in self.types.items() if given.text]
        data = opened(
            as_written(table.data, self.writing, texts),
            [table.form(column) for column in table.data.column_names],
            cells,
            texts,
        )
        return to_frame(data, self.frame, self.types)

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

    def chosen(self, choice: Choice) -> Release:
        """The same release by another choice; one that looked is neither algorithm-safe nor corruption-robust."""
        if not choice.has_looked:
            return self.changed(choice=choice)
        warnings = self.warnings if LOOKED in self.warnings else (*self.warnings, LOOKED)
        return self.changed(choice=choice, algorithm_safe=False, corruption_robust=False, warnings=warnings)

    @property
    def has_safe_method(self) -> bool:
        """Whether the method declared itself algorithm-safe, however it was chosen."""
        return self.algorithm_safe or (self.choice.has_looked and NOT_SAFE not in self.warnings)

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.name} of {counted(table.rows, 'row')}" for table in self.tables)
        return f"<Release by {self.method}: {tables}; .table() shows it, undercover.verify() checks it>"


def to_frame(data: pa.Table, kind: str, types: Mapping[str, Given] | None = None) -> Any:
    """``data`` as pandas, polars, pyarrow or Spark; columns in ``types`` where they fit, without, texts in pandas."""
    known = types or {}
    columns: dict[str, tuple[Any, Any]] = {}
    for name, column in zip(data.column_names, data.columns, strict=True):
        fitted = as_given(column, known[name]) if name in known else None
        columns[name] = (column, None) if fitted is None else (fitted, known[name].native)
    if kind == "pandas":
        import pandas

        frame = pandas.DataFrame({name: _pandas(*column) for name, column in columns.items()})
        index = [name for name in columns if name in known and known[name].index]
        return frame.set_index(index) if index else frame
    if kind == "polars":
        import polars

        series = {name: (polars.from_arrow(column), native) for name, (column, native) in columns.items()}
        return polars.DataFrame(
            {name: one if type_ is None else one.cast(type_) for name, (one, type_) in series.items()}
        )
    found = pa.table({name: column for name, (column, _) in columns.items()})
    return found if kind != "spark" else _spark(found)


def _spark(data: pa.Table) -> Any:
    """A DataFrame of the session there is; Spark knows no dictionaries."""
    from pyspark.sql import SparkSession

    plain = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in data.columns]
    return SparkSession.builder.getOrCreate().createDataFrame(pa.table(plain, names=data.column_names))


def _pandas(column: pa.ChunkedArray, native: Any) -> Any:
    """A column for a pandas frame; of what type nobody knows, categories are texts."""
    import pandas

    if pa.types.is_struct(column.type):
        return _intervals(*column.combine_chunks().flatten())
    if pa.types.is_list(column.type):
        return pandas.Series(column.to_pylist(), dtype=object)
    if pa.types.is_dictionary(column.type):
        if native is None:
            return column.cast(column.type.value_type).to_pandas()
        codes = column.combine_chunks().indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return pandas.Categorical.from_codes(codes, dtype=native)
    if hasattr(native, "__from_arrow__"):
        return native.__from_arrow__(column)
    if getattr(native, "kind", "") == "O":
        return pandas.Series(column.to_pylist(), dtype=object)
    if native is None and pa.types.is_date(column.type):  # an end of an interval: moments are days to pandas
        column = column.cast(pa.timestamp("s"))
    found = column.to_pandas()
    return found if native is None or (column.null_count and native.kind in "iub") else found.astype(native)


def _intervals(low: pa.Array, high: pa.Array) -> Any:
    """Closed intervals; pairs where ends are texts, which are no ends to pandas."""
    import pandas

    if pa.types.is_string(low.type):
        pairs = zip(low.to_pylist(), high.to_pylist(), strict=True)
        return pandas.Series([None if one is None else (one, other) for one, other in pairs], dtype=object)
    if pa.types.is_date(low.type):
        low, high = low.cast(pa.timestamp("s")), high.cast(pa.timestamp("s"))
    return pandas.arrays.IntervalArray.from_arrays(low.to_pandas(), high.to_pandas(), closed="both")
