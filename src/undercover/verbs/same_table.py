"""Is a table the one a run was made from? Rows are matched by their place, so nothing else will do."""

from __future__ import annotations

from undercover.errors import DataError
from undercover.io.contents_digest import differing
from undercover.io.source import Input
from undercover.model.run import Run
from undercover.model.table import Table

_NOT_IT = (
    "This is not the table the release was made from: it has {}. Rows are matched by their place; give that table."
)
_NO_DIGEST = (
    "The run was written by an earlier version, which kept the hash of its file and no other: nothing tells whether "
    "another file holds the same table. Give that very file, or publish once more."
)


def check_same_table(run: Run, given: Input | Table) -> None:
    """Refuse a table that a run was not made from; the message says what differs, without any value.

    The file itself is known by its hash, and any other by the digests of the columns the run used. A run of an earlier
    version has none: it takes the very file, or, made from a frame, a table of as many rows. Of an encoded table only
    the rows are counted: it does not have the columns as they were read.
    """
    source = run.source
    digest, rows = source.get("sha256"), source.get("rows")
    if isinstance(given, Table):
        how = None if rows in (None, given.n_input) else f"{given.n_input:,} rows in place of {rows:,}"
    elif digest is not None and given.source.get("sha256") == digest:
        return
    else:
        how = differing(given.data, rows, source.get("digest", {}))
        if how is None and digest is not None and "digest" not in source:
            raise DataError(_NO_DIGEST)
    if how is not None:
        raise DataError(_NOT_IT.format(how))
