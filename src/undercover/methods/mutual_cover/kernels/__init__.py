"""The compiled steps, and what they take."""

from __future__ import annotations

from typing import Any, NamedTuple


class Tables(NamedTuple):
    """Random output tables one behind the other: table a * n_groups + g is that of attribute a in group g.

    The parts are those of :class:`undercover.methods.mutual_cover.tables.OutputTables`.
    """

    row_starts: Any
    originals: Any
    counts: Any
    column_starts: Any
    outputs: Any
    cell_starts: Any
    probabilities: Any


class People(NamedTuple):
    """The people of every group and what they have."""

    offsets: Any  # (n_groups + 1,)
    order: Any  # (n_rows,) rows group by group
    codes: Any  # (n_rows, d) original codes
    as_output: Any  # output code of every original code, attribute after attribute
    output_starts: Any  # (d + 1,) where each attribute begins in it
