"""How the columns of the built-in census hang together: one conditional distribution per column.

Each function returns a table for :func:`draw`; its docstring names the contexts, in the order in which
:mod:`undercover.datasets.census` numbers them. The figures are ours, chosen so that the census has the
shape of a real one: people marry, schooling follows cohort and origin, occupations follow schooling and sex, hours
follow occupation and age.

Such a table is the inverse of a distribution function, written out: a row of ``slots`` cells in which each value fills
as many cells as its probability asks for. Drawing is then one look-up with the leading bits of a random word, whatever
the context the row of the census is in; there is no search and no loop over rows. Probabilities are rounded to ``1 /
slots``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from undercover.datasets.population import (
    AGES,
    BIRTHPLACES,
    EDUCATIONS,
    GEOGRAPHY,
    HOURS,
    OCCUPATION_GROUPS,
    RELATIONSHIPS,
    WORK_CLASSES,
)

AGE = np.array(AGES, dtype=np.float64)
# Bands of age used as contexts, numbered from 0.
DECADE = np.clip((AGE - 10) // 10, 0, 7).astype(np.int64)  # 17-19, 20-29, …, 80 and over
COHORT = np.searchsorted([19, 22, 25, 45, 65], AGE, side="right")  # still at school … retired
STAGE = np.searchsorted([22, 30, 62, 70], AGE, side="right")  # starting, rising, settled, leaving, retired
N_DECADES, N_COHORTS, N_STAGES = 8, 6, 5

# Schooling in six steps: below high school, high school, some college, associate, bachelor, higher.
SCHOOLING = np.array([0] * 9 + [1, 1, 2, 2, 3, 4, 5, 5])
N_SCHOOLINGS = 6
# Where somebody grew up, as far as schooling is concerned: at home, Latin America, Asia, elsewhere.
UPBRINGING = np.array([{"Latin America": 1, "Asia": 2}.get(place, 0) for place in BIRTHPLACES])
UPBRINGING[[BIRTHPLACES.index(place) for place in ("Africa", "Canada", "Europe", "Oceania")]] = 3
ANCESTRY = np.array([0, 1, 1, 1, 1, 2, 2, 0, 0])  # races with alike schooling

N_GROUPS, GROUPS_PER_BROAD = 50, 5
# How much schooling each occupation group asks for, from -2 to 2, and how far it leans to men (positive) or women
# (negative), and how common it is; one line per broad occupation.
SKILL = np.array(
    [
        [1.5, 1.2, 0.7, 0.1, -0.2],
        [1.3, 1.2, 1.6, 1.5, 0.2],
        [2.0, 0.8, 1.1, 0.1, -0.9],
        [1.9, 1.2, 0.0, 0.6, 0.9],
        [1.8, 0.8, 1.0, 0.2, 0.1],
        [0.7, -0.1, -0.4, -0.6, -0.4],
        [0.3, 0.4, -0.7, -1.1, 0.3],
        [-1.2, -1.0, -1.6, -0.7, -0.5],
        [-1.1, -0.5, -0.6, -0.7, -1.0],
        [-0.8, -1.1, -1.0, -1.2, -1.8],
    ]
).ravel()
LEAN = np.array(
    [
        [0.3, 0.0, 0.3, 0.0, 0.6],
        [0.6, 0.8, 0.1, 0.2, 0.5],
        [0.1, -1.0, -0.7, -0.5, -1.1],
        [0.0, -0.6, -1.4, 0.0, -0.8],
        [0.2, -0.7, 0.5, 0.8, 1.3],
        [-0.4, -1.3, -0.5, 0.1, -0.6],
        [0.0, 0.4, -0.1, -0.6, 0.1],
        [0.1, -0.4, -0.2, -1.1, 0.7],
        [1.5, 1.6, 1.6, 1.6, 1.5],
        [1.2, 0.3, 1.2, 0.6, 0.7],
    ]
).ravel()
WEIGHT = np.array(
    [
        [1.6, 1.1, 1.5, 1.3, 0.35],
        [1.8, 1.3, 0.6, 0.5, 0.8],
        [0.9, 1.9, 0.8, 1.0, 1.7],
        [0.7, 2.2, 0.9, 1.0, 0.35],
        [0.8, 1.1, 0.5, 0.8, 0.4],
        [1.5, 1.7, 1.8, 0.6, 1.5],
        [0.6, 1.3, 1.9, 1.3, 0.6],
        [1.3, 1.2, 1.8, 0.7, 0.8],
        [1.8, 0.7, 0.6, 1.1, 0.3],
        [1.1, 1.3, 1.9, 1.5, 0.6],
    ]
).ravel()


@cache
def age_table() -> NDArray[Any]:
    """No context: a broad plateau with two waves, thinning out from the sixties on."""
    waves = 1 + 0.18 * np.exp(-(((AGE - 31) / 7) ** 2)) + 0.22 * np.exp(-(((AGE - 56) / 8) ** 2))
    return quantile_table(waves / (1 + np.exp((AGE - 70) / 6.5)), 1 << 16)


@cache
def sex_table() -> NDArray[Any]:
    """Context: age. Women outlive men."""
    female = 0.485 + 0.16 / (1 + np.exp((78 - AGE) / 5))
    return quantile_table(np.column_stack([female, 1 - female]))


@cache
def birthplace_table() -> NDArray[Any]:
    """Context: decade of age. Those who came from abroad are mostly of working age."""
    weights = np.array([count for _, _, places in GEOGRAPHY for count in places.values()], dtype=np.float64)
    abroad = np.array([region == "Abroad" for _, region, places in GEOGRAPHY for _ in places])
    share = np.array([0.5, 0.9, 1.3, 1.35, 1.1, 0.8, 0.7, 0.7])
    return quantile_table(weights * np.where(abroad, share[:, None], 1.0), 1 << 14)


@cache
def race_table() -> NDArray[Any]:
    """Context: birthplace."""
    by_region = {
        "Northeast": [74, 13, 0.3, 0.05, 0.1, 2.0, 2.0, 4, 4],
        "Midwest": [81, 10, 0.8, 0.05, 0.1, 1.0, 1.5, 2, 4],
        "South": [66, 22, 1.0, 0.05, 0.1, 0.8, 1.5, 4, 5],
        "West": [68, 5, 2.2, 0.1, 0.9, 4.5, 4.0, 7, 8],
        "Abroad": [60, 10, 0.5, 0.05, 0.2, 3.0, 5.0, 15, 6],
    }
    own: dict[str, list[float]] = {
        "Alaska": [62, 3, 1, 17, 1.5, 2, 4, 1.5, 8],
        "Hawaii": [20, 2, 0.2, 0.1, 17, 20, 17, 1.5, 22],
        "Mississippi": [56, 39, 0.5, 0.05, 0.1, 0.5, 0.6, 1, 2],
        "Oklahoma": [66, 8, 10, 0.1, 0.2, 0.8, 1.4, 3, 10],
        "Africa": [22, 70, 0.1, 0.02, 0.05, 0.6, 2, 2, 3],
        "Asia": [7, 0.5, 0.1, 0.02, 0.8, 48, 41, 1, 1.6],
        "Europe": [93, 2, 0.1, 0.02, 0.05, 0.5, 1.5, 1, 2],
        "Canada": [82, 3, 0.8, 0.05, 0.1, 5, 5, 1, 3],
        "Oceania": [33, 1, 0.2, 0.05, 45, 4, 12, 1, 4],
        "Latin America": [42, 8, 1.4, 0.02, 0.1, 0.4, 0.6, 36, 11],
    }
    rows = [own.get(place, by_region[region]) for _, region, places in GEOGRAPHY for place in places]
    return quantile_table(rows, 1 << 13)


@cache
def education_table() -> NDArray[Any]:
    """Context: cohort, upbringing, ancestry, sex. A bell over the scale of schooling with steps where people stop."""
    steps = np.array([1.2, 0.5, 0.9, 1.3, 1.3, 1.0, 1.2, 1.4, 1.6, 9.0, 2.2, 3.2, 6.5, 4.6, 8.5, 6.0, 3.0])
    scale = np.arange(len(EDUCATIONS))
    cohort = np.array([7.6, 10.4, 11.4, 12.1, 11.5, 9.9])
    upbringing = np.array([0.0, -4.0, 1.8, 1.0])
    ancestry = np.array([0.0, -0.9, 1.0])
    spread = np.array([3.2, 5.2, 4.2, 3.8])
    # Young women have overtaken men; among the old it is the other way round.
    sex = np.array([[0.3, 0.4, 0.5, 0.4, 0.0, -0.4], [0.0] * 6])
    centre = (
        cohort[:, None, None, None]
        + upbringing[None, :, None, None]
        + ancestry[None, None, :, None]
        + sex.T[:, None, None, :]
    )
    distance = (scale - centre[..., None]) / spread[None, :, None, None, None]
    weights = steps * np.exp(-(distance**2) / 2) + 0.004
    # Degrees take years: none before 19, a bachelor's from 22 on in earnest, the rest later.
    latest = np.array([12, 14, 15, 16, 16, 16])
    weights = np.where(scale > latest[:, None, None, None, None], 0.0, weights)
    return quantile_table(weights.reshape(-1, len(EDUCATIONS)))


@cache
def marital_table() -> NDArray[Any]:
    """Context: age, sex, whether somebody holds a degree."""
    age, degree = AGE[:, None, None], np.array([0.0, 1.0])[None, None, :]
    male = np.array([0.0, 1.0])[None, :, None]
    ever = 1 / (1 + np.exp(-(age - 28.5 - 1.5 * male - 1.8 * degree) / 4.2)) * (0.88 + 0.04 * degree)
    widowed = ever * 0.85 / (1 + np.exp(-(age - 80 - 8 * male) / 6.5))
    parted = (ever - widowed) * (0.30 - 0.10 * degree) * np.clip((age - 20) / 30, 0, 1)
    together = ever - widowed - parted
    shares = [1 - ever, together * 0.96, together * 0.04, parted * 0.18, parted * 0.82, widowed]
    stacked = np.stack(np.broadcast_arrays(*shares), axis=-1)
    return quantile_table(stacked.reshape(-1, 6), 1 << 12)


@cache
def relationship_table() -> NDArray[Any]:
    """Context: marital status, decade of age, sex. Only the married are spouses; children of the house are young."""
    decades = np.arange(N_DECADES)
    weights = np.zeros((6, N_DECADES, 2, len(RELATIONSHIPS)))
    child = np.array([75, 38, 16, 9, 6, 3, 1, 0.2])
    parent = np.array([0, 0, 0.1, 0.6, 2, 5, 9, 16])
    grandchild = np.array([9, 3, 0.5, 0.1, 0, 0, 0, 0])
    institution = np.array([2.5, 1.6, 1.2, 1.0, 1.0, 1.5, 3.5, 9])
    head = np.array([3, 26, 48, 60, 66, 70, 70, 62])
    for marital in range(6):
        single, married = marital == 0, marital == 1
        for female in (0, 1):
            rows = weights[marital, :, 0 if female else 1]
            rows[:, 0] = head * (0.78 if married and female else 1.0)
            rows[:, 1] = 50 * (1.25 if female else 0.8) if married else 0
            rows[:, 2] = 0 if married else np.array([1, 14, 15, 10, 7, 4, 2, 1])
            rows[:, 3] = child * (1.0 if single else 0.25)
            rows[:, 4] = np.where(single, 0.1, np.array([0.6, 2.0, 1.2, 0.5, 0.2, 0.1, 0, 0])) * (3 if married else 1)
            rows[:, 5] = parent * (0.3 if single else 1.0)
            rows[:, 6] = parent * (0.1 if single else 0.5)
            rows[:, 7] = np.array([2.5, 3, 2.2, 1.8, 1.6, 1.6, 1.4, 1]) * (1.0 if single else 0.5)
            rows[:, 8] = grandchild * (1.0 if single else 0.2)
            rows[:, 9] = 1.6 - 0.1 * decades
            rows[:, 10] = np.array([3, 12, 6, 3, 2, 1.2, 0.6, 0.3]) * (0.15 if married else 1.0)
            rows[:, 11] = np.array([1.2, 2.4, 1.6, 1.2, 1.1, 0.8, 0.5, 0.3]) * (0.2 if married else 1.0)
            rows[:, 12] = institution * (0.15 if married else 1.0) * (0.8 if female else 1.2)
    return quantile_table(weights.reshape(-1, len(RELATIONSHIPS)))


@cache
def occupation_group_table() -> NDArray[Any]:
    """Context: schooling, sex, stage of life."""
    schooling = np.array([-1.5, -0.8, -0.15, 0.25, 0.95, 1.6])[:, None, None, None]
    male = np.array([-1.0, 1.0])[None, :, None, None]
    # The young start lower than they end; the oldest who still work have left heavy work behind.
    stage = np.array([-0.7, -0.1, 0.1, 0.1, 0.2])[None, None, :, None]
    fit = np.exp(-(((SKILL - schooling - stage) / 0.85) ** 2) / 2) + 0.025
    return quantile_table((WEIGHT * fit * np.exp(0.75 * LEAN * male)).reshape(-1, N_GROUPS))


@cache
def occupation_table() -> NDArray[Any]:
    """Context: occupation group, sex. Within a group the first codes are common and the last ones rare."""
    rank = np.arange(10)
    men = 1 / (rank + 1.6) ** 0.8
    women = np.roll(men, 2) * 0.5 + men * 0.5
    tilt = 1 + 0.3 * np.sin(np.arange(N_GROUPS)[:, None] + rank)
    return quantile_table(np.stack([tilt * women, tilt * men], axis=1).reshape(-1, 10))


@cache
def work_class_table() -> NDArray[Any]:
    """Context: occupation group, stage of life."""
    base = np.array([70, 7, 6, 4, 2.5, 4, 6, 0.3])
    by_broad = np.ones((len(OCCUPATION_GROUPS), len(WORK_CLASSES)))
    by_broad[0] = [1, 1, 0.8, 0.8, 1, 2.6, 1.2, 1]
    by_broad[2] = [0.8, 3, 1, 1.5, 1.2, 0.8, 0.6, 0.3]
    by_broad[3] = [0.35, 2, 5, 3, 0.5, 0.6, 1.2, 0.3]
    by_broad[4] = [0.3, 3, 5, 4, 4, 0.8, 0.8, 0.2]
    by_broad[5] = [0.9, 1, 1.2, 1.4, 2.5, 0.5, 0.4, 1]
    by_broad[8] = [0.9, 0.1, 0.5, 0.4, 0.5, 1.5, 2.6, 1]
    by_broad[9] = [1.1, 0.1, 0.4, 0.3, 0.5, 0.5, 1.0, 2]
    own = np.array([0.15, 0.6, 1.0, 1.4, 2.0])[:, None]
    by_stage = np.hstack([np.ones((N_STAGES, 5)), own, own, np.array([3.0, 1, 0.7, 1, 2])[:, None]])
    weights = base * np.repeat(by_broad, GROUPS_PER_BROAD, axis=0)[:, None, :] * by_stage
    weights[[4, 49], :, 6] *= 5
    return quantile_table(weights.reshape(-1, len(WORK_CLASSES)))


@cache
def hours_table() -> NDArray[Any]:
    """Context: broad occupation, sex, stage of life, whether self-employed. Everybody's heap is 40, then round tens."""
    hour = np.array(HOURS, dtype=np.float64)
    full = np.array([45, 42, 41, 40, 42, 39.5, 40, 36, 41, 42])[:, None, None, None, None]
    part = np.array([0.05, 0.06, 0.16, 0.20, 0.09, 0.13, 0.28, 0.38, 0.07, 0.12])[:, None, None, None, None]
    leisure = np.array([2.4, 1.0, 0.8, 1.7, 3.2])[None, None, :, None, None]
    women = np.array([1.35, 0.75])[None, :, None, None, None]
    own = np.array([0.0, 1.0])[None, None, None, :, None]
    some = np.clip(part * leisure * women, 0.02, 0.9)
    heaps = np.select([hour % 10 == 0, hour % 5 == 0, hour % 2 == 0], [5.0, 3.0, 1.2], default=0.7)
    spread = 6.0 + 6.0 * own
    bell = heaps * np.exp(-(((hour - full - 2 * own) / spread) ** 2) / 2)
    bell = 0.97 * bell / bell.sum(axis=-1, keepdims=True) + 0.03 * heaps / heaps.sum()
    low = heaps * np.exp(-(((hour - 22) / 7.5) ** 2) / 2)
    low = low / low.sum()
    spike = np.where(hour == 40, 0.42 - 0.25 * own, 0.0)
    weights = (1 - some) * ((0.58 + 0.25 * own) * bell + spike) + some * low
    return quantile_table(np.broadcast_to(weights, (10, 2, N_STAGES, 2, 99)).reshape(-1, 99), 1 << 14)


def quantile_table(weights: ArrayLike, slots: int = 4096) -> NDArray[Any]:
    """Write out the quantile function of each row of ``weights`` in ``slots`` cells, a power of two.

    ``weights`` is (contexts, size) or (size,) and non-negative; each row is scaled to sum to one.
    """
    rows = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    ends = np.rint(np.cumsum(rows, axis=1) / rows.sum(axis=1, keepdims=True) * slots).astype(np.int64)
    cells = np.diff(ends, axis=1, prepend=0)
    values = np.arange(rows.shape[1], dtype=np.uint8 if rows.shape[1] <= 256 else np.uint16)
    return np.repeat(np.tile(values, len(rows)), cells.ravel()).reshape(len(rows), slots)


def draw(table: NDArray[Any], words: NDArray[np.uint32], context: NDArray[Any] | None = None) -> NDArray[Any]:
    """One value per word, from the row of ``table`` that ``context`` names."""
    slots = table.shape[1]
    places = words >> np.uint32(32 - (slots.bit_length() - 1))
    if context is not None:
        places = places + context.astype(np.uint32) * np.uint32(slots)
    return table.ravel().take(places)
