"""Quotation marks of a CSV text, watched while it is read: a cell that is never closed swallows the rows below it.

The rules are those of RFC 4180, and every reader here follows them. A mark at the beginning of a field opens a cell;
within it two marks are one of the text, and a single mark closes it, behind which a separator or the end of the line
must come. A mark within a field that does not begin with one is a character as any other (``5" pipe``). Arrow's reader
goes by the same rules where they are kept, and goes on without a word where they are broken: these are refused.

What marks do is found run by run. A run of an even number changes nothing. One of an odd number closes an open cell;
outside of cells it opens one where a field begins, and stands for itself elsewhere. So an odd run where a field begins
is a turn, any other odd run leads outside, and whether a place lies within a cell is the parity of the turns behind the
last such run: sums over arrays, no loop over bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.wording import in_data

_MARK, _NEWLINE, _RETURN = b'"\n\r'
_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 22
_ONE, _TOP = np.uint64(1), np.uint64(63)
_TWICE = 'A mark that belongs to a text is written twice ("") in a cell between marks.'


class Quotes:
    """What the quotation marks of a text in UTF-8 do that is handed over piece by piece.

    Examples
    --------
    >>> found = Quotes(",")
    >>> for piece in (b'name,note\\nAda,"fl', b'u\\nBo,cold\\n'):
    ...     found.take(piece)
    >>> found.end()
    >>> found.problem[:66]
    'line 2: a quotation mark opens a cell here and nothing closes it, '
    """

    def __init__(self, separator: str) -> None:
        self.problem = ""
        self.cells = 0  # with a line break inside
        self.first = 0  # the line of the first of these
        self._separator, self._edge = ord(separator), np.zeros(256, dtype=bool)
        self._edge[[self._separator, _NEWLINE, _RETURN]] = True
        self._line, self._before, self._held = 1, _NEWLINE, b""
        self._opened = 0  # the line in which the cell began that is open; 0: none is
        self._counted = False  # whether that one is among the cells with a line break
        self._begun = False

    def take(self, piece: bytes) -> None:
        """The next bytes; what marks and returns at their end mean is seen with the bytes behind them."""
        text = self._held + piece
        if not self._begun and len(text) >= len(_BOM):
            self._begun, text = True, text.removeprefix(_BOM)
        kept = text.rstrip(b'"\r') if self._begun else b""
        self._held = text[len(kept) :]
        self._look(kept)

    def end(self) -> None:
        """There are no more."""
        rest, self._held, self._begun = self._held, b"", True
        self._look(rest)
        if self._opened and not self.problem:
            self.problem = (
                f"line {self._opened}: a quotation mark opens a cell here and nothing closes it, so that all rows "
                f"below would be in that cell. Close it. {_TWICE}"
            )

    def _look(self, text: bytes) -> None:
        if not text or self.problem:
            return
        codes = np.frombuffer(text, dtype=np.uint8)
        if b'"' not in text and not self._opened:
            self._line += _lines(codes)
        elif self._counted or not self._in_pairs(codes):
            self._follow(codes)
        self._before = text[-1]

    def _in_pairs(self, codes: NDArray[np.uint8]) -> bool:
        """Whether marks only open, close or are doubled and no line ends in a cell, as in most files: seen in words.

        Then every mark that leads into a cell has a field's edge or a mark before it, and every other one has one
        behind it. Bytes are bits of 64-bit words here; a place lies in a cell where the marks up to it are odd.
        """
        marks, ends = _bits(codes == _MARK), _bits(codes == _NEWLINE) | _bits(codes == _RETURN)
        edges = ends | marks | _bits(codes == self._separator)
        within = marks.copy()
        for step in (1, 2, 4, 8, 16, 32):
            within ^= within << np.uint64(step)
        odd = np.bitwise_xor.accumulate(within >> _TOP) ^ np.uint64(self._opened > 0)  # behind each word
        within ^= np.negative(np.concatenate([[np.uint64(self._opened > 0)], odd[:-1]]))
        before, behind = edges << _ONE, edges >> _ONE
        before[1:] |= edges[:-1] >> _TOP
        before[0] |= np.uint64(self._edge[self._before])
        behind[:-1] |= edges[1:] << _TOP
        behind[-1] |= np.uint64(1 << (len(codes) - 1) % 64)  # the end of the text is an edge; no other piece ends so
        if (marks & ~(within & before | ~within & behind)).any() or (ends & within).any():
            return False
        self._line += _lines(codes)
        self._opened = (self._line if marks.any() else self._opened) if odd[-1] else 0
        return True

    def _follow(self, codes: NDArray[np.uint8]) -> None:
        breaks = _breaks(codes)
        marks = np.flatnonzero(codes == _MARK)
        first = np.flatnonzero(np.diff(marks, prepend=-2) > 1)
        begins, lengths = marks[first], np.diff(first, append=len(marks))
        ends, odd = begins + lengths, lengths % 2 == 1
        at_field = self._edge[np.where(begins > 0, codes[begins - 1], self._before)]
        at_end = (ends == len(codes)) | self._edge[codes[np.minimum(ends, len(codes) - 1)]]
        turns = np.cumsum(odd & at_field)
        since = np.maximum.accumulate(np.where(odd & ~at_field, turns, -1 if self._opened else 0))
        within = (turns - since) % 2 == 1  # behind each run
        earlier = np.concatenate([[self._opened > 0], within])
        opens, closes = ~earlier[:-1] & within, np.where(earlier[:-1], odd, at_field & ~odd)
        self._count(breaks, begins, opens, earlier)
        wrong = np.flatnonzero(closes & ~at_end)
        if len(wrong):
            run = int(wrong[0])
            openings = np.flatnonzero(opens[:run]) if earlier[run] else np.array([run])
            opened = self._line_of(begins[openings[-1]], breaks) if len(openings) else self._opened
            here = self._line_of(begins[run], breaks)
            where = "in the same line" if opened == here else f"in line {opened}"
            self.problem = (
                f"line {here}: text follows the quotation mark that closes a cell, which was opened {where}. Look for "
                f"a mark that is missing or too many between them. {_TWICE} If cells are not parted by the character "
                f"that was taken for the separator, name it: {in_data(separator=...)}."
            )
        if not earlier[-1]:
            self._opened = 0
        elif opens.any():
            self._opened = self._line_of(begins[np.flatnonzero(opens)[-1]], breaks)
        self._line += len(breaks)

    def _count(self, breaks: NDArray[Any], begins: NDArray[Any], opens: NDArray[Any], earlier: NDArray[Any]) -> None:
        """Count the cells that have a line break inside: of each break it is known whether it lies in a cell."""
        behind = np.searchsorted(begins, breaks)
        inside = earlier[behind]
        number = np.concatenate([[0], np.cumsum(opens)])  # of the cell behind every run; 0 came with the piece
        cells = np.unique(number[behind[inside]])
        if len(cells) and not self.cells:
            self.first = self._line + int(np.argmax(inside))
        self.cells += len(cells) - int(self._counted and 0 in cells)
        self._counted = bool(earlier[-1]) and (number[-1] in cells or (number[-1] == 0 and self._counted))

    def _line_of(self, place: Any, breaks: NDArray[Any]) -> int:
        return self._line + int(np.searchsorted(breaks, place))


class Watched:
    """A stream of bytes in UTF-8 that is handed on to a reader as it is, up to the first problem."""

    closed = False

    def __init__(self, stream: Any, separator: str) -> None:
        self._stream, self.quotes = stream, Quotes(separator)

    def read(self, size: int = -1) -> bytes:
        """The next bytes; none behind those in which marks are wrong."""
        if self.quotes.problem or size == 0:
            return b""
        piece: bytes = self._stream.read(size)
        self.quotes.take(piece) if piece else self.quotes.end()
        return piece

    def seen(self) -> Quotes:
        """What is known when everything was read, by the reader or now."""
        while self.read(_BLOCK):
            pass
        return self.quotes

    def close(self) -> None:
        """The stream is closed by whoever opened it."""


def _bits(places: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Truth values as bits of words, the first the lowest."""
    packed = np.zeros(-(-len(places) // 64) * 8, dtype=np.uint8)
    packed[: -(-len(places) // 8)] = np.packbits(places, bitorder="little")
    return packed.view("<u8")


def _lines(codes: NDArray[np.uint8]) -> int:
    """How many lines end, be it with ``\\n``, ``\\r`` or both."""
    returns = codes == _RETURN
    both = np.count_nonzero(returns[:-1] & (codes[1:] == _NEWLINE)) if returns.any() else 0
    return int(np.count_nonzero(codes == _NEWLINE) + np.count_nonzero(returns) - both)


def _breaks(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where they do."""
    newlines, returns = codes == _NEWLINE, codes == _RETURN
    if returns.any():
        newlines[1:] &= ~returns[:-1]
        newlines |= returns
    return np.flatnonzero(newlines)
