"""``make bench-large``: the whole command, Parquet to Parquet with report, on one, ten and a hundred million rows.

Every run is a process of its own: wall and processor time, peak memory, seconds beyond the release (attacking,
measuring, drawing, writing, and starting the program, which one run of 1,000 rows shows apart), and over the sizes the
growth exponent: 1 where twice the rows take twice the time. Options: ``--rows``, ``--only`` (beginnings of names),
``--columns`` (quasi-identifiers and one sensitive column), ``--folder`` for tables and releases, ``--memory``.

Rows are drawn block by block, so that making the table takes no more memory than a block.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Book
from benchmarks.peers.run import limited

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "wrap": ("streamliner", {"algorithm": "wrap", "l": 5}),
    "guided": ("streamliner", {"algorithm": "guided", "l": 5}),
    "anatomy": ("anatomy", {"l": 5}),
    "mondrian": ("mondrian", {"k": 10, "l": 5}),
    "incognito": ("incognito", {"k": 10, "l": 5}),
    "perturbed": ("perturbed-generalization", {"k": 10, "p": 0.3}),
}
SIZES = (75, 2, 16, 7, 40, 5, 99, 60)
"""Different values of the quasi-identifiers; the fourth is of texts, the others are numbers."""
VALUES = 40
"""Different values of the sensitive column, the most frequent of which has a tenth of the rows."""
BLOCK = 1_000_000
LIMITS = {("wrap", 100_000_000): 300.0, ("mondrian", 10_000_000): 150.0}
"""Seconds of the whole command that were promised."""
GIGABYTES = 16
PER_ROW = 250
"""Bytes of every row beyond the first million."""
GROWTH = 1.1
ADDRESSES = 1_000_000
"""Gigabytes of addresses, of which drawing reserves many and uses few: no limit."""


def write_people(path: Path, rows: int, columns: int) -> None:
    """A table of so many rows; every block is drawn from its own seed."""
    share = 1 / np.arange(1, VALUES + 1) ** 0.6
    words, names = pa.array([f"disease {number:02d}" for number in range(VALUES)]), range(columns - 1)
    towns = pa.array([f"town {number}" for number in range(SIZES[3])])
    writer = None
    for start in range(0, rows, BLOCK):
        random, count = np.random.default_rng([1, start]), min(BLOCK, rows - start)
        drawn = [np.minimum((random.beta(2, 3, count) * SIZES[one]).astype(np.int64), SIZES[one] - 1) for one in names]
        block = {f"q{one}": towns.take(pa.array(codes)) if one == 3 else codes for one, codes in enumerate(drawn)}
        block["disease"] = words.take(pa.array(random.choice(VALUES, count, p=share / share.sum())))
        table = pa.table(block)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def write_spec(path: Path, method: str, parameters: dict[str, Any], columns: int) -> None:
    """What is published how; the domain is declared, as perturbation asks."""
    quasi = ", ".join(f'"q{number}"' for number in range(columns - 1))
    domain = ", ".join(f'"disease {number:02d}"' for number in range(VALUES))
    given = "\n".join(f"{name} = {json.dumps(value)}" for name, value in parameters.items())
    path.write_text(
        f'[roles]\nquasi_identifiers = [{quasi}]\nsensitive = ["disease"]\n\n[columns.disease]\ndomain = [{domain}]\n\n'
        f'[method]\nname = "{method}"\n{given}\n'
    )


def one_run(name: str, rows: int, options: argparse.Namespace) -> dict[str, Any]:
    """The whole command on a table: how it ended, its times and its peak; the release is removed."""
    folder: Path = options.folder
    table, spec, out = folder / f"people-{rows}-{options.columns}.parquet", folder / f"{name}.toml", folder / name
    if not table.exists():
        write_people(table.with_suffix(".part"), rows, options.columns)
        table.with_suffix(".part").rename(table)
    write_spec(spec, *METHODS[name], options.columns)
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "undercover", "publish", str(table), "--spec", str(spec), "--out", str(out)]
    command += ["--format", "parquet", "--policy", "none", "--quiet"]
    command += ["--memory", options.memory] if options.memory else []
    found = limited(command, options.limit, ADDRESSES, folder / f"{name}.log", dict(os.environ))
    if found["outcome"] == "finished":
        timings = json.loads((out / "private" / "run.json").read_text())["timings"]
        found |= {"stages": timings, "beyond": found["process_wall"] - sum(timings.values())}
    shutil.rmtree(out, ignore_errors=True)
    return found


def exponent(first: tuple[int, float], last: tuple[int, float]) -> float:
    """How fast time grows with rows: 1 where twice the rows take twice the time.

    >>> round(exponent((1_000_000, 5.0), (100_000_000, 500.0)), 3)
    1.0
    """
    return math.log(last[1] / first[1]) / math.log(last[0] / first[0])


def large(book: Book, sizes: Sequence[int], names: Sequence[str], options: argparse.Namespace) -> None:
    """Every method on every size; figures as they come."""
    for name in names:
        runs = {}
        for rows in sizes:
            found = one_run(name, rows, options)
            if found["outcome"] != "finished":
                print(f"{name}, {rows:,} rows: {found['outcome']}", flush=True)
                break
            runs[rows] = found
            stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in found["stages"].items())
            title, gigabytes = f"{name}, {rows:,} rows", found["peak_megabytes"] / 1024
            book.add(f"{title}: wall", found["process_wall"], "s", LIMITS.get((name, rows)), note=stages)
            book.add(f"{title}: processor", found["process_processor"], "s")
            book.add(f"{title}: beyond the release, all of it", found["beyond"], "s")
            book.add(f"{title}: peak memory", gigabytes, "GB", GIGABYTES)
        if len(runs) > 1:
            (few, first), (many, last) = min(runs.items()), max(runs.items())
            grown = exponent((few, first["process_wall"]), (many, last["process_wall"]))
            more = (last["peak_megabytes"] - first["peak_megabytes"]) * 2**20 / (many - few)
            limits = (GROWTH, PER_ROW) if few >= BLOCK else (None, None)  # below, starting is most of it
            book.add(f"{name}: growth exponent of wall time, {few:,} to {many:,}", grown, "", limits[0])
            book.add(f"{name}: memory of a further row", more, "bytes", limits[1])


def main() -> None:
    """Parse and run."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rows", default="1000000,10000000,100000000", help="by commas, ascending")
    asked.add_argument("--only", default="", help="beginnings of names, by commas")
    asked.add_argument("--columns", type=int, default=6, choices=range(2, len(SIZES) + 2))
    asked.add_argument("--folder", type=Path, default=Path("build/large"))
    asked.add_argument("--limit", type=float, default=3600, help="seconds of a run")
    asked.add_argument("--memory", default="", help="handed on to the command")
    options = asked.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in METHODS if name.startswith(tuple(options.only.split(",")))]
    book = Book()
    book.section(f"The whole command, {options.columns} columns, Parquet to Parquet with report, a process each")
    started = one_run("mondrian", 1_000, options)
    book.add("starting, and a report of 1,000 rows", started["process_wall"], "s")
    large(book, [int(rows) for rows in options.rows.split(",")], names, options)
    book.write(options.folder / "large.json")


if __name__ == "__main__":
    main()
