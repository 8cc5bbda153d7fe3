import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from undercover.errors import InternalError, OutputError, ParameterError, SchemaError, UnreachableError
from undercover.io.source import read
from undercover.model.schema import Schema
from undercover.studies.experiments.experiment import Cell, Claim, Experiment, Plot, judged, untestable
from undercover.studies.experiments.folder import JOURNAL, cell_key
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import NO_VERDICT, build, run_experiment


class Toy:
    """Areas of squares and of circles of diameter x; remembers what was measured."""

    def __init__(self, sizes=(1, 2, 3), version=1, data=None, stop_at=None):
        self.measured: list[tuple[str, int]] = []
        self.prepared = 0
        self.stop_at = stop_at
        cells = [
            Cell(
                figure="area",
                series=series,
                x=size,
                measure=self.measure,
                parameters={"shape": series, "size": size},
                cost=size,
            )
            for series in ("square", "circle")
            for size in sizes
        ]
        self.experiment = Experiment(
            name="toy",
            title="Areas & shapes",
            paper="Euclid, Elements",
            version=version,
            data=data or {"generator": {"name": "shapes"}},
            cells=cells,
            about={"Shapes": "`square` and circle"},
            prepare=self.prepare,
            plots=lambda rows: [
                Plot(
                    id="area",
                    title="Area",
                    caption="larger is larger",
                    points=rows.points("area", "area"),
                    x_title="diameter",
                    y_title="area",
                )
            ],
            claims=[
                Claim(
                    id="smaller",
                    statement="A circle is smaller than its square.",
                    place="Book 1",
                    criterion="at every diameter",
                    judge=lambda rows: judged(
                        all(
                            rows.mean("area", "circle", "area", x) < rows.mean("area", "square", "area", x)
                            for x in rows.xs("area", "square")
                        ),
                        "all",
                    ),
                ),
                Claim(
                    id="tiny",
                    statement="Squares are tiny.",
                    place="Book 2",
                    criterion="under 4",
                    judge=lambda rows: judged(rows.mean("area", "square", "area", 3) < 4, "9"),
                ),
                Claim(
                    id="cube",
                    statement="A cube is larger.",
                    place="Book 3",
                    criterion="none",
                    judge=untestable("we have no cubes"),
                ),
            ],
        )

    def prepare(self, progress):
        self.prepared += 1

    def measure(self, shape, size):
        if (shape, size) == self.stop_at:
            raise KeyboardInterrupt
        self.measured.append((shape, size))
        if shape == "circle" and size == 2:
            raise UnreachableError("No circle of diameter 2 can be drawn.")
        return {"area": size * size * (1 if shape == "square" else 0.785)}


def test_rows_claims_and_refusals(tmp_path):
    toy = Toy()
    results = run_experiment(toy.experiment, tmp_path / "out")
    assert [(row["series"], row["x"], row["value"]) for row in results["rows"]] == [
        ("square", 1, 1),
        ("square", 2, 4),
        ("square", 3, 9),
        ("circle", 1, 0.785),
        ("circle", 3, 9 * 0.785),
    ]
    assert {claim["id"]: claim["verdict"] for claim in results["claims"]} == {
        "smaller": "cannot be tested",  # the circle of diameter 2 is missing
        "tiny": "not held",
        "cube": "cannot be tested",
    }
    assert results["claims"][0]["figures"] == "area was not measured for circle at 2"
    assert [(cell["series"], cell["x"], cell["reason"]) for cell in results["refused"]] == [
        ("circle", 2, "No circle of diameter 2 can be drawn.")
    ]
    assert run_experiment(Toy((1, 3)).experiment, tmp_path / "other")["claims"][0]["verdict"] == "held"


