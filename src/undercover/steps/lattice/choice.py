"""Which of the passing nodes to publish: the best by loss, discernibility, average level or the user's weights.

Loss: with L_j the mean loss of column j over all rows, a suppressed row counting 1, the geometric form
(prod (1 + L_j))^(1/d) - 1 that ARX uses. Discernibility: Bayardo & Agrawal 2005. Average level: Cheong, Wu & Wong 2012,
Section 6.2. Ties go to the smaller loss, then to the lexicographically smaller node.

Without suppression all of them only grow with generalisation, so the best node is a minimal one. With suppression a
more general node may be better, because it suppresses less; but no node costs less than it would if nothing were
suppressed, and the search goes through nodes by that bound until none can be better than what it has. Where which nodes
pass is not monotone either, they are checked in that order, too, and most are never looked at.

Behind it what is said of the search: candidates as a table, levels and the search in words, bare columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.errors import ParameterError, listed
from undercover.model.figures import cost as written_cost
from undercover.model.figures import number
from undercover.model.protocols import Progress, no_progress
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.steps.lattice.conditions import CellCondition, Condition
from undercover.steps.lattice.cubes import CellCube, FullDomain
from undercover.steps.lattice.lattice import Levels, NodeSet, every_node, listed_nodes, minimal, passing_nodes

Choice = Literal["loss", "dm", "level", "weights"]

MOST_NODES = 20_000_000

_DIGITS = 12  # of a cost; what lies beyond is rounding
_OFTEN = 100  # nodes from one word of progress to the next


@dataclass(frozen=True)
class Chosen:
    """The node to publish and what it costs."""

    levels: Levels
    cost: float
    loss: float
    suppressed: int
    evaluated: int  # nodes whose cost was worked out from the rows


@dataclass(frozen=True, eq=False)
class Chooser:
    """Costs of nodes: ``by`` says what is made small, ``condition`` who is suppressed."""

    domain: FullDomain
    condition: Condition
    by: Choice = "loss"
    weights: Mapping[str, float] | None = None

    def best(self, passing: NodeSet, *, suppressing: bool) -> Chosen:
        """The best of the passing nodes, of which there is at least one."""
        among = passing if suppressing else minimal(passing)
        if self.by == "dm":
            return self._least_discernible(among)
        nodes = listed_nodes(among)
        bounds = self.bounds
        best: tuple[float, float, Levels] | None = None
        suppressed, evaluated = 0, 0
        for bound, node in sorted((round(float(bounds[node]), _DIGITS), node) for node in nodes):
            if best is not None and bound > best[0]:
                break
            cost, loss, rows = self._cost(node) if suppressing else (bound, round(self._loss(node), _DIGITS), 0)
            evaluated += suppressing
            if best is None or (cost, loss, node) < best:
                best, suppressed = (cost, loss, node), rows
        assert best is not None
        return Chosen(best[2], best[0], best[1], suppressed, evaluated)

    def best_within(self, within: NodeSet, *, progress: Progress = no_progress) -> Chosen | None:
        """The best of the nodes ``within`` that pass the condition; not for ``dm``.

        Nodes are checked by what they cost at least, until that is more than the best of them costs.
        """
        nodes, bounds = np.argwhere(within), np.round(self.bounds[within], _DIGITS)
        best: tuple[float, float, Levels] | None = None
        suppressed, looked = 0, 0
        for place in np.lexsort((*nodes.T[::-1], bounds)):
            if best is not None and bounds[place] > best[0]:
                break
            node = tuple(int(level) for level in nodes[place])
            cube = self.domain.cube(node, self.condition.payloads | {"counts"})
            looked += 1
            if looked % _OFTEN == 0:
                progress("searching the lattice", looked / len(nodes))
            if not self.condition.passes(cube):
                continue
            cost, loss, rows = self.cost_of(cube, self.condition.failing(cube))
            if best is None or (cost, loss, node) < best:
                best, suppressed = (cost, loss, node), rows
        return None if best is None else Chosen(best[2], best[0], best[1], suppressed, looked)

    def ranked(self, passing: NodeSet) -> Iterator[Chosen]:
        """The passing nodes from best to worst, nothing being suppressed."""
        costs = []
        for node in listed_nodes(passing):
            if self.by == "dm":
                counts = self.domain.cube(node, {"counts"}).counts
                cost = float(np.dot(counts, counts))
            else:
                cost = round(float(self.bounds[node]), _DIGITS)
            costs.append((cost, round(self._loss(node), _DIGITS), node))
        for cost, loss, node in sorted(costs):
            yield Chosen(node, cost, loss, 0, 0)

    @cached_property
    def means(self) -> list[NDArray[np.float64]]:
        """Per column, the mean loss on each level if nothing is suppressed."""
        found = []
        for column, codes in zip(self.domain.columns, self.domain.codes, strict=True):
            size, weights = len(column.levels[0].node_of), self.domain.counts
            counts = count(codes, size) if weights is None else np.bincount(codes, weights, size)
            found.append(
                np.array([np.dot(level.loss[level.node_of], counts) for level in column.levels]) / counts.sum()
            )
        return found

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """What every node costs if nothing is suppressed: no node costs less."""
        shape = self.domain.lattice.shape
        total = np.zeros(shape)
        for axis, means in enumerate(self.means):
            along = [1] * len(shape)
            along[axis] = -1
            if self.by == "level":
                step = np.arange(len(means)) / len(shape)
            elif self.by == "weights":
                step = means * self._weights[axis]
            else:
                step = np.log1p(means) / len(shape)
            total += step.reshape(along)
        return np.expm1(total) if self.by == "loss" else total

    def cost_of(self, cube: CellCube, failing: NDArray[np.bool_]) -> tuple[float, float, int]:
        """(cost, loss, suppressed rows) of a node; ``cube`` has counts."""
        n_rows = self.domain.n_rows
        published = np.where(failing, 0, cube.counts)
        suppressed = n_rows - int(published.sum())
        means = (cube.mean_losses(published) + suppressed) / n_rows
        loss = round(float(np.expm1(np.log1p(means).mean())), _DIGITS)
        if self.by == "dm":
            return float(np.dot(published, published) + suppressed * n_rows), loss, suppressed
        if self.by == "level":
            return round(sum(cube.levels) / len(cube.levels), _DIGITS), loss, suppressed
        if self.by == "weights":
            return round(float(np.dot(means, self._weights)), _DIGITS), loss, suppressed
        return loss, loss, suppressed

    def _cost(self, node: Levels) -> tuple[float, float, int]:
        cube = self.domain.cube(node, self.condition.payloads | {"counts"})
        return self.cost_of(cube, self.condition.failing(cube))

    def _loss(self, node: Levels) -> float:
        means = [column[level] for column, level in zip(self.means, node, strict=True)]
        return float(np.expm1(np.log1p(means).mean()))

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        schema = self.domain.table.schema
        given = self.weights or {}
        weights = np.array([float(given.get(name, schema.column(name).weight)) for name in self.domain.names])
        shares: NDArray[np.float64] = weights / weights.sum()
        return shares

    def _least_discernible(self, passing: NodeSet) -> Chosen:
        """From special to general nodes, leaving out those above one whose classes alone already cost more."""
        best: tuple[float, float, Levels] | None = None
        suppressed, evaluated = 0, 0
        least: dict[Levels, float] = {}  # of a node and of everything above it
        for node in sorted(listed_nodes(passing), key=lambda node: (sum(node), node)):
            below = [(*node[:axis], level - 1, *node[axis + 1 :]) for axis, level in enumerate(node) if level]
            bound = max((least.get(lower, 0.0) for lower in below), default=0.0)
            if best is None or bound <= best[0]:
                cube = self.domain.cube(node, self.condition.payloads | {"counts"})
                cost, loss, rows = self.cost_of(cube, self.condition.failing(cube))
                evaluated += 1
                bound = max(bound, float(np.dot(cube.counts, cube.counts)))
                if best is None or (cost, loss, node) < best:
                    best, suppressed = (cost, loss, node), rows
            least[node] = bound
        assert best is not None
        return Chosen(best[2], best[0], best[1], suppressed, evaluated)


def search(domain: FullDomain, condition: Condition, *, progress: Progress = no_progress) -> NodeSet:
    """All nodes that pass a condition, monotone or not."""
    if domain.lattice.size > MOST_NODES:
        raise ParameterError(
            f"The hierarchies of {listed(domain.names)} give {domain.lattice.size:,} combinations of levels, more than "
            f"{MOST_NODES:,} that can be searched. Leave out levels or columns."
        )
    from undercover.compiled.jit import needs_compiling
    from undercover.steps.lattice.kernels import cell_keys

    if needs_compiling(cell_keys):
        progress("compiling the kernels of the search (once on this machine, some seconds)", 0.0)
    if condition.monotone or not isinstance(condition, CellCondition):
        return passing_nodes(
            domain.lattice, lambda node: domain.cube(node, condition.payloads), condition.passes, progress=progress
        )
    return every_node(
        domain.lattice,
        lambda node: domain.cube(node, condition.payloads),
        condition.passes,
        search(domain, condition.necessary, progress=progress),
        progress=progress,
    )


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
    """What was done, with the levels that were taken and the columns that were left out."""
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
        f"The one taken has a loss of detail of {written_cost(found['loss'])} (geometric mean)."
    )
    return [("Searched", text)]
