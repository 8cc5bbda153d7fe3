"""How a file wrote its columns, beside the values: labels of codes, digits after the point, spellings.

It goes with a table from the file that is read to the one that is published. Of labels a release keeps those of the
values that it publishes: one that nobody has in it would tell of somebody who was left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from undercover.model.encoding.coded import Coded, distinct_values, value_type
from undercover.model.formats.spelling import ISO, Spellings, spelled
from undercover.model.frames.types import Given, as_given
from undercover.model.kinds.dates import IN_UTC, as_dates
from undercover.model.schema import Schema

if TYPE_CHECKING:
    from undercover.model.release import PublishedTable


@dataclass(frozen=True)
class Writing:
    """How one column was written."""

    labels: Mapping[float, str] = field(default_factory=dict)  # by code
    ordered: bool = False  # whether the codes are in an order
    digits: int | None = None  # after the point, where every number has as many: 1.50
    spellings: Spellings | None = None  # of values that a release would write otherwise: +7, 1e3
    type: pa.DataType | None = None  # of moments in a zone, which are held without one


def published_writing(writing: Mapping[str, Writing], tables: Sequence[PublishedTable]) -> dict[str, Writing]:
    """What a release may know: of columns that are published as values, and of labels those that occur."""
    found = {}
    for name, one in writing.items():
        shown: list[Any] = [
            (column.form, table.data.column(name))
            for table in tables
            for column in table.columns
            if column.name == name
        ]
        if not shown or any(form != "value" for form, _ in shown):
            continue
        occurring = {value for _, values in shown for value in values.unique().to_pylist()} if one.labels else set()
        labels = {code: label for code, label in one.labels.items() if code in occurring or label in occurring}
        spellings = None if one.spellings is None else one.spellings.occurring([values for _, values in shown])
        found[name] = replace(one, labels=labels, spellings=spellings)
    return found


def dates_as_written(data: pa.Table, schema: Schema) -> dict[str, Writing]:
    """How the days and moments of columns are written that were texts, or numbers such as 20201231, in a format."""
    found: dict[str, Writing] = {}
    for name in schema.published:
        form = schema.column(name).format
        if form is None or pa.types.is_temporal(value_type(data.schema.field(name).type)):
            continue
        coded = Coded.of(data.column(name))
        texts = coded.values.cast(pa.string())
        spellings = spelled(texts, as_dates(texts, form), form, coded.counts)
        found |= {} if spellings is None else {name: Writing(spellings=spellings)}
    return found


def as_written(data: pa.Table, writing: Mapping[str, Writing], names: Sequence[str]) -> pa.Table:
    """A published table with columns that came as texts as these texts."""
    for name in names:
        spellings = writing[name].spellings if name in writing and name in data.column_names else None
        texts = None if spellings is None else spellings.of(data.column(name))
        data = data if texts is None else data.set_column(data.column_names.index(name), name, texts)
    return data


def notes_of(writing: Mapping[str, Writing]) -> dict[str, str]:
    """What the holder should know of columns whose values have several spellings."""
    several = {name: one.spellings for name, one in writing.items() if one.spellings and one.spellings.several}
    return {name: spellings.sentence(name) for name, spellings in several.items()}


def typed_writing(given: pa.Table, held: pa.Table, utc: Sequence[str] = ()) -> dict[str, Writing]:
    """How columns of decimals, and of moments in a zone, are written; ``utc`` are those that are held in UTC.

    >>> berlin = pa.table({"at": pa.array([1577869200], pa.timestamp("s", "Europe/Berlin"))})
    >>> clock = pa.table({"at": pa.array([1577872800], pa.timestamp("s"))})
    >>> typed_writing(berlin, clock)["at"].spellings.texts.to_pylist()
    ['2020-01-01T10:00:00+01:00']
    """
    types: dict[str, Any] = {field.name: value_type(field.type) for field in given.schema}
    scales = {name: type_.scale for name, type_ in types.items() if pa.types.is_decimal(type_)}
    found = {name: Writing(digits=scale) for name, scale in scales.items() if scale > 0}
    for name, type_ in types.items():
        if pa.types.is_timestamp(type_) and type_.tz is not None:
            moments, here = distinct_values(given.column(name)), distinct_values(held.column(name))
            texts = pc.replace_substring_regex(pc.strftime(moments, "%Y-%m-%dT%H:%M:%S%z"), r"\.0+([+-])", r"\1")
            texts = pc.replace_substring_regex(texts, r"([+-]\d\d)(\d\d)$", r"\1:\2")
            form = ISO + (IN_UTC if name in utc else "")
            found[name] = Writing(spellings=Spellings(here, texts, form), type=type_)
    return found


def in_its_zone(column: pa.ChunkedArray, one: Writing) -> pa.ChunkedArray | None:
    """Published moments in the zone in which they were given; none where they do not fit it."""
    utc = one.spellings is not None and one.spellings.form.endswith(IN_UTC)
    return as_given(column, Given(one.type, utc=utc))


def digits_after_point(texts: pa.ChunkedArray) -> int | None:
    """How many digits stand behind the point, where that is so in every text and a number alone would not show it.

    >>> digits_after_point(pa.chunked_array([["1.50", "12.25"]])), digits_after_point(pa.chunked_array([["1.5", "2"]]))
    (2, None)
    """
    behind = pc.subtract(pc.binary_length(texts), pc.find_substring(texts, "."))
    span = pc.min_max(behind).as_py()
    if span["min"] is None or span["min"] != span["max"] or pc.any(pc.less(pc.find_substring(texts, "."), 0)).as_py():
        return None
    plain = pc.all(pc.match_substring_regex(texts, r"^([0-9]+\.[0-9]+|-[0-9]*\.?[0-9]*[1-9][0-9]*\.?[0-9]*)$")).as_py()
    zeros = pc.any(pc.ends_with(texts, "0")).as_py()
    return int(span["min"]) - 1 if plain and zeros else None


def with_digits(numbers: pa.ChunkedArray, digits: int) -> pa.ChunkedArray | None:
    """Numbers with so many digits after the point, as texts; none where one has more.

    >>> with_digits(pa.chunked_array([[1.5, None]]), 2).to_pylist(), with_digits(pa.chunked_array([[0.125]]), 2)
    (['1.50', None], None)
    """
    kind: Any = numbers.type.value_type if pa.types.is_dictionary(numbers.type) else numbers.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        return None
    coded = (numbers if kind != numbers.type else numbers.dictionary_encode()).unify_dictionaries()
    values = coded.chunk(0).dictionary.to_pylist() if coded.num_chunks else []
    texts = [f"{value:.{digits}f}" for value in values]
    if any(float(text) != value for text, value in zip(texts, values, strict=True)):
        return None
    cells = pa.array(texts, pa.string())
    return pa.chunked_array([cells.take(chunk.indices) for chunk in coded.chunks], pa.string())
