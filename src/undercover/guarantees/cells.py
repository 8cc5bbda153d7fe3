"""Published cells against what is said of their column: their form, and columns that give others away.

A column of intervals holds intervals and values, a column of sets holds sets and values, a column of values neither.
A column that is published unchanged and lies inside the cells of a quasi-identifier row by row is a copy of it: whoever
reads it has the exact value that the cell was to hide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.errors import DataError, HierarchyError
from undercover.forms.meaning import Values
from undercover.forms.reading import Reading
from undercover.forms.written import Written, labels_of
from undercover.model.cells import read_interval, read_set
from undercover.model.hierarchy import Hierarchy

Trees = Mapping[str, Sequence[Sequence[str]]]
"""Rows of hierarchies from leaf to root, by column."""

MOSTLY = 0.99
"""The share of rows in which a column must lie inside the cells of another to follow it."""

BY_CHANCE = 0.8
"""Cells that hold more than this share of the values of the other column are too wide to tell."""

UNLIKELY = 1e-9
"""The probability below which agreement is no chance."""


def misread_cells(reading: Reading) -> list[str]:
    """Columns whose cells are not written in the form that is said of them, one sentence each."""
    found = []
    for table in reading.release.tables:
        for column in table.columns:
            if column.role == "structure":
                continue
            cells = reading.cells(table, column.name)
            wrong = [number for number, cell in _bracketed(cells.values) if not _FITS[column.form](cell)]
            rows = int(np.isin(cells.codes, wrong).sum()) if wrong else 0
            if column.form == "value":
                # A value may honestly be spelled like a range; a column of little else is generalised.
                rows = rows if column.role != "sensitive" and 2 * rows > len(cells.codes) else 0
            if rows:
                found.append(
                    f"Column `{column.name}` of table `{table.name}` is said to be written as {column.form}; "
                    f"{rows:,} of {len(cells.codes):,} cells are not. Its form was changed, or its cells were. "
                    "Values that are published unchanged need another notation, such as 20-30."
                )
    return found


def followers(reading: Reading, trees: Trees | None = None) -> list[str]:
    """Columns published unchanged that lie inside a quasi-identifier's cells row by row, one sentence each."""
    if reading.permuted:
        return []  # no row has the cells of one person
    found = []
    known = {**stated_trees(reading.release.guarantees), **(trees or {})}
    for table in reading.release.tables:
        for name in table.names("insensitive"):
            unchanged = reading.cells(table, name)
            for other in table.names("quasi-identifier"):
                form = table.form(other)
                if form == "value":
                    continue
                members = _node_members(known[other]) if form == "node" and other in known else {}
                if _follows(unchanged, reading.cells(table, other), members):
                    found.append(
                        f"Column `{name}` is published unchanged and follows `{other}`: its value lies inside the cell "
                        f"of `{other}` in nearly every row, which gives away what that cell hides. Leave `{name}` "
                        "out, or make it a quasi-identifier."
                    )
    return found


def stated_trees(claims: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Sequence[str]]]:
    """The hierarchies that promises state."""
    stated = (claim.get("trees") for claim in claims)
    return {name: rows for trees in stated if isinstance(trees, Mapping) for name, rows in trees.items()}


def _follows(unchanged: Written, cells: Written, members: Mapping[str, Sequence[str]]) -> bool:
    """Whether values lie inside the cells of their rows, more often than chance gives."""
    for agreement in (_by_ranges, _by_members):
        found = agreement(unchanged, cells, members)
        if found is None:
            continue
        count, share, chance = found
        # Hoeffding: at least this share of so many rows agrees by chance with at most exp(-count * divergence).
        if share >= MOSTLY and chance <= BY_CHANCE and count * _divergence(share, chance) > -math.log(UNLIKELY):
            return True
    return False


def _by_ranges(
    unchanged: Written, cells: Written, members: Mapping[str, Sequence[str]]
) -> tuple[int, float, float] | None:
    """Rows whose cell is a range of numbers or days; the share whose value lies in it, and what chance would give."""
    ends = {number: _ends(cell) for number, cell in _bracketed(cells.values) if cell[0] == "["}
    low, high = np.full(len(cells.values), np.nan), np.full(len(cells.values), np.nan)
    for number, (first, last) in ends.items():
        if first < last:
            low[number], high[number] = first, last
    if not np.isfinite(low).any():
        return None
    numbers = _numbers(unchanged.values)
    rows = np.isfinite(low)[cells.codes] & np.isfinite(numbers)[unchanged.codes]
    count = int(rows.sum())
    if not count:
        return None
    values, cell = numbers[unchanged.codes[rows]], cells.codes[rows]
    share = float(((values >= low[cell]) & (values <= high[cell])).mean())
    ordered = np.sort(values)
    held = np.searchsorted(ordered, high, side="right") - np.searchsorted(ordered, low, side="left")
    return count, share, float((held / count)[cell].mean())


