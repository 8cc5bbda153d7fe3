"""People with several rows whom nobody announced: a panel whose key was dropped was once called Ready."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import SchemaError
from undercover.io.csv.text import write_csv
from undercover.verbs import repeated_people
from undercover.verbs.repeated_people import ArrowColumns, find_repeated_people

KNOWN = ["school", "ethnicity", "region", "industry"]


def panel(people: int = 150, years: int = 8, seed: int = 1) -> pa.Table:
    """Everybody once a year: school, ethnicity and region stay, industry and wage change."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), years)
    when = np.tile(1980 + np.arange(years), people)
    industry = draw.integers(0, 9, people)[who]
    moved = draw.random(len(who)) < 0.3
    industry[moved] = draw.integers(0, 9, int(moved.sum()))
    return pa.table(
        {
            "nr": 1000 + 7 * who,
            "year": when,
            "school": draw.integers(6, 17, people)[who],
            "ethnicity": draw.choice(["black", "hisp", "other"], people)[who],
            "region": draw.choice(["north", "south", "west"], people)[who],
            "industry": [f"sector {number}" for number in industry],
            "wage": draw.integers(3, 60, len(who)),
        }
    )


def published(table: pa.Table, **roles: Any) -> uc.Run:
    schema = uc.Schema(quasi_identifiers=KNOWN, sensitive="wage", **roles)
    return uc.publish(table, schema, uc.Mondrian(k=5))


def asked(run: uc.Run) -> list[str]:
    return [reason.text for reason in run.verdict.weighing("ask") if reason.kind == "unit"]


@pytest.mark.parametrize("drop", ["*", ["nr", "year"], ["*", "nr"], ["year"]])
def test_dropping_the_key_of_a_panel_does_not_silence_the_question(drop: Any) -> None:
    run = published(panel(), drop=drop)
    by_rows = np.asarray(panel().column("nr"))[run.rows]
    men = [len(set(by_rows[run.groups.labels == group])) for group in range(run.groups.count)]
    assert min(men) < 5  # what is 5-anonymous by rows is not by people
    assert run.verdict.title == "Decide"
    (text,) = asked(run)
    role = "no role" if drop == ["year"] else "dropped"
    assert text.startswith(f"`nr` ({role}) has 150 values with 8 rows each, and `school`, `ethnicity`, `region` hardly")


def test_somebody_says_whose_row_it_is_by_a_column_that_is_dropped() -> None:
    run = published(panel(), unit="nr", drop=["nr", "*"])
    assert not asked(run)
    assert [claim.get("per") for claim in run.release.guarantees] == [None, "nr"]


def test_somebody_says_that_each_row_is_a_person_and_it_is_recorded(tmp_path: Path) -> None:
    run = published(panel(), unit="row", drop="*")
    assert run.verdict.title == "Ready"
    folder = uc.save(run, tmp_path / "out")
    assert json.loads((folder / "private" / "run.json").read_text())["schema"]["unit"] == "row"
    assert "each row is a person of its own" in (folder / "private" / "report.html").read_text()
    assert uc.load(folder).schema.says_each_row


def test_a_column_called_row_is_that_column() -> None:
    renamed = panel().rename_columns(["row", *panel().column_names[1:]])
    run = published(renamed, unit="row", drop="*")
    assert [claim.get("per") for claim in run.release.guarantees] == [None, "row"]
    with pytest.raises(SchemaError, match="Rename the column"):
        uc.Schema(quasi_identifiers=["row"], sensitive="wage", unit="row")


def test_there_is_no_other_row_to_leave_out_where_each_is_a_person() -> None:
    with pytest.raises(SchemaError, match="Leave out `one_row_per`"):
        published(panel(), unit="row", one_row_per="first", drop="*")


def test_without_the_key_rows_of_different_years_that_agree_are_asked_about() -> None:
    (text,) = asked(published(panel().drop_columns(["nr"]), drop="*"))
    assert text.startswith("Rows of different `year` agree in ")


