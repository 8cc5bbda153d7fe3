"""The journal of an experiment: every finished cell, on the disk before the next one starts.

One JSON object per line. The first line names the experiment; each other one is a finished cell under its key, a hash
of all that its values depend on. A line that was cut off when the machine stopped is dropped, so a journal can always
be continued. Cells of other data or parameters stay in it and are found again when those are asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from undercover.errors import OutputError
from undercover.io.plain import plain
from undercover.studies.experiments.experiment import Cell, Experiment
from undercover.version import VERSION

JOURNAL = "cells.jsonl"


@dataclass(frozen=True)
class Finished:
    """What became of a cell: values, or the reason why there are none."""

    values: Mapping[str, float]
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

    def __init__(self, path: Path, experiment: str) -> None:
        self.path = path
        self.experiment = experiment
        self.finished: dict[str, Finished] = {}
        self._whole = 0  # bytes of the file that are whole lines
        if path.exists():
            self._read()

    def __enter__(self) -> Journal:
        try:
            self._stream = open(self.path, "ab")
            self._stream.truncate(self._whole)
        except OSError as error:
            raise OutputError(f"`{self.path}` cannot be written: {error.strerror or error}.") from error
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
        line = json.dumps(plain(content), ensure_ascii=False, allow_nan=False) + "\n"
        try:
            self._stream.write(line.encode())
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise OutputError(f"`{self.path}` cannot be written: {error.strerror or error}.") from error

    def _read(self) -> None:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise OutputError(f"`{self.path}` cannot be read: {error.strerror or error}.") from error
        for number, line in enumerate(content.splitlines(keepends=True)):
            if not line.endswith(b"\n"):
                break  # cut off while it was written
            try:
                entry = json.loads(line)
                if number:
                    self.finished[entry["key"]] = Finished(entry["values"], entry["refused"], entry["seconds"])
                elif entry["experiment"] != self.experiment:
                    raise OutputError(
                        f"`{self.path.parent}` holds the experiment `{entry['experiment']}`. "
                        "Choose another folder with --out, or replace it with --fresh."
                    )
            except (ValueError, KeyError, TypeError) as error:
                raise OutputError(
                    f"Line {number + 1} of `{self.path}` is not of a journal. "
                    "Choose another folder with --out, or start anew with --fresh."
                ) from error
            self._whole += len(line)
