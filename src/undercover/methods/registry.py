"""Methods by name, and their parameters from text or TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any, get_args, get_origin, get_type_hints

from undercover.errors import ParameterError, listed, unknown
from undercover.methods.anatomy import Anatomy
from undercover.methods.cross_bucket import CrossBucket
from undercover.methods.incognito import Incognito
from undercover.methods.mondrian import Mondrian
from undercover.methods.mutual_cover import MutualCover
from undercover.methods.noncentralized import NonCentralized
from undercover.methods.perturbed_generalization import PerturbedGeneralization
from undercover.methods.streamliner import Streamliner
from undercover.model.protocols import Method

METHODS: dict[str, type[Any]] = {
    method.name: method
    for method in (
        Mondrian,
        Incognito,
        Anatomy,
        Streamliner,
        MutualCover,
        PerturbedGeneralization,
        CrossBucket,
        NonCentralized,
    )
}


def method_from_mapping(name: str, parameters: Mapping[str, Any]) -> Method:
    """Make a method from its name and parameters as a spec or the command line give them.

    >>> method_from_mapping("mondrian", {"k": "5"}).k
    5
    >>> method_from_mapping("mondrian", {"kk": 5})
    Traceback (most recent call last):
    undercover.errors.ParameterError: ...
    """
    if name not in METHODS:
        raise ParameterError(unknown("Method", name, METHODS))
    kind = METHODS[name]
    known = {field.name: field for field in fields(kind)}
    hints = get_type_hints(kind)
    problems = [unknown(f"Parameter of {name}", key, known) for key in parameters if key not in known]
    values: dict[str, Any] = {}
    for key, value in parameters.items():
        if key not in known:
            continue
        try:
            values[key] = _as(hints[key], value)
        except (ValueError, ZeroDivisionError, OverflowError):
            problems.append(f"The '{key}' parameter of {name} must be {_described(hints[key])}. Got {value!r} instead.")
    needed = [key for key, field in known.items() if field.default is MISSING and key not in parameters]
    if needed:
        problems.append(f"{name} needs {listed(needed)}. Give it as --set {needed[0]}=… or in [method] of the spec.")
    if problems:
        raise ParameterError(problems)
    method: Method = kind(**values)
    return method


def method_parameters(method: Method) -> dict[str, Any]:
    """The parameters of a method as written in ``release.json``; those left out are absent.

    >>> method_parameters(Anatomy(l=4))
    {'l': 4}
    """
    if isinstance(method, NonCentralized):
        return method.public_parameters()
    values = {field.name: getattr(method, field.name) for field in fields(method)}  # type: ignore[arg-type]
    return {key: value for key, value in values.items() if value is not None}


def _as(hint: Any, value: Any) -> Any:
    """``value`` as the parameter's type; text is read as a number where a number is wanted."""
    choices = get_args(hint)
    if type(None) in choices:
        return None if value is None else _as(choices[0], value)
    if get_origin(hint) is not None or hint is str:
        return value
    if not isinstance(value, str):
        return value
    if hint is int:
        return int(value)
    if hint is float:
        number = Fraction(value)
        float(number)  # beyond what a number can be: refused
        if number.denominator == 1:
            return int(number)
        return number if "/" in value else float(number)
    if hint is bool and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError(value)


def _described(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false"}
    choices = [choice for choice in get_args(hint) if choice is not type(None)]
    return names.get(choices[0] if choices and not isinstance(choices[0], str) else hint, "text")
