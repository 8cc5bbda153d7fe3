"""Cover and l-cover: Definitions 4 and 5, Example 5, Lemma 1 and Theorem 1, each with what breaks it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from theory_tables import FOUR, tables, tables_with_candidates

from effort import examples
from undercover.methods.streamliner.theory.candidates import (
    Candidate,
    arrange,
    candidate_from_bijections,
    check_candidates,
    deal_candidates,
    partners_differ,
)
from undercover.methods.streamliner.theory.families import (
    exchanged,
    find_l_cover,
    is_balanced,
    is_cover,
    is_l_cover,
    is_l_cover_of_colour,
    is_self_contained,
    largest_family_set,
    minimal_self_contained_partition,
)
from undercover.methods.streamliner.theory.safe_sets import locally_safe_set
from undercover.methods.streamliner.theory.tables import MicroTable, all_partitions, diversity, parse, text

Drawn = tuple[MicroTable, int, tuple[Candidate, ...]]

# l=3: the partners of 1 are both b and those of 2 are both c, which Definition 1 allows.
TRIPLES = MicroTable(tuple("123456"), tuple("aabcbc"))
SAME_COLOUR = Candidate((("1", "3", "5"), ("2", "4", "6")))


@pytest.mark.parametrize(
    ("partitions", "forth", "back"),
    [
        (["13|24", "1234"], {"1": "3", "2": "4"}, {"3": "1", "4": "2"}),
        (["14|23", "1234"], {"1": "4", "2": "3"}, {"3": "2", "4": "1"}),
    ],
)
def test_example_5(partitions: list[str], forth: dict[str, str], back: dict[str, str]) -> None:
    known = [parse(written) for written in partitions]
    assert is_cover(known, forth)
    assert is_cover(known, back)
    assert is_l_cover(FOUR, known, [candidate_from_bijections(forth), candidate_from_bijections(back)])
    assert find_l_cover(FOUR, known, 2) is not None


def test_exchange_moves_both_ways_and_leaves_the_others() -> None:
    assert exchanged(frozenset("135"), {"1": "3", "2": "4"}) == frozenset("315")
    assert exchanged(frozenset("1456"), {"1": "3", "2": "4"}) == frozenset("3256")


@pytest.mark.parametrize(
    ("partitions", "bijection"),
    [
        (["1234"], {"1": "2", "2": "3", "3": "1"}),  # the sets overlap
        (["1|2|3"], {"1": "3", "2": "3"}),  # no bijection
        (["13|24"], {"1": "4"}),  # 13 becomes 34, which is no group
    ],
)
def test_what_is_no_cover(partitions: list[str], bijection: dict[str, str]) -> None:
    assert not is_cover([parse(written) for written in partitions], bijection)


def test_a_cover_that_is_not_balanced_is_no_l_cover() -> None:
    """1 and 2 can change places with 3 and 4, groups included, but no group holds one of each."""
    table = MicroTable(tuple("1234"), tuple("aabb"))
    known, bijection = [parse("12|34")], {"1": "3", "2": "4"}
    assert is_cover(known, bijection)
    assert not is_balanced(known, bijection)
    assert not is_l_cover_of_colour(table, known, candidate_from_bijections(bijection))


def test_a_colour_without_covers_is_no_l_cover() -> None:
    candidates = deal_candidates(FOUR, 2)
    assert is_l_cover(FOUR, [parse("13|24")], candidates)
    assert not is_l_cover(FOUR, [parse("13|24")], candidates[:1])


@examples(40)
@given(tables_with_candidates())
def test_lemma_1_the_minimal_partition_is_safe_and_covered_by_its_candidates(drawn: Drawn) -> None:
    table, l, candidates = drawn  # noqa: E741
    minimal = minimal_self_contained_partition(table, candidates)
    assert diversity(l).holds_for(table, minimal)
    assert is_l_cover(table, [minimal], candidates)


def test_lemma_1_fails_where_partners_share_a_colour() -> None:
    """Definition 1 is met, and still the candidate is no l-cover with its bijections."""
    candidates = [SAME_COLOUR, *deal_candidates(TRIPLES, 3)[1:]]
    check_candidates(TRIPLES, candidates)
    assert not partners_differ(TRIPLES, SAME_COLOUR)
    minimal = minimal_self_contained_partition(TRIPLES, candidates)
    assert diversity(3).holds_for(TRIPLES, minimal)
    assert not is_l_cover(TRIPLES, [minimal], candidates)


def test_lemma_1_holds_again_once_the_same_sets_are_arranged() -> None:
    repaired = arrange(TRIPLES, SAME_COLOUR.sets)
    assert repaired is not None
    assert repaired.sets == SAME_COLOUR.sets
    candidates = [repaired, *deal_candidates(TRIPLES, 3)[1:]]
    assert is_l_cover(TRIPLES, [minimal_self_contained_partition(TRIPLES, candidates)], candidates)


@examples(40)
@given(tables_with_candidates(), st.data())
def test_theorem_1_every_family_set_is_covered_by_the_candidates(drawn: Drawn, data: st.DataObject) -> None:
    table, _, candidates = drawn
    family = sorted(largest_family_set(table, candidates), key=text)
    assert all(is_l_cover(table, [partition], candidates) for partition in family)
    subset = data.draw(st.lists(st.sampled_from(family), min_size=1, unique=True))
    assert is_l_cover(table, subset, candidates)


def test_theorem_1_fails_for_a_partition_that_parts_partners() -> None:
    table = MicroTable(tuple("1234"), tuple("abac"))
    candidates = deal_candidates(table, 2, within=parse("12|34"))
    parting = parse("14|23")
    assert parting in locally_safe_set(table, diversity(2))
    assert not is_self_contained(parting, candidates)
    assert is_l_cover(table, [parse("12|34")], candidates)
    assert not is_l_cover(table, [parting], candidates)


@examples(20)
@given(tables_with_candidates(most=6))
def test_the_search_finds_a_cover_wherever_candidates_give_one(drawn: Drawn) -> None:
    table, l, candidates = drawn  # noqa: E741
    known = [minimal_self_contained_partition(table, candidates)]
    found = find_l_cover(table, known, l)
    assert found is not None
    assert is_l_cover(table, known, found)


def test_the_search_finds_nothing_where_there_is_nothing() -> None:
    """Both partitions are 2-diverse, but 5 is the only c: who changes places with 5 must do so in both."""
    table = MicroTable(tuple("12345"), tuple("aabbc"))
    known = [parse("13|245"), parse("135|24")]
    assert all(diversity(2).holds_for(table, partition) for partition in known)
    assert find_l_cover(table, known, 2) is None


@examples(30)
@given(tables(most=6), st.data())
def test_what_is_covered_is_locally_safe(table: MicroTable, data: st.DataObject) -> None:
    """Definition 5 asks for a subset of the LSS; disjoint covers leave no other."""
    known = data.draw(
        st.lists(st.sampled_from(sorted(all_partitions(table.identifiers), key=text)), min_size=1, max_size=2)
    )
    for l in (2, 3):  # noqa: E741
        if find_l_cover(table, known, l):
            assert all(diversity(l).holds_for(table, partition) for partition in known)


def test_what_is_not_locally_safe_is_not_covered() -> None:
    assert find_l_cover(FOUR, [parse("12|34")], 2) is None
    assert find_l_cover(FOUR, [parse("1234")], 2) is not None
    assert find_l_cover(FOUR, [parse("1234")], 3) is None
