"""Several rows of one person that nobody announced: a key of people, a column of time, or the order of the file.

A table in which people come back is counted by rows until somebody says whose rows they are. All columns of the input
are looked at, also those that are not published: a panel whose key was dropped is a panel still.

- *Key*: a column with at least 20 values of 1.2 to 60 rows each, within which other columns hardly ever change
  (``static``), or which a column of time numbers. Agreement is corrected for chance, as Cohen's kappa is.
- *Time*: without a key, rows of different times agree in all other columns more than twice as often as rows of the same
  time. Numbers may grow with time (age), so their difference to it is tried as well.
- *Order*: neighbouring lines of the file agree in most columns. Of 15 such alarms on tables the rule had never seen one
  was right, so it is no more than a remark.

No alarm is no evidence: without a key most panels stay unseen (docs/decisions/88-people-and-spellings.md has figures).

Bounds: each column is counted once over all rows. Whatever compares columns looks at no more than ``MOST_ROWS`` rows:
all rows of keys that are spread evenly over the table, the first rows of every time, the first lines of the file. At
most ``MOST_KEYS`` keys are compared with ``MOST_COLUMNS`` columns each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import listed
from undercover.model.encoding.values import plain
from undercover.model.figures import number
from undercover.model.schema import ALL_OTHERS, Schema

MOST_ROWS = 20_000
MOST_KEYS = 12
MOST_COLUMNS = 45
_MOST_TIMES, _MOST_IN_TIME = 4, 14

_FEWEST_VALUES, _FEWEST_EACH, _MOST_EACH, _REPEATING, _NAMED_REPEATING = 20, 1.2, 60, 0.3, 0.05
_COMMON, _STATIC, _SHARE, _UNEVEN, _EVEN, _NUMBERED = 0.8, 0.9, 1 / 3, 0.6, 0.05, 60
_RATIO, _ROWS_OF_TIME, _NAMED_VALUES = 2, 20, 100
_FEWEST_LINES, _NEIGHBOURS_ALIKE, _COLUMNS_ALIKE = 100, 0.5, 0.6
_SHOWN = 3

_PEOPLE_WORDS = (
    "id nr person patient subject child student respondent case pid seqn uid unit worker individual participant "
    "proband teilnehmer schueler kind versicherte kunde mitarbeiter personen patienten"
)
_TIME_WORDS = (
    "year yr wave time visit period round month week day occasion t date jahr welle zeit besuch monat woche tag"
)
_PEOPLE, _TIMES = frozenset(_PEOPLE_WORDS.split()), frozenset(_TIME_WORDS.split())

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class CodedValues:
    """A code for each row, -1 where it has no value, and the value of each code."""

    codes: Codes
    values: pa.Array


class Columns(Protocol):
    """The columns of a table, each coded when it is asked for."""

    @property
    def names(self) -> Sequence[str]:
        """The columns that have single values."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def coded(self, name: str, rows: Codes | None = None) -> CodedValues:
        """One column, of all rows or of some."""


@dataclass(frozen=True)
class ArrowColumns:
    """The columns of a table of Arrow, plain or as dictionaries."""

    table: pa.Table

    @property
    def names(self) -> list[str]:
        """The columns that have single values."""
        return [field.name for field in self.table.schema if not pa.types.is_nested(field.type)]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def coded(self, name: str, rows: Codes | None = None) -> CodedValues:
        """One column, of all rows or of some."""
        column = self.table.column(name)
        found = plain(column if rows is None else column.take(pa.array(rows)))
        places = np.append(np.arange(len(found.values)), -1)
        return CodedValues(found.codes(places, np.empty(len(found), np.int64)), found.values)


@dataclass(frozen=True)
class PeopleKey:
    """A column that looks like the key of people who have several rows."""

    column: str
    values: int
    rows_each: float
    is_even: bool  # whether each value has the same number of rows
    static: tuple[str, ...]  # columns that hardly ever change within a value
    numbered_by: tuple[str, ...]  # columns that have no value twice within one
    is_named: bool  # whether the column is named like a key


@dataclass(frozen=True)
class PeopleOverTime:
    """A column of time whose different values have rows of the same people, it seems."""

    column: str
    ratio: float  # how much more often rows of different times agree than rows of the same time, cautiously
    agreeing: tuple[str, ...]


