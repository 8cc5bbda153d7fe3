"""Parameters of methods, guarantees, attacks and measures: declared once, checked, read from text, told.

A parameter is a field of a dataclass, and its type says what it may be::

    l: Annotated[int, AtLeast(2)]                  # a whole number from 2 on
    t: Annotated[float, Within(0, 1)] | None       # may be left out
    cut: Literal["loss", "median"]                 # one of these
    strata: tuple[str, ...]                        # names, in Python also as one text by commas

Types that are none of these are left to the class. :func:`check` in ``__post_init__`` reports everything that is wrong
at once, :func:`make` makes an object from what a spec or the command line says, and :func:`describe` tells what a form
on a page would have to ask for.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from functools import cache
from numbers import Integral, Real
from types import NoneType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from undercover import plugins
from undercover.errors import ParameterError, listed, unknown
from undercover.exact import exact

Kind = Literal["int", "number", "bool", "choice", "text", "several", "by column", "other"]
EXACT: Final = "exact"
"""Marks a number that is kept as the fraction it was meant as."""

_WHERE = {"methods": " Give it as --set {}=… or in [method] of the spec.", "attacks": " Give it as --set {}=…"}


class _UnfitError(ValueError):
    """A value that a parameter cannot have."""


class Within:
    """A range of numbers; ``ends`` says which of its ends belong to it."""

    def __init__(self, low: float, high: float, ends: Literal["[]", "(]", "[)", "()"] = "[]") -> None:
        self.low, self.high, self.ends = low, high, ends

    def __contains__(self, number: Any) -> bool:
        return bool(
            (number >= self.low if self.ends[0] == "[" else number > self.low)
            and (number <= self.high if self.ends[1] == "]" else number < self.high)
        )

    def __repr__(self) -> str:
        return f"{self.ends[0]}{self.low}, {self.high}{self.ends[1]}"


class AtLeast(Within):
    """From a number on."""

    def __init__(self, low: float) -> None:
        super().__init__(low, math.inf, "[)")


class Above(Within):
    """More than a number."""

    def __init__(self, low: float) -> None:
        super().__init__(low, math.inf, "()")


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """What is declared of a parameter; ``kind`` says what its values are, ``element`` what those of a list are."""

    name: str = ""
    kind: Kind = "other"
    within: Within | None = None
    choices: tuple[Any, ...] = ()
    optional: bool = False
    fractions: bool = False
    exact: bool = False
    element: Parameter | None = None
    required: bool = False
    default: Any = None
    doc: str = ""

    def __str__(self) -> str:
        if self.kind == "by column":
            return f"{self.element} by column, such as age:2,sex:1"
        if self.kind == "several":
            return f"{self.element} each"
        names = {"int": "an int", "number": "a number", "bool": "true or false"}
        return names.get(self.kind, "text") + ("" if self.within is None else f" in {self.within}")

    def wrong(self, owner: str, value: Any) -> str:
        """The sentence about a value that it cannot have."""
        choices = self.choices or (self.element.choices if self.element else ())
        if choices:
            return unknown(f"The '{self.name}' of {owner}", str(value), choices)
        return f"The '{self.name}' parameter of {owner} must be {self}. Got {value!r} instead."

    def kept(self, owner: str, value: Any, problems: list[str], *, text: bool = False) -> Any:
        """The value as it is kept; where it does not fit, as it is, and what is wrong is added to ``problems``."""
        try:
            return self.taken(value, text=text)
        except _UnfitError as error:
            problems.append(self.wrong(owner, error.args[0]))
        except (ValueError, TypeError, ZeroDivisionError, OverflowError, AttributeError):
            problems.append(self.wrong(owner, value))
        return value

    def taken(self, value: Any, *, text: bool = False) -> Any:
        """The value as it is kept; with ``text`` numbers may be written out. An error where it does not fit."""
        if value is None and self.optional:
            return None
        if self.element is not None:
            return self._gathered(self.element, value, text)
        if self.kind == "choice":
            if value not in self.choices:
                raise _UnfitError(value)
        elif self.kind == "bool":
            if text and isinstance(value, str) and value.lower() in ("true", "false"):
                return value.lower() == "true"
            if not isinstance(value, bool):
                raise _UnfitError(value)
        elif self.kind in ("int", "number"):
            value = _whole(value, text) if self.kind == "int" else self._number(value, text)
            if self.within is not None and value not in self.within:
                raise _UnfitError(value)
        return value

    def _gathered(self, element: Parameter, value: Any, text: bool) -> Any:
        """Values by commas, or each with the column before it."""
        text = text or isinstance(value, str)
        if self.kind == "several":
            items = (str(item) if element.kind == "text" else item for item in _items(value))
            return tuple(element.taken(item, text=text) for item in items)
        pairs = [item.rpartition(":")[::2] for item in _items(value)] if isinstance(value, str) else value.items()
        kept = float if element.kind == "number" else int
        try:
            return {str(name).strip(): kept(element.taken(weight, text=text)) for name, weight in pairs}
        except ValueError:
            raise _UnfitError(value) from None

    def _number(self, value: Any, text: bool) -> int | float | Fraction:
        if isinstance(value, str):
            number = Fraction(value)
            rounded = float(number)  # beyond what a number can be: refused
            decimal = not self.fractions or (text and "/" not in value)
            value = int(number) if number.denominator == 1 else rounded if decimal else number
        elif isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise _UnfitError(value)
        elif hasattr(value, "item"):
            value = value.item()
        if self.exact:
            return exact(value)
        return float(value) if isinstance(value, Fraction) and not self.fractions else value


def describe(kind: Any) -> list[Parameter]:
    """The parameters of a class, with their ranges, choices, defaults and what its docstring says of them."""
    return list(_declared(kind).values())


def check(target: Any, more: Iterable[str] = ()) -> None:
    """Raise everything that is wrong with the parameters of ``target``, together; called in ``__post_init__``.

    Values are put into the form in which they are kept. ``more`` is what else is wrong; a generator is asked
    afterwards. Where the class has ``exactly_one``, one of each of these groups of parameters must be given.
    """
    owner = type(target).__name__
    problems: list[str] = []
    for name, parameter in _declared(target.__class__).items():
        object.__setattr__(target, name, parameter.kept(owner, getattr(target, name), problems))
    for names in getattr(target, "exactly_one", ()):
        given = [name for name in names if getattr(target, name) is not None]
        if len(given) != 1:
            wanted = f"{', '.join(names[:-1])} and {names[-1]}"
            problems.append(f"{owner} needs exactly one of {wanted}. Got {' and '.join(given) or 'none'}.")
    problems += more
    if problems:
        raise ParameterError(list(dict.fromkeys(problems)))


def from_text(kind: Any, mapping: Mapping[str, Any], where: str = "") -> Any:
    """An object of a class from its parameters as text or TOML; ``where`` says how a missing one is given."""
    declared, called = _declared(kind), getattr(kind, "name", kind.__name__)
    problems = [unknown(f"Parameter of {called}", key, declared) for key in mapping if key not in declared]
    values = {
        key: declared[key].kept(kind.__name__, value, problems, text=True)
        for key, value in mapping.items()
        if key in declared
    }
    needed = [key for key, parameter in declared.items() if parameter.required and key not in mapping]
    if needed:
        problems.append(f"{called} needs {listed(needed)}." + where.format(needed[0]))
    if problems:
        raise ParameterError(problems)
    return kind(**values)


def make(kind: str, name: str, mapping: Mapping[str, Any]) -> Any:
    """A plug-in of a kind by its name and parameters, as a spec or the command line give them."""
    return from_text(plugins.load(kind, name), mapping, _WHERE.get(kind, ""))


def to_mapping(target: Any) -> dict[str, Any]:
    """The parameters by name; those left out are absent."""
    values = {name: getattr(target, name) for name in _declared(target.__class__)}
    return {name: value for name, value in values.items() if value is not None}


@cache
def _declared(kind: Any) -> dict[str, Parameter]:
    hints, told = get_type_hints(kind, include_extras=True), _told(kind)
    found = {}
    for field in fields(kind):
        if field.init:
            default = field.default if field.default_factory is MISSING else field.default_factory()
            found[field.name] = replace(
                _meant(hints[field.name], field.name),
                required=default is MISSING,
                default=None if default is MISSING else default,
                doc=told.get(field.name, ""),
            )
    return found


def _meant(hint: Any, name: str) -> Parameter:
    marks, optional = [], False
    while get_origin(hint) is Annotated or NoneType in get_args(hint):
        if get_origin(hint) is Annotated:
            marks += hint.__metadata__
            hint = hint.__origin__
        else:
            optional = True
            hint = Union[tuple(choice for choice in get_args(hint) if choice is not NoneType)]  # noqa: UP007
    origin, arguments = get_origin(hint), get_args(hint)
    parameter = Parameter(
        name=name,
        optional=optional,
        within=next((mark for mark in marks if isinstance(mark, Within)), None),
        exact=EXACT in marks,
        fractions=Fraction in arguments,
    )
    if origin is Literal:
        return replace(parameter, kind="choice", choices=arguments)
    if hint is float or (float in arguments and origin not in (tuple, Mapping)):
        return replace(parameter, kind="number")
    if (origin is tuple and arguments[1:] == (...,)) or (origin is Mapping and arguments[0] is str):
        element = _meant(arguments[0 if origin is tuple else 1], name)
        if element.kind in ("int", "number") or (origin is tuple and element.kind in ("choice", "text")):
            return replace(parameter, kind="several" if origin is tuple else "by column", element=element)
    kinds: dict[Any, Kind] = {int: "int", bool: "bool", str: "text"}
    return replace(parameter, kind=kinds.get(hint, "other"))


def _told(kind: type[Any]) -> dict[str, str]:
    """What the numpydoc section ``Parameters`` of a class says of each."""
    _, _, section = (inspect.getdoc(kind) or "").partition("Parameters\n----------\n")
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.split("\n\n")[0].splitlines():
        if line.startswith(" "):
            found |= {name: f"{found.get(name, '')} {line.strip()}".strip() for name in names}
        else:
            names = line.split(", ")
    return found


def _items(value: Any) -> Iterable[Any]:
    return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value


def _whole(value: Any, text: bool) -> int:
    if text and isinstance(value, str):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _UnfitError(value)
    return int(value)
