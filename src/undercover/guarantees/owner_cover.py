"""Owner cover: which person a published row belongs to, has probability at most delta for every person.

Two things can be meant, and ``of`` says which. ``"value"``: whose sensitive value the row carries. All other columns
were permuted, each by itself, inside groups of at least 1/delta rows: in a group every pairing of people and rows is
equally likely (decision 33), so nobody gives a person more than 1/|G|.
``"cells"``: in which row a person's place was before sensitive values were dealt on top of it. That is *not* a bound on
being identified: afterwards no cell of the row need be the person's.

A quasi-identifier cell that is unique has a certain source all the same: if one person is 90 years old, a published 90
says that somebody of that age is in the table. What is hidden is beside which values it belongs.

Published tables show neither groups nor permutations. Recomputed from the private run: everybody has one published row,
and every group has at least 1/delta rows. ``actual`` is 1 over the rows of the smallest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from undercover.errors import DataError
from undercover.exact import Number, exact, plain
from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.forms.dealt.rows import BLOCKS, Dealt, smallest
from undercover.guarantees.attribute_cover import order_told
from undercover.guarantees.checking import Promise
from undercover.model.figures import counted
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.parameters import EXACT, Within

_MEANING = {
    "value": "Nobody who sees the release, and how it was made, can say of any row with more than {delta} whose "
    "sensitive value it carries. A rare quasi-identifier still shows that somebody has it: a published age of 90 says "
    "that a person of 90 is in the table, not what else is the person's. It takes everybody to have one row.",
    "cells": "The place a row's quasi-identifiers were gathered around is any person's with at most {delta}. This is "
    "not a bound on being identified: sensitive values were dealt on top of it, and no cell of the row need be that "
    "person's.",
}


@dataclass(frozen=True, kw_only=True)
class OwnerCover(Promise):
    """A published row is a person's with probability at most ``delta``; ``of`` says by its value or by its cells.

    Examples
    --------
    >>> OwnerCover(delta="1/5").title()
    "owner of a row's sensitive value, δ = 1/5"
    """

    name: ClassVar[str] = "owner-cover"
    sense: ClassVar[Sense] = "at most"
    short: ClassVar[Short] = {}

    delta: Annotated[Number, Within(0, 1, "(]"), EXACT]
    of: Literal["value", "cells"] = "value"

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec."""
        return {"delta": plain(exact(self.delta)), "of": self.of}

    def covers(self) -> frozenset[Cover]:
        """Identity, where it speaks of the value a row carries; where it speaks of cells, nothing that has a name."""
        return frozenset({"identity"}) if self.of == "value" else frozenset()

    def title(self) -> str:
        """What it bounds, and the bound."""
        what = {"value": "owner of a row's sensitive value", "cells": "owner of a row's place (not identity)"}[self.of]
        return f"{what}, δ = {plain(exact(self.delta))}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return _MEANING[self.of].format(delta=plain(exact(self.delta)))

    def unfit(self, release: Release) -> str | None:
        """It speaks of columns that were permuted, in rows whose order says nothing."""
        reading = read(release)
        if not reading.permuted:
            return "The columns of this release were not permuted among its rows."
        if self.of == "cells" and reading.among is None:
            return "The sensitive values of this release are their rows' own: say whose they are with of = value."
        return order_told(release)

    def is_vacuous(self, classes: Classes) -> bool:
        """A probability of 1 is no limit."""
        return exact(self.delta) >= 1

    def check(self, classes: Classes) -> Finding:
        """Published tables cannot tell."""
        return Finding(self.name, self.parameters(), float(exact(self.delta)), needs="private", sense=self.sense)

    def check_run(self, run: Run) -> Finding:
        """Recompute the groups inside which columns were permuted."""
        found = Finding(self.name, self.parameters(), float(exact(self.delta)), needs="private", sense=self.sense)
        lacking = f"The private run has no `{BLOCKS}`." if self.of == "cells" and BLOCKS not in run.frames else None
        unfit = self.unfit(run.release) or lacking
        if unfit is not None:
            return replace(found, holds=False, note=unfit)
        try:
            dealt = Dealt.of(run, read(run.release))
        except DataError as error:
            return replace(found, holds=False, note=str(error))
        least, problems = smallest(dealt.groups if self.of == "value" else dealt.blocks), []
        if least * exact(self.delta) < 1:
            problems.append(f"Some group has {least} rows.")
        if self.of == "value" and dealt.strayed:
            problems.append(f"In {counted(dealt.strayed, 'row')} the value is that of somebody of another group.")
        return replace(found, actual=1 / max(least, 1), holds=not problems, note=" ".join(problems))
