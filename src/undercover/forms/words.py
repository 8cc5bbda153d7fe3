"""What every form says in the same words: roles of columns, and ways of writing a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CELLS: Final[Mapping[str, str]] = {
    "value": "The value itself.",
    "interval": "[low, high] stands for a value from low to high, both included; a value alone for itself; * for any.",
    "set": '{a, b} stands for one of its members (one that contains a comma is quoted: {a, "b, c"}); a value alone '
    "for itself; * for any.",
    "node": "A node of the column's hierarchy stands for any value below it; a value alone for itself; * for any.",
}
STRUCTURE = "Holds the tables together; it says nothing about a person."
_ROLES: Final[Mapping[str, str]] = {
    "quasi-identifier": "What others may know of a person.",
    "sensitive": "What others must not learn of a person.",
    "insensitive": "Published unchanged; no promise covers it.",
}


def role_words(role: str) -> str:
    """What a role means, for whoever reads the table.

    >>> role_words("sensitive")
    'What others must not learn of a person.'
    """
    return _ROLES.get(role, "")
