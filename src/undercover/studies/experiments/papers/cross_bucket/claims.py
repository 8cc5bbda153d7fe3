"""What Li, Liu, Han & Zhang say of their measurements (Section 4), and when we say that it held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from undercover.model.figures import number, risk
from undercover.studies.experiments.experiment import Claim, Judgement, judged
from undercover.studies.experiments.judges import below, counted, every, falls, rises, several, spread
from undercover.studies.experiments.papers.cross_bucket import bench
from undercover.studies.experiments.rows import Rows

BY_L, BY_K = "methods", "k"
_PRONOUNCED = 2.0  # times as large
_COINCIDE = 1.001
_MISSING = f"{bench.BREACH} was not measured for {{}}"
_below = partial(below, BY_L, write=risk, at="l = {:g}", named=True, missing=_MISSING)


def series_of(l: int) -> str:  # noqa: E741
    """The line of an l in the figures against k.

    >>> series_of(4)
    'l = 4'
    """
    return f"l = {l}"


def claims(k: int) -> list[Claim]:
    """The claims of the paper, one on identity and one on the promise itself; ``k`` is that of the comparison."""
    return [
        Claim("anatomy-abides", "Section 4.1, Figure 5", _abides,
              "Anatomy protects as l-diversity says.",
              "no salary is given more than 1/l, for every l"),
        Claim("mondrian-below-anatomy", "Section 4.1, Figure 5", _below(bench.MONDRIAN, [bench.ANATOMY], bench.BREACH),
              "Mondrian exposes salaries less than Anatomy.",
              "a smaller mean breach probability at every l"),
        Claim("cross-bucket-lowest", "Section 4.1, Figure 5",
              _below(bench.CROSS, [bench.MONDRIAN, bench.ANATOMY], bench.BREACH),
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
        Claim("error-below-mondrian", "Section 4.2, Figure 7", _below(bench.CROSS, [bench.MONDRIAN], bench.ERROR),
              "Sums are answered more exactly from cross-bucket generalization than from Mondrian.",
              "a smaller mean error at every l"),
        Claim("median-error-below-mondrian", "Figure 7", _below(bench.CROSS, [bench.MONDRIAN], bench.MEDIAN),
              "Ours, not the paper's: the same of the median, which a few nearly empty sums do not decide.",
              "a smaller median error at every l"),
        Claim("error-little-affected", "Section 4.2, Figure 7", _little_affected,
              "The error of cross-bucket generalization is only a little affected by l compared with Mondrian.",
              "the largest mean error over l is fewer times the smallest than Mondrian's is"),
        Claim("k-protects", "Section 4.3, Figure 8a", _protects,
              "A larger k improves attribute protection where the probability is above about 0.01.",
              "the mean breach probability and the share of rows above 0.01 fall from each k to the next, for every l"),
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
        Claim("promise-holds", "Definition 10", _holds,
              "Ours, not the paper's: every release keeps its promise, recomputed from the published tables.",
              "(k, l)-anonymity, and l-diversity of the others, in every release measured"),
    ]  # fmt: skip


def _abides(rows: Rows) -> Judgement:
    worst = {x: max(rows.found(BY_L, bench.ANATOMY, bench.WORST, x)) for x in rows.xs(BY_L, bench.ANATOMY)}
    return _bounded("l", worst, _MISSING.format(bench.ANATOMY))


def _identity(rows: Rows, k: int) -> Judgement:
    worst: dict[float, float] = {}
    for row in rows:
        if row.measure == bench.IDENTITY and (row.figure == BY_K or row.series == bench.CROSS):
            x = int(row.x) if row.figure == BY_K else k
            worst[x] = max(worst.get(x, 0.0), row.value)
    return _bounded("k", dict(sorted(worst.items())), f"{bench.IDENTITY} was not measured for {bench.CROSS}")


def _bounded(name: str, worst: Mapping[float, float], missing: str) -> Judgement:
    """Nowhere above 1 over the parameter of that name."""
    parts = ((value <= 1 / x + 1e-12, f"{name} = {x}: {risk(value)}") for x, value in worst.items())
    return every(parts, ", ", missing=missing)


def _pronounced(rows: Rows) -> Judgement:
    ours = rows.means(BY_L, bench.CROSS, bench.DM)
    ratios = {x: rows.mean(BY_L, bench.MONDRIAN, bench.DM, x) / mean for x, mean in ours.items()}
    parts = ((ratio >= _PRONOUNCED, f"l = {x}: {ratio:.1f} times") for x, ratio in ratios.items())
    return every(parts, ", ", missing=_MISSING.format(bench.CROSS))


def _flat(rows: Rows) -> Judgement:
    found = set(rows.found(BY_L, bench.CROSS, bench.DM))
    return judged(len(found) == 1, _numbers(found))


def _little_affected(rows: Rows) -> Judgement:
    spreads = {}
    for series in (bench.CROSS, bench.MONDRIAN):
        rows.found(BY_L, series, bench.BREACH)
        means = several(rows.means(BY_L, series, bench.ERROR), f"{bench.ERROR} was measured at one l only")
        spreads[series] = spread(means.values())
    figures = ", ".join(f"{series} {value:.2f} times" for series, value in spreads.items())
    return judged(spreads[bench.CROSS] < spreads[bench.MONDRIAN], figures)


def _by_k(rows: Rows, measure: str) -> dict[str, Mapping[float, float]]:
    """For every l the means by k."""
    missing = f"{measure} was not measured for several k"
    names = dict.fromkeys(row.series for row in rows if row.figure == BY_K)
    return {name: several(rows.means(BY_K, name, measure), missing) for name in several(names, missing, 1)}


def _shown(found: Mapping[str, Mapping[float, float]]) -> str:
    return "; ".join(f"{name}: {', '.join(map(risk, by_k.values()))}" for name, by_k in found.items())


def _numbers(values: Iterable[float]) -> str:
    return " and ".join(number(int(value)) for value in sorted(values))


def _protects(rows: Rows) -> Judgement:
    breach, above = _by_k(rows, bench.BREACH), _by_k(rows, bench.ABOVE)
    held = all(falls(by_k.values()) for by_k in (*breach.values(), *above.values()))
    return judged(held, f"mean {_shown(breach)}; above 0.01 {_shown(above)}")


def _coincides(rows: Rows) -> Judgement:
    values: dict[float, set[float]] = {}
    for by_k in _by_k(rows, bench.DM).values():
        for k, value in by_k.items():
            values.setdefault(k, set()).add(value)
    return every(((spread(of_k) <= _COINCIDE, f"k = {k}: {_numbers(of_k)}") for k, of_k in values.items()), ", ")


def _grows(rows: Rows) -> Judgement:
    found = _by_k(rows, bench.ERROR)
    return judged(all(rises(by_k.values()) for by_k in found.values()), _shown(found))


def _grows_faster(rows: Rows) -> Judgement:
    def part(name: str, by_k: Mapping[float, float]) -> tuple[bool, str]:
        points = list(several(by_k, f"{bench.ERROR} was measured for two k only", least=3).items())
        early, late = ((b - a) / (after - before) for (before, a), (after, b) in (points[:2], points[-2:]))
        return late > early, f"{name}: {risk(early)}, then {risk(late)}"

    return every(part(name, by_k) for name, by_k in _by_k(rows, bench.ERROR).items())


def _holds(rows: Rows) -> Judgement:
    held = [row.value == 1 for row in rows if row.measure == bench.HOLDS]
    return counted(held, " releases", missing="no release was measured")
