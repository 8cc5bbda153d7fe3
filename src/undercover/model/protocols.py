"""The protocols between the rooms: engine, method and guarantee."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from undercover.model.finding import Sense
from undercover.model.groups import DrawnCells, Seen
from undercover.model.published import Published
from undercover.model.release import Basis
from undercover.model.run import Draft, Earlier, Run, SamePeople
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.parameters import to_mapping
from undercover.randomness import Randomness
from undercover.waiting import Progress as Progress
from undercover.waiting import no_progress as no_progress

if TYPE_CHECKING:
    from undercover.engines.cube import Cube
    from undercover.forms.case import Case

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)

Effort = Literal["report", "asked"]
"""Whether a report runs an attack unasked, or somebody has to ask for it."""

Cover = Literal["identity", "attribute", "distribution", "algorithm"]
"""What a promise is about: who is who, which value is whose, how values are spread, what knowing the algorithm adds."""

Short = Mapping[str, Mapping[str, Any]]
"""Keys of ``--require`` and what each says beside its number."""

_FITTING: dict[tuple[type, type], bool] = {}


def fits(given: object, protocol: type[T]) -> TypeGuard[T]:
    """Whether something has what a protocol asks for: ``isinstance``, which takes long, asked once of every class.

    >>> fits(7, Enumerable), fits(8, Enumerable)
    (False, False)
    """
    asked = type(given), protocol
    if asked not in _FITTING:
        _FITTING[asked] = isinstance(given, protocol)
    return _FITTING[asked]


class Engine(Protocol):
    """Where the work on rows runs: it counts over the whole table, and calls a function on parts of it.

    Parts are cut by quasi-identifiers alone (:mod:`undercover.engines.parts`), and a method is run on each of them as
    if it were the table (:mod:`undercover.engines.divided`), with what must be decided once decided before.

    >>> from undercover import LocalEngine
    >>> LocalEngine(threads=1, parts=2).parts
    2
    """

    name: ClassVar[str]
    # A class may also have a property ``version``: that of the program it hands the work to (see engine_entry).

    @property
    def threads(self) -> int:
        """Threads a kernel may use on one machine."""

    @property
    def parts(self) -> int:
        """Parts that a table is cut into, where nobody says otherwise and it can be."""

    def encode(self, data: Any, schema: Schema, *, one_row: Randomness | None = None) -> Table:
        """Check ``data`` against ``schema`` and encode it; ``one_row`` draws the row of a unit that is kept."""

    def histogram(self, table: Table, column: str) -> NDArray[np.int64]:
        """Rows of each code of ``column``, over the whole table."""

    def cube(self, table: Table, columns: Sequence[str]) -> Cube:
        """The combinations of codes of ``columns`` that occur in the whole table, ascending, and their rows."""

    def map_parts(
        self,
        table: Table,
        work: Callable[[Table], T],
        *,
        parts: int | None = None,
        least: int = 0,
        together: Mapping[str, NDArray[np.int64]] | None = None,
    ) -> list[tuple[NDArray[np.integer[Any]], T]]:
        """Call ``work`` on parts of at least ``least`` rows: (rows of the part, result), in the order of the parts.

        Every part is a table with the whole's domains and knows of the whole what its :attr:`Table.part` says; where
        there is only one, that is ``None``. ``together`` names the columns to cut by, and the node of each code:
        codes of one node stay in one part. ``work`` may be called more than once with a part.
        """


@runtime_checkable
class Method(Protocol):
    """A way to anonymise a table. Frozen, keyword-only, checked on construction.

    >>> from undercover import Anatomy
    >>> fits(Anatomy(l=2), Method), fits("anatomy", Method)
    (True, False)
    """

    name: ClassVar[str]

    @property
    def algorithm_safe(self) -> bool:
        """Whether knowing the algorithm tells an adversary nothing beyond the release (docs/theory)."""

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """What the release will promise."""

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Make the published tables."""


@dataclass(frozen=True)
class OnParts:
    """How a method is run on parts of a table: by whom, what must not be cut apart, and what is settled beforehand.

    >>> from undercover import Anatomy
    >>> OnParts(Anatomy(l=2)).settled
    {}
    """

    method: Method
    together: Mapping[str, NDArray[np.int64]] | None = None  # column -> node of each code; None: all may be cut
    settled: Mapping[str, Any] = field(default_factory=dict)  # fields of the draft that are known for the whole


