"""What every check says and compares with: something must hold, and two releases are the same in bytes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from undercover import plugins
from undercover.errors import UnreachableError
from undercover.io.release.manifest import write_tables
from undercover.model.about import about_of
from undercover.model.protocols import Method
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.verbs.publish import publish_table

SEED = 918273645
"""Of every run that is made twice; no number of a release looks like it."""


def must(holds: object, otherwise: str) -> None:
    """An ``AssertionError`` where something does not hold, whatever the interpreter's options.

    >>> must(1 > 2, "1 is not more than 2")
    Traceback (most recent call last):
    AssertionError: 1 is not more than 2
    """
    if not holds:
        raise AssertionError(otherwise)


def as_plain(what: str, value: Any) -> Any:
    """A value as it comes back from JSON; a failure where it is none.

    >>> as_plain("it", {"a": (1, 2)})
    {'a': [1, 2]}
    """
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{what} is not ready for JSON: {error}.") from error


def in_bytes(release: Release) -> dict[str, bytes]:
    """The files of a release as they would be published, by name."""
    with tempfile.TemporaryDirectory() as folder:
        write_tables(release, Path(folder))
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def examples_of(name: str, *expected: str) -> list[Method]:
    """A method with the parameters of its examples of some kind.

    >>> examples_of("anatomy", "safe")
    [Anatomy(l=2), Anatomy(l=3)]
    """
    kind = plugins.load("methods", name)
    return [kind(**example.parameters) for example in about_of(name).examples if example.expected in expected]


def reached(method: Method, tables: Sequence[Table]) -> Iterator[Run]:
    """The runs of a method on those tables that it does not refuse."""
    for table in tables:
        try:
            yield publish_table(table, method, randomness=Randomness(SEED))
        except UnreachableError:
            continue
