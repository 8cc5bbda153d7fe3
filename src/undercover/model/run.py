"""What stays in the house: the release together with which row went where, timings and diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover import plugins
from undercover.model.figures import counted
from undercover.model.form import Form
from undercover.model.groups import Groups
from undercover.model.policy import STANDARD, Policy
from undercover.model.release import LOOKED, Choice, PublishedTable, Release
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.model.verdict import Verdict
from undercover.model.view import Shown, Viewable
from undercover.waiting import Progress

if TYPE_CHECKING:
    from undercover.model.protocols import Method


UNITS = "units"
"""The private frame with the number of the person each grouped row is of, where people have several rows."""


@dataclass(frozen=True, eq=False)
class Shuffle:
    """Outcomes that were dealt to items in a secret uniform order, so that ``publish`` can test that they were.

    Items stand in an order that nothing drawn had a say in, such as that of the input. Inside a segment every way to
    deal its outcomes to its items is equally likely.

    >>> Shuffle("numbers of buckets", np.array([2, 0, 1])).within is None
    True
    """

    name: str
    outcome: NDArray[np.integer[Any]]  # (n_items,) what each item was dealt
    within: NDArray[np.integer[Any]] | None = None  # (n_items,) its segment; None: all of them are one


@dataclass(frozen=True)
class Draft:
    """What a method hands back: published tables nobody has verified yet, and how the rows were grouped."""

    tables: tuple[PublishedTable, ...]
    groups: Groups
    form: Form
    buckets: NDArray[np.int32] | None = None
    suppressed: int = 0
    kept: NDArray[np.integer[Any]] | None = None  # rows of the table that are grouped, where some were suppressed
    dropped: tuple[str, ...] = ()  # quasi-identifiers that are not published
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    frames: Mapping[str, pa.Table] = field(default_factory=dict)
    claims: tuple[Any, ...] = ()  # promises that depend on what was made, beyond those of the method
    used: Mapping[str, Any] = field(default_factory=dict)  # public: what a recipient must know of how it was made
    warnings: tuple[str, ...] = ()
    order: NDArray[np.integer[Any]] | None = None  # the grouped row that stands in each published row, where one does
    row_of_group: NDArray[np.integer[Any]] | None = None  # (n_groups,) its published row, where a group has one
    shuffles: tuple[Shuffle, ...] = ()  # what was dealt in secret, beyond what the form declares; never kept or written
    safe: bool = True  # False: how the work was divided followed from sensitive values


@dataclass(frozen=True)
class Run(Shown):
    """Private. The release and everything the holder may look at and nobody else.

    ``recipe`` are the parameters that make its method again. ``original`` is the encoded input, ``method`` the very
    object that made the release, ``order`` which grouped row stands in each published row and ``identifying`` the
    values of identifiers: all four are held in memory only and never written.

    >>> import undercover as uc
    >>> example = uc.datasets.hospital("cross-bucket")
    >>> run = uc.publish(example.table, example.schema, uc.Anatomy(l=4), policy="none")
    >>> run.groups.count, run.randomness, run.verdict.to_dict()["verdict"]
    (2, {'source': 'os'}, 'Not judged')
    """

    release: Release
    schema: Schema
    groups: Groups
    rows: NDArray[Any]  # (n_rows,) input row of each grouped row, in four bytes where these hold it
    source: Mapping[str, Any]  # where the input came from: path, sha256, rows
    randomness: Mapping[str, Any]  # {"source": "os"} or {"source": "seed", "seed": 7}
    timings: Mapping[str, float]
    buckets: NDArray[np.int32] | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    self_test: Mapping[str, Any] = field(default_factory=dict, compare=False)  # what publish compared and tested
    frames: Mapping[str, pa.Table] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    requirements: tuple[Mapping[str, Any], ...] = ()  # what had to hold beyond the method's own claims
    recipe: Mapping[str, Any] = field(default_factory=dict)
    original: Table | None = field(default=None, compare=False, repr=False)
    verification: Any = field(default=None, compare=False, repr=False)  # what was found when the run was made
    method: Method | None = field(default=None, compare=False, repr=False)
    order: NDArray[np.integer[Any]] | None = field(default=None, compare=False, repr=False)
    entry: Any = field(default=None, compare=False, repr=False)  # how it is entered in a ledger once it is saved
    policy: Policy = STANDARD  # what may happen to the people of the table
    judged: Verdict | None = field(default=None, repr=False)  # where it was judged before: when it was saved
    engine: Mapping[str, Any] = field(default_factory=dict, compare=False)  # what made it: its name, parts, version
    made: str = field(default="", compare=False)  # when, in UTC; nothing where nobody noted it
    identifying: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)  # values of identifiers
    scan: Any = field(default=None, compare=False, repr=False)  # what was looked for in its files when it was saved
    beside: tuple[Viewable, ...] = field(default=(), compare=False, repr=False)  # attacks on it with earlier releases

    @property
    def name(self) -> str | None:
        """What its table is called: by its holder (``about``), by whoever keeps its file, else by its file."""
        path = self.source.get("path")
        called = self.schema.about.get("title") or self.source.get("name")
        found: str | None = called or (PurePath(str(path)).name if path else None)
        return found

    @cached_property
    def attacks(self) -> tuple[Viewable, ...]:
        """What every attack of the report finds; none where the original is not at hand."""
        found: tuple[Viewable, ...] = plugins.find("undercover.verbs.report:attacks_on")(self)
        return found

    @property
    def attacked(self) -> bool:
        """Whether its attacks are made already, or not needed for a verdict."""
        return "attacks" in self.__dict__ or self.judged is not None

    def judge(self, progress: Progress) -> Verdict:
        """The verdict, and meanwhile how far its attacks are."""
        if not self.attacked:
            self.__dict__["attacks"] = plugins.find("undercover.verbs.report:attacks_on")(self, progress)
        return self.verdict

    @cached_property
    def verdict(self) -> Verdict:
        """Whether it may be published, by what these attacks do to people and by its policy."""
        found: Verdict = self.judged or plugins.find("undercover.verbs.judge:judge")(self)
        return found

    def judged_as(self, verdict: Verdict) -> Run:
        """The same run with another verdict; its attacks are not made again."""
        judged = replace(self, judged=verdict)
        judged.__dict__.update({name: self.__dict__[name] for name in ("attacks",) if name in self.__dict__})
        return judged

    def chosen(self, choice: Choice) -> Run:
        """The same run by another choice, to be judged anew; its attacks are not made again."""
        release = self.release.chosen(choice)
        warnings = dict.fromkeys([*self.warnings, *([LOOKED] if choice.has_looked else [])])
        again = replace(self, release=release, warnings=tuple(warnings), judged=None)
        again.__dict__.update({name: self.__dict__[name] for name in ("attacks",) if name in self.__dict__})
        return again

    def saved(self, verdict: Verdict, scan: Any) -> None:
        """Note what was found in its files when they were written, and what the verdict is by it."""
        self.__dict__.update(verdict=verdict, scan=scan)

    def __repr__(self) -> str:
        return (
            f"<Run of {self.release.method} on {counted(len(self.rows), 'row')}, private; "
            ".release may leave the house, undercover.save() writes both>"
        )


@dataclass(frozen=True)
class SamePeople:
    """What is known of people who are in the table of a run and in a new one.

    Examples
    --------
    >>> SamePeople(shared={"name": 12}, rows=500).sentence()
    "12 of the 500 rows have a `name` that is in the recipe's first table, too"
    >>> bool(SamePeople(unchecked="Nothing tells people apart."))
    False
    """

    same_table: bool = False
    shared: Mapping[str, int] | None = None  # identifier -> rows whose value the old table has; None: unknown
    rows: int = 0  # of the new table
    unchecked: str = ""  # why nobody can say
    in_both: NDArray[np.bool_] | None = field(default=None, compare=False, repr=False)  # (rows,) whose people are known

    def __bool__(self) -> bool:
        return self.same_table or any((self.shared or {}).values())

    def sentence(self) -> str:
        """The finding in words, without a full stop; it names no person."""
        if self.same_table:
            return "The new table is the one the recipe was made for"
        name, rows = max((self.shared or {"": 0}).items(), key=lambda entry: entry[1])
        if rows:
            return f"{rows:,} of the {self.rows:,} rows have a `{name}` that is in the recipe's first table, too"
        return "Nobody of the new table is known to be in the recipe's first one"


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """An earlier release, as a ledger keeps it, and how many people of a new table are in it.

    Any overlap counts: whoever is in both tables is in both releases. ``known_by`` are the columns by which people were
    recognised. Where these are quasi-identifiers, different people may have them in common: ``shared`` is then at least
    the number of people in both.

    Examples
    --------
    >>> Earlier(number=2, method="anatomy", made="2026-11-15", rows=500, shared=12, known_by=("name",)).sentence()
    '12 of the 500 rows (2.4%) are of people of release 2 (anatomy, 2026-11-15), by `name`'
    """

    number: int  # in the ledger; 0 of the release whose recipe is applied
    method: str
    made: str
    rows: int  # of the new table
    shared: int  # of these, rows of people who are in the release
    known_by: tuple[str, ...]
    exact: bool = True  # False: equal quasi-identifiers may be those of different people
    name: str = ""  # of the folder
    folder: str | None = None  # where it was written
    release: str | None = None  # sha256 of its release.json
    guarantees: tuple[Mapping[str, Any], ...] = ()
    sensitive: tuple[str, ...] = ()
    domain: tuple[str, ...] | None = None  # values its sensitive column was drawn from
    ratio: float | None = None  # how many times likelier it makes one value of a person than another; None: no limit

    @property
    def called(self) -> str:
        """How it is spoken of."""
        facts = [self.method, self.made[:10], f"`{self.name}`" if self.name else ""]
        which = f"release {self.number}" if self.number else "the release of the recipe"
        return f"{which} ({', '.join(filter(None, facts))})"

    def sentence(self) -> str:
        """How many people are in both, in words, without a full stop; it names no person."""
        columns = ", ".join(f"`{name}`" for name in self.known_by)
        share = f"{self.shared:,} of the {self.rows:,} rows ({self.shared / max(self.rows, 1):.1%})"
        if self.exact:
            return f"{share} are of people of {self.called}, by {columns}"
        return (
            f"{share} have the quasi-identifiers of somebody in {self.called}; they may be different people, and are "
            "counted as the same"
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "number": self.number,
            "method": self.method,
            "made": self.made,
            "folder": self.folder,
            "release": self.release,
            "rows": self.rows,
            "shared": self.shared,
            "share": self.shared / max(self.rows, 1),
            "known_by": list(self.known_by),
            "exact": self.exact,
            "likelihood_ratio": self.ratio,
        }
