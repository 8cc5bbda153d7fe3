"""Narrow arrays against their plain twins, with the largest numbers of every width planted."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from undercover import arrays
from undercover.arrays import count, crossed, first_rows, look_up, narrowest, numbered, rows_where, tally
from undercover.forms.written import Written, combine, together, written
from undercover.model.groups import number

BORDERS = (127, 128, 129, 32_767, 32_768, 32_769)


def by_hand(keys: NDArray[np.integer]) -> tuple[list[int], list[int]]:
    """Numbers in order of appearance and the first row of each, as NumPy finds them."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[inverse.reshape(-1)].tolist(), first[order].tolist()


def draws(seed: int, low: int, high: int, rows: int, kind: type) -> NDArray[np.integer]:
    """Keys among which the lowest and the highest are."""
    drawn = np.random.default_rng(seed).integers(low, high, rows, dtype=np.int64, endpoint=True)
    drawn[[0, -1]] = high, low
    return drawn.astype(kind)


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches of a few rows, so that small tables have many of them."""
    monkeypatch.setattr(arrays, "_STRETCH", 7)


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (-128, 127, np.int8),
        (0, 255, np.uint8),
        (-32_768, 32_767, np.int16),
        (-5, 30, np.int64),
        (10**12, 10**12 + 40, np.int64),  # far away and close together: a place for each
        (-(10**9), 10**9, np.int32),  # by sorting
        (0, 2**52, np.int64),
        (0, 2**62, np.int64),  # no room for the row beside the key: by hash
        (-(2**63), 2**63 - 1, np.int64),
    ],
)
@pytest.mark.parametrize("spare", [False, True])
def test_keys_are_numbered_as_they_appear(low: int, high: int, kind: type, spare: bool) -> None:
    for seed, rows in enumerate((2, 7, 8, 64, 301)):
        keys = draws(seed, low, high, rows, kind)
        keys[rows // 2 :] = keys[: rows - rows // 2]  # so that keys occur again, in other stretches
        before = keys.copy()
        labels, first = numbered(keys, spare=spare)
        assert (labels.tolist(), first.tolist()) == by_hand(before)
        assert spare or np.array_equal(keys, before)
        assert labels.dtype == first.dtype == np.int32


def test_nothing_and_one_row_are_numbered() -> None:
    assert [found.tolist() for found in numbered(np.empty(0, dtype=np.int8))] == [[], []]
    assert [found.tolist() for found in numbered(np.array([-7], dtype=np.int8))] == [[0], [0]]


def test_numbers_that_may_be_multiplied() -> None:
    labels, found = number(np.array([9, 9, 4], dtype=np.int8))
    assert (labels.tolist(), found, labels.dtype) == ([0, 0, 1], 2, np.int64)


def test_rows_beyond_one_stretch() -> None:
    keys = draws(1, 0, 10**9, 200_000, np.int64) % 70_000 * 10**6
    labels, first = numbered(keys)
    assert (labels.tolist(), first.tolist()) == by_hand(keys)
    assert first_rows(labels, len(first)).tolist() == first.tolist()
    assert np.array_equal(look_up(keys[first], labels), keys)
    assert np.array_equal(count(labels, len(first)), np.bincount(labels))
    assert np.array_equal(rows_where(labels == 0), np.flatnonzero(labels == 0))


@pytest.mark.parametrize("span", BORDERS)
@pytest.mark.parametrize("size", [1, 2, *BORDERS])
def test_keys_of_two_columns_never_run_over(span: int, size: int) -> None:
    keys, codes = draws(1, 0, span - 1, 50, narrowest(span - 1)), draws(2, 0, size - 1, 50, narrowest(size - 1))
    codes[0] = size - 1  # beside the highest key
    found = crossed(keys, span, codes, size)
    assert found.tolist() == [int(key) * size + int(code) for key, code in zip(keys, codes, strict=True)]
    assert found.dtype == narrowest(span * size - 1)


@pytest.mark.parametrize("sizes", [(127, 2), (128, 128), (32_767, 3), (32_768, 65_536), (70_000,) * 3, (3_000,) * 8])
def test_rows_of_columns_of_any_width_are_combined(sizes: tuple[int, ...]) -> None:
    codes = [draws(seed, 0, size - 1, 400, narrowest(size - 1)) for seed, size in enumerate(sizes)]
    for column in codes:
        column[200:] = column[:200]
    labels, found = combine([Written(column, pa.nulls(size)) for column, size in zip(codes, sizes, strict=True)])
    _, inverse = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    assert (labels.tolist(), found) == (by_hand(inverse.reshape(-1))[0], int(inverse.max()) + 1)


@pytest.mark.parametrize("span", [1, 300, 2**20, 2**40])
@pytest.mark.parametrize("weighted", [False, True])
def test_keys_are_tallied(span: int, weighted: bool) -> None:
    keys = draws(3, 0, span - 1, 500, np.int64)
    keys[250:] = keys[:250]
    weights = draws(4, 1, 2**40, 500, np.int64) if weighted else None
    expected: dict[int, int] = {}
    for row, key in enumerate(keys.tolist()):
        expected[key] = expected.get(key, 0) + (1 if weights is None else int(weights[row]))
    found, totals = tally(keys, span, weights)
    assert dict(zip(found.tolist(), totals.tolist(), strict=True)) == expected
    assert found.tolist() == sorted(expected)


@pytest.mark.parametrize("size", BORDERS)
def test_codes_are_the_published_indices_as_they_are(size: int) -> None:
    cells = pa.array([f"c{i}" for i in range(size)])
    kind = pa.from_numpy_dtype(narrowest(size - 1))
    column = pa.DictionaryArray.from_arrays(pa.array(draws(1, 0, size - 1, 60, np.int64)).cast(kind), cells)
    found = written(column)
    assert found.codes.dtype == narrowest(size - 1)
    assert np.shares_memory(found.codes, column.indices.to_numpy())
    assert [found.labels[code] for code in found.codes] == column.to_pylist()


@pytest.mark.parametrize("size", BORDERS)
def test_missing_is_a_code_behind_the_last_one_of_any_width(size: int) -> None:
    cells = pa.array([f"c{i}" for i in range(size)])
    kind = pa.from_numpy_dtype(narrowest(size - 1))
    places = pa.array([*range(size - 3, size), None, 0]).cast(kind)
    found = written(pa.chunked_array([pa.DictionaryArray.from_arrays(places, cells)] * 2))
    assert found.codes.tolist() == [size - 3, size - 2, size - 1, size, 0] * 2
    assert (len(found.values), found.labels[size], found.codes.dtype) == (size + 1, "", narrowest(size))


def test_parts_that_have_more_cells_together_than_either_can_tell() -> None:
    parts = [[f"{part}{i}" for i in range(100)] for part in "abc"]
    narrow = pa.dictionary(pa.int8(), pa.string())
    found = written(pa.chunked_array([pa.array(part).dictionary_encode().cast(narrow) for part in parts]))
    assert (found.codes.tolist(), found.codes.dtype) == (list(range(300)), np.int16)
    assert found.labels == tuple(label for part in parts for label in part)


def test_cells_that_are_written_alike_are_one_whatever_the_dictionary_says() -> None:
    cells = pa.array(["a", "", "a", None, "b"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 4, 0], pa.uint8()), cells)
    assert written(column).codes.tolist() == [0, 2, 0, 2, 1, 0]
    assert written(pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))).labels == (
        "",
    )


def test_whole_numbers_are_coded_without_a_dictionary() -> None:
    found = written(pa.chunked_array([[2**60, -5], [2**60]]))
    assert (found.codes.tolist(), found.values.to_pylist(), found.codes.dtype) == ([0, 1, 0], [2**60, -5], np.int8)


@pytest.mark.parametrize("size", [126, 127, 128])
def test_two_columns_as_one(size: int) -> None:
    first, second = pa.array(range(size)), pa.array([size - 1, size, None, 0], pa.int32())
    found = together(written(first), written(second))
    assert found.codes.tolist() == [*range(size), size - 1, size, size + 1, 0]
    assert len(found.values) == size + 2


@pytest.mark.parametrize("kind", [None, np.int32, np.int64])
@pytest.mark.parametrize("size", [1, 200, 100_000])
@pytest.mark.parametrize("rows", [0, 1_000, 200_000])
def test_codes_are_counted_by_weight(rows: int, size: int, kind: type | None) -> None:
    rng = np.random.default_rng(size)
    codes = rng.integers(0, size, rows).astype(narrowest(size))
    weights = None if kind is None else rng.integers(-5, np.iinfo(kind).max // max(rows, 1), rows).astype(kind)
    plain = np.zeros(size, dtype=np.int64)
    np.add.at(plain, codes, 1 if weights is None else weights.astype(np.int64))
    found = count(codes, size, weights)
    assert found.dtype == np.int64
    assert found.tolist() == plain.tolist()
