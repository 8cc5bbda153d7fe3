"""Timing and bookkeeping: the best of a few runs, figures with their limits, peak memory of a call."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from undercover.studies.compare.bench import peak_growth


@dataclass(frozen=True)
class Figure:
    """One figure and what it must reach; ``limit`` is None where nothing was promised."""

    name: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the limit is kept."""
        return None if self.limit is None else self.value <= self.limit


class Book:
    """Prints figures as they come and writes them to ``bench.json``."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []

    def add(self, name: str, value: float, unit: str, limit: float | None = None, *, note: str = "") -> None:
        figure = Figure(name, round(float(value), 6), unit, limit)
        self.figures.append(figure)
        verdict = {None: "", True: "holds", False: "MISSED"}[figure.holds]
        shown = f"{value:.4f}" if abs(value) < 0.1 else f"{value:,.2f}"
        bound = "" if limit is None else f"limit {limit:g}"
        print(f"{name:<62} {shown:>12} {unit:<10} {bound:<12} {verdict:<7} {note}", flush=True)

    def section(self, title: str) -> None:
        print(f"\n{title}", flush=True)

    def write(self, path: Path) -> None:
        entries = [asdict(figure) | {"holds": figure.holds} for figure in self.figures]
        path.write_text(json.dumps(entries, indent=2) + "\n")


def best(call: Callable[[], Any], repeats: int = 3) -> float:
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def side_by_side(call: Callable[[], Any], reference: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """Fastest seconds of both, run in turns so that a noisy neighbour hits them alike."""
    first, second = [], []
    for _ in range(repeats):
        first.append(best(call, 1))
        second.append(best(reference, 1))
    return min(first), min(second)


def peak_memory(call: Callable[[], Any]) -> int:
    """Bytes by which the process grows at its peak during ``call`` (Linux with glibc)."""
    _, grown = peak_growth(call)
    if grown is None:
        raise OSError("The peak memory of a call can be measured on Linux only.")
    return grown
