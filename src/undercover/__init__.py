"""Publishes tables about people without giving the people away.

>>> import undercover as uc
>>> people = uc.datasets.census(1000)
>>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
>>> run = uc.publish(people, schema, uc.Mondrian(k=10))
>>> uc.verify(run.release).holds
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from undercover.version import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from undercover import datasets
    from undercover.analysis import (
        Between,
        CountQuery,
        NoneOf,
        OneOf,
        PerturbedCounts,
        Recipient,
        SumQuery,
        Sums,
        answer,
        answer_sum,
    )
    from undercover.attacks import (
        AlgorithmAware,
        BucketMatching,
        Corruption,
        JointRelease,
        Linkage,
    )
    from undercover.guarantees.beta_likeness import BetaLikeness
    from undercover.guarantees.breach.growth import DeltaGrowth
    from undercover.guarantees.breach.rho import RhoBreach
    from undercover.guarantees.delta_disclosure import DeltaDisclosure
    from undercover.guarantees.delta_probability import DeltaProbability
    from undercover.guarantees.disjoint import DisjointCells
    from undercover.guarantees.joint.diversity import JointDiversity
    from undercover.guarantees.k_anonymity import KAnonymity
    from undercover.guarantees.kl_anonymity import KLAnonymity
    from undercover.guarantees.l_diversity import LDiversity
    from undercover.guarantees.t_closeness import TCloseness
    from undercover.methods.anatomy import Anatomy
    from undercover.methods.cross_bucket import CrossBucket
    from undercover.methods.incognito import Incognito
    from undercover.methods.mondrian import Mondrian
    from undercover.methods.mondrian.minimality.attack import Minimality
    from undercover.methods.mutual_cover import MutualCover
    from undercover.methods.mutual_cover.informed import Informed
    from undercover.methods.noncentralized import NonCentralized
    from undercover.methods.perturbed_generalization import PerturbedGeneralization
    from undercover.methods.streamliner import Streamliner
    from undercover.model.distances import Distances
    from undercover.model.hierarchy import Hierarchy
    from undercover.model.release import Release
    from undercover.model.run import Run
    from undercover.model.schema import Column, Schema
    from undercover.model.table import Table
    from undercover.utility.queries.counts import QueryError
    from undercover.utility.queries.sums import SumError
    from undercover.verbs.apply import apply
    from undercover.verbs.attack import attack
    from undercover.verbs.joint import joint_risk, published
    from undercover.verbs.measure import measure
    from undercover.verbs.publish import publish
    from undercover.verbs.report import report
    from undercover.verbs.store import load, save
    from undercover.verbs.verify import verify

# Loaded on first use, so that `import undercover` and `undercover --help` cost next to nothing.
_HOMES = {
    "undercover.analysis.learning.classifier": ("PerturbedClassifier", "fit_release"),  # an extra: not in __all__
    "undercover.analysis": (
        "Between",
        "CountQuery",
        "NoneOf",
        "OneOf",
        "PerturbedCounts",
        "Recipient",
        "SumQuery",
        "Sums",
        "answer",
        "answer_sum",
    ),
    "undercover.verbs.attack": ("attack",),
    "undercover.verbs.joint": ("joint_risk", "published"),
    "undercover.verbs.measure": ("measure",),
    "undercover.verbs.publish": ("publish",),
    "undercover.verbs.report": ("report",),
    "undercover.verbs.store": ("load", "save"),
    "undercover.verbs.verify": ("verify",),
    "undercover.attacks": (
        "AlgorithmAware",
        "BucketMatching",
        "Corruption",
        "JointRelease",
        "Linkage",
    ),
    "undercover.guarantees.beta_likeness": ("BetaLikeness",),
    "undercover.guarantees.breach.growth": ("DeltaGrowth",),
    "undercover.guarantees.breach.rho": ("RhoBreach",),
    "undercover.guarantees.delta_disclosure": ("DeltaDisclosure",),
    "undercover.guarantees.delta_probability": ("DeltaProbability",),
    "undercover.guarantees.disjoint": ("DisjointCells",),
    "undercover.guarantees.joint.diversity": ("JointDiversity",),
    "undercover.guarantees.k_anonymity": ("KAnonymity",),
    "undercover.guarantees.kl_anonymity": ("KLAnonymity",),
    "undercover.guarantees.l_diversity": ("LDiversity",),
    "undercover.guarantees.t_closeness": ("TCloseness",),
    "undercover.methods.anatomy.method": ("Anatomy",),
    "undercover.methods.cross_bucket.method": ("CrossBucket",),
    "undercover.methods.incognito.method": ("Incognito",),
    "undercover.methods.mondrian.method": ("Mondrian",),
    "undercover.methods.mutual_cover.method": ("MutualCover",),
    "undercover.methods.noncentralized.method": ("NonCentralized",),
    "undercover.methods.perturbed_generalization.method": ("PerturbedGeneralization",),
    "undercover.methods.streamliner.method": ("Streamliner",),
    "undercover.methods.mutual_cover.informed": ("Informed",),
    "undercover.methods.mondrian.minimality.attack": ("Minimality",),
    "undercover.model.distances": ("Distances",),
    "undercover.model.hierarchy": ("Hierarchy",),
    "undercover.model.release": ("Release",),
    "undercover.model.run": ("Run",),
    "undercover.model.schema": ("Column", "Schema"),
    "undercover.model.table": ("Table",),
    "undercover.verbs.apply": ("apply",),
    "undercover.utility.queries.counts": ("QueryError",),
    "undercover.utility.queries.sums": ("SumError",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AlgorithmAware",
    "Anatomy",
    "BetaLikeness",
    "Between",
    "BucketMatching",
    "Column",
    "Corruption",
    "CountQuery",
    "CrossBucket",
    "DeltaDisclosure",
    "DeltaGrowth",
    "DeltaProbability",
    "DisjointCells",
    "Distances",
    "Hierarchy",
    "Incognito",
    "Informed",
    "JointDiversity",
    "JointRelease",
    "KAnonymity",
    "KLAnonymity",
    "LDiversity",
    "Linkage",
    "Minimality",
    "Mondrian",
    "MutualCover",
    "NonCentralized",
    "NoneOf",
    "OneOf",
    "PerturbedCounts",
    "PerturbedGeneralization",
    "QueryError",
    "Recipient",
    "Release",
    "RhoBreach",
    "Run",
    "Schema",
    "Streamliner",
    "SumError",
    "SumQuery",
    "Sums",
    "TCloseness",
    "Table",
    "__version__",
    "answer",
    "answer_sum",
    "apply",
    "attack",
    "datasets",
    "joint_risk",
    "load",
    "measure",
    "publish",
    "published",
    "report",
    "save",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return importlib.import_module("undercover.datasets")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'undercover' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
