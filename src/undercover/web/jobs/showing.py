"""What the pages of a release show, written down once by the job that made it: a page only fills in words.

``NUMBER.page`` beside the release folder has ``facts.json`` (verdict, figures, times), ``rows.json`` (people before and
after, distributions), ``people.json`` (who is exposed most), ``point.json`` (for the frontier) and the sections of the
report as ``attacks.html`` and ``utility.html``. All of it is private.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from undercover import plugins
from undercover.forms import read
from undercover.forms.reading import Reading
from undercover.io.plain import plain
from undercover.io.release.contents import PRIVATE, read_json
from undercover.model.run import Run
from undercover.model.table import Table
from undercover.pages.samples import samples_of
from undercover.parameters import describe
from undercover.utility.views import in_their_order
from undercover.waiting import Progress
from undercover.web.desks.outcomes import facts_of, page_folder
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder, write_json, write_text
from undercover.web.jobs.frontier import point, redraw

ROWS: Final = 16  # people shown before and after
PEOPLE: Final = 20  # who are exposed most
REASONS: Final = 3  # for each of them
BINS: Final = 20  # of a column; what is rarer is taken together
ASKED: Final = ("int", "number", "bool", "choice", "text")
"""Kinds of parameters that a form can ask for."""
CONSENT: Final = "allow_unsafe"  # is given where a method is chosen, not by trying
_LEAST: Final = 1e-12


def show(project: Project, number: int, run: Run, summary: Mapping[str, Any], progress: Progress) -> None:
    """Write down what the pages of a release show, whole or not at all, and draw the frontier anew."""
    progress("drawing the pages", 0.0)
    target = page_folder(project, number)
    place = private_folder(target.with_name(f".{target.name}"))
    release = project.folder / "releases" / str(number)
    kept = read_json(release / PRIVATE / "run.json")
    facts = facts_of(plain(summary), kept.get("judged"), run.made)
    write_json(place / "facts.json", {**facts, "parameters": asked_of(run), "recipe": recipe_of(run)})
    write_json(place / "rows.json", {**people_before_and_after(run), "distributions": distributions(summary)})
    write_json(place / "people.json", {"people": exposed_most(run), "everybody": len(run.rows)})
    report = (release / PRIVATE / "report.html").read_text(encoding="utf-8")
    write_text(place / "attacks.html", sections_of(report, "attacks", "earlier", "class-sizes"))
    write_text(place / "utility.html", sections_of(report, "cost"))
    write_json(place / "point.json", point(run.release, summary["headline"], lost(summary), facts["verdict"]))
    shutil.rmtree(target, ignore_errors=True)
    place.rename(target)
    redraw(project, {"release": number}, progress)


def lost(summary: Mapping[str, Any]) -> float | None:
    """How far pairs of columns are from the truth: the loss that every form of release has."""
    distances = (summary["cost"] or {}).get("distances")
    if distances is None:
        return None
    pairs: float | None = distances["pairs"]["mean"]
    return distances["columns"]["mean"] if pairs is None else pairs


def sections_of(report: str, *names: str) -> str:
    """Sections of a report that is drawn already; tables that are wider than a phone are reached by the keyboard."""
    found = []
    for name in names:
        _, begins, rest = report.partition(f'<section id="{name}">')
        inside, ends, _ = rest.partition("</section>")
        title = re.search(r"<h2>(.*?)</h2>", inside)
        label = re.sub("<[^>]*>", "", title[1]) if title else name
        wide = f'<div class="wide" tabindex="0" role="group" aria-label="{label}">'
        found.append(begins + inside.replace('<div class="wide">', wide) + ends)
    return "\n".join(found)


def recipe_of(run: Run) -> dict[str, Any]:
    """The parameters of the method that are not as they are by default."""
    usual = {one.name: one.default for one in describe(plugins.load("methods", run.release.method))}
    return {name: value for name, value in run.recipe.items() if name not in usual or value != usual[name]}


def asked_of(run: Run) -> list[dict[str, Any]]:
    """The parameters of the method that a form can ask for, with what they were."""
    declared = describe(plugins.load("methods", run.release.method))
    return [
        {
            "name": one.name,
            "kind": one.kind,
            "low": _finite(one.within.low) if one.within else None,
            "high": _finite(one.within.high) if one.within else None,
            "choices": ["true", "false"] if one.kind == "bool" else list(map(str, one.choices)),
            "optional": one.optional,
            "doc": one.doc.replace("``", "`"),
            "value": plain(run.recipe.get(one.name, one.default)),
        }
        for one in declared
        if one.kind in ASKED and one.name != CONSENT
    ]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def people_before_and_after(run: Run) -> dict[str, Any]:
    """Some people as they stand in the input beside what is published of them, cell by cell.

    What became of a cell is ``same``, ``covered`` (the truth lies in it), ``moved``, ``left out``, or of a sensitive
    value ``bucket`` (listed among others), ``noisy`` (went through a public channel) or ``dealt``.
    """
    found, original = samples_of(run, ROWS), run.original
    if original is None or not found["rows"]:
        return {"rows": [], "note": found["note"]}
    reading = read(run.release)
    secret = _of_sensitive(reading)
    rows = []
    for one in found["rows"]:
        published = one["after"] is not None
        cells = [_cell(reading, name, before, one["after"]) for name, before in one["before"].items()]
        for name, value in _values(original, one["row"], original.schema.sensitive).items():
            became = secret if published else "left out"
            cells.append(
                {"column": name, "before": value, "after": value if became == "same" else None, "became": became}
            )
        alike = _people_alike(reading, one["after"]) if published and reading.people is not None else one["alike"]
        rows.append({"row": one["row"], "published": published, "others": max(alike - 1, 0), "cells": cells})
    return {"rows": rows, "among": reading.among}


def _of_sensitive(reading: Reading) -> str:
    """What becomes of every sensitive value."""
    if reading.buckets is not None:
        return "bucket"
    if reading.channel is not None:
        return "noisy"
    return "same" if reading.true_values else "dealt"


def _people_alike(reading: Reading, cells: Mapping[str, str]) -> int:
    """For how many people the rows with these cells stand, where a row is not one person."""
    assert reading.people is not None
    fits = np.ones(len(reading.people), dtype=bool)
    for name, label in cells.items():
        column = reading.column(name)
        fits &= column.codes == column.labels.index(label)
    return int(reading.people[fits].sum())


def _cell(reading: Reading, name: str, before: str, after: Mapping[str, str] | None) -> dict[str, Any]:
    if after is None or name not in after:
        return {"column": name, "before": before, "after": None, "became": "left out"}
    became = "same" if after[name] == before else "covered" if reading.covers else "moved"
    return {"column": name, "before": before, "after": after[name], "became": became}


def _values(original: Table, row: int, names: Sequence[str]) -> dict[str, str]:
    """Some values of an input row."""
    place = int(original.places(np.array(row)))
    return {name: original[name].domain.labels[int(original[name].codes[place])] for name in names}


def distributions(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every column in bins: people of the original, and people as the release has them."""
    found = []
    for column in (summary["cost"] or {}).get("distributions", ()):
        ordered = in_their_order(column)
        bins = [dict(one) for one in ordered["bins"]]
        if not ordered["ordered"]:
            bins.sort(key=lambda one: -one["before"])
        rest = bins[BINS:] if len(bins) > BINS + 1 else []
        kept = bins[: len(bins) - len(rest)]
        if rest:
            kept.append({"label": None, **{side: sum(one[side] for one in rest) for side in ("before", "after")}})
        most = max((max(one["before"], one["after"]) for one in kept), default=0)
        found.append({"name": column["name"], "bins": kept, "most": most})
    return found


