"""Every built-in plug-in passes the checks that everybody's must pass."""

from collections.abc import Mapping
from typing import Any

import pytest

import undercover as uc
from undercover import plugins
from undercover.engines.local import LocalEngine
from undercover.guarantees.requirements import guarantee_from_mapping
from undercover.testing import check_attack, check_engine, check_form, check_guarantee, check_method
from undercover.testing.engines import promises_hold_on_parts

NUMBERS: Mapping[str, Mapping[str, Any]] = {
    "k-anonymity": {"k": 2},
    "kl-anonymity": {"k": 2, "l": 2},
    "l-diversity": {"l": 2},
    "t-closeness": {"t": 0.6},
    "delta-disclosure": {"delta": 1.5},
    "beta-likeness": {"beta": 3},
    "delta-probability": {"delta": "1/2"},
    "attribute-cover": {"l": 2},
    "owner-cover": {"delta": "1/2"},
    "rho-breach": {"rho1": 0.2, "rho2": 0.9},
    "delta-growth": {"growth": 0.9},
    "disjoint-cells": {},
    "joint-diversity": {"l": 2},
}
"""With which each guarantee is tried."""

ABOUT_CLASSES = ("k-anonymity", "l-diversity", "t-closeness", "delta-disclosure", "beta-likeness")
"""Those that classes keep together if each keeps them alone."""


def test_built_in_ones_are_named_first_and_are_ours() -> None:
    assert plugins.names("engines")[0] == "local"
    assert plugins.origin("methods", "mondrian") == plugins.find("undercover.plugins:HOME") == "undercover"


@pytest.mark.long
@pytest.mark.parametrize("trials", [150, pytest.param(1_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", plugins.BUILT_IN["methods"])
def test_methods(name: str, trials: int) -> None:
    """With as many runs everything is found that is planted in tests/conformance/test_broken_plugins.py."""
    check_method(name, trials=trials)


@pytest.mark.parametrize("name", plugins.BUILT_IN["forms"])
def test_forms(name: str) -> None:
    check_form(name)


@pytest.mark.parametrize("name", plugins.BUILT_IN["guarantees"])
def test_guarantees(name: str) -> None:
    check_guarantee(guarantee_from_mapping({"name": name, **NUMBERS[name]}), unions=name in ABOUT_CLASSES)


@pytest.mark.parametrize("form", ["distinct", "entropy", "recursive"])
def test_every_form_of_diversity_minds_no_union(form: str) -> None:
    check_guarantee(uc.LDiversity(l=2, form=form, c=3 if form == "recursive" else None))


@pytest.mark.parametrize("name", plugins.BUILT_IN["attacks"])
def test_attacks(name: str) -> None:
    check_attack(name)


# Spark is held to it where a session of it runs, in tests/engines/spark.
@pytest.mark.parametrize("name", [name for name in plugins.BUILT_IN["engines"] if name != "spark"])
def test_engines(name: str) -> None:
    check_engine(name)


def test_every_example_keeps_its_promises_on_parts() -> None:
    promises_hold_on_parts(LocalEngine(threads=2, parts=3), every=True)
