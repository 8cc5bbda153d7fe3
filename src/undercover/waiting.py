"""Waiting: what long work is doing, the share of it that is done, and how long it will still take.

Whoever works calls a :data:`Progress`. A :class:`Watch` is one: it keeps time, never goes back, and shows every call as
a :class:`Moment`, to a bar on a terminal, to lines where output is piped, or to whoever asks. A stage whose length
nobody knows says so: it has no share and no time left.
"""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TextIO, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of it that is done, from 0 to 1. Of ``"whole: part"`` the share is that
of the whole. A stage that never says more than 0 is one of unknown length."""

BETWEEN_LINES = 10.0  # seconds
_LEAST_MEASURED = 1.0  # seconds after which a rate says something
_LOOK = 0.5  # seconds between looks at the clock


def no_progress(stage: str, share: float) -> None:
    """Progress for whoever does not care."""


def teller(progress: Progress | bool) -> Progress:
    """Whom to tell, inside a function that is :func:`telling`."""
    return progress if callable(progress) else no_progress


def through(progress: Progress, stage: str, items: Sequence[T], named: Callable[[T], str] = str) -> Iterator[T]:
    """Go through items, and tell of each which it is and how many are done.

    >>> list(through(lambda stage, share: print(stage, share), "attacking", ["linkage"]))
    attacking: linkage 0.0
    attacking 1.0
    ['linkage']
    """
    for place, item in enumerate(items):
        progress(f"{stage}: {named(item)}", place / len(items))
        yield item
    if items:
        progress(stage, 1.0)


@dataclass(frozen=True)
class Moment:
    """How far the work is.

    >>> print(Moment("cutting", "", 0.43, 12.4, 16.2))
    cutting: 43%, 12 s so far, about 16 s left
    >>> print(Moment("writing", "the report", None, 75))
    writing: the report, 1 min 15 s so far
    """

    stage: str
    part: str = ""  # what of it, where that was said
    share: float | None = None  # of the stage; nobody can say, where it is None
    seconds: float = 0.0  # since the stage began
    left: float | None = None  # seconds until the stage is done, by the rate that was measured

    def __str__(self) -> str:
        return f"{self.stage}: {', '.join(filter(None, (self.part, self.clock)))}"

    @property
    def clock(self) -> str:
        """Share and times, as words."""
        share = "" if self.share is None else f"{int(100 * self.share)}%"
        left = "" if self.left is None else f"about {duration(self.left)} left"
        return ", ".join(filter(None, (share, f"{duration(self.seconds)} so far", left)))


def duration(seconds: float) -> str:
    """Time in words.

    >>> duration(4.2), duration(75), duration(7260)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