@dataclass(frozen=True)
class RepeatedPeople:
    """What speaks for several rows per person."""

    keys: tuple[PeopleKey, ...] = ()
    time: PeopleOverTime | None = None
    neighbours: float | None = None  # share of columns in which neighbouring lines agree, where it is remarkable

    @property
    def asks(self) -> bool:
        """Whether the holder has to say what a person is."""
        return bool(self.keys) or self.time is not None

    def with_first(self, column: str | None) -> RepeatedPeople:
        """The same with the key of this name first, where there is one."""
        return replace(self, keys=tuple(sorted(self.keys, key=lambda key: key.column != column)))

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> RepeatedPeople:
        """Read what :meth:`to_dict` wrote.

        >>> RepeatedPeople.of(RepeatedPeople().to_dict())
        RepeatedPeople(keys=(), time=None, neighbours=None)
        """
        lists = ("static", "numbered_by", "agreeing")
        keys: list[dict[str, Any]] = [
            {k: tuple(v) if k in lists else v for k, v in one.items()} for one in content["keys"]
        ]
        time = content["time"]
        return cls(
            tuple(PeopleKey(**one) for one in keys),
            None if time is None else PeopleOverTime(**{**time, "agreeing": tuple(time["agreeing"])}),
            content["neighbours"],
        )

    def describe(self, roles: Mapping[str, str]) -> str:
        """What was found, in a sentence; ``roles`` says what becomes of a column, where that is worth saying.

        >>> key = PeopleKey("nr", 545, 8.0, True, ("school", "ethn"), ("year",), True)
        >>> RepeatedPeople((key,)).describe({"nr": "dropped"})
        '`nr` (dropped) has 545 values with 8 rows each, and `school`, `ethn` hardly ever change within one: rows ...'
        """
        if self.keys:
            return f"{_key_in_words(self.keys[0], roles)}: rows may be the same people again."
        if self.time is not None:
            times = f"{self.time.ratio:.0f} times as often as" if self.time.ratio < _LARGE else "far more often than"
            return (
                f"Rows of different `{self.time.column}` agree in {listed(self.time.agreeing, limit=_SHOWN)} {times} "
                f"rows of the same `{self.time.column}`: rows may be the same people again."
            )
        if self.neighbours is not None:
            return (
                f"Neighbouring rows agree in {self.neighbours:.0%} of the columns far beyond chance: the table is "
                "sorted, or rows that follow one another are of the same person."
            )
        return ""


_LARGE = 100


def find_repeated_people(columns: Columns) -> RepeatedPeople:
    """Look for people who have several rows in a table nobody has said that of.

    >>> people = pa.table({"nr": [i // 3 for i in range(90)], "sex": ["fm"[i // 3 % 2] for i in range(90)]})
    >>> [key.column for key in find_repeated_people(ArrowColumns(people)).keys]
    ['nr']
    """
    candidates, times = _survey(columns)
    keys = tuple(_keys(columns, candidates))
    if keys:
        return RepeatedPeople(keys)
    over_time = (_over_time(columns, name) for name in times[:_MOST_TIMES])
    time = max((found for found in over_time if found is not None), key=lambda found: found.ratio, default=None)
    if time is not None:
        return RepeatedPeople(time=time)
    return RepeatedPeople(neighbours=_neighbours_alike(columns))


def look_for_people(data: pa.Table, schema: Schema) -> dict[str, Any] | None:
    """What ``private/run.json`` records of the search; ``None`` where nothing was found, or the schema names a unit."""
    found = RepeatedPeople() if schema.unit is not None else find_repeated_people(ArrowColumns(data))
    return None if found == RepeatedPeople() else {"searched": True, **found.to_dict()}


def describe_roles(schema: Schema, names: Iterable[str]) -> dict[str, str]:
    """What becomes of each column, for a message about it."""
    roles: dict[str, str] = {name: role for role, own in schema.by_role().items() for name in own}
    other = "dropped" if ALL_OTHERS in schema.drop else "no role"
    return {name: roles.get(name, "dropped" if name in schema.drop else other) for name in names}


