"""Public folders as recipients get them, made once for all tests that open one."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa

import undercover as uc

ORIGINAL = pa.table(
    {
        "age": [21, 24, 33, 38, 52, 59],
        "town": ["Bonn", "Köln", "Bonn", "Bonn", "Lyon", "Rome"],
        "pay": [10, 20, 30, 40, 50, 60],
    }
)


@cache
def public_files(method: str = "mondrian") -> Mapping[str, bytes]:
    """The files of a release of six people, by name."""
    schema = uc.Schema(quasi_identifiers=["age", "town"], sensitive="pay")
    made = {"mondrian": uc.Mondrian(k=2), "anatomy": uc.Anatomy(l=3)}[method]
    with TemporaryDirectory() as folder:
        out = uc.save(uc.publish(ORIGINAL, schema, made, seed=1, policy="none"), Path(folder, "out"))
        return {file.name: file.read_bytes() for file in (out / "public").iterdir()}


def packed(files: Mapping[str, bytes], inside: str = "public/") -> bytes:
    """A zip of files, in a folder of it."""
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as target:
        for name, text in files.items():
            target.writestr(f"{inside}{name}", text)
    return content.getvalue()
