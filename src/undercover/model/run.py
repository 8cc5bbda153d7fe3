"""What stays in the house: the release together with which row went where, timings and diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.model.form import Form
from undercover.model.groups import Groups
from undercover.model.release import PublishedTable, Release
from undercover.model.schema import Schema
from undercover.model.table import Table


@dataclass(frozen=True)
class Draft:
    """What a method hands back: published tables nobody has verified yet, and how the rows were grouped."""

    tables: tuple[PublishedTable, ...]
    groups: Groups
    form: Form
    buckets: NDArray[np.int32] | None = None
    suppressed: int = 0
    kept: NDArray[np.int64] | None = None  # rows of the table that are grouped, where some were suppressed
    dropped: tuple[str, ...] = ()  # quasi-identifiers that are not published
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    frames: Mapping[str, pa.Table] = field(default_factory=dict)
    claims: tuple[Any, ...] = ()  # promises that depend on what was made, beyond those of the method
    used: Mapping[str, Any] = field(default_factory=dict)  # public: what a recipient must know of how it was made
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """Private. The release and everything the holder may look at and nobody else.

    ``original`` is the encoded input; it is held in memory only and never written.
    """

    release: Release
    schema: Schema
    groups: Groups
    rows: NDArray[np.int64]  # (n_rows,) input row of each grouped row
    source: Mapping[str, Any]  # where the input came from: path, sha256, rows
    randomness: Mapping[str, Any]  # {"source": "os"} or {"source": "seed", "seed": 7}
    timings: Mapping[str, float]
    buckets: NDArray[np.int32] | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    frames: Mapping[str, pa.Table] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    requirements: tuple[Mapping[str, Any], ...] = ()  # what had to hold beyond the method's own claims
    original: Table | None = field(default=None, compare=False, repr=False)
    verification: Any = field(default=None, compare=False, repr=False)  # what was found when the run was made

    def __repr__(self) -> str:
        return (
            f"<Run of {self.release.method} on {len(self.rows):,} rows, private; "
            ".release may leave the house, undercover.save() writes both>"
        )
