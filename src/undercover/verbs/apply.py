"""A recipe again: the method, parameters, schema and requirements of a run, on a new table.

The new release is made and verified like any other. What is checked beforehand is whether the recipe fits the new
table (columns, kinds, hierarchies, declared domains), and whether its promise still means what it meant where people
are in both tables: a method may refuse them (:class:`~undercover.model.protocols.Continuing`). Every other promise
holds for each of the two releases alone: people in both are attacked with both, as people in a ledger are, and the
verdict judges what is found (:func:`undercover.verbs.together.with_recipe`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from undercover.errors import (
    DataError,
    HierarchyError,
    SchemaError,
    UnreachableError,
    VerificationError,
    join_problems,
    unknown,
)
from undercover.guarantees.checking import Checkable
from undercover.guarantees.requirements import guarantee_from_mapping
from undercover.io.ledger.book import Ledger
from undercover.io.release.folder import load_checked
from undercover.io.source import Input, ReadOptions, read
from undercover.memory import Store
from undercover.model.encoding.coded import distinct_values
from undercover.model.finding import Finding
from undercover.model.kinds.settle import forgotten
from undercover.model.policy import Policy
from undercover.model.protocols import Continuing, Engine, Method
from undercover.model.run import Run, SamePeople
from undercover.model.schema import Schema
from undercover.model.table import encode
from undercover.verbs.joint import method_of
from undercover.verbs.publish import publish
from undercover.verbs.same_people import as_written, same_people
from undercover.verbs.together import with_recipe
from undercover.verbs.verify import verify
from undercover.waiting import Progress, teller, telling

TWICE = (
    "What is promised to people of both tables holds for each release alone: whoever has both releases may learn more "
    "about them."
)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a run was asked for, apart from its table."""

    method: Method
    schema: Schema  # with the kinds the columns turned out to have
    requirements: tuple[Checkable, ...]
    options: ReadOptions


def recipe_of(run: Run) -> Recipe:
    """The recipe of a run, in memory or read back from its folder."""
    kinds = run.source.get("kinds")
    if kinds is None:
        raise DataError(
            "The run was written by an earlier version, which did not record its whole recipe. Publish it once more."
        )
    schema = run.schema
    # An order that was found is found again: the new table may have other bands.
    known = {name: forgotten(schema.column(name)) for name in schema.published}
    columns = {
        name: column if column is not schema.column(name) else replace(column, kind=kinds[name])
        for name, column in known.items()
    }
    return Recipe(
        method=method_of(run),
        schema=replace(schema, columns={**schema.columns, **columns}),
        requirements=tuple(guarantee_from_mapping(entry) for entry in run.requirements),
        options=as_written(ReadOptions(**run.source.get("options", {})), run),
    )


@telling
def apply(
    recipe: Run | str | os.PathLike[str],
    data: Any,
    *,
    original: Any = None,
    seed: int | None = None,
    engine: str | Engine = "local",
    ledger: Ledger | str | os.PathLike[str] | None = None,
    despite_earlier: bool = False,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    progress: Progress | bool = False,
) -> Run:
    """Publish a new table by the recipe of an earlier run.

    Parameters
    ----------
    recipe
        A run, or the folder it was saved to.
    data
        The new table: whatever :func:`undercover.publish` takes.
    original
        The table of the earlier run, where it is no longer where it was read from; identifiers are compared with it.
    seed, engine, ledger, despite_earlier, progress
        As in :func:`undercover.publish`.
    policy
        What may happen to people; by default what the recipe says.

    Returns
    -------
    The private run of the new release.

    Raises
    ------
    InputError
        If the recipe does not fit the new table, or its promise does not survive a second release of the same people.
    UnreachableError
        If a promise or requirement cannot be kept on the new table.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(2000)
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    >>> first = uc.publish(people.slice(0, 1000), schema, uc.Mondrian(k=10))
    >>> second = uc.apply(first, people.slice(1000))
    >>> second.release.method, second.release.guarantees[0]["actual"] >= 10
    ('mondrian', True)
    """
    tell = teller(progress)
    tell("reading the recipe", 0.0)
    before = recipe if isinstance(recipe, Run) else load_recipe(recipe)
    chosen = recipe_of(before)
    tell("reading", 0.0)
    given = read(data, options=chosen.options, store=Store(), progress=tell)
    check_fit(given, chosen.schema)
    tell("comparing people", 0.0)
    people = same_people(before, given, original=original)
    method = chosen.method
    if isinstance(method, Continuing):
        method = method.continue_from(before, people)
    try:
        options: dict[str, Any] = {"seed": seed, "engine": engine, "options": chosen.options, "progress": tell}
        options |= {"ledger": ledger, "despite_earlier": despite_earlier, "policy": policy or before.policy}
        options["choice"] = before.release.choice.basis
        after = publish(given, chosen.schema, method, require=chosen.requirements, **options)
    except UnreachableError as error:
        raise UnreachableError(f"The recipe does not carry over to the new table: {error}", best=error.best) from error
    origin = {name: before.source.get(name) for name in ("folder", "path", "sha256", "rows")}
    after = replace(after, source={**after.source, "recipe": origin}, warnings=(*_in_both(people), *after.warnings))
    return with_recipe(after, before, people, tell)


