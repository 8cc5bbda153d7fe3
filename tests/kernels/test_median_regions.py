"""Median cuts into regions, one column at a time, against the kernel that looks at all of them."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.model.table import Table
from undercover.steps.cutting.median_regions import refine_regions
from undercover.steps.cutting.partition import kernel_arguments, partition
from undercover.steps.cutting.splits import MAX_SLOTS, refine


def both_ways(table: Table, k: int) -> None:
    """Leaves, bounds and the order of rows are the same."""
    found = []
    for kernel in (refine_regions, refine):
        _, rows, task, everything = kernel_arguments(table, k=k, checks=(), cut="median", recoding="regions")
        tried = np.empty((0, 0), np.uint16)
        leaves, pending, _ = kernel(rows, 0, table.n_rows, everything, task, table.n_rows, tried)
        assert not len(pending)
        found.append((leaves.tolist(), rows.ids.tolist()))
    assert found[0] == found[1]


@given(st.integers(0, 2**32), st.integers(1, 200), st.integers(1, 5), st.integers(1, 9), st.booleans())
def test_the_same_regions(seed: int, n: int, d: int, k: int, missing: bool) -> None:
    both_ways(random_table(seed, n, d, missing), min(k, n))


def random_table(seed: int, n: int, d: int, missing: bool) -> Table:
    """Numbers, sets, ordinal columns and trees with many ties, and weights that are often equal."""
    rng = np.random.default_rng(seed)
    data: dict[str, list[object]] = {}
    columns = {}
    for j in range(d):
        kind = rng.choice(["numeric", "set", "ordinal", "tree"])
        size = int(rng.integers(2, 9))
        codes = np.minimum(rng.integers(0, size, n), rng.integers(0, size, n))
        weight = float(rng.choice([1.0, 1.0, 0.5, 2.0]))
        if kind == "numeric":
            values: list[object] = [int(code) * int(rng.integers(1, 3)) for code in codes]
            columns[f"q{j}"] = uc.Column(weight=weight)
        else:
            values = [f"v{code}" for code in codes]
            labels = [f"v{i}" for i in range(size)]
            columns[f"q{j}"] = uc.Column(weight=weight)
            if kind == "ordinal":
                columns[f"q{j}"] = uc.Column(kind="ordinal", domain=tuple(labels), weight=weight)
            if kind == "tree":
                rows = [(label, f"g{i // 3}", f"h{i // 5 if i // 3 else 0}") for i, label in enumerate(labels)]
                rows = [(label, group) for label, group, _ in rows]
                columns[f"q{j}"] = uc.Column(hierarchy=uc.Hierarchy(rows), weight=weight)
        if missing and rng.random() < 0.5:
            values = [None if rng.random() < 0.2 else value for value in values]
        data[f"q{j}"] = values
    data["s"] = ["x"] * n
    schema = uc.Schema(
        quasi_identifiers=[f"q{j}" for j in range(d)], sensitive="s", columns=columns, missing="category"
    )
    kept = {
        name: pa.array(values) if any(v is not None for v in values) else pa.nulls(n, pa.string())
        for name, values in data.items()
    }
    return Table.from_arrow(pa.table(kept), schema)


def test_more_values_than_slots() -> None:
    rng = np.random.default_rng(5)
    n = 4 * MAX_SLOTS
    data = pa.table({"x": rng.permutation(n) // 2, "y": rng.integers(0, 3, n), "s": ["x"] * n})
    both_ways(Table.from_arrow(data, uc.Schema(quasi_identifiers=["x", "y"], sensitive="s")), 3)


def test_census_in_parts() -> None:
    """The threads' parts give what one piece gives."""
    table = Table.from_arrow(uc.datasets.census(50_000, seed=2), uc.datasets.census_schema())
    alone = partition(table, k=6, cut="median", recoding="regions", threads=1)
    shared = partition(table, k=6, cut="median", recoding="regions", threads=3)
    assert alone.bounds.tolist() == shared.bounds.tolist()
    assert alone.groups.labels.tolist() == shared.groups.labels.tolist()
    both_ways(table.take(np.arange(5000)), 6)
