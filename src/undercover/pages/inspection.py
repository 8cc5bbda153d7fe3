"""The page of a table before anything is published: its columns, what is to be decided, and who is singled out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from undercover.model.view import View
from undercover.pages.jinja import render
from undercover.pages.views import section

BADGES = {"identifier": "bad", "sensitive": "care", "quasi-identifier": "known", "insensitive": "known", "none": "open"}


def inspection_html(found: Mapping[str, Any], risks: View, name: str) -> str:
    """The page for the holder; takes what an inspection of the table ``name`` says, and shows, of its risks."""
    alone = found["class_sizes"][0]["rows"] if found["class_sizes"] else None
    repeated = {one["column"]: one for one in found["repeated_identifiers"]}
    return render(
        "inspection.html.j2",
        found=found,
        name=name,
        badges=BADGES,
        questions={question["column"]: question for question in found["questions"]},
        alone=alone,
        people=repeated[found["unit"]]["values"] if found["unit"] in repeated else None,
        people_shown=section(replace(risks, title="Who is singled out"), name="people"),
    )
