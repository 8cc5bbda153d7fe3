"""The nearest row against a plain twin, and what it finds where nobody knows groups or tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")
COVER = uc.MutualCover(variant="paper", delta="1/2", l=2)


def table(n: int = 40) -> pa.Table:
    return pa.table(
        {
            "age": [20 + (7 * i) % 31 for i in range(n)],
            "sex": ["f" if i % 3 else "m" for i in range(n)],
            "ill": [f"s{(5 * i) % 7}" for i in range(n)],
        }
    )


def plainly(run: Any, known: Sequence[str]) -> tuple[list[float], list[float]]:
    """Row by row and cell by cell, with distances written out: years over 30, sexes 0 or 1."""
    people, published = table().to_pylist(), run.release.published().data.to_pylist()
    own = dict(
        zip(*(run.frames["published_rows"].column(name).to_pylist() for name in ("row", "published")), strict=True)
    )
    ages = [person["age"] for person in people]
    width = max(ages) - min(ages)
    found, differing = [], []
    for i, person in enumerate(people):
        distance = []
        for row in published:
            apart = 0.0
            if "age" in known:
                apart += abs(person["age"] - row["age"]) / width
            if "sex" in known:
                apart += person["sex"] != row["sex"]
            distance.append(apart)
        for list_, candidates in ((found, distance), (differing, [d if d > 1e-9 else 99.0 for d in distance])):
            nearest = [j for j, d in enumerate(candidates) if d <= min(candidates) + 1e-9]
            list_.append(int(own[i] in nearest) / len(nearest))
    return found, differing


@pytest.mark.parametrize("known", [("age", "sex"), ("age",), ("sex",)])
def test_the_nearest_row_is_the_one_a_plain_search_finds(known: tuple[str, ...]) -> None:
    run = uc.publish(table(), SCHEMA, COVER, seed=3)
    found = uc.attack(run, uc.NearestRow(known=known))
    first, differing = plainly(run, known)
    assert found.identity["nearest"].tolist() == pytest.approx(first)
    assert found.identity["nearest that differs"].tolist() == pytest.approx(differing)
    assert found.best in found.identity


def test_rows_in_their_order_and_as_they_were_are_all_found() -> None:
    """Nothing is moved: delta = 1 lets everything through. Then everybody with a value of his own is found."""
    data = pa.table({"age": list(range(30)), "sex": ["f"] * 30, "ill": [f"s{i % 5}" for i in range(30)]})
    run = uc.publish(data, SCHEMA, uc.MutualCover(variant="paper", delta=1, l=2, unchanged="off"), seed=1)
    found = uc.attack(run, uc.NearestRow())
    assert found.identity["nearest"].mean() == 1
    assert found.attribute["ill"]["nearest"].mean() == 1
    assert found.to_dict()["certain"]["nearest"] == 30


def test_of_many_people_a_sample_is_looked_for_and_says_so() -> None:
    run = uc.publish(table(), SCHEMA, COVER, seed=3)
    everybody = uc.attack(run, uc.NearestRow()).to_dict()
    assert "interval" not in everybody["identity"]["nearest"]
    some = uc.attack(run, uc.NearestRow(most=25)).to_dict()
    assert (some["targets"], some["people"]) == (25, 40)
    low, high = some["identity"]["nearest"]["interval"]
    assert low <= some["identity"]["nearest"]["mean"] <= high
    assert some == uc.attack(run, uc.NearestRow(most=25)).to_dict()


def test_a_report_runs_it_where_values_were_moved() -> None:
    from undercover.verbs.attack import attacks_of, case_of

    moved = [attack.name for attack in attacks_of(case_of(uc.publish(table(), SCHEMA, COVER, seed=3)))]
    assert "nearest-row" in moved
    covering = uc.publish(table(), SCHEMA, uc.Mondrian(k=3), seed=3)
    assert "nearest-row" not in [attack.name for attack in attacks_of(case_of(covering))]
    with pytest.raises(ParameterError, match="Use linkage"):
        uc.attack(covering, uc.NearestRow())


def test_it_finds_far_more_than_chance() -> None:
    run = uc.publish(
        uc.datasets.census(2000, seed=1),
        uc.datasets.census_schema(hierarchies=False),
        uc.MutualCover(variant="paper", delta="1/4", l=4),
        seed=1,
    )
    found = uc.attack(run, uc.NearestRow(most=400))
    assert float(found.identity[found.best].mean()) > 0.1
    assert np.isin(found.rows, np.arange(2000)).all()
