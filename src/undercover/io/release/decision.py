"""Who decided to publish a release that was withheld, when and why; and its move from ``withheld`` to ``public``.

The decision is on the disk before the tables move, and they move by one rename: a kill at any point leaves a withheld
release, or a public one with its decision.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from undercover.ending import changing
from undercover.errors import DataError, OutputError
from undercover.io.plain import as_json
from undercover.io.release.contents import PRIVATE, PUBLIC, WITHHELD, misfits, read_json
from undercover.model.view import View, Viewable, facts
from undercover.system import open_to_lock, sync
from undercover.whole import locked, write_whole

DECISION = "decision.json"
MARK = "<!-- decision -->"
"""Where a report shows the decision."""


@dataclass(frozen=True, kw_only=True)
class Decision(Viewable):
    """That a release is published although its verdict says otherwise."""

    because: str
    by: str
    when: str  # UTC
    verdict: str
    reasons: tuple[Mapping[str, Any], ...]
    policy: Mapping[str, Any] | None
    release: str  # sha256 of release.json
    decision: str = "accepted"

    def sentence(self) -> str:
        """Who, when, against what and why."""
        when = f"{self.when[:16].replace('T', ' ')} UTC"
        return f"Accepted by {self.by} on {when}. The verdict was: {self.verdict}. Because: {self.because}"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def view(self) -> View:
        """Who decided what, when and why."""
        lines = (("by", self.by), ("when", f"{self.when[:16].replace('T', ' ')} UTC"), ("because", self.because))
        about = facts(*lines, ("the verdict was", self.verdict))
        return View("decision", "Decision", (about,), "care", self.decision, private=True)


def decision_of(place: Path) -> Decision | None:
    """The decision about a release, where there is one."""
    path = place / PRIVATE / DECISION
    if not path.is_file():
        return None
    try:
        return TypeAdapter(Decision).validate_python(read_json(path))
    except ValidationError as error:
        raise DataError(f"`{path}` is not a decision: {misfits(error)} missing or malformed.") from error


def make_public(place: Path, decision: Decision) -> None:
    """Write the decision, show it in the report, and make the withheld tables public."""
    private, tables = place / PRIVATE, place / WITHHELD
    try:
        for begun in private.glob(".*.tmp-*"):  # by somebody who was killed
            begun.unlink()
        write_whole(private / DECISION, as_json(decision.to_dict()), private=True)
        _in_report(private, decision)
        usual = place.stat().st_mode & 0o777
        for file in tables.iterdir():
            file.chmod(usual & 0o666)
        tables.chmod(usual)
        changing(place / PUBLIC)
        tables.rename(place / PUBLIC)
        sync(place)
    except OSError as error:
        raise OutputError(f"`{place}` cannot be changed: {error.strerror or error}. Accept it again.") from error


@contextmanager
def alone_with(place: Path) -> Iterator[None]:
    """Nobody else accepts this release meanwhile."""
    try:
        handle = open_to_lock(place / PRIVATE)
    except OSError as error:
        raise DataError(f"`{place}` is no release folder with its private part: {error.strerror or error}.") from error
    try:
        if locked(handle, wait=False) == "taken":
            raise OutputError(f"`{place}` is being accepted by somebody else at this moment.")
        yield
    finally:
        os.close(handle)


def _in_report(private: Path, decision: Decision) -> None:
    """The decision at the top of the report, and in its figures."""
    figures, page = private / "report.json", private / "report.html"
    if figures.is_file():
        content = read_json(figures)
        if not isinstance(content, dict):
            raise DataError(f"`{figures}` is not the report of a release. Publish again.")
        write_whole(figures, as_json({**content, "decision": decision.to_dict()}), private=True)
    if page.is_file():
        before, mark, after = page.read_text(encoding="utf-8").partition(MARK)
        _, again, rest = after.partition(MARK)  # of an acceptance that was killed
        shown = f'<div class="note danger"><p>{escape(decision.sentence())}</p></div>'
        text = before + mark + shown + mark + (rest if again else after) if mark else before
        write_whole(page, text, private=True)
