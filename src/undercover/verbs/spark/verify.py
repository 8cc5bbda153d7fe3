"""Verify a DataFrame where it lies: rows that are written alike are counted by Spark, and the counts are checked here.

A guarantee looks at classes and at how often each has every sensitive value. That is one line for every combination of
published cells, exact, and far fewer than rows: of n rows in classes of k with m values each, at most n m / k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.engines.spark.coding import quoted
from undercover.errors import DataError, SchemaError, unknown
from undercover.forms.classes import Classes, classes_of_table
from undercover.forms.distribution import distribution_of
from undercover.forms.written import written
from undercover.guarantees.checking import Checkable
from undercover.guarantees.verify import Verification, verify_classes
from undercover.model.cells import EVERYTHING

MOST_LINES = 100_000_000
"""Combinations of published cells that are brought to one machine."""


def verify_frame(
    frame: Any, quasi_identifiers: Sequence[str], sensitive: Sequence[str], guarantees: Sequence[Checkable]
) -> Verification:
    """Check a DataFrame of Spark; a row whose every quasi-identifier is ``*`` counts as suppressed."""
    names = [*quasi_identifiers, *sensitive]
    problems = [unknown("Column", name, frame.columns) for name in names if name not in frame.columns]
    if problems:
        raise SchemaError(problems)
    lines = frame.groupBy(*map(quoted, names)).count().persist()
    try:
        many = lines.count()
        if many > MOST_LINES:
            raise DataError(
                f"The table has {many:,} different rows, more than the {MOST_LINES:,} that are looked at on one "
                "machine: hardly a class has two. Verify a table that is generalised."
            )
        data = lines.toArrow()
    finally:
        lines.unpersist()
    counts = np.asarray(data.column(len(names)).to_numpy(), dtype=np.int64)
    return verify_classes(_counted(data.select(names), quasi_identifiers, sensitive, counts), guarantees)


def _counted(
    data: pa.Table, quasi_identifiers: Sequence[str], sensitive: Sequence[str], counts: NDArray[np.int64]
) -> Classes:
    """The classes of a table that has every row once, and beside it how often it occurs."""
    once = classes_of_table(data, quasi_identifiers, sensitive, suppressed_is_star=True)
    hidden = once.labels < 0
    sizes = np.bincount(once.labels[~hidden], counts[~hidden], minlength=once.count).astype(np.int64)
    spread = {}
    for name in sensitive:
        column = written(data.column(name), nan_is_missing=True)
        unsaid = np.array([label == EVERYTHING for label in column.labels], dtype=bool)[column.codes] & hidden
        spread[name] = distribution_of(name, column, once.labels, once.count, counts, left_out=unsaid)
    return replace(once, sizes=sizes, suppressed=int(counts[hidden].sum()), sensitive=spread)
