"""The profile of a table: it is read, inspected and previewed, and the codes of its columns are kept.

The folder ``profile`` has ``profile.json`` (the inspection, how the file was read, a picture of every column), pages of
the first rows, and a file of codes for every column, as narrow as can be, which the server maps and never loads. A new
way to read a file is kept in the spec only if it works, with the decisions that still fit.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from undercover.errors import DataError
from undercover.io.files import PARQUET
from undercover.io.parquet import parquet_rows
from undercover.io.source import Input, read
from undercover.io.spec.load import ROLES
from undercover.memory import Store, memory_of
from undercover.model.kinds.dates import as_dates
from undercover.model.kinds.settle import find
from undercover.model.schema import EACH_ROW
from undercover.model.table import as_numbers, write_values
from undercover.studies.inspect.columns import ColumnReport, Values
from undercover.studies.inspect.inspection import inspect_values, values_of
from undercover.waiting import Progress
from undercover.web.desks.columns.levels import keep_values
from undercover.web.desks.project import Project, read_options, whence
from undercover.web.desks.sources import HOW
from undercover.web.desks.store import private_folder, write_json
from undercover.web.jobs.gathering import gathered
from undercover.whole import put

MOST_SHOWN: Final = 50  # rows of the preview that are shown together
_CELLS: Final = 2000  # of them, about: a wide table shows fewer rows
PAGES: Final = 20
MOST_VALUES: Final = 2000  # of a column, whose values are kept for hierarchies edited by hand
_LONGEST_CELL: Final = 200
_NAMED: Final = ("unit", "weight")  # roles of one column
_BARS: Final = 24  # of a picture


def profile(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Profile a table, in the way it is said to be read or in another one that the request tries."""
    source = gathered(project, request, progress)
    spec = _tried(project.spec, request)
    given = _read(project, source, spec, int(request["most_rows"]), progress)
    names = given.data.column_names
    values = values_of(given.data, progress)
    found = inspect_values(values, given.data.num_rows, tell=progress)
    progress("writing", 0.0)
    place = project.folder / ".profile"
    shutil.rmtree(place, ignore_errors=True)
    private_folder(place)
    shown = min(MOST_SHOWN, max(_CELLS // len(names), 5))
    pages = _write_rows(given.data, private_folder(place / "rows"), shown)
    dropped = fitted(spec, names)[1]
    facts = {
        "read_as": " ".join([str(given.source.get("read_as") or ""), *given.notes.values()]).strip() or None,
        "read": _how(given, source),
        "inspection": found.to_dict(),
        "risks": found.risks().to_dict(),
        "pages": pages,
        "rows_shown": shown,
        "pictures": {column.name: _picture(column, values[column.name]) for column in found.columns},
        "values": {name: _write_codes(place, number, values[name]) for number, name in enumerate(names)},
        "dropped": dropped,
    }
    write_json(place / "profile.json", facts)
    _put(place, project.folder / "profile")
    _decide(project.folder, request, source, names)
    return {"rows": found.rows, "columns": len(found.columns), "dropped": dropped}


def _tried(spec: dict[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with the way to read the data that a request tries."""
    if "how" not in request:
        return spec
    kept = {key: value for key, value in spec.get("data", {}).items() if key not in HOW}
    return {**spec, "data": {**kept, **request["how"]}}


def _decide(folder: Path, request: Mapping[str, Any], source: Mapping[str, Any], names: list[str]) -> None:
    """Write down how the data is read, with the decisions that still fit: those that are made by now."""
    now = Project(folder)
    spec, dropped = fitted(_tried(now.spec, request), names)
    choices = {**now.choices, "columns_decided": False} if dropped else now.choices
    if (spec, source, choices) != (now.spec, now.source, now.choices):
        now.change(spec=spec, source=source, choices=choices, revision=now.revision)


def fitted(spec: Mapping[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The spec without what it says of columns that are not there; and these columns.

    >>> fitted({"roles": {"sensitive": ["pay", "age"], "unit": "person"}, "columns": {"pay": {}}}, ["age"])
    ({'roles': {'sensitive': ['age']}}, ['pay', 'person'])
    """
    kept, gone = dict(spec), []
    known = {*names, "*"}
    if "roles" in kept:
        roles = dict(kept["roles"])
        for role in ROLES:
            said = [roles[role]] if isinstance(roles.get(role), str) else list(roles.get(role, ()))
            gone += [name for name in said if name not in known]
            if role in roles:
                roles[role] = [name for name in said if name in known]
        for role in _NAMED:
            if roles.get(role) not in (None, EACH_ROW) and roles[role] not in known:
                gone.append(roles.pop(role))
        kept["roles"] = {role: said for role, said in roles.items() if said != []}
    if "columns" in kept:
        gone += [name for name in kept["columns"] if name not in known]
        kept["columns"] = {name: said for name, said in kept["columns"].items() if name in known}
    if not kept.get("columns", True):
        del kept["columns"]
    return kept, list(dict.fromkeys(gone))


def _read(project: Project, source: Mapping[str, Any], spec: Mapping[str, Any], most: int, progress: Progress) -> Input:
    """Read the file; what is wrong with it is told by the name that people know."""
    progress("reading", 0.0)
    place = whence(project.folder, source)
    try:
        if place.lower().endswith(PARQUET):  # a few bytes may say a billion rows
            _check_rows(parquet_rows(Path(place)), most)
        given = read(place, options=read_options(spec), store=Store(memory_of(None)), progress=progress)
    except DataError as error:
        path = place.removesuffix(f"#{source.get('sheet')}")
        raise DataError([problem.replace(path, project.name) for problem in error.problems]) from None
    _check_rows(given.data.num_rows, most)
    return given


def _check_rows(rows: int, most: int) -> None:
    if rows > most:
        raise DataError(
            f"The table has {rows:,} rows; this server takes at most {most:,}. Send fewer, or start it with more: "
            "`undercover serve --most-rows`."
        )


def _how(given: Input, source: Mapping[str, Any]) -> dict[str, Any]:
    """How the file was read: what was found and what was said."""
    sheets = list(source.get("sheets", ()))
    found: dict[str, Any] = {"sheets": sheets, "sheet": source.get("sheet") or next(iter(sheets), None)}
    if given.decisions is not None:
        decided = given.decisions
        found |= {"separator": decided.separator, "decimal": decided.decimal, "encoding": decided.encoding}
    return found


def _write_rows(data: pa.Table, folder: Path, shown: int) -> int:
    """The first rows, so many on each page."""
    first = data.slice(0, shown * PAGES)
    cells = [[_text(cell) for cell in column.to_pylist()] for column in first.columns]
    rows = [list(row) for row in zip(*cells, strict=True)]
    pages = math.ceil(len(rows) / shown)
    for page in range(pages):
        write_json(folder / f"{page}.json", {"rows": rows[page * shown : (page + 1) * shown]})
    return pages


def _text(cell: Any) -> str | None:
    """A cell as people read it; nothing where it is missing."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e16 else str(cell)
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


def _picture(column: ColumnReport, values: Values) -> dict[str, Any]:
    """``spread``, bars from the smallest value to the largest one, also as a ``path``; or ``top`` values.

    As little is shown as by ``inspect``: nothing of a suspected identifier, and of categories only those that are named
    there.
    """
    top = column.summary.get("top")
    if top:
        rows = int(values.counts.sum())
        return {"top": [{"label": one["value"], "share": one["count"] / rows, "count": one["count"]} for one in top]}
    if "min" not in column.summary:
        return {}
    numbers = _numbers(values.values)
    finite = np.isfinite(numbers)
    if finite.sum() < 2 or np.ptp(numbers[finite] / _BARS) >= np.finfo(np.float64).max / _BARS:
        return {}
    heights, _ = np.histogram(numbers[finite], _BARS, weights=values.counts[finite])
    spread = [round(float(one), 4) for one in heights / heights.max()]
    return {"spread": spread, "path": _path(spread), **column.summary}


def _path(heights: Any) -> str:
    """Bars of these heights as one path of 96 by 24.

    >>> _path([1, 0.5])
    'M0 24v-24h3.4v24zM4 24v-12h3.4v12z'
    """
    return "".join(f"M{4 * place} 24v-{24 * one:.3g}h3.4v{24 * one:.3g}z" for place, one in enumerate(heights))


def _numbers(values: pa.Array) -> Any:
    if pa.types.is_string(values.type):
        form = find(values).format
        values = as_dates(values, form) if form else values
    known = pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_temporal(values.type)
    return as_numbers(values) if known else np.full(len(values), np.nan)


def _write_codes(place: Path, number: int, column: Values) -> dict[str, Any]:
    """The codes of a column as a file; its values and how often each occurs, where these are not too many."""
    np.save(place / f"{number}.npy", column.coded.codes)
    keep_values(place / f"{number}.arrow", column.values)
    facts = {
        "codes": f"{number}.npy",
        "size": column.coded.size,
        "missing": len(column.values) if column.missing else None,
    }
    if len(column.values) > MOST_VALUES:
        return facts
    infinite = pa.types.is_floating(column.values.type) and not np.isfinite(column.values.to_numpy()).all()
    texts = [str(value) for value in column.values.to_pylist()] if infinite else write_values(column.values)
    return {**facts, "values": texts, "counts": [int(count) for count in column.counts]}


def _put(made: Path, target: Path) -> None:
    """Put a folder in the place of another one."""
    put(made, target, force=True)
    shutil.rmtree(made, ignore_errors=True)


def codes_of(project: Project, name: str) -> Any:
    """The codes of a column, mapped from its file."""
    assert project.profile is not None
    place: Path = project.folder / "profile" / project.profile["values"][name]["codes"]
    return np.load(place, mmap_mode="r")
