"""What can go wrong, as one tree.

::

    Exception
    ├── UndercoverError            something the caller can act on
    │   ├── InputError             malformed or unknown: exit code 2
    │   │   ├── SchemaError        roles, kinds and columns that do not fit together
    │   │   ├── DataError          the table itself: empty, ragged, non-finite, missing values
    │   │   ├── HierarchyError     uncovered values, levels that are no function of the one below
    │   │   ├── ParameterError     a parameter of a method, guarantee or attack
    │   │   ├── OutputError        the folder exists, no permission, no space
    │   │   ├── PluginError        a package that offers a plug-in is broken
    │   │   ├── UnknownFormError   a release of a form nobody here can read
    │   │   ├── NotTold            a question that this form of release cannot answer
    │   │   └── MissingExtraError  an optional part that is not installed
    │   ├── UnreachableError       well-formed, but not on this table: exit code 3
    │   └── VerificationError      a promise that does not hold: exit code 4
    └── InternalError              a bug of ours: exit code 1
        └── SelfTestError          what was made is not what it is said to be; nothing is returned or written

A message says what is wrong, what was found and what to do. Problems found together are reported together.
"""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class UndercoverError(Exception):
    """Root of everything a caller can act on."""

    exit_code = 2

    @property
    def kind(self) -> str:
        """What went wrong in one word, for programs: the name of the class.

        >>> DataError("The table is empty.").kind, UnknownFormError("aggregated", []).kind
        ('data', 'unknown-form')
        """
        words = re.sub(r"(?<!^)(?=[A-Z])", "-", type(self).__name__.removesuffix("Error"))
        return words.lower() or "error"

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` says of it."""
        problems = list(getattr(self, "problems", (str(self),)))
        return {"kind": self.kind, "exit_code": self.exit_code, "message": str(self), "problems": problems}


class InputError(UndercoverError):
    """Malformed or unknown input; ``problems`` lists everything that was found wrong."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__(join_problems(self.problems))


class SchemaError(InputError):
    """Roles, kinds or columns do not fit together or do not fit the table."""


class DataError(InputError):
    """The table itself cannot be used as it is."""


class HierarchyError(InputError):
    """A hierarchy is not a hierarchy, or does not cover the column it is for."""


class ParameterError(InputError):
    """A parameter of a method, guarantee or attack is unknown or out of range."""


class OutputError(InputError):
    """The release cannot be written where it was asked to be."""


class PluginError(InputError):
    """A package that offers a plug-in is broken, or takes a name that is not free."""


class UnknownFormError(InputError):
    """A release of a form that this installation cannot read; nothing is computed from it.

    >>> print(UnknownFormError("aggregated", ["buckets", "drawn"]))
    The release is of the form `aggregated`, which this installation cannot read. Install the package that provides it
    (entry point undercover.forms), or ask its maker. Forms here: buckets, drawn.
    """

    def __init__(self, form: str, known: Sequence[str]) -> None:
        super().__init__(
            f"The release is of the form `{form}`, which this installation cannot read. Install the package that "
            f"provides it (entry point undercover.forms), or ask its maker. Forms here: {', '.join(known)}."
        )


class NotTold(InputError):  # noqa: N818
    """A question that a release of this form cannot answer; the message says why."""


class MissingExtraError(InputError):
    """An optional part is not installed.

    >>> print(MissingExtraError("duckdb", "sql", "reading from a database"))
    reading from a database needs `duckdb`, which is not installed. Install it with: pip install 'undercover[sql]'
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs `{package}`, which is not installed. Install it with: pip install 'undercover[{extra}]'"
        )


class UnreachableError(UndercoverError):
    """The guarantee cannot be reached on this table; ``best`` says what can.

    ``by_values`` is false where this follows from quasi-identifiers and numbers of rows alone.
    """

    exit_code = 3

    def __init__(self, message: str, *, best: Mapping[str, Any] | None = None, by_values: bool = True) -> None:
        self.best = dict(best or {})
        self.by_values = by_values
        super().__init__(message)

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` says of it, with the best that can be reached."""
        return {**super().to_dict(), "best": self.best}


class VerificationError(UndercoverError):
    """A published table does not keep what it promises."""

    exit_code = 4


class InternalError(Exception):
    """A bug of ours: a state the code holds impossible. Please report it."""

    exit_code = 1


class SelfTestError(InternalError):
    """What a method made does not fit the table it was made of, or the law it was said to be drawn by.

    >>> print(SelfTestError([], ["order of rows: 1 where 0.5 is expected (p < 1e-180)"]))
    The release failed its self-test, so nothing was returned or written. Not drawn as declared: order of rows: 1 where
    0.5 is expected (p < 1e-180). Report this as a bug of undercover, or of the plug-in that made the release.
    """

    def __init__(self, differing: Sequence[str], not_drawn: Sequence[str]) -> None:
        self.differing, self.not_drawn = tuple(differing), tuple(not_drawn)
        found = [f"Not as in the table it was made of: {'; '.join(differing)}."] if differing else []
        found += [f"Not drawn as declared: {'; '.join(not_drawn)}."] if not_drawn else []
        super().__init__(
            f"The release failed its self-test, so nothing was returned or written. {' '.join(found)} Report this as a "
            "bug of undercover, or of the plug-in that made the release."
        )


def join_problems(problems: Sequence[str]) -> str:
    """One problem as it stands, several as a list."""
    if len(problems) == 1:
        return problems[0]
    return f"{len(problems)} problems:\n" + "\n".join(f"- {problem}" for problem in problems)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Name what is unknown, the nearest known name, and all that exist."""
    names = list(known)
    nearest = difflib.get_close_matches(str(name), names, n=1)
    hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
    return f"{what} `{name}` is not known.{hint} There are: {listed(names)}."


