"""Five people, a highest ratio of two thirds: the paper's example in Section 1, figure by figure."""

from __future__ import annotations

from fractions import Fraction

import pytest
from theory_tables import FIVE, FOUR, NINE, TWO_THIRDS, without

from undercover.errors import DataError, ParameterError, UnreachableError
from undercover.methods.streamliner.theory.safe_sets import (
    Guess,
    MentalImage,
    disclosure_set,
    is_globally_safe,
    is_strongly_globally_safe,
    locally_safe_set,
    maximal_strongly_globally_safe_sets,
    strongly_globally_safe_sets,
)
from undercover.methods.streamliner.theory.tables import HighestRatio, MicroTable, all_partitions, diversity, parse

# Table 1, right: the conditions of Ada to Eve in t01 to t10 (f flu, c cold, H HIV).
TEN = ["ffccH", "ccffH", "ffcHc", "ccfHf", "fHccf", "cHffc", "ffHcc", "ccHff", "Hfccf", "Hcffc"]
WORD = {"f": "flu", "c": "cold", "H": "HIV"}
SAFE_FIVE = without("P3", "P6", "P7", "P8")


def tables_of(letters: list[str]) -> set[MicroTable]:
    return {MicroTable(FIVE.identifiers, tuple(WORD[letter] for letter in row)) for row in letters}


def test_nine_of_fifty_two_partitions_are_locally_safe() -> None:
    assert len(list(all_partitions(FIVE.identifiers))) == 52
    assert len(list(FIVE.universe())) == 30
    assert locally_safe_set(FIVE, TWO_THIRDS) == set(NINE.values())


@pytest.mark.parametrize(
    ("removed", "left", "risk"),
    [((), TEN[:2], Fraction(1)), (("P7",), TEN[:4], Fraction(1, 2)), (("P3", "P6", "P7", "P8"), TEN, Fraction(2, 5))],
)
def test_disclosure_sets(removed: tuple[str, ...], left: list[str], risk: Fraction) -> None:
    image = disclosure_set(FIVE, without(*removed), TWO_THIRDS)
    assert set(image.tables) == tables_of(left)
    assert len(image.tables) == len(left)
    assert image.risk() == risk


def test_knowing_the_locally_safe_set_gives_eve_away() -> None:
    assert disclosure_set(FIVE, NINE.values(), TWO_THIRDS).surest() == Guess("E", "HIV", Fraction(1))
    assert not is_globally_safe(FIVE, NINE.values(), TWO_THIRDS)


def test_globally_safe_is_not_enough_once_p3_is_released() -> None:
    known = without("P7")
    assert is_globally_safe(FIVE, known, TWO_THIRDS)
    assert not is_strongly_globally_safe(FIVE, known, TWO_THIRDS)
    image = disclosure_set(FIVE, known, TWO_THIRDS).seeing_release(FIVE, NINE["P3"])
    assert image.tables == (FIVE,)


def test_releasing_p1_from_the_safe_five_leaves_six_tables() -> None:
    assert is_strongly_globally_safe(FIVE, SAFE_FIVE, TWO_THIRDS)
    image = disclosure_set(FIVE, SAFE_FIVE, TWO_THIRDS).seeing_release(FIVE, NINE["P1"])
    assert set(image.tables) == tables_of(TEN[:6])
    assert image.risk() == Fraction(1, 2)


def test_every_maximal_safe_set() -> None:
    maximal = maximal_strongly_globally_safe_sets(FIVE, TWO_THIRDS)
    assert set(maximal) == {
        frozenset(SAFE_FIVE),
        *(frozenset({NINE[name], NINE["P9"]}) for name in ("P3", "P6", "P7", "P8")),
    }
    assert len(maximal) == 5
    assert len(list(strongly_globally_safe_sets(FIVE, TWO_THIRDS))) == 31 + 4 * 2


def test_the_listing_agrees_with_the_definition() -> None:
    every = set(strongly_globally_safe_sets(FOUR, diversity(2)))
    parts = sorted(locally_safe_set(FOUR, diversity(2)), key=sorted)
    subsets = [frozenset(p for i, p in enumerate(parts) if mask >> i & 1) for mask in range(1, 2 ** len(parts))]
    assert every == {chosen for chosen in subsets if is_strongly_globally_safe(FOUR, chosen, diversity(2))}


def test_example_1_colours() -> None:
    assert FOUR.colours() == {"s1": frozenset("12"), "s2": frozenset("34")}


def test_example_2_safe_sets_under_two_diversity() -> None:
    first, second, whole, bad = parse("13|24"), parse("14|23"), parse("1234"), parse("12|34")
    assert locally_safe_set(FOUR, diversity(2)) == {first, second, whole}
    for known in ({first, whole}, {second, whole}):
        assert is_globally_safe(FOUR, known, diversity(2))
        assert is_strongly_globally_safe(FOUR, known, diversity(2))
    assert not is_globally_safe(FOUR, {bad}, diversity(2))
    assert not is_strongly_globally_safe(FOUR, {bad, whole}, diversity(2))


def test_example_2_the_whole_locally_safe_set_is_safe_too() -> None:
    """What the paper does not say of its example: nothing had to be removed."""
    assert is_strongly_globally_safe(FOUR, locally_safe_set(FOUR, diversity(2)), diversity(2))


def test_knowing_nothing_is_safe_only_if_the_values_are() -> None:
    """The empty set is no help: nothing can be released from it, and two of three people have an a."""
    assert is_strongly_globally_safe(FOUR, [], diversity(2))
    assert not is_strongly_globally_safe(MicroTable(tuple("123"), tuple("aab")), [], diversity(2))


def test_an_untrue_story_is_refused() -> None:
    other = MicroTable(FOUR.identifiers, ("s1", "s2", "s1", "s2"))
    with pytest.raises(ParameterError, match="untrue of the table"):
        MentalImage((FOUR,)).seeing_release(other, parse("13|24"))


def test_bad_tables_and_bounds_are_refused() -> None:
    with pytest.raises(DataError, match="2 problems"):
        MicroTable(("1", "1"), ("a",))
    with pytest.raises(DataError, match="empty"):
        MicroTable((), ())
    with pytest.raises(ParameterError, match="called `9`"):
        FOUR["9"]
    with pytest.raises(ParameterError, match="not one of this table's"):
        FOUR.release(parse("12|3"))
    with pytest.raises(ParameterError, match="bound"):
        HighestRatio(Fraction(0))
    with pytest.raises(ParameterError, match="Got 1"):
        diversity(1)
    with pytest.raises(ParameterError, match="Got 1"):
        FOUR.require_eligible(1)
    with pytest.raises(UnreachableError, match="largest feasible l is 2") as caught:
        FOUR.require_eligible(3)
    assert caught.value.best == {"l": 2}


def test_too_many_partitions_to_enumerate_is_refused() -> None:
    with pytest.raises(ParameterError, match="41 safe partitions"):
        next(strongly_globally_safe_sets(MicroTable(tuple("123456"), tuple("abcdef")), diversity(2)))
