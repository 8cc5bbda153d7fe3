"""Candidates, l-candidates and how to arrange them: Definition 1, Lemmas 3 and 4, Theorem 2, Examples 3 and 4."""

from __future__ import annotations

from itertools import combinations, permutations, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from theory_tables import FOUR, tables, tables_with_candidates

from effort import examples
from undercover.errors import ParameterError, UnreachableError
from undercover.methods.streamliner.theory.candidates import (
    Candidate,
    are_candidates,
    arrange,
    arrangements,
    candidate_from_bijections,
    check_candidates,
    deal_candidate,
    deal_candidates,
    few_of_a_colour,
    form_l_candidate,
    meets_theorem_2,
    partners_differ,
)
from undercover.methods.streamliner.theory.families import (
    is_self_contained,
    largest_family_set,
    minimal_self_contained_partition,
)
from undercover.methods.streamliner.theory.safe_sets import locally_safe_set
from undercover.methods.streamliner.theory.tables import MicroTable, all_partitions, diversity, text

# l=4: b and c occur three times in the three sets of the colour {1, 2}, but at most twice in any two of them.
TWELVE = MicroTable(tuple("123456789XYZ"), tuple("aabbbcccddee"))
MISFITS = [frozenset(group) for group in ("12", "36", "47", "58")]


def matched_by_trying(table: MicroTable, first: frozenset[str], second: frozenset[str]) -> bool:
    """Definition 1, first part, by trying every bijection."""
    return (
        len(first) == len(second)
        and not first & second
        and any(
            all(table[one] != table[other] for one, other in zip(sorted(first), partners, strict=True))
            for partners in permutations(sorted(second))
        )
    )


