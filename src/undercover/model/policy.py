"""A policy: what may happen to the people of a table, as limits that a release is judged by.

Where the numbers of the built-in policies come from is on the guide's page about policies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from undercover.errors import ParameterError, listed, unknown
from undercover.exact import plain
from undercover.parameters import Within, check, from_text
from undercover.parsing import toml_of

Wish = Literal["required", "preferred", "ignored"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Limits on what an attacker may do to people; ``None`` sets no limit.

    Parameters
    ----------
    name
        What it is called.
    found
        Largest probability with which anybody's row may be found.
    belief
        Somebody is exposed whose true sensitive value the attacker believes with at least this probability …
    gain
        … and with at least this much more than he does without the release. Whoever is below is excused, and counted
        beside those who are not. A value that ``harmful`` names counts as soon as it is certain, excused by nothing.
    exposed
        Largest share of people who may be exposed.
    harmful
        By sensitive column the values that must not be learnt; of a column that is not named, all of them. A missing
        value is no value: nobody is exposed by it, unless ``"missing"`` is named here.
    singled_out
        Largest share of people who may be the only one with their values in the columns that are published unchanged.
    algorithm_safe
        Whether somebody who knows the method must not learn more by it: ``required``, ``preferred`` (the holder
        decides) or ``ignored``.
    known_values
        Whether the attacker also knows the sensitive value of one other person.
    presence_known
        Whether he knows that his victim is in the table. Where he does not, a row is found among the people of the
        population, which the schema has to tell.
    membership
        Largest probability with which he may believe that somebody of the population is in the table.

    Examples
    --------
    >>> Policy(found="1/10").found
    Fraction(1, 10)
    >>> Policy(belief=0.2, gain=0.5)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The policy contradicts itself: `gain` (0.5) is more than `belief` (0.2), which \
then limits nothing. Lower the gain, or raise the belief.
    """

    name: str = "own"
    found: Annotated[float | Fraction, Within(0, 1, "(]")] | None = Fraction(1, 5)
    belief: Annotated[float | Fraction, Within(0, 1, "(]")] | None = Fraction(9, 10)
    gain: Annotated[float | Fraction, Within(0, 1)] = Fraction(1, 10)
    exposed: Annotated[float | Fraction, Within(0, 1, "[)")] = 0
    harmful: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    singled_out: Annotated[float | Fraction, Within(0, 1, "[)")] | None = 0
    algorithm_safe: Wish = "preferred"
    known_values: bool = False
    presence_known: bool = True
    membership: Annotated[float | Fraction, Within(0, 1, "(]")] | None = None

    def __post_init__(self) -> None:
        check(self, self._contradictions())
        given = {name: (values,) if isinstance(values, str) else values for name, values in self.harmful.items()}
        object.__setattr__(self, "harmful", {name: tuple(map(str, values)) for name, values in given.items()})

    def _contradictions(self) -> Iterator[str]:
        if not isinstance(self.harmful, Mapping):
            yield f'Harmful values are given by column, such as {{disease = ["HIV"]}}. Got {self.harmful!r} instead.'
            return
        for name, values in self.harmful.items():
            if not isinstance(values, str | list | tuple):
                yield f'Harmful values of `{name}` are a list, such as ["HIV"]. Got {values!r} instead.'
                return
        if self.belief is not None and self.gain > self.belief:
            yield (
                f"The policy contradicts itself: `gain` ({plain(self.gain)}) is more than `belief` "
                f"({plain(self.belief)}), which then limits nothing. Lower the gain, or raise the belief."
            )
        if self.belief is None and (self.harmful or self.known_values or self.exposed):
            yield (
                "The policy contradicts itself: without `belief` nobody counts as exposed, and `harmful`, `exposed` "
                "and `known_values` limit who may be. Give a `belief`, or leave them out."
            )
        empty = [name for name, values in self.harmful.items() if not values]
        if empty:
            yield f"No value of {listed(empty)} is harmful: leave the column out, or name values."

    @property
    def judges(self) -> bool:
        """Whether it limits anything."""
        return self.name != "none"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON and TOML; :func:`policy_of` reads it back."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        found["harmful"] = {name: list(values) for name, values in self.harmful.items()}
        return {name: plain(value) if isinstance(value, Fraction) else value for name, value in found.items()}


MISSING: Final = "missing"
"""How ``harmful`` names a missing value, unless the column has a value that is written so."""

_NOTHING: Final[Mapping[str, Any]] = {"found": None, "belief": None, "singled_out": None, "algorithm_safe": "ignored"}
POLICIES: Final[Mapping[str, Policy]] = {
    "standard": Policy(name="standard"),
    "open": Policy(
        name="open",
        found=Fraction(1, 11),
        belief=Fraction(1, 2),
        algorithm_safe="required",
        known_values=True,
    ),
    "research": Policy(name="research", found=Fraction(1, 3), exposed=Fraction(1, 100), algorithm_safe="ignored"),
    "none": Policy(name="none", **_NOTHING),
}
STANDARD: Final = POLICIES["standard"]


def policy_of(given: Policy | str | os.PathLike[str] | Mapping[str, Any] | None) -> Policy:
    """A policy: itself, by its name, from a TOML file, or from a mapping; ``None`` is the standard one.

    A mapping or file begins with the built-in policy of its ``name``, or with the standard one, and changes what it
    says; ``"none"`` lifts a limit.

    >>> policy_of({"name": "open", "found": "1/20"}).belief
    Fraction(1, 2)
    """
    if given is None or isinstance(given, Policy):
        return given or STANDARD
    if isinstance(given, Mapping):
        return _changed(given)
    if isinstance(given, str) and given in POLICIES:
        return POLICIES[given]
    place = Path(given)
    if not place.is_file():
        raise ParameterError(f"{unknown('Policy', str(given), POLICIES)} Or give a file in TOML with its limits.")
    content = toml_of(place, "policy", ParameterError)
    limits = content.get("policy", content)
    if not isinstance(limits, Mapping):
        raise ParameterError(f"The policy `{place}` must have limits, such as found = 0.1. Got {limits!r} instead.")
    return _changed(limits)


def _changed(content: Mapping[str, Any]) -> Policy:
    name = str(content.get("name", "own"))
    base = POLICIES.get(name, STANDARD)
    limits = base.to_dict()
    problems = [unknown("Limit of a policy", key, limits) for key in content if key not in limits]
    if name == "none" and len(content) > 1:
        problems.append("The policy `none` judges nothing, so it has no limits. Name another, or leave them out.")
    if problems:
        raise ParameterError(problems)
    lifted = {key: None if value == "none" and key != "name" else value for key, value in content.items()}
    called = name if len(content) == 1 or name not in POLICIES else f"{name}, changed"
    changed: Policy = from_text(Policy, {**limits, **lifted, "name": called})
    return changed
