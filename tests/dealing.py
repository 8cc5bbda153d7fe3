"""Runs made by hand in which columns were permuted inside blocks and values dealt inside groups: one for each shape.

Whoever makes such releases is tested elsewhere; here they are as plain as can be, so that what reads them is tested.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

import undercover as uc
from undercover.model.form import Drawn
from undercover.model.groups import Groups
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.run import Draft, Run
from undercover.model.table import Table

Shape = Literal["layers", "blocks", "groups"]
SHAPES: tuple[Shape, ...] = ("layers", "blocks", "groups")
SIZE = 5
"""Rows of a group, and of a block."""
ILLNESSES = ("flu", "cold", "gout", "rash", "ulcer")


@dataclass(frozen=True, kw_only=True)
class Dealing:
    """Blocks are rows that stand together; groups take rows of different values."""

    name: ClassVar[str] = "dealing-by-hand"
    algorithm_safe: ClassVar[bool] = True
    shape: Shape = "layers"
    l: int | None = 4  # noqa: E741
    delta: str | None = "1/5"

    def claims(self, table: Table) -> tuple[Any, ...]:
        """What the shape promises."""
        if self.shape == "blocks":
            return (uc.OwnerCover(delta=str(self.delta)),)
        assert self.l is not None
        if self.shape == "groups":
            return uc.AttributeCover(l=self.l), uc.OwnerCover(delta=str(self.delta))
        return uc.AttributeCover(l=self.l), uc.OwnerCover(delta=str(self.delta), of="cells")

    def anonymize(self, table: Table, *, engine: Any, randomness: Any, progress: Any = None) -> Draft:
        """Permute and deal."""
        draw, n = np.random.default_rng(randomness.seed), table.n_rows
        codes = {name: column.codes.copy() for name, column in table.columns.items()}
        blocks = np.minimum(np.arange(n) // SIZE, n // SIZE - 1)
        groups = _groups(table[table.schema.sensitive[0]].codes)
        together = groups if self.shape == "groups" else blocks
        for name in (*table.schema.quasi_identifiers, *table.schema.insensitive):
            codes[name] = codes[name][_within(together, draw)]
        published = np.arange(n)
        if self.shape == "layers":
            moved = _within(groups, draw)  # place i shows the value of the person moved[i]
            published[moved] = np.arange(n)
            for name in table.schema.sensitive:
                codes[name] = codes[name][moved]
        order = draw.permutation(n)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        roles = (
            ("quasi-identifier", table.schema.quasi_identifiers),
            ("sensitive", table.schema.sensitive),
            ("insensitive", table.schema.insensitive),
        )
        columns = [PublishedColumn(name, role, "value") for role, names in roles for name in names]
        data = {column.name: table[column.name].domain.take(codes[column.name][order]) for column in columns}
        frames = {"published_rows": pa.table({"row": table.rows, "published": place[published], "cells": place})}
        if self.shape == "layers":
            frames["blocks"] = pa.table({"row": table.rows, "block": blocks})
        permuted = self.shape != "blocks"
        return Draft(
            tables=(PublishedTable("table", tuple(columns), pa.table(data)),),
            groups=Groups((blocks if self.shape == "blocks" else groups).astype(np.int32), int(max(groups) + 1)),
            form=Drawn(
                values="permuted" if permuted else "own", among=self.l if permuted else None, columns="permuted"
            ),
            frames=frames,
        )


def _groups(codes: Any) -> Any:
    """Rows in the order of their values, dealt to as many groups as have five rows: no value comes twice to one."""
    found = np.empty(len(codes), dtype=np.int64)
    found[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % (len(codes) // SIZE)
    return found


def _within(labels: Any, draw: Any) -> Any:
    """A permutation of rows that keeps everybody inside the own group."""
    order = np.arange(len(labels))
    for label in np.unique(labels):
        inside = np.flatnonzero(labels == label)
        order[inside] = draw.permutation(inside)
    return order


def people(n: int = 40, *, insensitive: bool = False) -> tuple[pa.Table, uc.Schema]:
    """People of whom every illness has as many; with ``insensitive`` a column that is no secret."""
    data = {
        "age": [20 + (i * 7) % 31 for i in range(n)],
        "town": [("Bonn", "Lyon", "Rome")[i // 4 % 3] for i in range(n)],
        "ill": [ILLNESSES[i * 3 % 5] for i in range(n)],
        "pet": [("cat", "dog", "none", "newt")[i % 4] for i in range(n)],
    }
    schema = uc.Schema(quasi_identifiers=["age", "town"], sensitive="ill", insensitive=["pet"] if insensitive else [])
    return pa.table(data), schema


def dealt(shape: Shape, *, n: int = 40, insensitive: bool = False, **asked: Any) -> Run:
    """A run of one shape, verified."""
    data, schema = people(n, insensitive=insensitive)
    settings = {"layers": {}, "blocks": {"l": None}, "groups": {"delta": "1/4"}}[shape] | asked
    return uc.publish(data, schema, Dealing(shape=shape, **settings), seed=3)
