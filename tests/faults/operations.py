"""What writes to a disk, small: how it begins, what it does, and what may stand afterwards."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import undercover as uc
from undercover.errors import OutputError
from undercover.io.ledger.book import Ledger
from undercover.io.release import folder
from undercover.io.release.decision import MARK, decision_of
from undercover.io.signatures import check_signature
from undercover.io.source import sha256
from undercover.studies.experiments.experiment import Cell, Experiment
from undercover.studies.experiments.runner import run_experiment
from undercover.verbs.accept import accept, decided
from undercover.verbs.ledger import entered, kept_entry
from undercover.verbs.sign import sign
from undercover.web.desks.clearing import clear
from undercover.web.desks.clearing import whole as whole_release
from undercover.web.desks.desk import Desk
from undercover.web.desks.progress import releases
from undercover.web.desks.sources import from_upload
from undercover.web.desks.store import NO_DISK, is_disk
from undercover.web.jobs.job import job_folders, new_job, read_job, set_state
from undercover.web.jobs.profile import _put
from undercover.web.settings import Settings

SECRET = "Adalovelace"
"""In the name of everybody in the table: nobody else may read a file in which it stands."""
ROWS = 12


@dataclass(frozen=True)
class Operation:
    """Something that is done to the files of a folder."""

    begin: Callable[[Path], Any]  # what stands before
    act: Callable[[Path], Any]
    state: Callable[[Path], str]  # before or after; an AssertionError where it is neither
    again: Callable[[Path], Any]  # what whoever is told of the fault does next; "after" must stand then


def table() -> pa.Table:
    """A dozen people."""
    return pa.table(
        {
            "name": [f"{SECRET}-{row}" for row in range(ROWS)],
            "age": [20 + row for row in range(ROWS)],
            "disease": ["abc"[row % 3] for row in range(ROWS)],
        }
    )


class Made:
    """Runs that are made once, before anything is forked."""

    def __init__(self, home: Path) -> None:
        self.people = home / "people.csv"
        pyarrow.csv.write_csv(table(), self.people)
        self.people.chmod(0o600)
        schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers=["name"])
        publish = partial(uc.publish, self.people, schema)
        self.new = publish(uc.Mondrian(k=3), policy="none")
        self.first = publish(uc.Mondrian(k=2), policy="none", ledger=home / "kept.ledger")
        self.key = home / "key"
        uc.new_key(self.key)
        self.withheld = home / "withheld"
        run = publish(uc.Mondrian(k=2), ledger=home / "waiting.ledger")
        page = f"<p>{MARK}</p>"
        folder.save(run, self.withheld, report=page, summary={}, verdict=run.verdict, kept=kept_entry(run))

    def operations(self) -> dict[str, Operation]:
        """All of them, by name."""
        return {
            "release": Operation(_nothing, self._save, self._whole, partial(self._save, force=True)),
            "replaced": Operation(self._saved, self._replace, self._whole_and_entered, self._replace),
            "accepted": Operation(self._keep, self._accept, self._accepted, self._accept_again),
            "withdrawn": Operation(self._saved, _forget, self._withdrawn, _forget),
            "signed": Operation(self._saved, self._sign, _signed, self._sign),
            "experiment": Operation(_tried_before, _try, _tried, _try),
            "desk": Operation(_nothing, _work, _worked, _work),
        }

    def _saved(self, home: Path) -> None:
        """An old release, which a ledger knows."""
        for suffix in ("", ".key", ".people", ".lock"):
            shutil.rmtree(home / f"ledger{suffix}", ignore_errors=True)
        pending = replace(self.first.entry, ledger=Ledger(home / "ledger"), seen=())
        shutil.copy(f"{self.first.entry.ledger.path}.key", home / "ledger.key")
        run = replace(self.first, entry=pending)
        folder.save(run, home / "out", around=partial(entered, run, home / "out"), report="old", summary={})

    def _save(self, home: Path, *, force: bool = False) -> None:
        folder.save(self.new, home / "out", report="new", summary={}, force=force)

    def _replace(self, home: Path) -> None:
        seen = tuple(entry.number for entry in Ledger(home / "ledger").entries())
        run = replace(self.new, entry=replace(self.first.entry, ledger=Ledger(home / "ledger"), seen=seen))
        around = partial(entered, run, home / "out")
        folder.save(run, home / "out", force=True, format="parquet", report="new", summary={}, around=around)

    def _whole(self, home: Path) -> str:
        if not (home / "out").exists():
            return "before"
        run, public = folder.load_both(home / "out")
        assert public.problems == [], public.problems
        return "after" if run.recipe["k"] == 3 else "before"

    def _whole_and_entered(self, home: Path) -> str:
        state = self._whole(home)
        assert (home / "out").exists()
        counted = [entry for entry in Ledger(home / "ledger").entries() if entry.counts]
        _looked_up(home)
        assert counted[0].number == 1
        assert (len(counted) == 1) == (state == "before"), (state, counted)
        assert counted[-1].release == sha256(home / "out" / "public" / "release.json")
        return state

    def _keep(self, home: Path) -> None:
        shutil.copytree(self.withheld, home / "out")
        for suffix in ("", ".people"):
            place = Path(f"{self.withheld.with_name('waiting.ledger')}{suffix}")
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)

    def _accept(self, home: Path) -> None:
        decided(home / "out", "Because.", "first")

    def _accept_again(self, home: Path) -> None:
        """Whoever accepts again is told where there is nothing left to do."""
        done = self._accepted(home) == "after" and not (home / "out" / "private" / "ledger-entry.npz").exists()
        if not done:
            accept(home / "out", because="Again.", by="second")

    def _accepted(self, home: Path) -> str:
        parts = sorted(os.listdir(home / "out"))
        public = parts == ["private", "public"]
        assert public or parts == ["private", "withheld"], parts
        _, found = folder.load_both(home / "out")
        assert found.problems == [], found.problems
        assert not public or decision_of(home / "out") is not None
        entries = Ledger(self.withheld.with_name("waiting.ledger")).entries()
        assert any(entry.counts for entry in entries) == public, entries
        return "after" if public else "before"

    def _withdrawn(self, home: Path) -> str:
        (entry,) = Ledger(home / "ledger").entries()
        _looked_up(home)
        return "after" if entry.state == "withdrawn" else "before"

    def _sign(self, home: Path) -> None:
        sign(home / "out", self.key)


def _nothing(home: Path) -> None:
    """Nothing stands."""


def _looked_up(home: Path) -> None:
    """A ledger can say who is in it."""
    before = Ledger(home / "ledger").before(table())
    counted = [entry for entry in Ledger(home / "ledger").entries() if entry.counts]
    assert [one.shared for one in before.earlier] == [ROWS] * len(counted)


def _forget(home: Path) -> None:
    Ledger(home / "ledger").forget("1")


def _signed(home: Path) -> str:
    _, found = folder.load_both(home / "out")
    assert found.problems == [], found.problems
    signer, problems = check_signature(home / "out" / "public")
    assert problems == []
    return "before" if signer is None else "after"


def _experiment(data: str) -> Experiment:
    cells = [
        Cell(figure="area", series="square", x=x, measure=lambda x: {"area": float(x * x)}, parameters={"x": x}, cost=1)
        for x in (1, 2)
    ]
    generator = {"generator": {"name": data}}
    words: dict[str, Any] = {"name": "toy", "title": "Areas", "paper": "", "version": 1}
    return Experiment(**words, data=generator, cells=cells, plots=lambda _: [], claims=[], private=True)


def _tried_before(home: Path) -> None:
    run_experiment(_experiment("old"), home / "tried")


def _try(home: Path) -> None:
    run_experiment(_experiment("new"), home / "tried", fresh=True)


def _tried(home: Path) -> str:
    place = home / "tried"
    if (place / "results.json").exists():
        results = json.loads((place / "results.json").read_text())
        return "after" if results["data"]["generator"]["name"] == "new" else "before"
    return "before"  # whoever asks for it anew gives up the old one


def _work(home: Path) -> None:
    """As the application, which tells whoever asks what his disk says."""
    try:
        _work_at_desk(home)
    except OSError as error:
        if not is_disk(error) and error.errno != errno.EINTR:
            raise
        raise OutputError(NO_DISK) from error


def _work_at_desk(home: Path) -> None:
    """What a server and its jobs write about a table: it arrives, is read, a release is made, and removed again."""
    desk = Desk(home / "workspace", "own")
    content = io.BytesIO()
    pyarrow.csv.write_csv(table(), content)
    content.seek(0)
    project = from_upload(desk, Settings(workspace=home / "workspace"), "people.csv", content)
    project.change(spec={"roles": {"identifiers": ["name"]}})
    job = project.folder / "jobs" / "1700000000000-abcdef"
    new_job(job, "profile", {}, 1.0)
    set_state(job, "running", started=2.0)
    for _ in range(2):
        (project.folder / ".profile").mkdir()
        np.save(project.folder / ".profile" / "0.npy", np.arange(3))
        _put(project.folder / ".profile", project.folder / "profile")
    with whole_release(project.folder / "releases" / "1"):
        (project.folder / "releases" / "1").mkdir()
        (project.folder / "releases" / "1" / "table.csv").write_text("whole")
    set_state(job, "done", ended=3.0)


def _worked(home: Path) -> str:
    """What the next server finds, which clears away first."""
    workspace = home / "workspace"
    if not workspace.is_dir():
        return "before"
    clear(workspace)
    assert left_over(workspace) == []
    assert all((place / "project.json").is_file() for place in workspace.glob("desks/own/*"))
    state = "before"
    for project in Desk(workspace, "own").projects():
        for place in job_folders(project.folder):
            state = "after" if read_job(place).state == "done" else state
        for number in releases(project):
            assert (project.folder / "releases" / str(number) / "table.csv").read_text() == "whole"
        if (project.folder / "profile").exists():
            assert len(np.load(project.folder / "profile" / "0.npy")) == 3
        if project.source["path"]:
            assert SECRET in (project.folder / "data" / project.source["path"]).read_text()
    return state


def _write_badly(home: Path) -> None:
    """Two files that belong together, one after the other, in place, for everybody, and a leftover."""
    (home / ".left.tmp").write_text("")
    for name in ("one", "two"):
        with suppress(OSError):
            (home / name).write_text(SECRET)
    (home / "three").write_text("")


def _written(home: Path) -> str:
    texts = {(home / name).read_text() for name in ("one", "two") if (home / name).exists()}
    assert len(os.listdir(home)) != 3, "a mixture"
    return "after" if texts else "before"


PLANTED = Operation(_nothing, _write_badly, _written, _write_badly)
"""An operation that does everything wrong."""


def seen_by_others(home: Path) -> list[str]:
    """Files that somebody else may read and in which a person is named, or that lie in a private folder."""
    found = []
    for parent, folders, files in os.walk(home):
        folders[:] = [name for name in folders if stat.S_IMODE(Path(parent, name).stat().st_mode) & 0o077]
        for name in files:
            path = Path(parent, name)
            if stat.S_IMODE(path.stat().st_mode) & 0o077 and SECRET.encode() in path.read_bytes():
                found.append(str(path.relative_to(home)))
    return found


def left_over(home: Path) -> list[str]:
    """What has a hidden name."""
    return [str(path.relative_to(home)) for path in home.rglob(".*")]
