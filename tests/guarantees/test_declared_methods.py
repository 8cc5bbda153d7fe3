"""``declared_methods.json`` says of the built-in methods what their classes say; `python THIS_FILE` writes it anew.

``parameters``, ``exactly_one`` and the two statements are derived from the classes. ``forms``, ``promises`` and
``used`` are written by hand and held to what the methods publish.
"""

import json
import sys
from importlib.resources import files
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from undercover import plugins
from undercover.errors import ParameterError
from undercover.guarantees.declared import FILE, GIVEN, read_parameter, write_parameter
from undercover.model.release import STATEMENTS
from undercover.parameters import Parameter, describe

BUILT_IN = list(plugins.BUILT_IN["methods"])
LEAST: dict[str, Any] = {"k": 4, "l": 4, "t": 0.5, "p": 0.3, "growth": 0.3, "delta": "1/2", "rho": (0.2, 0.5)}
BY_HAND = ("used", "forms", "promises")


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


if __name__ == "__main__":
    before = stored()
    after = {
        name: {**declare(name), **{key: before.get(name, {}).get(key, []) for key in BY_HAND}} for name in BUILT_IN
    }
    place = Path(sys.modules["undercover.guarantees.declared"].__file__ or "").with_name(FILE)
    place.write_text(json.dumps(after, indent=1) + "\n", "utf-8")


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
