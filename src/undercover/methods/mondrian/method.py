"""Mondrian: multidimensional generalisation that keeps rows with equal quasi-identifiers together.

LeFevre, DeWitt & Ramakrishnan 2006, "Mondrian Multidimensional K-Anonymity" (strict partitioning); with l-diversity
(Machanavajjhala et al. 2006; Xiao & Tao 2006 for the frequency form) or t-closeness (Li et al. 2007) as a further
condition on every group.

Deviations: see :mod:`undercover.steps.cutting.partition`; where columns have hierarchies, rows are moved between the
groups afterwards, where that saves loss (:mod:`undercover.steps.cutting.regrouping`).

With k alone every cut and every move follows from the quasi-identifiers, so knowing the algorithm tells nothing beyond
the release. An l- or t-check looks at sensitive values: that a cut or a move was *not* made then tells something about
them (Wong et al. 2007, minimality attack), and ``algorithm_safe`` is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

from undercover.errors import ParameterError
from undercover.methods.mondrian.following import Node, follow
from undercover.model.form import Generalized
from undercover.model.groups import Seen, seen_groups
from undercover.model.protocols import Engine, Guarantee, Progress, no_progress
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.parameters import Above, AtLeast, Within, check
from undercover.randomness import Randomness
from undercover.steps.claims import k_claims
from undercover.steps.cutting.checks import Asked, Check, Distance, Diversity
from undercover.steps.cutting.columns import Recoding
from undercover.steps.cutting.partition import Cut, Partition, partition
from undercover.steps.cutting.regrouping import has_hierarchies, regrouped
from undercover.steps.recoding import box_cells, ordered_table, region_cells
from undercover.wording import parameter


@dataclass(frozen=True, kw_only=True)
class Mondrian:
    """Mondrian partitioning.

    Parameters
    ----------
    k
        Every published combination of quasi-identifiers occurs at least k times.
    l, diversity, c
        Every class is l-diverse in every sensitive column; ``c`` belongs to ``diversity="recursive"``.
    t, distance
        Every class is t-close to the whole table in every sensitive column.
    recoding
        ``boxes`` publishes the tightest cell around each group, ``regions`` the cell of the domain it was cut to.
    cut
        ``loss`` takes the cut that saves most, ``median`` the median of the widest column.
    refine
        Whether rows with equal quasi-identifiers are moved together to another group where that saves loss. By default
        where some quasi-identifier has a hierarchy, with boxes and cuts by loss. Needs boxes.

    Examples
    --------
    >>> Mondrian(k=5, l=3)
    Mondrian(k=5, l=3, diversity='frequency', ..., recoding='boxes', cut='loss', refine=None)
    >>> Mondrian(k=5).algorithm_safe, Mondrian(k=5, l=3).algorithm_safe
    (True, False)
    >>> Mondrian(k=0)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'k' parameter of Mondrian must be an int in [1, inf). Got 0 instead.
    """

    name: ClassVar[str] = "mondrian"
    about: ClassVar[str] = "undercover.methods.mondrian.about:ABOUT"
    per_unit: ClassVar[bool] = True

    k: Annotated[int, AtLeast(1)]
    l: Annotated[float | Fraction, AtLeast(1)] | None = None
    diversity: Diversity = "frequency"
    c: Annotated[float | Fraction, Above(0)] | None = None
    t: Annotated[float | Fraction, Within(0, 1)] | None = None
    distance: Distance = "equal"
    recoding: Recoding = "boxes"
    cut: Cut = "loss"
    refine: bool | None = None

    def __post_init__(self) -> None:
        problems = self._asked.problems()
        if self.refine is True and self.recoding == "regions":
            problems.append(
                "The 'refine' parameter of Mondrian moves rows to other boxes; a region is where its rows were cut to. "
                f"Give {parameter(recoding='boxes')}, or leave refine out."
            )
        check(self, problems)

    @property
    def algorithm_safe(self) -> bool:
        """With k alone the cuts depend on quasi-identifiers only."""
        return self.l is None and self.t is None

    @property
    def corruption_robust(self) -> bool:
        """With k alone, too: no value has a say in who is with whom."""
        return self.algorithm_safe

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """k-anonymity, and l-diversity and t-closeness where asked for."""
        return (*k_claims(self.k, table), *self._asked.claims(table))

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Cut the table, recode every group, publish the rows class by class."""
        self._asked.require_sensitive(table)
        if table.units is not None and self.refine:
            raise ParameterError(
                "The 'refine' parameter of Mondrian moves rows, not the people they are of. Leave it out with a unit."
            )
        parts = self._cutter(table, engine.threads, progress)(table)
        boxes, threads = self.recoding == "boxes", engine.threads
        cells = box_cells(table, parts.groups, threads) if boxes else region_cells(table, parts)
        published, order = ordered_table(table, parts.groups, cells, randomness, threads=threads)
        found = {"groups": parts.groups.count}
        return Draft(tables=(published,), groups=parts.groups, form=Generalized(), diagnostics=found, order=order)

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, Seen]]:
        """The one partition of a tiny table, as an adversary sees it: nothing in Mondrian is random."""
        (sensitive,) = table.schema.sensitive
        groups = self._cutter(table)(table).groups
        yield Fraction(1), seen_groups(groups.labels, table[sensitive].codes)

    def checks(self, table: Table) -> tuple[Check, ...]:
        """What every group must satisfy beyond its size."""
        return self._asked.checks(table)

    def follow(self, table: Table, *, progress: Progress = no_progress) -> Iterator[Node]:
        """Every node of the cutting, with the cuts that were refused there."""
        if self._refines(table):
            raise ParameterError(
                "The cuts of this release cannot be followed: after cutting, rows were moved between groups (refine). "
                f"Publish with {parameter(refine=False)} to have its cuts attacked."
            )
        return follow(
            table, k=self.k, checks=self.checks(table), cut=self.cut, recoding=self.recoding, progress=progress
        )

    def _refines(self, table: Table) -> bool:
        """Whether rows of ``table`` are moved between groups after cutting."""
        if self.refine is not None or table.units is not None:
            return bool(self.refine)
        return has_hierarchies(table) and self.recoding == "boxes" and self.cut == "loss"

    def _cutter(self, table: Table, threads: int = 1, progress: Progress = no_progress) -> Callable[[Table], Partition]:
        """What cuts ``table`` or a part of it."""
        checks = self.checks(table)

        def cut(part: Table) -> Partition:
            found = partition(
                part, k=self.k, checks=checks, cut=self.cut, recoding=self.recoding, threads=threads, progress=progress
            )
            if not self._refines(part):
                return found
            return regrouped(found, part, k=self.k, checks=checks, threads=threads, progress=progress)

        return cut

    @property
    def _asked(self) -> Asked:
        return Asked(method="Mondrian", l=self.l, diversity=self.diversity, c=self.c, t=self.t, distance=self.distance)
