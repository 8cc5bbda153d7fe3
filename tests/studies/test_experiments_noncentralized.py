"""The experiment on non-centralized l-diversity: what is measured, and claims that can fail."""

from pathlib import Path

import pytest

from undercover.datasets import census
from undercover.errors import UnreachableError
from undercover.io.source import read
from undercover.methods.noncentralized.method import NonCentralized
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.studies.experiments.bench import part
from undercover.studies.experiments.experiment import Row, Rows
from undercover.studies.experiments.papers.noncentralized import Bench, build, claims, four_levels
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import run_experiment

SETS = {"A": (30, 2), "B": (50, 2), "C": (30, 4)}


def test_four_levels_have_four_two_and_one_class() -> None:
    tree = four_levels([str(n) for n in range(9)])
    assert [len({row[level] for row in tree.rows}) for level in range(4)] == [9, 4, 2, 1]
    assert [len({row[level] for row in four_levels(["a", "b"]).rows}) for level in range(4)] == [2, 2, 2, 1]


def test_the_sets_of_the_paper_are_measured() -> None:
    experiment = build(Request())
    by_set = {name: [cell for cell in experiment.cells if cell.figure == name] for name in "ABCD"}
    asked = {name: cells[0].parameters for name, cells in by_set.items()}
    assert [(asked[name]["l_pre"], asked[name]["columns_pre"]) for name in "ABCD"] == [
        (30, 2),
        (50, 2),
        (30, 4),
        (50, 4),
    ]
    assert max(cell.parameters["columns"] for cell in by_set["A"]) == 5
    assert max(cell.parameters["columns"] for cell in by_set["C"]) == 3  # seven less the four of others
    assert max(cell.parameters["columns"] for cell in experiment.cells if cell.figure == "none") == 7
    assert {cell.x for cell in by_set["A"]} == {10, 15, 20, 25, 30, 35, 40}


def test_a_small_run_judges_every_claim(tmp_path: Path) -> None:
    results = run_experiment(build(Request(quick=True, rows=3000)), tmp_path)
    assert {claim["verdict"] for claim in results["claims"]} <= {"held", "not held", "cannot be tested"}
    verdicts = {claim["id"]: claim["verdict"] for claim in results["claims"]}
    assert verdicts["candidates-fall-with-l"] == verdicts["level-rises-with-l"] == "held"  # Theorem 3 leaves no choice
    assert len(results["plots"]) == 3
    assert (tmp_path / "experiment.html").is_file()


def test_what_is_measured_is_what_the_method_finds() -> None:
    experiment = build(Request(quick=True, rows=2000))
    cell = next(c for c in experiment.cells if c.figure == "none" and c.series == "3 QI" and c.x == 10)
    found = cell.measure(**cell.parameters)
    table = cell.measure.__self__.table  # type: ignore[attr-defined]
    three = part(table, table.schema.quasi_identifiers[:3])
    nodes = NonCentralized(l=10).candidates(three).to_pylist()
    assert found["candidates"] == len(nodes)
    assert found["least average level"] == pytest.approx(min(node["average level"] for node in nodes))


def test_the_previous_table_is_as_diverse_as_asked() -> None:
    experiment = build(Request(quick=True, rows=5000))
    bench: Bench = experiment.cells[0].measure.__self__  # type: ignore[attr-defined]
    (previous,) = bench.previous(30, 2)
    assert previous.quasi_identifiers == ("work_class", "marital_status")
    assert (previous.counts > 0).sum(axis=1).min() >= 30
    assert bench.previous(0, 0) == ()
    with pytest.raises(UnreachableError, match="the largest feasible l"):
        bench.measure(l=51, columns=1, l_pre=30, columns_pre=2)


def test_a_table_of_ones_own_scales_l() -> None:
    people = census(1500, seed=2).select(["age", "sex", "race", "work_class"])
    schema = Schema(quasi_identifiers=["age", "sex", "race"], sensitive="work_class")
    experiment = build(Request(given=read(people), schema=schema, quick=True))
    assert {cell.figure for cell in experiment.cells} == {"A", "B", "none"}  # four columns of others are not there
    assert {cell.x for cell in experiment.cells} == {2, 4, 6}  # of 8 values as 10, 25 and 40 of 50
    cell = experiment.cells[0]
    assert cell.measure(**cell.parameters)["candidates"] >= 1


def rows_of(measure: str, values: dict[tuple[str, int, int], float]) -> Rows:
    return Rows(
        tuple(Row("noncentralized", name, f"{q} QI", x, measure, value) for (name, q, x), value in values.items())
    )


@pytest.mark.parametrize(
    ("claim", "measure", "held", "broken"),
    [
        ("time-under-180", "elapsed", {("A", 5, 10): 3.0}, {("A", 5, 10): 181.0}),
        (
            "time-not-qi-pre",
            "seconds",
            {("A", 1, 10): 1.0, ("C", 1, 10): 1.2},
            {("A", 1, 10): 1.0, ("C", 1, 10): 2.0},
        ),
        ("time-rises-with-qi", "seconds", {("A", 1, 10): 1.0, ("A", 5, 10): 2.0}, {("A", 1, 10): 2, ("A", 5, 10): 1}),
        (
            "candidates-fall-with-l",
            "candidates",
            {("A", 1, 10): 4, ("A", 1, 20): 3},
            {("A", 1, 10): 3, ("A", 1, 20): 4},
        ),
        (
            "candidates-rise-with-qi",
            "candidates",
            {("A", 1, 10): 3, ("A", 2, 10): 9},
            {("A", 1, 10): 3, ("A", 2, 10): 2},
        ),
        (
            "candidates-rise-with-l-pre",
            "candidates",
            {("A", 1, 10): 3, ("B", 1, 10): 3},
            {("A", 1, 10): 3, ("B", 1, 10): 2},
        ),
        (
            "level-rises-with-l",
            "least average level",
            {("A", 1, 10): 1, ("A", 1, 20): 1},
            {("A", 1, 10): 1, ("A", 1, 20): 0.5},
        ),
        (
            "level-rises-with-qi",
            "least average level",
            {("A", 1, 10): 1, ("A", 2, 10): 1.5},
            {("A", 1, 10): 1, ("A", 2, 10): 0.5},
        ),
    ],
)
def test_every_claim_can_hold_and_fail(
    claim: str, measure: str, held: dict[tuple[str, int, int], float], broken: dict[tuple[str, int, int], float]
) -> None:
    judge = next(c for c in claims(SETS, range(1, 6)) if c.id == claim)
    assert judge.judged(rows_of(measure, held)).verdict == "held"
    assert judge.judged(rows_of(measure, broken)).verdict == "not held"
    assert judge.judged(Rows(())).verdict == "cannot be tested"


def test_times_too_short_to_compare_are_not_judged() -> None:
    judge = next(c for c in claims(SETS, range(1, 6)) if c.id == "time-not-qi-pre")
    short = rows_of("seconds", {("A", 1, 10): 0.001, ("C", 1, 10): 0.009})
    assert judge.judged(short).verdict == "cannot be tested"


def test_levels_of_the_spec_can_be_used() -> None:
    from undercover.datasets import census_schema

    people = census(800, seed=1)
    schema = census_schema(("age", "race"))
    experiment = build(Request(given=read(people), schema=schema, quick=True, options={"hierarchies": "spec"}))
    bench: Bench = experiment.cells[0].measure.__self__  # type: ignore[attr-defined]
    assert isinstance(bench.table, Table)
    assert bench.table["age"].settings.hierarchy == schema.column("age").hierarchy
