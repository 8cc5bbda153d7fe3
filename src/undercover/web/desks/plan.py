"""What will be done to a table as it is decided now, what is not decided yet, and the request of the job for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from undercover import plugins
from undercover.errors import MissingExtraError, ParameterError, UndercoverError, listed
from undercover.guarantees.requirements import guarantees_from_entries
from undercover.io.release.tables import check_installed
from undercover.model.about import About, about_of
from undercover.model.formats import FORMATS, Files
from undercover.model.policy import Policy, policy_of
from undercover.model.protocols import Method
from undercover.model.schema import ALL_OTHERS
from undercover.parameters import make
from undercover.web.desks.progress import done
from undercover.web.desks.project import Project
from undercover.web.protecting.others import located

T = TypeVar("T")
ROLES = ("quasi_identifiers", "sensitive", "insensitive", "identifiers", "drop")


@dataclass(frozen=True)
class Plan:
    """What a release would be made by; ``problems`` are sentences, ``undecided`` steps."""

    roles: Mapping[str, tuple[str, ...]]
    unnamed: tuple[str, ...]  # columns without a role, which are not published
    who: Mapping[str, Any]  # unit, one_row_per, weight, population, missing: what is said of them
    policy: Policy
    method: About | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[Mapping[str, Any], ...] = ()
    undecided: tuple[str, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()  # a step and what is wrong there

    @property
    def ready(self) -> bool:
        """Whether it can be done."""
        return not self.undecided and not self.problems


def plan_of(project: Project) -> Plan:
    """The plan of a table; everything that is wrong is told together."""
    spec, over = project.spec, done(project)
    given = spec.get("roles", {})
    listed_in = {role: [names] if isinstance(names := given.get(role, []), str) else names for role in ROLES}
    roles = {role: found for role, names in listed_in.items() if (found := tuple(n for n in names if n != ALL_OTHERS))}
    problems: list[tuple[str, str]] = []
    policy = policy_of(None)

    def tried(step: str, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except UndercoverError as error:
            problems.extend((step, problem) for problem in getattr(error, "problems", [str(error)]))
            return None

    loaded = tried("columns", project.loaded) if over["columns"] else None
    if loaded is not None:
        policy = loaded.policy or policy
        columns = {name: loaded.schema.column(name) for name in loaded.schema.sensitive}
        tried("protect", lambda: guarantees_from_entries(loaded.requirements, columns))
    method, parameters = dict(spec.get("method", {})), {}
    if method:
        parameters = {name: value for name, value in method.items() if name != "name"}
        tried("protect", lambda: method_of(spec, project.folder))
    named = {name for names in roles.values() for name in names} | {given.get("unit"), given.get("weight")}
    profile = project.profile
    everything = [column["name"] for column in profile["inspection"]["columns"]] if profile else []
    who = {name: given[name] for name in ("unit", "one_row_per", "weight", "population") if name in given}
    missing = spec.get("data", {}).get("missing")
    return Plan(
        roles=roles,
        unnamed=tuple(name for name in everything if name not in named),
        who={**who, **({"missing": missing} if missing else {})},
        policy=policy,
        method=about_of(str(method["name"])) if method else None,
        parameters=parameters,
        required=tuple(spec.get("require", ())),
        undecided=tuple(step for step in ("data", "columns", "protect") if not over[step]),
        problems=tuple(problems),
    )


def method_of(spec: Mapping[str, Any], folder: Path) -> Method:
    """The method of a spec; tables of others that it names are those kept in the folder of the table."""
    said = dict(spec.get("method", {}))
    if "name" not in said:
        raise ParameterError(f"Choose a method first. There are: {listed(plugins.names('methods'))}.")
    name = str(said.pop("name"))
    return cast(Method, make("methods", name, located(folder, name, said)))


def files_of(choices: Mapping[str, Any]) -> Files:
    """The format of the tables, as it was chosen, and the rows of a file."""
    name = str(choices.get("format", "csv"))
    if name not in FORMATS:
        raise ParameterError(f"The format of a release must be one of {listed(FORMATS)}. Got {name!r} instead.")
    check_installed(name)
    return Files(name, choices.get("rows_per_file"), bool(choices.get("safe_for_spreadsheets")))


def formats() -> dict[str, str]:
    """The formats that can be written here, and what people call them."""
    found = {}
    for name, kind in FORMATS.items():
        try:
            check_installed(name)
        except MissingExtraError:
            continue
        found[name] = kind.title
    return found


def publish_request(project: Project) -> dict[str, Any]:
    """What the job ``publish`` is asked: as it is decided now, whatever is changed while it waits."""
    asked = ("format", "rows_per_file", "safe_for_spreadsheets")
    kept = {name: project.choices[name] for name in asked if name in project.choices}
    return {"spec": project.spec, "choices": kept, "revision": project.revision}
