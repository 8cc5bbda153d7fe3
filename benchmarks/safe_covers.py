"""Mutual cover by permuting beside the paper's: how far values move, what queries cost, how long it takes.

Numbers are apart by their difference over the distinct values of their column, categories by 0 or 1; loss is the mean
over columns, as the figures of the guide are. Beside them what it costs to be near *and* robust: `wrap` inside blocks
of quasi-identifiers, which is possible only where every block is l-eligible.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import undercover as uc
from benchmarks.measure import Book, best, peak_memory
from benchmarks.real_tables import ACS_ASKED, ADULT_ASKED, acs_table, adult_table
from undercover.model.groups import Groups
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.blocks import exact_blocks
from undercover.steps.dealing.classes import class_groups
from undercover.steps.dealing.groups import wrap
from undercover.verbs.publish import publish_table

L, QUERIES = 10, 1_000
METHODS: Mapping[str, Any] = {
    "layers": uc.MutualCover(delta="1/5", l=L),
    "layers, robust": uc.MutualCover(delta="1/5", l=L, robust=True),
    "blocks": uc.MutualCover(delta="1/5", variant="blocks"),
    "groups": uc.MutualCover(l=L, variant="groups"),
    "paper": uc.MutualCover(delta="1/5", l=L, variant="paper"),
}
LIMITS = {
    ("Adult", "layers", "owner"): 0.22,
    ("Adult", "layers", "moved"): 0.025,
    ("Adult", "blocks", "owner"): 0.025,
    ("Adult", "blocks", "count"): 0.005,
    ("ACS", "blocks", "owner"): 0.05,
}
LARGE = ("sex", "age", "relationship", "marital_status", "race", "education", "hours", "work_class")


def safe_covers(book: Book, rows: int, threads: int, data: Path) -> None:
    for name, table, asked in (("Adult", adult_table(data), ADULT_ASKED), ("ACS", acs_table(data), ACS_ASKED)):
        if table is None:
            print(f"\n{name}: not measured, there is none in {data} (see --data)")
            continue
        book.section(f"Mutual cover, δ=1/5, l={L}, {name}, {table.n_rows:,} rows x 7 quasi-identifiers")
        for variant, method in METHODS.items():
            _beside(book, name, variant, table, method, asked)
        _near_and_robust(book, name, table)
    _large(book, rows, threads)


def _beside(book: Book, name: str, variant: str, table: Table, method: Any, asked: Any) -> None:
    run = publish_table(table, method, randomness=Randomness(1))
    frame = run.frames["published_rows"]
    own = frame["published"].to_numpy()
    place = frame["cells"].to_numpy() if "cells" in frame.column_names else own
    shown = {column: _codes(table, run.release.tables[0].data[column], column) for column in _names(table)}
    figures = {"owner": _apart(table, shown, own), "moved": _apart(table, shown, place)}
    workload = uc.QueryError(queries=QUERIES, seed=0, quasi_identifiers=asked)
    figures["count"] = float(np.mean([found.mean for found in workload.of_release(table, run.release).values()]))
    words = {"owner": "loss against the owner of the value", "moved": "quasi-identifiers moved", "count": "COUNT error"}
    for what, value in figures.items():
        book.add(f"{name}, {variant}: {words[what]}", value, "", LIMITS.get((name, variant, what)))
    if table.schema.sensitive == ("income",):
        sums = uc.SumError(queries=QUERIES, seed=0).of_release(table, run.release)
        apart = np.abs(sums.estimated - sums.exact) / np.abs(sums.exact)
        book.add(f"{name}, {variant}: SUM estimate, median", float(np.median(apart)), "")


def _near_and_robust(book: Book, name: str, table: Table) -> None:
    """Columns permuted inside groups: class dealing, `wrap`, and `wrap` inside blocks."""
    sensitive = table.schema.sensitive[0]
    cases: dict[str, Groups | None] = {
        "class dealing": class_groups(table, sensitive, L, randomness=Randomness(1), threads=2),
        "wrap": wrap(table, sensitive, L).draw(Randomness(1)),
    }
    for size in (120, 250, 500, 1_000, 5_000):
        cases[f"wrap in blocks of {size:,}"] = _wrap_in_blocks(table, sensitive, size)
    nearest = 0.0
    for words, groups in cases.items():
        if groups is None:
            print(f"  {name}, {words}: a block has too much of one value")
            continue
        rows = np.asarray(groups.order).copy()
        source = np.empty(table.n_rows, dtype=np.int64)
        mixer = np.random.default_rng(1)
        keys = np.repeat(np.arange(groups.count), groups.sizes) + mixer.random(table.n_rows)
        source[rows] = rows[np.argsort(keys)]
        moved = {column: table[column].codes[source] for column in _names(table)}
        loss = _apart(table, moved, np.arange(table.n_rows))
        nearest = nearest or loss
        book.add(f"{name}, {words}: loss / class dealing", loss / nearest, "x", note=f"{loss:.3f}")


def _wrap_in_blocks(table: Table, sensitive: str, size: int) -> Groups | None:
    blocks = exact_blocks(table, size, randomness=Randomness(1), threads=2)
    order, starts = [], [0]
    for block in range(blocks.count):
        rows = np.sort(blocks.rows_of(block))
        part = table.take(rows)
        if np.bincount(part[sensitive].codes).max() * L > len(rows):
            return None
        groups = wrap(part, sensitive, L).draw(Randomness(block))
        order.append(rows[groups.order])
        starts += (starts[-1] + np.cumsum(groups.sizes)).tolist()
    return Groups.from_order(np.concatenate(order), np.array(starts))


def _large(book: Book, rows: int, threads: int) -> None:
    book.section(f"Class dealing and safe covers, l={L}, {rows:,} rows x {len(LARGE)} quasi-identifiers")
    table = Table.from_arrow(
        uc.datasets.census(rows, seed=1), uc.datasets.census_schema(LARGE, "salary", hierarchies=False)
    )
    usual = rows <= 1_000_000
    seconds = best(lambda: class_groups(table, "salary", L, randomness=Randomness(1), threads=threads), 3)
    book.add(f"class dealing: {rows:,} rows", seconds, "s", 5.0 if usual else None)
    for variant in ("layers", "blocks", "groups"):
        method = METHODS[variant]
        seconds = best(lambda method=method: publish_table(table, method, randomness=Randomness(1)), 2)
        note = "published, verification included"
        book.add(f"mutual cover, {variant}: {rows:,} rows", seconds, "s", 10.0 if usual else None, note=note)
    memory = peak_memory(lambda: publish_table(table, METHODS["layers"], randomness=Randomness(1)))
    book.add("mutual cover, layers: peak memory", memory / rows, "bytes/row")


def _names(table: Table) -> tuple[str, ...]:
    return table.schema.quasi_identifiers


def _codes(table: Table, column: Any, name: str) -> np.ndarray:
    """What was published, in the codes of the original."""
    place = {label: code for code, label in enumerate(table[name].domain.values.to_pylist())}
    return np.array([place[value] for value in column.to_pylist()])


def _apart(table: Table, shown: Mapping[str, np.ndarray], rows: np.ndarray) -> float:
    """How far what row ``rows[i]`` shows is from person i."""
    total = 0.0
    for name in _names(table):
        domain, codes = table[name].domain, table[name].codes
        found = shown[name][rows]
        if domain.kind == "categorical":
            total += float((found != codes).mean())
        else:
            values = np.asarray(domain.values.to_numpy(zero_copy_only=False), dtype=np.float64)
            total += float(np.abs(values[found] - values[codes]).mean() / len(values))
    return total / len(_names(table))
