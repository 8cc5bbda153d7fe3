"""Distances of the holder's own: what is taken, and every fault that is told."""

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, SchemaError
from undercover.model.distance.declared import Distances

THREE = ["a", "b", "c"]


def test_what_is_taken() -> None:
    own = Distances(np.array(["a", "b", "c"]), np.array([[0, 1, 0.5], [1, -0.0, 0], [0.5, 0, 0]]))
    assert own.values == ("a", "b", "c")
    assert own.rows == ((0.0, 1.0, 0.5), (1.0, 0.0, 0.0), (0.5, 0.0, 0.0))
    assert str(own.rows[1][1]) == "0.0"
    assert (own.largest, own.uncovered(["b", "x"])) == (1.0, ["x"])
    assert own.among(["c", "a"]).tolist() == [[0, 0.5], [0.5, 0]]
    assert own == Distances(THREE, own.rows)
    assert hash(own) == hash(Distances(THREE, own.rows))
    assert own != Distances(["a", "b", "d"], own.rows)
    assert repr(Distances(["a"], [[0]])) == "<Distances between 1 values; .values and .rows list them>"


@pytest.mark.parametrize(
    ("values", "rows", "problems"),
    [
        (THREE, [[0, 1, 2], [1, 0, 3], [2, 4, 0]], ["both ways: 3 from `b` to `c`, 4 from `c` to `b`."]),
        (THREE, [[0, 1, 2], [1, 7, 3], [2, 3, 0]], ["must be 0. Got 7 for `b`."]),
        (["a", "b"], [[0, -1], [-1, 0]], ["Got -1 from `a` to `b`.", "Got -1 from `b` to `a`."]),
        (["a", "b"], [[0, np.inf], [np.nan, 0]], ["Got inf from `a` to `b`.", "Got nan from `b` to `a`."]),
        (["a", "a"], [[0, 1], [1, 0]], ["more than once"]),
        (["a", ""], [[0, 1], [1, 0]], ["an empty value"]),
        (["a", "b"], [[0, 1]], ["need 2 rows. Got 1."]),
        (["a", "b"], [[0, 1], [1]], ["Row `b` needs 2 numbers"]),
        (["a", "b"], [[0, "1"], [True, 0]], ["`a` to `b` must be a number. Got '1'", "`b` to `a` must be a number"]),
        ([], [], ["need values"]),
        (range(1001), [], ["at most 1,000 values. Got 1,001."]),
        (["a", "b"], [[3, 1], [2, 4]], ["Got 3 for `a`.", "Got 4 for `b`.", "both ways: 1 from `a` to `b`, 2 from"]),
    ],
)
def test_every_fault_is_told(values: list[str], rows: list[list[object]], problems: list[str]) -> None:
    with pytest.raises(SchemaError) as caught:
        Distances(values, rows)
    assert len(caught.value.problems) == len(problems)
    for told, expected in zip(caught.value.problems, problems, strict=True):
        assert expected in told


def test_many_faults_of_a_kind_are_not_all_told() -> None:
    with pytest.raises(SchemaError) as caught:
        Distances(range(20), np.full((20, 20), -1.0))
    assert len(caught.value.problems) == 6
    assert caught.value.problems[-1] == "And 395 more problems of this kind."


def test_a_column_takes_distances_and_nothing_else() -> None:
    own = Distances(THREE, 1 - np.eye(3))
    assert uc.Column(distance=own).distance is own
    with pytest.raises(SchemaError, match="must be a Distances"):
        uc.Column(distance=[[0, 1], [1, 0]])  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["sensitive", "insensitive", "identifiers"])
def test_distances_belong_to_quasi_identifiers(role: str) -> None:
    columns = {"ill": uc.Column(distance=Distances(THREE, 1 - np.eye(3)))}
    with pytest.raises(SchemaError, match=r"Column `ill` is .*a distance belongs to quasi-identifiers"):
        uc.Schema(**{"quasi_identifiers": ["town"], role: "ill"}, columns=columns)  # type: ignore[arg-type]
    assert uc.Schema(quasi_identifiers=["town"], columns=columns).columns == columns  # not published at all


def test_values_nobody_spoke_of_are_named() -> None:
    columns = {"town": uc.Column(distance=Distances(["Bonn", "Ulm"], [[0, 1], [1, 0]]))}
    schema = uc.Schema(quasi_identifiers=["town"], columns=columns, missing="category")
    assert uc.Table.from_arrow(pa.table({"town": ["Ulm", None]}), schema).n_rows == 2
    with pytest.raises(DataError, match=r"`town` do not speak of 2 values \(.*\)\. Add a row and a column for each"):
        uc.Table.from_arrow(pa.table({"town": ["Ulm", "bonn", "Kiel"]}), schema)
