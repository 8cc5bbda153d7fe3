"""What jobs there are, by their names; each is a function of a table, a request and whom to tell how far it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from undercover.waiting import Progress
from undercover.web.desks.project import Project

Work = Callable[[Project, Mapping[str, Any], Progress], Mapping[str, Any]]


def _later(where: str) -> Work:
    """Work that is loaded when it is done."""
    module, _, name = where.partition(":")

    def work(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
        done: Mapping[str, Any] = getattr(import_module(module), name)(project, request, progress)
        return done

    return work


KINDS: Mapping[str, Work] = {
    "profile": _later("undercover.web.jobs.profile:profile"),
    "recommend": _later("undercover.web.jobs.recommending:recommend"),
    "publish": _later("undercover.web.jobs.publishing:publish"),
    "join": _later("undercover.web.jobs.joining:join"),
    "verify": _later("undercover.web.jobs.verifying:verify"),
}
"""By name."""
