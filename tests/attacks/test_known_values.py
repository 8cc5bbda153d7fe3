"""What values of some people tell of others, on tables that are too large to go through."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError, UnreachableError
from undercover.model.groups import Groups
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.following import Note, Released, follow
from undercover.studies.algorithm_aware.known_result import KnownValuesResult

SCHEMA = uc.Schema(quasi_identifiers=["x"], sensitive="s")


def dealt(values: str, people: int, seed: int = 0) -> Table:
    held = np.random.default_rng(seed).permutation(list(values) * (people // len(values)))
    return Table.from_arrow(pa.table({"x": list(range(people)), "s": held}), SCHEMA)


def attacked(table: Table, method: Any, seed: int = 5, **how: Any) -> KnownValuesResult:
    return uc.KnownValues(**how).on(table, method, randomness=Randomness(seed))


def chains(groups: Groups) -> list[int]:
    """Groups of two that hang together: zipped pairs of two values that overlap must be the same way round."""
    found, reach = [], -1
    for low, high in sorted(sorted(groups.rows_of(group).tolist()) for group in range(groups.count)):
        if low > reach:
            found.append(0)
        found[-1] += 1
        reach = max(reach, high)
    return found


@pytest.mark.parametrize("seed", [0, pytest.param(8, marks=pytest.mark.soak)])
def test_one_value_fixes_the_chain_it_hangs_in_at_four_hundred_people(seed: int) -> None:
    # With two values that are equally frequent `guided` zips all rows: nothing of it is random, and the truth is known.
    table, method = dealt("ab", 400, seed), uc.Streamliner(l=2, algorithm="guided")
    found = attacked(table, method, trials=60, sets=3)
    possible = chains(method.groups(table, Randomness(1)))
    assert sum(possible) == 200
    assert all(one.groups == 200 and one.fixed + 1 in possible for one in found.sets)
    assert all(one.right == one.people == 2 * one.fixed for one in found.sets)
    assert found.most_fixed > 30
    assert (found.safe, found.robust, found.declared_robust) == (True, False, False)
    assert found.leak is not None
    assert found.leak.posterior in (0, 1)
    assert found.leak.gain > 0.1


def test_half_of_all_groups_are_fixed_by_one_value_of_four_hundred() -> None:
    """The audit's figure: 96 to 170 of 200 groups; 0 where slots are dealt."""
    longest = [
        max(chains(uc.Streamliner(l=2, algorithm="guided").groups(dealt("ab", 400, seed), Randomness(seed))))
        for seed in range(20)
    ]
    assert sum(one >= 96 for one in longest) >= 8
    assert sum(96 <= one <= 170 for one in longest) >= 5


@pytest.mark.parametrize("method", [uc.Streamliner(l=2), uc.Streamliner(l=2, algorithm="rda"), uc.Anatomy(l=2)])
def test_no_known_value_tells_of_others_where_slots_are_dealt(method: Any) -> None:
    found = attacked(dealt("ab", 400), method, trials=60, sets=4, known=20)
    assert (found.safe, found.robust, found.declared_robust, found.most_fixed) == (True, True, True, 0)
    assert found.baseline == 0.5


def test_larger_groups_tell_less_and_it_is_found_all_the_same() -> None:
    table = dealt("abcd", 200)
    guided = attacked(table, uc.Streamliner(l=4, algorithm="guided"), trials=150, sets=2)
    assert not guided.robust
    assert guided.leak is not None
    assert guided.leak.gain > 0.05
    assert attacked(table, uc.Streamliner(l=4), trials=150, sets=2).robust


def test_more_known_values_reach_further() -> None:
    table, method = dealt("ab", 120), uc.Streamliner(l=2, algorithm="guided")
    few, many = (attacked(table, method, trials=80, sets=12, known=known) for known in (1, 6))
    assert sum(one.fixed for one in many.sets) > sum(one.fixed for one in few.sets)


class LowestFirst(uc.Streamliner):
    """Whoever has the second value is put with somebody lower who has the first, as brackets are closed."""

    def groups(self, table: Table, randomness: Randomness) -> Groups:
        first = table["s"].codes == table["s"].codes.min()
        waiting: list[int] = []
        left: list[int] = []
        pairs: list[tuple[int, int]] = []
        for row in range(table.n_rows):
            if first[row]:
                waiting.append(row)
            elif waiting:
                pairs.append((waiting.pop(), row))
            else:
                left.append(row)
        labels = np.empty(table.n_rows, np.int32)
        for group, pair in enumerate([*pairs, *zip(waiting, left, strict=True)]):
            labels[list(pair)] = group
        return Groups(labels, table.n_rows // 2)


def test_a_leak_without_any_known_value_is_found() -> None:
    found = attacked(dealt("ab", 60), LowestFirst(l=2), trials=60, sets=1)
    assert (found.safe, found.declared_safe) == (False, True)
    assert found.unasked is not None
    assert found.unasked.gain > 0.05
    assert "to anybody" in repr(found)


def test_the_figures_are_shown_with_what_the_group_says_alone() -> None:
    found = attacked(dealt("ab", 120), uc.Streamliner(l=2, algorithm="guided"), trials=80, sets=8)
    figures = found.to_dict()
    assert figures["baseline"] == 0.5
    assert figures["leak"]["alone"] == 0.5
    assert not any("row" in key for one in figures["sets"] for key in one)
    text = str(found.view())
    assert "other groups he became certain in" in text
    assert found.right == 1
    assert "guess by the group alone" in text


def test_following_stops_where_nothing_is_sure_and_believes_no_more_than_it_was_told() -> None:
    released = Released([[0, 2], [1, 3]], [0, 0, 1, 1], {"x": [0, 1, 2, 3]})
    assert follow(released, {}, [0]).fixed == 0
    fine, _ = released.notes("x", 0, 1, 1, 0, 0, 0)
    assert follow(released, {fine: True}, [0])[:4] == (2, 1, 2, 2)
    assert follow(released, {fine: False}, [0])[:4] == (2, 1, 2, 0)  # a false rule misleads, and it is counted
    assert Counter(note.him for note in released.unasked(fine, 0)) == {None: 2}
    assert isinstance(fine, Note)


def test_what_cannot_be_attacked_is_refused() -> None:
    with pytest.raises(ParameterError, match="at most 1,000 people"):
        attacked(dealt("ab", 1_002), uc.Streamliner(l=2))
    with pytest.raises(UnreachableError, match="publishes nothing"):
        attacked(dealt("ab", 40), uc.Streamliner(l=3), trials=3)
    declared = uc.Schema(quasi_identifiers=["x"], sensitive="s", columns={"s": uc.Column(domain=("a", "b"))})
    table = Table.from_arrow(pa.table({"x": list(range(40)), "s": ["a", "b"] * 20}), declared)
    with pytest.raises(ParameterError, match="values were perturbed"):
        attacked(table, uc.PerturbedGeneralization(k=2, p=0.5), trials=3)
    with pytest.raises(ParameterError, match="2 problems"):
        uc.KnownValues(known=0, sets=0)
