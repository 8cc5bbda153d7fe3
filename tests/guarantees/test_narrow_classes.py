"""Classes beyond what narrow numbers hold, and promises judged some classes after the others."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from undercover.arrays import narrowest
from undercover.forms import classes_of
from undercover.forms.classes import Classes, classes_of_table
from undercover.forms.distribution import Distribution, distribution_of
from undercover.forms.written import Written, written
from undercover.guarantees import checking, kl_anonymity
from undercover.guarantees.beta_likeness import BetaLikeness
from undercover.guarantees.checking import Checkable
from undercover.guarantees.delta_disclosure import DeltaDisclosure
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness
from undercover.model.form import Buckets
from undercover.model.release import PublishedColumn, PublishedTable, Release

JUDGES: tuple[Checkable, ...] = (
    LDiversity(l=2),
    LDiversity(l=2, form="distinct"),
    LDiversity(l=2, form="entropy"),
    LDiversity(l=2, form="recursive", c=2),
    TCloseness(t=0.3),
    TCloseness(t=0.3, distance="ordered"),
    BetaLikeness(beta=2),
    BetaLikeness(beta=2, enhanced=True),
    DeltaDisclosure(delta=2),
)


@pytest.fixture(scope="module")
def classes() -> Classes:
    """Some hundred classes of one to a dozen rows, and seven values."""
    rng = np.random.default_rng(5)
    data = pa.table({"age": rng.integers(0, 250, 1500), "ill": [f"i{value}" for value in rng.integers(0, 7, 1500)]})
    return classes_of_table(data, ["age"], ["ill"], suppressed_is_star=False)


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: f"{judge.title()}{judge.parameters()}"[:40])
@pytest.mark.parametrize("block", [1, 10, 100])
def test_some_classes_after_the_others_are_judged_as_all_at_once(
    judge: Checkable, block: int, classes: Classes, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = judge.check(classes)
    monkeypatch.setattr(checking, "BLOCK", block)
    monkeypatch.setattr(checking, "_PER_VALUE", 0)
    in_parts = judge.check(classes)
    assert len(list(classes.sensitive["ill"].blocks(block))) > 10
    assert in_parts.to_dict() == at_once.to_dict()
    assert np.array_equal(in_parts.violators, at_once.violators)
    assert at_once.holds is False


@pytest.mark.parametrize("block", [1, 7, 10**6])
def test_blocks_are_all_classes_once(block: int, classes: Classes) -> None:
    column = classes.sensitive["ill"]
    parts = list(column.blocks(block))
    for name in ("sizes", "largest", "distinct", "counts", "value_index"):
        assert np.concatenate([getattr(part, name) for part in parts]).tolist() == getattr(column, name).tolist()
    assert all(part.overall is column.overall for part in parts)
    assert all(len(part.held_values) <= block for part in parts if part.n_classes > 1)


def counted(column: Distribution) -> dict[tuple[int, str], int]:
    """Rows by class and value."""
    entries = zip(column.class_index.tolist(), column.value_index.tolist(), column.counts.tolist(), strict=True)
    return {(of_class, column.labels[value]): rows for of_class, value, rows in entries}


@pytest.mark.parametrize(
    ("n_classes", "n_values"), [(1, 127), (1, 128), (2, 200), (128, 127), (300, 400), (70_000, 40_000)]
)
def test_classes_and_values_beyond_any_width(n_classes: int, n_values: int) -> None:
    rng = np.random.default_rng(n_values)
    labels, codes = rng.integers(0, n_classes, 300), rng.integers(0, n_values, 300)
    labels[:2], codes[:2] = n_classes - 1, n_values - 1
    values = pa.array([f"{value:06d}" for value in range(n_values)])
    column = Written(codes.astype(narrowest(n_values - 1)), values)
    expected = Counter(zip(labels.tolist(), values.take(pa.array(codes)).to_pylist(), strict=True))
    found = distribution_of("s", column, labels.astype(np.int32), n_classes)
    assert counted(found) == expected
    assert found.sizes.tolist() == np.bincount(labels, minlength=n_classes).tolist()
    weights = rng.integers(1, 10**12, 300)
    heavy = distribution_of("s", column, labels.astype(np.int32), n_classes, weights)
    total: Counter[tuple[int, str]] = Counter()
    for label, value, weight in zip(labels.tolist(), codes.tolist(), weights.tolist(), strict=True):
        total[label, f"{value:06d}"] += weight
    assert counted(heavy) == total
    assert {found.counts.dtype, found.value_index.dtype, found.class_index.dtype, found.sizes.dtype} == {
        np.dtype(np.int64)
    }


def in_buckets(rows: int) -> Release:
    """A person in every box, two neighbours in every bucket, who have the values of all others."""
    bucket, size = (PublishedColumn(name, "structure", "value") for name in ("bucket", "count"))
    places = pa.array(np.arange(rows) // 2)
    ill = pa.array(["flu", "cold"]).take(pa.array(np.arange(rows) % 2))
    qit = pa.table({"age": pa.array(np.arange(rows)), "bucket": places})
    sat = pa.table({"bucket": places, "ill": ill, "count": pa.array(np.ones(rows, np.int32))})
    age, value = PublishedColumn("age", "quasi-identifier", "value"), PublishedColumn("ill", "sensitive", "value")
    tables = PublishedTable("qit", (age, bucket), qit), PublishedTable("sat", (bucket, value, size), sat)
    return Release("somebody's", {}, tables, False, form=Buckets())


def test_boxes_and_buckets_whose_pairs_are_beyond_four_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = classes_of(in_buckets(70_000))
    assert classes.boxes is not None
    assert classes.boxes.count * classes.count > 2**31
    found = KLAnonymity(k=1, l=2).check(classes)
    assert (found.holds, found.actual) == (True, 2.0)
    monkeypatch.setattr(kl_anonymity, "BLOCK", 40_000)
    assert KLAnonymity(k=1, l=2).check(classes).to_dict() == found.to_dict()
    broken = KLAnonymity(k=1, l=3).check(classes)
    assert (broken.holds, broken.violating_rows) == (False, 70_000)


@pytest.mark.parametrize("cells", [127, 128, 32_768])
def test_a_person_alone_in_a_class_is_found_behind_any_number_of_cells(cells: int) -> None:
    rows = np.repeat(np.arange(cells), 2)[:-1]
    narrow = pa.DictionaryArray.from_arrays(
        pa.array(rows).cast(pa.from_numpy_dtype(narrowest(cells - 1))), pa.array([f"[{i}, {i}]" for i in range(cells)])
    )
    data = pa.table({"age": narrow, "zip": pa.array(["x", "y"]).take(pa.array(np.zeros(len(rows), int)))})
    classes = classes_of_table(data, ["age", "zip"], suppressed_is_star=False)
    assert (classes.count, int(classes.sizes.min()), classes.describe(int(classes.sizes.argmin()))["age"]) == (
        cells,
        1,
        f"[{cells - 1}, {cells - 1}]",
    )
    assert np.shares_memory(written(narrow).codes, narrow.indices.to_numpy())
