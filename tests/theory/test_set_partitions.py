"""All partitions of a few identifiers."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from undercover.errors import ParameterError
from undercover.methods.streamliner.theory.tables import (
    Partition,
    all_partitions,
    bell_number,
    coarsenings,
    common_refinement,
    identifiers_of,
    is_coarsening,
    parse,
    partition_of,
    text,
    texts,
)

PARTITIONS_OF_FIVE = list(all_partitions("12345"))


def by_labels(identifiers: str) -> set[Partition]:
    """Every partition a second way: label everybody in all ways and put equal labels together."""
    return {
        frozenset(
            frozenset(name for name, given in zip(identifiers, labels, strict=True) if given == label)
            for label in set(labels)
        )
        for labels in product(range(len(identifiers)), repeat=len(identifiers))
    }


@pytest.mark.parametrize(("n", "bell"), [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52), (6, 203)])
def test_as_many_partitions_as_the_bell_number(n: int, bell: int) -> None:
    listed = list(all_partitions("123456"[:n]))
    assert len(listed) == len(set(listed)) == bell == bell_number(n)


def test_the_partitions_are_those_found_by_labelling() -> None:
    assert set(PARTITIONS_OF_FIVE) == by_labels("12345")


def test_text_form() -> None:
    assert text(partition_of([["Eve"], ["Coy", "Ada"]])) == "Ada,Coy|Eve"
    assert texts([parse("24|13"), parse("4321")]) == ["1234", "13|24"]


@given(st.sampled_from(PARTITIONS_OF_FIVE))
def test_text_is_read_back(partition: Partition) -> None:
    assert parse(text(partition)) == partition


@examples(40)
@given(st.sampled_from(PARTITIONS_OF_FIVE))
def test_coarsenings_are_those_that_merge_groups(fine: Partition) -> None:
    listed = list(coarsenings(fine))
    assert len(listed) == len(set(listed)) == bell_number(len(fine))
    assert set(listed) == {coarse for coarse in PARTITIONS_OF_FIVE if is_coarsening(coarse, fine)}


@examples(40)
@given(st.lists(st.sampled_from(PARTITIONS_OF_FIVE), min_size=1, max_size=3))
def test_common_refinement_is_the_coarsest_below_all(given_partitions: list[Partition]) -> None:
    below_all = {fine for fine in PARTITIONS_OF_FIVE if all(is_coarsening(coarse, fine) for coarse in given_partitions)}
    refinement = common_refinement(given_partitions)
    assert refinement in below_all
    assert all(is_coarsening(refinement, fine) for fine in below_all)


def test_coarsening_needs_the_same_people() -> None:
    assert not is_coarsening(parse("123"), parse("12"))
    assert identifiers_of(parse("12|3")) == frozenset("123")


@pytest.mark.parametrize("groups", [["12", ""], ["11"], ["12", "23"]])
def test_what_is_not_a_partition_is_refused(groups: list[str]) -> None:
    with pytest.raises(ParameterError):
        partition_of(groups)


def test_refinement_of_nothing_or_of_different_people_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one partition"):
        common_refinement([])
    with pytest.raises(ParameterError, match="same identifiers"):
        common_refinement([parse("12"), parse("13")])


def test_bell_numbers_start_at_nothing() -> None:
    with pytest.raises(ParameterError, match="Got -1"):
        bell_number(-1)
