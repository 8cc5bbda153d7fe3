"""Which published row is whose: of the people a release was made of, and of people it was not made of.

For whoever learns from a table beside its values (y), a person's row is the published one that shows the person's own
sensitive value: rows and values then belong together as they do in the release. Where no published row does so, such a
table would say what the release does not, and there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import NotTold
from undercover.forms import read
from undercover.forms.case import Case
from undercover.forms.meaning import Values, leaf_values
from undercover.forms.reading import Reading
from undercover.forms.written import Written, combine, first_rows, written
from undercover.model.kinds.settle import forgotten
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.table import Table

Places = NDArray[np.int64]

ELSEWHERE = "Publish it with undercover.publish and learn from the release, as its recipients do."
_BUCKETS = (
    "Rows of this release are tied to sensitive values by their bucket alone. Beside y they would be the original "
    f"again, and what is learnt from them is not what the release tells. {ELSEWHERE}"
)
_SEVERAL = (
    "A row of this release stands for several people, and not everybody has one: there are no rows in the order of y. "
    f"{ELSEWHERE}"
)
_UNTOLD = f"Which published row is whose, this method does not tell. {ELSEWHERE}"
_NO_CELLS = "Cells of this release are not where its people are, so nobody else can be put into them either."
_AT_ONCE = 1 << 22  # distances held in memory


def own_places(run: Run, people: int) -> Places:
    """(people,) the published row of each input row that shows its sensitive value; -1 where it is not published."""
    reading = read(run.release)
    if reading.buckets is not None:
        raise NotTold(_BUCKETS)
    if not reading.one_each:
        raise NotTold(_SEVERAL)
    own = Case.of(run).own
    if run.order is not None:
        own = np.empty(len(run.rows), dtype=np.int64)
        own[run.order] = np.arange(len(run.rows))
    if own is None:
        raise NotTold(_UNTOLD)
    places = np.full(people, -1, dtype=np.int64)
    places[run.rows] = own
    return places


def known_rows(fitted: pa.Table, given: pa.Table, cells: NDArray[np.int64]) -> tuple[Places, int]:
    """For each row of one table the row of another that is alike, -1 where there is none.

    Rows that are alike may have different ``cells``, (n_fitted,): how many rows that is true of is told, too.

    >>> known_rows(pa.table({"age": [31, 31, 52]}), pa.table({"age": [52, 40, 31]}), np.array([7, 8, 9]))
    (array([ 2, -1,  0]), 1)
    """
    names = [name for name in fitted.column_names if name in given.column_names]
    keys, count = combine([_together(fitted.column(name), given.column(name)) for name in names])
    old, new = keys[: fitted.num_rows], keys[fitted.num_rows :]
    first = first_rows(old, count) if len(old) else np.full(count, -1)
    there = np.zeros(count, dtype=bool)
    there[old] = True
    differ = np.zeros(count, dtype=bool)
    differ[old[cells != cells[first[old]]]] = True
    return np.where(there[new], first[new], -1).astype(np.int64), int(differ[new].sum())


def nearest_places(run: Run, given: pa.Table) -> Places:
    """(n_rows,) a published row with the cells nearest to each row, by the release alone: those that cover it if any.

    Of a number, day or rank beyond a cell its distance on the column's scale counts, of anything else 1. Of equally
    near cells the narrowest are taken.
    """
    reading = read(run.release)
    if not reading.covers:
        raise NotTold(_NO_CELLS)
    original = Case.of(run).original
    boxes = reading.rows_alike(()).representatives
    parts = []
    for name in reading.main.names("quasi-identifier"):
        new = Table.from_arrow(given.select([name]), _alone(original, name))[name]
        parts.append((*_gaps(reading, name, original, new.domain.labels), new.codes, reading.column(name).codes[boxes]))
    found = np.empty(given.num_rows, dtype=np.int64)
    step = max(1, _AT_ONCE // len(boxes))
    for start in range(0, given.num_rows, step):
        rows = slice(start, start + step)
        far = sum(gaps[codes[rows]][:, cells] for gaps, _, codes, cells in parts)
        wide = sum(np.log(sizes)[cells] for _, sizes, _, cells in parts)
        tied = far <= np.asarray(far).min(axis=1, keepdims=True) + 1e-12
        found[rows] = boxes[np.where(tied, wide, np.inf).argmin(axis=1)]
    return found


def _together(first: pa.ChunkedArray, second: pa.ChunkedArray) -> Written:
    """Two columns as one; as texts where their types differ."""
    plain = [one.cast(one.type.value_type) if pa.types.is_dictionary(one.type) else one for one in (first, second)]
    if plain[0].type != plain[1].type:
        plain = [pa.chunked_array([pa.array(_texts(one), pa.string())]) for one in plain]
    return written(pa.chunked_array([*plain[0].chunks, *plain[1].chunks], plain[0].type), nan_is_missing=True)


def _texts(column: pa.ChunkedArray) -> list[str]:
    cells = written(column, nan_is_missing=True)
    return [cells.labels[code] for code in cells.codes]


def _alone(original: Table, name: str) -> Schema:
    """What is known of one column, for values it did not have."""
    kind, settings = original[name].domain.kind, forgotten(original[name].settings)
    if kind != "ordinal":
        settings = replace(settings, kind=kind)
    return Schema(quasi_identifiers=name, columns={name: settings}, missing="category")


def _gaps(
    reading: Reading, name: str, original: Table, labels: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n_labels, n_cells) how far each value lies from each distinct cell of a column, and how much each covers."""
    values = leaf_values(original[name])
    if values.hierarchy is None:
        values = _with(values, labels)
    place = np.array([values.position[label] for label in labels])
    scale = values.scale / ((np.ptp(values.scale[: values.size - values.has_missing]) if values.size > 1 else 0) or 1.0)
    ordered = values.hierarchy is None and values.kind != "categorical"
    meanings = values.read_all(reading.column(name).labels, reading.main.form(name))
    gaps = np.ones((len(labels), len(meanings)))
    for number, cell in enumerate(meanings):
        inside = (cell.low <= place) & (place <= cell.high)
        if cell.members is not None:
            inside &= np.isin(place, cell.members)
        elif ordered and cell.low <= cell.high:
            gaps[:, number] = np.minimum(np.maximum(scale[cell.low] - scale[place], scale[place] - scale[cell.high]), 1)
        gaps[inside, number] = 0.0
    if ordered and values.has_missing:  # missing is no end of a scale
        missing = place == values.size - 1
        gaps[missing] = np.where(gaps[missing] > 0, 1.0, 0.0)
    return gaps, np.array([max(cell.size, 1) for cell in meanings], dtype=np.float64)


def _with(values: Values, more: Sequence[str]) -> Values:
    """The same values and others, in order; those of a rank nobody stated lie behind the others."""
    missing = values.has_missing or "" in more
    own = values.labels[: values.size - values.has_missing]
    every = [label for label in dict.fromkeys((*own, *more)) if label]
    if values.kind in ("numeric", "date"):
        numbers = Values(tuple(every), values.kind, False).numbers
        every = [every[place] for place in np.argsort(numbers, kind="stable")]
    return Values((*every, *([""] if missing else [])), values.kind, missing)
