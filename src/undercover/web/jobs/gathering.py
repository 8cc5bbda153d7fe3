"""What has to be there before a table can be read: an example is written, a database asked, a packed file measured."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from undercover.errors import DataError
from undercover.io.csv.text import write_csv
from undercover.io.database import read_database, without_password
from undercover.io.files import EXCEL
from undercover.io.parquet import write_parquet
from undercover.memory import Store, size_in_words
from undercover.waiting import Progress
from undercover.web.desks.file_kinds import unpacked_size
from undercover.web.desks.project import Project
from undercover.web.desks.sources import CENSUS

_MOST_UNPACKED = 4  # times as many bytes as may be sent


def gathered(project: Project, request: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """The source of a table, of which there is a file now; with the sheets of a workbook."""
    source = dict(project.source)
    data = project.folder / "data"
    if source["kind"] == "database" and "path" not in source:
        progress("asking the database", 0.0)
        found = read_database(
            source["url"], Store(), lambda rows: progress(f"asking the database: {rows:,} rows", 0.0), sealed=True
        )
        source["path"] = _written(found, data, "table.parquet", write_parquet)
        source["url"] = without_password(source["url"])  # nobody needs it any more
    elif source["kind"] == "example" and not (data / source["path"]).is_file():
        progress("drawing the example", 0.0)
        _written(_example(source["name"]), data, source["path"], write_csv)
    path = Path(source["path"]) if source["kind"] == "folder" else data / source["path"]
    _check_size(path, _MOST_UNPACKED * int(request["most_bytes"]))
    if path.name.lower().endswith(EXCEL) and "sheets" not in source:
        from undercover.io.office.excel import sheets

        source["sheets"] = list(sheets(path))
    if source != project.source:
        project.change(source=source)
    sheet = request.get("sheet")
    return source if sheet is None else {**source, "sheet": sheet}


def _example(name: str) -> Any:
    from undercover import datasets

    return datasets.census(CENSUS[name]) if name in CENSUS else datasets.hospital(name).table


def _written(table: Any, folder: Path, name: str, write: Any) -> str:
    """A file that appears whole or not at all."""
    beside = folder / f".{os.urandom(4).hex()}"
    write(table, beside)
    beside.rename(folder / name)
    return name


def _check_size(path: Path, most: int) -> None:
    if path.is_file() and unpacked_size(path, most) > most:
        raise DataError(
            f"Unpacked, the file is larger than {size_in_words(most)}, which is all that this server takes. Send only "
            "the rows and columns that are needed."
        )
