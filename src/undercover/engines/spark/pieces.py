"""What was made of a part, as cells of a DataFrame, and back.

Published rows are cells of their own, so that they can be read where they are; what only the holder may see is beside
them. An error is a piece, too: the driver raises it as it was.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from undercover.engines.spark.packed import Codes, from_bytes, to_bytes
from undercover.model.groups import Groups
from undercover.model.run import Draft

SCHEMA = "part int, what string, place int, cell binary"
ROWS = 1 << 19
"""Published rows in one cell."""
BYTES = 1 << 24
"""Of anything else."""
FAILED, KNOWN, PRIVATE, TABLE = "failed", "known", "private", "table"
_HIDDEN = ("groups", "buckets", "kept", "order", "frames", "row_of_group", "shuffles")


class Piece(NamedTuple):
    """A cell, of which part it is, and what it holds."""

    part: int
    what: str
    place: int
    cell: bytes


@dataclass(frozen=True)
class Failed:
    """The error of a part."""

    error: Exception


def of_error(part: int, error: Exception) -> Iterable[Piece]:
    """An error as pieces."""
    return _pieces(part, FAILED, error)


def of_result(part: int, result: Any, codes: Mapping[str, Codes]) -> Iterable[Piece]:
    """What was made of a part, beside its own rows in their order."""
    if not isinstance(result, Draft):
        yield from _pieces(part, KNOWN, result)
        yield from _pieces(part, PRIVATE, ({}, codes))
        return
    empty = tuple(replace(one, data=one.data.slice(0, 0)) for one in result.tables)
    hidden = {name: getattr(result, name) for name in _HIDDEN}
    hidden["groups"] = (result.groups.labels, result.groups.count)
    none = Groups(np.empty(0, dtype=np.int32), result.groups.count)
    nothing: dict[str, Any] = {"groups": none, "buckets": None, "kept": None, "order": None, "frames": {}}
    nothing |= {"row_of_group": None, "shuffles": ()}
    yield from _pieces(part, KNOWN, replace(result, tables=empty, **nothing))
    yield from _pieces(part, PRIVATE, (hidden, codes))
    for place, one in enumerate(result.tables):
        for start in range(0, one.rows, ROWS):
            yield Piece(part, f"{TABLE} {place}", start // ROWS, to_bytes(one.data.slice(start, ROWS)))


def _pieces(part: int, what: str, held: Any) -> list[Piece]:
    whole = pickle.dumps(held, protocol=5)
    return [Piece(part, what, n, whole[start : start + BYTES]) for n, start in enumerate(range(0, len(whole), BYTES))]


def as_batch(piece: Piece) -> pa.RecordBatch:
    """A piece as a row of the DataFrame."""
    types = (pa.int32(), pa.string(), pa.int32(), pa.binary())
    columns = [pa.array([held], type_) for held, type_ in zip(piece, types, strict=True)]
    return pa.record_batch(columns, names=list(Piece._fields))


def together(pieces: Iterable[Piece]) -> dict[int, Any]:
    """By part: its error, or its draft and the codes of its rows; pieces may come in any order."""
    held: dict[int, dict[str, dict[int, bytes]]] = {}
    for piece in pieces:
        held.setdefault(piece.part, {}).setdefault(piece.what, {})[piece.place] = piece.cell
    return {part: _together(held.pop(part)) for part in sorted(held)}


def _together(held: dict[str, dict[int, bytes]]) -> Any:
    if FAILED in held:
        return Failed(_loaded(held[FAILED]))
    result = _loaded(held[KNOWN])
    hidden, codes = _loaded(held.pop(PRIVATE))
    if not isinstance(result, Draft):
        return result, codes
    tables = []
    for place, one in enumerate(result.tables):
        cells = held.pop(f"{TABLE} {place}", {})
        parts = [from_bytes(cells.pop(n)) for n in sorted(cells)]
        tables.append(replace(one, data=pa.concat_tables(parts) if parts else one.data))
    hidden["groups"] = Groups(*hidden["groups"])
    return replace(result, tables=tuple(tables), **hidden), codes


def _loaded(cells: Mapping[int, bytes]) -> Any:
    return pickle.loads(b"".join(cells[place] for place in sorted(cells)))
