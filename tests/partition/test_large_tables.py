"""Output tables in blocks: they keep delta, their gap is certified, and a thousand values take no general solver."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from test_output_tables import REGIONS, ages, check, costs_of, mixed, optimum, with_distance

import undercover as uc
from undercover.errors import UnreachableError
from undercover.methods.mutual_cover import blocks, tables
from undercover.methods.mutual_cover.about import ABOUT
from undercover.methods.mutual_cover.blocks import block_ends, certified_bound, costs, solve_in_blocks
from undercover.methods.mutual_cover.kernels import programs as cover
from undercover.methods.mutual_cover.tables import ORIGINS, OutputTables, output_tables
from undercover.model.distance.between import ValueDistance
from undercover.model.groups import Groups
from undercover.model.schema import Column, Schema
from undercover.model.table import Table


@pytest.fixture
def no_general_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: Any) -> None:
        raise AssertionError("the general solver was asked")

    monkeypatch.setattr(tables, "table_by_highs", hang)


def incomes(values: int, seed: int) -> NDArray[np.int64]:
    """As incomes are: skewed, most of them somebody's alone, with heaps at round figures."""
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    alone = np.unique((10 + 100_000 * random.lognormal(0, 1, 4 * values)).astype(np.int64))
    chosen = np.sort(random.choice(alone, values, replace=False))
    return np.concatenate([chosen, np.repeat(chosen[::7], random.integers(0, 12, len(chosen[::7])))])


def keeps_delta(found: OutputTables) -> bool:
    one = found.table(attribute=0, group=0)
    mass = one.counts @ one.probabilities
    cost = float(
        (one.counts[:, None] * costs(found.distances[0], one.originals, one.outputs) * one.probabilities).sum()
    )
    return bool(
        (one.probabilities >= 0).all()
        and abs(one.probabilities.sum(axis=1) - 1).max() <= 2e-15
        and (one.probabilities.max(axis=0) <= float(found.delta) * (1 + 1e-12) * mass).all()
        and found.objectives[0] == pytest.approx(cost, rel=1e-9)
    )


@pytest.mark.usefixtures("no_general_solver")
@pytest.mark.parametrize(("delta", "gap"), [("1/5", 0.01), ("2/21", 0.01), ("1/50", 0.1), ("1/300", 0.5)])
def test_twelve_hundred_values(delta: str, gap: float) -> None:
    found = output_tables(*ages(incomes(1200, seed=1).tolist()), delta=Fraction(delta))
    assert len(found.originals) == 1200
    assert ORIGINS[found.origins[0]] == "blocks"
    assert keeps_delta(found)
    assert 0 <= found.gaps[0] <= gap


@pytest.mark.usefixtures("no_general_solver")
@pytest.mark.parametrize("kind", ["tree", "flat", "own", "whole numbers", "missing"])
def test_large_tables_of_every_distance(kind: str) -> None:
    random = np.random.default_rng(2)
    codes = np.concatenate([np.arange(300), random.integers(0, 300, 500)])
    names = [f"t{code:03}" for code in codes]
    columns, asked = {}, {}
    values: list[Any] = codes.tolist() if kind in ("whole numbers", "missing") else names
    if kind == "tree":
        leaves = sorted(set(names))
        columns = {"town": Column(hierarchy=uc.Hierarchy([(leaf, f"r{i * 7 % 12}") for i, leaf in enumerate(leaves)]))}
    if kind == "whole numbers":
        values, asked = [3 * value for value in values], {"columns": "integer_range"}
    if kind == "missing":
        values[-40:] = [None] * 40
    data = pa.table({"town": values, "ill": [str(i) for i in range(800)]})
    table = Table.from_arrow(
        data, Schema(quasi_identifiers=["town"], sensitive="ill", columns=columns, missing="category")
    )
    if kind == "own":
        table = with_distance(table, "town", np.abs(np.arange(300.0)[:, None] - np.arange(300)) ** 0.5)
    found = output_tables(table, Groups(np.zeros(800, np.int32), 1), delta=Fraction(1, 7), **asked)  # type: ignore[arg-type]
    assert ORIGINS[found.origins[0]] == "blocks"
    assert keeps_delta(found)
    assert 0 <= found.gaps[0] <= 0.1


def test_distances_at_once_are_those_one_by_one() -> None:
    table, groups = mixed()
    own = np.abs(np.arange(6.0)[:, None] - np.arange(6)) ** 2
    for one in (table, with_distance(table, "town", own)):
        found = output_tables(one, groups, delta=Fraction(1, 6), columns="integer_range")
        for attribute in range(5):
            for group in range(groups.count):
                part = found.table(attribute=attribute, group=group)
                at_once = costs(found.distances[attribute], part.originals, part.outputs)
                assert (at_once == costs_of(found, attribute, group)).all()
    assert REGIONS.tree.parent.size, "one of them is a tree"


