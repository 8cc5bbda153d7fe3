"""What large tables do differently changes nothing that anybody sees: tried on small ones that are taken for large."""

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.engines.joining import _column
from undercover.engines.local import LocalEngine
from undercover.model.frames.cells import as_values
from undercover.model.protocols import Method
from undercover.model.release import Release
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps import recoding
from undercover.threads import however_little

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", insensitive=["day", "weight"], missing="category")
METHODS = [
    uc.Streamliner(l=2),
    uc.Streamliner(l=2, algorithm="guided", strata=("sex",)),
    uc.Streamliner(l=2, algorithm="classes"),
    uc.Anatomy(l=2),
    uc.Mondrian(k=5),
    uc.Mondrian(k=5, recoding="regions"),
    uc.Incognito(k=5, suppression=0.1),
    uc.Incognito(k=5, l=2),
    uc.CrossBucket(k=3, l=2, joined=True),
    uc.MutualCover(variant="blocks", delta=0.2),
]


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(1)
    ages = pa.array(rng.integers(20, 30, 300), mask=rng.random(300) < 0.05)
    days = pa.array(rng.integers(0, 9, 300).astype(np.int32), mask=rng.random(300) < 0.1).cast(pa.date32())
    data = {
        "age": ages,
        "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, 300))),
        "ill": pa.array(["flu", "cold", "gout", "none"]).take(pa.array(rng.integers(0, 4, 300))),
        "day": days,
        "weight": pa.array(rng.integers(0, 4, 300) / 2),
    }
    return Table.from_arrow(pa.table(data), SCHEMA)


def draft(method: Method, table: Table, threads: int = 1) -> Draft:
    return method.anonymize(table, engine=LocalEngine(threads=threads), randomness=Randomness(7))


def shown(found: Draft, frame: str = "pyarrow") -> list[pa.Table]:
    """The tables as whoever is handed them sees them."""
    release = Release("some", {}, found.tables, True, frame=frame, form=found.form)
    return [release.table(one.name) for one in found.tables]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_tables_of_many_rows_are_the_same(method: Method, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    before = draft(method, table)
    for place in ("undercover.steps.recoding", "undercover.methods.incognito.method"):
        monkeypatch.setattr(f"{place}.MANY", 1)
    monkeypatch.setattr("undercover.steps.shuffling._PIECE", 16)
    monkeypatch.setattr("undercover.steps.lattice.counting._ROWS", 7)
    with however_little():
        after = draft(method, table, threads=3)
    assert [one.schema for one in shown(after)] == [one.schema for one in shown(before)]
    assert [one.to_pylist() for one in shown(after)] == [one.to_pylist() for one in shown(before)]
    assert after.groups.labels.tolist() == before.groups.labels.tolist()
    assert (after.order is None) == (before.order is None)
    assert after.order is None or after.order.tolist() == before.order.tolist()


def test_numbers_and_days_of_many_rows_are_held_as_codes(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def held() -> list[bool]:
        data = draft(uc.Anatomy(l=2), table).tables[0].data
        return [pa.types.is_dictionary(data.column(name).type) for name in ("age", "sex", "day", "weight", "bucket")]

    assert held() == [False, True, False, False, False]
    monkeypatch.setattr(recoding, "MANY", 1)
    assert held() == [True, True, True, True, False]


def test_a_dictionary_of_values_has_those_that_occur_and_no_other(table: Table) -> None:
    rows = np.flatnonzero(table["ill"].codes != 2).astype(np.uint32)[::-1]
    values = recoding.values_of(table["ill"], rows)
    assert values.to_pylist() == [table["ill"].domain.labels[code] for code in table["ill"].codes[rows]]
    assert values.dictionary.to_pylist() == list(dict.fromkeys(values.to_pylist()))
    assert values.type == pa.dictionary(pa.int8(), pa.string(), ordered=True)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_have_the_types_they_had(kind: str, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [frame.dtypes for frame in shown(draft(uc.Anatomy(l=2), table), kind)]
    monkeypatch.setattr(recoding, "MANY", 1)
    after = [frame.dtypes for frame in shown(draft(uc.Anatomy(l=2), table), kind)]
    assert list(map(list, after)) == list(map(list, before))
    assert "ategor" not in str(list(after[0]))


def test_parts_of_many_rows_and_of_few_are_joined_as_values(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.arange(20, dtype=np.uint32)
    few = recoding.values_of(table["weight"], rows)
    monkeypatch.setattr(recoding, "MANY", 1)
    many = recoding.values_of(table["weight"], rows + 20)
    for parts in ((few, many), (many, few), (many, many), (few, few)):
        joined = _column([pa.chunked_array([part]) for part in parts])
        assert as_values(joined).to_pylist() == [value for part in parts for value in part.to_pylist()]
        assert as_values(joined).type == pa.float64()
