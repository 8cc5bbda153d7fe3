"""Shuffling: every arrangement as likely as any other, rejected words replaced, a lack of words reported."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from undercover.compiled.shuffle import below, counting_order, settle, shuffle_segments
from undercover.randomness import Randomness
from undercover.steps.shuffling import drawn as drawn_in_pieces
from undercover.steps.shuffling import shuffle_within, spare_words

NO_SPARE = np.zeros(0, np.uint32)
Uniform = Callable[[Sequence[int]], bool]


def words(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def arrangements(items: NDArray[np.int64]) -> list[int]:
    """How often each order of 0, 1, 2, 3 occurs among the segments of four."""
    counts = Counter(tuple(segment) for segment in items.reshape(-1, 4).tolist())
    assert set(counts) <= set(permutations(range(4)))
    return [counts[order] for order in permutations(range(4))]


def segments(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.tile(np.arange(4), count), np.arange(0, 4 * count + 1, 4)


def test_all_arrangements_of_four_are_equally_likely(uniform: Uniform) -> None:
    items, offsets = segments(24 * 1000)
    shuffle_within(items, offsets, Randomness(seed=5), "test")
    assert uniform(arrangements(items))


def test_a_biased_shuffle_is_found_out(uniform: Uniform) -> None:
    # The classic fault: every position swaps with any position, which makes 256 paths to 24 arrangements.
    items, _ = segments(24 * 1000)
    drawn = Randomness(seed=5).words("test", len(items)) % 4
    for start in range(0, len(items), 4):
        for i in range(4):
            j = drawn[start + i]
            items[start + i], items[start + j] = items[start + j], items[start + i]
    assert not uniform(arrangements(items))


def test_the_words_of_another_segment_do_not_matter() -> None:
    drawn = Randomness(seed=3).words("test", 8)
    first, second = np.arange(8), np.arange(8)
    shuffle_segments(first, np.array([0, 4, 8]), drawn, 0, 2)
    changed = drawn.copy()
    changed[4:] ^= np.uint32(0xFFFFFFFF)
    shuffle_segments(second, np.array([0, 4, 8]), changed, 0, 2)
    assert first[:4].tolist() == second[:4].tolist()
    assert first[4:].tolist() != second[4:].tolist()


def plain_below(s: int, word: int, spare: Sequence[int]) -> tuple[int, int]:
    """Lemire's multiplication with whole numbers: a word counts unless it lies in the short first stretch."""
    for used, candidate in enumerate([word, *spare]):
        if (candidate * s) % 2**32 >= 2**32 % s:
            return (candidate * s) >> 32, used
    return 0, -1


@pytest.mark.parametrize("s", [1, 2, 3, 5, 1000, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1])
def test_a_number_below_s_as_the_plain_twin_finds_it(s: int) -> None:
    seed = 11
    print(f"seed {seed}")
    drawn = Randomness(seed=seed).words(f"below/{s}", 400)
    for word in [0, 1, 2**32 - 1, *drawn[:300].tolist()]:
        spare = drawn[300:]
        found, used = below(s, np.uint32(word), spare, 0)
        assert (found, used) == plain_below(s, word, spare.tolist())
        assert 0 <= found < s


