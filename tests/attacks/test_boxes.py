"""A release as boxes: what they cover, how many rows they weigh, and matching piece by piece."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import undercover as uc
from undercover.forms import boxes as boxes_module
from undercover.forms import read
from undercover.forms.boxes import Boxes, boxes_of, match, value_codes
from undercover.forms.case import as_release
from undercover.forms.coverage import Coverage
from undercover.model.release import PublishedTable

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", missing="category")
DATA = pa.table(
    {"age": [20, 21, 21, 40, None], "sex": ["F", "F", "M", "M", "M"], "ill": ["flu", "cold", "flu", "gout", "flu"]}
)


def covered(boxes: Boxes, box: int, column: int, size: int) -> list[int]:
    cell = boxes.cells[box, column]
    return [code for code in range(size) if boxes.covers[column].holds(np.array([cell]), np.array([code]))[0]]


def test_the_original_as_it_is_has_a_box_for_every_combination() -> None:
    table = uc.Table.from_arrow(DATA, SCHEMA)
    raw = boxes_of(read(as_release(table)), table, ["age", "sex"], ["ill"])
    assert raw.exact is not None
    assert sorted(raw.exact.tolist()) == [[0, 0], [1, 0], [1, 1], [2, 1], [3, 1]]
    assert raw.weights.tolist() == [1] * 5
    assert raw.value_starts.tolist() == [0, 4, 6]


def test_a_generalised_table_by_hand() -> None:
    table = uc.Table.from_arrow(DATA, SCHEMA)
    run = uc.publish(DATA, SCHEMA, uc.Mondrian(k=5))
    boxes = boxes_of(read(run.release), table, ["age", "sex"], ["ill"])
    assert boxes.exact is None
    assert boxes.weights.tolist() == [5]
    assert covered(boxes, 0, 0, 4) == [0, 1, 2, 3]
    assert covered(boxes, 0, 1, 2) == [0, 1]
    assert boxes.sensitive["ill"].counts.tolist() == [1, 3, 1]


def test_rows_of_one_box_in_several_buckets_are_boxes_of_their_own() -> None:
    data = pa.table({"age": [20, 20, 20, 20], "sex": ["F"] * 4, "ill": ["flu", "flu", "cold", "gout"]})
    table = uc.Table.from_arrow(data, SCHEMA)
    run = uc.publish(data, SCHEMA, uc.Anatomy(l=2))
    boxes = boxes_of(read(run.release), table, ["age"], ["ill"])
    assert boxes.weights.tolist() == [2, 2]
    assert sorted(boxes.bucket_of.tolist()) == [0, 1]
    offsets, members = match(boxes, np.array([[0]]), 1)
    assert (offsets.tolist(), sorted(members.tolist())) == ([0, 2], [0, 1])


def test_values_the_original_does_not_have_come_behind_its_codes() -> None:
    table = uc.Table.from_arrow(DATA, SCHEMA)
    other = uc.Table.from_arrow(DATA.set_column(2, "ill", pa.array(["rash", "cold", "flu", "gout", None])), SCHEMA)
    published = boxes_of(read(as_release(other)), other, ["age"], ["ill"])
    codes, count = value_codes(published.sensitive["ill"].labels, table["ill"])
    place = dict(zip(published.sensitive["ill"].labels, codes.tolist(), strict=True))
    assert {label: place[label] for label in ("cold", "flu", "gout")} == {"cold": 0, "flu": 1, "gout": 2}
    assert sorted([place["rash"], place[""]]) == [3, 4]
    assert count == 5


def random_ranges(rng: np.random.Generator, count: int, size: int) -> tuple[Boxes, NDArray[np.bool_]]:
    """Boxes over one column of numbers and one of two values, as runs and as a truth table."""
    low = rng.integers(0, size, count)
    high = np.minimum(low + rng.integers(0, 4, count), size - 1)
    codes = np.arange(size)
    inside = (low[:, None] <= codes) & (codes <= high[:, None])
    sex = rng.integers(1, 4, count)
    truth = inside[:, :, None] & ((sex[:, None] >> np.arange(2)) & 1).astype(bool)[:, None]
    ages = Coverage.of_ranges(low, high, size)
    sexes = Coverage.of_ranges(np.array([0, 0, 1, 0]), np.array([-1, 0, 1, 1]), 2)
    boxes = Boxes(
        weights=np.ones(count, np.int64),
        bucket_of=np.arange(count),
        cells=np.stack([np.arange(count), sex], axis=1).astype(np.int32),
        covers=(ages, sexes),
        value_starts=np.array([0, size, size + 2]),
        exact=None,
        sensitive={},
    )
    return boxes, truth


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [10, 4096, 9001])
def test_matching_piece_by_piece(count: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes_module, "_BITMAP_BYTES", 1)  # 4096 boxes at a time
    rng = np.random.default_rng((count, 60))
    boxes, truth = random_ranges(rng, count, 100)
    targets = np.stack([rng.integers(0, 100, 50), rng.integers(0, 2, 50)], axis=1)
    offsets, members = match(boxes, targets, threads)
    for i, (age, sex) in enumerate(targets.tolist()):
        assert members[offsets[i] : offsets[i + 1]].tolist() == np.flatnonzero(truth[:, age, sex]).tolist()


def test_single_values_are_matched_by_their_keys() -> None:
    rng = np.random.default_rng(61)
    exact, targets = rng.integers(0, 4, (200, 3)), rng.integers(0, 5, (70, 3))
    nothing = np.zeros(0, np.int64)
    boxes = Boxes(np.ones(200, np.int64), np.arange(200), np.zeros((200, 0), np.int32), (), nothing, exact, {})
    offsets, members = match(boxes, targets, 1)
    for i, target in enumerate(targets):
        assert (
            sorted(members[offsets[i] : offsets[i + 1]].tolist()) == np.flatnonzero((exact == target).all(1)).tolist()
        )


@pytest.mark.parametrize(
    ("method", "attacks"),
    [
        (uc.PerturbedGeneralization(k=2, p=0.3), (uc.Linkage(), uc.Corruption())),
        (uc.Anatomy(l=2), (uc.Linkage(), uc.BucketMatching())),
    ],
)
def test_one_attack_after_another_finds_the_boxes_of_the_first(
    method: Any, attacks: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ills = uc.Column(domain=("cold", "flu", "gout"))
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", missing="category", columns={"ill": ills})
    data = pa.concat_tables([DATA, DATA.set_column(2, "ill", pa.array(["gout", "cold", "cold", "cold", "gout"]))])
    run = uc.publish(data, schema, method, policy="none", seed=1)
    covered_by, read_columns = boxes_module._covered, []

    def counting(table: PublishedTable, name: str, *given: Any) -> Any:
        read_columns.append((table.data is run.release.tables[0].data, name))
        return covered_by(table, name, *given)

    monkeypatch.setattr(boxes_module, "_covered", counting)
    for attack in attacks:
        uc.attack(run, attack)
    assert [name for published, name in read_columns if published] == ["age", "sex"]
