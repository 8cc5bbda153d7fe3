"""``undercover publish``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from undercover import plugins
from undercover.cli.options import (
    Accept,
    By,
    Data,
    DespiteEarlier,
    Drop,
    Engine,
    Force,
    Identifiers,
    Insensitive,
    Json,
    LedgerFile,
    Memory,
    Missing,
    NewRelease,
    OneRowPer,
    Parts,
    PolicyName,
    Population,
    Qi,
    Require,
    RowsPerFile,
    SafeForSpreadsheets,
    Seed,
    Sensitive,
    SpecFile,
    TablesAs,
    Unit,
    Weight,
    roles,
    settings_from_text,
    who,
)
from undercover.cli.output import console, note, print_json, print_table, print_view, progress_on_stderr, warn
from undercover.cli.reading import far_with_spec, read_with_spec
from undercover.errors import ParameterError, listed
from undercover.forms.answers.sampling import sampling_words
from undercover.guarantees.requirements import guarantees_from_entries, guarantees_from_requirements
from undercover.guarantees.verify import NOTHING_PROMISED
from undercover.io.release.contents import is_withheld, public_part
from undercover.io.release.formulas import formula_note
from undercover.io.release.ours import strange
from undercover.io.release.tables import check_installed, file_notes
from undercover.io.signatures import private_key
from undercover.io.source import Input
from undercover.io.spec.load import Spec
from undercover.model.figures import baseline, counted, risk
from undercover.model.finding import Finding, shown
from undercover.model.formats import FORMATS, Files, check_size
from undercover.model.protocols import Method
from undercover.model.run import Run
from undercover.pages.chart_process import start_drawing
from undercover.parameters import describe, make
from undercover.studies.warm_up import compiling_beside
from undercover.verbs.accept import decider
from undercover.verbs.beside import judged_beside
from undercover.verbs.publish import engine_of, publish
from undercover.verbs.report import summarize
from undercover.verbs.store import save
from undercover.whole import check_folder
from undercover.wording import from_spec

_FIRST = plugins.names("methods")[0]


def command(
    data: Data,
    out: NewRelease,
    spec: SpecFile = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identifiers: Identifiers = None,
    insensitive: Insensitive = None,
    drop: Drop = None,
    unit: Unit = None,
    one_row_per: OneRowPer = None,
    weight: Weight = None,
    population: Population = None,
    missing: Missing = None,
    method: Annotated[str | None, typer.Option(help=f"By name, such as {_FIRST}; an unknown one lists all.")] = None,
    set: Annotated[list[str] | None, typer.Option(help="A parameter of the method, such as k=5.")] = None,  # noqa: A002
    require: Require = None,
    format: TablesAs = "csv",  # noqa: A002
    rows_per_file: RowsPerFile = None,
    safe_for_spreadsheets: SafeForSpreadsheets = False,
    seed: Seed = None,
    engine: Engine = "local",
    memory: Memory = None,
    parts: Parts = None,
    allow_unsafe: Annotated[bool, typer.Option(help="Use a method that an informed attacker can undo.")] = False,
    ledger: LedgerFile = None,
    despite_earlier: DespiteEarlier = False,
    policy: PolicyName = None,
    accept: Accept = None,
    by: By = None,
    force: Force = False,
    sign: Annotated[Path | None, typer.Option(help="Sign the release with the private key of this file.")] = None,
    json: Json = False,
) -> None:
    """Publish, and say whether it may be published and what was done."""
    given_roles = roles(qi=qi, sensitive=sensitive, identifiers=identifiers, insensitive=insensitive, drop=drop)
    people = who(unit=unit, one_row_per=one_row_per, weight=weight, population=population)
    files = check_output(out, format, force, rows_per_file, safe_for_spreadsheets)
    if accept is not None:
        decider(accept, by)
    if sign is not None:
        private_key(sign)
    with progress_on_stderr() as progress, ExitStack() as beside:
        progress("reading", 0.0)
        held: dict[str, Any] = {"memory": memory, "progress": progress}
        far = far_with_spec(engine, data, spec, given_roles, missing, people)
        given, schema, loaded, options = far or read_with_spec(data, spec, given_roles, missing, people, **held)
        if schema is None:
            raise ParameterError("Say which columns an attacker may know: --qi age,sex,zip, or give a --spec.")
        if isinstance(given, Input):
            check_size(given.data.num_rows, len(schema.published), format)
            given = replace(given, once=True)
        chosen = _method(loaded, method, settings_from_text(set or []), allow_unsafe)
        beside.enter_context(compiling_beside(chosen.name))
        columns = {name: schema.column(name) for name in schema.sensitive}
        requirements = [
            *guarantees_from_entries(loaded.requirements if loaded else (), columns),
            *guarantees_from_requirements(require or [], columns=columns),
        ]
        made = publish(
            given,
            schema,
            chosen,
            require=requirements,
            seed=seed,
            engine=engine_of(engine, parts),
            options=options,
            ledger=ledger or (loaded.ledger if loaded else None),
            despite_earlier=despite_earlier,
            policy=policy or (loaded.policy if loaded else None),
            choice=loaded.choice if loaded else None,
            memory=memory or (loaded.memory if loaded else None),
            progress=progress,
        )
        start_drawing()
        made = judged_beside(made, out, progress)
        facts = summarize(made, progress=progress)
        kept: dict[str, Any] = {"format": files, "force": force, "sign": sign, "accept": accept, "by": by}
        save(made, out, summary=facts, progress=progress, **kept)
    warn([*made.warnings, *file_notes(made.release, files), *formula_note(made.release, files)])
    if json:
        print_json(as_dict(made, out))
    else:
        print_view(made.verdict.view())
        _print(made, out, given.source.get("read_as"))
        print_end(made, facts)
    leave(out)


def leave(out: Path) -> None:
    """With code 5 where the tables are withheld."""
    if is_withheld(out):
        raise typer.Exit(5)


def check_output(
    out: Path,
    format: str,  # noqa: A002
    force: bool,
    rows_per_file: int | None = None,
    safe: bool = False,
) -> Files:
    """Refuse before any work what would be refused after it; the files that will be written."""
    if format not in FORMATS:
        raise ParameterError(f"--format must be one of {listed(FORMATS)}. Got {format!r} instead.")
    check_installed(format)
    files = Files(format, rows_per_file, safe)
    check_folder(out, force=force, strange=strange)
    return files


def _method(spec: Spec | None, name: str | None, settings: dict[str, Any], allow_unsafe: bool) -> Method:
    named = name or (spec.method_name if spec else None)
    if named is None:
        raise ParameterError(
            f"Name a method: --method NAME or [method] in the spec. There are: {listed(plugins.names('methods'))}."
        )
    if spec is None or spec.method_name is None:
        parameters: dict[str, Any] = {}
    else:
        parameters = parameters_of(spec) if named == spec.method_name else _carried(spec, named, settings)
    parameters |= settings
    if allow_unsafe and "allow_unsafe" in {field.name for field in fields(plugins.load("methods", named))}:
        parameters["allow_unsafe"] = True
    method: Method = make("methods", named, parameters)
    return method


def _carried(spec: Spec, named: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the spec says to its method and ``named`` can be told as well; the holder is told which, and which not.

    Consent to a method that is not safe is not carried over, nor is what ``settings`` say in another way.
    """
    kind = plugins.load("methods", named)
    known = {parameter.name: parameter for parameter in describe(kind) if parameter.name != "allow_unsafe"}
    said = {one for group in getattr(kind, "exactly_one", ()) if settings.keys() & set(group) for one in group}
    had, kept = parameters_of(spec), {}
    for name, value in had.items():
        unfit: list[str] = []
        if name in known and name not in said | settings.keys():
            known[name].kept(named, value, unfit, text=True)
            if not unfit:
                kept[name] = value
    told = ", ".join(f"{name}={value}" for name, value in kept.items()) or "nothing"
    dropped = [name for name in had if name not in kept and name not in settings]
    more = f"; dropped: {listed(dropped)}" if dropped else ""
    note(f"of what the spec says to {spec.method_name}, {named} is told {told}{more}.")
    from_spec(method=False)
    return kept


