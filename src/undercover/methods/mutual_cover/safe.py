"""Covers that stay covers when the method is known: columns are permuted among rows, by a law blind to whose is whose.

Our own. Two facts carry them (docs/theory/safe_covers.md):

- Where rows are moved by a random permutation that does not look at sensitive values, and these might as well have been
  dealt otherwise, what an adversary believes of who is where *is* the law of the permutation. Inside a group of m rows
  all pairings are equally likely, so everything is with 1/m.
- Groups of l different values made by class dealing (:mod:`undercover.steps.dealing.classes`) or `wrap`
  (:mod:`undercover.steps.dealing.groups`) tell nothing of whose value is whose.

*Blocks* of near rows (:mod:`undercover.steps.blocks`) look at quasi-identifiers alone. Every quasi-identifier and every
insensitive column is permuted inside its block: the owner of the sensitive value of a row is any person of the block.
*Layers* then permute the sensitive values inside groups of at least l different ones; told the first layer and the
groups, an adversary still gives each value of the group 1/l. *Groups* permute all columns but the sensitive one inside
such groups.

What is assumed. One row a person: a table whose identifiers repeat is refused. Rows are published in random order.
Labels are exchangeable given the quasi-identifiers: if one of five people is a woman and a value reads "pregnant", no
dealing hides whose it is. A value of a quasi-identifier that only one person has still shows that somebody has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.errors import ParameterError, listed
from undercover.model.form import Drawn
from undercover.model.groups import Groups, Seen, seen_groups
from undercover.model.protocols import Engine, Progress
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.run import Draft, Shuffle
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.blocks import block_outcomes, exact_blocks
from undercover.steps.cutting.checks import require_rows
from undercover.steps.dealing.classes import class_outcomes, deal_classes
from undercover.steps.dealing.groups import require_eligible, sensitive_column, wrap
from undercover.steps.recoding import values_of
from undercover.steps.shuffling import shuffle_within


@dataclass(frozen=True)
class Permuting:
    """What is permuted inside what: other columns inside blocks of ``block`` rows, values inside groups of ``l``.

    Without ``l`` values stay; without ``block`` the other columns are permuted inside the groups.
    """

    block: int | None
    l: int | None
    robust: bool


def cover(how: Permuting, table: Table, engine: Engine, randomness: Randomness, progress: Progress) -> Draft:
    """Put rows together, permute, and publish the table in its old shape."""
    from undercover.compiled.rows import scatter, taken

    require_one_row_each(table)
    groups, shuffles = _value_groups(how, table, engine, randomness, progress)
    blocks = groups
    if how.block is not None:
        require_rows(table, how.block, delta=Fraction(1, how.block))
        blocks = exact_blocks(table, how.block, randomness=randomness, threads=engine.threads, progress=progress)
    groups = blocks if groups is None else groups
    assert blocks is not None
    assert groups is not None
    progress("permuting", 0.0)
    n, threads = table.n_rows, engine.threads
    lines, order = np.arange(n, dtype=np.uint32), np.arange(n, dtype=np.uint32)
    shuffle_within(order, np.array([0, n]), randomness, "order of rows", threads)
    owner = lines if groups is blocks else _permuted(groups, randomness, "sensitive values", threads)
    owners = taken(owner, order, threads)
    published, changed = _published(table, blocks, order, owners, randomness, threads)
    place, carried = np.empty(n, np.int64), np.empty(n, np.int64)
    scatter(lines, order, place)
    scatter(lines, owners, carried)
    frames = {"published_rows": pa.table({"row": table.rows, "published": carried, "cells": place})}
    if groups is not blocks:
        frames["blocks"] = pa.table({"row": table.rows, "block": blocks.labels})
    return Draft(
        form=Drawn(columns="permuted", values="own" if how.l is None else "permuted", among=how.l),
        tables=(published,),
        groups=groups,
        diagnostics={
            "groups": groups.count,
            "smallest_group": int(groups.sizes.min()),
            "blocks": blocks.count,
            "smallest_block": int(blocks.sizes.min()),
            "cells_that_changed": changed,
            "values_that_moved": float((owner != lines).mean()),
        },
        frames=frames,
        shuffles=(*shuffles, Shuffle("order of rows in the whole table", place)),
    )


def outcomes(how: Permuting, table: Table) -> Iterator[tuple[Fraction, Seen]]:
    """Every way to put people of a tiny table together among whom values are permuted; of blocks, where none are."""
    if how.l is None:
        assert how.block is not None
        codes = table[table.schema.sensitive[0]].codes
        found = block_outcomes(table, how.block)
    else:
        sensitive = _eligible(table, how.l)
        codes = table[sensitive].codes
        found = wrap(table, sensitive, how.l).outcomes() if how.robust else class_outcomes(table, sensitive, how.l)
    for probability, labels in found:
        yield probability, seen_groups(labels, codes)


def require_one_row_each(table: Table) -> None:
    """Raise where a person may have several rows: they give each other away, and nothing is promised of them."""
    repeated = {name: rows for name, rows in table.repeated.items() if rows}
    if repeated and len(repeated) == len(table.repeated):
        name = min(repeated, key=lambda name: repeated[name])
        raise ParameterError(
            f"MutualCover promises something to people who have one row each, and {repeated[name]:,} rows share their "
            f"`{name}` with another. Keep one row of each person, or make the table one of people first. If "
            f"{listed(sorted(repeated))} is not what tells people apart, do not declare it an identifier."
        )


def _value_groups(
    how: Permuting, table: Table, engine: Engine, randomness: Randomness, progress: Progress
) -> tuple[Groups | None, tuple[Shuffle, ...]]:
    """Groups of at least l different sensitive values, where any are asked for, and what was dealt to make them."""
    if how.l is None:
        return None, ()
    sensitive = _eligible(table, how.l)
    if how.robust:
        deal = wrap(table, sensitive, how.l)
        groups = deal.draw(randomness, engine.threads)
        return groups, deal.shuffles(groups)
    return deal_classes(table, sensitive, how.l, randomness=randomness, threads=engine.threads, progress=progress)


def _eligible(table: Table, l: int) -> str:
    sensitive = sensitive_column(table, "MutualCover")
    column = table[sensitive]
    require_eligible(table, sensitive, count(column.codes, column.domain.size), l)
    return sensitive


def _permuted(groups: Groups, randomness: Randomness, purpose: str, threads: int) -> NDArray[np.uint32]:
    """(n_rows,) the row whose value each row gets, uniform inside every group."""
    from undercover.compiled.rows import scatter

    moved = groups.order.astype(np.uint32)
    shuffle_within(moved, groups.offsets, randomness, purpose, threads)
    source = np.empty_like(moved)
    scatter(moved, groups.order, source)
    return source


def _published(
    table: Table,
    blocks: Groups,
    order: NDArray[np.uint32],
    owners: NDArray[np.uint32],
    randomness: Randomness,
    threads: int,
) -> tuple[PublishedTable, dict[str, float]]:
    """The table in its old shape, and the share of cells that changed: line i shows what the row ``order[i]`` got.

    Its sensitive values are those of ``owners[i]``; every other column is permuted inside the blocks, one at a time.
    """
    from undercover.compiled.rows import taken

    columns, data, changed = [], [], {}
    for role, names in table.schema.by_role().items():
        for name in names if role != "identifier" else ():
            rows, codes = owners, table[name].codes
            if role != "sensitive":
                source = _permuted(blocks, randomness, f"values of {name}", threads)
                changed[name] = float((taken(codes, source, threads) != codes).mean())
                rows = taken(source, order, threads)
            form = "value" if role == "quasi-identifier" else table[name].settings.form
            columns.append(PublishedColumn(name, role, form))
            data.append(values_of(table[name], rows, threads))
    return PublishedTable("table", tuple(columns), pa.table(data, names=[column.name for column in columns])), changed
