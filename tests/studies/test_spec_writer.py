"""The spec to start from parses, says why, and can be read back into a schema."""

import tomllib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercover.datasets import census
from undercover.errors import OutputError
from undercover.model.schema import Column, Schema
from undercover.studies.inspect.inspection import inspect
from undercover.studies.inspect.spec import write_spec

NASTY = [
    'say "hi"',
    "a.b",
    "a b",
    "späße",
    "年齢",
    "tab\there",
    "line\nbreak",
    "back\\slash",
    "#hash",
    "]",
    "'",
    "",
    "\x7f",
]


def spec_of(table: pa.Table, **options) -> dict:
    return tomllib.loads(write_spec(inspect(table, **options)))


def schema_of(spec: dict) -> Schema:
    columns = {name: Column(**settings) for name, settings in spec.get("columns", {}).items()}
    return Schema(**spec["roles"], columns=columns, missing=spec["data"]["missing"])


def test_census():
    spec = spec_of(census(3000))
    assert spec["roles"]["sensitive"] == "income"
    assert spec["roles"]["quasi_identifiers"][:2] == ["age", "sex"]
    assert spec["columns"] == {"occupation": {"kind": "categorical"}}
    assert spec["method"] == {"name": "mondrian", "k": 5, "l": 3}
    assert spec["data"] == {"missing": "error"}
    assert schema_of(spec).sensitive == ("income",)


def test_reasons_are_comments():
    text = write_spec(inspect(pa.table({"age": [30, 40], "foo": [1, 2], "disease": ["a", "b"]})))
    assert '"age",  # The name speaks of an age' in text
    assert '#   "foo": publish, drop, or may somebody know it?' in text
    assert '# drop = ["foo"]' in text


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("prefix", ["age ", "disease ", "name ", "sex ", "zzz "])
def test_nasty_column_names(name, prefix):
    column = prefix + name
    table = pa.table({column: [i % 3 for i in range(30)], "Alter": [i % 4 for i in range(30)]})
    spec = spec_of(table)
    named = [*spec["roles"].get("identifiers", []), *spec["roles"]["quasi_identifiers"]]
    named.append(spec["roles"].get("sensitive"))
    assert (column in named) == (prefix != "zzz ")
    assert "Alter" in named


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), min_size=1, max_size=4, unique=True))
def test_any_column_name_survives(names):
    table = pa.table({name: [1, 2, 2] for name in names})
    schema = Schema(quasi_identifiers=names, columns={names[0]: Column(kind="date")})
    spec = spec_of(table.set_column(0, names[0], pa.array([1, 2, 2], pa.date32())), schema=schema)
    assert spec["roles"]["quasi_identifiers"] == names
    assert spec["columns"][names[0]] == {"kind": "date"}


def test_l_only_where_it_can_be_reached():
    exactly = pa.table({"age": [1, 2, 3, 4, 5, 6], "disease": ["a", "a", "b", "b", "c", "c"]})
    assert spec_of(exactly)["method"]["l"] == 3
    above = pa.table({"age": [1, 2, 3, 4, 5], "disease": ["a", "a", "b", "c", "d"]})
    assert "l" not in spec_of(above)["method"]
    assert "l cannot be above 2" in write_spec(inspect(above))


def test_missing_values_count_for_l_and_are_a_category():
    table = pa.table({"age": [1, 2, 3, 4, 5, 6], "disease": ["a", "b", "c", None, None, None]})
    spec = spec_of(table)
    assert spec["data"]["missing"] == "category"
    assert "l" not in spec["method"]


def test_the_first_eligible_sensitive_column_is_taken():
    rows = 60
    table = pa.table(
        {
            "age": [i % 5 for i in range(rows)],
            "hiv": [i < 50 for i in range(rows)],
            "number_of_diagnoses": [i % 6 for i in range(rows)],
            "disease": [f"d{i % 6}" for i in range(rows)],
        }
    )
    assert spec_of(table)["roles"]["sensitive"] == "disease"
    assert '#   "hiv": its most frequent value is 83.3% of the rows' in write_spec(inspect(table))


def test_declared_roles_are_kept():
    schema = Schema(quasi_identifiers="disease", sensitive=["age", "hiv"], insensitive="x", identifiers="n")
    table = pa.table({"n": [1, 2], "disease": ["a", "b"], "age": [1, 2], "hiv": [0, 1], "x": [1, 1]})
    assert schema_of(spec_of(table, schema=schema)).by_role() == schema.by_role()


def test_nothing_to_suggest_still_parses():
    spec = spec_of(pa.table({"foo": [1, 1, 2]}))
    assert spec["roles"] == {"quasi_identifiers": []}


def test_small_tables_get_a_k_they_can_reach():
    assert spec_of(pa.table({"age": [1, 2, 3]}))["method"]["k"] == 3


def test_repeated_persons_are_in_the_spec():
    table = pa.table({"patient_id": [1, 1, 2], "age": [30, 31, 40]})
    assert "ATTENTION: SEVERAL ROWS PER PERSON" in write_spec(inspect(table))


def test_file_is_written_once(tmp_path):
    found = inspect(pa.table({"größe": [1, 2], "age": [3, 4]}))
    path = tmp_path / "spec.toml"
    text = write_spec(found, path)
    assert path.read_text(encoding="utf-8") == text
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="already exists"):
        write_spec(found, path)
    with pytest.raises(OutputError, match="nothing that undercover writes there"):
        write_spec(found, path, force=True)
    assert path.read_text(encoding="utf-8") == "mine"
    path.write_text("# mine\n[roles]\nsensitive = ['age']\n", encoding="utf-8")
    write_spec(found, path, force=True)
    assert path.read_text(encoding="utf-8") == text
    with pytest.raises(OutputError, match="does not exist"):
        write_spec(found, tmp_path / "nowhere" / "spec.toml")
