"""Where a release contradicts itself: what its method was asked for, what its form states, and what it promises.

None of it is recomputed; it is compared. Whoever edits one of them and forgets another is found. Whoever edits all of
them is not: see :mod:`undercover.io.signatures`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from undercover import plugins
from undercover.errors import unknown
from undercover.guarantees.declared import USED, agree, declared_method, undeclared
from undercover.guarantees.requirements import FOUND
from undercover.model.release import LOOKED, NOT_SAFE, WARNINGS, Release
from undercover.version import VERSION

NUMBERED_SINCE = "0.1.0"
"""The version since which a manifest says its layout."""

_VERSION = re.compile(r"(?P<numbers>\d{1,6}(\.\d{1,6}){0,4})(?P<before>(a|b|rc|\.dev)\d{1,6})?(\.post\d{1,6})?")


def contradictions(release: Release) -> list[str]:
    """What is said in two ways, one sentence each."""
    asked = {name: value for name, value in release.parameters.items() if name != USED and value is not None}
    used, stated = release.parameters.get(USED), release.form.stated()
    places = {"`method.parameters.used`": used if isinstance(used, Mapping) else {}, "`method.parameters`": asked}
    found = [
        f"{where} says {name} = {_shown(said[name])}, the form {_shown(value)}."
        for name, value in stated.items()
        for where, said in places.items()
        if name in said and not agree(said[name], value)
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


def unwritten(release: Release) -> list[str]:
    """What a manifest of this layout says that this program never writes, one sentence each."""
    return [
        *_strange_version(release.version),
        *_strange_warnings(release),
        *undeclared(release),
        *_strange_claims(release),
    ]


def uncheckable(release: Release) -> list[str]:
    """Why nobody here can check all that a manifest says: a method nobody offers, a newer version."""
    found = []
    if (version_of(release.version) or ((), False)) > (version_of(VERSION) or ((), False)):
        found.append(
            f"release.json was written by undercover {release.version}, which is newer than this one ({VERSION}): it "
            "may say what this one does not know. Install that version or a later one, and verify again."
        )
    if declared_method(release.method) is None:
        found.append(
            f"{unknown('Method', release.method, plugins.names('methods'))} What it was asked for cannot be checked. "
            "Install the package that offers it, or ask the holder for the private run."
        )
    return found


def _strange_version(version: str) -> Iterator[str]:
    found = version_of(version)
    if found is None:
        yield f"`undercover` is {version!r} in release.json, which is no version of this program: it was changed."
    elif found < (version_of(NUMBERED_SINCE) or ((), False)):
        yield (
            f"release.json was written by undercover {version} and says its layout, which is said since "
            f"{NUMBERED_SINCE}: one of the two was changed."
        )


def _strange_warnings(release: Release) -> Iterator[str]:
    strange = sum(warning not in WARNINGS for warning in release.warnings)
    if strange:
        yield (
            f"release.json has {strange} of {len(release.warnings)} `warnings` that this program never writes. Do not "
            "rely on them; ask the holder who added them."
        )
    if len(set(release.warnings)) < len(release.warnings):
        yield "release.json says a warning twice."


def _strange_claims(release: Release) -> Iterator[str]:
    """Promises that are recorded as failing, or with figures and remarks that a check never has."""
    for claim in release.guarantees:
        name, holds, note = claim.get("name"), claim.get("holds"), claim.get("note")
        if holds is not True and not (holds is None and claim.get("needs")):
            yield f"{name} is recorded with holds = {str(holds).lower()}; a release whose promise fails is not written."
        if note is not None and not _is_own_remark(str(name), note):
            yield f"{name} is recorded with a `note` that no check of it writes."
        required, actual = (_number(claim.get(key)) for key in ("required", "actual"))
        sense = _sense(str(name))
        if required is not None and actual is not None and sense is not None:
            slack = 1e-9 * max(1.0, abs(required))
            if (actual < required - slack) if sense == "at least" else (actual > required + slack):
                yield f"{name} is recorded as holding with {actual:g} where {sense} {required:g} is required."


def _is_own_remark(name: str, note: Any) -> bool:
    """Whether a check of a promise may have remarked this; of promises of other packages nobody can tell."""
    if name not in plugins.names("guarantees"):
        return True
    patterns = getattr(plugins.load("guarantees", name), "remarks", None)
    return patterns is None or (isinstance(note, str) and any(re.fullmatch(one, note) for one in patterns))


def _sense(name: str) -> str | None:
    return getattr(plugins.load("guarantees", name), "sense", None) if name in plugins.names("guarantees") else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def version_of(text: str) -> tuple[tuple[int, ...], bool] | None:
    """A version as something to compare, a pre-release before its release; ``None`` where it is none.

    >>> version_of("0.2.0rc1") < version_of("0.2") < version_of("0.10.1"), version_of("soon")
    (True, None)
    """
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    numbers = [int(part) for part in found["numbers"].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), found["before"] is None


def _of_claims(release: Release, stated: Mapping[str, Any]) -> Iterator[str]:
    """What a promise says of how the release was made must be what the form states; of a number, some promise."""
    numbers = _numbers() if stated else set()
    for name, value in stated.items():
        claimed = [claim for claim in release.guarantees if name in _parameters(claim)]
        other = [claim for claim in claimed if not agree(claim[name], value)]
        if name in numbers and len(other) < len(claimed):
            continue
        for claim in other:
            yield f"{claim.get('name')} says {name} = {_shown(claim[name])}, the form {_shown(value)}."


def _unkept(release: Release, asked: Mapping[str, Any]) -> Iterator[str]:
    """Of a number the method was asked for, some promise that has such a number must promise it."""
    numbers = _numbers() if release.guarantees else ()
    for name, value in asked.items():
        claimed = [claim for claim in release.guarantees if name in numbers and name in _parameters(claim)]
        if claimed and not any(agree(claim[name], value) for claim in claimed):
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


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shown(value: Any) -> str:
    return f"{len(value)} values" if _is_list(value) else str(value)
