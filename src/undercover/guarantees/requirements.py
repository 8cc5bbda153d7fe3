"""What somebody requires, from the command line or a spec, as guarantees.

On the command line a requirement is ``key=number``; some guarantees take several numbers, joined by commas or given one
by one: ``recursive-l=3,c=2``, ``rho1=0.2,rho2=0.5``. What the schema knows of the sensitive columns is filled in where
a guarantee needs it: the tree of the hierarchical distance, the order of the ordered one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from undercover.errors import ParameterError, listed, unknown
from undercover.guarantees.finding import Checkable
from undercover.guarantees.registry import guarantee_from_mapping
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column

# Guarantee, parameter that takes the number, and what else is thereby said.
_KEYS: Final[Mapping[str, tuple[str, str, Mapping[str, Any]]]] = {
    "k": ("k-anonymity", "k", {}),
    "l": ("l-diversity", "l", {"form": "frequency"}),
    "distinct-l": ("l-diversity", "l", {"form": "distinct"}),
    "entropy-l": ("l-diversity", "l", {"form": "entropy"}),
    "recursive-l": ("l-diversity", "l", {"form": "recursive"}),
    "t": ("t-closeness", "t", {"distance": "equal"}),
    "ordered-t": ("t-closeness", "t", {"distance": "ordered"}),
    "hierarchical-t": ("t-closeness", "t", {"distance": "hierarchical"}),
    "delta": ("delta-disclosure", "delta", {}),
    "beta": ("beta-likeness", "beta", {}),
    "enhanced-beta": ("beta-likeness", "beta", {"enhanced": True}),
    "rho2": ("rho-breach", "rho2", {}),
    "growth": ("delta-growth", "growth", {}),
}
# Numbers that belong to another key: which ones, and how that is written.
_COMPANIONS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "c": (("recursive-l",), "recursive-l=3,c=2"),
    "rho1": (("rho2",), "rho1=0.2,rho2=0.5"),
    "skew": (("rho2", "growth"), "growth=0.25,skew=0.1"),
    "p": (("rho2", "growth"), "growth=0.25,p=0.3,domain=50"),
    "domain": (("rho2", "growth"), "growth=0.25,p=0.3,domain=50"),
}
_NEEDED: Final[Mapping[str, str]] = {"recursive-l": "c", "rho2": "rho1"}

REQUIREMENTS: Final[tuple[str, ...]] = (*_KEYS, *_COMPANIONS)
"""The keys of :func:`guarantees_from_requirements`."""


def guarantee_from_requirement(requirement: str, *, hierarchy: Hierarchy | None = None) -> Checkable:
    """One requirement of the command line; see :func:`guarantees_from_requirements`.

    >>> guarantee_from_requirement("recursive-l=3,c=2")
    LDiversity(l=3, form='recursive', c=2, column=None)
    """
    found = guarantees_from_requirements([requirement], hierarchy=hierarchy)
    if len(found) != 1:
        raise ParameterError(f"The requirement {requirement!r} must name one guarantee. Found {len(found)}.")
    return found[0]


def guarantees_from_requirements(
    requirements: Iterable[str], *, hierarchy: Hierarchy | None = None, columns: Mapping[str, Column] | None = None
) -> tuple[Checkable, ...]:
    """The requirements of the command line as guarantees; all problems are reported together.

    Parameters
    ----------
    requirements
        ``key=number`` each, several joined by commas if you like. ``c`` belongs to ``recursive-l``, ``rho1`` to
        ``rho2``, ``skew``, ``p`` and ``domain`` to ``rho2`` and ``growth``. Numbers may be written as fractions.
    hierarchy
        The tree over the sensitive values that ``hierarchical-t`` needs.
    columns
        What is known of the sensitive columns, where a tree or an order is to be taken from.

    Examples
    --------
    >>> guarantees_from_requirements(["k=5", "t=1/5"])[0]
    KAnonymity(k=5)
    >>> guarantees_from_requirements(["recursive-l=3", "c=2"])
    (LDiversity(l=3, form='recursive', c=2, column=None),)
    >>> guarantees_from_requirements(["rho1=0.2,rho2=0.5"])[0].parameters()
    {'rho2': 0.5, 'rho1': 0.2, 'skew': 1, 'bound': 'tight'}
    """
    problems: list[str] = []
    asked: list[tuple[str, dict[str, Any]]] = []
    companions: dict[str, list[Any]] = {}
    for part in (part.strip() for requirement in requirements for part in requirement.split(",")):
        key, separator, text = (piece.strip() for piece in part.partition("="))
        if not separator or not text:
            problems.append(f"The requirement {part!r} is not of the form key=number, such as k=5.")
        elif key in _COMPANIONS:
            companions.setdefault(key, []).append(_number(text))
        elif key not in _KEYS:
            problems.append(_unknown(key))
        else:
            name, parameter, more = _KEYS[key]
            asked.append((key, {"name": name, parameter: _number(text), **more}))
    for key, given in companions.items():
        problems += _joined(key, given, asked)
    entries = []
    for key, mapping in asked:
        needed = _NEEDED.get(key)
        if needed and needed not in mapping:
            if needed not in companions:
                problems.append(f"{key} needs one {needed}: {_COMPANIONS[needed][1]}.")
            continue
        if mapping.get("distance") == "hierarchical" and hierarchy is not None:
            mapping["hierarchy"] = hierarchy
        entries.append(mapping)
    found = _built(entries, columns or {}, problems)
    if problems:
        raise ParameterError(problems)
    return found


def guarantees_from_entries(
    entries: Iterable[Mapping[str, Any]], columns: Mapping[str, Column] | None = None
) -> tuple[Checkable, ...]:
    """The ``[[require]]`` entries of a spec as guarantees; all problems are reported together.

    Examples
    --------
    >>> income = Column(kind="ordinal", domain=("low", "middle", "high"))
    >>> entry = {"name": "t-closeness", "t": 0.2, "distance": "ordered"}
    >>> guarantees_from_entries([entry], {"income": income})[0].order
    ('low', 'middle', 'high')
    """
    problems: list[str] = []
    found = _built([dict(entry) for entry in entries], columns or {}, problems)
    if problems:
        raise ParameterError(problems)
    return found


def _joined(key: str, given: Sequence[Any], asked: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """Give the numbers of a companion to those they belong to: one to all, or one to each."""
    owners, example = _COMPANIONS[key]
    homes = [mapping for owner, mapping in asked if owner in owners]
    if not homes:
        return [f"The requirement {key} belongs to {' and '.join(owners)}: {example}."]
    if len(given) not in (1, len(homes)):
        return [f"{' and '.join(owners)} needs one {key}: {example}. Got {listed(given)}."]
    for place, mapping in enumerate(homes):
        mapping[key] = given[place if len(given) > 1 else 0]
    return []


def _built(
    entries: Sequence[Mapping[str, Any]], columns: Mapping[str, Column], problems: list[str]
) -> tuple[Checkable, ...]:
    guarantees: list[Checkable] = []
    for entry in entries:
        try:
            guarantees += [guarantee_from_mapping(full) for full in _with_columns(entry, columns)]
        except ParameterError as error:
            problems += error.problems
    return tuple(guarantees)


def _with_columns(entry: Mapping[str, Any], columns: Mapping[str, Column]) -> list[Mapping[str, Any]]:
    """The same requirement with what the schema knows: one for each column where they differ in it."""
    if entry.get("name") != "t-closeness":
        return [entry]
    named = entry.get("column")
    meant = {name: column for name, column in columns.items() if named is None or name == named}
    if entry.get("distance") == "hierarchical" and entry.get("hierarchy") is None:
        lacking = [name for name, column in meant.items() if column.hierarchy is None]
        if lacking or not meant:
            whose = listed(lacking or [named or "the sensitive column"])
            raise ParameterError(
                f"t-closeness by hierarchical distance needs a hierarchy of {whose}: give a spec (--spec) with "
                f'hierarchy = "tree.csv" under [columns.{(lacking or [named or "NAME"])[0]}].'
            )
        return [{**entry, "column": name, "hierarchy": column.hierarchy} for name, column in meant.items()]
    if entry.get("distance") == "ordered" and entry.get("order") is None:
        orders = {name: column.domain for name, column in meant.items() if _is_ordered(column)}
        if orders:
            return [{**entry, "column": name, **_order(orders.get(name))} for name in meant]
    return [entry]


def _is_ordered(column: Column) -> bool:
    return column.kind == "ordinal" or column.bins is not None


def _order(domain: tuple[str, ...] | None) -> dict[str, Any]:
    return {} if domain is None else {"order": domain}


def _unknown(key: str) -> str:
    """As :func:`undercover.errors.unknown`, with every key named however many there are."""
    said, _, _ = unknown("Requirement", key, REQUIREMENTS).partition(" There are: ")
    return f"{said} There are: {listed(REQUIREMENTS, limit=len(REQUIREMENTS))}."


def _number(text: str) -> int | float | str:
    """A whole number, a decimal, or the text as it stands (fractions, and what the guarantee will complain of)."""
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text
