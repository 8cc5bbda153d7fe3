"""What published tables stand for, as data: written into ``release.json`` and read by :mod:`undercover.forms`.

A form says what a reader must know before the cells mean anything: whether they cover the truth, whether values are
true, how many people a row stands for, which table holds what. It belongs to what is published, not to the method that
made it. (How one *cell* is written is its :data:`~undercover.model.cells.CellForm`.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from undercover.model.channel import Channel

if TYPE_CHECKING:
    from undercover.model.release import PublishedTable

BUCKET, COUNT, PEOPLE = "bucket", "count", "G"
"""Names of the structure columns our methods write: number of a bucket, rows of a value in it, people of a row."""
_DRAWN = {"order": ("shuffled", "input"), "values": ("own", "permuted"), "columns": ("drawn", "permuted")}


class Form(Protocol):
    """What published tables stand for. Frozen, keyword-only; its fields are what a reader must know."""

    name: ClassVar[str]

    def problems(self, tables: Sequence[PublishedTable]) -> list[str]:
        """What the form needs and the tables lack, one sentence each."""

    def structure(self, table: str) -> tuple[str, ...]:
        """The columns of a table that hold the tables together; no other may have the role ``structure``."""

    def stated(self) -> Mapping[str, Any]:
        """What it says under a name that parameters and promises use, too: they must not say anything else."""


@dataclass(frozen=True, kw_only=True)
class Generalized:
    """One table: every cell covers the truth, sensitive values are true, a row is a person.

    With ``one_level`` all cells of a column lie on the same level of its hierarchy.

    >>> form_entry(Generalized())
    {'name': 'generalized'}
    """

    name: ClassVar[str] = "generalized"
    one_level: bool = False

    def problems(self, tables: Sequence[PublishedTable]) -> list[str]:
        """There is one table."""
        return _one_table(self.name, tables)

    def structure(self, table: str) -> tuple[str, ...]:
        """None: every column is about people."""
        return ()

    def stated(self) -> Mapping[str, Any]:
        """Nothing that is said elsewhere."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """Rows with the number of a bucket, and how often each value occurs in each bucket in a table of its own.

    ``joined`` names a third table, where there is one, in which every row has some value of its bucket.
    """

    name: ClassVar[str] = "buckets"
    rows: str = "qit"
    values: str = "sat"
    joined: str | None = None
    bucket: str = BUCKET
    count: str = COUNT

    def problems(self, tables: Sequence[PublishedTable]) -> list[str]:
        """Both tables are there, with the columns that tie them together."""
        named = {table.name: {column.name for column in table.columns} for table in tables}
        wanted = {self.rows: (self.bucket,), self.values: (self.bucket, self.count)}
        if self.joined is not None:
            wanted[self.joined] = ()
        missing = [f"The release has no table `{name}`." for name in wanted if name not in named]
        missing += [f"The form says nothing of the table `{name}`." for name in named if name not in wanted]
        return missing + [
            f"Table `{name}` has no column `{column}`."
            for name, columns in wanted.items()
            for column in columns
            if name in named and column not in named[name]
        ]

    def structure(self, table: str) -> tuple[str, ...]:
        """The number of the bucket in both tables, and the count beside the values.

        >>> Buckets().structure("sat"), Buckets(joined="joined").structure("joined")
        (('bucket', 'count'), ())
        """
        return {self.rows: (self.bucket,), self.values: (self.bucket, self.count)}.get(table, ())

    def stated(self) -> Mapping[str, Any]:
        """Nothing that is said elsewhere."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The table's old shape: quasi-identifiers were drawn at random, and sensitive values perhaps dealt anew.

    ``order`` says whether row i is the i-th input row or the rows were shuffled. With ``values = "own"`` a row shows
    the sensitive value of the person it is about; with ``"permuted"`` values were dealt anew, every order equally
    likely, among at least ``among`` rows whose values all differ. Whose value stands where is in the frame
    ``published_rows`` of the private run. ``columns = "permuted"`` says that quasi-identifiers and insensitive columns
    were permuted among rows, each by itself, so that every value is there as often as it was; with ``"drawn"``
    quasi-identifiers came from private tables, and insensitive values stand beside their person's sensitive value.

    >>> form_entry(Drawn(values="permuted", among=10, columns="permuted"))
    {'name': 'drawn', 'values': 'permuted', 'among': 10, 'columns': 'permuted'}
    """

    name: ClassVar[str] = "drawn"
    order: Literal["shuffled", "input"] = "shuffled"
    values: Literal["own", "permuted"] = "own"
    among: int | None = None
    columns: Literal["drawn", "permuted"] = "drawn"

    def problems(self, tables: Sequence[PublishedTable]) -> list[str]:
        """There is one table, and where values were permuted it is said among how many."""
        found = _one_table(self.name, tables)
        for name, known in _DRAWN.items():
            if getattr(self, name) not in known:
                found.append(f"The form says {name} = {getattr(self, name)!r}; there are {' and '.join(known)}.")
        whole = isinstance(self.among, int) and not isinstance(self.among, bool)
        if self.values == "permuted" and not (whole and self.among is not None and self.among >= 2):
            found.append(f"The form says that values were permuted among {self.among!r} rows: it must say how many.")
        if self.values == "permuted" and self.columns != "permuted":
            found.append("The form says that values were dealt anew, and that other columns were not permuted.")
        if self.values == "own" and self.among is not None:
            found.append(f"The form says that values are their rows' own, and that they were dealt among {self.among}.")
        return found

    def structure(self, table: str) -> tuple[str, ...]:
        """None: every column is about people."""
        return ()

    def stated(self) -> Mapping[str, Any]:
        """Among how many rows values were dealt: no fewer than were asked for, and promised."""
        return {"l": self.among} if self.values == "permuted" else {}


@dataclass(frozen=True, kw_only=True)
class Perturbed:
    """A row stands for as many people as its column ``people`` says; its value went through a channel.

    >>> form = Perturbed(keep="3/10", domain=("flu", "cold"))
    >>> form.channel.p, form.channel.u
    (Fraction(3, 10), Fraction(7, 20))
    """

    name: ClassVar[str] = "perturbed"
    keep: str | float  # p as it was stated: "3/10" or 0.3
    domain: tuple[str, ...]
    people: str = PEOPLE

    @cached_property
    def channel(self) -> Channel:
        """The public probabilities of seeing a value given the true one."""
        return Channel(Fraction(str(self.keep)), tuple(self.domain), self.keep)

    def problems(self, tables: Sequence[PublishedTable]) -> list[str]:
        """There is one table, with a column of people, and the channel is one."""
        found = _one_table(self.name, tables)
        if not found and self.people not in {column.name for column in tables[0].columns}:
            found.append(f"Table `{tables[0].name}` has no column `{self.people}`.")
        try:
            possible = 0 <= self.channel.p <= 1
        except (ValueError, ZeroDivisionError):
            possible = False
        return found if possible else [*found, f"The form keeps values with {self.keep!r}, which is no probability."]

    def structure(self, table: str) -> tuple[str, ...]:
        """The people of every row."""
        return (self.people,)

    def stated(self) -> Mapping[str, Any]:
        """With which probability values were kept, and from what they were drawn otherwise."""
        return {"p": self.keep, "domain": self.domain}


def form_entry(form: Form) -> dict[str, Any]:
    """A form as it is written into a manifest; fields that have their default are left out.

    >>> form_entry(Drawn(order="input")), form_entry(Buckets(joined="joined"))
    ({'name': 'drawn', 'order': 'input'}, {'name': 'buckets', 'joined': 'joined'})
    """
    values = {field.name: (getattr(form, field.name), field.default) for field in fields(form)}  # type: ignore[arg-type]
    stated = {name: value for name, (value, default) in values.items() if value != default}
    return {"name": form.name} | {
        name: list(value) if isinstance(value, tuple) else value for name, value in stated.items()
    }


def form_of_entry(kind: type[Any], entry: Mapping[str, Any]) -> Form:
    """The form back from what :func:`form_entry` wrote; keys a later version added are left out.

    >>> form_of_entry(Drawn, {"name": "drawn", "order": "input"})
    Drawn(order='input', values='own', among=None, columns='drawn')
    """
    known = {field.name for field in fields(kind)}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items() if name in known}
    form: Form = kind(**given)
    return form


def _one_table(name: str, tables: Sequence[PublishedTable]) -> list[str]:
    return [] if len(tables) == 1 else [f"A release of the form `{name}` has one table, not {len(tables)}."]
