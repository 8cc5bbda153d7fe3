"""``undercover``: the commands, and what becomes of errors.

Results go to stdout, progress and problems to stderr. Exit codes: 0 done, 2 bad usage or input, 3 the guarantee cannot
be reached on this table, 4 verification failed, 5 made but withheld, 1 a bug of ours, 130 interrupted, 143 and 129
ended by SIGTERM and SIGHUP, 141 whoever read the results went away.

A command is a file of this folder with its options and what it prints. It is loaded when it is asked for, so that
``undercover --help`` costs next to nothing.
"""

from __future__ import annotations

import io
import os
import sys
import time
import traceback
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from typing import Annotated, Any, Final

import typer
import typer.core
import typer.main

from undercover import ending
from undercover.characters import visible
from undercover.cli import TOLD, began
from undercover.cli.groups.hierarchy import app as hierarchy_commands
from undercover.cli.groups.ledger import app as ledger_commands
from undercover.waiting import duration_of
from undercover.wording import asked_by

COMMANDS: Final = {
    "demo": "Take the whole tour on built-in data: every method, verified, attacked and measured.",
    "inspect": ("Look at a table: its columns, suggested roles, who is singled out, and how risky it is as it stands."),
    "recommend": "Find the method and parameters that satisfy a policy and lose least, and say why; publish by them.",
    "publish": "Make a release: anonymised, verified, attacked, and written with its report and datasheet.",
    "accept": "Publish a release that is withheld, by your decision, which is kept with your reason.",
    "verify": "Recompute every claim from the published tables alone; exit code 4 if one fails, 6 if none can be told.",
    "sign": "Sign a release with your key, so that recipients can tell that it is yours; or make a key.",
    "attack": "Attack a release with what its holder knows, and set it beside guessing.",
    "measure": "Say what a release costs: discernibility, class sizes and loss per column.",
    "guarantee": "Say what perturbed values promise, or the largest p that keeps a promise.",
    "apply": ("Publish a new table by the recipe of a release: same method, schema and requirements, verified again."),
    "joint-risk": "Say what published tables about the same people give away together.",
    "compare": "Set all methods side by side on one table: privacy against utility, time and memory.",
    "serve": "Open the web application on this machine: from a file to a release without code.",
    "experiment": "Measure what a paper measured, and judge what it says by the figures.",
    "warm-up": "Compile every loop now, once per machine, so that no other command has to wait for it.",
}
"""What each command does."""

_ELSEWHERE: Final[dict[str | None, str]] = {"warm-up": "undercover.cli.groups.warm_up"}
_INTERRUPTED: Final = 130
_GONE: Final = 141  # 128 and SIGPIPE, which Windows has not
_PLAIN: Final[dict[str, Any]] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}


class _InterruptedError(Exception):
    """Ctrl-C, by another name: typer would turn it into an exit code without a word."""


def _hush(quiet: bool) -> None:
    TOLD.quiet = quiet


_Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", help="Say nothing of progress; warnings and errors are told.", callback=_hush, expose_value=False
    ),
]


def _nothing(quiet: _Quiet = False) -> None:
    """A command that only has the option to be quiet."""


def _quiet() -> Any:
    single = typer.Typer(**_PLAIN)
    single.command()(_nothing)
    return typer.main.get_command(single).params[0]


def _hushable(command: Any) -> Any:
    """The same command, or the commands in it, with the option to be quiet."""
    for inner in getattr(command, "commands", {}).values():
        _hushable(inner)
    if not hasattr(command, "commands") and not any(option.name == "quiet" for option in command.params):
        command.params.append(_quiet())
    return command


class _Commands(typer.core.TyperGroup):
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        return _hushable(found) if hasattr(found, "commands") else found

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _InterruptedError from error


class _Later(typer.core.TyperCommand):
    """A command of which only the name and the help are known until it is run."""

    @cached_property
    def loaded(self) -> Any:
        single = typer.Typer(**_PLAIN)
        module = import_module(_ELSEWHERE.get(self.name, f"undercover.cli.{str(self.name).replace('-', '_')}"))
        single.command(self.name, help=self.help)(module.command)
        return _hushable(typer.main.get_command(single))

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        return self.loaded.make_context(*arguments, **options)


app = typer.Typer(
    name="undercover",
    cls=_Commands,
    help="Publishes tables about people without giving the people away.",
    no_args_is_help=True,
    **_PLAIN,
)
for _name, _said in COMMANDS.items():
    app.command(_name, cls=_Later, help=_said)(lambda: None)
app.add_typer(hierarchy_commands)
app.add_typer(ledger_commands)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)] = False,
) -> None:
    if version:
        from undercover.version import VERSION

        print(VERSION)
        raise typer.Exit


