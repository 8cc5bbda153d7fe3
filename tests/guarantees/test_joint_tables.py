"""Published tables of several holders: what is refused, what is brought together, intersections by brute force."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, ParameterError, SchemaError
from undercover.forms.classes import Classes, classes_of_table
from undercover.guarantees.joint.diversity import JointDiversity
from undercover.guarantees.joint.sets import Intersections, least_intersection, smallest
from undercover.guarantees.joint.tables import foreign_table, released_table, together
from undercover.guarantees.requirements import guarantee_from_mapping
from undercover.model.published import Published

HIGH, MIDDLE, LOW = "High", "Middle", "Low"


def rows_of(column: str, cells: dict[str, tuple[int, int, int]]) -> pa.Table:
    """Rows of High, Middle and Low in every cell, as many as given."""
    rows = [
        (cell, value)
        for cell, counts in cells.items()
        for value, count in zip((HIGH, MIDDLE, LOW), counts, strict=True)
        for _ in range(count)
    ]
    return pa.table({column: [cell for cell, _ in rows], "salary": [value for _, value in rows]})


def table_of(name: str, column: str, cells: dict[str, tuple[int, int, int]]) -> Published:
    return foreign_table(rows_of(column, cells), name, sensitive="salary")


def classes_in(column: str, cells: dict[str, tuple[int, int, int]]) -> Classes:
    return classes_of_table(rows_of(column, cells), [column], ["salary"], suppressed_is_star=True)


# Table 2; (b) from the zip codes of Table 1, for the printed one repeats the counts of (a).
AGE = table_of("revenue", "age", {">= 40": (4, 2, 2), "< 40": (0, 2, 2)})
IN_ZIP = {">= 20k": (2, 4, 2), "< 20k": (2, 0, 2)}
ZIP = table_of("census", "zip", IN_ZIP)
ZIP_CLASSES = classes_in("zip", IN_ZIP)


def test_least_intersection_by_brute_force() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        tables = [
            [int(bits) | 1 for bits in rng.integers(1, 1 << 9, int(rng.integers(1, 7)))]
            for _ in range(int(rng.integers(1, 5)))
        ]
        expected = min(int(np.bitwise_and.reduce(chosen)).bit_count() for chosen in product(*tables))
        found, chosen = least_intersection(tables)
        assert found == expected
        assert int(np.bitwise_and.reduce(chosen)).bit_count() == found
        others = Intersections(tables[1:], (1 << 9) - 1)
        for bits in tables[0]:
            counts = [int(np.bitwise_and.reduce((bits, *chosen))).bit_count() for chosen in product(*tables[1:])]
            assert others.least(bits)[0] == min(counts)
            assert others.least(bits, below=min(counts) + 1)[0] == min(counts)
            assert others.least(bits, below=min(counts))[1] == ()


def test_two_hundred_sets_beside_two_hundred_are_no_work() -> None:
    rng = np.random.default_rng(1)
    tables = [[((1 << 50) - 1) ^ sum(1 << int(v) for v in rng.choice(50, 8, replace=False)) for _ in range(200)]] * 2
    assert least_intersection(tables)[0] == min((a & b).bit_count() for a in tables[0] for b in tables[1])


def test_smallest_sets_contain_no_other() -> None:
    assert smallest([0b1111, 0b0011, 0b0101, 0b0111, 0b0011]) == [0b0011, 0b0101]
    assert smallest([]) == []


def test_together_brings_values_into_one_order() -> None:
    other = foreign_table(
        pa.table({"zip": [1, 2, 2], "salary": [LOW, HIGH, LOW]}).select(["zip", "salary"]), "other", sensitive="salary"
    )
    own = foreign_table(pa.table({"age": [1, 1, 1], "salary": [HIGH, LOW, LOW]}), "own", sensitive="salary")
    joined = together([own, other])
    assert joined.values == (HIGH, LOW)
    assert joined.totals.tolist() == [1, 2]
    assert joined.counts[1].tolist() == [[0, 1], [1, 1]]
    assert joined.describe(1, 0) == {"zip": "1"}


def test_tables_about_other_people_are_refused() -> None:
    # Table 2(b) as it is printed has the right totals; one row changed has not.
    wrong = table_of("census", "zip", {">= 20k": (3, 4, 2), "< 20k": (1, 0, 3)})
    with pytest.raises(DataError, match="5 rows with one value where `revenue` has 4"):
        together([AGE, wrong])
    stranger = foreign_table(pa.table({"zip": ["1"], "salary": ["Huge"]}), "stranger", sensitive="salary")
    with pytest.raises(DataError, match="a text of 4 characters, which `revenue` does not have"):
        together([AGE, stranger])


def test_perturbed_releases_are_refused() -> None:
    people = uc.datasets.census(2000, seed=1)
    schema = uc.datasets.census_schema(["age", "sex"])
    run = uc.publish(people, schema, uc.PerturbedGeneralization(k=20, p=0.3))
    with pytest.raises(DataError, match="drawn values"):
        released_table(run.release, "census")


def test_a_foreign_table_of_buckets_stands_for_its_people() -> None:
    sat = pa.table({"bucket": [1, 1, 2], "salary": [HIGH, LOW, LOW], "count": ["2", "1", "3"]})
    table = foreign_table(sat, "sat.csv", sensitive="salary")
    assert table.quasi_identifiers == ("bucket of sat.csv",)
    assert table.counts.tolist() == [[2, 1], [0, 3]]
    with pytest.raises(DataError, match="whole numbers"):
        foreign_table(sat.set_column(2, "count", pa.array(["2", "x", "3"])), "sat.csv", sensitive="salary")


def test_suppressed_rows_count_on_request_only() -> None:
    data = pa.table({"zip": ["1", "1", "*"], "salary": [HIGH, LOW, LOW]})
    with pytest.raises(DataError, match="1 suppressed rows"):
        foreign_table(data, "census", sensitive="salary")
    asked = foreign_table(data, "census", sensitive="salary", suppressed=True)
    joined = together([asked])
    assert joined.counts[0].tolist() == [[1, 1], [0, 1]]
    assert joined.describe(0, 1) == {"suppressed": "yes"}


def test_rows_a_release_left_out_follow_from_a_complete_table() -> None:
    people = uc.datasets.census(3000, seed=5)
    with_gaps = uc.publish(people, uc.datasets.census_schema(["age", "sex"]), uc.Incognito(k=20, suppression=0.1))
    assert with_gaps.release.suppressed_rows
    table = released_table(with_gaps.release, "gaps", suppressed=True)
    with pytest.raises(DataError, match="At least one must be complete"):
        together([table])
    whole = uc.publish(people, uc.datasets.census_schema(["race"]), uc.Incognito(k=5))
    joined = together([released_table(whole.release, "whole"), table])
    assert joined.counts[1].sum(axis=0).tolist() == joined.totals.tolist()
    assert joined.counts[1][-1].sum() == with_gaps.release.suppressed_rows


def test_what_a_table_must_have() -> None:
    data = pa.table({"zip": ["1"], "salary": [HIGH]})
    with pytest.raises(SchemaError, match="Did you mean `salary`"):
        foreign_table(data, "census", sensitive="salry")
    with pytest.raises(SchemaError, match="no quasi-identifier"):
        foreign_table(data, "census", sensitive="salary", quasi_identifiers=["age"])
    with pytest.raises(DataError, match="at least one"):
        together([])


def test_joint_diversity_of_the_papers_tables() -> None:
    found = JointDiversity(l=2, others=[AGE]).check(ZIP_CLASSES)
    assert (found.actual, found.holds, found.violating_classes) == (1, False, 1)
    assert found.examples[0]["cells"] == {"zip": "< 20k"}
    # The printed Table 2(b) is a copy of (a), and next to (a) it looks safe: a negative test.
    printed = classes_in("zip", {">= 20k": (4, 2, 2), "< 20k": (0, 2, 2)})
    assert JointDiversity(l=2, others=[AGE]).check(printed).holds


def test_evidence_alone_is_enough_to_check_again() -> None:
    promise = JointDiversity(l=2, others=[AGE])
    again = guarantee_from_mapping({"name": "joint-diversity", **promise.parameters()})
    assert again == promise
    assert again.check(ZIP_CLASSES).actual == 1
    evidence = promise.parameters()["others"][0]
    assert evidence["sets"] == [{"values": "6"}]  # Low and Middle: {High, Middle, Low} contains it
    assert evidence["rows"] == {HIGH: 4, LOW: 4, MIDDLE: 4}


def test_what_makes_a_claim_of_joint_diversity_fail() -> None:
    other = table_of("other", "zip", {"1": (1, 1, 1)})
    assert "other sensitive values" in JointDiversity(l=1, others=[other]).check(ZIP_CLASSES).note
    shared = table_of("other", "zip", {"1": (4, 4, 4)})
    assert "publishes `zip`, too" in JointDiversity(l=1, others=[shared]).check(ZIP_CLASSES).note
    with pytest.raises(ParameterError, match="int in"):
        JointDiversity(l=0)
    good = JointDiversity(l=1, others=[AGE]).parameters()["others"][0]
    for wrong in (
        {"name": "x"},
        good | {"sets": [{"values": "not hexadecimal"}]},
        good | {"sets": [{"values": "ff"}]},  # more values than there are
        good | {"sets": []},
        good | {"rows": 7},
    ):
        with pytest.raises(ParameterError, match="published tables or what was recorded"):
            JointDiversity(l=1, others=[wrong])


def test_whoever_has_no_value_of_a_shared_column_can_be_in_every_class_of_the_other_table() -> None:
    # Nothing says where the two people without a town live: in Germany, everybody is High.
    tree = [("Bonn", "Germany"), ("Lyon", "France")]
    ours = pa.table({"town": ["Lyon", "Lyon", None, None], "pay": [LOW, HIGH, LOW, HIGH]})
    theirs = pa.table({"town": ["France", "France", "France", "Germany"], "pay": [LOW, HIGH, LOW, HIGH]})
    promise = JointDiversity(l=2, others=[foreign_table(theirs, "o", sensitive="pay")], trees={"town": tree})
    found = promise.check(classes_of_table(ours, ["town"], ["pay"], suppressed_is_star=False))
    assert (found.holds, found.actual) == (False, 1)
    assert found.examples[0]["cells"] == {"town": ""}


def test_a_manifest_with_changed_evidence_fails() -> None:
    table = uc.datasets.census(2000, seed=1)
    first = uc.publish(table, uc.datasets.census_schema(["race"]), uc.NonCentralized(l=20))
    others = [uc.published(first, name="first")]
    second = uc.publish(table, uc.datasets.census_schema(["sex"]), uc.NonCentralized(l=10, others=others))
    claim = dict(second.release.guarantees[0])
    evidence = dict(claim["others"][0])
    small = evidence | {"sets": [{"values": "3"}]}
    for changed in (small, evidence | {"sets": "?"}, evidence | {"rows": {"1": 2}}):
        release = second.release.with_guarantees((claim | {"others": [changed]},))
        assert not uc.verify(release).holds
    assert uc.verify(second.release).holds


def test_shared_columns_under_one_tree_part_the_combinations() -> None:
    tree = (("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"))
    rows = [("1", HIGH), ("2", LOW), ("1", LOW), ("2", HIGH), ("3", MIDDLE), ("3", HIGH)]
    coarse = {"1": "low", "2": "low", "3": "high"}
    values = [value for _, value in rows]
    fine = classes_of_table(
        pa.table({"zip": [z for z, _ in rows], "salary": values}), ["zip"], ["salary"], suppressed_is_star=True
    )
    other = foreign_table(
        pa.table({"zip": [coarse[z] for z, _ in rows], "sex": ["f"] * 6, "salary": values}), "o", sensitive="salary"
    )
    # {High, Low} twice below `low`, {Middle, High} in `high`: across they would have High alone in common.
    found = JointDiversity(l=2, others=[other], trees={"zip": tree}).check(fine)
    assert (found.actual, found.holds) == (2, True)
    blind = foreign_table(
        pa.table({"town": [coarse[z] for z, _ in rows], "salary": values}), "blind", sensitive="salary"
    )
    assert JointDiversity(l=2, others=[blind]).check(fine).actual == 1
