"""Non-centralized distinct l-diversity: a table that is safe next to what others have published about the same people.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Section 5: full-domain generalisation by Incognito, with
the check that every combination of a class of the new table and a class of each other one leaves at least l sensitive
values. The holder needs the published tables of the others and nothing else from them.

Deviations (docs/theory/noncentralized.md). Columns the others have published, too, are dropped (``shared="discard"``,
which the paper says without saying how) or kept where they follow one hierarchy (``nested``). "Safe regardless of the
correlation" does not hold: somebody who knows everybody's quasi-identifiers can rule out more. ``strict`` asks of the
published node that at least l values stay possible even for him. l is distinct l and ignores how likely each value
is; the run reports the highest probability beside it. The check looks at sensitive values, so ``algorithm_safe`` is
false.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.engines.cube import Cube
from undercover.errors import InputError, ParameterError, UnreachableError, listed
from undercover.guarantees.joint.diversity import JointDiversity
from undercover.methods.noncentralized.neighbours import (
    JointFigures,
    Neighbours,
    Shared,
    joint_condition,
    joint_figures,
    kept_columns,
    neighbours,
    with_our_names,
)
from undercover.model.form import Generalized
from undercover.model.groups import Seen, seen_groups
from undercover.model.protocols import Engine, Guarantee, OnParts, Progress, no_progress
from undercover.model.published import Published
from undercover.model.run import Draft, Run, SamePeople
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness
from undercover.steps.dealing.groups import sensitive_column
from undercover.steps.lattice.choice import Chooser, Chosen, candidate_frame, level_facts, search, two_level_warning
from undercover.steps.lattice.cubes import FullDomain, recode
from undercover.steps.lattice.lattice import NodeSet, listed_nodes, minimal
from undercover.steps.lattice.on_parts import recoded_parts
from undercover.steps.recoding import ordered_table
from undercover.wording import either


@dataclass(frozen=True, kw_only=True)
class NonCentralized:
    """Publish next to others.

    Parameters
    ----------
    l
        Sensitive values that every combination of classes must leave (distinct l).
    others
        What others have published about the same people: public folders, files with the same sensitive column, or
        :class:`~undercover.model.published.Published` tables. Nothing at all for whoever is first.
    shared
        Columns that others have published, too: ``discard`` drops them, ``nested`` keeps them where their cells are
        nodes of one hierarchy.
    same
        Columns of different tables that are one, as ``a=b``; those spelled alike are anyway.
    distinct
        Columns that are not one although they are spelled alike, as ``a,b``.
    choose
        ``level`` (least average level, as in the paper), ``loss`` or ``dm``.
    strict
        Whether l values must stay possible even for somebody who knows the quasi-identifiers of everybody, however
        people are spread. Next to real tables that is nearly always refused: 1 is left.

    Examples
    --------
    >>> NonCentralized(l=2, others=["../census/public"]).choose
    'level'
    >>> NonCentralized(l=0)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'l' parameter of NonCentralized must be an int in [1, inf). Got 0 instead.
    """

    name: ClassVar[str] = "noncentralized"
    about: ClassVar[str] = "undercover.methods.noncentralized.about:ABOUT"
    paths: ClassVar[tuple[str, ...]] = ("others",)

    l: Annotated[int, AtLeast(1)]
    others: tuple[Any, ...] = ()
    shared: Shared = "discard"
    same: tuple[str, ...] = ()
    distinct: tuple[str, ...] = ()
    choose: Literal["loss", "dm", "level"] = "level"
    strict: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "others", _listed(self.others))
        for name in ("same", "distinct"):
            object.__setattr__(self, name, _words(getattr(self, name)))
        check(
            self,
            (
                f"The 'others' of NonCentralized are paths or published tables. Got {other!r} instead."
                for other in self.others
                if not isinstance(other, str | os.PathLike | Published)
            ),
        )

    @property
    def algorithm_safe(self) -> bool:
        """Which node passes depends on sensitive values."""
        return False

    def public(self) -> dict[str, Any]:
        """The parameters as they are published: the others by name, without the holder's paths."""
        return {
            "l": self.l,
            "others": [_name(other) for other in self.others],
            "shared": self.shared,
            "choose": self.choose,
            **({"strict": True} if self.strict else {}),
            **{name: list(said) for name in ("same", "distinct") if (said := getattr(self, name))},
        }

    def private(self) -> dict[str, Any]:
        """The same with the paths of the others."""
        return {**self.public(), "others": [_path(other) for other in self.others]}

    def resolve(self, read: Callable[[Any], Any]) -> NonCentralized:
        """The same with the others' tables read."""
        return replace(
            self, others=tuple(other if isinstance(other, Published) else read(other) for other in self.others)
        )

    def continue_from(self, before: Run, people: SamePeople) -> NonCentralized:
        """The same; refused where people are in both tables, for the earlier release is none of the others."""
        if people:
            raise InputError(
                f"{people.sentence()}. The new release would stand next to that one as well, which is none of the "
                "tables its promise counts. Publish it with the public folder of the first among `others`."
            )
        return self

    def tables_beside(self, table: Table) -> list[Published]:
        """The others' tables with our names of columns."""
        return self._others(table)[0]

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """Joint diversity with the others' tables."""
        trees = {}
        others, _ = self._others(table)
        if self.shared == "nested":
            common = {name for other in others for name in other.quasi_identifiers}
            for name in table.schema.quasi_identifiers:
                hierarchy = table[name].settings.hierarchy
                if name in common and hierarchy is not None:
                    trees[name] = hierarchy.rows
        return (JointDiversity(l=self.l, others=others, trees=trees),)

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Search the lattice, choose a node, publish the rows class by class."""
        found = self._search(table, progress)
        progress("generalising", 0.0)
        recoded = recode(found.domain, found.chosen.levels)
        published, order = ordered_table(table, recoded.groups, recoded.cells, randomness, threads=engine.threads)
        settled = self._settled(found, recoded.groups.count)
        return Draft(
            form=Generalized(one_level=True), tables=(published,), groups=recoded.groups, order=order, **settled
        )

    def on_parts(self, table: Table, *, engine: Engine, progress: Progress = no_progress) -> OnParts:
        """The levels, chosen from a cube of the whole table."""
        sensitive = sensitive_column(table, "NonCentralized")
        cube = engine.cube(table, (*table.schema.quasi_identifiers, sensitive))
        found = self._search(table, progress, cube, engine.histogram(table, sensitive))
        plan, classes = recoded_parts(found.domain, found.chosen.levels)
        return replace(plan, settled=self._settled(found, classes))

    def _settled(self, found: _Found, classes: int) -> dict[str, Any]:
        """What is said of the release and of the search for it."""
        warnings = [*two_level_warning(found.domain), _says(found.figures, self.l, bool(self.others)), *found.notes]
        if found.dropped:
            warnings.append(
                f"Published by others already and therefore left out: {listed(found.dropped)}. Whoever joins the "
                "tables could otherwise subtract them from each other."
            )
        return {
            "dropped": found.dropped,
            "diagnostics": {
                "nodes": found.domain.lattice.size,
                "passing": int(found.passing.sum()),
                "minimal": [list(node) for node in listed_nodes(minimal(found.passing))[:100]],
                "levels": dict(zip(found.domain.names, found.chosen.levels, strict=True)),
                "average_level": sum(found.chosen.levels) / len(found.chosen.levels),
                "loss": found.chosen.loss,
                "classes": classes,
                "dropped": list(found.dropped),
                "joint": found.figures.to_dict(),
            },
            "frames": {"candidates": candidate_frame(found.domain, found.passing)},
            "used": {"levels": level_facts(found.domain, found.chosen.levels), "dropped": list(found.dropped)},
            "warnings": tuple(warnings),
        }

    def candidates(self, table: Table) -> pa.Table:
        """All passing nodes: a level per column, whether the node is minimal, its average level and its loss."""
        domain, passing = self._passing(table, no_progress)[:2]
        return candidate_frame(domain, passing)

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, Seen]]:
        """The one partition of a tiny table, as an adversary sees it."""
        found = self._search(table, no_progress)
        groups = recode(found.domain, found.chosen.levels).groups
        (sensitive,) = table.schema.sensitive
        yield Fraction(1), seen_groups(groups.labels, table[sensitive].codes)

    def _tables(self) -> list[Published]:
        unread = [str(other) for other in self.others if not isinstance(other, Published)]
        if unread:
            raise ParameterError(
                f"The tables of others are read by undercover.publish. Read {listed(unread)} with "
                "undercover.published first."
            )
        return list(self.others)

    def _others(self, table: Table) -> tuple[list[Published], tuple[str, ...]]:
        """The others' tables with our names of columns, and what was found of these."""
        return with_our_names(table, self._tables(), self.shared, self.same, self.distinct)

    def _passing(
        self, table: Table, progress: Progress, cube: Cube | None = None, totals: NDArray[np.int64] | None = None
    ) -> tuple[FullDomain, NodeSet, Neighbours, tuple[str, ...]]:
        """The nodes that may be published, from the rows or from a cube of them and the totals of sensitive values."""
        sensitive = sensitive_column(table, "NonCentralized")
        others, notes = self._others(table)
        beside = neighbours(table, sensitive, others, self.l, notes, totals)
        names, dropped = kept_columns(table, beside, self.shared)
        rows, counts = (table, None) if cube is None else (cube.as_table(table), cube.counts)
        domain = FullDomain(rows, names, (sensitive,), counts)
        condition = joint_condition(domain, sensitive, beside, self.l, self.shared)
        passing = search(domain, condition, progress=progress)
        if not passing.any():
            raise UnreachableError(
                f"l={self.l} cannot be reached: even a table that says nothing of {listed(names)} leaves fewer values. "
                "Ask for a smaller l."
            )
        return domain, passing, beside, dropped

    def _search(
        self, table: Table, progress: Progress, cube: Cube | None = None, totals: NDArray[np.int64] | None = None
    ) -> _Found:
        domain, passing, beside, dropped = self._passing(table, progress, cube, totals)
        progress("choosing a node", 0.0)
        (sensitive,) = table.schema.sensitive
        condition = joint_condition(domain, sensitive, beside, self.l, self.shared)
        chooser = Chooser(domain, condition, self.choose)
        ranked = chooser.ranked(passing) if self.strict else [chooser.best(passing, suppressing=False)]
        # What stays possible only grows with generalisation, so where the top leaves too little, every node does.
        top = joint_figures(domain, sensitive, domain.lattice.top, beside).possible if self.strict else self.l
        for chosen in ranked if top >= self.l else ():
            figures = joint_figures(domain, sensitive, chosen.levels, beside)
            if not self.strict or figures.possible >= self.l:
                return _Found(domain, passing, dropped, chosen, figures, beside.notes)
        raise UnreachableError(
            f"l={self.l} cannot be reached strictly: even a table that says nothing leaves {top} to somebody who knows "
            "the quasi-identifiers of everybody, as nearly all real tables do. Leave strict out, and attack your own "
            "releases with their original instead: "
            + either(python="uc.joint_attack.", command="undercover joint-risk --overlap."),
            best={"l": top},
        )


