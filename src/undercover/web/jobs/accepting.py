"""Accept a withheld release: verified again, in a process of its own, and moved with the decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.verbs.accept import accept as accept_release
from undercover.waiting import Progress
from undercover.web.desks.outcomes import outcome
from undercover.web.desks.project import Project


def accept(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Publish a release although its verdict says not to: ``release``, ``because`` and ``by``."""
    progress("verifying", 0.0)
    found = outcome(project, int(request["release"]))
    decision = accept_release(found.folder, because=str(request["because"]), by=str(request["by"]))
    return {"release": found.number, "decision": decision.to_dict()}
