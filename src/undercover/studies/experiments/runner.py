"""Runs an experiment: the cells that are not yet finished, in order, then everything that follows from them.

A folder holds the journal (:mod:`undercover.studies.experiments.folder`) and, once all cells are finished,
``results.csv``, ``results.json`` and ``experiment.html``. Whoever is interrupted runs the same command again.

All experiments run one after the other, each in a folder of its own, with one page over the claims of all papers. One
that cannot be run is recorded with the reason and the others run all the same. The overview is written anew after each.
"""

from __future__ import annotations

import platform
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from undercover import plugins
from undercover.errors import InternalError, UndercoverError
from undercover.io.plain import as_json, plain
from undercover.model.protocols import Progress, no_progress
from undercover.pages.experiment import experiments_overview_html
from undercover.studies.experiments.experiment import Cell, Experiment, Row, Rows, Shortened
from undercover.studies.experiments.folder import (
    JOURNAL,
    RESULTS,
    Finished,
    Journal,
    cell_key,
    folder_of,
    write_results,
)
from undercover.studies.experiments.request import Request
from undercover.version import VERSION
from undercover.whole import write_whole

_BETWEEN_REPORTS = 0.5  # seconds
NO_VERDICT = "This is a quick run on a small scale: what held or did not hold here is no verdict on the paper."
WHOLE = "For one, run the same command without --quick (and without --rows and --repetitions, if they were given)."
"""What page, terminal and JSON say of a quick run."""
OVERVIEW = "overview.json"
PAGE = "index.html"
FINISHED, WAITING, REFUSED, BROKEN = "finished", "not run yet", "could not be run", "stopped by a bug of undercover"
_MEMORY_CODE = 2


def build(name: str, request: Request) -> Experiment:
    """The experiment of that name; a quick one knows in what it differs from the whole one."""
    make = plugins.load("experiments", name)
    experiment: Experiment = make(request)
    if not request.quick:
        return experiment
    return replace(experiment, shortened=shortened(experiment, make(request.whole())))


def shortened(experiment: Experiment, whole: Experiment) -> list[Shortened]:
    """What one experiment says of itself otherwise than the whole one."""
    said = [
        Shortened(what, text, whole.about[what])
        for what, text in experiment.about.items()
        if whole.about.get(what, text) != text
    ]
    cells = [f"{len(one.cells):,}" for one in (experiment, whole)]
    return said if cells[0] == cells[1] else [*said, Shortened("Measurements", *cells)]


def run_experiment(
    experiment: Experiment, out: Path, *, fresh: bool = False, progress: Progress = no_progress
) -> dict[str, Any]:
    """Run what is not yet finished in ``out``, judge the claims and write the results: ``results.json`` is returned.

    >>> import tempfile
    >>> nothing = {"data": {}, "cells": [], "plots": lambda rows: [], "claims": []}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_experiment(Experiment(name="no", title="No", paper="", version=1, **nothing), Path(folder))["claims"]
    []
    """
    private = experiment.private
    with folder_of(out, JOURNAL, RESULTS, "an experiment", private=private, fresh=fresh):
        finished, reused = run_cells(experiment, out, progress=progress)
        results = _results(experiment, finished, reused)
        progress(f"{experiment.name}: writing the results", 1.0)
        write_results(results, out, private=private)
    return results


def run_cells(experiment: Experiment, out: Path, *, progress: Progress = no_progress) -> tuple[list[Finished], int]:
    """Run the cells that are not yet finished in the folder ``out``, which is held (:func:`folder_of`).

    Returns what became of every cell, and how many of them were finished before.
    """
    with Journal(out / JOURNAL, experiment.name, private=experiment.private) as journal:
        keys = [cell_key(experiment, cell) for cell in experiment.cells]
        reused = sum(key in journal.finished for key in keys)
        _run_cells(experiment, keys, journal, progress)
        return [journal.finished[key] for key in keys], reused


def _run_cells(experiment: Experiment, keys: Sequence[str], journal: Journal, progress: Progress) -> None:
    todo = [(key, cell) for key, cell in zip(keys, experiment.cells, strict=True) if key not in journal.finished]
    if not todo:
        return
    whole = sum(cell.cost for cell in experiment.cells)
    done, place = whole - sum(cell.cost for _, cell in todo), len(keys) - len(todo)
    progress("preparing", 0.0)
    experiment.prepare(progress)
    reported = -_BETWEEN_REPORTS
    for key, cell in todo:
        now = time.perf_counter()
        if now - reported >= _BETWEEN_REPORTS:
            x = cell.x if isinstance(cell.x, str) else f"{cell.x:,}"
            count = f"{place + 1} of {len(keys)}"
            progress(f"{experiment.name}: {cell.figure}, {cell.series}, {x} ({count})", done / whole)
            reported = now
        finished, keep = _measure(cell)
        if keep:
            journal.add(key, finished, _described(cell))
        else:
            journal.finished[key] = finished
        done, place = done + cell.cost, place + 1


def _measure(cell: Cell) -> tuple[Finished, bool]:
    """The outcome of a cell, and whether a later run could not do better."""
    started = time.perf_counter()
    try:
        values = {name: plain(value) for name, value in cell.measure(**cell.parameters).items()}
    except UndercoverError as error:
        return Finished({}, str(error), time.perf_counter() - started), True
    except MemoryError:
        return Finished({}, "There was not enough memory.", time.perf_counter() - started), False
    if any(value is None for value in values.values()):
        raise InternalError(f"A cell of {cell.figure}, {cell.series} measured something that is no number: {values}.")
    return Finished(values, None, time.perf_counter() - started), True