def load_recipe(directory: str | os.PathLike[str]) -> Run:
    """The run of a release folder; refused where its public part is not what was made."""
    run, problems = load_checked(directory)
    if problems:
        raise VerificationError(f"`{Path(directory)}` is not as it was made: {join_problems(problems)}")
    return replace(run, source={**run.source, "folder": os.fspath(directory)})


def check_fit(given: Input, schema: Schema) -> None:
    """Refuse a table the recipe does not fit, with everything that does not: columns, kinds, hierarchies, domains."""
    names = given.data.column_names
    wanted = dict.fromkeys([*schema.identifiers, *schema.published])
    missing = [name for name in wanted if name not in names]
    problems = [
        unknown("Column", name, names).replace("is not known", "of the recipe is not in the new table", 1)
        for name in missing
    ]
    if missing:
        problems.append("Give the columns the names they had, or publish the new table with a spec of its own.")
    uncovered = False
    for name in (column for column in schema.published if column in names and given.data.num_rows):
        try:
            # Distinct values are enough; missing ones are the business of publish.
            encode(name, distinct_values(given.data.column(name)), schema.column(name), missing="category")
        except (DataError, HierarchyError) as error:
            problems += error.problems
            uncovered = uncovered or isinstance(error, HierarchyError)
    if uncovered:
        problems.append(
            "A recipe keeps the hierarchies of its first table. Publish both tables with hierarchies that cover both; "
            "`undercover hierarchy` makes one for a whole range, such as --from 0 --to 120."
        )
    if problems:
        raise SchemaError(problems)


def _in_both(people: SamePeople) -> list[str]:
    """What the holder must know of people in both tables."""
    if people:
        return [f"{people.sentence()}. {TWICE}"]
    return [f"{people.unchecked}. {TWICE}"] if people.unchecked else []


@dataclass(frozen=True)
class Compared:
    """One promise on both tables; ``before`` is ``None`` where the first release does not have it."""

    finding: Finding  # on the new table
    before: float | None
    required: bool  # beyond the method's own claims


@dataclass(frozen=True)
class Changes:
    """What is different about the second release."""

    rows: tuple[int, int]
    groups: tuple[int, int]
    suppressed: tuple[int, int]
    promises: tuple[Compared, ...]
    new_columns: tuple[str, ...]
    used: Mapping[str, tuple[Any, Any]]

    def sentences(self) -> list[str]:
        """The changes in words."""
        said = [
            f"{_against('row', self.rows)} in {_against('group', self.groups)}.",
            f"{_held([entry.finding for entry in self.promises])}",
        ]
        said += [f"{name} is {now} where it was {then}." for name, (then, now) in self.used.items() if then != now]
        if any(self.suppressed):
            said.append(f"Suppressed rows: {self.suppressed[1]:,}; they were {self.suppressed[0]:,}.")
        if self.new_columns:
            listed = ", ".join(f"`{name}`" for name in self.new_columns)
            said.append(f"Columns the first table did not have are not published: {listed}.")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Everything at full precision, ready for JSON."""
        pairs = {"rows": self.rows, "groups": self.groups, "suppressed_rows": self.suppressed}
        return {
            **{name: {"before": then, "after": now} for name, (then, now) in pairs.items()},
            "guarantees": [
                {**entry.finding.manifest_entry(), "before": entry.before, "requirement": entry.required}
                for entry in self.promises
            ],
            "new_columns": list(self.new_columns),
            "sentences": self.sentences(),
        }


def changes(before: Run, after: Run) -> Changes:
    """Compare two runs of one recipe."""
    findings = (after.verification or verify(after)).findings
    known = after.source.get("columns", ())
    used = [run.release.parameters.get("used", {}) for run in (before, after)]
    return Changes(
        rows=(len(before.rows), len(after.rows)),
        groups=(before.groups.count, after.groups.count),
        suppressed=(before.release.suppressed_rows, after.release.suppressed_rows),
        promises=tuple(
            Compared(finding, then, position >= len(findings) - len(after.requirements))
            for position, (finding, then) in enumerate(
                zip(findings, _earlier(before.release.guarantees, findings), strict=True)
            )
        ),
        new_columns=tuple(name for name in known if name not in before.source.get("columns", ())),
        used={
            name: (used[0].get(name), value) for name, value in used[1].items() if isinstance(value, str | int | float)
        },
    )


def _earlier(claims: Sequence[Mapping[str, Any]], findings: Sequence[Finding]) -> list[float | None]:
    """What the first release reached of each promise: the same one by name, in the same order."""
    left: dict[str, list[Any]] = {}
    for claim in claims:
        left.setdefault(claim["name"], []).append(claim.get("actual"))
    reached = [left[finding.name].pop(0) if left.get(finding.name) else None for finding in findings]
    return [float("inf") if value == "inf" else value for value in reached]


def _against(what: str, pair: tuple[int, int]) -> str:
    then, now = pair
    difference = "as before" if then == now else f"{then:,} before"
    return f"{now:,} {what}{'s' * (now != 1)} ({difference})"


def _held(findings: Sequence[Finding]) -> str:
    failed = [finding.name for finding in findings if finding.holds is False]
    if failed:
        return f"Does not hold: {', '.join(failed)}."
    return "The promise holds, too." if len(findings) == 1 else f"All {len(findings)} promises hold, too."
