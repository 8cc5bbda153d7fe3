"""How a setting is spelled in a message: as whoever reads the message would have to say it.

What is wrong is found deep inside, where nobody knows who asked. So a message names the setting and its value, which
are spelled for its reader: ``several_rows=True`` in Python, ``--set several_rows=true`` on the command line, and as a
key where a spec says it; on a page of the web application by name and value alone. The command line and the web
application say once that they are asking (:func:`asked_by`); otherwise it is Python.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Literal

_IN_SPEC = {
    "missing": "data",
    **dict.fromkeys(("identifiers", "quasi_identifiers", "sensitive", "insensitive", "drop"), "roles"),
    **dict.fromkeys(("unit", "one_row_per", "weight", "population"), "roles"),
}
_FLAGS = {"quasi_identifiers": "--qi", "same": "--shared"}


Asking = Literal["python", "command line", "page"]


@dataclass(frozen=True)
class Reader:
    """Who reads what is said, and what of it a spec says."""

    asking: Asking = "python"
    spec: bool = False  # whether roles and data are those of a spec
    method: bool = False  # whether the method is


_PYTHON = Reader()
_READER: ContextVar[Reader] = ContextVar("reader", default=_PYTHON)


@contextmanager
def asked_by(asking: Asking) -> Iterator[None]:
    """Spell settings for this reader inside."""
    before = _READER.set(Reader(asking))
    try:
        yield
    finally:
        _READER.reset(before)


def from_spec(*, method: bool) -> None:
    """From now on, a spec says what there is to change: the roles, and the ``method`` as well."""
    _READER.set(replace(_READER.get(), spec=True, method=method))


def option(**one: Any) -> str:
    """What a verb or a schema takes: ``option(missing="drop")``; ``...`` is a value nobody knows.

    >>> option(missing="drop"), option(original=...)
    ('missing="drop"', 'original=…')
    >>> with asked_by("command line"):
    ...     option(missing="drop"), option(original=...), option(despite_earlier=True)
    ('--missing drop', '--original …', '--despite-earlier')
    >>> with asked_by("page"):
    ...     option(missing="drop"), in_data(nulls=["?", "-"]), in_column("pay", kind="categorical")
    ('`missing: drop`', '`nulls: ? -`', '`kind: categorical` for `pay`')
    """
    ((name, value),) = one.items()
    reader = _READER.get()
    if reader.asking == "page":
        return _on_page(name, value)
    if reader.asking == "python":
        return f"{name}={_python(value)}"
    if reader.spec and name in _IN_SPEC:
        return f"{name} = {_toml(value)} under [{_IN_SPEC[name]}] of the spec"
    flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
    return flag if value is True else f"{flag} {_typed(value)}"


def parameter(**one: Any) -> str:
    """A parameter of a method.

    >>> parameter(several_rows=True)
    'several_rows=True'
    >>> with asked_by("command line"):
    ...     parameter(several_rows=True), parameter(allow_unsafe=True), parameter(rho=(0.2, 0.45))
    ('--set several_rows=true', '--allow-unsafe', '--set rho=0.2,0.45')
    """
    ((name, value),) = one.items()
    reader = _READER.get()
    if reader.asking == "page":
        return _on_page(name, value)
    if reader.asking == "python":
        return f"{name}={_python(value)}"
    if reader.method:
        return f"{name} = {_toml(value)} under [method] of the spec"
    return "--allow-unsafe" if name == "allow_unsafe" else f"--set {name}={_typed(value)}"


def in_column(column: str, **one: Any) -> str:
    """What is said of a column.

    >>> in_column("pay", kind="categorical")
    'Column(kind="categorical") for `pay`'
    >>> with asked_by("command line"):
    ...     in_column("pay", kind="categorical")
    'kind = "categorical" under [columns.pay] of a spec (--spec)'
    """
    ((name, value),) = one.items()
    if _READER.get().asking == "page":
        return f"{_on_page(name, value)} for `{column}`"
    if _READER.get().asking == "python":
        return f"Column({name}={_python(value)}) for `{column}`"
    return f"{name} = {_toml(value)} under [columns.{column}] {_spec()}"


def in_data(**one: Any) -> str:
    """How a file is to be read.

    >>> in_data(nulls=["-"])
    'ReadOptions(nulls=["-"])'
    """
    ((name, value),) = one.items()
    if _READER.get().asking == "page":
        return _on_page(name, value)
    if _READER.get().asking == "python":
        return f"ReadOptions({name}={_python(value)})"
    return f"{name} = {_toml(value)} under [data] {_spec()}"


def either(*, python: str, command: str) -> str:
    """What is another thing in Python than on the command line."""
    return python if _READER.get().asking == "python" else command


def _spec() -> str:
    return "of the spec" if _READER.get().spec else "of a spec (--spec)"


def _on_page(name: str, value: Any) -> str:
    several = " ".join(map(str, value)) if isinstance(value, list | tuple) else _typed(value).strip("'")
    return f"`{name.replace('_', ' ')}: {several}`"


def _python(value: Any) -> str:
    return "…" if value is ... else repr(value) if isinstance(value, bool | tuple) else _toml(value)


def _toml(value: Any) -> str:
    return "…" if value is ... else json.dumps(value, ensure_ascii=False, default=str)


def _typed(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    several = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return "…" if value is ... else shlex.quote(several)
