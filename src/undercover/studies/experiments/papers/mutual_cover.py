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

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from undercover.attacks.partial.profile import PAPERS, profile
from undercover.datasets import census, census_schema
from undercover.errors import ParameterError, unknown
from undercover.forms.case import Case
from undercover.forms.displacement import papers_iloss
from undercover.forms.written import written
from undercover.methods.anatomy.method import Anatomy
from undercover.methods.mondrian.method import Mondrian
from undercover.methods.mutual_cover.informed import Informed
from undercover.methods.mutual_cover.method import MutualCover
from undercover.model.figures import number, risk
from undercover.model.protocols import Method
from undercover.model.run import Run
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.studies.experiments.bench import TableBench
from undercover.studies.experiments.experiment import HELD, Cell, Claim, Experiment, Judgement, Plot, Rows, judged
from undercover.studies.experiments.judges import below, every, falls, monotone, rises, several, spread
from undercover.studies.experiments.request import Request, one_sensitive
from undercover.utility.queries.sums import SumError
from undercover.verbs.publish import publish_table

OPTIONS = ("hierarchies",)
QUASI_IDENTIFIERS = ("sex", "age", "relationship", "marital_status", "race", "education", "hours")
_PAPER = "Li, Wang & He, “Privacy-Preserving Data Publishing via Mutual Cover”, Section 5."
_L, _DELTA = 10, 6  # l where δ varies, 1/δ where l varies
BY_DELTA, BY_L = "by delta", "by l"
_ALIKE, _MUCH, _FLAT = 0.25, 0.5, 1.5
_MISSING = "no δ was measured"
_below = partial(below, BY_DELTA, write=number, at="1/{:g}", missing=_MISSING)
COVER, RESAMPLED, ALONE = "mutual cover", "mutual cover (drawn again)", "mutual cover (tables alone)"
MONDRIAN, ANATOMY = "mondrian", "anatomy"
COVERS = {COVER: "paper", RESAMPLED: "resample", ALONE: "off"}  # what becomes of unchanged rows

ILOSS, ILOSS_CELL, ERROR, MEDIAN = "ILoss", "ILoss per cell", "SUM error", "median SUM error"
KNOWS_ROW, KNOWS_VALUE, IN_GROUP = "informed identity", "informed attribute", "guessing in the group"
ABOVE_DELTA, EFFECTIVE, ALIKE = "tables above delta", "largest effective share", "rows left unchanged"


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
    on = Bench(load=lambda: Table.from_arrow(source.load(), source.schema), queries=size.queries)
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


def _cells(on: Bench, size: _Size, repetitions: int, seed: int, n_rows: int) -> list[Cell]:
    """Everything against δ, then mutual cover against l."""

    def cell(figure: str, series: str, x: int, delta: int, l: int, repetition: int) -> Cell:  # noqa: E741
        parameters = {"method": series, "delta": f"1/{delta}", "l": l, "seed": seed + repetition}
        cost = (4.0 if series == MONDRIAN else 3.0) * n_rows / _FULL.rows
        return Cell(figure, series, x, on.measure, parameters, repetition, cost)

    again = range(repetitions)
    cells = [
        cell(BY_DELTA, series, delta, delta, _L if series in COVERS else delta, repetition)
        for delta, repetition, series in product(size.deltas, again, (*COVERS, MONDRIAN, ANATOMY))
    ]
    return cells + [
        cell(BY_L, series, l, _DELTA, l, repetition)
        for l, repetition, series in product(size.ls, again, COVERS)  # noqa: E741
    ]