def parameters_of(spec: Spec) -> dict[str, Any]:
    """The method's parameters; paths are relative to the spec."""
    parameters = dict(spec.method_parameters)
    if spec.path is None or spec.method_name is None:
        return parameters
    for name in getattr(plugins.load("methods", spec.method_name), "paths", ()):
        given = parameters.get(name)
        if isinstance(given, list | str):
            each = [given] if isinstance(given, str) else given
            parameters[name] = [str(spec.path.parent / path) if isinstance(path, str) else path for path in each]
    return parameters


def as_dict(made: Run, out: Path, **more: Any) -> dict[str, Any]:
    """What ``--json`` says of a release that was made, with whatever else there is to say."""
    return {
        "out": str(out),
        "tables": str(public_part(out)),
        **made.verdict.to_dict(),
        "method": {"name": made.release.method, "parameters": dict(made.release.parameters)},
        "rows": len(made.rows),
        "groups": made.groups.count,
        "guarantees": list(made.release.guarantees),
        "algorithm_safe": made.release.algorithm_safe,
        "corruption_robust": made.release.corruption_robust,
        "choice": made.release.choice.to_dict(),
        "suppressed_rows": made.release.suppressed_rows,
        "scan": made.scan.to_dict(),
        **({"earlier": made.diagnostics["earlier"]} if "earlier" in made.diagnostics else {}),
        **more,
        "warnings": list(made.warnings),
        "timings": dict(made.timings),
    }


