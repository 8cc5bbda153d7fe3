"""The evaluation of perturbed generalization run again: Table III, Figures 2 and 3, and what corruption does.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section VII. Their table SAL is 700,000
people with eight quasi-identifiers and 50 classes of income, divided into m = 2 or 3 categories for decision trees.

Deviations: the built-in census stands for SAL (same columns and domain sizes; occupations by their fifty groups).
Cells are Mondrian regions cut without looking at incomes, with stated weights, where the paper specialises along
(perturbed) incomes. Trees are those of :mod:`undercover.analysis.learning.classifier`; categories are ordered by their
mean class. The paper plots errors without printing them, so claims are judged by what its text says.
"""

from __future__ import annotations

from itertools import product

from undercover.datasets import census_schema
from undercover.errors import SchemaError
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.studies.experiments.bench import grouped_census
from undercover.studies.experiments.experiment import Cell, Experiment, Plot
from undercover.studies.experiments.papers.perturbed_generalization import bench
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
_FULL, _QUICK = (700_000, 3), (20_000, 1)  # rows and repetitions


def build(request: Request) -> Experiment:
    """The experiment for a request."""
    request.choices(())
    rows, repetitions = _QUICK if request.quick else _FULL
    source = _source(request, rows)
    sensitive = one_sensitive(source.schema)
    domain = source.schema.column(sensitive).domain
    if domain is None or len(domain) < 4:
        raise SchemaError(f"This experiment needs the declared domain of `{sensitive}`, of at least 4 values in order.")
    classes = _classes(len(domain))
    on = bench.Bench(load=lambda: Table.from_arrow(source.load(), source.schema), domain=domain, classes=classes)
    repetitions = request.repetitions or repetitions
    weights = {name: source.schema.column(name).weight for name in source.schema.quasi_identifiers}
    return Experiment(
        name="perturbed-generalization",
        title="Perturbed generalization",
        paper=_PAPER,
        version=1,
        data=source.identity,
        private=source.private,
        cells=_cells(on, repetitions, request.seed),
        plots=lambda rows: _plots(rows, tuple(classes)),
        claims=claims(tuple(classes)),
        prepare=on.prepare,
        about={
            "Table": f"{source.name}, {source.n_rows:,} rows",
            "Quasi-identifiers": ", ".join(source.schema.quasi_identifiers),
            "Sensitive": f"{sensitive}, {len(domain)} declared values",
            "Weights of columns": ", ".join(f"{name} {weight:g}" for name, weight in weights.items()),
            "Classes": "; ".join(f"m = {m}: {_described(domain, ends)}" for m, ends in classes.items()),
            "Yardsticks": f"trees learnt from n/k exact rows: their own values ({bench.OPTIMISTIC}), random ones "
            f"({bench.PESSIMISTIC})",
            "Error": "share of all rows of the table that a tree classifies wrong",
            "Repetitions": f"{repetitions}, seeds {request.seed} to {request.seed + repetitions - 1}",
        },
        settings={"weights": weights, "classes": {str(m): list(ends) for m, ends in classes.items()}},
        parameters={"quick": request.quick, "repetitions": repetitions, "seed": request.seed},
    )


def _source(request: Request, rows: int) -> Source:
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
    return request.built_in(grouped_census, rows, schema)


def _classes(size: int) -> dict[int, tuple[int, ...]]:
    """Halves, and the upper half divided once more, as in the paper: the last position of every class."""
    half = size // 2 - 1
    return {2: (half, size - 1), 3: (half, half + (size - 1 - half) // 2, size - 1)}


def _described(domain: tuple[str, ...], ends: tuple[int, ...]) -> str:
    starts = (0, *(end + 1 for end in ends[:-1]))
    return ", ".join(f"[{domain[start]}, {domain[end]}]" for start, end in zip(starts, ends, strict=True))


def _cells(on: bench.Bench, repetitions: int, seed: int) -> list[Cell]:
    places = [("k", k, {"k": k, "p": P}) for k in KS] + [("p", p, {"k": K, "p": p}) for p in PS]
    cells = [
        Cell(f"table-{axis}", bound, x, on.guarantee, {"bound": bound, **at}, cost=0.001)
        for bound in ("paper", "tight")
        for axis, x, at in places
    ]
    for repetition, (axis, x, at) in product(range(repetitions), places):
        figure, now = f"utility-{axis}", seed + repetition
        cells.append(Cell(figure, bench.OURS, x, on.ours, {**at, "seed": now}, repetition, 4.0))
        for name in (bench.OPTIMISTIC, bench.PESSIMISTIC, bench.MAJORITY):
            parameters = {"name": name, "k": at["k"], "seed": now}
            cells.append(Cell(figure, name, x, on.yardstick, parameters, repetition, 2.0))
    ways, fixed = ("mondrian", "specialize"), {"k": K, "p": P, "seed": seed}
    return [
        *cells,
        *(Cell("cells", way, k, on.loss, {"k": k, "recoding": way}, cost=2.0) for way, k in product(ways, KS)),
        *(Cell("recoding", way, K, on.ours, {**fixed, "recoding": way}, cost=4.0) for way in ways),
        *(
            Cell("corruption", bench.OURS, x, on.corruption, {"k": K, "p": P, "share": x, "seed": seed}, cost=3.0)
            for x in _SHARES
        ),
    ]


def _plots(rows: Rows, classes: tuple[int, ...]) -> list[Plot]:
    axes = (("k", f"p = {P:g}", 2, "; 0.36 at k = 10 is a misprint of 0.37."), ("p", f"k = {K}", 3, "."))
    printed = {
        axis: "; ".join(
            f"{name}: {', '.join(f'{v:.2f}' for v in by_x)}" for name, by_x in PRINTED[f"table-{axis}"].items()
        )
        for axis, *_ in axes
    }
    lines = {
        "largest growth": "largest growth",
        "bound": "promised",
        "certain if plain": "certain, true values published",
    }
    return [
        *(Plot(f"table-{axis}", f"What is promised against {axis} ({fixed})",
               "Table III: the confidence ρ2 reached from 0.2, and the growth Δ, for 50 values and a skew of 0.1; by "
               "the paper's theorems and by the tight forms.",
               rows.panels(f"table-{axis}", {"ρ2": "ρ2", "Δ": "Δ"}), axis, "confidence", "share",
               note=f"The paper prints {printed[axis]}{end}")
          for axis, fixed, _, end in axes),
        *(Plot(f"utility-{axis}", f"Error of decision trees against {axis} ({fixed})",
               f"Share of all rows that are classified wrong, less is better (Figure {number}).",
               rows.panels(f"utility-{axis}", {bench.error_of(m): f"m = {m}" for m in classes}), axis, "error", "share",
               reference=(bench.MAJORITY,))
          for axis, fixed, number, _ in axes),
        Plot("cells", "How wide cells are",
             "The mean share of a column's range that a cell covers: regions of Mondrian, and one cut through the tree "
             "of every column.",
             rows.points("cells", "loss"), "k", "share of the range", "share"),
        Plot("corruption", "Corruption",
             "By how much confidence rises at worst, over every victim and three priors, against the share of others "
             "that are corrupted; the bound; and how many would be certain had true values been published.",
             [{**point, "series": name} for measure, name in lines.items()
              for point in rows.points("corruption", measure)],
             "share of the others corrupted", "confidence, share of people", "share", reference=("promised",)),
    ]  # fmt: skip
