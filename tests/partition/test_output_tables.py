"""Output tables of whole partitions: every table against HiGHS, the paper's example, refusals, the fallback."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from undercover.errors import ParameterError, UnreachableError
from undercover.methods.mutual_cover import highs
from undercover.methods.mutual_cover.highs import solve_by_highs
from undercover.methods.mutual_cover.kernels import programs as cover
from undercover.methods.mutual_cover.tables import ORIGINS, OutputTables, output_tables
from undercover.model.distance.declared import Distances
from undercover.model.groups import Groups
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.threads import however_little

FIGURE_1 = [28, 29, 29, 32, 33, 35, 39, 39, 40, 41]
REGIONS = Hierarchy([(town, "north" if town < "d" else "south") for town in "abcdef"])


def ages(values: list[Any] | None = None, missing: str = "error") -> tuple[Table, Groups]:
    values = FIGURE_1 if values is None else values
    data = pa.table({"age": values, "disease": [str(i) for i in range(len(values))]})
    table = Table.from_arrow(data, Schema(quasi_identifiers=["age"], sensitive="disease", missing=missing))
    return table, Groups(np.zeros(len(values), np.int32), 1)


def mixed(seed: int = 1, n: int = 300) -> tuple[Table, Groups]:
    """Numbers, a tree, flat categories, ranks and missing numbers in random groups of 6 and more rows."""
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    hours = random.integers(1, 60, n).astype(float)
    hours[random.random(n) < 0.1] = np.nan
    data = pa.table(
        {
            "age": random.integers(20, 60, n),
            "town": random.choice(list("abcdef"), n, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1]),
            "sex": random.choice(["f", "m"], n),
            "grade": random.choice(["low", "middle", "high"], n),
            "hours": hours,
            "disease": [str(i) for i in range(n)],
        }
    )
    schema = Schema(
        quasi_identifiers=["age", "town", "sex", "grade", "hours"],
        sensitive="disease",
        columns={"town": Column(hierarchy=REGIONS), "grade": Column(kind="ordinal", domain=("low", "middle", "high"))},
        missing="category",
    )
    cuts = np.concatenate([[0], np.cumsum(random.integers(6, 20, 15)), [n]])
    return Table.from_arrow(data, schema), Groups.from_order(random.permutation(n), cuts)


def costs_of(found: OutputTables, attribute: int, group: int, every: bool = False) -> NDArray[np.float64]:
    one = found.table(attribute=attribute, group=group)
    outputs = one.originals if every else one.outputs
    between = found.distances[attribute].between
    return np.array([[between(u, v) for v in outputs] for u in one.originals])


def optimum(cost: NDArray[np.float64], counts: NDArray[Any], delta: Fraction) -> float:
    q, n = cost.shape
    caps = np.eye(q * n) - np.kron(np.ones((q, 1)) * float(delta) * counts[None, :], np.eye(n))
    sums = np.kron(np.eye(q), np.ones((1, n)))
    cost = counts[:, None] * cost
    found = linprog(cost.ravel(), A_eq=sums, b_eq=np.ones(q), A_ub=caps, b_ub=np.zeros(q * n), method="highs-ds")
    assert found.status == 0
    return float(found.fun)


def check(table: Table, groups: Groups, found: OutputTables) -> None:
    """Every table has the group's values and counts, is feasible and costs what its objective says."""
    assert len(found) == groups.count * len(found.attributes)
    for attribute, name in enumerate(found.attributes):
        for group in range(groups.count):
            one = found.table(attribute=attribute, group=group)
            values, counts = np.unique(table[name].codes[groups.rows_of(group)], return_counts=True)
            assert one.originals.tolist() == values.tolist()
            assert one.counts.tolist() == counts.tolist()
            assert (np.diff(one.outputs) > 0).all()
            assert (one.probabilities >= 0).all()
            assert abs(one.probabilities.sum(axis=1) - 1).max() <= 2e-15
            mass = one.counts @ one.probabilities
            assert (one.probabilities.max(axis=0) <= float(found.delta) * (1 + 1e-12) * mass).all()
            cost = (one.counts[:, None] * costs_of(found, attribute, group) * one.probabilities).sum()
            assert found.objectives[found.number(attribute=attribute, group=group)] == pytest.approx(cost, abs=1e-9)
    assert (found.column_shares() <= float(found.delta) * (1 + 1e-12)).all()


