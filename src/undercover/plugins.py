"""Names in kinds: what is built in, and what other packages offer by entry points.

A plug-in is a name in a kind (``methods``, ``forms``, ``guarantees``, ``attacks``, ``measures``, ``engines``,
``experiments``) and the object it stands for, written as ``"module:name"``. Other packages declare theirs in the
entry-point group ``undercover.KIND``; they are looked for once, and only when a name is not built in or all are listed.
A plug-in cannot take the name of a built-in one. Nothing is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from undercover.errors import ParameterError, PluginError, unknown

BUILT_IN: Final[Mapping[str, Mapping[str, str]]] = {
    "methods": {
        "mondrian": "undercover.methods.mondrian.method:Mondrian",
        "incognito": "undercover.methods.incognito.method:Incognito",
        "anatomy": "undercover.methods.anatomy.method:Anatomy",
        "streamliner": "undercover.methods.streamliner.method:Streamliner",
        "mutual-cover": "undercover.methods.mutual_cover.method:MutualCover",
        "perturbed-generalization": "undercover.methods.perturbed_generalization.method:PerturbedGeneralization",
        "cross-bucket": "undercover.methods.cross_bucket.method:CrossBucket",
        "noncentralized": "undercover.methods.noncentralized.method:NonCentralized",
    },
    "forms": {
        "generalized": "undercover.forms.generalized.reading:PLUGIN",
        "buckets": "undercover.forms.buckets.reading:PLUGIN",
        "drawn": "undercover.forms.drawn.reading:PLUGIN",
        "perturbed": "undercover.forms.perturbed.reading:PLUGIN",
    },
    "guarantees": {
        "k-anonymity": "undercover.guarantees.k_anonymity:KAnonymity",
        "kl-anonymity": "undercover.guarantees.kl_anonymity:KLAnonymity",
        "l-diversity": "undercover.guarantees.l_diversity:LDiversity",
        "t-closeness": "undercover.guarantees.t_closeness:TCloseness",
        "delta-disclosure": "undercover.guarantees.delta_disclosure:DeltaDisclosure",
        "beta-likeness": "undercover.guarantees.beta_likeness:BetaLikeness",
        "delta-probability": "undercover.guarantees.delta_probability:DeltaProbability",
        "attribute-cover": "undercover.guarantees.attribute_cover:AttributeCover",
        "owner-cover": "undercover.guarantees.owner_cover:OwnerCover",
        "rho-breach": "undercover.guarantees.breach.rho:RhoBreach",
        "delta-growth": "undercover.guarantees.breach.rho:DeltaGrowth",
        "disjoint-cells": "undercover.guarantees.disjoint:DisjointCells",
        "joint-diversity": "undercover.guarantees.joint.diversity:JointDiversity",
    },
    "attacks": {
        "linkage": "undercover.attacks.linkage:Linkage",
        "partial-knowledge": "undercover.attacks.partial.attack:PartialKnowledge",
        "nearest-row": "undercover.attacks.nearest_row:NearestRow",
        "corruption": "undercover.attacks.corruption.channel:Corruption",
        "ordinary-corruption": "undercover.attacks.corruption.true_values:OrdinaryCorruption",
        "bucket-matching": "undercover.attacks.bucket_matching:BucketMatching",
        "journalist": "undercover.attacks.journalist:Journalist",
        "told-groups": "undercover.attacks.told_groups:ToldGroups",
        "tables-beside": "undercover.attacks.joint.tables_beside:TablesBeside",
        "algorithm-aware": "undercover.studies.algorithm_aware.attack:AlgorithmAware",
        "known-values": "undercover.studies.algorithm_aware.known_values:KnownValues",
        "minimality": "undercover.methods.mondrian.minimality.attack:Minimality",
        "informed": "undercover.methods.mutual_cover.informed:Informed",
    },
    "measures": {},
    "engines": {
        "local": "undercover.engines.local:LocalEngine",
        "spark": "undercover.engines.spark.engine:SparkEngine",
    },
    "experiments": {
        "cross-bucket": "undercover.studies.experiments.papers.cross_bucket:build",
        "perturbed-generalization": "undercover.studies.experiments.papers.perturbed_generalization.experiment:build",
        "mutual-cover": "undercover.studies.experiments.papers.mutual_cover.experiment:build",
        "noncentralized": "undercover.studies.experiments.papers.noncentralized:build",
        "streamliner": "undercover.studies.experiments.papers.streamliner.experiment:build",
    },
}
"""Built-in plug-ins by kind and name, in the order in which they are listed."""

HOME = "undercover"


def names(kind: str) -> list[str]:
    """The names of a kind: built-in ones in their order, then installed ones by name."""
    return [*BUILT_IN[kind], *sorted(_installed(kind))]


def chosen(kind: str, wanted: Iterable[str] | str | None) -> list[str]:
    """The names of a kind that are wanted, each once, or all of them; one may be given alone.

    >>> chosen("engines", "local"), chosen("engines", None)[:2]
    (['local'], ['local', 'spark'])
    """
    if wanted is None:
        return names(kind)
    asked = [wanted] if isinstance(wanted, str) else list(wanted)
    problems = [
        f"A {kind[:-1]} is wanted by its name here, such as {names(kind)[0]!r}. Got {one!r} instead."
        for one in asked
        if not isinstance(one, str)
    ]
    texts = [one for one in asked if isinstance(one, str)]
    problems += [unknown(kind[:-1].capitalize(), one, names(kind)) for one in texts if one not in names(kind)]
    if problems:
        raise ParameterError(problems)
    return list(dict.fromkeys(asked))


def load(kind: str, name: str) -> Any:
    """What a name stands for.

    >>> load("methods", "mondriaan")
    Traceback (most recent call last):
    undercover.errors.ParameterError: Method `mondriaan` is not known. Did you mean `mondrian`? There are: ...
    """
    if name in BUILT_IN[kind]:
        return find(BUILT_IN[kind][name])
    offered = _installed(kind)
    if name not in offered:
        raise ParameterError(unknown(kind[:-1].capitalize(), name, names(kind)))
    try:
        return offered[name].load()
    except Exception as error:
        raise PluginError(
            f"The {kind[:-1]} `{name}` of {origin(kind, name)} cannot be loaded: {type(error).__name__}: {error}. "
            "Mend or uninstall that package."
        ) from error


def find(where: str) -> Any:
    """What stands at ``"module:name"``."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def origin(kind: str, name: str) -> str:
    """Who offers a plug-in: ``undercover``, or a package with its version."""
    if name in BUILT_IN[kind]:
        return HOME
    package = _installed(kind)[name].dist
    return f"{package.name} {package.version}" if package is not None else "an unknown package"


@cache
def _installed(kind: str) -> dict[str, EntryPoint]:
    """Entry points of other packages, by name; where two packages offer the same name, neither is taken."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"{HOME}.{kind}"):
        if point.name in BUILT_IN[kind]:
            raise PluginError(f"{_whose(point)} offers a {kind[:-1]} `{point.name}`: that name is built in.")
        if point.name in found:
            raise PluginError(
                f"{_whose(point)} and {_whose(found[point.name])} both offer a {kind[:-1]} `{point.name}`."
            )
        found[point.name] = point
    return found


def _whose(point: EntryPoint) -> str:
    return f"`{point.dist.name}`" if point.dist is not None else f"`{point.value}`"
