"""Sampling and perturbation in secret, and the rows that are published of it.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section IV.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.model.channel import Channel
from undercover.model.form import PEOPLE
from undercover.model.groups import Groups
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.table import Table, write_values
from undercover.randomness import Randomness
from undercover.steps.recoding import Cells
from undercover.steps.shuffling import spare_words

Array = NDArray[np.int64]


def draw_rows(groups: Groups, randomness: Randomness) -> Array:
    """One uniformly random row of every group."""
    from undercover.methods.perturbed_generalization.kernels import draw_positions

    attempt = 0
    while True:
        words = randomness.words(f"row of a cell/{attempt}", groups.count)
        spare = randomness.words(f"row of a cell/{attempt}/spare", spare_words(groups.count, int(groups.sizes.max())))
        drawn = draw_positions(groups.offsets, words, spare)
        if len(drawn):
            return np.asarray(groups.order[drawn], dtype=np.int64)
        attempt += 1


def perturbed(codes: NDArray[Any], p: Fraction, size: int, randomness: Randomness) -> Array:
    """Every code kept with probability ``p`` (rounded down to 64 bits), otherwise drawn uniformly below ``size``."""
    from undercover.methods.perturbed_generalization.kernels import perturb

    if p == 1:
        return codes.astype(np.int64)
    threshold = np.uint64(int(p * (1 << 64)))
    attempt = 0
    while True:
        high, low, words = (
            randomness.words(f"{purpose}/{attempt}", len(codes)) for purpose in ("keep", "keep, low", "new value")
        )
        spare = randomness.words(f"new value/{attempt}/spare", spare_words(len(codes), size))
        drawn = perturb(codes.astype(np.int64), high, low, threshold, words, spare, size)
        if len(drawn) or not len(codes):
            return np.asarray(drawn)
        attempt += 1


def published_rows(
    table: Table, sensitive: str, groups: Groups, cells: list[Cells], values: NDArray[np.int64], noise: Channel
) -> PublishedTable:
    """One row per cell, in the order of the cells."""
    order = np.lexsort(np.stack([column.codes for column in cells])[::-1])
    columns = [PublishedColumn(column.name, "quasi-identifier", column.form) for column in cells]
    data: list[Any] = [
        pa.DictionaryArray.from_arrays(
            pa.array(column.codes[order].astype(np.int32)), pa.array(column.labels, pa.string())
        )
        for column in cells
    ]
    form = table[sensitive].settings.form
    columns += [PublishedColumn(sensitive, "sensitive", form), PublishedColumn(PEOPLE, "structure", "value")]
    written = typed_domain(table, sensitive, noise.domain)
    assert written is not None
    data += [written.take(pa.array(values[order])), pa.array(groups.sizes[order])]
    return PublishedTable("table", tuple(columns), pa.table(data, names=[column.name for column in columns]))


def typed_domain(table: Table, sensitive: str, domain: tuple[str, ...]) -> pa.Array | None:
    """The declared values as numbers or dates where the column has them; ``None`` where they are written otherwise."""
    texts = pa.array(domain, pa.string())
    if table[sensitive].domain.kind not in ("numeric", "date"):
        return texts
    for kind in dict.fromkeys((table[sensitive].domain.values.type, pa.float64())):
        try:
            values = texts.cast(kind)
        except pa.ArrowInvalid:
            continue
        if tuple(write_values(values)) == domain:
            return values
    return None


def domain_codes(table: Table, sensitive: str, domain: tuple[str, ...]) -> NDArray[np.int64]:
    """The sensitive values as positions in the declared domain; the schema has checked that all lie in it."""
    place = {label: code for code, label in enumerate(domain)}
    column = table[sensitive]
    return np.array([place[label] for label in column.domain.labels], dtype=np.int64)[column.codes]
