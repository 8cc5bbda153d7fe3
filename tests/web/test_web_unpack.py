"""What is taken from a zip or from files that somebody sends: a release, and nothing that is none."""

from __future__ import annotations

import io
import random
import re
import stat
import warnings
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile, ZipInfo

import pytest
from web_received import packed, public_files

from undercover.errors import DataError
from undercover.web.access.unpack import MOST_FILES, take, unpack

MANIFEST = {"release.json": b"{}"}
MOST = 1 << 25


def zipped(*entries: tuple[str | ZipInfo, bytes]) -> io.BytesIO:
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as target, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a name is there twice, which is what is tried
        for name, text in (("release.json", b"{}"), *entries):
            target.writestr(name, text)
    return content


def link() -> ZipInfo:
    found = ZipInfo("table.csv")
    found.external_attr = (stat.S_IFLNK | 0o777) << 16
    return found


def encrypted() -> io.BytesIO:
    raw = bytearray(packed(MANIFEST, ""))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + at] |= 1
    return io.BytesIO(bytes(raw))


def rarely_packed() -> io.BytesIO:
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_LZMA) as target:
        target.writestr("release.json", b"{}")
    return content


@pytest.mark.parametrize("inside", ["", "public/", "a/b/public/"])
def test_a_public_folder_comes_out_as_it_went_in(inside: str, tmp_path: Path) -> None:
    names = unpack(io.BytesIO(packed(public_files(), inside)), tmp_path, MOST)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == public_files()
    assert sorted(names) == sorted(public_files())


def test_what_finder_adds_is_left_out(tmp_path: Path) -> None:
    unpack(zipped(("__MACOSX/._release.json", b"x"), (".DS_Store", b"x"), ("table.csv", b"a\n")), tmp_path, MOST)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["release.json", "table.csv"]


HOSTILE = {
    "no zip": (lambda: io.BytesIO(b"age,town\n1,2\n"), "no zip file"),
    "above": (lambda: zipped(("../table.csv", b"")), "outside itself: `../table.csv`"),
    "above, written for Windows": (lambda: zipped(("..\\table.csv", b"")), "outside itself"),
    "absolute": (lambda: zipped(("/etc/table.csv", b"")), "outside itself"),
    "a drive": (lambda: zipped(("C:table.csv", b"")), "outside itself"),
    "a link": (lambda: zipped((link(), b"/etc/passwd")), "links to elsewhere: `table.csv`"),
    "twice": (lambda: zipped(("table.csv", b"1"), ("table.csv", b"2")), "the same name"),
    "twice where case does not matter": (lambda: zipped(("t.csv", b"1"), ("T.csv", b"2")), "the same name"),
    "other folders": (lambda: zipped(("private/run.parquet", b"")), "several folders: `(the top)`, `private`"),
    "another file": (lambda: zipped(("run.exe", b"")), "no files of these names: `run.exe`"),
    "no manifest": (lambda: io.BytesIO(packed({"table.csv": b""})), "no `release.json`"),
    "nothing": (lambda: io.BytesIO(packed({})), "no `release.json`"),
    "too many": (lambda: zipped(*((f"t{i}.csv", b"") for i in range(MOST_FILES))), "at most 1,000"),
    "a bomb": (lambda: zipped(("table.csv", bytes(MOST + 1))), "too large"),
    "a bomb below the limit": (lambda: zipped(("table.csv", bytes(MOST - 100))), "too large"),
    "encrypted": (encrypted, "encrypted"),
    "of a rare kind": (rarely_packed, "unusual way"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_zip_is_explained(name: str, tmp_path: Path) -> None:
    made, why = HOSTILE[name]
    target = tmp_path / "in"
    target.mkdir()
    with pytest.raises(DataError, match=re.escape(why)):
        unpack(made(), target, MOST)
    assert [file.name for file in tmp_path.iterdir()] == ["in"]


def test_a_damaged_zip_is_explained_wherever_it_is_damaged(tmp_path: Path) -> None:
    whole, chance = packed(public_files()), random.Random(1)
    refused = 0
    for number in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        place = tmp_path / str(number)
        place.mkdir()
        try:
            unpack(io.BytesIO(bytes(damaged)), place, MOST)
        except DataError:
            refused += 1
    assert refused > 100


def test_files_sent_one_by_one_are_kept_by_their_last_names(tmp_path: Path) -> None:
    names = take([("C:\\x\\release.json", io.BytesIO(b"{}")), ("a/table.csv", io.BytesIO(b"1"))], tmp_path, MOST)
    assert names == ["release.json", "table.csv"]
    small = tmp_path / "small"
    small.mkdir()
    with pytest.raises(DataError, match="too large"):
        take([("release.json", io.BytesIO(b"{}")), ("t.csv", io.BytesIO(bytes(9)))], small, 5)
