"""SUM query error: how wide the bounds of sums from a release are, or how far off its plain sums, over random queries.

Li, Wang & He, "Mutual Cover", Section 5, and Li, Liu, Han & Zhang, "Cross-Bucket Generalization", Section 4.2, which
ask the same: the sum of a sensitive column of numbers over the rows that satisfy predicates on four quasi-identifiers
chosen at random. A category is asked for a random subset of its values, a number for being above, below, equal to, at
least, at most or unlike one of its values. With bounds the error is (upper - lower) / sum; where quasi-identifiers were
drawn at random there are none, and it is |answer - sum| / sum; nor are there where sensitive values were (perturbed
generalization), whose sums are corrected.

Deviations: the papers do not say how large a subset is; here its size is uniform from 1 to all values. Queries whose
true sum is 0 are drawn anew. Ordinal columns and dates are asked like numbers. The median is given beside the mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, SchemaError, unknown
from undercover.forms import read
from undercover.forms.answers.asking import ListedColumn, Match
from undercover.forms.answers.channel import PerturbedCounts
from undercover.forms.answers.recipient import SumAnswer, Sums
from undercover.forms.meaning import Values, leaf_values
from undercover.forms.reading import Reading
from undercover.model.queries import Between, NoneOf, OneOf, Predicate
from undercover.model.release import Release
from undercover.model.table import EncodedColumn, Table, as_numbers
from undercover.model.view import View, Viewable
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness
from undercover.utility.views import error_view

COLUMNS = 4  # quasi-identifiers a query asks about
COMPARISONS = (">", "<", "=", ">=", "<=", "!=")
_TRIES = 10_000

Floats = NDArray[np.float64]
Asked = tuple[Predicate, NDArray[np.bool_]]  # a predicate, and which codes of the original column satisfy it


@dataclass(frozen=True)
class SumErrorResult(Viewable):
    """The errors of one workload."""

    sensitive: str
    exact: Floats = field(repr=False, compare=False)  # (n_queries,)
    estimated: Floats = field(repr=False, compare=False)
    lower: Floats | None = field(repr=False, compare=False)
    upper: Floats | None = field(repr=False, compare=False)

    @property
    def bounded(self) -> bool:
        """Whether the answers have bounds."""
        return self.lower is not None and self.upper is not None

    @property
    def errors(self) -> Floats:
        """(n_queries,) relative error of each query."""
        if self.lower is None or self.upper is None:
            return np.abs(self.estimated - self.exact) / np.abs(self.exact)
        return (self.upper - self.lower) / np.abs(self.exact)

    @property
    def mean(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    @property
    def median(self) -> float:
        """The error that half of the queries stay below."""
        return float(np.median(self.errors))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "sensitive": self.sensitive,
            "queries": len(self.exact),
            "bounded": self.bounded,
            "mean": self.mean,
            "median": self.median,
        }

    def view(self) -> View:
        """What it shows."""
        return error_view(self.to_dict())

    def __repr__(self) -> str:
        return (
            f"<SumErrorResult: mean {self.mean:.2%}, median {self.median:.2%} over {len(self.exact):,} sums of "
            f"{self.sensitive}>"
        )


@dataclass(frozen=True, kw_only=True)
class SumError:
    """Ask a release for random sums.

    Parameters
    ----------
    queries
        How many.
    columns
        Quasi-identifiers each query asks about, chosen at random; all where there are fewer.
    sensitive
        The column to add up; by default the only sensitive one.
    seed
        Of the queries. The same seed asks every release of a table the same.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.datasets.census_schema(["age", "sex", "education", "hours"], "salary", hierarchies=False)
    >>> run = uc.publish(uc.datasets.census(500), schema, uc.CrossBucket(k=2, l=4))
    >>> found = SumError(queries=20).of_release(run.original, run.release)
    >>> found.bounded, found.mean > 0
    (True, True)
    >>> SumError(queries=0)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'queries' parameter of SumError must be an int in [1, inf). Got 0 instead.
    """

    queries: Annotated[int, AtLeast(1)] = 1000
    columns: Annotated[int, AtLeast(1)] = COLUMNS
    sensitive: str | None = None
    seed: Annotated[int, AtLeast(0)] = 0

    def __post_init__(self) -> None:
        check(self)

    def of_release(self, original: Table, release: Release) -> SumErrorResult:
        """Ask ``release`` what ``original`` knows."""
        sensitive = self._sensitive(original)
        asked, exact = self._drawn(original, sensitive)
        reading = read(release)
        if not reading.covers:
            sums = Sums(release, sensitive, _known_values(original, reading))
            answers = [sums.answer({name: predicate for name, (predicate, _) in where.items()}) for where in asked]
        elif reading.channel is not None:
            counts = PerturbedCounts(release, original)
            plainly = ({name: predicate for name, (predicate, _) in where.items()} for where in asked)
            answers = [SumAnswer(counts.sum(where).value) for where in plainly]
        else:
            sums = Sums(release, sensitive, original)
            answers = [_answered(sums, original, where) for where in asked]
        lower, upper = ([getattr(answer, end) for answer in answers] for end in ("lower", "upper"))
        bounded = None not in lower
        return SumErrorResult(
            sensitive,
            exact,
            np.array([answer.estimate for answer in answers]),
            np.array(lower) if bounded else None,
            np.array(upper) if bounded else None,
        )

    def workload(self, original: Table) -> tuple[list[Mapping[str, Predicate]], Floats]:
        """The queries and their true answers."""
        asked, exact = self._drawn(original, self._sensitive(original))
        return [{name: predicate for name, (predicate, _) in where.items()} for where in asked], exact

    def _drawn(self, original: Table, sensitive: str) -> tuple[list[dict[str, Asked]], Floats]:
        """The queries, each predicate with the codes that satisfy it, and their true answers."""
        numbers = numbers_of(original[sensitive])
        names = original.schema.quasi_identifiers
        randomness = Randomness(self.seed)
        asked: list[dict[str, Asked]] = []
        exact: list[float] = []
        for tried in range(_TRIES + 100 * self.queries):
            if len(asked) == self.queries:
                return asked, np.array(exact)
            words = randomness.words(f"sum queries/{sensitive}", 4, start=4 * tried)
            draw = np.random.Generator(np.random.Philox(key=words.view(np.uint64)))
            chosen = draw.choice(len(names), size=min(self.columns, len(names)), replace=False)
            inside = np.ones(original.n_rows, dtype=bool)
            where: dict[str, Asked] = {}
            for name in (names[int(j)] for j in np.sort(chosen)):
                where[name] = draw_predicate(original[name], draw)
                inside &= where[name][1][original[name].codes]
            total = float(numbers[inside].sum())
            if total != 0.0:
                asked.append(where)
                exact.append(total)
        raise DataError(f"Random sums of `{sensitive}` are nearly always 0: the workload cannot be drawn.")

    def _sensitive(self, table: Table) -> str:
        columns = table.schema.sensitive
        sensitive = self.sensitive or (columns[0] if len(columns) == 1 else None)
        if sensitive is None:
            raise SchemaError(f"SumError adds up one sensitive column. The table has {len(columns)}; name one.")
        if sensitive not in columns:
            raise SchemaError(unknown("Sensitive column", sensitive, columns))
        if table[sensitive].domain.kind != "numeric":
            raise SchemaError(f"SumError adds up numbers; `{sensitive}` is {table[sensitive].domain.kind}.")
        return sensitive


def _known_values(original: Table, reading: Reading) -> dict[str, Values | list[str]]:
    """The values of every quasi-identifier; a number may have been drawn that nobody has."""
    known: dict[str, Values | list[str]] = {}
    for name in original.schema.quasi_identifiers:
        values = leaf_values(original[name])
        known[name] = values
        if values.kind in ("numeric", "date"):
            known[name] = [*dict.fromkeys((*values.labels, *reading.column(name).labels))]
    return known


def _answered(sums: Sums, original: Table, where: Mapping[str, Asked]) -> SumAnswer:
    """As :meth:`Sums.answer`; where the values of a column are those of the original, its codes say what is asked."""
    asking = sums.asking
    main = asking.reading.main
    everything = np.ones(main.rows, dtype=bool)
    rows = Match(everything, everything.astype(np.float64), everything)
    for name, (predicate, codes) in where.items():
        column = asking.column(main, name)
        assert isinstance(column, ListedColumn)
        asked = codes if original[name].settings.hierarchy is None else column.asked(predicate)
        covered, sizes = column.coverage.covered(asked), column.coverage.sizes
        cells = Match(covered == sizes, covered / sizes, covered > 0)
        rows = rows.both(cells.of_rows(asking.reading.column(name).codes))
    return sums.of_rows(rows) if asking.reading.buckets is None else sums.of_buckets(rows)


def numbers_of(column: EncodedColumn) -> Floats:
    """(n_rows,) the numbers of a column; missing adds nothing."""
    return np.append(as_numbers(column.domain.values), [0.0] * column.domain.has_missing)[column.codes]


def draw_predicate(column: EncodedColumn, draw: np.random.Generator) -> Asked:
    """A random predicate on a column, and which of its codes satisfy it."""
    domain = column.domain
    if domain.kind == "categorical":
        size = int(draw.integers(1, domain.size + 1))
        codes = np.sort(draw.choice(domain.size, size=size, replace=False))
        inside = np.zeros(domain.size, dtype=bool)
        inside[codes] = True
        return OneOf([domain.labels[code] or None for code in codes]), inside
    comparison = COMPARISONS[int(draw.integers(len(COMPARISONS)))]
    present = len(domain.values)
    code = int(draw.integers(present))
    label, place = domain.labels[code], np.arange(domain.size)
    known = place < present
    if comparison == "=":
        return OneOf([label]), place == code
    if comparison == "!=":
        return NoneOf([label, None]) if domain.has_missing else NoneOf([label]), (place != code) & known
    if comparison in (">", ">="):
        return Between(low=label, closed="both" if comparison == ">=" else "neither"), known & (
            (place >= code) if comparison == ">=" else (place > code)
        )
    return Between(high=label, closed="both" if comparison == "<=" else "neither"), known & (
        (place <= code) if comparison == "<=" else (place < code)
    )