def is_named_like_people(name: str) -> bool:
    """Whether the name of a column is that of a key of people.

    >>> [is_named_like_people(name) for name in ("nr", "PatientID", "hhid", "income")]
    [True, True, True, False]
    """
    return any(
        word in _PEOPLE or (word.endswith("id") and len(word) <= 6) or word.rstrip("0123456789") in _PEOPLE
        for word in _words(name)
    )


def _words(name: str) -> list[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.sub(r"[\W_]+", " ", apart).lower().split()


@dataclass(frozen=True)
class _Candidate:
    """A column whose values repeat as those of a key do, and rows by which it is compared with others."""

    name: str
    values: int
    rows_each: float
    variation: float  # standard deviation of the rows of a value, over their mean
    rows: Codes | None  # None: all of them


def _survey(columns: Columns) -> tuple[list[_Candidate], list[str]]:
    """Columns that may be a key of people, and those that may be the time of a row; every column is coded once."""
    candidates, times = [], []
    for name in columns.names:
        column = columns.coded(name)
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
        if _may_be_time(name, column.values, counts[counts > 0]):
            times.append(name)
        found = _candidate(name, column, counts)
        if found is not None:
            candidates.append(found)
    return sorted(candidates, key=lambda one: (not is_named_like_people(one.name), -one.values)), times


def _keys(columns: Columns, candidates: Sequence[_Candidate]) -> Iterator[PeopleKey]:
    """The keys of people, the most telling first."""
    coded: dict[str, Codes] = {}
    keys = [key for one in candidates[:MOST_KEYS] if (key := _judge(columns, one, coded)) is not None]
    yield from sorted(keys, key=lambda key: (not key.is_named, -len(key.static), -len(key.numbered_by)))


def _candidate(name: str, column: CodedValues, counts: Codes) -> _Candidate | None:
    if _is_measured(column.values):
        return None
    used = np.flatnonzero(counts)
    each = counts[used]
    if len(used) < _FEWEST_VALUES:
        return None
    repeating = int((each > 1).sum())
    seldom = is_named_like_people(name) and repeating >= _FEWEST_VALUES and repeating >= _NAMED_REPEATING * len(used)
    often = each.mean() >= _FEWEST_EACH and repeating >= _REPEATING * len(used)
    if each.mean() > _MOST_EACH or not (often or seldom):
        return None
    rows = None
    if len(column.codes) > MOST_ROWS:
        spread = used[:: max(1, int(each.sum()) // MOST_ROWS)]
        spread = spread[np.cumsum(counts[spread]) <= MOST_ROWS]
        chosen = np.zeros(len(column.values) + 1, dtype=bool)
        chosen[spread] = True
        rows = np.flatnonzero(chosen[column.codes])
    elif (column.codes < 0).any():
        rows = np.flatnonzero(column.codes >= 0)
    return _Candidate(name, len(used), float(each.mean()), float(each.std() / each.mean()), rows)


def _judge(columns: Columns, one: _Candidate, coded: dict[str, Codes]) -> PeopleKey | None:
    """A candidate as a key, where it looks like one; ``coded`` keeps columns that are coded for all rows."""

    def codes_of(name: str) -> Codes:
        if one.rows is not None:
            return columns.coded(name, one.rows).codes
        if name not in coded:
            coded[name] = columns.coded(name).codes
        return coded[name]

    key = codes_of(one.name)
    order = np.argsort(key, kind="stable")
    again = key[order][1:] == key[order][:-1]
    if not again.any():
        return None
    static, moving, numbered = [], 0, []
    for name in [other for other in columns.names if other != one.name][:MOST_COLUMNS]:
        codes = codes_of(name)
        counts = np.bincount(codes + 1)
        size = int((counts > 0).sum())
        if (counts[1:] > 0).sum() < 2:
            continue
        if size <= _NUMBERED and one.rows_each <= size and _has_none_twice(key, codes):
            numbered.append(name)
        chance = _chance(counts)
        if chance > _COMMON or size > len(codes) / 2:
            continue
        x = codes[order]
        agreement = float(((x[1:] == x[:-1]) & again).sum() / again.sum())
        if (agreement - chance) / (1 - chance) >= _STATIC:
            static.append(name)
        else:
            moving += 1
    found = PeopleKey(
        one.name,
        one.values,
        one.rows_each,
        one.variation == 0,
        tuple(static),
        tuple(numbered),
        is_named_like_people(one.name),
    )
    return found if _is_key(found, one.variation, moving) else None


def _is_key(key: PeopleKey, variation: float, moving: int) -> bool:
    """Whether it names people: enough stays the same within a value, or its name or a column of time speaks for it."""
    many = len(key.static) >= 2 and len(key.static) >= _SHARE * (len(key.static) + moving)
    return (
        (many and (key.is_named or variation < _UNEVEN or bool(key.numbered_by)))
        or (key.is_named and bool(key.static))
        or (bool(key.numbered_by) and variation < _EVEN and bool(key.static))
        or (key.is_named and variation < _EVEN and key.rows_each >= 1.9)
    )


def _has_none_twice(key: Codes, codes: Codes) -> bool:
    pairs = key * (int(codes.max()) + 2) + codes + 1
    return len(np.unique(pairs)) == len(pairs)


def _chance(counts: NDArray[np.integer[Any]]) -> float:
    """How likely two rows agree."""
    shares = counts / counts.sum()
    return float((shares * shares).sum())


def _is_measured(values: pa.Array) -> bool:
    """Whether values are measured, or points of time: nobody is called by them."""
    if pa.types.is_temporal(values.type):
        return True
    if pa.types.is_decimal(values.type):
        return bool(values.type.scale > 0)
    if not pa.types.is_floating(values.type):
        return False
    numbers = np.asarray(values.drop_null().to_numpy(zero_copy_only=False))
    return bool((numbers != np.floor(numbers)).any())


def _may_be_time(name: str, values: pa.Array, counts: Codes) -> bool:
    if not 2 <= len(counts) <= 40 or counts.min() < _ROWS_OF_TIME:
        return False
    return bool(_TIMES & set(_words(name))) or _are_years(values)


def _are_years(values: pa.Array) -> bool:
    numbers = _numbers(values)
    return numbers is not None and bool(((numbers >= 1900) & (numbers <= 2100) & (numbers % 1 == 0)).all())


def _numbers(values: pa.Array) -> NDArray[np.float64] | None:
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)) or not len(values):
        return None
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _over_time(columns: Columns, time: str) -> PeopleOverTime | None:
    when = columns.coded(time)
    rows = None
    if len(when.codes) > MOST_ROWS:
        rows = _first_of_each(when.codes, MOST_ROWS)
        when = columns.coded(time, rows)
    if np.bincount(when.codes + 1)[1:].min(initial=len(when.codes)) < _ROWS_OF_TIME:
        return None
    names: list[str] = []
    variants: list[list[Codes]] = []
    for name in columns.names:
        if name == time or len(names) == _MOST_IN_TIME:
            continue
        column = columns.coded(name, rows)
        several = [column.codes + 1] if len(np.unique(column.codes)) > 1 else []
        size = len(np.unique(column.codes))
        if is_named_like_people(name) and size > _NAMED_VALUES:
            continue
        grown = _grown(column, when) if 6 < size < len(column.codes) / 2 else None
        if several and (grown is not None or size <= 60):
            names.append(name)
            variants.append(several if grown is None else [*several, grown])
    if len(names) < 2:
        return None
    agreeing = _Agreement(when.codes)
    hashes = [max((agreeing.hashed(codes, j) for codes in each), key=agreeing.rate) for j, each in enumerate(variants)]
    kept, best = list(range(len(names))), agreeing.ratio(_total(hashes))
    while len(kept) > 2:  # columns that change with time are left out, as long as it helps
        total = _total([hashes[j] for j in kept])
        ratio, worst = max((agreeing.ratio(total - hashes[j]), j) for j in kept)
        if ratio <= best * 1.02:
            break
        best = ratio
        kept.remove(worst)
    return PeopleOverTime(time, best, tuple(names[j] for j in kept)) if best > _RATIO else None


def _total(hashes: Iterable[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.asarray(np.sum(list(hashes), axis=0, dtype=np.uint64))


def _first_of_each(codes: Codes, most: int) -> Codes:
    """The first rows of every value, as many of each, in the order of the table."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    place = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    return np.sort(order[(place < most // len(starts)) & (ordered >= 0)])


def _grown(column: CodedValues, when: CodedValues) -> Codes | None:
    """Numbers less the time: what grows with it stays the same."""
    numbers, times = _numbers(column.values), _numbers(when.values)
    if numbers is None or times is None:
        return None
    there = (column.codes >= 0) & (when.codes >= 0)
    less = np.full(len(column.codes), np.inf)
    less[there] = np.round(numbers[column.codes[there]] - times[when.codes[there]], 6)
    return np.asarray(np.unique(less, return_inverse=True)[1], dtype=np.int64).reshape(-1)


class _Agreement:
    """Counts pairs of rows that agree, of the same time and of different times.

    A row is the sum of random words of its values, so that leaving out a column is one subtraction; two rows that
    differ have the same sum with a probability of 2^-64.
    """

    def __init__(self, when: Codes) -> None:
        self._when = _mixed(when + 1, 0)
        sizes = np.bincount(when + 1).astype(np.float64)
        self._same = float((sizes * (sizes - 1) / 2).sum())
        self._different = len(when) * (len(when) - 1) / 2 - self._same

    def hashed(self, codes: Codes, column: int) -> NDArray[np.uint64]:
        """A word for each value of a column."""
        return _mixed(codes, column + 1)

    def rate(self, rows: NDArray[np.uint64]) -> float:
        """How much more often rows of different times agree than rows of the same time."""
        same, different = self._pairs(rows)
        return (different / self._different) / max(same / self._same, 1e-12)

    def ratio(self, rows: NDArray[np.uint64]) -> float:
        """The same, less three standard errors."""
        same, different = self._pairs(rows)
        low = max(different - 3 * np.sqrt(different), 0) / self._different
        return float(low / ((same + 3 * np.sqrt(same) + 3) / self._same))

    def _pairs(self, rows: NDArray[np.uint64]) -> tuple[float, float]:
        same = _pairs_alike(rows + self._when)
        return same, _pairs_alike(rows) - same


def _pairs_alike(words: NDArray[np.uint64]) -> float:
    ordered = np.sort(words)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(starts, len(words))).astype(np.float64)
    return float((sizes * (sizes - 1) / 2).sum())


def _mixed(codes: Codes, column: int) -> NDArray[np.uint64]:
    """A word for each code of a column: two rounds of splitmix64."""
    word = (codes.astype(np.uint64) << np.uint64(8)) + np.uint64(column + 1)
    for _ in range(2):
        word = word * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xBF58476D1CE4E5B9)
        word ^= word >> np.uint64(30)
        word *= np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(27)
    return word


def _neighbours_alike(columns: Columns) -> float | None:
    """The share of columns in which neighbouring lines agree far beyond chance, where it is remarkable."""
    if columns.n_rows < _FEWEST_LINES:
        return None
    first = None if columns.n_rows <= MOST_ROWS else np.arange(MOST_ROWS)
    kappas = []
    for name in columns.names[:MOST_COLUMNS]:
        codes = columns.coded(name, first).codes
        counts = np.bincount(codes + 1)
        chance = _chance(counts)
        if chance < _COMMON and (counts > 0).sum() < len(codes) / 2:
            kappas.append((float((codes[1:] == codes[:-1]).mean()) - chance) / (1 - chance))
    share = float(np.mean(np.array(kappas) > _NEIGHBOURS_ALIKE)) if len(kappas) >= 3 else 0.0
    return share if share > _COLUMNS_ALIKE else None


def _key_in_words(key: PeopleKey, roles: Mapping[str, str]) -> str:
    role = f" ({roles[key.column]})" if key.column in roles else ""
    each = f"{key.rows_each:.0f} rows each" if key.is_even else f"{key.rows_each:.1f} rows each on average"
    text = f"`{key.column}`{role} has {number(key.values)} values with {each}"
    if key.static:
        verb = "changes" if len(key.static) == 1 else "change"
        return f"{text}, and {listed(key.static, limit=_SHOWN)} hardly ever {verb} within one"
    if key.numbered_by:
        return f"{text}, and `{key.numbered_by[0]}` has no value twice within one"
    return text
