"""What Li, Liu, Han & Zhang say of their measurements (Section 4), and when we say that it held."""

from __future__ import annotations

from collections.abc import Callable

from undercover.model.figures import number, risk
from undercover.studies.experiments.experiment import Claim, Judgement, judged
from undercover.studies.experiments.papers.cross_bucket.bench import (
    ABOVE,
    ANATOMY,
    BREACH,
    CROSS,
    DM,
    ERROR,
    HOLDS,
    IDENTITY,
    MEDIAN,
    MONDRIAN,
    WORST,
)
from undercover.studies.experiments.rows import NotMeasuredError, Rows

BY_L, BY_K = "methods", "k"
_PRONOUNCED = 2.0  # times as large
_COINCIDE = 1.001


def series_of(l: int) -> str:  # noqa: E741
    """The line of an l in the figures against k.

    >>> series_of(4)
    'l = 4'
    """
    return f"l = {l}"


def claims(k: int) -> list[Claim]:
    """The claims of the paper, one on identity and one on the promise itself; ``k`` is that of the comparison."""
    return [
        Claim(
            id="anatomy-abides",
            statement="Anatomy protects as l-diversity says.",
            place="Section 4.1, Figure 5",
            criterion="no salary is given more than 1/l, for every l",
            judge=_abides,
        ),
        Claim(
            id="mondrian-below-anatomy",
            statement="Mondrian exposes salaries less than Anatomy.",
            place="Section 4.1, Figure 5",
            criterion="a smaller mean breach probability at every l",
            judge=lambda rows: _below(rows, MONDRIAN, (ANATOMY,), BREACH, risk),
        ),
        Claim(
            id="cross-bucket-lowest",
            statement="Cross-bucket generalization exposes salaries significantly less than both.",
            place="Section 4.1, Figure 5",
            criterion="a smaller mean breach probability than Mondrian's and Anatomy's at every l",
            judge=lambda rows: _below(rows, CROSS, (MONDRIAN, ANATOMY), BREACH, risk),
        ),
        Claim(
            id="identity-bound",
            statement="The probability of identity disclosure is at most 1 over the size of the equivalence group.",
            place="Lemma 1",
            criterion="no row of a cross-bucket release is found with more than 1/k, for every k and l",
            judge=lambda rows: _identity(rows, k),
        ),
        Claim(
            id="dm-pronounced",
            statement="The discernibility of Mondrian is larger by a pronounced magnitude.",
            place="Section 4.2, Figure 6",
            criterion=f"at least {_PRONOUNCED:g} times that of cross-bucket generalization at every l",
            judge=_pronounced,
        ),
        Claim(
            id="dm-flat",
            statement="The discernibility of cross-bucket generalization does not depend on l.",
            place="Section 4.2, Figure 6",
            criterion="the same for every l",
            judge=_flat,
        ),
        Claim(
            id="error-below-mondrian",
            statement="Sums are answered more exactly from cross-bucket generalization than from Mondrian.",
            place="Section 4.2, Figure 7",
            criterion="a smaller mean error at every l",
            judge=lambda rows: _below(rows, CROSS, (MONDRIAN,), ERROR, risk),
        ),
        Claim(
            id="median-error-below-mondrian",
            statement="Ours, not the paper's: the same of the median, which a few nearly empty sums do not decide.",
            place="Figure 7",
            criterion="a smaller median error at every l",
            judge=lambda rows: _below(rows, CROSS, (MONDRIAN,), MEDIAN, risk),
        ),
        Claim(
            id="error-little-affected",
            statement="The error of cross-bucket generalization is only a little affected by l compared with Mondrian.",
            place="Section 4.2, Figure 7",
            criterion="the largest mean error over l is fewer times the smallest than Mondrian's is",
            judge=_little_affected,
        ),
        Claim(
            id="k-protects",
            statement="A larger k improves attribute protection where the probability is above about 0.01.",
            place="Section 4.3, Figure 8a",
            criterion="the mean breach probability and the share of rows above 0.01 fall from each k to the next, "
            "for every l",
            judge=_protects,
        ),
        Claim(
            id="dm-coincides",
            statement="The discernibility is a matter of k alone: the lines for all l coincide.",
            place="Section 4.3, Figure 8b",
            criterion=f"for every k the largest DM over l is at most {_COINCIDE:g} times the smallest, which no line "
            "in a figure shows",
            judge=_coincides,
        ),
        Claim(
            id="error-grows",
            statement="The error of sums grows with k.",
            place="Section 4.3, Figure 8c",
            criterion="the mean error grows from each k to the next, for every l",
            judge=_grows,
        ),
        Claim(
            id="error-grows-faster",
            statement="The larger k is, the more its increase affects the error.",
            place="Section 4.3, Figure 8c",
            criterion="the mean error grows more per step of k between the two largest k than between the two "
            "smallest, for every l",
            judge=_grows_faster,
        ),
        Claim(
            id="promise-holds",
            statement="Ours, not the paper's: every release keeps its promise, recomputed from the published tables.",
            place="Definition 10",
            criterion="(k, l)-anonymity, and l-diversity of the others, in every release measured",
            judge=_holds,
        ),
    ]


def _ls(rows: Rows, series: str) -> list[int]:
    rows.mean(BY_L, series, BREACH)  # says what is missing, if all is
    return [int(l) for l in rows.xs(BY_L, series)]  # noqa: E741


def _abides(rows: Rows) -> Judgement:
    worst = {l: max(rows.values(BY_L, ANATOMY, WORST, l)) for l in _ls(rows, ANATOMY)}  # noqa: E741
    figures = ", ".join(f"l = {l}: {risk(value)}" for l, value in worst.items())  # noqa: E741
    return judged(all(value <= 1 / l + 1e-12 for l, value in worst.items()), figures)  # noqa: E741


