"""What a recipient knows beside a release: which values lie under the nodes of a column, or in which order they are.

A release does not say it; whoever has the holder's hierarchy can, and asks about the column then.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Final

from undercover.errors import DataError, HierarchyError, unknown
from undercover.hierarchies.file import read_hierarchy
from undercover.model.hierarchy import Hierarchy
from undercover.web.asked.opened import Opened
from undercover.web.desks.store import read_json, write_json

FILE: Final = "values.json"
_MOST_BYTES: Final = 8 << 20


def domains_of(folder: Path) -> dict[str, Hierarchy]:
    """What was told of the columns of an opened release."""
    place = folder / FILE
    return {name: Hierarchy(rows) for name, rows in read_json(place).items()} if place.is_file() else {}


def tell(one: Opened, column: str, hierarchy: Hierarchy) -> None:
    """Keep the hierarchy of a column."""
    known = [each["name"] for each in (one.found or {}).get("columns", ())]
    if column not in known:
        raise DataError(unknown("Column", column, known))
    told = {**domains_of(one.folder), column: hierarchy}
    write_json(one.folder / FILE, {name: [list(row) for row in each.rows] for name, each in told.items()})


def hierarchy_in(one: Opened, name: str, file: IO[bytes]) -> Hierarchy:
    """The hierarchy of a file that was sent; its problems are told under the name it came with."""
    content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"A hierarchy has at most {_MOST_BYTES >> 20} MB.")
    beside = one.folder / f".{os.urandom(4).hex()}.csv"
    try:
        beside.write_bytes(content)
        return read_hierarchy(beside)
    except HierarchyError as error:
        raise HierarchyError([problem.replace(str(beside), name) for problem in error.problems[:20]]) from error
    finally:
        beside.unlink(missing_ok=True)
