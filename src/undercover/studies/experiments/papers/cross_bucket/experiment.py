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

from dataclasses import dataclass
from itertools import product

from undercover.datasets import census, census_schema
from undercover.errors import ParameterError
from undercover.model.table import Table
from undercover.studies.experiments.experiment import Cell, Experiment, Plot
from undercover.studies.experiments.papers.cross_bucket.bench import (
    ABOVE,
    BREACH,
    CROSS,
    DM,
    ERROR,
    MEDIAN,
    METHODS,
    WORST,
    Bench,
)
from undercover.studies.experiments.papers.cross_bucket.claims import BY_K, BY_L, claims, series_of
from undercover.studies.experiments.request import Request, one_sensitive
from undercover.studies.experiments.rows import Rows

OPTIONS = ("k",)
QUASI_IDENTIFIERS = ("sex", "age", "relationship", "marital_status", "race", "education", "hours", "occupation")
_PAPER = (
    "Li, Liu, Han & Zhang, “Cross-Bucket Generalization for Information and Privacy Preservation”, IEEE TKDE 30(3), "
    "2018, Section 4."
)


@dataclass(frozen=True)
class _Size:
    """How much is measured."""

    rows: int
    ls: tuple[int, ...]
    ks: tuple[int, ...]
    queries: int
    repetitions: int


_FULL = _Size(22_517, (4, 6, 8, 10), (3, 5, 10, 15, 20), 1000, 3)
_QUICK = _Size(3_000, (4, 10), (3, 5, 10), 60, 1)


def build(request: Request) -> Experiment:
    """The experiment for a request.

    Examples
    --------
    >>> experiment = build(Request(quick=True))
    >>> experiment.name, len(experiment.cells), dict(experiment.data)["generator"]["rows"]
    ('cross-bucket', 14, 3000)
    >>> build(Request(options={"k": "many"}))
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'k' option must be an int in [1, inf). Got 'many' instead.
    """
    text = request.choices(OPTIONS).get("k", "3")
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(f"The 'k' option must be an int in [1, inf). Got {text!r} instead.")
    k = int(text)
    size = _QUICK if request.quick else _FULL
    rows = request.rows or size.rows
    source = request.source(
        lambda: census(rows, request.seed),
        {"name": "built-in census", "rows": rows, "seed": request.seed},
        census_schema(QUASI_IDENTIFIERS, "salary", hierarchies=False),
    )
    sensitive = one_sensitive(source.schema)
    bench = Bench(load=lambda: Table.from_arrow(source.load(), source.schema), queries=size.queries)
    n_rows = int(source.identity.get("rows") or source.identity["generator"]["rows"])
    repetitions = request.repetitions or size.repetitions
    return Experiment(
        name="cross-bucket",
        title="Cross-bucket generalization",
        paper=_PAPER,
        version=1,
        data=source.identity,
        private=source.private,
        cells=_cells(bench, size, k, repetitions, request.seed),
        plots=_plots,
        claims=claims(k),
        prepare=bench.prepare,
        about=[
            ("Table", f"{source.name}, {n_rows:,} rows"),
            ("Quasi-identifiers", ", ".join(source.schema.quasi_identifiers)),
            ("Sensitive", sensitive),
            ("Methods", f"{', '.join(METHODS)}; k = {k} where a method has one"),
            ("Attack", "every row, all quasi-identifiers known: the probability given to the true value"),
            ("Queries", f"{size.queries:,} sums of {sensitive} with predicates on four quasi-identifiers"),
            ("Repetitions", f"{repetitions}, seeds {request.seed} to {request.seed + repetitions - 1}"),
        ],
        settings={"queries": size.queries},
        parameters={"quick": request.quick, "repetitions": repetitions, "seed": request.seed, "k": k},
    )


def _cells(bench: Bench, size: _Size, k: int, repetitions: int, seed: int) -> list[Cell]:
    """The methods against l, then cross-bucket generalization against k."""
    cells = [
        Cell(
            figure=BY_L,
            series=method,
            x=l,
            measure=bench.measure,
            parameters={"method": method, "k": k, "l": l, "seed": seed + repetition},
            repetition=repetition,
        )
        for l, repetition, method in product(size.ls, range(repetitions), METHODS)  # noqa: E741
    ]
    return cells + [
        Cell(
            figure=BY_K,
            series=series_of(l),
            x=of_figure,
            measure=bench.measure,
            parameters={"method": CROSS, "k": of_figure, "l": l, "seed": seed + repetition},
            repetition=repetition,
        )
        for of_figure, repetition, l in product(size.ks, range(repetitions), size.ls)  # noqa: E741
    ]


def _plots(rows: Rows) -> list[Plot]:
    return [
        Plot(
            id="breach",
            title="Breach probability against l",
            caption="The probability an attacker gives to a person's true value, mean over all rows, and the highest "
            "of all; less is better (Figure 5).",
            points=[
                point
                for measure, panel in ((BREACH, "mean"), (WORST, "worst row"))
                for point in rows.points(BY_L, measure, panel=panel)
            ],
            x_title="l",
            y_title="probability",
            unit="share",
        ),
        Plot(
            id="dm",
            title="Discernibility against l",
            caption="Sum of the squared sizes of the equivalence groups, less is better (Figure 6).",
            points=rows.points(BY_L, DM),
            x_title="l",
            y_title="DM",
        ),
        Plot(
            id="error",
            title="Error of sums against l",
            caption="(Upper bound - lower bound) / true sum over random queries, less is better (Figure 7).",
            points=[
                point
                for measure, panel in ((ERROR, "mean"), (MEDIAN, "median"))
                for point in rows.points(BY_L, measure, panel=panel)
            ],
            x_title="l",
            y_title="error",
            unit="share",
            note="A query whose true sum is small has a huge relative error in every release; the mean shows little "
            "else.",
        ),
        Plot(
            id="k-breach",
            title="Breach probability against k",
            caption="Cross-bucket generalization: mean over all rows, and the share of rows above 0.01 (Figure 8a).",
            points=[
                point
                for measure, panel in ((BREACH, "mean"), (ABOVE, "rows above 0.01"))
                for point in rows.points(BY_K, measure, panel=panel)
            ],
            x_title="k",
            y_title="probability or share",
            unit="share",
        ),
        Plot(
            id="k-dm",
            title="Discernibility against k",
            caption="Cross-bucket generalization (Figure 8b).",
            points=rows.points(BY_K, DM),
            x_title="k",
            y_title="DM",
        ),
        Plot(
            id="k-error",
            title="Error of sums against k",
            caption="Cross-bucket generalization (Figure 8c).",
            points=[
                point
                for measure, panel in ((ERROR, "mean"), (MEDIAN, "median"))
                for point in rows.points(BY_K, measure, panel=panel)
            ],
            x_title="k",
            y_title="error",
            unit="share",
        ),
    ]
