"""Where a table may come from: an upload, a file in an allowed folder, a database, a built-in example.

Here only the source is written down and a file put in its place; whatever takes long (asking the database, drawing an
example, reading) is done by the profile job.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import quote

from undercover.errors import DataError, unknown
from undercover.io.database import file_of, is_database_url, without_password
from undercover.web.desks.desk import Desk
from undercover.web.desks.file_kinds import kind_of_file, suffix_of
from undercover.web.desks.folders import inside, inside_absolute
from undercover.web.desks.project import Changed, Project
from undercover.web.settings import Settings
from undercover.whole import new_private

if TYPE_CHECKING:
    from undercover.web.jobs.job import Job
    from undercover.web.jobs.queue import Queue

CENSUS: Final[Mapping[str, int]] = {"census-1000": 1_000, "census-30000": 30_000, "census-200000": 200_000}
"""Rows of the invented census, by the name of the example."""
HOW: Final = ("separator", "decimal", "encoding", "nulls")
"""What can be said of how a file is read."""
_LONGEST_NAME: Final = 120


def from_upload(desk: Desk, settings: Settings, filename: str, file: IO[bytes]) -> Project:
    """A table from a file that somebody sent; where nothing can be made of it, nothing is kept."""
    project = desk.add(shown_name(filename), {"kind": "upload", "path": ""})
    try:
        return replace_file(project, filename, file)
    except BaseException:
        desk.remove(project)
        raise


def replace_file(project: Project, filename: str, file: IO[bytes]) -> Project:
    """Another file in place of one that could not be read."""
    if project.profile is not None:
        raise DataError("This table has been read already. Begin a new one with the other file.")
    name = shown_name(filename)
    arriving = project.folder / "data" / f".arriving-{os.urandom(4).hex()}"
    try:
        with open(arriving, "xb", opener=new_private) as target:
            shutil.copyfileobj(file, target, 1 << 20)
        path = f"table-{os.urandom(4).hex()}{kind_of_file(name, arriving)}"
        arriving.rename(project.folder / "data" / path)
    finally:
        arriving.unlink(missing_ok=True)
    before = project.source
    project = project.change(source={"kind": "upload", "path": path}, name=name)
    _forget(project, before)
    return project


def from_folder(desk: Desk, settings: Settings, relative: str) -> Project:
    """A table from a file in an allowed folder, which stays where it is."""
    place = inside(settings, relative)
    if not place.is_file() or not os.access(place, os.R_OK):
        raise DataError("There is no such file in the folders that this server may open.")
    kind = kind_of_file(place.name, place)
    if kind != suffix_of(place.name):
        raise DataError(f"`{place.name}` is not what its name says. Rename it to end in {kind}.")
    return desk.add(shown_name(place.name), {"kind": "folder", "path": str(place), "shown": relative})


def from_database(desk: Desk, settings: Settings, url: str) -> Project:
    """A table, or the result of a query, of a database; files only where files may be opened."""
    if not settings.databases:
        raise DataError("This server opens no databases.")
    if not is_database_url(url) or "\0" in url:
        raise DataError("A database is named by a URL that begins with duckdb://, sqlite:// or postgres://.")
    target = file_of(url)
    if target is not None:
        scheme, _, rest = url.partition("://")
        url = f"{scheme}:///{quote(str(inside_absolute(settings, target)))}?{rest.partition('?')[2]}"
    shown = without_password(url).partition("?")
    name = f"{shown[0].rpartition('/')[2]} {shown[2].partition('=')[2]}"
    return desk.add(shown_name(name), {"kind": "database", "url": url})


def with_password(url: str, password: str) -> str:
    """The URL of a server with a password, where one is given.

    >>> with_password("postgres://ann@host/name?table=t", "a b")
    'postgres://ann:a%20b@host/name?table=t'
    """
    if not password:
        return url
    scheme, found, rest = url.partition("://")
    user, at, where = rest.partition("@")
    if not found or not at or not user or set(user) & set(":/?"):
        raise DataError("A password goes with the name of a user: postgres://USER@HOST/DATABASE?table=NAME.")
    return f"{scheme}://{user}:{quote(password, safe='')}@{where}"


def from_example(desk: Desk, settings: Settings, name: str) -> Project:
    """A built-in table."""
    if name not in examples():
        raise DataError(unknown("Example", name, examples()))
    return desk.add(name, {"kind": "example", "name": name, "path": "table.csv"})


def examples() -> dict[str, str]:
    """The built-in tables by name, and where each is printed; of the invented census nothing."""
    from undercover.datasets import hospital

    return {**dict.fromkeys(CENSUS, ""), **{name: one.source for name, one in hospital().items()}}


def begin_table(desk: Desk, queue: Queue, settings: Settings, make: Callable[[], Project]) -> Project:
    """Make a table and start its profile; where the queue takes no more, no table is left behind."""
    queue.require_room(desk.name)  # before a file is copied
    project = make()
    try:
        start_profile(queue, project, settings)
    except BaseException:
        desk.remove(project)
        raise
    return project


def start_profile(queue: Queue, project: Project, settings: Settings) -> Job:
    """Read and profile a table, as it is said to be read."""
    return _start(queue, project, settings, {})


def read_again(
    queue: Queue,
    project: Project,
    settings: Settings,
    how: Mapping[str, Any],
    *,
    sheet: str | None = None,
    revision: int | None = None,
) -> Job:
    """Read a table in another way (separator, decimal, encoding, nulls; a sheet); only if it works this is kept."""
    if revision not in (None, project.revision):
        raise Changed("This table was changed in another tab. Look at what is there now, then change it again.")
    odd = [name for name in how if name not in HOW]
    if odd:
        raise DataError(unknown("Option", odd[0], HOW))
    chosen = {name: value for name, value in how.items() if value}
    return _start(queue, project, settings, {"how": chosen, "sheet": sheet})


def _start(queue: Queue, project: Project, settings: Settings, more: Mapping[str, Any]) -> Job:
    for job in queue.jobs(project, "profile"):
        if not job.over:
            queue.cancel(project, job.id)
    limits = {"most_rows": settings.most_rows, "most_bytes": settings.most_bytes}
    return queue.add(project, "profile", {**limits, **more})


def shown_name(filename: str) -> str:
    """The name of a file as people see it: no folders, nothing that cannot be printed.

    >>> shown_name("C:\\\\data\\\\people.csv"), shown_name("../../etc/pass\\nwd"), shown_name("/")
    ('people.csv', 'passwd', 'table')
    """
    base = filename.replace("\\", "/").rpartition("/")[2]
    plain = "".join(letter for letter in base if letter.isprintable()).strip(" .")
    return plain[-_LONGEST_NAME:] or "table"


def _forget(project: Project, before: Mapping[str, Any]) -> None:
    """Remove the file that another one took the place of."""
    if before["kind"] != "folder" and before.get("path"):
        (project.folder / "data" / before["path"]).unlink(missing_ok=True)
