"""Large tables are held as codes: the same tables, releases, warnings and refusals as of tables held as written."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import undercover as uc
from both_ways import Refused, decoded, outcome, tiny
from undercover.errors import ParameterError
from undercover.io import database
from undercover.io.coded.columns import Growing, coded_table, gathered
from undercover.io.contents_digest import differing, digests_of
from undercover.io.source import Input, ReadOptions, read
from undercover.memory import LARGE, Store, free_memory
from undercover.model.encoding.coded import Coded
from undercover.model.encoding.repeats import rows_that_share
from undercover.model.encoding.values import without_value
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column
from undercover.model.table import EncodedColumn, Table
from undercover.randomness import Randomness

ROWS = 14
PEOPLE: dict[str, Any] = {
    "age": [34, 28, 28, 51, 34, 60, 19, 28, 44, 51, 34, 28, 60, 77],  # the last one in the last batch only
    "sex": list("fmfmfmfmfmfmfm"),
    "zip": ["01234", "02345", None, "", "01234", "99999", "02345", "01234", None, "01234", "02345", "", "x1", "01234"],
    "height": [1.5, 1.75, float("nan"), -0.0, 0.0, 1.5, None, 2.0, 1.5, 1.5, 1.75, 1.5, 1.5, 2.25],
    "born": [date(1980, 1, 1 + row % 5) for row in range(ROWS)],
    "came": [datetime(2020, 1, 1 + row % 3, 8 * (row == 13)) for row in range(ROWS)],
    "day": [20200101 + row % 4 for row in range(ROWS)],
    "said": [f"{1 + row % 4:02}.02.199{row % 3}" for row in range(ROWS)],
    "band": ["<18", "18-64", "65+", "18-64", "<18", "65+", "18-64"] * 2,
    "paid": [Decimal("1.50"), Decimal("2.25")] * 7,
    "long": pa.array([2**63 + row % 3 for row in range(ROWS)], pa.uint64()),
    "true": [True, False] * 7,
    "name": [f"n{row % 9}" for row in range(ROWS)],
    "number": [row % 11 for row in range(ROWS)],
    "weight": [1.0 + row % 2 for row in range(ROWS)],
    "endless": [float("inf") if row == 12 else float(row) for row in range(ROWS)],
    "nothing": pa.nulls(ROWS),
    "disease": ["flu", "cold", "flu", "ache", "cold", "flu", "flu"] * 2,
}
TREE = Hierarchy([[one, one[0], "*"] for one in ("01234", "02345", "99999", "x1")])
QI, SENSITIVE = ("age", "sex"), "disease"
SCHEMAS: dict[str, dict[str, Any]] = {
    "plain": {},
    "texts with holes": {"quasi_identifiers": ("zip",), "missing": "category"},
    "holes left out": {"quasi_identifiers": ("zip", "height"), "missing": "drop"},
    "holes refused": {"quasi_identifiers": ("zip", "height")},
    "numbers": {"quasi_identifiers": ("height", "number"), "missing": "category"},
    "floats as categories": {"columns": {"height": Column(kind="categorical")}, "quasi_identifiers": ("height",)},
    "dates": {"quasi_identifiers": ("born", "came", "day", "said")},
    "orders": {"quasi_identifiers": ("band", "paid", "long")},
    "an order of its own": {"columns": {"sex": Column(kind="ordinal", domain=("m", "f", "d"))}},
    "outside its domain": {"columns": {"sex": Column(kind="ordinal", domain=("m",))}},
    "truth": {"quasi_identifiers": ("true",)},
    "truth as numbers": {"quasi_identifiers": ("true",), "columns": {"true": Column(kind="numeric")}},
    "bins": {"quasi_identifiers": ("sex",), "sensitive": "age", "columns": {"age": Column(bins=(0, 30, 60, 90))}},
    "outside its bins": {"quasi_identifiers": ("sex",), "sensitive": "age", "columns": {"age": Column(bins=(0, 50))}},
    "a tree": {"quasi_identifiers": ("zip",), "columns": {"zip": Column(hierarchy=TREE)}, "missing": "drop"},
    "outside its tree": {"quasi_identifiers": ("name",), "columns": {"name": Column(hierarchy=TREE)}},
    "no numbers": {"quasi_identifiers": ("zip",), "columns": {"zip": Column(kind="numeric")}, "missing": "drop"},
    "no dates": {"quasi_identifiers": ("name",), "columns": {"name": Column(kind="date")}},
    "infinite": {"quasi_identifiers": ("endless",)},
    "nothing at all": {"quasi_identifiers": ("nothing",), "missing": "category"},
    "nothing left": {"quasi_identifiers": ("nothing",), "missing": "drop"},
    "identifiers": {"identifiers": ("name", "number", "zip", "height")},
    "units": {"unit": "name"},
    "units without a name": {"unit": "zip"},
    "one row each": {"unit": "name", "one_row_per": "random"},
    "the last row each": {"unit": "number", "one_row_per": "last", "quasi_identifiers": ("zip",), "missing": "drop"},
    "weights": {"weight": "weight", "quasi_identifiers": ("zip",), "missing": "drop"},
    "no weights": {"weight": "height"},
    "insensitive": {"insensitive": ("zip", "height", "paid", "long")},
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("held") / "people.parquet"
    pa.parquet.write_table(pa.table(PEOPLE), path, row_group_size=5)
    return path


def same(one: Any, other: Any) -> bool:
    """Whether two encoded tables, or two refusals, are the same."""
    if isinstance(one, Refused):
        return (type(one.error), str(one.error)) == (type(other.error), str(other.error))
    if isinstance(one, EncodedColumn):
        domains = one.domain.values.equals(other.domain.values) and one.domain.values.type == other.domain.values.type
        sizes = one.domain.kind == other.domain.kind and one.domain.has_missing == other.domain.has_missing
        return domains and sizes and same(one.codes, other.codes) and one.settings == other.settings
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, Table):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(Table))
    return bool(one == other)


@pytest.mark.parametrize("named", SCHEMAS)
def test_the_same_table_is_encoded(people: Path, named: str) -> None:
    schema = uc.Schema(**{"quasi_identifiers": QI, "sensitive": SENSITIVE, **SCHEMAS[named]})
    plain, coded = read(people).data, read(people, store=tiny()).data
    assert not pa.types.is_dictionary(plain.field("age").type)
    assert all(pa.types.is_dictionary(type_) for type_ in coded.schema.types)
    one, other = (outcome(lambda d=data: Table.from_arrow(d, schema, one_row=Randomness(3))) for data in (plain, coded))
    assert same(one, other), (one, other)


def test_a_difference_would_be_seen(people: Path) -> None:
    schema = uc.Schema(quasi_identifiers=QI, sensitive=SENSITIVE)
    table = Table.from_arrow(read(people).data, schema)
    assert not same(table, replace(table, columns={**table.columns, "age": table["sex"]}))
    assert not same(table, table.take(np.arange(3)))


def test_the_same_release_with_the_same_warnings_is_made_either_way(people: Path) -> None:
    schema = uc.Schema(identifiers=["name"], quasi_identifiers=["age", "zip"], sensitive=SENSITIVE, missing="drop")
    one, other = (uc.publish(given, schema, uc.Mondrian(k=2), seed=1) for given in (read(people), held(people)))
    assert one.release.tables[0].data.equals(other.release.tables[0].data)
    assert (one.warnings, one.release.writing) == (other.warnings, other.release.writing)
    known = {name: value for name, value in one.source.items() if name != "read_as"}
    assert {name: value for name, value in other.source.items() if name != "read_as"} == known
    assert other.source["read_as"] == "a Parquet file, held as codes"


def held(source: Any, **options: Any) -> Input:
    return read(source, store=tiny(), **options)


def test_rows_are_let_go_as_soon_as_nobody_needs_them(people: Path) -> None:
    schema = uc.Schema(quasi_identifiers=QI, sensitive=SENSITIVE)
    mine, passed = held(people), replace(held(people), once=True)
    for given in (mine, passed):
        uc.publish(given, schema, uc.Mondrian(k=2))
    assert mine.data.num_rows == ROWS
    assert passed.data.num_rows == 0
    assert passed.data.column_names == mine.data.column_names


def test_digests_are_the_same_however_a_table_is_held(people: Path) -> None:
    plain, coded = read(people).data, held(people).data
    names = plain.column_names
    assert digests_of(coded, names) == digests_of(plain, names)
    assert digests_of(coded.slice(1), names) != digests_of(plain, names)


def test_a_column_of_very_many_values_has_a_digest_of_its_rows_and_is_known_by_the_old_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = pa.table({"name": ["Al", None, "Bo", "", "Cy"]})
    before = digests_of(names, ["name"])
    monkeypatch.setattr("undercover.io.contents_digest._digest.__defaults__", (2,))
    after = digests_of(names, ["name"])
    assert after["name"].startswith("rows:")
    assert after == digests_of(pa.table({"name": pa.chunked_array([["Al", None], ["Bo", "", "Cy"]])}), ["name"])
    assert after != digests_of(pa.table({"name": ["Al", "Bo", None, "", "Cy"]}), ["name"])
    assert differing(names, 5, before) is None
    assert differing(names, 5, after) is None
    assert differing(names.slice(0, 4), 4, before) == "other values, or another order of rows, in `name`"


def parts(folder: Path, *contents: str) -> Path:
    place = folder / "parts"
    place.mkdir()
    for number, content in enumerate(contents):
        (place / f"{number}.csv").write_text(content)
    return place


def test_a_column_becomes_text_in_the_last_part(tmp_path: Path) -> None:
    place = parts(tmp_path, "a,b\n1,x\n2,y\n3,x\n4,x\n", "b,a\nz,5\n", "a,b\n01234,x\n,\n")
    data = held(place).data
    assert data.to_pydict() == {"a": ["1", "2", "3", "4", "5", "01234", None], "b": [*"xyxxzx", None]}
    assert decoded(data).equals(decoded(read(place).data))
    assert held(place, options=ReadOptions(nulls=("01234",))).data["a"].to_pylist() == [1, 2, 3, 4, 5, None, None]


def test_parts_of_other_numbers_meet_where_none_changes(tmp_path: Path) -> None:
    for number, column in enumerate([pa.array([1, 2, 2], pa.int32()), pa.array([2.0, None])]):
        pa.parquet.write_table(pa.table({"a": column}), tmp_path / f"{number}.parquet")
    assert held(tmp_path).data["a"].type.value_type == pa.int64()
    assert held(tmp_path).data["a"].to_pylist() == [1, 2, 2, 2, None] == read(tmp_path).data["a"].to_pylist()
    pa.parquet.write_table(pa.table({"a": ["x"]}), tmp_path / "2.parquet")
    assert str(outcome(lambda: held(tmp_path)).error) == str(outcome(lambda: read(tmp_path)).error)


def test_every_kind_of_source_is_held_as_codes(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 3, 1], "b": ["x", None, "x", "y"]})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    pa.feather.write_feather(table, str(tmp_path / "t.feather"), chunksize=2)
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,\n3,x\n1,y\n")
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    sources = [tmp_path / "t.parquet", tmp_path / "t.feather", tmp_path / "t.csv", f"duckdb:///{tmp_path}/t.db?table=t"]
    for source in sources:
        found = held(source)
        assert found.data.to_pydict() == table.to_pydict()
        assert found.source["read_as"].endswith(", held as codes")
        assert [str(type_.index_type) for type_ in found.data.schema.types] == ["int8", "int8"]
        few = read(source, store=Store(large=50))
        assert "codes" not in few.source["read_as"]


def test_an_attached_server_is_read_batch_by_batch(tmp_path: Path) -> None:
    """PostgreSQL is attached to DuckDB like any other catalogue; here another DuckDB file stands for the server."""
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t AS SELECT range % 5 AS a FROM range(10000)")
    address = database._parse("postgres://ann@host/db?table=t")
    told: list[int] = []
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{tmp_path / 't.db'}' AS source (READ_ONLY)")
        connection.execute("USE source")
        store = Store(large=1, batch=2048)
        data = database._fetch(duckdb, connection, address, "source", store, told.append)
    assert data["a"].type == pa.dictionary(pa.int8(), pa.int64())
    assert data["a"].to_pylist() == [row % 5 for row in range(10000)]
    assert told[-1] == 10000
    assert len(told) > 3


def test_frames_keep_their_categories(people: Path) -> None:
    numbers = pa.array([7, 7, 9, None]).dictionary_encode()
    frame = pa.table({"a": pa.DictionaryArray.from_arrays(numbers.indices.cast(pa.int8()), numbers.dictionary)})
    assert held(frame).data["a"].type == pa.dictionary(pa.int8(), pa.int64())
    assert read(frame, store=Store()).data["a"].type == pa.int64()  # below a million rows nothing changes


def batches(*columns: Any) -> list[pa.RecordBatch]:
    return [pa.record_batch({"a": column}) for column in columns]


def test_indices_are_as_wide_as_the_values_need_from_the_first_batch_on() -> None:
    few, more = pa.array(range(100)), pa.array([None, *range(50, 1000)])
    table = coded_table(batches(few, more, few), Store(10**6))
    assert table["a"].type == pa.dictionary(pa.int16(), pa.int64())
    assert table["a"].to_pylist() == [*range(100), None, *range(50, 1000), *range(100)]
    assert all(chunk.dictionary.equals(table["a"].chunk(0).dictionary) for chunk in table["a"].chunks)


@pytest.mark.parametrize("memory", [10**9, 1])
def test_a_column_of_very_many_values_stays_as_it_is(memory: int) -> None:
    store = Store(memory)
    column = Growing(store, most=4)
    for batch in (["a", None, "b"], ["a", "c", "d", "e"], ["f", None]):
        column.add(pa.array(batch).dictionary_encode())
    assert column.column().type == pa.string()
    assert column.column().to_pylist() == ["a", None, "b", "a", "c", "d", "e", "f", None]
    assert bool(store.on_disk) is (memory == 1)


def test_few_rows_of_an_uncounted_source_stay_as_they_are() -> None:
    source = batches([1, 2], [3])
    few = gathered(source[0].schema, source, Store(large=4))
    many = gathered(source[0].schema, source, Store(large=3))
    assert few.schema.types == [pa.int64()]
    assert pa.types.is_dictionary(many.schema.types[0])
    assert few.to_pydict() == many.to_pydict()


def test_codes_beyond_a_share_of_the_memory_lie_in_files_without_a_name(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = Store(1, large=1, batch=3)
    found = read(people, store=store)
    table = Table.from_arrow(found.data, uc.Schema(quasi_identifiers=QI, sensitive=SENSITIVE), empty=store.empty)
    assert store.held == 0
    assert store.on_disk > 0
    assert found.source["read_as"].startswith("a Parquet file, held as codes, ")
    assert not list(tmp_path.iterdir())
    assert digests_of(found.data, PEOPLE) == digests_of(read(people).data, PEOPLE)
    assert type(table["age"].codes) is np.ndarray
    assert table["age"].codes.flags.writeable


@pytest.mark.parametrize("end", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_when_reading_is_broken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def broken() -> Iterator[pa.RecordBatch]:
        yield from batches(["x", "y"])
        raise end

    with pytest.raises(end):
        coded_table(broken(), Store(1))
    assert not list(tmp_path.iterdir())


def test_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(uc.errors.OutputError, match=r"cannot be put into temporary files in .* Make room there"):
        Store(1).empty(10, np.uint8)


@pytest.mark.parametrize("make", [str, int, float, lambda row: date.fromordinal(row + 1), lambda row: Decimal(row) / 4])
def test_rows_that_share_a_value_are_counted_in_parts(make: Callable[[int], Any]) -> None:
    values = [make(int(row)) for row in np.random.default_rng(5).integers(0, 400, 500)]
    column = pa.chunked_array([pa.array([*values[:200], None]), pa.array(values[200:])])
    expected = sum(values.count(value) for value in set(values) if values.count(value) > 1)
    assert {rows_that_share(column, together) for together in (10**6, 100, 3)} == {expected}
    assert rows_that_share(column.dictionary_encode()) == expected


def test_what_does_not_fit_is_refused_before_the_work(people: Path) -> None:
    schema = uc.Schema(quasi_identifiers=QI, sensitive=SENSITIVE)
    with pytest.raises(ParameterError, match=r"14 rows do not fit: mondrian needs about \d+ bytes .* 1 kB may"):
        uc.publish(people, schema, uc.Mondrian(k=2), memory="1kB")
    with pytest.raises(ParameterError, match=r"must be a size such as '8GB' or '500MB'. Got 'much' instead"):
        uc.publish(people, schema, uc.Mondrian(k=2), memory="much")
    assert uc.publish(people, schema, uc.Mondrian(k=2), memory="1MB").source["read_as"] == "a Parquet file"


def test_a_container_has_what_it_is_confined_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {
        "memory.max": "1000",
        "memory.current": "700",
        "memory.stat": "anon 400\ninactive_file 250\nactive_file 50",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr("undercover.memory._GROUPS", ((tmp_path, "memory.max", "memory.current"),))
    assert free_memory() == 600
    (tmp_path / "memory.max").write_text("max")
    assert free_memory() > 10**6


def test_what_is_large(people: Path) -> None:
    assert LARGE == Store().large == 1_000_000
    assert Store(10**6).batch < Store(10**10).batch


def test_values_are_those_that_rows_have_in_their_order() -> None:
    spare = pa.DictionaryArray.from_arrays([2, 0, None, 2], ["b", "never", "a", None])
    other = pa.DictionaryArray.from_arrays([1, 0, 2], ["b", "c", None])
    coded = Coded.of(pa.chunked_array([spare, other]))
    assert coded.values.to_pylist() == ["a", "b", "c"]
    assert coded.counts().tolist() == [2, 2, 1, 2]
    assert [coded.first_row(place) for place in range(3)] == [0, 1, 4]
    assert coded.column().to_pylist() == ["a", "b", None, "a", "c", "b", None]
    assert coded.missing == 2


@pytest.mark.parametrize("chunks", [1, 3])
@pytest.mark.parametrize("late", [0, 1, 5_000])
def test_values_are_in_the_order_of_rows_however_late_the_last_one_comes(late: int, chunks: int) -> None:
    rng = np.random.default_rng(late)
    rows = [*rng.integers(0, 30, 9_000).tolist(), *range(30, 30 + late), None, 3]
    plain = list(dict.fromkeys(row for row in rows if row is not None))
    backwards = pa.array([*range(late + 29, -1, -1), 99_999])  # in another order, with one to spare
    given = pa.DictionaryArray.from_arrays(
        pa.array([None if row is None else late + 29 - row for row in rows]), backwards
    )
    each = -(-len(rows) // chunks)
    column = pa.chunked_array([given.slice(at, each) for at in range(0, len(rows), each)])
    for found in (Coded.of(column), Coded.of(pa.array(rows))):
        assert found.values.to_pylist() == plain
        codes = found.codes(np.arange(len(plain) + 1), np.empty(len(rows), np.int64))
        assert [*plain, None] == [rows[row] for row in np.unique(codes, return_index=True)[1]]


def test_what_is_missing_in_a_dictionary_is_seen_wherever_it_is() -> None:
    there, spare = pa.array(["a", "b"]), pa.array(["a", "b", ""])
    for dictionary, indices, missing in (
        (there, [0, 1, 0], None),
        (there, [0, None, 1], [False, True, False]),
        (spare, [0, 1, 1], None),
        (spare, [0, 2, 1], [False, True, False]),
        (pa.array([1.0, float("nan")]), [0, 1, 0], [False, True, False]),
        (pa.array([1.0, None]), [1, 0, 0], [True, False, False]),
    ):
        array = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), dictionary)
        first = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), dictionary)
        for column, before in ((array, []), (pa.chunked_array([first, array]), [False])):
            found = without_value(column)
            assert (None if found is None else found.tolist()) == (None if missing is None else before + missing)
