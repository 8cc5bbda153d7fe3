"""k-anonymity: every combination of quasi-identifiers that is published occurs at least k times.

Sweeney 2002, "k-anonymity: a model for protecting privacy", Definition 3.

Deviations: missing values form classes of their own and suppressed rows form none (see ``classes.py``). In a release
of two tables k counts rows of the quasi-identifier table that are written alike, not buckets: a person with a unique
combination is found in it, whatever the size of his bucket.

``per`` names the column that says whose row it is, where people have several: then nobody has more than one in k of the
rows of a class. Whoever knows all rows of a person and takes one row of their class has one of his with at most 1/k;
every class has rows of at least k people. Published tables do not say whose rows they are: it needs the private run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from undercover.forms.classes import Classes
from undercover.guarantees import per_unit
from undercover.guarantees.checking import LooksAt, Outcome, Promise, conclude
from undercover.model.beliefs import JointBeliefs
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.model.run import Run
from undercover.parameters import AtLeast


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Promise):
    """Every class has at least ``k`` rows; with ``per``, nobody has more than one in ``k`` of them.

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
    looks_at: ClassVar[LooksAt] = "boxes"
    least_rows: ClassVar[str | None] = "k"
    remarks: ClassVar[tuple[str, ...]] = (r"Every class has rows of at least [0-9,]+ different `.*`\.",)

    k: Annotated[int, AtLeast(1)]
    per: str | None = None

    def title(self) -> str:
        """Its name and numbers."""
        named = "k-anonymity, not asked for (k = 1)" if self.k == 1 else f"{self.k}-anonymity"
        return named + (f" per {self.per}" if self.per else "")

    def meaning(self) -> str:
        """What it means for the people in the table."""
        if self.per is not None:
            return (
                f"Nobody has more than one in {self.k:,} of the rows of a class: whoever knows all rows of a person "
                f"and picks one of their class has one of his with probability 1/{self.k} at most. Who is who, only "
                "the private run tells."
            )
        if self.k == 1:
            return "It asks for nothing: a row may be the only one with its quasi-identifier cells."
        others = "one other row" if self.k == 2 else f"{self.k - 1:,} other rows"
        return f"Everybody shares all published quasi-identifier cells with at least {others}."

    def is_vacuous(self, classes: Classes) -> bool:
        """k = 1 asks for nothing."""
        return self.k == 1

    def check(self, classes: Classes) -> Finding:
        """Find the smallest class."""
        if self.per is not None:
            return per_unit.untold(self, self.k, self.sense)
        rows = classes.boxes or classes
        return conclude(self, rows, [Outcome(rows.sizes, rows.sizes >= self.k)], required=self.k)

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Whether ``k`` people fit the same rows of all releases; where fewer do, that is not decided.

        Each release still has k rows for everybody. Whether somebody can tell which rows of two releases are of one
        person depends on what else he knows.
        """
        return at_least_alike(beliefs, self.k) if self.per is None else None

    def check_run(self, run: Run) -> Finding:
        """Find the person who has most of a class."""
        found = per_unit.held(run)
        if found is None:
            return per_unit.missing(self, self.k, self.sense)
        kept = found.most * self.k <= found.sizes
        people = int(found.people.min()) if len(found.people) else 0
        return Finding(
            self.name,
            self.parameters(),
            self.k,
            int((found.sizes // np.maximum(found.most, 1)).min(initial=int(found.sizes.sum()))),
            bool(kept.all()),
            needs=per_unit.NEEDS,
            note=f"Every class has rows of at least {people:,} different `{self.per}`.",
            sense=self.sense,
            violating_rows=int(found.sizes[~kept].sum()),
            violators=np.flatnonzero(~kept),
        )


def at_least_alike(beliefs: JointBeliefs, k: int) -> bool | None:
    """Whether at least ``k`` people fit the same rows of all releases as anybody does; ``None``: not decided."""
    enough = k == 1 or (beliefs.alike is not None and bool((beliefs.alike >= k).all()))
    return True if enough else None
