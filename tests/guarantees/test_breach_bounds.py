"""The bounds of perturbed generalization: golden values, inverses, and thousands of priors that try to break them."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.errors import ParameterError
from undercover.exact import exact
from undercover.guarantees.breach.bounds import (
    BOUNDS,
    attained,
    cell_size,
    growth_bound,
    guarantee_grid,
    largest_p,
    rho2_bound,
)

PAPER = {"domain": 50, "skew": 0.1}


@pytest.mark.parametrize(
    ("k", "rho2", "growth", "tight"),
    [
        (2, 0.69208, 0.46552, 0.61379),
        (4, 0.53187, 0.31395, 0.47907),
        (6, 0.45036, 0.23684, 0.41053),
        (8, 0.40099, 0.19014, 0.36901),
        (10, 0.36789, 0.15882, 0.34118),
    ],
)
def test_table_iii_by_k(k: int, rho2: float, growth: float, tight: float) -> None:
    assert rho2_bound(rho1=0.2, p=0.3, k=k, **PAPER, bound="paper") == pytest.approx(rho2, abs=5e-6)
    assert growth_bound(p=0.3, k=k, **PAPER, bound="paper") == pytest.approx(growth, abs=5e-6)
    assert rho2_bound(rho1=0.2, p=0.3, k=k, **PAPER) == pytest.approx(tight, abs=5e-6)


@pytest.mark.parametrize(
    ("p", "rho2", "growth"),
    [
        (0.15, 0.33966, 0.11538),
        (0.20, 0.37734, 0.15517),
        (0.25, 0.41405, 0.19565),
        (0.30, 0.45036, 0.23684),
        (0.35, 0.48660, 0.27876),
        (0.40, 0.52298, 0.32143),
        (0.45, 0.55965, 0.36486),
    ],
)
def test_table_iii_by_p(p: float, rho2: float, growth: float) -> None:
    assert rho2_bound(rho1=0.2, p=p, k=6, **PAPER, bound="paper") == pytest.approx(rho2, abs=5e-6)
    assert growth_bound(p=p, k=6, **PAPER, bound="paper") == pytest.approx(growth, abs=5e-6)


def test_largest_p() -> None:
    assert largest_p(rho=(0.2, 0.45), k=6, **PAPER, bound="paper") == pytest.approx(0.299509, abs=5e-7)
    assert largest_p(rho=(0.2, 0.45), k=6, **PAPER) == pytest.approx(0.352941, abs=5e-7)
    assert largest_p(growth=0.24, k=6, **PAPER, bound="paper") == pytest.approx(0.303797, abs=5e-7)


@pytest.mark.parametrize("bound", BOUNDS)
def test_nothing_kept_and_everything_kept(bound: Any) -> None:
    for k in (1, 6):
        assert rho2_bound(rho1=0.2, p=0, k=k, domain=50, bound=bound) == 0.2
        assert growth_bound(p=0, k=k, domain=50, bound=bound) == 0
        assert rho2_bound(rho1=0.2, p=1, k=k, domain=50, bound=bound) == 1
        assert rho2_bound(rho1=0, p=1, k=k, domain=50, bound=bound) == 0
        assert growth_bound(p=1, k=k, domain=50, bound=bound) == 1


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(
    ("target", "why"),
    [
        ({"rho": (0, 0.3)}, "With rho1 = 0 .* promises nothing.*p = 1 .true values. would keep it.*growth of 0.25"),
        ({"rho": (0, 1)}, "With rho1 = 0"),
        ({"rho": (0.2, 1)}, "is no limit for the guarantee: p = 1, which publishes true values"),
        ({"rho": (0.2, "0.99999999999999999999")}, "is no limit"),  # the same as 1 in floating point
        ({"growth": 1}, "is no limit"),
        ({"growth": "99999999999999999999/100000000000000000000"}, "is no limit"),
        ({"rho": (0.3, 0.3)}, "0 < rho1 < rho2 < 1"),
        ({"rho": (0.3, 0.2)}, "0 < rho1 < rho2 < 1"),
        ({"rho": (-0.1, 0.2)}, "0 < rho1 < rho2 < 1"),
        ({"rho": (1, 1)}, "0 < rho1 < rho2 < 1"),
        ({"rho": (0.2, 1.5)}, "0 < rho1 < rho2 < 1"),
        ({"rho": (0.2, float("nan"))}, "0 < rho1 < rho2 < 1"),
        ({"growth": 0}, r"a number in \(0, 1\)"),
        ({"growth": -0.1}, r"a number in \(0, 1\)"),
        ({"growth": 0.2, "skew": 0}, r"'skew' of the guarantee must be a number in \[1/50, 1\]"),
        ({"growth": 0.2, "skew": 1.01}, r"'skew' of the guarantee must be a number in \[1/50, 1\]"),
    ],
)
def test_a_promise_that_is_none_finds_no_p(bound: Any, target: dict[str, Any], why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        largest_p(k=6, domain=50, bound=bound, **target)


settings = {
    "k": st.integers(1, 40),
    "domain": st.integers(2, 200),
    "share": st.floats(0, 1),
    "rho1": st.floats(0.001, 0.95),
    "target": st.floats(0.001, 0.999),
    "p": st.floats(0, 1),
}


def skew_of(domain: int, share: float) -> float:
    return 1 / domain + share * (1 - 1 / domain)


@given(**settings)
def test_tight_is_never_weaker(k: int, domain: int, share: float, rho1: float, target: float, p: float) -> None:
    given_ = {"p": p, "k": k, "domain": domain, "skew": skew_of(domain, share)}
    assert growth_bound(**given_) <= growth_bound(**given_, bound="paper") + 1e-12
    assert rho2_bound(rho1=rho1, **given_) <= rho2_bound(rho1=rho1, **given_, bound="paper") + 1e-12
    assert rho1 <= rho2_bound(rho1=rho1, **given_) <= 1
    # Growth within ρ2 - ρ1 means no breach from ρ1 to ρ2.
    assert rho2_bound(rho1=rho1, **given_) <= rho1 + growth_bound(**given_) + 1e-12


@given(**settings)
@pytest.mark.parametrize("bound", BOUNDS)
def test_inverse_is_the_largest(
    bound: Any, k: int, domain: int, share: float, rho1: float, target: float, p: float
) -> None:
    fixed = {"k": k, "domain": domain, "skew": skew_of(domain, share), "bound": bound}
    rho2 = rho1 + (1 - rho1) * target
    for goal, reached in (
        ({"rho": (rho1, rho2)}, lambda keep: rho2_bound(rho1=rho1, p=keep, **fixed) - rho2),
        ({"growth": target}, lambda keep: growth_bound(p=keep, **fixed) - target),
    ):
        found = largest_p(**goal, **fixed)
        assert reached(found) <= 0
        more = found + 1e-6 * (1 - found)
        assert found == 1 or reached(more) > -1e-9


def skewed_prior(rng: np.random.Generator, domain: int, skew: float, focus: int) -> np.ndarray:
    """A random prior with no probability above ``skew`` and, often, much of it on one value."""
    prior = rng.dirichlet(np.full(domain, rng.choice([0.05, 0.3, 1.0])))
    if rng.random() < 0.7:
        prior[focus] = skew * rng.random() ** 0.2
    for _ in range(100):  # cut what is too much and spread it over the others
        prior = prior / prior.sum()
        over = prior > skew
        if not over.any():
            return prior
        prior = np.where(over, skew, prior)
        room = np.where(over, 0, skew - prior)
        prior = prior + (1 - prior.sum()) * room / room.sum() if room.sum() > 0 else prior
    return prior


def attack(rng: np.random.Generator, p: float, k: int, domain: int, prior: np.ndarray, y: int) -> np.ndarray:
    """The posterior after full corruption of a cell of k people; the others' values are random or all unlike y."""
    noise = (1 - p) / domain
    others = rng.integers(0, domain, k - 1) if rng.random() < 0.3 else np.full(k - 1, (y + 1) % domain)
    own = p * prior[y] + noise
    den = own + (noise + p * (others == y)).sum()
    ownership = own / den
    owner = prior * (noise + p * (np.arange(domain) == y)) / own
    return ownership * owner + (1 - ownership) * prior


