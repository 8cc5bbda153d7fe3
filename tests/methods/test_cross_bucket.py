"""Cross-bucket generalization: the eight patients by the paper's variant, then what must hold on any table."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.engines.local import LocalEngine
from undercover.errors import DataError, ParameterError, SchemaError, UnreachableError
from undercover.forms import classes_of
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.model.form import Buckets
from undercover.model.release import PublishedTable, Release
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.attack import AlgorithmAware

EIGHT = uc.datasets.hospital("cross-bucket")
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")


def eight(seed: int | None = None, **more: Any) -> Any:
    return uc.publish(EIGHT.table, EIGHT.schema, uc.CrossBucket(k=2, l=4, variant="paper", **more), seed=seed)


@pytest.mark.parametrize("seed", [None, *range(12)])
def test_the_eight_patients(seed: int | None) -> None:
    run = eight(seed)
    qit, sat = (run.release.published(name).data.to_pylist() for name in ("qit", "sat"))
    boxes = Counter((row["age"], row["sex"], row["zip_code"]) for row in qit)
    assert sorted(boxes.values()) == [2, 2, 2, 2]
    assert sorted(Counter(row["bucket"] for row in qit).values()) == [2, 2, 2, 2]
    assert run.diagnostics == {
        "groups": 4,
        "buckets": 4,
        "picks": 2,
        "largest_group": 2,
        "discernibility": 16,
    }
    # Each bucket has one row of each of two groups, and two buckets share the same two.
    partners = Counter(
        frozenset(tuple(row[name] for name in ("age", "sex", "zip_code")) for row in qit if row["bucket"] == bucket)
        for bucket in range(4)
    )
    assert sorted(partners.values()) == [2, 2]
    assert all(len(pair) == 2 for pair in partners)
    for pair in partners:
        buckets = {row["bucket"] for row in qit if (row["age"], row["sex"], row["zip_code"]) in pair}
        assert len({row["disease"] for row in sat if row["bucket"] in buckets}) == 4
    assert Counter(row["disease"] for row in sat) == Counter(EIGHT.table["disease"].to_pylist())
    # The values of a bucket are those of its rows.
    diseases = EIGHT.table["disease"].to_pylist()
    for bucket in range(4):
        own = [diseases[row] for row in np.flatnonzero(run.buckets == bucket)]
        assert sorted(own) == sorted(row["disease"] for row in sat if row["bucket"] == bucket)
    assert [finding.shown() for finding in uc.verify(run.release).findings] == ["2", "4"]
    assert uc.attack(run).after.attribute["disease"].max() <= 0.25
    assert uc.measure(EIGHT.table, run).discernibility == 16


def test_groups_and_buckets_are_kept_in_private() -> None:
    run = eight(1)
    assert run.groups.sizes.tolist() == [2, 2, 2, 2]
    assert run.buckets is not None
    assert "buckets" not in run.release.parameters


@pytest.mark.parametrize("more", [{"variant": "paper"}, {}, {"boxes": "exact", "robust": True}], ids=str)
@pytest.mark.parametrize(("k", "l"), [(3, 10), (3, 4), (5, 8), (10, 4), (1, 6), (4, 1), (1, 1)])
def test_a_census_keeps_its_promise_and_nothing_is_lost(k: int, l: int, more: dict[str, Any]) -> None:  # noqa: E741
    people = uc.datasets.census(3_000, seed=2)
    schema = uc.datasets.census_schema(["age", "sex", "education", "hours"], "salary", hierarchies=l % 3 == 0)
    run = uc.publish(people, schema, uc.CrossBucket(k=k, l=l, **more))
    checked = uc.verify(run.release, original=people, schema=schema)
    assert checked.holds is (True if k > 1 or l > 1 else None)  # k = l = 1 promise nothing
    assert all(finding.holds for finding in checked.findings)
    assert {finding.name for finding in checked.findings} >= {"k-anonymity", "kl-anonymity", "rows-covered"}
    found = uc.attack(run)
    assert found.after.attribute["salary"].max() <= 1 / l + 1e-12
    assert found.after.identity.max() <= 1 / k + 1e-12


def test_discernibility_is_least_where_the_most_frequent_salary_is_rare_enough() -> None:
    people = uc.datasets.census(22_517)
    names = ["sex", "age", "relationship", "marital_status", "race", "education", "hours", "occupation"]
    schema = uc.datasets.census_schema(names, "salary", hierarchies=False)
    run = uc.publish(people, schema, uc.CrossBucket(k=3, l=10, variant="paper"), seed=1)
    largest = max(pair["counts"] for pair in people["salary"].value_counts().to_pylist())
    assert largest * 12 <= 22_517
    assert run.diagnostics["discernibility"] == 67_559


@pytest.mark.parametrize("variant", ["safe", "paper"])
def test_missing_values_and_hierarchies_are_covered(variant: Any) -> None:
    towns = uc.Hierarchy([("Ulm", "South", "*"), ("Wien", "South", "*"), ("Kiel", "North", "*")])
    rng = np.random.default_rng(4)
    data = pa.table(
        {
            "age": pa.array([None if i % 9 == 0 else int(a) for i, a in enumerate(rng.integers(20, 60, 90))]),
            "town": [None if i % 11 == 0 else towns.leaves[int(t)] for i, t in enumerate(rng.integers(0, 3, 90))],
            "ill": [None if i % 10 == 0 else f"s{i % 10}" for i in range(90)],
        }
    )
    schema = uc.Schema(
        quasi_identifiers=["age", "town"],
        sensitive="ill",
        columns={"town": uc.Column(hierarchy=towns)},
        missing="category",
    )
    run = uc.publish(data, schema, uc.CrossBucket(k=3, l=5, variant=variant))
    assert uc.verify(run.release, original=data, schema=schema).holds


@pytest.mark.parametrize("more", [{"variant": "paper"}, {}, {"boxes": "exact"}], ids=str)
def test_equal_rows_and_a_single_quasi_identifier(more: dict[str, Any]) -> None:
    data = pa.table({"age": [1] * 40, "sex": ["F"] * 40, "ill": [f"s{i % 8}" for i in range(40)]})
    run = uc.publish(data, SCHEMA, uc.CrossBucket(k=3, l=5, **more))
    assert uc.verify(run.release).findings[0].actual == 40  # one box
    assert uc.verify(run.release).holds


def test_a_joined_view_shows_values_of_the_bucket_and_no_more() -> None:
    run = eight(3, joined=True)
    qit, sat, joined = (run.release.published(name).data.to_pylist() for name in ("qit", "sat", "joined"))
    cells = ("age", "sex", "zip_code")
    assert Counter(tuple(row[name] for name in cells) for row in joined) == Counter(
        tuple(row[name] for name in cells) for row in qit
    )
    assert Counter(row["disease"] for row in joined) == Counter(row["disease"] for row in sat)
    for row in joined:
        box = tuple(row[name] for name in cells)
        buckets = {other["bucket"] for other in qit if tuple(other[name] for name in cells) == box}
        assert row["disease"] in {other["disease"] for other in sat if other["bucket"] in buckets}
    assert uc.verify(run.release).holds
    assert uc.attack(run).after.attribute["disease"].max() <= 0.25
    assert uc.measure(EIGHT.table, run.release).discernibility == 16


def test_every_way_to_draw_the_joined_view_is_equally_likely(uniform: Any) -> None:
    # One group of three rows in one bucket: every order of the three values must be equally frequent.
    data = pa.table({"age": [1, 2, 3], "sex": ["F"] * 3, "ill": ["a", "b", "c"]})
    table = Table.from_arrow(data, SCHEMA)
    seen: Counter[tuple[str, ...]] = Counter()
    for seed in range(400):
        method = uc.CrossBucket(k=1, l=3, joined=True)
        draft = method.anonymize(table, engine=LocalEngine(threads=1), randomness=Randomness(seed))
        rows = sorted(draft.tables[2].data.to_pylist(), key=lambda row: row["age"])
        seen[tuple(row["ill"] for row in rows)] += 1
    assert uniform([seen[order] for order in permutations("abc")])


def test_a_joined_view_that_was_tampered_with_is_found_out() -> None:
    run = eight(3, joined=True)
    joined = run.release.published("joined")
    position = joined.data.column_names.index("disease")
    for column, values in (("disease", ["flu"] * 8), ("sex", ["Male"] * 8)):
        at = joined.data.column_names.index(column)
        changed = joined.data.set_column(at, column, pa.array(values))
        tables = (*run.release.tables[:2], PublishedTable("joined", joined.columns, changed))
        release = replace(run.release, tables=tables)
        checked = uc.verify(release)
        assert not checked.holds
        assert "Table `joined` has other" in checked.problems[0]
    assert position == 3


def test_rows_of_a_group_take_their_buckets_in_a_uniform_order(uniform: Any) -> None:
    # Two rows of one group, and which of them is in the bucket of `a`: known quasi-identifiers must not tell.
    data = pa.table({"age": [1, 2, 8, 9], "sex": ["F"] * 4, "ill": ["a", "b", "c", "d"]})
    table = Table.from_arrow(data, SCHEMA)
    together: Counter[bool] = Counter()
    for seed in range(200):
        method = uc.CrossBucket(k=2, l=4, variant="paper")
        draft = method.anonymize(table, engine=LocalEngine(threads=1), randomness=Randomness(seed))
        assert draft.buckets is not None
        assert draft.groups.labels[0] == draft.groups.labels[1]
        together[bool(draft.buckets[0] == draft.buckets[2])] += 1
    assert uniform([together[True], together[False]])


def test_bucket_numbers_are_shuffled(uniform: Any) -> None:
    data = pa.table({"age": [1, 2, 3, 4], "sex": ["F"] * 4, "ill": ["a", "b", "c", "d"]})
    table = Table.from_arrow(data, SCHEMA)
    numbers: Counter[int] = Counter()
    for seed in range(200):
        method = uc.CrossBucket(k=2, l=4, variant="paper")
        draft = method.anonymize(table, engine=LocalEngine(threads=1), randomness=Randomness(seed))
        assert draft.buckets is not None
        numbers[int(draft.buckets[0])] += 1
    assert uniform([numbers[0], numbers[1]])


def test_what_is_taken_together_can_be_inverted_and_is_declared_so() -> None:
    table = Table.from_arrow(
        pa.table({"x": [0, 1, 2, 3], "s": ["s1", "s1", "s2", "s2"]}),
        uc.Schema(quasi_identifiers=["x"], sensitive="s"),
    )
    method = uc.CrossBucket(k=2, l=2, variant="paper")
    found = AlgorithmAware(trials=200).on(table, method, randomness=Randomness(3))
    assert not found.exact  # nothing is listed: what is published is more than who was taken together
    assert not found.safe
    assert found.worst.posterior == 1
    assert found.worst.alone == Fraction(1, 2)
    assert not method.algorithm_safe
    assert not found.declared_safe


def test_the_same_seed_gives_the_same_release_and_another_another() -> None:
    one, again, other = (eight(seed).release.published("qit").data for seed in (5, 5, 6))
    assert one == again
    assert one != other


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 0, "l": 2}, r"The 'k' parameter of CrossBucket must be an int in \[1, inf\). Got 0"),
        ({"k": 2, "l": True}, "The 'l' parameter of CrossBucket"),
        ({"k": 2.5, "l": "3"}, "2 problems"),
        ({"k": 2, "l": 2, "joined": "yes"}, "The 'joined' parameter of CrossBucket"),
        (
            {"k": 2, "l": 2, "variant": "both"},
            "The 'variant' of CrossBucket `both` is not known. There are: `safe`, `paper`.",
        ),
        (
            {"k": 2, "l": 2, "variant": "paper", "boxes": "mondrian"},
            "^The 'boxes' parameter of CrossBucket belongs to variant=\"safe\". Leave it out.$",
        ),
        ({"k": 2, "l": 2, "variant": "paper", "robust": True, "boxes": "exact"}, "2 problems"),
    ],
)
def test_parameters_are_checked_on_construction(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        uc.CrossBucket(**given)


def test_bad_input_is_told() -> None:
    data = pa.table({"age": [1, 2, 3], "sex": ["F"] * 3, "ill": ["a", "a", "b"], "bucket": [1, 2, 3]})
    with pytest.raises(
        UnreachableError,
        match=r"l=2 cannot be reached: the most frequent .* is 66.7% of the rows \(2 of 3\)",
    ):
        uc.publish(data, SCHEMA, uc.CrossBucket(k=1, l=2))
    with pytest.raises(UnreachableError, match="k=4 cannot be reached: the table has only 3 rows"):
        uc.publish(data, SCHEMA, uc.CrossBucket(k=4, l=1))
    with pytest.raises(UnreachableError, match="the largest feasible k is 1"):
        uc.publish(data, SCHEMA, uc.CrossBucket(k=2, l=1, variant="paper"))
    with pytest.raises(ParameterError, match=r"exactly one sensitive column\. Got 0"):
        uc.publish(data, uc.Schema(quasi_identifiers=["age"]), uc.CrossBucket(k=1, l=1))
    with pytest.raises(SchemaError, match="CrossBucket adds the columns `bucket` and `count`"):
        uc.publish(data, uc.Schema(quasi_identifiers=["bucket"], sensitive="ill"), uc.CrossBucket(k=1, l=1))
    with pytest.raises(DataError, match="missing value"):
        uc.publish(pa.table({"age": [1, 2], "sex": ["F"] * 2, "ill": ["a", None]}), SCHEMA, uc.CrossBucket(k=1, l=1))


def test_a_release_whose_buckets_are_exchanged_is_rejected() -> None:
    run = eight(2)
    qit = run.release.published("qit")
    # All rows of a box into one bucket each: sizes stay, the promise does not.
    boxes = [tuple(row.values())[:3] for row in qit.data.to_pylist()]
    numbers = {box: number for number, box in enumerate(dict.fromkeys(boxes))}
    at = qit.data.column_names.index("bucket")
    changed = qit.data.set_column(at, "bucket", pa.array([numbers[box] for box in boxes], pa.int32()))
    release = Release(
        "cross-bucket",
        {},
        (PublishedTable("qit", qit.columns, changed), run.release.published("sat")),
        False,
        form=Buckets(),
    )
    found = KLAnonymity(k=2, l=4).check(classes_of(release))
    assert found.holds is False
    assert found.actual == 2
