"""Declared parameters: what may be said of one, read from text, and told of all that there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest

from undercover import plugins
from undercover.errors import ParameterError
from undercover.exact import Number
from undercover.parameters import EXACT, Above, AtLeast, Within, check, describe, from_text, make, to_mapping


@dataclass(frozen=True, kw_only=True)
class Everything:
    """One of each.

    Parameters
    ----------
    k, often
        How many,
        and how often.
    cut
        Where.

    Examples
    --------
    >>> 1
    1
    """

    name: ClassVar[str] = "every-thing"
    exactly_one: ClassVar = (("often", "share"),)

    k: Annotated[int, AtLeast(2)]
    cut: Literal["loss", "median"] = "loss"
    often: Annotated[int, AtLeast(0)] | None = None
    share: Annotated[float, Within(0, 1, "(]")] | None = None
    t: Annotated[float | Fraction, Above(0)] | None = None
    delta: Annotated[Number, Within(0, 1), EXACT] = 1
    names: tuple[str, ...] | None = None
    ways: tuple[Literal["up", "down"], ...] = ("up",)
    weights: Mapping[str, Annotated[float, Above(0)]] | None = None
    safe: bool = True
    anything: Any = None

    def __post_init__(self) -> None:
        check(self, ["And that is not all."] if self.anything == "more" else ())


def test_values_are_kept_as_they_are_meant() -> None:
    made = Everything(k=np.int64(3), often=0, delta=0.3, t="5/2", names="a, b", ways=["down"], weights={"a": 2})
    assert (made.k, type(made.k), made.delta, made.t) == (3, int, Fraction(3, 10), Fraction(5, 2))
    assert (made.names, made.ways, made.weights) == (("a", "b"), ("down",), {"a": 2.0})
    assert isinstance(made.weights["a"], float)
    assert Everything(k=2, share=Fraction(1, 4)).share == 0.25


def test_from_text_and_back() -> None:
    text = {"k": "3", "share": "1", "t": "0.5", "delta": "1/3", "weights": "a:2,b:1/2", "safe": "False", "ways": "up"}
    made = from_text(Everything, text)
    assert made == Everything(k=3, share=1, t=0.5, delta="1/3", weights={"a": 2, "b": 0.5}, safe=False)
    assert isinstance(made.t, float)
    assert from_text(Everything, to_mapping(made)) == made
    assert "t" not in to_mapping(Everything(k=2, share=1))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": 1}, "The 'k' parameter of Everything must be an int in [2, inf). Got 1 instead."),
        ({"k": True}, "must be an int in [2, inf). Got True instead."),
        ({"k": 2.0}, "must be an int in [2, inf). Got 2.0 instead."),
        ({"k": "2"}, "must be an int in [2, inf). Got '2' instead."),
        ({"k": None}, "must be an int in [2, inf). Got None instead."),
        ({"share": 0}, "The 'share' parameter of Everything must be a number in (0, 1]. Got 0 instead."),
        ({"share": float("nan")}, "must be a number in (0, 1]. Got nan instead."),
        ({"t": "1/0"}, "must be a number in (0, inf). Got '1/0' instead."),
        ({"t": "1e999"}, "must be a number in (0, inf). Got '1e999' instead."),
        ({"t": float("inf")}, "must be a number in (0, inf). Got inf instead."),
        ({"cut": "medain"}, "The 'cut' of Everything `medain` is not known. Did you mean `median`?"),
        ({"ways": ("up", "left")}, "The 'ways' of Everything `left` is not known."),
        ({"ways": "up,left"}, "The 'ways' of Everything `left` is not known."),
        ({"names": 5}, "The 'names' parameter of Everything must be text each. Got 5 instead."),
        ({"weights": {"a": 0}}, "must be a number in (0, inf) by column, such as age:2,sex:1. Got {'a': 0} instead."),
        ({"weights": "a"}, "by column, such as age:2,sex:1. Got 'a' instead."),
        ({"safe": "yes"}, "The 'safe' parameter of Everything must be true or false. Got 'yes' instead."),
        ({"often": 3}, "Everything needs exactly one of often and share. Got often and share."),
        ({"anything": "more"}, "And that is not all."),
    ],
)
def test_one_sentence_each(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Everything(**{"k": 2, "share": 1} | given)
    (problem,) = caught.value.problems
    assert said in problem


def test_all_problems_together() -> None:
    with pytest.raises(ParameterError) as caught:
        Everything(k=0, cut="no", t=-1, anything="more")  # type: ignore[arg-type]
    assert len(caught.value.problems) == 5
    with pytest.raises(ParameterError) as caught:
        from_text(Everything, {"t": "many", "kk": 1, "safe": "maybe"})
    assert [problem.split()[0:2] for problem in caught.value.problems] == [
        ["Parameter", "of"],
        ["The", "'t'"],
        ["The", "'safe'"],
        ["every-thing", "needs"],
    ]


def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(ParameterError, match=r"Attack `linkag` is not known\. Did you mean `linkage`"):
        make("attacks", "linkag", {})
    assert make("attacks", "linkage", {"known": "age,sex", "p_match": "1/2"}).p_match == 0.5
    assert make("guarantees", "t-closeness", {"t": "1/5"}).t == Fraction(1, 5)


def test_what_is_missing_is_asked_for_as_it_can_be_given() -> None:
    with pytest.raises(
        ParameterError, match=r"mondrian needs `k`\. Give it as --set k=… or in \[method\] of the spec\."
    ):
        make("methods", "mondrian", {})


def test_what_a_form_would_ask_for() -> None:
    told = {parameter.name: parameter for parameter in describe(Everything)}
    assert [told["k"].doc, told["often"].doc] == 2 * ["How many, and how often."]
    assert (told["k"].required, told["cut"].required, told["cut"].default) == (True, False, "loss")
    assert (told["cut"].choices, told["share"].optional, str(told["share"])) == (
        ("loss", "median"),
        True,
        "a number in (0, 1]",
    )
    assert [told[name].kind for name in ("names", "weights", "anything")] == ["several", "by column", "other"]


@pytest.mark.parametrize("name", plugins.BUILT_IN["methods"])
def test_every_parameter_of_a_method_is_told_of(name: str) -> None:
    told = describe(plugins.load("methods", name))
    assert all(parameter.doc for parameter in told)
    assert [parameter.name for parameter in told if parameter.kind == "other"] in ([], ["rho"], ["others"])
