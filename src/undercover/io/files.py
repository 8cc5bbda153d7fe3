"""Files by their endings: who reads them, and how the result is described."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from undercover.errors import DataError
from undercover.io.coded.columns import Tell
from undercover.io.csv.text import CsvDecisions, read_csv, sample
from undercover.io.file_kinds import check_beginning
from undercover.io.parquet import parquet_rows, read_parquet
from undercover.io.place import Place, unpacked
from undercover.memory import Store
from undercover.model.formats.writing import Writing

if TYPE_CHECKING:
    from undercover.io.source import ReadOptions

CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm")
STATISTICS = (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
FEATHER = (".feather", ".arrow", ".arrows", ".ipc")
ZIP = (".zip",)
KNOWN = (*CSV, *PARQUET, *EXCEL, *STATISTICS, *JSON_LINES, *FEATHER, *ZIP)
"""How the names of files end that can be read."""
_PACKED = 5  # times as long as its .gz a file is, about


class FileRead(NamedTuple):
    """What a file holds, how it was read in a few words, what was decided of a CSV file, and what is to be known of
    columns: how they are written, and what the holder is told.
    """

    table: pa.Table
    read_as: str
    decisions: CsvDecisions | None = None
    writing: Mapping[str, Writing] = {}
    notes: Mapping[str, str] = {}


def read_place(place: Place, options: ReadOptions, store: Store | None = None, tell: Tell | None = None) -> FileRead:
    """Read the file, or all parts of the table, that lie there; into a ``store``, if it is a large one."""
    if place.whole:
        return _read_file(place.files[0], place.sheet, options, store, tell)
    files = place.files
    for endings in (CSV, PARQUET):
        others = [file.name for file in files if not file.name.lower().endswith(endings)]
        if len(others) < len(files):
            break
    if others:
        raise DataError(
            f"Parts of one table must be all CSV or all Parquet files; `{others[0]}` in `{files[0].parent}` is not. "
            "Give a file, or a pattern in quotation marks such as 'parts/*.csv'."
        )
    from undercover.io.parts import read_csv_parts, read_parquet_parts

    if endings is PARQUET:
        return FileRead(read_parquet_parts(files, _for(files, store), tell), _counted("Parquet", len(files)))
    table, decisions = read_csv_parts(files, options, _for(files, store), tell)
    read_as = f"{_counted('CSV', len(files))}, {_bare(decisions.sentence())}"
    return FileRead(table, read_as, decisions, decisions.writing, decisions.notes)


def _counted(kind: str, files: int) -> str:
    return f"{files} {kind} files as one table" if files > 1 else f"1 {kind} file"


def _bare(read_as: str) -> str:
    return read_as.removeprefix("read as: ")


def _for(files: Sequence[Path], store: Store | None) -> Store | None:
    """The store, where there are so many rows that they are held as codes; those of CSV files are reckoned."""
    if store is None:
        return None
    parquet = files[0].name.lower().endswith(PARQUET)
    rows = sum(parquet_rows(file) if parquet else _csv_rows(file) for file in files)
    return store if rows >= store.large else None


def _csv_rows(path: Path) -> float:
    """Lines of a file, by those at its beginning."""
    start = sample(path)
    packed = _PACKED if path.suffix.lower() == ".gz" else 1
    return packed * path.stat().st_size * start.count(b"\n") / max(len(start), 1)


def _read_file(path: Path, sheet: str | None, options: ReadOptions, store: Store | None, tell: Tell | None) -> FileRead:
    name = path.name.lower()
    if name.endswith(ZIP):
        check_beginning(path)
        with unpacked(path) as inner:
            if inner.suffix.lower() == ".zip":
                raise DataError(f"`{inner}` is a zip in a zip. Unpack it, and give the file.")
            found = _read_file(inner, sheet, options, store, tell)
        return found._replace(read_as=f"`{inner.name}` of a zip, {_bare(found.read_as)}")
    if sheet is not None and not name.endswith(EXCEL):
        raise DataError(f"`{path}` has no sheets. Leave #{sheet} out.")
    if name.endswith(KNOWN):
        check_beginning(path)
    if name.endswith(CSV):
        table, decisions = read_csv(
            path,
            separator=options.separator,
            decimal=options.decimal,
            thousands=options.thousands,
            encoding=options.encoding,
            nulls=options.nulls,
            text=options.text,
            store=_for([path], store),
            tell=tell,
        )
        return FileRead(table, decisions.sentence(), decisions, decisions.writing, decisions.notes)
    if name.endswith(PARQUET):
        return FileRead(read_parquet(path, _for([path], store), tell), "a Parquet file")
    return _read_other(path, name, sheet, options, store, tell)


def _read_other(
    path: Path, name: str, sheet: str | None, options: ReadOptions, store: Store | None, tell: Tell | None
) -> FileRead:
    """What few tables come as is imported only where it is read."""
    if name.endswith(EXCEL):
        from undercover.io.office.excel import read_excel

        return FileRead(*read_excel(path, sheet))
    if name.endswith(STATISTICS):
        from undercover.io.office.statistics import read_statistics

        table, read_as, writing = read_statistics(path, options.encoding)
        return FileRead(table, read_as, writing=writing)
    if name.endswith(JSON_LINES):
        from undercover.io.json_lines import read_json_lines

        found = read_json_lines(path, options.text)
        return FileRead(found.table, "JSON lines", None, found.writing, found.notes)
    if name.endswith(FEATHER):
        from undercover.io.feather import read_feather

        return FileRead(read_feather(path, store, tell), "an Arrow file")
    old = name.endswith(".xls")
    cure = "Open it in Excel and save it as .xlsx" if old else "Export the table as one of these"
    raise DataError(f"`{path}` is of no known kind. There are: {', '.join(KNOWN)}. {cure}.")
