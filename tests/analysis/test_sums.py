"""Sums from every form of release: by hand, and against every table that fits the release."""

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.errors import ParameterError
from undercover.forms.answers.recipient import SumAnswer, Sums
from undercover.model.form import Buckets, Drawn
from undercover.model.release import PublishedColumn, PublishedTable, Release

BUCKET, COUNT = (PublishedColumn(name, "structure", "value") for name in ("bucket", "count"))
AGE = PublishedColumn("age", "quasi-identifier", "interval")
PAY = PublishedColumn("pay", "sensitive", "value")


def generalised(ages: list[str], pays: list[Any]) -> Release:
    data = pa.table({"age": ages, "pay": pays})
    return Release("mondrian", {}, (PublishedTable("table", (AGE, PAY), data),), True)


def bucketised(
    ages: list[str], buckets: list[int], lines: list[tuple[int, Any, int]], form: str = "interval"
) -> Release:
    age = PublishedColumn("age", "quasi-identifier", form)  # type: ignore[arg-type]
    qit = pa.table({"age": ages, "bucket": buckets})
    sat = pa.table(
        {"bucket": [b for b, _, _ in lines], "pay": [v for _, v, _ in lines], "count": [c for _, _, c in lines]}
    )
    tables = (PublishedTable("qit", (age, BUCKET), qit), PublishedTable("sat", (BUCKET, PAY, COUNT), sat))
    return Release("cross-bucket", {}, tables, False, form=Buckets())


def test_a_generalised_table_by_hand() -> None:
    sums = Sums(generalised(["[20, 29]", "[20, 29]", "[30, 34]", "[30, 34]"], [10, 20, 30, 40]), "pay")
    assert sums.answer() == SumAnswer(100, 100, 100)
    assert sums.answer({"age": uc.Between(20, 29)}) == SumAnswer(30, 30, 30)
    # Half of the ages of the first cell, none of the second.
    assert sums.answer({"age": uc.Between(25, 29)}) == SumAnswer(15, 0, 30)
    assert sums.answer({"age": uc.Between(25, 32)}) == SumAnswer(pytest.approx(15 + 42), 0, 100)
    assert sums.answer({"age": uc.Between(20, 29), "pay": uc.Between(15, 40)}) == SumAnswer(20, 20, 20)


def test_negative_values_widen_the_bounds_below() -> None:
    sums = Sums(generalised(["[20, 29]", "[20, 29]", "[30, 34]"], [-10, 20, -5]), "pay")
    assert sums.answer({"age": uc.Between(25, 34)}) == SumAnswer(0, -15, 15)


def test_anatomy_by_hand() -> None:
    # Two of the three rows of bucket 0 and none of bucket 1 are asked for: 10 + 20 at least, 20 + 50 at most.
    release = bucketised(
        ["20", "21", "30", "30"], [0, 0, 0, 1], [(0, 10, 1), (0, 20, 1), (0, 50, 1), (1, 7, 1)], form="value"
    )
    assert Sums(release, "pay").answer({"age": uc.Between(20, 25)}) == SumAnswer(pytest.approx(160 / 3), 30, 70)
    # Of the values above 15, two are left of three rows: at least one of the two rows has one of them.
    found = Sums(release, "pay").answer({"age": uc.Between(20, 25), "pay": uc.Between(15, 60)})
    assert found == SumAnswer(pytest.approx(2 * 70 / 3), 20, 70)


def test_cross_bucket_by_hand() -> None:
    # Bucket 0 has one row surely and two possibly, bucket 1 none surely and one possibly.
    release = bucketised(
        ["[20, 24]", "[23, 30]", "[40, 50]", "[23, 30]"],
        [0, 0, 0, 1],
        [(0, 10, 1), (0, 20, 1), (0, 50, 1), (1, 7, 1)],
    )
    found = Sums(release, "pay").answer({"age": uc.Between(20, 26)})
    assert (found.lower, found.upper) == (10, 77)
    assert found.estimate == pytest.approx((1 + 0.5) * 80 / 3 + 0.5 * 7)
    assert found.to_dict() == {"estimate": found.estimate, "lower": 10, "upper": 77}


def test_drawn_values_are_added_up_without_bounds() -> None:
    data = pa.table({"age": [20, 25, 30], "pay": [1, 2, 4]})
    columns = (PublishedColumn("age", "quasi-identifier", "value"), PAY)
    release = Release("mutual-cover", {}, (PublishedTable("table", columns, data),), False, form=Drawn())
    assert uc.answer_sum(release, uc.SumQuery("pay", where={"age": uc.Between(21, 30)})) == SumAnswer(6.0)


def worlds(cells: list[range]) -> Iterator[tuple[int, ...]]:
    """Every table of ages that fits the cells."""
    return product(*cells)


@st.composite
def small_releases(draw: Any) -> tuple[list[range], list[int], list[int], tuple[int, int], tuple[int, int] | None]:
    n = draw(st.integers(1, 5))
    cells = []
    for _ in range(n):
        low = draw(st.integers(0, 4))
        cells.append(range(low, low + draw(st.integers(1, 2))))
    buckets = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    pays = draw(st.lists(st.integers(-3, 5), min_size=n, max_size=n))
    low = draw(st.integers(0, 5))
    asked = (low, low + draw(st.integers(0, 3)))
    floor = draw(st.integers(-3, 5))
    return cells, buckets, pays, asked, draw(st.sampled_from([None, (floor, floor + 3)]))


