"""Specs: what a file says, and everything that is wrong with it at once."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from undercover.errors import SchemaError
from undercover.io.source import ReadOptions
from undercover.io.spec.load import load_spec, resolve, schema_from_mapping, schema_to_mapping
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema

WHOLE = """
[data]
missing = "drop"
separator = ";"
decimal = ","
encoding = "latin-1"
nulls = ["?", "NA"]
[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "education", "zip", "born"]
sensitive = "disease"
insensitive = ["note"]
[columns.age]
kind = "numeric"
weight = 2
hierarchy = {intervals = [5, 10]}
[columns.education]
hierarchy = "sub/education.csv"
[columns.zip]
kind = "categorical"
hierarchy = {prefixes = [3, 1]}
[columns.born]
hierarchy = {dates = ["month", "year"]}
[columns.disease]
kind = "ordinal"
domain = ["flu", "cold", 3]
[method]
name = "mutual-cover"
delta = "1/5"
l = 10
[[require]]
name = "k-anonymity"
k = 5
[[require]]
name = "l-diversity"
l = 2.5
"""


def put(folder: Path, content: str) -> Path:
    path = folder / "s.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_a_whole_spec(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "education.csv").write_text("level0,level1\nBA,higher\nMA,higher\n")
    spec = load_spec(put(tmp_path, WHOLE))
    assert spec.schema.quasi_identifiers == ("age", "education", "zip", "born")
    assert spec.schema.sensitive == ("disease",)
    assert (spec.schema.identifiers, spec.schema.insensitive, spec.schema.missing) == (("name",), ("note",), "drop")
    assert spec.schema.column("education").hierarchy == Hierarchy([("BA", "higher"), ("MA", "higher")])
    assert spec.schema.column("age") == Column(kind="numeric", weight=2)
    assert spec.schema.column("disease").domain == ("flu", "cold", "3")
    assert (spec.method_name, spec.method_parameters) == ("mutual-cover", {"delta": "1/5", "l": 10})
    assert spec.requirements == ({"name": "k-anonymity", "k": 5}, {"name": "l-diversity", "l": 2.5})
    assert spec.options == ReadOptions(
        separator=";", decimal=",", encoding="latin-1", nulls=("?", "NA"), text=("zip", "disease")
    )
    assert spec.path == tmp_path / "s.toml"

    data = pa.table({"age": [34, None], "zip": ["10115", "20095"], "born": ["1990-05-01", "1991-01-01"]})
    schema = resolve(spec, data)
    assert schema.column("age").hierarchy == Hierarchy([("34", "[30, 34]", "[30, 39]", "*")])
    assert schema.column("age").weight == 2
    assert schema.column("zip").hierarchy == Hierarchy([("10115", "101**", "1****"), ("20095", "200**", "2****")])
    born = schema.column("born").hierarchy
    assert born is not None
    assert born.rows[0] == ("1990-05-01", "1990-05", "1990", "*")
    assert schema.missing == "drop"


def test_a_spec_may_be_nearly_empty(tmp_path: Path) -> None:
    spec = load_spec(put(tmp_path, '[roles]\nquasi_identifiers = "age"\nsensitive = ["a", "b"]\n'))
    assert spec.schema == Schema(quasi_identifiers=["age"], sensitive=["a", "b"])
    assert (spec.method_name, spec.requirements, spec.options) == (None, (), ReadOptions())


def test_all_problems_are_reported_together_with_their_keys(tmp_path: Path) -> None:
    content = """
[data]
missing = "drp"
seperator = ";"
[roles]
quasi_identifiers = ["age"]
sensitve = "x"
[columns.age]
knd = "numeric"
weight = "heavy"
[methd]
name = "x"
[[require]]
k = 5
"""
    with pytest.raises(SchemaError) as caught:
        load_spec(put(tmp_path, content))
    text = str(caught.value)
    assert len(caught.value.problems) == 7
    assert "`data.missing`: value `drp` is not known. Did you mean `drop`?" in text
    assert "Key `data.seperator` is not known. Did you mean `separator`?" in text
    assert "Key `roles.sensitve` is not known. Did you mean `sensitive`?" in text
    assert "Key `columns.age.knd` is not known. Did you mean `kind`?" in text
    assert "`columns.age.weight` must be a number. Got 'heavy' instead." in text
    assert "Key `methd` is not known. Did you mean `method`?" in text
    assert "`require.1.name` is missing." in text
    assert text.count("s.toml") == 7


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[roles", "is not TOML"),
        ("", "At least one quasi-identifier"),
        ("[roles]\nquasi_identifiers = [1]\n", r"`roles.quasi_identifiers` must be a column name or a list"),
        ('[roles]\nquasi_identifiers = ["a"]\nsensitive = "a"\n', "more than one role"),
        ('[columns.a]\nweight = -1\n[roles]\nquasi_identifiers = "a"', r"\[columns.a\]: The weight"),
        ('[columns.a]\nkind = "ordinal"\n[roles]\nquasi_identifiers = "a"', "needs its values in order"),
        ('[columns.a]\nhierarchy = "none.csv"', r"`columns.a.hierarchy`: The hierarchy .*none.csv` cannot be read"),
        ("[columns.a]\nhierarchy = 5", "must be a path or a table"),
        ("[columns.a]\nhierarchy = {interval = [5]}", r"Key `columns.a.hierarchy.interval` is not known. Did you mean"),
        ("[columns.a]\nhierarchy = {intervals = [5], dates = []}", "must name one of"),
        ("[columns.a]\nhierarchy = {}", "must name one of .* Found: none"),
        ('[columns.a]\nhierarchy = {prefixes = ["x"]}', r"`columns.a.hierarchy.prefixes.1` must be a"),
    ],
)
def test_single_problems(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        load_spec(put(tmp_path, content))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="No such file"):
        load_spec(tmp_path / "none.toml")
    (tmp_path / "s.toml").write_bytes("# Köln".encode("latin-1"))
    with pytest.raises(SchemaError, match="not UTF-8"):
        load_spec(tmp_path / "s.toml")


def test_recipes_that_do_not_fit_the_data_are_reported_together(tmp_path: Path) -> None:
    content = """
[roles]
quasi_identifiers = ["age", "zip"]
[columns.age]
hierarchy = {intervals = [5, 7]}
[columns.zpi]
hierarchy = {prefixes = [1]}
"""
    spec = load_spec(put(tmp_path, content))
    with pytest.raises(SchemaError) as caught:
        resolve(spec, pa.table({"age": [1], "zip": ["1"]}))
    assert len(caught.value.problems) == 2


def test_a_schema_survives_json() -> None:
    schema = Schema(
        quasi_identifiers=["age", "zip"],
        sensitive="disease",
        identifiers=["name"],
        insensitive=["note"],
        columns={
            "age": Column(kind="numeric", weight=2.5),
            "zip": Column(hierarchy=Hierarchy([("1", "a"), ("2", "b")])),
            "disease": Column(kind="ordinal", domain=("low", "high")),
        },
        missing="category",
    )
    assert schema_from_mapping(json.loads(json.dumps(schema_to_mapping(schema), allow_nan=False))) == schema
