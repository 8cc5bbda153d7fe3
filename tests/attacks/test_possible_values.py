"""Somebody who knows everybody's quasi-identifiers: what is promised to him, against all worlds and a plain twin.

A world says which class of every table each person is in and what value he has, such that the tables come out as
published. The attacker knows the classes of everybody. The truth is the least number of values that some person of some
world can have in the worlds that look the same to him.
"""

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import undercover as uc
from undercover.attacks.joint.attack import JointRelease
from undercover.compiled.joint import least_possible, possible_values
from undercover.guarantees.joint.tables import foreign_table

AUDIT = {"t1": "XXXxXxxx", "t2": "YYyYyYyy", "t3": "12341234"}
VALUES = "HHHHMMMM"


def figure(classes: list[str], values: str, *, whole: bool = True, ages: str = "") -> int:
    """What is printed of tables given by the class of every person; ``ages`` are classes that exclude all others."""
    names, counts, starts = sorted(set(values)), [], [0]
    for own in classes:
        counts += [[inside.count(name) for name in names] for inside in by_class(own, values)]
        starts.append(len(counts))
    totals = np.array([values.count(name) for name in names])
    met = np.array([[label in ages for own in classes for label in sorted(set(own))]], dtype=np.int64)
    overlap = np.eye(2, dtype=bool)[None] if ages else np.ones((1, 2, 2), dtype=bool)
    found, through = least_possible(np.array(counts), np.array(starts), totals, met, overlap, whole, 10**9)
    assert through
    return int(found)


def truth(classes: list[str], values: str, ages: str = "") -> int:
    """The least over all worlds and people, by listing; people of one value are alike, so the first table stays."""
    shown = [sorted(zip(own, values, strict=True)) for own in classes]
    least = len(values)
    for rest in product(*(arrangements(own, values) for own in classes[1:])):
        world = [classes[0], *rest]
        if any(len({label in ages for label in person}) > 1 for person in zip(*world, strict=True)):
            continue  # nobody is in two classes that exclude each other
        alike = [
            other
            for other in orders(values)
            if all(sorted(zip(own, other, strict=True)) == there for own, there in zip(world, shown, strict=True))
        ]
        least = min(least, *(len({other[person] for other in alike}) for person in range(len(values))))
    return least


@cache
def orders(values: str) -> list[tuple[str, ...]]:
    return sorted(set(permutations(values)))


@cache
def arrangements(own: str, values: str) -> list[str]:
    """Every way to put people into the classes of a table such that it comes out as published; values are in order."""
    blocks = [[c for c, v in zip(own, values, strict=True) if v == name] for name in dict.fromkeys(values)]
    return ["".join(chain.from_iterable(parts)) for parts in product(*(sorted(set(permutations(b))) for b in blocks))]


def plain(classes: list[str], values: str) -> int:
    """The same figure by its definition: every combination, every set of classes."""
    names = sorted(set(values))
    rows = [{c: dict.fromkeys(names, 0) for c in own} for own in classes]
    for table, own in zip(rows, classes, strict=True):
        for c, v in zip(own, values, strict=True):
            table[c][v] += 1
    n = {v: values.count(v) for v in names}

    def possible(k: str, j: str, at: tuple[str, ...]) -> bool:
        if all(count[k] == count[j] for table in rows for count in table.values()):
            return True
        talking = [t for t, table in enumerate(rows) if not any(c[k] == n[k] and c[j] == n[j] for c in table.values())]
        if len(talking) > 2:
            return False
        others = [count for t in talking for c, count in rows[t].items() if c != at[t]]
        return not any(
            sum(c[j] for c in some) >= n[j] and sum(c[k] for c in some) < n[k]
            for size in range(len(others) + 1)
            for some in combinations(others, size)
        )

    return min(
        sum(possible(k, j, at) for j in names)
        for at in product(*rows)
        for k in names
        if all(table[c][k] for table, c in zip(rows, at, strict=True))
    )


def small_tables(seed: int, people: int, values: int, tables: int, classes: int = 3) -> Iterator[tuple[list[str], str]]:
    """Tables in which every class has several values, so that something is left to be ruled out."""
    rng = np.random.default_rng(seed)
    while True:
        held = "".join(sorted("HML"[v] for v in rng.integers(0, values, people)))
        made = ["".join("abc"[c] for c in rng.integers(0, classes, people)) for _ in range(tables)]
        if len(set(held)) == values and all(len(set(inside)) > 1 for own in made for inside in by_class(own, held)):
            yield made, held


def by_class(own: str, values: str) -> list[str]:
    return ["".join(v for c, v in zip(own, values, strict=True) if c == label) for label in sorted(set(own))]


def test_the_audits_example() -> None:
    classes = list(AUDIT.values())
    assert truth(classes[:2], VALUES) == 1  # if two people are in X and Y, both have H
    assert figure(classes[:2], VALUES) == 1
    assert figure(classes, VALUES) == 1  # another table makes nobody safer
    assert [figure([own], VALUES) for own in classes] == [2, 2, 2]
    joined = [table_of(name, own, VALUES) for name, own in AUDIT.items()]
    assert [JointRelease().run(joined[:size]).possible_l for size in (1, 2, 3)] == [2, 1, 1]


def table_of(name: str, own: str, values: str) -> Any:
    import pyarrow as pa

    return foreign_table(pa.table({f"of {name}": list(own), "pay": list(values)}), name, sensitive="pay")


