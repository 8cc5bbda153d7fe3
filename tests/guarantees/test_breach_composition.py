"""Several perturbed releases of the same people: the composed bound, against every conclusion on small domains."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.guarantees.breach.bounds import growth_bound, largest_p, rho2_bound
from undercover.guarantees.breach.composition import (
    composed_growth,
    composed_rho2,
    growth_after,
    largest_p_after,
    largest_ratio,
    likelihood_ratio,
    rho2_after,
)


@dataclass(frozen=True)
class Cell:
    """The victim's cell in one release: p, the domain's size, and which of the others are in it."""

    p: Fraction
    size: int
    others: tuple[int, ...]

    def chance(self, seen: int, victim: int, others: tuple[int, ...]) -> Fraction:
        """The probability of publishing ``seen``: a row is drawn uniformly and its value perturbed."""
        people = [victim, *(others[one] for one in self.others)]
        noise = (1 - self.p) / self.size
        return sum((noise + self.p * (value == seen) for value in people), Fraction(0)) / len(people)

    @property
    def ratio(self) -> float:
        """What it can tell of the victim at most."""
        return likelihood_ratio(p=self.p, k=1 + len(self.others), domain=self.size)


def posterior(cells: list[Cell], seen: tuple[int, ...], prior: list[Fraction], others: list[Any]) -> list[Fraction]:
    """What an adversary believes of the victim afterwards, every value of everybody gone through.

    ``others`` are the adversary's beliefs about the others: whoever is corrupted has one value for certain.
    """
    weights = []
    for value, belief in enumerate(prior):
        total = Fraction(0)
        for world in product(*(range(len(prior)) for _ in others)):
            chance = Fraction(1)
            for person, its in zip(others, world, strict=True):
                chance *= person[its]
            for cell, y in zip(cells, seen, strict=True):
                chance *= cell.chance(y, value, world)
            total += chance
        weights.append(belief * total)
    return [weight / sum(weights) for weight in weights]


def subsets(size: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(size), n) for n in range(1, size)))


def random_belief(rng: np.random.Generator, size: int) -> list[Fraction]:
    if rng.random() < 0.5:  # corrupted
        return _certain(int(rng.integers(size)), size)
    return _shares(rng.integers(0, 9, size))


def _certain(value: int, size: int) -> list[Fraction]:
    return [Fraction(int(value == own)) for own in range(size)]


def _shares(weights: Any) -> list[Fraction]:
    whole = [int(weight) + 1 for weight in weights]
    return [Fraction(weight, sum(whole)) for weight in whole]


def worst_excess(seed: int, trials: int, *, forget: bool = False) -> float:
    """How far any conclusion goes beyond the composed bounds; with ``forget`` only the first release is counted."""
    rng = np.random.default_rng(seed)
    excess = -1.0
    for _ in range(trials):
        size, people = int(rng.integers(2, 5)), int(rng.integers(0, 3))
        cells = [
            Cell(
                Fraction(int(rng.integers(1, 10)), 10),
                size,
                tuple(np.flatnonzero(rng.random(people) < 0.7).tolist()),
            )
            for _ in range(int(rng.integers(2, 4)))
        ]
        prior = _shares(rng.integers(0, 30, size) ** 2)
        others = [random_belief(rng, size) for _ in range(people)]
        # What tells most is the same value again and again; sometimes it is any.
        y = int(rng.integers(size))
        seen = tuple(y if rng.random() < 0.7 else int(rng.integers(size)) for _ in cells)
        after = posterior(cells, seen, prior, others)
        ratio = float(np.prod([cell.ratio for cell in cells[: 1 if forget else None]]))
        skew = max(prior)
        for chosen in subsets(size):
            before, found = (float(sum(belief[value] for value in chosen)) for belief in (prior, after))
            excess = max(excess, found - before - composed_growth(ratio, skew=skew))
            excess = max(excess, found - composed_rho2(ratio, rho1=before, skew=skew))
    return excess


def test_no_conclusion_goes_beyond_the_composed_bounds() -> None:
    assert worst_excess(3, 120) < 1e-12


def test_the_bound_of_one_release_is_broken_by_two() -> None:
    """The tester notices: what one release promises does not hold for two."""
    assert worst_excess(3, 30, forget=True) > 0.05


@pytest.mark.parametrize("ps", [("3/10", "3/10"), ("1/5", "3/5"), ("1/10", "3/10", "1/2")])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_composed_bounds_are_attained(ps: tuple[str, ...], k: int) -> None:
    """Everybody else corrupted and unlike y, which every release shows, and a belief in y that helps most."""
    size = 4
    cells = [Cell(Fraction(p), size, tuple(range(k - 1))) for p in ps]
    others = [_certain(1, size)] * (k - 1)
    ratio = float(np.prod([cell.ratio for cell in cells]))
    weight = Fraction(1 / (1 + ratio**0.5)).limit_denominator(10**9)
    prior = [weight, *[(1 - weight) / (size - 1)] * (size - 1)]
    after = posterior(cells, (0,) * len(cells), prior, others)
    assert float(after[0] - prior[0]) == pytest.approx(composed_growth(ratio), abs=1e-9)
    rho1 = Fraction(1, 5)
    prior = [rho1, *[(1 - rho1) / (size - 1)] * (size - 1)]
    after = posterior(cells, (0,) * len(cells), prior, others)
    assert float(after[0]) == pytest.approx(composed_rho2(ratio, rho1=rho1), abs=1e-12)


def test_the_numbers_of_two_releases() -> None:
    """|U| = 50, k = 2, p = 0.3, nothing assumed: one release promises 0.548, two reach 0.843."""
    once = likelihood_ratio(p=0.3, k=2, domain=50)
    assert growth_bound(p=0.3, k=2, domain=50) == pytest.approx(0.548, abs=5e-4)
    assert composed_growth(once) == pytest.approx(growth_bound(p=0.3, k=2, domain=50), abs=1e-12)
    assert composed_growth(once**2) == pytest.approx(0.843, abs=5e-4)


releases = {
    "p": st.floats(0.001, 0.99),
    "k": st.integers(1, 30),
    "domain": st.integers(2, 100),
    "share": st.floats(0, 1),
    "rho1": st.floats(0.01, 0.9),
}


@given(**releases)
def test_one_release_composed_is_the_tight_bound(p: float, k: int, domain: int, share: float, rho1: float) -> None:
    skew = 1 / domain + share * (1 - 1 / domain)
    ratio = likelihood_ratio(p=p, k=k, domain=domain)
    alone = {"p": p, "k": k, "domain": domain, "skew": skew}
    assert composed_growth(ratio, skew=skew) == pytest.approx(growth_bound(**alone), abs=1e-9)
    assert composed_rho2(ratio, rho1=rho1, skew=skew) == pytest.approx(rho2_bound(rho1=rho1, **alone), abs=1e-9)


@given(**releases, earlier=st.floats(1, 50), target=st.floats(0.01, 0.98))
def test_what_is_left_of_a_promise(
    p: float, k: int, domain: int, share: float, rho1: float, earlier: float, target: float
) -> None:
    fixed: dict[str, Any] = {"k": k, "domain": domain, "skew": 1 / domain + share * (1 - 1 / domain)}
    rho = (rho1, rho1 + (1 - rho1) * target)
    for goal, reached in (
        ({"growth": target}, lambda keep: growth_after(earlier, p=keep, **fixed) - target),
        ({"rho": rho}, lambda keep: rho2_after(earlier, rho1=rho1, p=keep, **fixed) - rho[1]),
    ):
        found = largest_p_after(earlier, **goal, **fixed)
        if found == 0:
            assert largest_ratio(**goal, skew=fixed["skew"]) <= earlier * (1 + 1e-9)
            continue
        assert reached(found) <= 0
        assert reached(found + 1e-6 * (1 - found)) > -1e-9
        assert found <= largest_p(**goal, k=k, domain=domain, skew=fixed["skew"])


def test_true_values_have_no_limit() -> None:
    assert likelihood_ratio(p=1, k=6, domain=50) == float("inf")
    assert composed_growth(float("inf")) == 1
    assert composed_rho2(float("inf"), rho1=0.1) == 1
