"""Publishes tables about people without giving the people away.

>>> import undercover as uc
>>> people = uc.datasets.census(1000)
>>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
>>> run = uc.publish(people, schema, uc.Mondrian(k=10))
>>> uc.verify(run.release).holds
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from undercover.version import VERSION

__version__ = VERSION

if (
    TYPE_CHECKING
):  # for type checkers; what runs loads a name when it is used, so that `import undercover` costs nothing
    from undercover import datasets as datasets
    from undercover.analysis.answers import Recipient as Recipient
    from undercover.analysis.answers import answer as answer
    from undercover.analysis.sums import SumQuery as SumQuery
    from undercover.analysis.sums import Sums as Sums
    from undercover.analysis.sums import answer_sum as answer_sum
    from undercover.attacks.algorithm_aware import AlgorithmAware as AlgorithmAware
    from undercover.attacks.bucket_matching import BucketMatching as BucketMatching
    from undercover.attacks.corruption.channel import Corruption as Corruption
    from undercover.attacks.corruption.true_values import OrdinaryCorruption as OrdinaryCorruption
    from undercover.attacks.joint.attack import JointRelease as JointRelease
    from undercover.attacks.linkage import Linkage as Linkage
    from undercover.attacks.partial.attack import PartialKnowledge as PartialKnowledge
    from undercover.forms.perturbed.counts import PerturbedCounts as PerturbedCounts
    from undercover.guarantees.beta_likeness import BetaLikeness as BetaLikeness
    from undercover.guarantees.breach.growth import DeltaGrowth as DeltaGrowth
    from undercover.guarantees.breach.rho import RhoBreach as RhoBreach
    from undercover.guarantees.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from undercover.guarantees.delta_probability import DeltaProbability as DeltaProbability
    from undercover.guarantees.disjoint import DisjointCells as DisjointCells
    from undercover.guarantees.joint.diversity import JointDiversity as JointDiversity
    from undercover.guarantees.k_anonymity import KAnonymity as KAnonymity
    from undercover.guarantees.kl_anonymity import KLAnonymity as KLAnonymity
    from undercover.guarantees.l_diversity import LDiversity as LDiversity
    from undercover.guarantees.t_closeness import TCloseness as TCloseness
    from undercover.methods.anatomy.method import Anatomy as Anatomy
    from undercover.methods.cross_bucket.method import CrossBucket as CrossBucket
    from undercover.methods.incognito.method import Incognito as Incognito
    from undercover.methods.mondrian.method import Mondrian as Mondrian
    from undercover.methods.mondrian.minimality.attack import Minimality as Minimality
    from undercover.methods.mutual_cover.informed import Informed as Informed
    from undercover.methods.mutual_cover.method import MutualCover as MutualCover
    from undercover.methods.noncentralized.method import NonCentralized as NonCentralized
    from undercover.methods.perturbed_generalization.method import PerturbedGeneralization as PerturbedGeneralization
    from undercover.methods.streamliner.method import Streamliner as Streamliner
    from undercover.model.distances import Distances as Distances
    from undercover.model.hierarchy import Hierarchy as Hierarchy
    from undercover.model.queries import Between as Between
    from undercover.model.queries import CountQuery as CountQuery
    from undercover.model.queries import NoneOf as NoneOf
    from undercover.model.queries import OneOf as OneOf
    from undercover.model.release import Release as Release
    from undercover.model.run import Run as Run
    from undercover.model.schema import Column as Column
    from undercover.model.schema import Schema as Schema
    from undercover.model.table import Table as Table
    from undercover.utility.queries.counts import QueryError as QueryError
    from undercover.utility.queries.sums import SumError as SumError
    from undercover.verbs.apply import apply as apply
    from undercover.verbs.attack import attack as attack
    from undercover.verbs.joint import joint_risk as joint_risk
    from undercover.verbs.joint import published as published
    from undercover.verbs.measure import measure as measure
    from undercover.verbs.publish import publish as publish
    from undercover.verbs.report import report as report
    from undercover.verbs.store import load as load
    from undercover.verbs.store import save as save
    from undercover.verbs.verify import verify as verify

# Public names by where they are at home. Built-in methods, guarantees and attacks are looked up among the plug-ins.
_HOMES = {
    "undercover.analysis.answers": "Recipient answer",
    "undercover.analysis.sums": "SumQuery Sums answer_sum",
    "undercover.attacks.joint.attack": "JointRelease",
    "undercover.forms.perturbed.counts": "PerturbedCounts",
    "undercover.model.distances": "Distances",
    "undercover.model.hierarchy": "Hierarchy",
    "undercover.model.queries": "Between CountQuery NoneOf OneOf",
    "undercover.model.release": "Release",
    "undercover.model.run": "Run",
    "undercover.model.schema": "Column Schema",
    "undercover.model.table": "Table",
    "undercover.utility.queries.counts": "QueryError",
    "undercover.utility.queries.sums": "SumError",
    "undercover.verbs.apply": "apply",
    "undercover.verbs.attack": "attack",
    "undercover.verbs.joint": "joint_risk published",
    "undercover.verbs.measure": "measure",
    "undercover.verbs.publish": "publish",
    "undercover.verbs.report": "report",
    "undercover.verbs.store": "load save",
    "undercover.verbs.verify": "verify",
}
# What needs an optional part is public, but not in `__all__`.
_EXTRA = dict.fromkeys(("PerturbedClassifier", "fit_release"), "undercover.analysis.learning.classifier")


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("undercover.datasets")
    if name == "__all__":
        return sorted({*_public(), "datasets", "__version__"})
    home = {**_public(), **_EXTRA}.get(name)
    if home is None:
        raise AttributeError(f"module 'undercover' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))


def _public() -> dict[str, str]:
    """The module of every public name."""
    from undercover.plugins import BUILT_IN

    specs = (spec.partition(":") for kind in ("methods", "guarantees", "attacks") for spec in BUILT_IN[kind].values())
    found = {name: module for module, _, name in specs}
    return found | {name: module for module, names in _HOMES.items() for name in names.split()}
