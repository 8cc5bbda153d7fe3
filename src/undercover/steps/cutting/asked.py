"""l-diversity and t-closeness as a method asks for them: what is promised, and what is checked while rows are grouped.

Shared by the methods that take l and t beside k (Mondrian, Incognito).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from undercover.errors import ParameterError
from undercover.exact import exact
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness
from undercover.model.protocols import Guarantee
from undercover.model.table import Table
from undercover.steps.cutting.checks import Check

Diversity = Literal["frequency", "distinct", "entropy", "recursive"]
Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The parameters of a method beyond k, checked one by one; ``method`` is its name in messages.

    Examples
    --------
    >>> Asked(method="Mondrian", l=3).problems()
    []
    >>> Asked(method="Mondrian", diversity="distinct").problems()
    ["The 'diversity' parameter of Mondrian says what l means. Give l too."]
    """

    method: str
    l: float | Fraction | None = None  # noqa: E741
    diversity: Diversity = "frequency"
    c: float | Fraction | None = None
    t: float | Fraction | None = None
    distance: Distance = "equal"

    def problems(self) -> list[str]:
        """What is wrong with the parameters taken together."""
        problems = [
            f"The '{parameter}' parameter of {self.method} says what {other} means. Give {other} too."
            for parameter, other in (("diversity", "l"), ("c", "l"), ("distance", "t"))
            if getattr(self, other) is None and getattr(self, parameter) not in (None, "frequency", "equal")
        ]
        if self.l is not None and self.diversity in get_args(Diversity):
            try:
                LDiversity(l=self.l, form=self.diversity, c=self.c)
            except ParameterError as error:
                problems += [problem.replace("LDiversity", self.method) for problem in error.problems]
        return problems

    def require_sensitive(self, table: Table) -> None:
        """Raise where l or t is asked for and nothing is sensitive."""
        if (self.l is not None or self.t is not None) and not table.schema.sensitive:
            raise ParameterError(f"{self.method} with l or t needs a sensitive column. Name one: sensitive = ...")

    def claims(self, table: Table) -> list[Guarantee]:
        """The guarantees beyond k."""
        found: list[Guarantee] = []
        if self.l is not None:
            found.append(LDiversity(l=self.l, form=self.diversity, c=self.c))
        if self.t is None:
            return found
        if self.distance == "equal":
            found.append(TCloseness(t=self.t, distance="equal"))
            return found
        for column in table.schema.sensitive:
            settings = table.schema.column(column)
            if self.distance == "hierarchical":
                self._require_hierarchy(table, column)
                found.append(TCloseness(t=self.t, distance="hierarchical", hierarchy=settings.hierarchy, column=column))
            else:
                # Numbers and dates have an order of their own; everything else is read in the order it was cut in.
                domain = table[column].domain
                labels = None if domain.kind in ("numeric", "date") else domain.labels[: len(domain.values)]
                order = settings.domain if domain.kind == "ordinal" else labels
                found.append(TCloseness(t=self.t, distance="ordered", order=order, column=column))
        return found

    def checks(self, table: Table) -> tuple[Check, ...]:
        """The predicates on every group beyond its size."""
        checks = []
        for column in table.schema.sensitive:
            if self.l is not None:
                checks.append(
                    Check(column=column, kind=self.diversity, limit=float(exact(self.l)), c=float(exact(self.c or 0)))
                )
            if self.t is not None:
                if self.distance == "hierarchical":
                    self._require_hierarchy(table, column)
                checks.append(Check(column=column, kind=self.distance, limit=float(exact(self.t))))
        return tuple(checks)

    @staticmethod
    def _require_hierarchy(table: Table, column: str) -> None:
        if table.schema.column(column).hierarchy is None:
            raise ParameterError(f"t-closeness by hierarchical distance needs a hierarchy of `{column}`.")