@given(small_releases())
def test_no_table_that_fits_two_tables_lies_outside_the_bounds_and_some_reach_them(given: Any) -> None:
    cells, buckets, pays, asked, value = given
    texts = [str(cell[0]) if len(cell) == 1 else f"[{cell[0]}, {cell[-1]}]" for cell in cells]
    release = bucketised(texts, buckets, [(bucket, pay, 1) for bucket, pay in zip(buckets, pays, strict=True)])
    where: dict[str, Any] = {"age": uc.Between(*asked)}
    if value is not None:
        where["pay"] = uc.Between(*value)
    found = Sums(release, "pay", {"age": range(7)}).answer(where)
    assert found.lower is not None
    assert found.upper is not None
    # Somebody's values are any order of those of his bucket.
    members = [[row for row, own in enumerate(buckets) if own == bucket] for bucket in sorted(set(buckets))]
    assignments = [
        {row: pay for rows, order in zip(members, orders, strict=True) for row, pay in zip(rows, order, strict=True)}
        for orders in product(*(permutations([pays[row] for row in rows]) for rows in members))
    ]
    inside = {tuple(asked[0] <= age <= asked[1] for age in ages) for ages in worlds(cells)}
    totals = {
        sum(pay for row, pay in assignment.items() if chosen[row] and (value is None or value[0] <= pay <= value[1]))
        for assignment in assignments
        for chosen in inside
    }
    assert found.lower <= min(totals)
    assert max(totals) <= found.upper
    if value is None:
        assert (found.lower, found.upper) == (min(totals), max(totals))


@given(small_releases())
def test_no_table_that_fits_a_generalised_one_lies_outside_the_bounds_and_some_reach_them(given: Any) -> None:
    cells, _, pays, asked, _ = given
    texts = [str(cell[0]) if len(cell) == 1 else f"[{cell[0]}, {cell[-1]}]" for cell in cells]
    found = Sums(generalised(texts, pays), "pay", {"age": range(7)}).answer({"age": uc.Between(*asked)})
    totals = [
        sum(pay for age, pay in zip(ages, pays, strict=True) if asked[0] <= age <= asked[1]) for ages in worlds(cells)
    ]
    assert (found.lower, found.upper) == (min(totals), max(totals))
    assert found.estimate == pytest.approx(float(np.mean(totals)))


METHODS = [uc.Mondrian(k=4, l=2), uc.Anatomy(l=4), uc.CrossBucket(k=3, l=4), uc.CrossBucket(k=3, l=4, joined=True)]


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("hierarchies", [False, True])
def test_the_true_sum_lies_within_the_bounds(method: Any, hierarchies: bool) -> None:
    people = uc.datasets.census(600, seed=4)
    schema = uc.datasets.census_schema(["age", "sex", "education", "marital_status"], "salary", hierarchies=hierarchies)
    run = uc.publish(people, schema, method)
    frame = people.to_pandas()
    sums = Sums(run.release, "salary", run.original)
    for where, rows in (
        ({}, frame["age"] > 0),
        ({"age": uc.Between(30, 50)}, frame["age"].between(30, 50)),
        ({"sex": "Female", "age": uc.Between(high=40)}, (frame["sex"] == "Female") & (frame["age"] <= 40)),
        ({"salary": uc.Between(low=40_000), "sex": "Male"}, (frame["sex"] == "Male") & (frame["salary"] >= 40_000)),
    ):
        found = sums.answer(where)
        true = float(frame.loc[rows, "salary"].sum())
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower - 1e-6 <= true <= found.upper + 1e-6
        assert found.lower - 1e-6 <= found.estimate <= found.upper + 1e-6
    assert sums.answer({}).estimate == pytest.approx(float(frame["salary"].sum()))


def test_missing_values_add_nothing() -> None:
    assert Sums(generalised(["[20, 29]", "[20, 29]"], [None, 7]), "pay").answer() == SumAnswer(7, 7, 7)


def test_bad_input() -> None:
    release = generalised(["[20, 29]", "[20, 29]"], [1, 2])
    with pytest.raises(ParameterError, match=r"Column `pai` is not known\. Did you mean `pay`"):
        Sums(release, "pai")
    with pytest.raises(ParameterError, match="`age` is a quasi-identifier"):
        Sums(release, "age")
    with pytest.raises(ParameterError, match="`pay` holds no numbers"):
        Sums(generalised(["20", "20"], ["high", "low"]), "pay")
    with pytest.raises(ParameterError, match="Column `agee` is not known"):
        Sums(release, "pay").answer({"agee": 3})


def test_a_sum_in_one_line() -> None:
    assert repr(SumAnswer(estimate=120.5, lower=80, upper=200)) == "<SumAnswer: about 120.5, surely from 80 to 200>"
    assert repr(SumAnswer(estimate=120.5)) == "<SumAnswer: about 120.5, without bounds>"
