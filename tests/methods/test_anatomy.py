"""Anatomy: hand-computed tables, the properties of Figure 3 on random tables, and uniform secret picks."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import undercover as uc
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, SchemaError, UnreachableError
from undercover.methods.anatomy.method import Anatomy, deal
from undercover.model.groups import Groups
from undercover.model.run import Draft
from undercover.randomness import Randomness
from undercover.steps.dealing import groups as dealing

Uniform = Callable[[Sequence[int]], bool]
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")


def table_of(values: Sequence[str]) -> uc.Table:
    data = {
        "age": [20 + 7 * i % 40 for i in range(len(values))],
        "sex": [("F", "M")[i % 2] for i in range(len(values))],
        "ill": list(values),
    }
    return uc.Table.from_arrow(pa.table(data), SCHEMA)


def dealt(values: Sequence[str], l: int, seed: int) -> Draft:  # noqa: E741
    return Anatomy(l=l).anonymize(table_of(values), engine=LocalEngine(), randomness=Randomness(seed=seed))


def buckets_of(values: Sequence[str], draft: Draft) -> list[list[str]]:
    """The sensitive values of every bucket."""
    return [sorted(values[row] for row in draft.groups.rows_of(b)) for b in range(draft.groups.count)]


def test_four_rows_two_values() -> None:
    draft = dealt(["a", "a", "b", "b"], 2, seed=1)
    assert buckets_of(["a", "a", "b", "b"], draft) == [["a", "b"], ["a", "b"]]
    assert draft.buckets is not None
    assert draft.buckets.tolist() == draft.groups.labels.tolist()


def test_a_row_left_over_joins_the_only_bucket_without_its_value() -> None:
    # a a b b c: {a, b}, then one of each of two of a, b, c; whatever is left must not meet its own kind.
    values = ["a", "a", "b", "b", "c"]
    for seed in range(20):
        assert sorted(buckets_of(values, dealt(values, 2, seed))) == [["a", "b"], ["a", "b", "c"]]


def test_the_largest_values_go_first() -> None:
    # a 4 times of 8 with l = 2: a must be in every bucket, or it would not come out even.
    values = ["a"] * 4 + ["b", "b", "c", "d"]
    assert sorted(buckets_of(values, dealt(values, 2, 3))) == [["a", "b"], ["a", "b"], ["a", "c"], ["a", "d"]]


def random_eligible(rng: np.random.Generator) -> tuple[list[str], int]:
    """A table and an l it is eligible for, often exactly: the hardest case."""
    while True:
        counts = rng.integers(0, 12, int(rng.integers(2, 9)))
        if counts.sum() and counts.sum() // counts.max() >= 2:
            break
    best = int(counts.sum() // counts.max())
    l = best if rng.random() < 0.6 else int(rng.integers(2, best + 1))  # noqa: E741
    values = [f"v{c}" for c, count in enumerate(counts) for _ in range(count)]
    return [values[i] for i in rng.permutation(len(values))], l


def check_figure_3(values: Sequence[str], l: int, draft: Draft) -> None:  # noqa: E741
    """Properties 1 and 3 of the paper, from the groups alone."""
    buckets = buckets_of(values, draft)
    assert sorted(value for bucket in buckets for value in bucket) == sorted(values)
    assert min(len(bucket) for bucket in buckets) >= l
    assert all(len(set(bucket)) == len(bucket) for bucket in buckets), "a bucket holds a value twice"
    assert sum(len(bucket) - l for bucket in buckets) < l, "more rows left over than the paper allows"
    assert len(buckets) == len(values) // l


def test_random_tables_keep_the_properties_of_figure_3() -> None:
    for number in range(300):
        values, l = random_eligible(np.random.default_rng((number, 1)))  # noqa: E741
        try:
            check_figure_3(values, l, dealt(values, l, number))
        except AssertionError:
            print(f"table {number}: {Counter(values)}, l={l}")
            raise


def test_the_checker_notices_a_value_that_occurs_twice() -> None:
    draft = dealt(["a", "b", "c", "d"], 2, 1)
    faulty = replace(draft, groups=Groups(np.array([0, 1, 0, 1], np.int32), 2))
    check_figure_3(["a", "a", "b", "b"], 2, faulty)
    with pytest.raises(AssertionError, match="twice"):
        check_figure_3(["a", "b", "a", "b"], 2, faulty)


def test_both_tables_agree_with_the_groups_and_the_original() -> None:
    rng = np.random.default_rng(8)
    values, l = random_eligible(rng)  # noqa: E741
    table = table_of(values)
    draft = Anatomy(l=l).anonymize(table, engine=LocalEngine(), randomness=Randomness(seed=4))
    qit, sat = (one.data.to_pylist() for one in draft.tables)
    ages, sexes = (table[name].domain.take(table[name].codes).to_pylist() for name in ("age", "sex"))
    labels = draft.groups.labels.tolist()
    assert Counter((row["age"], row["sex"], row["bucket"]) for row in qit) == Counter(
        zip(ages, sexes, labels, strict=True)
    )
    assert {(row["bucket"], row["ill"]): row["count"] for row in sat} == Counter(zip(labels, values, strict=True))
    assert len(sat) == len(set(zip(labels, values, strict=True)))
    assert [(one.name, one.data.column_names) for one in draft.tables] == [
        ("qit", ["age", "sex", "bucket"]),
        ("sat", ["bucket", "ill", "count"]),
    ]
    assert draft.diagnostics == {"buckets": len(values) // l}


def test_insensitive_columns_stand_in_the_qit() -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", insensitive=["ward"])
    data = pa.table({"age": [1, 2], "ill": ["a", "b"], "ward": ["x", None]})
    run = uc.publish(data, schema, Anatomy(l=2))
    assert run.release.published("qit").names("insensitive") == ("ward",)
    assert sorted(run.release.table("qit")["ward"].to_pylist(), key=str) == [None, "x"]


def test_missing_sensitive_values_are_a_value_like_any_other() -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", missing="category")
    data = pa.table({"age": [1, 2, 3, 4], "ill": ["a", "a", None, None]})
    run = uc.publish(data, schema, Anatomy(l=2))
    assert Counter(run.release.table("sat")["ill"].to_pylist()) == {"a": 2, None: 2}
    assert uc.verify(run.release).holds


def test_a_table_that_is_not_eligible_says_what_is_feasible() -> None:
    values = ["flu"] * 3 + ["cold"] * 4 + ["gout"] * 2
    with pytest.raises(
        UnreachableError,
        match=r"the most frequent .* is 44.4% of the rows \(4 of 9\).*largest feasible l is 2",
    ) as e:
        dealt(values, 3, 1)
    assert e.value.best == {"l": 2}
    assert e.value.exit_code == 3
    check_figure_3(values, 2, dealt(values, 2, 1))


def test_more_values_than_there_are_cannot_be_reached() -> None:
    with pytest.raises(UnreachableError) as e:
        dealt(["a", "b", "c"], 4, 1)
    assert e.value.best == {"l": 3}


@pytest.mark.parametrize("name", ["bucket", "count"])
@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "insensitive"])
def test_names_of_its_own_columns_are_refused(name: str, role: str) -> None:
    roles: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "insensitive": []}
    roles[role] = [name]
    data = pa.table({"age": [1, 2], "ill": ["a", "b"], name: ["x", "y"]})
    with pytest.raises(SchemaError, match=f"Rename `{name}`"):
        uc.publish(data, uc.Schema(**roles), Anatomy(l=2))


@pytest.mark.parametrize("sensitive", [[], ["ill", "pay"]])
def test_exactly_one_sensitive_column(sensitive: list[str]) -> None:
    data = pa.table({"age": [1, 2], "ill": ["a", "b"], "pay": [1, 2]})
    with pytest.raises(ParameterError, match=f"exactly one sensitive column. Got {len(sensitive)} instead"):
        uc.publish(data, uc.Schema(quasi_identifiers=["age"], sensitive=sensitive), Anatomy(l=2))


@pytest.mark.parametrize("l", [1, 0, -3, 2.5, "3", True, None])
def test_parameters_are_checked_on_construction(l: Any) -> None:  # noqa: E741
    with pytest.raises(ParameterError, match=r"The 'l' parameter of Anatomy must be an int in \[2, inf\)"):
        Anatomy(l=l)


def test_it_is_algorithm_safe_and_says_so() -> None:
    run = uc.publish(pa.table({"age": [1, 2], "sex": ["F", "M"], "ill": ["a", "b"]}), SCHEMA, Anatomy(l=2))
    assert run.release.algorithm_safe
    assert run.release.warnings == ()
    assert [finding.shown() for finding in uc.verify(run.release).findings] == ["2"]


PAIRS = ["a", "a", "a", "b", "b", "b"]
DRAWS = 6 * 400


def partners(draw: Callable[[int], NDArray[np.int32]]) -> list[int]:
    """How often each of the six ways to pair rows 0, 1, 2 with rows 3, 4, 5 occurs."""
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(DRAWS):
        labels = draw(seed).tolist()
        counts[tuple(labels[3:].index(labels[row]) for row in range(3))] += 1
    assert set(counts) <= set(permutations(range(3)))
    return [counts[order] for order in permutations(range(3))]


def test_every_way_to_meet_is_equally_likely(uniform: Uniform) -> None:
    table = table_of(PAIRS)
    assert uniform(partners(lambda seed: deal(table, "ill", 2, Randomness(seed=seed)).labels))


def test_dealing_in_the_order_of_the_input_is_found_out(uniform: Uniform, monkeypatch: pytest.MonkeyPatch) -> None:
    shuffle = dealing.shuffle_within

    def lazy(items: Any, offsets: Any, randomness: Randomness, purpose: str, threads: int = 1) -> None:
        if purpose != "slots of one value":
            shuffle(items, offsets, randomness, purpose, threads)

    monkeypatch.setattr(dealing, "shuffle_within", lazy)
    table = table_of(PAIRS)
    assert not uniform(partners(lambda seed: deal(table, "ill", 2, Randomness(seed=seed)).labels))


def test_shuffling_one_value_only_a_little_is_found_out(uniform: Uniform) -> None:
    # Rows of one value are rotated, never reversed: each pair of rows still meets one time in three.
    table = table_of(PAIRS)

    def rotated(seed: int) -> NDArray[np.int32]:
        turn = int(Randomness(seed=seed).words("turn", 1)[0]) % 3
        return np.concatenate([np.arange(3), np.roll(np.arange(3), turn)]).astype(np.int32)

    assert table.n_rows == len(rotated(0))
    assert not uniform(partners(rotated))


def test_a_row_left_over_joins_every_bucket_equally_often(uniform: Uniform) -> None:
    # Seven values once each, l = 2: which values meet is drawn as well, so any three rows may be the large bucket.
    values = list("abcdefg")
    table = table_of(values)
    company: Counter[tuple[int, ...]] = Counter()
    for seed in range(900):
        groups = deal(table, "ill", 2, Randomness(seed=seed))
        big = int(groups.sizes.argmax())
        assert groups.sizes.tolist().count(3) == 1
        company[tuple(sorted(groups.rows_of(big).tolist()))] += 1
    assert len(company) == 35  # three of seven
    assert uniform(list(company.values()))


def test_bucket_numbers_tell_nothing_about_the_order_of_dealing(uniform: Uniform) -> None:
    # {a, b} is always dealt first of the two buckets; its number must not show it.
    values = ["a", "a", "b", "b", "c"]
    table = table_of(values)
    number = Counter(int(deal(table, "ill", 2, Randomness(seed=seed)).sizes.argmax()) for seed in range(400))
    assert uniform([number[0], number[1]])


def test_the_order_of_rows_in_the_qit_is_uniform(uniform: Uniform) -> None:
    # One bucket of three rows: the published order must be any of six.
    data = pa.table({"age": [1, 2, 3], "sex": ["F"] * 3, "ill": ["a", "b", "c"]})
    table = uc.Table.from_arrow(data, SCHEMA)
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(1200):
        draft = Anatomy(l=3).anonymize(table, engine=LocalEngine(), randomness=Randomness(seed=seed))
        counts[tuple(draft.tables[0].data["age"].to_pylist())] += 1
    assert uniform([counts[order] for order in permutations([1, 2, 3])])
