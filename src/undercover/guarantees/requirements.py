"""Guarantees by name and parameters: from a spec, from a manifest, or from what somebody requires on the command line.

On the command line a requirement is ``key=number``, by the keys every guarantee declares (``short``). Some take several
numbers, joined by commas or given one by one: ``recursive-l=3,c=2``, ``rho1=0.2,rho2=0.5``. What the schema knows of
the sensitive columns is filled in where a guarantee needs it: the tree of the hierarchical distance, the order of the
ordered one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from undercover import plugins
from undercover.errors import ParameterError, PluginError, listed, unknown
from undercover.guarantees.checking import Checkable, Given
from undercover.model.schema import Column
from undercover.parameters import make

FOUND = ("required", "actual", "holds", "needs", "note", "columns")
"""What a manifest adds to the name and parameters of a claim."""


def guarantee_from_mapping(mapping: Mapping[str, Any]) -> Checkable:
    """Build a guarantee from its name and parameters, as in a spec or a manifest."""
    given = {key: value for key, value in mapping.items() if key != "name"}
    name = str(mapping.get("name"))
    try:
        guarantee: Checkable = make("guarantees", name, given)
    except (TypeError, ValueError, AttributeError, LookupError) as error:  # of a manifest that holds anything
        raise ParameterError(f"The parameters of {name} are malformed: {type(error).__name__}.") from error
    return guarantee


def requirement_keys() -> tuple[str, ...]:
    """The keys of :func:`guarantees_from_requirements`: those of guarantees, then those given beside them."""
    known = _short_forms()
    return tuple(dict.fromkeys([*known, *_beside(known)]))


def guarantees_from_requirements(
    requirements: Iterable[str], *, columns: Mapping[str, Column] | None = None
) -> tuple[Checkable, ...]:
    """The requirements of the command line as guarantees; all problems are reported together.

    Each is ``key=number``, several joined by commas if you like; numbers may be written as fractions. ``columns`` is
    what is known of the sensitive columns, where a tree or an order is to be taken from.
    """
    entries, problems = _entries(requirements)
    return _built(entries, columns or {}, problems)


def entries_from_requirements(requirements: Iterable[str]) -> list[dict[str, Any]]:
    """The same as entries of a spec, which takes trees and orders from its columns.

    >>> entries_from_requirements(["distinct-l=3"])
    [{'name': 'l-diversity', 'l': 3, 'form': 'distinct'}]
    """
    entries, problems = _entries(requirements)
    if problems:
        raise ParameterError(problems)
    return entries


def _entries(requirements: Iterable[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Entries, and what is wrong with what was said."""
    known = _short_forms()
    beside = _beside(known)
    problems: list[str] = []
    asked: list[tuple[str, dict[str, Any]]] = []
    given: dict[str, list[Any]] = {}
    for part in (part.strip() for requirement in requirements for part in requirement.split(",")):
        key, separator, text = (piece.strip() for piece in part.partition("="))
        if not separator or not text:
            problems.append(f"The requirement {part!r} is not of the form key=number, such as k=5.")
        elif key in known:
            name, said = known[key]
            more = {parameter: value for parameter, value in said.items() if not isinstance(value, Given)}
            asked.append((key, {"name": name, key.rpartition("-")[2]: _number(text), **more}))
        elif key in beside:
            given.setdefault(key, []).append(_number(text))
        else:
            keys = requirement_keys()
            about, _, _ = unknown("Requirement", key, keys).partition(" There are: ")
            problems.append(f"{about} There are: {listed(keys, limit=len(keys))}.")
    for key, numbers in given.items():
        problems += _joined(key, numbers, asked, *beside[key])
    complete = []
    for key, entry in asked:
        needed = {name: said for name, said in known[key][1].items() if isinstance(said, Given) and said.needed}
        lacking = [name for name in needed if name not in entry]
        problems += [f"{key} needs one {name}: {needed[name].example}." for name in lacking if name not in given]
        if not lacking:
            complete.append(entry)
    return complete, problems


def guarantees_from_entries(
    entries: Iterable[Mapping[str, Any]], columns: Mapping[str, Column] | None = None
) -> tuple[Checkable, ...]:
    """The ``[[require]]`` entries of a spec as guarantees; all problems are reported together."""
    return _built(entries, columns or {}, [])


def _short_forms() -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Every key with its guarantee and what is said with it."""
    found: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for name in plugins.names("guarantees"):
        for key, said in plugins.load("guarantees", name).short.items():
            if key in found:
                raise PluginError(
                    f"{name} of {plugins.origin('guarantees', name)} and {found[key][0]} are both required by `{key}`."
                )
            found[key] = name, said
    return found


def _beside(known: Mapping[str, tuple[str, Mapping[str, Any]]]) -> dict[str, tuple[list[str], str]]:
    """Numbers that are given beside others: the keys they belong to, and how that is written."""
    found: dict[str, tuple[list[str], str]] = {}
    for key, (_, said) in known.items():
        for name, value in said.items():
            if isinstance(value, Given):
                found.setdefault(name, ([], value.example))[0].append(key)
    return found


def _joined(
    key: str, given: Sequence[Any], asked: Sequence[tuple[str, dict[str, Any]]], owners: Sequence[str], example: str
) -> list[str]:
    """Give numbers to those they belong to: one to all, or one to each."""
    homes = [mapping for owner, mapping in asked if owner in owners]
    if not homes:
        return [f"The requirement {key} belongs to {' and '.join(owners)}: {example}."]
    if len(given) not in (1, len(homes)):
        return [f"{' and '.join(owners)} needs one {key}: {example}. Got {listed(given)}."]
    for place, mapping in enumerate(homes):
        mapping[key] = given[place if len(given) > 1 else 0]
    return []


def _built(
    entries: Iterable[Mapping[str, Any]], columns: Mapping[str, Column], problems: list[str]
) -> tuple[Checkable, ...]:
    guarantees: list[Checkable] = []
    for entry in entries:
        try:
            completed = getattr(plugins.load("guarantees", str(entry.get("name"))), "completed", None)
            full = completed(entry, columns) if completed else [entry]
            guarantees += [guarantee_from_mapping(each) for each in full]
        except ParameterError as error:
            problems += error.problems
    if problems:
        raise ParameterError(problems)
    return tuple(guarantees)


def _number(text: str) -> int | float | str:
    """A whole number, a decimal, or the text as it stands (fractions, and what the guarantee will complain of)."""
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text