def _below(rows: Rows, better: str, worse: tuple[str, ...], measure: str, write: Callable[[float], str]) -> Judgement:
    won, parts = True, []
    for l in _ls(rows, better):  # noqa: E741
        ours = rows.mean(BY_L, better, measure, l)
        theirs = {name: rows.mean(BY_L, name, measure, l) for name in worse}
        won &= all(ours < value for value in theirs.values())
        others = ", ".join(f"{name} {write(value)}" for name, value in theirs.items())
        parts.append(f"l = {l}: {better} {write(ours)}, {others}")
    return judged(won, "; ".join(parts))


def _identity(rows: Rows, k: int) -> Judgement:
    worst = {k: max(rows.values(BY_L, CROSS, IDENTITY), default=0.0)}
    for row in rows:
        if row.figure == BY_K and row.measure == IDENTITY:
            worst[int(row.x)] = max(worst.get(int(row.x), 0.0), row.value)
    if not any(worst.values()):
        raise NotMeasuredError(f"{IDENTITY} was not measured for {CROSS}")
    figures = ", ".join(f"k = {x}: {risk(value)}" for x, value in sorted(worst.items()))
    return judged(all(value <= 1 / x + 1e-12 for x, value in worst.items()), figures)


def _pronounced(rows: Rows) -> Judgement:
    ratios = {l: rows.mean(BY_L, MONDRIAN, DM, l) / rows.mean(BY_L, CROSS, DM, l) for l in _ls(rows, CROSS)}  # noqa: E741
    figures = ", ".join(f"l = {l}: {ratio:.1f} times" for l, ratio in ratios.items())  # noqa: E741
    return judged(min(ratios.values()) >= _PRONOUNCED, figures)


def _flat(rows: Rows) -> Judgement:
    rows.mean(BY_L, CROSS, DM)
    found = sorted(set(rows.values(BY_L, CROSS, DM)))
    return judged(len(found) == 1, " and ".join(number(int(value)) for value in found))


def _little_affected(rows: Rows) -> Judgement:
    spread = {}
    for series in (CROSS, MONDRIAN):
        errors = [rows.mean(BY_L, series, ERROR, l) for l in _ls(rows, series)]  # noqa: E741
        if len(errors) < 2:
            raise NotMeasuredError(f"{ERROR} was measured at one l only")
        spread[series] = max(errors) / min(errors)
    figures = ", ".join(f"{series} {value:.2f} times" for series, value in spread.items())
    return judged(spread[CROSS] < spread[MONDRIAN], figures)


def _by_k(rows: Rows, measure: str) -> dict[str, dict[int, float]]:
    """For every l the means by k, in ascending order."""
    names = list(dict.fromkeys(row.series for row in rows if row.figure == BY_K))
    found = {name: {int(k): rows.mean(BY_K, name, measure, k) for k in sorted(rows.xs(BY_K, name))} for name in names}
    if not found or any(len(by_k) < 2 for by_k in found.values()):
        raise NotMeasuredError(f"{measure} was not measured for several k")
    return found


def _steps(by_k: dict[int, float]) -> list[float]:
    """By how much a measure grows per step of k, from each k to the next."""
    ks, values = list(by_k), list(by_k.values())
    return [(values[i + 1] - values[i]) / (ks[i + 1] - ks[i]) for i in range(len(ks) - 1)]


def _shown(found: dict[str, dict[int, float]], write: Callable[[float], str]) -> str:
    return "; ".join(f"{name}: {', '.join(write(value) for value in by_k.values())}" for name, by_k in found.items())


def _protects(rows: Rows) -> Judgement:
    breach, above = _by_k(rows, BREACH), _by_k(rows, ABOVE)
    falls = all(step < 0 for by_k in breach.values() for step in _steps(by_k))
    fewer = all(step < 0 for by_k in above.values() for step in _steps(by_k))
    return judged(falls and fewer, f"mean {_shown(breach, risk)}; above 0.01 {_shown(above, risk)}")


def _coincides(rows: Rows) -> Judgement:
    found = _by_k(rows, DM)
    values: dict[int, set[float]] = {}
    for by_k in found.values():
        for k, value in by_k.items():
            values.setdefault(k, set()).add(value)
    figures = ", ".join(
        f"k = {k}: {' and '.join(number(int(value)) for value in sorted(of_k))}" for k, of_k in values.items()
    )
    return judged(all(max(of_k) <= _COINCIDE * min(of_k) for of_k in values.values()), figures)


def _grows(rows: Rows) -> Judgement:
    found = _by_k(rows, ERROR)
    return judged(all(step > 0 for by_k in found.values() for step in _steps(by_k)), _shown(found, risk))


def _grows_faster(rows: Rows) -> Judgement:
    found = _by_k(rows, ERROR)
    if any(len(by_k) < 3 for by_k in found.values()):
        raise NotMeasuredError(f"{ERROR} was measured for two k only")
    figures = "; ".join(
        f"{name}: {risk(_steps(by_k)[0])}, then {risk(_steps(by_k)[-1])}" for name, by_k in found.items()
    )
    return judged(all(_steps(by_k)[-1] > _steps(by_k)[0] for by_k in found.values()), figures)


def _holds(rows: Rows) -> Judgement:
    found = [row.value for row in rows if row.measure == HOLDS]
    if not found:
        raise NotMeasuredError("no release was measured")
    return judged(min(found) == 1, f"{sum(value == 1 for value in found)} of {len(found)} releases")
