"""Spellings of one value: which texts are the same value, which nobody can tell apart, and which nearly coincide.

Three grades, from the strictest:

1. *As read* (:func:`as_read`). Unicode Standard Annex 15: texts are compared in their compatibility form (NFKC). It
   keeps characters that are not shown at all (a zero-width space, a soft hyphen), so those with the property
   Default_Ignorable_Code_Point are taken out, by the ranges of DerivedCoreProperties; blanks at the ends do not count,
   and several in a row are one.
2. *One value* (:func:`number_values`). Case, blanks and punctuation between letters, the format of a number and letters
   of other scripts that look alike (Unicode Technical Standard 39, by the tables of ``confusable-homoglyphs``) do not
   make another value: HIV, hiv, H.I.V. Kept apart is what may mean something: a sign (A+, A-), a question mark,
   whatever stands between two digits, and letters of the same script that look alike (l, I).
3. *Near* (:func:`find_near`). One letter of a long word, a plural, the order of words, a Roman number, letters of one
   script that look alike. They may be different values, so somebody has to look at them.

1,500 may be a thousand and a half or one and a half: a comma before exactly three digits is left as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

MOST_NEAR = 10_000
"""Different values of a column that are compared with each other, the first ones in order."""

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

_SEPARATORS = frozenset(".,;:'\"/\\`\u00b4\u00b7\u2026 ")
_NUMBER = re.compile(r"([+-]?)(\d+)(?:([.,])(\d+))?")
_WORD = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_LONG, _SHORTEST = 6, 5  # letters of the longer and of the shorter word of a pair that may be one word
_EXCHANGED = 8  # letters of words of which one letter is another one: Iceland and Ireland are two
_ROMAN_NUMBERS = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
_ROMAN = {word: str(number) for number, word in enumerate(_ROMAN_NUMBERS.split(), 1)}
_DIRECTIONS = "to from into than vs versus before after von nach zu vor"
_CONTRARY = ({"macro", "micro"}, {"ante", "anti"}, {"pre", "pro"}, {"ab", "ad"}, {"de", "di"})
_DIRECTED = frozenset(_DIRECTIONS.split())
_INSIDE = re.compile(r"(?<=[^\W\d_])[01](?=[^\W\d_])")  # a digit inside a word


def as_read(text: str) -> str:
    """A text without what nobody sees of it.

    >>> as_read("flu\\u200b"), as_read(" \\uff46lu\\u00ad "), as_read("flu") == as_read("Flu")
    ('flu', 'flu', False)
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    shown = unicodedata.normalize("NFKC", text.translate(_unseen()))
    return " ".join(unicodedata.normalize("NFKC", shown.translate(_unseen())).split())


def number_values(texts: Sequence[str], *, distinct: bool = False) -> NDArray[np.int64]:
    """(n,) the number of the value each text is a spelling of, in order of appearance.

    With ``distinct``, somebody says that different spellings are different values: then only texts that nobody can tell
    apart are one.

    >>> number_values(["HIV", "flu", "hiv", "H.I.V.", "\\u0397IV", "A+", "A-"]).tolist()
    [0, 1, 0, 0, 0, 2, 3]
    >>> number_values(["1.5", "1,50", "15", "10", "10.0", "E11.0", "E11"]).tolist()
    [0, 0, 1, 2, 2, 3, 4]
    >>> number_values(["Aa", "aa", "aa "], distinct=True).tolist()
    [0, 1, 1]
    """
    group = list(range(len(texts)))
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        for key in (as_read(text),) if distinct else _keys(text):
            other = first.setdefault(key, place)
            if other != place:
                mine, other = _root(group, place), _root(group, other)
                group[max(mine, other)] = min(mine, other)
    roots = [_root(group, place) for place in range(len(texts))]
    number: dict[int, int] = {}
    return np.array([number.setdefault(root, len(number)) for root in roots], dtype=np.int64)


