"""The evaluation of "Non-centralized distinct l-diversity" run again: time, candidates and the least average level.

Cheong, Wu & Wong 2012, Section 6: 700,000 people with seven quasi-identifiers, each on four levels (as it is, four
classes, two, one), and 50 classes of income. Four sets of experiments next to a previous table (Table 10), and one
without any.

Deviations: the built-in census stands for SAL. The paper does not say which attributes the previous table has; here
the new table takes the first ones in the paper's order and the previous one the last. Of the previous table's
candidates the one of least average level is published. With other numbers of sensitive values, l and l_pre keep their
share of them. Times are those of the search alone, by processor time, the fastest of a few repetitions.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from operator import ge, le
from typing import Any

import pyarrow as pa

from undercover.datasets import census, census_schema
from undercover.errors import ParameterError, UnreachableError, unknown
from undercover.guarantees.joint.tables import released_table
from undercover.hierarchies.build import distinct
from undercover.methods.noncentralized.method import NonCentralized
from undercover.methods.noncentralized.neighbours import joint_condition, neighbours
from undercover.model.figures import seconds
from undercover.model.hierarchy import Hierarchy
from undercover.model.protocols import Progress
from undercover.model.published import Published
from undercover.model.schema import Column
from undercover.model.table import Table, write_values
from undercover.randomness import Randomness
from undercover.steps.lattice.choice import search
from undercover.steps.lattice.cubes import FullDomain
from undercover.steps.lattice.lattice import listed_nodes, minimal
from undercover.studies.experiments.bench import TableBench, part
from undercover.studies.experiments.experiment import Cell, Claim, Experiment, Judgement, Plot, Rows, judged
from undercover.studies.experiments.judges import Order, counted, every, several, steps
from undercover.studies.experiments.request import Request, Source, one_sensitive
from undercover.verbs.publish import publish_table

OPTIONS = ("hierarchies",)
ALONE = "none"
_PAPER = "Cheong, Wu & Wong, “Non-centralized distinct l-diversity”, IJDMS 4(2), 2012, Section 6."
_NAMES = ("age", "education", "birthplace", "occupation", "race", "work_class", "marital_status")
_VALUES = 50  # sensitive values in the paper
_Sets = Mapping[str, tuple[int, int]]
# Table 10: l_pre and |QI_pre|.
_SETS = {"A": (30, 2), "B": (50, 2), "C": (30, 4), "D": (50, 4), ALONE: (0, 0)}
_MOST_COLUMNS = 5  # next to a previous table
# Rows, l and repetitions.
_FULL, _QUICK = (700_000, (10, 15, 20, 25, 30, 35, 40), 3), (20_000, (10, 25, 40), 1)
_LIMIT = 180.0
_PAPERS_COLUMNS = 5
_SIGNIFICANT = 1.5
_SHORTEST = 0.05  # seconds; below it the clock decides
CANDIDATES, LEVEL = "candidates", "least average level"


def build(request: Request) -> Experiment:
    """The experiment for a request."""
    options = request.choices(OPTIONS)
    kind = options.get("hierarchies", "four")
    if kind not in ("four", "spec"):
        raise ParameterError(unknown("Option hierarchies", kind, ("four", "spec")))
    rows, diversities, repetitions = _QUICK if request.quick else _FULL
    source, n_values = _source(request, rows)
    names = source.schema.quasi_identifiers
    sensitive = one_sensitive(source.schema)
    bench = Bench(load=lambda: _load(source, kind))
    sets = {
        name: (_scaled(l_pre, n_values), columns)
        for name, (l_pre, columns) in _SETS.items()
        if columns < len(names) or not columns
    }
    columns = range(1, len(names) + 1)
    repetitions = request.repetitions or repetitions
    previous = {name: parameters for name, parameters in sets.items() if parameters[1]}
    return Experiment(
        name="noncentralized",
        title="Non-centralized l-diversity",
        paper=_PAPER,
        version=1,
        data=source.identity,
        private=source.private,
        cells=_cells(bench, sets, [_scaled(x, n_values) for x in diversities], len(names), repetitions, source.n_rows),
        plots=lambda rows: _plots(rows, sets),
        claims=claims(previous, columns),
        prepare=bench.prepare,
        about={
            "Table": f"{source.name}, {source.n_rows:,} rows",
            "Quasi-identifiers": ", ".join(names),
            "Sensitive": f"{sensitive}, {n_values} values",
            "Levels": "the values, four classes, two, one" if kind == "four" else "those of the spec",
            "Sets": "; ".join(
                f"{name}: previous table with the last {count} quasi-identifiers, distinct {l_pre}-diverse"
                for name, (l_pre, count) in previous.items()
            )
            + f"; {ALONE}: nobody has published before",
            "Time": "the search for all candidates, one thread, compiled beforehand; the fastest repetition counts",
            "Repetitions": str(repetitions),
        },
        settings={"hierarchies": kind, "sets": {name: list(parameters) for name, parameters in sets.items()}},
        parameters={"quick": request.quick, "repetitions": repetitions, "seed": request.seed},
    )


def _source(request: Request, rows: int) -> tuple[Source, int]:
    """The table, and how many sensitive values it has."""
    schema = census_schema(_NAMES, "income", hierarchies=False)
    source = request.built_in(census, rows, schema, "built-in census (SAL)")
    if not source.private:
        return source, _VALUES
    return source, len(source.load().column(one_sensitive(source.schema)).unique())


def _load(source: Source, kind: str) -> Table:
    data = source.load()
    schema = source.schema
    if kind == "spec":
        return Table.from_arrow(data, schema)
    columns = {name: _four(data, name, schema.column(name)) for name in schema.quasi_identifiers}
    columns |= {name: column for name, column in schema.columns.items() if name not in columns}
    return Table.from_arrow(data, replace(schema, columns=columns))


def _four(data: pa.Table, name: str, column: Column) -> Column:
    """A column on the paper's four levels, its values in their order."""
    labels = column.domain if column.kind == "ordinal" else write_values(distinct(data.column(name)))
    return replace(column, hierarchy=four_levels(labels or ()))


