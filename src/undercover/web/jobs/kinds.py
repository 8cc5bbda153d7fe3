"""What jobs there are, by their names; each is a function of a table, a request and whom to tell how far it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from undercover.plugins import find
from undercover.waiting import Progress
from undercover.web.desks.project import Project

Work = Callable[[Project, Mapping[str, Any], Progress], Mapping[str, Any]]


class Later:
    """Work that is loaded when it is done, or by a process that waits for it."""

    def __init__(self, where: str) -> None:
        self._where = where

    @cached_property
    def work(self) -> Work:
        """The function itself."""
        found: Work = find(self._where)
        return found

    def __call__(self, project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
        """Do it."""
        return self.work(project, request, progress)


_later = Later

KINDS: Mapping[str, Work] = {
    "profile": _later("undercover.web.jobs.profile:profile"),
    "recommend": _later("undercover.web.jobs.recommending:recommend"),
    "publish": _later("undercover.web.jobs.publishing:publish"),
    "join": _later("undercover.web.jobs.joining:join"),
    "accept": _later("undercover.web.jobs.accepting:accept"),
    "whatif": _later("undercover.web.jobs.whatif:whatif"),
    "frontier": _later("undercover.web.jobs.frontier:redraw"),
    "verify": _later("undercover.web.asked.verifying:verify"),
}
"""By name."""
