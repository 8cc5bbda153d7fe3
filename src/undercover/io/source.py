"""One door for every input: a CSV or Parquet file, a database, or a frame in memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from undercover.errors import DataError
from undercover.io.columns import tidy
from undercover.io.csv.text import CsvDecisions, read_csv
from undercover.io.database import is_database_url, read_database, without_password
from undercover.io.frames import to_arrow
from undercover.io.parquet import read_parquet

_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read an input; what is ``None`` is found from a CSV file. ``nulls`` hold for every kind of input.

    >>> ReadOptions(separator=";", nulls=("?",)).decimal is None
    True
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    nulls: tuple[str, ...] = ()
    text: tuple[str, ...] = ()


@dataclass(frozen=True)
class Input:
    """A table that was read, what kind of frame its owner uses, and where it came from."""

    data: pa.Table
    frame: str
    source: Mapping[str, Any]  # path, sha256, rows, read_as
    decisions: CsvDecisions | None = None


def read(source: Any, *, options: ReadOptions | None = None) -> Input:
    """Read a table from wherever it is.

    Parameters
    ----------
    source
        A path (``.csv``, ``.csv.gz``, ``.parquet``), a database URL, or a pandas, polars or pyarrow frame.
    options
        How to read it.

    Examples
    --------
    >>> found = read(pa.table({"age": [34, 28]}))
    >>> found.frame, dict(found.source)
    ('pyarrow', {'path': None, 'sha256': None, 'rows': 2, 'read_as': 'a pyarrow frame'})
    """
    options = options or ReadOptions()
    if not isinstance(source, str | os.PathLike):
        table, kind = to_arrow(source)
        data = tidy(table, nulls=options.nulls, where="The frame")
        return Input(data, kind, _described(None, None, data, f"a {kind} frame"))
    given = os.fspath(source)
    if is_database_url(given):
        shown = without_password(given)
        data = tidy(read_database(given), nulls=options.nulls, where=f"`{shown}`")
        return Input(data, "pyarrow", _described(shown, None, data, "a database table"))
    path = Path(given)
    name = path.name.lower()
    if "://" in given:
        raise DataError(f"`{given}` cannot be read: there are files, duckdb://, sqlite:// and postgres:// URLs.")
    if not path.exists():
        raise DataError(f"There is no file `{given}`.")
    if path.is_dir():
        raise DataError(f"`{given}` is a folder. Give a file.")
    if name.endswith(_CSV):
        data, decisions = read_csv(
            path,
            separator=options.separator,
            decimal=options.decimal,
            encoding=options.encoding,
            nulls=options.nulls,
            text=options.text,
        )
        return Input(data, "pyarrow", _described(given, sha256(path), data, decisions.sentence()), decisions)
    if name.endswith(_PARQUET):
        data = tidy(read_parquet(path), nulls=options.nulls, where=f"`{given}`")
        return Input(data, "pyarrow", _described(given, sha256(path), data, "a Parquet file"))
    raise DataError(f"`{given}` is of no known kind. There are: {', '.join((*_CSV, *_PARQUET))}.")


def sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, read piece by piece.

    >>> sha256(os.devnull)[:12]
    'e3b0c44298fc'
    """
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"`{path}` cannot be read: {error.strerror or error}.") from error


def _described(path: str | None, digest: str | None, data: pa.Table, read_as: str) -> dict[str, Any]:
    return {"path": path, "sha256": digest, "rows": data.num_rows, "read_as": read_as}