@runtime_checkable
class Deciding(Protocol):
    """A method that decides something for the whole table, from counts, before it is run on parts of it.

    Any other is run on the parts as it is.

    >>> from undercover import Anatomy, Incognito
    >>> fits(Incognito(k=2), Deciding), fits(Anatomy(l=2), Deciding)
    (True, False)
    """

    def on_parts(self, table: Table, *, engine: Engine, progress: Progress = no_progress) -> OnParts | None:
        """What is run on the parts; ``None`` where it must see the whole table.

        Of ``table`` only domains, settings and numbers of rows may be asked; rows are counted by the engine.
        """


@runtime_checkable
class Enumerable(Protocol):
    """A method whose randomness can be enumerated on a tiny table.

    >>> from undercover import Streamliner
    >>> fits(Streamliner(l=2), Enumerable)
    True
    """

    def outcomes(self, table: Table) -> Iterable[tuple[Fraction, Seen | DrawnCells]] | None:
        """Every output, as an adversary sees it, with its exact probability; the same output may come several times.

        ``None`` where nothing is listed with these parameters. Where rows are in groups and in buckets, a method that
        lists its outcomes lists buckets: it stands up to somebody who is told them.
        """


def lists_outcomes(method: Method, table: Table) -> bool:
    """Whether a method says what it may make of a tiny table in which every row is a person.

    >>> from undercover import CrossBucket, datasets
    >>> example = datasets.hospital("cross-bucket")
    >>> table = Table.from_arrow(example.table, example.schema)
    >>> [lists_outcomes(CrossBucket(k=2, l=2, variant=variant), table) for variant in ("safe", "paper")]
    [True, False]
    """
    return table.units is None and fits(method, Enumerable) and method.outcomes(table) is not None


@runtime_checkable
class Robust(Protocol):
    """A method that says what somebody learns from it who knows the values of some people; one that does not, is not.

    ``corruption_robust``: whether what is known of people in other groups tells nothing about mine (within a group of l
    values, l - c remain to somebody who knows c of them).

    >>> from undercover import Streamliner
    >>> [Streamliner(l=2, algorithm=name).corruption_robust for name in ("wrap", "guided")]
    [True, False]
    """

    @property
    def corruption_robust(self) -> bool:
        """Whether known values of others tell nothing beyond their group."""


def corruption_robust(method: Method) -> bool:
    """Whether a method declares that known values tell nothing beyond their own group.

    >>> from undercover.methods.streamliner.method import Streamliner
    >>> corruption_robust(Streamliner(l=4)), corruption_robust(Streamliner(l=4, algorithm="guided"))
    (True, False)
    """
    return fits(method, Robust) and method.corruption_robust


_BASIS = "choice_basis"


def basis_of(method: Method) -> Basis:
    """What the choice of a method rests on: what :func:`with_basis` said, or else ``declared``.

    >>> from undercover.methods.streamliner.method import Streamliner
    >>> basis_of(Streamliner(l=4)), basis_of(with_basis(Streamliner(l=4), "looked"))
    ('declared', 'looked')
    """
    found: Basis = getattr(method, _BASIS, "declared")
    return found


def with_basis(method: Method, basis: Basis) -> Method:
    """The same method, which knows what its choice rests on: whoever publishes by it says so in the release."""
    again = copy(method)
    object.__setattr__(again, _BASIS, basis)  # methods are frozen, and equal whoever chose them
    return again


@runtime_checkable
class PerUnit(Protocol):
    """A method that says whether it keeps its promise for people with several rows; one that does not, does not.

    >>> from undercover import Anatomy, CrossBucket
    >>> fits(Anatomy(l=2), PerUnit), fits(CrossBucket(k=2, l=2), PerUnit)
    (True, False)
    """

    @property
    def per_unit(self) -> bool:
        """Whether it reads ``Table.units`` and keeps what it claims for every person."""


def engine_entry(engine: Engine) -> dict[str, str | int]:
    """What a run says of the engine that made it: nothing of the machine it ran on.

    >>> from undercover import LocalEngine
    >>> engine_entry(LocalEngine(parts=4))
    {'name': 'local', 'parts': 4}
    """
    version = getattr(engine, "version", None)
    return {"name": engine.name, "parts": engine.parts, **({"version": str(version)} if version else {})}


def per_unit(method: Method) -> bool:
    """Whether a method keeps its promise for people who have several rows.

    >>> from undercover.methods.mondrian.method import Mondrian
    >>> from undercover.methods.cross_bucket.method import CrossBucket
    >>> per_unit(Mondrian(k=4)), per_unit(CrossBucket(k=2, l=2))
    (True, False)
    """
    return fits(method, PerUnit) and bool(method.per_unit)