def test_a_key_that_says_nothing_about_rows_is_no_key() -> None:
    """The planted fault: the same columns, the key dealt anew, and the rows of one year only."""
    draw = np.random.default_rng(2)
    table = panel()
    dealt = table.set_column(0, "code", pa.array(draw.permutation(np.asarray(table.column("nr")))))
    once = dealt.set_column(1, "year", pa.array(np.full(table.num_rows, 1980)))
    found = find_repeated_people(ArrowColumns(once.take(draw.permutation(table.num_rows))))
    assert found == repeated_people.RepeatedPeople()


def test_the_order_of_the_file_is_no_more_than_a_remark() -> None:
    table = panel().drop_columns(["nr", "year", "industry", "wage"])
    wage = np.random.default_rng(3).integers(0, 40, table.num_rows)
    table = table.append_column("wage", pa.array(wage))
    run = uc.publish(table, uc.Schema(quasi_identifiers=KNOWN[:3], sensitive="wage"), uc.Mondrian(k=5))
    (reason,) = run.verdict.reasons
    assert (run.verdict.title, reason.weight, reason.kind) == ("Ready", "note", "unit")
    assert "Neighbouring rows agree" in reason.text


def test_of_a_large_table_whole_keys_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    shuffled = panel(2000).take(np.random.default_rng(4).permutation(16_000))
    everything = find_repeated_people(ArrowColumns(shuffled))
    monkeypatch.setattr(repeated_people, "MOST_ROWS", 1000)
    some = find_repeated_people(ArrowColumns(shuffled))
    assert [key.column for key in some.keys] == [key.column for key in everything.keys] == ["nr"]
    assert some.keys[0].values == 2000
    over_time = find_repeated_people(ArrowColumns(panel(2000).drop_columns(["nr"])))
    assert over_time.time is not None
    assert over_time.time.column == "year"


def test_a_key_with_holes_and_columns_of_lists_are_no_hindrance() -> None:
    table = panel()
    holes = np.arange(table.num_rows) % 50 == 0
    key = pa.array(np.asarray(table.column("nr")), mask=holes)
    lists = pa.array([[number] for number in range(table.num_rows)])
    table = table.set_column(0, "nr", key).append_column("list", lists)
    assert [found.column for found in find_repeated_people(ArrowColumns(table)).keys] == ["nr"]


@pytest.mark.parametrize("rows", [500, 5000])
def test_tables_of_single_people_are_not_asked_about(rows: int) -> None:
    for seed in range(3):
        assert not find_repeated_people(ArrowColumns(uc.datasets.census(rows, seed=seed))).asks
    for name in ("mutual-cover", "cross-bucket"):
        assert not find_repeated_people(ArrowColumns(uc.datasets.hospital(name).table)).asks


def test_inspect_asks_and_writes_the_question_into_the_spec() -> None:
    table = panel().rename_columns(["code", *panel().column_names[1:]])
    found = uc.inspect(table)
    assert found.to_dict()["repeated_people"]["asks"]
    assert any("`code` has 150 values with 8 rows each" in warning for warning in found.warnings)
    assert '# unit = "code"  # or "row", if each row is a person of its own' in found.write_spec()
    said = uc.inspect(table, uc.Schema(quasi_identifiers=KNOWN, sensitive="wage", unit="row"))
    assert not any("rows each" in warning for warning in said.warnings)


def test_on_the_command_line(tmp_path: Path) -> None:
    write_csv(panel(), tmp_path / "panel.csv")
    asking = ["publish", "panel.csv", "--qi", ",".join(KNOWN), "--sensitive", "wage", "--drop", "*"]
    asking += ["--method", "mondrian", "--set", "k=5"]

    def command(*more: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "undercover", *asking, *more]
        return subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, check=False)

    found = command("--out", "asked")
    told = " ".join((found.stdout + found.stderr).split())
    assert "Say --unit nr, or --unit row if each row is a person of its own" in told
    said = command("--unit", "row", "--out", "said")
    assert said.returncode == 0, said.stderr
    assert "same people again" not in said.stdout + said.stderr


def test_where_nobody_looked_the_verdict_does_not_claim_it() -> None:
    run = published(panel(), drop="*")
    unseen = replace(run, source={**run.source, "people": {"searched": False}})
    (reason,) = [reason for reason in unseen.verdict.reasons if reason.kind == "unit"]
    assert (reason.weight, reason.text) == (
        "note",
        "Nobody looked whether people have several rows: the table lies in Spark.",
    )
