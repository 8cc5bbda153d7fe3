"""The evaluation of perturbed generalization run again: Table III, Figures 2 and 3, and what corruption does.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section VII. Their table SAL is 700,000
people with eight quasi-identifiers and 50 classes of income, divided into m = 2 or 3 categories for decision trees.

Deviations: the built-in census stands for SAL (same columns and domain sizes; occupations by their fifty groups).
Cells are Mondrian regions cut without looking at incomes, with stated weights, where the paper specialises along
(perturbed) incomes. Trees are those of :mod:`undercover.analysis.learning.classifier`; categories are ordered by their
mean class. The paper plots errors without printing them, so claims are judged by what its text says.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from undercover.datasets import census, census_schema
from undercover.errors import SchemaError
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.studies.experiments.experiment import Cell, Experiment, Plot
from undercover.studies.experiments.papers.perturbed_generalization.bench import (
    MAJORITY,
    OPTIMISTIC,
    OURS,
    PESSIMISTIC,
    Bench,
    error_of,
)
from undercover.studies.experiments.papers.perturbed_generalization.claims import KS, PRINTED, PS, claims
from undercover.studies.experiments.request import Request, Source, one_sensitive
from undercover.studies.experiments.rows import Rows

# How much somebody who has never seen the table would want to know of a column: what income is known to depend on.
WEIGHTS = {
    "age": 4.0,
    "sex": 4.0,
    "education": 8.0,
    "occupation_group": 8.0,
    "marital_status": 4.0,
    "work_class": 2.0,
    "race": 0.1,
    "birthplace": 0.1,
}
QUASI_IDENTIFIERS = tuple(WEIGHTS)
K, P = 6, 0.3
_PAPER = "Tao, Xiao, Li & Zhang, “On Anti-Corruption Privacy Preserving Publication”, Section VII."
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class _Size:
    """How much is measured."""

    rows: int
    repetitions: int


_FULL, _QUICK = _Size(700_000, 3), _Size(20_000, 1)


def build(request: Request) -> Experiment:
    """The experiment for a request.

    Examples
    --------
    >>> experiment = build(Request(quick=True))
    >>> experiment.name, dict(experiment.data)["generator"]["rows"]
    ('perturbed-generalization', 20000)
    """
    request.choices(())
    size = _QUICK if request.quick else _FULL
    source = _source(request, size)
    sensitive = one_sensitive(source.schema)
    domain = source.schema.column(sensitive).domain
    if domain is None or len(domain) < 4:
        raise SchemaError(f"This experiment needs the declared domain of `{sensitive}`, of at least 4 values in order.")
    classes = _classes(len(domain))
    bench = Bench(load=lambda: Table.from_arrow(source.load(), source.schema), domain=domain, classes=classes)
    n_rows = int(source.identity.get("rows") or source.identity["generator"]["rows"])
    repetitions = request.repetitions or size.repetitions
    weights = {name: source.schema.column(name).weight for name in source.schema.quasi_identifiers}
    return Experiment(
        name="perturbed-generalization",
        title="Perturbed generalization",
        paper=_PAPER,
        version=1,
        data=source.identity,
        private=source.private,
        cells=_cells(bench, repetitions, request.seed),
        plots=lambda rows: _plots(rows, tuple(classes)),
        claims=claims(tuple(classes)),
        prepare=bench.prepare,
        about=[
            ("Table", f"{source.name}, {n_rows:,} rows"),
            ("Quasi-identifiers", ", ".join(source.schema.quasi_identifiers)),
            ("Sensitive", f"{sensitive}, {len(domain)} declared values"),
            ("Weights of columns", ", ".join(f"{name} {weight:g}" for name, weight in weights.items())),
            ("Classes", "; ".join(f"m = {m}: {_described(domain, ends)}" for m, ends in classes.items())),
            (
                "Yardsticks",
                f"trees learnt from n/k exact rows: their own values ({OPTIMISTIC}), random ones ({PESSIMISTIC})",
            ),
            ("Error", "share of all rows of the table that a tree classifies wrong"),
            ("Repetitions", f"{repetitions}, seeds {request.seed} to {request.seed + repetitions - 1}"),
        ],
        settings={"weights": weights, "classes": {str(m): list(ends) for m, ends in classes.items()}},
        parameters={"quick": request.quick, "repetitions": repetitions, "seed": request.seed},
    )


def _source(request: Request, size: _Size) -> Source:
    rows = request.rows or size.rows
    known = census_schema(hierarchies=False)
    columns = {
        name: Column(
            kind="numeric" if name == "occupation_group" else known.column(name).kind,
            domain=known.column(name).domain,
            weight=weight,
        )
        for name, weight in WEIGHTS.items()
    }
    schema = Schema(
        quasi_identifiers=QUASI_IDENTIFIERS, sensitive="income", columns={**columns, "income": known.column("income")}
    )
    generator = {"name": "built-in census", "rows": rows, "seed": request.seed}
    return request.source(lambda: people(rows, request.seed), generator, schema)


def people(rows: int, seed: int) -> pa.Table:
    """The built-in census with the fifty groups of occupations, as many as SAL has."""
    table = census(rows, seed)
    groups = (table["occupation"].to_numpy() // 10).astype(np.int16)
    return table.append_column("occupation_group", pa.array(groups))


def _classes(size: int) -> dict[int, tuple[int, ...]]:
    """Halves, and the upper half divided once more, as in the paper: the last position of every class."""
    half = size // 2 - 1
    return {2: (half, size - 1), 3: (half, half + (size - 1 - half) // 2, size - 1)}


def _described(domain: tuple[str, ...], ends: tuple[int, ...]) -> str:
    starts = (0, *(end + 1 for end in ends[:-1]))
    return ", ".join(f"[{domain[start]}, {domain[end]}]" for start, end in zip(starts, ends, strict=True))


def _cells(bench: Bench, repetitions: int, seed: int) -> list[Cell]:
    cells: list[Cell] = []
    for bound in ("paper", "tight"):
        for figure, points in (("table-k", [(k, k, P) for k in KS]), ("table-p", [(p, K, p) for p in PS])):
            for x, k, p in points:
                parameters = {"bound": bound, "k": k, "p": p}
                cells.append(
                    Cell(figure=figure, series=bound, x=x, measure=bench.guarantee, parameters=parameters, cost=0.001)
                )
    for repetition in range(repetitions):
        now = seed + repetition
        for figure, points in (("utility-k", [(k, k, P) for k in KS]), ("utility-p", [(p, K, p) for p in PS])):
            for x, k, p in points:
                cells.append(
                    Cell(
                        figure=figure,
                        series=OURS,
                        x=x,
                        measure=bench.ours,
                        parameters={"k": k, "p": p, "seed": now},
                        repetition=repetition,
                        cost=4.0,
                    )
                )
                cells += [
                    Cell(
                        figure=figure,
                        series=name,
                        x=x,
                        measure=bench.yardstick,
                        parameters={"name": name, "k": k, "seed": now},
                        repetition=repetition,
                        cost=2.0,
                    )
                    for name in (OPTIMISTIC, PESSIMISTIC, MAJORITY)
                ]
    for recoding, k in product(("mondrian", "specialize"), KS):
        parameters = {"k": k, "recoding": recoding}
        cells.append(Cell(figure="cells", series=recoding, x=k, measure=bench.loss, parameters=parameters, cost=2.0))
    for recoding in ("mondrian", "specialize"):
        parameters = {"k": K, "p": P, "seed": seed, "recoding": recoding}
        cells.append(Cell(figure="recoding", series=recoding, x=K, measure=bench.ours, parameters=parameters, cost=4.0))
    for share in _SHARES:
        parameters = {"k": K, "p": P, "share": share, "seed": seed}
        cells.append(
            Cell(figure="corruption", series=OURS, x=share, measure=bench.corruption, parameters=parameters, cost=3.0)
        )
    return cells


def _plots(rows: Rows, classes: tuple[int, ...]) -> list[Plot]:
    return [
        *(
            Plot(
                id=figure,
                title=f"What is promised against {axis} ({fixed})",
                caption="Table III: the confidence ρ2 reached from 0.2, and the growth Δ, for 50 values and a skew of "
                "0.1; by the paper's theorems and by the tight forms.",
                points=[point for measure in ("ρ2", "Δ") for point in rows.points(figure, measure, panel=measure)],
                x_title=axis,
                y_title="confidence",
                unit="share",
                note="The paper prints "
                + "; ".join(
                    f"{name}: {', '.join(f'{v:.2f}' for v in values)}" for name, values in PRINTED[figure].items()
                )
                + ("; 0.36 at k = 10 is a misprint of 0.37." if figure == "table-k" else "."),
            )
            for figure, axis, fixed in (("table-k", "k", f"p = {P:g}"), ("table-p", "p", f"k = {K}"))
        ),
        *(
            Plot(
                id=figure,
                title=f"Error of decision trees against {axis} ({fixed})",
                caption=f"Share of all rows that are classified wrong, less is better (Figure {number}).",
                points=[point for m in classes for point in rows.points(figure, error_of(m), panel=f"m = {m}")],
                x_title=axis,
                y_title="error",
                unit="share",
                reference=(MAJORITY,),
            )
            for figure, axis, fixed, number in (("utility-k", "k", f"p = {P:g}", 2), ("utility-p", "p", f"k = {K}", 3))
        ),
        Plot(
            id="cells",
            title="How wide cells are",
            caption="The mean share of a column's range that a cell covers: regions of Mondrian, and one cut through "
            "the tree of every column.",
            points=rows.points("cells", "loss"),
            x_title="k",
            y_title="share of the range",
            unit="share",
        ),
        Plot(
            id="corruption",
            title="Corruption",
            caption="By how much confidence rises at worst, over every victim and three priors, against the share of "
            "others that are corrupted; the bound; and how many would be certain had true values been published.",
            points=[
                {**point, "series": name}
                for measure, name in (
                    ("largest growth", "largest growth"),
                    ("bound", "promised"),
                    ("certain if plain", "certain, true values published"),
                )
                for point in rows.points("corruption", measure)
            ],
            x_title="share of the others corrupted",
            y_title="confidence, share of people",
            unit="share",
            reference=("promised",),
        ),
    ]
