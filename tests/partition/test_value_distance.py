"""Distances by hand: numbers, dates, ranks, trees, flat categories, matrices, and what is missing."""

import datetime

import pyarrow as pa
import pytest

from undercover.errors import ParameterError
from undercover.methods.mutual_cover.kernels import programs as cover
from undercover.model.distance import between as value_distance
from undercover.model.distance.between import ValueDistance
from undercover.model.distance.declared import Distances
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column
from undercover.model.table import EncodedColumn, encode

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
    assert ValueDistance.of(column(["a"])).widest == 0
    own = Distances(["c", "z", "a", "b"], [[0, 9, 5, 4], [9, 0, 9, 9], [5, 9, 0, 1], [4, 9, 1, 0]])
    distance = ValueDistance.of(column(["a", "b", "c"], Column(distance=own)))
    assert all_pairs(distance) == [[0, 1, 5], [1, 0, 4], [5, 4, 0]]
    assert distance.widest == 5  # of the values that occur


def test_own_distances_come_before_kind_and_tree() -> None:
    flat = Distances(["Bonn", "Lyon"], [[0, 7], [7, 0]])
    assert all_pairs(ValueDistance.of(column(["Bonn", "Lyon"], Column(hierarchy=TOWNS, distance=flat)))) == [
        [0, 7],
        [7, 0],
    ]
    numbers = column([10, 2.5], Column(distance=Distances(["10", "2.5"], [[0, 3], [3, 0]])))
    assert all_pairs(ValueDistance.of(numbers, columns="integer_range")) == [[0, 3], [3, 0]]
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 3)]
    dated = Column(distance=Distances([day.isoformat() for day in days], [[0, 1], [1, 0]]))
    assert ValueDistance.of(column([*days], dated)).between(0, 1) == 1


def test_with_own_distances_missing_is_as_far_as_any_are_apart() -> None:
    own = Distances(["a", "b", "c"], [[0, 1, 5], [1, 0, 4], [5, 4, 0]])
    distance = ValueDistance.of(column(["a", "b", None], Column(distance=own), missing="category"))
    assert all_pairs(distance) == [[0, 1, 5], [1, 0, 5], [5, 5, 0]]


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
