"""The evaluation of "Cross-Bucket Generalization" run again: breach, discernibility and SUM error, and the effect of k.

Li, Liu, Han & Zhang, Section 4: 22,517 people with eight quasi-identifiers and their salary; Mondrian and Anatomy with
l-diversity against cross-bucket generalization with k = 3, for l = 4, 6, 8, 10 (Figures 5 to 7), then k = 3 to 20
(Figure 8).

Deviations: the built-in census stands for the paper's (same columns; 500 occupations instead of 216, 850 salaries
instead of 702). The paper does not say how its Mondrian publishes a class or which k it had: here it cuts at the
median, as in its own paper, publishes the tightest box, and needs k rows as cross-bucket generalization does; Mondrian
that cuts by loss is shown beside it. Query errors have a median beside the mean, which a few nearly empty sums decide.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from undercover.datasets import census, census_schema
from undercover.errors import ParameterError
from undercover.model.table import Table
from undercover.studies.experiments.experiment import Cell, Experiment, Plot
from undercover.studies.experiments.papers.cross_bucket import bench
from undercover.studies.experiments.papers.cross_bucket.claims import BY_K, BY_L, claims, series_of
from undercover.studies.experiments.request import Request, one_sensitive
from undercover.studies.experiments.rows import Rows

OPTIONS = ("k",)
QUASI_IDENTIFIERS = ("sex", "age", "relationship", "marital_status", "race", "education", "hours", "occupation")
_PAPER = (
    "Li, Liu, Han & Zhang, “Cross-Bucket Generalization for Information and Privacy Preservation”, IEEE TKDE 30(3), "
    "2018, Section 4."
)


class _Size(NamedTuple):
    """How much is measured."""

    rows: int
    ls: tuple[int, ...]
    ks: tuple[int, ...]
    queries: int
    repetitions: int


_FULL = _Size(22_517, (4, 6, 8, 10), (3, 5, 10, 15, 20), 1000, 3)
_QUICK = _Size(3_000, (4, 10), (3, 5, 10), 60, 1)


def build(request: Request) -> Experiment:
    """The experiment for a request."""
    text = request.choices(OPTIONS).get("k", "3")
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(f"The 'k' option must be an int in [1, inf). Got {text!r} instead.")
    k = int(text)
    size = _QUICK if request.quick else _FULL
    schema = census_schema(QUASI_IDENTIFIERS, "salary", hierarchies=False)
    source = request.built_in(census, size.rows, schema)
    sensitive = one_sensitive(source.schema)
    on = bench.Bench(load=lambda: Table.from_arrow(source.load(), source.schema), queries=size.queries)
    repetitions = request.repetitions or size.repetitions
    return Experiment(
        name="cross-bucket",
        title="Cross-bucket generalization",
        paper=_PAPER,
        version=1,
        data=source.identity,
        private=source.private,
        cells=_cells(on, size, k, repetitions, request.seed),
        plots=_plots,
        claims=claims(k),
        prepare=on.prepare,
        about={
            "Table": f"{source.name}, {source.n_rows:,} rows",
            "Quasi-identifiers": ", ".join(source.schema.quasi_identifiers),
            "Sensitive": sensitive,
            "Methods": f"{', '.join(bench.METHODS)}; k = {k} where a method has one",
            "Attack": "every row, all quasi-identifiers known: the probability given to the true value",
            "Queries": f"{size.queries:,} sums of {sensitive} with predicates on four quasi-identifiers",
            "Repetitions": f"{repetitions}, seeds {request.seed} to {request.seed + repetitions - 1}",
        },
        settings={"queries": size.queries},
        parameters={"quick": request.quick, "repetitions": repetitions, "seed": request.seed, "k": k},
    )


def _cells(on: bench.Bench, size: _Size, k: int, repetitions: int, seed: int) -> list[Cell]:
    """The methods against l, then cross-bucket generalization against k."""

    def cell(figure: str, series: str, x: int, method: str, k: int, l: int, repetition: int) -> Cell:  # noqa: E741
        parameters = {"method": method, "k": k, "l": l, "seed": seed + repetition}
        return Cell(figure, series, x, on.measure, parameters, repetition)

    again = range(repetitions)
    return [
        *(cell(BY_L, name, l, name, k, l, i) for l, i, name in product(size.ls, again, bench.METHODS)),  # noqa: E741
        *(cell(BY_K, series_of(l), x, bench.CROSS, x, l, i) for x, i, l in product(size.ks, again, size.ls)),  # noqa: E741
    ]


def _plots(rows: Rows) -> list[Plot]:
    errors = {bench.ERROR: "mean", bench.MEDIAN: "median"}
    return [
        Plot("breach", "Breach probability against l",
             "The probability an attacker gives to a person's true value, mean over all rows, and the highest of all; "
             "less is better (Figure 5).",
             rows.panels(BY_L, {bench.BREACH: "mean", bench.WORST: "worst row"}), "l", "probability", "share"),
        Plot("dm", "Discernibility against l",
             "Sum of the squared sizes of the equivalence groups, less is better (Figure 6).",
             rows.points(BY_L, bench.DM), "l", "DM"),
        Plot("error", "Error of sums against l",
             "(Upper bound - lower bound) / true sum over random queries, less is better (Figure 7).",
             rows.panels(BY_L, errors), "l", "error", "share",
             note="A query whose true sum is small has a huge relative error in every release; the mean shows little "
             "else."),
        Plot("k-breach", "Breach probability against k",
             "Cross-bucket generalization: mean over all rows, and the share of rows above 0.01 (Figure 8a).",
             rows.panels(BY_K, {bench.BREACH: "mean", bench.ABOVE: "rows above 0.01"}),
             "k", "probability or share", "share"),
        Plot("k-dm", "Discernibility against k", "Cross-bucket generalization (Figure 8b).",
             rows.points(BY_K, bench.DM), "k", "DM"),
        Plot("k-error", "Error of sums against k", "Cross-bucket generalization (Figure 8c).",
             rows.panels(BY_K, errors), "k", "error", "share"),
    ]  # fmt: skip
