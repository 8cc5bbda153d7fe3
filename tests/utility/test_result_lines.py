"""Results of measures in one line."""

import numpy as np

from undercover.utility.classification import ClassificationResult
from undercover.utility.kept import Association
from undercover.utility.queries.sums import SumErrorResult


def test_what_a_tree_gets_wrong_in_one_line() -> None:
    assert (
        repr(ClassificationResult("income", 2, 0.25, 0.48, 0.2))
        == "<ClassificationResult: 25.0% of 2 classes of income wrong (majority 48.0%, trained on the original 20.0%)>"
    )


def test_by_how_much_an_association_changed() -> None:
    assert Association(("age", "income"), "rank correlation", 0.5, 0.375).change == -0.125


def test_errors_of_sums_without_bounds() -> None:
    result = SumErrorResult("pay", np.array([10.0, 20.0]), np.array([9.0, 21.0]), np.array([5.0, 10.0]), None)
    assert (result.errors.tolist(), result.bounded) == ([0.1, 0.05], False)
    assert repr(result) == "<SumErrorResult: mean 7.50%, median 7.50% over 2 sums of pay>"
