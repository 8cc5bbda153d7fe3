"""What the experiment on non-centralized l-diversity measures: time, candidates and the least average level."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from undercover.errors import UnreachableError
from undercover.guarantees.joint.tables import Published, released_table
from undercover.methods.noncentralized import NonCentralized
from undercover.methods.noncentralized.neighbours import joint_condition, neighbours
from undercover.model.hierarchy import Hierarchy
from undercover.model.protocols import Progress
from undercover.model.release import Release
from undercover.model.schema import Schema
from undercover.model.table import EncodedColumn, Table
from undercover.randomness import Randomness
from undercover.steps.lattice.choice import search
from undercover.steps.lattice.cubes import FullDomain, recode
from undercover.steps.lattice.lattice import listed_nodes, minimal
from undercover.steps.recoding import generalized_table


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


@dataclass(frozen=True, eq=False)
class Bench:
    """A table and what is measured on it.

    Parameters
    ----------
    load
        Makes the encoded table; called once.
    """

    load: Callable[[], Table]
    _kept: dict[str, Table] = field(default_factory=dict)
    _published: dict[tuple[int, int], tuple[Published, ...]] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The table, encoded on first use."""
        if "base" not in self._kept:
            self._kept["base"] = self.load()
        return self._kept["base"]

    def prepare(self, progress: Progress) -> None:
        """Encode the table and compile what will be timed."""
        progress("reading and encoding", 0.0)
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
            method = NonCentralized(l=l_pre)
            (sensitive,) = table.schema.sensitive
            domain = FullDomain(table, table.schema.quasi_identifiers, (sensitive,))
            rows = method.candidates(table).to_pylist()
            best = min(rows, key=lambda row: (round(row["average level"], 9), round(row["loss"], 9)))
            recoded = recode(domain, tuple(best[name] for name in domain.names))
            published = generalized_table(table, recoded.groups, recoded.cells, Randomness(0))
            release = Release(method.name, {"l": l_pre}, (published,), algorithm_safe=False)
            self._published[key] = (released_table(release, "previous"),)
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


def part(table: Table, names: tuple[str, ...]) -> Table:
    """A table with some of its quasi-identifiers.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [1, 2], "sex": [1, 1], "ill": [5, 6]})
    >>> table = Table.from_arrow(people, Schema(quasi_identifiers=["age", "sex"], sensitive="ill"))
    >>> list(part(table, ("sex",)).columns)
    ['sex', 'ill']
    """
    kept = (*names, *table.schema.sensitive)
    columns: dict[str, EncodedColumn] = {name: table[name] for name in kept}
    settings = {name: column for name, column in table.schema.columns.items() if name in kept}
    schema = Schema(
        quasi_identifiers=names, sensitive=table.schema.sensitive, columns=settings, missing=table.schema.missing
    )
    return Table(schema, columns, table.n_rows, table.rows, table.n_input, {})
