"""What known values of some people tell of others, on tables that are too large to go through."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import fmean, median
from typing import Any

from undercover.model.view import Figure, Verdict, View, Viewable, facts, say, table
from undercover.studies.algorithm_aware.following import Followed

STORY = (
    "The attacker knows every person's quasi-identifiers, who is in which group, the method with its parameters, and "
    "the sensitive values of a few people. He runs the method himself on the same people with their values dealt anew, "
    "and notes when the value of one person goes with that of somebody in another group. Then he is given releases "
    "and known values that he has not seen, and follows what he is sure of from group to group."
)


@dataclass(frozen=True)
class Told:
    """A note that says something else than the group alone."""

    posterior: float
    alone: float  # share of the value in the group
    interval: tuple[float, float]
    draws: int  # releases it rests on
    knowing: bool  # whether a known value was needed

    @property
    def gain(self) -> float:
        """By how much it certainly differs."""
        low, high = self.interval
        return max(low - self.alone, self.alone - high, 0.0)


@dataclass(frozen=True)
class KnownValuesResult(Viewable):
    """Whether the values of some people tell of people in other groups, and how far that reaches.

    ``leak`` is the note that says most beyond the group alone to somebody who knows a value, ``unasked`` to somebody
    who knows none; ``None`` where none certainly does. ``sets`` are the releases he was tried on.
    """

    people: int
    known: int
    draws: int
    notes: int  # different ones
    noted: int  # pairs of groups looked at, once for every order
    sets: tuple[Followed, ...]
    leak: Told | None
    unasked: Told | None
    declared_safe: bool
    declared_robust: bool
    story: str = field(default=STORY, repr=False)

    @property
    def safe(self) -> bool:
        """Whether nothing certainly tells more than the groups to somebody who knows no value."""
        return self.unasked is None

    @property
    def robust(self) -> bool:
        """Whether nothing certainly does to somebody who knows some."""
        return self.safe and self.leak is None

    @property
    def most_fixed(self) -> int:
        """Other groups in which somebody became certain, in the worst of the releases tried."""
        return max((one.fixed for one in self.sets), default=0)

    @property
    def median_fixed(self) -> int:
        """The same in half of them at least."""
        return int(median(one.fixed for one in self.sets)) if self.sets else 0

    @property
    def right(self) -> float | None:
        """How much is true of what he was certain of; ``None`` where that was nothing."""
        named = sum(one.people for one in self.sets)
        return sum(one.right for one in self.sets) / named if named else None

    @property
    def baseline(self) -> float:
        """How often a guess by the group alone is right."""
        return fmean(one.alone for one in self.sets) if self.sets else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports; they name nobody."""
        return {
            "attack": "known-values",
            "story": self.story,
            "people": self.people,
            "known": self.known,
            "draws": self.draws,
            "notes": self.notes,
            "noted": self.noted,
            "baseline": self.baseline,
            "tried": len(self.sets),
            "right": self.right,
            "median_fixed": self.median_fixed,
            "sets": [one._asdict() for one in self.sets],
            "safe": self.safe,
            "robust": self.robust,
            "declared_safe": self.declared_safe,
            "declared_robust": self.declared_robust,
            "leak": None if self.leak is None else asdict(self.leak),
            "unasked": None if self.unasked is None else asdict(self.unasked),
        }

    def view(self) -> View:
        """Whether known values tell of others, where most, and in how many groups."""
        fixed = sorted(one.fixed for one in self.sets)
        lines: list[Any] = [
            ("people", self.people),
            ("he knows", say("the values of {count}", self.known)),
            ("he learnt from", say("{count} runs, {count} pairs of groups", self.draws, self.noted)),
            ("declared robust when values are known", "yes" if self.declared_robust else "no"),
        ]
        if fixed:
            lines.append(
                ("other groups he became certain in",
                 say("{count} to {count} of {count}, half the time {count} or more, in {count} releases tried",
                     fixed[0], fixed[-1], self.sets[0].groups, self.median_fixed, len(fixed)))
            )  # fmt: skip
        if self.right is not None:
            certain = say(
                "{risk} is true; a guess by the group alone is right in {baseline}", self.right, self.baseline
            )
            lines.append(("of what he was certain of", certain))
        shown = [("knowing nobody's value", self.unasked), ("knowing one value", self.leak)]
        rows = [(label, one.alone, Figure(one.posterior, "risk", interval=one.interval)) for label, one in shown if one]
        parts: tuple[Any, ...] = (facts(*lines),)
        if rows:
            parts += (table(("the attacker", "group alone", "with what he learnt"), "plain risk risk", rows),)
        following = "`.leak` says where known values tell most, `.sets` how far they reach."
        return View(
            "known-values", "Knowing values of others", parts, *self._verdict(), self.story, following, private=True
        )

    def __repr__(self) -> str:
        return (
            f"<Knowing values of others: {self._verdict()[1]}; at most {self.most_fixed:,} other groups fixed in "
            f"{len(self.sets):,} releases; .leak and .sets say more>"
        )

    def _verdict(self) -> tuple[Verdict, str]:
        if not self.safe:
            return "bad", "groups tell more than their values, to anybody"
        if not self.robust:
            return "bad", "known values tell of people in other groups"
        return "good", "nothing was found that known values tell of others"
