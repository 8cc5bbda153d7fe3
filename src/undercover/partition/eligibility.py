"""l-eligibility: whether any partition of the table can be l-diverse at all (Machanavajjhala et al. 2006)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from undercover.errors import UnreachableError
from undercover.model.table import Table


def require_eligible(table: Table, sensitive: str, counts: NDArray[np.int64], l: float) -> None:  # noqa: E741
    """Raise where some value is more than 1/l of the rows: then no partition is l-diverse."""
    top = int(counts.argmax())
    if counts[top] * l > table.n_rows:
        best = table.n_rows // int(counts[top])
        raise UnreachableError(
            f"l={l:g} cannot be reached: {table[sensitive].domain.labels[top]!r} is {counts[top] / table.n_rows:.1%} "
            f"of the rows ({counts[top]:,} of {table.n_rows:,}); the largest feasible l is {best}.",
            best={"l": best},
        )
