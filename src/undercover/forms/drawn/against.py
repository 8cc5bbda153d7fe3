"""A release of mutual cover against the table it was made from.

Quasi-identifiers were drawn, so rows cannot be compared one by one without the private run. What can be: there are as
many rows, every sensitive value is there as often, and no quasi-identifier was released that its column does not have
(numbers may lie between those that occur, where every whole number of a group's range may be released).
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from undercover.errors import listed
from undercover.forms.meaning import domain_values
from undercover.forms.reading import Reading
from undercover.model.finding import Finding
from undercover.model.table import EncodedColumn, Table


def verify_drawn(reading: Reading, original: Table) -> tuple[Finding, ...]:
    """Compare what can be compared.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.forms import read
    >>> from undercover.model.release import PublishedColumn, PublishedTable, Release
    >>> from undercover.model.schema import Schema
    >>> schema = Schema(quasi_identifiers=["age"], sensitive="ill")
    >>> original = Table.from_arrow(pa.table({"age": [28, 35], "ill": ["flu", "cold"]}), schema)
    >>> columns = (PublishedColumn("age", "quasi-identifier", "value"), PublishedColumn("ill", "sensitive", "value"))
    >>> data = pa.table({"age": [28, 99], "ill": ["cold", "flu"]})
    >>> from undercover.model.form import Drawn
    >>> release = Release("mutual-cover", {}, (PublishedTable("table", columns, data),), False, form=Drawn())
    >>> [(finding.name, finding.holds) for finding in read(release).against(original)]
    [('rows-preserved', True), ('sensitive-values-preserved', True), ('values-of-the-original', False)]
    """
    table = reading.main
    findings = [Finding("rows-preserved", {}, original.n_rows, table.rows, table.rows == original.n_rows)]
    names = (*table.names("sensitive"), *table.names("quasi-identifier"))
    absent = [name for name in names if name not in original.columns]
    if absent:
        note = f"The original has no column {listed(absent)}."
        return (*findings, Finding("values-of-the-original", {}, 0, None, False, note=note, sense="at most"))
    for name in table.names("sensitive"):
        before = np.bincount(original[name].codes, minlength=original[name].domain.size)
        column = reading.column(name, nan_is_missing=True)
        after = Counter(dict(zip(column.labels, np.bincount(column.codes).tolist(), strict=True)))
        after.subtract(dict(zip(original[name].domain.labels, before.tolist(), strict=True)))
        wrong = max(sum(count for count in after.values() if count > 0), -sum(c for c in after.values() if c < 0))
        findings.append(Finding("sensitive-values-preserved", {"column": name}, 0, wrong, wrong == 0, sense="at most"))
    strange, notes = 0, []
    for name in table.names("quasi-identifier"):
        column = reading.column(name)
        outside = [not _belongs(original[name], label) for label in column.labels]
        if any(outside):
            strange += int(np.array(outside)[column.codes].sum())
            labels = [label for label, out in zip(column.labels, outside, strict=True) if out]
            notes.append(f"`{name}` was released as {listed(labels, limit=5)}, which its column does not have.")
    findings.append(
        Finding("values-of-the-original", {}, 0, strange, strange == 0, note=" ".join(notes), sense="at most")
    )
    return tuple(findings)


def _belongs(column: EncodedColumn, label: str) -> bool:
    values = domain_values(column)
    if label in values.position:
        return True
    if values.kind != "numeric":
        return False
    try:
        number = float(label)
    except ValueError:
        return False
    present = values.numbers[: len(column.domain.values)]
    return bool(len(present) and present[0] <= number <= present[-1] and number.is_integer())
