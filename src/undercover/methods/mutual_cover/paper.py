"""The paper's mutual cover: every value a person releases may as well be somebody else's of the group.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover". Rows are parted into l-diverse groups (Algorithm
2); within a group, a linear program per quasi-identifier finds distributions over the group's values that move values
as little as possible while no record has more than a share delta of any released value (Definition 5); values are drawn
from them (Algorithm 1); rows that came through unchanged are changed (Algorithm 3).

Deviations:

- The whole table is checked for l first (the paper makes one bad group); where the lower median is the largest value
  the paper's cut leaves one side empty, so the largest value is cut off (``median_rule="paper"`` for the original).
- Tables lie inside the optimal face, not at a vertex; see :mod:`undercover.methods.mutual_cover.tables`.
- Algorithm 3 draws from values that have mass in the table only, without rejection, and leaves rows alone that have
  nothing to change to. By default unchanged rows are drawn again from their own tables, given that something changes:
  that moves less (``unchanged="paper"`` for Algorithm 3).
- Rows are shuffled unless ``keep_order`` is given: with a known input order row i is person i.
- ``partition="guided"`` takes the groups of the streamliner (:mod:`undercover.steps.dealing.groups`) in place of
  Algorithm 2: who is with whom then tells nothing of whose a value is, and values move further.
- Distances may be the holder's own, column by column (:class:`undercover.model.distance.declared.Distances`).

delta bounds a *share*, not the probability of being found, and what is published is not the tables but one draw from
them. The report gives what the paper does not: the share after unchanged rows were changed, and how surely somebody is
found by one known value. Algorithm 2 looks at sensitive values, and whoever knows the method can guess at the tables
whatever the partition: it is not algorithm-safe.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, Literal, Protocol

import numpy as np
import pyarrow as pa

from undercover.arrays import count
from undercover.exact import exact
from undercover.methods.mutual_cover.draw import Unchanged, exposure, found_among_all, sample
from undercover.methods.mutual_cover.effect import effect, require_change, warnings
from undercover.methods.mutual_cover.tables import ORIGINS, OutputTables, Tables, output_tables
from undercover.model.distance.between import Columns
from undercover.model.form import Drawn
from undercover.model.groups import Groups
from undercover.model.protocols import Engine, Progress, no_progress
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.run import Draft, Shuffle
from undercover.model.schema import Role
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import Check
from undercover.steps.cutting.partition import Partition, partition
from undercover.steps.dealing import groups as streamlining
from undercover.steps.dealing.groups import Deal, require_eligible, sensitive_column, strata_of
from undercover.steps.recoding import values_of
from undercover.steps.shuffling import shuffle_within

MedianRule = Literal["fallback", "paper"]
Grouping = Literal["mondrian", "guided"]

USUAL: Final[dict[str, Any]] = {
    "columns": "observed",
    "tables": "optimal",
    "unchanged": "resample",
    "perturb": 1,
    "median_rule": "fallback",
    "keep_order": False,
    "partition": "mondrian",
}
"""Parameters of this variant alone, as they are where nothing is said of them."""


class Parameters(Protocol):
    """What the method is asked for, with nothing left open."""

    share: Fraction  # delta
    values: int  # l
    k: int | None
    t: float | Fraction | None
    columns: Columns
    tables: Tables
    unchanged: Unchanged
    perturb: int
    median_rule: MedianRule
    keep_order: bool
    partition: Grouping
    strata: tuple[str, ...] | None


def cover(method: Parameters, table: Table, engine: Engine, randomness: Randomness, progress: Progress) -> Draft:
    """Group the rows, solve the output tables, draw, and publish the table in its old shape."""
    delta, threads = method.share, engine.threads
    groups = _groups(method, table, engine, randomness, progress)
    found = output_tables(
        table, groups, delta=delta, columns=method.columns, tables=method.tables, threads=threads, progress=progress
    )
    require_change(found)
    progress("drawing values", 0.0)
    drawn = sample(
        table, groups, found, randomness, unchanged=method.unchanged, perturb=method.perturb, threads=threads
    )
    progress("weighing exposure", 0.0)
    exposed = exposure(table, groups, found, unchanged=method.unchanged, threads=threads)
    among_all = found_among_all(table, found, threads=threads)
    rows = np.arange(table.n_rows)
    if not method.keep_order:
        shuffle_within(rows, np.array([0, table.n_rows]), randomness, "order of rows")
    position = np.empty(table.n_rows, np.int64)
    position[rows] = np.arange(table.n_rows)
    optimal = method.tables == "optimal"
    own = [name for name in found.attributes if table[name].settings.distance is not None]
    diagnostics = {
        "groups": groups.count,
        "delta": float(delta),
        "own_distances": own,
        "tables_by_origin": {name: int((found.origins == i).sum()) for i, name in enumerate(ORIGINS)},
        "largest_optimality_gap": float(found.gaps.max()) if optimal else None,
        "rows_that_came_through": drawn.came_through,
        "rows_left_unchanged": drawn.left_unchanged,
        **effect(groups, found, drawn),
        "effective_share": {
            "max": float(exposed.shares.max()),
            "mean": float(exposed.shares.mean()),
            "tables_above_delta": float((exposed.shares > float(delta) * (1 + 1e-9)).mean()),
        },
        "reidentification_by_one_value": {
            "max": float(exposed.reidentified.max()),
            "mean": float(exposed.reidentified.mean()),
            "over_all_rows": {
                "max": float(among_all.max()),
                "mean": float(np.average(among_all, weights=found.counts)),
            },
        },
    }
    return Draft(
        form=Drawn(order="input" if method.keep_order else "shuffled"),
        tables=(_published(table, found, drawn.released[rows], rows),),
        groups=groups,
        diagnostics=diagnostics,
        frames={
            "output_tables": tables_frame(table, found),
            "published_rows": positions_frame(table, position),
            "certificates": certificates_frame(found),
        },
        used={"own_distances": own} if own else {},
        shuffles=() if method.keep_order else (Shuffle("order of rows in the whole table", position),),
        warnings=tuple(warnings(diagnostics, method.unchanged)),
    )


def _groups(method: Parameters, table: Table, engine: Engine, randomness: Randomness, progress: Progress) -> Groups:
    """Which row goes where."""
    if method.partition == "guided":
        progress("grouping", 0.0)
        return _deal(method, table).draw(randomness)
    groups: Groups = _cutter(method, table, engine.threads, progress)(_without_trees(table)).groups
    return groups


def _deal(method: Parameters, table: Table) -> Deal:
    """The streamliner's `guided`: near rows of different values together, dealt in secret within strata."""
    sensitive = sensitive_column(table, "MutualCover")
    column = table[sensitive]
    require_eligible(table, sensitive, count(column.codes, column.domain.size), method.values)
    strata, names = strata_of(table, method.strata or ())
    ranks = streamlining.weighted_ranks(table, streamlining.rank_weights(table))
    return streamlining.guided(table, sensitive, method.values, strata, ranks, names)


