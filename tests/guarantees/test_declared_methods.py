"""``declared_methods.json`` says of the built-in methods what their classes say; `python THIS_FILE` writes it anew.

``parameters``, ``exactly_one`` and the two statements are derived from the classes. ``forms``, ``promises``, ``used``
and ``may_use`` are written by hand and held to what the methods publish.
"""

import json
import sys
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

from undercover import plugins
from undercover.errors import ParameterError
from undercover.guarantees.contradictions import version_of
from undercover.guarantees.declared import FILE, GIVEN, read_parameter, undeclared, write_parameter
from undercover.model.release import STATEMENTS, Release
from undercover.parameters import Parameter, Within, describe
from undercover.testing.holding import examples_of, reached
from undercover.testing.tables import tiny

BUILT_IN = list(plugins.BUILT_IN["methods"])
LEAST: dict[str, Any] = {"k": 4, "l": 4, "t": 0.5, "p": 0.3, "growth": 0.3, "delta": "1/2", "rho": (0.2, 0.5)}
BY_HAND = ("used", "may_use", "forms", "promises")


def possible_values(parameter: Parameter) -> list[Any]:
    """What may matter of a parameter: every choice, true and false, left out or given; of an optional one the last."""
    if parameter.optional:
        usual = parameter.choices[-1:] or ((True,) if parameter.kind == "bool" else ())
        return [None, *usual, *([LEAST[parameter.name]] if parameter.name in LEAST else [])]
    if parameter.kind in ("choice", "bool"):
        return list(parameter.choices or (True, False))
    return [LEAST.get(parameter.name, parameter.default)]


def find_statement(kind: Any, statement: str) -> dict[str, Any]:
    """By which parameters a statement about a method is decided, and with which values of them it is true."""
    parameters = describe(kind)
    outcomes: dict[tuple[Any, ...], bool] = {}
    for values in product(*map(possible_values, parameters)):
        given = {one.name: value for one, value in zip(parameters, values, strict=True) if value is not None}
        try:
            method = kind(**given)
        except ParameterError:
            continue
        finite = (one.kind in ("choice", "bool") for one in parameters)
        key = tuple(one if one is None or known else GIVEN for one, known in zip(values, finite, strict=True))
        outcomes[key] = bool(getattr(method, statement, False))
    for size in range(len(parameters) + 1):
        for places in combinations(range(len(parameters)), size):
            true, false = (
                {tuple(key[place] for place in places) for key, found in outcomes.items() if found is wanted}
                for wanted in (True, False)
            )
            if not true & false:
                return {
                    "depends": [parameters[place].name for place in places],
                    "true": sorted(map(list, true), key=str),
                }
    raise AssertionError(f"{kind.__name__}.{statement} does not follow from its parameters")


def declare(name: str) -> dict[str, Any]:
    """What the file must say of a method, as far as its class says it."""
    kind = plugins.load("methods", name)
    return {
        "parameters": {one.name: write_parameter(one) for one in describe(kind)},
        "exactly_one": [list(names) for names in getattr(kind, "exactly_one", ())],
        **{statement: find_statement(kind, statement) for statement in STATEMENTS},
    }


def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("undercover.guarantees").joinpath(FILE).read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_file_says_what_the_class_says(name: str) -> None:
    entry = stored()[name]
    assert {key: value for key, value in entry.items() if key not in BY_HAND} == json.loads(json.dumps(declare(name)))


def test_no_other_method_is_declared() -> None:
    assert list(stored()) == BUILT_IN


def test_a_parameter_comes_back_as_it_was_written() -> None:
    for name in BUILT_IN:
        for parameter in describe(plugins.load("methods", name)):
            again = read_parameter(parameter.name, json.loads(json.dumps(write_parameter(parameter))))
            assert write_parameter(again) == write_parameter(parameter)
            assert str(again.within) == str(parameter.within)


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_a_method_publishes_is_what_is_declared_of_it(name: str) -> None:
    """Forms, promises and what was used: written by hand, so held to every example there is."""
    runs = [run for made in examples_of(name, "safe", "unsafe") for run in reached(made, (tiny()[0], tiny()[-1]))]
    assert runs
    for run in runs:
        assert undeclared(run.release) == []
        for claim in run.release.guarantees:
            fewer = tuple(other for other in run.release.guarantees if other is not claim)
            assert undeclared(replace(run.release, guarantees=fewer)), f"{claim['name']} may be taken out"


def test_a_method_of_another_package_is_asked_for_its_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Swap:
        name: ClassVar[str] = "swapping"
        share: Annotated[float, Within(0, 1)] = 0.5

    class Told:
        name: ClassVar[str] = "telling"

        def public(self) -> dict[str, Any]:
            return {}

        def private(self) -> dict[str, Any]:
            return {}

    offered = {"swapping": Swap, "telling": Told}
    monkeypatch.setattr(plugins, "names", lambda kind: [*BUILT_IN, *offered])
    monkeypatch.setattr(plugins, "load", lambda kind, name: offered[name])
    assert undeclared(Release("swapping", {"share": 0.2, "used": {"anything": 1}}, (), True)) == []
    assert len(undeclared(Release("swapping", {"share": 7, "sharp": 1}, (), True))) == 2
    assert undeclared(Release("telling", {"whatever": 1}, (), True, suppressed_rows=3)) == []
    assert undeclared(Release("nobody's", {"whatever": 1}, (), True)) == []


@pytest.mark.parametrize(
    ("earlier", "later"), [("0.1.0", "0.1.1"), ("0.9", "0.10"), ("1.0rc1", "1.0"), ("1.0.dev3", "1.0"), ("1", "1.0.1")]
)
def test_versions_are_compared_by_their_numbers(earlier: str, later: str) -> None:
    first, second = version_of(earlier), version_of(later)
    assert first is not None
    assert second is not None
    assert first < second


@pytest.mark.parametrize("text", ["", "soon", "1..2", "1.0+x", "v1", "1.0 ", "9" * 40])
def test_what_is_no_version(text: str) -> None:
    assert version_of(text) is None


if __name__ == "__main__":
    before = stored()
    after = {
        name: {**declare(name), **{key: before.get(name, {}).get(key, []) for key in BY_HAND}} for name in BUILT_IN
    }
    place = Path(sys.modules["undercover.guarantees.declared"].__file__ or "").with_name(FILE)
    place.write_text(json.dumps(after, indent=1) + "\n", "utf-8")
