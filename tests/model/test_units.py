"""Who is who at the door: units, one row of each, sampling weights, dropped columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, SchemaError
from undercover.io.spec.load import schema_from_mapping, schema_to_mapping
from undercover.model.table import Table
from undercover.randomness import Randomness

VISITS = pa.table(
    {
        "patient": ["a", "a", "b", "c", "c", "d", "e", "f"],
        "age": [1, 2, 3, 4, 5, 6, 7, 8],
        "ill": list("xyxyxyxy"),
        "note": ["n"] * 8,
        "weight": [10.0] * 8,
    }
)


def schema(**more: object) -> uc.Schema:
    return uc.Schema(quasi_identifiers=["age"], sensitive="ill", unit="patient", **more)  # type: ignore[arg-type]


def test_rows_are_numbered_by_person_and_stay_so_when_rows_are_taken() -> None:
    table = Table.from_arrow(VISITS, schema())
    assert table.units is not None
    assert table.units.tolist() == [0, 0, 1, 2, 2, 3, 4, 5]
    taken = table.take(np.array([1, 4]))
    assert taken.units is not None
    assert taken.units.tolist() == [0, 2]
    assert Table.from_arrow(VISITS, uc.Schema(quasi_identifiers=["age"])).units is None


@pytest.mark.parametrize(("which", "rows"), [("first", [0, 2, 3, 5, 6, 7]), ("last", [1, 2, 4, 5, 6, 7])])
def test_one_row_of_everybody(which: str, rows: list[int]) -> None:
    table = Table.from_arrow(VISITS, schema(one_row_per=which))
    assert table.rows.tolist() == rows
    assert (table.n_input, table.set_aside, table.units) == (8, 2, None)


def test_a_random_row_of_everybody_is_any_of_his_and_found_again() -> None:
    drawn = {tuple(Table.from_arrow(VISITS, schema(one_row_per="random")).rows) for _ in range(100)}
    assert drawn == {(a, 2, c, 5, 6, 7) for a in (0, 1) for c in (3, 4)}
    run = uc.publish(VISITS, schema(one_row_per="random"), uc.Mondrian(k=2))
    again = Table.from_arrow(VISITS, run.schema, one_row=Randomness(run.source["one_row"]))
    assert run.original is not None
    assert again.rows.tolist() == run.original.rows.tolist()
    assert "2 of 8 rows are not published" in " ".join(run.warnings)
    assert "one_row" not in str(run.release.parameters)


def test_the_row_is_chosen_before_missing_values_are_looked_at() -> None:
    data = VISITS.set_column(1, "age", pa.array([None, 2, 3, 4, 5, 6, 7, 8]))
    table = Table.from_arrow(data, schema(one_row_per="first", missing="drop"))
    assert table.rows.tolist() == [2, 3, 5, 6, 7]
    assert table.set_aside == 2
    kept = Table.from_arrow(data, schema(missing="drop"))
    assert kept.units is not None
    assert kept.units.tolist() == [0, 1, 2, 2, 3, 4, 5]


def test_a_person_may_not_be_missing() -> None:
    data = VISITS.set_column(0, "patient", pa.array(["a", "", None, "c", "c", "d", "e", "f"]))
    with pytest.raises(DataError, match=r"`patient` says whose row it is, and it is empty in 2 of 8 rows. Fill it in"):
        Table.from_arrow(data, schema())


@pytest.mark.parametrize("bad", [[None] + [1.0] * 7, [0.0] + [1.0] * 7, [-1.0] * 8, [np.inf] + [1.0] * 7])
def test_a_weight_is_a_number_above_0(bad: list[float | None]) -> None:
    data = VISITS.set_column(4, "weight", pa.array(bad, pa.float64()))
    with pytest.raises(DataError, match=r"`weight` is the weight of the rows: [18] of 8 are missing, not finite"):
        Table.from_arrow(data, schema(weight="weight"))
    with pytest.raises(DataError, match=r"`ill` is the weight of the rows and holds string. Give numbers"):
        Table.from_arrow(VISITS, schema(weight="ill"))


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"unit": "age"}, "Column `age` has more than one role: identifier, quasi-identifier"),
        ({"unit": None, "one_row_per": "first"}, "One row of whom\\? Name the column"),
        ({"one_row_per": "frist"}, "Choice of one row per unit `frist` .*first"),
        ({"population": 1.5}, "must be the share of it that is in the table, in \\(0, 1\\]"),
        ({"population": True}, "Got True instead"),
        ({"population": 0.5, "weight": "weight"}, "the weight or the population, not both"),
        ({"drop": "ill"}, "Column `ill` is dropped and is sensitive"),
    ],
)
def test_what_contradicts_itself_is_refused(said: dict[str, object], problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        uc.Schema(**{"quasi_identifiers": ["age"], "sensitive": "ill", "unit": "patient", **said})  # type: ignore[arg-type]


def test_columns_that_are_spoken_of_must_exist() -> None:
    with pytest.raises(SchemaError) as error:
        Table.from_arrow(VISITS, schema(weight="wait", drop=["nothing"]))
    assert len(error.value.problems) == 2


def test_what_was_decided_is_not_asked_for_again() -> None:
    said = " ".join(uc.publish(VISITS, schema(drop="note", one_row_per="first"), uc.Mondrian(k=2)).warnings)
    assert "Columns without a role are not published: `weight`." in said
    said = " ".join(uc.publish(VISITS, schema(drop="*", one_row_per="first"), uc.Mondrian(k=2)).warnings)
    assert "without a role" not in said
    assert "repeats" not in said


def test_it_is_written_down_and_read_back() -> None:
    told = schema(one_row_per="last", population=0.01, drop=["note"])
    assert schema_from_mapping(schema_to_mapping(told)) == told
    plain = uc.Schema(quasi_identifiers=["age"])
    assert not {"unit", "population", "drop"} & set(schema_to_mapping(plain))
