"""Attribute cover: whose sensitive value a person's is, has probability at most 1/l for every value.

Sensitive values were dealt anew, every order equally likely, inside groups of at least l rows whose values all differ.
Somebody who is told the groups, everybody's place and how values were dealt gives a person each value of the group with
probability 1/|G| at most; whoever is told less believes an average of such beliefs, which is no larger (decision 33).

Two things are assumed and cannot be checked: everybody has one row, and labels are exchangeable given what is known of
the people. Of four men and one woman in a group, "pregnant" is the woman's whatever was dealt.

What is published shows neither groups nor dealing. It can refute the promise: a value that more than a share 1/l of all
rows have cannot differ from the others in every group. The rest is recomputed from the private run: every group has l
rows, its values differ, and the rows that show them are those in which its members have their places. ``actual`` is
the largest share a value has of a group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from undercover.errors import DataError
from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.forms.dealt.rows import Dealt, smallest
from undercover.guarantees.checking import Promise
from undercover.model.figures import counted
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.parameters import AtLeast

ASSUMED = (
    "It takes everybody to have one row, and nothing known of people to rule a value out for them: of four men and one "
    "woman, `pregnant` is the woman's whatever was dealt."
)


@dataclass(frozen=True, kw_only=True)
class AttributeCover(Promise):
    """Every sensitive value is a person's with probability at most 1/``l``.

    Examples
    --------
    >>> AttributeCover(l=10).title()
    'attribute cover, l = 10'
    """

    name: ClassVar[str] = "attribute-cover"
    sense: ClassVar[Sense] = "at most"
    about: ClassVar[frozenset[Cover]] = frozenset({"attribute"})
    short: ClassVar[Short] = {}
    shown_as: ClassVar[str | None] = "1/l"

    l: Annotated[int, AtLeast(2)]  # noqa: E741 - the papers' letter

    def title(self) -> str:
        """Its name and number."""
        return f"attribute cover, l = {self.l}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            f"Sensitive values were dealt anew among at least {self.l} people whose values all differ: nobody who sees "
            f"the release, and how it was made, can give anybody a value with more than 1/{self.l}. {ASSUMED}"
        )

    def unfit(self, release: Release) -> str | None:
        """It speaks of values that were dealt anew, in rows whose order says nothing."""
        reading = read(release)
        if reading.among is None:
            return "The sensitive values of this release were not dealt anew: a row shows its own person's."
        return order_told(release)

    def check(self, classes: Classes) -> Finding:
        """Published tables can refute it, where a value is too frequent to differ in every group; not confirm it."""
        open_ = Finding(self.name, self.parameters(), 1 / self.l, needs="private", sense=self.sense, is_refutable=True)
        for column in classes.sensitive.values():
            most, rows = int(column.as_read.overall.max(initial=0)), int(column.overall.sum())
            if most * self.l > rows:
                note = f"A value of `{column.name}` is that of more than 1 in {self.l} rows."
                return replace(open_, actual=most / rows, holds=False, needs=None, note=note)
        return open_

    def check_run(self, run: Run) -> Finding:
        """Recompute the groups inside which values were dealt."""
        reading = read(run.release)
        found = Finding(self.name, self.parameters(), 1 / self.l, needs="private", sense=self.sense)
        unfit = self.unfit(run.release)
        if unfit is not None:
            return replace(found, holds=False, note=unfit)
        try:
            dealt = Dealt.of(run, reading)
        except DataError as error:
            return replace(found, holds=False, note=str(error))
        least, problems = smallest(dealt.groups), []
        names = reading.main.names("sensitive")
        repeated = max(
            (dealt.repeated(reading.column(name), distinct=name in reading.distinct) for name in names), default=0
        )
        if least < self.l:
            problems.append(f"Some group has {least} rows.")
        if repeated != 1:
            problems.append("In some group values do not differ." if names else "No column is sensitive.")
        if dealt.strayed:
            problems.append(f"In {counted(dealt.strayed, 'row')} the value is that of somebody of another group.")
        note = " ".join(problems)
        return replace(found, actual=min(1.0, repeated / least), holds=not problems, note=note)


def order_told(release: Release) -> str | None:
    """Why whose row is whose is no secret, where the order tells."""
    told = read(release).own_rows(None) is not None
    return "Its rows stand in the order of the input: whoever knows it knows which row is whose." if told else None
