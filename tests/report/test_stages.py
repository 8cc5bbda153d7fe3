import pytest

import undercover as uc
from undercover.model.hierarchy import Hierarchy
from undercover.verbs.report import summarize

AGES = Hierarchy([(str(age), f"{age // 10}0s", "*") for age in range(120)])


def told(method, *, quasi=("age", "sex"), columns=None, people=None):
    people = uc.datasets.census(400) if people is None else people
    domain = tuple(map(str, sorted(set(people.column("occupation").to_pylist()))))
    schema = uc.Schema(
        quasi_identifiers=quasi,
        sensitive="occupation",
        columns={"occupation": uc.Column(domain=domain), **(columns or {})},
    )
    run = uc.publish(people, schema, method, seed=2)
    return run, {stage["title"]: stage for stage in summarize(run)["done"]["stages"]}


def test_every_stage_has_its_numbers_and_its_time():
    run, stages = told(uc.Mondrian(k=10))
    assert list(stages) == ["Read", "Encoded", "Grouped", "Published", "Verified", "Attacked", "Measured"]
    assert stages["Read"]["text"] == "400 rows were read."
    assert stages["Read"]["seconds"] == run.timings["read"]
    assert f"age {run.original['age'].domain.size}, sex 2" in stages["Encoded"]["text"]
    low, high = run.groups.sizes.min(), run.groups.sizes.max()
    assert f"{run.groups.count} classes" in stages["Grouped"]["text"]
    assert f"have {low} to {high} rows" in stages["Grouped"]["text"]
    assert "table (400 rows)" in stages["Published"]["text"]
    assert "linkage" in stages["Attacked"]["text"]
    assert "3,000 random COUNT queries" in stages["Measured"]["text"]
    assert stages["Published"]["seconds"] is None


def test_what_methods_say_of_themselves():
    run, stages = told(uc.MutualCover(variant="paper", delta="1/3", l=3))
    assert str(run.diagnostics["rows_left_unchanged"]) in stages["Drawn"]["text"]
    assert (
        f"{sum(run.diagnostics['tables_by_origin'].values()):,} random output tables" in stages["Output tables"]["text"]
    )
    run, stages = told(uc.Incognito(k=5), quasi=("age",), columns={"age": uc.Column(hierarchy=AGES)})
    assert stages["Searched"]["text"].startswith(f"{run.diagnostics['nodes']} combinations of levels")
    _, stages = told(uc.PerturbedGeneralization(k=5, p=0.25))
    assert "kept with probability 0.25" in stages["Perturbed"]["text"]


@pytest.mark.parametrize("rows", [1, 2])
def test_one_and_many(rows):
    _, stages = told(uc.Mondrian(k=rows), people=uc.datasets.census(rows))
    assert stages["Read"]["text"] == ("1 row was read." if rows == 1 else "2 rows were read.")
    assert "This gave 1 class." in stages["Grouped"]["text"]
