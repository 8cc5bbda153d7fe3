"""What Li, Wang & He say of their measurements (Section 5), and when we say that it held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from undercover.attacks.partial.profile import PAPERS
from undercover.model.figures import number, risk
from undercover.studies.experiments.experiment import HELD, Claim, Judgement, judged
from undercover.studies.experiments.papers.mutual_cover.bench import (
    ABOVE_DELTA,
    ALIKE,
    ALONE,
    ANATOMY,
    COVER,
    ERROR,
    ILOSS,
    IN_GROUP,
    KNOWS_ROW,
    MEDIAN,
    MONDRIAN,
    RESAMPLED,
    attribute_at,
    identity_at,
    spread,
)
from undercover.studies.experiments.rows import NotMeasuredError, Rows

BY_DELTA, BY_L = "by delta", "by l"
_ALIKE, _MUCH, _FLAT = 0.25, 0.5, 1.5


def claims() -> list[Claim]:
    """The claims of the paper, and what we add."""
    return [
        Claim(
            id="identity-peaks",
            statement="Identity disclosure rises with P from 0.3 to 0.7, is about the same at 0.7 and 0.8, and falls "
            "beyond.",
            place="Section 5.1, Figure 3",
            criterion=f"so for every δ, 0.7 and 0.8 within {_ALIKE:.0%} of each other",
            judge=lambda rows: _peaks(rows, identity_at),
        ),
        Claim(
            id="attribute-peaks",
            statement="Attribute disclosure does the same.",
            place="Section 5.1, Figure 4",
            criterion=f"so for every δ, 0.7 and 0.8 within {_ALIKE:.0%} of each other",
            judge=lambda rows: _peaks(rows, attribute_at),
        ),
        Claim(
            id="nobody-found-by-everything",
            statement="Whoever matches on all values finds nobody: the lines coincide at 0.",
            place="Section 5.1, Figure 3(f)",
            criterion="identity disclosure at P = 1 is exactly 0 for every δ",
            judge=_zero,
        ),
        Claim(
            id="disclosure-falls-with-delta",
            statement="Identity and attribute disclosure fall as δ falls.",
            place="Section 5.1, Figures 3 and 4",
            criterion="both means fall with every step of δ at P = 0.7",
            judge=_falls,
        ),
        Claim(
            id="mondrian-identity-is-attribute",
            statement="Identity and attribute disclosure of Mondrian are the same.",
            place="Section 5.1, Figure 5",
            criterion="equal to nine digits at every P and l",
            judge=_coincide,
        ),
        Claim(
            id="safer-than-mondrian",
            statement="Mutual cover discloses less than Mondrian in most cases, and about as much at P between 0.7 "
            "and 0.8.",
            place="Section 5.1",
            criterion="smaller means of identity and of attribute disclosure in more than half of all pairs of δ "
            "and P, Mondrian having l = 10 as the groups of mutual cover",
            judge=_safer,
        ),
        Claim(
            id="iloss-grows",
            statement="Information loss grows as δ falls.",
            place="Section 5.2, Figure 6(a)",
            criterion="the mean grows with every step of δ",
            judge=lambda rows: _monotone(rows, BY_DELTA, ILOSS, rising=True),
        ),
        Claim(
            id="iloss-below-mondrian",
            statement="Information loss is much less than Mondrian's.",
            place="Section 5.2, Figure 6",
            criterion=f"at most {_MUCH:.0%} of Mondrian's at every δ, Mondrian having l = 1/δ",
            judge=lambda rows: _below(rows, ILOSS, [MONDRIAN]),
        ),
        Claim(
            id="answers-better",
            statement="Sums are answered much better than from Mondrian and Anatomy.",
            place="Section 5.3, Figure 7",
            criterion=f"a mean error of at most {_MUCH:.0%} of either's at every δ, theirs having l = 1/δ",
            judge=lambda rows: _below(rows, ERROR, [MONDRIAN, ANATOMY]),
        ),
        Claim(
            id="error-flat-in-delta",
            statement="δ has little influence on the error of sums.",
            place="Section 5.3, Figure 7(a)",
            criterion=f"the largest mean is at most {_FLAT:g} times the smallest",
            judge=_flat,
        ),
        Claim(
            id="larger-l-less-loss",
            statement="A larger l lowers the information loss.",
            place="Section 5.4, Figure 8(a)",
            criterion="the mean falls with every step of l",
            judge=lambda rows: _monotone(rows, BY_L, ILOSS, rising=False),
        ),
        Claim(
            id="tables-alone-lose-less",
            statement="Ours, not the paper's: the output tables by themselves do what the paper says of the loss: it "
            "grows as δ falls and falls as l grows. The rest is what is done to unchanged rows.",
            place='`unchanged = "off"`',
            criterion="the mean ILoss of values as they were drawn grows with every step of δ and falls with every "
            "step of l",
            judge=_alone,
        ),
        Claim(
            id="larger-l-more-error",
            statement="A larger l raises the error of sums.",
            place="Section 5.4, Figure 8(b)",
            criterion="the mean error at the largest l is above that at the smallest",
            judge=_raises,
        ),
        Claim(
            id="l-costs-little",
            statement="Enhancing attribute protection lowers the information loss much and costs little accuracy.",
            place="Section 5.4",
            criterion="from the smallest to the largest l, the loss falls by a larger share than the error rises by",
            judge=_worth,
        ),
        Claim(
            id="hidden-process",
            statement="Ours, not the paper's: the protection rests on groups and tables being hidden.",
            place="attack `informed`",
            criterion="for every δ, somebody who knows them finds the row with at least five times the probability of "
            "the best P",
            judge=_hidden,
        ),
        Claim(
            id="algorithm-3-breaks-delta",
            statement="Ours, not the paper's: after Algorithm 3 δ-probability no longer holds in most tables.",
            place="Algorithm 3, Definition 5",
            criterion="for every δ, in more than half of the tables with several values a record has more than δ",
            judge=_broken,
        ),
        Claim(
            id="drawn-again-loses-less",
            statement="Ours, not the paper's: drawing unchanged rows again moves less than Algorithm 3.",
            place='`unchanged = "resample"`',
            criterion="a smaller mean ILoss at every δ",
            judge=_cheaper,
        ),
    ]


def _peaks(rows: Rows, name: Callable[[float], str]) -> Judgement:
    parts, held = [], True
    for x in rows.xs(BY_DELTA, COVER):
        at = {p: rows.mean(BY_DELTA, COVER, name(p), x) for p in PAPERS}
        held &= at[0.3] < at[0.5] < at[0.7] and at[0.8] > at[0.9] > at[1.0]
        held &= abs(at[0.8] - at[0.7]) <= _ALIKE * at[0.7]
        parts.append(f"δ = 1/{x:g}: " + ", ".join(risk(value) for value in at.values()))
    if not parts:
        raise NotMeasuredError("no δ was measured")
    return judged(held, f"at P = {', '.join(f'{p:g}' for p in PAPERS)}: " + "; ".join(parts))


def _zero(rows: Rows) -> Judgement:
    rows.mean(BY_DELTA, COVER, identity_at(1.0))
    worst, left = max(rows.values(BY_DELTA, COVER, identity_at(1.0))), max(rows.values(BY_DELTA, COVER, ALIKE))
    why = f"; {number(int(left))} rows whose group has nothing else to release cannot be changed" if left else ""
    return judged(worst == 0, f"at most {risk(worst)}{why}")


def _falls(rows: Rows) -> Judgement:
    parts, held = [], True
    for name in (identity_at(0.7), attribute_at(0.7)):
        rows.mean(BY_DELTA, COVER, name)  # says what is missing, if all is
        means = [rows.mean(BY_DELTA, COVER, name, x) for x in rows.xs(BY_DELTA, COVER)]
        held &= all(later < earlier for earlier, later in pairwise(means)) and len(means) > 1
        parts.append(f"{name}: {_listed(means)}")
    return judged(held, "; ".join(parts))


def _coincide(rows: Rows) -> Judgement:
    ratios = [
        rows.mean(BY_DELTA, MONDRIAN, attribute_at(p), x) / rows.mean(BY_DELTA, MONDRIAN, identity_at(p), x)
        for x in rows.xs(BY_DELTA, MONDRIAN)
        for p in PAPERS
    ]
    if not ratios:
        raise NotMeasuredError("Mondrian was not measured")
    return judged(
        max(abs(ratio - 1) for ratio in ratios) < 1e-9,
        f"attribute disclosure is {min(ratios):.2f} to {max(ratios):.2f} times identity disclosure: sensitive values "
        "repeat",
    )


def _safer(rows: Rows) -> Judgement:
    last = _last(rows, MONDRIAN)
    parts, won, compared = [], 0, 0
    for name in (identity_at, attribute_at):
        theirs = {p: rows.mean(BY_DELTA, MONDRIAN, name(p), last) for p in PAPERS}
        for p in PAPERS:
            ours = [rows.mean(BY_DELTA, COVER, name(p), x) for x in rows.xs(BY_DELTA, COVER)]
            won += sum(value < theirs[p] for value in ours)
            compared += len(ours)
            if name is identity_at:
                parts.append(f"P = {p:g}: {risk(min(ours))} to {risk(max(ours))} against {risk(theirs[p])}")
    return judged(2 * won > compared, f"{won} of {compared}; identity at " + ", ".join(parts))


def _alone(rows: Rows) -> Judgement:
    grows = _monotone(rows, BY_DELTA, ILOSS, rising=True, series=ALONE)
    falls = _monotone(rows, BY_L, ILOSS, rising=False, series=ALONE)
    return judged(grows.verdict == falls.verdict == HELD, f"1/δ = {grows.figures}; l = {falls.figures}")


def _monotone(rows: Rows, figure: str, measure: str, *, rising: bool, series: str = COVER) -> Judgement:
    means = [rows.mean(figure, series, measure, x) for x in rows.xs(figure, series)]
    if len(means) < 2:
        raise NotMeasuredError(f"{measure} was measured at one place only")
    held = all((later > earlier) == rising for earlier, later in pairwise(means))
    return judged(
        held, ", ".join(f"{x:g}: {number(mean)}" for x, mean in zip(rows.xs(figure, series), means, strict=True))
    )


def _below(rows: Rows, measure: str, others: Sequence[str]) -> Judgement:
    parts, held = [], True
    for x in rows.xs(BY_DELTA, COVER):
        ours = rows.mean(BY_DELTA, COVER, measure, x)
        theirs = [rows.mean(BY_DELTA, other, measure, x) for other in others]
        held &= ours <= _MUCH * min(theirs)
        parts.append(f"1/{x:g}: {number(ours)} against " + " and ".join(number(value) for value in theirs))
    if not parts:
        raise NotMeasuredError("no δ was measured")
    return judged(held, "; ".join(parts))


def _flat(rows: Rows) -> Judgement:
    xs = rows.xs(BY_DELTA, COVER)
    means = [rows.mean(BY_DELTA, COVER, ERROR, x) for x in xs]
    if len(means) < 2:
        raise NotMeasuredError("the error was measured at one δ only")
    medians = [rows.mean(BY_DELTA, COVER, MEDIAN, x) for x in xs]
    return judged(spread(means) <= _FLAT, f"means {_listed(means)}; medians {_listed(medians)}")


def _raises(rows: Rows) -> Judgement:
    first, last = _ends(rows, ERROR)
    return judged(last > first, f"{risk(first)} to {risk(last)}")


def _worth(rows: Rows) -> Judgement:
    (less, least), (error, more) = _ends(rows, ILOSS), _ends(rows, ERROR)
    fall, rise = 1 - least / less, more / error - 1
    return judged(fall > rise, f"loss {fall:+.1%} less, error {rise:+.1%}")


def _ends(rows: Rows, measure: str) -> tuple[float, float]:
    xs = rows.xs(BY_L, COVER)
    if len(xs) < 2:
        raise NotMeasuredError(f"{measure} was measured at one l only")
    return rows.mean(BY_L, COVER, measure, xs[0]), rows.mean(BY_L, COVER, measure, xs[-1])


def _hidden(rows: Rows) -> Judgement:
    parts, held = [], True
    for x in rows.xs(BY_DELTA, COVER):
        knows = rows.mean(BY_DELTA, COVER, KNOWS_ROW, x)
        best = max(rows.mean(BY_DELTA, COVER, identity_at(p), x) for p in PAPERS)
        guess = rows.mean(BY_DELTA, COVER, IN_GROUP, x)
        held &= knows >= 5 * best
        parts.append(f"1/{x:g}: {risk(knows)} against {risk(best)}, guessing in the group {risk(guess)}")
    if not parts:
        raise NotMeasuredError("no δ was measured")
    return judged(held, "; ".join(parts))


def _broken(rows: Rows) -> Judgement:
    parts = {x: rows.mean(BY_DELTA, COVER, ABOVE_DELTA, x) for x in rows.xs(BY_DELTA, COVER)}
    if not parts:
        raise NotMeasuredError("no δ was measured")
    again = [rows.mean(BY_DELTA, RESAMPLED, ABOVE_DELTA, x) for x in rows.xs(BY_DELTA, RESAMPLED)]
    figures = ", ".join(f"1/{x:g}: {share:.0%}" for x, share in parts.items())
    beside = f"; drawn again instead: {', '.join(f'{share:.0%}' for share in again)}" if again else ""
    return judged(min(parts.values()) > 0.5, figures + beside)


def _cheaper(rows: Rows) -> Judgement:
    parts, held = [], True
    for x in rows.xs(BY_DELTA, RESAMPLED):
        ours, theirs = (rows.mean(BY_DELTA, series, ILOSS, x) for series in (RESAMPLED, COVER))
        held &= ours < theirs
        parts.append(f"1/{x:g}: {number(ours)} against {number(theirs)}")
    if not parts:
        raise NotMeasuredError("it was not measured")
    return judged(held, "; ".join(parts))


def _last(rows: Rows, series: str) -> float:
    xs = rows.xs(BY_DELTA, series)
    if not xs:
        raise NotMeasuredError(f"{series} was not measured")
    return float(xs[-1])


def _listed(values: Sequence[float]) -> str:
    return ", ".join(risk(value) for value in values)
