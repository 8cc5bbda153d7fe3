"""The lattice search against brute force and against the literal Incognito, on dense and on sparse cells."""

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from literal_incognito import literal_incognito
from plain_full_domain import PlainDomain
from random_tables import random_table

import undercover as uc
from effort import examples
from undercover.model.table import Table, encode
from undercover.steps.cutting.checks import Check
from undercover.steps.lattice import cubes as full_domain
from undercover.steps.lattice.choice import Chooser, search
from undercover.steps.lattice.conditions import CellCondition, JointCondition, smallest_sets
from undercover.steps.lattice.cubes import FullDomain, column_levels, recode
from undercover.steps.lattice.lattice import Lattice, listed_nodes, minimal, passing_nodes

CHECKS: list[tuple[Check, ...]] = [
    (),
    (Check(column="s", kind="distinct", limit=2),),
    (Check(column="s", kind="distinct", limit=3), Check(column="t", kind="distinct", limit=2)),
    (Check(column="s", kind="frequency", limit=1.5),),
    (Check(column="t", kind="entropy", limit=1.8),),
    (Check(column="s", kind="recursive", limit=2, c=2.0),),
    (Check(column="s", kind="equal", limit=0.3),),
    (Check(column="t", kind="ordered", limit=0.25), Check(column="s", kind="frequency", limit=1.25)),
]


def condition_of(table: Table, k: int, checks: tuple[Check, ...], limit: int = 0) -> tuple[FullDomain, CellCondition]:
    condition = CellCondition(table, k, checks, limit)
    return FullDomain(table, table.schema.quasi_identifiers, condition.sensitive), condition


def brute_force(plain: PlainDomain, k: int, checks: tuple[Check, ...], limit: int) -> set[tuple[int, ...]]:
    found = set()
    for node in product(*(range(height + 1) for height in plain.heights)):
        classes = plain.classes(enumerate(node))
        gone = plain.suppressed(classes, k, checks) if limit else plain.failing(classes, k, checks)
        if sum(map(len, gone)) <= limit:
            found.add(node)
    return found


