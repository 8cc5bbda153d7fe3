"""What report and datasheet say of the methods that put every column on one level of its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INCOGNITO = (
    "Every quasi-identifier was put on one level of its hierarchy, the same for all rows. All combinations of levels "
    "that keep the promise were found, and the best of them was taken. Rows with the same cells form a class. "
    "Sensitive values were not changed."
)
NONCENTRALIZED = (
    "Others have published tables about the same people with the same sensitive values. Every quasi-identifier was put "
    "on one level of its hierarchy, the same for all rows, such that whoever joins this table with theirs is still "
    "left with several values for everybody. Sensitive values were not changed."
)


def done(name: str, parameters: Mapping[str, Any]) -> str | None:
    """What the method did, with the levels it took; ``None`` for any other method.

    >>> done("incognito", {"used": {"levels": {"age": "2 of 4"}}}).split(". ")[-1]
    'Levels, 0 being the value itself: age 2 of 4.'
    """
    words = {"incognito": INCOGNITO, "noncentralized": NONCENTRALIZED}.get(name)
    if words is None:
        return None
    used = parameters.get("used") or {}
    if used.get("levels"):
        levels = ", ".join(f"{column} {level}" for column, level in used["levels"].items())
        words += f" Levels, 0 being the value itself: {levels}."
    if used.get("dropped"):
        words += f" Left out, because others publish them, too: {', '.join(used['dropped'])}."
    return words
