"""What is downloaded of a release: its public part as a zip that is written while it is sent, its spec, its recipe."""

from __future__ import annotations

import re
import shlex
import zipfile
from collections.abc import Iterator, Sequence
from io import RawIOBase
from pathlib import Path, PurePath
from typing import Any, Final

from undercover.errors import DataError
from undercover.io.database import without_password
from undercover.io.release.contents import (
    MANIFEST,
    OTHER_FILES,
    PRIVATE,
    PUBLIC,
    SIGNATURE,
    pieces_of,
    public_part,
    read_json,
)
from undercover.io.spec.write import SPEC
from undercover.model.formats import ROWS_PER_FILE
from undercover.web.desks.outcomes import Outcome

_CHUNK: Final = 1 << 20
_WHEN: Final = (1980, 1, 1, 0, 0, 0)  # a zip has a time for every file; it says nothing here
_BESIDE: Final = ("hierarchy-*.csv", "distance-*.csv")  # what a spec names


def public_files(found: Outcome) -> list[Path]:
    """The files of the public part: those of a release, and nothing else that may lie there."""
    if not found.ready:
        raise DataError(
            "The tables are withheld: accept the release first, with your reason."
            if found.withheld
            else "The verdict leaves something open. Decide it on the page of the release, then download."
        )
    folder = found.folder / PUBLIC
    tables = [piece["file"] for table in read_json(folder / MANIFEST)["tables"] for piece in pieces_of(table)]
    known = {MANIFEST, SIGNATURE, *OTHER_FILES, *tables}
    there = sorted(folder.iterdir())
    strange = [path.name for path in there if path.name not in known or path.is_symlink() or not path.is_file()]
    missing = [name for name in (MANIFEST, *tables) if not (folder / name).is_file()]
    if strange or missing:
        raise DataError("The public folder is not as it was made, so nothing is sent. Make the release again.")
    return there


def spec_files(found: Outcome) -> list[Path]:
    """The spec of a release, then the hierarchies and distances it names."""
    private = found.folder / PRIVATE
    return [private / SPEC, *(path for pattern in _BESIDE for path in sorted(private.glob(pattern)))]


class _Pipe(RawIOBase):
    """What a zip is written to: a list that is emptied as it is sent."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(part)

    def taken(self) -> bytes:
        """What has been written since."""
        part = b"".join(self._parts)
        self._parts.clear()
        return part


def zipped(files: Sequence[Path]) -> Iterator[bytes]:
    """Files as a zip, one chunk after the other, under their own names and nobody's times."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as target:
        for path in files:
            entry = zipfile.ZipInfo(path.name, _WHEN)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with path.open("rb") as source, target.open(entry, "w", force_zip64=True) as inside:
                while part := source.read(_CHUNK):
                    inside.write(part)
                    yield pipe.taken()
    yield pipe.taken()


def file_name(found: Outcome, end: str) -> str:
    """What a download is called: after the table and the number of the release."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", PurePath(found.project.name).stem).strip("-") or "table"
    return f"{stem[:60]}-release-{found.number}{end}"


def source_name(found: Outcome) -> str:
    """The table as its holder calls it: the file that was uploaded by its name, another by where it is.

    The password of a database is left out, for scripts are passed on.
    """
    source = found.project.source
    if source["kind"] == "database":
        return without_password(source["url"])
    sheet = f"#{source['sheet']}" if source.get("sheet") else ""
    if source["kind"] == "folder":
        return f"{source['path']}{sheet}"
    name, suffix = PurePath(found.project.name).name, PurePath(source["path"]).suffix
    return f"{name if name.lower().endswith(suffix) else name + suffix}{sheet}"


def command(found: Outcome) -> str:
    """The command that makes such a release beside its spec."""
    words = ["undercover", "publish", source_name(found), "--spec", SPEC, "--out", "release"]
    form, rows = _written_as(found)
    words += [] if form == "csv" else ["--format", form]
    words += [] if rows in (None, ROWS_PER_FILE) else ["--rows-per-file", str(rows)]
    words += ["--safe-for-spreadsheets"] if _escaped(found) else []
    return shlex.join(words)


def python(found: Outcome) -> str:
    """The same in Python."""
    form, rows = _written_as(found)
    more = "" if form == "csv" else f", format={form!r}"
    more += "" if rows in (None, ROWS_PER_FILE) else f", rows_per_file={rows}"
    more += ", safe_for_spreadsheets=True" if _escaped(found) else ""
    return f"""import undercover as uc
from undercover.io.source import read
from undercover.io.spec.load import load_spec, resolve
from undercover.parameters import make

spec = load_spec({SPEC!r})
table = read({source_name(found)!r}, options=spec.options)
run = uc.publish(
    table,
    resolve(spec, table.data),
    make("methods", spec.method_name, spec.method_parameters),
    require=spec.requirements,
    options=spec.options,
    policy=spec.policy,
)
print(run.verdict.title, *(reason.sentence() for reason in run.verdict.ordered()), sep="\\n")
uc.save(run, "release"{more})
"""


def _escaped(found: Outcome) -> bool:
    return "escaped" in read_json(public_part(found.folder) / MANIFEST)["tables"][0]


def _written_as(found: Outcome) -> tuple[str, int | None]:
    """The format of the tables, and the rows of a file where a table lies in several, as the release has them."""
    table = read_json(public_part(found.folder) / MANIFEST)["tables"][0]
    first = pieces_of(table)[0]
    return PurePath(first["file"]).suffix[1:], first["rows"] if table.get("parts") else None