def exposed_most(run: Run) -> list[dict[str, Any]]:
    """The people of whom any attack reaches most: their rows and values, and what gives them away."""
    if run.original is None:
        return []
    reached: dict[int, list[dict[str, Any]]] = {}
    for row, one in _reached(run):
        reached.setdefault(row, []).append(one)
    for each in reached.values():
        each.sort(key=lambda one: -one["probability"])
    order = sorted(reached, key=lambda row: ([-one["probability"] for one in reached[row]], row))[:PEOPLE]
    known, secret = run.original.schema.quasi_identifiers, run.original.schema.sensitive
    return [
        {
            "row": row,
            "known": _values(run.original, row, known),
            "sensitive": _values(run.original, row, secret),
            "reached": reached[row][:REASONS],
        }
        for row in order
    ]


def _reached(run: Run) -> Iterator[tuple[int, dict[str, Any]]]:
    """What each attack reaches on those of whom it reaches most."""
    for attack in run.attacks:
        title = attack.view().title
        for exposure in attack.exposures():
            about = {"attack": exposure.attack, "title": title, "known_values": exposure.known_values}
            sides = {"": exposure.found, **exposure.belief}
            for column, chances in sides.items():
                if chances is None or len(chances) != len(exposure.rows):
                    continue
                for place in np.argsort(-chances, kind="stable")[:PEOPLE]:
                    if chances[place] > _LEAST:
                        prior = exposure.prior.get(column)
                        before = None if prior is None or len(prior) != len(chances) else float(prior[place])
                        chance = {"column": column, "probability": float(chances[place]), "prior": before}
                        yield int(exposure.rows[place]), {**about, **chance}