def test_figure_2() -> None:
    found = output_tables(*ages(), delta=Fraction(1, 2), columns="integer_range")
    one = found.table(attribute=0, group=0)
    assert [found.distances[0].outputs.labels[code] for code in one.outputs] == [
        "28", "29", "32", "33", "34", "35", "39", "40", "41",
    ]  # fmt: skip
    assert int(((one.probabilities > 0).sum(axis=1) * one.counts).sum()) == 24
    assert found.objectives[0] == pytest.approx(5, rel=1e-9)
    assert found.spreads[0] == 13
    assert ORIGINS[found.origins[0]] == "interior"


def test_a_whole_partition_against_highs() -> None:
    table, groups = mixed()
    for delta in (Fraction(1, 3), Fraction(2, 11), Fraction(1, 6)):
        found = output_tables(table, groups, delta=delta)
        check(table, groups, found)
        assert found.gaps.max() < 1e-7
        for attribute in range(5):
            for group in range(groups.count):
                one = found.table(attribute=attribute, group=group)
                best = optimum(costs_of(found, attribute, group, every=True), one.counts, delta)
                p = found.number(attribute=attribute, group=group)
                assert found.objectives[p] == pytest.approx(best, rel=1e-6, abs=1e-9)
                assert found.bounds[p] <= best * (1 + 1e-9) + 1e-12
        assert {ORIGINS[origin] for origin in found.origins} >= {"interior", "kept"}
        if delta == Fraction(1, 6):
            assert "shared" in {ORIGINS[origin] for origin in found.origins}


@however_little()
def test_the_result_does_not_depend_on_threads() -> None:
    table, groups = mixed()
    one = output_tables(table, groups, delta=Fraction(1, 5), threads=1)
    four = output_tables(table, groups, delta=Fraction(1, 5), threads=4)
    assert one.probabilities.tobytes() == four.probabilities.tobytes()
    assert one.outputs.tobytes() == four.outputs.tobytes()
    assert one.bounds.tobytes() == four.bounds.tobytes()


def test_column_masses_and_shares() -> None:
    table, groups = mixed()
    found = output_tables(table, groups, delta=Fraction(1, 4))
    masses, shares = found.column_masses(), found.column_shares()
    for attribute, group in ((0, 0), (1, 3), (4, 7)):
        p = found.number(attribute=attribute, group=group)
        one = found.table(attribute=attribute, group=group)
        here = slice(found.column_starts[p], found.column_starts[p + 1])
        np.testing.assert_allclose(masses[here], one.counts @ one.probabilities, rtol=1e-14)
        np.testing.assert_allclose(shares[here], one.probabilities.max(axis=0) / masses[here], rtol=1e-14)


def test_integer_ranges_with_and_without_missing_values() -> None:
    table, _ = ages([3, 7, None, None, 7, 9, 9, 9, None, None, None, 4], missing="category")
    groups = Groups(np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0], np.int32), 3)
    found = output_tables(table, groups, delta=Fraction(1, 3), columns="integer_range", tables="uniform")
    labels = found.distances[0].outputs.labels
    released = [[labels[code] for code in found.table(attribute=0, group=g).outputs] for g in range(3)]
    assert released == [["3", "4", "5", "6", "7", ""], ["9"], [""]]
    check(table, groups, output_tables(table, groups, delta=Fraction(1, 3), columns="integer_range"))


def test_uniform_tables() -> None:
    table, groups = mixed()
    found = output_tables(table, groups, delta=Fraction(1, 6), tables="uniform")
    check(table, groups, found)
    assert {ORIGINS[origin] for origin in found.origins} == {"uniform"}
    one = found.table(attribute=0, group=0)
    assert one.outputs.tolist() == one.originals.tolist()
    assert (one.probabilities == 1 / len(one.outputs)).all()
    assert (found.bounds == 0).all()


def with_distance(table: Table, name: str, matrix: NDArray[np.float64]) -> Table:
    """The table with distances of the holder's own, by code, for the values of one column that are not missing."""
    column = table[name]
    own = Distances(column.domain.labels[: len(column.domain.values)], matrix)
    columns = {**table.columns, name: replace(column, settings=replace(column.settings, distance=own))}
    return replace(table, columns=columns)


