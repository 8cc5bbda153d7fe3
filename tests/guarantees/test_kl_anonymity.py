"""(k, l)-anonymity by hand, by brute force, and where exactness matters."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.errors import ParameterError
from undercover.forms import classes_of
from undercover.forms.classes import classes_of_table
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.requirements import guarantee_from_mapping
from undercover.guarantees.verify import verify
from undercover.model.form import Buckets
from undercover.model.release import PublishedColumn, PublishedTable, Release


def release(boxes: list[str], buckets: list[int], values: list[tuple[int, str, int]]) -> Release:
    """A QIT of one column and a SAT with lines (bucket, value, count)."""
    bucket, count = (PublishedColumn(name, "structure", "value") for name in ("bucket", "count"))
    qit = pa.table({"q": boxes, "bucket": pa.array(buckets, pa.int32())})
    sat = pa.table(
        {
            "bucket": pa.array([line[0] for line in values], pa.int32()),
            "s": [line[1] for line in values],
            "count": pa.array([line[2] for line in values], pa.int32()),
        }
    )
    return Release(
        "cross-bucket",
        {},
        (
            PublishedTable("qit", (PublishedColumn("q", "quasi-identifier", "interval"), bucket), qit),
            PublishedTable("sat", (bucket, PublishedColumn("s", "sensitive", "value"), count), sat),
        ),
        False,
        form=Buckets(),
    )


def check(found: Release, k: int, l: Any) -> Any:  # noqa: E741
    return KLAnonymity(k=k, l=l).check(classes_of(found))


def test_by_hand() -> None:
    # Flu has (1/2 + 2/3) of the 3 rows of box a, which is 7/18, and (1/2 + 1/3) of the 2 of box b: 5/12, which is more.
    found = release(
        ["a", "a", "a", "b", "b"],
        [0, 1, 1, 0, 1],
        [(0, "flu", 1), (0, "cold", 1), (1, "flu", 1), (1, "gout", 1), (1, "rash", 1)],
    )
    finding = check(found, 2, 2)
    assert finding.actual == pytest.approx(12 / 5)
    assert finding.holds
    assert finding.required == 2
    assert check(found, 2, "12/5").holds
    assert check(found, 2, "2.4001").violators.tolist() == [1]
    assert check(found, 2, "18/7").violators.tolist() == [1]
    assert check(found, 2, "2.58").violators.tolist() == [0, 1]


def test_a_row_alone_in_its_bucket() -> None:
    found = release(["b", "b", "a"], [0, 1, 0], [(0, "flu", 1), (0, "cold", 1), (1, "flu", 1)])
    finding = check(found, 1, 1)
    assert finding.actual == pytest.approx(4 / 3)  # box b: (1/2 + 1) / 2
    assert check(found, 1, "4/3").holds
    assert check(found, 1, "1.34").violators.tolist() == [0]


def test_boxes_below_k_are_named() -> None:
    found = release(["a", "a", "b"], [0, 1, 2], [(0, "flu", 1), (1, "cold", 1), (2, "gout", 1)])
    finding = check(found, 2, 1)
    assert finding.holds is False
    assert finding.violating_classes == 1
    assert finding.violating_rows == 1
    assert finding.note == "The smallest box has 1 row where k = 2 are required."
    assert finding.examples[0]["cells"] == {"q": "b"}


def brute_force(boxes: list[int], buckets: list[int], secrets: list[str]) -> tuple[int, Fraction]:
    """The smallest box and the highest probability, row by row."""
    worst = Fraction(0)
    for box in set(boxes):
        rows = [row for row in range(len(boxes)) if boxes[row] == box]
        for value in set(secrets):
            expected = Fraction(0)
            for row in rows:
                members = [other for other in range(len(boxes)) if buckets[other] == buckets[row]]
                expected += Fraction(sum(secrets[other] == value for other in members), len(members))
            worst = max(worst, expected / len(rows))
    return min(Counter(boxes).values()), worst


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from("abcd")), min_size=1, max_size=14))
def test_by_brute_force(rows: list[tuple[int, int, str]]) -> None:
    boxes, buckets, secrets = ([row[i] for row in rows] for i in range(3))
    pairs = Counter(zip(buckets, secrets, strict=True))
    found = release(
        [f"[{box}, {box + 1}]" for box in boxes], buckets, [(bucket, value, n) for (bucket, value), n in pairs.items()]
    )
    least, worst = brute_force(boxes, buckets, secrets)
    finding = check(found, least, 1 / worst)
    assert finding.holds  # at the very edge, which only exact comparison gets right
    assert finding.actual == pytest.approx(float(1 / worst))
    assert check(found, least, 1 / worst + Fraction(1, 10**9)).holds is False
    assert check(found, least + 1, 1).holds is False


def test_exact_where_bucket_sizes_have_no_small_common_multiple() -> None:
    # Buckets of many prime sizes: the common multiple does not fit into 64 bits.
    primes = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71]
    boxes, buckets, values = [], [], []
    for number, prime in enumerate(primes):
        boxes += ["all"] + [f"own {number}"] * (prime - 1)
        buckets += [number] * prime
        values += [(number, "same" if i == 0 else f"v{number}-{i}", 1) for i in range(prime)]
    found = release(boxes, buckets, values)
    share = sum(Fraction(1, prime) for prime in primes) / len(primes)
    of_box = [Fraction(1, prime) for prime in primes]
    limit = 1 / max(share, *of_box)
    assert check(found, 1, limit).holds
    assert check(found, 1, limit * (1 + Fraction(1, 10**12))).holds is False


def test_one_table_is_k_anonymity_and_frequency_diversity_at_once() -> None:
    rng = np.random.default_rng(0)
    data = pa.table({"q": rng.integers(0, 5, 60), "s": rng.integers(0, 6, 60)})
    classes = classes_of_table(data, ["q"], ["s"], suppressed_is_star=False)
    size, diversity = KAnonymity(k=1).check(classes).actual, LDiversity(l=1).check(classes).actual
    assert size is not None
    assert diversity is not None
    assert KLAnonymity(k=int(size), l=diversity).check(classes).holds
    assert KLAnonymity(k=int(size) + 1, l=1).check(classes).holds is False
    assert KLAnonymity(k=1, l=diversity + 0.01).check(classes).holds is False


def test_tables_that_contradict_each_other_fail() -> None:
    found = release(["a", "a"], [0, 0], [(0, "flu", 1)])
    finding = check(found, 1, 1)
    assert finding.holds is False
    assert "another number of rows" in finding.note


def test_from_a_manifest_and_back() -> None:
    found = release(["a", "a"], [0, 1], [(0, "flu", 1), (1, "cold", 1)])
    assert guarantee_from_mapping({"name": "kl-anonymity", "k": 2, "l": 2}) == KLAnonymity(k=2, l=2)
    checked = verify(found, [KLAnonymity(k=2, l=2)])
    assert checked.manifest_entries()[0] == {
        "name": "kl-anonymity",
        "k": 2,
        "l": 2,
        "required": 2,
        "actual": 2.0,
        "holds": True,
        "columns": ["q", "s"],
    }
    again = verify(found.with_guarantees(checked.manifest_entries()))
    assert again.holds
    wrong = verify(found.with_guarantees(({**checked.manifest_entries()[0], "actual": 3.0},)))
    assert not wrong.holds


@pytest.mark.parametrize("given", [{"k": 0, "l": 2}, {"k": 2, "l": 0.5}, {"k": "2", "l": 2}, {"k": 2, "l": "many"}])
def test_parameters_are_checked(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="parameter of KLAnonymity must be"):
        KLAnonymity(**given)
