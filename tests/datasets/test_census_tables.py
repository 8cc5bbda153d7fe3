"""The tables that the census is drawn from, by hand."""

import numpy as np

from undercover.datasets.census_income import income_class, salary_amounts
from undercover.datasets.census_model import draw, quantile_table


def test_classes_of_income() -> None:
    assert income_class(np.log(np.array([100, 1900, 2100, 51000, 900000], dtype=np.float32))).tolist() == [
        0,
        0,
        1,
        25,
        49,
    ]


def test_amounts_of_salaries() -> None:
    assert (salary_amounts()[:3].tolist(), salary_amounts()[-1].item(), len(set(salary_amounts().tolist()))) == (
        [0, 200, 300],
        400000,
        850,
    )


def test_distributions_written_out_as_tables() -> None:
    assert repr(quantile_table([3, 0, 1], slots=8)) == "array([[0, 0, 0, 0, 0, 0, 2, 2]], dtype=uint8)"
    table = quantile_table([[1, 1], [0, 1]], slots=2)
    assert draw(table, np.array([0, 2**31, 0], dtype=np.uint32), np.array([0, 0, 1])).tolist() == [0, 1, 1]
