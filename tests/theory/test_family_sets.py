"""Self-contained partitions and family sets: Lemma 2, what is a family set, and which family sets are safe."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from theory_tables import FOUR, tables_with_candidates

from effort import examples
from undercover.methods.streamliner.theory.candidates import Candidate, candidate_from_bijections, deal_candidates
from undercover.methods.streamliner.theory.families import (
    find_l_cover,
    is_family_set,
    is_l_cover,
    is_self_contained,
    is_self_contained_group,
    largest_family_set,
    minimal_self_contained_partition,
)
from undercover.methods.streamliner.theory.safe_sets import (
    Guess,
    disclosure_set,
    is_globally_safe,
    is_strongly_globally_safe,
    locally_safe_set,
)
from undercover.methods.streamliner.theory.tables import (
    MicroTable,
    Partition,
    all_partitions,
    common_refinement,
    diversity,
    is_coarsening,
    parse,
    text,
    texts,
)

Drawn = tuple[MicroTable, int, tuple[Candidate, ...]]

# Three pairs of different colours, and the two ways to merge the middle one with a neighbour.
SIX = MicroTable(tuple("123456"), tuple("abacbc"))
PAIRS = parse("12|34|56")
MERGED = [parse("1234|56"), parse("12|3456")]


def keeps_groups_whole(partition: Partition, groups: Partition) -> bool:
    """The conclusion of Lemma 2: every group of the partition holds all or nothing of each of the groups."""
    return all(not group & whole or whole <= group for group in partition for whole in groups)


def test_example_4_family_sets() -> None:
    candidates = [candidate_from_bijections({"1": "3", "2": "4"}), candidate_from_bijections({"3": "1", "4": "2"})]
    first, second, whole = parse("13|24"), parse("14|23"), parse("1234")
    assert [is_self_contained(partition, candidates) for partition in (first, second, whole)] == [True, False, True]
    assert minimal_self_contained_partition(FOUR, candidates) == first
    for family in ({first}, {whole}, {first, whole}):
        assert is_family_set(family, candidates)
    assert not is_family_set({first, second}, candidates)


def test_all_partners_count_not_only_the_first() -> None:
    table = MicroTable(tuple("123456"), tuple("abcabc"))
    rows = [("1", "2", "3"), ("4", "5", "6")]
    candidates = [Candidate(tuple(row[turn:] + row[:turn] for row in rows)) for turn in range(3)]
    assert text(minimal_self_contained_partition(table, candidates)) == "123|456"
    assert text(minimal_self_contained_partition(table, candidates[:1])) == "123|456"
    assert not is_self_contained(parse("124|356"), candidates[:1])


@examples(40)
@given(tables_with_candidates())
def test_lemma_2_self_contained_partitions_keep_minimal_groups_whole(drawn: Drawn) -> None:
    table, _, candidates = drawn
    minimal = minimal_self_contained_partition(table, candidates)
    for partition in all_partitions(table.identifiers):
        if is_self_contained(partition, candidates):
            assert keeps_groups_whole(partition, minimal)


def test_lemma_2_needs_the_minimal_partition() -> None:
    candidates = deal_candidates(FOUR, 2, within=parse("13|24"))
    merged = parse("1234")
    assert is_self_contained(merged, candidates)
    assert not keeps_groups_whole(parse("13|24"), merged)


@examples(40)
@given(tables_with_candidates())
def test_the_minimal_partition_is_minimal(drawn: Drawn) -> None:
    """Definition 3, with a proper non-empty subset."""
    table, _, candidates = drawn
    for group in minimal_self_contained_partition(table, candidates):
        assert is_self_contained_group(group, candidates)
        members = sorted(group)
        for mask in range(1, 2 ** len(members) - 1):
            part = frozenset(name for i, name in enumerate(members) if mask >> i & 1)
            assert not is_self_contained_group(part, candidates)


@examples(40)
@given(tables_with_candidates())
def test_the_family_is_exactly_the_coarsenings_of_the_minimal_partition(drawn: Drawn) -> None:
    table, _, candidates = drawn
    minimal = minimal_self_contained_partition(table, candidates)
    self_contained = {p for p in all_partitions(table.identifiers) if is_self_contained(p, candidates)}
    assert self_contained == {p for p in all_partitions(table.identifiers) if is_coarsening(p, minimal)}
    assert self_contained == largest_family_set(table, candidates)


def test_forgetting_a_pair_makes_the_partition_too_fine() -> None:
    """The planted fault of the merge: without colour s2's candidates nobody merges 13 with 24."""
    candidates = [candidate_from_bijections({"1": "3", "2": "4"}), candidate_from_bijections({"3": "2", "4": "1"})]
    assert text(minimal_self_contained_partition(FOUR, candidates)) == "1234"
    forgetful = minimal_self_contained_partition(FOUR, candidates[:1])
    assert text(forgetful) == "13|24"
    assert not is_self_contained(forgetful, candidates)


@examples(20)
@given(tables_with_candidates(most=6))
def test_the_whole_family_is_strongly_globally_safe(drawn: Drawn) -> None:
    table, l, candidates = drawn  # noqa: E741
    assert is_strongly_globally_safe(table, largest_family_set(table, candidates), diversity(l))


@examples(20)
@given(tables_with_candidates(most=6), st.data())
def test_a_locally_safe_set_with_its_common_refinement_is_strongly_globally_safe(
    drawn: Drawn, data: st.DataObject
) -> None:
    """Swapping people inside a group of the refinement changes nothing that is known, so shares are averages."""
    table, l, _ = drawn  # noqa: E741
    finest = data.draw(st.sampled_from(sorted(locally_safe_set(table, diversity(l)), key=text)))
    above = sorted((p for p in all_partitions(table.identifiers) if is_coarsening(p, finest)), key=text)
    chosen = {finest, *data.draw(st.lists(st.sampled_from(above), max_size=3))}
    assert common_refinement(chosen) == finest
    assert is_strongly_globally_safe(table, chosen, diversity(l))


def test_a_family_set_without_its_common_refinement_can_give_people_away() -> None:
    """Against Theorem 1 as the paper uses it: l-cover holds, and yet the set is not strongly globally safe."""
    candidates = deal_candidates(SIX, 2, within=PAIRS)
    assert minimal_self_contained_partition(SIX, candidates) == PAIRS
    assert is_family_set(MERGED, candidates)
    assert is_l_cover(SIX, MERGED, candidates)
    assert find_l_cover(SIX, MERGED, 2) is not None
    assert is_globally_safe(SIX, MERGED, diversity(2))
    image = disclosure_set(SIX, MERGED, diversity(2))
    assert len(image.tables) == 60
    seen = image.seeing_release(SIX, MERGED[0])
    assert (len(seen.tables), seen.surest()) == (20, Guess("3", "a", Fraction(3, 5)))
    assert not is_strongly_globally_safe(SIX, MERGED, diversity(2))


def test_safe_sets_have_subsets_that_are_not() -> None:
    assert common_refinement(MERGED) == PAIRS
    assert is_strongly_globally_safe(SIX, [*MERGED, PAIRS], diversity(2))
    assert not is_strongly_globally_safe(SIX, MERGED, diversity(2))


def test_a_safe_set_need_not_be_a_family_set() -> None:
    """Family sets are one way to be safe: here all of the locally safe set is, and no candidates keep it together."""
    everything = locally_safe_set(FOUR, diversity(2))
    assert is_strongly_globally_safe(FOUR, everything, diversity(2))
    assert texts([common_refinement(everything)]) == ["1|2|3|4"]
    assert not diversity(2).holds_for(FOUR, common_refinement(everything))
