"""Parquet, databases and frames, all through the same door."""

import hashlib
import sqlite3
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from both_ways import read
from undercover.errors import DataError, MissingExtraError, OutputError
from undercover.io.database import read_database
from undercover.io.parquet import read_parquet, write_parquet
from undercover.io.source import ReadOptions, tidy, to_arrow

PEOPLE = {"age": [34, 28, None], "job": ["cook", "smith", None], "born": [date(1990, 1, 2), None, date(1980, 5, 6)]}


def test_frames_of_every_kind_give_the_same_table() -> None:
    expected = pa.table(PEOPLE).to_pydict()
    frames = {
        "pandas": pd.DataFrame({**PEOPLE, "age": pd.array(PEOPLE["age"], "Int64")}, index=[7, 7, 9]),
        "polars": pl.DataFrame(PEOPLE),
        "pyarrow": pa.table(PEOPLE),
    }
    for kind, frame in frames.items():
        found = read(frame)
        assert found.frame == kind
        assert found.data.to_pydict() == expected
        assert found.source == {"path": None, "sha256": None, "rows": 3, "read_as": f"a {kind} frame"}


def test_pandas_columns_of_many_types() -> None:
    frame = pd.DataFrame(
        {
            "float": [1.5, np.nan],
            "object": pd.Series(["a", None], dtype=object),
            "nan": pd.Series(["a", np.nan], dtype=object),
            "category": pd.Categorical(["x", "y"]),
            "number category": pd.Categorical([3, 4]),
            "nullable": pd.array([True, None], "boolean"),
            "time": pd.to_datetime(["2024-01-02", None]),
            "arrow": pd.array([1, None], pd.ArrowDtype(pa.int64())),
            "string": pd.array(["", "b"], "string"),
        }
    )
    table = read(frame).data
    assert table.column("float").to_pylist() == [1.5, None]
    assert table.column("object").to_pylist() == table.column("nan").to_pylist() == ["a", None]
    assert table.column("category").to_pylist() == ["x", "y"]
    assert table.column("number category").to_pylist() == [3, 4]
    assert table.column("nullable").to_pylist() == [True, None]
    assert table.column("time").null_count == 1
    assert table.column("arrow").to_pylist() == [1, None]
    assert table.column("string").to_pylist() == [None, "b"]


