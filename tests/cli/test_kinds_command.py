"""What columns are, found by flags alone: no birthday is in a list of exact days, and a useless release says so."""

import json
import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from undercover.io.csv.text import read_csv

DAY = re.compile(r"\d{4}-\d\d-\d\d|\d\d\.\d\d\.\d{4}")


@pytest.fixture
def born(tmp_path: Path) -> Path:
    """300 people: birthdays DD.MM.YYYY, bands of ages, postcodes, an illness, and the day they were seen."""
    lines = ["born;age;plz;seen;ill"]
    for row in range(300):
        day = date(1940, 1, 1) + timedelta(days=(37 * row * row) % 24_000)
        age = 2020 - day.year
        band = "<20" if age < 20 else "65+" if age >= 65 else f"{age // 15 * 15}-{age // 15 * 15 + 14}"
        seen = f"{date(2020, 1, 1) + timedelta(days=row % 90):%d/%m/%Y}"
        lines.append(f"{day:%d.%m.%Y};{band};0{1067 + row % 5 * 1000};{seen};illness {row % 6}")
    path = tmp_path / "born.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


ROLES = ("--qi", "born,age,plz", "--sensitive", "ill", "--insensitive", "seen", "--policy", "none")


@pytest.mark.parametrize("method", ["mondrian", "incognito"])
def test_no_cell_is_a_list_of_exact_days(undercover, born: Path, tmp_path: Path, method: str) -> None:  # type: ignore[no-untyped-def]
    done = undercover("publish", born, *ROLES, "--method", method, "--set", "k=4", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    table = read_csv(tmp_path / "out" / "public" / "table.csv", text=None)[0]
    cells = set(table["born"].to_pylist())
    assert len(cells) > 1
    assert all(len(DAY.findall(cell)) <= 2 and "{" not in cell for cell in cells)
    assert any(re.fullmatch(r"\[\d{4}-\d\d-\d\d, \d{4}-\d\d-\d\d\]", cell) for cell in cells)
    assert not any("{" in cell for name in ("age", "plz") for cell in table[name].to_pylist())
    assert all(re.fullmatch(r"\d\d/\d\d/2020", cell) for cell in table["seen"].to_pylist())  # as they were written
    assert undercover("verify", tmp_path / "out", "--original", born).code == 0


def test_days_that_may_be_months_are_refused_and_a_spec_says_which(undercover, born: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "unclear.csv"
    path.write_text("born,ill\n" + "".join(f"0{1 + row % 8}/03/198{row % 9},x{row % 3}\n" for row in range(40)))
    asked = ("publish", path, "--method", "mondrian", "--set", "k=4", "--policy", "none", "--out", tmp_path / "out")
    refused = undercover(*asked, "--qi", "born", "--sensitive", "ill")
    assert refused.code == 2
    said = " ".join(refused.err.split())
    assert "`born` holds dates that are DD/MM/YYYY or MM/DD/YYYY, and no value tells which." in said
    spec = tmp_path / "spec.toml"
    spec.write_text('[roles]\nquasi_identifiers = "born"\nsensitive = "ill"\n[columns.born]\nformat = "DD/MM/YYYY"\n')
    assert undercover(*asked, "--spec", spec).code == 0
    cells = read_csv(tmp_path / "out" / "public" / "table.csv", text=None)[0]["born"].to_pylist()
    assert {day[5:7] for cell in cells for day in DAY.findall(cell)} == {"03"}
    again = tmp_path / "out" / "private" / "spec.toml"
    assert 'format = "DD/MM/YYYY"' in again.read_text(encoding="utf-8")


def test_a_release_that_says_nothing_says_so(undercover, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "towns.csv"
    path.write_text("town,sex,ill\n" + "".join(f"town {row},{'fm'[row % 2]},x{row % 3}\n" for row in range(30)))
    asked = ("--sensitive", "ill", "--method", "incognito", "--policy", "none")
    useless = undercover("publish", path, "--qi", "town", *asked, "--set", "k=4", "--out", tmp_path / "a")
    assert "100% of the cells of quasi-identifiers are `*`" in " ".join(useless.err.split())
    useful = undercover("publish", path, "--qi", "town,sex", *asked, "--set", "k=4", "--out", tmp_path / "b")
    assert useful.code == 0
    assert "of the cells of quasi-identifiers" not in useful.err


def test_levels_that_nobody_gave_can_be_looked_at_and_kept(undercover, born: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    shown = undercover("hierarchy", "auto", "--data", born, "--column", "born", "--out", tmp_path / "born-tree.csv")
    assert shown.code == 0, shown.err
    assert "[1990-01-01, 1999-12-31]" in (tmp_path / "born-tree.csv").read_text(encoding="utf-8")
    words = undercover("hierarchy", "auto", "--data", born, "--column", "ill")
    assert words.code == 2
    assert "`ill` has no order" in " ".join(words.err.split())


def test_a_hierarchy_of_periods_is_built_from_dates_as_people_write_them(
    undercover, born: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    tree = tmp_path / "tree.csv"
    assert undercover("hierarchy", "dates", "--data", born, "--column", "born", "--out", tree).code == 0
    assert "1990-Q1,1990,1990s,*" in tree.read_text(encoding="utf-8")
    spec = tmp_path / "spec.toml"
    spec.write_text(
        '[roles]\nquasi_identifiers = "born"\nsensitive = "ill"\n'
        '[columns.born]\nhierarchy = {dates = ["year", "decade"]}\n'
        '[method]\nname = "incognito"\nk = 3\n'
    )
    done = undercover("publish", born, "--spec", spec, "--policy", "none", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    cells = set(read_csv(tmp_path / "out" / "public" / "table.csv", text=None)[0]["born"].to_pylist())
    assert all(re.fullmatch(r"\d{4}s|\d{4}", cell) for cell in cells)


def test_inspect_knows_what_columns_are(undercover, born: Path) -> None:  # type: ignore[no-untyped-def]
    found = json.loads(undercover("inspect", born, "--json").out)
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {"born": "date", "age": "ordinal", "plz": "ordinal", "seen": "date", "ill": "categorical"}
    summary = next(column["summary"] for column in found["columns"] if column["name"] == "born")
    assert summary == {} or summary["min"].startswith("194")


def test_inspect_says_that_a_format_is_not_certain_and_shows_no_day(undercover, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "unclear.csv"
    path.write_text("birthday,ill\n" + "".join(f"0{1 + row % 8}/03/198{row % 9},x{row % 3}\n" for row in range(40)))
    said = json.loads(undercover("inspect", path, "--json").out)["warnings"]
    (unclear,) = [warning for warning in said if warning.startswith("`birthday` holds dates")]
    assert 'format = "DD/MM/YYYY" under [columns.birthday]' in unclear
    assert "198" not in unclear
    clear = tmp_path / "clear.csv"
    clear.write_text(path.read_text().replace("01/03/", "31/03/"))
    assert not any(
        "holds dates" in warning for warning in json.loads(undercover("inspect", clear, "--json").out)["warnings"]
    )
