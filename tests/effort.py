"""How much is tried. `make test` tries a few examples of everything, `make fuzz` twenty times as many."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

TIMES = int(os.environ.get("UNDERCOVER_TEST_EFFORT", "1"))


def examples(number: int, **more: Any) -> settings:
    """Settings of a property that is tried with so many examples, or as many times more as was asked for.

    >>> examples(30).max_examples == 30 * TIMES
    True
    """
    return settings(deadline=None, max_examples=number * TIMES, **more)
