"""What cannot be written is refused before anything is read, and nothing is left; what is private is 0600."""

from __future__ import annotations

import errno
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover import whole
from undercover.io.place import unpacked
from undercover.io.release import folder
from undercover.web.desks.store import write_json
from undercover.whole import check_folder, write_whole

WORK = {
    "publish": ["publish", "DATA", "--qi", "age", "--method", "mondrian", "--set", "k=2", "--out", "OUT"],
    "recommend": ["recommend", "DATA", "--qi", "age", "--publish", "OUT"],
    "compare": ["compare", "DATA", "--qi", "age", "--out", "OUT"],
    "experiment": ["experiment", "streamliner", "--data", "DATA", "--out", "OUT"],
    "demo": ["demo", "--out", "OUT"],
    "inspect": ["inspect", "DATA", "--html", "OUT"],
    "serve": ["serve", "--workspace", "OUT", "--port", "0"],
}
"""Commands that take their time, and a table that is not there: whoever looks for it has begun."""


@pytest.fixture
def open_mask() -> Iterator[None]:
    """A process that lets everybody read what it writes."""
    before = os.umask(0)
    yield
    os.umask(before)


def below_a_file(out: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    out.write_text("")
    return out / "below"


def too_long(out: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return out.with_name("o" * 300)


def full(out: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return failing(out, monkeypatch, errno.ENOSPC)


def read_only(out: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return failing(out, monkeypatch, errno.EROFS)


def failing(out: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> Path:
    """Nothing can be made where it is to be; root may write everywhere else."""
    make, open_ = os.mkdir, os.open

    def refuse(path: Any, call: Callable[..., Any], *more: Any, **named: Any) -> Any:
        if str(path).startswith(str(out.parent)):
            raise OSError(number, os.strerror(number), str(path))
        return call(path, *more, **named)

    monkeypatch.setattr(os, "mkdir", lambda path, *more, **named: refuse(path, make, *more, **named))
    made = os.O_CREAT
    monkeypatch.setattr(
        os,
        "open",
        lambda path, flags, *more, **named: (
            refuse(path, open_, flags, *more, **named) if flags & made else open_(path, flags, *more, **named)
        ),
    )
    return out


@pytest.mark.parametrize("where", [below_a_file, too_long, full, read_only], ids=lambda where: where.__name__)
@pytest.mark.parametrize("command", WORK)
def test_a_place_that_takes_nothing_is_refused_first(
    undercover: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, where: Callable[..., Path]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with monkeypatch.context() as patched:
        called = {"OUT": str(where(home / "out", patched)), "DATA": str(tmp_path / "nowhere.csv")}
        before = os.listdir(home)
        done = undercover(*(called.get(word, word) for word in WORK[command]))
    said = " ".join(done.err.split())
    assert (done.code, "nowhere.csv" in said, str(home) in said) == (2, False, True), done.err
    assert os.listdir(home) == before


def test_a_ledger_that_takes_nothing_is_refused_first(run: uc.Run, tmp_path: Path) -> None:
    with pytest.raises(uc.errors.OutputError, match=r"cannot be (written|used)"):
        uc.publish(tmp_path / "nowhere.csv", run.schema, uc.Mondrian(k=2), ledger=tmp_path / "nowhere" / "ledger")


def test_trying_leaves_nothing_and_needs_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_folder(tmp_path / "out", force=False, strange=lambda place: ())
    assert os.listdir(tmp_path) == []

    def no_room(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(uc.errors.OutputError, match="No space left"):
        check_folder(tmp_path / "out", force=False, strange=lambda place: ())
    assert os.listdir(tmp_path) == []


def modes(place: Path) -> dict[str, str]:
    """Of all files somewhere."""
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in files}


@pytest.mark.usefixtures("open_mask")
def test_private_files_are_for_their_owner_alone(run: uc.Run, tmp_path: Path) -> None:
    """Whatever the mask of the process, and whoever writes them."""
    out = folder.save(run, tmp_path / "out", report="page", summary={}, kept={"ledger-entry.npz": b""})
    assert set(modes(out / "private").values()) == {"0o600"}
    assert len(modes(out / "private")) > 5
    assert set(modes(out / "public").values()) == {"0o666"}
    ledger = uc.Ledger(tmp_path / "ledger")
    entry = {"method": "m", "parameters": {}, "guarantees": [], "sensitive": [], "domain": None}
    ledger.enter({**entry, "likelihood_ratio": None, "people": 0, "exact": True, "state": "published"}, {})
    for name in ("ledger", "ledger.key", "ledger.lock"):
        assert modes(tmp_path / name) == {name: "0o600"}
    write_json(tmp_path / "desk.json", {})
    write_whole(tmp_path / "report.html", "page", private=True)
    write_whole(tmp_path / "levels.csv", "level0", private=False)
    kept = {name: modes(tmp_path / name)[name] for name in ("desk.json", "report.html", "levels.csv")}
    assert kept == {"desk.json": "0o600", "report.html": "0o600", "levels.csv": "0o666"}


@pytest.mark.usefixtures("open_mask")
def test_what_is_unpacked_for_a_moment_is_for_its_owner_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "people.zip", "w") as packed:
        packed.writestr("people.csv", "name\nAnn\n")
    with unpacked(tmp_path / "people.zip") as inner:
        assert modes(inner) == {"people.csv": "0o600"}


def test_a_page_about_the_table_is_for_its_owner_alone(undercover: Any, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,age\nAnn,3\nBob,4\n")
    assert undercover("inspect", tmp_path / "people.csv", "--html", tmp_path / "page.html").code == 0
    assert modes(tmp_path / "page.html") == {"page.html": "0o600"}


def test_without_an_exchange_the_old_one_is_moved_aside(
    run: uc.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on systems and file systems that cannot let two folders change places."""
    out = folder.save(run, tmp_path / "out")
    monkeypatch.setattr(whole, "_exchange", lambda *_: False)
    folder.save(run, out, force=True, format="parquet")
    assert (out / "public" / "table.parquet").is_file()
    assert os.listdir(tmp_path) == ["out"]
