"""What the commands print: progress to stderr, results to stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from undercover import ending
from undercover.characters import escaped, visible
from undercover.cli import TOLD
from undercover.io.plain import plain
from undercover.model.view import Cell, Figure, FigureTable, Said, View, Viewable
from undercover.waiting import Progress, no_progress, on_stderr
from undercover.whole import check_above

if TYPE_CHECKING:
    from rich.console import Console

_INTERRUPTED = 130
_WHOLE_WORD = 24
_WIDTH = 110  # of what is written to a file or a pipe


def console() -> Console:
    """Where results for people go."""
    from rich.console import Console

    class Screen(Console):
        """Leaves it to :func:`undercover.cli.main.main` what becomes of results nobody reads."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def print(self, *objects: Any, **options: Any) -> None:
            """Print; what comes from a table steers no terminal."""
            super().print(*(visible(one) if isinstance(one, str) else one for one in objects), **options)

    if sys.stdout.isatty():
        return Screen(highlight=False)
    return Screen(highlight=False, soft_wrap=True, width=_WIDTH)


def print_json(content: Mapping[str, Any]) -> None:
    """One JSON object at full precision; letters that stdout has not are written as JSON writes them."""
    every = str(getattr(sys.stdout, "encoding", None)).lower().startswith("utf")
    print(escaped(json.dumps(plain(content), ensure_ascii=not every, allow_nan=False, indent=2)))
    TOLD.printed = True


def print_result(result: Viewable, as_json: bool) -> None:
    """A result as one JSON object, or as what it shows."""
    if as_json:
        print_json(result.to_dict())
    else:
        print_view(result.view())


def print_view(view: View) -> None:
    """What a result shows, but for its pictures and folded tables."""
    screen = console()
    style = {"good": "bold green", "plain": "bold", "care": "bold yellow", "bad": "bold red"}[view.verdict]
    screen.print(f"{view.title}: {view.said}" if view.said else view.title, style=style, markup=False)
    for part in (view.story, *view.parts):
        if isinstance(part, View):
            print_view(part)
        elif isinstance(part, FigureTable) and part.detail < 2:
            columns = part.columns or ("", "")
            left = [place for place in range(len(columns)) if part.is_text(place)]
            rows = [[_cell(cell) for cell in row] for row in part.rows]
            print_table(screen, part.title, [_cell(name) for name in columns], rows, left=left)
        elif isinstance(part, str | Said) and part:
            screen.print(str(part), markup=False)


def _cell(cell: Cell) -> str:
    if not isinstance(cell, Figure):
        return "" if cell is None else str(cell).replace("`", "")
    return cell.shown + (" ({} to {})".format(*(end.shown for end in cell.ends)) if cell.ends else "")


def print_table(
    out: Console,
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: int | Sequence[int] = 1,
    whole: int = 0,
) -> None:
    """A table whose first ``left`` columns are text and whose others are figures; the first ``whole`` are not torn."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    words = range(left) if isinstance(left, int) else left
    table = Table(
        title=visible(title) or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_header=any(columns),
    )
    rows = [[visible(cell) for cell in row] for row in rows]
    for i, name in enumerate(map(visible, columns)):
        # Words are not torn apart unless they are very long.
        longest = max((len(word) for cell in (name, *(row[i] for row in rows)) for word in cell.split()), default=0)
        justify: Literal["left", "right"] = "left" if i in words else "right"
        table.add_column(name, justify=justify, overflow="fold", min_width=min(longest, _WHOLE_WORD), no_wrap=i < whole)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    out.print(table)


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Say of work whose finished parts are kept that it goes on with the same command, where it is interrupted.

    It is not begun where nothing can be written.
    """
    check_above(out)
    try:
        yield
    except (KeyboardInterrupt, ending.Told) as error:
        ending.say(error, f"interrupted; what is finished is kept in {out}: the same command goes on from there")
        raise typer.Exit(int(error.code or 0) if isinstance(error, ending.Told) else _INTERRUPTED) from None


@contextmanager
def progress_on_stderr() -> Iterator[Progress]:
    """A bar on a terminal, a line per stage and every ten seconds otherwise; nothing with ``--quiet``."""
    if TOLD.quiet:
        yield no_progress
        return
    with on_stderr() as watch:
        yield watch
    TOLD.waited = True


def note(text: str) -> None:
    """Say what was done on the way, on stderr."""
    print(visible(f"note: {text}"), file=sys.stderr)


def warn(warnings: Sequence[str]) -> None:
    """Say what the holder must know, on stderr."""
    for warning in warnings:
        print(visible(f"warning: {warning}"), file=sys.stderr)
