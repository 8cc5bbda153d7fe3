"""What the result page shows of a release, made by the job that made the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.model.run import Run
from undercover.waiting import Progress
from undercover.web.desks.project import Project


def show(project: Project, number: int, run: Run, summary: Mapping[str, Any], progress: Progress) -> None:
    """Nothing beyond what the folder of the release has."""
