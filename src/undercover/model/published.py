"""A published table of anybody as data: its classes, how often each has every sensitive value, which columns are one.

Methods that publish beside others and the attack that joins tables start from it;
:mod:`undercover.guarantees.joint.tables` reads it from releases and files.

Columns of different tables are one if they are spelled alike: `Zip code` and `zip_code`. A name that is off by a letter
or two, or the same values, makes it likely and no more: three columns of yes and no are three columns. Such a doubt is
handed on; whoever asked decides by saying which columns are the same and which are distinct.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.errors import SchemaError, listed, unknown
from undercover.wording import option


class ClassCells(NamedTuple):
    """One column of the classes: a code per class, and the cells as text."""

    codes: NDArray[np.int64]  # (n_classes,)
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Published:
    """One published table: its classes and their sensitive values."""

    name: str
    column: str  # the sensitive one
    quasi_identifiers: tuple[str, ...]  # what an adversary must know of a person to find the class
    values: tuple[str, ...]  # the sensitive values that are published, as text, in their order
    totals: NDArray[np.int64]  # (n_values,) published rows of each value
    counts: NDArray[np.int64] = field(repr=False)  # (n_classes, n_values) rows of each value in each class
    cells: Mapping[str, ClassCells] = field(repr=False)  # by column; of a release in two tables, its buckets
    in_buckets: bool = False  # whether the quasi-identifiers are in a table of their own
    suppressed: int = 0  # rows in no class
    hidden: int = 0  # those of them that are not in the table
    with_suppressed: bool = False  # whether they count as one more class
    digest: str | None = None  # SHA-256 of the file it was read from
    source: str | None = None  # private: where it was read from

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts)

    @property
    def rows(self) -> int:
        """Rows that lie in a class."""
        return int(self.counts.sum())

    def labels(self) -> dict[str, tuple[str, ...]]:
        """The cells of every quasi-identifier as text; none where they are in a table of their own."""
        return {name: self.cells[name].labels if name in self.cells else () for name in self.quasi_identifiers}

    def renamed(self, names: Mapping[str, str]) -> Published:
        """The same with other names of columns."""
        return replace(
            self,
            quasi_identifiers=tuple(names.get(name, name) for name in self.quasi_identifiers),
            cells={names.get(name, name): cells for name, cells in self.cells.items()},
        )

    def __repr__(self) -> str:
        return (
            f"<Published {self.name}: {self.n_classes:,} classes of {self.rows:,} rows by "
            f"{listed(self.quasi_identifiers)}; hand it to a joint attack>"
        )


def spelling(name: str) -> str:
    """A name without case, compatibility forms, spaces and punctuation.

    >>> spelling("Zip_Code") == spelling("zip code") == "zipcode", spelling("__")
    (True, '__')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(letter for letter in folded if letter.isalnum()) or name


class Doubt(NamedTuple):
    """Two columns of different tables that may be one."""

    tables: tuple[int, int]
    columns: tuple[str, str]
    by_spelling: bool  # else by their values

    def sentence(self, names: Sequence[str]) -> str:
        """Which columns, and why they may be one."""
        (first, second), (one, other) = self.tables, self.columns
        why = "are spelled almost alike" if self.by_spelling else "have the same values"
        return f"`{one}` of `{names[first]}` and `{other}` of `{names[second]}` {why}"


class Matching(NamedTuple):
    """Which columns of several tables are one: a common name for every column, and what is in doubt."""

    names: tuple[dict[str, str], ...]  # per table, by column
    doubts: tuple[Doubt, ...]


Column = tuple[int, str]


