"""What the Streamliner experiment measures on one table: the time to form groups, DM and query error."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from undercover.errors import UndercoverError
from undercover.methods.streamliner.method import Streamliner
from undercover.model.groups import Groups
from undercover.model.protocols import Progress
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.studies.experiments.bench import TableBench, part
from undercover.utility.queries.counts import query_errors

CLASSES = "class dealing"
ALGORITHMS = ("rda", "gda", "wrap", "guided", CLASSES)
CONTROL = "random scatter"
OPTIMUM = "optimum"


@dataclass(frozen=True, eq=False, kw_only=True)
class Bench(TableBench):
    """A table and what is measured on it."""

    weights: Mapping[str, int]  # of the quasi-identifiers in the weighted rank of `gda`
    strata: tuple[str, ...]  # of `guided`
    predicates: Mapping[str, tuple[str, ...]]  # label and columns of each set that queries ask about
    used: int  # quasi-identifiers (the first ones) that are used where their number is not what varies
    _kept: dict[tuple[int, int], Table] = field(default_factory=dict)

    def prepare(self, progress: Progress) -> None:
        """Encode the table and compile what will be timed."""
        super().prepare(progress)
        progress("compiling", 0.0)
        for algorithm in ALGORITHMS:
            try:
                self.groups(self.table, algorithm, 2, seed=0)
            except UndercoverError:
                continue  # the cells of this algorithm will say the same

    def time(self, algorithm: str, l: int, copies: int, quasi_identifiers: int, seed: int) -> dict[str, float]:  # noqa: E741
        """Seconds to form the groups, without reading, recoding and writing.

        ``seconds`` is processor time, which other programs on the machine disturb less; ``elapsed`` is that of a clock.
        """
        table = self._part(copies, quasi_identifiers)
        order = np.argsort(Randomness(seed).words("order", table.n_rows if algorithm == CONTROL else 0))
        elapsed, seconds = time.perf_counter(), time.process_time()
        if algorithm == CONTROL:
            scatter(order)
        else:
            self.groups(table, algorithm, l, seed)
        return {"seconds": time.process_time() - seconds, "elapsed": time.perf_counter() - elapsed}

    def discernibility(self, algorithm: str, l: int, seed: int) -> dict[str, float]:  # noqa: E741
        """DM, its ratio to the optimum, and the share of groups that have no row more than they need."""
        best = optimal_discernibility(self.table.n_rows, l)
        if algorithm == OPTIMUM:
            return {"DM": best}
        sizes = self.groups(self.table, algorithm, l, seed).sizes
        found = int(np.dot(sizes, sizes))
        return {"DM": found, "DM to optimum": found / best, "groups of l": float((sizes == l).mean())}

    def query_error(self, algorithm: str, l: int, seed: int) -> dict[str, float]:  # noqa: E741
        """The mean error of COUNT queries, for each set of predicates."""
        table = self._part(1, self.used)
        groups = self.groups(table, algorithm, l, seed)
        found = query_errors(
            table,
            groups,
            quasi_identifiers=list(self.predicates.values()),
            queries=self.queries,
            randomness=Randomness(seed),
        )
        # What lies beyond the ninth digit is rounding in sums of shares.
        return {label: round(found[names].mean, 9) for label, names in self.predicates.items()}

    def groups(self, table: Table, algorithm: str, l: int, seed: int) -> Groups:  # noqa: E741
        """The part of a method that the paper times: from the encoded table to the group of every row."""
        return self.method(table, algorithm, l).groups(table, Randomness(seed))

    def method(self, table: Table, algorithm: str, l: int) -> Streamliner:  # noqa: E741
        """The method as it is measured: GDA with the given weights, `guided` with strata and one column at a time."""
        names = table.schema.quasi_identifiers
        if algorithm == "gda":
            weights = {name: self.weights[name] for name in names}
            return Streamliner(l=l, algorithm="gda", weights=weights, allow_unsafe=True)
        if algorithm == "guided":
            strata = tuple(name for name in self.strata if name in names)
            return Streamliner(l=l, algorithm="guided", strata=strata, weights=one_at_a_time(table, strata))
        if algorithm == CLASSES:
            return Streamliner(l=l, algorithm="classes")
        return Streamliner(l=l, algorithm="wrap" if algorithm == "wrap" else "rda")

    def _part(self, copies: int, quasi_identifiers: int) -> Table:
        """The table several times over with its first quasi-identifiers; the last one made is kept."""
        key = (copies, quasi_identifiers)
        if key not in self._kept:
            self._kept.clear()
            self._kept[key] = part(self.table, self.table.schema.quasi_identifiers[:quasi_identifiers], copies)
        return self._kept[key]


def one_at_a_time(table: Table, strata: Sequence[str]) -> dict[str, int]:
    """Weights that tell rows apart by one column after the other: categories from the last on, then numbers.

    What the strata tell apart weighs nothing.
    """
    weights = dict.fromkeys(strata, 0)
    left = [name for name in table.schema.quasi_identifiers if name not in weights]
    weight = 1
    for name in sorted(left, key=lambda name: table[name].domain.kind != "numeric"):
        weights[name] = weight
        weight *= table[name].domain.size + 1
    return weights


def scatter(order: NDArray[np.intp], times: int = 10) -> NDArray[np.int64]:
    """Write as many numbers to random places, several times over: work that is linear beyond doubt.

    What it takes longer than in proportion is what the caches of the machine cost.
    """
    numbers = np.arange(len(order))
    places = np.empty(len(order), dtype=np.int64)
    for _ in range(times):
        places[order] = numbers
    return places


@lru_cache
def optimal_discernibility(n_rows: int, l: int) -> int:  # noqa: E741
    """The least sum of squared group sizes where every group has at least l rows: as many groups as fit, even sizes."""
    groups = max(n_rows // l, 1)
    size, larger = divmod(n_rows, groups)
    return (groups - larger) * size**2 + larger * (size + 1) ** 2
