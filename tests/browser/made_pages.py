"""Every kind of page, made once and small: releases of each form, withheld and accepted, and what the studies write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import undercover as uc
from pictures import drawing
from undercover.errors import UnreachableError
from undercover.io.plain import plain
from undercover.pages.render import guarantee_html, inspection_html, overview_html
from undercover.studies.compare.compare import compare
from undercover.studies.experiments import runner
from undercover.studies.experiments.experiment import Cell, Claim, Experiment, Plot, judged, untestable
from undercover.studies.experiments.request import Request
from undercover.studies.inspect.inspection import inspect

LONG = "highest_level_of_education_attained"
SENSITIVE = ("income", "occupation")
METHODS = {
    "generalized": uc.Mondrian(k=5),
    "buckets": uc.Anatomy(l=3),
    "drawn": uc.MutualCover(variant="paper", delta="1/3", l=3),
    "perturbed": uc.PerturbedGeneralization(k=4, p=0.4),
    "noncentralized": uc.NonCentralized(l=2),
}
"""A method of each form, and one that looks otherwise; all but the first are withheld, the last one accepted."""


@dataclass(frozen=True)
class Made:
    """A page and the numbers it may show."""

    path: Path
    facts: Any

    @property
    def numbers(self) -> set[str]:
        return {*numbers_in(self.facts), "0.0"}  # a loss of nothing is nobody's figure


def numbers_in(value: Any) -> set[str]:
    """Every number of a JSON document, as a page writes it; as a promise, infinity is a word."""
    if isinstance(value, Mapping):
        return {number for item in value.values() for number in numbers_in(item)}
    if isinstance(value, list | tuple):
        return {number for item in value for number in numbers_in(item)}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {repr(value)}
    return {value} if value == "inf" else set()


class Pages:
    """Made where they are first asked for, with their pictures drawn."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.made: dict[str, Made] = {}

    def __getitem__(self, name: str) -> Made:
        if name not in self.made:
            with drawing():
                self.made[name] = MAKERS[name](self)
        return self.made[name]

    def release(self, form: str) -> Path:
        """The folder of a release; two sensitive columns where the method takes them, and a long name."""
        folder = self.place / form / "out"  # apart from the others, which would be earlier releases of the same people
        if not folder.exists():
            folder.parent.mkdir()
            several = form == "generalized"
            schema = uc.Schema(
                quasi_identifiers=["age", "sex", LONG],
                sensitive=list(SENSITIVE[: 1 + several]),
                columns={"income": uc.datasets.census_schema(["age"]).column("income")},
            )
            with drawing():
                uc.save(uc.publish(people(), schema, METHODS[form]), folder)
            if form == "noncentralized":
                uc.accept(folder, because="Nobody in it exists.", by="the board")
        return folder


@cache
def people(rows: int = 240) -> pa.Table:
    census = uc.datasets.census(rows, seed=3)
    return census.rename_columns([LONG if name == "education" else name for name in census.column_names])


def report(form: str) -> Callable[[Pages], Made]:
    def make(pages: Pages) -> Made:
        private = pages.release(form) / "private"
        return Made(private / "report.html", json.loads((private / "report.json").read_text("utf-8")))

    return make


def datasheet(form: str) -> Callable[[Pages], Made]:
    def make(pages: Pages) -> Made:
        (page,) = pages.release(form).glob("[pw]*/datasheet.html")  # public or withheld
        return Made(page, json.loads(page.with_name("release.json").read_text("utf-8")))

    return make


def comparison(pages: Pages) -> Made:
    folder = pages.place / "compare"
    schema = uc.datasets.census_schema(["age", "sex"])
    facts = compare(people(), schema, folder, methods=["noncentralized", "perturbed-generalization"], queries=4)
    return Made(folder / "compare.html", facts)


