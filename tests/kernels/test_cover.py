"""Output tables: the paper's figures, closed forms by hand, a plain twin, HiGHS as oracle, and faults that show."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from plain_cover import (
    Solved,
    as_good_as,
    feasible,
    kernel_table,
    objective_of,
    oracle,
    plain_interior_point,
)

from effort import examples
from undercover.methods.mutual_cover.kernels import Tables
from undercover.methods.mutual_cover.kernels.programs import INTERIOR, KEPT, SHARED, UNIFORM, compact, finish_table

AGES = np.array([28, 29, 32, 33, 35, 39, 40, 41])  # Figure 1
AGE_COUNTS = np.array([1, 2, 1, 1, 1, 2, 1, 1])
AGE_OBJECTIVES = {
    "1": "0", "9/10": "13/18", "1/2": "5", "2/5": "29/5", "1/3": "19/3", "1/4": "25/2", "1/5": "15", "3/20": "33",
    "1/10": "43",
}  # fmt: skip


def apart(rows: NDArray[np.int64], columns: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    return np.abs(rows[:, None] - (rows if columns is None else columns)).astype(np.float64)


def flat(q: int) -> NDArray[np.float64]:
    return 1 - np.eye(q)


@pytest.mark.parametrize(("delta", "best"), AGE_OBJECTIVES.items())
@pytest.mark.parametrize("columns", [None, np.arange(28, 42)])
def test_ages_of_figure_1(delta: str, best: str, columns: NDArray[np.int64] | None) -> None:
    cost = apart(AGES, columns)
    found = kernel_table(AGE_COUNTS, cost, delta)
    assert found.objective == pytest.approx(float(Fraction(best)), rel=1e-9)
    assert found.objective == pytest.approx(objective_of(AGE_COUNTS, cost, found.full), rel=1e-12)
    assert Fraction(found.bound) <= Fraction(best)
    assert found.objective - found.bound <= 1e-9 * found.objective
    assert feasible(AGE_COUNTS, found.x, Fraction(delta))


@pytest.mark.parametrize(
    ("counts", "delta", "best"),
    [((5, 4), "1/5", 1), ((4, 4, 4), "1/5", 2.4), ((9, 1), "1/5", 1), ((7, 2, 1), "1/5", 3)],
)
def test_categories_without_order(counts: tuple[int, ...], delta: str, best: float) -> None:
    found = kernel_table(counts, flat(len(counts)), delta)
    assert found.objective == pytest.approx(best, rel=1e-9)
    assert feasible(counts, found.x, Fraction(delta))


@pytest.mark.parametrize(("delta", "best"), [("1/5", 12), ("1/10", 25)])
def test_integers_from_0_to_9(delta: str, best: float) -> None:
    assert kernel_table(np.ones(10), apart(np.arange(10)), delta).objective == pytest.approx(best, rel=1e-9)


def test_figure_2_lies_inside_the_optimal_face() -> None:
    found = kernel_table(AGE_COUNTS, apart(AGES, np.arange(28, 42)), "1/2")
    support = {
        28: {28, 29}, 29: {28, 29}, 32: {32, 33, 34, 35}, 33: {32, 33, 34, 35}, 35: {32, 33, 34, 35}, 39: {39},
        40: {40, 41}, 41: {40, 41},
    }  # fmt: skip
    released = found.outputs + 28
    for age, row in zip(AGES, found.x, strict=True):
        assert set(released[row > 0].tolist()) == support[int(age)]
        assert row[row > 0].min() > 0.05
    assert int(((found.x > 0).sum(axis=1) * AGE_COUNTS).sum()) == 24


def test_figure_2_as_printed_is_optimal_too() -> None:
    printed = np.zeros((8, 14))
    printed[0, :2], printed[1, :2] = (0.641076, 0.358924), (0.320538, 0.679462)
    printed[2, 4:8] = 0.380565, 0.319897, 0.152984, 0.146554
    printed[3, 4:8] = 0.271432, 0.340087, 0.190518, 0.197963
    printed[4, 4:8] = 0.109134, 0.202847, 0.343502, 0.344517
    printed[5, 11] = 1
    printed[6:, 12:] = 0.497376, 0.502624
    assert objective_of(AGE_COUNTS, apart(AGES, np.arange(28, 42)), printed) == pytest.approx(5, abs=1e-5)


def test_a_group_of_exactly_one_over_delta_rows_shares_the_cheapest_columns() -> None:
    # Values 0, 1, 2, 3 once each: the costs of the columns are 6, 4, 4, 6.
    found = kernel_table([1, 1, 1, 1], apart(np.arange(4)), "1/4")
    assert found.origin == SHARED
    assert found.outputs.tolist() == [1, 2]
    assert (found.x == 0.5).all()
    assert found.objective == 4
    assert 4 * (1 - 1e-14) < found.bound <= 4


def test_where_counts_suffice_everybody_keeps_his_value() -> None:
    found = kernel_table([5, 7], apart(np.arange(2)), "1/5")
    assert (found.origin, found.objective, found.bound) == (KEPT, 0, 0)
    assert found.x.tolist() == [[1, 0], [0, 1]]
    # 4 < 5 = 1/delta: one of the four must be covered.
    assert kernel_table([4, 7], apart(np.arange(2)), "1/5").origin == INTERIOR


def test_values_at_no_distance_cover_each_other() -> None:
    cost = np.array([[0.0, 0, 1], [0, 0, 1], [1, 1, 0]])
    found = kernel_table([5, 5, 5], cost, "1/5")
    assert found.origin == INTERIOR
    assert found.objective == pytest.approx(0, abs=1e-9)
    assert (found.x[:2, :2] > 0.1).all(), "the interior of the face, not the identity"
    nothing = kernel_table([2, 3], np.zeros((2, 2)), "1/4")
    assert nothing.objective == 0
    assert (nothing.x == 0.5).all()


def test_one_value_stays() -> None:
    found = kernel_table([3], np.zeros((1, 1)), "1/3")
    assert (found.origin, found.x.tolist()) == (KEPT, [[1.0]])


def test_uniform_tables_on_request() -> None:
    found = kernel_table([3, 1], flat(2), "1/4", uniform=True)
    assert (found.origin, found.objective, found.bound) == (UNIFORM, 2, 0)
    assert (found.x == 0.5).all()


@st.composite
def programs(draw: st.DrawFn) -> tuple[NDArray[np.int64], NDArray[np.float64], Fraction]:
    q = draw(st.integers(2, 9))
    counts = np.array(draw(st.lists(st.integers(1, draw(st.sampled_from([1, 3, 8]))), min_size=q, max_size=q)))
    kind = draw(st.sampled_from(["numbers", "range", "skewed", "flat", "tree", "matrix"]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if kind in ("numbers", "range", "skewed"):
        top = 1_000_000 if kind == "skewed" else 60
        drawn = np.exp(random.random(q) * np.log(top)) if kind == "skewed" else random.choice(top, q, replace=False)
        values = np.unique(drawn.astype(np.int64))
        counts = counts[: len(values)]
        cost = apart(values, np.arange(values[0], values[-1] + 1) if kind == "range" else None)
    elif kind == "flat":
        cost = flat(q)
    elif kind == "tree":
        branch = random.integers(0, 3, q)
        cost = np.where(branch[:, None] == branch, 0.4, 1.0) * flat(q)
    else:
        cost = random.random((q, q)) * (random.random((q, q)) < 0.9) * flat(q)
    m = int(counts.sum())
    numerator = draw(st.integers(1, 3))
    return counts, cost, min(Fraction(1), Fraction(numerator, draw(st.integers(1, numerator * m))))


def holds(counts: NDArray[np.int64], cost: NDArray[np.float64], delta: Fraction, found: Solved) -> bool:
    """Feasible, as cheap as HiGHS's table, and a bound that is tight and on the right side."""
    best = oracle(counts, cost, delta)
    return (
        feasible(counts, found.x, delta)
        and as_good_as(objective_of(counts, cost, found.full), best)
        and as_good_as(found.bound, best)
        and found.bound <= best * (1 + 1e-9) + 1e-12
    )


