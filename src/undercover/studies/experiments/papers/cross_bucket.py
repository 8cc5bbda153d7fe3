"""The evaluation of "Cross-Bucket Generalization" run again: breach, discernibility and SUM error, and the effect of k.

Li, Liu, Han & Zhang, Section 4: 22,517 people with eight quasi-identifiers and their salary; Mondrian and Anatomy with
l-diversity against cross-bucket generalization with k = 3, for l = 4, 6, 8, 10 (Figures 5 to 7), then k = 3 to 20
(Figure 8).

Deviations: the built-in census stands for the paper's (same columns; 500 occupations instead of 216, 850 salaries
instead of 702). The paper does not say how its Mondrian publishes a class or which k it had: here it cuts at the
median, as in its own paper, publishes the tightest box, and needs k rows as cross-bucket generalization does; Mondrian
that cuts by loss is shown beside it, and so is our safe variant, which no claim of the paper is judged by. Query errors
have a median beside the mean, which a few nearly empty sums decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from undercover.attacks.belief_curve import shares_at_least
from undercover.attacks.bucket_matching import BucketMatching
from undercover.datasets import census, census_schema
from undercover.errors import InternalError, ParameterError
from undercover.forms.case import Case
from undercover.methods.anatomy.method import Anatomy
from undercover.methods.cross_bucket.method import CrossBucket
from undercover.methods.mondrian.method import Mondrian
from undercover.model.figures import number, risk
from undercover.model.protocols import Method
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.studies.experiments.bench import TableBench
from undercover.studies.experiments.experiment import Cell, Claim, Experiment, Judgement, Plot, Rows, judged
from undercover.studies.experiments.judges import below, counted, every, falls, rises, several, spread
from undercover.studies.experiments.request import Request, one_sensitive
from undercover.verbs.publish import publish_table

MONDRIAN, MONDRIAN_LOSS, ANATOMY = "mondrian", "mondrian (loss)", "anatomy"
CROSS, SAFE = "cross-bucket", "cross-bucket, safe"  # the paper's, repaired, and ours
METHODS = (MONDRIAN, MONDRIAN_LOSS, ANATOMY, CROSS, SAFE)

BREACH, WORST, IDENTITY, ABOVE = "breach", "worst breach", "worst identity", "breach above 0.01"
DM, ERROR, MEDIAN, HOLDS = "DM", "SUM error", "median SUM error", "promise holds"
ESTIMATE, NCP = "SUM estimate error", "NCP"
BELIEFS = (0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25)  # of the curve of breach

OPTIONS = ("k",)
QUASI_IDENTIFIERS = ("sex", "age", "relationship", "marital_status", "race", "education", "hours", "occupation")
_PAPER = (
    "Li, Liu, Han & Zhang, “Cross-Bucket Generalization for Information and Privacy Preservation”, IEEE TKDE 30(3), "
    "2018, Section 4."
)
BY_L, BY_K = "methods", "k"
_PRONOUNCED = 2.0  # times as large
_COINCIDE = 1.001
_MISSING = f"{BREACH} was not measured for {{}}"
_below = partial(below, BY_L, write=risk, at="l = {:g}", named=True, missing=_MISSING)


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
    on = Bench(load=lambda: Table.from_arrow(source.load(), source.schema), queries=size.queries)
    repetitions = request.repetitions or size.repetitions
    return Experiment(
        name="cross-bucket",
        title="Cross-bucket generalization",
        paper=_PAPER,
        version=2,
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
            "Methods": f"{', '.join(METHODS)}; k = {k} where a method has one",
            "Attack": "every row, all quasi-identifiers known: the probability given to the true value",
            "Queries": f"{size.queries:,} sums of {sensitive} with predicates on four quasi-identifiers",
            "Repetitions": request.seeds(repetitions),
        },
        settings={"queries": size.queries},
        parameters={"quick": request.quick, "repetitions": repetitions, "seed": request.seed, "k": k},
    )


def _cells(on: Bench, size: _Size, k: int, repetitions: int, seed: int) -> list[Cell]:
    """The methods against l, then cross-bucket generalization against k."""

    def cell(figure: str, series: str, x: int, method: str, k: int, l: int, repetition: int) -> Cell:  # noqa: E741
        parameters = {"method": method, "k": k, "l": l, "seed": seed + repetition}
        return Cell(figure, series, x, on.measure, parameters, repetition)

    again = range(repetitions)
    return [
        *(cell(BY_L, name, l, name, k, l, i) for l, i, name in product(size.ls, again, METHODS)),  # noqa: E741
        *(
            cell(BY_K, series_of(l, method), x, method, x, l, i)
            for x, i, l, method in product(size.ks, again, size.ls, (CROSS, SAFE))  # noqa: E741
            if method == CROSS or l == size.ls[-1]  # ours at the largest l, lest nobody can read the lines
        ),
    ]


def _plots(rows: Rows) -> list[Plot]:
    errors = {ERROR: "bounds, mean", MEDIAN: "bounds, median", ESTIMATE: "estimates, median"}
    return [
        Plot("breach", "Breach probability against l",
             "The probability an attacker gives to a person's true value, mean over all rows, and the highest of all; "
             "less is better (Figure 5).",
             rows.panels(BY_L, {BREACH: "mean", WORST: "worst row"}), "l", "probability", "share"),
        Plot("breach-curve", "How breach is spread over people",
             "The share of people to whose true value an attacker gives at least this probability, l by l: what lies "
             "between mean and worst row. Not in the paper.",
             _curves(rows), "probability given to the true value", "people", "share"),
        Plot("ncp", "Loss against l",
             "NCP of the published cells, mean over quasi-identifiers and rows, less is better. Not in the paper.",
             rows.points(BY_L, NCP), "l", "NCP", "share"),
        Plot("dm", "Discernibility against l",
             "Sum of the squared sizes of the equivalence groups, less is better (Figure 6).",
             rows.points(BY_L, DM), "l", "DM"),
        Plot("error", "Error of sums against l",
             "(Upper bound - lower bound) / true sum over random queries, less is better (Figure 7); in the last "
             "panel how far estimates are off.",
             rows.panels(BY_L, errors), "l", "error", "share",
             note="A query whose true sum is small has a huge relative error in every release; the mean shows little "
             "else."),
        Plot("k-breach", "Breach probability against k",
             "Cross-bucket generalization: mean over all rows, and the share of rows above 0.01 (Figure 8a); ours at "
             "the largest l beside it.",
             rows.panels(BY_K, {BREACH: "mean", ABOVE: "rows above 0.01"}),
             "k", "probability or share", "share"),
        Plot("k-dm", "Discernibility against k", "Cross-bucket generalization (Figure 8b).",
             rows.points(BY_K, DM), "k", "DM"),
        Plot("k-error", "Error of sums against k", "Cross-bucket generalization (Figure 8c).",
             rows.panels(BY_K, errors), "k", "error", "share"),
    ]  # fmt: skip


def _curves(rows: Rows) -> list[dict[str, Any]]:
    """The curve of breach of every method, a panel for each l."""
    found = []
    for x in dict.fromkeys(x for series in METHODS for x in rows.xs(BY_L, series)):
        for belief in BELIEFS:
            points = rows.points(BY_L, at_least(belief), panel=f"l = {x}")
            found += [{**point, "x": belief} for point in points if point["x"] == x]
    return found


def at_least(belief: float) -> str:
    """The name of a figure: the share of people with at least this breach."""
    return f"breach at least {belief:g}"


def series_of(l: int, method: str = CROSS) -> str:  # noqa: E741
    """The line of an l in the figures against k."""
    return f"l = {l}" if method == CROSS else f"{method}, l = {l}"


def claims(k: int) -> list[Claim]:
    """The claims of the paper, one on identity and one on the promise itself; ``k`` is that of the comparison."""
    return [
        Claim("anatomy-abides", "Section 4.1, Figure 5", lambda rows: _abides(rows, ANATOMY),
              "Anatomy protects as l-diversity says.",
              "no salary is given more than 1/l, for every l"),
        Claim("mondrian-below-anatomy", "Section 4.1, Figure 5", _below(MONDRIAN, [ANATOMY], BREACH),
              "Mondrian exposes salaries less than Anatomy.",
              "a smaller mean breach probability at every l"),
        Claim("cross-bucket-lowest", "Section 4.1, Figure 5",
              _below(CROSS, [MONDRIAN, ANATOMY], BREACH),
              "Cross-bucket generalization exposes salaries significantly less than both.",
              "a smaller mean breach probability than Mondrian's and Anatomy's at every l"),
        Claim("identity-bound", "Lemma 1", lambda rows: _identity(rows, k),
              "The probability of identity disclosure is at most 1 over the size of the equivalence group.",
              "no row of a cross-bucket release is found with more than 1/k, for every k and l"),
        Claim("dm-pronounced", "Section 4.2, Figure 6", _pronounced,
              "The discernibility of Mondrian is larger by a pronounced magnitude.",
              f"at least {_PRONOUNCED:g} times that of cross-bucket generalization at every l"),
        Claim("dm-flat", "Section 4.2, Figure 6", _flat,
              "The discernibility of cross-bucket generalization does not depend on l.",
              "the same for every l"),
        Claim("error-below-mondrian", "Section 4.2, Figure 7", _below(CROSS, [MONDRIAN], ERROR),
              "Sums are answered more exactly from cross-bucket generalization than from Mondrian.",
              "a smaller mean error at every l"),
        Claim("median-error-below-mondrian", "Figure 7", _below(CROSS, [MONDRIAN], MEDIAN),
              "Ours, not the paper's: the same of the median, which a few nearly empty sums do not decide.",
              "a smaller median error at every l"),
        Claim("error-little-affected", "Section 4.2, Figure 7", _little_affected,
              "The error of cross-bucket generalization is only a little affected by l compared with Mondrian.",
              "the largest mean error over l is fewer times the smallest than Mondrian's is"),
        Claim("k-protects", "Section 4.3, Figure 8a", lambda rows: _protects(rows, BREACH),
              "A larger k improves attribute protection.",
              "the mean breach probability falls from each k to the next, for every l"),
        Claim("k-protects-above", "Section 4.3, Figure 8a", lambda rows: _protects(rows, ABOVE),
              "It does so where the probability is above about 0.01.",
              "the share of rows above 0.01 falls from each k to the next, for every l"),
        Claim("dm-coincides", "Section 4.3, Figure 8b", _coincides,
              "The discernibility is a matter of k alone: the lines for all l coincide.",
              f"for every k the largest DM over l is at most {_COINCIDE:g} times the smallest, which no line in a "
              "figure shows"),
        Claim("error-grows", "Section 4.3, Figure 8c", _grows,
              "The error of sums grows with k.",
              "the mean error grows from each k to the next, for every l"),
        Claim("error-grows-faster", "Section 4.3, Figure 8c", _grows_faster,
              "The larger k is, the more its increase affects the error.",
              "the mean error grows more per step of k between the two largest k than between the two smallest, for "
              "every l"),
        Claim("safe-abides", '`variant = "safe"`', lambda rows: _abides(rows, SAFE),
              "Ours, not the paper's: boxes that never see a salary and whole safe groups as buckets protect as "
              "(k, l)-anonymity says, from whoever knows the algorithm, too.",
              "no salary is given more than 1/l, for every l"),
        Claim("safe-loses-less", '`variant = "safe"`', _below(SAFE, [CROSS], NCP),
              "Ours, not the paper's: the same k and l cost less detail.",
              "a smaller NCP at every l"),
        Claim("safe-answers-better", '`variant = "safe"`', _below(SAFE, [CROSS], ESTIMATE),
              "Ours, not the paper's: sums are estimated better.",
              "a smaller median error of estimates at every l"),
        Claim("promise-holds", "Definition 10", _holds,
              "Ours, not the paper's: every release keeps its promise, recomputed from the published tables.",
              "(k, l)-anonymity, and l-diversity of the others, in every release measured"),
    ]  # fmt: skip


def _abides(rows: Rows, series: str) -> Judgement:
    worst = {x: max(rows.found(BY_L, series, WORST, x)) for x in rows.xs(BY_L, series)}
    return _bounded("l", worst, _MISSING.format(series))


def _identity(rows: Rows, k: int) -> Judgement:
    worst: dict[float, float] = {}
    for row in rows:
        if row.measure == IDENTITY and (row.series == CROSS or (row.figure == BY_K and row.series.startswith("l = "))):
            x = int(row.x) if row.figure == BY_K else k
            worst[x] = max(worst.get(x, 0.0), row.value)
    return _bounded("k", dict(sorted(worst.items())), f"{IDENTITY} was not measured for {CROSS}")


def _bounded(name: str, worst: Mapping[float, float], missing: str) -> Judgement:
    """Nowhere above 1 over the parameter of that name."""
    parts = ((value <= 1 / x + 1e-12, f"{name} = {x}: {risk(value)}") for x, value in worst.items())
    return every(parts, ", ", missing=missing)


def _pronounced(rows: Rows) -> Judgement:
    ours = rows.means(BY_L, CROSS, DM)
    ratios = {x: rows.mean(BY_L, MONDRIAN, DM, x) / mean for x, mean in ours.items()}
    parts = ((ratio >= _PRONOUNCED, f"l = {x}: {ratio:.1f} times") for x, ratio in ratios.items())
    return every(parts, ", ", missing=_MISSING.format(CROSS))


def _flat(rows: Rows) -> Judgement:
    found = set(rows.found(BY_L, CROSS, DM))
    return judged(len(found) == 1, _numbers(found))


def _little_affected(rows: Rows) -> Judgement:
    spreads = {}
    for series in (CROSS, MONDRIAN):
        rows.found(BY_L, series, BREACH)
        means = several(rows.means(BY_L, series, ERROR), f"{ERROR} was measured at one l only")
        spreads[series] = spread(means.values())
    figures = ", ".join(f"{series} {value:.2f} times" for series, value in spreads.items())
    return judged(spreads[CROSS] < spreads[MONDRIAN], figures)


def _by_k(rows: Rows, measure: str) -> dict[str, Mapping[float, float]]:
    """For every l the means by k."""
    missing = f"{measure} was not measured for several k"
    names = dict.fromkeys(row.series for row in rows if row.figure == BY_K and not row.series.startswith(SAFE))
    return {name: several(rows.means(BY_K, name, measure), missing) for name in several(names, missing, 1)}


def _shown(found: Mapping[str, Mapping[float, float]]) -> str:
    return "; ".join(f"{name}: {', '.join(map(risk, by_k.values()))}" for name, by_k in found.items())


def _numbers(values: Iterable[float]) -> str:
    return " and ".join(number(int(value)) for value in sorted(values))


def _protects(rows: Rows, measure: str) -> Judgement:
    found = _by_k(rows, measure)
    return judged(all(falls(by_k.values()) for by_k in found.values()), _shown(found))


def _coincides(rows: Rows) -> Judgement:
    values: dict[float, set[float]] = {}
    for by_k in _by_k(rows, DM).values():
        for k, value in by_k.items():
            values.setdefault(k, set()).add(value)
    return every(((spread(of_k) <= _COINCIDE, f"k = {k}: {_numbers(of_k)}") for k, of_k in values.items()), ", ")


def _grows(rows: Rows) -> Judgement:
    found = _by_k(rows, ERROR)
    return judged(all(rises(by_k.values()) for by_k in found.values()), _shown(found))


def _grows_faster(rows: Rows) -> Judgement:
    def part(name: str, by_k: Mapping[float, float]) -> tuple[bool, str]:
        points = list(several(by_k, f"{ERROR} was measured for two k only", least=3).items())
        early, late = ((b - a) / (after - before) for (before, a), (after, b) in (points[:2], points[-2:]))
        return late > early, f"{name}: {risk(early)}, then {risk(late)}"

    return every(part(name, by_k) for name, by_k in _by_k(rows, ERROR).items())


def _holds(rows: Rows) -> Judgement:
    held = [row.value == 1 for row in rows if row.measure == HOLDS]
    return counted(held, " releases", missing="no release was measured")


class Bench(TableBench):
    """A table and what is measured on it."""

    def measure(self, method: str, k: int, l: int, seed: int) -> dict[str, float]:  # noqa: E741
        """Publish, verify, attack every row and ask for sums; the same queries for every release of a seed.

        DM is the sum of the squared sizes of the groups the method made. Anatomy makes none that are written alike.
        """
        table = self.table
        (sensitive,) = table.schema.sensitive
        run = publish_table(table, method_of(method, k, l), randomness=Randomness(seed))
        case = Case.of(run)
        found = BucketMatching().run(case)
        if (found.matches < 1).any():
            raise InternalError(f"A row of the table fits no row of the release by {method}.")
        breach = found.breach[sensitive]
        figures = {
            BREACH: float(breach.mean()),
            WORST: float(breach.max()),
            ABOVE: float((breach > 0.01).mean()),
            IDENTITY: 1.0 / int(found.matches.min()),
            HOLDS: float(run.verification.holds),
            **{at_least(float(belief)): share for belief, share in shares_at_least(breach, BELIEFS).items()},
        }
        if method != ANATOMY:
            figures[DM] = int(np.dot(run.groups.sizes, run.groups.sizes))
            figures[NCP] = case.reading.losses(table, case.own)["ncp"].arithmetic
        errors = self.sum_error(run.release, seed)
        if errors is not None:
            estimate = errors.to_dict()["estimate"]["median"]
            figures |= {ERROR: errors.mean, MEDIAN: errors.median, ESTIMATE: estimate}
        return figures


def method_of(name: str, k: int, l: int) -> Method:  # noqa: E741
    """A method by its name in the figures."""
    if name in (CROSS, SAFE):
        return CrossBucket(k=k, l=l, variant="safe" if name == SAFE else "paper")
    if name == ANATOMY:
        return Anatomy(l=l)
    return Mondrian(k=k, l=l, cut="median" if name == MONDRIAN else "loss")
