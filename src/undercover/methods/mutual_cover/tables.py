"""The random output tables of a partitioned table: for every group and attribute, who releases which value how often.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Definitions 3 and 5 and ``calculate_table`` of
Section 4: distributions over output values that move values as little as possible while no record has more than a share
delta of any output value.

What a method does with it::

    found = output_tables(table, groups, delta=Fraction(1, 5), threads=engine.threads)
    found.number(attribute=2, group=7)    # tables are numbered attribute by attribute, group by group inside
    found.table(attribute=2, group=7)     # one of them, as small arrays

and in bulk, for table ``p`` (all arrays flat, nothing per table in Python):

- ``originals[row_starts[p]:row_starts[p + 1]]``: the distinct codes of the group, ascending; ``counts`` beside them;
- ``outputs[column_starts[p]:column_starts[p + 1]]``: the output codes with mass, ascending, in the domain
  ``distances[attribute].outputs`` (the column's own unless ``columns="integer_range"``);
- ``probabilities[cell_starts[p]:cell_starts[p + 1]]``: row by row, one row per original, one number per output;
- ``objectives``, ``bounds`` (no table costs less), ``spreads`` (the largest distance inside the group: the paper's
  dis_max(attri, group); ``distances[attribute].widest`` is dis_max(attri, T)) and ``origins``: one number per table.

Rows sum to one up to the last digit, and no column share exceeds delta by more than 1e-12 of it.

Deviations: records with equal values share one distribution (docs/theory/cover_tables.md: nothing is lost). Output
values are the observed ones by default, which costs nothing by the absolute difference; the paper's Figure 2 shows
every whole number (``columns="integer_range"``). ``tables="uniform"`` is the paper's footnote 2: every value of the
group equally likely.

No program is solved without a limit. Tables of more than 256 values, and those of more than 128 the kernel gives up
on, are solved in blocks (:mod:`undercover.methods.mutual_cover.blocks`); the few smaller ones it gives up on go to
HiGHS (:mod:`undercover.methods.mutual_cover.highs`), whose iterations are limited. Whatever they find keeps delta, and
``gaps`` says how much dearer than the best it is at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError, UnreachableError, unknown
from undercover.methods.mutual_cover import kernels
from undercover.methods.mutual_cover.blocks import MOST_VALUES, solve_in_blocks
from undercover.methods.mutual_cover.highs import table_by_highs
from undercover.model.distance.between import Columns, ValueDistance
from undercover.model.groups import Groups
from undercover.model.protocols import Progress, no_progress
from undercover.model.table import Table
from undercover.threads import in_turn, parallel

Tables = Literal["optimal", "uniform"]

ORIGINS = ("kept", "shared", "interior", "uniform", "highs", "blocks")
"""How a table came about, by the number in ``origins``: everybody keeps his value; all rows share one distribution
(delta m = 1); interior point; equally likely by request; the general solver; blocks of neighbouring values."""

USUAL_GAP = 1e-5
"""Relative certified gap up to which a table is as good as optimal."""

_HIGHS, _BLOCKS = 4, 5
_MOST_CELLS = 2**26  # of one table
_CHUNKS_PER_THREAD = 16


class OutputTable(NamedTuple):
    """One random output table, as views into the whole."""

    originals: NDArray[np.int32]  # (q,) codes
    counts: NDArray[np.int32]  # (q,) rows of the group with each
    outputs: NDArray[np.int32]  # (n,) codes
    probabilities: NDArray[np.float64]  # (q, n)


@dataclass(frozen=True)
class OutputTables:
    """All random output tables of a partition; the module's first lines say what the arrays hold."""

    delta: Fraction
    attributes: tuple[str, ...]
    distances: tuple[ValueDistance, ...]
    n_groups: int
    row_starts: NDArray[np.int64]
    originals: NDArray[np.int32]
    counts: NDArray[np.int32]
    column_starts: NDArray[np.int64]
    outputs: NDArray[np.int32]
    cell_starts: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    objectives: NDArray[np.float64]
    bounds: NDArray[np.float64]
    spreads: NDArray[np.float64]
    origins: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.objectives)

    def __repr__(self) -> str:
        return (
            f"<OutputTables of {self.n_groups:,} groups x {len(self.attributes)} attributes, delta {self.delta}; "
            ".table(attribute=0, group=0) shows one>"
        )

    def number(self, *, attribute: int, group: int) -> int:
        """The number of the table of one attribute (by position) and group."""
        return attribute * self.n_groups + group

    def table(self, *, attribute: int, group: int) -> OutputTable:
        """One table."""
        p = self.number(attribute=attribute, group=group)
        rows = slice(self.row_starts[p], self.row_starts[p + 1])
        outputs = self.outputs[self.column_starts[p] : self.column_starts[p + 1]]
        cells = self.probabilities[self.cell_starts[p] : self.cell_starts[p + 1]]
        return OutputTable(self.originals[rows], self.counts[rows], outputs, cells.reshape(-1, len(outputs)))

    @property
    def arrays(self) -> kernels.Tables:
        """As the kernels take them."""
        return kernels.Tables(*(getattr(self, name) for name in kernels.Tables._fields))

    @property
    def gaps(self) -> NDArray[np.float64]:
        """Relative certified gap of each optimal table: how much dearer than the best it is at most.

        A uniform table makes no such claim; its bound is 0.
        """
        return (self.objectives - self.bounds) / np.where(self.objectives > 0, self.objectives, 1.0)

    def column_masses(self) -> NDArray[np.float64]:
        """Expected rows that release each value: the column sums S_j, beside ``outputs``."""
        return self._by_column(np.add, weighted=True)

    def column_shares(self) -> NDArray[np.float64]:
        """The largest share one record has of each output value, beside ``outputs``; delta-probability bounds it."""
        return self._by_column(np.maximum, weighted=False) / self.column_masses()

    def _by_column(self, reduce: np.ufunc, *, weighted: bool) -> NDArray[np.float64]:
        widths = np.diff(self.column_starts)
        cell_of_row = np.repeat(widths, np.diff(self.row_starts))  # cells in each row
        starts = np.concatenate([[0], np.cumsum(cell_of_row)])[:-1]
        within = np.arange(len(self.probabilities)) - np.repeat(starts, cell_of_row)
        column = within + np.repeat(np.repeat(self.column_starts[:-1], np.diff(self.row_starts)), cell_of_row)
        cells = self.probabilities * np.repeat(self.counts, cell_of_row) if weighted else self.probabilities
        found = np.zeros(len(self.outputs))
        reduce.at(found, column, cells)
        return found


