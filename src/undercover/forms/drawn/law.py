"""Tests of a drawn table against what its form declares: who kept what, who exchanged it, how rows are ordered.

*Permuted columns.* Inside a block (or group) every way to deal its values is equally likely. Take two rows of a block
with different values: that both kept theirs is as likely as that they exchanged them, whatever became of the others. So
among the pairs that did either, those that kept are as many as heads of a fair coin; where nothing was permuted, all.
Two columns were permuted by themselves: that a pair kept one and exchanged the other is as likely as that both went
together.

*Drawn columns.* Every cell was drawn from a private table (the frame ``output_tables``), which says how likely it shows
the true value. Rows that came out unchanged may have been drawn again, so fewer cells may be true than the tables say,
and only too many of them are a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from undercover.arrays import look_up
from undercover.forms.chance import (
    Check,
    check_coins,
    check_order,
    check_places,
    check_sum,
    pairings,
    some_segments,
    worst,
)
from undercover.forms.dealt.rows import BLOCKS, Dealt, places
from undercover.forms.meaning import domain_values
from undercover.forms.own_rows import Made, check_row_order

if TYPE_CHECKING:
    from undercover.forms.reading import Reading

Whole = NDArray[np.integer[Any]]

ORDER, TABLES = "order of rows", "output_tables"
_INPUT_ORDER = "Not tested: the form declares that rows keep the order of the input."


def check_drawn(reading: Reading, made: Made) -> tuple[Check, ...]:
    """Test everything the form says was drawn."""
    if not reading.permuted:
        published = places(made.run, reading.main.rows)
        return (*_row_order(reading, made, published), *_drawn_cells(reading, made, published))
    dealt = Dealt.of(made.run, reading)
    checks = list(_row_order(reading, made, dealt.cells))
    if BLOCKS in made.run.frames:  # otherwise values stay where they are, and all others are moved around them
        owner = np.empty(len(dealt.published), dtype=np.int64)
        owner[dealt.published] = np.arange(len(owner))
        layout = some_segments(made.run.groups.order, made.run.groups.offsets)
        checks.append(_stayed("sensitive values", np.arange(len(owner)), owner[dealt.cells], *layout)[0])
        checks.append(check_order("sensitive values: order kept", owner[dealt.cells][layout[0]], layout[1]))
    return (*checks, *_permuted_columns(reading, made, dealt))


def _row_order(reading: Reading, made: Made, where: Whole) -> tuple[Check, ...]:
    if reading.form.order == "input":
        return (Check(ORDER, None, 0.5, 1.0, 0, None, _INPUT_ORDER),)
    return check_row_order(made, where, ORDER)


def _permuted_columns(reading: Reading, made: Made, dealt: Dealt) -> list[Check]:
    """Every column that was permuted inside blocks, and every two of them that follow each other."""
    from undercover.compiled.shuffle import counting_order

    blocks = dealt.blocks.astype(np.int32)
    layout = some_segments(*counting_order(blocks, int(blocks.max(initial=-1)) + 1))
    checks, before = [], None
    for name in (*reading.main.names("quasi-identifier"), *reading.main.names("insensitive")):
        own, shown = made.codes(name), _shown(reading, made, name, dealt.cells)
        check, went = _stayed(f"`{name}`", own, shown, *layout)
        checks.append(check)
        if before is not None:
            both = went * before[1]
            heads, tails = int(np.count_nonzero(both > 0)), int(np.count_nonzero(both < 0))
            checks.append(check_coins(f"`{before[0]}` and `{name}` moved together", heads, heads + tails))
        before = name, went
    return checks


def _stayed(what: str, own: Whole, shown: Whole, order: Whole, offsets: Whole) -> tuple[Check, NDArray[np.int8]]:
    """Whether two rows kept what they had as often as they exchanged it.

    And (n_pairs,) of neighbours: 1 where they kept it, -1 where they exchanged it, 0 where neither.
    """
    before, after = own[order], shown[order]
    stayed = float((before == after).mean()) if len(before) else 0.0
    note = f"{stayed:.1%} of the cells show their owner's value."
    checks, went = [], np.empty(0, dtype=np.int8)
    for first, second in pairings(offsets):
        one, other = before[first], before[second]
        differ = one != other
        kept = differ & (after[first] == one) & (after[second] == other)
        swapped = differ & (after[first] == other) & (after[second] == one)
        checks.append(check_places(f"{what}: stayed with their owner", kept, swapped, times=2, note=note))
        if len(checks) == 1:
            went = kept.astype(np.int8) - swapped.astype(np.int8)
    return worst(checks), went


def _drawn_cells(reading: Reading, made: Made, published: Whole) -> tuple[Check, ...]:
    """Whether no more cells are true than the private tables let through."""
    tables = made.run.frames.get(TABLES)
    if tables is None:
        return ()
    same = pc.equal(tables.column("original").cast("string"), tables.column("output").cast("string"))
    true = tables.filter(same.fill_null(False))
    chance, records = (np.asarray(true.column(name).to_numpy()) for name in ("probability", "records"))
    chance = np.clip(chance, 0.0, 1.0)
    names = reading.main.names("quasi-identifier")
    kept = sum(int((_shown(reading, made, name, published) == made.codes(name)).sum()) for name in names)
    mean, variance = float((records * chance).sum()), float((records * chance * (1 - chance)).sum())
    cells = made.n_grouped * len(names)
    return (check_sum("cells that show the true value", kept, mean, variance, cells, only_above=True),)


def _shown(reading: Reading, made: Made, name: str, rows: Whole) -> Whole:
    """(n_rows,) the codes published in some rows; -1 where they are none of the original's values."""
    column, position = reading.column(name, nan_is_missing=True), domain_values(made.original[name]).position
    codes = np.array([position.get(label, -1) for label in column.labels], dtype=np.int64)
    return look_up(codes, column.codes[rows])