def match_columns(
    tables: Sequence[tuple[str, Mapping[str, Collection[str]]]],
    same: Iterable[str] = (),
    distinct: Iterable[str] = (),
) -> Matching:
    """Find the columns that are one; they take the name they have in the first table with them.

    Parameters
    ----------
    tables
        The name of each table, and its columns with their cells as text.
    same
        Columns that are one, as ``a=b``.
    distinct
        Columns that are not, as ``a,b``; a single name for a column that is one with no other so named.

    Examples
    --------
    >>> tables = [("a", {"age": "12", "pay": "xy"}), ("b", {"Age": "12", "sex": "xy"})]
    >>> match_columns(tables).names[1], [doubt.columns for doubt in match_columns(tables).doubts]
    ({'Age': 'age', 'sex': 'sex'}, [('pay', 'sex')])
    >>> match_columns(tables, distinct=["Age,age", "pay,sex"])
    Matching(names=({'age': 'age', 'pay': 'pay'}, {'Age': 'Age of b', 'sex': 'sex'}), doubts=())
    """
    one = [[part.strip() for part in entry.split("=")] for entry in same]
    apart = [[part.strip() for part in entry.split(",")] for entry in distinct]
    every: list[Column] = [(place, name) for place, (_, columns) in enumerate(tables) for name in columns]
    there = {name for _, name in every}
    problems = [unknown("Column", name, sorted(there)) for group in one + apart for name in group if name not in there]
    problems += [f"`{'='.join(group)}` names one column. Say a=b." for group in one if len(group) < 2]
    if problems:
        raise SchemaError(list(dict.fromkeys(problems)))

    alone_by_name = {group[0] for group in apart if len(group) == 1}

    def kept_apart(first: Column, second: Column) -> bool:
        pair = {first[1], second[1]}
        return pair <= alone_by_name or (len(pair) == 2 and any(pair <= set(group) for group in apart))

    group_of = {column: number for number, column in enumerate(every)}
    for first, second in combinations(every, 2):
        said = any({first[1], second[1]} <= set(group) for group in one)
        alike = spelling(first[1]) == spelling(second[1]) and not kept_apart(first, second)
        if first[0] != second[0] and (said or alike):
            joined, into = group_of[second], group_of[first]
            group_of = {column: into if number == joined else number for column, number in group_of.items()}
    _require_clear(tables, every, group_of, kept_apart)
    common: dict[int, str] = {}
    for number in dict.fromkeys(group_of.values()):
        place, name = every[number]
        # One that is spelled like a column of another table and is not that column is called by its table, too.
        alike = any(p != place and spelling(n) == spelling(name) for p, n in (every[other] for other in common))
        own = f"{name} of {tables[place][0]}"
        common[number] = name if not alike else own if own not in common.values() else f"{own} ({place + 1})"
    names = tuple(
        {name: common[group_of[place, name]] for name in columns} for place, (_, columns) in enumerate(tables)
    )
    partners = {(group, place) for (place, _), group in group_of.items()}
    alone = {(place, name) for place, name in every if name.endswith(f" of {tables[place][0]}")}  # a table's own
    doubts = [
        Doubt((first[0], second[0]), (first[1], second[1]), spelled)
        for first, second in combinations(every, 2)
        if first[0] != second[0] and not kept_apart(first, second) and not {first, second} & alone
        if (group_of[first], second[0]) not in partners and (group_of[second], first[0]) not in partners
        if (spelled := _nearly(spelling(first[1]), spelling(second[1])))
        or _same_values(tables[first[0]][1][first[1]], tables[second[0]][1][second[1]])
    ]
    return Matching(names, tuple(doubts))


def _require_clear(
    tables: Sequence[tuple[str, object]],
    every: Sequence[Column],
    group_of: Mapping[Column, int],
    kept_apart: Callable[[Column, Column], bool],
) -> None:
    """Raise where a column would be one with two of a table, or with one it is said to be distinct from."""
    problems = []
    for first, second in combinations(every, 2):
        if group_of[first] != group_of[second]:
            continue
        if first[0] == second[0]:
            problems.append(
                f"`{tables[first[0]][0]}` has `{first[1]}` and `{second[1]}`, and both would be one column of another "
                f"table. Say which is not: {option(distinct=[f'{first[1]},{second[1]}'])} and the other table's column."
            )
        elif kept_apart(first, second):
            problems.append(f"`{first[1]}` and `{second[1]}` are said to be distinct, and the same by other columns.")
    if problems:
        raise SchemaError(list(dict.fromkeys(problems)))


def _same_values(first: Collection[str], second: Collection[str]) -> bool:
    return len(set(first)) > 1 and set(first) == set(second)


def _nearly(first: str, second: str) -> bool:
    """Whether names are off by a letter, or long ones by two; short ones are too easily.

    >>> _nearly("hours", "hour"), _nearly("education", "edukation"), _nearly("age", "wage")
    (True, True, False)
    """
    shorter, longer = sorted((len(first), len(second)))
    most = 0 if longer < 5 or shorter < 4 else 1 if shorter < 8 else 2
    if not most or longer - shorter > most:
        return False
    before = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        row = [i]
        for j, other in enumerate(second, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other)))
        before = row
    return before[-1] <= most
