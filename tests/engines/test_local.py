"""The contract every engine keeps; an engine joins by being named in ``ENGINES``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError
from undercover.model.protocols import Engine
from undercover.steps.cutting import partition as mondrian

ENGINES: dict[str, Callable[[int], Engine]] = {"local": lambda threads: LocalEngine(threads=threads)}
SCHEMA = uc.Schema(quasi_identifiers=["age", "job"], sensitive="ill", missing="category")


@pytest.fixture(params=list(ENGINES))
def engine_of(request: pytest.FixtureRequest) -> Callable[[int], Engine]:
    return ENGINES[request.param]


def people(n: int = 600) -> pa.Table:
    rng = np.random.default_rng(70)
    ages: list[Any] = rng.integers(18, 90, n).tolist()
    ages[5] = None
    return pa.table(
        {
            "age": ages,
            "job": [f"job {i}" for i in rng.integers(0, 12, n)],
            "ill": [f"ill {i}" for i in np.minimum(rng.integers(0, 9, n), rng.integers(0, 9, n))],
        }
    )


@pytest.fixture
def table() -> uc.Table:
    return uc.Table.from_arrow(people(), SCHEMA)


def test_a_histogram_counts_every_code(engine_of: Callable[[int], Engine], table: uc.Table) -> None:
    for name in ("age", "job", "ill"):
        found = engine_of(1).histogram(table, name)
        assert found.tolist() == np.bincount(table[name].codes, minlength=table[name].domain.size).tolist()
        assert found.sum() == table.n_rows


def test_a_histogram_has_a_place_for_codes_that_do_not_occur(
    engine_of: Callable[[int], Engine], table: uc.Table
) -> None:
    few = table.take(np.arange(3))
    assert len(engine_of(1).histogram(few, "job")) == table["job"].domain.size
    assert engine_of(1).histogram(few, "job").sum() == 3


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_parts_hold_every_row_once_and_their_own_rows(
    engine_of: Callable[[int], Engine], table: uc.Table, threads: int
) -> None:
    parts = engine_of(threads).map_parts(table, lambda part: part)
    assert sorted(np.concatenate([rows for rows, _ in parts]).tolist()) == list(range(table.n_rows))
    for rows, part in parts:
        assert part.n_rows == len(rows)
        for name in ("age", "job", "ill"):
            assert part[name].codes.tolist() == table[name].codes[rows].tolist()
            assert part[name].domain.labels == table[name].domain.labels


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_parts_do_not_depend_on_threads_nor_on_sensitive_values(
    engine_of: Callable[[int], Engine], table: uc.Table, threads: int
) -> None:
    other = uc.Table.from_arrow(people().set_column(2, "ill", people()["ill"].take(np.arange(599, -1, -1))), SCHEMA)
    expected = [rows.tolist() for rows, _ in engine_of(1).map_parts(table, lambda part: part.n_rows)]
    for one in (table, other):
        found = engine_of(threads).map_parts(one, lambda part: part.n_rows)
        assert [rows.tolist() for rows, _ in found] == expected
        assert [count for _, count in found] == [len(rows) for rows in expected]


@pytest.mark.parametrize(
    "method",
    [uc.Mondrian(k=3), uc.Mondrian(k=3, l=2, recoding="regions"), uc.Mondrian(k=2, cut="median"), uc.Anatomy(l=3)],
)
def test_a_seed_gives_the_same_release_on_any_number_of_threads(
    engine_of: Callable[[int], Engine], method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mondrian, "_PARALLEL_FROM", 50)
    one, two, other = (
        uc.publish(people(), SCHEMA, method, seed=seed, engine=engine_of(threads))
        for seed, threads in ((7, 1), (7, 2), (8, 2))
    )
    assert [t.data for t in one.release.tables] == [t.data for t in two.release.tables]
    assert one.release.guarantees == two.release.guarantees
    assert [t.data for t in other.release.tables] != [t.data for t in two.release.tables]
    same_group = [run.groups.labels[:, None] == run.groups.labels for run in (one, two)]
    assert (same_group[0] == same_group[1]).all()


def test_an_error_in_the_work_reaches_the_caller(engine_of: Callable[[int], Engine], table: uc.Table) -> None:
    def fail(part: uc.Table) -> None:
        raise ParameterError("no")

    with pytest.raises(ParameterError, match="no"):
        engine_of(2).map_parts(table, fail)


@pytest.mark.parametrize("name", list(ENGINES))
def test_an_engine_is_known_by_its_name(name: str) -> None:
    assert ENGINES[name](1).name == name
    assert ENGINES[name](1).threads == 1
    assert uc.verify(uc.publish(people(), SCHEMA, uc.Mondrian(k=5), engine=name).release).holds


def test_an_unknown_engine_names_those_there_are() -> None:
    with pytest.raises(ParameterError, match=r"Engine `lokal` is not known. Did you mean `local`\?"):
        uc.publish(people(), SCHEMA, uc.Mondrian(k=5), engine="lokal")


def test_the_local_engine_uses_the_cores_it_may() -> None:
    assert LocalEngine().threads >= 1
