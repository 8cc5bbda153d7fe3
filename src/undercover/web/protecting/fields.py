"""Forms made from declared parameters: what is asked for, how a value stands in a field, and what was filled in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from starlette.datastructures import FormData

from undercover.exact import plain
from undercover.model.about import Reach
from undercover.parameters import Parameter

UNSAFE = "allow_unsafe"
"""The parameter by which somebody takes what is not safe, which a form asks for by itself."""


@dataclass(frozen=True)
class Field:
    """One parameter as a form asks for it; ``files`` are the choices of a parameter that names files."""

    parameter: Parameter
    value: str
    problems: tuple[str, ...] = ()
    reach: Reach | None = None
    files: Sequence[Mapping[str, Any]] | None = None

    @property
    def name(self) -> str:
        """Of the parameter."""
        return self.parameter.name

    @property
    def doc(self) -> str:
        """What is said of the parameter, names of code as names.

        >>> Field(Parameter(doc="``a`` or :class:`~undercover.Table` tables."), "").doc
        '`a` or `Table` tables.'
        """
        return re.sub(r":\w+:`~?(?:\w+\.)*(\w+)`", r"`\1`", self.parameter.doc.replace("``", "`"))

    @property
    def chosen(self) -> list[str]:
        """Of several values, each."""
        return [part.strip() for part in self.value.split(",") if part.strip()]

    @property
    def looks(self) -> str:
        """How it is asked for: ``check``, ``select``, ``files``, ``whole`` or ``text``."""
        declared = self.parameter
        if self.files is not None:
            return "files"
        if declared.kind == "bool":
            return "select" if declared.optional else "check"
        return {"choice": "select", "int": "whole"}.get(declared.kind, "text")

    @property
    def range(self) -> tuple[str, dict[str, str]]:
        """What numbers are allowed: a text of the catalogue and its values.

        >>> from undercover.parameters import AtLeast, Within
        >>> Field(Parameter(within=AtLeast(2)), "").range, Field(Parameter(within=Within(0, 1, "(]")), "").range
        (('method.from', {'low': '2'}), ('method.above_to', {'low': '0', 'high': '1'}))
        """
        within = self.parameter.within
        assert within is not None
        low = "from" if within.ends[0] == "[" else "above"
        if within.high == math.inf:
            return f"method.{low}", {"low": f"{within.low:g}"}
        high = "to" if within.ends[1] == "]" else "below"
        return f"method.{low}_{high}", {"low": f"{within.low:g}", "high": f"{within.high:g}"}

    @property
    def options(self) -> tuple[str, ...]:
        """What a ``select`` offers; nothing said is one where it may be left out."""
        offered = ("true", "false") if self.parameter.kind == "bool" else self.parameter.choices
        return (*(("",) if self.parameter.optional else ()), *map(str, offered))


def written(value: Any) -> str:
    """A value as it stands in a field.

    >>> written(Fraction(1, 5)), written(("a", "b")), written({"age": 2}), written(True), written(None)
    ('1/5', 'a, b', 'age:2', 'true', '')
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ", ".join(f"{name}:{written(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(written, value))
    return str(plain(value)) if isinstance(value, Fraction) else f"{value:.12g}"


def filled(
    parameters: Iterable[Parameter], values: Mapping[str, Any], files: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[Field]:
    """The fields of a form with these values, and with the defaults of what they do not say."""
    return [
        Field(each, written(values.get(each.name, each.default)), files=files.get(each.name)) for each in parameters
    ]


def given(parameters: Iterable[Parameter], form: FormData, files: Iterable[str] = ()) -> dict[str, Any]:
    """What a form says, as a spec has it: defaults and what was left empty are left out; nothing is judged here."""
    found: dict[str, Any] = {}
    for each in parameters:
        said = [part.strip() for part in form.getlist(each.name) if isinstance(part, str)]
        text = said[-1] if said else ""
        if each.name in files:
            value: Any = [part for part in said if part]
        elif each.kind == "bool" and not each.optional:
            value = text == "true"
        elif each.kind in ("int", "number"):
            value = number_of(text)
        elif each.kind == "bool":
            value = {"true": True, "false": False}.get(text, text)
        elif each.kind == "several":
            value = [part.strip() for part in text.split(",") if part.strip()]
        else:
            value = text
        if value not in ("", []) and written(value) != written(each.default):
            found[each.name] = value
    return found


def number_of(text: str) -> Any:
    """A number as people write it, as a spec has it: also with a comma, or as a percentage; else the text itself.

    >>> number_of("5"), number_of("0,25"), number_of("1/5"), number_of("20 %"), number_of("1e400"), number_of("x")
    (5, 0.25, '1/5', '1/5', '1e400', 'x')
    """
    text = text.strip().replace(",", ".")
    share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text)
    if share:
        return str(Fraction(share[1]) / 100)
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    return float(text) if re.fullmatch(r"[+-]?\d{0,18}\.\d{1,18}", text) else text


def placed(problems: Iterable[str], names: Iterable[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Problems beside the parameters they are about, and those that are about no one alone.

    >>> placed(["The 'k' parameter of It must be an int.", "needs `l`.", "It is odd."], ["k", "l"])
    ({'k': ["The 'k' parameter of It must be an int."], 'l': ['needs `l`.']}, ['It is odd.'])
    """
    beside: dict[str, list[str]] = {}
    rest = []
    for problem in problems:
        about = [name for name in names if f"'{name}'" in problem or f"`{name}`" in problem]
        if about:
            beside.setdefault(about[0], []).append(problem)
        else:
            rest.append(problem)
    return beside, rest
