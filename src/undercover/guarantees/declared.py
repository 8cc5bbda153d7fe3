"""What a method may have been asked for and what it then promises, known without loading the method.

Verification shares no code with the methods. What it must know of those built in stands in ``declared_methods.json``:
parameters with their types and ranges, forms, promises, and when a release of theirs may be called safe. A test holds
the file to the classes (``tests/guarantees/test_declared_methods.py``, which also writes it anew). Of a method of
another package its class is asked for its parameters, and nothing else is known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from undercover import plugins
from undercover.errors import listed, unknown
from undercover.exact import exact
from undercover.model.release import STATEMENTS, Release
from undercover.parameters import Parameter, Within, describe

FILE = "declared_methods.json"
USED = "used"
"""The parameter under which a release says how it was made, beyond what was asked for."""

GIVEN = "given"
"""In a condition: the parameter has a value, whichever it is."""

SUPPRESSION = "suppression"
"""The parameter that bounds the share of rows which are left out; a built-in method without it leaves out none."""

_PARTS = "parts"  # used by every method that an engine may divide


@dataclass(frozen=True)
class DeclaredMethod:
    """What is known of a method. Of one that is not built in only ``parameters`` are, and these not always."""

    name: str
    parameters: Mapping[str, Parameter] | None
    exactly_one: Sequence[Sequence[str]] = ()
    used: Sequence[str] = ()
    may_use: Sequence[str] = ()
    forms: Sequence[Mapping[str, Any]] = ()
    promises: Sequence[Mapping[str, Any]] = ()
    statements: Mapping[str, Mapping[str, Any]] | None = None

    @property
    def is_built_in(self) -> bool:
        """Whether more than its parameters is known."""
        return self.statements is not None


def declared_method(name: str) -> DeclaredMethod | None:
    """What is known of a method; ``None`` where no installed package offers it.

    >>> list(declared_method("anatomy").parameters), declared_method("nonsense")
    (['l'], None)
    """
    if name in (table := _table()):
        entry = table[name]
        return DeclaredMethod(
            name=name,
            parameters={key: read_parameter(key, said) for key, said in entry["parameters"].items()},
            exactly_one=entry["exactly_one"],
            used=entry["used"],
            may_use=entry["may_use"],
            forms=entry["forms"],
            promises=entry["promises"],
            statements={statement: entry[statement] for statement in STATEMENTS},
        )
    if name not in plugins.names("methods"):
        return None
    kind = plugins.load("methods", name)
    plain = is_dataclass(kind) and not all(hasattr(kind, member) for member in ("public", "private"))
    return DeclaredMethod(name, {one.name: one for one in describe(kind)} if plain else None)


def undeclared(release: Release) -> list[str]:
    """What a release says of its method that the method cannot have been or done; nothing where nobody knows it."""
    declared = declared_method(release.method)
    if declared is None:
        return []
    return [
        *_wrong_parameters(declared, release.parameters),
        *_wrong_form(declared, release),
        *_missing_promises(declared, release),
        *_wrong_statements(declared, release),
        *_wrong_suppression(declared, release),
    ]


def rests_on_word(release: Release) -> list[str]:
    """What a release states and nobody but its holder can check, beside its statements of safety."""
    may_suppress = release.suppressed_rows or release.parameters.get(SUPPRESSION) not in (None, 0)
    return ["suppressed_rows: the holder's word; no published table shows it."] if may_suppress else []


def _wrong_parameters(declared: DeclaredMethod, given: Mapping[str, Any]) -> Iterator[str]:
    if declared.parameters is None:
        return
    problems: list[str] = []
    for name, value in given.items():
        if name in declared.parameters:
            declared.parameters[name].kept(declared.name, value, problems)
        elif name != USED:
            problems.append(unknown(f"Parameter of {declared.name}", name, declared.parameters))
    lacking = [name for name, one in declared.parameters.items() if one.required and given.get(name) is None]
    if lacking:
        problems.append(f"{declared.name} needs {listed(lacking)}, and `method.parameters` does not say it.")
    for names in declared.exactly_one:
        said = [name for name in names if given.get(name) is not None]
        if len(said) != 1:
            problems.append(f"{declared.name} has exactly one of {listed(names)}; found {listed(said) or 'none'}.")
    yield from problems
    yield from _wrong_use(declared, given)


def _wrong_use(declared: DeclaredMethod, given: Mapping[str, Any]) -> Iterator[str]:
    if not declared.is_built_in:
        return
    used = given.get(USED, {})
    if not isinstance(used, Mapping):
        yield "`method.parameters.used` is not a mapping of what was used."
        return
    strange = [name for name in used if name not in (*declared.used, *declared.may_use, _PARTS)]
    if strange:
        yield f"`method.parameters.used` has keys that {declared.name} never writes: {listed(strange)}."
    lacking = [name for name in declared.used if name not in used]
    if lacking:
        yield f"`method.parameters.used` lacks {listed(lacking)}, which {declared.name} always writes."


def _wrong_form(declared: DeclaredMethod, release: Release) -> Iterator[str]:
    for entry in declared.forms:
        if _applies(declared, entry.get("when", {}), release.parameters):
            for name, value in entry["is"].items():
                found = release.form.name if name == "name" else getattr(release.form, name, None)
                if found != value:
                    yield f"{declared.name} publishes {name} = {value} with these parameters; the form says {found}."


def _missing_promises(declared: DeclaredMethod, release: Release) -> Iterator[str]:
    """Promises that the method always makes with these parameters, and that are missing or are weaker."""
    sensitive = list(dict.fromkeys(name for table in release.tables for name in table.names("sensitive")))
    for entry in declared.promises:
        if not _applies(declared, entry.get("when", {}), release.parameters):
            continue
        wanted = {**entry.get("fixed", {})}
        wanted |= {name: _asked(declared, where, release.parameters) for name, where in entry.get("same", {}).items()}
        found = [claim for claim in release.guarantees if claim.get("name") == entry["name"]]
        fitting = [claim for claim in found if all(agree(claim.get(key), wanted[key]) for key in wanted)]
        said = ", ".join(f"{key} = {value}" for key, value in wanted.items() if value is not None)
        called = f"{entry['name']}{f' with {said}' if said else ''}"
        if not fitting:
            yield (
                f"{declared.name} with these parameters promises {called}; "
                f"{'promised is another one' if found else 'it was taken out'}."
            )
        elif not any(claim.get("column") is None and claim.get("per") is None for claim in fitting):
            open_ = [name for name in sensitive if name not in {claim.get("column") for claim in fitting}]
            if open_ or not sensitive:
                of = f" of {listed(open_)}" if open_ else " of rows"
                yield f"{declared.name} with these parameters promises {called}{of}; no promise speaks of it."


def _wrong_statements(declared: DeclaredMethod, release: Release) -> Iterator[str]:
    for statement, entry in (declared.statements or {}).items():
        said = [_condition(declared, name, release.parameters) for name in entry["depends"]]
        if getattr(release, statement) and said not in entry["true"]:
            yield f"`{statement}` is true; {declared.name} with these parameters is not."


def _wrong_suppression(declared: DeclaredMethod, release: Release) -> Iterator[str]:
    if declared.parameters is None or (SUPPRESSION not in declared.parameters and not declared.is_built_in):
        return
    try:
        share = exact(release.parameters.get(SUPPRESSION) or 0)
    except (TypeError, ValueError):
        return  # which is told of the parameter itself
    rows = release.tables[0].rows if release.tables else 0
    most = int(share * (rows + release.suppressed_rows))
    if release.suppressed_rows > most:
        allowed = f"at most {most:,}" if most else "none"
        yield f"{release.suppressed_rows:,} suppressed rows are said; {declared.name} leaves out {allowed} of these."


def _asked(declared: DeclaredMethod, where: str, given: Mapping[str, Any]) -> Any:
    """A parameter as it was given, or as it is by default; ``used.p`` is what was used, ``rho.0`` the first of two."""
    name, _, inside = where.partition(".")
    if not inside:
        return given[name] if name in given else (declared.parameters or {})[name].default
    found: Any = given.get(name)
    if isinstance(found, Mapping):
        return found.get(inside)
    return found[int(inside)] if inside.isdigit() and _is_list(found) and int(inside) < len(found) else None


def _condition(declared: DeclaredMethod, name: str, given: Mapping[str, Any]) -> Any:
    """A parameter as conditions have it: a choice, true or false by itself, anything else as given or not."""
    value = _asked(declared, name, given)
    parameter = (declared.parameters or {})[name]
    return value if value is None or parameter.kind in ("choice", "bool") else GIVEN


def _applies(declared: DeclaredMethod, when: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return all(_condition(declared, name, given) == value for name, value in when.items())


def agree(one: Any, other: Any) -> bool:
    """Whether two ways of writing a number, or a number and a list of so many, say the same.

    >>> agree("1/5", 0.2), agree(["a", "b"], 2), agree(None, 0)
    (True, True, False)
    """
    if _is_list(one) and _is_list(other):
        return [str(item) for item in one] == [str(item) for item in other]
    one, other = (len(item) if _is_list(item) else item for item in (one, other))
    return bool(_exact(one) == _exact(other))


def _exact(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        return value
    try:
        return exact(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        return value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


@cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("undercover.guarantees").joinpath(FILE).read_text("utf-8"))
    return found


def write_parameter(parameter: Parameter) -> dict[str, Any]:
    """A parameter as the file has it; what is as usual is left out."""
    said: dict[str, Any] = {"kind": parameter.kind}
    if parameter.within is not None:
        low, high = parameter.within.low, parameter.within.high
        said["within"] = [low, "inf" if math.isinf(high) else high, parameter.within.ends]
    said |= {"choices": list(parameter.choices)} if parameter.choices else {}
    said |= {name: True for name in ("optional", "required", "fractions", "exact") if getattr(parameter, name)}
    if parameter.element is not None:
        said["element"] = write_parameter(parameter.element)
    if parameter.default not in (None, (), {}):
        said["default"] = parameter.default
    return said


def read_parameter(name: str, said: Mapping[str, Any]) -> Parameter:
    """A parameter back from what :func:`write_parameter` wrote."""
    low, high, ends = said.get("within", (None, None, "[]"))
    element = said.get("element")
    return Parameter(
        name=name,
        kind=said["kind"],
        within=None if low is None else Within(low, math.inf if high == "inf" else high, ends),
        choices=tuple(said.get("choices", ())),
        element=None if element is None else read_parameter(name, element),
        default=said.get("default"),
        optional=bool(said.get("optional")),
        required=bool(said.get("required")),
        fractions=bool(said.get("fractions")),
        exact=bool(said.get("exact")),
    )
