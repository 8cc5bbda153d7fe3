"""Counts from a QIT with generalised cells: against every table that fits, and against the original."""

from collections import Counter
from itertools import permutations, product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.model.form import Buckets
from undercover.model.release import PublishedColumn, PublishedTable, Release

BUCKET, COUNT = (PublishedColumn(name, "structure", "value") for name in ("bucket", "count"))


def crossed(cells: list[tuple[int, int]], buckets: list[int], values: list[str]) -> Release:
    ages = [str(low) if low == high else f"[{low}, {high}]" for low, high in cells]
    pairs = Counter(zip(buckets, values, strict=True))
    sat = {"bucket": [b for b, _ in pairs], "ill": [v for _, v in pairs], "count": list(pairs.values())}
    return Release(
        "cross-bucket",
        {},
        (
            PublishedTable(
                "qit",
                (PublishedColumn("age", "quasi-identifier", "interval"), BUCKET),
                pa.table({"age": ages, "bucket": buckets}),
            ),
            PublishedTable("sat", (BUCKET, PublishedColumn("ill", "sensitive", "value"), COUNT), pa.table(sat)),
        ),
        False,
        form=Buckets(),
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 1), st.sampled_from("ab")),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 4),
    st.integers(0, 2),
)
def test_bounds_are_those_of_all_tables_that_fit(rows: list[tuple[int, int, int, str]], low: int, wide: int) -> None:
    cells = [(age, age + more) for age, more, _, _ in rows]
    buckets, values = [row[2] for row in rows], [row[3] for row in rows]
    where: dict[str, Any] = {"age": uc.Between(low, low + wide), "ill": "a"}
    release = crossed(cells, buckets, values)
    if "a" not in values:
        return
    found = uc.answer(release, uc.CountQuery(where=where), domains={"age": range(6)})
    members = [[row for row, own in enumerate(buckets) if own == bucket] for bucket in sorted(set(buckets))]
    counts = set()
    for ages in product(*(range(first, last + 1) for first, last in cells)):
        for orders in product(*(permutations([values[row] for row in part]) for part in members)):
            given_values = dict(
                zip((row for part in members for row in part), (v for o in orders for v in o), strict=True)
            )
            counts.add(sum(low <= age <= low + wide and given_values[row] == "a" for row, age in enumerate(ages)))
    assert (found.lower, found.upper) == (min(counts), max(counts))
    assert found.lower - 1e-9 <= found.estimate <= found.upper + 1e-9


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("hierarchies", [False, True])
def test_true_counts_lie_within_the_bounds(joined: bool, hierarchies: bool) -> None:
    people = uc.datasets.census(600, seed=4)
    schema = uc.datasets.census_schema(["age", "sex", "marital_status"], "salary", hierarchies=hierarchies)
    run = uc.publish(people, schema, uc.CrossBucket(k=3, l=5, joined=joined))
    frame = people.to_pandas()
    recipient = uc.Recipient(run.release, run.original)
    for low in range(20, 70, 7):
        for sex in ("Female", "Male"):
            query = {"age": uc.Between(low, low + 9), "sex": sex, "salary": uc.Between(high=30_000)}
            found = recipient.answer(uc.CountQuery(where=query))
            inside = frame["age"].between(low, low + 9) & (frame["sex"] == sex)
            truth = int((inside & (frame["salary"] <= 30_000)).sum())
            assert found.lower <= truth <= found.upper
    assert recipient.answer(uc.CountQuery(where={"salary": uc.Between(high=30_000)})).lower == int(
        (frame["salary"] <= 30_000).sum()
    )


def test_query_errors_can_be_measured() -> None:
    people = uc.datasets.census(600, seed=4)
    schema = uc.datasets.census_schema(["age", "sex"], "income", hierarchies=False)
    run = uc.publish(people, schema, uc.CrossBucket(k=3, l=4), seed=1)
    assert run.original is not None
    found = uc.QueryError(quasi_identifiers=(("age", "sex"),), queries=200).of_release(run.original, run.release)
    assert 0 < found["age", "sex"].mean < 2
