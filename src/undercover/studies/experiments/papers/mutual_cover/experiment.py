"""The evaluation of "Mutual Cover" run again: disclosure, information loss, error of sums, and the effect of l.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 5: 40,152 people with seven
quasi-identifiers and their salary; δ from 1/5 to 1/10 at l = 10 against Mondrian and Anatomy (Figures 3 to 7), then l
from 10 to 20 at δ = 1/6 (Figure 8); ten repetitions.

Deviations: the built-in census stands for the paper's (same columns; 17 schoolings instead of 10). Disclosure is
computed over all subsets of the quasi-identifiers instead of by sampling them. The paper does not say with which l
Mondrian and Anatomy stand beside which δ: here l = 1/δ, so that both promise the same of identities, the last one being
the l of mutual cover's groups. Without hierarchies (the paper's are not printed) categories are 0 or 1 apart. The
paper's Algorithm 3 stands beside our way to deal with unchanged rows and beside the tables alone, its attacker beside
one who knows groups and tables.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import NamedTuple

from undercover.attacks.partial.profile import PAPERS
from undercover.datasets import census, census_schema
from undercover.errors import ParameterError, unknown
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.studies.experiments.experiment import Cell, Experiment, Plot
from undercover.studies.experiments.papers.mutual_cover import bench
from undercover.studies.experiments.papers.mutual_cover.claims import BY_DELTA, BY_L, claims
from undercover.studies.experiments.request import Request, one_sensitive
from undercover.studies.experiments.rows import Rows

OPTIONS = ("hierarchies",)
QUASI_IDENTIFIERS = ("sex", "age", "relationship", "marital_status", "race", "education", "hours")
_PAPER = "Li, Wang & He, “Privacy-Preserving Data Publishing via Mutual Cover”, Section 5."
_L, _DELTA = 10, 6  # l where δ varies, 1/δ where l varies


class _Size(NamedTuple):
    """How much is measured."""

    rows: int
    deltas: tuple[int, ...]  # 1/δ
    ls: tuple[int, ...]
    queries: int
    repetitions: int


_FULL = _Size(40_152, (5, 6, 7, 8, 10), (10, 12, 15, 18, 20), 1000, 10)
_QUICK = _Size(2_000, (5, 10), (10, 20), 50, 1)


def build(request: Request) -> Experiment:
    """The experiment for a request."""
    hierarchies = request.choices(OPTIONS).get("hierarchies", "no")
    if hierarchies not in ("no", "yes"):
        raise ParameterError(unknown("Option hierarchies", hierarchies, ("no", "yes")))
    size = _QUICK if request.quick else _FULL
    schema = _schema(hierarchies=hierarchies == "yes")
    source = request.built_in(census, size.rows, schema, hierarchies=hierarchies)
    sensitive = one_sensitive(source.schema)
    on = bench.Bench(load=lambda: Table.from_arrow(source.load(), source.schema), queries=size.queries)
    repetitions = request.repetitions or size.repetitions
    return Experiment(
        name="mutual-cover",
        title="Mutual cover",
        paper=_PAPER,
        version=2,
        data=source.identity,
        private=source.private,
        cells=_cells(on, size, repetitions, request.seed, source.n_rows),
        plots=_plots,
        claims=claims(),
        prepare=on.prepare,
        about={
            "Table": f"{source.name}, {source.n_rows:,} rows",
            "Quasi-identifiers": ", ".join(source.schema.quasi_identifiers),
            "Sensitive": sensitive,
            "Mutual cover": f"δ = {', '.join(f'1/{x}' for x in size.deltas)} at l = {_L}; Algorithm 3 as printed, "
            "unchanged rows drawn again instead, and the tables alone",
            "Mondrian and Anatomy": "l = 1/δ; Mondrian cuts at the median and publishes the tightest box",
            "Attack": f"every row, over all subsets of quasi-identifiers, P = {', '.join(f'{p:g}' for p in PAPERS)}",
            "Queries": f"{size.queries:,} sums of {sensitive} with predicates on four quasi-identifiers",
            "Repetitions": f"{repetitions}, seeds {request.seed} to {request.seed + repetitions - 1}",
        },
        settings={"queries": size.queries},
        parameters={"quick": request.quick, "repetitions": repetitions, "seed": request.seed},
    )


def _schema(*, hierarchies: bool) -> Schema:
    """Education is a category, as in the paper's Table 1."""
    schema = census_schema(QUASI_IDENTIFIERS, "salary", hierarchies=hierarchies)
    if hierarchies:
        return schema
    return replace(schema, columns={**schema.columns, "education": Column(kind="categorical")})


