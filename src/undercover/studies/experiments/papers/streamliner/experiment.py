"""The evaluation of "Privacy Streamliner" run again: time, discernibility and query error of RDA, GDA and our own.

Liu & Wang, "Privacy Streamliner", Section 4. Their tables SAL and OCC are 600,000 people with age, gender, education
and birthplace as quasi-identifiers and 50 classes of income or occupation; larger tables are copies of them.

Deviations: the built-in census stands for SAL and OCC (same columns and domain sizes), with birthplace in the order of
its codes, so that groups are the paper's rectangles; a table of one's own is published as its schema says. `guided`,
which keeps its strata apart, tells the other columns apart one after the other; class dealing, which has near rows of
different values together, stands beside it. Times are processor time, repeated a
few times, not a hundred, and judged by the fastest. RIA, which the paper does not measure either, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from undercover.datasets import census_schema
from undercover.datasets.population import BIRTHPLACES
from undercover.errors import ParameterError, unknown
from undercover.model.figures import number, risk, seconds
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.studies.experiments.bench import grouped_census
from undercover.studies.experiments.experiment import (
    Cell,
    Claim,
    Experiment,
    Judgement,
    NotMeasuredError,
    Plot,
    Rows,
    judged,
    untestable,
)
from undercover.studies.experiments.judges import counted, every, several, spread
from undercover.studies.experiments.papers.streamliner.bench import ALGORITHMS, CLASSES, CONTROL, OPTIMUM, Bench
from undercover.studies.experiments.request import Request, Source, one_sensitive

OPTIONS = ("table", "range", "category", "weight")
EVERYTHING = "all quasi-identifiers"
_PAPER = "Liu & Wang, “Privacy Streamliner: a two-stage approach to improving algorithm efficiency”, Section 4."
_CENSUS_QUASI_IDENTIFIERS = ("age", "sex", "education", "birthplace", "marital_status", "race", "work_class")
_PAPERS_QUASI_IDENTIFIERS = 4
_SENSITIVE = {"sal": "income", "occ": "occupation_group"}
_WEIGHT = 10_000
_TIME_L = 8
# Seconds per 600,000 rows, only to tell how much time is left.
_COST = {"rda": 0.1, "gda": 0.3, "wrap": 0.05, "guided": 0.1, CLASSES: 3.0, CONTROL: 0.1, OPTIMUM: 0.001}
_QUERY_COST = 4.0
PAPERS = ("rda", "gda")
_ABOVE_CONTROL, _INSENSITIVE, _SLIGHT = 0.1, 1.5, 2.0
_CONTROL_EXPONENT = (0.9, 1.7)  # 1 and what caches cost; outside it the times mean nothing
_DM_RDA, _DM_GDA = 1.01, 1.05
_REDUCTION, _GENDER_RDA, _GENDER_GDA = 3.0, (0.4, 0.9), 0.25
_PAPER_L = 8
_LACKING = "undercover does not have the algorithms of that paper"
_SHORTEST = 0.005  # seconds; below it fixed costs and the clock decide


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
        version=5,
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
            "Repetitions": request.seeds(repetitions),
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


def claims(predicates: Mapping[str, tuple[str, ...]], category: str, everything: str) -> list[Claim]:
    """The claims of the paper, and two on what we added.

    ``predicates`` are label and columns of each set that queries ask about; ``category`` is the label that stands for
    the paper's Gender, ``everything`` that of all quasi-identifiers together.
    """
    return [
        Claim("time-linear", "Section 4.1, Figure 1; Sections 3.2 and 3.3 for O(n)", _linear,
              "The time of RDA and GDA grows in proportion to the number of rows.",
              f"processor time grows as a power of the rows that is at most {_ABOVE_CONTROL:g} above that of the "
              "control, ten random scatters of as many numbers: linear work, and where it takes more than in "
              "proportion, that is the caches of the machine"),
        Claim("rda-faster", "Section 4.1, Figure 1", _faster,
              "RDA is faster than GDA.",
              "at every number of rows, by the fastest repetition"),
        Claim("gda-overhead-slight", "Section 4.1", _slight,
              "What GDA costs beyond RDA is slight.",
              f"GDA takes at most {_SLIGHT:g} times as long as RDA at the largest table"),
        Claim("faster-than-transparent", "Section 4.1, against its reference 28",
              untestable(f"{_LACKING}, and figures from another machine do not compare"),
              "Both algorithms need less time than those of Xiao, Tao and Koudas, RDA much less.",
              "those algorithms on the same machine and table"),
        Claim("time-insensitive-to-l", "Section 4.1, figures not shown", lambda rows: _insensitive(rows, "time-l"),
              "The time does not depend on l.",
              f"the slowest l takes at most {_INSENSITIVE:g} times as long as the fastest"),
        Claim("time-insensitive-to-qi", "Section 4.1, figures not shown", lambda rows: _insensitive(rows, "time-qi"),
              "The time does not depend on the number of quasi-identifiers.",
              f"the slowest number takes at most {_INSENSITIVE:g} times as long as the fastest"),
        Claim("dm-rda-optimal", "Section 4.2, Figure 2", lambda rows: _near_optimum(rows, "rda", _DM_RDA),
              "The discernibility of RDA is very close to the optimum.",
              f"at most {_DM_RDA:g} times the optimum for every l"),
        Claim("dm-gda-near-optimal", "Section 4.2, Figure 2", lambda rows: _near_optimum(rows, "gda", _DM_GDA),
              "The discernibility of GDA is only slightly above the optimum.",
              f"at most {_DM_GDA:g} times the optimum for every l"),
        Claim("rda-minimal-groups", "Section 3.2", _minimal,
              "Most groups of RDA are as small as l allows.",
              "more than half of the groups have exactly l rows, for every l"),
        Claim("gda-answers-better", "Section 4.2, Figures 3 to 7",
              lambda rows: _better(rows, "gda", "rda", list(predicates)),
              "Queries are answered more exactly from GDA's groups than from RDA's.",
              "a smaller mean error for every set of predicates at every l"),
        Claim("gender-error-reduced", "Section 4.2, Figure 5", lambda rows: _reduced(rows, category),
              f"Asked about gender alone at l = {_PAPER_L}, GDA's error is a fraction of RDA's: 10% against 64% (SAL), "
              "18% against 69% (OCC).",
              f"RDA's mean error on {category} is at least {_REDUCTION:g} times GDA's"),
        Claim("gender-error-levels", "Section 4.2, Figure 5", lambda rows: _levels(rows, category),
              f"Asked about gender alone at l = {_PAPER_L}, the errors are 64 and 69% for RDA, 10 and 18% for GDA.",
              f"on other people the levels can only be alike: RDA's mean error on {category} within "
              f"{_GENDER_RDA[0]:.0%} and {_GENDER_RDA[1]:.0%}, GDA's at most {_GENDER_GDA:.0%}"),
        Claim("answers-like-transparent", "Section 4.2, figures not shown",
              untestable(f"{_LACKING}, and no figure is given"),
              "Query errors are close to those of Xiao, Tao and Koudas.",
              "the errors of those algorithms on the same table and queries"),
        Claim("guided-exact-on-strata", "method `guided`", lambda rows: _exact(rows, category),
              "Ours, not the paper's: `guided`, which is algorithm-safe, answers exactly about its strata.",
              f"no error on {category}, for every l"),
        Claim("guided-better-than-gda", "methods `guided` and `gda`",
              lambda rows: _better(rows, "guided", "gda", [everything]),
              "Ours, not the paper's: `guided` answers better than GDA about all quasi-identifiers together.",
              f"a smaller mean error on {everything}, for every l"),
        Claim("wrap-optimal", "method `wrap`", lambda rows: _near_optimum(rows, "wrap", 1.0),
              "Ours, not the paper's: `wrap` always reaches the optimal discernibility.",
              "equal to the optimum for every l"),
    ]  # fmt: skip


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """By which power of the size the time grows: the slope of a line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _fastest(rows: Rows, figure: str, series: str) -> dict[float, float]:
    """The fastest repetition at every x; times too short to mean anything count as not measured."""
    rows.found(figure, series, "seconds")
    times = {x: rows.least(figure, series, "seconds", x) for x in rows.xs(figure, series)}
    if min(times.values()) < _SHORTEST:
        raise NotMeasuredError(
            f"the table is too small: {series} takes less than {seconds(_SHORTEST)}, which says nothing of its growth"
        )
    return several(times, f"{series} was timed at one place only")


