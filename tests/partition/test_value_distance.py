"""Distances by hand: numbers, dates, ranks, trees, flat categories, matrices, and what is missing."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from undercover.errors import ParameterError
from undercover.kernels import cover
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column
from undercover.model.table import EncodedColumn, encode
from undercover.partition import value_distance
from undercover.partition.value_distance import ValueDistance

TOWNS = Hierarchy([("Bonn", "DE"), ("Köln", "DE"), ("Ulm", "DE"), ("Lyon", "FR"), ("Metz", "FR")])


def column(values: list[object], settings: Column | None = None, missing: str = "error") -> EncodedColumn:
    return encode("it", pa.array(values), settings or Column(), missing=missing)


def all_pairs(distance: ValueDistance) -> list[list[float]]:
    size = distance.outputs.size
    return [[distance.between(u, v) for v in range(size)] for u in range(size)]


def test_kinds_are_numbered_as_in_the_kernel() -> None:
    names = ("NUMERIC", "TREE", "FLAT", "MATRIX")
    assert [getattr(value_distance, name) for name in names] == [getattr(cover, name) for name in names]


def test_numbers_and_dates() -> None:
    assert all_pairs(ValueDistance.of(column([1, 4, 6]))) == [[0, 3, 5], [3, 0, 2], [5, 2, 0]]
    days = column([datetime.date(2024, 1, 1), datetime.date(2024, 1, 3)])
    assert ValueDistance.of(days).between(0, 1) == 2 * 86400


def test_ranks() -> None:
    settings = Column(kind="ordinal", domain=("low", "middle", "high"))
    assert all_pairs(ValueDistance.of(column(["high", "low"], settings))) == [[0, 1], [1, 0]]


def test_leaves_below_the_lowest_common_node() -> None:
    # Codes by label: Bonn, Köln, Lyon, Ulm. Three German leaves of five in all: (3 - 1) / (5 - 1).
    distance = ValueDistance.of(column(["Bonn", "Köln", "Lyon", "Ulm"], Column(hierarchy=TOWNS)))
    assert all_pairs(distance) == [[0, 0.5, 1, 0.5], [0.5, 0, 1, 0.5], [1, 1, 0, 1], [0.5, 0.5, 1, 0]]
    assert distance.widest == 1
    assert ValueDistance.of(column(["Bonn", "Ulm"], Column(hierarchy=TOWNS))).widest == 0.5


def test_flat_categories_and_a_matrix() -> None:
    letters = column(["a", "b", "c"])
    assert all_pairs(ValueDistance.of(letters)) == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    own = np.array([[0, 1, 5], [2, 0, 4], [3, 3, 0]])
    assert all_pairs(ValueDistance.of(letters, matrix=own)) == own.tolist()
    assert ValueDistance.of(letters, matrix=own).widest == 5
    assert ValueDistance.of(column(["a"])).widest == 0


@pytest.mark.parametrize("own", [np.zeros((2, 3)), np.full((3, 3), 1.0), -(1 - np.eye(3)), np.diag([np.inf] * 3)])
def test_what_is_no_matrix_of_distances(own: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="distances of `it`"):
        ValueDistance.of(column(["a", "b", "c"]), matrix=own)


def test_a_missing_value_is_far_from_all() -> None:
    assert ValueDistance.of(column([1, 4, None], missing="category")).between(0, 2) == 6
    assert ValueDistance.of(column([1, 4, None], missing="category")).between(1, 2) == 3
    assert ValueDistance.of(column([7, None], missing="category")).between(0, 1) == 1
    towns = ValueDistance.of(column(["Bonn", "Ulm", None], Column(hierarchy=TOWNS), missing="category"))
    assert (towns.between(0, 2), towns.between(2, 0), towns.between(2, 2), towns.widest) == (1, 1, 0, 1)


def test_every_whole_number_between_the_ends() -> None:
    distance = ValueDistance.of(column([3, 7, None], missing="category"), columns="integer_range")
    assert distance.outputs.labels == ("3", "4", "5", "6", "7", "")
    assert [distance.between(1, output) for output in range(5)] == [4, 3, 2, 1, 0]
    assert not ValueDistance.of(column([0.5, 2.0]), columns="integer_range").spans_integers
    with pytest.raises(ParameterError, match="spans 1,000,001 whole numbers"):
        ValueDistance.of(column([0, 1_000_000]), columns="integer_range")
