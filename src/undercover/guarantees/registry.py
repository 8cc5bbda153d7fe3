"""Guarantees by name: from a spec or from a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from undercover.errors import ParameterError, unknown
from undercover.guarantees.beta_likeness import BetaLikeness
from undercover.guarantees.breach.growth import DeltaGrowth
from undercover.guarantees.breach.rho import RhoBreach
from undercover.guarantees.delta_disclosure import DeltaDisclosure
from undercover.guarantees.delta_probability import DeltaProbability
from undercover.guarantees.disjoint import DisjointCells
from undercover.guarantees.finding import Checkable
from undercover.guarantees.joint.diversity import JointDiversity
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness

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
