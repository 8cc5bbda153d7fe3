"""Texts as words, and the values of identifiers that occur in them as words one after the other.

A word is a run of letters, their marks and digits of any script, in Unicode's form NFKC and small letters; whatever
else stands there parts words. ``Ada LOVELACE, b. 1815`` holds the value ``ada-lovelace``, and ``Adamas`` does not hold
``Ada``. A value is looked for if it is not a number, or has six characters or more; one of a single character never.
Of a value of more than twelve words the first twelve are looked for, where the others stand somewhere, too.

Values are gone through in batches against the words of the texts, so that a hundred million of them are never held:
one with a word that no text has is left at once. Most are left before they are taken apart, by the few characters with
which they begin and end, and whole numbers by those that stand in texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.model.encoding.coded import distinct_values, value_type

SHORTEST_NUMBER = 6
MOST_WORDS = 12
MOST_HELD = 2_000_000
_BATCH = 1 << 18
_TOLD = 4  # characters at either end of a value that are looked at first
_BEHIND_FIRST, _BEFORE_LAST = r"(?s)[^a-z0-9].*", r"(?s).*[^a-z0-9]"  # words of a plain value in small letters
_NUMBER = r"^[+-]?[0-9]+([.,][0-9]+)?$"
_PARTING = r"[^\pL\pM\pN\x00-\x7f]+"
_READABLE = (pa.types.is_floating, pa.types.is_decimal, pa.types.is_date, pa.types.is_timestamp)
_IN_WORD = np.zeros(256, dtype=bool)
_IN_WORD[[*b"abcdefghijklmnopqrstuvwxyz0123456789", *range(128, 256)]] = True


@dataclass(frozen=True)
class Named:
    """(n_texts,) which texts hold a value of an identifier beside other words, and which are one."""

    beside: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    @classmethod
    def nothing(cls, texts: int) -> Named:
        """So many texts that hold none."""
        return cls(np.zeros(texts, dtype=bool), np.zeros(texts, dtype=bool))


class Words:
    """Texts whose words are known.

    Examples
    --------
    >>> texts = Words(pa.array(["seen with ADA LOVELACE, well", "Ada Lovelace"]), pa.array(["Adamas"]))
    >>> found = texts.named_by(pa.array(["Ada-Lovelace", "12", "x"]))
    >>> found.beside.tolist(), found.whole.tolist()
    ([True, False, False], [False, True, False])
    """

    def __init__(self, *texts: pa.Array) -> None:
        pieces = [split(own.slice(begin, _BATCH)) for own in texts for begin in range(0, len(own), _BATCH)]
        words = pa.chunked_array([found for found, _ in pieces], pa.string()).dictionary_encode().unify_dictionaries()
        none = np.zeros(0, dtype=np.int64)
        self._known: pa.Array = words.chunk(0).dictionary if words.num_chunks else pa.array([], pa.string())
        self._words = np.concatenate([none, *(np.asarray(chunk.indices) for chunk in words.chunks)]).astype(np.int32)
        self._counts = counts = np.concatenate([none, *(counts for _, counts in pieces)])  # (n_texts,) words of each
        self._text = np.repeat(np.arange(len(counts), dtype=np.int32), counts)  # (n_words,) whose word it is
        ends = np.repeat(np.cumsum(counts, dtype=np.int32), counts)
        self._left = ends - np.arange(len(ends), dtype=np.int32)  # (n_words,) words from it to the end of its text
        known = self._known.cast(pa.binary())
        self._begins, self._ends = pc.binary_slice(known, 0, _TOLD).unique(), pc.binary_slice(known, -_TOLD).unique()

    def __len__(self) -> int:
        return len(self._counts)

    def named_by(self, column: pa.Array | pa.ChunkedArray) -> Named:
        """Which texts hold a value of a column."""
        found = Named.nothing(len(self))
        for length, places in self._found(column):
            texts = self._text[places]
            whole = self._counts[texts] == length
            found.whole[texts[whole]] = True
            found.beside[texts[~whole]] = True
        return found

    def values_of(self, column: pa.Array | pa.ChunkedArray) -> list[tuple[int, str]]:
        """Every value of a column that stands in a text, in words with blanks between, with the place of the text.

        >>> Words(pa.array(["none", "by ADA LOVELACE"])).values_of(pa.array(["Ada-Lovelace"]))
        [(1, 'ada lovelace')]
        """
        found = set()
        for length, places in self._found(column):
            for place in places.tolist():
                words = self._known.take(pa.array(self._words[place : place + length]))
                found.add((int(self._text[place]), " ".join(words.to_pylist())))
        return sorted(found)

    def _found(self, column: pa.Array | pa.ChunkedArray) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Where values of a column begin among the words of all texts, by their number of words."""
        sequences: dict[int, list[NDArray[np.int64]]] = {}
        for values in self._looked_for(column):
            for length, words in self._in_texts(values):
                sequences.setdefault(length, []).append(words)
        yield from ((length, self._places(np.concatenate(several))) for length, several in sequences.items())

    def _looked_for(self, column: pa.Array | pa.ChunkedArray) -> Iterator[pa.Array]:
        """The values of a column as texts, a batch at a time, as far as they are looked for."""
        type_, numbers = value_type(column.type), pa.types.is_integer(value_type(column.type))
        readable = _is_text(type_) or numbers or any(check(type_) for check in _READABLE)
        wanted = self._numbers(type_) if numbers else None
        if not len(self._known) or not readable or (wanted is not None and not len(wanted)):
            return
        if pa.types.is_dictionary(column.type):
            column = distinct_values(column)
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            for begin in range(0, len(chunk), _BATCH):
                values = chunk.slice(begin, _BATCH).drop_null()
                values = values if wanted is None else values.filter(pc.is_in(values, value_set=wanted))
                values = values.cast(pa.string())
                if not _is_text(type_) and not numbers:  # 7.0 and midnight are written shorter
                    values = pc.replace_substring_regex(values, r"(\.0| 00:00:00(\.0+)?)$", "")
                values = pc.utf8_trim_whitespace(self._likely(values))
                length = pc.utf8_length(values)
                short = pc.and_(pc.less(length, SHORTEST_NUMBER), pc.match_substring_regex(values, _NUMBER))
                yield values.filter(pc.and_not(pc.greater_equal(length, 2), short))

    def _numbers(self, type_: pa.DataType) -> pa.Array:
        """The numbers of a type that may be meant by the words of texts, as far as they are looked for."""
        digits = self._known.filter(pc.match_substring_regex(self._known, rf"^[0-9]{{{SHORTEST_NUMBER - 1},20}}$"))
        range_ = np.iinfo(type_.to_pandas_dtype())
        either = (number * sign for number in map(int, digits.to_pylist()) for sign in (1, -1))
        return pa.array([number for number in either if range_.min <= number <= range_.max], type_)

    def _likely(self, values: pa.Array) -> pa.Array:
        """Values without most of those whose first or last word no text has: a few characters of each tell it.

        Only of plain characters it can be told without more ado where words end and what they are in small letters.
        """
        plain = pc.string_is_ascii(values)
        others = values.filter(pc.invert(plain))
        found = values.filter(plain) if len(others) else values
        for begin, end, rest, known in (
            (0, _TOLD, _BEHIND_FIRST, self._begins),
            (-_TOLD, None, _BEFORE_LAST, self._ends),
        ):
            parts = pc.binary_slice(found.cast(pa.binary()), begin, end).dictionary_encode()
            words = pc.replace_substring_regex(pc.ascii_lower(parts.dictionary.cast(pa.string())), rest, "")
            fits = pc.or_(pc.equal(words, ""), pc.is_in(words.cast(pa.binary()), value_set=known))
            found = found.filter(fits.take(parts.indices))
        return pa.concat_arrays([found, others]) if len(others) else found

    def _in_texts(self, values: pa.Array) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The values all of whose words occur, by their number of words: (n, words) numbers of words."""
        words, counts = split(values)
        known = np.asarray(pc.index_in(words, value_set=self._known).fill_null(-1)).astype(np.int64)
        begins = np.cumsum(counts) - counts
        strange = np.concatenate([[0], np.cumsum(known < 0)])
        there = (counts > 0) & (strange[begins + counts] == strange[begins])
        for count in np.unique(counts[there]).tolist():
            length = min(count, MOST_WORDS)
            yield length, known[begins[there & (counts == count)][:, None] + np.arange(length)]

    def _places(self, sequences: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places at which one of the sequences of words, all of one length, begins in a text."""
        length, size = sequences.shape[1], len(self._known)
        begins = np.zeros(size, dtype=bool)
        begins[sequences[:, 0]] = True
        places = np.flatnonzero(begins[self._words] & (self._left >= length))
        state, at = sequences[:, 0], self._words[places].astype(np.int64)
        for step in range(1, length):
            pairs, state = np.unique(state * size + sequences[:, step], return_inverse=True)
            wanted = at * size + self._words[places + step]
            at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
            same = pairs[at] == wanted
            places, at = places[same], at[same]
        return places


