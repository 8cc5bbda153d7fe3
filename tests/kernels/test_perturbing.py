"""Drawing rows and perturbing values: plain twins, and the distribution of what is drawn."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from undercover.methods.perturbed_generalization.cells import draw_rows, perturbed
from undercover.methods.perturbed_generalization.kernels import draw_positions, perturb
from undercover.model.groups import Groups
from undercover.randomness import Randomness


def plain_below(size: int, word: int, spare: list[int]) -> int:
    """Lemire's multiplication with rejection, in Python's whole numbers."""
    product = word * size
    while product % 2**32 < 2**32 % size:
        product = spare.pop(0) * size
    return product // 2**32


@given(st.integers(0, 2**32), st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_positions_against_the_plain_twin(seed: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    words = rng.integers(0, 2**32, len(sizes), dtype=np.uint32)
    spare = rng.integers(0, 2**32, 64, dtype=np.uint32)
    left = spare.tolist()
    expected = [int(offsets[g]) + plain_below(size, int(words[g]), left) for g, size in enumerate(sizes)]
    assert draw_positions(offsets, words, spare).tolist() == expected


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 30), st.fractions(0, 1))
def test_perturbation_against_the_plain_twin(seed: int, n: int, size: int, p: Fraction) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, size, n)
    high, low, words = (rng.integers(0, 2**32, n, dtype=np.uint32) for _ in range(3))
    spare = rng.integers(0, 2**32, 64, dtype=np.uint32)
    threshold = min(int(p * 2**64), 2**64 - 1)
    left = spare.tolist()
    expected = [
        int(codes[i]) if (int(high[i]) << 32) + int(low[i]) < threshold else plain_below(size, int(words[i]), left)
        for i in range(n)
    ]
    assert perturb(codes, high, low, np.uint64(threshold), words, spare, size).tolist() == expected


def test_running_out_of_spare_words_is_told() -> None:
    # 2**32 % 3 == 1, so the word 0 is rejected for three values.
    none = np.empty(0, dtype=np.uint32)
    assert not len(draw_positions(np.array([0, 3]), np.zeros(1, np.uint32), none))
    zeros = np.zeros(1, np.uint32)
    assert not len(perturb(np.array([1]), zeros, zeros, np.uint64(0), zeros, none, 3))


def chance_of(p: Fraction, size: int, claimed: float, n: int = 100_000) -> float:
    """The p-value of perturbed values against keeping with probability ``claimed``."""
    codes = np.zeros(n, dtype=np.int64)
    found = np.bincount(perturbed(codes, p, size, Randomness(3)), minlength=size)
    noise = (1 - claimed) / size
    expected = n * np.array([claimed + noise] + [noise] * (size - 1))
    return float(stats.chisquare(found, expected).pvalue)


def test_values_are_kept_as_often_as_they_should() -> None:
    assert chance_of(Fraction(3, 10), 7, 0.3) > 1e-4
    assert chance_of(Fraction(0), 7, 0.0) > 1e-4
    assert chance_of(Fraction(3, 10), 7, 0.3 * 1.05) < 1e-4  # the test notices five in a hundred


def test_everything_kept() -> None:
    codes = np.arange(100) % 7
    assert (perturbed(codes, Fraction(1), 7, Randomness(1)) == codes).all()


def test_every_row_of_a_group_is_equally_likely() -> None:
    groups = Groups(np.repeat(np.arange(6_000, dtype=np.int32), 5), 6_000)
    rows = draw_rows(groups, Randomness(2))
    assert (groups.labels[rows] == np.arange(6_000)).all()
    assert stats.chisquare(np.bincount(rows % 5, minlength=5)).pvalue > 1e-4
