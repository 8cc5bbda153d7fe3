"""Singling out, class sizes and risks against counting by hand and by brute force."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.integrate import quad

from undercover.studies.inspect.uniqueness import (
    BINS,
    CodedColumn,
    class_sizes,
    expected_inverse,
    risk,
    singling_out,
    size_histogram,
)


def random_columns(seed: int, rows: int, sizes: list[int]) -> dict[str, CodedColumn]:
    rng = np.random.default_rng(seed)
    return {f"c{i}": CodedColumn(rng.integers(0, size, rows), size) for i, size in enumerate(sizes)}


def brute_force(columns: dict[str, CodedColumn], names: tuple[str, ...]) -> Counter[tuple[int, ...]]:
    return Counter(zip(*(columns[name].codes.tolist() for name in names), strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_every_small_set_against_brute_force(seed):
    print("seed", seed)
    columns = random_columns(seed, 300, [2, 3, 7, 20, 50])
    found = singling_out(columns)
    expected = {names for size in (1, 2, 3) for names in combinations(columns, size)}
    assert {combination.columns for combination in found} == expected
    assert len(found) == len(expected)
    for combination in found:
        counts = brute_force(columns, combination.columns)
        assert combination.classes == len(counts)
        assert combination.unique_rows == sum(count == 1 for count in counts.values())
    uniques = [combination.unique_rows for combination in found]
    assert uniques == sorted(uniques, reverse=True)


def test_many_columns_grow_from_the_best():
    columns = random_columns(1, 400, [2] * 12 + [90, 80])
    found = singling_out(columns, beam=3)
    sizes = Counter(len(combination.columns) for combination in found)
    assert sizes[1] == 14
    assert sizes[2] < 14 * 13 / 2
    # The two large columns single out most, and the search finds them together.
    assert {"c12", "c13"} <= set(found[0].columns)
    for combination in found[:10]:
        counts = brute_force(columns, combination.columns)
        assert combination.unique_rows == sum(count == 1 for count in counts.values())


@pytest.mark.parametrize("sizes", [[3, 4], [10**5, 10**5], [2**31, 2**31, 2**31, 3]])
def test_class_sizes_by_counting_by_sorting_and_beyond_64_bits(sizes):
    seed = 9
    print("seed", seed)
    columns = random_columns(seed, 500, [min(size, 40) for size in sizes])
    # The declared size decides which way is taken; the classes stay the same.
    declared = [CodedColumn(column.codes, size) for column, size in zip(columns.values(), sizes, strict=True)]
    assert sorted(class_sizes(declared)) == sorted(brute_force(columns, tuple(columns)).values())


def test_histogram_by_hand():
    sizes = np.array([1, 1, 2, 3, 4, 5, 9, 10, 19, 20, 49, 50, 99, 100, 1000])
    histogram = size_histogram(sizes)
    assert [(row["from"], row["to"]) for row in histogram] == list(BINS)
    assert [row["classes"] for row in histogram] == [2, 1, 2, 2, 2, 2, 2, 2]
    assert [row["rows"] for row in histogram] == [2, 2, 7, 14, 29, 69, 149, 1100]


def test_prosecutor_by_hand():
    # Ten rows: one alone, one class of four (risk 1/4 > 0.2), one of five (risk 0.2, not above).
    found = risk(np.array([1, 4, 5]))
    assert found.highest == 1
    assert found.mean == pytest.approx(3 / 10)
    assert found.share_above_threshold == pytest.approx(5 / 10)


@pytest.mark.parametrize("fraction", [1e-4, 0.01, 0.3, 0.5, 0.51, 0.9, 0.999])
def test_journalist_against_the_integral(fraction):
    sizes = np.array([1, 2, 3, 10, 200, 999, 1000, 1001, 4000])

    def integrand(y: float, size: int) -> float:
        return fraction * y ** (size - 1) / (fraction + (1 - fraction) * y)

    exact = [quad(integrand, 0, 1, args=(size,), points=[0.5, 0.99], limit=500)[0] for size in sizes]
    np.testing.assert_allclose(expected_inverse(sizes, fraction), exact, rtol=3e-6)


def test_journalist_against_drawing_samples():
    seed, fraction = 4, 0.2
    print("seed", seed)
    rng = np.random.default_rng(seed)
    # Populations with sizes as likely as 1 / size, sampled; where two people were, the mean of 1 / population.
    sizes = np.arange(1, 300)
    population = rng.choice(sizes, 2_000_000, p=1 / sizes / (1 / sizes).sum())
    sampled = rng.binomial(population, fraction)
    mean = (1 / population[sampled == 2]).mean()
    expected = expected_inverse(np.array([2]), fraction)[0]
    assert mean == pytest.approx(expected, rel=0.02)
    assert fraction / 2 != pytest.approx(expected, rel=0.1)


def test_a_smaller_sample_means_less_risk():
    sizes = np.array([1, 1, 2, 8])
    risks = [risk(sizes, fraction).mean for fraction in (0.01, 0.1, 0.5, 0.9, 1.0)]
    assert risks == sorted(risks)
    assert risks[-1] == risk(sizes).mean
