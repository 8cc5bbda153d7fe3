"""The digest of a table's content: the same from any file or frame, another after any change; and what it refuses."""

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import undercover as uc
from both_ways import read
from undercover.errors import DataError, InputError
from undercover.io.contents_digest import differing, digests_of
from undercover.io.csv.text import write_csv
from undercover.verbs.store import original_of

CONTENT: dict[str, list[Any]] = {
    "name": ["Ann", "Bo", "Cy", "Di"] * 3,
    "age": [31, 35, 31, 44] * 3,
    "height": [1.5, 1.75, None, 2.0] * 3,
    "born": [date(1990, 1, 2), date(1985, 3, 4), date(1990, 1, 2), None] * 3,
    "seen": [datetime(2024, 5, 6, 7, 8), datetime(2024, 5, 6), datetime(2024, 1, 1), datetime(2024, 1, 1)] * 3,
    "code": ["01", "x,y", None, 'say "z"'] * 3,
    "disease": ["flu", "cold", "gout", "ulcer"] * 3,
}
TABLE = pa.table(CONTENT)
SCHEMA = uc.Schema(quasi_identifiers=["age", "height"], sensitive="disease", identifiers=["name"])


def same(*tables: Any) -> bool:
    found = [digests_of(read(table).data, TABLE.column_names) for table in tables]
    assert all(set(digests) == set(CONTENT) for digests in found)
    return all(digests == found[0] for digests in found)


def test_the_same_from_any_file_or_frame(tmp_path: Path) -> None:
    write_csv(TABLE, tmp_path / "table.csv")
    pq.write_table(TABLE, tmp_path / "table.parquet")
    coded = TABLE
    for place, name in ((0, "name"), (5, "code")):
        coded = coded.set_column(place, name, TABLE[name].dictionary_encode())
    chunked = pa.concat_tables([coded.slice(0, 5), coded.slice(5)])
    frames = [
        TABLE,
        coded,
        chunked,
        polars.DataFrame(CONTENT),
        TABLE.to_pandas(),
        TABLE.select(TABLE.column_names[::-1]),
    ]
    assert same(tmp_path / "table.csv", tmp_path / "table.parquet", *frames)


def test_a_dictionary_may_be_in_any_order_and_hold_what_does_not_occur() -> None:
    values = pa.array(["never", "b", "a"])
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 2], pa.int8()), values)
    assert digests_of(pa.table({"c": coded}), ["c"]) == digests_of(pa.table({"c": ["a", "b", None, "a"]}), ["c"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["a", "b"], ["b", "a"]),
        (["a", "b"], ["a", "a"]),
        (["ab", "c"], ["a", "bc"]),
        (["a", None], ["a", "b"]),
        ([1, 2], [1, 3]),
        ([1.5, 2.0], [1.25, 2.0]),
        (["01", "x"], ["1", "x"]),
        ([date(2024, 1, 1)], [date(2024, 1, 2)]),
    ],
)
def test_any_change_is_seen(one: list[Any], other: list[Any]) -> None:
    known = digests_of(pa.table({"c": one}), ["c"])
    assert differing(pa.table({"c": one}), len(one), known) is None
    assert differing(pa.table({"c": other}), len(one), known) == "other values, or another order of rows, in `c`"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the table as a CSV file, without a policy."""
    place = tmp_path_factory.mktemp("saved")
    write_csv(TABLE, place / "table.csv")
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers=["name"])
    return uc.save(uc.publish(place / "table.csv", schema, uc.Mondrian(k=3), policy="none"), place / "out")


def test_the_table_is_taken_in_another_format_and_order_of_columns(saved: Path, tmp_path: Path) -> None:
    pq.write_table(TABLE.select(TABLE.column_names[::-1]), tmp_path / "other.parquet")
    text = TABLE.set_column(1, "age", TABLE["age"].cast(pa.string()))
    for original in (tmp_path / "other.parquet", TABLE.to_pandas(), TABLE.append_column("more", TABLE["age"]), text):
        found = uc.attack(saved, original=original)
        assert found.to_dict() == uc.attack(saved).to_dict()
        assert uc.verify(saved, original=original).holds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.slice(1), "it has 11 rows in place of 12"),
        (lambda table: pa.concat_tables([table, table]), "it has 24 rows in place of 12"),
        (lambda table: table.take([1, 0, *range(2, 12)]), "in `name`, `age`, `disease`. Rows are matched"),
        (lambda table: table.set_column(1, "age", pa.array([31, 35, 31, 45] * 3)), "another order of rows, in `age`."),
        (lambda table: table.set_column(0, "name", pa.array(["Ann"] * 12)), "another order of rows, in `name`."),
        (lambda table: table.drop_columns(["name"]), "it has no column `name`"),
    ],
)
def test_another_table_is_refused_and_no_value_is_told(saved: Path, change: Any, message: str) -> None:
    for use in (
        lambda other: uc.attack(saved, original=other),
        lambda other: uc.verify(saved, original=other),
        lambda other: uc.verify(saved, original=other, schema=SCHEMA),
        lambda other: uc.measure(other, uc.load(saved)),
        lambda other: uc.apply(saved, TABLE.slice(0, 6), original=other),
        lambda other: uc.joint_attack([saved], other),
    ):
        with pytest.raises(InputError) as refused:
            use(change(TABLE))
        said = str(refused.value)
        assert "is not the table the release was made from" in said or "`name`" in said
        assert not any(word in said for word in ("Ann", "45", "flu"))
    with pytest.raises(DataError, match=message):
        uc.attack(saved, original=change(TABLE))


def test_columns_the_run_did_not_use_may_be_anything(saved: Path) -> None:
    assert uc.attack(saved, original=TABLE.set_column(2, "height", pa.array(range(12))))


def test_an_encoded_table_has_as_many_rows(saved: Path) -> None:
    run = uc.load(saved)
    table = uc.Table.from_arrow(TABLE, run.schema)
    assert original_of(run, table) is table
    with pytest.raises(DataError, match="11 rows in place of 12"):
        original_of(run, uc.Table.from_arrow(TABLE.slice(1), run.schema))


def test_runs_of_earlier_versions_take_the_very_file(saved: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    for path in saved.rglob("*.*"):
        copy = old / path.relative_to(saved)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    path = old / "private" / "run.json"
    content = json.loads(path.read_text())
    del content["source"]["digest"]
    path.write_text(json.dumps(content))
    assert uc.attack(old, original=saved.parent / "table.csv")
    with pytest.raises(DataError, match="written by an earlier version"):
        uc.attack(old, original=TABLE)
    with pytest.raises(DataError, match="11 rows in place of 12"):
        uc.attack(old, original=TABLE.slice(1))
    content["source"]["sha256"] = None
    path.write_text(json.dumps(content))
    assert uc.attack(old, original=TABLE)


def test_the_digest_is_private(saved: Path) -> None:
    digests = json.loads((saved / "private" / "run.json").read_text())["source"]["digest"]
    assert set(digests) == {"name", "age", "disease"}
    pages = [*(saved / "public").iterdir(), saved / "private" / "report.html"]
    assert not any(digest in path.read_text("utf-8") for digest in digests.values() for path in pages)
