"""What report and datasheet say of Incognito and of tables that are published next to others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.model.release import Release

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


def promise_title(name: str, parameters: Mapping[str, Any]) -> str | None:
    """Joint diversity by its number and neighbours; ``None`` for any other promise.

    >>> promise_title("joint-diversity", {"l": 2, "others": [{"name": "revenue"}]})
    'Joint 2-diversity next to revenue'
    """
    if name != "joint-diversity":
        return None
    others = [str(other.get("name")) for other in parameters.get("others", ())]
    beside = f" next to {', '.join(others)}" if others else ""
    return f"Joint {parameters.get('l', 'l')}-diversity{beside}"


def promise_words(name: str, parameters: Mapping[str, Any]) -> str | None:
    """What it means for the people in the table; ``None`` for any other promise."""
    if name != "joint-diversity":
        return None
    if not parameters.get("others"):
        return f"Every class holds at least {parameters.get('l')} different sensitive values."
    return (
        f"Whoever knows all quasi-identifiers of a person and joins this table with the others named is left with at "
        f"least {parameters.get('l')} sensitive values, whatever class the person is in."
    )


def limits(release: Release) -> list[str]:
    """What joint diversity does not cover; nothing where it was not promised."""
    promised = [entry for entry in release.guarantees if entry.get("name") == "joint-diversity"]
    if not promised:
        return []
    return [
        "The number of values says nothing of how likely each is: one of them can be all but certain.",
        "Counted are the values that the classes have in common. Somebody who also knows how many people are in a "
        "combination of classes can sometimes rule out more.",
        "Only the tables named were looked at. Whatever is published about the same people afterwards must be checked "
        "against this table and all of them.",
    ]