def output_tables(
    table: Table,
    groups: Groups,
    *,
    delta: Fraction,
    columns: Columns = "observed",
    tables: Tables = "optimal",
    threads: int = 1,
    progress: Progress = no_progress,
) -> OutputTables:
    """The tables of every quasi-identifier in every group; no record has more than the share ``delta`` of an output
    value.

    ``columns`` and ``tables`` are those of the method. The result does not depend on ``threads``. Raises
    UnreachableError if some group has fewer than 1/delta rows (Property 1).
    """
    _check(delta, columns, tables, groups)
    names = table.schema.quasi_identifiers
    known = [ValueDistance.of(table[name], columns=columns) for name in names]
    from undercover.compiled.jit import needs_compiling
    from undercover.methods.mutual_cover.kernels.programs import LANES, Solved, compact, cover_tables
    from undercover.methods.mutual_cover.kernels.sampling import distinct_values

    if needs_compiling(cover_tables):
        progress("compiling the output table kernel (once on this machine, some 10 seconds)", 0.0)
    order, offsets = groups.order.astype(np.uint32, copy=False), groups.offsets

    def tally(name: str) -> Any:
        return distinct_values(table[name].codes.astype(np.uint32), order, offsets, table[name].domain.size)

    tallies = parallel(tally, names, threads, steps=table.n_rows * len(names))
    row_starts = _joined([starts for starts, _, _ in tallies])
    originals, counts = (np.concatenate([part[i] for part in tallies]) for i in (1, 2))
    parts = [_output_codes(distance, *part[:2]) for distance, part in zip(known, tallies, strict=True)]
    column_starts, outputs = _joined([starts for starts, _ in parts]), np.concatenate([codes for _, codes in parts])
    n_tables = len(names) * groups.count
    sizes = np.diff(row_starts) * np.diff(column_starts)
    _check_sizes(names, np.diff(row_starts), sizes)
    cell_starts = np.concatenate([[0], np.cumsum(sizes)])
    probabilities = np.empty(cell_starts[-1])
    kept, origins = np.zeros(n_tables, np.int32), np.zeros(n_tables, np.uint8)
    objectives, bounds, spreads = (np.zeros(n_tables) for _ in range(3))
    arrays = kernels.Tables(row_starts, originals, counts, column_starts, outputs, cell_starts, probabilities)
    solved = Solved(kept, objectives, bounds, spreads, origins, np.zeros(len(originals)))
    least, whole = math.ceil(1 / delta), delta.numerator == 1

    def solve(portion: tuple[int, NDArray[np.int64]]) -> int:
        attribute, chunk = portion
        distance, uniform = known[attribute].kernel_arguments, tables == "uniform"
        cover_tables(chunk, arrays, distance, float(delta), least, whole, uniform, LANES, solved)
        return len(chunk)

    work = _work(np.diff(row_starts), sizes)
    done = 0
    for number in in_turn(solve, _chunks(work, len(names), threads), threads, steps=int(work.sum())):
        done += number
        progress("output tables", done / n_tables)
    for p in np.flatnonzero(origins == _HIGHS):
        distance = known[p // groups.count]
        rows = slice(row_starts[p], row_starts[p + 1])
        block = probabilities[cell_starts[p] : cell_starts[p + 1]]
        codes = _output_codes(distance, np.array([0, rows.stop - rows.start]), originals[rows])[1]
        large = len(originals[rows]) > MOST_VALUES
        progress("large output tables", 0.0)
        another = solve_in_blocks if large else table_by_highs
        x, value, bound = another(distance, originals[rows], counts[rows], codes, delta)
        bounds[p], origins[p] = max(bounds[p], bound), _BLOCKS if large else _HIGHS
        if value >= objectives[p] or not math.isfinite(value):
            continue
        mass = x.sum(axis=0) > 0
        objectives[p], kept[p] = value, mass.sum()
        outputs[column_starts[p] :][: kept[p]] = codes[mass]
        block[: len(x) * kept[p]] = x[:, mass].ravel()
    column_starts, cell_starts = compact(arrays, kept)
    return OutputTables(
        delta, names, tuple(known), groups.count, row_starts, originals, counts,
        column_starts, outputs[: column_starts[-1]], cell_starts, probabilities[: cell_starts[-1]],
        objectives, bounds, spreads, origins,
    )  # fmt: skip


def _check(delta: Fraction, columns: str, tables: str, groups: Groups) -> None:
    problems = []
    if not isinstance(delta, Fraction) or not 0 < delta <= 1:
        problems.append(f"The 'delta' of output tables must be a Fraction in (0, 1]. Got {delta!r} instead.")
    for name, value, choices in (("columns", columns, get_args(Columns)), ("tables", tables, get_args(Tables))):
        if value not in choices:
            problems.append(unknown(f"The '{name}' of output tables", str(value), choices))
    if problems:
        raise ParameterError(problems)
    smallest = int(groups.sizes.min())
    if smallest * delta < 1:
        raise UnreachableError(
            f"delta={delta} cannot be reached: a group has {smallest} rows, and among so few somebody has a share of "
            f"1/{smallest} at least; the smallest feasible delta is 1/{smallest}. Make larger groups or raise delta.",
            best={"delta": Fraction(1, smallest)},
        )


def _check_sizes(names: Sequence[str], rows: NDArray[np.int64], cells: NDArray[np.int64]) -> None:
    """Refuse a table that would not fit into memory."""
    largest = int(cells.argmax())
    if cells[largest] > _MOST_CELLS:
        raise UnreachableError(
            f"The output table of `{names[largest // (len(cells) // len(names))]}` in one group would hold "
            f"{cells[largest]:,} probabilities: the group has {rows[largest]:,} different values. Lower l (or k) so "
            f"that groups become smaller, or put the values of the column into ranges first.",
            best={},
        )


def _joined(starts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Starts of several ragged arrays as the starts of their concatenation."""
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part) for part in starts]))])


def _output_codes(
    distance: ValueDistance, starts: NDArray[np.int64], values: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Starts and codes of what each group may release: what it holds, or all whole numbers between its ends."""
    if not distance.spans_integers:
        return starts, values.copy()
    present = len(distance.output_scale) - distance.outputs.has_missing
    codes = np.searchsorted(distance.output_scale[:present], distance.scale).astype(np.int32)[values]
    low, last = codes[starts[:-1]], codes[starts[1:] - 1]
    missing = last == present
    previous = codes[np.maximum(starts[1:] - 2, starts[:-1])]
    high = np.where(missing, np.where(low == present, present - 1, previous), last)
    widths = np.maximum(high - low + 1, 0) + missing
    output_starts = np.concatenate([[0], np.cumsum(widths)])
    outputs = np.arange(output_starts[-1]) - np.repeat(output_starts[:-1] - low, widths)
    outputs[output_starts[1:][missing] - 1] = present
    return output_starts, outputs.astype(np.int32)


def _work(rows: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """About how many steps each table takes."""
    return (rows + 20) * cells + 50


def _chunks(work: NDArray[np.int64], n_attributes: int, threads: int) -> list[tuple[int, NDArray[np.int64]]]:
    """Numbers of tables in portions of about equal work, the large tables first; a portion has one attribute."""
    portion = work.sum() / (_CHUNKS_PER_THREAD * threads)
    chunks = []
    for attribute, numbers in enumerate(np.split(np.arange(len(work)), n_attributes)):
        by_size = numbers[np.argsort(-work[numbers], kind="stable")]
        cuts = np.flatnonzero(np.diff(np.cumsum(work[by_size]) // portion)) + 1
        chunks += [(attribute, chunk) for chunk in np.split(by_size, cuts)]
    return sorted(chunks, key=lambda chunk: -int(work[chunk[1][0]]))
