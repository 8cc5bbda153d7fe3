"""Texts that have an order: bands such as [0-10), 20-29, 65+, under 5, $10k to $20k; months and quarters; postcodes.

Bands lie beside each other: sorted by where they begin, none ends before the one below it. What stands for no answer
comes last. Postcodes and other codes of one make lie in the order of their characters, so that a prefix is a range.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_NUMBER = r"([+-]?\d+(?:\.\d+)?)\s*([km])?"
_UNIT = r"(?:\s*%)?(?:\s+[^\W\d_]+\.?){0,2}"
_TO = r"\s*(?:-|–|—|~|\.{2,3}|,|;|\bto\b|\bthrough\b|\bbis\b|\bà\b|\ba\b|\buntil\b)\s*"
_BELOW = r"(?:<=?|≤|under|below|less than|lt|up to|at most|unter|bis zu|bis|moins de|menos de)\s*"
_ABOVE = r"(?:>=?|≥|over|above|more than|gt|at least|from|über|ab|mehr als|plus de|más de)\s*"
_MORE = r"\s*(?:\+|plus|(?:years?\s+|yrs?\s+)?(?:and|or) (?:over|older|more|above|up|greater)|und mehr|und älter"
_MORE += r"|et plus|o más|y más)"
_WAYS = [
    (re.compile(rf"[\[(\]]?{_NUMBER}{_UNIT}{_TO}{_NUMBER}{_UNIT}[\])\[]?"), "between"),
    (re.compile(rf"{_NUMBER}{_UNIT}{_MORE}{_UNIT}"), "above"),
    (re.compile(rf"{_ABOVE}{_NUMBER}{_UNIT}"), "above"),
    (re.compile(rf"{_BELOW}{_NUMBER}{_UNIT}"), "below"),
    (re.compile(rf"{_NUMBER}{_UNIT}"), "one"),
]
_PERIOD = re.compile(r"(\d{4})[-/. ]?(?:(0[1-9]|1[0-2])|q([1-4]))", re.IGNORECASE)
_NO_ANSWER = re.compile(
    r"\?|-+|\.|\*|n\.?/?a\.?|nan|none|null|missing|unknown|unspecified|undisclosed|refused|declined|skipped|dk"
    r"|(?:i )?do(?:n'?t|nt| not) know.*|not (?:known|stated|applicable|available|reported|asked|recorded|disclosed).*"
    r"|no (?:answer|response|data|information).*|(?:prefer|rather|choose|decline)[sd]?\b.*|unbekannt"
    r"|keine angabe|k\.?a\.?|weiß nicht|verweigert|inconnue?|non (?:renseigné|réponse)"
    r"|ne sait pas|desconocid[oa]|no sabe.*|sin datos",
)
_CODES = [
    re.compile(pattern)
    for pattern in (
        r"\d{3,10}",
        r"\d{5}-\d{4}",
        r"\d{2}-\d{3}",
        r"[A-Z]{1,2}-?\d{4,5}",
        r"[A-Z]\d[A-Z] ?\d[A-Z]\d",
        r"\d{4} ?[A-Z]{2}",
        r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}",
    )
]
_LONGEST = 80  # characters of a band
_SAMPLE = 50  # values by which a column is left alone that has nothing of the kind
_TIMES = {"k": 1_000, "m": 1_000_000}


def in_order(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Distinct texts in their order, or ``None`` where they have none.

    >>> in_order(["65+", "<18", "18-64", "don't know"])
    ('<18', '18-64', '65+', "don't know")
    >>> in_order(["$10k to $20k", "$5,000 - $9,999", "under $5k"])
    ('under $5k', '$5,000 - $9,999', '$10k to $20k')
    >>> in_order(["20-29", "0-100"]), in_order(["flu", "cold"])
    (None, None)
    """
    few = [text for text in texts[:: max(1, len(texts) // _SAMPLE)] if not is_no_answer(text)]
    if few and not any(_band(text) or _PERIOD.fullmatch(text) or are_codes([text]) for text in few):
        return None
    return _periods(texts) or _bands(texts) or _codes(texts)


def is_no_answer(text: str) -> bool:
    """Whether a text stands for an answer that is not there.

    >>> is_no_answer("Don't know"), is_no_answer("?"), is_no_answer("20-29")
    (True, True, False)
    """
    return len(text) <= _LONGEST and _NO_ANSWER.fullmatch(text.strip().lower().replace("’", "'")) is not None


def are_codes(texts: Sequence[str]) -> bool:
    """Whether texts are codes of one make, such as postcodes: their first characters say most.

    >>> are_codes(["01067", "99994"]), are_codes(["K1A 0B1", "M5V 3L9"]), are_codes(["01067", "Bonn"])
    (True, True, False)
    """
    known = [text for text in texts if not is_no_answer(text)]
    one_make = any(all(pattern.fullmatch(text) for text in known) for pattern in _CODES)
    return bool(known) and one_make and (not known[0].isdigit() or len({len(text) for text in known}) == 1)


def _periods(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Months (2020-03) and quarters (2020-Q1)."""
    found = {text: _PERIOD.fullmatch(text.strip()) for text in texts if not is_no_answer(text)}
    if len(found) < 2 or not all(found.values()):
        return None
    if len({match[2] is None for match in found.values() if match}) > 1:
        return None
    place = {text: (int(match[1]), int(match[2] or match[3])) for text, match in found.items() if match}
    return _with_last(sorted(place, key=place.__getitem__), texts)


def _bands(texts: Sequence[str]) -> tuple[str, ...] | None:
    known = [text for text in texts if not is_no_answer(text)]
    ends = {text: found for text in known if (found := _band(text)) is not None}
    if len(ends) < max(2, len(known)) or 2 * sum(way != "one" for *_, way in ends.values()) < len(ends):
        return None
    rows = sorted(ends, key=lambda text: (*ends[text][:2], text))
    highs = [ends[text][1] for text in rows]
    return _with_last(rows, texts) if highs == sorted(highs) else None


def _band(text: str) -> tuple[float, float, str] | None:
    """Where a band begins and ends, and how it is written."""
    if len(text) > _LONGEST:
        return None
    plain = re.sub(r"[$€£¥]", "", re.sub(r"(?<=\d)[,' ](?=\d{3}(?!\d))", "", text.strip().lower()))
    for pattern, way in _WAYS:
        found = pattern.fullmatch(plain.strip())
        if found is None:
            continue
        numbers = [float(n) * _TIMES.get(k, 1) for n, k in zip(found.groups()[::2], found.groups()[1::2], strict=True)]
        if way == "between" and numbers[0] > numbers[1]:
            return None
        low = -math.inf if way == "below" else numbers[0]
        return low, math.inf if way == "above" else numbers[-1], way
    return None


def _codes(texts: Sequence[str]) -> tuple[str, ...] | None:
    if not are_codes(texts) or len(texts) < 2:
        return None
    return _with_last(sorted(text for text in texts if not is_no_answer(text)), texts)


def _with_last(rows: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Values in order, and behind them what stands for no answer."""
    return (*rows, *sorted(set(texts) - set(rows)))
