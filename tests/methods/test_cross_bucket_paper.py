"""What the paper prints: its example as printed is fine, its algorithms are not, and the verifier tells them apart."""

import random

import pyarrow as pa
import pytest
from paper_cross_bucket import Dealt, Row, cross_bucket, published

import undercover as uc
from undercover.forms import classes_of
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.model.finding import Finding

EIGHT: list[Row] = [
    ((16, 0, 43307), "flu"),
    ((22, 1, 43302), "dyspepsia"),
    ((24, 0, 43306), "hepatitis"),
    ((26, 1, 43307), "bronchitis"),
    ((29, 1, 43309), "bronchitis"),
    ((31, 0, 43312), "pneumonia"),
    ((34, 0, 43312), "gastritis"),
    ((35, 1, 43309), "dyspepsia"),
]


def verdict(table: list[Row], k: int, l: int) -> Finding:  # noqa: E741
    release = published(table, cross_bucket(table, k, l, never_the_same=True))
    return KLAnonymity(k=k, l=l).check(classes_of(release))


def test_the_eight_rows_are_those_of_the_dataset() -> None:
    rows = uc.datasets.hospital("cross-bucket").table.to_pylist()
    assert [(row["age"], row["zip_code"], row["disease"]) for row in rows] == [
        (age, zip_code, disease) for (age, _, zip_code), disease in EIGHT
    ]


def test_algorithm_3_never_ends_where_the_median_is_the_maximum() -> None:
    with pytest.raises(RecursionError):
        cross_bucket(EIGHT, 2, 4, never_the_same=False)


def test_the_printed_algorithms_break_the_papers_own_example() -> None:
    dealt = cross_bucket(EIGHT, 2, 4, never_the_same=True)
    assert sorted(len(group) for group in dealt.groups) == [2, 2, 2, 2]
    assert min(len(bucket) for bucket in dealt.buckets) == 1  # of the residue of two rows
    found = verdict(EIGHT, 2, 4)
    assert found.holds is False
    assert found.actual == 2
    assert found.examples[0]["size"] == 2


def test_k_buckets_are_too_many_where_k_does_not_divide() -> None:
    # Five rows of five values, k = 2, l = 5: a bucket of two rows takes two of the three of one group.
    rows: list[Row] = [((i,), f"s{i}") for i in range(5)]
    found = verdict(rows, 2, 5)
    assert found.holds is False
    assert found.actual is not None
    assert 3 <= found.actual < 5


def random_table(draw: random.Random) -> tuple[list[Row], int, int]:
    while True:
        k, l = draw.randint(1, 4), draw.randint(2, 6)  # noqa: E741
        counts = [draw.randint(1, draw.choice([1, 2, 4])) for _ in range(draw.randint(l, l + 6))]
        if max(counts) * max(k, l) <= sum(counts):
            values = [f"s{i}" for i, count in enumerate(counts) for _ in range(count)]
            draw.shuffle(values)
            return [((draw.randint(0, 9), draw.randint(0, 9)), value) for value in values], k, l


def test_the_printed_algorithms_break_on_many_eligible_tables_and_ours_on_none() -> None:
    draw = random.Random(7)
    broken = 0
    for _ in range(150):
        rows, k, l = random_table(draw)  # noqa: E741
        broken += verdict(rows, k, l).holds is False
        data = {"q0": [q[0] for q, _ in rows], "q1": [q[1] for q, _ in rows], "s": [value for _, value in rows]}
        schema = uc.Schema(quasi_identifiers=["q0", "q1"], sensitive="s")
        for variant in ("paper", "safe"):
            method = uc.CrossBucket(k=k, l=l, variant=variant)  # type: ignore[arg-type]
            assert uc.verify(uc.publish(pa.table(data), schema, method).release).holds
    assert broken > 45


def test_figure_4_as_printed_keeps_its_promise_exactly() -> None:
    groups = [[0, 2], [1, 3], [4, 7], [5, 6]]
    buckets = [[0, 1], [2, 3], [4, 5], [6, 7]]
    found = KLAnonymity(k=2, l=4).check(classes_of(published(EIGHT, Dealt(groups, buckets))))
    assert found.holds
    assert found.actual == 4
    assert KLAnonymity(k=2, l=4.001).check(classes_of(published(EIGHT, Dealt(groups, buckets)))).holds is False
