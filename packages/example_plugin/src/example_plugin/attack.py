"""Singling out: somebody looks for people whom exactly one published row fits, and takes it for theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from undercover.forms.case import Case
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.view import View, Viewable, facts, table

STORY = (
    "The attacker knows everybody's values in the columns {known}. Where exactly one published row fits somebody, he "
    "takes it to be that person's. Guessing is one row of all."
)


@dataclass(frozen=True)
class SinglingOutResult(Viewable):
    """How many people exactly one row fits, and how often that row is theirs."""

    known: tuple[str, ...]
    people: int
    singled_out: int
    right: int

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "attack": "singling-out",
            "story": STORY.format(known=", ".join(f"`{name}`" for name in self.known)),
            "known": list(self.known),
            "targets": self.people,
            "singled_out": self.singled_out / self.people,
            "right": self.right / self.people,
            "baseline": {"identity": 1 / self.people},
        }

    def view(self) -> View:
        """The shares, beside guessing."""
        found = self.to_dict()
        rows = [("singled out", found["singled_out"], None), ("and rightly", found["right"], 1 / self.people)]
        shown = table(("", "release", "guessing"), "plain risk baseline", rows)
        return View("singling-out", "Singling out", (facts(("people", self.people)), shown), story=found["story"])


@dataclass(frozen=True, kw_only=True)
class SinglingOut:
    """Somebody who trusts a row that fits alone.

    >>> SinglingOut().name
    'singling-out'
    """

    name: ClassVar[str] = "singling-out"
    effort: ClassVar[Effort] = "asked"
    slow: ClassVar[bool] = False

    known: tuple[str, ...] | None = None

    def applies(self, case: Case) -> str | None:
        """A row is one person."""
        return None if case.reading.one_each else "Singling out needs rows that are one person each."

    def run(self, case: Case, *, progress: Progress = no_progress) -> SinglingOutResult:
        """Look for everybody."""
        known = case.known(self.known, "Singling out")
        target_of, targets = case.targets(known)
        found = case.reading.disclosure(known, case.original, target_of, targets, case.threads)
        alone = found.matches == 1
        fits = case.reading.own_fits(known, case.original, case.own)
        right = alone if fits is None else alone & fits.all(axis=1)
        return SinglingOutResult(known, case.original.n_rows, int(alone.sum()), int(right.sum()))
