"""Published tables of anybody, from wherever they are: a public folder of ours, or a file with named columns."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from undercover.errors import DataError, ParameterError, VerificationError
from undercover.guarantees.joint.tables import foreign_table, released_table
from undercover.io.release.manifest import MANIFEST, load_release
from undercover.io.source import ReadOptions, read, sha256
from undercover.model.published import Published


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
        public = place / "public" if (place / "public").is_dir() else place
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
        raise ParameterError(f"Say which column of `{place}` is sensitive: --sensitive COLUMN.")
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
    """What a published table is called: the file, or the folder that holds ``public``.

    >>> table_name("offices/census/public"), table_name("foreign.csv")
    ('census', 'foreign.csv')
    """
    path = Path(os.path.abspath(source))
    return path.parent.name if path.name == "public" and path.parent.name else path.name
