"""The recipient's code is run as it stands, beside the files of a release."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from undercover.io.manifest import write_tables
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.report.snippets import snippets


def run_all(release, folder, monkeypatch, file_format="csv"):
    write_tables(release, folder, format=file_format)
    monkeypatch.chdir(folder)
    names: dict = {}
    for part in snippets(release, file_format=file_format):
        exec(compile(part["code"], part["title"], "exec"), names)
    return names


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_generalised_table(make_run, tmp_path, monkeypatch, capsys, file_format):
    run = make_run()
    names = run_all(run.release, tmp_path, monkeypatch, file_format)
    age = run.original["age"].domain.take(run.original["age"].codes).to_numpy()
    truth = ((age >= names["low"]) & (age <= names["high"])).sum()
    lines = capsys.readouterr().out.splitlines()
    low, high = int(lines[0].split()[1]), int(lines[0].split()[3])
    assert 0 < low <= truth <= high < 400
    sex = run.original["sex"]
    of_value = (sex.codes == sex.domain.labels.index(names["value"])).sum()
    assert names["possible"].sum() >= of_value
    assert abs(names["expected"] - of_value) < 60


def test_two_tables(make_anatomy, tmp_path, monkeypatch):
    run = make_anatomy()
    names = run_all(run.release, tmp_path, monkeypatch)
    assert names["joined"]["share"].sum() == pytest.approx(400)
    people = names["joined"].groupby("income")["share"].sum()
    codes = pd.Series(run.original["income"].codes).map(dict(enumerate(run.original["income"].domain.labels)))
    truth = codes.astype(int).value_counts()
    assert people.sort_index().tolist() == pytest.approx(truth.sort_index().tolist())


def test_dates_missing_cells_stars_and_nasty_names(tmp_path, monkeypatch):
    columns = (
        PublishedColumn('it\'s "born"', "quasi-identifier", "interval"),
        PublishedColumn("town", "quasi-identifier", "set"),
        PublishedColumn("region", "quasi-identifier", "node"),
        PublishedColumn("ill", "sensitive", "value"),
    )
    data = pa.table(
        {
            'it\'s "born"': ["[1970-01-01, 1980-05-04]", "1991-02-03", "*", ""],
            "town": ['{Bonn, "Wells, Maine", ""}', "Rome", "*", "Rome"],
            "region": ["South", "*", "North", ""],
            "ill": ["flu", "NA", "cold", ""],
        }
    )
    release = Release("mondrian", {"k": 1}, (PublishedTable("table", columns, data),), True)
    names = run_all(release, tmp_path, monkeypatch)
    assert names["span"]["low"].tolist()[:2] == [pd.Timestamp("1970-01-01"), pd.Timestamp("1991-02-03")]
    assert names["choices"][0] == ["Bonn", "Wells, Maine", ""]
    assert names["choices"][2] == ["", "Bonn", "Rome", "Wells, Maine"]
    assert names["table"]["ill"].tolist() == ["flu", "NA", "cold", ""]


def test_ranges_of_words_are_left_alone():
    columns = (PublishedColumn("school", "quasi-identifier", "interval"),)
    table = PublishedTable("table", columns, pa.table({"school": ["[none, some]", "[odd]"]}))
    assert [part["title"] for part in snippets(Release("mondrian", {}, (table,), True))] == ["Read the table"]


def test_snippets_quote_no_cell(make_run):
    release = make_run().release
    cells = {str(cell) for column in release.tables[0].data.columns[:2] for cell in column.to_pylist()}
    code = "\n".join(part["code"] for part in snippets(release))
    assert [cell for cell in cells if cell in code] == []