def _cutter(method: Parameters, table: Table, threads: int = 1, progress: Progress = no_progress) -> Any:
    """Algorithm 2 as a function of a table or a part of it."""
    sensitive = sensitive_column(table, "MutualCover")
    checks = [Check(column=sensitive, kind="frequency", limit=float(method.values), whole=True)]
    if method.t is not None:
        checks.append(Check(column=sensitive, kind="equal", limit=float(exact(method.t))))

    def cut(part: Table) -> Partition:
        return partition(
            part,
            k=max(method.values, method.k or 1),
            checks=checks,
            cut="lower-median" if method.median_rule == "fallback" else "papers-median",
            threads=threads,
            progress=progress,
        )

    return cut


def _without_trees(table: Table) -> Table:
    """The table as Algorithm 2 cuts it: categories in the order of their codes, hierarchies or not."""
    columns = dict(table.columns)
    for name in table.schema.quasi_identifiers:
        column = table[name]
        if column.settings.hierarchy is not None:
            columns[name] = replace(column, settings=replace(column.settings, hierarchy=None))
    return replace(table, columns=columns)


def _published(table: Table, found: OutputTables, released: Any, rows: Any) -> PublishedTable:
    """The table in its old shape: drawn quasi-identifiers, sensitive and insensitive values as they are."""
    columns, data = [], []
    for a, (name, distance) in enumerate(zip(found.attributes, found.distances, strict=True)):
        columns.append(PublishedColumn(name, "quasi-identifier", "value"))
        data.append(distance.outputs.take(released[:, a]))
    roles: list[tuple[Role, tuple[str, ...]]] = [
        ("sensitive", table.schema.sensitive),
        ("insensitive", table.schema.insensitive),
    ]
    for role, names in roles:
        for name in names:
            columns.append(PublishedColumn(name, role, table[name].settings.form))
            data.append(values_of(table[name], rows))
    return PublishedTable("table", tuple(columns), pa.table(data, names=[column.name for column in columns]))


