"""Questions to a release that was opened: which columns can be asked about, how many, how much, and how surely.

Whoever reads a release here reads what a worker has read before: a file that takes a process down takes the worker's.
The last few releases that were asked are kept in memory; they are public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from undercover.errors import DataError, InputError, ParameterError
from undercover.forms import read
from undercover.forms.answers.asking import Asking, ListedColumn
from undercover.forms.answers.channel import Estimate, PerturbedCounts
from undercover.forms.answers.domains import stated_domains
from undercover.forms.answers.recipient import Answer, Recipient, SumAnswer, Sums
from undercover.io.release.manifest import read_public
from undercover.model.hierarchy import Hierarchy
from undercover.model.queries import Between, CountQuery, NoneOf, OneOf, Predicate
from undercover.model.release import PublishedTable, Release
from undercover.web.asked.opened import Opened
from undercover.web.asked.telling import FILE, domains_of

MOST_SHOWN: Final = 60
"""Values of a column that are listed to choose from; of more the recipient writes those he means."""
MOST_CELLS: Final = 20_000_000
"""Of a release that is asked in the server's process."""
KEPT: Final = 8

Sure = Literal["surely", "likely", "unbounded"]
Where = Mapping[str, Predicate]


@dataclass(frozen=True)
class Found:
    """An answer: about so many; where it lies surely, or 95 times in 100, or nobody knows."""

    estimate: float
    lower: float | None
    upper: float | None
    sure: Sure


class Answering:
    """Somebody who asks one release question after question."""

    def __init__(self, release: Release, domains: Mapping[str, Hierarchy] | None = None) -> None:
        self.release, self.domains = release, domains or None
        self._sums: dict[str, Sums] = {}

    def count(self, where: Where) -> Found:
        """How many rows satisfy every predicate."""
        if self._counts is not None:
            return _found(self._counts.count(where))
        return _found(self._recipient.answer(CountQuery(where=where)))

    def sum(self, column: str, where: Where) -> Found:
        """The sum of a column over them."""
        if self._counts is not None:
            if column != self._counts.sensitive:
                raise ParameterError(f"Of this release only `{self._counts.sensitive}` can be added up.")
            return _found(self._counts.sum(where))
        if column not in self._sums:
            self._sums[column] = Sums(self.release, column, self.domains)
        return _found(self._sums[column].answer(where))

    def columns(self) -> list[dict[str, Any]]:
        """Every column that can be asked about, with its values or ends, or why it cannot."""
        reading = read(self.release)
        asking = self._counted if self._counts is not None else Asking(reading, self.domains)
        return [
            {
                "name": column.name,
                "role": column.role,
                **_described(asking, table, column.name),
                "adds": column.role != "quasi-identifier" and self._told(self.sum, column.name, {}) is None,
            }
            for table in asking.tables
            for column in table.columns
            if column.role != "structure"
        ]

    @property
    def drawn(self) -> bool:
        """Whether sensitive values went through a channel, so that answers are likely and not sure."""
        return read(self.release).channel is not None

    def uncounted(self) -> str | None:
        """Why rows cannot be counted; ``None`` where they can."""
        return self._told(self.count, {})

    @staticmethod
    def _told(asked: Any, *values: Any) -> str | None:
        try:
            asked(*values)
        except InputError as error:
            return " ".join(error.problems)
        return None

    @cached_property
    def _recipient(self) -> Recipient:
        return Recipient(self.release, self.domains)

    @cached_property
    def _counts(self) -> PerturbedCounts | None:
        return PerturbedCounts(self.release, self.domains) if self.drawn else None

    @cached_property
    def _counted(self) -> Asking:
        return Asking(read(self.release), stated_domains(self.release, self.domains))


def _found(answer: Answer | SumAnswer | Estimate) -> Found:
    if isinstance(answer, Estimate):
        return Found(answer.value, *answer.interval(), "likely")
    return Found(answer.estimate, answer.lower, answer.upper, "unbounded" if answer.lower is None else "surely")


