"""The scripts in ``examples/`` run and say what is true."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out.splitlines()


def test_every_example_is_tested() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


def test_publish_csv(capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("publish_csv", capsys)
    assert lines[0] == "verdict: Decide"
    assert "algorithm-safe" in lines[1]
    assert lines[2] == "verified: True"
    found = {name: (int(asked), float(actual)) for name, asked, actual in _findings(lines)}
    assert {name: asked for name, (asked, _) in found.items()} == {"k-anonymity": 10, "l-diversity": 4}
    assert all(actual >= asked for asked, actual in found.values())
    before, after = _percents(lines, "rows found, worst")
    assert before == 100
    assert after <= 10
    with_original, with_release, without = _percents(lines, "income guessed")
    assert without < with_release <= 25 < with_original
    (loss,) = [float(line.removeprefix("loss: ")) for line in lines if line.startswith("loss: ")]
    assert 0 < loss < 0.2
    assert lines[-1].split() == [
        "files:",
        "private/groups.parquet",
        "private/report.html",
        "private/report.json",
        "private/run.json",
        "private/spec.toml",
        "public/datapackage.json",
        "public/datasheet.html",
        "public/release.json",
        "public/table.csv",
    ]


def test_compare_k(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.replace(",", "").replace("%", "").split() for line in run("compare_k", capsys)[1:]]
    ks = [int(row[0]) for row in rows]
    classes, losses, worst, guessed = ([float(row[i]) for row in rows] for i in range(1, 5))
    assert ks == [2, 5, 10, 20, 50]
    assert all(risk <= 100 / k for k, risk in zip(ks, worst, strict=True))
    assert classes == sorted(classes, reverse=True)
    assert losses == sorted(losses)
    assert losses[0] < losses[-1]
    assert guessed[0] > guessed[-1]
    assert [" ".join(row[5:]) for row in rows] == ["Do not publish", *["Ready"] * 4]


def test_check_foreign_table(capsys: pytest.CaptureFixture[str]) -> None:
    # By hand: of 8 published values 2 are flu and 3 HIV, so a class of flu alone is 3/4 and one of HIV 5/8 away.
    assert run("check_foreign_table", capsys) == [
        "7 rows in 3 classes, 1 suppressed",
        "k-anonymity does not hold: asked for 3, found 1",
        "  1 rows with {'age': '', 'sex': 'F'}",
        "l-diversity does not hold: asked for 2, found 1",
        "  3 rows with {'age': '30-39', 'sex': 'M'}",
        "  1 rows with {'age': '', 'sex': 'F'}",
        "t-closeness does not hold: asked for 0.5, found 0.75",
        "  1 rows with {'age': '', 'sex': 'F'}",
        "  3 rows with {'age': '30-39', 'sex': 'M'}",
    ]


def _findings(lines: list[str]) -> list[tuple[str, str, str]]:
    matches = (re.fullmatch(r"  ([\w-]+): asked for (\d+), found ([\d.]+)", line) for line in lines)
    return [(match[1], match[2], match[3]) for match in matches if match]


def _percents(lines: list[str], start: str) -> list[int]:
    (line,) = [line for line in lines if line.startswith(start)]
    return [int(number) for number in re.findall(r"(\d+)%", line)]
