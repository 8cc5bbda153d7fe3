"""The folder of an experiment: its journal, a tidy CSV, everything as JSON, and a page.

Files appear whole or not at all. The journal has every finished cell, on the disk before the next one starts: one JSON
object per line. The first line names the experiment; each other one is a finished cell under its key, a hash of all
that its values depend on. A line that was cut off when the machine stopped is dropped, so a journal can always be
continued. Cells of other data or parameters stay in it and are found again when those are asked for.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from undercover.errors import OutputError, unreadable, unwritable
from undercover.io.plain import as_json, plain
from undercover.pages.experiment import experiment_html
from undercover.parsing import MALFORMED, json_of
from undercover.studies.experiments.experiment import COLUMNS, Cell, Experiment
from undercover.system import open_to_lock
from undercover.version import VERSION
from undercover.whole import clear_away, locked, new_private, write_whole

RESULTS = ("results.csv", "results.json", "experiment.html")
JOURNAL = "cells.jsonl"
_BEGINS = b'{"experiment": "'


def write_results(results: Mapping[str, Any], out: Path, *, private: bool) -> None:
    """Write the three files of an experiment into an existing folder."""
    contents = (tidy_csv(results), as_json(results), experiment_html(results))
    for name, content in zip(RESULTS, contents, strict=True):
        write_whole(out / name, content, private=private)


@contextmanager
def folder_of(
    out: Path, mark: str, files: Sequence[str], writer: str, *, private: bool, fresh: bool = False
) -> Iterator[None]:
    """Make the folder, or see that it is one of ours, and hold it: nobody else writes there meanwhile.

    What a kill left in it is removed. That of somebody's table is for its holder alone.
    """
    try:
        if not out.exists():
            out.mkdir(parents=True, mode=0o700 if private else 0o777)
        if not out.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        handle = open_to_lock(out)
    except OSError as error:
        raise OutputError(f"`{out}` cannot be used: {error.strerror or error}.") from error
    try:
        if locked(handle, wait=False) == "taken":
            raise OutputError(f"Somebody else writes to `{out}` at this moment. Wait, or choose another with --out.")
        try:
            for name in (mark, *files):
                clear_away(out / name)
            if not _is_ours(out, mark, files):
                raise OutputError(f"`{out}` was not written by {writer}. It is left alone: choose another with --out.")
            for name in (*files, mark) if fresh else ():
                (out / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"`{out}` cannot be used: {error.strerror or error}.") from error
        yield
    finally:
        os.close(handle)


def _is_ours(out: Path, mark: str, files: Sequence[str]) -> bool:
    """Whether a folder is empty, or bears a mark of ours; of several experiments, whether each of them does."""
    found = {path.name for path in out.iterdir()}
    if mark not in found:
        return all(name in files and (out / name / JOURNAL).is_file() for name in found)
    content = (out / mark).read_bytes()
    if mark != JOURNAL:
        return b'"made_with"' in content
    return _BEGINS.startswith(content[: len(_BEGINS)])  # less of it where the first line was cut off


def tidy_csv(results: Mapping[str, Any]) -> str:
    """One line per measured value."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(results["rows"])
    return text.getvalue()


@dataclass(frozen=True)
class Finished:
    """What became of a cell: values, or the reason why there are none."""

    values: Mapping[str, Any]  # of an experiment numbers, of a comparison words, too
    refused: str | None
    seconds: float


def cell_key(experiment: Experiment, cell: Cell) -> str:
    """What a finished cell is found by: a hash of everything its values depend on."""
    content = {
        "undercover": VERSION,
        "experiment": experiment.name,
        "version": experiment.version,
        "data": experiment.data,
        "settings": experiment.settings,
        "figure": cell.figure,
        "series": cell.series,
        "x": cell.x,
        "repetition": cell.repetition,
        "parameters": cell.parameters,
    }
    return hashlib.sha256(json.dumps(plain(content), sort_keys=True).encode()).hexdigest()


class Journal:
    """The finished cells of one folder."""

    def __init__(self, path: Path, experiment: str, *, private: bool = False) -> None:
        self.path = path
        self._private = private
        self.experiment = experiment
        self.finished: dict[str, Finished] = {}
        self._whole = 0  # bytes of the file that are whole lines
        if path.exists():
            self._read()

    def __enter__(self) -> Journal:
        try:
            self._stream = open(self.path, "ab", buffering=0, opener=new_private if self._private else None)
            self._stream.truncate(self._whole)
        except OSError as error:
            raise OutputError(unwritable(f"`{self.path}`", error)) from error
        if not self._whole:
            self._append({"experiment": self.experiment})
        return self

    def __exit__(self, *exception: object) -> None:
        self._stream.close()

    def add(self, key: str, finished: Finished, about: Mapping[str, Any]) -> None:
        """Write one finished cell through to the disk."""
        self._append(
            {
                "key": key,
                **about,
                "values": dict(finished.values),
                "refused": finished.refused,
                "seconds": finished.seconds,
            }
        )
        self.finished[key] = finished

    def _append(self, content: Mapping[str, Any]) -> None:
        line = (json.dumps(plain(content), ensure_ascii=False, allow_nan=False) + "\n").encode()
        try:
            while line:  # a disk that fills up takes a part of it
                line = line[self._stream.write(line) :]
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise OutputError(unwritable(f"`{self.path}`", error)) from error

    def _read(self) -> None:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise OutputError(unreadable(f"`{self.path}`", error)) from error
        for number, line in enumerate(content.splitlines(keepends=True)):
            if not line.endswith(b"\n"):
                break  # cut off while it was written
            try:
                entry = json_of(line)
                if number:
                    found = Finished(entry["values"], entry["refused"], entry["seconds"])
                    self.finished[str(entry["key"])] = TypeAdapter(Finished).validate_python(vars(found))
                elif entry["experiment"] != self.experiment:
                    raise OutputError(
                        f"`{self.path.parent}` holds the experiment `{entry['experiment']}`. "
                        "Choose another folder with --out, or replace it with --fresh."
                    )
            except MALFORMED as error:
                raise OutputError(
                    f"Line {number + 1} of `{self.path}` is not of a journal. "
                    "Choose another folder with --out, or start anew with --fresh."
                ) from error
            self._whole += len(line)
