"""Values as somebody reads them: spellings that nobody can tell apart on a page are one value.

Unicode Standard Annex 15: texts are compared in their compatibility form (NFKC). It keeps characters that are not shown
at all (a zero-width space, a soft hyphen), so those with the property Default_Ignorable_Code_Point are taken out, by
the ranges of DerivedCoreProperties; blanks at the ends do not count, and several in a row are one.

Letters of different scripts that look alike (Unicode Technical Standard 39) are different values all the same: whoever
wrote them may have meant it. They are told.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

_IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
"""First and last of every range of characters that are not shown."""

_BLANK_PATTERN = 0x2800  # a letter of braille without a dot: no blank by its properties, and one to the eye

_CYRILLIC = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u04cf\u051b\u051d",
    "aeopcyxijshdlqw",
)
_CYRILLIC_CAPITALS = (
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408",
    "ABEKMHOPCTYXSIJ",
)
_GREEK = (
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03bd\u03bf\u03c1\u03c5",
    "ABEZHIKMNOPTYXavopu",
)


def as_read(text: str) -> str:
    """A text without what nobody sees of it.

    >>> as_read("flu\\u200b"), as_read(" \\uff46lu\\u00ad "), as_read("flu") == as_read("Flu")
    ('flu', 'flu', False)
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    shown = unicodedata.normalize("NFKC", text.translate(_unseen()))
    return " ".join(unicodedata.normalize("NFKC", shown.translate(_unseen())).split())


def spelled_alike(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """Texts that nobody can tell apart, where there are several of a kind.

    >>> spelled_alike(["flu", "cold", "flu "])
    [('flu', 'flu ')]
    """
    return _several(texts, as_read)


def look_alikes(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """Texts that are different values and look the same, or nearly, in letters of different scripts.

    >>> [[ascii(text) for text in same] for same in look_alikes(["flu", "cold", "c\\u043eld"])]
    [["'cold'", "'c\\\\u043eld'"]]
    """
    distinct = {as_read(text): text for text in texts}
    return _several(distinct.values(), lambda text: as_read(text).translate(_latin()))


def _several(texts: Iterable[str], key: Callable[[str], str]) -> list[tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        found.setdefault(key(text), []).append(text)
    return [tuple(same) for same in found.values() if len(same) > 1]


@cache
def _unseen() -> dict[int, str | None]:
    ignored: dict[int, str | None] = {code: None for first, last in _IGNORABLE for code in range(first, last + 1)}
    return ignored | dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), _BLANK_PATTERN), " ")


@cache
def _latin() -> dict[int, int]:
    return {k: v for pair in (_CYRILLIC, _CYRILLIC_CAPITALS, _GREEK) for k, v in str.maketrans(*pair).items()}
