"""Ends of published intervals: rounded outwards, they cover what they covered; moved into gaps, they stay apart."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.errors import SchemaError
from undercover.model.encoding.domain import Domain, EncodedColumn
from undercover.model.interval_ends import are_rounded, rounded_ends
from undercover.model.schema import Column

NUMBERS = st.lists(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(-1000, 1000),
        st.integers(-(10**18), 10**18).map(float),
    ),
    min_size=1,
    max_size=30,
    unique=True,
)


def column(values: list[float], **settings: object) -> EncodedColumn:
    domain = Domain("numeric", pa.array(sorted(values)))
    return EncodedColumn("x", np.arange(len(values), dtype=np.uint8), domain, Column(**settings))  # type: ignore[arg-type]


@given(NUMBERS, st.sampled_from(["rounded", 1, 0.3, 250]))
def test_rounded_ends_cover_their_values(values: list[float], ends: object) -> None:
    made = column(values, ends=ends)
    writer = rounded_ends(made)
    for code, value in enumerate(made.domain.values.to_pylist()):
        assert float(writer.low(code)) <= value <= float(writer.high(code))


@given(NUMBERS)
def test_separate_ends_cover_their_values_and_never_meet(values: list[float]) -> None:
    made = column(values, ends="rounded")
    writer = rounded_ends(made, disjoint=True)
    labels = made.domain.labels
    for code, label in enumerate(labels):
        low, high = Decimal(writer.low(code)), Decimal(writer.high(code))
        assert low <= Decimal(label) <= high
        if code:
            assert Decimal(writer.high(code - 1)) < low


def test_a_step_holds_several_values() -> None:
    writer = rounded_ends(column([float(age) for age in range(18, 90)], ends="rounded"))
    assert (writer.low(1), writer.high(1)) == ("15", "20")


def test_only_long_numbers_that_differ_are_rounded_unasked() -> None:
    rng = np.random.default_rng(1)
    assert are_rounded(column(rng.uniform(0, 1, 200).tolist()))
    assert not are_rounded(column(rng.uniform(0, 1, 200).tolist(), ends="exact"))
    assert not are_rounded(column(rng.uniform(0, 1, 40).tolist()))
    assert not are_rounded(column([i / 100 for i in range(200)]))
    assert not are_rounded(column([float(i) for i in range(100_000, 100_200)]))


@pytest.mark.parametrize("ends", [0, -1, float("nan"), float("inf"), True, "outwards", [1]])
def test_ends_are_checked(ends: object) -> None:
    with pytest.raises(SchemaError):
        Column(ends=ends)  # type: ignore[arg-type]


def test_only_numbers_have_rounded_ends() -> None:
    with pytest.raises(SchemaError, match="Only ends of numbers are rounded"):
        uc.Column(kind="date", ends="rounded")
