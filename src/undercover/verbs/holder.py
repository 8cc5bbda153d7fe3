"""What the holder of the original sees of several releases of the same people; all of it is private.

Published tables alone are joined by :mod:`undercover.verbs.joint`. Whoever holds the people as well knows who is in
which class, and need not count combinations that nobody is in.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from undercover.attacks.joint.centralized import CentralizedJoin, centralized_join
from undercover.attacks.joint.overlap import OverlapResult, overlap
from undercover.errors import DataError, ParameterError, listed, unknown
from undercover.forms import read
from undercover.io.release.contents import public_part
from undercover.io.release.manifest import load_release
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.verbs.joint import table_name
from undercover.verbs.store import load, original_of
from undercover.waiting import Progress, teller, telling
from undercover.wording import option

Source: TypeAlias = Run | Release | str | os.PathLike[str]


@telling
def joint_attack(
    releases: Sequence[Source],
    original: Any = None,
    *,
    sensitive: str | None = None,
    known: Sequence[str] | None = None,
    progress: Progress | bool = False,
) -> OverlapResult:
    """Attack everybody through several releases of the same people, cells that cross included.

    Parameters
    ----------
    releases
        Runs, folders they were saved to, releases or public folders, at least one.
    original
        The table they were made of; needed where no run among them still finds it.
    sensitive
        The column that is attacked; needed only where there are several.
    known
        The columns that are known of people; by default every quasi-identifier and insensitive column.
    progress
        ``True`` shows how far it is on stderr; or a function, called with a stage and the share of it that is done.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000)
    >>> first = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="income"), uc.Mondrian(k=10))
    >>> second = uc.publish(people, uc.Schema(quasi_identifiers=["sex", "race"], sensitive="income"), uc.Mondrian(k=10))
    >>> found = joint_attack([first, second])
    >>> [part.known for part in found.parts]
    [('age',), ('sex', 'race')]
    """
    tell = teller(progress)
    tell("reading", 0.0)
    read_in = [_read(source) for source in releases]
    runs = [source for source in read_in if isinstance(source, Run)]
    if not runs and not isinstance(original, Table):
        raise ParameterError("Give at least one run, or the original as a table with its schema (undercover.Table).")
    table = people_of(runs, original) if runs else original
    names = [_name(source, place) for place, source in enumerate(releases, 1)]
    made = [source.release if isinstance(source, Run) else source for source in read_in]
    return overlap(made, table, sensitive=sensitive, known=known, names=names, progress=tell)


def centralized_risk(
    runs: Sequence[Run | str | os.PathLike[str]], original: Any = None, *, sensitive: str | None = None
) -> CentralizedJoin:
    """The combinations of groups that people are really in: what one table of all columns would show, as a reference.

    Parameters
    ----------
    runs
        Runs of the same people, or the folders they were saved to, at least two.
    original
        The table they were made of; needed where a run does not find it.
    sensitive
        The sensitive column; needed only where there are several.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000)
    >>> first = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="income"), uc.Mondrian(k=10))
    >>> second = uc.publish(people, uc.Schema(quasi_identifiers=["sex"], sensitive="income"), uc.Mondrian(k=10))
    >>> centralized_risk([first, second]).people
    1000
    """
    if len(runs) < 2:
        raise ParameterError("A join takes at least two runs.")
    made = [run if isinstance(run, Run) else load(run) for run in runs]
    readings = [read(run.release) for run in made]
    drawn = [
        _name(source, place)
        for place, (source, reading) in enumerate(zip(runs, readings, strict=True), 1)
        if not (reading.covers and reading.true_values)
    ]
    if drawn:
        raise DataError(f"{listed(drawn)} publish drawn values: their groups cannot be joined with those of others.")
    table = people_of(made, original)
    there = table.schema.sensitive
    name = there[0] if sensitive is None and len(there) == 1 else sensitive
    if name not in there:
        raise ParameterError(unknown("Sensitive column", str(name), there))
    present = table.rows
    for run in made:
        present = present[np.isin(present, run.rows)]
    groups = []
    for run in made:
        labels = np.full(table.n_input, -1, dtype=np.int64)
        labels[run.rows] = run.groups.labels if run.buckets is None else run.buckets
        groups.append(labels[present])
    return centralized_join(groups, table[str(name)].codes[np.isin(table.rows, present)].astype(np.int64))


def people_of(runs: Sequence[Run], original: Any = None) -> Table:
    """One table with every column of the runs' originals; raises unless these are the same people in the same order."""
    tables = [original_of(run, original) for run in runs]
    rows = tables[0].rows
    for table in tables[1:]:
        rows = rows[np.isin(rows, table.rows)]
    tables = [table.take(np.flatnonzero(np.isin(table.rows, rows))) for table in tables]
    first = tables[0]
    columns = dict(first.columns)
    for table in tables[1:]:
        common = [name for name in table.columns if name in columns]
        if table.n_input != first.n_input or not common or not all(_same(columns[n], table[n]) for n in common):
            raise DataError(
                "The releases were not made of the same people in the same order. Give the table all of them were made "
                f"of: {option(original=...)}"
            )
        columns |= {name: column for name, column in table.columns.items() if name not in columns}
    schemas = [table.schema for table in tables]
    sensitive = list(dict.fromkeys(name for schema in schemas for name in schema.sensitive))
    quasi = dict.fromkeys(n for schema in schemas for n in schema.quasi_identifiers if n not in sensitive)
    plain = dict.fromkeys(n for schema in schemas for n in schema.insensitive if n not in quasi and n not in sensitive)
    schema = Schema(
        quasi_identifiers=tuple(quasi),
        sensitive=sensitive,
        insensitive=tuple(plain),
        columns={name: column.settings for name, column in columns.items()},
        missing=first.schema.missing,
    )
    return Table(schema, columns, first.n_rows, first.kept, first.n_input, {})


def _same(first: Any, second: Any) -> bool:
    """Whether a column has the same value in every row, however it is coded."""
    if first.domain.labels == second.domain.labels:
        return bool(np.array_equal(first.codes, second.codes))
    place = {label: code for code, label in enumerate(first.domain.labels)}
    codes = np.array([place.get(label, -1) for label in second.domain.labels], dtype=np.int64)[second.codes]
    return bool(np.array_equal(first.codes, codes))


def _read(source: Source) -> Run | Release:
    if isinstance(source, Run | Release):
        return source
    place = Path(source)
    if (place / "private").is_dir():
        return load(place)
    release, problems = load_release(public_part(place))
    if problems:
        raise DataError(f"`{place}` was changed after it was published: {' '.join(problems)}")
    return release


def _name(source: Source, place: int) -> str:
    return f"release {place}" if isinstance(source, Run | Release) else table_name(source)
