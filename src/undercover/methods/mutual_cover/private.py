"""What a run of mutual cover keeps for its holder, as frames: output tables, their certificates, whose row is whose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from undercover.methods.mutual_cover.tables import ORIGINS, OutputTables
from undercover.model.table import Table


def tables_frame(table: Table, found: OutputTables) -> pa.Table:
    """All output tables, a row per probability above 0, for a privacy officer to read. Private."""
    parts = []
    for a, (name, distance) in enumerate(zip(found.attributes, found.distances, strict=True)):
        tables = slice(a * found.n_groups, (a + 1) * found.n_groups)
        widths = np.diff(found.column_starts)[tables]
        lines = np.diff(found.row_starts)[tables]
        per_line = np.repeat(widths, lines)  # cells of every line
        first_line, last_line = found.row_starts[tables.start], found.row_starts[tables.stop]
        first_cell, last_cell = found.cell_starts[tables.start], found.cell_starts[tables.stop]
        line_starts = np.concatenate([[0], np.cumsum(per_line)])
        column = np.arange(last_cell - first_cell) - np.repeat(line_starts[:-1], per_line)
        column += np.repeat(np.repeat(found.column_starts[:-1][tables], lines), per_line)
        probability = found.probabilities[first_cell:last_cell]
        keep = probability > 0
        group = np.repeat(np.repeat(np.arange(found.n_groups, dtype=np.int32), lines), per_line)[keep]
        original = np.repeat(found.originals[first_line:last_line], per_line)[keep]
        records = np.repeat(found.counts[first_line:last_line], per_line)[keep]
        parts.append(
            pa.table(
                {
                    "group": group,
                    "attribute": pa.DictionaryArray.from_arrays(np.zeros(len(group), np.int8), pa.array([name])),
                    "original": _as_text(table[name].domain.labels, original),
                    "output": _as_text(distance.outputs.labels, found.outputs[column[keep]]),
                    "probability": probability[keep],
                    "records": records,
                }
            )
        )
    return pa.concat_tables(parts).unify_dictionaries()


def certificates_frame(found: OutputTables) -> pa.Table:
    """What every output table costs, and the least any table could cost (its dual bound). Private."""
    groups = np.tile(np.arange(found.n_groups, dtype=np.int32), len(found.attributes))
    attributes = np.repeat(np.arange(len(found.attributes), dtype=np.int8), found.n_groups)
    return pa.table(
        {
            "group": groups,
            "attribute": pa.DictionaryArray.from_arrays(attributes, pa.array(found.attributes)),
            "objective": found.objectives,
            "bound": found.bounds,
            "origin": pa.DictionaryArray.from_arrays(found.origins.astype(np.int8), pa.array(ORIGINS)),
        }
    )


def _as_text(labels: tuple[str, ...], codes: Any) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(labels, pa.string()))


def positions_frame(table: Table, position: Any) -> pa.Table:
    """Where each input row stands in the published table. Private."""
    return pa.table({"row": table.rows, "published": position})
