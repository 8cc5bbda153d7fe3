"""Where random words come from: the operating system for releases, a counter-based stream for ``seed``.

Words are drawn by purpose and position, so a result does not depend on how many threads or machines drew them.
With a seed the words are those of Philox 4x64 (Salmon et al. 2011), keyed by the seed and the purpose; position
``i`` is reached by advancing the counter, not by drawing what lies before it.

There is no module-level generator: whoever needs words is handed a :class:`Randomness`.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercover.errors import ParameterError


@dataclass(frozen=True)
class Randomness:
    """A source of random 32-bit words.

    Parameters
    ----------
    seed
        ``None`` (the default) reads the operating system's entropy: the only choice for a release that leaves the
        house. A number gives a reproducible stream; whoever knows it can undo the shuffling.
    """

    seed: int | None = None
    within: str = ""  # before every purpose: words of a part or a round of the work are no other's

    def __post_init__(self) -> None:
        if self.seed is not None and (isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0):
            raise ParameterError(f"The seed must be an int in [0, inf). Got {self.seed!r} instead.")

    @property
    def reproducible(self) -> bool:
        """Whether somebody who knows the seed can draw the same words again."""
        return self.seed is not None

    def part(self, number: int) -> Randomness:
        """The words of one part of the work, whichever machine draws them.

        >>> Randomness(7).part(3)
        Randomness(seed=7, within='part 3/')
        """
        return Randomness(self.seed, f"{self.within}part {number}/")

    def words(self, purpose: str, count: int, *, start: int = 0) -> NDArray[np.uint32]:
        """Words ``start`` to ``start + count`` of the stream for ``purpose``."""
        purpose = self.within + purpose
        if self.seed is None:
            return np.frombuffer(bytearray(os.urandom(4 * count)), dtype=np.uint32)
        key = hashlib.sha256(f"{self.seed}/{purpose}".encode()).digest()
        generator = np.random.Philox(key=np.frombuffer(key[:16], dtype=np.uint64))
        # One step of the counter yields four 64-bit numbers, that is eight words.
        blocks, skip = divmod(start, 8)
        if blocks:
            generator.advance(blocks)
        numbers = generator.random_raw((skip + count + 1) // 2)
        return np.asarray(numbers, dtype=np.uint64).view(np.uint32)[skip : skip + count]
