"""What the tables of mutual cover come to: how much a draw changed, and warnings where that is next to nothing.

delta bounds a share within a group, so in a large group values that 1/delta people have need not change: Adult with
delta = 1/5 and l = 10 has two groups, 99.9 % of its rows come through the draw, and delta-probability holds of what is
nearly the original. Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", do not say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from undercover.errors import UnreachableError
from undercover.methods.mutual_cover.draw import Sampled
from undercover.methods.mutual_cover.tables import ORIGINS, USUAL_GAP, OutputTables
from undercover.model.figures import baseline, risk, rows
from undercover.model.groups import Groups

MANY_THROUGH = 0.5
"""Share of the rows that come through above which the holder is warned."""

FEW_CELLS = 0.1
"""Share of the quasi-identifier cells that change below which the holder is warned."""


def require_change(tables: OutputTables) -> None:
    """Raise UnreachableError where nobody has another value to release: the original would be published."""
    values, columns = np.diff(tables.row_starts), np.diff(tables.column_starts)
    if not ((tables.origins == ORIGINS.index("kept")) | ((values == 1) & (columns == 1))).all():
        return
    several = values > 1
    if several.any():
        fewest = int(np.minimum.reduceat(tables.counts, tables.row_starts[:-1])[several].min())
        why = (
            f"every value of a quasi-identifier belongs to at least {rows(fewest)} of its group, and "
            f"{math.ceil(1 / tables.delta)} would do"
        )
        also = f" As it is, delta would have to be below {Fraction(1, fewest)}."
    else:
        why, also = "within a group all rows agree in every quasi-identifier", ""
    raise UnreachableError(
        f"delta={tables.delta} changes nothing here: {why}, so the quasi-identifiers would be published as they are. "
        f"Lower l (or k) so that groups become smaller, or take another variant, which moves values in any case.{also}"
    )


def effect(groups: Groups, tables: OutputTables, drawn: Sampled) -> dict[str, Any]:
    """Diagnostics: of rows, cells, groups and tables how many the draw touches."""
    n_rows = len(groups.labels)
    return {
        "share_of_rows_that_came_through": drawn.came_through / n_rows,
        "share_of_cells_changed": drawn.cells_changed / drawn.released.size,
        "largest_group": int(groups.sizes.max()),
        "share_of_tables_without_change": float((tables.origins == ORIGINS.index("kept")).mean()),
    }


def warnings(found: dict[str, Any], unchanged: str) -> Iterator[str]:
    """What the holder must know before anything leaves the house; of the diagnostics of a run."""
    through, changed = found["share_of_rows_that_came_through"], found["share_of_cells_changed"]
    if through > MANY_THROUGH or changed < FEW_CELLS:
        after = "and were published so" if unchanged == "off" else "and were changed afterwards, in a value or a few"
        yield (
            f"delta={found['delta']:g} says little here: {risk(through)} of the rows came through the draw with every "
            f"value {after}; {baseline(changed)} of all quasi-identifier values differ from the original, and the "
            f"largest group has {rows(found['largest_group'])}. The promise holds "
            "of shares within groups, not of being found. Lower delta, lower l so that groups become smaller, or take "
            "another variant."
        )
    gap = found["largest_optimality_gap"]
    if gap is not None and gap > USUAL_GAP:
        yield (
            f"The dearest output table moves values by up to {risk(gap)} more than the best one would (certified): it "
            "was too large to be solved as a whole. The promise is not touched; smaller groups are solved exactly."
        )