@pytest.fixture(params=["dense", "sparse"])
def cells(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "sparse":
        monkeypatch.setattr(full_domain, "_LARGEST_CUBE", 3)
    return str(request.param)


@pytest.mark.parametrize("checks", CHECKS, ids=lambda checks: "+".join(c.kind for c in checks) or "k")
@pytest.mark.parametrize("limit", [0, 4])
def test_the_search_finds_what_brute_force_finds(cells: str, checks: tuple[Check, ...], limit: int) -> None:
    kinds = ("tree", "tree", "categorical", "integer")
    some = 0
    for seed in range(8):
        rng = np.random.default_rng(1000 * limit + seed)
        table = random_table(rng, n=24, d=3, values=5, missing=seed % 3 == 0, kinds=kinds)
        domain, condition = condition_of(table, int(rng.integers(1, 4)), checks, limit)
        expected = brute_force(PlainDomain(table, domain.names), condition.k, checks, limit)
        found = set(listed_nodes(search(domain, condition)))
        assert found == expected, seed
        some += 0 < len(found) < domain.lattice.size
    assert some


@pytest.mark.parametrize("seed", range(12))
def test_the_search_finds_what_the_literal_incognito_finds(cells: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, n=30, d=4, values=5, kinds=("tree", "tree", "categorical"))
    plain = PlainDomain(table, table.schema.quasi_identifiers)
    for k, checks in ((2, ()), (1, CHECKS[1]), (2, CHECKS[3])):
        expected, _ = literal_incognito(
            plain.heights, lambda node, k=k, checks=checks: not plain.failing(plain.classes(node), k, checks)
        )
        domain, condition = condition_of(table, k, checks)
        assert set(listed_nodes(search(domain, condition))) == expected


def test_the_census_by_the_literal_incognito() -> None:
    names = ("age", "education", "work_class", "sex")
    table = Table.from_arrow(uc.datasets.census(1500, seed=3), uc.datasets.census_schema(names))
    plain = PlainDomain(table, names)
    for k, checks in ((5, ()), (2, (Check(column="income", kind="distinct", limit=8),))):
        expected, checked = literal_incognito(
            plain.heights, lambda node, k=k, checks=checks: not plain.failing(plain.classes(node), k, checks)
        )
        domain, condition = condition_of(table, k, checks)
        found = search(domain, condition)
        assert set(listed_nodes(found)) == expected
        assert 10 < found.sum() < domain.lattice.size
        assert checked > 10


def test_a_check_that_is_not_monotone_is_noticed_by_brute_force() -> None:
    """The oracle can fail: parity has neither property, and the search does not find what brute force finds."""

    class Bare:
        def __init__(self, levels: tuple[int, ...]) -> None:
            self.levels = levels

        def rolled_up(self, axis: int, level: int) -> "Bare":
            return Bare((*self.levels[:axis], level, *self.levels[axis + 1 :]))

    lattice = Lattice((2, 2))
    found = passing_nodes(lattice, Bare, lambda cube: sum(cube.levels) % 2 == 0)
    assert set(listed_nodes(found)) != {node for node in lattice if sum(node) % 2 == 0}


@examples(30)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=6))
def test_any_up_closed_set_is_found_with_few_looks(generators: list[tuple[int, int, int]]) -> None:
    lattice = Lattice((2, 3, 1))
    wanted = {node for node in lattice if any(all(a >= b for a, b in zip(node, g, strict=True)) for g in generators)}
    looks: list[tuple[int, ...]] = []

    class Bare:
        def __init__(self, levels: tuple[int, ...]) -> None:
            self.levels = levels

        def rolled_up(self, axis: int, level: int) -> "Bare":
            assert level > self.levels[axis]
            return Bare((*self.levels[:axis], level, *self.levels[axis + 1 :]))

    def passes(cube: Bare) -> bool:
        looks.append(cube.levels)
        return cube.levels in wanted

    found = passing_nodes(lattice, Bare, passes)
    assert set(listed_nodes(found)) == wanted
    least = {n for n in wanted if not any(o != n and all(a <= b for a, b in zip(o, n, strict=True)) for o in wanted)}
    assert set(listed_nodes(minimal(found))) == least
    assert len(looks) <= lattice.size + 8  # tops of families and subtrees may be looked at twice


@pytest.mark.parametrize("by", ["loss", "dm", "level", "weights"])
@pytest.mark.parametrize("limit", [0, 3, 8])
def test_the_best_node_is_the_best_of_all(cells: str, by: Any, limit: int) -> None:
    chosen_above = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = random_table(rng, n=26, d=3, values=5, kinds=("tree", "tree", "categorical"))
        checks = CHECKS[seed % 4]
        domain, condition = condition_of(table, 2, checks, limit)
        passing = search(domain, condition)
        if not passing.any():
            continue
        plain = PlainDomain(table, domain.names)
        weights = np.array([table.schema.column(name).weight for name in domain.names])
        costs = []
        for node in listed_nodes(passing):
            classes = plain.classes(enumerate(node))
            gone = plain.suppressed(classes, 2, checks) if limit else []
            loss = plain.loss(node, gone)
            means = [plain_mean(plain, axis, level, gone) for axis, level in enumerate(node)]
            cost = {
                "loss": loss,
                "dm": plain.discernibility(classes, gone),
                "level": sum(node) / len(node),
                "weights": float(np.dot(means, weights) / weights.sum()),
            }[by]
            costs.append((round(cost, 9), round(loss, 9), node))
        best = Chooser(domain, condition, by).best(passing, suppressing=limit > 0)
        assert best.levels == min(costs)[2], seed
        assert best.cost == pytest.approx(min(costs)[0], abs=1e-9)
        chosen_above += not minimal(passing)[best.levels]
        assert best.evaluated <= len(costs)
    # Without suppression a minimal node is best; with it a more general one may be, since it suppresses less.
    assert limit or not chosen_above


