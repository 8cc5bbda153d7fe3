"""Joined tables: the paper's figures, brute force, theorems 1 and 2, shared columns, the known correlation."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.joint.attack import JointRelease
from undercover.attacks.joint.centralized import centralized_join
from undercover.attacks.joint.correlation import bounds, known_correlation
from undercover.errors import DataError, ParameterError
from undercover.guarantees.joint.shared import shared_cells
from undercover.guarantees.joint.tables import foreign_table, together
from undercover.model.published import Published

HIGH, MIDDLE, LOW = "High", "Middle", "Low"


def table_of(name: str, column: str, cells: dict[str, tuple[int, ...]], values: tuple[str, ...]) -> Published:
    rows = [
        (cell, value)
        for cell, counts in cells.items()
        for value, count in zip(values, counts, strict=True)
        for _ in range(count)
    ]
    data = pa.table({column: [cell for cell, _ in rows], "salary": [value for _, value in rows]})
    return foreign_table(data, name, sensitive="salary")


VALUES = (HIGH, MIDDLE, LOW)
AGE = table_of("revenue", "age", {">= 40": (4, 2, 2), "< 40": (0, 2, 2)}, VALUES)
ZIP = table_of("census", "zip", {">= 20k": (2, 4, 2), "< 20k": (2, 0, 2)}, VALUES)


def test_table_7_of_the_paper() -> None:
    found = JointRelease().run([AGE, ZIP])
    expected = {
        (">= 40", ">= 20k"): {HIGH: Fraction(2, 5), MIDDLE: Fraction(2, 5), LOW: Fraction(1, 5)},
        (">= 40", "< 20k"): {HIGH: Fraction(2, 3), LOW: Fraction(1, 3)},
        ("< 40", ">= 20k"): {MIDDLE: Fraction(2, 3), LOW: Fraction(1, 3)},
        ("< 40", "< 20k"): {LOW: Fraction(1)},
    }
    assert {(c.cells[0]["age"], c.cells[1]["zip"]): dict(c.probabilities) for c in found.worst} == expected
    assert [c.l for c in found.worst] == [1, 2, 2, 3]  # worst first
    assert (found.l, found.max_probability, found.alone, found.combinations) == (1, 1, (2, 2), 4)
    assert found.baseline == pytest.approx(1 / 3)
    assert found.table().num_rows == 12
    figures = found.to_dict()
    assert figures["worst"][0] == {
        "cells": [{"age": "< 40"}, {"zip": "< 20k"}],
        "l": 1,
        "highest": 1.0,
        "probabilities": {LOW: 1.0},
    }


def test_the_printed_table_2b_gives_another_table_7() -> None:
    printed = table_of("census", "zip", {">= 20k": (4, 2, 2), "< 20k": (0, 2, 2)}, VALUES)
    assert JointRelease().run([AGE, printed]).l == 2


def test_the_update_of_section_4_2_1() -> None:
    # Of everybody 2/3 live at >= 20k; of those below 40, 3/4: the weights of both classes of ZIP given "< 40".
    counts = ZIP.counts.sum(axis=1)
    at = ZIP.cells["zip"].labels.index(">= 20k")
    assert Fraction(int(counts[at]), int(counts.sum())) == Fraction(2, 3)
    middle_or_low = [ZIP.values.index(MIDDLE), ZIP.values.index(LOW)]
    left = ZIP.counts[:, middle_or_low].sum(axis=1)
    assert Fraction(int(left[at]), int(left.sum())) == Fraction(3, 4)


def test_the_twelve_intersections_of_table_8() -> None:
    values = tuple("abcdef")
    first = table_of("T1", "x", {"A": (1, 1, 1, 1, 1, 0), "B": (1, 1, 0, 0, 0, 1), "C": (0, 0, 1, 1, 1, 1)}, values)
    second = table_of("T2", "y", {"A": (1, 1, 1, 1, 0, 1), "B": (1, 1, 1, 1, 2, 1)}, values)
    third = table_of("T3", "z", {"A": (1, 0, 1, 1, 1, 1), "B": (1, 2, 1, 1, 1, 1)}, values)
    found = JointRelease(worst=20).run([first, second, third])
    assert found.combinations == len(found.worst) == 12
    sets = {tuple(next(iter(cells.values())) for cells in c.cells): frozenset(c.probabilities) for c in found.worst}
    assert sets["A", "A", "A"] == frozenset("acd")
    assert sets["B", "B", "B"] == frozenset("abf")
    assert sets["C", "A", "B"] == frozenset("cdf")
    assert found.l == min(len(values_left) for values_left in sets.values()) == 2


def random_tables(rng: np.random.Generator, n: int = 40, tables: int = 3) -> list[Published]:
    salary = rng.integers(0, 4, n)
    found = []
    for number in range(tables):
        columns = {f"q{number}{j}": [f"c{c}" for c in rng.integers(0, 2, n)] for j in range(2)}
        data = pa.table({**columns, "salary": [f"s{s}" for s in salary]})
        found.append(foreign_table(data, f"T{number}", sensitive="salary"))
    return found


def by_brute_force(tables: list[Published]) -> list[tuple[int, float]]:
    """(values left, surest) of every combination."""
    joined = together(tables)
    totals = joined.totals.tolist()
    found = []
    for chosen in product(*(counts.tolist() for counts in joined.counts)):
        weights = [total * np.prod([counts[k] / total for counts in chosen]) for k, total in enumerate(totals)]
        left = sum(weight > 0 for weight in weights)
        found.append((left, max(weights) / sum(weights) if left else 0.0))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_every_combination_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = random_tables(rng, n=14, tables=2 + seed % 2)
    expected = by_brute_force(tables)
    found = JointRelease(worst=1000).run(tables)
    assert found.l == min(left for left, _ in expected)
    assert float(found.max_probability) == pytest.approx(max(sure for _, sure in expected))
    listed = [(c.l, -round(float(c.highest), 9)) for c in found.worst]
    assert listed == sorted((int(left), -round(float(sure), 9)) for left, sure in expected)
    assert found.impossible == sum(left == 0 for left, _ in expected)


@pytest.mark.parametrize("seed", range(8))
def test_theorems_1_and_2_whoever_knows_less_is_left_more(seed: int) -> None:
    tables = random_tables(np.random.default_rng(seed))
    whole = JointRelease().run(tables).l
    for size in (1, 2):
        for some in combinations(tables, size):
            assert JointRelease().run(list(some)).l >= whole
    names = [name for table in tables for name in table.quasi_identifiers]
    for size in range(1, len(names)):
        for known in combinations(names, size):
            assert JointRelease(known=known).run(tables).l >= whole


def test_knowing_only_some_columns_merges_classes() -> None:
    data = pa.table({"age": ["o", "o", "y", "y"], "sex": list("fmfm"), "salary": [HIGH, LOW, LOW, MIDDLE]})
    table = foreign_table(data, "revenue", sensitive="salary")
    assert JointRelease().run([table]).l == 1
    found = JointRelease(known=("age",)).run([table])
    assert found.l == 2
    assert {c.cells[0]["age"] for c in found.worst} == {"o", "y"}
    assert JointRelease(known=("sex",)).run([table, nothing_known_of(data)]).l == 2
    with pytest.raises(ParameterError, match="`agee` is not known"):
        JointRelease(known=("agee",)).run([table])


def nothing_known_of(data: pa.Table) -> Published:
    return foreign_table(
        pa.table({"all": ["*", "*", "*", "."], "salary": data["salary"]}), "o", sensitive="salary", suppressed=True
    )


def test_crossing_cuts_are_refused_because_they_can_be_subtracted() -> None:
    rows = [(30, HIGH), (45, MIDDLE), (60, HIGH), (60, MIDDLE), (30, MIDDLE)]

    def cut(at: int, other: str) -> Published:
        cells = [f"[0, {at - 1}]" if age < at else f"[{at}, 99]" for age, _ in rows]
        data = pa.table({"age": cells, other: ["*"] * 5, "salary": [value for _, value in rows]})
        return foreign_table(data, f"cut at {at}", sensitive="salary")

    tables = [cut(40, "x"), cut(50, "y")]
    with pytest.raises(DataError, match="share the quasi-identifier `age`"):
        JointRelease().run(tables)
    with pytest.raises(DataError, match="cross"):
        JointRelease(shared="nested").run(tables)
    # Every intersection has two values, and yet who is between 40 and 50 is M for certain.
    assert all((counts > 0).sum(axis=1).tolist() == [2, 2] for counts in (tables[0].counts, tables[1].counts))
    under_40 = sorted(value for age, value in rows if age < 40)
    under_50 = sorted(value for age, value in rows if age < 50)
    assert (under_40, under_50) == ([HIGH, MIDDLE], [HIGH, MIDDLE, MIDDLE])
    same = JointRelease(shared="nested").run([cut(40, "x"), cut(40, "y")])
    assert same.l == 2


def test_nested_cells_part_the_combinations() -> None:
    values = [HIGH, LOW, LOW, HIGH, MIDDLE, HIGH]
    fine = pa.table({"age": ["[0, 9]"] * 2 + ["[10, 19]"] * 2 + ["[20, 29]"] * 2, "salary": values})
    coarse = pa.table({"age": ["[0, 19]"] * 4 + ["[20, 29]"] * 2, "sex": ["f"] * 6, "salary": values})
    tables = [foreign_table(fine, "fine", sensitive="salary"), foreign_table(coarse, "coarse", sensitive="salary")]
    assert JointRelease(shared="nested").run(tables).l == 2
    words = foreign_table(pa.table({"age": ["young"] * 4 + ["old"] * 2, "salary": values}), "words", sensitive="salary")
    with pytest.raises(DataError, match="does not know 2 values"):
        JointRelease(shared="nested").run([tables[0], words])


def test_a_cycle_of_shared_columns_is_refused() -> None:
    values = [HIGH, LOW]
    tables = [
        foreign_table(pa.table({a: ["1", "1"], b: ["1", "1"], "salary": values}), a + b, sensitive="salary")
        for a, b in ("ab", "bc", "ca")
    ]
    with pytest.raises(DataError, match="in a cycle"):
        shared_cells(together(tables), nested=True)


def test_overlapping_cells_of_one_table_are_refused() -> None:
    # People of [0, 9] less its women are its men, though the men are published as [0, 19] only.
    values = [HIGH, LOW, LOW, HIGH]
    local = pa.table({"age": ["[0, 19]", "[0, 19]", "[0, 9]", "[10, 19]"], "sex": list("mmff"), "salary": values})
    other = pa.table({"age": ["[0, 9]", "[10, 19]", "[0, 9]", "[10, 19]"], "zip": ["1"] * 4, "salary": values})
    tables = [foreign_table(local, "local", sensitive="salary"), foreign_table(other, "other", sensitive="salary")]
    with pytest.raises(DataError, match="overlap within `local`"):
        JointRelease(shared="nested").run(tables)


def test_a_cycle_of_levels_is_refused_though_the_columns_form_none() -> None:
    values = [HIGH, LOW] * 4
    fine = {
        name: [f"[{2 * (i >> bit & 1)}, {2 * (i >> bit & 1) + 1}]" for i in range(8)] for bit, name in enumerate("abc")
    }
    coarse = {name: ["[0, 3]"] * 8 for name in "abc"}

    def table_with(levels: str) -> Published:
        columns = {name: (fine if level == "f" else coarse)[name] for name, level in zip("abc", levels, strict=True)}
        return foreign_table(pa.table({**columns, "salary": values}), levels, sensitive="salary")

    two = [table_with("ffc"), table_with("cff")]
    assert shared_cells(together(two), nested=True).names == ("a", "b", "c")
    with pytest.raises(DataError, match="in a cycle"):
        shared_cells(together([*two, table_with("fcf")]), nested=True)
    # A table that knows all three fine columns closes the cycle again.
    assert shared_cells(together([*two, table_with("fcf"), table_with("fff")]), nested=True).names


def test_anatomy_and_generalised_tables_go_together() -> None:
    people = uc.datasets.census(3000, seed=6)
    first = uc.publish(people, uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income"), uc.Anatomy(l=8))
    second = uc.publish(people, uc.Schema(quasi_identifiers=["race"], sensitive="income"), uc.Mondrian(k=200))
    found = uc.joint_risk([first, second])
    assert found.l <= min(found.alone) == 8
    assert found.worst[0].cells[0].keys() == {"bucket"}


def test_too_many_combinations_leave_l_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.attacks.joint import attack as joint_release

    tables = random_tables(np.random.default_rng(3), n=30)
    whole = JointRelease().run(tables)
    monkeypatch.setattr(joint_release, "_MOST_WORK", 60)
    part = JointRelease().run(tables)
    assert part.l == whole.l
    assert not part.exhaustive
    assert part.possible_l == whole.possible_l
    assert part.max_probability <= whole.max_probability


def test_table_6_by_listing_and_by_counting() -> None:
    counts, totals = [(3, 3, 4), (4, 3, 2)], (7, 7, 7)
    found = known_correlation(counts, totals, 4)
    assert found.instances == 10
    assert found.by_instances == (Fraction(3, 8), Fraction(3, 8), Fraction(1, 4))
    assert found.by_assignments == (Fraction(237, 568), Fraction(87, 284), Fraction(157, 568))
    assert sum(found.by_assignments) == 1


@pytest.mark.parametrize("seed", range(10))
def test_counting_against_listing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    totals = [int(t) for t in rng.integers(1, 5, 3)]
    counts = [tuple(int(rng.integers(0, total + 1)) for total in totals) for _ in range(2 + seed % 2)]
    least, most = bounds(counts, totals)
    for size in range(max(1, sum(least)), sum(most) + 1):
        instances = [x for x in product(*(range(a, b + 1) for a, b in zip(least, most, strict=True))) if sum(x) == size]
        found = known_correlation(counts, totals, size)
        assert found.instances == len(instances)
        for k in range(3):
            assert found.by_instances[k] == Fraction(sum(x[k] for x in instances), size * len(instances))
            assert found.possible[k] == any(x[k] for x in instances)
        weights = {x: np.prod([ways(t, [c[k] for c in counts], x[k]) for k, t in enumerate(totals)]) for x in instances}
        whole = sum(weights.values())
        for k in range(3):
            expected = Fraction(int(sum(weight * x[k] for x, weight in weights.items())), int(whole) * size)
            assert found.by_assignments is not None
            assert found.by_assignments[k] == expected


def ways(total: int, rows: list[int], common: int) -> int:
    """Tuples of sets of so many of ``total`` people with just ``common`` in common, by listing all."""
    people = range(total)
    sets = [list(combinations(people, size)) for size in rows]
    return sum(len(set.intersection(*(set(part) for part in chosen))) == common for chosen in product(*sets))


def test_a_value_can_be_certain_although_two_are_in_common() -> None:
    # N = (2, 2), a = b = (2, 1), two people in common: both are H.
    found = known_correlation([(2, 1), (2, 1)], (2, 2), 2)
    assert found.by_instances == (Fraction(1), Fraction(0))
    assert found.possible == (True, False)
    first = table_of("a", "x", {"1": (2, 1), "2": (0, 1)}, (HIGH, LOW))
    second = table_of("b", "y", {"1": (2, 1), "2": (0, 1)}, (HIGH, LOW))
    joined = JointRelease(size=2).run([first, second])
    assert joined.worst[-1].l == 2
    assert joined.possible_l == 1
    assert joined.correlation[-1] is not None
    assert joined.correlation[-1].to_dict()["possible_values"] == 1
    assert joined.correlation[0] is None  # nobody but one can be in the smaller combination


def test_large_combinations_are_counted_by_instances_only() -> None:
    counts, totals = [(90, 80), (70, 90)], (100, 100)
    found = known_correlation(counts, totals, 140)
    assert found.by_assignments is not None
    assert sum(found.by_assignments) == 1
    assert sum(found.by_instances) == 1
    many = known_correlation([(4000,) * 3, (4000,) * 3], (9000,) * 3, 6000)
    assert many.by_assignments is None
    assert many.by_instances == (Fraction(1, 3),) * 3


def test_bad_sizes_and_parameters() -> None:
    with pytest.raises(ParameterError, match="has 1 to 8 people"):
        known_correlation([(3, 3, 4), (4, 3, 2)], (7, 7, 7), 9)
    with pytest.raises(ParameterError, match="3 problems"):
        JointRelease(shared="drop", worst=0, size=0)  # type: ignore[arg-type]


def test_the_centralised_join_of_tables_3_and_4() -> None:
    ages = [60, 50, 55, 50, 48, 43, 25, 37, 57, 57, 18, 22]
    zips = [25434, 27343, 19343, 17234, 28544, 24453, 26211, 23094, 29454, 12845, 15341, 22093]
    salary = np.repeat([0, 1, 2], 4)  # High, Middle, Low
    found = centralized_join([np.array(ages) // 40, np.array(zips) // 20000], salary)
    assert (found.people, found.combinations, found.l, found.given_away) == (12, 4, 1, 1)  # Kate
    assert found.max_probability == 1.0
    assert found.left == {1: 1, 2: 6, 3: 5}
    assert found.to_dict()["left"] == {"1": 1, "2": 6, "3": 5}
    with pytest.raises(DataError, match="numbers of people differ"):
        centralized_join([np.zeros(3, dtype=int)], np.zeros(4, dtype=int))
