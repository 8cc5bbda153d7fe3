"""Small random tables of every kind of column, with many ties, and random predicates on them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.steps.cutting.checks import Check

KINDS = ("integer", "float", "ordinal", "categorical", "tree", "date")
CHECK_KINDS = ("distinct", "frequency", "entropy", "recursive", "equal", "ordered", "hierarchical")


def random_hierarchy(rng: np.random.Generator, leaves: int, labels: list[str] | None = None) -> Hierarchy:
    """A tree of random depth and fan-out whose leaves are listed in random order."""
    names = labels or [f"v{i}" for i in range(leaves)]
    paths = [[name] for name in names]
    current = list(range(leaves))
    for level in range(int(rng.integers(0, 4))):
        width = max(1, leaves // int(rng.integers(2, 4)) ** (level + 1))
        above = rng.integers(0, width, size=leaves)
        current = [int(above[node]) for node in current]
        for path, node in zip(paths, current, strict=True):
            path.append(f"l{level}-{node}")
    return Hierarchy(paths[i] for i in rng.permutation(leaves))


def random_column(rng: np.random.Generator, kind: str, n: int, values: int) -> tuple[list[Any], Column]:
    """``n`` skewed values out of ``values``, and the settings of such a column."""
    weight = float(rng.choice([1.0, 1.0, 1.0, 0.5, 2.0, 0.3]))
    draws = np.minimum(rng.integers(0, values, n), rng.integers(0, values, n)) if rng.random() < 0.5 else None
    picks = (rng.integers(0, values, n) if draws is None else draws).tolist()
    if kind in ("integer", "float", "date"):
        steps = rng.integers(1, 4, values) if rng.random() < 0.5 else np.ones(values, dtype=int)
        scale = np.cumsum(steps)
        if kind == "integer":
            return [int(scale[p]) for p in picks], Column(weight=weight)
        if kind == "float":
            return [float(scale[p]) / 4 - 1 for p in picks], Column(weight=weight)
        start = datetime.date(1970, 1, 1)
        return [start + datetime.timedelta(days=int(scale[p])) for p in picks], Column(weight=weight)
    labels = [f"v{p}" for p in picks]
    if kind == "ordinal":
        domain = tuple(f"v{i}" for i in rng.permutation(values))
        return labels, Column(kind="ordinal", weight=weight, domain=domain)
    if kind == "tree":
        return labels, Column(weight=weight, hierarchy=random_hierarchy(rng, values + int(rng.integers(0, 3))))
    return labels, Column(weight=weight)


def random_table(
    rng: np.random.Generator, *, n: int, d: int, values: int, missing: bool = False, kinds: tuple[str, ...] = KINDS
) -> Table:
    """``d`` quasi-identifiers and the sensitive columns ``s`` (with a hierarchy) and ``t`` (a number)."""
    data: dict[str, list[Any]] = {}
    settings: dict[str, Column] = {}
    names = [f"q{j}" for j in range(d)]
    for j, name in enumerate(names):
        if j and rng.random() < 0.15:  # the same column again: every cut is tied with one of the other
            data[name], settings[name] = list(data[names[j - 1]]), settings[names[j - 1]]
            continue
        data[name], settings[name] = random_column(rng, str(rng.choice(kinds)), n, int(rng.integers(1, values + 1)))
    data["s"] = [f"v{p}" for p in np.minimum(rng.integers(0, 5, n), rng.integers(0, 5, n))]
    settings["s"] = Column(hierarchy=random_hierarchy(rng, 5))
    data["t"] = rng.integers(0, 4, n).tolist()
    if missing:
        for column in data.values():
            for row in np.flatnonzero(rng.random(n) < 0.1):
                column[row] = None
        for column in data.values():
            if all(value is None for value in column[1:]):
                column[:] = ["v0"] * n
    return Table.from_arrow(
        pa.table(data),
        Schema(quasi_identifiers=names, sensitive=["s", "t"], columns=settings, missing="category"),
    )


def random_checks(rng: np.random.Generator, count: int) -> list[Check]:
    """Predicates a small table often satisfies and its parts often do not."""
    checks = []
    for _ in range(count):
        kind = str(rng.choice(CHECK_KINDS))
        column = "s" if kind == "hierarchical" else str(rng.choice(["s", "t"]))
        limit: float = {
            "distinct": float(rng.integers(2, 4)),
            "frequency": float(rng.choice([1.25, 1.5, 2.0, 2.5])),
            "entropy": float(rng.choice([1.5, 2.0, 2.5])),
            "recursive": float(rng.integers(1, 4)),
        }.get(kind, float(rng.choice([0.1, 0.2, 0.25, 0.3, 0.4])))
        c = float(rng.choice([0.9, 1.1, 2.0, 3.0])) if kind == "recursive" else 0.0
        checks.append(Check(column=column, kind=kind, limit=limit, c=c))
    return checks
