"""Random output tables: all programs of a table against scipy's general solver on a sample, accuracy, growth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linprog

import undercover as uc
from benchmarks.measure import Book, best, peak_memory
from undercover.datasets.census import census_hierarchies
from undercover.methods.mutual_cover.tables import ORIGINS, OutputTables, output_tables
from undercover.model.groups import Groups
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.steps.cutting.checks import Check
from undercover.steps.cutting.partition import partition

QUASI_IDENTIFIERS = ("sex", "age", "relationship", "marital_status", "race", "education", "hours")
PAPER_ROWS = 40_152
SAMPLE = 40


def cover(book: Book, rows: int, threads: int) -> None:
    """The paper's 40,152 rows, then ``rows`` against a tenth of them."""
    table, groups = grouped(PAPER_ROWS, threads)
    for delta in (Fraction(1, 5), Fraction(1, 10)):
        book.section(
            f"Output tables, delta={delta}, l=10, {PAPER_ROWS:,} rows x 7 quasi-identifiers, {threads} threads"
        )
        found = output_tables(table, groups, delta=delta, threads=threads)
        seconds = best(lambda: output_tables(table, groups, delta=delta, threads=threads), 5)  # noqa: B023
        book.add(
            f"output tables, delta={delta}",
            seconds,
            "s",
            0.3,
            note=f"{(np.diff(found.row_starts) > 1).sum():,} programs",
        )
        general, worst = against_linprog(found)
        book.add(f"output tables, delta={delta}: time / scipy.linprog", seconds / general, "x", 1 / 200)
        book.add(f"output tables, delta={delta}: objective above linprog's, relative", worst, "", 1e-6)
        book.add(f"output tables, delta={delta}: largest certified gap", float(found.gaps.max()), "", 1e-6)
        excess = float(found.column_shares().max() / float(delta) - 1)
        book.add(f"output tables, delta={delta}: excess over delta", max(excess, 0.0), "", 1e-12)
        fallen = int((found.origins == ORIGINS.index("highs")).sum())
        book.add(f"output tables, delta={delta}: programs handed to HiGHS", fallen, "")
    growth(book, rows, threads)


def growth(book: Book, rows: int, threads: int) -> None:
    book.section(f"Output tables, delta=1/5, l=10, {rows:,} rows")
    tenth, whole = grouped(rows // 10, threads), grouped(rows, threads)
    small = best(lambda: output_tables(*tenth, delta=Fraction(1, 5), threads=threads), 3)
    large = best(lambda: output_tables(*whole, delta=Fraction(1, 5), threads=threads), 2)
    book.add(f"output tables: {rows:,} rows", large, "s")
    book.add(f"output tables: growth {rows // 10:,} -> {rows:,}", large / small, "x", 12)
    memory = peak_memory(lambda: output_tables(*whole, delta=Fraction(1, 5), threads=threads))
    book.add("output tables: peak memory", memory / rows, "bytes/row")


def grouped(rows: int, threads: int) -> tuple[Table, Groups]:
    """A census cut into groups in which no salary is more than a tenth."""
    trees = census_hierarchies()
    columns = {name: Column(hierarchy=trees[name]) for name in QUASI_IDENTIFIERS if name not in ("age", "hours")}
    schema = Schema(quasi_identifiers=QUASI_IDENTIFIERS, sensitive="salary", columns=columns)
    table = Table.from_arrow(uc.datasets.census(rows, seed=1), schema)
    check = Check(column="salary", kind="frequency", limit=10)
    return table, partition(table, k=10, checks=[check], cut="median", threads=threads).groups


def against_linprog(found: OutputTables) -> tuple[float, float]:
    """Seconds scipy would need for all tables of more than one value, and our worst relative excess, from a sample.

    scipy gets the programs as the paper states them, one row per record, with a sparse matrix.
    """
    wanted = np.flatnonzero(np.diff(found.row_starts) > 1)
    sample = np.random.default_rng(1).choice(wanted, SAMPLE, replace=False)
    seconds, worst = 0.0, 0.0
    for p in sample:
        attribute, group = divmod(int(p), found.n_groups)
        one = found.table(attribute=attribute, group=group)
        between = found.distances[attribute].between
        cost = np.array([[between(u, v) for v in one.originals] for u in one.originals])
        objectives: list[float] = []
        seconds += best(lambda: objectives.append(solve(np.repeat(cost, one.counts, axis=0), found.delta)), 1)  # noqa: B023
        worst = max(worst, (found.objectives[p] - objectives[0]) / max(objectives[0], 1e-9))
    return seconds / SAMPLE * len(wanted), worst


def solve(cost: NDArray[np.float64], delta: Fraction) -> float:
    m, n = cost.shape
    sums = sp.kron(sp.eye(m), np.ones((1, n)), format="csr")
    caps = (sp.eye(m * n) - float(delta) * sp.kron(np.ones((m, m)), sp.eye(n))).tocsr()
    found = linprog(cost.ravel(), A_eq=sums, b_eq=np.ones(m), A_ub=caps, b_ub=np.zeros(m * n), method="highs")
    return float(found.fun)
