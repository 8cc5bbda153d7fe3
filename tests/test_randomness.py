"""Random words by purpose and position, and a test of randomness that can fail."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import undercover as uc
from undercover.engines.spark.secret import Secret
from undercover.errors import ParameterError
from undercover.io.release.contents import public_part
from undercover.io.release.folder import save
from undercover.model.release import REPRODUCIBLE
from undercover.randomness import Randomness


@given(st.integers(0, 2**70), st.integers(0, 200), st.integers(0, 200), st.text(max_size=5))
def test_any_slice_equals_the_whole(seed: int, start: int, count: int, purpose: str) -> None:
    source = Randomness(seed=seed)
    whole = source.words(purpose, 400)
    part = source.words(purpose, count, start=start)
    assert part.dtype == np.uint32
    assert part.tolist() == whole[start : start + count].tolist()


def test_far_positions_are_reached_without_drawing_what_lies_before() -> None:
    source = Randomness(seed=1)
    far = 10**15 + 3
    assert source.words("x", 5, start=far).tolist() == source.words("x", 10, start=far - 2)[2:7].tolist()


def test_purposes_seeds_and_positions_differ() -> None:
    streams = [
        Randomness(seed=1).words("a", 64),
        Randomness(seed=1).words("b", 64),
        Randomness(seed=2).words("a", 64),
        Randomness(seed=11).words("a", 64),
        Randomness(seed=1).words("1/a", 64),
        Randomness(seed=1).words("", 64),
        Randomness(seed=1).words("a", 64, start=64),
    ]
    for i, one in enumerate(streams):
        for two in streams[i + 1 :]:
            assert (one == two).sum() <= 2


def test_a_seed_gives_the_same_words_on_every_machine() -> None:
    """Fixed once: a change of the stream would silently change every reproducible release."""
    assert Randomness(seed=7).words("shuffle", 4).tolist() == [1579106769, 2014549385, 1605080474, 3062127349]


def test_words_of_the_operating_system_differ_between_calls() -> None:
    source = Randomness()
    assert not source.reproducible
    one, two = source.words("a", 64), source.words("a", 64)
    assert one.dtype == np.uint32
    assert len(one) == 64
    assert (one == two).sum() <= 2
    assert one.flags.writeable
    assert Randomness(seed=0).reproducible


def looks_uniform(words: np.ndarray) -> bool:
    """Every bit is set half of the time, and bytes and pairs of half-bytes are spread evenly (chi-square).

    A good stream is rejected about once in half a million.
    """
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 4), axis=1)
    excess = np.abs(bits.sum(axis=0) - len(words) / 2) / np.sqrt(len(words) / 4)
    octets = words.view(np.uint8).astype(np.int64)
    pairs = (octets[:-1:2] & 15) * 16 + (octets[1::2] & 15)
    spread = [stats.chisquare(np.bincount(values, minlength=256)).pvalue for values in (octets, pairs)]
    return bool(excess.max() < 5.5 and min(spread) > 1e-6)


@pytest.mark.parametrize("purpose", ["shuffle", "order of rows", ""])
def test_seeded_words_look_uniform(purpose: str) -> None:
    assert looks_uniform(Randomness(seed=2024).words(purpose, 100_000))


def test_words_for_consecutive_seeds_look_uniform() -> None:
    assert looks_uniform(np.concatenate([Randomness(seed=seed).words("x", 40) for seed in range(2500)]))


def test_biased_words_are_rejected() -> None:
    words = Randomness(seed=2024).words("shuffle", 100_000)
    assert not looks_uniform(words & np.uint32(0xFFFFFFFE))
    assert not looks_uniform(words % np.uint32(1_000_000))
    assert not looks_uniform(np.where(np.arange(len(words)) % 20, words, words & np.uint32(0x7FFFFFFF)))
    assert not looks_uniform(np.repeat(words.view(np.uint8), 2).view(np.uint32))


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_what_is_no_seed_is_refused(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed must be an int"):
        Randomness(seed=seed)


FORKED = """
import os
from undercover.engines.spark.secret import Secret
from undercover.randomness import Randomness

own = Randomness()
for _ in range(3):
    if os.fork() == 0:
        print(own.words("a", 8).tobytes().hex(), Secret().words("a", 8).tobytes().hex(), flush=True)
        os._exit(0)
    os.wait()
"""


def test_processes_that_were_forked_share_no_words() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    assert len(set(done.stdout.split())) == 6


def test_threads_parts_and_releases_share_no_words() -> None:
    own, secret = Randomness(), Secret()
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: own.words("a", 8).tobytes(), range(8)))
    drawn += [secret.part(part).words("a", 8).tobytes() for part in range(8)]
    drawn += [secret.words("a", 8, start=8 * place).tobytes() for place in range(8)]
    drawn += [Secret().words("a", 8).tobytes() for _ in range(8)]
    drawn += [Randomness(seed=1).part(part).words("a", 8).tobytes() for part in range(8)]
    assert len(set(drawn)) == 40


def test_a_reproducible_release_says_so_and_not_by_which_seed(tmp_path: Path) -> None:
    people, schema = uc.datasets.census(300, seed=1), uc.datasets.census_schema(["age", "sex"])
    seeded, fresh = (uc.publish(people, schema, uc.Anatomy(l=3), seed=seed) for seed in (976_431, None))
    assert seeded.verdict.status != "ready"
    assert any(reason.kind == "seed" for reason in seeded.verdict.reasons)
    for run, said in ((seeded, True), (fresh, False)):
        public = public_part(save(run, tmp_path / str(said), report="", summary={}, datasheet=""))
        assert any(REPRODUCIBLE in note for note in uc.verify(public).notes) is said
        assert (REPRODUCIBLE in (public / "release.json").read_text("utf-8")) is said
        assert not any(b"976431" in file.read_bytes() for file in public.iterdir())
