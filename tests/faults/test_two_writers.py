"""Two who write to the same place at the same time: one wins, the other is refused or later, and nothing is mixed.

Several servers on one workspace are in `tests/web/test_web_queue.py`, many writers of one ledger in
`tests/io/test_ledger.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import undercover as uc
from undercover.errors import DataError, OutputError
from undercover.io.ledger.book import Ledger
from undercover.io.release import folder
from undercover.io.release.decision import alone_with
from undercover.io.source import sha256
from undercover.studies.experiments.folder import JOURNAL, RESULTS, folder_of
from undercover.system import open_to_lock
from undercover.verbs.ledger import Pending, entered, kept_entry
from undercover.whole import clear_away, locked, write_whole

WRITERS = 4


def at_once(work: Sequence[Callable[[], Any]]) -> list[str]:
    """Begin all of it at the same moment; what each was told, which is nothing where it is done."""
    ready = Barrier(len(work))

    def one(begin: Callable[[], Any]) -> str:
        ready.wait()
        try:
            begin()
        except (OutputError, DataError) as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(one, work))


@pytest.mark.parametrize("force", [False, True])
def test_a_release_is_that_of_one_writer(run: uc.Run, tmp_path: Path, force: bool) -> None:
    out = tmp_path / "out"
    for attempt in range(3):
        if force and not attempt:
            folder.save(run, out, format="parquet")
        runs = [replace(run, made=f"{attempt}-{number}") for number in range(WRITERS)]
        formats = ("csv", "parquet")
        work = [
            partial(folder.save, one, out, force=force, format=formats[number % 2], report=one.made)
            for number, one in enumerate(runs)
        ]
        told = at_once(work)
        assert "" in told, told
        assert force or told.count("") == 1, told
        found, public = folder.load_both(out)
        assert public.problems == []
        assert (out / "private" / "report.html").read_text() == found.made
        assert found.made in [one.made for one, said in zip(runs, told, strict=True) if not said]
        assert os.listdir(tmp_path) == ["out"]
        if not force:
            folder.save(run, out, force=True)  # so that the next attempt begins with a folder of ours
            for part in sorted(out.rglob("*"), reverse=True):
                part.rmdir() if part.is_dir() else part.unlink()
            out.rmdir()


def test_every_release_that_stood_is_in_the_ledger(run: uc.Run, tmp_path: Path) -> None:
    out, book = tmp_path / "out", Ledger(tmp_path / "ledger")
    book.check()
    work = []
    for number in range(WRITERS):
        one = replace(run, entry=Pending(book, {("name",): np.array([number], np.uint64)}, ()), made=str(number))
        work.append(partial(folder.save, one, out, force=True, around=partial(entered, one, out)))
    told = at_once(work)
    entries = book.entries()
    assert {entry.state for entry in entries} == {"published"}
    assert len(entries) == told.count("")
    assert sha256(out / "public" / "release.json") in {entry.release for entry in entries}


def test_a_release_is_accepted_once(tmp_path: Path) -> None:
    people = uc.datasets.hospital("cross-bucket")
    run = uc.publish(people.table, people.schema, uc.Mondrian(k=2), ledger=tmp_path / "ledger")
    out = folder.save(run, tmp_path / "out", report="", summary={}, verdict=run.verdict, kept=kept_entry(run))
    told = at_once([partial(uc.accept, out, because="Because.", by=str(number)) for number in range(WRITERS)])
    assert told.count("") == 1, told
    assert all("is being accepted" in said or "is not withheld" in said for said in told if said)
    assert sorted(os.listdir(out)) == ["private", "public"]
    (entry,) = Ledger(tmp_path / "ledger").entries()
    assert entry.state == "published"
    with alone_with(out), pytest.raises(OutputError, match="somebody else"), alone_with(out):
        pass


def test_an_experiment_has_one_writer(tmp_path: Path) -> None:
    begin = partial(folder_of, tmp_path / "tried", JOURNAL, RESULTS, "an experiment", private=True)
    with begin(), pytest.raises(OutputError, match="Somebody else writes"), begin(fresh=True):
        pass
    with begin():
        pass


def test_a_file_is_that_of_one_writer(tmp_path: Path) -> None:
    texts = [str(number) * 100_000 for number in range(WRITERS)]
    for _ in range(20):
        assert at_once([partial(write_whole, tmp_path / "file", text) for text in texts]) == [""] * WRITERS
        assert (tmp_path / "file").read_text() in texts
        assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_cleared_away_is_held_until_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Or else somebody locks it after it was found to be nobody's, and begins to write into what is then removed."""
    left = tmp_path / ".notes.tmp-1-ab"
    left.mkdir() if what == "folder" else left.write_text("")
    seen = []

    def look(path: Path, **_: Any) -> None:
        handle = open_to_lock(path)
        seen.append(locked(handle, wait=False))
        os.close(handle)

    monkeypatch.setattr(Path, "unlink", look)
    monkeypatch.setattr("undercover.whole.shutil.rmtree", look)
    clear_away(tmp_path / "notes")
    assert seen == ["taken"]
