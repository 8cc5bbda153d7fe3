"""A release against the table it was made from: nothing lost, nothing invented, everybody covered.

For the holder only: it needs the original. Five questions: Are there as many rows as there should be? Is every
sensitive value published as often as it occurs? Is every original row covered by a published row (or bucket) that has
its sensitive value? Where quasi-identifiers are published as they are, are they the same ones, as often? And are
insensitive values those of the original, each in a row that can be its person's?
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count as counted
from undercover.arrays import crossed, first_rows, look_up, narrowest
from undercover.errors import described, listed
from undercover.forms.classes import Classes
from undercover.forms.coverage import Cover, covered, located
from undercover.forms.distribution import Distribution
from undercover.forms.meaning import NOTHING, domain_values
from undercover.forms.reading import Reading
from undercover.forms.written import Written, combine, written
from undercover.model.finding import Finding
from undercover.model.release import PublishedTable
from undercover.model.run import Run
from undercover.model.table import EncodedColumn, Table

Array = NDArray[np.integer]


def compared(reading: Reading, original: Table, run: Run | None = None) -> tuple[Finding, ...]:
    """A release of any form beside the table it was made from; a run may know whose row is whose."""
    tables = reading.release.tables if reading.one_each else ()
    own = reading.own_rows(run)
    found = [*reading.against(original), *(() if run is None else reading.against_run(original, run))]
    if not reading.permuted:  # else they were moved with the quasi-identifiers
        found += [_unchanged(reading, table, original, own) for table in tables if table.names("insensitive")]
    return tuple(found)


def verify_covering(reading: Reading, original: Table) -> tuple[Finding, ...]:
    """Compare a release whose cells cover the truth with the original; rows it says it suppressed may be missing."""
    classes, table, suppressed = reading.classes, reading.main, reading.release.suppressed_rows
    expected = original.n_rows - suppressed
    findings = [Finding("rows-preserved", {}, expected, table.rows, table.rows == expected)]
    if classes.problems:
        return (*findings, Finding("sensitive-values-preserved", {}, holds=False, note=" ".join(classes.problems)))
    absent = [name for name in (*classes.quasi_identifiers, *classes.sensitive) if name not in original.columns]
    if absent:
        note = f"The original has no column {listed(absent)}."
        return (*findings, Finding("rows-covered", {}, expected, 0, False, note=note))
    findings += [_same_values(column, original, suppressed) for column in classes.sensitive.values()]
    boxes = read_boxes(table, classes, original)
    if classes.boxes is not None and all(cover.is_exact for cover in boxes.covers):
        findings.append(_same_people(classes.boxes, boxes, original, suppressed))
    findings.append(_all_covered(table, classes, boxes, original, suppressed))
    return tuple(findings)


@dataclass(frozen=True)
class ReadBoxes:
    """Distinct published combinations of quasi-identifier cells, read against the original's domains."""

    cells: tuple[Array, ...]  # per column: (n_boxes,) cell
    covers: tuple[Cover, ...]
    unread: tuple[str, ...]


def read_boxes(table: PublishedTable, classes: Classes, original: Table) -> ReadBoxes:
    """The boxes of a release, and which of their cells stand for nothing the original has."""
    rows = classes.boxes or classes
    cells, covers, unread = [], [], []
    for name in classes.quasi_identifiers:
        column, values = rows.cells(name), domain_values(original[name])
        meanings = values.read_all(column.labels, table.form(name))
        wrong = [label for label, meaning in zip(column.labels, meanings, strict=True) if meaning == NOTHING]
        if wrong:
            unread.append(f"Cells of `{name}` that cover no value of the original: {described(wrong)}.")
        cells.append(column.codes.astype(np.int64))
        covers.append(Cover.of(meanings, values.size))
    return ReadBoxes(tuple(cells), tuple(covers), tuple(unread))


def _same_values(column: Distribution, original: Table, suppressed: int) -> Finding:
    encoded = original[column.name]
    before = _by_label(encoded.domain.labels, np.bincount(encoded.codes, minlength=encoded.domain.size))
    after = _by_label(column.labels, column.overall)
    invented = sum(max(count - before.get(label, 0), 0) for label, count in after.items())
    lost = sum(max(count - after.get(label, 0), 0) for label, count in before.items())
    wrong = invented + max(lost - suppressed, 0)
    return Finding("sensitive-values-preserved", {"column": column.name}, 0, wrong, wrong == 0, sense="at most")