@cache
def _program() -> Any:
    """All commands; whoever runs several in one process has them made once."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line; every error becomes a message and an exit code."""
    started = began()
    TOLD.quiet = TOLD.waited = TOLD.printed = False
    TOLD.json = "--json" in sys.argv[1:]
    ending.begin()
    nobody_reads, given = sys.stdout is None, sys.stderr
    sys.stdout, sys.stderr = _spelled(sys.stdout or _nowhere()), _Heard(sys.stderr or _nowhere())
    try:
        with asked_by("command line"):
            code = _program()(standalone_mode=False)
        sys.stdout.flush()
        if code == _INTERRUPTED:
            ending.say(None)  # typer turns Ctrl-C into an exit without a word
        _say_where_kernels_are()
        if TOLD.waited:
            print(f"took {duration_of(time.perf_counter() - started)}", file=sys.stderr)
        if nobody_reads:
            code = _unread("it is closed")
    except BaseException as error:
        code = _explain(error)
    finally:
        sys.stderr = given
    sys.exit(code if isinstance(code, int) else 0)


def _say_where_kernels_are() -> None:
    """One word where compiled kernels are kept in an odd place, or nowhere."""
    kept = sys.modules.get("undercover.compiled.kept")
    if kept is not None and not TOLD.quiet and (said := kept.KEPT.said()):
        print(f"note: {said}", file=sys.stderr)


class _Heard(io.TextIOBase):
    """Stderr, where that nobody listens is no reason to stop working."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self.fileno, self.isatty = out.fileno, out.isatty  # type: ignore[method-assign]

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(self._out.encoding)

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._out.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._out.flush()


def _spelled(out: Any) -> Any:
    """Stdout, where a letter that it has not is spelled (as in ``\\xe9``)."""
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="backslashreplace")
    return out


@cache
def _nowhere() -> Any:
    """A stream nobody reads, in place of one that is closed: what is opened next would take its number."""
    return open(os.devnull, "w", encoding="utf-8")


def _unread(why: str) -> int:
    """Results nobody can read; whatever was made stays."""
    print(f"error: the results cannot be written to stdout: {why}. What was made stays.", file=sys.stderr)
    return 2


def _lost(error: BaseException) -> OSError | None:
    """Why stdout takes nothing any more, if that is the error; nothing is left in it to fail again at the end."""
    try:
        if isinstance(error, OSError):
            sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError as why:
        sys.stdout = _nowhere()
        return why
    return None


def _explain(error: BaseException) -> int:
    from undercover.errors import UndercoverError

    lost = _lost(error)
    if any(isinstance(one, BrokenPipeError) for one in (error, error.__context__, lost)):  # typer turns it into an exit
        return _GONE  # as of whatever else stands before `| head`
    if lost is not None:
        return _unread(lost.strerror or str(lost))
    if isinstance(error, _InterruptedError | KeyboardInterrupt | typer.Abort | ending.Told):
        ending.say(error)
        code = error.code if isinstance(error, ending.Told) else _INTERRUPTED
        return _as_json({"kind": "interrupted", "exit_code": code, "message": "The command was told to end."})
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, UndercoverError):
        print(visible(f"error: {error}"), file=sys.stderr)
        return _as_json(error.to_dict())
    if isinstance(error, MemoryError):
        said = (
            "The memory of this machine is not enough for this table. Allow less at once (--parts 16), close other "
            "programs, take a larger machine, or publish a random sample of the rows."
        )
        print(f"error: {said}", file=sys.stderr)
        return _as_json({"kind": "memory", "exit_code": 2, "message": said})
    show, exit_code = getattr(error, "show", None), getattr(error, "exit_code", None)
    if show is not None and isinstance(exit_code, int):  # usage errors of the command-line library
        show()
        return _as_json({"kind": "usage", "exit_code": exit_code, "message": error.format_message()})  # type: ignore[attr-defined]
    print(visible(_where(error)), file=sys.stderr)
    what, check = ending.outcome(), " Verify it before you use it." if ending.changed() else ""
    said = f"This is a bug of undercover, not of your data. {what[0].upper()}{what[1:]}.{check}"
    print(visible(said), file=sys.stderr)
    return _as_json({"kind": "internal", "exit_code": 1, "message": said})


def _where(error: BaseException) -> str:
    """Where a bug is, and of which kind; what other libraries say of it is left out, since they quote cells."""
    from undercover.errors import InternalError

    lines = ["Traceback (most recent call last):"]
    lines += [line.rstrip() for line in traceback.format_tb(error.__traceback__)]
    said = f": {error}" if isinstance(error, InternalError | ImportError) else " (message left out: it may hold cells)"
    return "\n".join([*lines, f"{type(error).__module__}.{type(error).__qualname__}{said}"])


def _as_json(error: dict[str, Any]) -> int:
    """Print an error as one JSON object where the command was asked for JSON and has printed none; its exit code."""
    if TOLD.json and not TOLD.printed:
        from undercover.cli.output import print_json

        print_json({"error": {"problems": [error["message"]], **error}})
        with suppress(OSError):
            sys.stdout.flush()
    return int(error["exit_code"])


if __name__ == "__main__":
    from undercover.cli import run

    run()