class Watch:
    """Makes moments of what is told, and shows each of them. The share of a stage never goes back.

    Parameters
    ----------
    show
        Called with every moment: when something is told, and with the whole of a stage when the next one begins.
    clock
        Seconds, from any beginning.

    Examples
    --------
    >>> times = iter([0, 0, 3])
    >>> watch = Watch(print, clock=lambda: next(times))
    >>> watch("cutting", 0.0)
    cutting: 0 s so far
    >>> watch("cutting", 0.25)
    cutting: 25%, 3 s so far, about 9 s left
    """

    def __init__(
        self, show: Callable[[Moment], None] | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show, self._clock, self._lock = show, clock, threading.Lock()
        self.started = clock()
        self._stage, self._part = "", ""
        self._first = self._share = 0.0
        self._began = self._told = self.started

    def __call__(self, stage: str, share: float) -> None:
        """Tell what is being done, and the share of it that is done."""
        whole, _, part = stage.partition(": ")
        with self._lock:
            now = self._clock()
            shown = self._ended(now) if whole != self._stage else []
            if whole != self._stage:
                self._stage, self._first, self._share = whole, share, share
                self._began = self._told = now
            self._part = part
            if share > self._share:
                self._share, self._told = min(share, 1.0), now
            shown.append(self._moment(now))
        self._tell(shown)

    def now(self) -> Moment:
        """How far it is at this moment."""
        with self._lock:
            return self._moment(self._clock())

    def finish(self) -> None:
        """Say that the last stage is done."""
        with self._lock:
            shown = self._ended(self._clock())
            self._stage = ""
        self._tell(shown)

    def _moment(self, now: float) -> Moment:
        seconds, measured, done = now - self._began, self._told - self._began, self._share - self._first
        left = None
        if done > 0 and measured >= _LEAST_MEASURED:
            left = (1.0 - self._share) * measured / done - (now - self._told)
        # What was reckoned has run out: then nobody knows, and nothing is promised.
        return Moment(self._stage, self._part, self._share or None, seconds, left if left and left > 0 else None)

    def _ended(self, now: float) -> list[Moment]:
        """That a stage is done, where its share was told."""
        done = bool(self._stage) and 0.0 < self._share < 1.0
        return [Moment(self._stage, "", 1.0, now - self._began, 0.0)] if done else []

    def _tell(self, moments: list[Moment]) -> None:
        # Not while the lock is held: whoever shows a moment may be asking for another one meanwhile.
        show = self._show
        if show is not None:
            for moment in moments:
                show(moment)


class Lines:
    """Moments as lines: one when a stage begins, and one every ten seconds after it."""

    def __init__(self, out: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._out, self._clock = out, clock
        self._stage, self._said = "", clock()

    def __call__(self, moment: Moment) -> None:
        """Say that a stage begins; what takes long the first time only is said of a part, too."""
        compiled = moment.part[moment.part.find("compiling") :] if "compiling" in moment.part else ""
        stage = f"{moment.stage}: {compiled}" if compiled else moment.stage
        if stage != self._stage and moment.share != 1.0:
            self._stage = stage
            self._write(stage)

    def look(self, moment: Moment) -> None:
        """Say how far it is, where nothing was said for ten seconds."""
        if moment.stage and self._clock() - self._said >= BETWEEN_LINES:
            self._write(str(moment))

    def _write(self, line: str) -> None:
        self._said = self._clock()
        try:
            print(f"{line} …", file=self._out, flush=True)
        except OSError:  # nobody listens any more, which is no reason to stop working
            self._out = io.StringIO()


@contextmanager
def on_stderr() -> Iterator[Watch]:
    """A watch that is shown on stderr: as a bar on a terminal, as lines elsewhere."""
    with _bar() if sys.stderr.isatty() and not _dumb() else _lines() as watch:
        yield watch
        watch.finish()


@contextmanager
def _lines() -> Iterator[Watch]:
    lines, over = Lines(sys.stderr), threading.Event()
    watch = Watch(lines)

    def look() -> None:
        while not over.wait(_LOOK):
            lines.look(watch.now())

    beside = threading.Thread(target=look, name="progress", daemon=True)
    beside.start()
    try:
        yield watch
    finally:
        over.set()
        beside.join()


def _dumb() -> bool:
    from rich.console import Console

    return Console(stderr=True).is_dumb_terminal


@contextmanager
def _bar() -> Iterator[Watch]:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn
    from rich.progress import Progress as Bar
    from rich.table import Column
    from rich.text import Text

    class Clock(ProgressColumn):
        """Share and times at the moment the bar is drawn."""

        def render(self, task: Task) -> Text:
            return Text(watch.now().clock, no_wrap=True)

    cut = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    words = TextColumn("{task.description}", markup=False, table_column=cut)
    clock = Clock(table_column=Column(no_wrap=True))
    bar = Bar(
        SpinnerColumn(),
        words,
        BarColumn(bar_width=20),
        clock,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )
    task = bar.add_task("starting", total=None)

    shown = [""]

    def show(moment: Moment) -> None:
        if moment.stage != shown[0]:
            shown[0] = moment.stage
            bar.reset(task)
        said = f"{moment.stage}: {moment.part}" if moment.part else moment.stage
        total = None if moment.share is None else 1.0
        bar.update(task, description=said, total=total, completed=moment.share or 0.0)

    watch = Watch(show)
    with bar:
        yield watch


def telling(work: Callable[P, R]) -> Callable[P, R]:
    """Let ``progress=True`` show how far a function is on stderr, and how long all of it took."""

    @wraps(work)
    def told(*arguments: P.args, **options: P.kwargs) -> R:
        if options.get("progress") is not True:
            return work(*arguments, **options)
        with on_stderr() as watch:
            heard: dict[str, Any] = {**options, "progress": watch}
            done = work(*arguments, **heard)
        print(f"took {duration_of(time.monotonic() - watch.started)}", file=sys.stderr)
        return done

    return told


def duration_of(seconds: float) -> str:
    """The time something took: a short one with its tenths.

    >>> duration_of(2.34), duration_of(75.9)
    ('2.3 s', '1 min 15 s')
    """
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)
