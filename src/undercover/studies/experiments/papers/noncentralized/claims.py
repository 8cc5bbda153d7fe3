"""What Cheong, Wu & Wong say of their measurements (Section 6.3), and when we say that it held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from undercover.model.figures import seconds
from undercover.studies.experiments.experiment import Claim, Judgement, judged
from undercover.studies.experiments.rows import NotMeasuredError, Rows

_LIMIT = 180.0
_PAPERS_COLUMNS = 5
_SIGNIFICANT = 1.5
_SHORTEST = 0.05  # seconds; below it the clock decides
CANDIDATES, LEVEL = "candidates", "least average level"


def series_of(columns: int) -> str:
    """The line of a number of quasi-identifiers."""
    return f"{columns} QI"


def claims(sets: Mapping[str, tuple[int, int]], columns: Sequence[int]) -> list[Claim]:
    """The eight observations of the paper.

    Parameters
    ----------
    sets
        (l_pre, |QI_pre|) of every set of experiments; those with a previous table.
    columns
        The numbers of quasi-identifiers that were measured.
    """
    names = list(sets)
    wider = [(a, b) for a in names for b in names if sets[a][0] == sets[b][0] and sets[a][1] < sets[b][1]]
    stricter = [(a, b) for a in names for b in names if sets[a][1] == sets[b][1] and sets[a][0] < sets[b][0]]
    return [
        Claim(
            id="time-under-180",
            statement=f"A table with {_PAPERS_COLUMNS} quasi-identifiers is found in less than {_LIMIT:g} seconds.",
            place="Section 6.3, time, first observation",
            criterion=f"every search with {_PAPERS_COLUMNS} quasi-identifiers, by the clock",
            judge=lambda rows: _quick(rows, names),
        ),
        Claim(
            id="time-not-qi-pre",
            statement="More attributes in the previous tables do not make the search significantly longer.",
            place="Section 6.3, time, second observation",
            criterion=f"all searches that both sets have, together: at most {_SIGNIFICANT:g} times the processor time",
            judge=lambda rows: _not_longer(rows, wider),
        ),
        Claim(
            id="time-rises-with-qi",
            statement="The search takes longer with more quasi-identifiers.",
            place="Section 6.3, time, third observation",
            criterion="processor time over all l, from the fewest to the most quasi-identifiers, in every set",
            judge=lambda rows: _longer(rows, names, columns),
        ),
        Claim(
            id="candidates-fall-with-l",
            statement="The larger l, the fewer candidates.",
            place="Section 6.3, candidates, first observation",
            criterion="never more candidates at a larger l, for every set and number of quasi-identifiers",
            judge=lambda rows: _along_l(rows, names, columns, CANDIDATES, rising=False),
        ),
        Claim(
            id="candidates-rise-with-qi",
            statement="The more quasi-identifiers, the more candidates.",
            place="Section 6.3, candidates, second observation",
            criterion="never fewer candidates with one quasi-identifier more, for every set and l",
            judge=lambda rows: _along_columns(rows, names, columns, CANDIDATES),
        ),
        Claim(
            id="candidates-rise-with-l-pre",
            statement="The larger l of the previous tables, the more candidates.",
            place="Section 6.3, candidates, third observation",
            criterion="never fewer candidates next to a previous table of larger l, for every |QI| and l",
            judge=lambda rows: _next_to(rows, stricter, columns),
        ),
        Claim(
            id="level-rises-with-l",
            statement="The larger l, the higher the least average level.",
            place="Section 6.3, level, first observation",
            criterion="never lower at a larger l, for every set and number of quasi-identifiers",
            judge=lambda rows: _along_l(rows, names, columns, LEVEL, rising=True),
        ),
        Claim(
            id="level-rises-with-qi",
            statement="The more quasi-identifiers, the higher the least average level.",
            place="Section 6.3, level, second observation",
            criterion="never lower with one quasi-identifier more, for every set and l",
            judge=lambda rows: _along_columns(rows, names, columns, LEVEL),
        ),
    ]


def _quick(rows: Rows, names: Sequence[str]) -> Judgement:
    found = [value for name in names for value in rows.values(name, series_of(_PAPERS_COLUMNS), "elapsed")]
    if not found:
        raise NotMeasuredError(f"no set was measured with {_PAPERS_COLUMNS} quasi-identifiers")
    return judged(max(found) < _LIMIT, f"at most {seconds(max(found))}")


def _common(rows: Rows, first: str, second: str, measure: str) -> list[tuple[float, float]]:
    """The least of the repetitions in both sets, wherever both were measured."""
    pairs = []
    for series in dict.fromkeys(row.series for row in rows if row.figure == first):
        for x in rows.xs(first, series):
            one, other = rows.values(first, series, measure, x), rows.values(second, series, measure, x)
            if one and other:
                pairs.append((min(one), min(other)))
    return pairs


def _not_longer(rows: Rows, pairs: Sequence[tuple[str, str]]) -> Judgement:
    ratios, parts = [], []
    for first, second in pairs:
        common = _common(rows, first, second, "seconds")
        before, after = sum(a for a, _ in common), sum(b for _, b in common)
        if before < _SHORTEST:
            continue
        ratios.append(after / before)
        parts.append(f"{second} against {first}: {after / before:.2f} times")
    if not ratios:
        raise NotMeasuredError(f"the table is too small: the searches take less than {seconds(_SHORTEST)} together")
    return judged(max(ratios) <= _SIGNIFICANT, ", ".join(parts))


def _longer(rows: Rows, names: Sequence[str], columns: Sequence[int]) -> Judgement:
    held, parts = [], []
    for name in names:
        measured = [count for count in columns if rows.values(name, series_of(count), "seconds")]
        if len(measured) < 2:
            continue
        few, many = (
            sum(rows.least(name, series_of(count), "seconds", x) for x in rows.xs(name, series_of(count)))
            for count in (measured[0], measured[-1])
        )
        held.append(many > few)
        parts.append(f"{name}: {seconds(few)} to {seconds(many)}")
    if not held:
        raise NotMeasuredError("one number of quasi-identifiers was measured only")
    return judged(all(held), ", ".join(parts))


def _counted(steps: Sequence[bool], what: str) -> Judgement:
    if not steps:
        raise NotMeasuredError("nothing to compare was measured")
    return judged(all(steps), f"{sum(steps):,} of {len(steps):,} {what}")


def _along_l(rows: Rows, names: Sequence[str], columns: Sequence[int], measure: str, *, rising: bool) -> Judgement:
    steps = []
    for name in names:
        for count in columns:
            values = [rows.mean(name, series_of(count), measure, x) for x in sorted(rows.xs(name, series_of(count)))]
            steps += [(after >= before) if rising else (after <= before) for before, after in pairwise(values)]
    return _counted(steps, "steps of l")


def _along_columns(rows: Rows, names: Sequence[str], columns: Sequence[int], measure: str) -> Judgement:
    steps = []
    for name in names:
        for x in sorted({x for count in columns for x in rows.xs(name, series_of(count))}):
            measured = [count for count in columns if rows.values(name, series_of(count), measure, x)]
            values = [rows.mean(name, series_of(count), measure, x) for count in measured]
            steps += [after >= before for before, after in pairwise(values)]
    return _counted(steps, "steps of a quasi-identifier")


def _next_to(rows: Rows, pairs: Sequence[tuple[str, str]], columns: Sequence[int]) -> Judgement:
    steps = [b >= a for first, second in pairs for a, b in _common(rows, first, second, CANDIDATES)]
    return _counted(steps, "pairs of searches")
