"""What claims are judged by, and how long is left, by hand."""

from operator import lt

import pytest

from undercover.studies.experiments.experiment import Judgement, NotMeasuredError
from undercover.studies.experiments.judges import counted, every, falls, rises, several, spread, steps
from undercover.studies.experiments.papers.streamliner.experiment import exponent


def test_figures_rise_or_fall_at_every_step() -> None:
    assert steps(lt, [1, 2, 2]) == [True, False]
    assert (rises([1, 2, 3]), rises([1, 2, 2])) == (True, False)
    assert (falls([3, 2, 1]), falls([3, 3, 1])) == (True, False)


def test_the_largest_over_the_smallest() -> None:
    assert spread([2.0, 3.0]) == 1.5


def test_too_few_figures_are_not_compared() -> None:
    with pytest.raises(NotMeasuredError, match="one place only"):
        several({1: 0.5}, "one place only")


def test_every_part_must_hold_and_every_figure_is_told() -> None:
    found = every([(True, "l = 4: 10%"), (False, "l = 6: 20%")])
    assert found == Judgement("not held", "l = 4: 10%; l = 6: 20%")


def test_comparisons_are_counted() -> None:
    assert counted([True, True, False], " steps of l") == Judgement("not held", "2 of 3 steps of l")


def test_the_power_by_which_time_grows() -> None:
    assert (round(exponent([1, 2, 4], [3, 6, 12]), 6), round(exponent([1, 10], [1, 100]), 6)) == (1.0, 2.0)
