"""How the values of a column were spelled: what is published unchanged is published as it was written.

Inside, a value has no spelling: 1.5 and 1.50 are one number, and count as one wherever values are counted. A release
writes every value in one way, the one that most rows of its source have (of equally many the shortest, then the first
by the alphabet), and whoever holds the table is told where there were several. Only spellings are kept that a release
would not choose itself, so there are none of an ordinary column. Columns that are generalised have one notation, that
of the release: a spelling of one cell among intervals would mislead whoever reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.model.encoding.coded import Coded
from undercover.model.encoding.domain import write_values
from undercover.model.figures import counted
from undercover.model.kinds.dates import as_dates, known_format

Values: TypeAlias = pa.Array | pa.ChunkedArray
Counts: TypeAlias = Callable[[], NDArray[np.int64]]

NUMBERS = "numbers"
"""How cells are read that are numbers; of days and moments their format is said."""
ISO = "YYYY-MM-DD"
_PLAIN = r"^(0|-?[1-9][0-9]{0,14}|-?(0|[1-9][0-9]*)\.[0-9]*[1-9])$"
_SHORT = 15  # characters of a number that a release writes so, if it looks like it; longer ones are compared
_SMALL = r"^-?0\.0000"  # a release writes such numbers with an exponent
_MOMENT = r"^[^ ]{10}T[0-9:]{8}(\.[0-9]{6})?$"


class Spellings(NamedTuple):
    """Values of a column that are spelled otherwise than a release writes them, each with the text it has."""

    values: pa.Array
    texts: pa.Array
    form: str
    several: tuple[int, tuple[str, str]] | None = None  # values with several spellings, and what two look like

    def sentence(self, name: str) -> str:
        """That spellings count as one value, for the holder of the table."""
        count = self.several[0] if self.several else 0
        verbs = ("is", "counts", "is") if count == 1 else ("are", "count", "are")
        return (
            f"`{name}`: {counted(count, 'value')} {verbs[0]} spelled in several ways, "
            f"{verbs[1]} as one and {verbs[2]} published in one."
        )

    def of(self, column: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """A published column of values as texts; none where it holds something else.

        >>> half = Spellings(pa.array([0.5]), pa.array([".5"]), NUMBERS)
        >>> half.of(pa.chunked_array([[0.5, 2.0, None]])).to_pylist()
        ['.5', '2', None]
        """
        coded = Coded.of(column)
        found = self._places(coded.values)
        if found is None:
            return None
        own = pa.array(write_values(coded.values), pa.string())
        return coded.changed(pc.coalesce(self.texts.take(found), own)).column()

    def occurring(self, columns: list[pa.ChunkedArray]) -> Spellings | None:
        """Those of values that occur: one that nobody has in a release would tell of somebody who was left out."""
        places = [self._places(Coded.of(column).values) for column in columns]
        if any(found is None for found in places):
            return None
        used = pc.unique(pa.concat_arrays([found.drop_null() for found in places if found is not None]))
        return Spellings(self.values.take(used), self.texts.take(used), self.form) if len(used) else None

    def _places(self, values: pa.Array) -> pa.Array | None:
        try:
            values = values.cast(self.values.type)
            values = pc.add(values, 0.0) if pa.types.is_floating(values.type) else values  # minus zero is zero
            return pc.index_in(values, value_set=self.values).cast(pa.int32())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # bins, or numbers that were drawn between these
            return None


def spelled(texts: Values, values: Values, form: str, counts: Counts | None = None) -> Spellings | None:
    """The spellings of a column whose ``texts`` were read as ``values``; nothing where a release writes them so.

    Texts may be different ones, of which ``counts`` says how many rows have each, and last how many have none.

    >>> found = spelled(pa.array(["1.50", "2", "1.5", "1.50"]), pa.array([1.5, 2, 1.5, 1.5]), NUMBERS)
    >>> found.texts.to_pylist()
    ['1.50']
    >>> found.sentence("pay")
    '`pay`: 1 value is spelled in several ways, counts as one and is published in one.'
    """
    texts, values = _whole(texts), _whole(values)
    if pa.types.is_floating(values.type):
        values = pc.add(values, 0.0)  # minus zero is zero
    ordinary = _ordinary(texts, values)
    if pc.all(ordinary).as_py() is not False:
        return None
    rows = pa.nulls(len(texts), pa.int64()).fill_null(1) if counts is None else pa.array(counts()[:-1])
    cells = pa.table({"value": values, "text": texts, "ordinary": ordinary, "rows": rows})
    cells = cells.filter(pc.is_in(values, value_set=values.filter(pc.invert(ordinary)).drop_null()))
    cells = cells.group_by(["value", "text", "ordinary"]).aggregate([("rows", "sum")])
    cells = cells.append_column("length", pc.binary_length(cells["text"]))
    order = [("value", "ascending"), ("rows_sum", "descending"), ("length", "ascending"), ("text", "ascending")]
    cells = cells.sort_by(order).combine_chunks()
    begins = _begins(cells["value"].chunk(0))
    again = np.flatnonzero(~begins)
    more = len(np.unique(np.cumsum(begins)[again]))
    several = (more, _shapes(cells["text"], int(again[0]))) if more else None
    chosen = cells.filter(pa.array(begins))
    chosen = chosen.filter(pc.invert(chosen["ordinary"]))
    return Spellings(_whole(chosen["value"]), _whole(chosen["text"]), form, several)


def read_spelled(texts: pa.Array, form: str) -> pa.Array:
    """The values of cells that were written as their source spelled them; what is missing stays so.

    >>> read_spelled(pa.array(["+7", " 1e3", None]), NUMBERS).to_pylist()
    [7, 1000, None]
    """
    if form != NUMBERS and not known_format(form):
        raise DataError(f"is written in a way that nobody here knows: {form!r}.")
    if form != NUMBERS:
        return _moments(texts, form)
    try:
        numbers = pc.utf8_trim_whitespace(texts).cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise DataError("is not of numbers, as its manifest says.") from error
    if pc.any(pc.invert(pc.is_finite(numbers))).as_py():
        raise DataError("is not of finite numbers, as its manifest says.")
    whole = pc.utf8_trim_whitespace(pc.replace_substring_regex(texts, r"^\s*\+", ""))
    for candidate in (whole, numbers):  # texts first: a float does not tell all whole numbers
        try:
            return candidate.cast(pa.int64())
        except pa.ArrowInvalid:
            continue
    return pc.add(numbers, 0.0)


def _moments(texts: pa.Array, form: str) -> pa.Array:
    try:
        return texts.cast(pa.timestamp("us")) if form == ISO else as_dates(texts, form)
    except pa.ArrowInvalid:
        return as_dates(texts, form)


def _whole(values: Values) -> pa.Array:
    if not isinstance(values, pa.ChunkedArray):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def _ordinary(texts: Values, values: Values) -> Values:
    """Whether a text is what a release writes for its value."""
    kind: Any = values.type
    if pa.types.is_integer(kind) or pa.types.is_date(kind):
        return pc.equal(values.cast(pa.string()), texts)
    if pa.types.is_timestamp(kind):
        days = values.cast(pa.date32(), safe=False)
        if pc.all(pc.equal(days.cast(kind), values)).as_py() is not False:
            return pc.equal(days.cast(pa.string()), texts)
        return pc.and_(pc.match_substring_regex(texts, _MOMENT), pc.invert(pc.ends_with(texts, ".000000")))
    alike = pc.match_substring_regex(texts, _PLAIN)
    unsure = pc.or_(pc.greater(pc.binary_length(texts), _SHORT), pc.match_substring_regex(texts, _SMALL))
    unsure = pc.fill_null(pc.or_(unsure, pc.match_substring(texts, "e")), False)
    if pc.any(unsure).as_py():
        own = write_values(values.filter(unsure))
        same = pc.equal(pa.array(own, pa.string()), _whole(texts.filter(unsure)))
        alike = pc.replace_with_mask(_whole(alike), _whole(unsure), same)
    return alike


def _begins(values: pa.Array) -> NDArray[np.bool_]:
    """(n,) whether a value is another one than that before it."""
    same = np.asarray(pc.equal(values[1:], values[:-1]), dtype=bool)
    return np.append(True, ~same)


def _shapes(texts: pa.ChunkedArray, place: int) -> tuple[str, str]:
    """What two spellings of one value look like, without a digit of anybody's."""
    pair = [re.sub("[1-9]", "9", texts[at].as_py()) for at in (place - 1, place)]
    return min(pair, key=_by_length), max(pair, key=_by_length)


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text
