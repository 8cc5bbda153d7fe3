"""The first steps in other languages give the answers of the pandas snippets; those that can be run here are run.

R and Stata cannot: of their code it is held what it reads, and that names are quoted.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import duckdb
import marked_people as marked
import pytest

import undercover as uc
from undercover.forms import read
from undercover.forms.snippets.languages import NEEDS, languages
from undercover.io.release.manifest import write_tables
from undercover.model.formats import Files
from undercover.model.release import Release

FORMATS = ("csv", "parquet", "xlsx", "dta", "sav")
BY_DUCKDB = ("csv", "parquet")
"""What DuckDB reads without an extension, which would have to be fetched."""
PARTS = [Files(kind, 90) for kind in BY_DUCKDB]
"""The same in several files."""
NAME = 'years "of" age'
KINDS = (
    "mondrian of numbers",
    "mondrian of everything",
    "incognito",
    "anatomy",
    "mutual cover in order",
    "perturbed boxes",
)
"""A recipe of every form, with numbers, nodes and nothing but stars."""


@pytest.fixture(scope="module")
def generalized() -> Release:
    people = uc.datasets.census(300)
    people = people.rename_columns([NAME if name == "age" else name for name in people.column_names])
    schema = uc.Schema(quasi_identifiers=[NAME, "sex"], sensitive="income")
    return uc.publish(people, schema, uc.Mondrian(k=8)).release


def code_of(release: Release, title: str, file_format: str) -> str:
    return next(one["code"] for one in languages(read(release), file_format) if one["title"] == title)


def python(code: str) -> list[int]:
    """The numbers of the line with bounds that a program prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "<snippet>", "exec"), {})
    found = re.search(r"between (\d+) and (\d+) rows", out.getvalue())
    return [] if found is None else [int(number) for number in found.groups()]


def sql(code: str) -> list[int]:
    """What the last question of a script finds; nothing where it only reads."""
    with duckdb.connect() as database:
        rows = database.execute(code).fetchall()
        views = database.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        for (view,) in views:
            assert database.execute(f'SELECT count(*) FROM "{view}"').fetchone() != (0,)
    return list(rows[0]) if "WITH cells" in code else []


@pytest.mark.parametrize("file_format", [*FORMATS, *PARTS])
def test_they_count_as_pandas_does(
    generalized: Release, file_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tables(generalized, tmp_path, format=file_format)
    assert len(list(tmp_path.glob("table*"))) == Files(file_format).parts(300)
    snippets = read(generalized).snippets(file_format)[:-1]
    bounds = python("\n".join(one["code"] for one in snippets))
    assert 0 < bounds[0] < bounds[1] < 300
    assert python(code_of(generalized, "polars", file_format)) == bounds
    if file_format in BY_DUCKDB:
        assert sql(code_of(generalized, "DuckDB SQL", file_format)) == bounds


@pytest.mark.parametrize("file_format", [*FORMATS, *PARTS])
@pytest.mark.parametrize("name", KINDS)
def test_they_run_on_every_kind_of_release(
    name: str, file_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    release = marked.published(name, "first").release
    write_tables(release, tmp_path, format=file_format)
    found = python(code_of(release, "polars", file_format))
    if file_format in BY_DUCKDB:
        assert sql(code_of(release, "DuckDB SQL", file_format)) == found
    reading = read(release)
    if not (reading.covers and reading.one_each):
        assert found == []  # a count of such rows would be no bound


def test_what_cannot_be_run_here_reads_every_table_and_quotes_names(generalized: Release) -> None:
    r, stata = (code_of(generalized, title, "csv") for title in ("R", "Stata"))
    assert '[["years \\"of\\" age"]]' in r
    assert 'read.csv("table.csv"' in r
    assert "subinstr(yearsofage," in stata
    assert 'import delimited "table.csv"' in stata
    assert "destring income, replace" in stata
    two = marked.published("anatomy", "first").release
    for title in NEEDS:
        for table in two.tables:
            assert f"{table.name}.csv" in code_of(two, title, "csv")
            for file_format in FORMATS[1:]:
                assert f"{table.name}.{file_format}" in code_of(two, title, file_format)


def test_what_cannot_be_run_here_reads_every_part(generalized: Release) -> None:
    parts = Files("csv", 100), Files("parquet", 100)
    r, stata = ([code_of(generalized, title, files) for files in parts] for title in ("R", "Stata"))
    assert 'do.call(rbind, lapply(Sys.glob("table-*.csv"), function(part) read.csv(part, colClasses' in r[0]
    assert 'lapply(Sys.glob("table-*.parquet"), function(part) as.data.frame(arrow::read_parquet(part))))' in r[1]
    assert 'local parts : dir "." files "table-*.csv"' in stata[0]
    assert 'foreach part of local parts {\n    import delimited "`part\'", clear' in stata[0]
    assert (
        'pandas.concat(map(pandas.read_parquet, sorted(glob.glob("table-*.parquet")))).to_csv("table.csv"' in stata[1]
    )
    assert 'import delimited "table.csv", clear' in stata[1]


def test_other_languages_know_the_names_of_the_file(generalized: Release) -> None:
    assert 'names(published)[names(published) == "years__of__age"] <- "years \\"of\\" age"' in code_of(
        generalized, "R", "sav"
    )
    assert 'haven::read_sav("table.sav")' in code_of(generalized, "R", "sav")
    assert "subinstr(years__of__age," in code_of(generalized, "Stata", "dta")
    assert 'use "table.dta", clear' in code_of(generalized, "Stata", "dta")
    assert 'import spss using "table.sav", clear' in code_of(generalized, "Stata", "sav")
    asked = code_of(generalized, "DuckDB SQL", "dta")
    assert 'RENAME ("years__of__age" AS "years ""of"" age")\nFROM read_stat(\'table.dta\')' in asked
    assert "CAST" not in asked.split(";")[2]  # numbers are numbers there
    (text,) = (one["text"] for one in languages(read(generalized), "sav") if one["title"] == "DuckDB SQL")
    assert "alone it does not read SPSS files" in text