def _linear(rows: Rows) -> Judgement:
    times = {series: _fastest(rows, "time-n", series) for series in (*PAPERS, CONTROL)}
    found = {series: exponent(list(by_n), list(by_n.values())) for series, by_n in times.items()}
    figures = ", ".join(f"{series} {value:.2f}" for series, value in found.items())
    low, high = _CONTROL_EXPONENT
    if not low <= found[CONTROL] <= high:
        raise NotMeasuredError(f"the machine was too busy: even the control does not grow as it should ({figures})")
    return judged(all(found[series] <= found[CONTROL] + _ABOVE_CONTROL for series in PAPERS), figures)


def _faster(rows: Rows) -> Judgement:
    rda, gda = (_fastest(rows, "time-n", series) for series in PAPERS)
    ratios = [gda[n] / rda[n] for n in rda if n in gda]
    faster = sum(ratio > 1 for ratio in ratios)
    longer = f"GDA takes {min(ratios):.1f} to {max(ratios):.1f} times as long"
    return judged(faster == len(ratios), f"RDA faster at {faster} of {len(ratios)} sizes; {longer}")


def _slight(rows: Rows) -> Judgement:
    rda, gda = (_fastest(rows, "time-n", series) for series in PAPERS)
    n = max(rda.keys() & gda.keys())
    figures = f"{seconds(gda[n])} against {seconds(rda[n])} at {number(n)} rows: {gda[n] / rda[n]:.1f} times"
    return judged(gda[n] / rda[n] <= _SLIGHT, figures)


