"""Incognito: every column on one level of its hierarchy, the same for all rows; all ways to do it, and the best one.

LeFevre, DeWitt & Ramakrishnan 2005, "Incognito: Efficient Full-Domain K-Anonymity"; with l-diversity (Machanavajjhala
et al. 2006; Xiao & Tao 2006 for the frequency form) or t-closeness (Li et al. 2007) as a further condition on classes.

Deviations: see :mod:`undercover.steps.lattice.lattice` for the search and :mod:`undercover.steps.lattice.choice`
for which node is published. A column without a hierarchy has levels of its own where its values have an order, and is
published as it is or not at all (``*``) where they have none. With ``suppression`` rows of classes that fail are left
out, up to a share of the rows; t-closeness then refers to the rows that are left. With k alone everything follows from
the quasi-identifiers, so knowing the algorithm tells nothing beyond the release. An l- or t-check looks at sensitive
values, and ``algorithm_safe`` is false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.engines.cube import Cube
from undercover.errors import ParameterError, UnreachableError, listed, unknown
from undercover.exact import exact
from undercover.model.form import Generalized
from undercover.model.groups import Seen, seen_groups
from undercover.model.protocols import Engine, Guarantee, OnParts, Progress, no_progress
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.parameters import Above, AtLeast, Within, check
from undercover.randomness import Randomness
from undercover.steps.claims import k_claims
from undercover.steps.cutting.checks import Asked, Distance, Diversity, require_rows, require_whole_table
from undercover.steps.lattice.choice import (
    Choice,
    Chooser,
    Chosen,
    candidate_frame,
    level_facts,
    search,
    two_level_warning,
)
from undercover.steps.lattice.conditions import CellCondition
from undercover.steps.lattice.cubes import FullDomain, Recoded, recode
from undercover.steps.lattice.lattice import NodeSet, listed_nodes, minimal
from undercover.steps.lattice.on_parts import recoded_parts
from undercover.steps.recoding import MANY, ordered_table
from undercover.wording import parameter

_FAR_FEWER = 4  # rows per combination that there can be, from which on a search is worth a cube


@dataclass(frozen=True, kw_only=True)
class Incognito:
    """Full-domain generalisation.

    Parameters
    ----------
    k
        Every published combination of quasi-identifiers occurs at least k times.
    l, diversity, c
        Every class is l-diverse in every sensitive column; ``c`` belongs to ``diversity="recursive"``.
    t, distance
        Every class is t-close to the published table in every sensitive column.
    suppression
        The largest share of rows that may be left out.
    choose
        What the published node makes small: ``loss`` (geometric mean loss), ``dm`` (discernibility), ``level`` (average
        level) or ``weights`` (mean loss by the weights of the columns).
    weights
        For ``choose="weights"``: a weight by column; by default those of the schema.

    Examples
    --------
    >>> Incognito(k=5, l=3, suppression=0.05).choose
    'loss'
    >>> Incognito(k=5).algorithm_safe, Incognito(k=5, l=3).algorithm_safe
    (True, False)
    >>> Incognito(k=5, suppression=1)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'suppression' parameter of Incognito must be a number in [0, 1). Got ...
    """

    name: ClassVar[str] = "incognito"
    about: ClassVar[str] = "undercover.methods.incognito.about:ABOUT"
    per_unit: ClassVar[bool] = True

    k: Annotated[int, AtLeast(1)]
    l: Annotated[float | Fraction, AtLeast(1)] | None = None
    diversity: Diversity = "frequency"
    c: Annotated[float | Fraction, Above(0)] | None = None
    t: Annotated[float | Fraction, Within(0, 1)] | None = None
    distance: Distance = "equal"
    suppression: Annotated[float | Fraction, Within(0, 1, "[)")] = 0
    choose: Choice = "loss"
    weights: Mapping[str, Annotated[float, Above(0)]] | None = None

    def __post_init__(self) -> None:
        problems = self._asked.problems()
        if self.weights is not None and self.choose != "weights":
            problems.append(f"The 'weights' of Incognito belong to {parameter(choose='weights')}.")
        check(self, problems)

    @property
    def algorithm_safe(self) -> bool:
        """With k alone the node depends on quasi-identifiers only."""
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
        """Search the lattice, choose a node, publish the rows class by class."""
        domain, condition = self._prepared(table)
        domain = replace(domain, threads=engine.threads)
        passing, chosen = self._search(*(self._counted(table, engine) or (domain, condition)), progress)
        progress("generalising", 0.0)
        recoded = self._recoded(domain, condition, chosen)
        published, order = ordered_table(
            table, recoded.groups, recoded.cells, randomness, threads=engine.threads, among=recoded.rows
        )
        return Draft(
            form=Generalized(one_level=True),
            tables=(published,),
            groups=recoded.groups,
            order=order,
            kept=recoded.rows,
            suppressed=table.n_rows - len(recoded.groups.labels),
            diagnostics=_diagnostics(domain, passing, chosen, recoded.groups.count),
            frames={} if passing is None else {"candidates": candidate_frame(domain, passing)},
            used={"levels": level_facts(domain, chosen.levels)},
            warnings=two_level_warning(domain),
        )

    def on_parts(self, table: Table, *, engine: Engine, progress: Progress = no_progress) -> OnParts | None:
        """The levels, chosen from a cube of the whole table; people with several rows are in no cube."""
        counted = self._counted(table, engine, few=False)
        if counted is None:
            return None
        domain, condition = counted
        passing, chosen = self._search(domain, condition, progress)
        plan, classes = recoded_parts(domain, chosen.levels, condition if chosen.suppressed else None)
        settled = {
            "diagnostics": _diagnostics(domain, passing, chosen, classes),
            "frames": {} if passing is None else {"candidates": candidate_frame(domain, passing)},
            "used": {"levels": level_facts(domain, chosen.levels)},
            "warnings": two_level_warning(domain),
        }
        return replace(plan, settled=settled)

    def candidates(self, table: Table) -> pa.Table:
        """All passing nodes: a level per column, whether the node is minimal, its average level and its loss.

        The loss leaves suppressed rows out of account.

        Examples
        --------
        >>> import undercover as uc
        >>> people = pa.table({"age": [34, 38, 34, 38], "sex": ["f", "f", "m", "m"]})
        >>> table = uc.Table.from_arrow(people, uc.Schema(quasi_identifiers=["age", "sex"]))
        >>> Incognito(k=2).candidates(table).select(["age", "sex", "minimal"]).to_pylist()
        [{'age': 0, 'sex': 1, 'minimal': True}, {'age': 1, 'sex': 0, 'minimal': True},
         {'age': 1, 'sex': 1, 'minimal': False}]
        """
        domain, condition = self._prepared(table)
        return candidate_frame(domain, self._passing(domain, condition, no_progress))

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, Seen]]:
        """The one partition of a tiny table, as an adversary sees it; who is suppressed he sees as one more group."""
        (sensitive,) = table.schema.sensitive
        domain, condition = self._prepared(table)
        _, chosen = self._search(domain, condition, no_progress)
        recoded = self._recoded(domain, condition, chosen)
        labels = np.full(table.n_rows, -1)
        labels[slice(None) if recoded.rows is None else recoded.rows] = recoded.groups.labels
        yield Fraction(1), seen_groups(labels, table[sensitive].codes)

    @property
    def _asked(self) -> Asked:
        return Asked(method="Incognito", l=self.l, diversity=self.diversity, c=self.c, t=self.t, distance=self.distance)

    def _prepared(
        self, table: Table, cube: Cube | None = None, counts: Mapping[str, NDArray[np.int64]] | None = None
    ) -> tuple[FullDomain, CellCondition]:
        """The table, or a cube of it with the counts of sensitive values, and what its cells must satisfy."""
        self._asked.require_sensitive(table)
        problems = [
            unknown("Quasi-identifier", name, table.schema.quasi_identifiers)
            for name in self.weights or {}
            if name not in table.schema.quasi_identifiers
        ]
        if problems:
            raise ParameterError(problems)
        limit = int(exact(self.suppression) * table.n_rows)
        condition = CellCondition(table, self.k, self._asked.checks(table), limit, counts=counts)
        names = table.schema.quasi_identifiers
        if cube is not None:
            return FullDomain(cube.as_table(table), names, condition.sensitive, cube.counts), condition
        return FullDomain(table, names, condition.sensitive), condition

    def _counted(self, table: Table, engine: Engine, *, few: bool = True) -> tuple[FullDomain, CellCondition] | None:
        """A cube of the table to search in place of its rows; None for people with several rows, who are in no cube.

        With ``few`` also None where it would not have far fewer combinations than a large table has rows.
        """
        checked = tuple(dict.fromkeys(check.column for check in self._asked.checks(table)))
        columns = (*table.schema.quasi_identifiers, *checked)
        there_can_be = prod(table[name].domain.size for name in columns)
        if table.units is not None or (few and (table.n_rows < MANY or there_can_be > table.n_rows // _FAR_FEWER)):
            return None
        return self._prepared(
            table, engine.cube(table, columns), {name: engine.histogram(table, name) for name in checked}
        )

    def _passing(self, domain: FullDomain, condition: CellCondition, progress: Progress) -> NodeSet:
        require_rows(condition.table, self.k)
        if condition.monotone:
            require_whole_table(condition.table, condition.checks, condition.counts)
        found = search(domain, condition, progress=progress)
        if not found.any():
            raise _nothing_passes(domain, condition)
        return found

    def _search(
        self, domain: FullDomain, condition: CellCondition, progress: Progress
    ) -> tuple[NodeSet | None, Chosen]:
        """The passing nodes, where all of them were looked for, and the best."""
        chooser = Chooser(domain, condition, self.choose, self.weights)
        if condition.monotone or self.choose == "dm":
            passing = self._passing(domain, condition, progress)
            progress("choosing a node", 0.0)
            return passing, chooser.best(passing, suppressing=condition.limit > 0)
        require_rows(condition.table, self.k)
        within = search(domain, condition.necessary, progress=progress)
        chosen = chooser.best_within(within, progress=progress)
        if chosen is None:
            raise _nothing_passes(domain, condition)
        return None, chosen

    @staticmethod
    def _recoded(domain: FullDomain, condition: CellCondition, chosen: Chosen) -> Recoded:
        if not chosen.suppressed:
            return recode(domain, chosen.levels)
        return recode(domain, chosen.levels, condition.failing(domain.class_cube(chosen.levels, condition.payloads)))


def _nothing_passes(domain: FullDomain, condition: CellCondition) -> UnreachableError:
    return UnreachableError(
        f"No full-domain generalisation of {listed(domain.names)} passes with at most {condition.limit:,} of "
        f"{domain.n_rows:,} rows suppressed. Ask for less, or allow more suppression."
    )


def _diagnostics(domain: FullDomain, passing: NodeSet | None, chosen: Chosen, classes: int) -> dict[str, Any]:
    every = {}
    if passing is not None:
        every = {
            "passing": int(passing.sum()),
            "minimal": [list(node) for node in listed_nodes(minimal(passing))[:100]],
        }
    return {
        "nodes": domain.lattice.size,
        **every,
        "levels": dict(zip(domain.names, chosen.levels, strict=True)),
        "cost": chosen.cost,
        "loss": chosen.loss,
        "classes": classes,
        "nodes_costed": chosen.evaluated,
    }