def made_with() -> dict[str, str]:
    """What figures may depend on besides the data."""
    versions = {"undercover": VERSION, "python": platform.python_version(), "numpy": np.__version__}
    return {**versions, "architecture": platform.machine()}


def _described(cell: Cell) -> dict[str, Any]:
    return {
        "figure": cell.figure,
        "series": cell.series,
        "x": cell.x,
        "repetition": cell.repetition,
        "parameters": dict(cell.parameters),
    }


def _results(experiment: Experiment, finished: Sequence[Finished], reused: int) -> dict[str, Any]:
    pairs = list(zip(experiment.cells, finished, strict=True))
    rows = Rows(
        tuple(
            Row(experiment.name, cell.figure, cell.series, cell.x, measure, value, cell.repetition)
            for cell, outcome in pairs
            for measure, value in outcome.values.items()
        )
    )
    claims = [
        {key: getattr(claim, key) for key in ("id", "statement", "place", "criterion")}
        | asdict(claim.judged(rows))
        | {"conclusive": experiment.shortened is None}
        for claim in experiment.claims
    ]
    content = {
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "version": experiment.version,
        "private": experiment.private,
        **_quickness(experiment),
        "data": dict(experiment.data),
        "about": [{"term": term, "text": text} for term, text in experiment.about.items()],
        "parameters": {**experiment.settings, **experiment.parameters},
        "claims": claims,
        "plots": [asdict(plot) for plot in experiment.plots(rows)],
        "rows": [asdict(row) for row in rows],
        "refused": [
            {**_described(cell), "reason": outcome.refused} for cell, outcome in pairs if outcome.refused is not None
        ],
        "timings": {
            "cells": len(pairs),
            "reused": reused,
            "seconds": sum(outcome.seconds for outcome in finished),
            "by_figure": {
                figure: sum(outcome.seconds for cell, outcome in pairs if cell.figure == figure)
                for figure in dict.fromkeys(cell.figure for cell in experiment.cells)
            },
        },
        "made_with": made_with(),
    }
    results: dict[str, Any] = plain(content)
    return results


def _quickness(experiment: Experiment) -> dict[str, Any]:
    """Whether this was a quick run, and what follows from it."""
    if experiment.shortened is None:
        return {"quick": False}
    says = f"{NO_VERDICT} {WHOLE}"
    return {"quick": True, "says": says, "shortened": [asdict(one) for one in experiment.shortened]}


def run_everything(
    request: Request, out: Path, *, fresh: bool = False, progress: Progress = no_progress
) -> dict[str, Any]:
    """Run every experiment into ``out/NAME`` and write the overview; an interrupted run is continued.

    Returns the content of ``overview.json``: per experiment its ``state``, its claims with their verdicts, and, where
    it could not be run, the ``reason`` and the ``exit_code`` it would have left with.
    """
    names, private = plugins.names("experiments"), request.given is not None
    overview: dict[str, Any] = {
        "private": private,
        "quick": request.quick,
        **({"says": f"{NO_VERDICT} {WHOLE}"} if request.quick else {}),
        "experiments": [_waiting(name) for name in names],
        "made_with": {"undercover": VERSION, "python": platform.python_version(), "architecture": platform.machine()},
    }
    with folder_of(out, OVERVIEW, (PAGE, *names), "`experiment all`", private=private):
        _write(overview, out)
        for position, name in enumerate(names):

            def within(stage: str, share: float, done: int = position) -> None:
                progress(f"all: {stage}", (done + share) / len(names))

            overview["experiments"][position] = _run(name, request, out / name, fresh, within)
            _write(overview, out)
    return overview


def exit_code(overview: Mapping[str, Any]) -> int:
    """1 if one of them met a bug of ours, else the code of the first that could not be run, else 0."""
    codes = [entry["exit_code"] for entry in overview["experiments"] if entry["state"] in (REFUSED, BROKEN)]
    return 1 if 1 in codes else next(iter(codes), 0)


def _run(name: str, request: Request, folder: Path, fresh: bool, progress: Progress) -> dict[str, Any]:
    """One experiment; whatever goes wrong with it is its result, so that the others can run."""
    try:
        results = run_experiment(build(name, request), folder, fresh=fresh, progress=progress)
    except UndercoverError as error:
        return {**_waiting(name), "state": REFUSED, "reason": str(error), "exit_code": error.exit_code}
    except MemoryError:
        reason = "There was not enough memory on this machine."
        return {**_waiting(name), "state": REFUSED, "reason": reason, "exit_code": _MEMORY_CODE}
    except Exception as error:
        where = traceback.format_exception(error)
        reason = f"{type(error).__name__}: {error}"
        return {**_waiting(name), "state": BROKEN, "reason": reason, "exit_code": 1, "traceback": "".join(where)}
    kept = ("experiment", "title", "paper", "version", "quick", "data", "claims", "timings")
    return {
        **{key: results[key] for key in kept},
        "refused": len(results["refused"]),
        "state": FINISHED,
        "page": f"{name}/{RESULTS[-1]}",
    }


def _waiting(name: str) -> dict[str, Any]:
    title = name.replace("-", " ").capitalize()
    return {"experiment": name, "title": title, "paper": "", "state": WAITING, "page": f"{name}/{RESULTS[-1]}"}


def _write(overview: Mapping[str, Any], out: Path) -> None:
    # Where our code lies on this machine is nobody's business.
    entries = [{key: value for key, value in entry.items() if key != "traceback"} for entry in overview["experiments"]]
    content: dict[str, Any] = plain({**overview, "experiments": entries})
    for name, text in ((OVERVIEW, as_json(content)), (PAGE, experiments_overview_html(content))):
        write_whole(out / name, text, private=content["private"])