@pytest.mark.parametrize(("values", "people"), [(2, 6), (2, 7), (3, 6)])
def test_two_tables_never_promise_more_than_the_truth(values: int, people: int) -> None:
    exact, above_one = 0, 0
    for (classes, held), _ in zip(small_tables(values, people, values, 2), range(150), strict=False):
        real, ours = truth(classes, held), figure(classes, held)
        assert figure(classes, held, whole=False) <= ours <= real
        exact += ours == real
        above_one += real > 1
    assert above_one > 5  # else there is nothing to promise
    assert exact == 150 if values == 2 else exact > 100


def test_three_tables_never_promise_more_than_the_truth() -> None:
    above_one = 0
    for (classes, held), _ in zip(small_tables(4, 5, 2, 3, classes=2), range(120), strict=False):
        real, ours = truth(classes, held), figure(classes, held)
        assert figure(classes, held, whole=False) <= ours <= real
        above_one += ours > 1
    assert above_one


def test_a_column_that_both_tables_share_takes_combinations_away() -> None:
    # The classes a and b are of the young, c and d of the old, in either table.
    rng = np.random.default_rng(12)
    higher = 0
    for _ in range(150):
        held = "".join(sorted("HM"[v] for v in rng.integers(0, 2, 6)))
        old = rng.integers(0, 2, 6)
        classes = [
            "".join("abcd"[2 * o + c] for o, c in zip(old, rng.integers(0, 2, 6), strict=True)) for _ in range(2)
        ]
        if len(set(held)) == 2 and all(len(set(inside)) > 1 for own in classes for inside in by_class(own, held)):
            ours = figure(classes, held, ages="cd")
            assert figure(classes, held) <= ours <= truth(classes, held, ages="cd")
            higher += ours > 1
    assert higher


def test_every_two_and_three_tables_of_four_people() -> None:
    halves = ["".join(own) for own in product("ab", repeat=4)]
    for classes in [*product(halves, repeat=2), *product(halves[:8], repeat=3)]:  # b is as good a name as a
        for held in ("HHMM", "HMMM", "HLMM"):
            ours = figure(list(classes), held)
            assert ours <= truth(list(classes), held)
            assert figure(list(classes), held, whole=False) <= ours


def test_the_truth_catches_a_figure_that_ignores_one_table() -> None:
    # A fault planted: the least over single tables, as if nobody could join them.
    wrong = 0
    for (classes, held), _ in zip(small_tables(2, 6, 2, 2), range(40), strict=False):
        wrong += min(figure([own], held) for own in classes) > truth(classes, held)
    assert wrong


@pytest.mark.parametrize("tables", [1, 2, 3])
def test_the_kernel_against_its_plain_twin(tables: int) -> None:
    seen = set()
    for (classes, held), _ in zip(small_tables(tables, 7, 3, tables), range(80), strict=False):
        assert figure(classes, held) == plain(classes, held)
        seen.add(figure(classes, held))
    assert len(seen) > 1 or tables != 2


def test_one_table_is_distinct_diversity() -> None:
    for (classes, held), _ in zip(small_tables(8, 7, 3, 1), range(50), strict=False):
        fewest = min(len(set(inside)) for inside in by_class(classes[0], held))
        assert figure(classes, held) == truth(classes, held) == fewest


def test_another_table_or_column_never_raises_the_figure() -> None:
    falls = 0
    for (classes, held), _ in zip(small_tables(9, 9, 3, 4), range(150), strict=False):
        for whole in (True, False):
            by_tables = [figure(classes[:size], held, whole=whole) for size in (1, 2, 3, 4)]
            assert by_tables == sorted(by_tables, reverse=True)
            falls += by_tables[0] > by_tables[-1]
            finer = "".join(chr(97 + 3 * "abc".index(a) + "abc".index(b)) for a, b in zip(*classes[1:3], strict=True))
            split = figure([finer, classes[3]], held, whole=whole)
            assert split <= figure([classes[1], classes[3]], held, whole=whole)
    assert falls


def test_tables_that_say_nothing_change_nothing() -> None:
    for (classes, held), _ in zip(small_tables(10, 8, 3, 2), range(40), strict=False):
        nothing = "o" * len(held)
        assert figure([*classes, nothing], held) == figure(classes, held)
        assert figure([nothing, *classes], held) == figure(classes, held)


def test_values_spread_alike_over_every_table_stay_possible() -> None:
    halves = ["aabb" * 2, "abab" * 2, "abba" * 2]
    assert [figure(halves[:size], "HHHHMMMM") for size in (1, 2, 3)] == [2, 2, 2]
    proportional = ["ab" + "aabb", "ab" + "abab", "ab" + "abba"]  # twice as many M as H everywhere
    assert figure(proportional[:2], "HHMMMM") == truth(proportional[:2], "HHMMMM") == 2
    assert figure(proportional, "HHMMMM") == truth(proportional, "HHMMMM") == 1


def test_what_is_too_much_work_is_not_promised() -> None:
    counts, starts = np.array([[1, 1], [1, 1]]), np.array([0, 2])
    none = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 0, 0), dtype=bool)
    assert possible_values(counts, starts, np.array([2, 2]), *none) == (2, True)
    assert least_possible(counts, starts, np.array([2, 2]), *none, True, 10) == (1, False)


def test_it_is_never_more_than_is_left_to_whoever_knows_one_person() -> None:
    people = uc.datasets.census(2000, seed=1)
    runs = [
        uc.publish(people, uc.datasets.census_schema(names), uc.Mondrian(k=200), seed=1)
        for names in (["age"], ["sex"], ["race"])
    ]
    for size in (1, 2, 3):
        found = uc.joint_risk(runs[:size])
        assert 1 <= found.possible_l <= found.l
