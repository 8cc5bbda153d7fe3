"""All experiments, one after the other, with one page over the claims of all papers.

Each runs in a folder of its own, with its own journal, so an interrupted run goes on where it was. An experiment that
cannot be run is recorded with the reason and the others run all the same. The overview is written anew after each.
"""

from __future__ import annotations

import platform
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from undercover import plugins
from undercover.errors import UndercoverError
from undercover.io.plain import as_json, plain
from undercover.model.protocols import Progress, no_progress
from undercover.pages.experiment import experiments_overview_html
from undercover.studies.experiments.outputs import RESULTS, open_folder, write_whole
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import run_experiment
from undercover.version import VERSION

OVERVIEW = "overview.json"
PAGE = "index.html"
FINISHED, WAITING, REFUSED, BROKEN = "finished", "not run yet", "could not be run", "stopped by a bug of undercover"
_MEMORY_CODE = 2


def run_everything(
    request: Request, out: Path, *, fresh: bool = False, progress: Progress = no_progress
) -> dict[str, Any]:
    """Run every experiment into ``out/NAME`` and write the overview; an interrupted run is continued.

    Returns the content of ``overview.json``: per experiment its ``state``, its claims with their verdicts, and, where
    it could not be run, the ``reason`` and the ``exit_code`` it would have left with.
    """
    names, private = plugins.names("experiments"), request.given is not None
    open_folder(out, OVERVIEW, (PAGE, *names), "`experiment all`", private=private)
    overview: dict[str, Any] = {
        "private": private,
        "quick": request.quick,
        "experiments": [_waiting(name) for name in names],
        "made_with": {"undercover": VERSION, "python": platform.python_version(), "architecture": platform.machine()},
    }
    _write(overview, out)
    for position, name in enumerate(names):

        def within(stage: str, share: float, done: int = position) -> None:
            progress(stage, (done + share) / len(names))

        overview["experiments"][position] = _run(name, request, out / name, fresh, within)
        _write(overview, out)
    return overview


def exit_code(overview: Mapping[str, Any]) -> int:
    """1 if one of them met a bug of ours, else the code of the first that could not be run, else 0.

    >>> exit_code({"experiments": [{"state": FINISHED}, {"state": REFUSED, "exit_code": 3}]})
    3
    >>> exit_code({"experiments": [{"state": REFUSED, "exit_code": 3}, {"state": BROKEN, "exit_code": 1}]})
    1
    """
    codes = [entry["exit_code"] for entry in overview["experiments"] if entry["state"] in (REFUSED, BROKEN)]
    return 1 if 1 in codes else next(iter(codes), 0)


def _run(name: str, request: Request, folder: Path, fresh: bool, progress: Progress) -> dict[str, Any]:
    """One experiment; whatever goes wrong with it is its result, so that the others can run."""
    try:
        results = run_experiment(plugins.load("experiments", name)(request), folder, fresh=fresh, progress=progress)
    except UndercoverError as error:
        return {**_waiting(name), "state": REFUSED, "reason": str(error), "exit_code": error.exit_code}
    except MemoryError:
        reason = "There was not enough memory on this machine."
        return {**_waiting(name), "state": REFUSED, "reason": reason, "exit_code": _MEMORY_CODE}
    except Exception as error:
        where = traceback.format_exception(error)
        reason = f"{type(error).__name__}: {error}"
        return {**_waiting(name), "state": BROKEN, "reason": reason, "exit_code": 1, "traceback": "".join(where)}
    kept = ("experiment", "title", "paper", "version", "data", "claims", "timings")
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
    write_whole(out / OVERVIEW, as_json(content))
    write_whole(out / PAGE, experiments_overview_html(content))
