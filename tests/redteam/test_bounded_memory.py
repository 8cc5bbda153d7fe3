"""Memory once grew with the square of distinct values: 7.6 GB for one all-different column of 60,000 rows.

What took it was a bit for every cell and value (boxes), and a number for every cell and bin (tables of counts). Both
are held as runs and touched bins now. Their plain twins, which are quadratic, live on here.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import undercover as uc
from undercover.attacks.partial import matching, subsets
from undercover.attacks.partial.profile import profile
from undercover.forms import read
from undercover.forms.boxes import Boxes, boxes_of, match
from undercover.forms.case import Case
from undercover.forms.coverage import Coverage
from undercover.forms.looking import counting, rows
from undercover.forms.looking.counting import Touches
from undercover.forms.meaning import domain_values
from undercover.utility.binned_tables import tables_of

MANY = 20_000


def peak(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and the megabytes it needed at once."""
    tracemalloc.start()
    try:
        found = call()
        return found, tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def people(count: int) -> pa.Table:
    random = np.random.default_rng(3)
    return pa.table(
        {
            "age": random.integers(20, 90, count),
            "sex": random.choice(["F", "M"], count),
            "note": [f"note {place}" for place in random.permutation(count)],
            "ill": random.choice(["flu", "cold", "gout"], count),
        }
    )


@pytest.fixture(scope="module")
def run() -> uc.Run:
    """A column that is different for everybody, published as it is."""
    schema = uc.Schema(quasi_identifiers=["age", "sex"], insensitive=["note"], sensitive="ill")
    return uc.publish(people(MANY), schema, uc.Mondrian(k=5), policy="none", seed=1)


def test_boxes_of_an_all_different_column(run: uc.Run) -> None:
    """Once 400 MB for the truth table alone, and 50 MB for its bits."""
    original = run.original
    assert original is not None
    known = ["age", "sex", "note"]
    boxes, needed = peak(lambda: boxes_of(read(run.release), original, known, ["ill"]))
    assert needed < 60
    codes = np.stack([original[name].codes for name in known], axis=1).astype(np.int64)
    (offsets, members), needed = peak(lambda: match(boxes, codes, 1))
    assert needed < 150
    assert np.diff(offsets).tolist() == [1] * MANY  # everybody is found by his note
    assert np.bincount(members, minlength=MANY).tolist() == [1] * MANY


def test_texts_are_looked_up_as_they_are_read_one_by_one(run: uc.Run) -> None:
    """The quick way for columns that are published as they are, beside the plain one, and where it does not apply."""
    original = run.original
    assert original is not None
    cells, column = read(run.release).column("note"), original["note"]
    quick = Coverage.of_values(cells.values, column)
    plain = Coverage.of_meanings(domain_values(column).read_all(cells.labels, "value"), column.domain.size)
    assert quick is not None
    np.testing.assert_array_equal(quick.low, plain.low)
    np.testing.assert_array_equal(quick.high, plain.high)
    assert Coverage.of_values(pa.array(["note 1", "nowhere"]), column) is None
    assert Coverage.of_values(pa.array(["note 1", None]), column) is None
    assert Coverage.of_values(pa.array([1, 2]), column) is None


def test_a_quasi_identifier_of_many_values(run: uc.Run) -> None:
    data = pa.table({"wage": np.random.default_rng(5).permutation(MANY) / 7, "ill": run.original["ill"].codes})  # type: ignore[index]
    schema = uc.Schema(quasi_identifiers=["wage"], sensitive="ill", columns={"ill": uc.Column(kind="categorical")})
    made = uc.publish(data, schema, uc.Mondrian(k=5), policy="none", seed=1)
    original = made.original
    assert original is not None
    boxes, needed = peak(lambda: boxes_of(read(made.release), original, ["wage"], ["ill"]))
    assert needed < 30
    (offsets, _), needed = peak(lambda: match(boxes, original["wage"].codes.astype(np.int64)[:, None], 1))
    assert needed < 80
    assert (np.diff(offsets) >= 1).all()  # ends that are rounded make neighbours overlap
    shown = read(made.release).estimates(original)
    tables, needed = peak(lambda: tables_of(original, shown))
    assert needed < 30
    np.testing.assert_allclose(tables.columns["wage"].after.sum(), MANY)


def masks(cover: Coverage) -> NDArray[np.bool_]:
    """(n_cells, n_positions) whether each cell covers each position: the plain twin, quadratic."""
    bits = np.zeros((cover.n_cells, cover.n_positions), dtype=bool)
    for cell in range(cover.n_cells):
        for place in range(cover.starts[cell], cover.starts[cell + 1]):
            bits[cell, cover.low[place] : cover.high[place] + 1] = True
    return bits