@examples(100)
@given(programs())
def test_any_program_against_highs(program: tuple[NDArray[np.int64], NDArray[np.float64], Fraction]) -> None:
    assert holds(*program, kernel_table(*program))


def many(count: int, seed: int) -> list[tuple[NDArray[np.int64], NDArray[np.float64], Fraction]]:
    """Programs as groups have them: some fifteen rows, numbers, delta well above 1/m."""
    print(f"seed {seed}")
    random = np.random.default_rng(seed)
    drawn = []
    for _ in range(count):
        q = int(random.integers(2, 12))
        counts = 1 + random.multinomial(int(random.integers(3, 14)), np.full(q, 1 / q))
        delta = Fraction(1, int(random.integers(2, counts.sum())))
        drawn.append((counts, apart(np.sort(random.choice(90, q, replace=False))), delta))
    return drawn


def test_the_plain_twin_finds_the_same_tables() -> None:
    for counts, cost, delta in many(120, seed=5):
        found = kernel_table(counts, cost, delta)
        if found.origin == INTERIOR:
            twin = plain_interior_point(counts, cost, delta)
            assert objective_of(counts, cost, twin) == pytest.approx(found.objective, rel=1e-7)
            # Where on the optimal face the iteration ends depends on its last digits.
            np.testing.assert_allclose(found.full, twin, atol=1e-3)
            assert ((found.full > 0) == (twin > 1e-7)).all()