def _print(made: Run, out: Path, read_as: str | None) -> None:
    screen = console()
    if read_as:
        screen.print(f"read as: {read_as.removeprefix('read as: ')}", style="dim")
    findings: Sequence[Finding] = made.verification.findings
    rows = [[_named(finding), shown(finding.required, finding.sense), *found(finding)] for finding in findings]
    whence = (
        "the private run" if any(finding.needs == "private" for finding in findings) else "the published tables alone"
    )
    if rows:
        print_table(screen, f"Verified from {whence}", ["guarantee", "asked", "found", ""], rows)
    else:
        screen.print(NOTHING_PROMISED)
    print_places(made, out)


def print_end(made: Run, facts: Mapping[str, Any]) -> None:
    """How many rows, and the attack in one line."""
    screen, count, suppressed = console(), made.groups.count, made.release.suppressed_rows
    left_out = f", {suppressed:,} suppressed" if suppressed else ""
    rows = f"{counted(len(made.rows), 'row')} in {counted(count, 'group')}{left_out}"
    found = facts["headline"]
    if found:
        value = found["attribute"]  # without a sensitive column there is no value to learn
        doing = "guesses `{}` right for {} of the people" if value and value.get("outcome") else "learns `{}` with {}"
        learnt = ""
        if value:
            learnt = (
                f"; {doing.format(value['column'], risk(value['after']))} (guessing: {baseline(value['baseline'])})"
            )
        screen.print(
            f"attack: at worst finds a row with {risk(found['identity']['after'])} (as it stands: "
            f"{risk(found['identity']['before'])}){learnt}"
        )
    for sentence in sampling_words(facts["sampling"]) if facts["sampling"] else ():
        screen.print(str(sentence))
    screen.print(f"{made.release.method}: {rows}")


def _named(finding: Finding) -> str:
    """A promise by its name, and what it is about where its name leaves that open."""
    about = [f"{key}={finding.parameters[key]}" for key in ("of", "per") if finding.parameters.get(key)]
    return " ".join([finding.name, *about])


def found(finding: Finding) -> tuple[str, str]:
    """What a guarantee came to, and whether that is enough."""
    return finding.shown(), "holds" if finding.holds else "DOES NOT HOLD"


def print_places(made: Run, out: Path) -> None:
    """Whether a release is safe before somebody who knows the algorithm, and where it lies."""
    from undercover.pages.words import declared_by

    screen, release = console(), made.release
    safe = "yes" if release.algorithm_safe else "no (see the warning)"
    screen.print(f"algorithm-safe: {', '.join(filter(None, (safe, declared_by(release.method))))}")
    screen.print(f"robust when values of others are known: {'yes' if release.corruption_robust else 'no'}")
    tables = public_part(out)
    screen.print(f"looked for:     {made.scan.short()}", markup=False)
    if made.scan.leaks:
        screen.print(f"withheld:       {tables}; nobody can accept a leak: remove its cause, and publish again")
    elif is_withheld(out):
        screen.print(f"withheld:       {tables}; to publish it all the same: undercover accept {out} --because TEXT")
    else:
        screen.print(f"for the world:  {tables}")
    screen.print(f"for you alone:  {out / 'private' / 'report.html'}")
