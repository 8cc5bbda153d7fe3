"""`--force` replaces what is ours, and nothing else: every command that writes, and every way to hide a file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.errors import OutputError
from undercover.io.release import folder
from undercover.io.release.ours import strange
from undercover.studies.tour import OVERVIEW, tour

THESIS = b"years of work"


@pytest.fixture
def out(run: uc.Run, tmp_path: Path) -> Path:
    """A release."""
    return folder.save(run, tmp_path / "out", report="page", summary={})


def everything(place: Path) -> dict[str, bytes | str]:
    """All that lies somewhere, links as what they point to."""
    found: dict[str, bytes | str] = {}
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
    return found


def put(name: str) -> Callable[[Path], None]:
    """Somebody keeps a file in the folder."""

    def keep(out: Path) -> None:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(THESIS)

    return keep


def only(name: str) -> Callable[[Path], None]:
    """Somebody keeps a file in a folder that looks like ours, and nothing of ours is there."""

    def keep(out: Path) -> None:
        shutil.rmtree(out)
        put(name)(out)

    return keep


def linked(name: str) -> Callable[[Path], None]:
    """Somebody keeps a part of the release on another disk."""

    def move(out: Path) -> None:
        kept = out.with_name("elsewhere")
        (out / name).rename(kept)
        (out / name).symlink_to(kept)

    return move


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (only("public/thesis.docx"), "public/thesis.docx"),
        (only("private/thesis.docx"), "private/thesis.docx"),
        (only("withheld/release.json"), "withheld/release.json"),
        (put("notes.txt"), "notes.txt"),
        (put("public/notes.txt"), "public/notes.txt"),
        (put("private/original.parquet"), "private/original.parquet"),
        (put("private/more/notes.txt"), "private/more"),
        (linked("public"), "public"),
        (linked("private"), "private"),
        (linked("public/table.csv"), "public/table.csv"),
        (linked(""), "a link to elsewhere"),
    ],
)
def test_what_is_not_ours_is_named_and_stays(
    run: uc.Run, out: Path, change: Callable[[Path], None], named: str, tmp_path: Path
) -> None:
    change(out)
    before = everything(tmp_path)
    with pytest.raises(OutputError) as refused:
        folder.save(run, out, force=True)
    assert named in str(refused.value)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("broken", ["public/release.json", "private/run.json"])
def test_a_release_of_ours_that_is_half_broken_is_replaced(run: uc.Run, out: Path, broken: str) -> None:
    (out / broken).write_text("{")
    (out / "public" / "table.csv").write_text("changed by hand")
    folder.save(run, out, force=True)
    assert folder.load_checked(out)[1] == []


def test_where_nothing_says_that_it_is_ours_it_stays(run: uc.Run, out: Path) -> None:
    for name in ("public/release.json", "private/run.json"):
        (out / name).write_text(json.dumps({"tables": []}))
    with pytest.raises(OutputError, match=r"does not know as its own .*and \d more"):
        folder.save(run, out, force=True)


def test_everything_a_release_can_hold_is_ours(run: uc.Run, tmp_path: Path) -> None:
    """With signature, report, decision, hierarchies and distances; accepted, and in parts."""
    people = uc.datasets.hospital("cross-bucket")
    uc.new_key(tmp_path / "key")
    made = uc.publish(people.table, people.schema, uc.Mondrian(k=2), ledger=tmp_path / "ledger")
    out = uc.save(made, tmp_path / "out", sign=tmp_path / "key", rows_per_file=5)
    assert list(strange(out)) == []
    uc.accept(out, because="Nobody of the example exists.", by="the board")
    assert list(strange(out)) == []
    assert list(strange(folder.save(run, tmp_path / "empty", format="xlsx"))) == []


def test_a_link_that_leads_nowhere_is_not_followed(run: uc.Run, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    for force in (False, True):
        with pytest.raises(OutputError, match="already exists" if not force else "a link to elsewhere"):
            folder.save(run, tmp_path / "out", force=force)
    assert os.listdir(tmp_path) == ["out"]


def test_a_tour_replaces_a_tour_only(tmp_path: Path) -> None:
    out = tmp_path / "tour"
    out.mkdir()
    (out / OVERVIEW).write_bytes(THESIS)
    with pytest.raises(OutputError, match=OVERVIEW):
        tour(out, force=True)
    (out / OVERVIEW).write_text('<meta name="generator" content="undercover">')
    (out / "notes.txt").write_bytes(THESIS)
    with pytest.raises(OutputError, match=r"notes\.txt"):
        tour(out, force=True)
    assert (out / "notes.txt").read_bytes() == THESIS


@pytest.mark.parametrize(
    "command",
    [
        ["inspect", "DATA", "--html", "FILE"],
        ["inspect", "DATA", "--write-spec", "FILE"],
        ["recommend", "DATA", "--qi", "age", "--write-spec", "FILE"],
        ["hierarchy", "intervals", "--widths", "5,10", "--from", "0", "--to", "9", "--out", "FILE"],
        ["hierarchy", "prefixes", "--lengths", "1", "--data", "DATA", "--column", "age", "--out", "FILE"],
        ["guarantee", "--k", "6", "--domain", "50", "--p", "0.3", "--map", "FILE"],
    ],
    ids=lambda command: f"{command[0]} {command[-2]}",
)
def test_no_command_replaces_a_file_of_another_kind(undercover: Any, tmp_path: Path, command: list[str]) -> None:
    """It is refused before anything is read: there is no table."""
    thesis = tmp_path / "thesis.docx"
    thesis.write_bytes(THESIS)
    called = {"FILE": str(thesis), "DATA": str(tmp_path / "nowhere.csv")}
    done = undercover(*(called.get(word, word) for word in command), "--force")
    assert (done.code, "nothing that undercover writes there" in " ".join(done.err.split())) == (2, True), done.err
    assert thesis.read_bytes() == THESIS
    thesis.unlink()
    thesis.symlink_to(tmp_path / "elsewhere")
    done = undercover(*(called.get(word, word) for word in command), "--force")
    assert (done.code, "a link, a folder or a device" in " ".join(done.err.split())) == (2, True), done.err
    assert os.listdir(tmp_path) == ["thesis.docx"]


def test_a_file_of_the_same_kind_is_replaced(undercover: Any, tmp_path: Path) -> None:
    command = [
        "hierarchy",
        "intervals",
        "--widths",
        "5,10",
        "--from",
        "0",
        "--to",
        "9",
        "--out",
        tmp_path / "levels.csv",
    ]
    assert undercover(*command).code == 0
    assert undercover(*command).code == 2
    assert undercover(*command, "--force").code == 0
    page = ["guarantee", "--k", "6", "--domain", "50", "--p", "0.3", "--map", tmp_path / "map.html"]
    assert [undercover(*page).code, undercover(*page, "--force").code] == [0, 0]


def test_keys_are_never_replaced_nor_left_half(tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_bytes(THESIS)
    with pytest.raises(OutputError, match=r"key\.pub` already exists"):
        uc.new_key(tmp_path / "key")
    assert os.listdir(tmp_path) == ["key.pub"]


@pytest.mark.parametrize("name", ["results.csv", "cells.jsonl", "overview.json"])
def test_experiments_start_anew_only_in_folders_of_theirs(undercover: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(THESIS)
    which = ["all", "--quick"] if name == "overview.json" else ["streamliner", "--quick"]
    done = undercover("experiment", *which, "--out", tmp_path, "--fresh")
    assert (done.code, "left alone" in " ".join(done.err.split())) == (2, True), done.err
    assert everything(tmp_path) == {name: THESIS}
