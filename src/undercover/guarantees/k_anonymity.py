"""k-anonymity: every combination of quasi-identifiers that is published occurs at least k times.

Sweeney 2002, "k-anonymity: a model for protecting privacy", Definition 3.

Deviations: missing values form classes of their own and suppressed rows form none (see ``classes.py``). In a release
of two tables k counts rows of the quasi-identifier table that are written alike, not buckets: a person with a unique
combination is found in it, whatever the size of his bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from undercover.forms.classes import Classes
from undercover.guarantees.checking import Outcome, Promise, conclude
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.parameters import AtLeast


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Promise):
    """Every class has at least ``k`` rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.forms.classes import classes_of_table
    >>> classes = classes_of_table(pa.table({"age": [34, 34, None]}), ["age"], suppressed_is_star=True)
    >>> KAnonymity(k=2).check(classes)
    <Finding: k-anonymity fails, 1 where at least 2 is required; .examples lists the worst classes>
    """

    name: ClassVar[str] = "k-anonymity"
    sense: ClassVar[Sense] = "at least"
    about: ClassVar[frozenset[Cover]] = frozenset({"identity"})
    short: ClassVar[Short] = {"k": {}}

    k: Annotated[int, AtLeast(1)]

    def title(self) -> str:
        """Its name and numbers."""
        return f"{self.k}-anonymity"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return f"Everybody shares all published quasi-identifier cells with at least {self.k - 1:,} other rows."

    def check(self, classes: Classes) -> Finding:
        """Find the smallest class."""
        rows = classes.boxes or classes
        return conclude(self, rows, [Outcome(rows.sizes, rows.sizes >= self.k)], required=self.k)
