"""The evaluation of "Privacy Streamliner" run again: time, discernibility and query error of RDA, GDA and our own.

Liu & Wang, "Privacy Streamliner", Section 4. Their tables SAL and OCC are 600,000 people with age, gender, education
and birthplace as quasi-identifiers and 50 classes of income or occupation; larger tables are copies of them.

Deviations: the built-in census stands for SAL and OCC (same columns and domain sizes), with birthplace in the order of
its codes, so that groups are the paper's rectangles; a table of one's own is published as its schema says. `guided`,
which keeps its strata apart, tells the other columns apart one after the other. Times are processor time, repeated a
few times, not a hundred, and judged by the fastest. RIA, which the paper does not measure either, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from undercover.datasets import census_schema
from undercover.datasets.population import BIRTHPLACES
from undercover.errors import ParameterError, unknown
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.studies.experiments.bench import grouped_census
from undercover.studies.experiments.experiment import Cell, Experiment, Plot
from undercover.studies.experiments.papers.streamliner.bench import ALGORITHMS, CONTROL, OPTIMUM, Bench
from undercover.studies.experiments.papers.streamliner.claims import claims
from undercover.studies.experiments.request import Request, Source, one_sensitive
from undercover.studies.experiments.rows import Rows

OPTIONS = ("table", "range", "category", "weight")
EVERYTHING = "all quasi-identifiers"
_PAPER = "Liu & Wang, “Privacy Streamliner: a two-stage approach to improving algorithm efficiency”, Section 4."
_CENSUS_QUASI_IDENTIFIERS = ("age", "sex", "education", "birthplace", "marital_status", "race", "work_class")
_PAPERS_QUASI_IDENTIFIERS = 4
_SENSITIVE = {"sal": "income", "occ": "occupation_group"}
_WEIGHT = 10_000
_TIME_L = 8
# Seconds per 600,000 rows, only to tell how much time is left.
_COST = {"rda": 0.1, "gda": 0.3, "wrap": 0.05, "guided": 0.1, CONTROL: 0.1, OPTIMUM: 0.001}
_QUERY_COST = 4.0


class _Size(NamedTuple):
    """How much is measured."""

    rows: int
    copies: tuple[int, ...]
    time_l: tuple[int, ...]
    dm_l: tuple[int, ...]
    query_l: tuple[int, ...]
    queries: int
    repetitions: int


_FULL = _Size(600_000, tuple(range(1, 11)), tuple(range(2, 11)), tuple(range(2, 11)), tuple(range(6, 11)), 1000, 3)
_QUICK = _Size(4_000, (1, 2, 4), (2, 6, 10), (2, 6, 10), (8,), 100, 1)


def build(request: Request) -> Experiment:
    """The experiment for a request."""
    options = request.choices(OPTIONS)
    size = _QUICK if request.quick else _FULL
    source, asked = _source(request, options, size)
    names = source.schema.quasi_identifiers
    sensitive = one_sensitive(source.schema)
    range_name, category = _roles(source, options)
    predicates = _predicates(range_name, category, names[:asked])
    weights = _weights(source.schema, category, options)
    bench = Bench(
        load=lambda: Table.from_arrow(source.load(), source.schema),
        weights=weights,
        strata=(category,),
        predicates=predicates,
        queries=size.queries,
        used=asked,
    )
    n_rows = source.n_rows
    repetitions = request.repetitions or size.repetitions
    return Experiment(
        name="streamliner",
        title="Privacy Streamliner",
        paper=_PAPER,
        version=4,
        data=source.identity,
        private=source.private,
        cells=_cells(bench, size, repetitions, request.seed, n_rows, asked, len(names)),
        plots=_plots,
        claims=claims(predicates, category, list(predicates)[-1]),
        prepare=bench.prepare,
        about={
            "Table": f"{source.name}, {n_rows:,} rows",
            "Quasi-identifiers": ", ".join(names[:asked]),
            "Sensitive": sensitive,
            "Weights of GDA": ", ".join(f"{name} {weights[name]:,}" for name in names[:asked]),
            "Strata of `guided`": f"{category}; the others one after the other",
            "Time": f"{n_rows * size.copies[0]:,} to {n_rows * size.copies[-1]:,} rows at l = {_TIME_L}: the forming "
            "of groups alone, one thread, compiled beforehand",
            "Queries": f"{size.queries:,} for each of: {'; '.join(predicates)}",
            "Repetitions": f"{repetitions}, seeds {request.seed} to {request.seed + repetitions - 1}",
        },
        settings={"weights": weights, "strata": [category], "predicates": predicates, "queries": size.queries},
        parameters={"quick": request.quick, "repetitions": repetitions, "seed": request.seed},
    )


def _source(request: Request, options: Mapping[str, str], size: _Size) -> tuple[Source, int]:
    """The table, and how many of its quasi-identifiers are used where their number is not what varies."""
    kind = options.get("table", "sal")
    if kind not in _SENSITIVE:
        raise ParameterError(unknown("Table", kind, _SENSITIVE))
    rows = request.rows or size.rows
    schema = census_schema(_CENSUS_QUASI_IDENTIFIERS, _SENSITIVE[kind], hierarchies=False)
    in_order = Column(kind="ordinal", domain=BIRTHPLACES)
    schema = replace(schema, columns={**schema.columns, "birthplace": in_order})
    generator = {"name": f"built-in census ({kind.upper()})", "table": kind, "rows": rows, "seed": request.seed}
    source = request.source(lambda: grouped_census(rows, request.seed), generator, schema)
    return source, len(source.schema.quasi_identifiers) if source.private else _PAPERS_QUASI_IDENTIFIERS


def _roles(source: Source, options: Mapping[str, str]) -> tuple[str, str]:
    """The columns that stand for the paper's Age and Gender."""
    names = source.schema.quasi_identifiers
    problems = [
        unknown("Quasi-identifier", options[key], names)
        for key in ("range", "category")
        if key in options and options[key] not in names
    ]
    if problems:
        raise ParameterError(problems)
    if not source.private:
        return options.get("range", "age"), options.get("category", "sex")
    data = source.load()
    distinct = {name: len(data.column(name).unique()) for name in names}
    category = options.get("category") or min(names, key=lambda name: distinct[name])
    others = [name for name in names if name != category] or [category]
    return options.get("range") or max(others, key=lambda name: distinct[name]), category


