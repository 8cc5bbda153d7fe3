"""Faults other tools are known for: missing values dropped by grouping, row labels taken for positions."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from effort import examples
from undercover.errors import DataError
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.verify import verify_table

AGES = [30, 30, 30, None, 40, 40, 40]
ILLS = ["flu", "cold", "gout", "flu", "flu", "cold", "gout"]


def test_a_unique_person_of_unknown_age_is_a_class_of_one() -> None:
    """Grouping in pandas leaves the fourth row out and would call this table 3-anonymous."""
    data = pa.table({"age": AGES, "ill": ILLS})
    assert data.to_pandas().groupby("age").size().min() == 3
    found = verify_table(data, ["age"], ["ill"], [KAnonymity(k=3), LDiversity(l=2)])
    assert not found.holds
    assert [finding.actual for finding in found.findings] == [1, 1.0]
    assert (found.classes, found.rows) == (3, 7)


def test_missing_values_are_refused_unless_their_meaning_is_declared() -> None:
    data = pa.table({"age": AGES, "ill": ILLS})
    with pytest.raises(DataError, match="Column `age` has 1 missing value"):
        uc.publish(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), uc.Mondrian(k=3))


@pytest.mark.parametrize("method", [uc.Mondrian(k=3), uc.Mondrian(k=3, recoding="regions"), uc.Anatomy(l=2)])
@pytest.mark.parametrize("frame", ["pandas", "pyarrow"])
def test_as_a_category_nobody_is_dropped_and_nobody_stands_alone(method: Any, frame: str) -> None:
    data = pa.table({"age": AGES, "ill": ILLS})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", missing="category")
    run = uc.publish(data.to_pandas() if frame == "pandas" else data, schema, method)
    main = run.release.tables[0].data
    assert main.num_rows == 7
    assert run.groups.sizes.sum() == 7
    assert uc.verify(run, original=data).holds
    if run.release.method == "mondrian":
        assert uc.verify(run.release.with_guarantees(()), also=[KAnonymity(k=3)]).holds
        assert min(Counter(main["age"].to_pylist()).values()) >= 3
        assert uc.attack(run).after.matches.min() >= 3


def test_dropped_rows_are_counted_and_the_others_keep_their_numbers() -> None:
    data = pa.table({"age": AGES, "ill": ILLS})
    run = uc.publish(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill", missing="drop"), uc.Mondrian(k=3))
    assert run.rows.tolist() == [0, 1, 2, 4, 5, 6]
    assert any("1 of 7 rows has a missing value" in warning for warning in run.warnings)
    assert run.release.suppressed_rows == 0


def test_a_missing_sensitive_value_is_a_value() -> None:
    data = pa.table({"age": [30] * 4, "ill": ["flu", "flu", None, None]})
    found = verify_table(data, ["age"], ["ill"], [LDiversity(l=2), LDiversity(l=2, form="distinct")])
    assert found.holds
    assert [finding.actual for finding in found.findings] == [2.0, 2]


def labelled(frame: pd.DataFrame, labels: str) -> pd.DataFrame:
    """The same rows under other labels."""
    n = len(frame)
    index: dict[str, Any] = {
        "backwards": range(n - 1, -1, -1),
        "beyond": range(1000, 1000 + n),
        "all alike": [0] * n,
        "words": [f"person {i}" for i in range(n)],
        "dates": pd.date_range("2020-01-01", periods=n)[::-1],
        "two levels": pd.MultiIndex.from_arrays([[i % 2 for i in range(n)], range(n)]),
    }
    return frame.set_axis(pd.Index(index[labels]) if labels != "two levels" else index[labels])


LABELS = ["backwards", "beyond", "all alike", "words", "dates", "two levels"]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("method", [uc.Mondrian(k=3), uc.Anatomy(l=2)])
def test_labels_of_rows_are_never_positions(labels: str, method: Any) -> None:
    rng = np.random.default_rng(80)
    plain = pd.DataFrame(
        {"age": rng.integers(20, 60, 24), "ill": [("flu", "cold", "gout")[i % 3] for i in rng.permutation(24)]}
    )
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    expected = uc.publish(plain, schema, method, seed=2)
    run = uc.publish(labelled(plain, labels), schema, method, seed=2)
    assert [table.data for table in run.release.tables] == [table.data for table in expected.release.tables]
    assert run.rows.tolist() == list(range(24))
    assert run.groups.labels.tolist() == expected.groups.labels.tolist()
    # The groups are those of the rows by position: the cells of a class are those of its own people.
    expected_rows: Counter[Any] = Counter()
    for group in range(run.groups.count):
        own = plain.iloc[run.groups.rows_of(group)]
        low, high = own["age"].min(), own["age"].max()
        cell = str(low) if low == high else f"[{low}, {high}]"
        for age, ill in zip(own["age"], own["ill"], strict=True):
            expected_rows[(cell, ill) if method.name == "mondrian" else (age, group)] += 1
    published = run.release.tables[0].data
    assert Counter(zip(*(published[name].to_pylist() for name in published.column_names), strict=True)) == expected_rows
    assert uc.attack(run).to_dict() == uc.attack(expected).to_dict()
    assert uc.measure(labelled(plain, labels), run).to_dict() == uc.measure(plain, expected).to_dict()


def test_a_frame_that_was_filtered_and_sorted_keeps_rows_and_values_together() -> None:
    rng = np.random.default_rng(81)
    everybody = pd.DataFrame({"age": rng.integers(20, 80, 60), "pay": rng.integers(1, 5, 60)})
    some = everybody[everybody["age"] > 40].sort_values("age", ascending=False)
    run = uc.publish(some, uc.Schema(quasi_identifiers=["age"], sensitive="pay"), uc.Mondrian(k=1))
    # With k = 1 every class is one age, shown as it is.
    shown = Counter(zip(run.release.table()["age"].astype(int), run.release.table()["pay"], strict=True))
    assert shown == Counter(zip(some["age"], some["pay"], strict=True))
    worst = uc.attack(run).worst_rows()
    assert all(0 <= one["row"] < len(some) for one in worst)


@examples(20)
@given(st.permutations(range(12)), st.integers(1, 4))
def test_any_index_gives_the_release_of_the_rows(order: list[int], k: int) -> None:
    frame = pd.DataFrame({"age": [20 + 3 * i for i in range(12)], "ill": list("abcabcabcabc")})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    one = uc.publish(frame.set_axis(pd.Index(order)), schema, uc.Mondrian(k=k), seed=4)
    two = uc.publish(frame, schema, uc.Mondrian(k=k), seed=4)
    assert json.loads(one.release.table().to_json()) == json.loads(two.release.table().to_json())
