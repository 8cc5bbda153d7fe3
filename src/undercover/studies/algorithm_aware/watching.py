"""Everything that is published of a table, as somebody sees it who looks for traces of whose value is whose.

Each channel is one thing to look at. Coarse ones (the value in the third row) come up often, so that little draws
suffice to find a leak there; fine ones (the whole table in its order) miss nothing. What goes into ``release.json`` and
the datasheet follows from the :class:`~undercover.model.release.Release`; both are looked at all the same, for a method
may have words of its own.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.forms import read
from undercover.forms.boxes import match
from undercover.io.plain import plain
from undercover.model.groups import DrawnCells, seen_groups
from undercover.model.release import PublishedTable, Release
from undercover.model.run import Run
from undercover.model.table import Table
from undercover.pages.datasheet import datasheet_summary
from undercover.studies.algorithm_aware.evidence import Assignment, Base, Crossed, Grouped, ThroughChannel, Whole

GROUPS = "groups"
SUPPRESSION = "who is suppressed"
REFUSAL, MESSAGE = "refusal", "message of a refusal"
CHANNELS = (
    GROUPS, "values in order", "rows", "rows in order", "how columns are stored", "release.json", "everything together",
    "datasheet", SUPPRESSION, REFUSAL, MESSAGE,
)  # fmt: skip
"""Everything he looks at."""


def base_of(run: Run, table: Table, assignment: Assignment, *, buckets_told: bool = False) -> Base:
    """What the release says alone of people whose groups he knows; who is suppressed is one more group.

    Where ``buckets_told``, he knows everybody's bucket, too, and may forget the box, which has no values of its own.
    """
    reading = read(run.release)
    if reading.channel is not None:
        names = tuple(table[table.schema.sensitive[0]].domain.labels)
        return ThroughChannel(_drawn(run, table), tuple(sorted(assignment)), reading.channel, names)
    kept = np.searchsorted(table.rows, run.rows)
    together = run.groups.labels if run.buckets is None else run.buckets
    if not buckets_told and not np.array_equal(together, run.groups.labels):
        return _crossed(run, kept, assignment)
    labels = np.full(table.n_rows, -1)
    labels[kept] = together
    return Grouped(seen_groups(labels, np.array(assignment)))


def misreported(run: Run) -> str | None:
    """Whether a run reports groups that are smaller than what it promises of every class.

    He is given the groups and asks what is told beyond them. Single people that were reported as groups would make
    everybody certain beforehand, so that nothing could tell more.
    """
    for claim in run.release.guarantees:
        held = {"k": run.groups.labels, "l": run.groups.labels if run.buckets is None else run.buckets}
        for name, labels in held.items():
            asked = claim.get(name)
            if not isinstance(asked, int | float):
                continue
            least = int(np.unique(labels, return_counts=True)[1].min())
            if least < asked:
                return f"the run reports groups of {least:,}, and {claim['name']} promises {name} = {asked} of each"
    return None


def _crossed(run: Run, kept: NDArray[np.integer], assignment: Assignment) -> Crossed:
    """Boxes and buckets; buckets are numbered by what is in them, for their own numbers are another channel."""
    assert run.buckets is not None
    groups = [run.groups.rows_of(group) for group in range(run.groups.count)]
    values: dict[int, list[int]] = {}
    where: dict[int, list[int]] = {}
    for group, rows in enumerate(groups):
        for row in rows.tolist():
            values.setdefault(int(run.buckets[row]), []).append(assignment[kept[row]])
            where.setdefault(int(run.buckets[row]), []).append(group)
    order = sorted(values, key=lambda bucket: (sorted(values[bucket]), sorted(where[bucket])))
    place = {bucket: number for number, bucket in enumerate(order)}
    boxes = sorted(
        (tuple(sorted(kept[rows].tolist())), tuple(sorted(place[int(run.buckets[row])] for row in rows)))
        for rows in groups
    )
    return Crossed(tuple(boxes), tuple(tuple(sorted(values[bucket])) for bucket in order))


def _drawn(run: Run, table: Table) -> DrawnCells:
    """The people of every cell with the value that is published of it."""
    reading, known = read(run.release), table.schema.quasi_identifiers
    codes = np.stack([table[name].codes for name in known], axis=1).astype(np.int64)
    offsets, boxes = match(reading.boxes(known, table), codes, 1)
    assert reading.channel is not None
    cells = []
    for group in range(run.groups.count):
        rows = run.groups.rows_of(group).tolist()
        (box,) = boxes[offsets[rows[0]] : offsets[rows[0] + 1]].tolist()
        cells.append((frozenset(rows), reading.channel.domain[reading.seen[box]]))
    return frozenset(cells)


def watch(run: Run, base: Base, *, sheet: bool) -> Iterator[tuple[str, Hashable]]:
    """What is seen of a release in every channel; the datasheet only where it is asked for, for it takes long."""
    release, everything = run.release, []
    yield GROUPS, ()
    for group in base.parts:
        yield GROUPS, group
    for published in release.tables:
        rows = _rows(published)
        yield "rows", (published.name, tuple(sorted(rows)))
        yield "rows in order", (published.name, tuple(rows))
        places = [place for place, column in enumerate(published.columns) if column.role == "sensitive"]
        yield "values in order", (published.name, tuple(tuple(row[place] for place in places) for row in rows))
        for position, row in enumerate(rows):
            yield "rows in order", (published.name, position, row)
            yield "values in order", (published.name, position, tuple(row[place] for place in places))
        yield "how columns are stored", (published.name, _stored(published))
        everything.append(tuple(rows))
    said = _said(release)
    yield "release.json", said
    yield "everything together", (tuple(everything), said)
    if sheet:
        yield "datasheet", json.dumps(plain(datasheet_summary(release)), sort_keys=True)


def suppressed(run: Run, table: Table) -> frozenset[int]:
    """Who is not in the release."""
    return frozenset(range(table.n_rows)) - frozenset(np.searchsorted(table.rows, run.rows).tolist())


def nothing(assignment: Assignment) -> Base:
    """What is known where nothing was published."""
    return Whole(tuple(sorted(assignment)))


def _rows(table: PublishedTable) -> list[tuple[str, ...]]:
    columns = [[str(value) for value in column.to_pylist()] for column in table.data.columns]
    return list(zip(*columns, strict=True)) if columns else []


def _stored(table: PublishedTable) -> Hashable:
    """Types, and the values a dictionary holds in its order, used or not: a Parquet file has them all."""
    found: list[Any] = []
    for name, column in zip(table.data.column_names, table.data.columns, strict=True):
        kept = [
            tuple(map(str, chunk.dictionary.to_pylist()))
            for chunk in column.chunks
            if pa.types.is_dictionary(column.type)
        ]
        found.append((name, str(column.type), tuple(kept)))
    return (tuple(found), str(table.data.schema.metadata))


def _said(release: Release) -> str:
    """Everything a release says beside its tables."""
    unsaid = ("tables", "frame", "types")
    said = {part.name: getattr(release, part.name) for part in fields(release) if part.name not in unsaid}
    tables = [(table.name, table.rows, table.columns) for table in release.tables]
    return json.dumps(plain({**said, "form": [release.form.name, release.form], "tables": tables}), sort_keys=True)
