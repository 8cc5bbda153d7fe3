"""What the columns of a table are: roles, kinds, hierarchies, weights and what a missing value means."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from undercover.errors import ParameterError, SchemaError, listed, unknown
from undercover.model.bins import Bins
from undercover.model.cells import CellForm
from undercover.model.distance.declared import Distances
from undercover.model.hierarchy import Hierarchy
from undercover.model.interval_ends import ENDS, Ends
from undercover.model.kinds.dates import FORMATS, known_format
from undercover.model.view import Shown
from undercover.wording import option

Kind = Literal["numeric", "categorical", "ordinal", "date"]
Missing = Literal["error", "drop", "category"]
INSENSITIVE = "published unchanged; no promise covers it, and an attacker is taken to know it"
"""What becomes of an insensitive column, in the words of every page and command."""

Role = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]
OneRow = Literal["first", "last", "random"]
Spellings = Literal["fold", "distinct"]

KINDS: tuple[Kind, ...] = get_args(Kind)
MISSING: tuple[Missing, ...] = get_args(Missing)
ONE_ROW: tuple[OneRow, ...] = get_args(OneRow)
SPELLINGS: tuple[Spellings, ...] = get_args(Spellings)
ALL_OTHERS = "*"
EACH_ROW = "row"
"""What ``unit`` says where each row is a person of its own, and no column of that name says whose row it is."""
ABOUT = ("title", "description", "publisher", "date", "licence", "contact", "citation")
"""What may be said of a whole table. It is public."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """What is known of one column beforehand.

    Parameters
    ----------
    kind
        ``None`` takes it from the data: numbers are numeric, dates are dates, everything else is categorical. Of a
        quasi-identifier texts are looked at, too: dates in national formats, and bands such as 20-29 (ordinal).
    weight
        How much a loss in this column counts beside the others.
    hierarchy
        A tree over the values; cells are then published as its nodes.
    domain
        The declared public domain. For an ordinal column its order is the order of the values.
    bins
        The edges of declared bins of a sensitive column of numbers, which is then published as bins; they are its
        domain. See :mod:`undercover.model.bins` for whole numbers and others.
    distance
        How far apart the values of a quasi-identifier are, in place of what its kind or hierarchy says. Mutual cover
        moves values by it.
    format
        How the dates of a column are written, such as ``DD/MM/YYYY``, where its values do not tell.
    found
        Whether kind and domain were found from the values of a table, not declared; those of another may be others.
    description, unit
        What the column means and in what it is measured, for the recipient: both are published.
    names_nobody
        Somebody has looked at the texts of the column: where they hold a word that is also the value of an identifier,
        it means something else (a street, an occupation). Such texts are refused otherwise.
    ends
        The ends of the intervals in which a quasi-identifier of numbers is published: ``"exact"`` values that occur,
        ``"rounded"`` outwards, or rounded to multiples of a number. ``None`` rounds columns whose values have many
        digits, since an end such as 26.27789185489391 is somebody's.
    spellings
        What to do where a sensitive column seems to spell one value in several ways (HIV, hiv, H.I.V.), which is
        refused otherwise: ``fold`` publishes each value in its most frequent spelling, ``distinct`` says that somebody
        has looked and they are different values. A release says so.

    Examples
    --------
    >>> Column(kind="ordinal", domain=("low", "middle", "high")).domain
    ('low', 'middle', 'high')
    >>> Column(bins=(0, 10_000, 50_000)).domain
    ('[0, 9999]', '[10000, 50000]')
    """

    kind: Kind | None = None
    weight: float = 1.0
    hierarchy: Hierarchy | None = None
    domain: tuple[str, ...] | None = None
    bins: tuple[int | float, ...] | None = None
    distance: Distances | None = None
    format: str | None = None
    found: bool = False
    description: str | None = None
    unit: str | None = None
    names_nobody: bool = False
    ends: Ends | float | None = None
    spellings: Spellings | None = None

    def __post_init__(self) -> None:
        problems = []
        if self.kind is not None and self.kind not in KINDS:
            problems.append(unknown("Kind", str(self.kind), KINDS))
        if self.spellings is not None and self.spellings not in SPELLINGS:
            problems.append(unknown("What is said of spellings", str(self.spellings), SPELLINGS))
        if not (isinstance(self.weight, int | float) and math.isfinite(self.weight) and self.weight > 0):
            problems.append(f"The weight of a column must be a number in (0, inf). Got {self.weight!r} instead.")
        if self.domain is not None:
            object.__setattr__(self, "domain", tuple(str(value) for value in self.domain))
            repeated = [value for value, count in Counter(self.domain).items() if count > 1]
            if repeated:
                problems.append(f"The declared domain names {listed(repeated)} more than once.")
        if self.kind == "ordinal" and self.domain is None:
            problems.append('An ordinal column needs its values in order: domain = ["low", "middle", "high"].')
        if self.bins is not None:
            problems += self._binned()
        if self.format is not None:
            problems += self._dated()
        if self.ends is not None:
            problems += self._rounded()
        if self.distance is not None and not isinstance(self.distance, Distances):
            problems.append(
                f"The distance of a column must be a Distances(values, rows). Got {self.distance!r} instead."
            )
        words = {"description": self.description, "unit": self.unit}
        problems += _unsaid({name: words[name] for name in words if words[name] is not None}, "The {} of a column")
        if problems:
            raise SchemaError(problems)

    def _binned(self) -> list[str]:
        """Take the bins as the domain; what speaks against it."""
        assert self.bins is not None
        problems = []
        if self.kind not in (None, "numeric"):
            problems.append(f'Bins are of numbers: kind = "numeric", or leave it out. Got {self.kind!r} instead.')
        try:
            bins = Bins.of(self.bins)
        except SchemaError as error:
            return [*problems, *error.problems]
        if self.domain not in (None, bins.labels):
            problems.append("A column has bins or a domain, not both: the bins are its domain. Leave out `domain`.")
        object.__setattr__(self, "bins", bins.edges)
        object.__setattr__(self, "domain", bins.labels)
        object.__setattr__(self, "kind", "numeric")
        return problems

    def _dated(self) -> list[str]:
        """Take the column as dates; what speaks against it."""
        problems = [] if known_format(str(self.format)) else [unknown("Format of dates", str(self.format), FORMATS)]
        if self.kind not in (None, "date"):
            problems.append(f'A format is of dates: kind = "date", or leave it out. Got {self.kind!r} instead.')
        object.__setattr__(self, "kind", "date")
        return problems

    def _rounded(self) -> list[str]:
        """What speaks against rounding the ends of intervals."""
        if self.kind not in (None, "numeric"):
            return [f"Only ends of numbers are rounded. Leave out `ends` for a column of kind {self.kind!r}."]
        step = self.ends
        if isinstance(step, str):
            return [] if step in ENDS else [unknown("Ends of intervals:", step, ENDS)]
        if isinstance(step, bool) or not isinstance(step, int | float) or not (math.isfinite(step) and step > 0):
            return [f"`ends` must be one of {', '.join(ENDS)}, or a step above 0. Got {step!r} instead."]
        return []

    @property
    def form(self) -> CellForm:
        """How the column is written where its values are not generalised: as they are, or as their bins."""
        return "value" if self.bins is None else "interval"


@dataclass(frozen=True, kw_only=True)
class Schema(Shown):
    """Which column plays which part; a column without a role is not published.

    Parameters
    ----------
    quasi_identifiers
        What an attacker may know of a person.
    sensitive
        What he must not learn; one column or several.
    identifiers
        Names, numbers, addresses: never published, not even hashed.
    insensitive
        Published unchanged; no promise covers them, and an attacker is taken to know them. Not for what could tell
        people apart: that is a quasi-identifier.
    columns
        Settings of single columns.
    missing
        ``error`` refuses missing values, ``drop`` leaves out rows that have one in a quasi-identifier or sensitive
        column, ``category`` makes "missing" a value of its own.
    unit
        The column that says whose row it is, where people have several; an identifier, and it may be dropped. ``"row"``
        says that each row is a person of its own; where a table has a column of that name, it is the column. ``None``:
        nobody said. Rows are counted, and a table that looks as if people had several is asked about.
    one_row_per
        Keep one row of every unit and publish no other: its ``first``, its ``last`` or a ``random`` one.
    weight
        A column of numbers: how many people of the population each row stands for.
    population
        Whom the table is a sample of: the share of them that is in it, or a table of them with the quasi-identifiers.
    drop
        Columns that were decided not to be published; ``"*"`` are all others.
    about
        What the recipient is told of the whole table, as text: ``title``, ``description``, ``publisher``, ``date``,
        ``licence`` (such as ``CC-BY-4.0``), ``contact`` and ``citation``; all of it is published.

    Examples
    --------
    >>> Schema(quasi_identifiers=["age", "zip"], sensitive="disease").sensitive
    ('disease',)
    >>> Schema(quasi_identifiers=["age"], sensitive="disease", unit="patient").identifiers
    ('patient',)
    >>> Schema(quasi_identifiers=["age"], sensitive="age")
    Traceback (most recent call last):
    undercover.errors.SchemaError: Column `age` has more than one role: quasi-identifier, sensitive.
    """

    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    missing: Missing = "error"
    unit: str | None = None
    one_row_per: OneRow | None = None
    weight: str | None = None
    population: Any = None
    drop: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    def __init__(
        self,
        *,
        quasi_identifiers: Iterable[str] | str = (),
        sensitive: Iterable[str] | str = (),
        identifiers: Iterable[str] | str = (),
        insensitive: Iterable[str] | str = (),
        columns: Mapping[str, Column] | None = None,
        missing: Missing = "error",
        unit: str | None = None,
        one_row_per: OneRow | None = None,
        weight: str | None = None,
        population: Any = None,
        drop: Iterable[str] | str = (),
        about: Mapping[str, str] | None = None,
    ) -> None:
        for name, value in (
            ("quasi_identifiers", quasi_identifiers),
            ("sensitive", sensitive),
            ("identifiers", identifiers),
            ("insensitive", insensitive),
            ("drop", drop),
        ):
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        if unit not in (None, EACH_ROW) and unit not in self.identifiers:
            object.__setattr__(self, "identifiers", (*self.identifiers, unit))
        object.__setattr__(self, "columns", dict(columns or {}))
        object.__setattr__(self, "about", dict(about or {}))
        who = {"unit": unit, "one_row_per": one_row_per, "weight": weight, "population": population}
        for name, said in {"missing": missing, **who}.items():
            object.__setattr__(self, name, said)
        self._check()

    def _check(self) -> None:
        problems = []
        roles: dict[str, list[str]] = {}
        for role, names in self.by_role().items():
            for name in names:
                roles.setdefault(name, []).append(role)
        for name, taken in roles.items():
            if len(set(taken)) > 1:
                problems.append(f"Column `{name}` has more than one role: {', '.join(dict.fromkeys(taken))}.")
            elif len(taken) > 1:
                problems.append(f"Column `{name}` is named twice as {taken[0]}.")
        problems += [
            f"Column `{name}` is a quasi-identifier, and bins belong to sensitive columns. Leave `bins` out; for "
            "intervals give it a hierarchy: {intervals = [10, 20]}."
            for name in self.quasi_identifiers
            if self.column(name).bins is not None
        ]
        problems += [
            f"Column `{name}` is {taken[0]}, and `spellings` belongs to sensitive columns. Leave it out."
            for name, taken in roles.items()
            if self.column(name).spellings is not None and name not in self.sensitive
        ]
        problems += [
            f"Column `{name}` is {taken[0]}, and a distance belongs to quasi-identifiers. Leave `distance` out."
            for name, taken in roles.items()
            if self.column(name).distance is not None and name not in self.quasi_identifiers
        ]
        if not self.quasi_identifiers:
            problems.append("At least one quasi-identifier is needed: the columns an attacker may know.")
        if self.missing not in MISSING:
            problems.append(unknown("Missing policy", str(self.missing), MISSING))
        problems += [
            f"Column `{name}` is dropped and is {roles[name][0]}. Take it out of `drop`, or give it no role."
            for name in self.drop
            if name in roles and name != self.unit
        ]
        problems += [unknown("What is said about a table", name, ABOUT) for name in self.about if name not in ABOUT]
        problems += _unsaid(self.about, "`about.{}`")
        problems += self._who()
        if problems:
            raise SchemaError(problems)

    def _who(self) -> list[str]:
        """What is wrong with what the schema says of people and of the population."""
        problems = []
        if self.one_row_per is not None and self.one_row_per not in ONE_ROW:
            problems.append(unknown("Choice of one row per unit", str(self.one_row_per), ONE_ROW))
        if self.one_row_per is not None and self.unit is None:
            problems.append(f"One row of whom? Name the column that says whose row it is: {option(unit=...)}")
        if self.unit == EACH_ROW and EACH_ROW in self.published:
            problems.append(
                f"{option(unit=EACH_ROW)} is the column `{EACH_ROW}` where a table has one, and here it is published. "
                "Rename the column to say that each row is a person of its own."
            )
        share, table = (
            self.population,
            self.population is not None and not isinstance(self.population, bool | int | float),
        )
        if share is not None and not table and (isinstance(share, bool) or not 0 < share <= 1):
            problems.append(
                "The population must be the share of it that is in the table, in (0, 1], or a table of it. "
                f"Got {share!r} instead."
            )
        if self.weight is not None and share is not None:
            problems.append("Give the weight or the population, not both: each says how many people there are.")
        return problems

    @property
    def unit_column(self) -> str | None:
        """The column that says whose row it is; ``None`` where each row is a person, said or not.

        >>> [Schema(quasi_identifiers="age", unit=unit).unit_column for unit in ("row", "nr")]
        [None, 'nr']
        """
        return None if self.unit == EACH_ROW and EACH_ROW not in self.identifiers else self.unit

    @property
    def says_each_row(self) -> bool:
        """Whether the holder says that each row is a person of its own."""
        return self.unit is not None and self.unit_column is None

    def for_columns(self, names: Iterable[str]) -> Schema:
        """The same for a table with these columns: ``unit = "row"`` is a column where there is one of that name.

        >>> Schema(quasi_identifiers="age", unit="row").for_columns(["age", "row"]).unit_column
        'row'
        """
        if not self.says_each_row:
            return self
        if EACH_ROW in names:
            return replace(self, identifiers=(*self.identifiers, EACH_ROW))
        if self.one_row_per is not None:
            raise SchemaError(
                f"{option(unit=EACH_ROW)} says that each row is a person of its own, so there is no other to leave "
                f"out. Leave out `one_row_per`, or name the column that says whose row it is: {option(unit=...)}."
            )
        return self

    @property
    def population_named(self) -> float | str | None:
        """The population as it is written down: a share, or the path of a table; a frame has none."""
        if self.population is None or isinstance(self.population, int | float):
            return self.population
        return os.fspath(self.population) if isinstance(self.population, str | os.PathLike) else None

    def by_role(self) -> dict[Role, tuple[str, ...]]:
        """The columns of each role."""
        return {
            "identifier": self.identifiers,
            "quasi-identifier": self.quasi_identifiers,
            "sensitive": self.sensitive,
            "insensitive": self.insensitive,
        }

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that reach a release, quasi-identifiers first."""
        return self.quasi_identifiers + self.sensitive + self.insensitive

    @property
    def said(self) -> dict[str, Any]:
        """What the recipient is told in words: ``about`` the table, and of the ``columns`` that are published.

        >>> Schema(quasi_identifiers="age", columns={"age": Column(unit="years")}, about={"title": "A survey"}).said
        {'about': {'title': 'A survey'}, 'columns': {'age': {'unit': 'years'}}}
        """
        own = {name: (self.column(name).description, self.column(name).unit) for name in self.published}
        words = {
            name: {key: word for key, word in zip(("description", "unit"), both, strict=True) if word}
            for name, both in own.items()
        }
        about = {name: self.about[name] for name in ABOUT if name in self.about}
        return {"about": about, "columns": {name: said for name, said in words.items() if said}}

    def column(self, name: str) -> Column:
        """Settings of one column; the defaults where nothing was said."""
        return self.columns.get(name, _DEFAULT)

    def check_against(self, names: Iterable[str]) -> None:
        """Raise one error naming every column the schema speaks of and the table does not have."""
        existing = list(names)
        weight = () if self.weight is None else (self.weight,)
        dropped = (name for name in self.drop if name != ALL_OTHERS)
        wanted = [*self.identifiers, *self.published, *self.columns, *weight, *dropped]
        problems = [unknown("Column", name, existing) for name in dict.fromkeys(wanted) if name not in existing]
        if problems:
            raise SchemaError(problems)


def check_schema(schema: Any) -> None:
    """Refuse what is no schema.

    >>> check_schema(["age"])
    Traceback (most recent call last):
    undercover.errors.ParameterError: An undercover.Schema says which column plays which part. Got ...
    """
    if not isinstance(schema, Schema):
        raise ParameterError(f"An undercover.Schema says which column plays which part. Got {schema!r} instead.")


def _unsaid(words: Mapping[str, Any], place: str) -> list[str]:
    """Words that are not text, or say nothing."""
    return [
        f"{place.format(name)} must be text that says something. Got {word!r} instead."
        for name, word in words.items()
        if not isinstance(word, str) or not word.strip()
    ]


_DEFAULT = Column()
