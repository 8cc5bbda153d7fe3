"""Guarantees by name: from a spec, from a manifest, from the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from undercover.errors import ParameterError, listed, unknown
from undercover.guarantees.beta_likeness import BetaLikeness
from undercover.guarantees.delta_disclosure import DeltaDisclosure
from undercover.guarantees.delta_growth import DeltaGrowth
from undercover.guarantees.delta_probability import DeltaProbability
from undercover.guarantees.disjoint import DisjointCells
from undercover.guarantees.finding import Checkable
from undercover.guarantees.joint_diversity import JointDiversity
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.rho_breach import RhoBreach
from undercover.guarantees.t_closeness import TCloseness
from undercover.model.hierarchy import Hierarchy

GUARANTEES: Final[Mapping[str, type[Any]]] = {
    guarantee.name: guarantee
    for guarantee in (
        KAnonymity,
        KLAnonymity,
        LDiversity,
        TCloseness,
        DeltaDisclosure,
        BetaLikeness,
        DeltaProbability,
        RhoBreach,
        DeltaGrowth,
        DisjointCells,
        JointDiversity,
    )
}
"""Every guarantee by its name."""

# What `--require` understands: guarantee, parameter that takes the number, and what else is thereby said.
_REQUIREMENTS: Final[Mapping[str, tuple[str, str, Mapping[str, Any]]]] = {
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
}
REQUIREMENTS: Final[tuple[str, ...]] = (*_REQUIREMENTS, "c")
"""The keys of :func:`guarantees_from_requirements`."""


def guarantee_from_mapping(mapping: Mapping[str, Any]) -> Checkable:
    """Build a guarantee from its name and parameters, as in a spec or a manifest.

    >>> guarantee_from_mapping({"name": "k-anonymity", "k": 5})
    KAnonymity(k=5)
    >>> guarantee_from_mapping({"name": "k-anonymity", "kk": 5})
    Traceback (most recent call last):
    undercover.errors.ParameterError: 2 problems:
    - Parameter of k-anonymity `kk` is not known. Did you mean `k`? There are: `k`.
    - k-anonymity needs the parameter `k`.
    """
    name = mapping.get("name")
    if not isinstance(name, str) or name not in GUARANTEES:
        raise ParameterError(unknown("Guarantee", str(name), GUARANTEES))
    given = {key: value for key, value in mapping.items() if key != "name"}
    known = fields(GUARANTEES[name])
    names = [parameter.name for parameter in known]
    problems = [unknown(f"Parameter of {name}", key, names) for key in given if key not in names]
    problems += [
        f"{name} needs the parameter `{parameter.name}`."
        for parameter in known
        if parameter.default is MISSING and parameter.default_factory is MISSING and parameter.name not in given
    ]
    if problems:
        raise ParameterError(problems)
    guarantee: Checkable = GUARANTEES[name](**given)
    return guarantee


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
    requirements: Iterable[str], *, hierarchy: Hierarchy | None = None
) -> tuple[Checkable, ...]:
    """The requirements of the command line as guarantees; all problems are reported together.

    Parameters
    ----------
    requirements
        ``key=number`` each, several joined by commas if you like. ``c`` belongs to ``recursive-l``. Numbers may be
        written as fractions.
    hierarchy
        The tree over the sensitive values that ``hierarchical-t`` needs.

    Examples
    --------
    >>> guarantees_from_requirements(["k=5", "t=1/5"])[0]
    KAnonymity(k=5)
    >>> guarantees_from_requirements(["recursive-l=3", "c=2"])
    (LDiversity(l=3, form='recursive', c=2, column=None),)
    """
    problems: list[str] = []
    mappings: list[dict[str, Any]] = []
    constants: list[Any] = []
    for part in (part.strip() for requirement in requirements for part in requirement.split(",")):
        key, separator, text = (piece.strip() for piece in part.partition("="))
        if not separator or not text:
            problems.append(f"The requirement {part!r} is not of the form key=number, such as k=5.")
        elif key == "c":
            constants.append(_number(text))
        elif key not in _REQUIREMENTS:
            problems.append(unknown("Requirement", key, REQUIREMENTS))
        else:
            name, parameter, more = _REQUIREMENTS[key]
            mappings.append({"name": name, parameter: _number(text), **more})
    recursive = [mapping for mapping in mappings if mapping.get("form") == "recursive"]
    if constants and not recursive:
        problems.append("The requirement c belongs to recursive-l: recursive-l=3,c=2.")
    elif recursive and len(constants) not in (1, len(recursive)):
        problems.append(f"recursive-l needs one c: recursive-l=3,c=2. Got {listed(constants)}.")
    elif recursive:
        for position, mapping in enumerate(recursive):
            mapping["c"] = constants[position if len(constants) > 1 else 0]
    guarantees: list[Checkable] = []
    for mapping in mappings:
        if mapping.get("distance") == "hierarchical":
            mapping["hierarchy"] = hierarchy
        if mapping.get("form") == "recursive" and "c" not in mapping:
            continue  # reported above
        try:
            guarantees.append(guarantee_from_mapping(mapping))
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
