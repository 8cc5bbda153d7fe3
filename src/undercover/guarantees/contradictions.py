"""Where a release contradicts itself: what its method was asked for, what its form states, and what it promises.

None of it is recomputed; it is compared. Whoever edits one of them and forgets another is found. Whoever edits all of
them is not: see :mod:`undercover.io.signatures`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any

from undercover import plugins
from undercover.exact import exact
from undercover.guarantees.requirements import FOUND
from undercover.model.release import LOOKED, NOT_SAFE, Release

USED = "used"
"""The parameter under which a release says how it was made, beyond what was asked for."""


def contradictions(release: Release) -> list[str]:
    """What is said in two ways, one sentence each."""
    asked = {name: value for name, value in release.parameters.items() if name != USED and value is not None}
    used, stated = release.parameters.get(USED), release.form.stated()
    places = {"`method.parameters.used`": used if isinstance(used, Mapping) else {}, "`method.parameters`": asked}
    found = [
        f"{where} says {name} = {_shown(said[name])}, the form {_shown(value)}."
        for name, value in stated.items()
        for where, said in places.items()
        if name in said and not _same(said[name], value)
    ]
    found += [
        f"The form says {name} = {_shown(value)}; the parameters of the method say nothing of it."
        for name, value in stated.items()
        if not any(name in said for said in places.values())
    ]
    return [*found, *_of_claims(release, stated), *_unkept(release, asked), *_taken_out(release, asked, stated)]


def emptied(release: Release) -> list[str]:
    """Whether a method was asked for something that promises are made of, and nothing is promised."""
    asked = [
        f"{name} = {value}" for name, value in release.parameters.items() if name in _numbers() and value is not None
    ]
    if release.guarantees or not asked:
        return []
    return [f"The method was asked for {', '.join(asked)}, and no promise is left: they were taken out."]


def unsafe_unsaid(release: Release) -> list[str]:
    """Whether ``algorithm_safe`` says something else than the warnings, or less than ``corruption_robust``."""
    found = []
    if release.corruption_robust and not release.algorithm_safe:
        found.append("`corruption_robust` is true and `algorithm_safe` false: the first implies the second.")
    looked, warned = release.choice.has_looked, LOOKED in release.warnings
    if looked and release.algorithm_safe:
        found.append("`choice` says that sensitive values were looked at, and `algorithm_safe` is true.")
    if looked is not warned:
        other = (
            "the warning that goes with it lacks" if looked else "a warning says that sensitive values were looked at"
        )
        found.append(f"`choice` says {release.choice.basis}, and {other}: one of the two was changed.")
    if release.algorithm_safe is (NOT_SAFE not in release.warnings and not warned):
        return found
    other = "and a warning says that it is not" if release.algorithm_safe else "and the warning that goes with it lacks"
    return [*found, f"`algorithm_safe` is {str(release.algorithm_safe).lower()}, {other}: one of the two was changed."]


def _of_claims(release: Release, stated: Mapping[str, Any]) -> Iterator[str]:
    """What a promise says of how the release was made must be what the form states; of a number, some promise."""
    numbers = _numbers() if stated else set()
    for name, value in stated.items():
        claimed = [claim for claim in release.guarantees if name in _parameters(claim)]
        other = [claim for claim in claimed if not _same(claim[name], value)]
        if name in numbers and len(other) < len(claimed):
            continue
        for claim in other:
            yield f"{claim.get('name')} says {name} = {_shown(claim[name])}, the form {_shown(value)}."


def _unkept(release: Release, asked: Mapping[str, Any]) -> Iterator[str]:
    """Of a number the method was asked for, some promise that has such a number must promise it."""
    numbers = _numbers() if release.guarantees else ()
    for name, value in asked.items():
        claimed = [claim for claim in release.guarantees if name in numbers and name in _parameters(claim)]
        if claimed and not any(_same(claim[name], value) for claim in claimed):
            found = ", ".join(f"{claim.get('name')} with {name} = {_shown(claim[name])}" for claim in claimed)
            yield f"The method was asked for {name} = {_shown(value)}; promised is {found}."


def _taken_out(release: Release, asked: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    """Whether one of several promises is gone: a number that was asked for, or a channel, that no promise has.

    Not asked beside a promise that published tables cannot show: it may rest on numbers that it does not name.
    """
    if not release.guarantees or any(claim.get("needs") for claim in release.guarantees):
        return
    promised = {name for claim in release.guarantees for name in _parameters(claim)}
    for name, value in asked.items():
        if name in _numbers() and name not in promised:
            yield f"The method was asked for {name} = {_shown(value)}, and no promise has it: one was taken out."
    for name in stated:
        if name in _all_parameters() and name not in promised:
            yield f"The form says {name} = {_shown(stated[name])}, and no promise speaks of it: one was taken out."


def _all_parameters() -> set[str]:
    return {field.name for name in plugins.names("guarantees") for field in fields(plugins.load("guarantees", name))}


def _numbers() -> set[str]:
    """What must be given to make a guarantee: k, l, t and the like."""
    kinds = [plugins.load("guarantees", name) for name in plugins.names("guarantees")]
    return {
        field.name
        for kind in kinds
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }


def _parameters(claim: Mapping[str, Any]) -> list[str]:
    return [name for name in claim if name not in (*FOUND, "name")]


def _same(one: Any, other: Any) -> bool:
    """Whether two ways of writing a number, or a number and a list of so many, say the same."""
    if _is_list(one) and _is_list(other):
        return [str(item) for item in one] == [str(item) for item in other]
    one, other = (len(item) if _is_list(item) else item for item in (one, other))
    return bool(_exact(one) == _exact(other))


def _exact(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        return value
    try:
        return exact(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        return value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shown(value: Any) -> str:
    return f"{len(value)} values" if _is_list(value) else str(value)
