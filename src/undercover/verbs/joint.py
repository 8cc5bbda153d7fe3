"""Tables of several holders: read, and attacked together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from undercover.attacks.joint.attack import JointRelease
from undercover.attacks.joint.result import JointRisk
from undercover.errors import DataError, ParameterError, VerificationError
from undercover.guarantees.joint.tables import foreign_table, released_table
from undercover.io.release.contents import MANIFEST, PUBLIC, WITHHELD, public_part
from undercover.io.release.manifest import load_release
from undercover.io.source import ReadOptions, read, sha256
from undercover.model.protocols import Method, Resolving
from undercover.model.published import Published
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.parameters import make
from undercover.wording import option


def published(
    source: Release | Run | Published | str | os.PathLike[str],
    *,
    name: str | None = None,
    sensitive: str | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    suppressed: bool = False,
) -> Published:
    """A table somebody has published, ready to be joined with others.

    Parameters
    ----------
    source
        A release or run, a public folder, or a file with named columns.
    name
        What it is called in messages; by default its folder or file.
    sensitive, quasi_identifiers
        Of a file: its columns; by default all but the sensitive one are quasi-identifiers.
    suppressed
        Whether suppressed rows count as one more class.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> published(run, name="census").quasi_identifiers
    ('age',)
    """
    if isinstance(source, Published):
        found = source
    elif isinstance(source, Release | Run):
        release = source.release if isinstance(source, Run) else source
        found = released_table(release, name or release.method, sensitive=sensitive, suppressed=suppressed)
    else:
        found = read_published(source, sensitive=sensitive, quasi_identifiers=quasi_identifiers, suppressed=suppressed)
    return found if name is None else replace(found, name=name)


def read_published(
    source: str | os.PathLike[str],
    *,
    sensitive: str | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    suppressed: bool = False,
    options: ReadOptions | None = None,
) -> Published:
    """Read a published table: a folder ``DIR/public`` (or ``DIR``), or a file, which needs its sensitive column named.

    All other columns of a file are quasi-identifiers unless some are named; with ``suppressed``, suppressed rows count
    as one more class.
    """
    place = Path(source)
    if place.is_dir():
        public = public_part(place)
        release, problems = load_release(public)
        if problems:
            raise VerificationError(f"`{place}` was changed after it was published: {' '.join(problems)}")
        found = released_table(
            release, table_name(place), sensitive=sensitive, suppressed=suppressed, digest=sha256(public / MANIFEST)
        )
        return replace(found, source=os.path.abspath(place))
    if not place.exists():
        raise DataError(f"There is no file or folder `{place}`.")
    if sensitive is None:
        raise ParameterError(f"Say which column of `{place}` is sensitive: {option(sensitive=...)}")
    options = options or ReadOptions()
    names = read(place, options=options).data.column_names
    # Cells are read as they are written; the sensitive values as what they are, so that 1 and 1.0 are one value.
    text = tuple(dict.fromkeys([*options.text, *(name for name in names if name != sensitive)]))
    given = read(place, options=replace(options, text=text))
    found = foreign_table(
        given.data,
        table_name(place),
        sensitive=sensitive,
        quasi_identifiers=quasi_identifiers,
        suppressed=suppressed,
        digest=given.source.get("sha256"),
    )
    return replace(found, source=os.path.abspath(place))


def table_name(source: str | os.PathLike[str]) -> str:
    """What a published table is called: the file, or the folder that holds ``public`` or ``withheld``.

    >>> table_name("offices/census/public"), table_name("foreign.csv")
    ('census', 'foreign.csv')
    """
    path = Path(os.path.abspath(source))
    return path.parent.name if path.name in (PUBLIC, WITHHELD) and path.parent.name else path.name


def joint_risk(tables: Sequence[Any], attacker: JointRelease | None = None, **options: Any) -> JointRisk:
    """What published tables say together, whoever made them.

    Parameters
    ----------
    tables
        Whatever :func:`published` takes, at least one.
    attacker
        By default :class:`undercover.JointRelease`, who knows every quasi-identifier.
    options
        Of :func:`published`, for all tables.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000)
    >>> first = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="income"), uc.Mondrian(k=50))
    >>> second = uc.publish(people, uc.Schema(quasi_identifiers=["sex"], sensitive="income"), uc.Mondrian(k=50))
    >>> found = joint_risk([first, second])
    >>> found.l <= min(found.alone)
    True
    """
    read_tables = [
        published(table, name=None if not isinstance(table, Release | Run) else f"table {number}", **options)
        for number, table in enumerate(tables, 1)
    ]
    return (attacker or JointRelease()).run(read_tables)


def method_of(run: Run) -> Method:
    """The method that made a run: the object itself where it is in memory, else made again from the recipe.

    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> method_of(run) == method_of(replace(run, method=None)) == uc.Mondrian(k=10)
    True
    """
    return run.method or with_published(make("methods", run.release.method, run.recipe), run.schema)


def with_published(method: Method, schema: Schema) -> Method:
    """The same method, with the tables of others read that it names by their path."""
    if not isinstance(method, Resolving):
        return method
    sensitive = schema.sensitive[0] if schema.sensitive else None
    return method.resolve(lambda other: published(other, sensitive=sensitive))