def held_values(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The values of a column that are kept to be looked for later: at most two million, from all over it."""
    values = distinct_values(column) if pa.types.is_dictionary(column.type) else column
    if len(values) <= MOST_HELD:
        return values
    return values.take(pa.array(np.linspace(0, len(values) - 1, MOST_HELD).astype(np.int64)))


def in_words(texts: Iterable[str]) -> list[str]:
    """Texts as their words with blanks between.

    >>> in_words(["Ada-LOVELACE!", ""])
    ['ada lovelace', '']
    """
    words, counts = split(pa.array(texts, pa.string()))
    every, ends = words.to_pylist(), np.cumsum(counts).tolist()
    return [" ".join(every[end - count : end]) for end, count in zip(ends, counts.tolist(), strict=True)]


def split(texts: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """The words of all texts, and how many each has.

    >>> [found.tolist() for found in split(pa.array(["O'Neil, É.", "", "x_1"]))]
    [['o', 'neil', 'é', 'x', '1'], [3, 0, 2]]
    """
    if not len(texts):
        return texts, np.zeros(0, dtype=np.int64)
    if not pc.all(pc.string_is_ascii(texts)).as_py():
        texts = pc.replace_substring_regex(pc.utf8_normalize(pc.utf8_lower(texts), form="NFKC"), _PARTING, " ")
    low = pc.utf8_lower(texts)
    offsets = np.frombuffer(low.buffers()[1], dtype=np.int32)[low.offset : low.offset + len(low) + 1].astype(np.int64)
    data: Any = low.buffers()[2]
    codes = np.frombuffer(data or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    offsets -= offsets[0]
    inside = _IN_WORD[codes]
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    starts = offsets[:-1][offsets[:-1] < len(codes)]
    begins[starts] |= inside[starts]
    first = np.flatnonzero(begins)
    sums = np.concatenate([[0], np.cumsum(inside)])
    ends = np.append(sums[first], sums[-1]).astype(
        np.int32
    )  # words lie one behind the other where the rest is left out
    words = pa.StringArray.from_buffers(len(first), pa.py_buffer(ends), pa.py_buffer(codes[inside]))
    return words, np.diff(np.searchsorted(first, offsets))


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or type_ == pa.string_view())