def _described(asking: Asking, table: PublishedTable, name: str) -> dict[str, Any]:
    """The kind of a column, and its values where these are few, or its ends."""
    try:
        column = asking.column(table, name)
    except InputError as error:
        return {"kind": "unknown", "why": " ".join(error.problems)}
    labels = [label for label in column.values.labels if label != ""]
    facts: dict[str, Any] = {"kind": column.values.kind, "missing": column.values.has_missing}
    if column.values.kind in ("numeric", "date") and labels:
        order = sorted(range(len(labels)), key=lambda at: column.values.numbers[at])
        facts |= {"low": labels[order[0]], "high": labels[order[-1]]}
    if isinstance(column, ListedColumn):
        facts |= {"size": len(labels), "values": labels if len(labels) <= MOST_SHOWN else []}
    return facts


def answering(one: Opened) -> Answering:
    """Who answers for a release that was opened."""
    told = one.folder / FILE
    return _kept(one.folder, told.stat().st_mtime_ns if told.is_file() else 0)


@lru_cache(KEPT)
def _kept(folder: Path, told: int) -> Answering:
    """The same, of the last few that were asked: the files of one do not change, what is told of its columns may."""
    return Answering(read_public(Opened(folder).public).release, domains_of(folder))


def cells(release: Release) -> int:
    """Of all tables of a release."""
    return sum(table.rows * len(table.columns) for table in release.tables)


def check_size(count: int) -> None:
    """Refuse what is too large to be asked here."""
    if count > MOST_CELLS:
        raise DataError(
            f"This release has {count:,} cells; here releases of up to {MOST_CELLS:,} are asked. Ask it in Python: "
            "`undercover.answer` and `undercover.answer_sum` take a release of any size."
        )


def predicate(said: Mapping[str, Any]) -> Predicate:
    """A condition as JSON says it.

    >>> predicate({"between": [30, None]}), predicate({"none_of": ["flu"]})
    (Between(low=30, high=None, closed='both'), NoneOf(values=('flu',)))
    """
    if said.get("between") is not None:
        low, high = said["between"]
        return Between(low, high, said.get("closed") or "both")
    return OneOf(said["one_of"]) if said.get("one_of") is not None else NoneOf(said["none_of"])


def said_of(condition: Predicate) -> dict[str, Any]:
    """The same the other way round."""
    if isinstance(condition, Between):
        return {"between": [condition.low, condition.high], "closed": condition.closed}
    return {"one_of" if isinstance(condition, OneOf) else "none_of": list(condition.values)}


def python(column: str | None, where: Where, *, drawn: bool, told: Sequence[str] = ()) -> str:
    """The same question in Python.

    >>> print(python(None, {"age": Between(30, 40), "sex": OneOf(["F"])}, drawn=False))
    import undercover as uc
    from undercover.io.release.manifest import load_release
    <BLANKLINE>
    release, problems = load_release("public")
    uc.answer(release, uc.CountQuery(where={'age': uc.Between(30, 40), 'sex': uc.OneOf(['F'])}))
    """
    asked = "{" + ", ".join(f"{name!r}: {_call(one)}" for name, one in where.items()) + "}"
    known = "".join(f"{name!r}: read_hierarchy('hierarchy-{at}.csv'), " for at, name in enumerate(told, 1))
    more = f", domains={{{known.rstrip(', ')}}}" if told else ""
    if drawn:
        call = f"uc.PerturbedCounts(release{more}).{'count' if column is None else 'sum'}({asked}).interval()"
    elif column is None:
        call = f"uc.answer(release, uc.CountQuery(where={asked}){more})"
    else:
        call = f"uc.answer_sum(release, uc.SumQuery({column!r}, where={asked}){more})"
    first = "import undercover as uc\n"
    first += "from undercover.hierarchies.file import read_hierarchy\n" if told else ""
    first += "from undercover.io.release.manifest import load_release\n\n"
    return f'{first}release, problems = load_release("public")\n{call}'


def _call(one: Predicate) -> str:
    if isinstance(one, Between):
        closed = "" if one.closed == "both" else f", closed={one.closed!r}"
        return f"uc.Between({one.low!r}, {one.high!r}{closed})"
    return f"uc.{type(one).__name__}({_listed(one.values)})"


def _listed(values: Sequence[Any]) -> str:
    return repr(list(values))