def _plots(rows: Rows) -> list[Plot]:
    errors, shown = {ERROR: "mean", MEDIAN: "median"}, (COVER, MONDRIAN)
    by_p = [(p, f"P = {p:g}") for p in PAPERS]
    return [
        Plot("identity", "Identity disclosure",
             "Mean probability of picking the person's own row, by 1/δ; above each panel with which probability each "
             "known value is matched on (Figures 3 and 5a).",
             rows.panels(BY_DELTA, {identity_at(p): panel for p, panel in by_p}, shown),
             "1/δ, or l of Mondrian", "probability", "share"),
        Plot("attribute", "Attribute disclosure",
             "Mean probability given to the person's true value (Figures 4 and 5b).",
             rows.panels(BY_DELTA, {attribute_at(p): panel for p, panel in by_p}, shown),
             "1/δ, or l of Mondrian", "probability", "share"),
        Plot("iloss", "Information loss",
             "ILoss as the paper counts it, summed over all cells; less is better (Figure 6).",
             rows.points(BY_DELTA, ILOSS), "1/δ, or l of Mondrian", "ILoss"),
        Plot("error", "Error of sums",
             "Mutual cover: |answer - sum| / sum. Mondrian and Anatomy: (upper bound - lower bound) / sum, as in the "
             "paper (Figure 7).",
             rows.panels(BY_DELTA, errors), "1/δ, or l of Mondrian and Anatomy", "error", "share",
             note="Bounds and deviations are two things: a release with bounds may also be answered by an estimate, "
             "whose error is far smaller than its bounds are wide."),
        Plot("l-iloss", "Information loss against l", f"Mutual cover at δ = 1/{_DELTA} (Figure 8a).",
             rows.points(BY_L, ILOSS), "l", "ILoss"),
        Plot("l-error", "Error of sums against l", f"Mutual cover at δ = 1/{_DELTA} (Figure 8b).",
             rows.panels(BY_L, errors), "l", "error", "share"),
        Plot("informed", "Somebody who knows groups and tables",
             "Mean probability he gives to the person's own row; not in the paper.",
             [*rows.points(BY_DELTA, KNOWS_ROW, panel=f"l = {_L}, by 1/δ"),
              *rows.points(BY_L, KNOWS_ROW, panel=f"δ = 1/{_DELTA}, by l")],
             "1/δ or l", "probability", "share"),
    ]  # fmt: skip


def claims() -> list[Claim]:
    """The claims of the paper, and what we add."""
    return [
        Claim("identity-peaks", "Section 5.1, Figure 3", lambda rows: _peaks(rows, identity_at),
              "Identity disclosure rises with P from 0.3 to 0.7, is about the same at 0.7 and 0.8, and falls beyond.",
              f"so for every δ, 0.7 and 0.8 within {_ALIKE:.0%} of each other"),
        Claim("attribute-peaks", "Section 5.1, Figure 4", lambda rows: _peaks(rows, attribute_at),
              "Attribute disclosure does the same.",
              f"so for every δ, 0.7 and 0.8 within {_ALIKE:.0%} of each other"),
        Claim("nobody-found-by-everything", "Section 5.1, Figure 3(f)", _zero,
              "Whoever matches on all values finds nobody: the lines coincide at 0.",
              "identity disclosure at P = 1 is exactly 0 for every δ"),
        Claim("disclosure-falls-with-delta", "Section 5.1, Figures 3 and 4", _falls,
              "Identity and attribute disclosure fall as δ falls.",
              "both means fall with every step of δ at P = 0.7"),
        Claim("mondrian-identity-is-attribute", "Section 5.1, Figure 5", _coincide,
              "Identity and attribute disclosure of Mondrian are the same.",
              "equal to nine digits at every P and l"),
        Claim("safer-than-mondrian", "Section 5.1", _safer,
              "Mutual cover discloses less than Mondrian in most cases, and about as much at P between 0.7 and 0.8.",
              "smaller means of identity and of attribute disclosure in more than half of all pairs of δ and P, "
              "Mondrian having l = 10 as the groups of mutual cover"),
        Claim("iloss-grows", "Section 5.2, Figure 6(a)", monotone(rises, BY_DELTA, COVER, ILOSS, number),
              "Information loss grows as δ falls.",
              "the mean grows with every step of δ"),
        Claim("iloss-below-mondrian", "Section 5.2, Figure 6",
              _below(COVER, [MONDRIAN], ILOSS, share=_MUCH),
              "Information loss is much less than Mondrian's.",
              f"at most {_MUCH:.0%} of Mondrian's at every δ, Mondrian having l = 1/δ"),
        Claim("answers-better", "Section 5.3, Figure 7",
              _below(COVER, [MONDRIAN, ANATOMY], ERROR, share=_MUCH),
              "Sums are answered much better than from Mondrian and Anatomy.",
              f"a mean error of at most {_MUCH:.0%} of either's at every δ, theirs having l = 1/δ"),
        Claim("error-flat-in-delta", "Section 5.3, Figure 7(a)", _flat,
              "δ has little influence on the error of sums.",
              f"the largest mean is at most {_FLAT:g} times the smallest"),
        Claim("larger-l-less-loss", "Section 5.4, Figure 8(a)", monotone(falls, BY_L, COVER, ILOSS, number),
              "A larger l lowers the information loss.",
              "the mean falls with every step of l"),
        Claim("tables-alone-lose-less", '`unchanged = "off"`', _alone,
              "Ours, not the paper's: the output tables by themselves do what the paper says of the loss: it grows as "
              "δ falls and falls as l grows. The rest is what is done to unchanged rows.",
              "the mean ILoss of values as they were drawn grows with every step of δ and falls with every step of l"),
        Claim("larger-l-more-error", "Section 5.4, Figure 8(b)", _raises,
              "A larger l raises the error of sums.",
              "the mean error at the largest l is above that at the smallest"),
        Claim("l-costs-little", "Section 5.4", _worth,
              "Enhancing attribute protection lowers the information loss much and costs little accuracy.",
              "from the smallest to the largest l, the loss falls by a larger share than the error rises by"),
        Claim("hidden-process", "attack `informed`", _hidden,
              "Ours, not the paper's: the protection rests on groups and tables being hidden.",
              "for every δ, somebody who knows them finds the row with at least five times the probability of the "
              "best P"),
        Claim("algorithm-3-breaks-delta", "Algorithm 3, Definition 5", _broken,
              "Ours, not the paper's: after Algorithm 3 δ-probability no longer holds in most tables.",
              "for every δ, in more than half of the tables with several values a record has more than δ"),
        Claim("drawn-again-loses-less", '`unchanged = "resample"`',
              _below(RESAMPLED, [COVER], ILOSS, missing="it was not measured"),
              "Ours, not the paper's: drawing unchanged rows again moves less than Algorithm 3.",
              "a smaller mean ILoss at every δ"),
    ]  # fmt: skip