def test_files(tmp_path):
    results = run_experiment(Toy().experiment, tmp_path)
    assert json.loads((tmp_path / "results.json").read_text()) == results
    with open(tmp_path / "results.csv", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert list(lines[0]) == ["experiment", "figure", "series", "x", "measure", "value", "repetition"]
    assert [float(line["value"]) for line in lines] == [row["value"] for row in results["rows"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cells.jsonl",
        "experiment.html",
        "results.csv",
        "results.json",
    ]


@pytest.mark.usefixtures("drawn")
def test_page_shows_claims_figures_and_refusals_and_stands_alone(tmp_path):
    run_experiment(Toy().experiment, tmp_path)
    page = (tmp_path / "experiment.html").read_text()
    assert "Areas &amp; shapes" in page
    assert "No circle of diameter 2 can be drawn." in page
    assert "nobody in it exists" in page
    for verdict in ("held", "not held", "cannot be tested"):
        assert verdict in page
    assert page.count('class="chart broad"') == page.count('class="chart narrow"') == page.count("<svg") / 2 == 1
    assert f'<data value="{9 * 0.785!r}">' in page
    outside = page.replace('="http://www.w3.org/2000/svg"', "").replace('="http://www.w3.org/1999/xlink"', "")
    assert page.count("<script") == 1
    assert not re.search(r"https?://|<link|<img|@import|url\((?!#)", outside)


def test_finished_cells_are_not_run_again(tmp_path):
    run_experiment(Toy().experiment, tmp_path)
    again = Toy()
    results = run_experiment(again.experiment, tmp_path)
    assert (again.measured, again.prepared, results["timings"]["reused"]) == ([], 0, 6)
    larger = Toy((1, 2, 3, 4))
    run_experiment(larger.experiment, tmp_path)
    assert larger.measured == [("square", 4), ("circle", 4)]


@pytest.mark.parametrize("change", [{"version": 2}, {"data": {"sha256": "0"}}])
def test_another_version_or_other_data_run_anew(tmp_path, change):
    run_experiment(Toy().experiment, tmp_path)
    changed = Toy(**change)
    run_experiment(changed.experiment, tmp_path)
    assert len(changed.measured) == 6
    back = Toy()
    run_experiment(back.experiment, tmp_path)
    assert back.measured == []


def test_fresh_forgets(tmp_path):
    run_experiment(Toy().experiment, tmp_path)
    again = Toy()
    run_experiment(again.experiment, tmp_path, fresh=True)
    assert len(again.measured) == 6
    assert len((tmp_path / JOURNAL).read_text().splitlines()) == 7


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    stopped = Toy(stop_at=("circle", 1))
    with pytest.raises(KeyboardInterrupt):
        run_experiment(stopped.experiment, tmp_path)
    assert not (tmp_path / "results.json").exists()
    going_on = Toy()
    run_experiment(going_on.experiment, tmp_path)
    assert going_on.measured == [("circle", 1), ("circle", 2), ("circle", 3)]
    whole = run_experiment(Toy().experiment, tmp_path / "whole")
    assert json.loads((tmp_path / "results.json").read_text())["rows"] == whole["rows"]


@pytest.mark.parametrize("kept", range(0, 40, 3))
def test_a_line_cut_off_is_run_again_and_does_not_spoil_the_journal(tmp_path, kept):
    run_experiment(Toy().experiment, tmp_path)
    journal = tmp_path / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:kept])
    again = Toy()
    run_experiment(again.experiment, tmp_path)
    assert again.measured == [("circle", 3)]
    assert [json.loads(line).get("x") for line in journal.read_text().splitlines()] == [None, 1, 2, 3, 1, 2, 3]


def test_a_bug_in_a_cell_is_a_bug_and_keeps_what_was_finished(tmp_path):
    toy = Toy()

    def broken(shape, size):
        raise ZeroDivisionError

    cells = [*toy.experiment.cells[:2], replace(toy.experiment.cells[2], measure=broken)]
    with pytest.raises(ZeroDivisionError):
        run_experiment(replace(toy.experiment, cells=cells), tmp_path)
    again = Toy()
    run_experiment(again.experiment, tmp_path)
    assert ("square", 1) not in again.measured
    cells = [replace(toy.experiment.cells[0], x=7, measure=lambda shape, size: {"area": float("nan")})]
    with pytest.raises(InternalError, match="no number"):
        run_experiment(replace(toy.experiment, cells=cells), tmp_path / "nan")


def test_not_enough_memory_is_recorded_and_tried_again(tmp_path):
    toy = Toy((1,))

    def large(shape, size):
        raise MemoryError

    cells = [replace(toy.experiment.cells[0], measure=large)]
    results = run_experiment(replace(toy.experiment, cells=cells), tmp_path)
    assert results["refused"][0]["reason"] == "There was not enough memory."
    run_experiment(toy.experiment, tmp_path)
    assert ("square", 1) in toy.measured


def test_folders_of_others_are_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("important")
    for fresh in (False, True):
        with pytest.raises(OutputError, match="not written by an experiment"):
            run_experiment(Toy().experiment, tmp_path, fresh=fresh)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be used"):
        run_experiment(Toy().experiment, tmp_path / "file")


def test_folder_of_another_experiment_is_refused(tmp_path):
    run_experiment(Toy().experiment, tmp_path)
    other = replace(Toy().experiment, name="other")
    with pytest.raises(OutputError, match="holds the experiment `toy`"):
        run_experiment(other, tmp_path)
    run_experiment(other, tmp_path, fresh=True)


