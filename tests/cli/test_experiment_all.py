"""``undercover experiment all``: every experiment, one page, and what becomes of one that fails."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from undercover import plugins
from undercover.errors import UnreachableError
from undercover.studies.experiments.experiment import Cell, Claim, Experiment, judged, untestable
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import BROKEN, FINISHED, REFUSED, exit_code

Command = Callable[..., Any]
measured: list[str] = []


def toy(name: str, request: Request) -> Experiment:
    def measure(side: int) -> dict[str, float]:
        measured.append(f"{name} {side}")
        return {"area": side**2}

    cells = [Cell(figure="area", series="square", x=n, measure=measure, parameters={"side": n}) for n in (1, 2)]
    claims = [
        Claim(
            id="grows",
            statement=f"{name} & co <grow>.",
            place="Section 1",
            criterion="2 against 1",
            judge=lambda rows: judged(rows.mean("area", "square", "area", 2) > 1, "4"),
        ),
        Claim(id="far", statement="Far.", place="Section 2", criterion="", judge=untestable("too far away")),
    ]
    return Experiment(
        name=name, title=f"The {name}", paper=f"Paper of {name}", version=1, data={}, cells=cells,
        plots=lambda rows: [], claims=claims,
    )  # fmt: skip


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[str, Request], Experiment]]:
    """Three experiments in place of the real ones; a test may replace one by something that fails."""
    made: dict[str, Callable[[str, Request], Experiment]] = dict.fromkeys(("circles", "cubes", "squares"), toy)
    monkeypatch.setattr(plugins, "names", lambda kind: list(made))
    monkeypatch.setattr(plugins, "load", lambda kind, name: partial(made[name], name))
    measured.clear()
    return made


def raises(error: BaseException) -> Callable[[str, Request], Experiment]:
    def build(name: str, request: Request) -> Experiment:
        raise error

    return build


def test_all_claims_of_all_papers_on_one_page(undercover: Command, toys: dict[str, Any], tmp_path: Path) -> None:
    done = undercover("experiment", "all", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert done.out.count("finished") == 3
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "circles", "cubes", "index.html", "overview.json", "squares",
    ]  # fmt: skip
    page = (tmp_path / "out" / "index.html").read_text()
    for name in toys:
        assert f"Paper of {name}" in page
        assert f"{name} &amp; co &lt;grow&gt;." in page
        assert f'href="{name}/experiment.html"' in page
        assert (tmp_path / "out" / name / "experiment.html").exists()
    assert page.count('<span class="badge good">held</span>') == 3
    assert page.count('<span class="badge care">cannot be tested</span>') == 3
    assert 'src="http' not in page


def test_json_is_the_overview(undercover: Command, toys: dict[str, Any], tmp_path: Path) -> None:
    done = undercover("experiment", "all", "--out", tmp_path / "out", "--json")
    found = json.loads(done.out)
    assert found == json.loads((tmp_path / "out" / "overview.json").read_text())
    assert [entry["experiment"] for entry in found["experiments"]] == list(toys)
    assert [claim["verdict"] for claim in found["experiments"][0]["claims"]] == ["held", "cannot be tested"]


def test_what_is_finished_is_not_measured_again(undercover: Command, toys: dict[str, Any], tmp_path: Path) -> None:
    undercover("experiment", "all", "--out", tmp_path / "out")
    assert len(measured) == 6
    assert undercover("experiment", "all", "--out", tmp_path / "out").code == 0
    assert len(measured) == 6
    assert undercover("experiment", "all", "--out", tmp_path / "out", "--fresh").code == 0
    assert len(measured) == 12


def test_an_interrupted_run_goes_on(undercover: Command, toys: dict[str, Any], tmp_path: Path) -> None:
    toys["cubes"] = raises(KeyboardInterrupt())
    done = undercover("experiment", "all", "--out", tmp_path / "out")
    assert (done.code, "the same command goes on" in done.err) == (130, True)
    states = [entry["state"] for entry in json.loads((tmp_path / "out" / "overview.json").read_text())["experiments"]]
    assert states == ["finished", "not run yet", "not run yet"]
    assert "Not run yet" in (tmp_path / "out" / "index.html").read_text()
    toys["cubes"] = toy
    assert undercover("experiment", "all", "--out", tmp_path / "out").code == 0
    assert measured == [f"{name} {side}" for name in toys for side in (1, 2)]


@pytest.mark.parametrize(
    ("error", "code", "state"),
    [
        (UnreachableError("l=9 cannot be reached"), 3, "could not be run"),
        (MemoryError(), 2, "could not be run"),
        (ZeroDivisionError("division by zero"), 1, "stopped by a bug of undercover"),
    ],
)
def test_one_that_fails_is_reported_and_the_others_run(
    undercover: Command, toys: dict[str, Any], tmp_path: Path, error: Exception, code: int, state: str
) -> None:
    toys["cubes"] = raises(error)
    done = undercover("experiment", "all", "--out", tmp_path / "out")
    assert done.code == code
    assert f"error: cubes {state}: " in done.err
    assert ("Traceback" in done.err) == (code == 1)
    assert done.out.count("finished") == 2
    page = (tmp_path / "out" / "index.html").read_text()
    assert state.capitalize() in page
    assert '2</data></div>\n    <p>of <data value="3">3</data> finished' in page
    overview = (tmp_path / "out" / "overview.json").read_text()
    assert "Traceback" not in overview + page
    assert str(Path(__file__).parent) not in overview + page


def test_a_bug_of_ours_decides_the_exit_code_before_what_could_not_be_run() -> None:
    fine, refused, broken = {"state": FINISHED}, {"state": REFUSED, "exit_code": 3}, {"state": BROKEN, "exit_code": 1}
    assert [exit_code({"experiments": entries}) for entries in ([fine], [fine, refused], [refused, broken])] == [
        0,
        3,
        1,
    ]


def test_a_folder_of_something_else_is_left_alone(undercover: Command, toys: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    done = undercover("experiment", "all", "--out", tmp_path)
    assert (done.code, "left alone" in done.err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_choice_belongs_to_one_experiment(undercover: Command, toys: dict[str, Any], tmp_path: Path) -> None:
    done = undercover("experiment", "all", "--set", "table=occ", "--out", tmp_path / "out")
    assert (done.code, "Name that one instead" in done.err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_the_folder_of_an_own_table_is_private(
    undercover: Command, toys: dict[str, Any], people: Path, tmp_path: Path
) -> None:
    roles = ("--qi", "age,sex", "--sensitive", "disease")
    assert undercover("experiment", "all", "--data", people, *roles, "--out", tmp_path / "out").code == 0
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert "private: measured on your table" in (tmp_path / "out" / "index.html").read_text()


def test_quick_runs_are_marked_everywhere(undercover: Command, toys: dict[str, Any], tmp_path: Path) -> None:
    done = undercover("experiment", "all", "--quick", "--out", tmp_path / "out")
    found = json.loads((tmp_path / "out" / "overview.json").read_text())
    page = (tmp_path / "out" / "index.html").read_text()
    assert found["quick"]
    for text in (page, " ".join(done.out.split()), found["says"]):
        assert "no verdict on the paper" in text
        assert "without --quick" in text
    assert '<span class="badge good">held' not in page
    undercover("experiment", "all", "--out", tmp_path / "whole")
    assert "no verdict" not in (tmp_path / "whole" / "index.html").read_text()


@pytest.mark.long
def test_every_real_experiment_runs_quickly(undercover: Command, tmp_path: Path) -> None:
    done = undercover("experiment", "all", "--quick", "--rows", 600, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {entry["experiment"]: entry["state"] for entry in found["experiments"]} == dict.fromkeys(
        plugins.names("experiments"), "finished"
    )
    assert all(entry["claims"] for entry in found["experiments"])