def worst_excess(seed: int, trials: int, fewer: int = 0) -> tuple[float, float]:
    """How far posteriors of adversarial priors go beyond the tight bounds; ``fewer`` people than are promised."""
    rng = np.random.default_rng(seed)
    rho_excess, growth_excess = -1.0, -1.0
    for _ in range(trials):
        k, domain = int(rng.integers(2, 12)), int(rng.integers(2, 60))
        p, skew = float(rng.random()) * 0.98 + 0.01, skew_of(domain, float(rng.random()))
        y = int(rng.integers(domain))
        prior = skewed_prior(rng, domain, skew, y)
        after = attack(rng, p, k - fewer, domain, prior, y)
        chosen = rng.random(domain) < rng.random()
        chosen[y] = True
        before, confidence = float(prior[chosen].sum()), float(after[chosen].sum())
        skew = max(skew, float(prior.max()))
        growth_excess = max(
            growth_excess, confidence - before - growth_bound(p=p, k=k, domain=domain, skew=min(skew, 1))
        )
        if before < 1:
            bound = rho2_bound(rho1=before, p=p, k=k, domain=domain, skew=min(skew, 1))
            rho_excess = max(rho_excess, confidence - bound)
    return rho_excess, growth_excess


@pytest.mark.parametrize("priors", [4_000, pytest.param(20_000, marks=pytest.mark.soak)])
def test_adversarial_priors_stay_below(priors: int) -> None:
    rho_excess, growth_excess = worst_excess(7, priors)
    assert rho_excess < 1e-12
    assert growth_excess < 1e-12


