"""A method without k was once advised "k at least 5": what is advised must be something the method can be asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import pytest

import undercover as uc
from undercover import plugins
from undercover.errors import ParameterError
from undercover.parameters import AtLeast, describe, make
from undercover.verbs.advice import ask_for_less, larger_groups, mixed_values

METHODS = plugins.names("methods")
NEEDED: dict[str, dict[str, Any]] = {
    "mutual-cover": {"delta": "1/2", "l": 2},
    "perturbed-generalization": {"k": 2, "p": 0.3},
    "cross-bucket": {"k": 2, "l": 2},
}


def needed(name: str) -> dict[str, Any]:
    """Parameters with which a method can be made."""
    if name in NEEDED:
        return NEEDED[name]
    return {one.name: 2 for one in describe(plugins.load("methods", name)) if one.required}


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_that_is_advised_constructs(name: str) -> None:
    method = make("methods", name, needed(name))
    known = {parameter.name for parameter in describe(type(method))}
    texts = [larger_groups(method, 5), mixed_values(method, "ill"), ask_for_less(method)]
    for parameter, value in (found for text in texts for found in re.findall(r"\b(\w+) at least (\d+)", text)):
        replace(method, **{parameter: int(value)})
    named = {word for text in texts for word in re.findall(r"a (?:larger|smaller) (\w+)", text)}
    named |= {word for text in texts for word in re.findall(r"smaller \w+ or (\w+)\)", text)}
    assert named <= known, texts


def test_a_variant_that_takes_no_k_is_not_advised_one() -> None:
    """MutualCover has a parameter k that only one of its variants takes."""
    method = uc.MutualCover(delta="1/2", l=2)
    with pytest.raises(ParameterError):
        replace(method, k=5)
    assert "(l at least 5)" in larger_groups(method, 5)


@dataclass(frozen=True, kw_only=True)
class Swapping:
    """A method of another package, without k and l.

    Parameters
    ----------
    rate
        How many values move.
    """

    name: ClassVar[str] = "swapping"
    rate: Annotated[int, AtLeast(1)] = 2


@dataclass(frozen=True, kw_only=True)
class Blocks(Swapping):
    """Another one, which says what makes its groups larger."""

    larger_groups: ClassVar[str] = "size"
    mixing: ClassVar[dict[str, str]] = {"rate": "a larger rate"}
    size: Annotated[int, AtLeast(1)] = 2


def test_a_method_without_k_is_not_advised_one() -> None:
    assert "at least" not in larger_groups(Swapping(), 5)
    assert " k" not in ask_for_less(Swapping())
    assert mixed_values(Swapping(), "ill").startswith("Choose a method that mixes values of `ill`")


def test_a_method_says_what_makes_its_groups_larger() -> None:
    assert "(size at least 5)" in larger_groups(Blocks(), 5)
    assert "(a larger rate)" in mixed_values(Blocks(), "ill")


def test_a_method_that_is_not_installed() -> None:
    assert "at least" not in larger_groups(None, 5)


@pytest.mark.parametrize(
    "method", [uc.Streamliner(l=2), uc.Mondrian(k=2), uc.Anatomy(l=2), uc.MutualCover(delta="1/2", l=2)]
)
def test_what_a_verdict_advises(method: Any) -> None:
    schema = uc.datasets.census_schema(["age", "sex", "education"], "income", hierarchies=False)
    run = uc.publish(uc.datasets.census(600, seed=5), schema, method, policy="open", seed=1)
    known = {parameter.name for parameter in describe(type(method))}
    said = " ".join(reason.change for reason in run.verdict.reasons)
    assert said
    for parameter in re.findall(r"\((\w+) at least \d+\)|a (?:larger|smaller) (\w+)", said):
        assert next(filter(None, parameter)) in known, said


def test_how_to_look_for_more_people() -> None:
    """`undercover attack DIR --attacker linkage --set most=N`, as a verdict advises of a sample."""
    make("attacks", "linkage", {"most": 5})
