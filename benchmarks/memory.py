"""Peak memory of the whole command with eight quasi-identifiers, and with a column that is different for everybody.

Every run is a process of its own, whose peak is that of all its pages; ``LIMIT`` bytes for each row are allowed beyond
``START``. Memory that grew with the square of distinct values would miss that by orders of magnitude.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import undercover as uc
from benchmarks.measure import Book

START = 300e6
"""Bytes of the program itself, however small the table is."""
LIMIT = 250
"""Bytes for every row beyond."""
_CHILD = """
import os, resource, sys
child = os.posix_spawn(sys.executable, [sys.executable, "-m", "undercover", *sys.argv[1:]], os.environ)
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss * 1024, os.waitstatus_to_exitcode(status))
"""
QUASI = "age,sex,education,marital_status,race,work_class,birthplace,hours"


def peak_of(*arguments: str) -> float:
    """Bytes that a command needed at once."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, *arguments], capture_output=True, text=True, check=True, env={**os.environ}
    )
    peak, code = done.stdout.split()[-2:]
    if int(code):
        raise RuntimeError(f"undercover ended with {code}: {done.stderr[-2000:]}")
    return float(peak)


def memory(book: Book, rows: int) -> None:
    """Streamliner and Mondrian with eight quasi-identifiers, and Mondrian beside a column of different texts."""
    book.section(f"Peak memory of the whole command, {rows:,} rows, eight quasi-identifiers, {LIMIT} bytes/row allowed")
    people = uc.datasets.census(rows, seed=1)
    notes = pa.array([f"n{number:08d}" for number in np.random.default_rng(0).permutation(rows)])
    with tempfile.TemporaryDirectory() as folder:
        plain, noted = Path(folder, "plain.parquet"), Path(folder, "noted.parquet")
        pq.write_table(people, plain)
        pq.write_table(people.append_column("note", notes), noted)
        del people, notes
        common = ["--qi", QUASI, "--sensitive", "income", "--drop", "*", "--format", "parquet", "--policy", "none"]
        runs = {
            "streamliner": [str(plain), "--method", "streamliner", "--set", "l=5"],
            "mondrian": [str(plain), "--method", "mondrian", "--set", "k=10"],
            "mondrian, an all-different insensitive column": [
                *(str(noted), "--method", "mondrian", "--set", "k=10", "--insensitive", "note"),
            ],
        }
        for place, (name, options) in enumerate(runs.items()):
            needed = peak_of("publish", *options, *common, "--quiet", "--out", str(Path(folder, f"out{place}")))
            each = (needed - START) / rows
            note = f"{needed / 1e6:,.0f} MB in all"
            book.add(f"{name}: bytes/row beyond {START / 1e6:.0f} MB / {LIMIT}", each / LIMIT, "x", 1.0, note=note)


def main() -> None:
    """Only these figures, into build/memory.json."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    book = Book()
    memory(book, rows)
    place = Path("build/memory.json")
    place.parent.mkdir(exist_ok=True)
    book.write(place)


if __name__ == "__main__":
    main()
