"""Pages of ``docs/reference`` name objects and commands in lists; here each item becomes what the program says of it.

``- `undercover.publish` `` is the signature and docstring of that object, ``- `undercover publish` `` the synopsis,
arguments and options of that command, both as they are when the manual is built: neither can go stale. Objects take
half of the time of a build; with ``whole_reference`` false their names stay names.
"""

import inspect
import re
from importlib import import_module
from typing import Any

import typer.main

ITEM = re.compile(r"^- `(undercover[. ][^`]+)`$", re.MULTILINE)
FOLDER = "docs/reference/"


def found(path: str) -> Any:
    """The object at a dotted path whose last name is in a module.

    >>> found("undercover.publish").__name__
    'publish'
    """
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def command(words: str) -> Any:
    """The command that these words name, with its options loaded.

    >>> command("undercover hierarchy check").name
    'check'
    """
    from undercover.cli.main import app

    here = typer.main.get_command(app)
    for word in words.split()[1:]:
        here = here.commands[word]  # type: ignore[attr-defined]
    return getattr(here, "loaded", here)


def _object(path: str) -> str:
    """A directive for an object; of a class with its members, but for those that another package puts there."""
    here = found(path)
    if not inspect.isclass(here):
        return f"```{{eval-rst}}\n.. autofunction:: {path}\n```"
    foreign = [name for name in vars(here) if re.fullmatch(r"set_\w+_request", name)]
    left_out = f"   :exclude-members: {', '.join(foreign)}\n" if foreign else ""
    return f"```{{eval-rst}}\n.. autoclass:: {path}\n   :members:\n{left_out}```"


def _command(words: str) -> str:
    """The synopsis, and a row for every argument and option."""
    given = command(words)
    arguments = [one for one in given.params if not one.opts[0].startswith("-")]
    options = [one for one in given.params if one not in arguments]
    shown = "".join(f" {_named(one)}" for one in (*arguments, *(one for one in options if one.required)))
    lines = [f"```text\n{words}{shown} [options]\n```", "", "| option | default | what it says |", "|---|---|---|"]
    lines += [f"| {_spelled(one)} | {_default(one)} | {_cell(one.help)} |" for one in (*arguments, *options)]
    return "\n".join(lines) + "\n"


def _named(one: Any) -> str:
    name = one.opts[0]
    if not name.startswith("-"):
        name = name.upper().replace("_", "-")
        return name if one.required else f"[{name}]"
    return name if one.is_flag else f"{name} {one.name.upper()}"


def _spelled(one: Any) -> str:
    ways = one.opts if one.opts[0].startswith("-") else [_named(one)]
    several = " (several)" if one.multiple or one.nargs == -1 else ""
    return " ".join(f"`{way}`" for way in (*ways, *one.secondary_opts)) + several


def _default(one: Any) -> str:
    if one.required:
        return "must be given"
    return "" if one.default is None or one.default is False or callable(one.default) else f"`{one.default}`"


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|")


def read(app: Any, name: str, source: list[str]) -> None:
    """Put what the program says in place of the items of a page of the reference."""

    def said(item: re.Match[str]) -> str:
        if "." not in item[1]:
            return _command(item[1])
        return _object(item[1]) if app.config.whole_reference else item[0]

    if name.startswith(FOLDER):
        source[0] = ITEM.sub(said, source[0])


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls; pages are filled in before navigation looks at them."""
    app.add_config_value("whole_reference", True, "env", bool)
    app.connect("source-read", read, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
