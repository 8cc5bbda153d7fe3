"""The Spark engine on two cores of one machine against the local engine: Parquet to a saved release with its report.

``python -m benchmarks.spark --rows 10000000``. Both read the same file and write Parquet; Spark is started, and both
have published a small table, before anything is timed. Processor time is that of this process and of all it started.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import undercover as uc
from benchmarks.measure import Book
from undercover.engines.spark.engine import SparkEngine

TIMES = 3
"""What Spark may take, in times of the local engine."""
QUASI = tuple(f"q{number}" for number in range(8))
_SIZES = (75, 2, 16, 7, 14, 5, 40, 99)
_TICKS = os.sysconf("SC_CLK_TCK")


def spark(book: Book, rows: int) -> None:
    book.section(f"Spark on two cores against the local engine: Mondrian, {rows:,} rows, 8 quasi-identifiers")
    schema = uc.Schema(quasi_identifiers=QUASI, sensitive="disease")
    engine = SparkEngine(threads=2, parts=max(2, rows // 1_000_000))
    with tempfile.TemporaryDirectory() as folder:
        people = Path(folder, "people.parquet")

        def publish(where: Any, out: str) -> None:
            run = uc.publish(people, schema, uc.Mondrian(k=10), engine=where, policy="none")
            uc.save(run, Path(folder, out), format="parquet", force=True)

        generate(people, 20_000)
        for where in (engine, "local"):
            publish(where, "small")
        generate(people, rows)
        there = _spent(lambda: publish(engine, "large"), _processor_time)
        here = _spent(lambda: publish("local", "large"), time.process_time)
    for name, spark_, local in zip(("wall time", "processor time"), there, here, strict=True):
        book.add(f"Spark / local, {name}", spark_ / local, "times", TIMES, note=f"{spark_:.1f} s and {local:.1f} s")


def generate(path: Path, rows: int) -> None:
    """People who do not exist, in row groups that several tasks can read."""
    draw = np.random.default_rng(0)
    columns = {name: pa.array(draw.integers(0, size, rows)) for name, size in zip(QUASI, _SIZES, strict=True)}
    ills = pa.array([f"ill {number}" for number in range(20)])
    columns["disease"] = pa.DictionaryArray.from_arrays(pa.array(draw.integers(0, 20, rows), pa.int32()), ills)
    pq.write_table(pa.table(columns), path, row_group_size=max(rows // 8, 1))


def _spent(call: Callable[[], None], processor_time: Callable[[], float]) -> tuple[float, float]:
    """Seconds by the clock, and of processors."""
    started, used = time.perf_counter(), processor_time()
    call()
    return time.perf_counter() - started, processor_time() - used


def _processor_time() -> float:
    """Of this process and of those it started, those that have ended included."""
    parents, ticks = {}, {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(process)], ticks[int(process)] = int(fields[1]), sum(map(int, fields[11:15]))
    family = [os.getpid()]
    for one in family:
        family += [child for child, parent in parents.items() if parent == one]
    return sum(ticks[one] for one in family) / _TICKS


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    spark(Book(), parser.parse_args().rows)
