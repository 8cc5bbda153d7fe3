"""Safe cross-bucket generalization beside the paper's: what it loses, what it exposes, how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import undercover as uc
from benchmarks.cross_bucket import NAMES
from benchmarks.measure import Book, best, peak_memory
from benchmarks.real_tables import ACS_ASKED, ADULT_ASKED, acs_table, adult_table
from undercover.engines.local import LocalEngine
from undercover.forms import read
from undercover.forms.case import Case
from undercover.forms.loss import losses
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.verbs.publish import publish_table

K, L, QUERIES = 5, 10, 1_000
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "paper": {"variant": "paper"},
    "safe": {},
    "safe, robust": {"robust": True},
    "safe, exact k": {"boxes": "exact"},
    "safe, exact k, robust": {"boxes": "exact", "robust": True},
}
NCP_LIMITS = {"Adult": 0.02, "ACS": 0.03}
COUNT_LIMITS = {"Adult": 0.026}
CENSUS_ASKED = (("age", "sex"), ("education", "marital_status"), ("hours", "relationship"))
ROWS = 30_000


def cross_bucket_safe(book: Book, rows: int, data: Path) -> None:
    census = _census(ROWS)
    tables = {"census": (census, CENSUS_ASKED), "Adult": (adult_table(data), ADULT_ASKED)}
    tables["ACS"] = (acs_table(data), ACS_ASKED)
    for name, (table, asked) in tables.items():
        if table is None:
            print(f"\n{name}: not measured, there is none in {data} (see --data)")
            continue
        book.section(f"Cross-bucket generalization, k={K}, l={L}, {name}, {table.n_rows:,} rows: safe and the paper's")
        beside(book, name, table, asked)
    book.section(
        f"Safe cross-bucket generalization, k={K}, l={L}, {rows:,} rows x 8 quasi-identifiers, tables included"
    )
    engine, tenth, whole = LocalEngine(), _census(rows // 10), _census(rows)
    for name in ("safe", "safe, robust", "safe, exact k"):
        method = uc.CrossBucket(k=K, l=L, **VARIANTS[name])
        small = best(lambda method=method: method.anonymize(tenth, engine=engine, randomness=Randomness()), 3)
        large = best(lambda method=method: method.anonymize(whole, engine=engine, randomness=Randomness()), 2)
        book.add(f"cross-bucket, {name}: {rows:,} rows", large, "s", 10.0 if rows <= 1_000_000 else None)
        book.add(f"cross-bucket, {name}: growth from a tenth", large / small, "x", 13, note=f"from {small:.2f} s")
    method = uc.CrossBucket(k=K, l=L)
    memory = peak_memory(lambda: method.anonymize(whole, engine=engine, randomness=Randomness()))
    book.add("cross-bucket, safe: peak memory", memory / rows, "bytes/row")


def beside(book: Book, name: str, table: Table, asked: Sequence[tuple[str, str]]) -> None:
    """Loss, errors of answers and breach of every variant on one table; the ratios are to the paper's."""
    (sensitive,) = table.schema.sensitive
    found: dict[str, float] = {}
    for variant, more in VARIANTS.items():
        run = publish_table(table, uc.CrossBucket(k=K, l=L, **more), randomness=Randomness(1))
        found[variant] = ncp = losses(table, read(run.release))["ncp"].arithmetic
        limit = NCP_LIMITS.get(name) if variant == "safe" else None
        dm = f"DM {run.diagnostics['discernibility']:,}"
        book.add(f"{name}, {variant}: NCP", ncp, "", limit, note=f"{dm}; {ncp / found['paper']:.2f} x the paper's")
        errors = uc.QueryError(queries=QUERIES, seed=0, quasi_identifiers=asked).of_release(table, run.release)
        limit = COUNT_LIMITS.get(name) if variant == "safe" else None
        book.add(f"{name}, {variant}: COUNT error", np.mean([one.mean for one in errors.values()]), "", limit)
        if table[sensitive].domain.kind == "numeric":
            sums = uc.SumError(queries=QUERIES, seed=0).of_release(table, run.release)
            apart = np.abs(sums.estimated - sums.exact) / np.abs(sums.exact)
            book.add(f"{name}, {variant}: SUM estimate, median", np.median(apart), "", note=f"bounds {sums.median:.2f}")
        breach = uc.BucketMatching().run(Case.of(run)).breach[sensitive]
        book.add(
            f"{name}, {variant}: worst breach times l", breach.max() * L, "x", 1.0, note=f"mean {breach.mean():.4f}"
        )


def _census(rows: int) -> Table:
    people = uc.datasets.census(rows, seed=0)
    return Table.from_arrow(people, uc.datasets.census_schema(NAMES, "salary", hierarchies=False))
