"""Tables that lie in Spark, by whatever name: a DataFrame, a table of its catalogue, Parquet or CSV files.

===========================  ==================================================================
a DataFrame                  as it is
``spark://lake.db.people``   a table or view that the session knows under that name
``people.parquet``, a folder  Parquet files, wherever Spark finds them (``s3a://…``, ``hdfs://…``)
``people.csv``                CSV files with a header; every field is read as text, and then by the
                             rules of any CSV file
===========================  ==================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.engines.spark import is_frame
from undercover.engines.spark.coding import Gathered, gathered
from undercover.engines.spark.door import same_length
from undercover.errors import DataError
from undercover.io.csv.kinds import Marks, infer
from undercover.io.csv.text import check_quotes, encodings_to_try, sample, separator_of
from undercover.io.csv.typed import writing_of
from undercover.io.files import CSV, PARQUET
from undercover.io.place import place_of
from undercover.io.source import ReadOptions, tidy
from undercover.model.formats.writing import Writing

CATALOGUE = "spark://"
_READABLE = "There are DataFrames, spark://TABLE of the catalogue, Parquet and CSV files."


@dataclass(frozen=True)
class SparkInput:
    """A table in Spark, and where it came from."""

    frame: Any
    source: Mapping[str, Any]
    options: ReadOptions
    texts: bool = False  # whether every field is text, whatever it stands for
    separator: str | None = None  # of the fields of such a table
    writing: dict[str, Writing] = field(default_factory=dict, compare=False)  # of such columns, when they were read
    notes: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def names(self) -> list[str]:
        """Its columns."""
        return list(self.frame.columns)

    def values_of(self, names: Iterable[str]) -> pa.Table:
        """The different values of some columns, as a table in which the rows mean nothing."""
        held = [name for name in names if name in self.names]
        return same_length(self.values(gathered(self.frame, held))) if held else pa.table({})

    def values(self, found: Mapping[str, Gathered]) -> dict[str, pa.ChunkedArray]:
        """What the values of every column are, one for one: the same as of a table that is read on one machine."""
        where = f"`{self.source['path']}`" if self.source["path"] else "The DataFrame"
        columns = {name: pa.chunked_array([one.values]) for name, one in found.items()}
        if self.texts:
            markers = pa.array(["", *self.options.nulls], pa.string())
            texts = {
                name: pc.if_else(pc.is_in(column, markers), pa.scalar(None, pa.string()), column)
                for name, column in columns.items()
            }
            said = self.options
            marks = Marks(separator=self.separator, decimal=said.decimal, thousands=said.thousands)
            columns, _, point, notes = infer(texts, marks=marks, text=said.text)
            counts = {name: partial(np.append, one.counts, 0) for name, one in found.items()}
            writing, told = writing_of(texts, columns, counts, replace(marks, decimal=point))
            self.writing.update(writing)
            self.notes.update(notes | told)
            return columns
        problems: list[str] = []
        for name, column in columns.items():
            try:
                columns[name] = tidy(pa.table({name: column}), nulls=self.options.nulls, where=where).column(name)
            except DataError as error:
                problems += error.problems
        if problems:
            raise DataError(problems)
        return columns


def is_in_spark(source: Any) -> bool:
    """Whether something is read by Spark alone."""
    return is_frame(source) or (isinstance(source, str) and source.startswith(CATALOGUE))


def read_spark(source: Any, options: ReadOptions | None, session: Any) -> SparkInput:
    """Find a table; nothing of it is read yet."""
    options = options or ReadOptions()
    if is_frame(source):
        return SparkInput(source, _described(None, "a Spark DataFrame"), options)
    given = os.fspath(source)
    if given.startswith(CATALOGUE):
        return SparkInput(_table(session, given), _described(given, "a table of Spark's catalogue"), options)
    return _files(session, given, options)


def _described(path: str | None, read_as: str) -> dict[str, Any]:
    return {"path": path, "sha256": None, "read_as": read_as}


def _table(session: Any, given: str) -> Any:
    name = given.removeprefix(CATALOGUE)
    if not session.catalog.tableExists(name):
        raise DataError(f"Spark's catalogue has no table `{name}`. Give its name as `catalogue.database.table`.")
    return session.table(name)


def _files(session: Any, given: str, options: ReadOptions) -> SparkInput:
    local = "://" not in given
    files = place_of(given).files if local else ()
    name = (files[0].name if files else given).lower()
    where = [str(file.absolute()) for file in files] or [given]
    if name.endswith(CSV):
        separator, encoding = _written_as(files[0] if files else None, options)
        for file in files:  # Spark's own reader swallows rows without a word
            try:
                check_quotes(file, encoding, separator)
            except UnicodeError as error:
                raise DataError(f"`{file}` is not in the encoding {encoding}. Name another one.") from error
        reader = session.read.options(header=True, sep=separator, encoding=encoding, multiLine=True, escape='"')
        frame = reader.csv(where, inferSchema=False, nullValue="", emptyValue="")
        shown = "tab" if separator == "\t" else f"'{separator}'"
        described = _described(given, f"CSV: separator {shown}, encoding {encoding}")
        return SparkInput(frame, described, options, texts=True, separator=separator)
    if name.endswith(PARQUET) or not local:
        return SparkInput(session.read.parquet(*where), _described(given, "Parquet"), options)
    raise DataError(f"`{given}` cannot be read by the Spark engine. {_READABLE}")


def _written_as(file: Path | None, options: ReadOptions) -> tuple[str, str]:
    """The separator and the encoding of a CSV file: as said, else as its beginning shows."""
    start = b"" if file is None else sample(file)
    for encoding in (options.encoding,) if options.encoding else encodings_to_try(start):
        try:
            head = start[: start.rfind(b"\n") + 1].decode(encoding)
        except UnicodeDecodeError:
            continue
        return options.separator or separator_of(head.removeprefix("\ufeff")), encoding
    raise DataError(f"`{file}` is not in the encoding {options.encoding}. Name another one.")