def _by_members(
    unchanged: Written, cells: Written, members: Mapping[str, Sequence[str]]
) -> tuple[int, float, float] | None:
    """The same of cells that are sets, or nodes with their leaves."""
    named = {number: _members(cell) for number, cell in _bracketed(cells.values) if cell[0] == "{"}
    if members:
        named |= {number: members[cell] for number, cell in enumerate(cells.labels) if cell in members}
    named = {number: texts for number, texts in named.items() if len(texts) > 1}
    if not named:
        return None
    place = {text: number for number, text in enumerate(unchanged.labels) if text}
    width = max(len(unchanged.values), 1)
    pairs = np.array(
        [number * width + place[text] for number, texts in named.items() for text in texts if text in place],
        dtype=np.int64,
    )
    present = np.zeros(len(unchanged.values), dtype=bool)
    present[list(place.values())] = True
    rows = np.isin(cells.codes, list(named)) & present[unchanged.codes]
    count = int(rows.sum())
    if not count or not len(pairs):
        return None
    value, cell = unchanged.codes[rows].astype(np.int64), cells.codes[rows].astype(np.int64)
    share = float(np.isin(cell * width + value, pairs).mean())
    frequency = np.bincount(value, minlength=width) / count
    held = np.bincount(pairs // width, frequency[pairs % width], minlength=len(cells.values))
    return count, share, float(held[cell].mean())


def _divergence(share: float, chance: float) -> float:
    """Kullback-Leibler divergence of two coins."""
    if chance <= 0.0:
        return math.inf
    rest = 0.0 if share >= 1.0 else (1 - share) * math.log((1 - share) / (1 - chance))
    return share * math.log(share / chance) + rest


def _bracketed(values: pa.Array) -> Iterator[tuple[int, str]]:
    """Distinct cells that are written in brackets or braces, with their codes."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return
    marked = pc.match_substring_regex(values, _BRACKETS).fill_null(False)
    for number in np.flatnonzero(marked.to_numpy(zero_copy_only=False)).tolist():
        yield number, values[number].as_py()


def _numbers(values: pa.Array) -> NDArray[np.float64]:
    """Values as numbers, days as seconds; whatever is neither is not a number."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.asarray(values.cast(pa.float64(), safe=False).fill_null(math.nan).to_numpy(zero_copy_only=False))
    return np.array([_number(text) for text in labels_of(values)], dtype=np.float64)


def _node_members(rows: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """The leaves below every node, by its label."""
    try:
        tree = Hierarchy([list(map(str, row)) for row in rows])
    except HierarchyError:
        return {}
    nodes = Values(tuple(tree.leaves), "categorical", False, tree)
    return {
        label: [nodes.labels[place] for place in meaning.members or range(meaning.low, meaning.high + 1)]
        for label, meaning in nodes.nodes.items()
    }


def _members(cell: str) -> Sequence[str]:
    try:
        return read_set(cell)
    except DataError:
        return ()


def _ends(cell: str) -> tuple[float, float]:
    try:
        low, high = read_interval(cell)
    except DataError:
        return math.nan, math.nan
    return _number(low), _number(high)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _is_interval(cell: str) -> bool:
    """Whether a bracketed cell is a range, or a set with a missing value, as columns of intervals have them."""
    return _is_range(cell) or (cell[0] == "{" and "" in _members(cell))


def _is_set(cell: str) -> bool:
    """Whether a bracketed cell is a set."""
    return cell[0] == "{" and len(_members(cell)) > 0


def _is_value(cell: str) -> bool:
    """Whether a bracketed cell is neither a range nor a set of several."""
    return not _is_range(cell) and not (cell[0] == "{" and len(_members(cell)) > 1)


def _is_node(cell: str) -> bool:
    """Whether it may be a node: any label may."""
    return True


def _is_range(cell: str) -> bool:
    """Whether a bracketed cell has two ends, the lower first."""
    if cell[0] != "[":
        return False
    try:
        first, last = (_number(end) for end in read_interval(cell))
    except DataError:
        return False
    return not first > last  # ends of an ordinal column are no numbers


_BRACKETS = r"(?s)^(\[.*\]|\{.*\})$"
_FITS = {"value": _is_value, "interval": _is_interval, "set": _is_set, "node": _is_node}
