"""What if: another value of a parameter, tried without saving a release, as a point of the frontier.

A table of at most :data:`WHOLE` rows is tried as a whole, of another a sample of so many.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from undercover.errors import UnreachableError
from undercover.io.plain import plain
from undercover.io.source import read
from undercover.io.spec.load import resolve
from undercover.memory import Store, memory_of
from undercover.model.policy import policy_of
from undercover.model.table import Table
from undercover.pages.summary import judged_headline
from undercover.studies.recommend.purpose import purpose_of
from undercover.studies.recommend.search import Candidate, Search
from undercover.verbs.beside import judged_beside
from undercover.waiting import Progress
from undercover.web.desks.project import Project
from undercover.web.desks.store import write_json
from undercover.web.jobs.frontier import point, redraw
from undercover.web.released.compared import MOST_TRIED, tries

WHOLE: Final = 30_000  # rows


def whatif(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Try a method with parameters (``method``, ``parameters``, and ``changed``: what is new) on the table as it is."""
    spec = project.loaded()
    progress("reading", 0.0)
    given = read(project.whence, options=spec.options, store=Store(memory_of(None)), progress=progress)
    schema = resolve(spec, given.data)
    progress("encoding", 0.0)
    table = Table.from_arrow(given.data, schema)
    search = Search(
        given, schema, table, policy_of(spec.policy), purpose_of("looking", schema), spec.options, progress=progress
    )
    candidate = Candidate(str(request["method"]), dict(request["parameters"]))
    candidate.made(schema)  # what is wrong with a parameter is said as such
    progress(f"trying: {candidate.title}", 0.0)
    trial = search.once(candidate, WHOLE)
    if trial.run is None:
        raise UnreachableError(trial.refused)
    run = judged_beside(trial.run, project.folder / "releases" / "new", progress)
    top = judged_headline([plain(attack.to_dict()) for attack in run.attacks], run.verdict)
    found = {
        **point(run.release, top, trial.loss, run.verdict.title),
        "changed": str(request["changed"]),
        "reasons": [reason.to_dict() for reason in run.verdict.ordered()],
        "meaning": run.verdict.meaning,
        "rows": trial.rows,
        "whole": trial.whole,
    }
    place = tries(project)
    newest = max((int(one.stem) for one in place.glob("*.json")), default=0)  # whatever the clock says
    write_json(place / f"{max(time.time_ns(), newest + 1):020d}.json", found)
    for old in sorted(place.glob("*.json"), reverse=True)[MOST_TRIED:]:
        old.unlink(missing_ok=True)
    redraw(project, {}, progress)
    return found