def test_frames_that_cannot_be_used_are_refused() -> None:
    mixed = pd.DataFrame({"ok": [1, 2], "a": pd.Series([1, "x"], dtype=object), "b": pd.Series([{}, 3], dtype=object)})
    with pytest.raises(DataError, match=r"(?s)Column `a`.*Column `b`"):
        to_arrow(mixed)
    with pytest.raises(DataError, match=r"must be texts. Got 0"):
        to_arrow(pd.DataFrame([[1]]))
    with pytest.raises(DataError, match="more than one column named `a`"):
        to_arrow(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(DataError, match=r"Got LazyFrame instead. Collect"):
        to_arrow(pl.DataFrame({"a": [1]}).lazy())
    with pytest.raises(DataError, match="Got dict instead"):
        to_arrow({"a": [1]})
    with pytest.raises(DataError, match="is empty"):
        read(pd.DataFrame({"a": pd.array([], "Int64")}))
    with pytest.raises(DataError, match="no columns"):
        read(pa.table({}))
    with pytest.raises(DataError, match="more than one column named `a`"):
        read(pa.table([[1], [2]], names=["a", "a"]))


def test_tables_are_tidied() -> None:
    table = pa.table(
        {
            "text": pa.array(["?", "", "x"], pa.large_string()),
            "codes": pa.array(["?", "x", ""]).dictionary_encode(),
            "decimal": pa.array([Decimal("1.5"), None, Decimal("2")]),
            "nothing": pa.nulls(3),
        }
    )
    assert tidy(table, nulls=["?"]).to_pydict() == {
        "text": [None, None, "x"],
        "codes": [None, "x", None],
        "decimal": [1.5, None, 2.0],
        "nothing": [None] * 3,
    }
    with pytest.raises(DataError, match=r"(?s)`a` holds values of type list.*`b` holds values of type binary"):
        tidy(pa.table({"a": [[1]], "b": [b"x"]}))


def test_reading_a_frame_imports_no_other_frame_library() -> None:
    script = (
        "import sys, pyarrow as pa; from undercover.io.source import read; "
        "read(pa.table({'a': pa.nulls(1, pa.int8())}));"
        "print([name for name in ('polars', 'duckdb') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_parquet_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_parquet(pa.table(PEOPLE), path)
    found = read(path)
    assert found.data.to_pydict() == PEOPLE
    assert found.source["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_parquet_keeps_no_metadata_and_no_unused_dictionary_values(tmp_path: Path) -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([1, None]), pa.array(["secret-left-behind", "shown"]))
    table = pa.table({"x": codes}).replace_schema_metadata({"note": "secret-note"})
    write_parquet(table, tmp_path / "t.parquet")
    assert b"secret" not in (tmp_path / "t.parquet").read_bytes()
    assert read_parquet(tmp_path / "t.parquet").to_pydict() == {"x": ["shown", None]}


def test_files_of_no_use_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_text("a,b\n1,2\n")
    (tmp_path / "t.docx").write_text("")
    with pytest.raises(DataError, match="not a Parquet file"):
        read(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="of no known kind"):
        read(tmp_path / "t.docx")
    with pytest.raises(DataError, match="There is no file"):
        read(str(tmp_path / "none.csv"))
    with pytest.raises(DataError, match=r"must be all CSV or all Parquet files; `t.docx`"):
        read(tmp_path)
    with pytest.raises(DataError, match="is a folder"):
        read_parquet(tmp_path)
    with pytest.raises(DataError, match="cannot be read: there are"):
        read("mysql://host/db")
    with pytest.raises(OutputError, match="cannot be written"):
        write_parquet(pa.table(PEOPLE), tmp_path / "no" / "t.parquet")


def test_csv_options_and_decisions_go_through(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("ort;x;plz\nKöln;1,5;50667\nBonn;?;53111\n".encode("latin-1"))
    found = read(tmp_path / "t.csv", options=ReadOptions(nulls=("?",), text=("plz",)))
    assert found.data.to_pydict() == {"ort": ["Köln", "Bonn"], "x": [1.5, None], "plz": ["50667", "53111"]}
    assert found.source["read_as"].startswith("read as: separator ';', decimal ','")
    assert found.decisions is not None
    assert found.source["path"] == str(tmp_path / "t.csv")


def make_duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM (VALUES (34, 'cook'), (28, NULL)) AS t(age, job)")
        connection.execute('CREATE TABLE "odd ""name; DROP" AS SELECT DATE \'2024-01-02\' AS born')


def make_sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (age, job)")
    connection.executemany("INSERT INTO people VALUES (?, ?)", [(34, "cook"), (28, None)])
    connection.execute('CREATE TABLE "odd ""name; DROP" AS SELECT \'2024-01-02\' AS born')
    connection.commit()
    connection.close()


@pytest.fixture(params=["duckdb", "sqlite"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "people & co.db"
    {"duckdb": make_duckdb, "sqlite": make_sqlite}[request.param](path)
    return f"{request.param}:///{path}"


def test_tables_and_queries(database: str) -> None:
    assert read(f"{database}?table=people").data.to_pydict() == {"age": [34, 28], "job": ["cook", None]}
    found = read(f"{database}?query=SELECT age+1 AS older FROM people WHERE job = 'cook' AND 1=1")
    assert found.data.to_pydict() == {"older": [35]}
    assert read(f'{database}?table=odd "name; DROP').data.to_pydict() == {"born": [date(2024, 1, 2)]}
    assert read(f"{database}?table=main.people").data.num_rows == 2


def test_relative_paths(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme, _, path = database.partition(":///")
    monkeypatch.chdir(Path(path).parent)
    assert read_database(f"{scheme}:///people & co.db?table=people").num_rows == 2


def test_unknown_tables_name_those_there_are(database: str) -> None:
    with pytest.raises(DataError, match=r"Table `peple` is not known. Did you mean `people`"):
        read(f"{database}?table=peple")


@pytest.mark.parametrize(
    "query",
    ["DROP TABLE people", "DELETE FROM people", "SELECT 1; SELECT 2", "SELEC 1", "INSERT INTO people VALUES (1, 'x')"],
)
def test_only_a_single_select_is_run(database: str, query: str) -> None:
    with pytest.raises(DataError):
        read(f"{database}?query={query}")
    assert read(f"{database}?table=people").data.num_rows == 2


def test_databases_are_opened_for_reading_only(database: str) -> None:
    # A table-valued write hidden behind WITH gets past the first look of the SQLite reader.
    with pytest.raises(DataError):
        read(f"{database}?query=WITH x AS (SELECT 1) DELETE FROM people")
    assert read(f"{database}?table=people").data.num_rows == 2


@pytest.mark.parametrize("tail", ["", "?table=", "?tabel=people", "?table=people&query=SELECT 1", "?x=1&table=people"])
def test_urls_must_name_a_table_or_a_query(database: str, tail: str) -> None:
    with pytest.raises(DataError, match=r"must name a table|not known"):
        read(database + tail)


def test_files_that_are_no_databases(tmp_path: Path) -> None:
    (tmp_path / "t.db").write_text("this is not a database, but long enough to be mistaken for one" * 100)
    for scheme in ("duckdb", "sqlite"):
        with pytest.raises(DataError, match="cannot be"):
            read(f"{scheme}:///{tmp_path}/t.db?table=t")
        with pytest.raises(DataError, match="There is no database file"):
            read(f"{scheme}:///{tmp_path}/none.db?table=t")
        with pytest.raises(DataError, match="three slashes"):
            read(f"{scheme}://t.db?table=t")
    assert not (tmp_path / "none.db").exists()


def test_sqlite_columns_of_mixed_types(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, 1), (2.5, "x")])
    connection.commit()
    connection.close()
    assert read(f"sqlite:///{tmp_path}/t.db?query=SELECT a FROM t").data.to_pydict() == {"a": [1.0, 2.5]}
    with pytest.raises(DataError, match="`b`"):
        read(f"sqlite:///{tmp_path}/t.db?table=t")


def test_without_duckdb_the_extra_is_named_and_sqlite_still_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_sqlite(tmp_path / "t.db")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert read(f"sqlite:///{tmp_path}/t.db?table=people").data.num_rows == 2
    with pytest.raises(MissingExtraError, match=r"undercover\[sql\]"):
        read(f"duckdb:///{tmp_path}/t.db?table=people")


def test_passwords_are_never_shown() -> None:
    with pytest.raises(DataError) as caught:
        read("postgres://ann:secret@127.0.0.1:1/db?table=t")
    assert "secret" not in str(caught.value)
