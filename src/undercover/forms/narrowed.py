"""A release read for some people: without the rows that can be of none of them; and whether two are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from undercover.forms import read
from undercover.forms.meaning import NOTHING, domain_values
from undercover.model.release import Release
from undercover.model.table import Table


def about(release: Release, people: Table) -> Release:
    """The release without rows that can be of none of these people: a cell of theirs stands for no value anybody has.

    The label of a node says nothing where the people's hierarchy does not have it; such rows stay, and the attack says
    that it cannot read them.
    """
    reading = read(release)
    table = reading.main
    keep = np.ones(table.rows, dtype=bool)
    for name in table.names("quasi-identifier"):
        if name not in people.columns:
            continue
        column, form = reading.column(name), table.form(name)
        values = domain_values(people[name])
        nothing = [
            meaning == NOTHING and (form != "node" or _is_number(label))
            for label, meaning in zip(column.labels, values.read_all(column.labels, form), strict=True)
        ]
        keep &= ~np.array(nothing, dtype=bool)[column.codes]
    if keep.all():
        return release
    data = table.data.filter(pa.array(keep))
    for place, field in enumerate(data.schema):
        if pa.types.is_dictionary(field.type):  # labels nobody is left with go, too
            data = data.set_column(
                place, field.name, data.column(place).cast(field.type.value_type).dictionary_encode()
            )
    kept = replace(table, data=data)
    return replace(release, tables=tuple(kept if each is table else each for each in release.tables))


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


def same_tables(one: Release, other: Release) -> bool:
    """Whether two releases have published the same rows, in whatever order."""

    def shapes(release: Release) -> list[Any]:
        return [(table.name, table.rows, table.data.column_names) for table in release.tables]

    def rows(release: Release) -> list[list[str]]:
        return [sorted(map(str, table.data.to_pylist())) for table in release.tables]

    return shapes(one) == shapes(other) and rows(one) == rows(other)
