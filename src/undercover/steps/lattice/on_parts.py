"""Full-domain recoding on parts of a table: the levels are found once, from a cube of the whole, and parts are recoded.

Cells that are written alike may hold too few rows in a part alone, so no part is cut inside a node of the levels that
were chosen: a class lies in one part, and is suppressed there or published whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.errors import UnreachableError
from undercover.model.form import Generalized
from undercover.model.groups import number
from undercover.model.protocols import Engine, Guarantee, OnParts, Progress, no_progress
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.lattice.conditions import Condition
from undercover.steps.lattice.cubes import FullDomain, recode
from undercover.steps.lattice.lattice import Levels
from undercover.steps.recoding import ordered_table


@dataclass(frozen=True, eq=False)
class FullDomainRecoding:
    """A method of which everything is settled: every column on its level, without the classes that fail."""

    name: ClassVar[str] = "full-domain"
    algorithm_safe: ClassVar[bool] = True

    names: tuple[str, ...]
    levels: Levels
    failing: NDArray[np.int64]  # (n_columns, n_failing) nodes of every class that is left out

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """What is promised was decided with the levels."""
        return ()

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Recode a part, and publish its rows class by class."""
        domain, failing = FullDomain(table, self.names), None
        if self.failing.shape[1]:
            nodes = domain.class_cube(self.levels, {"counts"}).coordinates
            assert nodes is not None
            failing = _among(nodes, self.failing, domain.sizes(self.levels))
            if failing.all():
                raise UnreachableError("Nothing is left of a part.")
        recoded = recode(domain, self.levels, failing)
        published, order = ordered_table(
            table, recoded.groups, recoded.cells, randomness, threads=engine.threads, among=recoded.rows
        )
        return Draft(
            form=Generalized(one_level=True),
            tables=(published,),
            groups=recoded.groups,
            order=order,
            kept=recoded.rows,
            suppressed=table.n_rows - len(recoded.groups.labels),
        )


def recoded_parts(domain: FullDomain, levels: Levels, condition: Condition | None = None) -> tuple[OnParts, int]:
    """How the levels are put on parts, without what fails the condition; and how many classes are published."""
    cube = domain.class_cube(levels, {"counts"} if condition is None else condition.payloads | {"counts"})
    assert cube.coordinates is not None
    failing = np.zeros(cube.coordinates.shape[1], dtype=bool) if condition is None else condition.failing(cube)
    recoding = FullDomainRecoding(domain.names, levels, cube.coordinates[:, failing])
    nodes = {column.name: column.levels[level].node_of for column, level in zip(domain.columns, levels, strict=True)}
    return OnParts(recoding, nodes), int((~failing).sum())


def _among(nodes: NDArray[np.int64], listed: NDArray[np.int64], sizes: Sequence[int]) -> NDArray[np.bool_]:
    """(n_classes,) whether the nodes of a class (n_columns, n_classes) are listed."""
    n_classes = nodes.shape[1]
    key = np.zeros(n_classes + listed.shape[1], dtype=np.int64)
    for size, own, known in zip(sizes, nodes, listed, strict=True):
        key = number(key)[0] * size + np.concatenate([own, known])
    return np.isin(key[:n_classes], key[n_classes:])
