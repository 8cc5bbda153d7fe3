"""SUM query error: how wide the bounds of sums from a release are, or how far off its plain sums, over random queries.

Li, Wang & He, "Mutual Cover", Section 5, and Li, Liu, Han & Zhang, "Cross-Bucket Generalization", Section 4.2, which
ask the same: the sum of a sensitive column of numbers over the rows that satisfy predicates on four quasi-identifiers
chosen at random. With bounds the error is (upper - lower) / sum; where quasi-identifiers were
drawn at random there are none, and it is |answer - sum| / sum; nor are there where sensitive values were (perturbed
generalization), whose sums are corrected.

Deviations: those of :mod:`undercover.utility.queries.sum_workload`; the median is given beside the mean. Beside the
papers' error stands that of the estimate, counted as that of COUNT answers is:

    |exact - estimate| / max(|exact|, 0.005 whole)

with the whole the sum over everybody, of values without their sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import SchemaError, unknown
from undercover.forms import read
from undercover.forms.answers.asking import Asking, ListedColumn
from undercover.forms.answers.channel import PerturbedCounts
from undercover.forms.answers.recipient import SumAnswer, Sums
from undercover.forms.meaning import Values, leaf_values
from undercover.forms.reading import Reading
from undercover.forms.spread import positions_of_codes
from undercover.model.queries import Predicate
from undercover.model.release import Release
from undercover.model.table import EncodedColumn, Table
from undercover.model.view import View, Viewable
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness
from undercover.utility.queries.counts import by_answer, relative
from undercover.utility.queries.sum_workload import Asked, Boxes, Floats, SumQueries, draw_sums, numbers_of
from undercover.utility.queries.views import error_view

COLUMNS = 4  # quasi-identifiers a query asks about


@dataclass(frozen=True)
class SumErrorResult(Viewable):
    """The errors of one workload."""

    sensitive: str
    exact: Floats = field(repr=False, compare=False)  # (n_queries,)
    estimated: Floats = field(repr=False, compare=False)
    lower: Floats | None = field(repr=False, compare=False)
    upper: Floats | None = field(repr=False, compare=False)
    columns: int = COLUMNS  # quasi-identifiers of each query
    whole: float = 0.0  # sum over everybody, of values without their sign

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
    def estimate_errors(self) -> Floats:
        """(n_queries,) relative error of each estimate, whether or not it has bounds."""
        return relative(self.exact, self.estimated, self.whole)

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
        off = self.estimate_errors
        return {
            "sensitive": self.sensitive,
            "columns": self.columns,
            "queries": len(self.exact),
            "bounded": self.bounded,
            "mean": self.mean,
            "median": self.median,
            "estimate": {
                "mean": float(off.mean()),
                "median": float(np.median(off)),
                "p90": float(np.quantile(off, 0.9)),
            },
            "by_answer": by_answer(np.abs(self.exact) / (self.whole or 1.0), off),
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
    quasi_identifiers
        The columns these are chosen from; by default all quasi-identifiers.
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
    quasi_identifiers: tuple[str, ...] | None = None
    sensitive: str | None = None
    seed: Annotated[int, AtLeast(0)] = 0

    def __post_init__(self) -> None:
        check(self)

    def of_release(self, original: Table, release: Release, drawn: SumQueries | None = None) -> SumErrorResult:
        """Ask ``release`` what ``original`` knows; whoever asks several releases hands in what was :meth:`drawn`."""
        sensitive = self._sensitive(original)
        asked, exact = drawn or self.drawn(original)
        reading = read(release)
        if reading.covers and reading.channel is not None:
            counts = PerturbedCounts(release, original)
            answers = [SumAnswer(counts.sum(where).value) for where in map(_predicates, asked)]
        else:
            names = self._names(original)
            known = original if reading.covers else _known_values(original, names, reading)
            answers = list(_answers(Sums(release, sensitive, known), original, names, asked))
        lower, upper = ([getattr(answer, end) for answer in answers] for end in ("lower", "upper"))
        bounded = None not in lower
        return SumErrorResult(
            sensitive,
            exact,
            np.array([answer.estimate for answer in answers]),
            np.array(lower) if bounded else None,
            np.array(upper) if bounded else None,
            min(self.columns, len(self._names(original))),
            float(np.abs(numbers_of(original[sensitive])).sum()),
        )

    def workload(self, original: Table) -> tuple[list[Mapping[str, Predicate]], Floats]:
        """The queries and their true answers."""
        asked, exact = self.drawn(original)
        return [_predicates(where) for where in asked], exact

    def drawn(self, original: Table) -> SumQueries:
        """The same by the codes of the original, which are answered faster."""
        names, sensitive = self._names(original), self._sensitive(original)
        return draw_sums(original, names, sensitive, (self.queries, self.columns), Randomness(self.seed))

    def _names(self, table: Table) -> tuple[str, ...]:
        known = table.schema.quasi_identifiers
        names = tuple(self.quasi_identifiers or known)
        problems = [unknown("Quasi-identifier", name, known) for name in names if name not in known]
        if problems:
            raise SchemaError(problems)
        return names

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


def _predicates(where: Mapping[str, Asked]) -> dict[str, Predicate]:
    return {name: asked.predicate for name, asked in where.items()}


def _known_values(original: Table, names: Sequence[str], reading: Reading) -> dict[str, Values | list[str]]:
    """The values of every quasi-identifier; a number may have been drawn that nobody has."""
    known: dict[str, Values | list[str]] = {}
    for name in names:
        values = leaf_values(original[name])
        known[name] = values
        if values.kind in ("numeric", "date"):
            known[name] = [*dict.fromkeys((*values.labels, *reading.column(name).labels))]
    return known


def _answers(
    sums: Sums, original: Table, names: Sequence[str], asked: Sequence[Mapping[str, Asked]]
) -> Iterator[SumAnswer]:
    """As :meth:`Sums.answer` of the predicates one by one, by compiled loops; equal to it but for rounding."""
    from undercover.utility.queries.kernels import sum_of_buckets, sum_of_rows

    reading = sums.asking.reading
    columns = {name: _listed(sums.asking, name) for name in names}
    places = {name: _places(original[name], columns[name].values) for name in names}
    cells = {name: reading.column(name) for name in names}
    boxes = Boxes({name: (cells[name].codes, len(cells[name].labels), columns[name].coverage) for name in names})
    order = boxes.rows.order
    kernel: Callable[..., tuple[float, float, float]] = sum_of_rows
    if reading.buckets is None:
        more: tuple[Any, ...] = (sums.numbers[order],)
    else:
        low, middle, high = sums.values
        by_bucket = (low.sizes, low.starts, low.running, low.negative, high.running, high.positive, middle.totals)
        kernel, more = sum_of_buckets, (sums.buckets.rows.codes[order].astype(np.int64), by_bucket)
    for where in asked:
        positions = {}
        for name, one in where.items():
            place, column = places[name], columns[name]
            positions[name] = column.asked(one.predicate) if place is None else np.zeros(column.values.size, dtype=bool)
            if place is not None:
                positions[name][place] = one.inside
        found = SumAnswer(*kernel(*boxes.ask(positions), *more))
        yield found if reading.covers else SumAnswer(found.estimate)


def _listed(asking: Asking, name: str) -> ListedColumn:
    column = asking.column(asking.reading.main, name)
    assert isinstance(column, ListedColumn)  # somebody who knows the original can list its values
    return column


def _places(column: EncodedColumn, values: Values) -> NDArray[np.int64] | None:
    """Where each code stands among the values a recipient knows; ``None`` where more values than codes are ordered."""
    if values.labels == column.domain.labels or column.domain.kind == "categorical":
        return positions_of_codes(column, values)
    return None


def sums_of_each(original: Table, release: Release, queries: int = 1000) -> tuple[SumError, ...]:
    """As many sums of each published sensitive column of numbers that are not all 0, about what else is published."""
    reading, roles = read(release), original.schema
    names = tuple(name for name in roles.quasi_identifiers if name in reading.main.names("quasi-identifier"))
    shown = [name for name in roles.sensitive if name in reading.values_table.names("sensitive")]
    if not reading.told or not names:
        return ()
    return tuple(
        SumError(sensitive=name, queries=queries, quasi_identifiers=names)
        for name in shown
        if original[name].domain.kind == "numeric" and numbers_of(original[name]).any()
    )
