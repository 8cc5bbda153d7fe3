"""Inspection of hand-made tables with known answers."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from undercover.datasets import census, hospital
from undercover.errors import DataError, ParameterError, SchemaError
from undercover.model.schema import Column, Schema
from undercover.studies.inspect.inspection import inspect, values_of
from undercover.studies.inspect.uniqueness import class_sizes


def people() -> pa.Table:
    return pa.table(
        {
            "name": ["Ann", "Bob", "Cyd", "Dan", "Eve", "Fay"],
            "age": [30, 30, 30, 41, None, None],
            "sex": ["f", "m", "f", "m", "f", "f"],
            "disease": ["flu", "flu", "cold", "flu", None, "cold"],
        }
    )


def test_columns_by_hand():
    age = inspect(people()).column("age")
    assert (age.kind, age.distinct, age.missing) == ("numeric", 2, 2)
    assert age.unique_share == pytest.approx(1 / 6)
    assert age.top_share == pytest.approx(3 / 6)
    assert age.summary == {"min": 30, "max": 41}
    disease = inspect(people()).column("disease")
    assert disease.summary == {"top": [{"value": "flu", "count": 3}, {"value": "cold", "count": 2}]}


def test_a_missing_value_is_a_value_of_its_own():
    # (30, f) twice, (30, m), (41, m), (missing, f) twice: two rows alone, four in pairs.
    found = inspect(people())
    assert [(row["classes"], row["rows"]) for row in found.class_sizes[:2]] == [(2, 2), (2, 4)]
    assert found.classes == 4
    assert found.prosecutor.mean == pytest.approx(4 / 6)


def test_a_unique_person_of_unknown_age_is_alone():
    table = pa.table({"age": [30, 30, 30, None], "sex": ["f", "f", "f", "f"]})
    assert inspect(table).class_sizes[0]["rows"] == 1
    unknown = pa.table({"age": [30.0, 30.0, float("nan"), None], "sex": ["f"] * 4})
    assert inspect(unknown).class_sizes[1]["rows"] == 4


def test_combinations_against_brute_force():
    table = census(2000, seed=8)
    schema = Schema(quasi_identifiers=["age", "sex", "birthplace", "hours"], sensitive="income")
    found = inspect(table, schema=schema)
    assert found.combinations_tried == 4 + 6 + 4
    for combination in found.combinations:
        counts = Counter(zip(*(table[name].to_pylist() for name in combination.columns), strict=True))
        assert combination.unique_rows == sum(count == 1 for count in counts.values())
        assert combination.classes == len(counts)
    whole = Counter(zip(*(table[name].to_pylist() for name in schema.quasi_identifiers), strict=True))
    assert found.classes == len(whole)
    assert found.class_sizes[0]["rows"] == sum(count == 1 for count in whole.values())
    assert sum(row["rows"] for row in found.class_sizes) == 2000


def test_roles_of_the_census_and_the_papers():
    roles = {column.name: column.role for column in inspect(census(3000)).columns}
    assert [name for name, role in roles.items() if role == "sensitive"] == ["income", "salary"]
    assert all(role in ("sensitive", "quasi-identifier") for role in roles.values())
    for name, example in hospital().items():
        found = inspect(example.table)
        for role, names in example.schema.by_role().items():
            known = [column for column in names if column not in ("group", "owner", "id")]
            assert set(known) <= set(found.named(role)), name


def test_no_value_of_a_suspected_identifier_is_shown():
    table = pa.table(
        {
            "name": [f"Zaphod{i}" for i in range(30)],
            "contact": [f"Zaphod{i}@example.org" for i in range(30)],
            "note text": [f"Zaphod{i} came by" for i in range(30)],
            "patient_id": [770000 + i for i in range(30)],
            "age": [20 + i % 4 for i in range(30)],
        }
    )
    text = json.dumps(inspect(table).to_dict())
    assert "Zaphod" not in text
    assert "77000" not in text


def test_repeated_identifiers_are_said_loudly():
    table = pa.table({"patient_id": [1, 1, 1, 2, 3, 3], "age": [30, 31, 32, 40, 50, 51]})
    found = inspect(table)
    repeated = found.repeated[0]
    assert (repeated.column, repeated.values, repeated.rows_sharing, repeated.most_rows) == ("patient_id", 3, 5, 3)
    assert found.warnings[0].startswith("SEVERAL ROWS PER PERSON")
    assert "5 rows" in found.warnings[0]
    assert inspect(people()).repeated == ()


def test_missing_identifiers_are_not_a_person():
    table = pa.table({"patient_id": [1, 2, None, None], "age": [30, 31, 32, 40]})
    assert inspect(table).repeated == ()


def test_declared_schema_decides():
    schema = Schema(
        quasi_identifiers="disease", sensitive="age", insensitive="sex", columns={"age": Column(kind="categorical")}
    )
    found = inspect(people(), schema=schema)
    assert found.declared
    assert found.named("quasi-identifier") == ("disease",)
    assert found.named("none") == ("name",)
    assert found.column("age").kind == "categorical"


def test_journalist_needs_a_population():
    whole, sample = inspect(people()), inspect(people(), population_fraction=0.1)
    assert whole.journalist == whole.prosecutor
    assert sample.prosecutor == whole.prosecutor
    assert sample.journalist.highest < whole.journalist.highest
    assert sample.to_dict()["risk"]["marketer"] == sample.journalist.mean


def test_without_quasi_identifiers_there_is_no_risk_but_a_warning():
    found = inspect(pa.table({"foo": [1, 1, 2], "disease": ["a", "b", "b"]}))
    assert found.prosecutor is None
    assert found.class_sizes == ()
    assert any("quasi-identifier" in warning for warning in found.warnings)
    json.dumps(found.to_dict(), allow_nan=False)


def test_null_markers_are_pointed_out():
    found = inspect(pa.table({"race": ["a", "?", "b", "?"], "sex": ["f", "m", "NA", "f"]}))
    assert found.column("race").null_markers == {"?": 2}
    assert found.column("sex").null_markers == {"NA": 1}
    assert any("'?'" in warning for warning in found.warnings)


def test_every_arrow_type_goes_through():
    n = 4
    table = pa.table(
        {
            "flag": [True, False, None, True],
            "when": pa.array([0, 1, 2, 3], pa.timestamp("us", tz="UTC")),
            "day": pa.array([1, 2, 3, 4], pa.date32()),
            "clock": pa.array([1, 2, 3, 4], pa.time32("s")),
            "money": pa.array(["1.50", "2.50", None, "3.00"]).cast(pa.decimal128(10, 2)),
            "large": pa.array(["a", "b", "c", "a"], pa.large_string()),
            "view": pa.array(["a", "b", "c", "a"], pa.string_view()),
            "bytes": pa.array([b"a", b"b", b"c", b"a"]),
            "list": [[1], [1], [2, 3], None],
            "struct": [{"x": 1}, {"x": 1}, None, {"x": 2}],
            "null": pa.nulls(n),
            "inf": [1.0, float("inf"), float("-inf"), float("nan")],
            "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["a", "a", None])),
        }
    )
    found = inspect(pa.concat_tables([table.slice(0, 2), table.slice(2)]))
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.column("list").distinct == 2
    assert found.column("dictionary").distinct == 1
    assert found.column("dictionary").missing == 2
    assert found.column("inf").missing == 1
    assert found.column("null").missing == n


def test_chunks_and_dictionaries_do_not_change_the_answer():
    table = census(500, seed=2)
    plain = pa.table(
        {
            name: table[name].cast(pa.string()) if pa.types.is_dictionary(table[name].type) else table[name]
            for name in table.column_names
        }
    )
    chunked = pa.concat_tables([plain.slice(0, 123), plain.slice(123, 1), plain.slice(124)])
    assert inspect(table).to_dict()["class_sizes"] == inspect(chunked).to_dict()["class_sizes"]
    shuffled = plain.take(pa.array(np.random.default_rng(0).permutation(500)))
    assert inspect(shuffled).to_dict()["risk"] == inspect(plain).to_dict()["risk"]


def test_codes_are_narrow_and_classes_of_them_do_not_overflow():
    rows = 40_000
    table = pa.table({name: pa.array(np.arange(rows) // step % 100) for name, step in (("a", 1), ("b", 100), ("c", 7))})
    values = values_of(table)
    assert {one.coded.codes.dtype for one in values.values()} == {np.dtype(np.int8)}
    whole = np.stack([np.asarray(column) for column in table.columns], axis=1)
    expected = np.unique(whole, axis=0, return_counts=True)[1]
    assert sorted(class_sizes([one.coded for one in values.values()])) == sorted(expected)


def test_what_is_held_as_codes_is_not_decoded():
    held = pa.DictionaryArray.from_arrays(pa.array([2, None, 2, 0, 3], pa.int16()), pa.array(["x", "spare", "y", "x"]))
    (values,) = values_of(pa.table({"held": held})).values()
    assert values.values.to_pylist() == ["x", "y"]  # one listed twice, one that nobody has
    assert values.coded.codes.tolist() == [1, 2, 1, 0, 0]
    assert (values.counts.tolist(), values.missing, values.coded.size) == ([2, 2], 1, 3)


def test_bad_input():
    with pytest.raises(DataError, match="empty"):
        inspect(people().slice(0, 0))
    with pytest.raises(DataError, match="more than one column named `a`"):
        inspect(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(SchemaError, match="Did you mean `age`"):
        inspect(people(), schema=Schema(quasi_identifiers="agee"))
    for fraction in (0, -1, 1.5, float("nan")):
        with pytest.raises(ParameterError, match="population_fraction"):
            inspect(people(), population_fraction=fraction)
