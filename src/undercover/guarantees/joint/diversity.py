"""Joint diversity: next to what others have published, at least l sensitive values remain possible for everybody.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Definitions 2 to 4: whatever class of this table and of
every other one a person is in, the intersection of their sensitive sets has at least l values.

Deviations: all combinations of classes count, also those nobody is in, for no holder can know. The others' tables are
recorded as evidence: their smallest sensitive sets, the rows of every value and the hash of the file. So the claim can
be recomputed from this release alone, and whoever has the others' files can compare; ``undercover joint-risk`` reads
them. Where a column is shared under one hierarchy (``trees``), classes whose cells exclude each other are no
combination. Columns spelled alike are one. ``l`` is distinct l: a value may still be all but certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.errors import listed
from undercover.forms.classes import Classes
from undercover.forms.meaning import Values
from undercover.guarantees.checking import Outcome, Promise, Topic, conclude
from undercover.guarantees.joint.sets import Intersections, smallest
from undercover.guarantees.joint.tables import set_bits, together
from undercover.model.beliefs import JointBeliefs, at_least_left
from undercover.model.finding import Finding, Sense
from undercover.model.hierarchy import Hierarchy
from undercover.model.protocols import Cover, Short
from undercover.model.published import Published, spelling
from undercover.parameters import AtLeast, check

Evidence = Mapping[str, Any]
"""``name``, ``columns``, ``sha256``, ``rows`` by value, and ``sets``: hexadecimal numbers with bit v for the v-th value
of ``rows``, each with its cells of shared columns."""


@dataclass(frozen=True, kw_only=True)
class JointDiversity(Promise):
    """At least ``l`` values in every combination of classes with the others' tables.

    Parameters
    ----------
    l
        Distinct values.
    others
        Published tables of others, or what was recorded of them (:func:`evidence_of`).
    trees
        Rows of the hierarchies of shared columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.forms.classes import classes_of_table
    >>> from undercover.guarantees.joint.tables import foreign_table
    >>> revenue = pa.table({"age": ["old", "old", "young", "young"], "pay": ["high", "low", "low", "middle"]})
    >>> census = pa.table({"zip": ["1", "1", "2", "2"], "pay": ["high", "low", "low", "middle"]})
    >>> promise = JointDiversity(l=2, others=[foreign_table(revenue, "revenue", sensitive="pay")])
    >>> promise.check(classes_of_table(census, ["zip"], ["pay"], suppressed_is_star=True))
    <Finding: joint-diversity fails, 1 where at least 2 is required; ...
    """

    name: ClassVar[str] = "joint-diversity"
    sense: ClassVar[Sense] = "at least"
    about: ClassVar[frozenset[Cover]] = frozenset({"attribute"})
    short: ClassVar[Short] = {}

    l: Annotated[int, AtLeast(1)]  # noqa: E741
    others: Sequence[Published | Evidence] = ()
    trees: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shared = tuple(self.trees)
        object.__setattr__(
            self, "others", tuple(evidence_of(o, shared) if isinstance(o, Published) else dict(o) for o in self.others)
        )
        check(
            self,
            (
                "The 'others' of JointDiversity are published tables or what was recorded of them. "
                f"Got {other!r} instead."
                for other in self.others
                if not _is_evidence(other)
            ),
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What is recorded of the others."""
        return tuple(self.others)  # type: ignore[arg-type]

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, with the evidence."""
        found: dict[str, Any] = {"l": self.l, "others": [dict(other) for other in self.evidence]}
        if self.trees:
            found["trees"] = {name: [list(row) for row in rows] for name, rows in self.trees.items()}
        return found

    def title(self) -> str:
        """Its name and numbers."""
        names = ", ".join(str(other["name"]) for other in self.evidence)
        return f"Joint {self.l}-diversity{f' next to {names}' if names else ''}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        if not self.others:
            return f"Every class holds at least {self.l} different sensitive values."
        return (
            "Whoever knows all quasi-identifiers of a person and joins this table with the others named is left with "
            f"at least {self.l} sensitive values, whatever class the person is in."
        )

    def limits(self, about: Topic) -> list[str]:
        """What counting values next to the tables named leaves open."""
        if about != "others":
            return []
        return [
            "The number of values says nothing of how likely each is: one of them can be all but certain.",
            "Counted are the values that the classes of one person have in common. Somebody who knows how many people "
            "are in a combination of classes, or the quasi-identifiers of everybody, can rule out more.",
            "Only the tables named were looked at. Whatever is published about the same people afterwards must be "
            "checked against this table and all of them.",
        ]

    def is_vacuous(self, classes: Classes) -> bool:
        """One value is always left."""
        return self.l == 1

    def check(self, classes: Classes) -> Finding:
        """Find the combination that leaves fewest values."""
        wrong = self._differences(classes)
        if wrong:
            return Finding(self.name, self.parameters(), self.l, None, False, note=" ".join(wrong))
        (column,) = classes.sensitive.values()
        inside = np.zeros((classes.count, column.n_values), dtype=bool)
        inside[column.class_index, column.value_index] = True
        own = set_bits(inside)
        actual = np.zeros(classes.count, dtype=np.int64)
        for members, others in self._contexts(classes, column.labels):
            beside = Intersections(others, (1 << column.n_values) - 1)
            found = {bits: beside.least(bits)[0] for bits in {own[index] for index in members}}
            actual[members] = [found[own[index]] for index in members]
        outcome = Outcome(actual, actual >= self.l, column.name)
        return conclude(self, classes, [outcome], required=self.l)

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Whether l values stay possible with these releases; the tables of others are not among them."""
        found = beliefs.decide(lambda block: at_least_left(block, self.l))
        return None if found and self.others else found

    def _differences(self, classes: Classes) -> list[str]:
        if len(classes.sensitive) != 1:
            return [f"Joint diversity is about one sensitive column. There are {len(classes.sensitive)}."]
        (column,) = classes.sensitive.values()
        ours = dict(zip(column.labels, column.overall.tolist(), strict=True))
        wrong = [
            f"`{other['name']}` has other sensitive values, or not as often."
            for other in self.evidence
            if dict(other["rows"]) != ours
        ]
        for other in self.evidence:
            ours_spelled = {spelling(name) for name in classes.quasi_identifiers if name not in self.trees}
            shared = sorted(name for name in other["columns"] if spelling(name) in ours_spelled)
            if shared:
                wrong.append(f"`{other['name']}` publishes {listed(shared)}, too; intersections say nothing then.")
        return wrong

    def _contexts(
        self, classes: Classes, labels: tuple[str, ...]
    ) -> Iterator[tuple[NDArray[np.int64], list[list[int]]]]:
        """Classes that meet the same sets of the others, and these sets, over the values ``labels``."""
        tables = [_sets(other, labels) for other in self.evidence]
        shared = [name for name in self.trees if name in classes.quasi_identifiers]
        if not shared:
            yield np.arange(classes.count), [smallest(bits for bits, _ in sets) for sets in tables]
            return
        columns = [classes.cells(name) for name in shared]
        keys = np.stack([column.codes for column in columns], axis=1)
        distinct, context = np.unique(keys, axis=0, return_inverse=True)
        readers = {name: CellReader(self.trees[name]) for name in shared}
        for number, codes in enumerate(distinct):
            cells = {name: column.labels[code] for name, column, code in zip(shared, columns, codes, strict=True)}
            others = [
                [bits for bits, theirs in sets if _meet(cells, theirs, readers)] or [(1 << len(labels)) - 1]
                for sets in tables
            ]
            yield np.flatnonzero(context.reshape(-1) == number), others


