"""The local engine: this process, on all cores it may use."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from undercover.model.table import Table

T = TypeVar("T")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class LocalEngine:
    """Runs everything here."""

    name: ClassVar[str] = "local"
    threads: int = field(default_factory=_cores)

    def histogram(self, table: Table, column: str) -> NDArray[np.int64]:
        """Rows of each code of ``column``."""
        return np.bincount(table[column].codes, minlength=table[column].domain.size)

    def map_parts(self, table: Table, work: Callable[[Table], T]) -> list[tuple[NDArray[np.int64], T]]:
        """Call ``work`` on the whole table, the only part there is."""
        return [(np.arange(table.n_rows), work(table))]
