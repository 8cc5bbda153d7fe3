"""Rows of a release in an order of the holder's own: working material, and as private as the table it was made from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.model.cells import EVERYTHING
from undercover.model.formats.writing import as_written
from undercover.model.frames.cells import CellsAs, opened
from undercover.model.release import Release, to_frame

FEATURES = ("quasi-identifier", "insensitive")
"""Roles of the columns somebody learns from; what is to be learnt is held beside them."""
PRIVATE = {"undercover": "private: rows in the order of the input. The release is `run_.release`, saved by save()."}
"""What is written on such rows where a frame can carry it."""


def rows_of(release: Release, places: NDArray[np.int64], cells: CellsAs, frame: str) -> Any:
    """The features of the published rows ``places``, as some kind of frame; at -1 there is none, and all is ``*``.

    ``*`` stands where cells are texts of generalised values; whatever else is missing there.
    """
    table = release.tables[0]
    columns = [column for column in table.columns if column.role in FEATURES]
    rows = pa.array(places, mask=places < 0)
    texts = [name for name, given in release.types.items() if given.text]
    shown = as_written(table.data, release.writing, texts)
    data = {column.name: shown.column(column.name).take(rows) for column in columns}
    if (places < 0).any():
        unsaid = pa.array(places < 0)
        for column in columns:
            if column.form != "value":
                cell = data[column.name].cast(pa.string())
                data[column.name] = pc.if_else(unsaid, EVERYTHING, cell)
    found = opened(pa.table(data), [column.form for column in columns], cells, texts)
    own = frame == release.frame
    types = {
        name: replace(given, index=False, native=given.native if own else None) for name, given in release.types.items()
    }
    made = to_frame(found, frame, types)
    if frame == "pyarrow":
        return made.replace_schema_metadata(PRIVATE)
    if frame == "pandas":
        made.attrs.update(PRIVATE)
    return made