def test_a_wrong_sign_in_the_newton_step_shows() -> None:
    with np.errstate(all="ignore"):
        wrong = [
            as_good_as(objective_of(counts, cost, plain_interior_point(counts, cost, delta, theta_sign=-1)), best)
            for counts, cost, delta in many(12, seed=6)
            if (best := oracle(counts, cost, delta)) > 0
        ]
    assert wrong
    assert not all(wrong)


def test_a_perturbed_distance_shows() -> None:
    caught = 0
    for counts, cost, delta in many(20, seed=7):
        other = cost.copy()
        other[:, 1] += 0.4 * cost.max()
        caught += not holds(counts, cost, delta, kernel_table(counts, other, delta))
    assert caught > 5


def test_a_table_above_delta_shows() -> None:
    counts, cost = AGE_COUNTS, apart(AGES)
    found = kernel_table(counts, cost, "1/2")
    assert holds(counts, cost, Fraction(1, 2), found)
    spoilt = found.full * (1 - 1e-9) + 1e-9 * np.eye(8)
    assert not feasible(counts, spoilt, Fraction(1, 2))


def test_repair_of_a_table_from_elsewhere() -> None:
    counts, cost = AGE_COUNTS.astype(np.float64), apart(AGES)
    x = kernel_table(AGE_COUNTS, cost, "1/4").full + 1e-5 * np.eye(8)
    x[0, 7] = 1e-16
    assert not feasible(AGE_COUNTS, x, 0.25)
    objective, bound = finish_table(x, cost, np.zeros((8, 8)), counts, 0.25)
    assert feasible(AGE_COUNTS, x, 0.25)
    assert objective == pytest.approx(objective_of(counts, cost, x), rel=1e-12)
    assert 12.5 <= objective < 12.51
    assert bound == 0, "without multipliers the bound is what distances alone give"


def test_closing_gaps() -> None:
    starts, column_starts, cell_starts = np.array([0, 2, 3]), np.array([0, 3, 5]), np.array([0, 6, 8])
    columns = np.array([4, 6, -1, 9, -1], np.int32)
    cells = np.array([0.1, 0.9, 0.2, 0.8, -1, -1, 1.0, -1])
    rows = np.zeros(0, np.int32)
    tables = Tables(starts, rows, rows, column_starts, columns, cell_starts, cells)
    new_columns, new_cells = compact(tables, np.array([2, 1], np.int32))
    assert (new_columns.tolist(), columns[:3].tolist()) == ([0, 2, 3], [4, 6, 9])
    assert (new_cells.tolist(), cells[:5].tolist()) == ([0, 4, 5], [0.1, 0.9, 0.2, 0.8, 1.0])