@dataclass(frozen=True)
class _Found:
    domain: FullDomain
    passing: NodeSet
    dropped: tuple[str, ...]
    chosen: Chosen
    figures: JointFigures
    notes: tuple[str, ...]


def _says(figures: JointFigures, l: int, beside: bool) -> str:
    """What is left to an adversary, for the holder."""
    sure = "" if figures.surest is None else f", and one of them can be up to {figures.surest:.1%} sure"
    if not beside:
        return (
            f"Whoever is first: at least {figures.least or l} values (asked: {l}) are left in every class{sure}. What "
            "others publish about the same people must be checked against this table."
        )
    return (
        f"Next to the others' tables at least {figures.least or l} values (asked: {l}) are left to whoever joins "
        f"them{sure}. All combinations of classes count, also those nobody is in."
    )


def _listed(given: Any) -> tuple[Any, ...]:
    if isinstance(given, str):
        return tuple(part.strip() for part in given.split(",") if part.strip())
    if isinstance(given, Published | os.PathLike):
        return (given,)
    return tuple(given) if isinstance(given, Sequence) else (given,)


def _words(given: Any) -> tuple[Any, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _name(other: Any) -> str:
    """What another table is called in public: the folder it was published from, or the file."""
    if isinstance(other, Published):
        return other.name
    parts = [part for part in PurePath(os.fspath(other)).parts if part not in ("..", ".", "/")]
    if len(parts) > 1 and parts[-1] in ("public", "withheld"):
        parts = parts[:-1]
    return parts[-1] if parts else "table"


def _path(other: Any) -> str:
    """Where another table lies; its name where it was handed over."""
    return (other.source or other.name) if isinstance(other, Published) else os.fspath(other)
