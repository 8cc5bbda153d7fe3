"""Drawing beside: other processes draw the reports of the tour while this one makes the next release.

To draw the pictures of a report takes longer than to make, attack and measure its release, and what draws them lets no
other thread run meanwhile. There are two of them, so that no core waits when the last release is made.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from undercover.waiting import Progress, no_progress
from undercover.whole import write_whole

Draw = Callable[[Mapping[str, Any], Path], None]


@contextmanager
def drawing_beside(progress: Progress = no_progress) -> Iterator[Draw]:
    """Yields a function that has a report drawn into a file that is there; at the end all of them are drawn.

    Where this process stops early, what is not begun is not drawn.
    """
    pages: list[Future[None]] = []
    beside = ProcessPoolExecutor(2, get_context("spawn"), initializer=_leave_interrupts_to_the_other)
    try:
        yield lambda summary, page: pages.append(beside.submit(draw, dict(summary), page))
        for place, page in enumerate(pages):
            progress("drawing the reports", place / len(pages))
            page.result()
    finally:
        beside.shutdown(cancel_futures=True)


def draw(summary: Mapping[str, Any], page: Path) -> None:
    """Draw the report with these figures into a file."""
    from undercover.pages.render import report_html

    write_whole(page, report_html(summary), private=True)


def _leave_interrupts_to_the_other() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