def described(values: Iterable[object], limit: int = 3) -> str:
    """How many cells there are and what they look like; never what they hold, which is private.

    >>> described(["Ada Lovelace", "36"]), described(["x"]), described([])
    ('2 values (a text of 12 characters, a number of 2 digits)', '1 value (a text of 1 character)', 'no value')
    """
    everything = list(values)
    if not everything:
        return "no value"
    shapes = ", ".join(shape_of(value) for value in everything[:limit])
    more = ", …" if len(everything) > limit else ""
    return f"{len(everything):,} value{'s' * (len(everything) != 1)} ({shapes}{more})"


def shape_of(value: object) -> str:
    """What a cell looks like.

    >>> shape_of("Ada"), shape_of(3.5), shape_of("-36"), shape_of("")
    ('a text of 3 characters', 'a number', 'a number of 2 digits', 'an empty text')
    """
    if not isinstance(value, str):
        return "a number" if isinstance(value, int | float) else f"a value of type {type(value).__name__}"
    if not value:
        return "an empty text"
    figures = value.strip().removeprefix("-")
    if figures.isdecimal():
        return f"a number of {len(figures)} digit{'s' * (len(figures) != 1)}"
    return f"a text of {len(value):,} character{'s' * (len(value) != 1)}"


def listed(names: Iterable[object], limit: int = 12) -> str:
    """Names in backticks, cut after ``limit``."""
    everything = [f"`{name}`" for name in names]
    if len(everything) <= limit:
        return ", ".join(everything) or "none"
    return ", ".join(everything[:limit]) + f" and {len(everything) - limit} more"


_CURES = {
    errno.ENOENT: "Look whether it is still there and spelled this way.",
    errno.ENOTDIR: "A part of this path is a file; look for a wrong name in it.",
    errno.EISDIR: "It is a folder; name a file in it.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.ELOOP: "Links lead round in a circle; name the file itself.",
    errno.EIO: "The disk reports an error; copy it to another disk and try again.",
    errno.EMFILE: "Too many files are open; allow more (ulimit -n) and try again.",
    errno.ESTALE: "The network drive lost it; connect it again and try again.",
}
_TO_READ = {
    errno.EACCES: "Ask its owner for the permission to read it, or copy it to a folder of your own.",
    errno.EPERM: "Ask its owner for the permission to read it, or copy it to a folder of your own.",
}
_TO_WRITE = {
    errno.EACCES: "Choose a folder you may write to, or ask its owner for the permission.",
    errno.EPERM: "Choose a folder you may write to, or ask its owner for the permission.",
    errno.EROFS: "The disk can only be read; choose a folder on another one.",
    errno.ENOSPC: "Make room on that disk, or choose a folder on another one.",
    errno.EDQUOT: "Your share of that disk is used up; make room, or choose a folder on another one.",
    errno.EFBIG: "The disk takes no file of that size; choose a folder on another one.",
}


def unreadable(what: str, error: OSError) -> str:
    """Say that a file cannot be read, why, and what to do.

    >>> unreadable("`people.csv`", PermissionError(errno.EACCES, "Permission denied"))  # doctest: +ELLIPSIS
    '`people.csv` cannot be read: Permission denied. Ask its owner for the permission to read it, ...'
    """
    if error.errno is None:  # raised by a library that came upon something else than it expected
        return damaged(what)
    return f"{what} cannot be read: {_reason(error)}. {_cure(error, _TO_READ, 'Copy it elsewhere and try again.')}"


def damaged(what: str, found: str = "") -> str:
    """Say that a file is damaged or incomplete, what was found, and what to do.

    >>> damaged("`people.parquet`", "it ends in the middle")
    '`people.parquet` is damaged or incomplete: it ends in the middle. Copy or download it again, or export it anew.'
    """
    shown = f": {found}" if found else ""
    return f"{what} is damaged or incomplete{shown}. Copy or download it again, or export it anew."


def unwritable(what: str, error: OSError, verb: str = "written") -> str:
    """Say that a file or folder cannot be written, why, and what to do.

    >>> unwritable("`out`", OSError(errno.ENOSPC, "No space left on device"))
    '`out` cannot be written: No space left on device. Make room on that disk, or choose a folder on another one.'
    """
    return f"{what} cannot be {verb}: {_reason(error)}. {_cure(error, _TO_WRITE, 'Choose another folder.')}"


def _reason(error: OSError) -> str:
    """Why, without the path, which is named before."""
    return error.strerror or type(error).__name__


def _cure(error: OSError, of_kind: Mapping[int, str], other: str) -> str:
    number = error.errno or 0
    return of_kind.get(number) or _CURES.get(number, other)