def small(kind: str, seed: int) -> tuple[ValueDistance, NDArray[np.int32], NDArray[np.int32]]:
    """A column of some twenty values, and how many rows have each."""
    random = np.random.default_rng(seed)
    q = int(random.integers(14, 26))
    counts = random.integers(1, 5, q).astype(np.int32)
    values = np.repeat(np.sort(random.choice(90, q, replace=False)), counts)
    data = pa.table({"age": [f"{v:02}" for v in values] if kind == "flat" else values, "ill": values})
    table = Table.from_arrow(data, Schema(quasi_identifiers=["age"], sensitive="ill"))
    return ValueDistance.of(table["age"], columns="observed"), np.arange(q, dtype=np.int32), counts


def gap_against_highs(kind: str, seed: int) -> tuple[float, float, float]:
    """Of a table in blocks its bound, the best there is, and its objective."""
    distance, codes, counts = small(kind, seed)
    delta = Fraction(1, 2 + seed % 4)
    _, objective, bound = solve_in_blocks(distance, codes, counts, codes, delta)
    return bound, optimum(costs(distance, codes, codes), counts, delta), objective


@pytest.mark.parametrize("kind", ["numbers", "flat"])
def test_the_gap_is_certified(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(blocks, "MOST_VALUES", 8)
    wide = 0
    for seed in range(25):
        bound, best, objective = gap_against_highs(kind, seed)
        assert bound <= best * (1 + 1e-9) <= objective * (1 + 2e-9)
        wide += objective - bound > 0.01 * objective
    assert kind == "flat" or 0 < wide < 25, "some cuts cost something, some do not"


def test_prices_of_blocks_alone_are_no_bound() -> None:
    # 0, 0, 10 and 11, 21, 21 as two blocks: 10 and 11 pay 10 each, where next door it costs them 1 together.
    values, counts = np.array([0.0, 10, 11, 21]), np.array([2.0, 1, 1, 2])
    cost, prices = np.abs(values[:, None] - values), np.array([0.0, 10, 10, 0])
    assert counts @ prices == 20
    assert optimum(cost, counts, Fraction(1, 2)) == pytest.approx(1)
    assert 0.99 < certified_bound(cost, counts, prices, 0.5) <= 1


def test_a_block_that_rounding_spoils_goes_to_one_column(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoilt(numbers: Any, tables: Any, *asked: Any) -> None:
        real(numbers, tables, *asked)
        asked[-1].kept[1], asked[-1].prices[tables.row_starts[1] : tables.row_starts[2]] = 0, 0.0

    real = cover.cover_tables
    monkeypatch.setattr(cover, "cover_tables", spoilt)
    distance, codes, counts = small("numbers", 3)
    monkeypatch.setattr(blocks, "MOST_VALUES", 8)
    x, objective, bound = solve_in_blocks(distance, codes, counts, codes, Fraction(1, 3))
    assert abs(x.sum(axis=1) - 1).max() < 1e-12
    assert (x.max(axis=0) <= (counts @ x) / 3 * (1 + 1e-12)).all()
    assert bound <= optimum(costs(distance, codes, codes), counts, Fraction(1, 3)) < objective


def test_every_block_has_its_rows() -> None:
    random = np.random.default_rng(4)
    for least in (2, 5, 64, 65, 500, 4000):
        counts = random.integers(1, 9, 900)
        ends = block_ends(random.random(899), counts, least)
        assert (ends[0], ends[-1]) == (0, 900)
        assert (np.diff(ends) > 0).all()
        assert np.add.reduceat(counts, ends[:-1]).min() >= min(least, counts.sum())
        assert least > 64 or (np.diff(ends) <= 256).all()


def test_blocks_end_where_neighbours_are_far_apart() -> None:
    apart = np.ones(399)
    apart[[99, 199, 280]] = 5
    assert block_ends(apart, np.full(400, 3), 5).tolist() == [0, 100, 200, 281, 400]


def test_a_table_that_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MOST_CELLS", 99)
    check(*ages(list(range(9))), output_tables(*ages(list(range(9))), delta=Fraction(1, 2)))
    with pytest.raises(
        UnreachableError, match=r"`age` in one group would hold 100 probabilities.* 10 different values"
    ):
        output_tables(*ages(list(range(10))), delta=Fraction(1, 2))


def test_what_is_not_the_best_is_said() -> None:
    values = incomes(400, seed=5)
    data = pa.table({"income": values, "ill": [f"v{i * i}" for i in range(len(values))]})
    schema = Schema(quasi_identifiers=["income"], sensitive="ill")
    run = uc.publish(data, schema, uc.MutualCover(variant="paper", delta="1/50", l=len(values) // 2 + 1), seed=1)
    gap = run.diagnostics["largest_optimality_gap"]
    assert run.diagnostics["tables_by_origin"]["blocks"] == 1
    assert 1e-5 < gap < 0.2
    assert any("certified" in warning for warning in run.warnings)
    assert "1 of these is too large to be solved as a whole" in dict(ABOUT.stages(run))["Output tables"]
    assert uc.verify(run).holds
