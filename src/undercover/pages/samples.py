"""Ten rows of the original beside what was published of them, for the holder's eyes only.

Sensitive values and identifiers are left out, as they are of the riskiest rows: a page is passed on more easily than a
table. Published rows are in secret order. Where cells cover the truth, a person's are the narrowest that cover all of
the person's group (of buckets: the person): cells are drawn as tightly around their group as their form allows, so
whichever others cover it are wider. Where quasi-identifiers were drawn, the private run says which row is whose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import rows_where, stretches
from undercover.forms.case import Case
from undercover.forms.meaning import leaf_values
from undercover.forms.spread import positions_of_codes
from undercover.model.run import Run
from undercover.model.view import Part, View, table

SHOWN = 10
_LONGEST = 40
_TEN = "Rows as they stand in the input, numbered from 0 and evenly spread over it, each "
_COVERED = (
    "with the cells that were published of it: value → cell, or the value alone where it is published as it is. Alike "
    "are the published rows with these cells."
)
_DRAWN = (
    "beside the row that was published in the person's place: value → value, or the value alone where it is the same. "
    "Alike are the published rows with the same quasi-identifiers."
)
_LEFT_OUT = "Long cells are cut; `report.json` has them whole. Sensitive values and identifiers are not shown here."


def samples_of(run: Run, shown: int = SHOWN) -> dict[str, Any]:
    """The rows with their quasi-identifiers ``before`` and ``after``; ``None`` after: it is not published."""
    if run.original is None:
        return {"rows": [], "note": "Not shown: the original was not at hand."}
    case, original = Case.of(run), run.original
    reading = case.reading
    places = np.unique(np.linspace(0, original.n_rows - 1, shown).astype(np.int64))
    grouped = [_grouped(run, int(row)) for row in original.numbers(places)]
    if reading.covers:
        classes = reading.classes.boxes or reading.classes
        published = _narrowest(case, run, grouped, classes.representatives)
    else:
        own = case.own if case.dealt is None else case.dealt.cells
        if own is None:
            return {"rows": [], "note": "Not shown: which published row is whose, this run does not tell."}
        published = [None if number is None else int(own[number]) for number in grouped]
    cells = {name: reading.column(name) for name in reading.main.names("quasi-identifier")}
    columns = {name: original[name] for name in original.schema.quasi_identifiers}
    rows = [
        {
            "row": int(original.numbers(place)),
            "before": {name: column.domain.labels[int(column.codes[place])] for name, column in columns.items()},
            "after": None if row is None else {name: cell.labels[cell.codes[row]] for name, cell in cells.items()},
            "alike": 0 if row is None else _alike([cell.codes for cell in cells.values()], row),
        }
        for place, row in zip(places, published, strict=True)
    ]
    return {"rows": rows, "note": f"{_TEN}{_COVERED if reading.covers else _DRAWN} {_LEFT_OUT}"}


def samples_view(found: Mapping[str, Any]) -> View:
    """What :func:`samples_of` found, as a section."""
    parts: list[Part] = [found["note"]]
    if found["rows"]:
        names = list(found["rows"][0]["before"])
        rows = [(one["row"], *(_cell(one, name) for name in names), one["alike"]) for one in found["rows"]]
        columns = ("input row", *(f"`{name}`" for name in names), "alike")
        parts.append(table(columns, "count" + " plain" * len(names) + " count", rows, private=True))
    return View("samples", "Ten rows before and after", tuple(parts), private=True)


def _cell(one: Mapping[str, Any], name: str) -> str:
    before, after = one["before"][name] or "missing", one["after"]
    if after is None or name not in after:
        return f"{before} → not published"
    shown = after[name] or "missing"
    return before if shown == before else f"{before} → {_short(shown)}"


def _short(cell: str) -> str:
    """A cell that fits its column: a long one is cut, a range keeps its ends together."""
    cell = cell if len(cell) <= _LONGEST else f"{cell[: _LONGEST - 1]}…"
    return cell.replace(" ", "\N{NO-BREAK SPACE}") if cell.startswith("[") else cell


def _grouped(run: Run, row: int) -> int | None:
    """Where an input row stands among those that were grouped."""
    for part in stretches(len(run.rows)):
        found = np.flatnonzero(run.rows[part] == row)
        if len(found):
            return int(part.start + found[0])
    return None


def _alike(columns: Sequence[NDArray[Any]], row: int) -> int:
    """How many rows have the same cells as one."""
    found = 0
    for part in stretches(len(columns[0])):
        rows = np.arange(part.start, part.stop)
        for codes in columns:
            rows = rows[codes[rows] == codes[row]]
        found += len(rows)
    return found


def _narrowest(case: Case, run: Run, grouped: Sequence[int | None], boxes: NDArray[Any]) -> list[int | None]:
    """For each of some grouped rows, of the published rows ``boxes`` the one whose cells cover it and its group."""
    original, reading = case.original, case.reading
    names = reading.main.names("quasi-identifier")
    values = {name: leaf_values(original[name]) for name in names}
    coverages = {name: reading.coverage(name, values[name]) for name in names}
    columns = {name: reading.column(name).codes for name in names}
    covering: list[dict[str, NDArray[np.bool_]] | None] = []
    for number in grouped:
        if number is None:
            covering.append(None)
            continue
        together = [number] if reading.buckets else rows_where(run.groups.labels == run.groups.labels[number])
        people, cells = original.places(run.rows[together]), {}
        for name, coverage in coverages.items():
            asked = np.zeros(coverage.n_positions, dtype=bool)
            asked[positions_of_codes(original[name], values[name])[original[name].codes[people]]] = True
            cells[name] = coverage.covered(asked) == asked.sum()
        covering.append(cells)
    best: list[tuple[float, int | None]] = [(np.inf, None)] * len(grouped)
    widths = {name: np.log(coverage.sizes) for name, coverage in coverages.items()}
    for part in stretches(len(boxes)):
        for place, fits in enumerate(covering):
            rows = boxes[part] if fits is not None else boxes[:0]
            for name, inside in (fits or {}).items():
                rows = rows[inside[columns[name][rows]]]
            if len(rows):
                width = np.sum([widths[name][columns[name][rows]] for name in names], axis=0)
                best[place] = min(best[place], (float(width.min()), int(rows[width.argmin()])), key=lambda one: one[0])
    return [row for _, row in best]