def tables_frame(table: Table, found: OutputTables) -> pa.Table:
    """All output tables, a row per probability above 0, for a privacy officer to read. Private."""
    parts = []
    for a, (name, distance) in enumerate(zip(found.attributes, found.distances, strict=True)):
        tables = slice(a * found.n_groups, (a + 1) * found.n_groups)
        widths = np.diff(found.column_starts)[tables]
        lines = np.diff(found.row_starts)[tables]
        per_line = np.repeat(widths, lines)  # cells of every line
        first_line, last_line = found.row_starts[tables.start], found.row_starts[tables.stop]
        first_cell, last_cell = found.cell_starts[tables.start], found.cell_starts[tables.stop]
        line_starts = np.concatenate([[0], np.cumsum(per_line)])
        column = np.arange(last_cell - first_cell) - np.repeat(line_starts[:-1], per_line)
        column += np.repeat(np.repeat(found.column_starts[:-1][tables], lines), per_line)
        probability = found.probabilities[first_cell:last_cell]
        keep = probability > 0
        group = np.repeat(np.repeat(np.arange(found.n_groups, dtype=np.int32), lines), per_line)[keep]
        original = np.repeat(found.originals[first_line:last_line], per_line)[keep]
        records = np.repeat(found.counts[first_line:last_line], per_line)[keep]
        parts.append(
            pa.table(
                {
                    "group": group,
                    "attribute": pa.DictionaryArray.from_arrays(np.zeros(len(group), np.int8), pa.array([name])),
                    "original": _as_text(table[name].domain.labels, original),
                    "output": _as_text(distance.outputs.labels, found.outputs[column[keep]]),
                    "probability": probability[keep],
                    "records": records,
                }
            )
        )
    return pa.concat_tables(parts).unify_dictionaries()


def certificates_frame(found: OutputTables) -> pa.Table:
    """What every output table costs, and the least any table could cost (its dual bound). Private."""
    groups = np.tile(np.arange(found.n_groups, dtype=np.int32), len(found.attributes))
    attributes = np.repeat(np.arange(len(found.attributes), dtype=np.int8), found.n_groups)
    return pa.table(
        {
            "group": groups,
            "attribute": pa.DictionaryArray.from_arrays(attributes, pa.array(found.attributes)),
            "objective": found.objectives,
            "bound": found.bounds,
            "origin": pa.DictionaryArray.from_arrays(found.origins.astype(np.int8), pa.array(ORIGINS)),
        }
    )


def _as_text(labels: tuple[str, ...], codes: Any) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(labels, pa.string()))


def positions_frame(table: Table, position: Any) -> pa.Table:
    """Where each input row stands in the published table. Private."""
    return pa.table({"row": table.rows, "published": position})
