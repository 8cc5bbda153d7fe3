"""Groups, releases and runs: small objects that others lean on."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.errors import InputError
from undercover.forms import read
from undercover.model.groups import Groups
from undercover.model.release import PublishedColumn, PublishedTable, Release, to_frame
from undercover.model.run import Run
from undercover.model.schema import Schema


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_labels_and_layout_say_the_same(raw: list[int]) -> None:
    labels = np.unique(raw, return_inverse=True)[1].astype(np.int32)
    groups = Groups(labels, int(labels.max()) + 1)
    again = Groups.from_order(groups.order, groups.offsets)
    assert (again.labels == labels).all()
    assert again.sizes.tolist() == groups.sizes.tolist() == np.bincount(labels).tolist()
    for group in range(groups.count):
        assert groups.rows_of(group).tolist() == np.flatnonzero(labels == group).tolist()
        assert again.rows_of(group).tolist() == groups.rows_of(group).tolist()


def release(*names: str, frame: str = "pyarrow") -> Release:
    columns = (PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("disease", "sensitive", "value"))
    ages = pa.array(["[1, 2]", "[1, 2]"]).dictionary_encode()
    data = pa.table({"age": ages, "disease": ["flu", "cold"]})
    tables = tuple(PublishedTable(name, columns, data) for name in names)
    return Release("mondrian", {"k": 2}, tables, True, frame=frame)


def test_the_only_table_needs_no_name() -> None:
    published = release("table").published()
    assert (published.rows, published.form("age"), published.names("sensitive")) == (2, "interval", ("disease",))


def test_several_tables_need_a_name() -> None:
    with pytest.raises(InputError, match="Name one: qit, sat"):
        release("qit", "sat").published()
    assert release("qit", "sat").published("sat").name == "sat"
    with pytest.raises(InputError, match="Did you mean `qit`"):
        release("qit", "sat").published("qut")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_frame_that_was_given_comes_back(kind: str) -> None:
    frame = release("table", frame=kind).table()
    assert type(frame).__module__.split(".")[0] == kind
    assert list(frame["age"].to_pylist() if kind == "pyarrow" else frame["age"]) == ["[1, 2]", "[1, 2]"]
    assert to_frame(pa.table({"x": [1]}), kind).shape == (1, 1)


def test_findings_are_added_to_a_copy() -> None:
    before = release("table")
    after = before.with_guarantees(({"name": "k-anonymity", "k": 2, "holds": True},))
    assert before.guarantees == ()
    assert after.guarantees[0]["holds"]


def test_one_line_that_names_the_next_step() -> None:
    published = release("table")
    run = Run(
        published,
        Schema(quasi_identifiers=["age"]),
        Groups(np.zeros(2, np.int32), 1),
        np.arange(2),
        source={},
        randomness={"source": "os"},
        timings={},
    )
    assert "\n" not in repr(published) + repr(run)
    assert ".table()" in repr(published)
    assert "private" in repr(run)
    assert "undercover.save()" in repr(run)


@pytest.mark.parametrize(
    "method",
    [uc.Mondrian(k=5), uc.Anatomy(l=2), uc.PerturbedGeneralization(k=5, p=0.3), uc.MutualCover(delta="1/2", l=2)],
    ids=lambda method: method.name,
)
def test_tables_that_nobody_holds_any_more_are_freed_at_once(method: Any) -> None:
    run = uc.publish(uc.datasets.census(300), uc.datasets.census_schema(["age", "sex"]), method, seed=1)
    uc.verify(run.release)
    reading = read(run.release)
    held = [weakref.ref(it) for it in (run.release, reading, *reading.classes.sensitive.values())]
    gc.disable()
    try:
        del run, reading
        assert not [one() for one in held if one() is not None]
    finally:
        gc.enable()
