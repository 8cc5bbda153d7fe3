"""What is said of a full-domain search: candidates as a table, levels and the search in words, bare columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from undercover.errors import listed
from undercover.model.figures import cost, number
from undercover.model.release import Release
from undercover.model.run import Run
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


def with_levels(done: str, release: Release) -> str:
    """What was done, with the levels that were taken and the columns that were left out.

    >>> with_levels("Generalised.", Release("incognito", {"used": {"levels": {"age": "2 of 4"}}}, (), True))
    'Generalised. Levels, 0 being the value itself: age 2 of 4.'
    """
    used = release.parameters.get("used") or {}
    if used.get("levels"):
        levels = ", ".join(f"{column} {level}" for column, level in used["levels"].items())
        done += f" Levels, 0 being the value itself: {levels}."
    if used.get("dropped"):
        done += f" Left out, because others publish them, too: {', '.join(used['dropped'])}."
    return done


def searched(run: Run) -> list[tuple[str, str]]:
    """The search as a stage of the report; none where the passing nodes were not all looked for."""
    found = run.diagnostics
    if "passing" not in found:
        return []
    text = (
        f"{number(found['nodes'])} combinations of levels were in question; {number(found['passing'])} of them "
        f"keep the promise, {number(len(found['minimal']))} of these so that no column can go down a level. "
        f"The one taken has a loss of {cost(found['loss'])}."
    )
    return [("Searched", text)]
