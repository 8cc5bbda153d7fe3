"""Perturbed generalization: recoding against a sort, sampling and perturbation, the classifier, growth."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

import undercover as uc
from benchmarks.measure import Book, best, side_by_side
from undercover.analysis.learning.classifier import PerturbedClassifier
from undercover.analysis.learning.features import PerturbedFeatures
from undercover.forms import classes_of
from undercover.guarantees.disjoint import DisjointCells
from undercover.methods.perturbed_generalization.cells import draw_rows, perturbed, specialized
from undercover.model.release import Release
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.partition import partition
from undercover.steps.recoding import region_cells
from undercover.studies.experiments.bench import grouped_census
from undercover.studies.experiments.papers.perturbed_generalization.experiment import QUASI_IDENTIFIERS, WEIGHTS

K, P = 6, Fraction(3, 10)
CLASSES = {"low": uc.Between(0, 24), "high": uc.Between(25, 49)}


def schema(*, hierarchies: bool = False) -> uc.Schema:
    """The columns of SAL with the stated weights."""
    known = uc.datasets.census_schema(hierarchies=hierarchies)
    columns = {
        name: uc.Column(
            kind="numeric" if name == "occupation_group" else known.column(name).kind,
            domain=known.column(name).domain,
            hierarchy=known.column(name).hierarchy,
            weight=weight,
        )
        for name, weight in WEIGHTS.items()
    }
    return uc.Schema(
        quasi_identifiers=QUASI_IDENTIFIERS, sensitive="income", columns={**columns, "income": known.column("income")}
    )


def perturbed_generalization(book: Book, rows: int, threads: int) -> None:
    book.section(f"Perturbed generalization, k={K}, {rows:,} rows x 8 quasi-identifiers, {threads} threads")
    people = grouped_census(rows, 1)
    table = Table.from_arrow(people, schema())
    columns = [codes.astype(np.int32) for codes in table.codes(QUASI_IDENTIFIERS)]

    def recode(part: Table) -> None:
        parts = partition(part, k=K, cut="median", recoding="regions", threads=threads)
        region_cells(part, parts)

    recode(table.take(np.arange(rows // 10)))
    ours, sort = side_by_side(lambda: recode(table), lambda: np.lexsort(columns))
    book.add("perturbed generalization: recoding / np.lexsort", ours / sort, "x", 1.0, note=f"{ours:.2f} s")

    parts = partition(table, k=K, cut="median", recoding="regions", threads=threads)
    income = table["income"].codes.astype(np.int64)

    def draw() -> None:
        perturbed(income[draw_rows(parts.groups, Randomness())], P, 50, Randomness())

    draw()
    book.add("perturbed generalization: sampling and perturbation", best(draw, 5) * 1e3, "ms", 50)
    book.add("perturbed generalization: cells", parts.groups.count, "cells")

    along = Table.from_arrow(people, schema(hierarchies=True))
    specialized(along, k=K)
    seconds = best(lambda: specialized(along, k=K), 2)
    cells = specialized(along, k=K).groups.count
    book.add("perturbed generalization: top-down specialisation", seconds, "s", 6.0, note=f"{cells:,} cells")

    run = uc.publish(people, schema(), uc.PerturbedGeneralization(k=K, p=float(P)), seed=1)
    features = PerturbedFeatures(run.release, CLASSES)
    X, y, weight = features.cells()
    exact = features.rows(table)
    model = PerturbedClassifier(p=float(P), domain=features.noise.domain, class_of=dict(features.class_of))

    def learn() -> None:
        model.fit(X, y, sample_weight=weight)
        model.predict(exact)

    book.add("perturbed generalization: tree fit and scoring", best(learn, 3), "s", 1.0)
    claim = next(entry for entry in run.release.guarantees if entry["name"] == "disjoint-cells")
    found = DisjointCells(trees=claim.get("trees", {}), orders=claim.get("orders", {}))
    classes = classes_of(Release("x", {}, run.release.tables, True))
    book.add("perturbed generalization: verifying that cells are disjoint", best(lambda: found.check(classes), 2), "s")
    book.add("perturbed generalization: corruption sweep", best(lambda: uc.attack(run, uc.Corruption()), 1), "s")
    _growth(book, threads)


def _growth(book: Book, threads: int) -> None:
    """The whole method, from the encoded table to the draft; processor time, which a busy machine disturbs less."""
    from undercover.engines.local import LocalEngine

    method = uc.PerturbedGeneralization(k=K, p=float(P))
    engine = LocalEngine(threads=threads)
    tables = [Table.from_arrow(grouped_census(rows, 1), schema()) for rows in (100_000, 1_000_000)]
    seconds: list[list[float]] = [[], []]
    for _ in range(7):
        for table, times in zip(tables, seconds, strict=True):
            started = time.process_time()
            method.anonymize(table, engine=engine, randomness=Randomness())
            times.append(time.process_time() - started)
    small, large = map(min, seconds)
    name = "perturbed generalization: growth 100,000 -> 1,000,000 rows, processor time"
    book.add(name, large / small, "x", 12, note=f"{large:.2f} s")
