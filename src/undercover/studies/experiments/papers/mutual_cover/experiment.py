"""The evaluation of "Mutual Cover" run again: disclosure, information loss, error of sums, and the effect of l.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 5: 40,152 people with seven
quasi-identifiers and their salary; δ from 1/5 to 1/10 at l = 10 against Mondrian and Anatomy (Figures 3 to 7), then l
from 10 to 20 at δ = 1/6 (Figure 8); ten repetitions.

Deviations: the built-in census stands for the paper's (same columns; 17 schoolings instead of 10). Disclosure is
computed over all subsets of the quasi-identifiers instead of by sampling them. The paper does not say with which l
Mondrian and Anatomy stand beside which δ: here l = 1/δ, so that both promise the same of identities, the last one being
the l of mutual cover's groups. The paper's hierarchies are not printed: categories are 0 or 1 apart, and the loss is
shown along hierarchies of ours as well. The paper's Algorithm 3 stands beside our way to deal with unchanged rows and
beside the tables alone, its attacker beside one who knows groups and tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from undercover.attacks.partial.profile import PAPERS
from undercover.datasets import census, census_schema
from undercover.errors import ParameterError, unknown
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.studies.experiments.experiment import Cell, Experiment, Plot, Rows
from undercover.studies.experiments.papers.mutual_cover.bench import (
    ANATOMY,
    COVER,
    COVERS,
    ERROR,
    ESTIMATE,
    GROUPS,
    ILOSS,
    ILOSS_CELLS,
    KNOWS_ROW,
    LAYERS,
    MEDIAN,
    MONDRIAN,
    SAFE,
    Bench,
    attribute_at,
    identity_at,
)
from undercover.studies.experiments.papers.mutual_cover.claims import ALONG, BY_DELTA, BY_L, claims
from undercover.studies.experiments.request import Request, one_sensitive

OPTIONS = ("hierarchies",)
QUASI_IDENTIFIERS = ("sex", "age", "relationship", "marital_status", "race", "education", "hours")
_PAPER = "Li, Wang & He, “Privacy-Preserving Data Publishing via Mutual Cover”, Section 5."
_L, _DELTA = 10, 6  # l where δ varies, 1/δ where l varies
_SHOWN = (COVER, *SAFE)
_APART, _ALONG = "categories as in all other figures", "categories along hierarchies"


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
    hierarchies = request.choices(OPTIONS).get("hierarchies", "both")
    if hierarchies not in ("both", "no", "yes"):
        raise ParameterError(unknown("Option hierarchies", hierarchies, ("both", "no", "yes")))
    size = _QUICK if request.quick else _FULL
    schema = _schema(hierarchies=hierarchies == "yes")
    source = request.built_in(census, size.rows, schema, hierarchies=hierarchies)
    sensitive = one_sensitive(source.schema)
    on = Bench(load=lambda: Table.from_arrow(source.load(), source.schema), queries=size.queries)
    trees = None
    if hierarchies == "both" and not source.private:
        along = _schema(hierarchies=True)
        trees = Bench(load=lambda: Table.from_arrow(source.load(), along), queries=size.queries)
    repetitions = request.repetitions or size.repetitions
    return Experiment(
        name="mutual-cover",
        title="Mutual cover",
        paper=_PAPER,
        version=3,
        data=source.identity,
        private=source.private,
        cells=_cells(on, trees, size, repetitions, request.seed, source.n_rows),
        plots=_plots,
        claims=claims(),
        prepare=on.prepare,
        about={
            "Table": f"{source.name}, {source.n_rows:,} rows",
            "Quasi-identifiers": ", ".join(source.schema.quasi_identifiers),
            "Sensitive": sensitive,
            "Mutual cover": f"δ = {', '.join(f'1/{x}' for x in size.deltas)} at l = {_L}; Algorithm 3 as printed, "
            "unchanged rows drawn again instead, and the tables alone",
            "Ours beside it": f"{', '.join(SAFE)}: nothing is told to whoever knows the algorithm; blocks know no l, "
            "groups no δ",
            "Categories": "0 or 1 apart, and beside it along hierarchies" if trees else "as the table says",
            "Mondrian and Anatomy": "l = 1/δ; Mondrian cuts at the median and publishes the tightest box",
            "Attack": f"every row, over all subsets of quasi-identifiers, P = {', '.join(f'{p:g}' for p in PAPERS)}",
            "Queries": f"{size.queries:,} sums of {sensitive} with predicates on four quasi-identifiers",
            "Repetitions": request.seeds(repetitions),
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


def _cells(on: Bench, trees: Bench | None, size: _Size, repetitions: int, seed: int, n_rows: int) -> list[Cell]:
    """Everything against δ, then mutual cover against l, and what is lost along hierarchies."""
    Measure = Callable[..., Mapping[str, float]]

    def cell(figure: str, measure: Measure, series: str, x: int, delta: int, l: int, repetition: int) -> Cell:  # noqa: E741
        parameters = {"method": series, "delta": f"1/{delta}", "l": l, "seed": seed + repetition}
        cost = {MONDRIAN: 4.0, **dict.fromkeys(SAFE, 1.0)}.get(series, 3.0) * n_rows / _FULL.rows
        return Cell(figure, series, x, measure, parameters, repetition, cost)

    def against_delta(figure: str, measure: Measure, series: tuple[str, ...]) -> list[Cell]:
        return [
            cell(figure, measure, name, delta, delta, delta if name in (MONDRIAN, ANATOMY) else _L, repetition)
            for delta, repetition, name in product(size.deltas, again, series)
        ]

    again = range(repetitions)
    cells = against_delta(BY_DELTA, on.measure, (*COVERS, *SAFE, MONDRIAN, ANATOMY))
    cells += [
        cell(BY_L, on.measure, series, l, _DELTA, l, repetition)
        for l, repetition, series in product(size.ls, again, (*COVERS, LAYERS, GROUPS))  # noqa: E741
    ]
    return cells + (against_delta(ALONG, trees.costs, (*_SHOWN, MONDRIAN)) if trees else [])


def _plots(rows: Rows) -> list[Plot]:
    errors = {ERROR: "mean", MEDIAN: "median", ESTIMATE: "estimates, median"}
    by_p = [(p, f"P = {p:g}") for p in PAPERS]
    l_of_others, shown = "1/δ, or l of Mondrian", (*_SHOWN, MONDRIAN)
    return [
        Plot("identity", "Identity disclosure",
             "Mean probability of picking the person's own row, by 1/δ; above each panel with which probability each "
             "known value is matched on (Figures 3 and 5a). Dashed: our variants, whose figure is that of the row that "
             "carries the person's sensitive value.",
             rows.panels(BY_DELTA, {identity_at(p): panel for p, panel in by_p}, shown),
             l_of_others, "probability", "share"),
        Plot("attribute", "Attribute disclosure",
             "Mean probability given to the person's true value (Figures 4 and 5b).",
             rows.panels(BY_DELTA, {attribute_at(p): panel for p, panel in by_p}, shown),
             l_of_others, "probability", "share"),
        Plot("iloss", "Information loss",
             "ILoss as the paper counts it, summed over all cells; less is better (Figure 6). Categories are 0 or 1 "
             "apart if nothing else was asked for, in the second panel as far as their trees say. Of our variants it "
             "is counted against the person whose sensitive value a row carries.",
             [*rows.points(BY_DELTA, ILOSS, panel=_APART, series=shown),
              *rows.points(ALONG, ILOSS, panel=_ALONG)],
             l_of_others, "ILoss"),
        Plot("places", "How far quasi-identifiers moved",
             "The same against the person whose place in the table a row is, before sensitive values were permuted; of "
             "blocks and groups that is the same person. Not in the paper.",
             [*rows.points(BY_DELTA, ILOSS_CELLS, panel=_APART),
              *rows.points(ALONG, ILOSS_CELLS, panel=_ALONG)], "1/δ", "ILoss"),
        Plot("unchanged", "Information loss, by what becomes of unchanged rows",
             "Algorithm 3 as printed, drawn again instead, and the tables alone.",
             rows.points(BY_DELTA, ILOSS, series=COVERS), "1/δ", "ILoss"),
        Plot("error", "Error of sums",
             "Mutual cover: |answer - sum| / sum. Mondrian and Anatomy: (upper bound - lower bound) / sum, as in the "
             "paper (Figure 7). In the last panel estimates of all of them, by one yardstick.",
             rows.panels(BY_DELTA, errors, (*shown, ANATOMY)), f"{l_of_others} and Anatomy", "error", "share",
             note="Bounds and deviations are two things: a release with bounds may also be answered by an estimate, "
             "whose error is far smaller than its bounds are wide."),
        Plot("l-iloss", "Information loss against l",
             f"Mutual cover at δ = 1/{_DELTA} (Figure 8a); blocks know no l.", rows.points(BY_L, ILOSS), "l", "ILoss"),
        Plot("l-error", "Error of sums against l", f"Mutual cover at δ = 1/{_DELTA} (Figure 8b).",
             rows.panels(BY_L, errors), "l", "error", "share"),
        Plot("informed", "Somebody who knows groups and tables",
             "Mean probability he gives to the person's own row, in the paper's variant; not in the paper.",
             [*rows.points(BY_DELTA, KNOWS_ROW, panel=f"l = {_L}, by 1/δ"),
              *rows.points(BY_L, KNOWS_ROW, panel=f"δ = 1/{_DELTA}, by l")],
             "1/δ or l", "probability", "share"),
    ]  # fmt: skip
