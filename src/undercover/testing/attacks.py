"""What every attack must pass: it says truly where it applies, and shows guessing beside what it achieves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from itertools import islice
from typing import Any, get_args

from undercover import plugins
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.model.protocols import Attack, Beside, Effort, Resolving, fits
from undercover.model.run import Run
from undercover.model.table import Table
from undercover.model.view import View
from undercover.testing.holding import as_plain, examples_of, must, reached
from undercover.testing.tables import tiny
from undercover.verbs.attack import attack, case_of
from undercover.verbs.joint import published

TRIALS = 200
"""Runs of a method that does not list its outcomes, to see whether it tells more than it says."""

DRAWS = 20
"""Runs of a method by an attack that is held to its words alone, whatever it finds."""

BESIDE = {"baseline", "release_alone"}
"""Under which what is reached without the release, or without the knowledge in question, stands beside a figure."""


def check_attack(attacker: str | Attack[Any], *, cases: Sequence[Case] | None = None) -> None:
    """Hold an attack to its word on releases of a few people, one of every installed method.

    Parameters
    ----------
    attacker
        The name of an attack, or an attack.
    cases
        Releases to attack instead.

    Examples
    --------
    >>> check_attack("linkage", cases=[next(every_case())])
    """
    made = by_name(attacker) if isinstance(attacker, str) else attacker
    called = f"The attack {made.name}"
    must(not isinstance(attacker, str) or made.name == attacker, f"{called} is offered under the name {attacker}.")
    must(made.effort in get_args(Effort), f"{called} has an effort of {made.effort!r}; there are {get_args(Effort)}.")
    tried = [truthful(made, case) for case in (every_case() if cases is None else cases)]
    must(any(tried), f"{called} applies to none of the {len(tried)} releases it was tried on. Give it cases it is for.")


def every_case() -> Iterator[Case]:
    """Tiny releases of every installed method, a safe one and an unsafe one: of five people unless it refuses these.

    And one of a sample, of which the share in its population is known, and one beside a table of somebody else.
    """
    tables = sorted(tiny(), key=lambda table: abs(table.n_rows - 5))
    for name in plugins.names("methods"):
        for method in (*examples_of(name, "safe")[:1], *examples_of(name, "unsafe")[:1]):
            yield from (case_of(run) for run in islice(reached(method, tables), 1))
    sampled = [replace(table, schema=replace(table.schema, population=0.5)) for table in tables]
    method = examples_of(plugins.names("methods")[0], "safe")[0]
    yield from (case_of(run) for run in islice(reached(method, sampled), 1))
    yield from (case_of(run) for run in islice(_beside_another(method, tables), 1))


def _beside_another(other: Any, tables: Sequence[Table]) -> Iterator[Run]:
    """Releases of methods that publish beside tables of others, beside one of the same people by other columns."""
    asked = [one for name in plugins.names("methods") for one in examples_of(name, "unsafe")[:1]]
    for first in reached(other, tables):
        assert first.original is not None
        names = {name: f"{name} elsewhere" for name in first.schema.quasi_identifiers}
        theirs = published(first, name="another").renamed(names)
        for method in asked:
            if fits(method, Beside) and fits(method, Resolving):
                told: Any = replace(method, **{method.paths[0]: (theirs,)})  # type: ignore[type-var]
                yield from reached(told, [first.original])


def by_name(name: str) -> Attack[Any]:
    """An attack by its name, with its defaults; one that draws is content with :data:`DRAWS`.

    >>> by_name("algorithm-aware").trials
    20
    """
    kind = plugins.load("attacks", name)
    made: Attack[Any] = kind(trials=DRAWS) if "trials" in signature(kind).parameters else kind()
    return made


def truthful(attacker: Attack[Any], case: Case) -> bool:
    """Whether an attack applies; a failure where it then does not run, or runs after all."""
    called = f"The attack {attacker.name} on a release by {case.release.method}"
    why_not = attacker.applies(case)
    if why_not is None:
        _shows_itself(called, attack(case, attacker))
        return True
    must(isinstance(why_not, str) and why_not.strip(), f"{called} does not apply and does not say why: {why_not!r}.")
    try:
        attack(case, attacker)
    except ParameterError as error:
        must(why_not in str(error), f"{called} does not apply, and the reason given is another: {error}")
        return False
    raise AssertionError(f"{called} was run although it says: {why_not}")


def _shows_itself(called: str, result: Any) -> None:
    """A result is JSON with guessing beside it, and a view that can be read back."""
    found = as_plain(f"{called}: to_dict()", result.to_dict())
    must(found.get("attack") and found.get("story"), f"{called} does not say which attack it was, with which story.")
    must(BESIDE & set(_keys(found)), f"{called} shows figures without guessing: none of {sorted(BESIDE)} is there.")
    view = result.view()
    shown = as_plain(f"{called}: view()", view.to_dict())
    must(view.title and view.story, f"{called} has a view without a title or a story.")
    must(as_plain(called, View.of(shown).to_dict()) == shown, f"{called} has a view that does not come back as it was.")


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _keys(item)
