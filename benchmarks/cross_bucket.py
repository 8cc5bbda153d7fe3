"""The paper's cross-bucket generalization: against rescanning for every pick, loss, discernibility and growth."""

from __future__ import annotations

import numpy as np

import undercover as uc
from benchmarks.measure import Book, best, peak_memory
from undercover.engines.local import LocalEngine
from undercover.forms import read
from undercover.forms.case import Case
from undercover.forms.loss import losses
from undercover.methods.cross_bucket.kernels import divide_rows
from undercover.methods.cross_bucket.paper import Plan, cross_buckets, plan_of
from undercover.model.groups import Groups
from undercover.model.release import Release
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.columns import cut_columns, kernel_columns
from undercover.steps.recoding import box_cells, generalized_table
from undercover.utility.discernibility import optimal_discernibility

PAPER_ROWS, K, L = 22_517, 3, 10
NAMES = ("sex", "age", "relationship", "marital_status", "race", "education", "hours", "occupation")


def census_table(rows: int) -> Table:
    """The paper's columns of the built-in census."""
    return Table.from_arrow(
        uc.datasets.census(rows, seed=0), uc.datasets.census_schema(NAMES, "salary", hierarchies=False)
    )


def counts_of(table: Table) -> np.ndarray:
    return np.bincount(table["salary"].codes, minlength=table["salary"].domain.size)


def cross_bucket(book: Book, rows: int, threads: int) -> None:
    table = census_table(PAPER_ROWS)
    counts = counts_of(table)
    book.section(f"Cross-bucket generalization of the paper, k={K}, l={L}, {PAPER_ROWS:,} rows x 8 quasi-identifiers")

    def ours() -> Groups:
        return cross_buckets(table, "salary", counts, k=K, l=L, randomness=Randomness(1), threads=threads).groups

    groups = ours()
    seconds = best(ours, 7)
    rescanned: list[Groups] = []
    naive = best(lambda: rescanned.append(rescan(table, plan_of(counts, k=K, l=L))), 1)
    book.add("cross-bucket: time / rescanning", seconds / naive, "x", 1 / 20, note=f"{seconds:.2f} s, {naive:.1f} s")
    loss, theirs = ncp(table, groups), ncp(table, rescanned[0])
    book.add("cross-bucket: NCP / rescanning", loss / theirs, "x", 1.06, note=f"{loss:.4f}, {theirs:.4f}")
    found = int(np.dot(groups.sizes, groups.sizes))
    least = optimal_discernibility(PAPER_ROWS, K)
    rare = int(counts.max()) * 12 <= PAPER_ROWS
    book.add("cross-bucket: DM / optimum", found / least, "x", 1.0 if rare else None, note=f"{found:,}")
    run = uc.publish(uc.datasets.census(PAPER_ROWS, seed=0), table.schema, uc.CrossBucket(k=K, l=L, variant="paper"))
    attack = uc.BucketMatching()
    seconds = best(lambda: attack.run(Case(table, run.release, engine=LocalEngine(threads=threads))), 5)
    book.add(f"bucket matching on {PAPER_ROWS:,} people", seconds, "s", 0.2)
    worst = attack.run(Case(table, run.release, engine=LocalEngine(threads=threads))).breach["salary"].max()
    book.add("cross-bucket: worst breach times l", float(worst) * L, "x", 1.0)

    book.section(f"Cross-bucket generalization, k={K}, l={L}, {rows:,} rows, published tables included")
    method, engine = uc.CrossBucket(k=K, l=L, variant="paper"), LocalEngine()
    tenth, whole = census_table(rows // 10), census_table(rows)
    small = best(lambda: method.anonymize(tenth, engine=engine, randomness=Randomness()), 5)
    large = best(lambda: method.anonymize(whole, engine=engine, randomness=Randomness()), 3)
    book.add(f"cross-bucket: {rows:,} rows", large, "s", 10.0 if rows <= 1_000_000 else None)
    book.add(f"cross-bucket: growth {rows // 10:,} -> {rows:,}", large / small, "x", 13, note=f"from {small:.2f} s")
    memory = peak_memory(lambda: method.anonymize(whole, engine=engine, randomness=Randomness()))
    book.add("cross-bucket: peak memory", memory / rows, "bytes/row")


def ncp(table: Table, groups: Groups) -> float:
    """The loss of groups published as their tightest boxes."""
    published = generalized_table(table, groups, box_cells(table, groups), Randomness(1))
    return losses(table, read(Release("cross-bucket", {}, (published,), False)))["ncp"].arithmetic


def rescan(table: Table, plan: Plan) -> Groups:
    """Algorithm 3 as a reader builds it: cut all rows that are left for every pick, then divide as we do.

    Where the median is the maximum, the cut is below it. At the end of the cuts the value with fewest rows gives the
    seed and every other value its nearest row, so that only the search differs from ours.
    """
    names = table.schema.quasi_identifiers
    codes = np.stack([table[name].codes.astype(np.int64) for name in names], axis=1)
    is_set = np.array([table[name].domain.kind == "categorical" for name in names])
    scale = np.stack([table[name].domain.positions[table[name].codes] for name in names], axis=1)
    units = np.array([1 / max(1, table[name].domain.size - 1) for name in names])
    secret = table["salary"].codes.astype(np.int64)
    live = np.ones(table.n_rows, dtype=bool)
    picks = []
    for values, times in plan:
        wanted = np.zeros(table["salary"].domain.size, dtype=bool)
        wanted[list(values)] = True

        def fits(rows: np.ndarray, wanted: np.ndarray = wanted, size: int = len(values)) -> bool:
            found = secret[rows]
            return np.unique(found[wanted[found]]).size == size

        for _ in range(times):
            rows = np.flatnonzero(live)
            cutting = True
            while cutting:
                spans = np.ptp(scale[rows], axis=0)
                for j in np.flatnonzero(is_set):
                    spans[j] = (np.unique(codes[rows, j]).size - 1) * units[j]
                cutting = False
                for j in np.argsort(-spans, kind="stable"):
                    if spans[j] <= 0:
                        break
                    column = codes[rows, j]
                    median = np.sort(column)[(len(column) - 1) // 2]
                    if median == column.max():
                        median = column[column < median].max()
                    left, right = rows[column <= median], rows[column > median]
                    if fits(left) or fits(right):
                        rows = left if fits(left) else right
                        cutting = True
                        break
            rows = rows[wanted[secret[rows]]]
            inside = np.bincount(secret[rows], minlength=len(wanted))[list(values)]
            seed = rows[secret[rows] == values[int(inside.argmin())]][0]
            apart = np.where(is_set, (codes[rows] != codes[seed]) * units, np.abs(scale[rows] - scale[seed])).sum(
                axis=1
            )
            order = np.lexsort((apart, secret[rows]))
            ordered = secret[rows][order]
            nearest = rows[order[np.append(True, ordered[1:] != ordered[:-1])]]
            live[nearest] = False
            picks.append(nearest)
    columns = cut_columns(table, "regions")
    settings = kernel_columns(table, columns)
    cutting_codes = np.stack([column.recode[table[column.name].codes] for column in columns], axis=1).astype(np.int32)
    chosen = np.concatenate(picks)
    offsets = np.concatenate([[0], np.cumsum([len(pick) for pick in picks])])
    return Groups.from_order(chosen, divide_rows(cutting_codes, chosen, offsets, K, settings))
