"""What is said of a full-domain search: the candidates as a table, the levels in words, columns without a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from undercover.errors import listed
from undercover.steps.lattice.choice import Chooser
from undercover.steps.lattice.conditions import CellCondition
from undercover.steps.lattice.cubes import FullDomain
from undercover.steps.lattice.lattice import Levels, NodeSet, minimal


def candidate_frame(domain: FullDomain, passing: NodeSet) -> pa.Table:
    """A row per passing node: its levels, whether it is minimal, its average level and its loss without suppression."""
    nodes = np.argwhere(passing)
    least = minimal(passing)[tuple(nodes.T)]
    bounds = Chooser(domain, CellCondition(domain.table, 1)).bounds[tuple(nodes.T)]
    columns: dict[str, Any] = {name: nodes[:, axis] for axis, name in enumerate(domain.names)}
    columns |= {"minimal": least, "average level": nodes.mean(axis=1), "loss": bounds}
    return pa.table(columns)


def level_facts(domain: FullDomain, levels: Levels) -> dict[str, str]:
    """The level of every column, as ``2 of 4``: 0 is the value itself, the last one says nothing."""
    return {column.name: f"{level} of {column.height}" for column, level in zip(domain.columns, levels, strict=True)}


def two_level_warning(domain: FullDomain) -> tuple[str, ...]:
    """That columns without a hierarchy are published as they are or not at all."""
    bare = [column.name for column in domain.columns if not column.has_hierarchy]
    if not bare:
        return ()
    many = len(bare) > 1
    return (
        f"{listed(bare)} {'have' if many else 'has'} no hierarchy: published as {'they are' if many else 'it is'} or "
        "as `*`, nothing in between. Give one under [columns.NAME] of the spec.",
    )
