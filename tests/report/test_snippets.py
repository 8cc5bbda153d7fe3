"""The recipient's code is run as it stands, beside the files of a release, and what it prints is held to the truth."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import marked_people as marked
import pandas as pd
import pyarrow as pa
import pytest

import undercover as uc
from undercover.forms import read
from undercover.io.release.manifest import write_tables
from undercover.model.form import Drawn
from undercover.model.formats import Files
from undercover.model.release import PublishedColumn, PublishedTable, Release

FORMATS = ("csv", "parquet", "xlsx", "dta", "sav")
OFFICE = (
    *("mondrian with l", "mondrian of numbers", "mondrian with trees", "anatomy of numbers", "cross-bucket joined"),
    *("mutual cover of numbers", "perturbed numbers"),
)
"""A recipe of every form: what is read by other functions of pandas is then the same."""
EVERY = [(name, kind) for name in marked.RECIPES for kind in FORMATS if kind in FORMATS[:2] or name in OFFICE]
EVERY += [(name, Files(kind, 40)) for name in OFFICE for kind in FORMATS[:2]]
TREES = {"years": marked.BANDS, "school": marked.SCHOOLS}


class Ran:
    """What the snippets of a release printed and left behind."""

    def __init__(self, release: Release, folder: Path, file_format: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.names: dict[str, Any] = {}
        self.printed: dict[str, str] = {}
        capsys.readouterr()
        for part in read(release).snippets(file_format):
            exec(compile(part["code"], part["title"], "exec"), self.names)
            self.printed[part["title"]] = capsys.readouterr().out

    def numbers(self, title: str, pattern: str) -> list[float]:
        """The numbers of a line, from the first snippet whose title begins so."""
        text = next(text for name, text in self.printed.items() if name.startswith(title))
        match = re.search(pattern.replace("#", r"(-?[\d.]+(?:e[+-]?\d+)?)"), text)
        assert match is not None, f"{pattern!r} is not in {text!r}"
        return [float(group) for group in match.groups()]

    def has(self, title: str) -> bool:
        return any(name.startswith(title) for name in self.printed)


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(release: Release, file_format: str = "csv") -> Ran:
        write_tables(release, tmp_path, format=file_format)
        monkeypatch.chdir(tmp_path)
        return Ran(release, tmp_path, file_format, capsys)

    return run


def people() -> pd.DataFrame:
    """The truth; what was published in bins is here, too."""
    table = marked.people().to_pandas()
    start = table["pay"] // 100 * 100
    table["pay in bins"] = "[" + start.astype(str) + ", " + (start + 99).astype(str) + "]"
    return table


def sensitive_of(name: str) -> str:
    return "pay" if "numbers" in name else "pay in bins" if "bins" in name else "illness"


@pytest.mark.parametrize(("name", "file_format"), EVERY)
def test_every_kind_has_three_analyses_that_run_and_count_right(name: str, file_format: str, ran: Any) -> None:
    release = marked.published(name).release
    found = ran(release, file_format)
    assert len(found.printed) >= 4
    assert [title for title, printed in found.printed.items() if not printed and not title.startswith("Read")] == []
    assert "the tables are those of release.json" in found.printed["The same with undercover"]
    if release.method == "mutual-cover":
        check_drawn(found, sensitive_of(name))
    elif release.method == "perturbed-generalization":
        check_perturbed(found, release, sensitive_of(name))
    else:
        check_bounds(found, release, sensitive_of(name))


def check_bounds(found: Ran, release: Release, sensitive: str) -> None:
    """Ranges, sets and nodes: the truth lies within the bounds, and so does the estimate."""
    table, hidden = people(), release.suppressed_rows
    inside = None
    if found.has("Count by node"):
        (name,) = (title.split(": ")[1] for title in found.printed if title.startswith("Count by node"))
        below = [row[0] for row in TREES[name].rows if found.names["node"] in row]
        inside = table[name].astype(str).isin(below)
        pattern = "# published rows" if release.method in ("incognito", "noncentralized") else "at least # rows"
        (shown,) = found.numbers("Count by node", pattern)
        assert shown <= inside.sum() <= (shown + hidden if "published" in pattern else len(table))
    if found.has("Count with sets"):
        inside = table["place"] == found.names["value"]
        low, high = found.numbers("Count with sets", "at least # and at most # rows")
        (about,) = found.numbers("Count with sets", "about # rows")
        assert low <= inside.sum() <= high
        assert low <= about <= high
        assert found.names["spread"].sum() == pytest.approx(len(found.names["table"]))
    if found.has("Count with ranges"):
        inside = table["years"].between(found.names["low"], found.names["high"])
        low, high = found.numbers("Count with ranges", "between # and # rows")
        (about,) = found.numbers("Count with ranges", "about # rows")
        assert low <= inside.sum() <= high
        assert low <= about <= high
        low, high = found.numbers("Mean years", "between # and #")
        assert low <= table["years"].mean() <= high
    if found.has("Count by years"):
        inside = table["years"].between(found.names["low"], found.names["high"])
        assert found.numbers("Count by years", "# rows") == [inside.sum()]
    if "wanted" not in found.names:
        return
    has = table[sensitive] == found.names["wanted"]
    if found.has("Distribution of"):
        (shown,) = found.numbers("Distribution of", "# of # rows")[:1]
        assert shown <= has.sum() <= shown + hidden
    if inside is None:
        return
    title = "How many" if found.has("How many") else "Compare"
    low, high = found.numbers(title, "between # and # rows")
    assert low <= (inside & has).sum()
    if release.method != "mondrian" or not found.has("Count by node"):  # mixed levels: only the hierarchy knows above
        assert (inside & has).sum() <= high + hidden
    if not found.has("Count by node"):
        about, lower, upper = found.numbers("The same", "about # rows, surely from # to #")
        assert (lower, upper) == (low, high)
        assert low <= about <= high
    if sensitive == "pay":
        low, high = found.numbers("Mean and sum" if found.has("Mean and sum") else "Sum", "between # and #")
        assert low <= table["pay"][inside].sum() <= high


@pytest.mark.parametrize(
    ("title", "before", "after"),
    [
        ("Count with sets", "at least 0", "at least 200"),
        ("Count with ranges: years", "between 151 and 151", "between 152 and 160"),
        ("Mean years", "rows between 72051", "rows between 72069"),
        ("Distribution", "8 of 240", "9 of 240"),
        ("Compare", "between 4 and 4", "between 5 and 5"),
        ("Mean and sum", "lies between 7", "lies between 9"),
        ("The same", "surely from 4", "surely from 3"),
    ],
)
def test_the_comparison_with_the_truth_finds_a_wrong(title: str, before: str, after: str, ran: Any) -> None:
    release = marked.published("mondrian of numbers").release
    found = ran(release)
    check_bounds(found, release, "pay")
    name = next(name for name in found.printed if name.startswith(title))
    assert before in found.printed[name]
    found.printed[name] = found.printed[name].replace(before, after)
    with pytest.raises(AssertionError):
        check_bounds(found, release, "pay")


def check_drawn(found: Ran, sensitive: str) -> None:
    """Mutual cover: sensitive values as often as they were; a count near the truth, for the seed at hand."""
    table = people()
    about, error = found.numbers("Count by years", r"about # \+/- #")
    true = table["years"].between(found.names["low"], found.names["high"]).sum()
    assert abs(about - true) <= 3 * error
    assert found.names["seen"].sum() == (table[sensitive] == found.names["wanted"]).sum()
    if sensitive == "pay":
        assert found.numbers("Distribution", "mean # and sum #") == [table["pay"].mean(), table["pay"].sum()]
        assert found.numbers("The same", "SumAnswer: about #") == pytest.approx([table["pay"].sum()], rel=1e-5)


def check_perturbed(found: Ran, release: Release, sensitive: str) -> None:
    """Perturbed generalization: what :class:`undercover.PerturbedCounts` says, and near the truth."""
    counts, table = uc.PerturbedCounts(release), people()
    value = found.names["value"]
    estimate = counts.count({counts.sensitive: value if isinstance(value, str) else value.item()})
    about, everybody = found.numbers("Count a value", "about # people of #")
    assert about == pytest.approx(estimate.value, abs=0.51)
    assert everybody == len(table)
    assert found.names["spread"] == pytest.approx(estimate.standard_error, rel=1e-4)
    assert abs(about - (table[sensitive] == value).sum()) <= 4 * estimate.standard_error
    assert found.names["groups"]["people"].sum() == len(table)
    marginal = counts.marginal()
    assert [line[1] for line in found.names["lines"]] == pytest.approx([line["estimate"] for line in marginal])
    if sensitive == "pay":
        mean, error = found.numbers("Sum and mean", r"mean about # \+/- #")
        assert mean == pytest.approx(counts.mean().value)
        assert error == pytest.approx(counts.mean().standard_error)
        assert abs(mean - table["pay"].mean()) <= 4 * error


@pytest.mark.parametrize("name", marked.RECIPES)
def test_snippets_quote_no_cell(name: str) -> None:
    release = marked.published(name).release
    written = "\n".join(" ".join(part.values()) for part in read(release).snippets("csv"))
    cells = {
        str(cell)
        for table in release.tables
        for column in table.columns
        if column.role != "structure"
        for cell in table.data.column(column.name).to_pylist()
    }
    assert [cell for cell in cells - {"*"} if cell in written] == []


@pytest.mark.parametrize("name", marked.RECIPES)
def test_code_fits_the_page(name: str) -> None:
    lines = [
        line for part in read(marked.published(name).release).snippets("csv") for line in part["code"].splitlines()
    ]
    assert [line for line in lines if len(line) > 100] == []


@pytest.mark.parametrize("file_format", FORMATS)
def test_generalised_table(make_run: Any, ran: Any, file_format: str) -> None:
    run = make_run()
    found = ran(run.release, file_format)
    age = run.original["age"].domain.take(run.original["age"].codes).to_numpy()
    truth = ((age >= found.names["low"]) & (age <= found.names["high"])).sum()
    low, high = found.numbers("Count with ranges", "between # and # rows")
    assert 0 < low <= truth <= high < 400
    sex = run.original["sex"]
    of_value = (sex.codes == sex.domain.labels.index(found.names["value"])).sum()
    low, high = found.numbers("Count with sets", "at least # and at most # rows")
    (about,) = found.numbers("Count with sets", "about # rows")
    assert low <= of_value <= high
    assert abs(about - of_value) < 60


def test_two_tables(make_anatomy: Any, ran: Any) -> None:
    run = make_anatomy()
    names = ran(run.release).names
    assert names["joined"]["share"].sum() == pytest.approx(400)
    shares = names["joined"].groupby("income")["share"].sum()
    codes = pd.Series(run.original["income"].codes).map(dict(enumerate(run.original["income"].domain.labels)))
    truth = codes.astype(int).value_counts()
    assert shares.sort_index().tolist() == pytest.approx(truth.sort_index().tolist())


def test_dates_missing_cells_stars_and_nasty_names(ran: Any) -> None:
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
    names = ran(release).names
    assert names["span"]["low"].tolist()[:2] == [pd.Timestamp("1970-01-01"), pd.Timestamp("1991-02-03")]
    assert names["choices"][0] == ["Bonn", "Wells, Maine", ""]
    assert names["choices"][2] == ["", "Bonn", "Rome", "Wells, Maine"]
    assert names["table"]["ill"].tolist() == ["flu", "NA", "cold", ""]


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_table_that_says_nothing_but_stars(ran: Any, file_format: str) -> None:
    columns = (
        PublishedColumn("age", "quasi-identifier", "interval"),
        PublishedColumn("town", "quasi-identifier", "set"),
        PublishedColumn("pay", "sensitive", "value"),
    )
    data = pa.table({"age": ["*"] * 4, "town": ["*", "*", "", "*"], "pay": [1.5, 2.0, 2.0, 4.5]})
    release = Release("mondrian", {"k": 4}, (PublishedTable("table", columns, data),), True)
    found = ran(release, file_format)
    assert list(found.printed) == [
        "Read the table",
        "Distribution of pay",
        "pay by age",
        "Mean and sum of pay",
        "The same with undercover",
    ]
    assert "Nothing is known of age, town" in read(release).snippets("csv")[0]["text"]
    assert found.numbers("Mean and sum", r"mean # \+/- # and sum #")[::2] == [2.5, 10.0]
    assert found.numbers("The same", "about # rows, surely from # to #") == [2, 2, 2]


@pytest.mark.parametrize("file_format", FORMATS)
def test_mutual_cover_reads_na_as_a_value(ran: Any, file_format: str) -> None:
    columns = (PublishedColumn("sex", "quasi-identifier", "value"), PublishedColumn("ill", "sensitive", "value"))
    data = pa.table({"sex": ["f", "m", "m", None], "ill": ["NA", "flu", "NA", "NA"]})
    release = Release("mutual-cover", {"l": 2}, (PublishedTable("table", columns, data),), False, form=Drawn())
    found = ran(release, file_format)
    assert found.names["wanted"] == "NA"
    assert found.numbers("Count by sex", r"about # \+/- # of # rows")[::2] == [2, 4]
    assert found.names["table"]["sex"].isna().sum() == 1


@pytest.mark.parametrize("file_format", FORMATS)
def test_where_no_value_was_kept_people_are_all_there_is_to_count(ran: Any, file_format: str) -> None:
    method = uc.PerturbedGeneralization(k=marked.K, p=0)
    found = ran(uc.publish(marked.people(), marked.schema("years", "place"), method).release, file_format)
    assert list(found.printed) == ["Read the table", "Count people", "The same with undercover"]
    assert sum(map(int, re.findall(r"\s(\d+)$", found.printed["Count people"], re.M))) == 240


def test_ranges_of_words_are_left_alone() -> None:
    columns = (PublishedColumn("school", "quasi-identifier", "interval"),)
    table = PublishedTable("table", columns, pa.table({"school": ["[none, some]", "[odd]"]}))
    titles = [part["title"] for part in read(Release("mondrian", {}, (table,), True)).snippets("csv")]
    assert titles == ["Read the table", "Classes by size", "The same with undercover"]
