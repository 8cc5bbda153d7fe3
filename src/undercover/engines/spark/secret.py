"""Random words for releases that are made on several machines: secret, and the same when a task is tried again.

The operating system's entropy cannot be read twice, so it is read once, 32 bytes, which every task is handed; words are
SHAKE-256 of these, of what they are for and of where they stand (NIST FIPS 202). The bytes are kept nowhere.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from undercover.randomness import Randomness

_BLOCK = 1 << 14  # words


@dataclass(frozen=True)
class Secret(Randomness):
    """Words that follow from 32 bytes nobody else has.

    >>> words = Secret()
    >>> bool((words.words("order", 30_000)[20_000:] == words.words("order", 10_000, start=20_000)).all())
    True
    >>> bool((words.words("order", 10) == words.part(1).words("order", 10)).all()), words.reproducible
    (False, False)
    """

    key: bytes = field(default_factory=lambda: os.urandom(32), repr=False)

    def part(self, number: int) -> Secret:
        """The words of one part of the work, whichever machine draws them."""
        return replace(self, within=f"{self.within}part {number}/")

    def words(self, purpose: str, count: int, *, start: int = 0) -> NDArray[np.uint32]:
        """Words ``start`` to ``start + count`` of the stream for ``purpose``."""
        first, skip = divmod(start, _BLOCK)
        last = -(-(start + count) // _BLOCK)
        named = f"{self.within}{purpose}".encode()
        blocks = [
            hashlib.shake_256(self.key + block.to_bytes(8, "little") + named).digest(4 * _BLOCK)
            for block in range(first, last)
        ]
        return np.frombuffer(bytearray(b"".join(blocks)), dtype=np.uint32)[skip : skip + count]
