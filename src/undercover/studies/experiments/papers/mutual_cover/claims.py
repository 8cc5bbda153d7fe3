"""What "Mutual Cover" claims of its measurements, and what we add; each claim is judged by one measure.

The claims of the paper are judged on the paper's variant. Of ours, which the figures show beside it, only what their
specification says is judged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from undercover.attacks.partial.profile import PAPERS
from undercover.model.figures import counted, number, risk
from undercover.studies.experiments.experiment import HELD, Claim, Judgement, Rows, judged
from undercover.studies.experiments.judges import below, every, falls, monotone, rises, several, spread
from undercover.studies.experiments.papers.mutual_cover.bench import (
    ABOVE_DELTA,
    ALIKE,
    ALONE,
    ANATOMY,
    BLOCKS,
    COVER,
    ERROR,
    ESTIMATE,
    ILOSS,
    IN_GROUP,
    KNOWS_ROW,
    MEDIAN,
    MONDRIAN,
    RESAMPLED,
    attribute_at,
    identity_at,
)

BY_DELTA, BY_L, ALONG = "by delta", "by l", "along hierarchies"
_ALIKE, _MUCH, _FLAT = 0.25, 0.5, 1.5
_MISSING = "no δ was measured"
_PAIRS = "in more than half of all pairs of δ and P, Mondrian having l = 10 as the groups of mutual cover"
_below = partial(below, BY_DELTA, write=number, at="1/{:g}", missing=_MISSING)
_errors_below = partial(below, BY_DELTA, write=risk, at="1/{:g}", missing=_MISSING)


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
        Claim("identity-falls-with-delta", "Section 5.1, Figure 3",
              monotone(falls, BY_DELTA, COVER, identity_at(0.7), risk),
              "Identity disclosure falls as δ falls.",
              "the mean falls with every step of δ at P = 0.7"),
        Claim("attribute-falls-with-delta", "Section 5.1, Figure 4",
              monotone(falls, BY_DELTA, COVER, attribute_at(0.7), risk),
              "Attribute disclosure does the same.",
              "the mean falls with every step of δ at P = 0.7"),
        Claim("mondrian-identity-is-attribute", "Section 5.1, Figure 5", _coincide,
              "Identity and attribute disclosure of Mondrian are the same.",
              "equal to nine digits at every P and l"),
        Claim("identity-safer-than-mondrian", "Section 5.1", lambda rows: _safer(rows, identity_at),
              "Mutual cover discloses identities less than Mondrian in most cases, and about as much at P between 0.7 "
              "and 0.8.",
              f"smaller means of identity disclosure {_PAIRS}"),
        Claim("attribute-safer-than-mondrian", "Section 5.1", lambda rows: _safer(rows, attribute_at),
              "The same of attributes.",
              f"smaller means of attribute disclosure {_PAIRS}"),
        Claim("iloss-grows", "Section 5.2, Figure 6(a)", monotone(rises, BY_DELTA, COVER, ILOSS, number),
              "Information loss grows as δ falls.",
              "the mean grows with every step of δ"),
        Claim("iloss-below-mondrian", "Section 5.2, Figure 6",
              _below(COVER, [MONDRIAN], ILOSS, share=_MUCH),
              "Information loss is much less than Mondrian's, where categories are 0 or 1 apart.",
              f"ILoss at most {_MUCH:.0%} of Mondrian's at every δ, Mondrian having l = 1/δ"),
        Claim("iloss-below-mondrian-along-hierarchies", "Section 5.2, Figure 6",
              below(ALONG, COVER, [MONDRIAN], ILOSS, share=_MUCH, write=number, at="1/{:g}",
                    missing="categories were not measured along hierarchies beside it"),
              "The same where categories are as far apart as their trees say.",
              f"ILoss along hierarchies at most {_MUCH:.0%} of Mondrian's at every δ, Mondrian having l = 1/δ"),
        Claim("answers-better", "Section 5.3, Figure 7",
              _errors_below(COVER, [MONDRIAN, ANATOMY], ESTIMATE, share=_MUCH),
              "Sums are answered much better than from Mondrian and Anatomy.",
              f"a median error of estimates of at most {_MUCH:.0%} of either's at every δ, theirs having l = 1/δ: what "
              "all three can be asked for"),
        Claim("answers-better-than-bounds", "Section 5.3, Figure 7",
              _errors_below(COVER, [MONDRIAN, ANATOMY], ERROR, share=_MUCH),
              "The same as the paper compares it, the deviation of mutual cover with the width of the others' bounds.",
              f"a mean error as in the paper of at most {_MUCH:.0%} of either's at every δ, theirs having l = 1/δ"),
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
        Claim("blocks-lose-less", '`variant = "blocks"`',
              _below(BLOCKS, [COVER], ILOSS, missing="it was not measured"),
              "Ours, not the paper's: columns permuted in blocks that never see a sensitive value move less than the "
              "paper's draws, and what they promise holds against whoever knows the algorithm.",
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
    why = f"; {counted(int(left), 'row')} whose group has nothing else to release cannot be changed" if left else ""
    return judged(worst == 0, f"at most {risk(worst)}{why}")


def _coincide(rows: Rows) -> Judgement:
    xs = several(rows.xs(BY_DELTA, MONDRIAN), "Mondrian was not measured", 1)
    names = [(attribute_at(p), identity_at(p)) for p in PAPERS]
    ratios = [_mean(rows, a, x, MONDRIAN) / _mean(rows, b, x, MONDRIAN) for x in xs for a, b in names]
    figures = f"attribute disclosure is {min(ratios):.2f} to {max(ratios):.2f} times identity disclosure"
    return judged(max(abs(ratio - 1) for ratio in ratios) < 1e-9, f"{figures}: sensitive values repeat")


def _safer(rows: Rows, name: Callable[[float], str]) -> Judgement:
    last = several(rows.xs(BY_DELTA, MONDRIAN), f"{MONDRIAN} was not measured", 1)[-1]
    parts, won = [], []
    for p in PAPERS:
        theirs = _mean(rows, name(p), last, MONDRIAN)
        ours = several(rows.means(BY_DELTA, COVER, name(p)), f"{COVER} was not measured", 1).values()
        won += [value < theirs for value in ours]
        parts.append(f"P = {p:g}: {risk(min(ours))} to {risk(max(ours))} against {risk(theirs)}")
    return judged(2 * sum(won) > len(won), f"{sum(won)} of {len(won)}; at {', '.join(parts)}")


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
    return judged(fall > rise, f"loss {-fall:+.1%}, error {rise:+.1%}")


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
