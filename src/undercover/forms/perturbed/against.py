"""A release of perturbed generalization against the table it was made from.

Sensitive values are drawn and cannot be compared, but the cells can: every original row must lie in exactly one of
them, G must be the number of rows in it, and every published value must be one the schema declares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import listed
from undercover.forms.against import read_boxes
from undercover.forms.coverage import Cover
from undercover.forms.reading import Reading
from undercover.forms.written import combine, written
from undercover.model.finding import Finding
from undercover.model.table import Table

Array = NDArray[np.int64]

_PAIRS = 1 << 15


def verify_sampled(reading: Reading, original: Table) -> tuple[Finding, ...]:
    """Compare the cells of a sampled table with the rows they stand for."""
    table, classes, suppressed = reading.main, reading.classes, reading.release.suppressed_rows
    expected = original.n_rows - suppressed
    findings = [Finding("rows-preserved", {}, expected, classes.rows, classes.rows == expected)]
    boxes = read_boxes(table, classes, original)
    columns = [written(pa.array(original[name].codes)) for name in classes.quasi_identifiers]
    labels, count = combine(columns)
    first = np.empty(count, dtype=np.int64)
    first[labels] = np.arange(len(labels))
    points = [original[name].codes[first].astype(np.int64) for name in classes.quasi_identifiers]
    box, times = located(points, boxes.cells, boxes.covers)
    alone = np.flatnonzero(times[labels] != 1)
    notes = list(boxes.unread)
    if len(alone) > suppressed:
        notes.append(
            f"In no cell or in several, by row of the input: {', '.join(map(str, original.rows[alone[:10]]))}."
        )
    findings.append(
        Finding(
            "rows-covered", {}, expected, original.n_rows - len(alone), len(alone) <= suppressed, note=" ".join(notes)
        )
    )
    inside = box[labels]
    people = np.bincount(inside[inside >= 0], minlength=classes.count)
    wrong_size = int((people != classes.sizes).sum())
    findings.append(Finding("cell-sizes", {}, 0, wrong_size, wrong_size == 0, sense="at most"))
    for name in classes.sensitive:
        declared = original[name].settings.domain if name in original.columns else None
        published = classes.sensitive[name].labels
        strange = [label for label in published if label not in set(declared or published)]
        note = f"Outside the declared domain: {listed(strange, limit=5)}." if strange else ""
        findings.append(
            Finding("values-declared", {"column": name}, 0, len(strange), not strange, sense="at most", note=note)
        )
    return tuple(findings)


def located(points: Sequence[Array], boxes: Sequence[Array], covers: Sequence[Cover]) -> tuple[Array, Array]:
    """The last box each point lies in (-1 for none), and in how many it lies.

    >>> from undercover.forms.meaning import Meaning
    >>> ages = Cover.of([Meaning(0, 1), Meaning(2, 3)], size=4)
    >>> box, times = located([np.array([0, 3, 2])], [np.array([1])], [ages])
    >>> box.tolist(), times.tolist()
    ([-1, 0, 0], [0, 1, 1])
    """
    found = np.full(len(points[0]), -1, dtype=np.int64)
    times = np.zeros(len(points[0]), dtype=np.int64)
    pending = [(np.arange(len(points[0])), np.arange(len(boxes[0])))]
    while pending:
        rows, near = pending.pop()
        if not len(rows) or not len(near):
            continue
        spans = [(int(codes[rows].min()), int(codes[rows].max())) for codes in points]
        widths = [(last - first) / max(cover.size - 1, 1) for (first, last), cover in zip(spans, covers, strict=True)]
        column = int(np.argmax(widths))
        first, last = spans[column]
        if len(rows) * len(near) <= _PAIRS or first == last:
            row, box = np.repeat(rows, len(near)), np.tile(near, len(rows))
            for codes, cells, cover in zip(points, boxes, covers, strict=True):
                kept = cover.holds(cells[box], codes[row])
                row, box = row[kept], box[kept]
            found[row] = box
            np.add.at(times, row, 1)
            continue
        codes = points[column][rows]
        middle = int(np.partition(codes, len(codes) // 2)[len(codes) // 2])
        middle -= middle == last
        cells = boxes[column][near]
        for part, start, end in ((codes <= middle, first, middle), (codes > middle, middle + 1, last)):
            pending.append((rows[part], near[covers[column].reaches(cells, start, end)]))
    return found, times
