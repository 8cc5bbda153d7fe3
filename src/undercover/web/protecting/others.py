"""What others have published about the same people: kept in the folder of a table, named by files relative to it.

A release names the other tables it was made beside, so each keeps the name of the file it came as.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

from undercover.errors import DataError
from undercover.io.release.contents import PUBLIC
from undercover.web.access.unpack import unpack
from undercover.web.desks.desk import Desk, Missing
from undercover.web.desks.progress import releases
from undercover.web.desks.project import Project
from undercover.web.desks.store import private_folder
from undercover.web.protecting.methods import paths_of

FOLDER: Final = "others"
MOST: Final = 20
_STEP: Final = 1 << 20


def others_of(project: Project) -> list[dict[str, Any]]:
    """Those of a table: ``name`` and ``path``."""
    return [dict(one) for one in project.choices.get("others", [])]


def add_file(project: Project, filename: str, content: IO[bytes], most_bytes: int) -> Project:
    """Keep a public folder that was sent as a zip, or a table that was sent as a CSV file."""
    stem, _, suffix = filename.replace("\\", "/").rpartition("/")[2].rpartition(".")
    if suffix.lower() not in ("zip", "csv"):
        raise DataError("Send a public folder as a zip file (`.zip`), or a table as a CSV file (`.csv`).")
    place = _free(project, stem, ".csv" if suffix.lower() == "csv" else "")
    try:
        if place.suffix == ".csv":
            with place.open("xb") as kept:
                shutil.copyfileobj(content, kept, _STEP)
        else:
            unpack(content, private_folder(place), most_bytes)
    except DataError:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return _added(project, place)


def own_releases(desk: Desk) -> list[tuple[Project, int]]:
    """Everything that was published at a desk, the newest table first."""
    return [
        (project, number)
        for project in desk.projects()
        for number in releases(project)
        if (project.folder / "releases" / str(number) / PUBLIC).is_dir()
    ]


def add_release(project: Project, desk: Desk, chosen: str) -> Project:
    """Keep a copy of a release of this desk, given as ``table/number``."""
    known = {f"{other.id}/{number}": (other, number) for other, number in own_releases(desk)}
    if chosen not in known:
        raise Missing("There is no such release at this desk.")
    other, number = known[chosen]
    place = _free(project, f"{Path(other.name).stem}-{number}", "")
    shutil.copytree(other.folder / "releases" / str(number) / PUBLIC, place)
    place.chmod(0o700)
    return _added(project, place)


def remove(project: Project, name: str) -> Project:
    """Forget one, also where a method was to take it into account."""
    one = next((each for each in others_of(project) if each["name"] == name), None)
    if one is None:
        raise Missing("There is no such table here. It may have been removed.")
    place = project.folder / one["path"]
    left = [each for each in others_of(project) if each["name"] != name]
    method = {
        key: [path for path in value if path != one["path"]] if isinstance(value, list) else value
        for key, value in project.spec.get("method", {}).items()
    }
    spec = {**project.spec, **({"method": method} if method else {})}
    changed = project.change(spec=spec, choices={**project.choices, "others": left})
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    return changed


def located(folder: Path, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a method with its paths as they can be read: no file but what is kept in this folder."""
    found, here = dict(parameters), (folder / FOLDER).resolve()
    for name in paths_of(method):
        said = found.get(name, ())
        places = [(folder / str(path)).resolve() for path in ([said] if isinstance(said, str) else said)]
        if any(place.parent != here or not place.exists() for place in places):
            raise DataError(f"The '{name}' name a table that is not here. Choose among the tables of others.")
        found[name] = [str(place) for place in places]
    return found


def _free(project: Project, stem: str, suffix: str) -> Path:
    """A name of its own for another table."""
    taken = {one["name"] for one in others_of(project)}
    if len(taken) >= MOST:
        raise DataError(f"There are {MOST} tables of others here, and that is the most. Remove one first.")
    word = re.sub(r"[^\w-]+", "-", stem).strip("-")[:60] or "table"
    names = (f"{word}{more}{suffix}" for more in ("", *(f"-{place}" for place in range(2, MOST + 2))))
    folder = private_folder(project.folder / FOLDER)
    return next(folder / name for name in names if name not in taken and not (folder / name).exists())


def _added(project: Project, place: Path) -> Project:
    now = Project(project.folder)  # an upload takes its time
    one = {"name": place.name, "path": f"{FOLDER}/{place.name}"}
    return now.change(choices={**now.choices, "others": [*others_of(now), one]})
