"""Whose row it is, where people have several, and how many people of a population a row stands for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.randomness import Randomness


def units_of(column: pa.Array | pa.ChunkedArray, name: str) -> NDArray[np.int64]:
    """(n_rows,) the number of the person each row is of, in order of appearance; nobody may be missing.

    A column of dictionaries has one for all of its chunks.

    >>> units_of(pa.array(["Al", "Bo", "Al"]), "patient").tolist()
    [0, 1, 0]
    """
    if column.null_count:
        raise DataError(
            f"Column `{name}` says whose row it is, and it is empty in {column.null_count:,} of {len(column):,} rows. "
            "Fill it in, or leave these rows out; where each is another person, give each a number of its own."
        )
    try:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"Column `{name}` holds {column.type}; who somebody is, is a number or a text.") from error
    chunks = coded.chunks if isinstance(coded, pa.ChunkedArray) else [coded]
    return np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks], dtype=np.int64)


def weights_of(column: pa.Array | pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """(n_rows,) sampling weights: positive, finite and none missing."""
    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    try:
        weights = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    except TypeError:  # a chunked array has no such option
        weights = np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"Column `{name}` is the weight of the rows and holds {column.type}. Give numbers.") from error
    bad = int((~np.isfinite(weights) | (weights <= 0)).sum())
    if bad:
        raise DataError(
            f"Column `{name}` is the weight of the rows: {bad:,} of {len(weights):,} are missing, not finite or not "
            "above 0. A weight says how many people a row stands for; give every row one, or leave `weight` out."
        )
    return weights


def one_row_each(units: NDArray[np.int64], which: str, randomness: Randomness) -> NDArray[np.int64]:
    """The rows that are kept, in order: of every unit its ``first``, its ``last`` or a ``random`` one.

    >>> one_row_each(np.array([7, 7, 3, 7]), "last", Randomness()).tolist()
    [2, 3]
    """
    rank = np.arange(len(units), dtype=np.uint64)
    if which == "last":
        rank = rank[::-1]
    elif which == "random":
        rank = randomness.words("one row per unit", 2 * len(units)).view(np.uint64)
    order = np.lexsort((rank, units))
    ordered = units[order]
    return np.sort(order[np.append(True, ordered[1:] != ordered[:-1])])


def most_of_one(
    groups: NDArray[np.integer], units: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(count,) rows of the person who has most of them in each group, and (count,) how many people are in it.

    >>> [figures.tolist() for figures in most_of_one(np.array([0, 0, 0, 1]), np.array([7, 7, 3, 7]), 2)]
    [[2, 1], [2, 1]]
    """
    n_units = int(units.max(initial=0)) + 1
    pairs, rows = np.unique(np.asarray(groups, dtype=np.int64) * n_units + units, return_counts=True)
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, pairs // n_units, rows)
    return most, np.bincount(pairs // n_units, minlength=count)