def test_three_values_by_hand() -> None:
    # All three share one distribution. By a: 1 + 4, by b: 1 + 2, by c: 4 + 2; flat: 2 for each of them.
    data = pa.table({"town": ["a", "b", "c"], "disease": ["x", "y", "z"]})
    plain = Table.from_arrow(data, Schema(quasi_identifiers=["town"], sensitive="disease"))
    groups = Groups(np.zeros(3, np.int32), 1)
    flat = output_tables(plain, groups, delta=Fraction(1, 3))
    assert (flat.objectives[0], flat.spreads[0]) == (pytest.approx(2), 1)
    np.testing.assert_allclose(flat.table(attribute=0, group=0).probabilities, 1 / 3)
    table = with_distance(plain, "town", np.array([[0, 1, 4], [1, 0, 2], [4, 2, 0]]))
    found = output_tables(table, groups, delta=Fraction(1, 3))
    assert (found.objectives[0], found.spreads[0], found.distances[0].widest) == (3, 4, 4)
    one = found.table(attribute=0, group=0)
    assert one.outputs.tolist() == [1]
    assert one.probabilities.tolist() == [[1], [1], [1]]


def test_own_distances_of_a_partition_against_highs() -> None:
    plain, groups = mixed()
    own = np.abs(np.arange(6.0)[:, None] - np.arange(6)) ** 2
    own[0, 1] = own[1, 0] = 0.0  # different values may be as good as one
    table = with_distance(plain, "town", own)
    found = output_tables(table, groups, delta=Fraction(1, 4))
    check(table, groups, found)
    for group in range(groups.count):
        one = found.table(attribute=1, group=group)
        best = optimum(own[np.ix_(one.originals, one.originals)], one.counts, Fraction(1, 4))
        assert found.objectives[found.number(attribute=1, group=group)] == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_own_distances_equal_to_the_usual_ones_change_nothing() -> None:
    table, groups = mixed()
    usual = output_tables(table, groups, delta=Fraction(1, 4))
    same = table
    for attribute, name in enumerate(usual.attributes):
        present = range(len(table[name].domain.values))
        between = usual.distances[attribute].between
        if name != "hours":  # where a missing number lies behind the others, not as far as they are apart
            same = with_distance(same, name, np.array([[between(u, v) for v in present] for u in present]))
    found = output_tables(same, groups, delta=Fraction(1, 4))
    for field in ("originals", "outputs", "probabilities", "objectives", "bounds", "spreads", "origins"):
        assert getattr(found, field).tobytes() == getattr(usual, field).tobytes(), field
    doubled = with_distance(same, "age", 2 * found.distances[0].matrix)  # the scale does not matter, one distance does
    assert output_tables(doubled, groups, delta=Fraction(1, 4)).probabilities.tobytes() == found.probabilities.tobytes()
    bent = found.distances[0].matrix.copy()
    bent[0, :] = bent[:, 0] = 100 * bent[0]
    other = output_tables(with_distance(same, "age", bent), groups, delta=Fraction(1, 4))
    assert other.probabilities.tobytes() != found.probabilities.tobytes()


