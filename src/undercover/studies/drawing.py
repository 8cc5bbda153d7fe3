"""Drawing beside: another process draws the pages of the tour while this one makes the next release.

To draw the pictures of a report takes longer than to make, attack and measure its release, and what draws them lets no
other thread run meanwhile. A second one would begin with two seconds of loading, which it does not make up for.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from undercover.waiting import Progress, no_progress
from undercover.whole import write_whole

Draw = Callable[[Callable[[], str], Path], None]
"""Has a page made and written into a file, for its owner alone."""


@contextmanager
def drawing_beside(progress: Progress = no_progress) -> Iterator[Draw]:
    """Yields a function that has a page drawn, which a function makes that can be pickled; at the end all are drawn.

    Where this process stops early, what is not begun is not drawn.
    """
    pages: list[Future[None]] = []
    beside = ProcessPoolExecutor(1, get_context("spawn"), initializer=_leave_interrupts_to_the_other)
    try:
        yield lambda made, page: pages.append(beside.submit(draw, made, page))
        for place, page in enumerate(pages):
            progress("drawing the pages", place / len(pages))
            page.result()
    finally:
        beside.shutdown(cancel_futures=True)


def draw(made: Callable[[], str], page: Path) -> None:
    """Draw a page into a file."""
    write_whole(page, made(), private=True)


def _leave_interrupts_to_the_other() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
