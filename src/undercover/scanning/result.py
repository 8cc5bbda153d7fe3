"""What was looked for in the public files of a release, and what was found there that must not be.

Nobody accepts a leak: whatever is found is withheld until its cause is gone. Sentences name files and columns, never
the value that was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from undercover.errors import listed
from undercover.model.verdict import LEAK, LINKABILITY, Reason

_CHANGE = {
    "identifiers": "Take it out of the table or its description.",
    "order": "Publish again. If it is found again it is a fault of the method: do not publish, and report it.",
    "links": "Publish again. If it is found again it is a fault of the method: do not publish, and report it.",
}
_OTHERWISE = "Publish again from elsewhere or by another name; if it is found again it is a fault: report it."


@dataclass(frozen=True)
class Leak:
    """Something that must not be published, where it stands, in a sentence that does not repeat it."""

    kind: str
    where: str
    text: str

    def reason(self) -> Reason:
        """Why the release is withheld."""
        change = f"{_CHANGE.get(self.kind, _OTHERWISE)} A leak cannot be accepted."
        return Reason(kind=LEAK, weight="stop", text=self.text, regulator=LINKABILITY, change=change)


@dataclass(frozen=True)
class Looked:
    """One thing that was looked for; of a test its level, and what it would have found. Else why it was not."""

    kind: str
    text: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    done: bool = True


@dataclass(frozen=True)
class Scan:
    """What was looked for in public files, and what was found.

    Examples
    --------
    >>> Scan((Looked("paths", "paths of this machine"), Looked("order", "the order of rows")), ()).sentence()
    'Looked for in public/: paths of this machine; the order of rows. Nothing was found.'
    """

    looked: tuple[Looked, ...]
    leaks: tuple[Leak, ...]

    def sentence(self) -> str:
        """What was looked for and whether anything was found, for the holder."""
        found = "Nothing was found." if not self.leaks else f"Found: {' '.join(leak.text for leak in self.leaks)}"
        return f"Looked for in public/: {'; '.join(one.text for one in self.looked)}. {found}"

    def short(self) -> str:
        """The same in a few words.

        >>> Scan((Looked("order", "the order of rows"), Looked("links", "no rows", done=False)), ()).short()
        'order; nothing found'
        """
        kinds = ", ".join(dict.fromkeys(one.kind for one in self.looked if one.done))
        return f"{kinds}; {'found: ' + listed({leak.kind for leak in self.leaks}) if self.leaks else 'nothing found'}"

    def reasons(self) -> tuple[Reason, ...]:
        """Why the release is withheld; none where nothing was found."""
        return tuple(leak.reason() for leak in self.leaks)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "text": self.sentence(),
            "looked": [{"kind": one.kind, "text": one.text, "done": one.done, **one.figures} for one in self.looked],
            "leaks": [asdict(leak) for leak in self.leaks],
        }