def list_spellings(texts: Sequence[str], *, distinct: bool = False) -> list[tuple[str, ...]]:
    """The values that are spelled in several ways, each as its spellings.

    >>> list_spellings(["flu", "cold", "Flu "])
    [('flu', 'Flu ')]
    """
    found: dict[int, list[str]] = {}
    for text, value in zip(texts, number_values(texts, distinct=distinct).tolist(), strict=True):
        found.setdefault(value, []).append(text)
    return [tuple(same) for same in found.values() if len(same) > 1]


def find_near(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of texts that are different values by their spelling and may be the same.

    >>> find_near(["asthma", "astma", "diabetes type 2", "diabetes, type II"])
    [('asthma', 'astma'), ('diabetes type 2', 'diabetes, type II')]
    >>> find_near(["type 1", "type 2", "E11", "E12", "low", "slow", "symptomatic", "asymptomatic", "A+", "A-"])
    []
    """
    texts = sorted(texts)[:MOST_NEAR]
    value = number_values(texts)
    buckets: dict[object, list[int]] = {}
    words = [_words(text) for text in texts]
    for place, text in enumerate(texts):
        for key in {*_near_keys(text, words[place])}:
            buckets.setdefault(key, []).append(place)
    pairs = {
        (one, other)
        for places in buckets.values()
        for at, one in enumerate(places)
        for other in places[at + 1 :]
        if value[one] != value[other]
    }
    near = [(one, other) for one, other in sorted(pairs) if _is_near(texts, words, one, other)]
    return [(texts[one], texts[other]) for one, other in near]


def _keys(text: str) -> Iterator[str]:
    """Texts that share a key are spellings of one value; a text has one key for each alphabet it can be read in."""
    read = as_read(text)
    yield _fold(read)
    if not read.isascii():
        yield _fold(as_read(read.translate(_latin())))


def _fold(read: str) -> str:
    """A text without case, without blanks and punctuation that say nothing, numbers in one format."""
    if read.isascii() and read.isalnum():
        return read.lower()
    folded = unicodedata.normalize("NFKC", read.casefold())
    number = _NUMBER.fullmatch(folded)
    if number is not None:
        return _plain_number(folded, number)
    if not any(map(str.isalpha, folded)):
        return folded
    kept = []
    for place, character in enumerate(folded):
        if _is_separator(character):
            before, after = _beside(folded, place, -1), _beside(folded, place, 1)
            if before.isdigit() and after.isdigit():
                kept.append("-" if unicodedata.category(character) == "Pd" else character)
            elif unicodedata.category(character) == "Pd" and (not after or (not before and after.isdigit())):
                kept.append("-")  # a sign
            continue
        kept.append(character)
    return "".join(kept)


def _is_separator(character: str) -> bool:
    return character in _SEPARATORS or unicodedata.category(character) in ("Pd", "Pc", "Ps", "Pe", "Pi", "Pf")


def _beside(text: str, place: int, step: int) -> str:
    """The next character to one side that is no separator; empty where there is none."""
    place += step
    while 0 <= place < len(text) and _is_separator(text[place]):
        place += step
    return text[place] if 0 <= place < len(text) else ""


def _plain_number(text: str, number: re.Match[str]) -> str:
    sign, whole, point, rest = number.groups()
    if point == "," and len(rest) == 3 and whole.strip("0"):
        return text  # thousands, or a fraction
    fraction = (rest or "").rstrip("0")
    if whole.startswith("0") and len(whole) > 1:
        return text  # a code: 007
    return f"{'-' if sign == '-' else ''}{whole}{'.' if fraction else ''}{fraction}"


def _root(group: list[int], place: int) -> int:
    while group[place] != place:
        group[place] = group[group[place]]
        place = group[place]
    return place


def _words(text: str) -> tuple[str, ...]:
    """Words without accents, and numbers; Roman numbers beside other words are numbers."""
    apart = unicodedata.normalize("NFKD", as_read(text).casefold())
    words = _WORD.findall("".join(character for character in apart if not unicodedata.combining(character)))
    return tuple(_ROMAN.get(word, word) for word in words) if len(words) > 1 else tuple(words)


def _near_keys(text: str, words: tuple[str, ...]) -> Iterator[object]:
    """Keys of which near texts share one."""
    if not any(word[0].isalpha() for word in words):
        return
    signs = _signs(text)
    inside = _INSIDE.sub(lambda digit: "lO"["10".index(digit[0])], as_read(text))
    yield "looks", inside.replace("I", "l").replace("|", "l").replace("rn", "m").replace("vv", "w")
    yield "words", signs, _any_order(words)
    for place, word in enumerate(words):
        if word[0].isalpha() and len(word) >= _SHORTEST:
            others = (*words[:place], "", *words[place + 1 :])
            yield "word", signs, others, word
            for at in range(1, len(word)):
                yield "word", signs, others, word[:at] + word[at + 1 :]


def _signs(text: str) -> str:
    """What means something beside words and numbers: A+, <50."""
    folded = _fold(as_read(text))
    signs = sorted(character for character in folded if not character.isalnum() and not _is_separator(character))
    return "".join([*signs, folded[-1:]] if folded.endswith("-") else signs)


def _any_order(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words in the singular and in any order, unless one says which comes first; numbers in theirs."""
    numbers = tuple(word for word in words if not word[0].isalpha())
    singular = [_singular(word) for word in words if word[0].isalpha()]
    if len(singular) < 2 or _DIRECTED & set(singular):
        return tuple(map(_singular, words)), numbers
    return tuple(sorted(singular)), numbers


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


def _is_near(texts: Sequence[str], words: Sequence[tuple[str, ...]], one: int, other: int) -> bool:
    first, second = words[one], words[other]
    looks = {next(iter(_near_keys(texts[place], words[place]))) for place in (one, other)}
    if len(looks) == 1:
        return True
    if _signs(texts[one]) != _signs(texts[other]):
        return False
    if _any_order(first) == _any_order(second):
        return True
    different = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    if len(first) == len(second) and len(different) == 1:
        short, long = sorted(different[0], key=len)
        if len(short) >= _SHORTEST and len(long) >= _LONG and short[0].isalpha() and long[0].isalpha():
            return short[0] == long[0] and _differ_by_one(short, long) and not _are_contrary(short, long)
    return False


def _differ_by_one(short: str, long: str) -> bool:
    """Whether one letter was left out, another one, or two were exchanged."""
    begin = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) != len(long):
        return len(long) - len(short) == 1 and short[begin:] == long[begin + 1 :]
    swapped = short[begin : begin + 2] == long[begin : begin + 2][::-1] and short[begin + 2 :] == long[begin + 2 :]
    return swapped or (len(short) >= _EXCHANGED and short[begin + 1 :] == long[begin + 1 :])


