"""What the experiment on non-centralized l-diversity measures: time, candidates and the least average level."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from undercover.errors import UnreachableError
from undercover.guarantees.joint.tables import released_table
from undercover.methods.noncentralized.method import NonCentralized
from undercover.methods.noncentralized.neighbours import joint_condition, neighbours
from undercover.model.hierarchy import Hierarchy
from undercover.model.protocols import Progress
from undercover.model.published import Published
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.lattice.choice import search
from undercover.steps.lattice.cubes import FullDomain
from undercover.steps.lattice.lattice import listed_nodes, minimal
from undercover.studies.experiments.bench import TableBench, part
from undercover.verbs.publish import publish_table


def four_levels(labels: Sequence[str]) -> Hierarchy:
    """The paper's hierarchy over values in order: as they are, four classes, two, one.

    >>> four_levels(["a", "b", "c", "d", "e"]).rows[2]
    ('c', 'quarter 2', 'half 1', '*')
    """
    n = len(labels)
    return Hierarchy(
        (label, f"quarter {4 * place // n + 1}", f"half {2 * place // n + 1}", "*")
        for place, label in enumerate(labels)
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Bench(TableBench):
    """A table, and what others have published of it."""

    _published: dict[tuple[int, int], tuple[Published, ...]] = field(default_factory=dict)

    def prepare(self, progress: Progress) -> None:
        """Encode the table and compile what will be timed."""
        super().prepare(progress)
        small = part(self.table, self.table.schema.quasi_identifiers[:1])
        progress("compiling", 0.0)
        self._search(small, (), 2)

    def previous(self, l_pre: int, columns: int) -> tuple[Published, ...]:
        """The table others have published: the last columns, on the least levels that are distinct l_pre-diverse."""
        if not columns:
            return ()
        key = (l_pre, columns)
        if key not in self._published:
            table = part(self.table, self.table.schema.quasi_identifiers[-columns:])
            run = publish_table(table, NonCentralized(l=l_pre), randomness=Randomness(0))
            self._published[key] = (released_table(run.release, "previous"),)
        return self._published[key]

    def measure(self, l: int, columns: int, l_pre: int, columns_pre: int) -> dict[str, float]:  # noqa: E741
        """Seconds to find all candidates, how many there are, and the least average level among them."""
        table = part(self.table, self.table.schema.quasi_identifiers[:columns])
        others = self.previous(l_pre, columns_pre)
        elapsed, seconds = time.perf_counter(), time.process_time()
        nodes, least = self._search(table, others, l)
        return {
            "seconds": time.process_time() - seconds,
            "elapsed": time.perf_counter() - elapsed,
            "candidates": nodes,
            "least average level": least,
        }

    @staticmethod
    def _search(table: Table, others: tuple[Published, ...], l: int) -> tuple[int, float]:  # noqa: E741
        (sensitive,) = table.schema.sensitive
        beside = neighbours(table, sensitive, others, l)
        domain = FullDomain(table, table.schema.quasi_identifiers, (sensitive,))
        passing = search(domain, joint_condition(domain, sensitive, beside, l, "discard"))
        if not passing.any():
            raise UnreachableError(f"l={l} cannot be reached with {len(domain.names)} quasi-identifiers.")
        return int(passing.sum()), min(sum(node) / len(node) for node in listed_nodes(minimal(passing)))
