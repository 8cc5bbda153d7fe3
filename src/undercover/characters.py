"""Characters that must not reach a terminal, a page or a chart as they are.

A cell or a column name may hold anything: escape sequences that steer a terminal, characters that no XML document may
contain, half of a surrogate pair, marks that turn the direction of reading. Files keep them; what people look at shows
a sign in their place.
"""

from __future__ import annotations

import re
from typing import Final

_SIGN: Final = "�"
_UNSAFE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17))
    + "]"
)
_SIGNS: Final = re.compile("[\u2400-\u2421�]")


def visible(text: str) -> str:
    r"""The text with a visible sign for every character that is none; lines and tabulators stay.

    >>> visible("a\x1b[31mb\x00"), visible("två\nlines"), visible("\x9b31m\ufffe")
    ('a␛[31mb␀', 'två\nlines', '�31m�')
    """
    return _UNSAFE.sub(_sign, text) if _UNSAFE.search(text) else text


def has_signs(text: str) -> bool:
    """Whether a text holds a sign that :func:`visible` puts in the place of a character.

    >>> has_signs("a␛"), has_signs("a\x1b")
    (True, False)
    """
    return _SIGNS.search(text) is not None


def escaped(json_text: str) -> str:
    r"""JSON text with every such character written as JSON writes it (``\u009b``); it means the same.

    >>> escaped('{"a": "\x9b31m"}')
    '{"a": "\\u009b31m"}'
    """
    return _UNSAFE.sub(_as_json, json_text) if _UNSAFE.search(json_text) else json_text


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else _SIGN


def _as_json(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
