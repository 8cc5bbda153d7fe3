"""What Liu & Wang say of their measurements (Section 4), and when we say that it held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from undercover.model.figures import number, risk, seconds
from undercover.studies.experiments.experiment import Claim, Judgement, judged, untestable
from undercover.studies.experiments.papers.streamliner.bench import CONTROL
from undercover.studies.experiments.rows import NotMeasuredError, Rows

PAPERS = ("rda", "gda")
_ABOVE_CONTROL, _INSENSITIVE, _SLIGHT = 0.1, 1.5, 2.0
_CONTROL_EXPONENT = (0.9, 1.7)  # 1 and what caches cost; outside it the times mean nothing
_DM_RDA, _DM_GDA = 1.01, 1.05
_REDUCTION, _GENDER_RDA, _GENDER_GDA = 3.0, (0.4, 0.9), 0.25
_PAPER_L = 8
_SHORTEST = 0.005  # seconds; below it fixed costs and the clock decide


def claims(predicates: Mapping[str, tuple[str, ...]], category: str, everything: str) -> list[Claim]:
    """The claims of the paper, and two on what we added.

    Parameters
    ----------
    predicates
        Label and columns of each set of quasi-identifiers that queries ask about.
    category
        The label that stands for the paper's Gender.
    everything
        The label of all quasi-identifiers together.
    """
    return [
        Claim(
            id="time-linear",
            statement="The time of RDA and GDA grows in proportion to the number of rows.",
            place="Section 4.1, Figure 1; Sections 3.2 and 3.3 for O(n)",
            criterion="processor time grows as a power of the rows that is at most "
            f"{_ABOVE_CONTROL:g} above that of the control, ten random scatters of as many numbers: linear work, and "
            "where it takes more than in proportion, that is the caches of the machine",
            judge=_linear,
        ),
        Claim(
            id="rda-faster",
            statement="RDA is faster than GDA.",
            place="Section 4.1, Figure 1",
            criterion="at every number of rows, by the fastest repetition",
            judge=_faster,
        ),
        Claim(
            id="gda-overhead-slight",
            statement="What GDA costs beyond RDA is slight.",
            place="Section 4.1",
            criterion=f"GDA takes at most {_SLIGHT:g} times as long as RDA at the largest table",
            judge=_slight,
        ),
        Claim(
            id="faster-than-transparent",
            statement="Both algorithms need less time than those of Xiao, Tao and Koudas, RDA much less.",
            place="Section 4.1, against its reference 28",
            criterion="those algorithms on the same machine and table",
            judge=untestable(
                "undercover does not have the algorithms of that paper, and figures from another machine do not compare"
            ),
        ),
        Claim(
            id="time-insensitive-to-l",
            statement="The time does not depend on l.",
            place="Section 4.1, figures not shown",
            criterion=f"the slowest l takes at most {_INSENSITIVE:g} times as long as the fastest",
            judge=lambda rows: _insensitive(rows, "time-l"),
        ),
        Claim(
            id="time-insensitive-to-qi",
            statement="The time does not depend on the number of quasi-identifiers.",
            place="Section 4.1, figures not shown",
            criterion=f"the slowest number takes at most {_INSENSITIVE:g} times as long as the fastest",
            judge=lambda rows: _insensitive(rows, "time-qi"),
        ),
        Claim(
            id="dm-rda-optimal",
            statement="The discernibility of RDA is very close to the optimum.",
            place="Section 4.2, Figure 2",
            criterion=f"at most {_DM_RDA:g} times the optimum for every l",
            judge=lambda rows: _near_optimum(rows, "rda", _DM_RDA),
        ),
        Claim(
            id="dm-gda-near-optimal",
            statement="The discernibility of GDA is only slightly above the optimum.",
            place="Section 4.2, Figure 2",
            criterion=f"at most {_DM_GDA:g} times the optimum for every l",
            judge=lambda rows: _near_optimum(rows, "gda", _DM_GDA),
        ),
        Claim(
            id="rda-minimal-groups",
            statement="Most groups of RDA are as small as l allows.",
            place="Section 3.2",
            criterion="more than half of the groups have exactly l rows, for every l",
            judge=_minimal,
        ),
        Claim(
            id="gda-answers-better",
            statement="Queries are answered more exactly from GDA's groups than from RDA's.",
            place="Section 4.2, Figures 3 to 7",
            criterion="a smaller mean error for every set of predicates at every l",
            judge=lambda rows: _better(rows, list(predicates)),
        ),
        Claim(
            id="gender-error-reduced",
            statement=f"Asked about gender alone at l = {_PAPER_L}, GDA's error is a fraction of RDA's: 10% against "
            "64% (SAL), 18% against 69% (OCC).",
            place="Section 4.2, Figure 5",
            criterion=f"RDA's mean error on {category} is at least {_REDUCTION:g} times GDA's",
            judge=lambda rows: _reduced(rows, category),
        ),
        Claim(
            id="gender-error-levels",
            statement=f"Asked about gender alone at l = {_PAPER_L}, the errors are 64 and 69% for RDA, 10 and 18% "
            "for GDA.",
            place="Section 4.2, Figure 5",
            criterion=f"on other people the levels can only be alike: RDA's mean error on {category} within "
            f"{_GENDER_RDA[0]:.0%} and {_GENDER_RDA[1]:.0%}, GDA's at most {_GENDER_GDA:.0%}",
            judge=lambda rows: _levels(rows, category),
        ),
        Claim(
            id="answers-like-transparent",
            statement="Query errors are close to those of Xiao, Tao and Koudas.",
            place="Section 4.2, figures not shown",
            criterion="the errors of those algorithms on the same table and queries",
            judge=untestable("undercover does not have the algorithms of that paper, and no figure is given"),
        ),
        Claim(
            id="guided-exact-on-strata",
            statement="Ours, not the paper's: `guided`, which is algorithm-safe, answers exactly about its strata.",
            place="method `guided`",
            criterion=f"no error on {category}, for every l",
            judge=lambda rows: _exact(rows, category),
        ),
        Claim(
            id="guided-better-than-gda",
            statement="Ours, not the paper's: `guided` answers better than GDA about all quasi-identifiers together.",
            place="methods `guided` and `gda`",
            criterion=f"a smaller mean error on {everything}, for every l",
            judge=lambda rows: _guided(rows, everything),
        ),
        Claim(
            id="wrap-optimal",
            statement="Ours, not the paper's: `wrap` always reaches the optimal discernibility.",
            place="method `wrap`",
            criterion="equal to the optimum for every l",
            judge=lambda rows: _near_optimum(rows, "wrap", 1.0),
        ),
    ]


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """By which power of the size the time grows: the slope of a line through the logarithms.

    >>> round(exponent([1, 2, 4], [3, 6, 12]), 6), round(exponent([1, 10], [1, 100]), 6)
    (1.0, 2.0)
    """
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _fastest(rows: Rows, figure: str, series: str) -> dict[float, float]:
    """The fastest repetition at every x; times too short to mean anything count as not measured."""
    rows.mean(figure, series, "seconds")  # says what is missing, if all is
    times = {x: rows.least(figure, series, "seconds", x) for x in rows.xs(figure, series)}
    if min(times.values()) < _SHORTEST:
        raise NotMeasuredError(
            f"the table is too small: {series} takes less than {seconds(_SHORTEST)}, which says nothing of its growth"
        )
    if len(times) < 2:
        raise NotMeasuredError(f"{series} was timed at one place only")
    return times


def _linear(rows: Rows) -> Judgement:
    found = {}
    for series in (*PAPERS, CONTROL):
        times = _fastest(rows, "time-n", series)
        found[series] = exponent(list(times), list(times.values()))
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
    largest = max(n for n in rda if n in gda)
    ratio = gda[largest] / rda[largest]
    return judged(
        ratio <= _SLIGHT,
        f"{seconds(gda[largest])} against {seconds(rda[largest])} at {number(largest)} rows: {ratio:.1f} times",
    )


def _insensitive(rows: Rows, figure: str) -> Judgement:
    ratios, parts = [], []
    for series in PAPERS:
        times = _fastest(rows, figure, series)
        least, most = min(times.values()), max(times.values())
        ratios.append(most / least)
        parts.append(f"{series} {seconds(least)} to {seconds(most)} ({most / least:.2f} times)")
    return judged(max(ratios) <= _INSENSITIVE, ", ".join(parts))


def _near_optimum(rows: Rows, series: str, limit: float) -> Judgement:
    rows.mean("dm", series, "DM to optimum")
    worst = max(rows.values("dm", series, "DM to optimum"))
    return judged(worst <= limit, "equal to it for every l" if worst == 1 else f"at most {worst:.6f} times the optimum")


def _minimal(rows: Rows) -> Judgement:
    rows.mean("dm", "rda", "groups of l")
    least = min(rows.values("dm", "rda", "groups of l"))
    return judged(least > 0.5, f"at least {least:.1%} of the groups")


def _compared(rows: Rows, better: str, worse: str, labels: Sequence[str]) -> tuple[int, int, str]:
    """(comparisons won, comparisons, the errors of both over every l, label by label)."""
    won = compared = 0
    parts = []
    for label in labels:
        ours, theirs = rows.mean("qwe", better, label), rows.mean("qwe", worse, label)
        for l in rows.xs("qwe", better):  # noqa: E741
            won += rows.mean("qwe", better, label, l) < rows.mean("qwe", worse, label, l)
            compared += 1
        parts.append(f"{label} {risk(ours)} against {risk(theirs)}")
    return won, compared, "; ".join(parts)


def _better(rows: Rows, labels: Sequence[str]) -> Judgement:
    won, compared, parts = _compared(rows, "gda", "rda", labels)
    return judged(won == compared, f"{won} of {compared}; mean over l: {parts}")


def _exact(rows: Rows, category: str) -> Judgement:
    rows.mean("qwe", "guided", category)
    worst = max(rows.values("qwe", "guided", category))
    return judged(worst == 0, f"at most {risk(worst)}; GDA {risk(rows.mean('qwe', 'gda', category))}")


def _guided(rows: Rows, everything: str) -> Judgement:
    won, compared, parts = _compared(rows, "guided", "gda", [everything])
    return judged(won == compared, f"{won} of {compared}; mean over l: {parts}")


def _reduced(rows: Rows, category: str) -> Judgement:
    rda, gda = (rows.mean("qwe", series, category, _PAPER_L) for series in PAPERS)
    return judged(rda >= _REDUCTION * gda, f"{risk(rda)} against {risk(gda)}: {rda / max(gda, 1e-9):.1f} times")


def _levels(rows: Rows, category: str) -> Judgement:
    rda, gda = (rows.mean("qwe", series, category, _PAPER_L) for series in PAPERS)
    held = _GENDER_RDA[0] <= rda <= _GENDER_RDA[1] and gda <= _GENDER_GDA
    return judged(held, f"RDA {risk(rda)}, GDA {risk(gda)}")