def _are_contrary(one: str, other: str) -> bool:
    """Whether prefixes make opposites of them: macro- and micro-."""
    return any(
        one.startswith(a) and other.startswith(b) and one[len(a) :] == other[len(b) :]
        for pair in _CONTRARY
        for a in pair
        for b in pair - {a}
    )


@cache
def _latin() -> dict[int, str]:
    """For letters of other scripts the Latin letter or the digit they look like.

    The tables have one prototype for I, l and 1, and one for O and 0; of these the one of the same kind is meant.
    """
    from confusable_homoglyphs.confusables import confusables_data

    found = {}
    for character, alike in confusables_data.items():
        if len(character) != 1 or character.isascii() or len(alike) != 1:
            continue  # a prototype lists all that look like it; a letter with another meaning has one
        prototype = alike[0]["c"]
        if len(prototype) == 1 and prototype.isascii() and prototype.isalnum():
            digit = {"l": "1", "O": "0"}.get(prototype) if character.isdigit() else None
            found[ord(character)] = digit or ("I" if prototype == "l" and character.isupper() else prototype)
    return found


@cache
def _unseen() -> dict[int, str | None]:
    ignored: dict[int, str | None] = {code: None for first, last in _IGNORABLE for code in range(first, last + 1)}
    return ignored | dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), _BLANK_PATTERN), " ")
