"""Recommend: the same search as ``undercover recommend``, with its frontier drawn and what was tried, for a page.

``request`` has ``purpose``, ``time`` (seconds) and ``methods`` (names; none: all). Where nothing satisfies the policy
the result says so in ``unreachable`` and has what was tried all the same.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from undercover.io.source import read
from undercover.io.spec.load import resolve
from undercover.memory import Store, memory_of
from undercover.model.policy import Policy
from undercover.pages.compare import frontier_charts
from undercover.pages.jinja import drawn
from undercover.studies.compare.compare import frontiers
from undercover.studies.recommend.recommend import FRESH, Unsatisfied, entry_of
from undercover.studies.recommend.recommend import recommend as recommended
from undercover.studies.recommend.search import Trial
from undercover.waiting import Progress
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder
from undercover.web.protecting.feasible import holding_of, policy_asked

_COST = {"looking": ("pairwise", "mean"), "queries": ("count", "mean"), "learning": ("classification", "error")}
"""By the kind of a purpose: which measure of a comparison its loss is."""


def recommend(project: Project, request: Mapping[str, Any], progress: Progress) -> Mapping[str, Any]:
    """Which release to make of a table, why, and what else was tried."""
    spec, policy = project.loaded(), policy_asked(project)
    given = read(project.whence, options=spec.options, store=Store(memory_of(None)), progress=progress)
    schema = resolve(spec, given.data)
    purpose = str(request["purpose"])
    asked: dict[str, Any] = {"purpose": purpose, "time": request["time"], "methods": request["methods"] or None}
    try:
        found = recommended(given, schema, policy=policy, options=spec.options, progress=progress, **asked)
    except Unsatisfied as error:
        tried = _latest(error.tried)
        content: dict[str, Any] = {"unreachable": str(error).splitlines(), "recommend": None}
    else:
        tried = _latest(found.tried)
        content = {name: said for name, said in found.to_dict().items() if name != "releases"} | {"fresh": FRESH}
    progress("drawing", 0.0)
    entries = [{**entry_of(trial), "over": trial.over, "satisfies": trial.satisfies} for trial in tried]
    pictures = _drawn(project, tried, policy, purpose, content["recommend"])
    return {**content, "tried": entries, "pictures": pictures}


def _latest(trials: Sequence[Trial]) -> list[Trial]:
    """Every candidate once, of the whole table where it was tried on that: the best first, what cannot run last."""
    whole = {id(trial.candidate) for trial in trials if trial.whole}
    kept = [trial for trial in trials if trial.whole or id(trial.candidate) not in whole]
    return sorted(kept, key=lambda trial: (trial.run is None, not trial.satisfies, not trial.whole, trial.rank))


def _drawn(
    project: Project, trials: Sequence[Trial], policy: Policy, purpose: str, best: str | None
) -> list[dict[str, str]]:
    """Privacy against what a release is for, each picture as a file of the table's folder: its title and its name."""
    holding, measure = holding_of(project), _COST[purpose.partition(":")[0]]
    releases = [_point(trial, policy, measure) for trial in trials if trial.run is not None]
    shares = [np.array(counts) / holding.rows for counts in holding.counts.values()]
    guessing = {
        "identity": 1 / holding.people,
        "attribute": {"mean": max(float((share**2).sum()) for share in shares)} if shares else None,
    }
    found = frontiers(releases, guessing)
    if measure[0] == "classification":
        found = [{**picture, "measured": "rows told wrongly beyond a tree trained on the table"} for picture in found]
    results = {"releases": releases, "frontiers": found, "recommended": best and {"title": best}}
    folder = private_folder(project.folder / "recommended")
    before, made = list(folder.iterdir()), []
    for picture, chart in zip(found, frontier_charts(results), strict=True):
        place = folder / f"{time.time_ns():x}.html"
        _write(place, str(drawn(chart, f"frontier-{picture['id']}")))
        made.append({"title": picture["title"], "file": f"{folder.name}/{place.name}"})
    for old in before:
        old.unlink(missing_ok=True)
    return made


def _write(place: Path, text: str) -> None:
    beside = place.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(place)


def _point(trial: Trial, policy: Policy, measure: tuple[str, str]) -> dict[str, Any]:
    """A release as an entry of a comparison: what the strongest attacker reaches, and what it costs."""
    assert trial.run is not None
    assert trial.verdict is not None
    found: list[Any] = []
    believed: list[Any] = []
    for exposure in (each for attack in trial.run.attacks for each in attack.exposures()):
        if exposure.population or (exposure.known_values and not policy.known_values):
            continue
        found += [] if exposure.found is None else [exposure.found]
        believed += list(exposure.belief.values())
    parameters = ", ".join(f"{name}={value}" for name, value in trial.candidate.parameters.items())
    return {
        "title": trial.candidate.title,
        "series": trial.candidate.called,
        "method": trial.candidate.method,
        "value": parameters,
        "verdict": trial.verdict.title,
        "satisfies": trial.satisfies,
        "privacy": {"identity": _strongest(found), "attribute": _strongest(believed)},
        "utility": {measure[0]: None if trial.loss is None else {measure[1]: trial.loss}},
    }


def _strongest(reached: Sequence[Any]) -> dict[str, float] | None:
    """The mean of whoever reaches most, and the worst of all."""
    shown = [values for values in reached if len(values)]
    if not shown:
        return None
    return {"mean": max(float(values.mean()) for values in shown), "worst": max(float(v.max()) for v in shown)}