def test_every_number_has_the_same_count_of_words() -> None:
    # s = 2**31 + 1: two words lead to most numbers, and exactly one of them may count.
    s = 2**31 + 1
    for number in (0, 1, 12345, 2**30, s - 1):
        first = -(-(number << 32) // s)
        leading = [word for word in range(first, first + 3) if (word * s) >> 32 == number and word < 2**32]
        accepted = [word for word in leading if below(s, np.uint32(word), NO_SPARE, 0)[1] == 0]
        assert len(accepted) == 1


def test_a_rejected_word_is_replaced_by_the_next_spare_one() -> None:
    # 2**32 % 3 == 1, so of all words only 0 is rejected for s = 3.
    assert below(3, np.uint32(0), words(0, 2**31, 7), 0) == (1, 2)
    assert below(3, np.uint32(0), words(0, 2**31, 2**32 - 1), 2) == (2, 3)
    assert below(3, np.uint32(0), words(0, 0), 0) == (0, -1)
    assert below(4, np.uint32(0), NO_SPARE, 0) == (0, 0)


def test_rejected_words_are_settled_in_the_order_in_which_they_are_used() -> None:
    # 0 is rejected at the last place of a segment of three, and nowhere else; the spare 0 is rejected there, too.
    offsets, drawn = np.array([0, 3, 6]), words(0, 0, 0, 0, 5, 0)
    assert settle(offsets, drawn, words(0, 7, 9))
    assert drawn.tolist() == [0, 0, 7, 0, 5, 9]
    assert not settle(offsets, words(0, 0, 0, 0, 5, 0), words(7))


def literal_shuffle(
    items: NDArray[np.int64], offsets: NDArray[np.int64], drawn: NDArray[np.uint32], spare: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Fisher & Yates word for word, a rejected one replaced where it is met."""
    items, used = items.copy(), 0
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        for i in range(end - start - 1, 0, -1):
            word = int(drawn[start + i])
            while word * (i + 1) % 2**32 < 2**32 % (i + 1):
                word, used = int(spare[used]), used + 1
            j = start + (word * (i + 1) >> 32)
            items[start + i], items[j] = items[j], items[start + i]
    return items


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_shuffle_is_the_literal_one_on_any_number_of_threads(threads: int) -> None:
    sizes = np.random.default_rng(1).integers(0, 9, 40_000)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    items = np.arange(offsets[-1])
    randomness = Mostly0(seed=2)
    expected = literal_shuffle(
        items, offsets, randomness.words("test/0", len(items)), randomness.words("test/0/spare", 100)
    )
    shuffle_within(items, offsets, randomness, "test", threads)
    assert items.tolist() == expected.tolist()


class Mostly0(Randomness):
    """A word that is rejected, now and then."""

    def words(self, purpose: str, count: int, *, start: int = 0) -> NDArray[np.uint32]:
        drawn = super().words(purpose, count, start=start)
        if not purpose.endswith("spare"):
            drawn[::5000] = 0
        return drawn


def test_words_drawn_in_pieces_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Randomness(seed=4).words("test", 1000)
    monkeypatch.setattr("undercover.steps.shuffling._PIECE", 64)
    assert drawn_in_pieces(Randomness(seed=4), "test", 1000, 2).tolist() == whole.tolist()
    assert len(set(drawn_in_pieces(Randomness(), "test", 1000, 2).tolist())) > 900


class Stuttering(Randomness):
    """Nothing but zeros in the first attempt; zeros are rejected where the number of choices is no power of two."""

    def words(self, purpose: str, count: int, *, start: int = 0) -> NDArray[np.uint32]:
        asked.append(purpose)
        drawn = super().words(purpose, count, start=start)
        return np.zeros_like(drawn) if "/0" in purpose else drawn


asked: list[str] = []


def test_a_shuffle_that_ran_out_is_done_again_with_new_words(uniform: Uniform) -> None:
    asked.clear()
    count = 24 * 200
    items, offsets = segments(count)
    shuffle_within(items, offsets, Stuttering(seed=9), "test")
    assert asked == ["test/0", "test/0/spare", "test/1", "test/1/spare"]
    assert uniform(arrangements(items))


def test_spare_words_suffice_on_average_many_times_over() -> None:
    assert spare_words(10, 4) == 64
    # 2**26 draws below 2**26: at most one in 64 is rejected, a million words; twice as many are held ready.
    assert spare_words(2**26, 2**26) == 64 + 2**21


def test_segments_of_none_and_one_stay() -> None:
    items = np.arange(3)
    shuffle_within(items, np.array([0, 1, 1, 2, 3]), Randomness(seed=1), "test")
    assert items.tolist() == [0, 1, 2]
    nothing = np.zeros(0, np.int64)
    shuffle_within(nothing, np.array([0]), Randomness(seed=1), "test")
    assert len(nothing) == 0


def test_counting_order_is_a_stable_sort() -> None:
    codes = np.random.default_rng(4).integers(0, 7, 500).astype(np.uint8)
    order, offsets = counting_order(codes, 9)
    assert order.tolist() == np.argsort(codes, kind="stable").tolist()
    assert np.diff(offsets).tolist() == np.bincount(codes, minlength=9).tolist()
