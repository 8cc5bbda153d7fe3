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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class UndercoverError(Exception):
    """Root of everything a caller can act on."""

    exit_code = 2


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


def listed(names: Iterable[object], limit: int = 12) -> str:
    """Names in backticks, cut after ``limit``."""
    everything = [f"`{name}`" for name in names]
    if len(everything) <= limit:
        return ", ".join(everything) or "none"
    return ", ".join(everything[:limit]) + f" and {len(everything) - limit} more"
