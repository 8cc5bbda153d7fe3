"""Publish: the same verbs, in the same order, as ``undercover publish``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.guarantees.requirements import guarantees_from_entries
from undercover.io.source import read
from undercover.io.spec.load import resolve
from undercover.memory import Store, memory_of
from undercover.parameters import make
from undercover.verbs.publish import publish as publish_run
from undercover.verbs.report import summarize
from undercover.verbs.store import save
from undercover.waiting import Progress
from undercover.web.desks.others import located
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project


def publish(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Make a release of a table by its spec, judged, attacked, measured and written."""
    spec = project.loaded()
    progress("reading", 0.0)
    given = read(project.whence, options=spec.options, store=Store(memory_of(None)), progress=progress)
    schema = resolve(spec, given.data)
    name = str(spec.method_name)
    method = make("methods", name, located(project, name, spec.method_parameters))
    columns = {name: schema.column(name) for name in schema.sensitive}
    run = publish_run(
        given,
        schema,
        method,
        require=guarantees_from_entries(spec.requirements, columns),
        options=spec.options,
        policy=spec.policy,
        progress=progress,
    )
    facts = summarize(run, progress=progress)
    number = max(releases(project), default=0) + 1
    out = project.folder / "releases" / str(number)
    save(run, out, summary=facts, format=project.choices.get("format", "csv"), progress=progress)
    return {"release": number, "verdict": run.verdict.title}
