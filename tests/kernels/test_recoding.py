"""Loops that move and recode rows, against plain numpy; nothing depends on how many threads there are."""

import threading

import numpy as np
import pytest

from undercover.compiled.rows import label_rows, recoded, scatter, taken
from undercover.steps import recoding_kernels as kernels
from undercover.threads import however_little, parallel, segments, stretches

RNG = np.random.default_rng(3)
SIZES = np.append(RNG.integers(1, 9, 20_000), [200, 16, 17])
OFFSETS = np.concatenate([[0], np.cumsum(SIZES)])
ORDER = RNG.permutation(OFFSETS[-1]).astype(np.uint32)
CODES = RNG.integers(0, 70, OFFSETS[-1]).astype(np.uint8)
STARTS = OFFSETS[:-1]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_portions_are_everything_once_and_in_order(threads: int) -> None:
    for cut, whole in ((stretches(len(ORDER), threads), len(ORDER)), (segments(OFFSETS, threads), len(SIZES))):
        assert [place for run in cut for place in range(*run)] == list(range(whole))
        assert len(cut) == 1 if threads == 1 else len(cut) > 1


def test_empty_segments_and_one_that_is_nearly_everything_are_shared_out() -> None:
    for offsets in ([0, 0, 0, 200_000, 200_001], [0, 200_000], [0, 0], [0]):
        found = segments(np.array(offsets), 2)
        assert [place for run in found for place in range(*run)] == list(range(len(offsets) - 1))


def test_what_a_thread_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        parallel(lambda divisor: 1 / divisor, [1, 0], 2)


def test_a_thread_is_started_where_it_is_worth_it() -> None:
    def at_work(portions: int, threads: int, steps: int | None) -> set[int]:
        together = threading.Barrier(min(threads, portions), timeout=60)  # broken where nobody else comes

        def work(_: int) -> int:
            if threading.get_ident() != here:
                together.wait()
            return threading.get_ident()

        return set(parallel(work, range(portions), threads, steps=steps))

    here = threading.get_ident()
    assert at_work(2, 1, None) == at_work(1, 2, None) == at_work(2, 2, 100) == {here}
    for steps in (None, 1_000_000):
        assert len(at_work(2, 2, steps) - {here}) == 2
    with however_little():
        assert len(at_work(2, 2, 100) - {here}) == 2
    assert at_work(2, 2, 100) == {here}


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_taken_recoded_scattered_and_labelled(threads: int) -> None:
    assert taken(CODES, ORDER, threads).tolist() == CODES[ORDER].tolist()
    assert taken(CODES, ORDER, threads, np.int16).dtype == np.int16
    place = RNG.permutation(70).astype(np.int16)
    assert recoded(CODES, place, threads).tolist() == place[CODES].tolist()
    found = np.empty_like(CODES)
    scatter(CODES, ORDER, found)
    assert found[ORDER].tolist() == CODES.tolist()
    labels = np.empty(len(ORDER), np.int32)
    parallel(lambda run: label_rows(ORDER, OFFSETS, labels, *run), segments(OFFSETS, threads), threads)
    assert labels[ORDER].tolist() == np.repeat(np.arange(len(SIZES)), SIZES).tolist()


def test_spans_and_values_of_groups() -> None:
    place = RNG.permutation(70)
    spans, bits = np.empty((2, len(SIZES)), np.int32), np.zeros((len(SIZES), 2), np.uint64)
    for run in segments(OFFSETS, 2):
        kernels.find_spans(ORDER, OFFSETS, CODES, place, spans, *run)
        kernels.find_values(ORDER, OFFSETS, CODES, bits, *run)
    ordered = place[CODES[ORDER]]
    assert spans[0].tolist() == np.minimum.reduceat(ordered, STARTS).tolist()
    assert spans[1].tolist() == np.maximum.reduceat(ordered, STARTS).tolist()
    for g in range(0, len(SIZES), 97):
        values = {int(code) for code in CODES[ORDER[OFFSETS[g] : OFFSETS[g + 1]]]}
        assert sum(1 << value for value in values) == int(bits[g, 0]) | int(bits[g, 1]) << 64


def test_groups_are_sorted_by_their_cells_and_classes_marked() -> None:
    columns = [
        RNG.integers(0, size, 5_000).astype(kind) for size, kind in ((3, np.int8), (200, np.int16), (2, np.int8))
    ]
    order, spare = np.arange(5_000, dtype=np.uint32), np.empty(5_000, np.uint32)
    for codes in reversed(columns):
        kernels.sort_by(codes, 200, order, spare)
        order, spare = spare, order
    assert order.tolist() == np.lexsort(columns[::-1]).tolist()
    new = np.zeros(5_000, np.bool_)
    for codes in columns:
        kernels.mark_changes(codes, order, new)
    cells = np.stack(columns, axis=1)[order]
    assert new[1:].tolist() == (cells[1:] != cells[:-1]).any(axis=1).tolist()
    assert not new[0]


def test_rows_and_cells_are_laid_out_group_by_group() -> None:
    groups = RNG.permutation(len(SIZES)).astype(np.uint32)
    starts = np.concatenate([[0], np.cumsum(SIZES[groups])])
    rows, cells = np.empty(len(ORDER), np.uint32), np.empty(len(ORDER), np.int16)
    codes = RNG.integers(0, 300, len(SIZES)).astype(np.int16)
    for run in segments(starts, 2):
        kernels.lay_rows(ORDER, OFFSETS, groups, starts, rows, *run)
        kernels.repeat_cells(codes, groups, starts, cells, *run)
    assert rows.tolist() == np.concatenate([ORDER[OFFSETS[g] : OFFSETS[g + 1]] for g in groups]).tolist()
    assert cells.tolist() == np.repeat(codes[groups], SIZES[groups]).tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_pairs_of_bucket_and_value_are_counted(threads: int) -> None:
    starts = np.zeros(len(SIZES) + 1, np.int64)
    runs = segments(OFFSETS, threads)
    for run in runs:
        kernels.count_pairs(ORDER, OFFSETS, CODES, starts, 70, *run)
    starts = np.cumsum(starts)
    found = (np.empty(starts[-1], np.int32), np.empty(starts[-1], np.uint8), np.empty(starts[-1], np.int32))
    for run in runs:
        kernels.list_pairs(ORDER, OFFSETS, CODES, 70, starts, found, *run)
    bucket = np.repeat(np.arange(len(SIZES)), SIZES)
    pairs, counts = np.unique(bucket * 70 + CODES[ORDER], return_counts=True)
    assert (found[0] * 70 + found[1]).tolist() == pairs.tolist()
    assert found[2].tolist() == counts.tolist()
