"""Making and reading share no code: a fault planted in one half is caught by the other.

The fault is the same on both sides: of everything a cell of a shared column covers, only the first leaf is seen. Too
few classes then seem to meet, and a table that gives somebody away looks safe.
"""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, InternalError
from undercover.guarantees.joint.diversity import CellReader
from undercover.guarantees.joint.sets import is_acyclic, least_intersection
from undercover.guarantees.joint.shared import shared_cells
from undercover.guarantees.joint.tables import foreign_table, together
from undercover.methods.noncentralized import cells
from undercover.methods.noncentralized.cells import LeafBits, least_left, require_independent
from undercover.model.published import Published

CASES = [
    ("work_class", "race", "education", 3),
    ("marital_status", "age", "race", 3),
    ("race", "marital_status", "work_class", 6),
]


def beside(shared: str, other: str, own: str, l: int) -> tuple[pa.Table, uc.Schema, uc.NonCentralized]:  # noqa: E741
    """A table to be published next to one that has a column of it."""
    people = uc.datasets.census(1500, seed=3)
    first = uc.publish(people, uc.datasets.census_schema([shared, other]), uc.NonCentralized(l=l), seed=1)
    method = uc.NonCentralized(l=l, others=(uc.published(first, name="first"),), shared="nested")
    return people, uc.datasets.census_schema([shared, own]), method


@pytest.mark.parametrize("case", CASES)
def test_a_fault_of_the_verifier_does_not_mislead_the_method(
    case: tuple[str, str, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = beside(*case)
    real = CellReader.leaves
    with monkeypatch.context() as broken:
        broken.setattr(CellReader, "leaves", lambda reader, cell: frozenset(sorted(real(reader, cell))[:1]))
        try:
            run = uc.publish(*given, seed=1)
        except InternalError:
            return
    finding = uc.verify(run).findings[0]
    assert (finding.name, finding.holds) == ("joint-diversity", True)


@pytest.mark.parametrize("case", CASES)
def test_a_fault_of_the_method_is_caught_by_the_verifier(
    case: tuple[str, str, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = beside(*case)
    assert uc.verify(uc.publish(*given, seed=1)).holds
    real = LeafBits.__getitem__
    monkeypatch.setattr(LeafBits, "__getitem__", lambda bits, cell: real(bits, cell) & -real(bits, cell))
    with pytest.raises(InternalError, match="joint-diversity fails"):
        uc.publish(*given, seed=1)


def test_both_halves_find_the_same_intersections() -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        tables = [
            [int(bits) for bits in rng.integers(1, 1 << 9, int(rng.integers(1, 7)))]
            for _ in range(int(rng.integers(1, 5)))
        ]
        expected, _ = least_intersection(tables)
        found = least_left(tables, enough=expected + 1)
        assert found is not None
        assert found[0] == expected == int(np.bitwise_and.reduce(found[1])).bit_count()
        assert least_left(tables, enough=expected) is None


def test_both_halves_find_the_same_cycles() -> None:
    rng = np.random.default_rng(8)
    seen = set()
    for _ in range(500):
        edges = [int(edge) for edge in rng.integers(0, 1 << 5, int(rng.integers(1, 5)))]
        named = [{str(bit) for bit in range(5) if edge >> bit & 1} for edge in edges]
        assert cells._is_acyclic(edges) == is_acyclic(named)
        seen.add(is_acyclic(named))
    assert seen == {True, False}


def test_both_halves_refuse_the_same_tables() -> None:
    rng = np.random.default_rng(9)
    verdicts = []
    for _ in range(400):
        tables = [random_table(rng, number) for number in range(int(rng.integers(2, 4)))]
        verdicts.append(refused_by_the_method(tables))
        assert verdicts[-1] == refused_by_the_verifier(tables)
    assert 0.1 < np.mean(verdicts) < 0.9


def random_table(rng: np.random.Generator, number: int) -> Published:
    """Two columns of eight people, each cut somehow: in ranges, in words, in sets, or not at all."""
    columns: dict[str, list[str]] = {}
    for name in rng.choice(["a", "b", "c"], 2, replace=False):
        at = int(rng.integers(1, 8))
        ways = [
            ["*"] * 8,
            [f"[0, {at - 1}]" if i < at else f"[{at}, 7]" for i in range(8)],
            [f"[{i // 4 * 4}, {i // 4 * 4 + 3}]" for i in range(8)],
            ["low" if i < 4 else "high" for i in range(8)],
            ["{low, high}"] * 8,
            ["[0, 7]" if i < at else str(i) for i in range(8)],
        ]
        columns[str(name)] = ways[int(rng.choice(6, p=[0.2, 0.2, 0.3, 0.1, 0.1, 0.1]))]
    return foreign_table(
        pa.table({**columns, "pay": ["High", "Low"] * 4}), f"t{number}", sensitive="pay", suppressed=True
    )


def refused_by_the_method(tables: list[Published]) -> bool:
    try:
        require_independent(tables)
    except DataError:
        return True
    return False


def refused_by_the_verifier(tables: list[Published]) -> bool:
    try:
        shared_cells(together(tables), nested=True)
    except DataError:
        return True
    return False


def test_both_halves_read_cells_alike() -> None:
    trees = [
        uc.Hierarchy([(str(age), f"[{age // 5 * 5}, {age // 5 * 5 + 4}]", "*") for age in range(20)]),
        uc.Hierarchy([("Bonn", "Germany"), ("Köln", "Germany"), ("Lyon", "France")]),
    ]
    texts = [
        [*map(str, range(20)), "[0, 4]", "[5, 9]", "[3, 7]", "{1, 5}", "*", "7.0", "[2.5, 6]", "", "old"],
        ["Bonn", "Germany", "France", "World", "{Bonn, Lyon}", "{Bonn, Köln}", "*", "", "[Köln, Lyon]"],
    ]
    for tree, labels in zip(trees, texts, strict=True):
        bits, reader = LeafBits(tree), CellReader(tree.rows)
        for one, two in combinations(labels, 2):
            assert bool(bits[one] & bits[two]) == bool(reader.leaves(one) & reader.leaves(two)), (one, two)
