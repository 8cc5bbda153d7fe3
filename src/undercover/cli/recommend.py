"""``undercover recommend``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from undercover.cli.options import (
    Data,
    Drop,
    Force,
    Identifiers,
    Insensitive,
    Json,
    Missing,
    OneRowPer,
    PolicyName,
    Population,
    Qi,
    Sensitive,
    SpecFile,
    TablesAs,
    Unit,
    Weight,
    names,
    roles,
    who,
)
from undercover.cli.output import console, print_json, print_view, progress_on_stderr, warn
from undercover.cli.publish import as_dict, check_output, leave, print_places
from undercover.cli.reading import read_with_spec
from undercover.errors import ParameterError
from undercover.io.spec.write import SPEC, spec_files
from undercover.model.formats import check_size
from undercover.model.run import Run
from undercover.studies.recommend.recommend import recommend
from undercover.verbs.beside import judged_beside
from undercover.verbs.publish import publish as publish_release
from undercover.verbs.store import save
from undercover.whole import check_file, is_levels, is_spec, write_whole


def command(
    data: Data,
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
    policy: PolicyName = None,
    purpose: Annotated[str, typer.Option("--for", help="looking, queries, or learning:COLUMN.")] = "looking",
    workload: Annotated[Path | None, typer.Option(help="A file of COUNT queries in TOML, for queries.")] = None,
    time: Annotated[float, typer.Option(help="Seconds to search; at least one release is made of the whole table.")] = (
        120.0
    ),
    methods: Annotated[str | None, typer.Option(help="Only these methods, by commas.")] = None,
    publish: Annotated[Path | None, typer.Option(help="Publish a fresh release by it into this folder.")] = None,
    format: TablesAs = "csv",  # noqa: A002
    write_spec: Annotated[Path | None, typer.Option(help="Write it as a spec.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Recommend a release, say why, and publish it where asked."""
    given_roles = roles(qi=qi, sensitive=sensitive, identifiers=identifiers, insensitive=insensitive, drop=drop)
    people = who(unit=unit, one_row_per=one_row_per, weight=weight, population=population)
    if publish is not None:
        check_output(publish, format, force)
    if write_spec is not None:
        check_file(write_spec, force=force, ours=is_spec)
    made: Run | None = None
    with progress_on_stderr() as progress:
        progress("reading", 0.0)
        given, schema, loaded, options = read_with_spec(data, spec, given_roles, missing, people)
        if schema is None:
            raise ParameterError("Say which columns an attacker may know: --qi age,sex,zip, or give a --spec.")
        if publish is not None:
            check_size(given.data.num_rows, len(schema.published), format)
        limits = policy or (loaded.policy if loaded else None)
        found = recommend(
            given,
            schema,
            policy=limits,
            purpose=purpose,
            workload=workload,
            time=time,
            methods=names(methods),
            options=options,
            progress=progress,
        )
        if publish is not None:  # a fresh draw: none of those that were looked at
            made = publish_release(
                given,
                schema,
                found.best,
                options=options,
                policy=limits,
                ledger=loaded.ledger if loaded else None,
                progress=progress,
            )
            made = judged_beside(made, publish, progress)
            kept: dict[str, Any] = {"format": format, "force": force}
            save(made, publish, progress=progress, **kept)
    if write_spec is not None:
        _write(spec_files(found.runs[0]), write_spec, force)
    if json:
        published = {} if made is None or publish is None else {"published": as_dict(made, publish)}
        print_json({**found.to_dict(), **published, **({"spec": str(write_spec)} if write_spec else {})})
    else:
        print_view(found.view())
        if write_spec is not None:
            console().print(f"wrote {write_spec}", markup=False)
    if made is not None and publish is not None:
        warn(made.warnings)
        if not json:
            print_view(made.verdict.view())
            print_places(made, publish)
        leave(publish)


def _write(files: dict[str, str], place: Path, force: bool) -> None:
    """The spec where it was asked for, after the files it names beside it."""
    beside = {place.parent / name: text for name, text in files.items() if name != SPEC}
    for target, text in beside.items():
        if not target.is_file() or target.read_bytes() != text.encode():
            check_file(target, force=force, ours=is_levels)
    for target, text in {**beside, place: files[SPEC]}.items():
        write_whole(target, text)