def test_a_spoilt_journal_is_named(tmp_path):
    (tmp_path / JOURNAL).write_text('{"experiment": "toy"}\nwhat is this\n')
    with pytest.raises(OutputError, match="Line 2 of"):
        run_experiment(Toy().experiment, tmp_path)
    (tmp_path / JOURNAL).write_text("what is this\n")
    for fresh in (False, True):
        with pytest.raises(OutputError, match="was not written by an experiment"):
            run_experiment(Toy().experiment, tmp_path, fresh=fresh)
    assert (tmp_path / JOURNAL).read_text() == "what is this\n"


def test_keys_differ_in_everything_a_value_depends_on():
    toy = Toy().experiment
    cell = toy.cells[0]
    others = [
        cell_key(toy, replace(cell, **change))
        for change in (
            {"figure": "f"},
            {"series": "s"},
            {"x": 9},
            {"repetition": 1},
            {"parameters": {"shape": "square", "size": 2}},
        )
    ]
    others += [cell_key(replace(toy, version=2), cell), cell_key(replace(toy, data={"a": 1}), cell)]
    assert len({cell_key(toy, cell), *others}) == len(others) + 1
    assert cell_key(toy, replace(cell, cost=99.0)) == cell_key(toy, cell)


def test_progress_ends_whole_and_never_goes_back(tmp_path):
    calls: list[tuple[str, float]] = []
    run_experiment(Toy().experiment, tmp_path, progress=lambda stage, share: calls.append((stage, share)))
    shares = [share for _, share in calls]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert "1 of 6" in calls[1][0]


def test_request_reports_all_problems_together():
    with pytest.raises(ParameterError, match="3 problems"):
        Request(rows=0, repetitions=0, seed=-1)
    with pytest.raises(SchemaError, match="--qi"):
        Request(given=read(pa.table({"a": [1]})))


def source_of(data: pa.Table, schema: Schema, rows: int | None = None):
    return Request(given=read(data), schema=schema, rows=rows).source(lambda: data, {"name": "none"}, schema)


def test_identity_of_a_table_is_its_content_and_roles():
    data, schema = (
        pa.table({"a": [1, 2, 3], "b": [1, 1, 2], "c": [5, 6, 7]}),
        Schema(quasi_identifiers="a", sensitive="b"),
    )
    same = source_of(data, schema)
    assert same.identity == source_of(data, schema).identity
    assert same.private
    assert same.identity["content"] != source_of(data, schema, rows=2).identity["content"]
    assert same.identity["content"] != source_of(data, Schema(quasi_identifiers="a", sensitive="c")).identity["content"]
    changed = pa.table({"a": [1, 2, 4], "b": [1, 1, 2], "c": [5, 6, 7]})
    assert same.identity["content"] != source_of(changed, schema).identity["content"]


def test_page_of_somebodys_table_is_private_and_has_no_path(tmp_path: Path):
    file = tmp_path / "secret-place" / "people.csv"
    file.parent.mkdir()
    file.write_text("a,b\n1,2\n2,3\n")
    schema = Schema(quasi_identifiers="a", sensitive="b")
    source = Request(given=read(file), schema=schema).source(lambda: None, {"name": "none"}, schema)
    toy = replace(Toy().experiment, data=source.identity, private=source.private)
    run_experiment(toy, tmp_path / "out")
    text = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert source.name == "people.csv"
    assert "secret-place" not in text
    assert "private" in (tmp_path / "out" / "experiment.html").read_text()
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


def test_a_quick_experiment_says_what_was_shortened(tmp_path, monkeypatch):
    def make(request):
        sizes = (1, 2) if request.quick else (1, 2, 3)
        shapes = {"Shapes": f"{request.rows or 100} rows", "Seed": str(request.seed)}
        return replace(Toy(sizes).experiment, about=shapes)

    monkeypatch.setattr("undercover.plugins.load", lambda kind, name: make)
    whole = run_experiment(build("toy", Request(rows=7)), tmp_path / "whole")
    assert whole["quick"] is False
    assert all(claim["conclusive"] for claim in whole["claims"])
    quick = run_experiment(build("toy", Request(quick=True, rows=7)), tmp_path / "quick")
    assert quick["shortened"] == [
        {"what": "Shapes", "quick": "7 rows", "whole": "100 rows"},
        {"what": "Measurements", "quick": "4", "whole": "6"},
    ]
    assert quick["says"].startswith(NO_VERDICT)
    assert not any(claim["conclusive"] for claim in quick["claims"])