def test_priors_notice_a_smaller_cell() -> None:
    rho_excess, growth_excess = worst_excess(7, 2_000, fewer=1)
    assert rho_excess > 1e-3
    assert growth_excess > 1e-3


@given(
    k=st.integers(1, 20),
    domain=st.integers(2, 80),
    share=st.floats(0, 1),
    p=st.floats(0.01, 0.99),
    rho=st.floats(0.01, 0.9),
)
def test_bounds_are_attained_where_the_domain_has_room(k: int, domain: int, share: float, p: float, rho: float) -> None:
    skew = skew_of(domain, share)
    noise = (1 - p) / domain
    if attained(domain=domain, skew=skew, p=p, k=k):
        best = k * noise / (np.sqrt((k * noise) ** 2 + p * k * noise) + k * noise)
        weight = min(skew, best)
        assert weight + (domain - 1) * skew >= 1
        prior = np.array([weight, *[(1 - weight) / (domain - 1)] * (domain - 1)])
        assert prior.max() <= skew + 1e-12
        after = posterior_of_unlike_others(p, k, domain, prior)
        assert after[0] - prior[0] == pytest.approx(growth_bound(p=p, k=k, domain=domain, skew=skew), abs=1e-12)
    if attained(domain=domain, skew=skew, rho1=rho):
        inside, outside = (math.ceil(share / exact(skew)) for share in (exact(rho), 1 - exact(rho)))
        rest = max(inside - 1, 1)
        first = min(skew, rho)
        prior = np.zeros(domain)
        prior[0] = first
        if inside > 1:
            prior[1:inside] = (rho - first) / rest
        prior[domain - outside :] = (1 - rho) / outside
        after = posterior_of_unlike_others(p, k, domain, prior)
        assert after[:inside].sum() == pytest.approx(
            rho2_bound(rho1=rho, p=p, k=k, domain=domain, skew=skew), abs=1e-12
        )


def posterior_of_unlike_others(p: float, k: int, domain: int, prior: np.ndarray) -> np.ndarray:
    """The value 0 is seen, and nobody else in the cell has it."""
    noise = (1 - p) / domain
    own = p * prior[0] + noise
    ownership = own / (own + (k - 1) * noise)
    owner = prior * (noise + p * (np.arange(domain) == 0)) / own
    return ownership * owner + (1 - ownership) * prior


def test_no_room_is_noticed() -> None:
    assert not attained(domain=10, skew=0.1, rho1=0.25)  # 3 + 8 values of at most 0.1 each
    assert attained(domain=10, skew=0.1, rho1=0.2)
    assert not attained(domain=1, skew=1, rho1=0.2)


def test_cell_sizes_are_exact() -> None:
    assert [cell_size(1 / k) for k in range(1, 200)] == list(range(1, 200))
    assert cell_size("1/49") == 49
    assert cell_size(0.3) == 4
    for wrong in (0, -0.1, 1.5, "many", True):
        with pytest.raises(ParameterError):
            cell_size(wrong)


def test_grid() -> None:
    grid = guarantee_grid(ks=[2, 4], ps=[0.1, 0.3], rho1=0.2, domain=50)
    assert [(entry["k"], entry["p"]) for entry in grid] == [(2, 0.1), (2, 0.3), (4, 0.1), (4, 0.3)]
    assert grid[3]["rho2"] == rho2_bound(rho1=0.2, p=0.3, k=4, domain=50)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"p": 1.2}, r"'p' of the guarantee must be a number in \[0, 1\]"),
        ({"p": "much"}, "'p' parameter of the guarantee"),
        ({"skew": 0.01}, r"must be a number in \[1/50, 1\]"),
        ({"skew": 1.5}, r"must be a number in \[1/50, 1\]"),
        ({"k": 0}, "'k' of the guarantee must be an int"),
        ({"domain": 0}, "'domain' of the guarantee must be an int"),
        ({"bound": "loose"}, "Bound `loose` is not known"),
        ({"rho1": -0.1}, "'rho1' of the guarantee must be a number"),
    ],
)
def test_bad_numbers(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        rho2_bound(**{"rho1": 0.2, "p": 0.3, "k": 6, "domain": 50, "skew": 0.1} | wrong)


def test_bad_targets() -> None:
    for wrong in (
        {"rho": (0.5, 0.4)},
        {"rho": (0.2, 0.2)},
        {"rho": (0.2,)},
        {"rho": 3},
        {"growth": 0},
        {"growth": 2},
        {},
    ):
        with pytest.raises(ParameterError):
            largest_p(k=6, domain=50, **wrong)
    with pytest.raises(ParameterError, match="2 problems"):
        rho2_bound(rho1=2, p=2, k=6, domain=50)