def _by_label(labels: tuple[str, ...], counts: Array) -> dict[str, int]:
    total: dict[str, int] = {}
    for label, count in zip(labels, counts.tolist(), strict=True):
        total[label] = total.get(label, 0) + count
    return total


def _same_people(boxes: Classes, read: ReadBoxes, original: Table, suppressed: int) -> Finding:
    """Quasi-identifiers that are published as they are must be those of the original, as often."""
    ours = [original[name] for name in boxes.quasi_identifiers]
    joint = [
        _joint(column.codes, cover.low[cells], column.domain.size)
        for column, cover, cells in zip(ours, read.covers, read.cells, strict=True)
    ]
    labels, count = combine(joint)
    before = counted(labels[: original.n_rows], count)
    after = counted(labels[original.n_rows :], count, boxes.sizes)
    invented = int(np.maximum(after - before, 0).sum())
    wrong = invented + max(int(np.maximum(before - after, 0).sum()) - suppressed, 0)
    return Finding("quasi-identifiers-preserved", {}, 0, wrong, wrong == 0, sense="at most")


def _all_covered(
    table: PublishedTable, classes: Classes, boxes: ReadBoxes, original: Table, suppressed: int
) -> Finding:
    own, published, n_secrets = _secrets(table, classes, original)
    if classes.boxes is None:
        box, secret = classes.labels, published
    else:
        box, secret = _bucket_secrets(classes, classes.boxes, published)
    known = secret >= 0
    pairs = np.unique(crossed(box[known], len(boxes.cells[0]), secret[known], n_secrets)).astype(np.int64)
    box, secret = pairs // n_secrets, pairs % n_secrets
    ours = [original[name] for name in classes.quasi_identifiers]
    labels, count = combine([*(_codes(c.codes, c.domain.size) for c in ours), _codes(own, n_secrets)])
    first = first_rows(labels, count)
    points = [column.codes[first].astype(np.int64) for column in ours]
    if all(cover.is_exact for cover in boxes.covers):
        cells = [cover.low[cell][box] for cover, cell in zip(boxes.covers, boxes.cells, strict=True)]
        found = _exactly([*points, own[first]], [*cells, secret], [*(c.domain.size for c in ours), n_secrets])
    else:
        covers = [Cover.exact(n_secrets), *boxes.covers]
        found = covered([own[first], *points], [secret, *(cell[box] for cell in boxes.cells)], covers)
    alone = np.flatnonzero(~found[labels])
    notes = list(boxes.unread)
    if len(alone) > suppressed:
        notes.append(f"Not covered, by row of the input: {', '.join(map(str, original.rows[alone[:10]]))}.")
    return Finding(
        "rows-covered",
        {},
        original.n_rows - suppressed,
        original.n_rows - len(alone),
        len(alone) <= suppressed,
        note=" ".join(notes),
    )


def _secrets(table: PublishedTable, classes: Classes, original: Table) -> tuple[Array, Array, int]:
    """The sensitive values of the original's rows and of the published ones, numbered alike; -1 where unknown.

    Of a release in two tables, one number per entry of the bucket's distribution instead of one per row.
    """
    ours: list[EncodedColumn] = []
    theirs: list[Array] = []
    unknown = np.zeros(0, dtype=bool)
    for name, distribution in classes.sensitive.items():
        values = domain_values(original[name])
        if classes.boxes is None:
            column = written(table.data.column(name), nan_is_missing=True)
            codes, labels = column.codes, column.labels
        else:
            codes, labels = distribution.value_index, distribution.labels
        code = look_up(np.array([values.position.get(x, -1) for x in labels], dtype=narrowest(values.size)), codes)
        unknown = (code < 0) if not len(ours) else unknown | (code < 0)
        ours.append(original[name])
        theirs.append(code)
    if not ours:
        return np.zeros(original.n_rows, dtype=np.int64), np.zeros(len(classes.labels), dtype=np.int64), 1
    joint = [
        _joint(column.codes, np.maximum(code, 0), column.domain.size) for column, code in zip(ours, theirs, strict=True)
    ]
    labels_of_both, count = combine(joint)
    published = np.where(unknown, -1, labels_of_both[original.n_rows :])
    return labels_of_both[: original.n_rows], published, count