def _mean(rows: Rows, measure: str, x: float, series: str = COVER) -> float:
    return rows.mean(BY_DELTA, series, measure, x)


def _peaks(rows: Rows, name: Callable[[float], str]) -> Judgement:
    def part(x: float) -> tuple[bool, str]:
        at = [_mean(rows, name(p), x) for p in PAPERS]
        held = rises(at[:3]) and falls(at[3:]) and abs(at[3] - at[2]) <= _ALIKE * at[2]
        return held, f"δ = 1/{x:g}: {', '.join(map(risk, at))}"

    found = every(map(part, rows.xs(BY_DELTA, COVER)), missing=_MISSING)
    return Judgement(found.verdict, f"at P = {', '.join(f'{p:g}' for p in PAPERS)}: {found.figures}")


def _zero(rows: Rows) -> Judgement:
    worst, left = (max(rows.found(BY_DELTA, COVER, measure)) for measure in (identity_at(1.0), ALIKE))
    why = f"; {number(int(left))} rows whose group has nothing else to release cannot be changed" if left else ""
    return judged(worst == 0, f"at most {risk(worst)}{why}")


def _falls(rows: Rows) -> Judgement:
    def parts() -> Iterator[tuple[bool, str]]:
        for name in (identity_at(0.7), attribute_at(0.7)):
            rows.found(BY_DELTA, COVER, name)
            means = rows.means(BY_DELTA, COVER, name).values()
            yield falls(means) and len(means) > 1, f"{name}: {', '.join(map(risk, means))}"

    return every(parts())


def _coincide(rows: Rows) -> Judgement:
    xs = several(rows.xs(BY_DELTA, MONDRIAN), "Mondrian was not measured", 1)
    names = [(attribute_at(p), identity_at(p)) for p in PAPERS]
    ratios = [_mean(rows, a, x, MONDRIAN) / _mean(rows, b, x, MONDRIAN) for x in xs for a, b in names]
    figures = f"attribute disclosure is {min(ratios):.2f} to {max(ratios):.2f} times identity disclosure"
    return judged(max(abs(ratio - 1) for ratio in ratios) < 1e-9, f"{figures}: sensitive values repeat")


def _safer(rows: Rows) -> Judgement:
    last = several(rows.xs(BY_DELTA, MONDRIAN), f"{MONDRIAN} was not measured", 1)[-1]
    parts, won = [], []
    for measure, p in [(name(p), p) for name in (identity_at, attribute_at) for p in PAPERS]:
        theirs = _mean(rows, measure, last, MONDRIAN)
        ours = several(rows.means(BY_DELTA, COVER, measure), f"{COVER} was not measured", 1).values()
        won += [value < theirs for value in ours]
        parts.append(f"P = {p:g}: {risk(min(ours))} to {risk(max(ours))} against {risk(theirs)}")
    figures = f"{sum(won)} of {len(won)}; identity at {', '.join(parts[: len(PAPERS)])}"
    return judged(2 * sum(won) > len(won), figures)


def _alone(rows: Rows) -> Judgement:
    grows = monotone(rises, BY_DELTA, ALONE, ILOSS, number)(rows)
    less = monotone(falls, BY_L, ALONE, ILOSS, number)(rows)
    return judged(grows.verdict == less.verdict == HELD, f"1/δ = {grows.figures}; l = {less.figures}")


def _flat(rows: Rows) -> Judgement:
    means = several(rows.means(BY_DELTA, COVER, ERROR), "the error was measured at one δ only").values()
    medians = rows.means(BY_DELTA, COVER, MEDIAN).values()
    figures = f"means {', '.join(map(risk, means))}; medians {', '.join(map(risk, medians))}"
    return judged(spread(means) <= _FLAT, figures)