def toy(_: Request | None = None) -> Experiment:
    """Two shapes measured three times each; one cannot be, and claims come out each way."""

    def measure(shape: str, size: int, time: int) -> dict[str, float]:
        if (shape, size) == ("circle", 3):
            raise UnreachableError("No circle of diameter 3 can be drawn.")
        return {"area": size * size * (1.0 if shape == "square" else 0.785) + 0.01 * time}

    cells = [
        Cell("area", shape, size, measure, {"shape": shape, "size": size, "time": time}, time)
        for shape in ("square", "circle")
        for size in (1, 2, 3)
        for time in range(3)
    ]
    judges = {
        "yes": lambda _: judged(True, "all"),
        "no": lambda _: judged(False, "none"),
        "open": untestable("no cubes"),
    }
    return Experiment(
        name="toy",
        title="Areas & shapes",
        paper="Euclid, Elements",
        version=1,
        data={"generator": {"name": "shapes"}},
        cells=cells,
        about={"Shapes": "`square` and circle"},
        prepare=lambda progress: None,
        plots=lambda rows: [
            Plot(mark, f"As {mark}", "See `this`.", rows.points("area", "area"), "diameter", "area", mark=mark)
            for mark in ("line", "bar")
        ],
        claims=[
            Claim(id=name, place="Book 1", judge=judge, statement="A circle is smaller.", criterion="always")
            for name, judge in judges.items()
        ],
    )


def experiment(pages: Pages) -> Made:
    folder = pages.place / "experiment"
    return Made(folder / "experiment.html", runner.run_experiment(toy(), folder))


class Offered:
    """Two experiments in place of the papers', one of which cannot be run."""

    @staticmethod
    def names(kind: str) -> list[str]:
        return ["toy", "none"]

    @staticmethod
    def load(kind: str, name: str) -> Callable[[Request], Experiment]:
        def refused(_: Request) -> Experiment:
            raise UnreachableError("There are no cubes.")

        return toy if name == "toy" else refused


def experiments(pages: Pages) -> Made:
    folder = pages.place / "experiments"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runner, "plugins", Offered)
        facts = runner.run_everything(Request(quick=True), folder)
    finished = [entry["state"] for entry in facts["experiments"]].count("finished")
    count = [len(facts["experiments"]), finished, len(facts["experiments"]) - finished]
    claims = [claim["verdict"] for entry in facts["experiments"] for claim in entry.get("claims", ())]
    return Made(folder / "index.html", [facts, count, len(claims), [claims.count(verdict) for verdict in set(claims)]])


def index(pages: Pages) -> Made:
    entries = [
        {
            "summary": pages[f"report {form}"].facts,
            "report": f"{form}/private/report.html",
            "datasheet": f"{form}/x.html",
        }
        for form in METHODS
    ]
    path = pages.place / "index.html"
    path.write_text(overview_html(entries, title="The tour", about="People who do not exist."), "utf-8")
    return Made(path, entries)


def inspection(pages: Pages) -> Made:
    found = inspect(people())
    path = pages.place / "inspection.html"
    path.write_text(inspection_html(found.to_dict(), found.risks(), "people.csv"), "utf-8")
    alone = [round(column["unique_share"] * found.rows) for column in found.to_dict()["columns"]]
    return Made(
        path, [plain(found.to_dict()), plain(found.risks().to_dict()), alone, len(found.to_dict()["questions"])]
    )


def guarantee(pages: Pages) -> Made:
    path = pages.place / "guarantee.html"
    grid = [{"k": k, "p": p, "rho2": p, "growth": p / k} for k in (2, 4, 10) for p in (0.15, 0.3, 0.45)]
    path.write_text(guarantee_html(grid, rho1=0.2, domain=50, skew=0.1, bound="tight"), "utf-8")
    return Made(path, [grid, 50])


MAKERS: dict[str, Callable[[Pages], Made]] = {
    **{f"report {form}": report(form) for form in METHODS},
    **{f"datasheet {form}": datasheet(form) for form in ("generalized", "buckets", "noncentralized")},
    "compare": comparison,
    "experiment": experiment,
    "experiments": experiments,
    "index": index,
    "inspection": inspection,
    "guarantee": guarantee,
}
