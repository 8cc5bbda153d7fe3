"""A table somebody works on: where it came from, and the spec that is filled in step by step.

The folder of a table::

    project.json        name, source, spec, choices, revision
    data/               the uploaded file
    hierarchies/        uploaded or edited here, one CSV a column
    profile/            what the profile job found: inspection, preview, codes of every column
    jobs/ID/            jobs, see undercover.web.jobs
    releases/NUMBER/    release folders as `undercover publish` makes them: public or withheld, private

The spec is what a spec file says, as a mapping; hierarchies are named by files relative to the folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from undercover.errors import UndercoverError
from undercover.system import open_to_lock
from undercover.web.desks.store import private_folder, read_json, write_json
from undercover.whole import locked

if TYPE_CHECKING:  # what reads tables is loaded when the first is read
    from undercover.io.source import ReadOptions
    from undercover.io.spec.load import Spec


class Changed(UndercoverError):  # noqa: N818
    """Somebody changed the table meanwhile, in another tab."""


class Project:
    """One table of a desk, as it is on disk at this moment; :meth:`change` writes."""

    FILE: Final = "project.json"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def begin(cls, folder: Path, name: str, source: Mapping[str, Any], created: str) -> Project:
        """A table of which nothing is decided."""
        for room in ("data", "hierarchies", "jobs", "releases"):
            private_folder(folder / room)
        facts = {"name": name, "source": dict(source), "created": created, "revision": 0, "spec": {}, "choices": {}}
        write_json(folder / cls.FILE, facts)
        return cls(folder)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All that is written down."""
        return read_json(self.folder / self.FILE)

    @property
    def id(self) -> str:
        """By which it is asked for."""
        return self.folder.name

    @property
    def name(self) -> str:
        """What people call it."""
        return str(self.facts["name"])

    @property
    def created(self) -> str:
        """When it was begun."""
        return str(self.facts["created"])

    @property
    def source(self) -> dict[str, Any]:
        """Where the data is: ``kind`` (upload, folder, database, example), ``path`` and ``sheet``, ``url``, ``name``.

        Whatever a database answered is kept as a file, so that nothing changes between two steps.
        """
        return dict(self.facts["source"])

    @property
    def revision(self) -> int:
        """Counts changes; a form that was made from an older one is refused."""
        return int(self.facts["revision"])

    @property
    def spec(self) -> dict[str, Any]:
        """What is decided so far, as a spec file says it."""
        return dict(self.facts["spec"])

    @property
    def choices(self) -> dict[str, Any]:
        """What is decided beside the spec: purpose, format, other holders' tables."""
        return dict(self.facts["choices"])

    @property
    def profile(self) -> dict[str, Any] | None:
        """What the profile found; ``None`` until it is done."""
        place = self.folder / "profile" / "profile.json"
        try:
            return _read_profile(place, place.stat().st_mtime_ns)
        except FileNotFoundError:
            return None

    @property
    def whence(self) -> str:
        """What :func:`undercover.io.source.read` takes: a file, also of a database and a built-in example."""
        return whence(self.folder, self.source)

    def options(self) -> ReadOptions:
        """How the data is read, also where nothing else is decided."""
        return read_options(self.spec)

    def loaded(self) -> Spec:
        """The spec, checked; what is wrong with it is raised together."""
        from undercover.io.spec.load import spec_from_mapping

        return spec_from_mapping(self.spec, folder=self.folder)

    def change(
        self,
        *,
        spec: Mapping[str, Any] | None = None,
        revision: int | None = None,
        **more: Any,
    ) -> Project:
        """The table with another spec, choices or name; refused where ``revision`` is no longer the last one."""
        with _locked(self.folder):
            facts = read_json(self.folder / self.FILE)
            if revision is not None and revision != facts["revision"]:
                raise Changed("This table was changed in another tab. Look at what is there now, then change it again.")
            facts |= {"revision": facts["revision"] + 1, **more}
            if spec is not None:
                facts["spec"] = dict(spec)
            write_json(self.folder / self.FILE, facts)
        return Project(self.folder)


def whence(folder: Path, source: Mapping[str, Any]) -> str:
    """The path of a source; it lies in the folder of its table unless it is a file in an allowed folder."""
    path = str(folder / "data" / source["path"] if source["kind"] != "folder" else source["path"])
    return f"{path}#{source['sheet']}" if source.get("sheet") else path


def read_options(spec: Mapping[str, Any]) -> ReadOptions:
    """How a spec says that the data is read."""
    from undercover.io.source import ReadOptions

    data = spec.get("data", {})
    said = {key: data[key] for key in ("separator", "decimal", "thousands", "encoding") if key in data}
    kinds = {name: settings.get("kind") for name, settings in spec.get("columns", {}).items()}
    text = tuple(name for name, kind in kinds.items() if kind in ("categorical", "ordinal"))
    return ReadOptions(**said, nulls=tuple(data.get("nulls", ())), text=text)


@lru_cache(maxsize=64)
def _read_profile(place: Path, written: int) -> dict[str, Any]:
    """A profile as it was written at that moment; whoever asks changes nothing in it."""
    return read_json(place)


class _locked:  # noqa: N801
    """Nobody else writes meanwhile: no thread of the server, and no job."""

    def __init__(self, folder: Path) -> None:
        self._handle = open_to_lock(folder)

    def __enter__(self) -> None:
        locked(self._handle)

    def __exit__(self, *error: Any) -> None:
        os.close(self._handle)
