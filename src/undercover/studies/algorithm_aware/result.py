"""What the adversary who knows the algorithm concludes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from undercover.attacks.views import WORST_ROWS
from undercover.model.view import Figure, Verdict, View, Viewable, facts, say, table

STORY = (
    "The attacker knows every person's quasi-identifiers, the list of sensitive values without names, and the method "
    "with its parameters; only its random draws are hidden from him. He looks at everything that is published: cells, "
    "their order, sizes, who is suppressed, what release.json and the datasheet say, and what a refusal says. He goes "
    "through every way in which the values may belong to the people and weighs each by the probability that the method "
    "would then have published what he sees."
)


@dataclass(frozen=True)
class Inference:
    """What the adversary concludes about one person from one release."""

    row: int  # the person, by position in the table
    value: str
    posterior: Fraction | float  # with knowledge of the algorithm
    alone: Fraction  # from the release alone: share of the value in the person's group
    groups: tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]  # the release: rows and values of every group
    interval: tuple[float, float]  # of the posterior; both ends equal where it is exact
    channel: str = "groups"  # what gave it away
    known: tuple[tuple[int, str], ...] = ()  # people whose values he knew, with their values

    @property
    def gain(self) -> float:
        """By how much knowing the algorithm certainly changes the probability."""
        low, high = self.interval
        return max(low - float(self.alone), float(self.alone) - high, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports; private, for they name rows."""
        return {
            "row": self.row,
            "value": self.value,
            "posterior": float(self.posterior),
            "fraction": str(self.posterior),
            "release_alone": float(self.alone),
            "interval": list(self.interval),
            "groups": [{"rows": list(rows), "values": list(values)} for rows, values in self.groups],
            "channel": self.channel,
            "known": [{"row": row, "value": value} for row, value in self.known],
        }


@dataclass(frozen=True)
class AlgorithmAwareResult(Viewable):
    """Every release the method can make of these values and people, seen by the adversary who knows it.

    ``leaks`` are the channels through which certainly more is told than the release alone says, with where it is most;
    ``refusal`` is the most that a refusal, or the words of it, tells. ``differs`` says where what the method lists, or
    reports of its groups, is not what it does. With ``draws`` runs, a probability that one release in ``rarity`` shifts
    by ``power`` is found as surely as the attack's ``confidence`` says.
    """

    exact: bool
    people: int
    tables: int  # ways in which the values may belong to the people
    releases: int  # different releases the method may make of them
    refused: int  # tables of which it publishes nothing; of draws, where it is not listed
    worst: Inference  # highest posterior
    largest_gain: Inference  # furthest from what the release alone says
    declared_safe: bool
    declared_robust: bool = False
    known: int = 0  # other people's values he may know
    draws: int = 0
    power: float = 1.0
    rarity: int = 10
    leaks: Mapping[str, Inference] = field(default_factory=dict)
    refusal: Inference | None = None
    differs: str | None = None
    story: str = field(default=STORY, repr=False)

    @property
    def safe(self) -> bool:
        """Whether no release tells more than it says alone (if sampled: not provably so), and none is misdescribed."""
        return not self.leaks and self.differs is None

    @property
    def refusal_tells(self) -> bool:
        """Whether somebody learns something from the table being refused."""
        return self.refusal is not None and self.refusal.gain > 0

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports; private, for it names rows."""
        return {
            "attack": "algorithm-aware",
            "story": self.story,
            "exact": self.exact,
            "people": self.people,
            "tables": self.tables,
            "releases": self.releases,
            "refused": self.refused,
            "declared_safe": self.declared_safe,
            "declared_robust": self.declared_robust,
            "safe": self.safe,
            "known": self.known,
            "draws": self.draws,
            "power": self.power,
            "rarity": self.rarity,
            "worst": self.worst.to_dict(),
            "largest_gain": self.largest_gain.to_dict(),
            "leaks": {channel: found.to_dict() for channel, found in self.leaks.items()},
            "refusal": None if self.refusal is None else self.refusal.to_dict(),
            "differs": self.differs,
        }

    def view(self) -> View:
        """Whether knowing the algorithm helps, in the worst case, where it helps most, and what gives it away."""
        found = self.to_dict()
        shown = [("surest of a value", found["worst"]), ("most beyond the release", found["largest_gain"])]
        shown += [(f"by its {channel}", leak) for channel, leak in found["leaks"].items()]
        if self.refusal_tells:
            shown.append(("by being refused", found["refusal"]))
        rows = [
            (
                label,
                entry["release_alone"],
                Figure(entry["posterior"], "risk", interval=_interval(entry["interval"])),
            )
            for label, entry in shown
        ]
        whose = [(label, entry["row"], entry["value"], entry["fraction"]) for label, entry in shown]
        lines: list[Any] = [
            ("people", found["people"]),
            ("tables tried", say("{count}, with {count} releases", found["tables"], found["releases"])),
            ("computed", "exactly" if found["exact"] else "from samples, with intervals"),
            ("declared safe", "yes" if found["declared_safe"] else "no"),
        ]
        if found["draws"]:
            seen = say(
                "{count} runs; a shift by {risk} in one release of {count} would be found",
                found["draws"], found["power"], found["rarity"],
            )  # fmt: skip
            lines.append(("watched", seen))
        if found["known"]:
            lines.append(("he knows", say("the values of up to {count} others", found["known"])))
        if found["refused"]:
            lines.insert(2, ("nothing published of", say("{count} tables", found["refused"])))
        if found["differs"]:
            lines.append(("said, but not done", found["differs"]))
        columns = ("", "row", "value", "probability")
        parts = (
            facts(*lines),
            table(("the attacker", "release alone", "with the algorithm"), "plain risk risk", rows),
            table(columns, "plain count plain plain", whose, WORST_ROWS, private=True, detail=1),
        )
        following = "`.worst` says whose value and in which release, `.leaks` through which channel."
        return View(
            "algorithm-aware", "Knowing the algorithm", parts, *self._verdict(), found["story"], following, private=True
        )

    def __repr__(self) -> str:
        through = f" by {', '.join(self.leaks)}" if self.leaks else ""
        return (
            f"<Knowing the algorithm: {self._verdict()[1]}{through}; surest of a value {self.worst.posterior}, where "
            f"the release alone says {self.worst.alone}; .worst and .leaks say more>"
        )

    def _verdict(self) -> tuple[Verdict, str]:
        if self.leaks:
            return "bad", "it tells more than the release alone"
        if self.differs is not None:
            return "bad", "the method does not do what it says"
        if self.refusal_tells:
            return "plain", "it does not help, but a refusal tells something"
        return "good", "it does not help"


def _interval(ends: list[float]) -> list[float] | None:
    return None if ends[0] == ends[1] else ends
