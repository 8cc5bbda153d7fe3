"""What a second thread saves each method: from an encoded table to the tables it publishes, in turns with one.

A ratio of 0.59 is a speed-up of 1.7. It is asked for where kernels compute: cutting, assigning, drawing. Dealing and
recoding read rows in an order that is none: two threads wait for one memory there, and the figure says how long. The
search of a lattice is one after the other: what is looked at next depends on what was found.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import undercover as uc
from benchmarks.measure import Book, side_by_side
from undercover.engines.local import LocalEngine
from undercover.model.table import Table
from undercover.randomness import Randomness

SPEED_UP = 1.7
METHODS: tuple[tuple[str, Any, str], ...] = (  # what binds it where no speed-up is asked for
    ("mondrian k=10", uc.Mondrian(k=10), ""),
    ("mondrian k=10, l=5", uc.Mondrian(k=10, l=5), ""),
    ("mondrian k=10, median, regions", uc.Mondrian(k=10, cut="median", recoding="regions"), "memory: rows are moved"),
    ("streamliner classes, l=5", uc.Streamliner(l=5, algorithm="classes"), ""),
    ("cross-bucket k=5, l=5", uc.CrossBucket(k=5, l=5), ""),
    ("mutual cover, layers", uc.MutualCover(l=5, delta=0.2), "memory: one shuffle of all rows"),
    ("streamliner wrap, l=5", uc.Streamliner(l=5), "memory: rows are dealt and gathered"),
    ("streamliner guided, l=5", uc.Streamliner(l=5, algorithm="guided"), "memory: rows are sorted and gathered"),
    ("anatomy l=5", uc.Anatomy(l=5), "memory: rows are dealt and gathered"),
    ("incognito k=10", uc.Incognito(k=10), "the search is one after the other"),
    ("perturbed generalization k=10", uc.PerturbedGeneralization(k=10, p=0.3), "memory: rows are moved"),
)


def threads(book: Book, rows: int) -> None:
    book.section(f"Two threads / one, {rows:,} rows x 8 quasi-identifiers (0.59 is a speed-up of {SPEED_UP})")
    table = Table.from_arrow(uc.datasets.census(rows, seed=1), _schema())
    few = Table.from_arrow(uc.datasets.census(30_000, seed=1), _schema())
    for name, method, bound in METHODS:

        def make(count: int, table: Table = table, method: Any = method) -> None:
            method.anonymize(table, engine=LocalEngine(threads=count), randomness=Randomness(1))

        make(1, few)
        make(2, few)
        double, single = side_by_side(lambda: make(2), lambda: make(1), 2)
        note = f"{single:.2f} s alone, at best {_at_best(make):.2f}" + (f"; bound by {bound}" if bound else "")
        book.add(f"{name}: two threads / one", double / single, "x", None if bound else 1 / SPEED_UP, note=note)


def _at_best(make: Any) -> float:
    """The ratio that processor time allows, however busy the machine: what one thread does alone, and half the rest."""
    begun = time.process_time()
    make(1)
    single = time.process_time() - begun
    begun, alone = time.process_time(), time.thread_time()
    make(2)
    alone = time.thread_time() - alone
    return (alone + (time.process_time() - begun - alone) / 2) / single


def _schema() -> uc.Schema:
    """The census without hierarchies; its incomes are a declared domain."""
    schema = uc.datasets.census_schema(hierarchies=False)
    values = tuple(uc.datasets.census(30_000, seed=1).column("income").unique().to_pylist())
    (income,) = schema.sensitive
    settings = replace(schema.column(income), domain=tuple(sorted(map(str, values))))
    return replace(schema, columns={**schema.columns, income: settings})