def random_cover(random: np.random.Generator, cells: int, positions: int) -> Coverage:
    """Cells that are single values, ranges, scattered sets, or nothing."""
    inside = random.random((cells, positions)) < random.choice([0.1, 0.6], (cells, 1))
    starts = random.integers(0, positions, cells)
    for cell in range(0, cells, 2):
        inside[cell] = False
        inside[cell, starts[cell] : starts[cell] + random.integers(0, 4)] = True
    runs = [np.flatnonzero(np.diff(np.concatenate([[0], line.astype(int), [0]]))).reshape(-1, 2) for line in inside]
    runs = [each if len(each) else np.array([[0, 0]]) for each in runs]
    flat = np.concatenate(runs)
    return Coverage(np.cumsum([0, *map(len, runs)]), flat[:, 0], flat[:, 1] - 1, positions)


@pytest.mark.parametrize("seed", range(12))
def test_boxes_that_fit_are_those_of_the_plain_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 90, random.integers(1, 4)).tolist()
    covers = [random_cover(random, int(random.integers(1, 40)), size) for size in sizes]
    count = int(random.integers(1, 300))
    cells = np.stack([random.integers(0, cover.n_cells, count) for cover in covers], axis=1).astype(np.int32)
    starts = np.cumsum([0, *sizes])
    boxes = Boxes(np.ones(count, np.int64), np.arange(count), cells, covers, starts, None, {})
    targets = np.stack([random.integers(0, size, 60) for size in sizes], axis=1)
    offsets, members = match(boxes, targets, 2)
    twins = [masks(cover)[cells[:, j]] for j, cover in enumerate(covers)]
    for i, target in enumerate(targets.tolist()):
        fits = np.logical_and.reduce([twin[:, code] for twin, code in zip(twins, target, strict=True)])
        assert members[offsets[i] : offsets[i + 1]].tolist() == np.flatnonzero(fits).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_coverage_answers_as_its_plain_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    cover = random_cover(random, 50, 40)
    plain = masks(cover)
    cells, codes = random.integers(0, 50, 400), random.integers(0, 40, 400)
    assert cover.holds(cells, codes).tolist() == plain[cells, codes].tolist()
    some = np.unique(random.integers(0, 40, 3))
    assert cover.holds_all(np.arange(50), some).tolist() == plain[:, some].all(axis=1).tolist()
    assert cover.holds_all(np.zeros(0, np.int64), some).tolist() == []
    assert plain.sum(axis=1).tolist() == cover.sizes.tolist()


@pytest.mark.parametrize("most", [1, 1 << 20])
@pytest.mark.parametrize("seed", range(6))
def test_shares_of_bins_are_those_of_the_plain_twin(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST_COUNTS", most)
    random = np.random.default_rng(seed)
    cover, bins = random_cover(random, 30, 25), random.integers(0, 6, 25)
    dense = masks(cover).astype(int) @ (bins[:, None] == np.arange(6)) / np.maximum(cover.sizes, 1)[:, None]
    touches = Touches.of(cover, bins, 6)
    found = np.zeros((30, 6))
    found[np.repeat(np.arange(30), np.diff(touches.starts)), touches.bins] = touches.shares
    np.testing.assert_array_equal(found, dense)
    weights = random.random(30)
    np.testing.assert_allclose(touches.spread(weights, 6), weights @ dense)
    some = random.integers(0, 30, 9)
    part = touches.of_cells(some)
    np.testing.assert_array_equal(np.diff(part.starts), np.diff(touches.starts)[some])


def test_many_cells_and_many_bins(run: uc.Run) -> None:
    """Sets of many categories: once a number for every run and bin, and another for every value and bin."""
    random = np.random.default_rng(1)
    members = np.sort(random.permuted(np.tile(np.arange(57), (MANY, 1)), axis=1)[:, :5], axis=1)
    flat = members.reshape(-1).astype(np.int64)
    cover = Coverage(np.arange(0, 5 * MANY + 1, 5), flat, flat, 57)
    touches, needed = peak(lambda: Touches.of(cover, np.minimum(np.arange(57), 49), 50))
    assert needed < 45  # a table of all runs and bins has 40 MB, and there were three of them
    np.testing.assert_allclose(touches.spread(np.ones(MANY), 50).sum(), MANY)


def test_in_pieces_or_at_once_comes_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = uc.datasets.census_schema(["age", "sex", "education"], "income", hierarchies=False)
    made = uc.publish(uc.datasets.census(400, seed=2), schema, uc.Mondrian(k=4), policy="none", seed=1)
    case = Case.of(made)
    known = ("age", "sex", "education")
    whole = profile(case.reading, case.original, known)
    looked = uc.attack(made).to_dict()
    monkeypatch.setattr(matching, "_MOST_WORDS", 1)
    monkeypatch.setattr(subsets, "_MOST_BITS", 1)
    monkeypatch.setattr(rows, "_MOST_BITS", 1)
    pieces = profile(case.reading, case.original, known)
    np.testing.assert_allclose(pieces.identity, whole.identity)
    np.testing.assert_allclose(pieces.matches, whole.matches)
    assert uc.attack(made).to_dict() == looked