def _raises(rows: Rows) -> Judgement:
    first, last = _ends(rows, ERROR)
    return judged(last > first, f"{risk(first)} to {risk(last)}")


def _worth(rows: Rows) -> Judgement:
    (less, least), (error, more) = _ends(rows, ILOSS), _ends(rows, ERROR)
    fall, rise = 1 - least / less, more / error - 1
    return judged(fall > rise, f"loss {fall:+.1%} less, error {rise:+.1%}")


def _ends(rows: Rows, measure: str) -> tuple[float, float]:
    first, *_, last = several(rows.means(BY_L, COVER, measure), f"{measure} was measured at one l only").values()
    return first, last


def _hidden(rows: Rows) -> Judgement:
    def part(x: float) -> tuple[bool, str]:
        knows, guess = (_mean(rows, measure, x) for measure in (KNOWS_ROW, IN_GROUP))
        best = max(_mean(rows, identity_at(p), x) for p in PAPERS)
        return knows >= 5 * best, f"1/{x:g}: {risk(knows)} against {risk(best)}, guessing in the group {risk(guess)}"

    return every(map(part, rows.xs(BY_DELTA, COVER)), missing=_MISSING)


def _broken(rows: Rows) -> Judgement:
    shares, again = (rows.means(BY_DELTA, series, ABOVE_DELTA) for series in (COVER, RESAMPLED))
    found = every(((share > 0.5, f"1/{x:g}: {share:.0%}") for x, share in shares.items()), ", ", missing=_MISSING)
    beside = f"; drawn again instead: {', '.join(f'{share:.0%}' for share in again.values())}" if again else ""
    return Judgement(found.verdict, found.figures + beside)


def identity_at(p: float) -> str:
    """The name of a figure."""
    return f"identity, P = {p:g}"


def attribute_at(p: float) -> str:
    """The name of a figure."""
    return f"attribute, P = {p:g}"


class Bench(TableBench):
    """A table and what is measured on it."""

    def measure(self, method: str, delta: str, l: int, seed: int) -> dict[str, float]:  # noqa: E741
        """Publish, verify, attack every row, and ask for sums; the same queries for every release of a seed."""
        table = self.table
        run = publish_table(table, method_of(method, delta, l), randomness=Randomness(seed))
        case = Case.of(run)
        found = profile(
            case.reading, table, table.schema.quasi_identifiers, own=case.own, dealt=case.dealt, threads=case.threads
        )
        (sensitive,) = table.schema.sensitive
        figures: dict[str, float] = {}
        for p in PAPERS:
            means = found.means(p)
            figures[identity_at(p)] = means["identity"]["mean"]
            figures[attribute_at(p)] = means["attribute"][sensitive]["mean"]
        if method != ANATOMY:
            figures[ILOSS] = papers_iloss(table, case.reading, case.own)
            figures[ILOSS_CELL] = figures[ILOSS] / table.n_rows / len(table.schema.quasi_identifiers)
        if table[sensitive].domain.kind == "numeric":
            errors = SumError(queries=self.queries, seed=seed).of_release(table, run.release)
            figures |= {ERROR: errors.mean, MEDIAN: errors.median}
        if method in COVERS:
            informed = Informed().run(case)
            figures |= {
                KNOWS_ROW: float(informed.identity.mean()),
                KNOWS_VALUE: float(informed.attribute.mean()),
                IN_GROUP: float((1 / informed.sizes).mean()),
                ABOVE_DELTA: _above_delta(run, len(table.schema.quasi_identifiers)),
                EFFECTIVE: float(run.diagnostics["effective_share"]["max"]),
                ALIKE: float(run.diagnostics["rows_left_unchanged"]),
            }
        return figures


def method_of(name: str, delta: str, l: int) -> Method:  # noqa: E741
    """A method by its name in the figures."""
    if name == MONDRIAN:
        return Mondrian(k=l, l=l, cut="median")
    if name == ANATOMY:
        return Anatomy(l=l)
    return MutualCover(delta=delta, l=l, unchanged=COVERS[name])  # type: ignore[arg-type]


def _above_delta(run: Run, n_attributes: int) -> float:
    """Of the tables with more than one output value, the share in which somebody has more than delta after all."""
    frame = run.frames["output_tables"]
    attribute, output = (written(frame.column(name)) for name in ("attribute", "output"))
    table = attribute.codes * run.groups.count + frame.column("group").to_numpy()
    pairs = np.unique(table * len(output.labels) + output.codes)
    several = int((np.bincount(pairs // len(output.labels)) > 1).sum())
    above = float(run.diagnostics["effective_share"]["tables_above_delta"]) * run.groups.count * n_attributes
    return above / max(several, 1)
