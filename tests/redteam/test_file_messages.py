"""Files that cannot be read were once "a bug of undercover", or told about quotation marks that were not there.

Every message says what is wrong, what was found and what to do, and the command ends with exit code 2.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import random
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as arrow_feather
import pyarrow.parquet as arrow_parquet
import pytest

from undercover.cli.main import main
from undercover.errors import DataError, OutputError, unreadable, unwritable
from undercover.io import place
from undercover.io.file_kinds import is_text
from undercover.io.source import read
from undercover.whole import check_folder, whole_folder

ROWS = "name,age,ill\n" + "".join(f"Person {i},{i},{'ab'[i % 2]}\n" for i in range(60_000))
RANDOM = random.Random(1).randbytes(5000)
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
AGAIN = "Copy or download it again"


def stored(write: Callable[[pa.Table, io.BytesIO], Any]) -> bytes:
    stream = io.BytesIO()
    write(pa.table({"name": [f"Person {i}" for i in range(3000)], "age": list(range(3000))}), stream)
    return stream.getvalue()


def zipped(name: str = "people.csv") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, ROWS)
    return stream.getvalue()


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


BROKEN: dict[str, tuple[bytes, str, str]] = {
    "cut.csv.gz": (half(gzip.compress(ROWS.encode())), "damaged or incomplete", AGAIN),
    "cut-late.csv.gz": (gzip.compress(ROWS.encode())[:-4], "damaged or incomplete", AGAIN),
    "cut.jsonl.gz": (half(gzip.compress(b'{"age": 3}\n' * 90_000)), "damaged or incomplete", AGAIN),
    "plain.csv.gz": (ROWS.encode(), "gzip did not pack it", "Rename it to plain.csv"),
    "random.csv": (RANDOM, "is not a text file", "Export the table as CSV"),
    "random.txt": (RANDOM, "is not a text file", "Export the table as CSV"),
    "random.jsonl": (RANDOM, "is not a text file", "Export the table as CSV"),
    "packed.csv": (gzip.compress(ROWS.encode()), "packed by gzip", "Rename it"),
    "zipped.csv": (zipped(), "a zip or an Excel file", "Rename it"),
    "document.csv": (b"%PDF-1.7\n" + RANDOM, "a PDF document", "ask whoever made it"),
    "picture.csv": (b"\x89PNG\r\n" + RANDOM, "a picture", "the table itself"),
    "password.xlsx": (
        OLD_OFFICE + bytes(900) + "EncryptedPackage".encode("utf-16-le") + bytes(99),
        "protected by a password",
        "remove the password",
    ),
    "old.xlsx": (OLD_OFFICE + RANDOM, "a file of an old Office", "save it as .xlsx"),
    "cut.xlsx": (half(zipped("xl/workbook.xml")), "damaged or incomplete", AGAIN),
    "random.xlsx": (RANDOM, "damaged or incomplete", AGAIN),
    "other.xlsx": (zipped("word/document.xml"), "not an Excel file", AGAIN),
    "cut.zip": (half(zipped()), "it cannot be unpacked", AGAIN),
    "random.zip": (RANDOM, "it cannot be unpacked", AGAIN),
    "cut.parquet": (half(stored(arrow_parquet.write_table)), "not a Parquet file", AGAIN),
    "random.parquet": (RANDOM, "not a Parquet file", AGAIN),
    "cut.feather": (half(stored(arrow_feather.write_feather)), "not a Feather", AGAIN),
    "random.feather": (RANDOM, "not a Feather", AGAIN),
    "random.sav": (RANDOM, "cannot be read as an SPSS file", AGAIN),
    "random.dta": (RANDOM, "cannot be read as a Stata file", AGAIN),
    "random.sas7bdat": (RANDOM, "cannot be read as a SAS file", AGAIN),
    "cut.xpt": (RANDOM[:4001], "whole records of 80 bytes", AGAIN),
    **{
        f"empty{ending}": (b"", "is empty", "Export the table again")
        for ending in (".csv", ".csv.gz", ".parquet", ".xlsx", ".sav", ".dta", ".feather", ".zip", ".jsonl")
    },
}


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str]]:
    def run(*arguments: Any) -> tuple[int, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["undercover", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), capsys.readouterr().err

    return run


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_and_what_to_do(name: str, command: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    content, wrong, cure = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    code, said = command("inspect", name)
    assert code == 2, said
    assert f"`{name}`" in said
    assert wrong in said
    assert cure in said
    assert "bug of undercover" not in said


def test_texts_are_still_taken_for_texts(tmp_path: Path) -> None:
    """The check of beginnings must not refuse a table for its language, encoding or a control character in a cell."""
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "latin-1"):
        (tmp_path / "t.csv").write_bytes("größe,ort\n1,Köln\n2,Łódź\n".replace("Łódź", "Üb").encode(encoding))
        assert read(tmp_path / "t.csv").data.num_rows == 2
    (tmp_path / "t.csv").write_bytes("年齢,町\n36,東京\n31,京都\n".encode())
    assert read(tmp_path / "t.csv").data.num_rows == 2
    (tmp_path / "t.csv").write_bytes(b"age,note\n3,a\x0bb\x0cc\x1b\x00\n4,\xe9t\xe9\n")
    assert read(tmp_path / "t.csv").data.num_rows == 2
    assert not is_text(RANDOM)


@pytest.mark.parametrize("verb", ["verify", "inspect"])
def test_a_path_at_which_nothing_is(verb: str, command: Callable[..., tuple[int, str]]) -> None:
    """`verify` asked for quasi-identifiers and requirements of a file that does not exist."""
    code, said = command(verb, "nothing.csv")
    assert code == 2
    assert "There is no file `nothing.csv`. Check its spelling" in said
    assert "--require" not in said


def test_a_link_to_nothing_and_folders_as_data(command: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to("nowhere.csv")
    assert "it is a link to something that is not there" in command("inspect", "link.csv")[1]
    (tmp_path / "folder").mkdir()
    assert "has no files in it. Give a file" in command("inspect", "folder")[1]
    (tmp_path / "folder" / "a.docx").write_bytes(RANDOM)
    assert "must be all CSV or all Parquet files" in command("inspect", "folder")[1]


def test_a_file_that_may_not_be_read_or_vanishes(
    command: Callable[..., tuple[int, str]], people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: Any, *_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    with monkeypatch.context() as patch:
        patch.setattr("undercover.io.file_kinds.open", denied, raising=False)
        code, said = command("inspect", people)
    assert (code, "Ask its owner for the permission to read it" in said) == (2, True)
    found = place.place_of(str(people))
    people.unlink()
    with pytest.raises(DataError, match=r"No such file or directory. Look whether it is still there"):
        found.digest()


def test_reasons_of_the_system() -> None:
    for number in (errno.ENOENT, errno.EACCES, errno.EIO, errno.EISDIR, errno.ELOOP, errno.ENODEV):
        assert unreadable("`x`", OSError(number, os.strerror(number))).count(". ") >= 1
    for number in (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.ENODEV):
        assert unwritable("`x`", OSError(number, os.strerror(number))).count(". ") >= 1
    assert "Make room on that disk" in unwritable("`x`", OSError(errno.ENOSPC, "No space left on device"))


def test_folders_above_the_release_are_made(
    command: Callable[..., tuple[int, str]], people: Path, tmp_path: Path
) -> None:
    """`--out a/b` without `a` was refused after the user had typed everything else."""
    options = ["--qi", "age,sex,zip", "--sensitive", "disease", "--identifiers", "name", "--method", "mondrian"]
    code, said = command("publish", people, *options, "--set", "k=5", "--policy", "none", "--out", "a/b/c")
    assert code == 0, said
    assert (tmp_path / "a" / "b" / "c" / "public").is_dir()


def test_folders_above_are_taken_away_where_nothing_was_written(
    command: Callable[..., tuple[int, str]], people: Path, tmp_path: Path
) -> None:
    options = ["--qi", "age", "--sensitive", "disease", "--method", "anatomy", "--set", "l=99", "--out", "a/b"]
    assert command("publish", people, *options)[0] == 3
    assert not (tmp_path / "a").exists()

    def full(_: Path) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space"), whole_folder(tmp_path / "a" / "b" / "c", force=False) as made:
        full(made)
    assert not (tmp_path / "a").exists()


def test_a_file_above_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"`.*file` is not a folder. Choose another place"):
        check_folder(tmp_path / "file" / "a" / "b", force=False, strange=lambda _: ())
