"""Are the people of a new table those of a release that is already made?

What a release promises is about that release alone: whoever is in two tables is in two releases, and not every promise
survives that. People are recognised by the hash of the file, by equal rows in whatever order and format, and by
identifiers that both tables have, as far as the table of the release, or a run in memory, can still say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.io.place import is_there, place_of
from undercover.io.source import Input, ReadOptions, read
from undercover.io.words import MOST_HELD
from undercover.memory import Store
from undercover.model.encoding.coded import Coded, distinct_values
from undercover.model.run import Run, SamePeople
from undercover.model.table import Table, write_values
from undercover.randomness import Randomness
from undercover.verbs.same_table import check_same_table
from undercover.wording import option


def same_people(before: Run, given: Input, *, original: Any = None) -> SamePeople:
    """Compare a new table with the one ``before`` was made of, which is looked for where it was read if not given."""
    rows = given.data.num_rows
    digest = given.source.get("sha256")
    everybody = np.ones(rows, dtype=bool)
    if digest is not None and digest == before.source.get("sha256"):
        return SamePeople(same_table=True, rows=rows, in_both=everybody)
    identifiers = before.schema.identifiers
    old = old_table(before, original)
    drawn = Randomness(before.source.get("one_row"))
    encoded = before.original
    if encoded is None and old is not None:
        encoded = Table.from_arrow(old, before.schema, one_row=drawn)
    if (
        encoded is not None
        and encoded.n_input == rows
        and same_rows(encoded, Table.from_arrow(given.data, before.schema, one_row=drawn))
    ):
        return SamePeople(same_table=True, rows=rows, in_both=everybody)
    if not identifiers:
        return SamePeople(
            rows=rows,
            unchecked="No column is an identifier, so nobody can say who of the recipe's first table is in this one",
        )
    held = _held(before) if old is None else {name: old.column(name) for name in identifiers}
    if held is None:
        return SamePeople(
            rows=rows,
            unchecked="The recipe's first table is no longer where it was read from (say where: "
            f"{option(original=...)}), so nothing tells who of it is in this one, too",
        )
    known = {name: _known(held[name], given.data.column(name)) for name in identifiers}
    shared = {name: int(found.sum()) for name, found in known.items()}
    return SamePeople(shared=shared, rows=rows, in_both=known[max(shared, key=shared.__getitem__)])


def same_rows(first: Table, second: Table) -> bool:
    """Whether two tables hold the same rows, in whatever order."""
    if first.n_rows != second.n_rows:
        return False
    names = first.schema.published
    for name in names:
        if first[name].domain.labels != second[name].domain.labels:
            return False
        if not np.array_equal(np.bincount(first[name].codes), np.bincount(second[name].codes)):
            return False
    one, other = (np.stack(table.codes(names)) for table in (first, second))  # (n_columns, n_rows) each
    return np.array_equal(one[:, np.lexsort(one)], other[:, np.lexsort(other)])


def as_written(options: ReadOptions, run: Run) -> ReadOptions:
    """The options, reading as text what was no number or date in the run, and all identifiers."""
    kinds = run.source.get("kinds", {})
    names = [name for name, kind in kinds.items() if kind in ("categorical", "ordinal")]
    return replace(options, text=tuple(dict.fromkeys([*options.text, *names, *run.schema.identifiers])))


def old_table(before: Run, original: Any) -> pa.Table | None:
    """The table of the release as it was read, if it can be had."""
    options = as_written(ReadOptions(**before.source.get("options", {})), before)
    if original is not None:
        given = read(original, options=options, store=Store())
        before.schema.check_against(given.data.column_names)
        plain = ReadOptions(**before.source.get("options", {}))
        check_same_table(before, given if plain == options else read(original, options=plain, store=Store()))
        return given.data
    path, digest = before.source.get("path"), before.source.get("sha256")
    # What a database holds now need not be what it held then.
    if path is None or digest is None or not is_there(path) or place_of(path).digest() != digest:
        return None
    return read(path, options=options, store=Store()).data


def _held(before: Run) -> Mapping[str, Any] | None:
    """The values of identifiers that a run in memory still holds, unless there were too many to hold all."""
    held = before.identifying
    complete = held is not None and all(len(held.get(name, ())) < MOST_HELD for name in before.schema.identifiers)
    return held if complete else None


def _known(old: pa.ChunkedArray, new: pa.ChunkedArray) -> NDArray[np.bool_]:
    """(n_rows,) whether the value of each row of ``new`` is in ``old``, values compared as they are written."""
    known = set(_labels(old))
    coded = Coded.of(new)
    found = [label.strip() in known for label in write_values(coded.values)]
    places = coded.codes(np.arange(len(found) + 1), np.empty(len(new), dtype=np.int64))  # missing values come last
    return np.asarray(np.array([*found, False], dtype=bool)[places])


def _labels(column: pa.ChunkedArray) -> list[str]:
    return [label.strip() for label in write_values(distinct_values(column))]
