import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from undercover.cli import experiment as command
from undercover.cli.main import app
from undercover.errors import OutputError, ParameterError, SchemaError

runner = CliRunner()


def invoke(*arguments: object):
    return runner.invoke(app, ["experiment", *map(str, arguments)], catch_exceptions=False, standalone_mode=False)


def own_file(folder: Path) -> Path:
    path = folder / "people.csv"
    lines = [f"{20 + i * 7 % 40},{'ab'[i // 3 % 2]},ill {i % 12}" for i in range(480)]
    path.write_text("age,sex,disease\n" + "\n".join(lines) + "\n")
    return path


def test_quick_run_says_which_claims_held(tmp_path):
    result = invoke("streamliner", "--quick", "--rows", 600, "--out", tmp_path / "out")
    assert "wrap-optimal" in result.stdout
    assert "cannot be tested" in result.stdout
    for text in (
        "in this quick run",
        "no verdict on the paper",
        "without --quick",
        "whole: built-in census (SAL), 600,000",
    ):
        assert text in " ".join(result.stdout.split())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "cells.jsonl",
        "experiment.html",
        "results.csv",
        "results.json",
    ]


def test_json_is_the_content_of_the_file_and_nothing_else(tmp_path):
    arguments = ("streamliner", "--quick", "--rows", 300, "--out", tmp_path / "out", "--json")
    printed = json.loads(invoke(*arguments).stdout)
    assert printed == json.loads((tmp_path / "out" / "results.json").read_text())
    again = json.loads(invoke(*arguments).stdout)
    assert (printed["timings"]["reused"], again["timings"]["reused"]) == (0, printed["timings"]["cells"])
    fresh = json.loads(invoke(*arguments, "--fresh").stdout)
    assert fresh["timings"]["reused"] == 0


def test_own_file_by_options_and_by_spec(tmp_path):
    file = own_file(tmp_path)
    roles = ("--qi", "age,sex", "--sensitive", "disease")
    by_options = invoke("streamliner", "--quick", "--data", file, *roles, "--out", tmp_path / "a", "--json")
    spec = tmp_path / "s.toml"
    spec.write_text('[roles]\nquasi_identifiers = ["age", "sex"]\nsensitive = "disease"\n')
    by_spec = invoke("streamliner", "--quick", "--data", file, "--spec", spec, "--out", tmp_path / "b", "--json")
    first, second = json.loads(by_options.stdout), json.loads(by_spec.stdout)
    assert first["data"] == second["data"]
    assert first["private"]
    measured = [[row for row in found["rows"] if row["figure"] == "qwe"] for found in (first, second)]
    assert measured[0] == measured[1]
    assert measured[0]


def test_rows_repetitions_seed_and_choices(tmp_path):
    arguments = ("--rows", 300, "--repetitions", 2, "--seed", 4, "--set", "table=occ")
    found = json.loads(invoke("streamliner", "--quick", *arguments, "--out", tmp_path / "o", "--json").stdout)
    assert found["data"]["generator"] == {"name": "built-in census (OCC)", "table": "occ", "rows": 300, "seed": 4}
    assert {row["repetition"] for row in found["rows"]} == {0, 1}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["streamlined"], ParameterError, "Did you mean `streamliner`"),
        (["streamliner", "--set", "strata"], ParameterError, "NAME=VALUE"),
        (["streamliner", "--set", "strata=sex"], ParameterError, "Option `strata` is not known"),
        (["streamliner", "--qi", "age"], ParameterError, "Name it with --data"),
        (["streamliner", "--rows", "0"], ParameterError, "'rows'"),
    ],
)
def test_bad_usage_is_refused_before_anything_is_written(tmp_path, arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        invoke(*arguments, "--out", tmp_path / "out")
    assert caught.value.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_a_table_needs_roles(tmp_path):
    with pytest.raises(SchemaError, match="--qi"):
        invoke("streamliner", "--data", own_file(tmp_path), "--out", tmp_path / "out")


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    own_file(tmp_path)
    with pytest.raises(OutputError, match="left alone"):
        invoke("streamliner", "--quick", "--out", tmp_path)


def test_an_interruption_says_that_the_run_can_go_on(tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_experiment", interrupted)
    result = invoke("streamliner", "--quick", "--out", tmp_path / "out")
    assert result.return_value == 130
    assert "the same command goes on" in result.stderr


def test_progress_goes_to_stderr_only(undercover, tmp_path):
    done = undercover("experiment", "streamliner", "--quick", "--json", "--rows", 300, "--out", tmp_path / "out")
    assert done.code == 0
    assert json.loads(done.out)["experiment"] == "streamliner"
    assert "streamliner …\n" in done.err
    assert done.err.splitlines()[-1].startswith("took ")
