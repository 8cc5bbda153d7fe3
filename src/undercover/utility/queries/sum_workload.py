"""Random sums: predicates on some quasi-identifiers of a table, and what the numbers of the rows add up to.

Li, Wang & He, "Mutual Cover", Section 5: a category is asked for a random subset of its values, a number for being
above, below, equal to, at least, at most or unlike one of its values.

Deviations: the papers do not say how large a subset is; here its size is uniform from 1 to all values. Queries whose
true sum is 0 are drawn anew. Ordinal columns and dates are asked like numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.forms.coverage import Coverage
from undercover.model.groups import Groups, number
from undercover.model.queries import Between, NoneOf, OneOf, Predicate
from undercover.model.table import EncodedColumn, Table, as_numbers
from undercover.randomness import Randomness

COMPARISONS = (">", "<", "=", ">=", "<=", "!=")
_TRIES = 10_000
_AT_ONCE = 256  # queries whose random words are drawn together

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Asked(NamedTuple):
    """A predicate on a column: compared with which of its codes, and which of them satisfy it."""

    column: EncodedColumn
    comparison: str  # one of COMPARISONS; of a category "in"
    code: int
    inside: Mask  # (domain size,)

    @property
    def predicate(self) -> Predicate:
        """The same as a recipient would ask it."""
        domain = self.column.domain
        label = domain.labels[self.code]
        if self.comparison == "in":
            return OneOf([domain.labels[code] or None for code in np.flatnonzero(self.inside)])
        if self.comparison == "=":
            return OneOf([label])
        if self.comparison == "!=":
            return NoneOf([label, None]) if domain.has_missing else NoneOf([label])
        low, high = (label, None) if ">" in self.comparison else (None, label)
        return Between(low, high, closed="both" if "=" in self.comparison else "neither")


def draw_predicate(column: EncodedColumn, draw: np.random.Generator) -> Asked:
    """A random predicate on a column."""
    domain = column.domain
    if domain.kind == "categorical" or not len(domain.values):  # of a column without any value: missing, or not
        size = int(draw.integers(1, domain.size + 1))
        inside = np.zeros(domain.size, dtype=bool)
        inside[draw.choice(domain.size, size=size, replace=False)] = True
        return Asked(column, "in", 0, inside)
    comparison = COMPARISONS[int(draw.integers(len(COMPARISONS)))]
    present = len(domain.values)
    code = int(draw.integers(present))
    inside = np.zeros(domain.size, dtype=bool)
    if ">" in comparison:
        inside[code:present] = True
    elif "<" in comparison:
        inside[: code + 1] = True
    inside[code] = "=" in comparison
    if comparison == "!=":
        inside[:present] = True
        inside[code] = False
    return Asked(column, comparison, code, inside)


class Boxes:
    """Columns of a table made ready to be asked again and again which rows, written alike, satisfy predicates."""

    def __init__(self, columns: Mapping[str, tuple[NDArray[np.integer], int, Coverage | None]]) -> None:
        """For each column the cell of every row, how many cells there are, and what they cover if not one value."""
        labels, count = np.zeros(1, np.int64), 1
        for codes, size, _ in columns.values():
            labels, count = number(labels * size + codes)
        self.rows = Groups(labels.astype(np.int32), count)  # rows of each box
        self.place = {name: place for place, name in enumerate(columns)}
        one_each = self.rows.order[self.rows.offsets[:-1]]
        self.cells = np.stack([codes[one_each] for codes, _, _ in columns.values()]).astype(np.int32)
        self.coverage = [coverage for _, _, coverage in columns.values()]
        self.shares = np.zeros((len(columns), max(size for _, size, _ in columns.values())))

    def ask(self, asked: Mapping[str, Mask]) -> tuple[Any, Any, Any, Any]:
        """By what share the cells of which columns satisfy the predicates, as the kernels take it."""
        from undercover.utility.queries.kernels import shares_asked

        for name, positions in asked.items():
            shares, coverage = self.shares[self.place[name]], self.coverage[self.place[name]]
            if coverage is None:
                shares[: len(positions)] = positions
            else:
                shares_asked(positions, coverage.starts, coverage.low, coverage.high, coverage.sizes, shares)
        few_first = sorted(asked, key=lambda name: np.count_nonzero(asked[name]) / len(asked[name]))
        return self.cells, np.array([self.place[name] for name in few_first]), self.shares, self.rows.offsets


class SumQueries(NamedTuple):
    """Queries, each some columns with what is asked of them, and their true answers."""

    asked: Sequence[Mapping[str, Asked]]
    exact: Floats


def draw_sums(
    table: Table, names: Sequence[str], sensitive: str, size: tuple[int, int], randomness: Randomness
) -> SumQueries:
    """Queries about some of the ``names``; ``size`` is how many queries, and about how many columns each."""
    from undercover.utility.queries.kernels import sum_of_rows

    queries, columns = size
    boxes = Boxes({name: (table[name].codes, table[name].domain.size, None) for name in names})
    ends = np.repeat(numbers_of(table[sensitive])[boxes.rows.order, None], 2, axis=1)
    asked: list[dict[str, Asked]] = []
    exact: list[float] = []
    for tried in range(_TRIES + 100 * queries):
        if len(asked) == queries:
            return SumQueries(asked, np.array(exact))
        if tried % _AT_ONCE == 0:
            words = randomness.words(f"sum queries/{sensitive}", 4 * _AT_ONCE, start=4 * tried).view(np.uint64)
        place = 2 * (tried % _AT_ONCE)
        draw = np.random.Generator(np.random.Philox(key=words[place : place + 2]))
        where = _draw(table, names, columns, draw)
        total, _, _ = sum_of_rows(*boxes.ask({name: one.inside for name, one in where.items()}), ends)
        if total != 0.0:
            asked.append(where)
            exact.append(total)
    raise DataError(f"Random sums of `{sensitive}` are nearly always 0: the workload cannot be drawn.")


def _draw(table: Table, names: Sequence[str], columns: int, draw: np.random.Generator) -> dict[str, Asked]:
    chosen = draw.choice(len(names), size=min(columns, len(names)), replace=False)
    return {names[j]: draw_predicate(table[names[j]], draw) for j in np.sort(chosen).tolist()}


def numbers_of(column: EncodedColumn) -> Floats:
    """(n_rows,) the numbers of a column; missing adds nothing."""
    return np.append(as_numbers(column.domain.values), [0.0] * column.domain.has_missing)[column.codes]
