"""The tour: a built-in census, every method there is, each release verified, attacked, measured and written.

At its end stand two offices with tables about the same people (Cheong, Wu & Wong 2012, Section 1): what the second
publishes on its own, and what it publishes next to the first.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from undercover.attacks.joint.centralized import centralized_join
from undercover.datasets import census, census_schema
from undercover.errors import OutputError
from undercover.io.csv.text import write_csv
from undercover.methods.anatomy import Anatomy
from undercover.methods.cross_bucket import CrossBucket
from undercover.methods.incognito import Incognito
from undercover.methods.mondrian import Mondrian
from undercover.methods.mutual_cover import MutualCover
from undercover.methods.noncentralized import NonCentralized
from undercover.methods.perturbed_generalization import PerturbedGeneralization
from undercover.methods.streamliner import Streamliner
from undercover.model.protocols import Method, Progress, no_progress
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.pages.render import overview_html
from undercover.studies.warm_up import compiling_ahead
from undercover.verbs.joint import joint_risk, published
from undercover.verbs.publish import publish
from undercover.verbs.report import summarize
from undercover.verbs.store import save

OVERVIEW = "index.html"


@dataclass(frozen=True)
class Planned:
    """One release the tour is going to make; the title is a column of a terminal, so it is short."""

    folder: str
    title: str
    method: Method
    hierarchies: bool = False  # whether the census columns are cut along their hierarchies
    quasi_identifiers: tuple[str, ...] | None = None  # where the holder has some columns only
    beside: str | None = None  # the release of another holder that this one is joined with


_REVENUE, _CENSUS = ("age", "hours"), ("education", "race", "sex")
_TWO_DIVERSE = Incognito(k=1, l=2, diversity="distinct")

TOUR = (
    Planned("mondrian-k10", "Mondrian k=10", Mondrian(k=10)),
    Planned("mondrian-k10-hierarchies", "Mondrian k=10, hierarchies", Mondrian(k=10), hierarchies=True),
    Planned("mondrian-k5-l5", "Mondrian k=5, l=5", Mondrian(k=5, l=5)),
    Planned("incognito-k10", "Incognito k=10", Incognito(k=10), hierarchies=True),
    Planned("anatomy-l8", "Anatomy l=8", Anatomy(l=8)),
    Planned("streamliner-l8", "Streamliner l=8", Streamliner(l=8)),
    Planned("streamliner-l8-guided", "Streamliner l=8, by sex", Streamliner(l=8, algorithm="guided", strata=("sex",))),
    Planned(
        "perturbed-k6-rho",
        "Perturbed, 0.2 to 0.45",
        PerturbedGeneralization(k=6, rho=(0.2, 0.45), skew=0.1),
    ),
    Planned("cross-bucket-k3-l8", "Cross-bucket k=3, l=8", CrossBucket(k=3, l=8)),
    Planned("mutual-cover-5-l10", "Mutual cover δ=1/5, l=10", MutualCover(delta="1/5", l=10)),
    Planned("office-revenue", "Revenue office", _TWO_DIVERSE, hierarchies=True, quasi_identifiers=_REVENUE),
    Planned(
        "office-census-alone",
        "Census office, alone",
        _TWO_DIVERSE,
        hierarchies=True,
        quasi_identifiers=_CENSUS,
        beside="office-revenue",
    ),
    Planned(
        "office-census",
        "Census office, joint",
        NonCentralized(l=2, choose="loss"),
        hierarchies=True,
        quasi_identifiers=_CENSUS,
        beside="office-revenue",
    ),
)
"""Every release of the tour, in the order of the overview."""

COMPILED_AHEAD = ("cross-bucket-k3-l8", "mutual-cover-5-l10")
"""Releases with large kernels of their own: made last, and compiled by a second process while the others are made."""


@dataclass(frozen=True)
class Stop:
    """One release of the tour."""

    folder: str
    title: str
    seconds: float
    summary: dict[str, Any]
    joint: dict[str, Any] | None = None  # what it says together with the release it stands beside


def tour(out: Path, rows: int = 30_000, *, force: bool = False, progress: Progress = no_progress) -> list[Stop]:
    """Publish the built-in census by every method into ``out`` and write an overview page.

    The folder of an earlier tour is replaced with ``force`` only; anything else that stands there is refused.
    """
    if out.exists():
        if not force:
            raise OutputError(f"`{out}` exists. Choose another folder with --out, or replace it with --force.")
        if not (out / OVERVIEW).is_file():
            raise OutputError(f"`{out}` was not written by a tour. It is left alone: choose another folder with --out.")
    # Written beside its place and moved there when it is complete, so that a tour cut short leaves nothing behind.
    unfinished = out.with_name(f".{out.name}.tmp-{os.getpid()}")
    try:
        unfinished.mkdir(parents=True)
        with compiling_ahead(COMPILED_AHEAD) as compiled:
            stops = _take(unfinished, rows, progress, compiled)
        if out.exists():
            shutil.rmtree(out)
        unfinished.rename(out)
    except OSError as error:
        raise OutputError(f"The tour cannot be written to `{out}`: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return stops


def _take(out: Path, rows: int, progress: Progress, compiled: Callable[[str], None]) -> list[Stop]:
    """Make every release of the tour in the folder ``out``; ``compiled`` waits for what another process compiles."""
    people = census(rows)
    write_csv(people, out / "people.csv")
    stops = []
    beside: dict[str, Run] = {}
    later = {folder: place for place, folder in enumerate(COMPILED_AHEAD, start=1)}
    for planned in sorted(TOUR, key=lambda planned: later.get(planned.folder, 0)):

        def within(stage: str, share: float, title: str = planned.title) -> None:
            progress(f"{title}: {stage}", share)

        compiled(planned.folder)
        started = time.perf_counter()
        run = publish(people, _schema(planned), _method(planned, beside), progress=within)
        seconds = time.perf_counter() - started
        summary = summarize(run, progress=within)
        save(run, out / planned.folder, summary=summary, progress=within)
        if planned.quasi_identifiers is not None:
            beside[planned.folder] = run
        joint = None if planned.beside is None else _joint(beside[planned.beside], run)
        stops.append(Stop(planned.folder, planned.title, seconds, summary, joint))
    stops.sort(key=lambda stop: [planned.folder for planned in TOUR].index(stop.folder))
    page = overview_html(
        [
            {
                "title": stop.title,
                "summary": stop.summary,
                "report": f"{stop.folder}/private/report.html",
                "datasheet": f"{stop.folder}/public/datasheet.html",
            }
            for stop in stops
        ],
        title="undercover: the tour",
        about=f"{rows:,} people of the built-in census, who do not exist. Sensitive: income class.",
    )
    (out / OVERVIEW).write_text(page, encoding="utf-8")
    return stops


def _schema(planned: Planned) -> Schema:
    if planned.quasi_identifiers is None:
        return census_schema(hierarchies=planned.hierarchies)
    return census_schema(planned.quasi_identifiers, hierarchies=planned.hierarchies)


def _method(planned: Planned, made: dict[str, Run]) -> Method:
    """The method; who publishes next to others sees what they have published."""
    if planned.beside is None or not isinstance(planned.method, NonCentralized):
        return planned.method
    return replace(planned.method, others=(published(made[planned.beside], name="revenue"),))


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
