"""Dates as people write them: 31.12.1980, 12/31/1980, 3. März 2020, 20201231, each with a time and a zone or without.

A column is dates if all of its values are, in one format. Where values are dates and their format is not certain, or
not all of them are, the holder is asked: a column of days that passes for words would be published as lists of exact
days. Of a zone the local time counts, as it is written; where two different moments have the same local time, as in the
hour that ends summer time, all are taken in UTC, and their format says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undercover.errors import DataError, described

_MONTHS = (
    "january jan januar jänner jän januari janvier janv enero ene",
    "february feb februar février févr fév fevrier fev febrero",
    "march mar märz mrz maerz mär mars marzo",
    "april apr avril avr abril abr",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug août aout agosto ago",
    "september sep sept septembre septiembre setiembre set",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre déc decembre diciembre dic",
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_TIME = (
    r"(?:(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?(?:\s*(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?(?:\[(?P<place>[\w/+-]+)\])?)?"
)
_NAMED = {
    "DD Mon YYYY": r"(?P<D>\d{1,2})(?:st|nd|rd|th|er|º)?[\s.\-/]*(?:de\s+|of\s+)?(?P<Mon>[^\W\d_]{3,})"
    r"[\s.,\-/]*(?:del?\s+)?(?P<Y>\d{4})",
    "Mon DD YYYY": r"(?P<Mon>[^\W\d_]{3,})[\s.\-/]*(?P<D>\d{1,2})(?:st|nd|rd|th)?[\s.,\-/]+(?P<Y>\d{4})",
}
FORMATS = (
    *("YYYY-MM-DD", "YYYY/MM/DD", "YYYY.MM.DD", "YYYYMMDD"),
    *("DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM/DD/YYYY", "MM-DD-YYYY", "MM.DD.YYYY"),
    *_NAMED,
)
"""The formats there are; any may be followed by a time. Where two fit, the upper one of a pair with dots is meant."""
IN_UTC = " in UTC"
"""Behind a format: moments are taken in UTC, and not as a clock at their place shows them."""
_FIRST_YEAR, _LAST_YEAR = 1800, 2199  # of YYYYMMDD: other numbers of eight digits are numbers
_SHORT_YEAR = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d\d){_TIME}", re.IGNORECASE)
_SHAPE = re.compile(rf"(\d{{4}}([./-])\d{{1,2}}\2\d{{1,2}}|\d{{1,2}}([./-])\d{{1,2}}\3\d{{4}}){_TIME}", re.IGNORECASE)
_LONGEST = 80  # characters of a date with everything there can be to it
_SAMPLE = 50  # values by which formats are left out that fit none
_MOSTLY = 0.5  # share of the distinct values from which on a column is meant to be dates


def _pattern(form: str) -> re.Pattern[str]:
    day = _NAMED.get(form)
    if day is None:
        digits = r"\d\d" if form == "YYYYMMDD" else r"\d{1,2}"
        day = form.replace(".", r"\.").replace("YYYY", r"(?P<Y>\d{4})")
        day = day.replace("MM", f"(?P<M>{digits})").replace("DD", f"(?P<D>{digits})")
    return re.compile(day + _TIME, re.IGNORECASE)


_PATTERNS = {form: _pattern(form) for form in FORMATS}


class FoundDates(NamedTuple):
    """What was found in a column of texts: the format of all of them, or why there is none."""

    format: str | None
    problem: str = ""


def read_date(text: str, form: str) -> datetime | None:
    """The moment a text names in a format; ``None`` where it names none.

    >>> read_date("3. März 2020, 14:05", "DD Mon YYYY"), read_date("31.02.2020", "DD.MM.YYYY")
    (datetime.datetime(2020, 3, 3, 14, 5), None)
    """
    part = _parts(text, form)
    if part is None:
        return None
    month = _MONTH_OF.get(part["Mon"].lower(), 0) if "Mon" in part else int(part["M"])
    year, hour = int(part["Y"]), int(part["hour"] or 0)
    if form.startswith("YYYYMMDD") and not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    if part["half"]:
        hour = hour % 12 + 12 * (part["half"].lower() == "p") if 1 <= hour <= 12 else 24
    fraction = int((part["fraction"] or "").ljust(6, "0")[:6])
    ahead = _ahead(part["zone"]) if form.endswith(IN_UTC) else timedelta()
    try:
        at = datetime(year, month, int(part["D"]), hour, int(part["minute"] or 0), int(part["second"] or 0), fraction)
        return at - ahead
    except (ValueError, OverflowError):
        return None


def known_format(form: str) -> bool:
    """Whether dates can be read in a format.

    >>> known_format("DD.MM.YYYY"), known_format("YYYY-MM-DD in UTC"), known_format("DDMM")
    (True, True, False)
    """
    return form.removesuffix(IN_UTC) in FORMATS


def _parts(text: str, form: str) -> dict[str, str | Any] | None:
    found = _PATTERNS[form.removesuffix(IN_UTC)].fullmatch(text.strip()) if len(text) <= _LONGEST else None
    return None if found is None else found.groupdict()


def _ahead(zone: str | None) -> timedelta:
    """How far the clock of a zone is ahead of UTC."""
    if zone is None or zone[0] not in "+-":
        return timedelta()
    ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:].lstrip(":") or 0))
    return -ahead if zone[0] == "-" else ahead


def _told_apart(texts: Sequence[str], form: str) -> FoundDates:
    """The format, in UTC where moments would become one otherwise; a problem where they become one even so."""
    by_clock: dict[Any, tuple[Any, ...]] = {}
    finer = clash = False
    zones = set()  # where a clock stands that has no offset
    for text in texts:
        part = _parts(text, form) if ":" in text else None
        if part is None:
            continue
        zones.add((part["place"] or "") if part["zone"] is None else None)
        rest = (part["fraction"] or "")[6:].rstrip("0")
        place = None if part["zone"] else part["place"]
        moment = (read_date(text, form.removesuffix(IN_UTC) + IN_UTC) or part["zone"], place, rest)
        first = by_clock.setdefault(read_date(text, form), moment)
        finer = finer or (first[:2] == moment[:2] and first != moment)
        clash = clash or first[:2] != moment[:2]
    if finer:
        return FoundDates(None, "has moments finer than microseconds that would become one. Round them first.")
    if clash and len(zones) > 1:
        return FoundDates(
            None, "has moments with an offset from UTC and without, and some would become one. Write it behind all."
        )
    return FoundDates(form + IN_UTC if clash else form)


def find_dates(texts: Sequence[str]) -> FoundDates:
    """The format in which all texts are dates; a problem where they are meant to be and that is not certain.

    >>> find_dates(["31/12/1980", "01/02/1975"]).format, find_dates(["flu", "cold"])
    ('DD/MM/YYYY', FoundDates(format=None, problem=''))
    >>> find_dates(["11/12/1980", "01/02/1975"]).problem
    'holds dates that are DD/MM/YYYY or MM/DD/YYYY, and no value tells which. Say it: format = "DD/MM/YYYY".'
    """
    sample = texts[:: max(1, len(texts) // _SAMPLE)]
    fitting = {form for form in FORMATS for text in sample if read_date(text, form)}
    if not fitting and not any(_shaped(text) for text in sample):
        return FoundDates(None)
    forms = [form for form in FORMATS if form in fitting and all(read_date(text, form) for text in texts)]
    if len(forms) == 1 or "DD.MM.YYYY" in forms:
        return _told_apart(texts, forms[0])
    if forms:
        if all(read_date(text, forms[0]) == read_date(text, forms[1]) for text in texts):
            return _told_apart(texts, forms[0])
        one, other = forms[:2]
        return FoundDates(
            None, f'holds dates that are {one} or {other}, and no value tells which. Say it: format = "{one}".'
        )
    return FoundDates(None, _unclear(texts))


def _unclear(texts: Sequence[str]) -> str:
    """Why texts that look like dates have no format in common; nothing where too few look so."""
    if all(_short_year(text) for text in texts):
        return (
            f"holds days whose year has two digits ({described(texts)}): nobody can tell the century. Write years "
            "with four digits."
        )
    counts = {form: sum(read_date(text, form) is not None for text in texts) for form in FORMATS}
    best = max(counts, key=counts.__getitem__)
    if sum(map(_shaped, texts)) < _MOSTLY * len(texts):
        return ""
    strange = [text for text in texts if read_date(text, best) is None]
    wanted = f"in the format {best}" if counts[best] else "that the calendar does not have"
    return (
        f"holds dates {wanted} and {described(strange).replace(' value', ' other value', 1)}. "
        "Write all of them alike, or leave a cell empty where the day is not known."
    )


def _shaped(text: str) -> bool:
    """Whether a text is a date, or would be one in another calendar."""
    text = text.strip() if len(text) <= _LONGEST else ""
    return bool(_SHAPE.fullmatch(text)) or any(read_date(text, form) for form in _NAMED) or _short_year(text)


def _short_year(text: str) -> bool:
    found = _SHORT_YEAR.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        return False
    one, two, three = int(found[1]), int(found[3]), int(found[4])
    day_and_month = {(one, two), (two, one), (three, two)}
    return any(1 <= day <= 31 and 1 <= month <= 12 for day, month in day_and_month)


def as_dates(column: pa.Array | pa.ChunkedArray, form: str | None) -> pa.Array | pa.ChunkedArray:
    """Texts, or numbers such as 20201231, as days, or as moments where one has a time.

    Raises
    ------
    DataError
        With what the column holds, to be put behind its name.
    """
    column = column.cast(pa.string())
    encoded = (column if isinstance(column, pa.Array) else column.combine_chunks()).dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    if form is None and texts:
        found = find_dates(texts)
        if found.format is None:
            raise DataError(found.problem or f"holds values that are no dates: {described(texts)}.")
        form = found.format
    moments = [read_date(text, form or "") for text in texts]
    strange = [text for text, moment in zip(texts, moments, strict=True) if moment is None]
    if strange:
        raise DataError(f"holds values that are no dates in the format {form}: {described(strange)}.")
    apart = _told_apart(texts, form or "") if texts else FoundDates(form)
    if apart.format != form:
        raise DataError(
            apart.problem or f'holds different moments that a clock shows alike. Say it: format = "{apart.format}".'
        )
    values = pa.array(moments, pa.timestamp("us"))
    days = values.cast(pa.date32(), safe=False)
    values = days if pc.all(pc.equal(days.cast(values.type), values)).as_py() is not False else values
    return values.take(encoded.indices)


def is_day_number(values: pa.Array | pa.ChunkedArray) -> bool:
    """Whether whole numbers are days such as 20201231, all of them.

    >>> is_day_number(pa.array([19801231, 20200229])), is_day_number(pa.array([19801231, 20200230]))
    (True, False)
    """
    ends = pc.min_max(values)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None or low < _FIRST_YEAR * 10_000 or high > (_LAST_YEAR + 1) * 10_000:
        return False
    numbers = np.asarray(pc.unique(values).drop_null().cast(pa.int64()))
    return all(read_date(str(number), "YYYYMMDD") is not None for number in numbers.tolist())