@pytest.mark.parametrize("by", ["loss", "level", "weights"])
@pytest.mark.parametrize("checks", CHECKS[3:], ids=lambda checks: "+".join(c.kind for c in checks))
def test_the_best_node_is_found_without_looking_at_all(cells: str, checks: tuple[Check, ...], by: Any) -> None:
    looked = within_all = differ = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table = random_table(rng, n=40, d=4, values=5, kinds=("tree", "tree", "categorical"))
        domain, condition = condition_of(table, 2, checks, limit=6)
        within = search(domain, condition.necessary)
        chooser = Chooser(domain, condition, by)
        found = chooser.best_within(within)
        # Everything by definition: each node of the lattice, checked and costed from the rows.
        plain = PlainDomain(table, domain.names)
        passing = brute_force(plain, 2, checks, 6)
        assert all(within[node] for node in passing), seed
        if not passing:
            assert found is None
            continue
        costs = {}
        for node in passing:
            cube = domain.cube(node, condition.payloads | {"counts"})
            cost, loss, gone = chooser.cost_of(cube, condition.failing(cube))
            costs[node] = (cost, loss, node, gone)
        assert found is not None
        assert (found.cost, found.loss, found.levels, found.suppressed) == min(costs.values()), seed
        looked, within_all = looked + found.evaluated, within_all + int(within.sum())
        # A bound that is none is noticed: with it another node is taken.
        wrong = Chooser(domain, condition, by)
        wrong.__dict__["bounds"] = 100 - chooser.bounds
        taken = wrong.best_within(within)
        differ += taken is None or taken.levels != found.levels
    assert looked < within_all
    assert differ


def test_incognito_takes_the_best_of_all_nodes_it_did_not_list() -> None:
    names = ("age", "sex", "education", "race")
    table = Table.from_arrow(uc.datasets.census(2000, seed=3), uc.datasets.census_schema(names))
    method = uc.Incognito(k=4, l=3, suppression=0.03)
    domain, condition = method._prepared(table)
    listed, chosen = method._search(domain, condition, lambda *_: None)
    assert listed is None
    every = search(domain, condition)
    best = Chooser(domain, condition).best(every, suppressing=True)
    assert (chosen.levels, chosen.cost, chosen.suppressed) == (best.levels, best.cost, best.suppressed)
    assert chosen.evaluated < every.sum()
    assert method.candidates(table).num_rows == every.sum()


def plain_mean(plain: PlainDomain, axis: int, level: int, gone: list[list[int]]) -> float:
    table, name = plain.table, plain.names[axis]
    on = column_levels(table[name]).levels[level]
    lost = on.loss[on.node_of[table[name].codes]].copy()
    lost[[row for rows in gone for row in rows]] = 1.0
    return float(lost.mean())


