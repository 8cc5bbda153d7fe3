"""The files an experiment leaves: a tidy CSV, everything as JSON, and a page. Each appears whole or not at all."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from undercover.errors import OutputError
from undercover.io.plain import as_json
from undercover.pages.experiment import experiment_html
from undercover.studies.experiments.rows import COLUMNS

RESULTS = ("results.csv", "results.json", "experiment.html")


def write_results(results: Mapping[str, Any], out: Path) -> None:
    """Write the three files of an experiment into an existing folder."""
    contents = (tidy_csv(results), as_json(results), experiment_html(results))
    for name, content in zip(RESULTS, contents, strict=True):
        write_whole(out / name, content)


def open_folder(out: Path, mark: str, files: Sequence[str], writer: str, *, private: bool, fresh: bool = False) -> None:
    """Make the folder, or see that it is one of ours; that of somebody's table is for its holder alone.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "thesis.tex").touch()
    ...     open_folder(Path(folder), "cells.jsonl", RESULTS, "an experiment", private=False)
    Traceback (most recent call last):
    undercover.errors.OutputError: `...` was not written by an experiment. It is left alone: choose another with --out.
    """
    try:
        if not out.exists():
            out.mkdir(parents=True, mode=0o700 if private else 0o777)
        found = {path.name for path in out.iterdir()}
        if mark not in found and found - set(files):
            raise OutputError(f"`{out}` was not written by {writer}. It is left alone: choose another with --out.")
        for name in (mark, *files) if fresh else ():
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"`{out}` cannot be used: {error.strerror or error}.") from error


def tidy_csv(results: Mapping[str, Any]) -> str:
    """One line per measured value.

    >>> row = dict(experiment="e", figure="f", series="a, b", x=1, measure="m", value=0.5, repetition=0)
    >>> print(tidy_csv({"rows": [row]}), end="")
    experiment,figure,series,x,measure,value,repetition
    e,f,"a, b",1,m,0.5,0
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(results["rows"])
    return text.getvalue()


def write_whole(path: Path, content: str) -> None:
    """Write beside the place, sync, and rename: whoever reads sees the old file or the new one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "a.txt"), "whole")
    ...     Path(folder, "a.txt").read_text(), len(os.listdir(folder))
    ('whole', 1)
    """
    unfinished = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    try:
        with open(unfinished, "w", encoding="utf-8", newline="") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise OutputError(f"`{path}` cannot be written: {error.strerror or error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)
