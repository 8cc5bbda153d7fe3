"""What Liu & Wang say of their measurements (Section 4), and when we say that it held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from undercover.model.figures import number, risk, seconds
from undercover.studies.experiments.experiment import Claim, Judgement, judged, untestable
from undercover.studies.experiments.judges import counted, every, several, spread
from undercover.studies.experiments.papers.streamliner.bench import CONTROL
from undercover.studies.experiments.rows import NotMeasuredError, Rows

PAPERS = ("rda", "gda")
_ABOVE_CONTROL, _INSENSITIVE, _SLIGHT = 0.1, 1.5, 2.0
_CONTROL_EXPONENT = (0.9, 1.7)  # 1 and what caches cost; outside it the times mean nothing
_DM_RDA, _DM_GDA = 1.01, 1.05
_REDUCTION, _GENDER_RDA, _GENDER_GDA = 3.0, (0.4, 0.9), 0.25
_PAPER_L = 8
_LACKING = "undercover does not have the algorithms of that paper"
_SHORTEST = 0.005  # seconds; below it fixed costs and the clock decide


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
    """By which power of the size the time grows: the slope of a line through the logarithms.

    >>> round(exponent([1, 2, 4], [3, 6, 12]), 6), round(exponent([1, 10], [1, 100]), 6)
    (1.0, 2.0)
    """
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
