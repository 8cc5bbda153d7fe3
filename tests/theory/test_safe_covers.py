"""The lemmas of docs/theory/safe_covers.md by enumeration, their assumptions by counter-example, and a trap."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from enumerated import Assigned, beliefs, blocks, classes, crossed, permuted, table_of
from numpy.typing import NDArray

from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.dealing.classes import class_groups, class_outcomes

HALF = Fraction(1, 2)
TABLES = [
    ((0, 1, 2, 3), "aabc", 2),
    ((0, 1, 2, 9), "aabb", 2),
    ((0, 0, 1, 1), "abcd", 2),
    ((0, 1, 2, 3, 4), "aabbc", 2),
    ((0, 3, 4, 5, 9), "abcde", 2),
    ((0, 1, 5, 6, 7, 9), "aabbcc", 3),
    ((0, 1, 2, 7, 8, 9), "aaabbc", 2),
]


@pytest.mark.parametrize(("xs", "values", "l"), TABLES)
def test_class_dealing_tells_nothing(xs: Sequence[int], values: str, l: int) -> None:  # noqa: E741
    """Lemma B: told every group and its values, everybody has each of these with the same probability."""

    def publish(xs: Sequence[int], assigned: Assigned) -> Iterator[tuple[Fraction, object]]:
        for chance, labels in class_outcomes(table_of(xs, assigned), "s", l):
            members = [np.flatnonzero(labels == group) for group in np.unique(labels)]
            yield chance, frozenset((tuple(rows), tuple(sorted(assigned[i] for i in rows))) for rows in members)

    found = set(beliefs(publish, xs, values))
    assert found <= {Fraction(1, l), Fraction(1, l + 1)}


@pytest.mark.parametrize(("xs", "values", "l"), TABLES[:3])
def test_layers_leave_a_value_at_one_in_l(xs: Sequence[int], values: str, l: int) -> None:  # noqa: E741
    assert max(beliefs(permuted(blocks(2), classes(l)), xs, values)) <= Fraction(1, l)


@pytest.mark.parametrize(("xs", "values", "l"), TABLES[:4])
def test_groups_leave_a_value_at_one_in_l(xs: Sequence[int], values: str, l: int) -> None:  # noqa: E741
    assert max(beliefs(permuted(classes(l)), xs, values)) <= Fraction(1, l)


@pytest.mark.parametrize(("xs", "size"), [((0, 1, 2, 3), 2), ((0, 1, 1, 1, 5), 2), ((0, 1, 5, 6, 7), 3)])
def test_blocks_leave_the_owner_of_a_value_at_delta(xs: Sequence[int], size: int) -> None:
    # All values differ, so whose a value is and who owns its row are one question.
    assert max(beliefs(permuted(blocks(size)), xs, "abcde"[: len(xs)])) <= Fraction(1, size)


@pytest.mark.parametrize(("xs", "values", "l"), TABLES[:4])
def test_whole_groups_for_buckets_leave_a_value_at_one_in_l(xs: Sequence[int], values: str, l: int) -> None:  # noqa: E741
    assert max(beliefs(crossed(2, classes(l)), xs, values)) <= Fraction(1, l)


def nearest_of_other_value(table: Table) -> Iterator[tuple[Fraction, NDArray[np.int32]]]:
    """What is not to be done: the first row together with the nearest that has another value, and so on."""
    codes, labels, count = table["s"].codes, np.full(table.n_rows, -1, np.int32), 0
    for row in range(table.n_rows):
        others = [i for i in range(row + 1, table.n_rows) if labels[i] < 0 and codes[i] != codes[row]]
        if labels[row] < 0 and others:
            labels[[row, others[0]]] = count
            count += 1
    labels[labels < 0] = max(count - 1, 0)
    yield Fraction(1), labels


def test_groups_that_look_at_values_are_caught() -> None:
    for of_x in (blocks(1), blocks(2)):
        assert max(beliefs(permuted(of_x, nearest_of_other_value), (0, 1, 2, 3), "aabc")) == Fraction(3, 5)
        assert max(beliefs(permuted(of_x, classes(2)), (0, 1, 2, 3), "aabc")) <= HALF


def test_without_the_assumptions_it_does_not_hold() -> None:
    people = (0, 1, 2, 3)
    in_order = permuted(blocks(2), shown=tuple)
    assert max(beliefs(permuted(blocks(2)), people, "abcd")) == HALF
    assert max(beliefs(in_order, people, "abcd")) == 1, "in input order row i is person i"

    def beside(xs: Sequence[int], values: Assigned) -> Iterator[tuple[Fraction, object]]:
        """An insensitive column that stays with its row and is unique, here the number of the person."""
        for chance, rows in permuted(blocks(2), shown=tuple)(xs, values):
            yield chance, frozenset(enumerate(rows))  # type: ignore[arg-type]

    assert max(beliefs(beside, people, "abcd")) == 1

    # Four men and one woman, and a value that only a woman has: nothing that is dealt hides whose it is.
    five, ill = (0, 1, 2, 3, 4), ["flu", "gout", "rash", "ulcer", "pregnant"]
    groups = permuted(classes(2))
    assert max(beliefs(groups, five, ill)) <= HALF
    assert max(beliefs(groups, five, ill, possible=lambda assigned: assigned[4] == "pregnant")) == 1


def test_a_unique_cell_has_a_certain_source() -> None:
    """Blocks hide whose value a row carries; that somebody is 90, and who, everybody sees."""
    ages = (30, 31, 32, 33, 90)
    for _, rows in permuted(blocks(5))(ages, tuple("abcde")):
        assert [age for age, _ in rows].count(90) == 1  # type: ignore[attr-defined]
    assert max(beliefs(permuted(blocks(5)), ages, "abcde")) == Fraction(1, 5)


# The trap: class dealing, and buckets smaller than a pick.

RENAMINGS = np.array(list(permutations(range(6))))  # slot -> value
SLOTS = np.argsort(RENAMINGS, axis=1)  # value -> slot


def picks(n_picks: int, seed: int) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int64]]]:
    """Groups of six rows by class dealing, one of each class: which slots lie in the upper box, and their values.

    There is one zone and every class has one value, so slot b is the class of the rows whose value is ``values[b]``.
    """
    random = np.random.default_rng(seed)
    values = np.repeat(np.arange(6), n_picks)
    xs = random.permutation(6 * n_picks)
    groups = class_groups(table_of(xs.tolist(), tuple(map(str, values))), "s", 6, randomness=Randomness(seed))
    truth = random.permutation(6)  # of slots, which nobody knows
    for group in range(groups.count):
        rows = groups.rows_of(group)
        at = xs[rows[np.argsort(values[rows])]][truth]  # by slot
        yield at > np.sort(at)[2], truth


def sureness(buckets_of: int, n_picks: int, seed: int) -> list[Fraction]:
    """The surest belief about the values of the slots after each pick, for buckets of so many rows of each box.

    He is told which rows are of one class, as the proof of Lemma B allows, and sees how many rows of each box a bucket
    has. Of each box rows go to buckets in a secret order, whatever their values, so all renamings that fit are alike.
    """
    random = np.random.default_rng(seed)
    fits, found = np.ones(len(RENAMINGS), bool), []
    for upper, truth in picks(n_picks, seed):
        boxes = [random.permutation(np.flatnonzero(upper)), random.permutation(np.flatnonzero(~upper))]
        for start in range(0, 3, buckets_of):
            bucket = truth[np.concatenate([box[start : start + buckets_of] for box in boxes])]
            fits &= upper[SLOTS[:, bucket]].sum(axis=1) == len(bucket) // 2
        counts = [np.bincount(RENAMINGS[fits, slot], minlength=6).max() for slot in range(6)]
        found.append(Fraction(int(max(counts)), int(fits.sum())))
    return found


def test_small_buckets_give_the_renaming_away_over_many_picks() -> None:
    """One unknown renaming holds for all picks of a zone, and every small bucket tells a little of it."""
    enough = []
    for seed in range(9):
        print(f"seed {seed}")
        small = sureness(1, 80, seed)
        assert small[0] == Fraction(1, 6), "one pick tells nothing, so tables of a pick or two do not show it"
        enough.append(next(picks for picks, sure in enumerate(small, 1) if sure > 0.9))
        assert set(sureness(3, 80, seed)) == {Fraction(1, 6)}, "whole groups tell nothing however many there are"
    assert sorted(enough)[4] <= 30


Pick = tuple[tuple[int, ...], frozenset[frozenset[int]]]
"""The rows of a group, and the values of its buckets."""


def named(values: tuple[int, ...] = (), most: int = 2) -> Iterator[tuple[int, ...]]:
    """Assignments of four values to eight people, up to what the values are called."""
    if len(values) == 8:
        yield values
    else:
        for value in range(min(len(set(values)) + 1, 4)):
            if values.count(value) < most:
                yield from named((*values, value))


def test_eight_people_do_not_show_it() -> None:
    """Two picks of four rows, each in two boxes and two buckets across them: every belief is exactly 1/4."""
    weight: dict[object, dict[tuple[int, int], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for values in named():
        seen: dict[tuple[Pick, ...], Fraction] = defaultdict(Fraction)
        for chance, labels in class_outcomes(table_of(range(8), tuple(map(str, values))), "s", 4):
            groups = [np.flatnonzero(labels == group).tolist() for group in np.unique(labels)]
            for uppers in product(*(permutations(rows[2:]) for rows in groups)):
                picked = tuple(
                    (
                        tuple(rows),
                        frozenset(frozenset((values[i], values[j])) for i, j in zip(rows[:2], upper, strict=True)),
                    )
                    for rows, upper in zip(groups, uppers, strict=True)
                )
                seen[tuple(sorted(picked, key=lambda pick: pick[0]))] += chance / 4
        for names in permutations(range(4)):
            for picked, chance in seen.items():
                called = tuple((rows, frozenset(frozenset(names[v] for v in b) for b in of)) for rows, of in picked)
                for person, value in enumerate(values):
                    weight[called][person, names[value]] += chance
    found = {8 * part / sum(of.values(), Fraction(0)) for of in weight.values() for part in of.values()}
    assert found == {Fraction(1, 4)}
