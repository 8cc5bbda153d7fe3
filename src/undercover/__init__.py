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
from typing import Any

from undercover.version import VERSION

__version__ = VERSION

# Public names by where they are at home, loaded when they are used; `__init__.pyi` has them for type checkers. Built-in
# methods, guarantees and attacks are looked up among the plug-ins.
_HOMES = {
    "undercover.forms.answers.recipient": "Recipient Sums answer answer_sum",
    "undercover.attacks.joint.attack": "JointRelease",
    "undercover.forms.answers.channel": "PerturbedCounts",
    "undercover.io.ledger.book": "Ledger",
    "undercover.model.distance.declared": "Distances",
    "undercover.model.hierarchy": "Hierarchy",
    "undercover.model.policy": "Policy",
    "undercover.model.queries": "Between CountQuery NoneOf OneOf SumQuery",
    "undercover.engines.local": "LocalEngine",
    "undercover.engines.spark.engine": "SparkEngine",
    "undercover.model.release": "Release",
    "undercover.model.run": "Run",
    "undercover.model.schema": "Column Schema",
    "undercover.model.table": "Table",
    "undercover.model.verdict": "Verdict",
    "undercover.studies.compare.compare": "compare",
    "undercover.studies.inspect.inspection": "inspect",
    "undercover.studies.pipeline.anonymizer": "Anonymizer",
    "undercover.studies.recommend.recommend": "recommend",
    "undercover.utility.queries.counts": "QueryError",
    "undercover.utility.queries.sums": "SumError",
    "undercover.verbs.accept": "accept",
    "undercover.verbs.apply": "apply",
    "undercover.verbs.attack": "attack",
    "undercover.verbs.holder": "centralized_risk joint_attack",
    "undercover.verbs.joint": "joint_risk published",
    "undercover.verbs.measure": "measure",
    "undercover.verbs.publish": "publish",
    "undercover.verbs.report": "report",
    "undercover.verbs.sign": "new_key sign",
    "undercover.verbs.store": "load save",
    "undercover.verbs.verify": "verify",
    "undercover.waiting": "Watch",
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