def _bucket_secrets(classes: Classes, boxes: Classes, published: Array) -> tuple[Array, Array]:
    """Every box of a bucket with every sensitive value of the bucket."""
    distribution = next(iter(classes.sensitive.values()))
    pairs = np.unique(crossed(boxes.labels, boxes.count, classes.labels, classes.count)).astype(np.int64)
    box, bucket = pairs // classes.count, pairs % classes.count
    entry, times = distribution.entries_of(bucket)
    return np.repeat(box, times), published[entry]


def _exactly(points: list[Array], cells: list[Array], sizes: list[int]) -> NDArray[np.bool_]:
    """Coverage where every cell is a single value: a comparison of keys."""
    keys, _ = combine([_joint(*column) for column in zip(points, cells, sizes, strict=True)])
    return np.isin(keys[: len(points[0])], keys[len(points[0]) :])


def _unchanged(reading: Reading, table: PublishedTable, original: Table, own: Array | None) -> Finding:
    """Whether the insensitive cells of a table are those of the original; ``own`` are everybody's rows, if known.

    Together with the sensitive values of their rows, where these are true, they must occur as often. And of the people
    whom one class alone covers, that class must have as many rows with their values.
    """
    names, suppressed, main = table.names("insensitive"), reading.release.suppressed_rows, table is reading.main
    called, parameters = "insensitive-values-preserved", {} if main else {"table": table.name}
    absent = [name for name in names if name not in original.columns]
    if absent:
        note = f"The original has no column {listed(absent)}."
        return Finding(called, parameters, 0, None, False, note=note, sense="at most", columns=names)
    beside = [name for name in table.names("sensitive") if main and reading.true_values and name in original.columns]
    joint = []
    for name in (*names, *beside):
        values, cells = domain_values(original[name]), reading.cells(table, name, nan_is_missing=True)
        code = np.array([values.position.get(x, values.size) for x in cells.labels], dtype=narrowest(values.size))
        joint.append(_joint(original[name].codes, look_up(code, cells.codes), values.size + 1))
    values_of, count = combine(joint)
    ours, theirs = values_of[: original.n_rows], values_of[original.n_rows :]
    surplus = counted(theirs, count) - counted(ours, count)
    wrong = int(np.maximum(surplus, 0).sum()) + max(int(np.maximum(-surplus, 0).sum()) - suppressed, 0)
    if main and own is not None and len(own) == original.n_rows:
        wrong = max(wrong, int((theirs[own] != ours).sum()))
    elif main and reading.covers and not reading.classes.problems:
        wrong = max(wrong, _misplaced(reading, original, ours, theirs, count) - suppressed)
    return Finding(called, parameters, 0, wrong, wrong == 0, sense="at most", columns=names)


def _misplaced(reading: Reading, original: Table, ours: Array, theirs: Array, count: int) -> int:
    """People whom one class alone covers and for whose values it has no row; ``ours``, ``theirs`` number the values."""
    classes = reading.classes.boxes or reading.classes
    boxes = read_boxes(reading.main, reading.classes, original)
    columns = [original[name] for name in classes.quasi_identifiers]
    people, n_people = combine([_codes(column.codes, column.domain.size) for column in columns])
    first = first_rows(people, n_people)
    box, times = located([column.codes[first].astype(np.int64) for column in columns], boxes.cells, boxes.covers)
    alone = times[people] == 1
    needed, needs = np.unique(box[people][alone] * count + ours[alone], return_counts=True)
    given, gives = np.unique(crossed(classes.labels, classes.count, theirs, count), return_counts=True)
    place = np.minimum(np.searchsorted(given, needed), len(given) - 1)
    there = np.where(given[place] == needed, gives[place], 0)
    return int(np.maximum(needs - there, 0).sum())


def _codes(codes: Array, size: int) -> Written:
    return Written(codes, pa.nulls(size))


def _joint(ours: Array, theirs: Array, size: int) -> Written:
    """Codes of the original and of the release, one after the other."""
    return _codes(np.concatenate([ours, theirs], dtype=narrowest(size), casting="unsafe"), size)
