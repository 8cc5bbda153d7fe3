"""Marginals of assignments against all permutations."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from undercover.methods.mutual_cover.kernels.likelihood import assignment_marginals

Matrix = Any


def by_permutations(likelihood: Matrix) -> Matrix:
    m = len(likelihood)
    found = np.zeros((m, m))
    for order in permutations(range(m)):
        weight = np.prod([likelihood[i, order[i]] for i in range(m)])
        for i in range(m):
            found[i, order[i]] += weight
    return found / found.sum(axis=1, keepdims=True)


def random_likelihood(seed: int, m: int, density: float, *, twins: bool) -> Matrix:
    """Sparse, with one possible assignment at least; ``twins`` makes two rows alike."""
    rng = np.random.default_rng(seed)
    likelihood = rng.random((m, m)) * (rng.random((m, m)) < density)
    likelihood[np.arange(m), rng.permutation(m)] += rng.random(m) + 0.01
    if twins and m > 1:
        likelihood[:, 1] = likelihood[:, 0] = likelihood[:, 0] + likelihood[:, 1]
    return likelihood


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0.2, 1), st.booleans())
def test_exactly_as_all_permutations(seed: int, m: int, density: float, twins: bool) -> None:
    likelihood = random_likelihood(seed, m, density, twins=twins)
    found, exact = assignment_marginals(likelihood, 10_000)
    assert exact.all()
    np.testing.assert_allclose(found, by_permutations(likelihood), atol=1e-12)


def test_the_oracle_notices_a_wrong_likelihood() -> None:
    likelihood = random_likelihood(1, 5, 0.8, twins=False)
    wrong = likelihood.copy()
    wrong[0] *= np.linspace(1, 1.3, 5)
    found, _ = assignment_marginals(wrong, 10_000)
    assert np.abs(found - by_permutations(likelihood)).max() > 1e-3


def test_by_hand() -> None:
    # ad = 0.63 against bc = 0.03.
    found, exact = assignment_marginals(np.array([[0.9, 0.1], [0.3, 0.7]]), 100)
    assert found[0, 0] == pytest.approx(0.63 / 0.66)
    assert exact.tolist() == [True, True]
    # What is alike stays alike, and what is impossible is left out.
    found, _ = assignment_marginals(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1e-9]]), 100)
    assert found.tolist() == [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]


def test_a_person_who_owns_a_row_for_certain_takes_it_from_others() -> None:
    found, _ = assignment_marginals(np.array([[0.5, 0.5], [1.0, 0.0]]), 100)
    assert found.tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("m", [8, 20, 70])
def test_beyond_the_limit_the_approximation_is_one_of_assignments(m: int) -> None:
    likelihood = random_likelihood(m, m, 0.7, twins=True)
    found, exact = assignment_marginals(likelihood, 0)
    assert not exact.any()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=0.02)
    assert (found[likelihood == 0] == 0).all()


def test_the_approximation_is_near() -> None:
    errors = []
    for seed in range(40):
        likelihood = random_likelihood(seed, 7, 1.0, twins=False)
        errors.append(np.abs(assignment_marginals(likelihood, 0)[0] - by_permutations(likelihood)).mean())
    assert np.mean(errors) < 0.02


def test_more_sets_make_more_people_exact_and_change_nothing_there() -> None:
    likelihood = random_likelihood(9, 18, 0.25, twins=False)
    few, many = assignment_marginals(likelihood, 50), assignment_marginals(likelihood, 100_000)
    assert many[1].all()
    np.testing.assert_allclose(few[0][few[1]], many[0][few[1]], atol=1e-12)
