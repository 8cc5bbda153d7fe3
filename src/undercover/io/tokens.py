"""Values of identifiers that stand in other texts as delimited tokens: with no letter or digit right beside them.

An identifier is looked for unless it is a number of fewer than six characters, which anything may be. Capitals do not
count, nor do marks around a value. It is found by what stands in a text from the beginning of a word to the end of one,
up to eight words further: `12-34` does not stand in `[12, 34]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.model.encoding.coded import Column

SHORTEST_NUMBER = 6
"""Characters from which on a number is looked for."""
MOST_VALUES = 2_000_000
"""Values of a column that are held; of more, some from all over it."""

_NUMBER = r"^[+-]?[0-9]*[.,]?[0-9]+$"
_AROUND = " \t\r\n()[]{}<>+#.,;:!?'\"„“”«»"
_LETTER, _BETWEEN = r"[\pL\pN_]", r"([^\pL\pN_]+)"
_END, _NEXT = "\x00", "\x01"  # of a word, and of the marks behind it
_WORDS, _MANY = 8, 20_000


class Held(NamedTuple):
    """That a text holds a value of an identifier."""

    text: int  # its place among the texts
    column: str  # the identifier
    value: str  # in small letters


@dataclass(frozen=True)
class Identifiers:
    """The values of identifier columns, as texts.

    Examples
    --------
    >>> known = Identifiers.of({"name": pa.array(["Ann Li", "Bo", "12-34"]), "id": pa.array([7, 123456])})
    >>> texts = pa.array(["seen with ANN LI, 7 times", "[12, 34]", "about", "no. 123456"])
    >>> [tuple(found) for found in known.held_in(texts)]
    [(0, 'name', 'ann li'), (3, 'id', '123456')]
    """

    columns: Mapping[str, pa.Array]

    @classmethod
    def of(cls, columns: Mapping[str, Column]) -> Identifiers:
        """Of columns as they were read."""
        return cls({name: _texts(column) for name, column in columns.items()})

    def __len__(self) -> int:
        return sum(map(len, self.columns.values()))

    def held_in(self, texts: pa.Array | pa.ChunkedArray) -> list[Held]:
        """Every value that stands in one of some texts, once for each text that holds it."""
        whole = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        plain = {name: pc.utf8_trim(pc.utf8_lower(values), _AROUND) for name, values in self.columns.items()}
        firsts = None if len(whole) < _MANY or not plain else _first_words(plain.values())
        spans = list(_spans(whole, firsts))
        every = pa.chunked_array([span for span, _ in spans], pa.string()).unique()
        found = set()
        for name, values in plain.items():
            there = values.filter(pc.is_in(values, value_set=every)).unique()
            there = there.filter(pc.invert(_anything(there)))
            for span, whose in spans if len(there) else ():
                here = pc.is_in(span, value_set=there)
                places = whose.filter(here).to_pylist()
                found |= {
                    Held(*one) for one in zip(places, [name] * len(places), span.filter(here).to_pylist(), strict=True)
                }
        return sorted(found)


def _anything(values: pa.Array) -> pa.Array:
    """What many a text holds that is about nobody: short numbers, and what has no letter or digit."""
    short = pc.less(pc.utf8_length(values), SHORTEST_NUMBER)
    number = pc.and_(pc.match_substring_regex(values, _NUMBER), short)
    return pc.or_(number, pc.invert(pc.match_substring_regex(values, _LETTER)))


def _first_words(values: Iterable[pa.Array]) -> pa.Array:
    words = [pc.replace_substring_regex(each, r"(?s)[^\pL\pN_].*", "") for each in values]
    return pa.chunked_array(words, pa.string()).unique()


def _texts(column: Column) -> pa.Array:
    """The values of a column, of a dictionary each once."""
    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    coded = pa.types.is_dictionary(column.type)
    parts = list({id(part.dictionary): part.dictionary for part in parts}.values()) if coded else parts
    held = pa.chunked_array(parts, column.type.value_type if coded else column.type)
    if len(held) > MOST_VALUES:
        held = held.take(pa.array(np.linspace(0, len(held) - 1, MOST_VALUES).astype(np.int64)))
    return pa.concat_arrays(held.cast(pa.string()).chunks).drop_null() if held.num_chunks else pa.array([], pa.string())


def _spans(texts: pa.Array, firsts: pa.Array | None) -> Iterator[tuple[pa.Array, pa.Array]]:
    """What stands in texts from the beginning of a word to the end of one, and the place of the text it stands in.

    Only from words among ``firsts``, where there are such.
    """
    marked = pc.replace_substring_regex(pc.utf8_lower(texts.cast(pa.string())), _BETWEEN, rf"{_END}\1{_NEXT}")
    pieces = pc.split_pattern(pc.fill_null(marked, ""), _NEXT)  # a word, and after its end the marks behind it
    flat, whose = pieces.flatten(), pc.list_parent_indices(pieces).cast(pa.int64())
    words, whole = pc.replace_substring_regex(flat, f"(?s){_END}.*", ""), pc.replace_substring(flat, _END, "")
    begin = pc.greater(pc.utf8_length(words), 0)
    start = pc.indices_nonzero(begin if firsts is None else pc.and_(begin, pc.is_in(words, value_set=firsts)))
    start = start.cast(pa.int64())
    before = pa.nulls(len(start), pa.string()).fill_null("")
    for count in range(_WORDS):
        inside = pc.less(start, len(flat) - count)
        start, before = start.filter(inside), before.filter(inside)
        last = pc.add(start, count)
        same = pc.equal(whose.take(start), whose.take(last))
        start, before, last = start.filter(same), before.filter(same), last.filter(same)
        if not len(start):
            return
        yield pc.binary_join_element_wise(before, words.take(last), ""), whose.take(start)
        before = pc.binary_join_element_wise(before, whole.take(last), "")
