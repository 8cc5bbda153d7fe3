"""Mutual cover: the table keeps its shape, and every value a person releases may as well be somebody else's.

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
- Distances may be the holder's own, column by column (:class:`undercover.model.distances.Distances`).

delta bounds a *share*, not the probability of being found, and what is published is not the tables but one draw from
them. The report gives what the paper does not: the share after unchanged rows were changed, and how surely somebody is
found by one known value. Algorithm 2 looks at sensitive values, and whoever knows the method can guess at the tables
whatever the partition: ``algorithm_safe`` is false.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from undercover.errors import ParameterError
from undercover.exact import Number, exact
from undercover.guarantees.delta_probability import DeltaProbability
from undercover.methods.mutual_cover.draw import Unchanged, exposure, found_among_all, sample
from undercover.methods.mutual_cover.effect import effect, require_change, warnings
from undercover.methods.mutual_cover.tables import ORIGINS, OutputTables, Tables, output_tables
from undercover.model.form import Drawn
from undercover.model.groups import Groups
from undercover.model.protocols import Engine, Guarantee, Progress, no_progress
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.run import Draft
from undercover.model.schema import Role
from undercover.model.table import Table
from undercover.model.value_distance import Columns
from undercover.parameters import EXACT, AtLeast, Within, check
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import Check
from undercover.steps.cutting.partition import Partition, partition
from undercover.steps.dealing import groups as streamlining
from undercover.steps.dealing.groups import Deal, require_eligible, sensitive_column, strata_of
from undercover.steps.shuffling import shuffle_within

MedianRule = Literal["fallback", "paper"]
Grouping = Literal["mondrian", "guided"]


@dataclass(frozen=True, kw_only=True)
class MutualCover:
    """Random output within groups, with delta-probability.

    Parameters
    ----------
    delta
        No record has more than this share of any released value, in its group: "1/5". At least 1/l.
    l
        No sensitive value is more than 1/l of a group.
    k, t
        What groups must satisfy beyond that: at least k rows, t-closeness by equal distance.
    columns
        Values that may be released: those ``observed`` in the group, or every whole number in its range.
    tables
        ``optimal`` moves values as little as possible; ``uniform`` makes every value of the group equally likely.
    unchanged, perturb
        What becomes of rows all of whose values came through: drawn again given a change (``resample``), ``perturb``
        values replaced at random (``paper``), or nothing (``off``).
    median_rule
        ``fallback`` cuts off the largest value where the median is the largest; ``paper`` does not cut there.
    keep_order
        Publish rows in input order. Whoever knows that order knows whose row is whose.
    partition, strata
        How groups are made: by cuts at medians (``mondrian``, Algorithm 2), or dealt in secret within ``strata`` as the
        streamliner's ``guided`` does, which tells nothing of sensitive values to somebody who knows the algorithm.

    Examples
    --------
    >>> MutualCover(delta="1/5", l=10).delta
    Fraction(1, 5)
    >>> MutualCover(delta="1/20", l=10)
    Traceback (most recent call last):
    undercover.errors.ParameterError: MutualCover with delta=1/20 needs groups of 20 rows, but ...
    """

    name: ClassVar[str] = "mutual-cover"
    about: ClassVar[str] = "undercover.methods.mutual_cover.about:ABOUT"

    delta: Annotated[Number, Within(0, 1, "(]"), EXACT]
    l: Annotated[int, AtLeast(2)]
    k: Annotated[int, AtLeast(1)] | None = None
    t: Annotated[float | Fraction, Within(0, 1)] | None = None
    columns: Columns = "observed"
    tables: Tables = "optimal"
    unchanged: Unchanged = "resample"
    perturb: Annotated[int, AtLeast(1)] = 1
    median_rule: MedianRule = "fallback"
    keep_order: bool = False
    partition: Grouping = "mondrian"
    strata: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check(self, self._unfit())
        delta, least = exact(self.delta), max(self.l, self.k or 1)
        if delta * least < 1:
            needed = -(-delta.denominator // delta.numerator)
            raise ParameterError(
                f"MutualCover with delta={delta} needs groups of {needed} rows, but l={self.l} promises only {least}. "
                f"Raise l or k to {needed}, or delta to 1/{least}."
            )

    def _unfit(self) -> Iterator[str]:
        if self.strata is not None and self.partition != "guided":
            yield f"The partition `{self.partition}` of MutualCover has no strata; `guided` has."
        if self.partition == "guided":
            mondrian = {"k": self.k is not None, "t": self.t is not None, "median_rule": self.median_rule == "paper"}
            for name in (name for name, given in mondrian.items() if given):
                yield f"The partition `guided` of MutualCover takes no {name}; `mondrian` does."

    @property
    def algorithm_safe(self) -> bool:
        """Algorithm 2 looks at sensitive values, and the protection rests on hidden tables whatever the groups."""
        return False

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """delta-probability of the output tables; it is checked in the private run."""
        return (DeltaProbability(delta=self.delta),)

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Group the rows, solve the output tables, draw, and publish the table in its old shape."""
        delta, threads = exact(self.delta), engine.threads
        groups = self._groups(table, engine, randomness, progress)
        found = output_tables(
            table, groups, delta=delta, columns=self.columns, tables=self.tables, threads=threads, progress=progress
        )
        require_change(found)
        progress("drawing values", 0.0)
        drawn = sample(
            table, groups, found, randomness, unchanged=self.unchanged, perturb=self.perturb, threads=threads
        )
        progress("weighing exposure", 0.0)
        exposed = exposure(table, groups, found, unchanged=self.unchanged, threads=threads)
        among_all = found_among_all(table, found, threads=threads)
        rows = np.arange(table.n_rows)
        if not self.keep_order:
            shuffle_within(rows, np.array([0, table.n_rows]), randomness, "order of rows")
        position = np.empty(table.n_rows, np.int64)
        position[rows] = np.arange(table.n_rows)
        optimal = self.tables == "optimal"
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
            form=Drawn(order="input" if self.keep_order else "shuffled"),
            tables=(_published(table, found, drawn.released[rows], rows),),
            groups=groups,
            diagnostics=diagnostics,
            frames={
                "output_tables": tables_frame(table, found),
                "published_rows": positions_frame(table, position),
                "certificates": certificates_frame(found),
            },
            used={"own_distances": own} if own else {},
            warnings=tuple(warnings(diagnostics, self.unchanged)),
        )

    def _groups(self, table: Table, engine: Engine, randomness: Randomness, progress: Progress) -> Groups:
        """Which row goes where."""
        if self.partition == "guided":
            progress("grouping", 0.0)
            return self._deal(table).draw(randomness)
        parts = engine.map_parts(_without_trees(table), self._cutter(table, engine.threads, progress))
        return Partition.join(parts).groups

    def _deal(self, table: Table) -> Deal:
        """The streamliner's `guided`: near rows of different values together, dealt in secret within strata."""
        sensitive = sensitive_column(table, "MutualCover")
        column = table[sensitive]
        require_eligible(table, sensitive, np.bincount(column.codes, minlength=column.domain.size), self.l)
        strata, names = strata_of(table, self.strata or ())
        ranks = streamlining.weighted_ranks(table, streamlining.rank_weights(table))
        return streamlining.guided(table, sensitive, self.l, strata, ranks, names)

    def _cutter(self, table: Table, threads: int = 1, progress: Progress = no_progress) -> Any:
        """Algorithm 2 as a function of a table or a part of it."""
        sensitive = sensitive_column(table, "MutualCover")
        checks = [Check(column=sensitive, kind="frequency", limit=float(self.l), whole=True)]
        if self.t is not None:
            checks.append(Check(column=sensitive, kind="equal", limit=float(exact(self.t))))

        def cut(part: Table) -> Partition:
            return partition(
                part,
                k=max(self.l, self.k or 1),
                checks=checks,
                cut="lower-median" if self.median_rule == "fallback" else "papers-median",
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
            data.append(table[name].domain.take(table[name].codes[rows]))
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
