"""Disjoint cells: hand-made tables, and boxes compared pair by pair."""

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.forms.classes import classes_of_table
from undercover.guarantees import disjoint
from undercover.guarantees.disjoint import DisjointCells
from undercover.guarantees.requirements import guarantee_from_mapping


def found(columns: dict[str, list[str]], **claim: object) -> tuple[bool | None, float | None]:
    finding = DisjointCells(**claim).check(classes_of_table(pa.table(columns), columns, suppressed_is_star=False))
    return finding.holds, finding.actual


def test_ranges() -> None:
    assert found({"age": ["[20, 29]", "[30, 39]", "40"]}) == (True, 0)
    assert found({"age": ["[20, 30]", "[30, 39]", "40"]}) == (False, 2)
    assert found({"age": ["[9, 10]", "[11, 100]"]}) == (True, 0)  # by number, not by text
    assert found({"day": ["[2020-01-01, 2020-02-01]", "2020-02-02"]}) == (True, 0)
    assert found({"age": ["*", "30"]}) == (False, 2)


def test_two_columns_are_disjoint_if_one_is() -> None:
    assert found({"age": ["[20, 29]", "[20, 29]"], "sex": ["F", "M"]}) == (True, 0)
    assert found({"age": ["[20, 29]", "[25, 29]"], "sex": ["{F, M}", "M"]}) == (False, 2)


def test_a_column_that_says_nothing_tells_nobody_apart() -> None:
    assert found({"age": ["*"] * 3, "sex": ["M", "{F, M}", "X"]}) == (False, 2)
    assert found({"age": ["*"] * 2, "sex": ["M", "F"]}) == (True, 0)


@pytest.mark.parametrize("few", [1, 2, 128])
def test_cells_around_one_another_that_no_column_tells_apart(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disjoint, "_SMALL", few)
    monkeypatch.setattr(disjoint, "_PAIRS", few)
    across, down = ["[0, 1]", "2", "[1, 2]", "0", "1"], ["0", "[0, 1]", "2", "[1, 2]", "1"]
    assert found({"x": across, "y": down}) == (True, 0)
    assert found({"x": [*across, "[1, 2]"], "y": [*down, "[1, 2]"]}) == (False, 4)


def test_sets_that_lie_between_one_another() -> None:
    sets = {"x": ["{a, c}", "{b, d}", "{e, g}", "f"], "y": ["*"] * 4}
    assert found(sets) == (True, 0)
    assert found({"x": [*sets["x"], "{d, e}"], "y": ["*"] * 5}) == (False, 3)


def test_the_same_cell_twice() -> None:
    assert found({"age": ["[20, 29]", "[20, 29]", "30"]}) == (False, 2)


def test_missing_is_a_value() -> None:
    assert found({"age": ["[20, 29]", ""]}) == (True, 0)
    assert found({"age": ["[20, 29]", '{30, ""}', "30"]}) == (False, 2)
    assert found({"age": ["*", ""]}) == (False, 2)


def test_nodes_need_their_tree() -> None:
    towns = {"town": ["Germany", "Bonn", "France"]}
    rows = [["Bonn", "Germany", "*"], ["Köln", "Germany", "*"], ["Lyon", "France", "*"]]
    assert found(towns, trees={"town": rows}) == (False, 2)
    assert found({"town": ["Köln", "Bonn", "France"]}, trees={"town": rows}) == (True, 0)
    claim = DisjointCells(trees={"town": rows})
    assert guarantee_from_mapping({"name": "disjoint-cells", **claim.parameters()}) == claim


def test_orders_are_stated_or_refused() -> None:
    grades = {"grade": ["[low, middle]", "high"]}
    assert found(grades, orders={"grade": ["low", "middle", "high"]}) == (True, 0)
    assert found(grades, orders={"grade": ["low", "high", "middle"]}) == (False, 2)
    assert found(grades) == (False, None)


def test_what_cannot_be_read_fails() -> None:
    assert found({"town": ["Bonn", "Mars"]}, trees={"town": [["Bonn", "*"], ["Lyon", "*"]]}) == (False, None)


def boxes_of(
    draw_seed: int, n: int, values: int
) -> tuple[dict[str, list[str]], list[tuple[set[int], set[int], set[int]]]]:
    rng = np.random.default_rng(draw_seed)
    boxes = []
    for _ in range(n):
        low, more = int(rng.integers(values)), int(rng.integers(0, max(1, values // 4)))
        other, span = int(rng.integers(values)), int(rng.integers(0, max(1, values // 3)))
        members = set(rng.choice(values, int(rng.integers(1, max(2, values // 2))), replace=False).tolist())
        boxes.append((set(range(low, low + more + 1)), set(range(other, other + span + 1)), members))
    cells = {
        "a": [f"[{min(a)}, {max(a)}]" if len(a) > 1 else str(min(a)) for a, _, _ in boxes],
        "b": [f"[{min(b)}, {max(b)}]" if len(b) > 1 else str(min(b)) for _, b, _ in boxes],
        "c": ["{" + ", ".join(f"v{m}" for m in sorted(c)) + "}" if len(c) > 1 else f"v{min(c)}" for _, _, c in boxes],
    }
    return cells, boxes


@given(st.integers(0, 2**32), st.integers(2, 60), st.integers(2, 30))
def test_against_every_pair(seed: int, n: int, values: int) -> None:
    cells, boxes = boxes_of(seed, n, values)
    overlapping = set()
    for (i, first), (j, second) in combinations(enumerate(boxes), 2):
        if all(x & y for x, y in zip(first, second, strict=True)):
            overlapping |= {i, j}
    assert found(cells) == (not overlapping, len(overlapping))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_many_boxes_against_every_pair(seed: int) -> None:
    """Enough boxes for taking apart and halving, few of which overlap."""
    cells, boxes = boxes_of(seed, 900, 400)
    overlapping = set()
    for (i, first), (j, second) in combinations(enumerate(boxes), 2):
        if all(x & y for x, y in zip(first, second, strict=True)):
            overlapping |= {i, j}
    holds, actual = found(cells)
    assert holds is (not overlapping)
    assert actual == len(overlapping)


def test_a_grid_with_one_fault() -> None:
    """A thousand cells of a grid are disjoint; one that is a little too wide is found, with its neighbour."""
    grid = list(product(range(40), range(25)))
    columns = {"x": [f"[{2 * x}, {2 * x + 1}]" for x, _ in grid], "y": [str(y) for _, y in grid]}
    assert found(columns) == (True, 0)
    columns["x"][500] = f"[{2 * grid[500][0]}, {2 * grid[500][0] + 2}]"
    assert found(columns) == (False, 2)


def test_everything_overlaps() -> None:
    columns = {"x": [f"[{i}, {i + 5000}]" for i in range(3000)]}
    holds, actual = found(columns)
    assert holds is False
    assert actual is not None
    assert actual >= 1000
