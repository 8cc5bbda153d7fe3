"""What Cheong, Wu & Wong say of their measurements (Section 6.3), and when we say that it held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import ge, le

from undercover.model.figures import seconds
from undercover.studies.experiments.experiment import Claim, Judgement, judged
from undercover.studies.experiments.judges import Order, counted, every, several, steps
from undercover.studies.experiments.rows import Rows

_LIMIT = 180.0
_PAPERS_COLUMNS = 5
_SIGNIFICANT = 1.5
_SHORTEST = 0.05  # seconds; below it the clock decides
CANDIDATES, LEVEL = "candidates", "least average level"


def series_of(columns: int) -> str:
    """The line of a number of quasi-identifiers."""
    return f"{columns} QI"


def claims(sets: Mapping[str, tuple[int, int]], columns: Sequence[int]) -> list[Claim]:
    """The eight observations of the paper; ``sets`` are (l_pre, |QI_pre|) of those with a previous table."""
    names = list(sets)
    wider = [(a, b) for a in names for b in names if sets[a][0] == sets[b][0] and sets[a][1] < sets[b][1]]
    stricter = [(a, b) for a in names for b in names if sets[a][1] == sets[b][1] and sets[a][0] < sets[b][0]]
    return [
        Claim("time-under-180", "Section 6.3, time, first observation", lambda rows: _quick(rows, names),
              f"A table with {_PAPERS_COLUMNS} quasi-identifiers is found in less than {_LIMIT:g} seconds.",
              f"every search with {_PAPERS_COLUMNS} quasi-identifiers, by the clock"),
        Claim("time-not-qi-pre", "Section 6.3, time, second observation", lambda rows: _not_longer(rows, wider),
              "More attributes in the previous tables do not make the search significantly longer.",
              f"all searches that both sets have, together: at most {_SIGNIFICANT:g} times the processor time"),
        Claim("time-rises-with-qi", "Section 6.3, time, third observation", lambda rows: _longer(rows, names, columns),
              "The search takes longer with more quasi-identifiers.",
              "processor time over all l, from the fewest to the most quasi-identifiers, in every set"),
        Claim("candidates-fall-with-l", "Section 6.3, candidates, first observation",
              lambda rows: _along_l(rows, names, columns, CANDIDATES, ge),
              "The larger l, the fewer candidates.",
              "never more candidates at a larger l, for every set and number of quasi-identifiers"),
        Claim("candidates-rise-with-qi", "Section 6.3, candidates, second observation",
              lambda rows: _along_columns(rows, names, columns, CANDIDATES),
              "The more quasi-identifiers, the more candidates.",
              "never fewer candidates with one quasi-identifier more, for every set and l"),
        Claim("candidates-rise-with-l-pre", "Section 6.3, candidates, third observation",
              lambda rows: _next_to(rows, stricter),
              "The larger l of the previous tables, the more candidates.",
              "never fewer candidates next to a previous table of larger l, for every |QI| and l"),
        Claim("level-rises-with-l", "Section 6.3, level, first observation",
              lambda rows: _along_l(rows, names, columns, LEVEL, le),
              "The larger l, the higher the least average level.",
              "never lower at a larger l, for every set and number of quasi-identifiers"),
        Claim("level-rises-with-qi", "Section 6.3, level, second observation",
              lambda rows: _along_columns(rows, names, columns, LEVEL),
              "The more quasi-identifiers, the higher the least average level.",
              "never lower with one quasi-identifier more, for every set and l"),
    ]  # fmt: skip


def _quick(rows: Rows, names: Sequence[str]) -> Judgement:
    found = [value for name in names for value in rows.values(name, series_of(_PAPERS_COLUMNS), "elapsed")]
    worst = max(several(found, f"no set was measured with {_PAPERS_COLUMNS} quasi-identifiers", 1))
    return judged(worst < _LIMIT, f"at most {seconds(worst)}")


def _common(rows: Rows, first: str, second: str, measure: str) -> list[tuple[float, float]]:
    """The least of the repetitions in both sets, wherever both were measured."""
    places = dict.fromkeys((row.series, row.x) for row in rows if row.figure == first)
    pairs = [[rows.values(name, series, measure, x) for name in (first, second)] for series, x in places]
    return [(min(one), min(other)) for one, other in pairs if one and other]


def _not_longer(rows: Rows, pairs: Iterable[tuple[str, str]]) -> Judgement:
    def parts() -> Iterator[tuple[bool, str]]:
        for first, second in pairs:
            common = _common(rows, first, second, "seconds")
            before, after = sum(a for a, _ in common), sum(b for _, b in common)
            if before >= _SHORTEST:
                yield after / before <= _SIGNIFICANT, f"{second} against {first}: {after / before:.2f} times"

    short = f"the table is too small: the searches take less than {seconds(_SHORTEST)} together"
    return every(parts(), ", ", missing=short)


def _longer(rows: Rows, names: Sequence[str], columns: Sequence[int]) -> Judgement:
    def parts() -> Iterator[tuple[bool, str]]:
        for name in names:
            lines = [series_of(count) for count in columns if rows.values(name, series_of(count), "seconds")]
            times = [sum(rows.least(name, line, "seconds", x) for x in rows.xs(name, line)) for line in lines]
            if len(times) > 1:
                yield times[-1] > times[0], f"{name}: {seconds(times[0])} to {seconds(times[-1])}"

    return every(parts(), ", ", missing="one number of quasi-identifiers was measured only")


def _along_l(rows: Rows, names: Sequence[str], columns: Sequence[int], measure: str, order: Order) -> Judgement:
    lines = [rows.means(name, series_of(count), measure) for name in names for count in columns]
    return counted([step for line in lines for step in steps(order, line.values())], " steps of l")


def _along_columns(rows: Rows, names: Sequence[str], columns: Sequence[int], measure: str) -> Judgement:
    found = []
    for name in names:
        lines = [rows.means(name, series_of(count), measure) for count in columns]
        for x in sorted({x for line in lines for x in line}):
            found += steps(le, [line[x] for line in lines if x in line])
    return counted(found, " steps of a quasi-identifier")


def _next_to(rows: Rows, pairs: Iterable[tuple[str, str]]) -> Judgement:
    found = [b >= a for first, second in pairs for a, b in _common(rows, first, second, CANDIDATES)]
    return counted(found, " pairs of searches")
