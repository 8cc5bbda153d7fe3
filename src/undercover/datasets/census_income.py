"""What people of the built-in census earn: a log-income that cannot be taken apart column by column.

The income class is ``min(49, money // 2000)``; ``money`` is log-normal around the sum of

- a career curve over (age, education): schooling does not lift the curve, it steepens and lengthens it;
- a premium over (occupation group, schooling): some occupations pay for degrees, others do not;
- an effect of (hours, broad occupation): an extra hour pays on the shop floor and hardly at all in management;
- a gap over (sex, married or not, stage of life), and a small effect of the work class.

Each of them is a table over two or three columns that is not a sum of tables over one, so that a method which
destroys a combination of columns loses something, as it would on a real census.

The salary is one of 17 amounts inside the class, the round ones more often: 50 times 17 makes the 850 values.
"""

from __future__ import annotations

from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.datasets.census_model import AGE, N_STAGES, SKILL, quantile_table
from undercover.datasets.population import HOURS, INCOMES

CLASS_WIDTH = 2000
AMOUNTS_PER_CLASS = 17

Floats = NDArray[np.float32]

# Log-money is looked up on a grid of this many steps between these ends.
_LOWEST, _HIGHEST, _STEPS = 5.0, 14.0, 1 << 14


@cache
def career_curve() -> Floats:
    """(79 ages, 17 educations) log-money in the middle of the occupations, at 40 hours."""
    schooling = np.arange(17) / 16
    since = np.clip(AGE[:, None] - 16, 0, 46)
    # Simple work pays at once; a long education pays late.
    slope = 0.57 + 0.74 * schooling**2
    length = 6 + 7 * schooling
    late = np.clip(AGE[:, None] - 60, 0, None)
    curve = 9.64 + 0.30 * schooling + slope * (1 - np.exp(-since / length)) - late * (0.030 - 0.012 * schooling)
    return np.asarray(curve, dtype=np.float32)


@cache
def occupation_premium() -> Floats:
    """(50 groups, 6 schoolings)."""
    schooling = np.arange(6) / 5
    pays_for_degrees = np.repeat([0.25, 0.45, 0.55, 0.15, 0.4, 0.1, -0.1, -0.2, -0.25, -0.2], 5)
    craft = np.repeat([0.15, 0.10, -0.05, -0.15, 0.05, -0.05, 0.0, -0.22, 0.22, 0.05], 5)
    premium = craft[:, None] + 0.13 * SKILL[:, None] + pays_for_degrees[:, None] * (schooling - 0.4)
    return np.asarray(premium, dtype=np.float32)


@cache
def hours_effect() -> Floats:
    """(10 broad occupations, 99 hours)."""
    hours = np.array(HOURS, dtype=np.float64)
    above = np.array([0.35, 0.35, 0.8, 0.3, 0.7, 0.7, 0.9, 0.8, 1.1, 1.1])[:, None]
    below = np.array([0.9, 0.8, 0.75, 0.7, 0.8, 0.75, 0.7, 0.6, 0.8, 0.8])[:, None]
    # Nobody earns next to nothing for one hour alone: below six hours the effect is flat.
    change = np.log(np.clip(hours, 6, None) / 40)
    return np.asarray(np.where(change > 0, above * change, below * change), dtype=np.float32)


@cache
def household_gap() -> Floats:
    """(2 sexes, 2 not married or married, 5 stages): marriage lifts men, and the gap widens in mid-life."""
    gap = np.zeros((2, 2, N_STAGES))
    gap[0] = [[-0.05, -0.08, -0.14, -0.16, -0.18], [-0.10, -0.16, -0.24, -0.24, -0.22]]
    gap[1] = [[0.0, 0.0, 0.0, 0.0, 0.0], [0.04, 0.08, 0.16, 0.14, 0.08]]
    return np.asarray(gap, dtype=np.float32)


@cache
def work_class_effect() -> Floats:
    """(8 work classes,)."""
    return np.array([0.0, -0.08, -0.02, -0.03, 0.12, 0.18, -0.12, -1.2], dtype=np.float32)


@cache
def noise() -> Floats:
    """(10 broad occupations, 4096 quantiles) what the columns do not explain; sales and management vary most.

    The lower tail is stretched: some have worked only a part of the year.
    """
    quantiles = np.array([NormalDist().inv_cdf((slot + 0.5) / 4096) for slot in range(4096)])
    quantiles -= 5 * np.clip(-1.65 - quantiles, 0, None)
    spread = np.array([0.32, 0.26, 0.26, 0.30, 0.26, 0.26, 0.38, 0.32, 0.30, 0.28])
    return np.asarray(spread[:, None] * quantiles, dtype=np.float32)


def income_class(log_money: Floats) -> NDArray[np.uint8]:
    """The class of each log-money."""
    place = (log_money - np.float32(_LOWEST)) * np.float32(_STEPS / (_HIGHEST - _LOWEST))
    grid = _classes()
    return np.asarray(grid.take(np.clip(place, 0, _STEPS - 1).astype(np.int32)))


@cache
def _classes() -> NDArray[np.uint8]:
    money = np.exp(_LOWEST + (np.arange(_STEPS) + 0.5) * (_HIGHEST - _LOWEST) / _STEPS)
    return np.asarray(np.minimum(money // CLASS_WIDTH, INCOMES[-1]), dtype=np.uint8)


@cache
def salary_amounts() -> NDArray[np.int32]:
    """(850,) the amounts, 17 to a class, ascending; the last class is open at the top."""
    # Of the twenty hundreds in a class, three that nobody quotes are left out.
    hundreds = [hundred for hundred in range(20) if hundred not in (1, 11, 19)]
    amounts = np.arange(len(INCOMES))[:, None] * CLASS_WIDTH + 100 * np.array(hundreds)
    amounts[-1] = 1000 * np.array([98, 99, 100, 102, 105, 108, 110, 115, 120, 125, 130, 140, 150, 175, 200, 250, 400])
    return np.asarray(amounts.ravel(), dtype=np.int32)


@cache
def salary_table() -> NDArray[Any]:
    """Context: income class. Full thousands are common, halves less, hundreds rare."""
    amounts = salary_amounts().reshape(len(INCOMES), AMOUNTS_PER_CLASS)
    weights = np.select([amounts % 5000 == 0, amounts % 1000 == 0, amounts % 500 == 0], [5.0, 3.5, 2.0], default=1.0)
    weights[-1] = [8, 4, 12, 7, 10, 7, 9, 8, 9, 7, 6, 5, 6, 3, 3, 2, 1]
    return quantile_table(weights)
