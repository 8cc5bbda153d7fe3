"""What the recipient is told, as a dict. It is made from the release and from words that its holder wrote for him.

Single cells are not quoted either: every example of how to read a cell is made up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from undercover.forms import read
from undercover.forms.reading import Reading
from undercover.forms.snippets.languages import languages
from undercover.guarantees.requirements import FOUND
from undercover.io.plain import plain
from undercover.io.release.tables import file_notes
from undercover.model.about import about_of
from undercover.model.finding import shown
from undercover.model.formats import Files
from undercover.model.release import PublishedTable, Release
from undercover.model.schema import ABOUT
from undercover.pages.words import (
    algorithm_words,
    asked_parameters,
    declaration,
    done_words,
    limits,
    promise_title,
    promise_words,
    release_title,
    robustness_words,
    sense_of,
    unspoken,
)


def datasheet_summary(
    release: Release, said: Mapping[str, Any] | None = None, *, file_format: str = "csv"
) -> dict[str, Any]:
    """Everything the datasheet says; ``file_format`` is that of the tables beside it.

    ``said`` is :attr:`undercover.Schema.said`: what the holder tells of the table and its columns, which is public.
    """
    reading, method = read(release), about_of(release.method)
    about, columns = (dict((said or {}).get(name, {})) for name in ("about", "columns"))
    promises = [promised(entry) for entry in release.guarantees]
    return {
        "private": False,
        "title": release_title(release),
        "name": about.get("title"),
        "description": about.get("description"),
        "imprint": {name: about[name] for name in ABOUT if name in about and name not in ("title", "description")},
        "version": release.version,
        "method": {
            "name": release.method,
            "title": method.title,
            "parameters": plain(asked_parameters(release.parameters)),
            "words": done_words(release),
        },
        **_suppressed(release),
        "sampling": plain(reading.sampling),
        "guarantees": promises,
        "unspoken": unspoken(release, promises),
        "algorithm_safe": {
            "safe": release.algorithm_safe,
            "words": algorithm_words(release),
            "declared": declaration(release.method),
        },
        "corruption_robust": {
            "safe": release.corruption_robust,
            "words": robustness_words(release.corruption_robust),
            "declared": declaration(release.method),
        },
        "tables": [_table(reading, table, file_format, columns) for table in release.tables],
        "order": reading.order,
        "file_notes": file_notes(release, file_format),
        "forms": {form: words for form, words in reading.cell_words().items() if form in _forms(release)},
        "snippets": reading.snippets(file_format),
        "languages": languages(reading, file_format),
        "warnings": list(release.warnings),
        "limits": limits(release),
    }


def _suppressed(release: Release) -> dict[str, Any]:
    """How many rows were left out; a number of people below what is promised is not told exactly (decision 21)."""
    least, rows = _least_count(release), release.suppressed_rows
    hidden = 0 < rows < least
    return {"suppressed_rows": None if hidden else rows, "suppressed_fewer_than": least if hidden else None}


def _least_count(release: Release) -> int:
    """The largest number of people or values that is asked for or promised anywhere."""
    asked = [entry.get(name) for entry in (release.parameters, *release.guarantees) for name in ("k", "l")]
    return max(
        [1, *(math.ceil(number) for number in asked if isinstance(number, int | float) and math.isfinite(number))]
    )


def promised(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A promise as pages show it, from what `release.json` records or a verification found."""
    name = str(entry.get("name"))
    parameters = {key: value for key, value in entry.items() if key not in (*FOUND, "name", "seed")}
    actual = math.inf if entry.get("actual") == "inf" else entry.get("actual")
    required = entry.get("required")
    return {
        "name": name,
        "title": promise_title(name, parameters),
        "words": promise_words(name, parameters),
        "parameters": plain(parameters),
        "sense": sense_of(name),
        "required": plain(required),
        "required_shown": shown(required, sense_of(name)) if isinstance(required, float) else plain(required),
        "actual": plain(entry.get("actual")),
        "shown": shown(actual, sense_of(name)),
        "holds": entry.get("holds"),
        "needs": entry.get("needs"),
        "columns": list(entry.get("columns", ())),
    }


def _table(reading: Reading, table: PublishedTable, file_format: str, said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": table.name,
        "file": Files(file_format).pattern(table.name, table.rows),
        "files": Files(file_format).parts(table.rows),
        "rows": table.rows,
        "columns": [
            {
                "name": column.name,
                "role": column.role,
                "form": column.form,
                "words": reading.meaning(table, column),
                "missing": table.has_missing(column.name),
                **{key: said.get(column.name, {}).get(key) for key in ("description", "unit")},
            }
            for column in table.columns
        ],
    }


def _forms(release: Release) -> set[str]:
    return {column.form for table in release.tables for column in table.columns}