@st.composite
def tables_with_two_sets(draw: st.DrawFn) -> tuple[MicroTable, frozenset[str], frozenset[str]]:
    table = draw(tables())
    shuffled = draw(st.permutations(table.identifiers))
    size = draw(st.integers(1, len(shuffled) // 2))
    return table, frozenset(shuffled[:size]), frozenset(shuffled[size : 2 * size])


def test_example_3_the_two_colours_are_a_two_candidate() -> None:
    first, second = FOUR.colours().values()
    assert are_candidates(FOUR, first, second)
    assert form_l_candidate(FOUR, [first, second])
    assert not are_candidates(FOUR, frozenset("1"), frozenset("2"))


def test_example_4_the_partition_depends_on_the_bijections() -> None:
    one, other = FOUR.colours().values()
    straight, crossed = arrangements(FOUR, [one, other])
    back_straight, back_crossed = arrangements(FOUR, [other, one])
    assert straight == candidate_from_bijections({"1": "3", "2": "4"})
    assert back_crossed == candidate_from_bijections({"3": "2", "4": "1"})
    minimal = {
        (first, second): text(minimal_self_contained_partition(FOUR, [first, second]))
        for first, second in product([straight, crossed], [back_straight, back_crossed])
    }
    assert minimal == {
        (straight, back_straight): "13|24",
        (crossed, back_crossed): "14|23",
        (straight, back_crossed): "1234",
        (crossed, back_straight): "1234",
    }


@examples(40)
@given(tables_with_two_sets())
def test_the_bijection_is_found_exactly_if_trying_all_finds_one(
    drawn: tuple[MicroTable, frozenset[str], frozenset[str]],
) -> None:
    assert are_candidates(*drawn) == matched_by_trying(*drawn)


@examples(40)
@given(tables(), st.data())
def test_lemma_3_any_set_of_others_of_the_same_size_is_a_candidate(table: MicroTable, data: st.DataObject) -> None:
    colour = data.draw(st.sampled_from(list(table.colours().values())))
    others = data.draw(st.permutations(sorted(set(table.identifiers) - colour)))
    assert are_candidates(table, colour, frozenset(others[: len(colour)]))


def test_lemma_3_needs_its_conditions() -> None:
    assert not are_candidates(FOUR, frozenset("12"), frozenset("23")), "sets that overlap"
    assert not are_candidates(FOUR, frozenset("12"), frozenset("3")), "sets of different sizes"
    assert not are_candidates(FOUR, frozenset("1"), frozenset("2")), "a set that is not a whole colour"


@examples(40)
@given(tables_with_two_sets())
def test_lemma_4_holds_in_both_directions(drawn: tuple[MicroTable, frozenset[str], frozenset[str]]) -> None:
    table, first, second = drawn
    assert matched_by_trying(table, first, second) == few_of_a_colour(table, [first, second], most=len(first))


def test_lemma_4_fails_with_one_more_of_a_colour() -> None:
    table = MicroTable(tuple("123456"), tuple("aababc"))
    assert few_of_a_colour(table, [frozenset("12"), frozenset("46")], most=3)
    assert not few_of_a_colour(table, [frozenset("12"), frozenset("46")], most=2)
    assert not are_candidates(table, frozenset("12"), frozenset("46"))


@examples(30)
@given(tables(), st.data())
def test_theorem_2_gives_l_candidates_that_can_be_arranged(table: MicroTable, data: st.DataObject) -> None:
    l = data.draw(st.integers(2, table.largest_l()))  # noqa: E741
    colour = data.draw(st.sampled_from(list(table.colours().values())))
    others = data.draw(st.permutations(sorted(set(table.identifiers) - colour)))
    sets = [frozenset(others[w * len(colour) : (w + 1) * len(colour)]) for w in range(l - 1)]
    meets = meets_theorem_2(table, colour, sets)
    if meets:
        assert form_l_candidate(table, [colour, *sets])
    elif l <= 3:
        assert not form_l_candidate(table, [colour, *sets])
    arranged = arrange(table, [colour, *sets])
    assert (arranged is not None) == meets
    if arranged:
        assert arranged.sets == (colour, *sets)
        assert partners_differ(table, arranged)


def test_theorem_2_needs_each_of_its_conditions() -> None:
    table = MicroTable(tuple("123456"), tuple("aabbcc"))
    colour = frozenset("12")
    assert meets_theorem_2(table, colour, [frozenset("35"), frozenset("46")])
    for sets in (["35", "4"], ["35", "14"], ["35", "45"]):
        groups = [frozenset(group) for group in sets]
        assert not meets_theorem_2(table, colour, groups)
        assert not form_l_candidate(table, [colour, *groups])
    three_b = MicroTable(tuple("12345678"), tuple("aabbbccd"))
    assert not meets_theorem_2(three_b, colour, [frozenset("34"), frozenset("56")])
    assert not form_l_candidate(three_b, [colour, frozenset("34"), frozenset("56")])


def test_an_l_candidate_by_definition_1_that_no_bijections_make_fit() -> None:
    """Definition 1 compares two sets at a time; three times b in two rows is two in one row."""
    TWELVE.require_eligible(4)
    assert form_l_candidate(TWELVE, MISFITS)
    assert not meets_theorem_2(TWELVE, MISFITS[0], MISFITS[1:])
    assert arrange(TWELVE, MISFITS) is None


@examples(40)
@given(tables_with_candidates())
def test_dealt_candidates_are_l_candidates_in_rows_of_different_colours(
    drawn: tuple[MicroTable, int, tuple[Candidate, ...]],
) -> None:
    table, l, candidates = drawn  # noqa: E741
    check_candidates(table, candidates)
    assert {candidate.l for candidate in candidates} == {l}
    assert all(partners_differ(table, candidate) for candidate in candidates)
    assert all(meets_theorem_2(table, candidate.sets[0], candidate.sets[1:]) for candidate in candidates)


@examples(40)
@given(tables(), st.data())
def test_a_partition_is_self_contained_for_some_candidates_exactly_if_it_is_diverse(
    table: MicroTable, data: st.DataObject
) -> None:
    l = data.draw(st.integers(2, table.largest_l()))  # noqa: E741
    partition = data.draw(st.sampled_from(sorted(all_partitions(table.identifiers), key=text)))
    if diversity(l).holds_for(table, partition):
        candidates = deal_candidates(table, l, within=partition)
        check_candidates(table, candidates)
        assert all(partners_differ(table, candidate) for candidate in candidates)
        assert is_self_contained(partition, candidates)
    else:
        with pytest.raises(UnreachableError, match="inside the group"):
            deal_candidates(table, l, within=partition)


@pytest.mark.parametrize("values", ["aabb", "aabc", "abcd", "aabbc"])
def test_all_families_together_are_the_locally_safe_set(values: str) -> None:
    table = MicroTable(tuple("12345"[: len(values)]), tuple(values))
    choices = []
    for colour in table.colours().values():
        others = sorted(set(table.identifiers) - colour)
        choices.append(
            [
                candidate
                for second in combinations(others, len(colour))
                for candidate in arrangements(table, [colour, frozenset(second)])
            ]
        )
    families = [largest_family_set(table, candidates) for candidates in product(*choices)]
    assert frozenset().union(*families) == locally_safe_set(table, diversity(2))


def test_what_is_not_an_l_candidate_is_refused() -> None:
    with pytest.raises(ParameterError, match="occurs twice"):
        Candidate((("1", "3"), ("2", "3")))
    with pytest.raises(ParameterError, match="l−1 partners"):
        Candidate((("1", "3"), ("2",)))
    with pytest.raises(ParameterError, match="same colour"):
        candidate_from_bijections({"1": "3"}, {"2": "4"})
    with pytest.raises(ParameterError, match="same size"):
        arrange(FOUR, [frozenset("12"), frozenset("3")])
    with pytest.raises(ParameterError, match="name every identifier once"):
        deal_candidate(FOUR, frozenset("12"), 2, order="1233")
    with pytest.raises(UnreachableError, match="largest feasible l is 2"):
        deal_candidates(FOUR, 3)


def test_what_is_not_one_candidate_for_each_colour_is_refused() -> None:
    good = deal_candidates(FOUR, 2)
    check_candidates(FOUR, good)
    for bad, words in {
        (good[0],): "none was given",
        (*good, good[0]): "given two",
        (good[0], Candidate((("3", "1"),))): "not a colour",
        (good[0], Candidate((("3", "4", "1"),))): "same l",
        (good[0], Candidate((("3", "9"), ("4", "8")))): "called `8`, `9`",
    }.items():
        with pytest.raises(ParameterError, match=words):
            check_candidates(FOUR, bad)


def test_candidate_sets_that_do_not_fit_each_other_are_refused() -> None:
    table = MicroTable(tuple("123456"), tuple("abbcde"))
    good = deal_candidates(table, 3)
    check_candidates(table, good)
    with pytest.raises(ParameterError, match="has two sets without a bijection"):
        check_candidates(table, [Candidate((("1", "2", "3"),)), *good[1:]])


@examples(40)
@given(tables(), st.data())
def test_whole_colours_are_asked_for(table: MicroTable, data: st.DataObject) -> None:
    """A candidate for a part of a colour is not one for the colour."""
    large = [colour for colour in table.colours().values() if len(colour) > 1]
    assume(large)
    candidates = list(deal_candidates(table, 2))
    i = data.draw(st.integers(0, len(candidates) - 1))
    assume(len(candidates[i].rows) > 1)
    candidates[i] = Candidate(candidates[i].rows[1:])
    with pytest.raises(ParameterError, match="not a colour"):
        check_candidates(table, candidates)