def _insensitive(rows: Rows, figure: str) -> Judgement:
    def part(series: str) -> tuple[bool, str]:
        times = _fastest(rows, figure, series).values()
        span = f"{seconds(min(times))} to {seconds(max(times))}"
        return spread(times) <= _INSENSITIVE, f"{series} {span} ({spread(times):.2f} times)"

    return every(map(part, PAPERS), ", ")


def _near_optimum(rows: Rows, series: str, limit: float) -> Judgement:
    worst = max(rows.found("dm", series, "DM to optimum"))
    return judged(worst <= limit, "equal to it for every l" if worst == 1 else f"at most {worst:.6f} times the optimum")


def _minimal(rows: Rows) -> Judgement:
    least = rows.least("dm", "rda", "groups of l")
    return judged(least > 0.5, f"at least {least:.1%} of the groups")


def _better(rows: Rows, better: str, worse: str, labels: Sequence[str]) -> Judgement:
    """A smaller mean error for each set of predicates at every l."""
    won, parts = [], []
    for label in labels:
        ours, theirs = (rows.mean("qwe", series, label) for series in (better, worse))
        parts.append(f"{label} {risk(ours)} against {risk(theirs)}")
        won += [mean < rows.mean("qwe", worse, label, x) for x, mean in rows.means("qwe", better, label).items()]
    return counted(won, f"; mean over l: {'; '.join(parts)}")


def _exact(rows: Rows, category: str) -> Judgement:
    worst = max(rows.found("qwe", "guided", category))
    return judged(worst == 0, f"at most {risk(worst)}; GDA {risk(rows.mean('qwe', 'gda', category))}")


def _reduced(rows: Rows, category: str) -> Judgement:
    rda, gda = (rows.mean("qwe", series, category, _PAPER_L) for series in PAPERS)
    return judged(rda >= _REDUCTION * gda, f"{risk(rda)} against {risk(gda)}: {rda / max(gda, 1e-9):.1f} times")


def _levels(rows: Rows, category: str) -> Judgement:
    rda, gda = (rows.mean("qwe", series, category, _PAPER_L) for series in PAPERS)
    held = _GENDER_RDA[0] <= rda <= _GENDER_RDA[1] and gda <= _GENDER_GDA
    return judged(held, f"RDA {risk(rda)}, GDA {risk(gda)}")