def _predicates(range_name: str, category: str, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The sets of columns queries ask about; sets that come out the same are asked once."""
    sets = {range_name: (range_name,), category: (category,), f"{range_name} and {category}": (range_name, category)}
    if range_name == category:
        sets = {category: (category,)}
    if set(names) not in [set(columns) for columns in sets.values()]:
        sets[EVERYTHING] = names
    return sets


def _weights(schema: Schema, category: str, options: Mapping[str, str]) -> dict[str, int]:
    """Those of the spec where it has any; else the paper's: the category first of all, the others alike."""
    text = options.get("weight", str(_WEIGHT))
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(f"The 'weight' option must be an int in [1, inf). Got {text!r} instead.")
    names = schema.quasi_identifiers
    given = {name: schema.column(name).weight for name in names}
    if "weight" not in options and any(weight != 1 for weight in given.values()):
        return {name: max(1, round(weight)) for name, weight in given.items()}
    return {name: int(text) if name == category else 1 for name in names}


def _cells(
    bench: Bench, size: _Size, repetitions: int, seed: int, n_rows: int, asked: int, available: int
) -> list[Cell]:
    """Tables outermost, so that each is made once."""
    again = range(repetitions)

    def cell(figure: str, measure: Any, name: str, x: int, repetition: int, cost: float, **settings: int) -> Cell:
        parameters = {"algorithm": name, **settings, "seed": seed + repetition}
        return Cell(figure, name, x, measure, parameters, repetition, cost * n_rows / 600_000)

    def timed(figure: str, name: str, x: int, repetition: int, l: int, copies: int, used: int) -> Cell:  # noqa: E741
        cost, settings = _COST[name] * copies, {"l": l, "copies": copies, "quasi_identifiers": used}
        return cell(figure, bench.time, name, x, repetition, cost, **settings)

    cells = [
        timed("time-n", name, copies * n_rows, i, _TIME_L, copies, asked)
        for copies, i, name in product(size.copies, again, (*ALGORITHMS, CONTROL))
    ]
    for x, i, name in product(size.time_l, again, ALGORITHMS):
        cells.append(timed("time-l", name, x, i, x, 1, asked))
    for x, i, name in product(range(1, available + 1), again, ALGORITHMS):
        cells.append(timed("time-qi", name, x, i, _TIME_L, 1, x))
    for x, name in product(size.dm_l, (OPTIMUM, *ALGORITHMS)):
        cells.append(cell("dm", bench.discernibility, name, x, 0, _COST[name], l=x))
    for x, i, name in product(size.query_l, again, ALGORITHMS):
        cells.append(cell("qwe", bench.query_error, name, x, i, _QUERY_COST, l=x))
    return cells


def _coincide(rows: Rows) -> str:
    """Why only one line is seen where all reach the optimum."""
    above = [value - 1 for value in rows.values("dm", measure="DM to optimum")]
    if not above or max(above) > 0.01:
        return ""
    return f"The lines lie on one another: none is more than {max(above):.3%} above the optimum."


def _plots(rows: Rows) -> list[Plot]:
    labels = list(dict.fromkeys(row.measure for row in rows if row.figure == "qwe"))
    return [
        Plot("time-n", "Time against the number of rows",
             "Forming the groups at l = 8, the table several times over (Figure 1). The dashed line is the control, "
             "linear work: as many numbers written to random places, ten times over.",
             rows.points("time-n", "seconds"), "rows", "processor seconds", "seconds", reference=(CONTROL,)),
        Plot("time-l", "Time against l", "Forming the groups of the table as it is.",
             rows.points("time-l", "seconds"), "l", "processor seconds", "seconds"),
        Plot("time-qi", "Time against the number of quasi-identifiers",
             "Forming the groups at l = 8. RDA and `wrap` do not look at quasi-identifiers.",
             rows.points("time-qi", "seconds"), "quasi-identifiers", "processor seconds", "seconds"),
        Plot("dm", "Discernibility against l",
             "Sum of the squared group sizes, less is better (Figure 2). The dashed line is the least possible.",
             rows.points("dm", "DM"), "l", "DM", reference=(OPTIMUM,), note=_coincide(rows)),
        Plot("qwe", "Query error against l",
             "Mean relative error of random COUNT queries on one sensitive value and the columns named above each "
             "panel, less is better (Figures 3 to 7).",
             rows.panels("qwe", {label: label for label in labels}), "l", "mean error", "share"),
    ]  # fmt: skip
