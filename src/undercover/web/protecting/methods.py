"""The methods for a table: which fit and why others do not, their forms, and what is to be expected of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any

from undercover import plugins
from undercover.errors import ParameterError, PluginError
from undercover.exact import exact
from undercover.model.about import About, Grid, Holding, about_of
from undercover.model.policy import Policy
from undercover.model.protocols import corruption_robust
from undercover.parameters import Parameter, describe, make
from undercover.web.protecting.fields import UNSAFE, Field, filled, placed, written

Files = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Card:
    """A method, and whether it can be used on a table."""

    name: str
    about: About
    reasons: tuple[str, ...]  # why it cannot run
    rows_only: bool  # it protects rows, and people have several
    first: Mapping[str, Any] | None  # parameters by which it may satisfy the policy; none where it proposes none
    origin: str = plugins.HOME

    @property
    def said(self) -> str:
        """The parameters it proposes."""
        return ", ".join(f"{name}={written(value)}" for name, value in (self.first or {}).items())

    @property
    def fits(self) -> bool:
        """Whether it can run."""
        return not self.reasons and not self.rows_only


def cards(holding: Holding, policy: Policy) -> list[Card]:
    """Every method there is, those first that can run."""
    found = [card(name, holding, policy) for name in plugins.names("methods")]
    return sorted(found, key=lambda one: not one.fits)


def card(name: str, holding: Holding, policy: Policy) -> Card:
    """One method."""
    origin = plugins.origin("methods", name)
    try:
        kind, about = plugins.load("methods", name), about_of(name)
    except PluginError as error:
        return Card(name, About(title=name, did=str), error.problems, False, None, origin)
    schema = holding.schema
    rows_only = schema.unit_column is not None and schema.one_row_per is None and not getattr(kind, "per_unit", False)
    proposed = [] if about.fits(schema) else about.candidates(holding.wanted(policy))
    first = dict(proposed[0]) if proposed else None
    return Card(name, about, tuple(about.fits(schema)), rows_only, first, origin)


def start_of(name: str, first: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters to begin with: those that may satisfy the policy, or else the weakest of its first comparison."""
    if first is not None:
        return dict(first)
    sweeps = about_of(name).sweeps
    return {sweeps[0].parameter: sweeps[0].values[0], **sweeps[0].fixed} if sweeps else {}


@dataclass(frozen=True)
class Expected:
    """What is to be expected of a method with these parameters on a table, and what is wrong with them."""

    problems: tuple[str, ...]  # about no parameter alone
    beside: Mapping[str, Sequence[str]]  # by parameter
    beyond: Mapping[str, str]  # parameters beyond what the table has room for, and why
    told: tuple[str | Grid, ...] = ()
    safe: bool | None = None  # whether knowing the algorithm tells nothing more; None where it cannot be made
    robust: bool | None = None  # whether known values of others tell nothing more

    @property
    def wrong(self) -> bool:
        """Whether it cannot be used."""
        return bool(self.problems or self.beside or self.beyond)


def expected(name: str, values: Mapping[str, Any], holding: Holding) -> Expected:
    """What is to be expected of parameters as a spec has them."""
    about, names = about_of(name), [each.name for each in describe(plugins.load("methods", name))]
    beyond = {
        reach.parameter: reach.why
        for reach in about.reach(values, holding)
        if (number := _number(values.get(reach.parameter))) is not None
        and ((reach.most is not None and number > reach.most) or (reach.least is not None and number < reach.least))
    }
    try:
        method = make("methods", name, values)
    except ParameterError as error:
        beside, rest = placed(error.problems, names)
        return Expected(tuple(rest), beside, beyond)
    told = tuple(about.outlook(method, holding))
    return Expected((), {}, beyond, told, bool(method.algorithm_safe), corruption_robust(method))


@dataclass(frozen=True)
class MethodForm:
    """The fields of a method: those to begin with, groups of which exactly one is given, others, and what is unsafe."""

    first: tuple[Field, ...]
    groups: tuple[tuple[Field, ...], ...]
    more: tuple[Field, ...]
    unsafe: Field | None


def form_of(name: str, values: Mapping[str, Any], files: Files, holding: Holding, found: Expected) -> MethodForm:
    """The form of a method with its values, what is wrong with each, and how far each can go on a table."""
    kind, about = plugins.load("methods", name), about_of(name)
    reach = {each.parameter: each for each in about.reach(values, holding)}
    fields = {
        field.name: replace(field, problems=tuple(found.beside.get(field.name, ())), reach=reach.get(field.name))
        for field in filled(describe(kind), values, files)
    }
    groups = tuple(tuple(fields[one] for one in group) for group in getattr(kind, "exactly_one", ()))
    front = {each.name for each in describe(kind) if each.required} | {sweep.parameter for sweep in about.sweeps}
    front |= set(about.sweeps[0].fixed) if about.sweeps else set()
    front |= set(files) | set(found.beside)
    apart = {field.name for field in chain.from_iterable(groups)} | {UNSAFE}
    others = [field for field in fields.values() if field.name not in apart]
    return MethodForm(
        tuple(field for field in others if field.name in front),
        groups,
        tuple(field for field in others if field.name not in front),
        fields.get(UNSAFE),
    )


def paths_of(name: str) -> tuple[str, ...]:
    """The parameters of a method that name tables of others."""
    return tuple(getattr(plugins.load("methods", name), "paths", ()))


def parameters_of(name: str) -> list[Parameter]:
    """The parameters of a method."""
    return describe(plugins.load("methods", name))


def _number(value: Any) -> Fraction | None:
    """A number that was given, exactly; what is none is said elsewhere."""
    try:
        return None if value is None or isinstance(value, bool) else exact(value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        return None
