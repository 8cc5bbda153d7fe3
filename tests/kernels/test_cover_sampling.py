"""Draws from output tables: frequencies against the tables, and what becomes of unchanged rows, by enumeration."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import undercover as uc
from undercover.methods.mutual_cover.draw import exposure, sample
from undercover.methods.mutual_cover.kernels.sampling import _found, _found_among_many
from undercover.methods.mutual_cover.tables import OutputTables, output_tables
from undercover.model.groups import Groups
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.threads import however_little

AGES = [28, 29, 29, 32, 33, 35]
SEXES = ["f", "f", "m", "m", "m", "f"]
DRAWS = 20_000
DELTA = Fraction(3, 10)


def six() -> Table:
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")
    return Table.from_arrow(pa.table({"age": AGES, "sex": SEXES, "ill": list("abcdef")}), schema)


def one_group(n: int) -> Groups:
    return Groups(np.zeros(n, np.int32), 1)


def tables_of(table: Table, delta: Fraction = DELTA) -> OutputTables:
    return output_tables(table, one_group(table.n_rows), delta=delta)


def lines(table: Table, found: OutputTables, row: int) -> list[dict[int, float]]:
    """For every attribute: output code -> probability of this row."""
    result = []
    for a, name in enumerate(found.attributes):
        held = found.table(attribute=a, group=0)
        line = held.originals.tolist().index(int(table[name].codes[row]))
        result.append(
            {int(code): float(p) for code, p in zip(held.outputs, held.probabilities[line], strict=True) if p > 0}
        )
    return result


def joint(table: Table, found: OutputTables, row: int, unchanged: str, weights: Sequence[float]) -> dict[Any, float]:
    """The distribution of what a row releases, by enumeration."""
    per_attribute = lines(table, found, row)
    own = tuple(int(table[name].codes[row]) for name in found.attributes)
    raw = {
        values: float(np.prod([options[value] for options, value in zip(per_attribute, values, strict=True)]))
        for values in product(*per_attribute)
    }
    stays = raw.pop(own, 0.0)
    if unchanged == "off":
        return raw | ({own: stays} if stays else {})
    if unchanged == "resample":
        return {values: p / (1 - stays) for values, p in raw.items()}
    columns = [found.table(attribute=a, group=0).outputs.tolist() for a in range(len(own))]
    chances = [w * (1 - 1 / len(values)) for w, values in zip(weights, columns, strict=True)]
    for a, values in enumerate(columns):
        for value in values:
            if value != own[a]:
                moved = (*own[:a], int(value), *own[a + 1 :])
                share = stays * chances[a] / sum(chances) / (len(values) - 1)
                raw[moved] = raw.get(moved, 0.0) + share
    return raw


def draw(table: Table, unchanged: str) -> np.ndarray:
    """(DRAWS, rows, attributes): the same people so often in groups of their own, drawn at once."""
    n = table.n_rows
    many = table.take(np.tile(np.arange(n), DRAWS))
    groups = Groups(np.repeat(np.arange(DRAWS, dtype=np.int32), n), DRAWS)
    found = output_tables(many, groups, delta=DELTA)
    released = sample(many, groups, found, Randomness(11), unchanged=unchanged).released  # type: ignore[arg-type]
    return released.reshape(DRAWS, n, -1)


def fits(observed: np.ndarray, expected: dict[Any, float]) -> bool:
    counts = Counter(tuple(int(v) for v in values) for values in observed)
    if not set(counts) <= set(expected):
        return False
    keys = sorted(key for key in expected if expected[key] > 0)
    return bool(
        stats.chisquare([counts[key] for key in keys], [DRAWS * expected[key] for key in keys], sum_check=False).pvalue
        > 1e-6
    )


@pytest.mark.parametrize("unchanged", ["off", "resample", "paper"])
def test_what_is_drawn_has_the_distribution_it_should(unchanged: str) -> None:
    table = six()
    found = tables_of(table)
    weights = found.spreads / np.array([distance.widest for distance in found.distances])
    drawn = draw(table, unchanged)
    for row in range(table.n_rows):
        assert fits(drawn[:, row], joint(table, found, row, unchanged, weights))


def test_a_table_that_is_a_fifth_off_is_found_out() -> None:
    table = six()
    found = tables_of(table)
    drawn = draw(table, "off")
    expected = joint(table, found, 0, "off", [1, 1])
    ordered = sorted(expected, key=lambda key: -expected[key])
    moved = 0.2 * expected[ordered[0]]
    wrong = {**expected, ordered[0]: expected[ordered[0]] - moved, ordered[1]: expected[ordered[1]] + moved}
    assert fits(drawn[:, 0], expected)
    assert not fits(drawn[:, 0], wrong)


def test_algorithm_3_as_a_resample_would_be_found_out() -> None:
    table = six()
    found = tables_of(table)
    drawn = draw(table, "paper")
    assert not all(fits(drawn[:, row], joint(table, found, row, "resample", [1, 1])) for row in range(6))


def test_no_row_is_published_unchanged_where_it_can_change() -> None:
    table = six()
    found = tables_of(table)
    own = np.stack([table[name].codes for name in found.attributes], axis=1)
    for unchanged in ("resample", "paper"):
        result = sample(table, one_group(6), found, Randomness(3), unchanged=unchanged)  # type: ignore[arg-type]
        assert result.left_unchanged == 0
        assert (result.released != own).any(axis=1).all()


def test_a_group_of_equal_rows_is_left_and_counted() -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    table = Table.from_arrow(pa.table({"age": [30] * 4, "ill": list("abcd")}), schema)
    result = sample(table, one_group(4), tables_of(table), Randomness(1))
    assert (result.came_through, result.left_unchanged) == (4, 4)


def test_several_values_are_replaced_on_request() -> None:
    # Without any randomness in the tables (delta = 1) every row comes through, and Algorithm 3 does it all.
    table = six()
    found = tables_of(table, Fraction(1))
    own = np.stack([table[name].codes for name in found.attributes], axis=1)
    for perturb in (1, 2):
        result = sample(table, one_group(6), found, Randomness(5), unchanged="resample", perturb=perturb)
        assert result.came_through == 6
        assert ((result.released != own).sum(axis=1) == perturb).all()


@however_little()
def test_threads_do_not_show() -> None:
    data = uc.datasets.census(2_000, seed=4)
    schema = uc.Schema(quasi_identifiers=["age", "sex", "hours"], sensitive="salary")
    table = Table.from_arrow(data, schema)
    groups = Groups((np.arange(2_000) % 100).astype(np.int32), 100)
    found = output_tables(table, groups, delta=Fraction(1, 5))
    one, two = (sample(table, groups, found, Randomness(7), threads=threads).released for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    first, second = (exposure(table, groups, found, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(first.shares, second.shares)
    np.testing.assert_array_equal(first.reidentified, second.reidentified)


@pytest.mark.parametrize("unchanged", ["off", "resample", "paper"])
def test_effective_shares_by_enumeration(unchanged: str) -> None:
    table = six()
    found = tables_of(table)
    weights = found.spreads / np.array([distance.widest for distance in found.distances])
    joints = [joint(table, found, row, unchanged, weights) for row in range(6)]
    exposed = exposure(table, one_group(6), found, unchanged=unchanged)  # type: ignore[arg-type]
    for a in range(2):
        chances: list[Counter[int]] = []
        for distribution in joints:
            marginal: Counter[int] = Counter()
            for values, p in distribution.items():
                marginal[values[a]] += p  # type: ignore[assignment]
            chances.append(marginal)
        values = {value for marginal in chances for value in marginal if marginal[value] > 0}
        largest = max(max(m[v] for m in chances) / sum(m[v] for m in chances) for v in values)
        assert exposed.shares[a] == pytest.approx(largest, rel=1e-9)


def test_reidentification_by_enumeration() -> None:
    table = six()
    found = tables_of(table)
    exposed = exposure(table, one_group(6), found)
    for a, name in enumerate(found.attributes):
        options = [lines(table, found, row)[a] for row in range(6)]
        for row in range(6):
            own = int(table[name].codes[row])
            expected = 0.0
            for outcome in product(*options):
                chance = float(np.prod([options[i][value] for i, value in enumerate(outcome)]))
                expected += chance * (outcome[row] == own) / max(outcome.count(own), 1)
            assert exposed.reidentified[row, a] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("chances", ["any", "small", "certain", "nobody else"])
@pytest.mark.parametrize("size", [3, 60, 700])
def test_in_large_groups_quadrature_finds_what_counting_finds(chances: str, size: int) -> None:
    draw = np.random.default_rng(size)
    lines = draw.integers(0, 5, size)
    table = {
        "any": draw.random(15),
        "small": draw.random(15) / size,
        "certain": np.ones(15),
        "nobody else": np.zeros(15),
    }[chances]
    line = int(lines[0])
    table[line * 3 + 1] = 0.7
    counted = _found.py_func(table, 3, 1, lines, line, np.empty(size + 1))
    rows_of_line = np.bincount(lines, minlength=5)
    assert _found_among_many.py_func(table, 3, 1, rows_of_line, line) == pytest.approx(counted, rel=1e-10)
    # Somebody more who carries the value makes it harder to find the person; the comparison would show it.
    crowded = rows_of_line + (np.arange(5) == line)
    assert _found_among_many.py_func(table, 3, 1, crowded, line) < counted * (1 - 1e-6)
