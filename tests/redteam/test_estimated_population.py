"""An unprotected sample that was Ready because the population was estimated to be large.

`--population 0.05` made every row stand for twenty people: 1/F with F = f / 0.05 is at most 1/20, whatever the table.
"""

import pyarrow as pa
import pytest

import undercover as uc
from undercover.model.run import Run

POPULATION = uc.datasets.census(4000, seed=3)
KNOWN = ["age", "sex", "education"]
LIMITS = {
    "name": "own",
    "found": "1/5",
    "belief": "none",
    "singled_out": "none",
    "presence_known": False,
}


def sample(**said: object) -> Run:
    """One in twenty people of a population, published as they are."""
    people = pa.table(POPULATION).take(list(range(0, 4000, 20))).append_column("stands_for", pa.array([20.0] * 200))
    schema = uc.Schema(quasi_identifiers=KNOWN, sensitive="income", drop="*", **said)  # type: ignore[arg-type]
    return uc.publish(people, schema, uc.Mondrian(k=1), policy=LIMITS | {"membership": 0.2})


@pytest.mark.parametrize("said", [{"population": 0.05}, {"weight": "stands_for"}], ids=["share", "weights"])
def test_an_estimate_is_never_better_than_decide(said: dict[str, object]) -> None:
    run = sample(**said)
    assert run.verdict.status == "decide"
    asked = {reason.kind: reason for reason in run.verdict.weighing("ask")}
    assert {"found", "membership"} <= set(asked)
    for kind in ("found", "membership"):
        assert "It cannot be judged" in asked[kind].text
        assert "errs low" in asked[kind].text
        assert "table of the population" in asked[kind].change


def test_a_table_of_the_population_is_counted_and_judged() -> None:
    run = sample(population=POPULATION)
    (journalist,) = (found for found in run.attacks if found.to_dict()["attack"] == "journalist")
    assert journalist.to_dict()["estimated"] is False
    stops = {reason.kind: reason for reason in run.verdict.weighing("stop")}
    assert stops["found"].people
    assert stops["found"].actual == 1.0  # people who are alone in the whole population
    assert "membership" in stops


def test_an_estimate_that_exceeds_a_limit_stops() -> None:
    people = pa.table({"age": [20] * 4 + [60] * 4, "income": ["a", "b"] * 4})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="income", population=0.9)
    run = uc.publish(people, schema, uc.Mondrian(k=4), policy=LIMITS | {"membership": 0.5})
    assert {reason.kind for reason in run.verdict.weighing("stop")} == {"found", "membership"}


def test_where_presence_is_known_no_estimate_is_needed() -> None:
    people = pa.table({"age": [20] * 11 + [60] * 11, "income": ["a", "b"] * 11})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="income", population=0.05)
    assert uc.publish(people, schema, uc.Mondrian(k=11)).verdict.status == "ready"