def test_groups_too_small_for_delta() -> None:
    # {0, 1, 2} with delta = .3: three rows, and 3 * .3 < 1.
    with pytest.raises(UnreachableError, match="the smallest feasible delta is 1/3") as caught:
        output_tables(*ages([0, 1, 2]), delta=Fraction(3, 10))
    assert caught.value.best == {"delta": Fraction(1, 3)}
    assert output_tables(*ages([0, 1, 2]), delta=Fraction(1, 3)).objectives[0] == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"delta": Fraction(0)}, "Fraction in"),
        ({"delta": Fraction(3, 2)}, "Fraction in"),
        ({"delta": 0.5}, "Fraction in"),
        ({"columns": "all"}, "'columns'"),
        ({"tables": "best"}, "'tables'"),
    ],
)
def test_wrong_parameters(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        output_tables(*ages(), **({"delta": Fraction(1, 2)} | wrong))


def test_delta_is_compared_as_a_fraction() -> None:
    # 49 * (1 / 49) is below 1 in floating point.
    assert 49 * (1 / 49) < 1
    found = output_tables(*ages(list(range(49))), delta=Fraction(1, 49))
    assert ORIGINS[found.origins[0]] == "shared"
    assert found.table(attribute=0, group=0).outputs.tolist() == [24]


def giving_up(spoil: Callable[[Any, Any, Any], None]) -> Callable[..., None]:
    """The kernel, except that it says of every table with an interior that it did not converge."""

    def solve(numbers: Any, tables: Any, *asked: Any) -> None:
        real(numbers, tables, *asked)
        solved = asked[-1]
        for p in numbers:
            if solved.origins[p] == cover.INTERIOR:
                solved.origins[p] = cover.UNCONVERGED
                spoil(p, tables, solved)

    real = cover.cover_tables
    for name in ("overloads", "stats", "py_func"):
        setattr(solve, name, getattr(real, name))
    return solve


@pytest.mark.parametrize("columns", ["observed", "integer_range"])
def test_tables_the_kernel_gives_up_on_come_from_highs(monkeypatch: pytest.MonkeyPatch, columns: Any) -> None:
    table, groups = mixed()
    ours = output_tables(table, groups, delta=Fraction(1, 5), columns=columns)

    def nothing_found(p: int, tables: Any, solved: Any) -> None:
        solved.kept[p], solved.objectives[p], solved.bounds[p] = 0, np.nan, 0.0
        tables.probabilities[tables.cell_starts[p] : tables.cell_starts[p + 1]] = np.nan

    monkeypatch.setattr(cover, "cover_tables", giving_up(nothing_found))
    found = output_tables(table, groups, delta=Fraction(1, 5), columns=columns)
    check(table, groups, found)
    assert "highs" in {ORIGINS[origin] for origin in found.origins}
    np.testing.assert_allclose(found.objectives, ours.objectives, rtol=1e-6, atol=1e-9)
    assert found.gaps.max() < 1e-5


def test_the_kernels_table_stays_where_highs_finds_none_cheaper(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = output_tables(*ages(), delta=Fraction(1, 2))

    def cheaper_than_possible(p: int, tables: Any, solved: Any) -> None:
        solved.objectives[p] = 4.0

    monkeypatch.setattr(cover, "cover_tables", giving_up(cheaper_than_possible))
    found = output_tables(*ages(), delta=Fraction(1, 2))
    assert found.probabilities.tobytes() == ours.probabilities.tobytes()


@pytest.mark.parametrize("iterations", [0, 1, 4])
def test_a_general_solver_that_is_stopped_spoils_nothing(monkeypatch: pytest.MonkeyPatch, iterations: int) -> None:
    table, groups = mixed()
    ours = output_tables(table, groups, delta=Fraction(1, 5))
    monkeypatch.setattr(cover, "cover_tables", giving_up(lambda p, tables, solved: None))
    monkeypatch.setattr(highs, "_ITERATIONS", iterations)
    found = output_tables(table, groups, delta=Fraction(1, 5))
    check(table, groups, found)
    assert (found.objectives <= ours.objectives).all()
    assert (found.bounds >= ours.bounds).all()


def test_a_program_that_rounding_spoils_in_the_kernel() -> None:
    # Rows tied together by tight columns: the Newton matrix is singular to the last digit long before the end.
    values = [0, 8, 13, 17, 21, 22, 26, 29, 31, 37, 42, 65, 71, 72, 76, 86, 92, 93, 95, 96]
    table, groups = ages(values)
    found = output_tables(table, groups, delta=Fraction(1, 5))
    check(table, groups, found)
    assert found.objectives[0] == pytest.approx(103.4, rel=1e-9)
    assert found.gaps[0] < 1e-8


def test_highs_ends_inside_the_face() -> None:
    values, counts = np.unique(FIGURE_1, return_counts=True)
    x, prices = solve_by_highs(np.abs(values[:, None] - np.arange(28, 42)).astype(float), counts, 0.5)
    assert int(((x > 1e-6).sum(axis=1) * counts).sum()) == 24
    assert (prices >= 0).all()


def test_highspy_is_loaded_only_when_needed() -> None:
    code = "import sys, undercover.methods.mutual_cover.tables; print(sorted({'highspy', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_compilation_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.compiled import jit as compilation

    heard: list[str] = []
    monkeypatch.setattr(compilation, "needs_compiling", lambda kernel: True)
    output_tables(*ages(), delta=Fraction(1, 2), progress=lambda stage, share: heard.append(stage))
    assert heard[0].startswith("compiling the output table kernel")
    assert heard[-1] == "output tables"
