"""The result of looking for content beside the cells of a table."""

from __future__ import annotations

from dataclasses import dataclass, field

ADVICE = "Do not use the file; ask the holder for the release as it was written."


@dataclass(frozen=True)
class Residue:
    """What does not belong into a file, and what could not be compared, one sentence each."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: Residue) -> None:
        """Take over what was found elsewhere."""
        self.problems.extend(other.problems)
        self.notes.extend(other.notes)
