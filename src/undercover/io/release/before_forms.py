"""What folders say that were written before they said it themselves (0.1 and earlier): what a release stands for, what
files it has, and how its method is made again.

The one place that knows; everything written since has the keys ``form`` and ``files`` in its manifest, and ``recipe``
and ``release`` in its run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from undercover.io.release.contents import DATASHEET
from undercover.model.about import about_of
from undercover.model.form import Buckets, Form
from undercover.model.release import PublishedTable

OLD = (
    "OLD RELEASE, or one whose manifest was cut down to look like one: release.json has no `files`. The tables are "
    "those it names, and what is promised of them was recomputed. Nobody can tell whether "
    f"`{DATASHEET}` was changed, whether a column was given another role, or whether a promise was recorded of other "
    "columns. Ask the holder to write the release anew, or for the private part beside it."
)

UNNUMBERED = (
    "OLD RELEASE, or one whose manifest was cut down to look like one: release.json does not say its layout. Whether "
    "something was taken out of it, nobody can tell. Ask the holder to write the release anew."
)

_SINCE = ("layout", "corruption_robust")
"""Keys that were never written without ``files``."""


def stripped(content: Mapping[str, Any]) -> list[str]:
    """Whether a manifest without ``files`` has what was never written without them.

    >>> stripped({"guarantees": [], "corruption_robust": False})
    ['release.json has `corruption_robust` and no `files`; they are written together, so `files` was taken out.']
    """
    found = [f"`{name}`" for name in _SINCE if name in content]
    found += ["the columns of promises"] if any("columns" in claim for claim in content["guarantees"]) else []
    return [
        f"release.json has {what} and no `files`; they are written together, so `files` was taken out."
        for what in found
    ]


def files_by_old_rules(folder: Path, tables: Mapping[str, str]) -> dict[str, str | None]:
    """The files of a release whose manifest does not list them: its tables, and a datasheet without a hash."""
    return {**tables, **({DATASHEET: None} if (folder / DATASHEET).is_file() else {})}


def form_by_old_rules(method: str, parameters: Mapping[str, Any], tables: Sequence[PublishedTable]) -> Form:
    """The form of a release whose manifest has none.

    >>> form_by_old_rules("mutual-cover", {"keep_order": True}, ())
    Drawn(order='input', values='own', among=None, columns='drawn')
    >>> form_by_old_rules("mondrian", {}, ())
    Generalized(one_level=False)
    """
    names = {table.name for table in tables}
    if {"qit", "sat"} <= names:
        return Buckets(joined="joined" if "joined" in names else None)
    return about_of(method).unstated_form(parameters)


def recipe_by_old_rules(run: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that make the method of a ``run.json`` again which has no recipe.

    >>> recipe_by_old_rules({"method": {"parameters": {"k": 5, "used": {"levels": {}}}}, "diagnostics": {}})
    {'k': 5}
    """
    asked = {name: value for name, value in run["method"]["parameters"].items() if name != "used"}
    if "others" in asked:
        asked["others"] = run["diagnostics"].get("others", [])  # with their paths, which are not published
    return asked
