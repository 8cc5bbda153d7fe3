"""A verdict: whether a release may be published, by what happens to the people in it, and why.

An attack says what it reaches on each person as an :class:`Exposure`; a policy sets limits; the verdict has a
:class:`Reason` for every limit that is exceeded and for everything that nobody knows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.model.figures import counted, number
from undercover.model.policy import Policy
from undercover.model.view import Part, Said, View, Viewable
from undercover.model.view import Verdict as Colour

Status = Literal["ready", "decide", "do not publish"]
Weight = Literal["stop", "ask", "note"]
Floats = NDArray[np.float64]

_NOTHING = 1e-12  # a probability below is one of 0, and rounding
_NORMAL = 1.959963984540054  # 97.5% of a normal distribution lie below
SINGLING_OUT, LINKABILITY, INFERENCE = "singling out", "linkability", "inference"
TITLES: Mapping[Status, str] = {"ready": "Ready", "decide": "Decide", "do not publish": "Do not publish"}
_COLOURS: Mapping[Status, Colour] = {"ready": "good", "decide": "care", "do not publish": "bad"}
_MEANING: Mapping[Status, str] = {
    "ready": "No limit of the policy is exceeded, by any attack that applies.",
    "decide": "No limit of the policy is exceeded, and something is not known. You decide.",
    "do not publish": "A limit of the policy is exceeded.",
}
LEAK = "leak"
"""The kind of a reason that nobody can accept: public files hold what must not be in any."""
_OPEN_KINDS = (LEAK, "singled out")  # reasons that no sensitive value decides
_LEAKS = "Public files hold what must not be published."


@dataclass(frozen=True)
class Exposure:
    """What one attack reaches on each person, as a policy judges it; what it does not look at is left out.

    ``found`` and ``belief`` are probabilities before the dice fell: posteriors under the law that the release
    publishes. Where only the outcome of one draw is known, ``rate`` is how often it was the right row, over everybody.

    Where the people looked at were drawn at random, ``of`` is how many they stand for; what is reached on none of these
    more than so, whoever is looked at, is ``found_at_most`` and ``belief_at_most``.

    Of somebody whose value is missing, ``belief`` is that it is; of everybody else it is asked among those who have a
    value (:func:`among_values`), ``prior`` likewise.
    """

    attack: str
    rows: NDArray[np.int64]  # input row of each person looked at
    found: Floats | None = None  # probability of finding the person's row
    belief: Mapping[str, Floats] = field(default_factory=dict)  # sensitive column -> belief in the true value
    prior: Mapping[str, Floats] = field(default_factory=dict)  # without the release, where not the share of the value
    rate: float | None = None  # how often the row taken is the person's own, of everybody looked at
    interval: tuple[float, float] | None = None  # of the rate, where people were sampled
    membership: Floats | None = None  # probability of being in the table, of somebody of the population
    known_values: bool = False  # the attacker also knows the value of one other person
    population: bool = False  # he does not know that his victim is in the table
    estimated: bool = False  # how many people of the population fit was estimated, and not counted
    of: int | None = None  # people a random sample stands for; None: nobody but those looked at
    joint: str = ""  # with what else, where the attacker does not have this release alone
    found_at_most: float | None = None
    belief_at_most: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Counted:
    """People something is found of: those who were looked at one by one, and those of a sample, with its size.

    Examples
    --------
    >>> Counted(1_000_000, np.arange(2), np.arange(5), 1000)
    About 5,000 people (of a sample: 2,138 to 11,651)
    >>> Counted(1_000_000, np.arange(2), np.arange(0), 1000)
    At least 2 people
    """

    everybody: int
    known: NDArray[np.int64]  # numbers of people
    drawn: NDArray[np.int64]  # of those in the sample
    drawn_from: int = 0  # people in the sample
    attack: str = ""  # that finds most

    @classmethod
    def of(cls, everybody: int, found: Iterable[tuple[Exposure, NDArray[np.int64]]]) -> Counted:
        """Together, of several attacks; where they drew other people, of the sample in which most are found."""
        each = list(found)
        samples: dict[int, tuple[int, list[NDArray[np.int64]]]] = {}
        for exposure, who in each:
            key = 0 if exposure.of is None else hash((len(exposure.rows), exposure.rows.tobytes()))
            size, of_sample = samples.setdefault(key, (len(exposure.rows), []))
            of_sample.append(who)
        nobody = np.empty(0, np.int64)
        known = np.unique(np.concatenate([nobody, *samples.pop(0, (0, []))[1]]))
        drawn = [(size, np.unique(np.concatenate([nobody, *whose]))) for size, whose in samples.values()]
        size, those = max(drawn, key=lambda sample: len(sample[1]) / max(sample[0], 1), default=(0, nobody))
        most = max(each, key=lambda entry: len(entry[1]), default=None)
        return cls(everybody, known, those, size, most[0].attack if most is not None and len(most[1]) else "")

    @classmethod
    def together(cls, each: Sequence[Counted], everybody: int) -> Counted:
        """The people found by any of several."""
        known, drawn = (
            np.unique(np.concatenate([np.empty(0, np.int64), *parts]))
            for parts in ([one.known for one in each], [one.drawn for one in each])
        )
        return cls(everybody, known, drawn, max((one.drawn_from for one in each), default=0))

    @property
    def estimated(self) -> bool:
        """Whether it is the sample that says how many there are."""
        return bool(self.drawn_from) and len(self.drawn) * self.everybody > len(self.known) * self.drawn_from

    @property
    def people(self) -> int:
        """How many there are, at least those known; of everybody, as the sample has it."""
        return round(self.everybody * len(self.drawn) / self.drawn_from) if self.estimated else len(self.known)

    @property
    def share(self) -> float:
        """The same as a share of everybody."""
        return self.people / self.everybody

    @property
    def ends(self) -> tuple[float, float]:
        """Between which shares the share of everybody lies (95%, Wilson 1927); of no sample what is known."""
        if not self.drawn_from:
            return self.share, self.share
        n, p, z2 = self.drawn_from, len(self.drawn) / self.drawn_from, _NORMAL**2
        middle, half = p + z2 / (2 * n), _NORMAL * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        least = len(self.known) / self.everybody
        return max(least, (middle - half) / (1 + z2 / n)), max(least, (middle + half) / (1 + z2 / n))

    def __str__(self) -> str:
        found = counted(self.people, "person", "people")
        if not self.estimated:  # who was not looked at may be more
            return f"At least {found}" if self.drawn_from else found
        low, high = (number(round(end * self.everybody)) for end in self.ends)
        return f"About {found} (of a sample: {low} to {high})"

    __repr__ = __str__


def among_values(belief: Floats, missing: Floats) -> Floats:
    """Belief in a value once it is known that there is one: ``missing`` is the belief that there is none.

    >>> among_values(np.array([0.3, 0.3, 0.0]), np.array([0.0, 0.7, 1.0])).round(9).tolist()
    [0.3, 1.0, 0.0]
    """
    there = 1 - missing
    found: Floats = np.divide(belief, there, out=np.zeros(len(belief)), where=there > _NOTHING)
    return np.minimum(found, 1.0)


def one_struck_out(shares: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Shares of a value among so many once another value of them is known and struck out.

    >>> one_struck_out(np.array([0.25, 1.0]), np.array([4, 3])).round(3).tolist()
    [0.333, 1.0]
    """
    left: Floats = np.where(shares < 1, shares * sizes / np.maximum(sizes - 1, 1), 1.0)
    return left


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a verdict is what it is: a sentence that counts people.

    ``weight`` is whether it stops publication, asks the holder, or is worth knowing only. ``regulator`` is the risk it
    is called by the European data protection authorities (opinion 05/2014): singling out, linkability, inference.
    ``change`` says what to do about it. ``people`` are those who count, ``excused`` those who would but for the
    policy's ``gain``; of both, ``certain`` is how many are certain, and ``highest`` the highest belief.
    """

    kind: str
    weight: Weight
    text: str
    people: int | None = None
    regulator: str = ""
    change: str = ""
    attack: str = ""
    limit: float | None = None
    actual: float | None = None
    column: str = ""
    certain: int | None = None
    excused: int | None = None
    highest: float | None = None

    @property
    def is_measured(self) -> bool:
        """Whether it depends on what attacks reach on people, and not only on what others may know anyway."""
        return self.people is not None and self.kind not in _OPEN_KINDS

    def sentence(self) -> str:
        """What it says, what a regulator calls it, and what to change."""
        called = f" [{self.regulator}]" if self.regulator else ""
        return f"{self.text}{called}{' ' if self.change else ''}{self.change}"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; what does not apply is left out."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) not in (None, "")}


@dataclass(frozen=True)
class Verdict(Viewable):
    """Whether a release may be published under a policy, and why.

    Examples
    --------
    >>> Verdict(Policy(), ()).title
    'Ready'
    >>> asked = Reason(kind="seed", weight="ask", text="The run was seeded.")
    >>> Verdict(Policy(), (asked,)).status
    'decide'
    """

    policy: Policy
    reasons: tuple[Reason, ...]

    @property
    def status(self) -> Status:
        """What the reasons come to."""
        weights = {reason.weight for reason in self.reasons}
        return "do not publish" if "stop" in weights else "decide" if "ask" in weights else "ready"

    @property
    def title(self) -> str:
        """Ready, Decide, or Do not publish; where the policy judges nothing, that."""
        return TITLES[self.status] if self.speaks else "Not judged"

    @property
    def meaning(self) -> str:
        """What that means, in a sentence that names the policy."""
        if not self.speaks:
            return "Nothing was judged: the policy is `none`."
        if any(reason.kind == LEAK for reason in self.reasons):
            return f"{_LEAKS} Policy: {self.policy.name}."
        return f"{_MEANING[self.status]} Policy: {self.policy.name}."

    @property
    def speaks(self) -> bool:
        """Whether anything was judged: by the policy, or by what must not be published under any."""
        return self.policy.judges or self.withheld

    @property
    def withheld(self) -> bool:
        """Whether the tables are kept back."""
        return self.status == "do not publish"

    def with_reasons(self, *more: Reason) -> Verdict:
        """The same with what else is known."""
        return replace(self, reasons=(*self.reasons, *more))

    @property
    def before_written(self) -> Verdict:
        """The same without what was found in files."""
        return replace(self, reasons=tuple(reason for reason in self.reasons if reason.kind != LEAK))

    def weighing(self, weight: Weight) -> tuple[Reason, ...]:
        """The reasons of one weight."""
        return tuple(reason for reason in self.reasons if reason.weight == weight)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; :meth:`of` reads it back."""
        return {
            "verdict": self.title,
            "policy": self.policy.to_dict(),
            "reasons": [reason.to_dict() for reason in self.ordered()],
        }

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Verdict:
        """The verdict that :meth:`to_dict` wrote down."""
        return cls(Policy(**content["policy"]), tuple(Reason(**reason) for reason in content["reasons"]))

    def view(self) -> View:
        """The verdict, its reasons and what to change."""
        parts: list[Part] = [Said(self.meaning)]
        parts += [Said(reason.sentence()) for reason in self.ordered() if self.speaks]
        colour = _COLOURS[self.status] if self.speaks else "plain"
        return View("verdict", "Verdict", tuple(parts), colour, self.title, private=True)

    def ordered(self) -> Sequence[Reason]:
        """The reasons, the weightiest first."""
        return (*self.weighing("stop"), *self.weighing("ask"), *self.weighing("note"))

    def __repr__(self) -> str:
        count = len(self.reasons)
        return f"<{self.title} under {self.policy.name}: {count} reason{'s' * (count != 1)}; .reasons has them>"