def evidence_of(table: Published, shared: Sequence[str] = ()) -> dict[str, Any]:
    """What a release records of another published table: public figures only.

    The sets are those that contain no other, so that nothing is kept which does not matter; with shared columns, those
    of every combination of shared cells.
    """
    joined = together([table])
    own = [name for name in shared if name in table.quasi_identifiers]
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, bits in enumerate(joined.sets()[0]):
        cells = joined.describe(0, index)
        groups.setdefault(tuple(cells.get(name, "*") for name in own), []).append(bits)
    sets = []
    for cells_of, bits_of in sorted(groups.items()):
        for bits in smallest(bits_of):
            entry: dict[str, Any] = {"values": f"{bits:x}"}
            if own:
                entry["cells"] = dict(zip(own, cells_of, strict=True))
            sets.append(entry)
    return {
        "name": table.name,
        "columns": list(table.quasi_identifiers),
        "sha256": table.digest,
        "rows": dict(zip(joined.values, joined.totals.tolist(), strict=True)),
        "sets": sets,
    }


def _is_evidence(other: Any) -> bool:
    """Whether something has the form of what :func:`evidence_of` records; a manifest may have been changed."""
    try:
        rows = dict(other["rows"])
        bits = [int(str(entry["values"]), 16) for entry in other["sets"]]
        named = isinstance(other["name"], str) and all(isinstance(column, str) for column in other["columns"])
    except (KeyError, TypeError, ValueError):
        return False
    return named and bool(bits) and all(0 <= number < 1 << len(rows) for number in bits)


def _sets(other: Evidence, labels: tuple[str, ...]) -> list[tuple[int, Mapping[str, str]]]:
    """The recorded sets over the values of this release, each with its shared cells."""
    place = {label: position for position, label in enumerate(labels)}
    theirs = list(other["rows"])
    found = []
    for entry in other["sets"]:
        bits = int(str(entry["values"]), 16)
        own = sum(1 << place[label] for position, label in enumerate(theirs) if bits >> position & 1)
        found.append((own, entry.get("cells", {})))
    return found


def _meet(ours: Mapping[str, str], theirs: Mapping[str, str], readers: Mapping[str, CellReader]) -> bool:
    """Whether a person can be in both: no shared column excludes it."""
    return all(
        name not in theirs or readers[name].leaves(cell) & readers[name].leaves(theirs[name])
        for name, cell in ours.items()
    )


class CellReader:
    """The leaves of a hierarchy that the cells of a shared column stand for."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        tree = Hierarchy(rows)
        leaves = tree.leaves
        numeric = all(_is_number(leaf) for leaf in leaves)
        ordered = tuple(sorted(leaves, key=float)) if numeric else leaves
        self.values = Values(ordered, "numeric" if numeric else "categorical", False, tree)
        self._read: dict[str, frozenset[int]] = {}

    def leaves(self, cell: str) -> frozenset[int]:
        """What a cell covers, written as a node, an interval, a set or a value.

        One that is none of these, such as a missing value, may be anything: whoever is in it can be in every cell.
        """
        if cell not in self._read:
            forms = ("node", "interval", "set", "value")
            found = [covered for form in forms if (covered := self._positions(cell, form))]
            self._read[cell] = found[0] if found else frozenset(range(self.values.size))
        return self._read[cell]

    def _positions(self, cell: str, form: Any) -> frozenset[int]:
        meaning = self.values.read(cell, form)
        if meaning.members is not None:
            return frozenset(meaning.members)
        return frozenset(range(meaning.low, meaning.high + 1))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
