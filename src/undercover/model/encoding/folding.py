"""Spellings of one value, in an encoded column: found, folded into one, or asked about.

A method counts values as they are spelled, so a sensitive column that spells one value in eight ways would look eight
times as diverse as it is. Such a column is refused until somebody says what its spellings are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from undercover.errors import DataError
from undercover.model.encoding.domain import Domain, EncodedColumn, code_type
from undercover.model.figures import counted
from undercover.model.spellings import find_near, list_spellings, number_values
from undercover.wording import either, in_column

LISTED = "`undercover inspect` lists them"


def fold_spellings(column: EncodedColumn) -> EncodedColumn:
    """A column with each value in its most frequent spelling, where its settings ask for it."""
    labels = _labels(column)
    if column.settings.spellings != "fold" or not labels:
        return column
    value = number_values(labels)
    if len(labels) == int(value.max()) + 1:
        return column
    rows = np.bincount(column.codes, minlength=column.domain.size)[: len(labels)]
    order = np.lexsort((np.arange(len(labels)), -rows, value))
    first = np.append(True, value[order][1:] != value[order][:-1])
    chosen = np.sort(order[first])  # of every value the most frequent spelling, in the order of the domain
    place = np.empty(len(chosen), dtype=np.int64)
    place[value[chosen]] = np.arange(len(chosen))
    domain = Domain(column.domain.kind, column.domain.values.take(pa.array(chosen)), column.domain.has_missing)
    new = np.append(place[value], len(chosen)).astype(code_type(domain.size))
    return EncodedColumn(column.name, new[column.codes], domain, column.settings)


def check_spellings(columns: Iterable[EncodedColumn]) -> None:
    """Refuse sensitive columns that seem to spell one value in several ways, unless somebody says what they are."""
    problems = []
    for column in columns:
        same = list_spellings(_labels(column), distinct=column.settings.spellings == "distinct")
        name, ways = column.name, sum(map(len, same))
        if same and column.settings.spellings == "distinct":
            problems.append(
                f"Column `{name}` spells {counted(len(same), 'value')} in {ways:,} ways that nobody can tell apart "
                "(blanks, characters that are not shown), so they are not different values. Write them alike, or say "
                f"{in_column(name, spellings='fold')} to publish each in its most frequent spelling; {_where()}."
            )
        elif same:
            problems.append(
                f"Column `{name}` seems to spell {counted(len(same), 'value')} in {ways:,} ways: they differ in case, "
                "punctuation, number format or letters that look alike, and counted apart they would look more diverse "
                f"than they are. Write them alike, or say {in_column(name, spellings='fold')} to publish each in its "
                f"most frequent spelling, or {in_column(name, spellings='distinct')} if they are different values; "
                f"{_where()}."
            )
    if problems:
        raise DataError(problems)


def near_spellings(columns: Iterable[EncodedColumn]) -> Iterator[tuple[str, int]]:
    """Sensitive columns with the number of pairs of values that may be the same, where nobody has looked at them.

    Whoever declares the values of a column has looked at them.
    """
    for column in columns:
        settings = column.settings
        declared = settings.domain is not None and not settings.found
        if settings.spellings != "distinct" and not declared and column.domain.kind == "categorical":
            pairs = len(find_near(_labels(column)))
            if pairs:
                yield column.name, pairs


def _labels(column: EncodedColumn) -> tuple[str, ...]:
    """The values of a column of texts; none of any other."""
    if column.settings.bins is not None or not pa.types.is_string(column.domain.values.type):
        return ()
    return tuple(column.domain.values.to_pylist())


def _where() -> str:
    return either(python="`uc.inspect(data).spellings` lists them", command=LISTED)
