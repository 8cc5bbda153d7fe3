"""Two states of the program beside each other: ``python -m benchmarks.pairs OTHER/.venv/bin/python``.

The other state is installed in an environment of its own. Both publish, attack and measure the same tables of the
built-in census, by names that both know, in processes that take turns; one pair after the other, so that what the
machine does meanwhile is met by both. Printed is, for every piece of work, the median over the pairs of the time here
by the time there, by the clock and by what all threads of the process used of processors: where others are at work on
the machine, the second is what to believe. Kernels are compiled or loaded before anything is timed.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

ROWS = 30_000
TIMES = 3  # in each process, of which the best counts
PAIRS = 7
LIMIT = 1.03
CLOCKS = {"clock": time.perf_counter, "processor": time.process_time}

Times = dict[str, dict[str, float]]
"""The seconds of every piece of work, by every clock."""


def methods(uc: Any) -> Iterator[tuple[str, Any]]:
    """Every method as it was before it had variants."""
    paper = {"variant": "paper"} if "variant" in inspect.signature(uc.MutualCover).parameters else {}
    yield "Mondrian", uc.Mondrian(k=10)
    yield "Mondrian, median", uc.Mondrian(k=10, cut="median")
    yield "Anatomy", uc.Anatomy(l=4)
    yield "Incognito", uc.Incognito(k=10, suppression=0.05)
    yield "Streamliner", uc.Streamliner(l=4)
    yield "MutualCover", uc.MutualCover(delta="1/4", l=4, **paper)
    yield "PerturbedGeneralization", uc.PerturbedGeneralization(k=6, p=0.3)
    yield "CrossBucket", uc.CrossBucket(k=5, l=4, **paper)


def seconds(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """How long something takes at best by every clock, and what it gives."""
    times = []
    for _ in range(TIMES):
        begun = [clock() for clock in CLOCKS.values()]
        given = work()
        times.append([clock() - first for clock, first in zip(CLOCKS.values(), begun, strict=True)])
    return dict(zip(CLOCKS, map(min, *times), strict=True)), given


def timed(rows: int) -> Times:
    """The seconds of every piece of work in this process, whatever state of the program it has."""
    import undercover as uc

    schema = uc.datasets.census_schema()
    few, people = (uc.datasets.census(count, seed=1) for count in (2_000, rows))
    unjudged = {"policy": "none"} if "policy" in inspect.signature(uc.publish).parameters else {}
    found: Times = {}
    for name, method in methods(uc):
        for table in (few, people):  # the first time compiles or loads
            took, run = seconds(partial(uc.publish, table, schema, method, seed=1, **unjudged))
            found[f"{name}: publish"] = took
            found[f"{name}: attack"], _ = seconds(partial(uc.attack, run))
            found[f"{name}: measure"], _ = seconds(partial(uc.measure, table, run))
    return found


def asked(python: str, rows: int) -> Times:
    """The same by another interpreter."""
    answer = subprocess.run([python, __file__, "--timed", str(rows)], check=True, capture_output=True, text=True)
    times: Times = json.loads(answer.stdout.splitlines()[-1])
    return times


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("other", nargs="?", help="the interpreter of an environment with the other state")
    given.add_argument("--rows", type=int, default=ROWS)
    given.add_argument("--pairs", type=int, default=PAIRS)
    given.add_argument("--timed", type=int, help=argparse.SUPPRESS)
    options = given.parse_args()
    if options.timed:
        print(json.dumps(timed(options.timed)))
        return
    if options.other is None or not Path(options.other).exists():
        given.error("name the interpreter of an environment in which the other state is installed")
    ratios: dict[str, dict[str, list[float]]] = {}
    for pair in range(options.pairs):
        turns = (sys.executable, options.other)
        times = {python: asked(python, options.rows) for python in (turns if pair % 2 else turns[::-1])}
        here, there = (times[python] for python in turns)
        for name, clock in product(here, CLOCKS):
            found = ratios.setdefault(name, {}).setdefault(clock, [])
            found.append(here[name][clock] / there[name][clock])
        print(f"pair {pair + 1} of {options.pairs}", file=sys.stderr, flush=True)
    for name, by_clock in ratios.items():
        held = "holds" if median(by_clock["clock"]) <= LIMIT else "MISSED"
        told = (f"{clock} {median(r):5.2f} ({min(r):.2f} to {max(r):.2f})" for clock, r in by_clock.items())
        print(f"{name:<34} {', '.join(told)}, {held}")


if __name__ == "__main__":
    main()
