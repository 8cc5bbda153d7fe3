"""Every published row beside the input rows it was made of: for whoever has just made a release.

``verify --original`` has files alone and asks whether *some* published row covers a person
(:mod:`undercover.forms.against`). Whoever made the release knows which row is whose, so that a cell which misses its
own person by one value is found although another row happens to cover the person.

Nothing here is told of a cell: findings count rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.arrays import look_up, narrowest, stretches, tally
from undercover.errors import listed
from undercover.forms.chance import Check, check_order, some_segments
from undercover.forms.classes import whole_numbers
from undercover.forms.coverage import Cover
from undercover.forms.meaning import domain_values
from undercover.model.finding import Finding

if TYPE_CHECKING:
    from undercover.forms.reading import Reading
    from undercover.model.release import PublishedTable
    from undercover.model.run import Run
    from undercover.model.table import EncodedColumn, Table

Whole = NDArray[np.integer[Any]]

_FEW_LABELS = 1 << 15  # distinct values that are compared by name; more of them as Arrow holds them
_LARGEST_TABLE = 1 << 22  # entries of a table of cells and values


@dataclass(frozen=True)
class Made:
    """A run that was just made, and what is known of its rows only then."""

    original: Table
    run: Run
    grouped: Whole | None = None  # rows of the original that are grouped, where some were suppressed
    row_of_group: Whole | None = None  # (n_groups,) the published row of each group, where a group has one

    @property
    def n_grouped(self) -> int:
        """How many rows were grouped."""
        return len(self.run.groups.labels)

    def codes(self, name: str) -> Whole:
        """(n_grouped,) the codes of a column."""
        codes = self.original[name].codes
        return codes if self.grouped is None else look_up(codes, self.grouped)

    @cached_property
    def published(self) -> Whole | None:
        """(n_published,) the row of the original that stands in each published row, where one does."""
        order = self.run.order
        if order is None or self.grouped is None:
            return order
        return look_up(self.grouped, order)

    @cached_property
    def places(self) -> Whole | None:
        """(n_grouped,) the published row of each grouped row, where it has one."""
        order = self.run.order
        if order is None:
            return None
        found: Whole = np.empty(len(order), dtype=np.int32 if len(order) < 1 << 31 else np.int64)
        found[order] = np.arange(len(order), dtype=found.dtype)
        return found


def compare_own_rows(reading: Reading, made: Made) -> tuple[Finding, ...]:
    """Compare a table whose cells cover the truth, one row a person, with everybody's own row."""
    table, published = reading.main, made.published
    assert published is not None
    findings = [_placed(reading, table, made)]
    if not findings[0].holds:
        return tuple(findings)
    quasi, values = table.names("quasi-identifier"), (*table.names("sensitive"), *table.names("insensitive"))
    missed = {name: _not_covered(reading, table, made.original[name], published) for name in quasi}
    changed = {name: _not_equal(reading, table, made.original[name], published) for name in values}
    return (*findings, _counted("own-rows-covered", missed), _counted("own-values-kept", changed))


def compare_values(reading: Reading, made: Made, places: Whole) -> Finding:
    """Compare the values that a drawn table leaves as they are with those of their owners, at ``places`` of them."""
    at = np.empty(len(places), dtype=np.int64)
    at[places] = np.arange(len(places))
    table = reading.main
    names = (*table.names("sensitive"), *table.names("insensitive"))
    return _counted("own-values-kept", {name: _not_equal(reading, table, made.original[name], at) for name in names})