def _cells(on: bench.Bench, size: _Size, repetitions: int, seed: int, n_rows: int) -> list[Cell]:
    """Everything against δ, then mutual cover against l."""

    def cell(figure: str, series: str, x: int, delta: int, l: int, repetition: int) -> Cell:  # noqa: E741
        parameters = {"method": series, "delta": f"1/{delta}", "l": l, "seed": seed + repetition}
        cost = (4.0 if series == bench.MONDRIAN else 3.0) * n_rows / _FULL.rows
        return Cell(figure, series, x, on.measure, parameters, repetition, cost)

    again = range(repetitions)
    cells = [
        cell(BY_DELTA, series, delta, delta, _L if series in bench.COVERS else delta, repetition)
        for delta, repetition, series in product(size.deltas, again, (*bench.COVERS, bench.MONDRIAN, bench.ANATOMY))
    ]
    return cells + [
        cell(BY_L, series, l, _DELTA, l, repetition)
        for l, repetition, series in product(size.ls, again, bench.COVERS)  # noqa: E741
    ]


def _plots(rows: Rows) -> list[Plot]:
    errors, shown = {bench.ERROR: "mean", bench.MEDIAN: "median"}, (bench.COVER, bench.MONDRIAN)
    by_p = [(p, f"P = {p:g}") for p in PAPERS]
    return [
        Plot("identity", "Identity disclosure",
             "Mean probability of picking the person's own row, by 1/δ; above each panel with which probability each "
             "known value is matched on (Figures 3 and 5a).",
             rows.panels(BY_DELTA, {bench.identity_at(p): panel for p, panel in by_p}, shown),
             "1/δ, or l of Mondrian", "probability", "share"),
        Plot("attribute", "Attribute disclosure",
             "Mean probability given to the person's true value (Figures 4 and 5b).",
             rows.panels(BY_DELTA, {bench.attribute_at(p): panel for p, panel in by_p}, shown),
             "1/δ, or l of Mondrian", "probability", "share"),
        Plot("iloss", "Information loss",
             "ILoss as the paper counts it, summed over all cells; less is better (Figure 6).",
             rows.points(BY_DELTA, bench.ILOSS), "1/δ, or l of Mondrian", "ILoss"),
        Plot("error", "Error of sums",
             "Mutual cover: |answer - sum| / sum. Mondrian and Anatomy: (upper bound - lower bound) / sum, as in the "
             "paper (Figure 7).",
             rows.panels(BY_DELTA, errors), "1/δ, or l of Mondrian and Anatomy", "error", "share",
             note="Bounds and deviations are two things: a release with bounds may also be answered by an estimate, "
             "whose error is far smaller than its bounds are wide."),
        Plot("l-iloss", "Information loss against l", f"Mutual cover at δ = 1/{_DELTA} (Figure 8a).",
             rows.points(BY_L, bench.ILOSS), "l", "ILoss"),
        Plot("l-error", "Error of sums against l", f"Mutual cover at δ = 1/{_DELTA} (Figure 8b).",
             rows.panels(BY_L, errors), "l", "error", "share"),
        Plot("informed", "Somebody who knows groups and tables",
             "Mean probability he gives to the person's own row; not in the paper.",
             [*rows.points(BY_DELTA, bench.KNOWS_ROW, panel=f"l = {_L}, by 1/δ"),
              *rows.points(BY_L, bench.KNOWS_ROW, panel=f"δ = 1/{_DELTA}, by l")],
             "1/δ or l", "probability", "share"),
    ]  # fmt: skip
