"""Publish: the same verbs, in the same order, as ``undercover publish``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from undercover.guarantees.requirements import guarantees_from_entries
from undercover.io.release.formulas import formula_note
from undercover.io.release.tables import file_notes
from undercover.io.source import read
from undercover.io.spec.load import resolve, spec_from_mapping
from undercover.memory import Store, memory_of
from undercover.model.formats import Format, check_size
from undercover.verbs.beside import judged_beside
from undercover.verbs.publish import publish as publish_run
from undercover.verbs.report import summarize
from undercover.verbs.store import save
from undercover.waiting import Progress
from undercover.web.desks.clearing import whole
from undercover.web.desks.plan import files_of, method_of
from undercover.web.desks.progress import made, next_number
from undercover.web.desks.project import Project
from undercover.web.jobs.showing import show


def publish(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Make a release of a table by the spec it had when this was asked for: judged, attacked, measured and written."""
    asked, choices = request.get("spec", project.spec), request.get("choices", project.choices)
    spec, files = spec_from_mapping(asked, folder=project.folder), files_of(choices)
    progress("reading", 0.0)
    store = Store(memory_of(spec.memory))
    given = read(project.whence, options=spec.options, store=store, progress=progress)
    given = replace(given, once=True, source={**given.source, "name": project.name})
    schema = resolve(spec, given.data)
    check_size(given.data.num_rows, len(schema.published), files)
    method = method_of(asked, project.folder)
    columns = {name: schema.column(name) for name in schema.sensitive}
    run = publish_run(
        given,
        schema,
        method,
        require=guarantees_from_entries(spec.requirements, columns),
        options=spec.options,
        ledger=spec.ledger,
        policy=spec.policy,
        choice=spec.choice,
        memory=spec.memory,
        progress=progress,
    )
    number = next_number(project)
    out = project.folder / "releases" / str(number)
    with whole(out):
        run = judged_beside(run, out, progress)
        facts = summarize(run, progress=progress)
        save(run, out, format=cast(Format, files), summary=facts, progress=progress)
        show(project, number, run, {**facts, "scan": run.scan.to_dict()}, progress)
    made(project, number)
    warnings = [*run.warnings, *file_notes(run.release, files), *formula_note(run.release, files)]
    return {"release": number, "verdict": run.verdict.title, "warnings": warnings}