def _scaled(l: int, n_values: int) -> int:  # noqa: E741
    """The paper's l as the same share of other numbers of values."""
    return max(1, round(l * n_values / _VALUES)) if l else 0


def _cells(
    bench: Bench, sets: _Sets, diversities: list[int], n_columns: int, repetitions: int, n_rows: int
) -> list[Cell]:
    cells = []
    for name, (l_pre, columns_pre) in sets.items():
        most = n_columns if not columns_pre else min(_MOST_COLUMNS, n_columns - columns_pre)
        counts = range(1, most + 1)
        for columns, l, repetition in product(counts, dict.fromkeys(diversities), range(repetitions)):  # noqa: E741
            parameters: dict[str, Any] = {"l": l, "columns": columns, "l_pre": l_pre, "columns_pre": columns_pre}
            cost = 2**columns * n_rows / 1e7
            cells.append(Cell(name, series_of(columns), l, bench.measure, parameters, repetition, cost))
    return cells


def _plots(rows: Rows, sets: _Sets) -> list[Plot]:
    def panels(measure: str) -> list[dict[str, Any]]:
        return [
            point
            for name, parameters in sets.items()
            for point in rows.points(name, measure, panel=_title(name, parameters))
        ]

    return [
        Plot("time", "Time against l",
             "The search for all candidates, a line per number of quasi-identifiers (Figure 1, elapsed time).",
             panels("seconds"), "l", "processor seconds", "seconds"),
        Plot("candidates", "Candidates against l",
             "Full-domain generalisations that may be published (Figure 1, number of candidates).",
             panels(CANDIDATES), "l", "candidates"),
        Plot("level", "Least average level against l",
             "0: every column as it is; the top level says nothing (Figure 1, minimum average level).",
             panels(LEVEL), "l", "average level"),
    ]  # fmt: skip


def _title(name: str, parameters: tuple[int, int]) -> str:
    l_pre, columns = parameters
    return "no previous table" if not columns else f"{name}: l_pre = {l_pre}, |QI_pre| = {columns}"


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


def four_levels(labels: Sequence[str]) -> Hierarchy:
    """The paper's hierarchy over values in order: as they are, four classes, two, one."""
    n = len(labels)
    return Hierarchy(
        (label, f"quarter {4 * place // n + 1}", f"half {2 * place // n + 1}", "*")
        for place, label in enumerate(labels)
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Bench(TableBench):
    """A table, and what others have published of it."""

    _published: dict[tuple[int, int], tuple[Published, ...]] = field(default_factory=dict)

    def prepare(self, progress: Progress) -> None:
        """Encode the table and compile what will be timed."""
        super().prepare(progress)
        small = part(self.table, self.table.schema.quasi_identifiers[:1])
        progress("compiling", 0.0)
        self._search(small, (), 2)

    def previous(self, l_pre: int, columns: int) -> tuple[Published, ...]:
        """The table others have published: the last columns, on the least levels that are distinct l_pre-diverse."""
        if not columns:
            return ()
        key = (l_pre, columns)
        if key not in self._published:
            table = part(self.table, self.table.schema.quasi_identifiers[-columns:])
            run = publish_table(table, NonCentralized(l=l_pre), randomness=Randomness(0))
            self._published[key] = (released_table(run.release, "previous"),)
        return self._published[key]

    def measure(self, l: int, columns: int, l_pre: int, columns_pre: int) -> dict[str, float]:  # noqa: E741
        """Seconds to find all candidates, how many there are, and the least average level among them."""
        table = part(self.table, self.table.schema.quasi_identifiers[:columns])
        others = self.previous(l_pre, columns_pre)
        elapsed, seconds = time.perf_counter(), time.process_time()
        nodes, least = self._search(table, others, l)
        return {
            "seconds": time.process_time() - seconds,
            "elapsed": time.perf_counter() - elapsed,
            "candidates": nodes,
            "least average level": least,
        }

    @staticmethod
    def _search(table: Table, others: tuple[Published, ...], l: int) -> tuple[int, float]:  # noqa: E741
        (sensitive,) = table.schema.sensitive
        beside = neighbours(table, sensitive, others, l)
        domain = FullDomain(table, table.schema.quasi_identifiers, (sensitive,))
        passing = search(domain, joint_condition(domain, sensitive, beside, l, "discard"))
        if not passing.any():
            raise UnreachableError(f"l={l} cannot be reached with {len(domain.names)} quasi-identifiers.")
        return int(passing.sum()), min(sum(node) / len(node) for node in listed_nodes(minimal(passing)))