def compare_buckets(reading: Reading, made: Made, bucket: str, count: str) -> tuple[Finding, ...]:
    """Compare the numbers and the values of buckets with those of the rows that were put into them."""
    order, buckets = made.run.order, made.run.buckets
    if order is None or buckets is None:
        return ()
    ours = look_up(buckets, order)
    shown = np.asarray(reading.main.data.column(bucket).to_numpy())
    wrong = int(np.count_nonzero(ours != shown)) if len(ours) == len(shown) else max(len(ours), len(shown))
    findings = [_counted("own-buckets", {bucket: wrong})]
    values = reading.values_table
    for name in values.names("sensitive"):
        size, span = made.original[name].domain.size, int(buckets.max(initial=0)) + 1
        kind = narrowest(span * (size + 1))
        keys = buckets.astype(kind) * kind(size + 1) + made.codes(name).astype(kind)
        before, rows = tally(keys, span * (size + 1))
        listed_values = reading.cells(values, name, nan_is_missing=True)
        codes = look_up(_codes_of(listed_values.labels, made.original[name], narrowest(size)), listed_values.codes)
        codes = np.where(codes < 0, size, codes).astype(np.int64)
        numbers = np.asarray(values.data.column(bucket).to_numpy(), dtype=np.int64)
        after, times = tally(numbers * (size + 1) + codes, span * (size + 1), whole_numbers(values.data.column(count)))
        same = np.array_equal(before, after) and np.array_equal(rows, times)
        wrong = 0 if same else _differing(before, rows, after, times)
        findings.append(_counted("values-of-buckets", {name: wrong}))
    return tuple(findings)


def compare_cells(reading: Reading, made: Made, people: Whole) -> tuple[Finding, ...]:
    """Compare a table with one row a group: everybody lies in the cell of the group, and cells have their size."""
    table, groups, row_of_group = reading.main, made.run.groups, made.row_of_group
    assert row_of_group is not None
    placed = _placed(reading, table, made, expected=groups.count)
    if not placed.holds:
        return (placed,)
    own = look_up(row_of_group, groups.labels)
    at = np.arange(len(own), dtype=np.int32) if made.grouped is None else made.grouped
    quasi = table.names("quasi-identifier")
    missed = {name: _not_covered(reading, table, made.original[name], at, rows=own) for name in quasi}
    sizes = Finding("cell-sizes", {}, 0, int(np.count_nonzero(people[row_of_group] != groups.sizes)), sense="at most")
    return placed, _counted("own-rows-covered", missed), replace(sizes, holds=sizes.actual == 0)


def check_row_order(made: Made, places: Whole | None = None, name: str = "order of rows") -> tuple[Check, ...]:
    """Test whether the rows of a group are published in the order of the input, or in that of the group."""
    where = made.places if places is None else places
    if where is None:
        return ()
    from undercover.compiled.shuffle import counting_order

    groups = made.run.groups
    laid_out, starts = some_segments(groups.order, groups.offsets)
    checks = [check_order(f"{name}: as grouped", look_up(where, laid_out), starts)]
    if len(groups.labels) and "_layout" in groups.__dict__ and not _ascends(laid_out, starts):
        ascending, starts = some_segments(*counting_order(groups.labels, groups.count))
        checks.append(check_order(f"{name}: as in the input", look_up(where, ascending), starts))
    return tuple(checks)


def _ascends(order: Whole, offsets: Whole) -> bool:
    """Whether the rows of every segment ascend."""
    falls = order[1:] < order[:-1]
    falls[np.asarray(offsets[1:-1], dtype=np.int64) - 1] = False
    return not falls.any()


def _placed(reading: Reading, table: PublishedTable, made: Made, expected: int | None = None) -> Finding:
    """Whether every grouped row stands in one published row, and all others are said to be suppressed."""
    grouped, order = made.n_grouped, made.run.order
    rows = grouped if expected is None else expected
    problems = []
    if table.rows != rows:
        problems.append(f"{rows:,} rows were to be published and {table.rows:,} are.")
    if reading.release.suppressed_rows != made.original.n_rows - grouped:
        problems.append(
            f"{made.original.n_rows - grouped:,} rows were left out; the release says "
            f"{reading.release.suppressed_rows:,}."
        )
    own = order if expected is None else made.row_of_group
    if own is not None and not problems:
        taken = np.zeros(rows, dtype=bool)
        inside = len(own) == rows and (not rows or (own.min() >= 0 and own.max() < rows))
        taken[own if inside else []] = True
        if not taken.all():
            problems.append("The rows are not published once each.")
    return Finding("own-rows-published", {}, rows, table.rows, not problems, note=" ".join(problems))


