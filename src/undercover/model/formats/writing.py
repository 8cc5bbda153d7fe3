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

from undercover.model.formats.spelling import Spellings

if TYPE_CHECKING:
    from undercover.model.release import PublishedTable


@dataclass(frozen=True)
class Writing:
    """How one column was written."""

    labels: Mapping[float, str] = field(default_factory=dict)  # by code
    ordered: bool = False  # whether the codes are in an order
    digits: int | None = None  # after the point, where every number has as many: 1.50
    spellings: Spellings | None = None  # of values that a release would write otherwise: +7, 1e3


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


def decimals(types: Mapping[str, pa.DataType | None]) -> dict[str, Writing]:
    """How columns of decimals are written, by their types.

    >>> decimals({"price": pa.decimal128(10, 2), "age": pa.int64(), "zip": None})
    {'price': Writing(labels={}, ordered=False, digits=2, spellings=None)}
    """
    found: dict[str, Any] = {name: type_ for name, type_ in types.items() if type_ is not None}
    return {
        name: Writing(digits=type_.scale)
        for name, type_ in found.items()
        if pa.types.is_decimal(type_) and type_.scale > 0
    }


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
