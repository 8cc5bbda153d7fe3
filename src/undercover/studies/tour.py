"""The tour: a built-in census, every method there is, each release verified, attacked, measured and written.

At its end stand two offices with tables about the same people (Cheong, Wu & Wong 2012, Section 1): what the second
publishes on its own, and what it publishes next to the first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from undercover import plugins
from undercover.attacks.joint.centralized import centralized_join
from undercover.datasets import census, census_schema
from undercover.errors import OutputError, unwritable
from undercover.io.csv.text import write_csv
from undercover.io.release import folder
from undercover.io.release.contents import DATASHEET, public_part
from undercover.io.release.ours import strange
from undercover.model.about import Stop, about_of
from undercover.model.protocols import Method, Progress, Resolving, no_progress
from undercover.model.run import Run
from undercover.model.schema import ALL_OTHERS, Schema
from undercover.pages.again import again
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.render import datasheet_html, overview_html, report_html
from undercover.parameters import make
from undercover.studies.drawing import Draw, drawing_beside
from undercover.studies.warm_up import compiling_ahead
from undercover.verbs.joint import joint_risk, published
from undercover.verbs.publish import publish
from undercover.verbs.report import summarize
from undercover.whole import check_folder, is_page, whole_folder

OVERVIEW = "index.html"
PEOPLE = "people.csv"


@dataclass(frozen=True)
class Made:
    """One release of the tour."""

    folder: str
    title: str
    seconds: float
    summary: dict[str, Any]
    joint: dict[str, Any] | None = None  # what it says together with the release it stands beside


def stops() -> list[tuple[str, Stop]]:
    """Every release of the tour in the order of the overview, with its method: what the methods say themselves.

    >>> [(method, stop.folder) for method, stop in stops()][:2]
    [('mondrian', 'mondrian-k10'), ('mondrian', 'mondrian-k10-hierarchies')]
    """
    found = [(name, stop) for name in plugins.names("methods") for stop in about_of(name).tour]
    return sorted(found, key=lambda entry: entry[1].place)


def compiled_ahead() -> tuple[str, ...]:
    """Folders of releases that are made last, and compiled by a second process while the others are made, in its order.

    >>> compiled_ahead()[0], compiled_ahead()[-1]
    ('incognito-k10', 'cross-bucket-k3-l8')
    """
    ahead = [stop for _, stop in stops() if stop.ahead]
    return tuple(stop.folder for stop in sorted(ahead, key=lambda stop: stop.ahead))


def tour(out: Path, rows: int = 30_000, *, force: bool = False, progress: Progress = no_progress) -> list[Made]:
    """Publish the built-in census by every method into ``out`` and write an overview page.

    The folder of an earlier tour is replaced with ``force`` only; anything else that stands there is refused.
    """
    try:
        Path(os.path.abspath(out)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(unwritable(f"`{out}`", error)) from error
    place = check_folder(out, force=force, strange=_strange)
    try:
        with whole_folder(place, force=force) as unfinished:
            with compiling_ahead(compiled_ahead()) as compiled, drawing_beside(progress) as draw:
                made = _take(unfinished, out, rows, progress, compiled, draw)
            unfinished.chmod((unfinished / made[0].folder).stat().st_mode & 0o777)
    except OSError as error:
        raise OutputError(unwritable(f"The tour in `{out}`", error)) from error
    return made


def _strange(out: Path) -> Iterator[str]:
    """What lies in a folder that is not of a tour of ours."""
    page, folders = out / OVERVIEW, {stop.folder for _, stop in stops()}
    ours = page.is_file() and is_page(page.read_bytes())
    for entry in sorted(out.iterdir()):
        if entry.is_symlink() or not ours or entry.name not in (OVERVIEW, PEOPLE, *folders):
            yield entry.name
        elif entry.name in folders:
            yield from (f"{entry.name}/{name}" for name in strange(entry))


def _take(
    out: Path, home: Path, rows: int, progress: Progress, compiled: Callable[[str], None], draw: Draw
) -> list[Made]:
    """Make every release of the tour in the folder ``out``, which becomes ``home``.

    ``compiled`` waits for what another process compiles, ``draw`` hands a report to the one that draws.
    """
    people = census(rows)
    write_csv(people, out / PEOPLE)
    made: dict[str, Made] = {}
    beside: dict[str, Run] = {}
    tour = stops()
    for place, (name, stop) in enumerate(sorted(tour, key=lambda entry: entry[1].ahead)):

        def within(stage: str, share: float, title: str = stop.title, place: int = place) -> None:
            progress(f"tour: {title} ({place + 1} of {len(tour)}), {stage}", place / len(tour))

        compiled(stop.folder)
        started = time.perf_counter()
        schema = replace(schema_of(stop), drop=(ALL_OTHERS,))
        run = publish(people, schema, _method(name, stop, beside), progress=within)
        seconds = time.perf_counter() - started
        summary = summarize(run, progress=within)
        within("writing", 0.0)
        facts = {**summary, "again": again(run, folder=home / stop.folder)}
        save(run, out / stop.folder, facts, draw)
        if stop.quasi_identifiers is not None:
            beside[stop.folder] = run
        joint = None if stop.beside is None else _joint(beside[stop.beside], run)
        made[stop.folder] = Made(stop.folder, stop.title, seconds, summary, joint)
    taken = [made[stop.folder] for _, stop in tour]
    entries = [
        {
            "title": one.title,
            "summary": one.summary,
            "report": f"{one.folder}/private/report.html",
            "datasheet": f"{one.folder}/{public_part(out / one.folder).name}/{DATASHEET}",
        }
        for one in taken
    ]
    about = f"{rows:,} people of the built-in census, who do not exist. Sensitive: income class."
    draw(partial(overview_html, entries, title="undercover: the tour", about=about), out / OVERVIEW)
    return taken


def save(run: Run, place: Path, summary: Mapping[str, Any], draw: Draw) -> None:
    """Write a release; its report is drawn when its turn comes."""
    sheet = datasheet_html(datasheet_summary(run.release, run.schema.said))
    folder.save(run, place, report="", summary=summary, datasheet=sheet, verdict=run.verdict)
    draw(partial(report_html, dict(summary)), place / "private" / "report.html")


def schema_of(stop: Stop) -> Schema:
    """The roles of the census columns at one stop.

    >>> schema_of(Stop("office", "Office", {}, quasi_identifiers=("age",))).quasi_identifiers
    ('age',)
    """
    if stop.quasi_identifiers is None:
        return census_schema(hierarchies=stop.hierarchies)
    return census_schema(stop.quasi_identifiers, hierarchies=stop.hierarchies)


def _method(name: str, stop: Stop, made: dict[str, Run]) -> Method:
    """The method; who publishes next to others sees what they have published."""
    method: Method = make("methods", name, stop.parameters)
    if stop.beside is None or not isinstance(method, Resolving):
        return method
    other = made[stop.beside]
    return method.resolve(lambda called: published(other, name=called))


def _joint(first: Run, second: Run) -> dict[str, Any]:
    """What two releases say together, and of how many people the value is then certain."""
    found = joint_risk([first, second])
    assert first.original is not None
    values = first.original[first.schema.sensitive[0]].codes
    reference = centralized_join([first.groups.labels, second.groups.labels], values)
    return {
        "l": found.l,
        "max_probability": float(found.max_probability),
        "certain": reference.given_away,
        "alone": min(found.alone),
    }