def _not_covered(
    reading: Reading, table: PublishedTable, column: EncodedColumn, at: Whole, rows: Whole | None = None
) -> int:
    """How many rows of the original, ``at`` each published row (or at some of them), lie outside the cell there."""
    cells = reading.cells(table, column.name)
    size = column.domain.size
    cover = Cover.of(domain_values(column).read_all(cells.labels, table.form(column.name)), size)
    kind = narrowest(max(size, 1))
    low, high = cover.low.astype(kind), cover.high.astype(kind)
    members = _member_table(cover) if cover.scattered.any() else None
    wrong = 0
    for part in stretches(len(at)):
        shown = cells.codes[part] if rows is None else cells.codes[rows[part]]
        own = column.codes[at[part]]
        if members is not None:
            wrong += int(np.count_nonzero(~members[shown, own]))
        elif cover.scattered.any():
            wrong += int(np.count_nonzero(~cover.holds(shown.astype(np.int64), own.astype(np.int64))))
        else:
            wrong += int(np.count_nonzero((own < low[shown]) | (own > high[shown])))
    return wrong


def _member_table(cover: Cover) -> NDArray[np.bool_] | None:
    """(n_cells, size) which codes a cell covers; ``None`` where that is too much to write down."""
    if len(cover.low) * cover.size > _LARGEST_TABLE:
        return None
    codes = np.arange(cover.size)
    found = (cover.low[:, None] <= codes) & (codes <= cover.high[:, None]) & ~cover.scattered[:, None]
    found.reshape(-1)[cover.keys] = True
    return found


def _not_equal(reading: Reading, table: PublishedTable, column: EncodedColumn, at: Whole) -> int:
    """How many published values are not those of the rows of the original they were made of."""
    data = table.data.column(column.name)
    if column.domain.size > _FEW_LABELS and not pa.types.is_dictionary(data.type):
        wrong = 0
        for part in stretches(len(at)):
            ours = column.domain.take(column.codes[at[part]])
            theirs = data.slice(part.start, part.stop - part.start)
            same = pc.equal(theirs, pa.chunked_array([ours]).cast(theirs.type))
            both = pc.and_(theirs.is_null(), pa.chunked_array([ours.is_null()]))
            wrong += len(theirs) - int(pc.sum(pc.or_kleene(same.fill_null(False), both)).as_py() or 0)
        return wrong
    cells = reading.cells(table, column.name, nan_is_missing=True)
    code = _codes_of(cells.labels, column, narrowest(column.domain.size))
    return sum(int(np.count_nonzero(code[cells.codes[part]] != column.codes[at[part]])) for part in stretches(len(at)))


def _codes_of(labels: tuple[str, ...], column: EncodedColumn, kind: Any) -> Whole:
    position = domain_values(column).position
    return np.array([position.get(label, -1) for label in labels], dtype=kind)


def _differing(before: Whole, rows: Whole, after: Whole, times: Whole) -> int:
    """How many rows are counted elsewhere than they are."""
    keys = np.union1d(before, after)
    counts = np.zeros((2, len(keys)), dtype=np.int64)
    counts[0, np.searchsorted(keys, before)] = rows
    counts[1, np.searchsorted(keys, after)] = times
    return int(np.abs(counts[0] - counts[1]).sum())


def _counted(name: str, wrong: Mapping[str, int]) -> Finding:
    """What was found wrong of some columns."""
    total, columns = sum(wrong.values()), [column for column, rows in wrong.items() if rows]
    return Finding(name, {}, 0, total, not total, sense="at most", note=f"In {listed(columns)}." if columns else "")