def test_joint_condition_against_the_product_of_all_sets() -> None:
    rng = np.random.default_rng(5)
    for n_values in (6, 70):
        n_words = -(-n_values // 64)
        some = set()
        for _ in range(40):
            tables = [
                random_sets(rng, int(rng.integers(1, 7)), n_values, n_words) for _ in range(int(rng.integers(0, 4)))
            ]
            own = random_sets(rng, 5, n_values, n_words)
            counts = [
                int(np.bitwise_count(np.bitwise_and.reduce(np.stack(chosen), axis=0)).sum())
                for chosen in product(own, *tables)
            ]
            for least in (1, 2, n_values // 3):
                condition = JointCondition(least, tuple(tables), n_values)
                held = condition.passes(_cube_of(own))
                assert held == (min(counts) >= least)
                some.add(held)
        assert some == {True, False}


def random_sets(rng: np.random.Generator, count: int, n_values: int, n_words: int) -> np.ndarray:
    inside = rng.random((count, n_values)) < 0.8
    inside[:, 0] = True
    padded = np.zeros((count, n_words * 64), dtype=bool)
    padded[:, :n_values] = inside
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _cube_of(bits: np.ndarray) -> Any:
    class Held:
        held = {"bits": np.concatenate([bits, np.zeros_like(bits[:1])])}  # noqa: RUF012 (an empty cell is no cell)

    return Held()


def test_smallest_sets_by_definition() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        sets = random_sets(rng, 9, 5, 1)
        distinct = {int(row[0]) for row in sets}
        expected = {a for a in distinct if not any(b != a and b & a == b for b in distinct)}
        assert {int(row[0]) for row in smallest_sets(sets)} == expected


def test_cells_rolled_up_equal_cells_from_rows(cells: str) -> None:
    rng = np.random.default_rng(9)
    table = random_table(rng, n=40, d=3, values=6, missing=True, kinds=("tree",))
    domain = FullDomain(table, table.schema.quasi_identifiers, ("s", "t"))
    payloads: Any = {"counts", "bits", "tally"}
    start = domain.cube(tuple(0 for _ in domain.names), payloads)
    for node in domain.lattice:
        cube = start
        for axis, level in enumerate(node):
            if level:
                cube = cube.rolled_up(axis, level)
        fresh = domain.cube(node, payloads)
        for payload in payloads:
            assert sorted(map(tuple, cube.held[payload].tolist())) == sorted(map(tuple, fresh.held[payload].tolist()))
        assert cube.counts.sum() == 40


def test_too_many_combinations_for_one_number() -> None:
    n = 200
    rng = np.random.default_rng(3)
    data = {f"q{j}": [f"v{v}" for v in rng.integers(0, 190, n)] for j in range(10)}
    table = Table.from_arrow(pa.table(data), uc.Schema(quasi_identifiers=list(data)))
    domain = FullDomain(table, tuple(data))
    assert domain.classes((0,) * 10)[1].tolist() == list(range(n))
    cube = domain.cube((0,) * 10, {"counts"})
    assert cube.counts.tolist() == [1] * n
    for axis in range(9):
        cube = cube.rolled_up(axis, 1)
    assert sorted(cube.counts.tolist()) == sorted(np.unique(data["q9"], return_counts=True)[1].tolist())


def test_labels_are_read_back_as_the_node_they_name() -> None:
    # The category 250 contains the code 250: on level 1 it must not be read as the code.
    codes = uc.Hierarchy([("250", "250"), ("250.1", "250"), ("251", "251")])
    column = encode("icd", pa.array(["250", "250.1", "251"]), uc.Column(hierarchy=codes), missing="error")
    levels = column_levels(column)
    assert levels.levels[0].labels == ("250", "250.1", "251")
    assert levels.levels[1].labels == ("250 (level 1)", "251")
    assert levels.levels[2].labels == ("*",)
    assert levels.levels[1].loss.tolist() == [0.5, 0.0]


def test_missing_lies_under_the_root_only() -> None:
    towns = uc.Hierarchy([("Bonn", "Germany", "Earth"), ("Lyon", "France", "Earth")])
    column = encode("town", pa.array(["Bonn", None, "Lyon"]), uc.Column(hierarchy=towns), missing="category")
    levels = column_levels(column)
    assert [level.labels for level in levels.levels] == [("Bonn", "Lyon", ""), ("Germany", "France", ""), ("*",)]
    assert levels.levels[2].loss.tolist() == [1.0]


def test_recode_leaves_out_failing_classes() -> None:
    table = Table.from_arrow(pa.table({"zip": ["1", "2", "1", "3"]}), uc.Schema(quasi_identifiers=["zip"]))
    domain = FullDomain(table, ("zip",))
    condition = CellCondition(table, 2, (), 2)
    failing = condition.failing(domain.class_cube((0,), {"counts"}))
    recoded = recode(domain, (0,), failing)
    assert recoded.rows.tolist() == [0, 2]
    assert recoded.groups.count == 1
    assert [recoded.cells[0].labels[code] for code in recoded.cells[0].codes] == ["1"]