class Attack(Protocol[R_co]):
    """Somebody who wants to know more than the release is meant to say. Frozen, keyword-only.

    >>> from undercover import Linkage
    >>> Linkage().name, Linkage().effort
    ('linkage', 'report')
    """

    name: ClassVar[str]
    effort: ClassVar[Effort]
    slow: ClassVar[bool]  # whether a report leaves it out where there are very many people

    def applies(self, case: Case) -> str | None:
        """Why it cannot be run on this case; ``None`` where it can."""

    def run(self, case: Case, *, progress: Progress = no_progress) -> R_co:
        """What the attacker achieves."""


@runtime_checkable
class Resolving(Protocol):
    """A method that needs tables others have published, which its parameters name by their path.

    >>> from undercover import NonCentralized
    >>> NonCentralized.paths
    ('others',)
    """

    paths: ClassVar[tuple[str, ...]]  # these parameters; a spec gives paths from where it lies

    def resolve(self, read: Callable[[Any], Any]) -> Method:
        """The same method with every table it names ``read``."""


@runtime_checkable
class Beside(Protocol):
    """A method that publishes beside tables of others about the same people; they are attacked together.

    >>> from undercover import Anatomy, NonCentralized
    >>> fits(NonCentralized(l=2), Beside), fits(Anatomy(l=2), Beside)
    (True, False)
    """

    def tables_beside(self, table: Table) -> Sequence[Published]:
        """The tables of others, read, with this table's names for columns that are its own as well."""


@runtime_checkable
class Recorded(Protocol):
    """A method whose parameters are not published as they were given; of any other, they are its fields.

    >>> from undercover import NonCentralized
    >>> fits(NonCentralized(l=2), Recorded)
    True
    """

    def public(self) -> Mapping[str, Any]:
        """The parameters as they are published."""

    def private(self) -> Mapping[str, Any]:
        """The parameters as they must be given to make the method again, for the holder alone."""


def public_parameters(method: Method) -> dict[str, Any]:
    """The parameters of a method as written in ``release.json``.

    >>> from undercover.methods.anatomy.method import Anatomy
    >>> public_parameters(Anatomy(l=4))
    {'l': 4}
    """
    return dict(method.public()) if fits(method, Recorded) else to_mapping(method)


def private_parameters(method: Method) -> dict[str, Any]:
    """The parameters that make a method again, which the holder keeps: the recipe of a run.

    >>> from undercover.methods.anatomy.method import Anatomy
    >>> private_parameters(Anatomy(l=4))
    {'l': 4}
    """
    return dict(method.private()) if fits(method, Recorded) else to_mapping(method)


@runtime_checkable
class Continuing(Protocol):
    """A method that cares who is in the earlier table when its recipe is applied to a new one.

    >>> from undercover import Anatomy, PerturbedGeneralization
    >>> fits(PerturbedGeneralization(k=2, p="1/2"), Continuing), fits(Anatomy(l=2), Continuing)
    (True, False)
    """

    def continue_from(self, before: Run, people: SamePeople) -> Method:
        """The method for the new table; an ``InputError`` where its promise would not survive a second release."""


@runtime_checkable
class Composing(Protocol):
    """A method that knows what its promise comes to where the same people were published before.

    >>> from undercover import Anatomy, PerturbedGeneralization
    >>> fits(PerturbedGeneralization(k=2, p="1/2"), Composing), fits(Anatomy(l=2), Composing)
    (True, False)
    """

    def composed(self, earlier: Sequence[Earlier], schema: Schema) -> Method:
        """The method whose promise counts what was published; an ``UnreachableError`` where nothing of it is left."""


class Guarantee(Protocol):
    """A promise about a published table, by its name in the field. Frozen, keyword-only, checked on construction.

    ``sense`` says whether more or less of its number is better. ``short`` are the keys of ``--require`` that stand for
    it, each with what is thereby said: ``{"distinct-l": {"form": "distinct"}}`` makes ``distinct-l=3`` out of ``l=3``;
    the number belongs to the parameter after the last hyphen. A number that is given beside it is a
    :class:`~undercover.guarantees.checking.Given`.

    >>> from undercover import LDiversity
    >>> LDiversity(l=3).title(), sorted(LDiversity.short)[:2]
    (...)
    """

    name: ClassVar[str]
    sense: ClassVar[Sense]
    short: ClassVar[Short]

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec."""

    def title(self) -> str:
        """Its name in the field and its numbers, as a heading."""

    def meaning(self) -> str:
        """What it means for the people in the table."""

    def covers(self) -> frozenset[Cover]:
        """What it is about; the rest is said to be left open."""
