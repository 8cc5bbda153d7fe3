"""Every limit of a policy: a release just within and one just beyond, counted by hand."""

from typing import Any

import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError, UnreachableError
from undercover.model.verdict import Reason

# Two classes of ten: nine of the first have `a`, five of the second. 14 of 20 have it, so a prior of 0.7.
PEOPLE = pa.table({"age": [20] * 10 + [60] * 10, "disease": ["a"] * 9 + ["b"] + ["a"] * 5 + ["b"] * 5})
SCHEMA = uc.Schema(quasi_identifiers=["age"], sensitive="disease")
ANYTHING = {"found": "none", "belief": "none", "singled_out": "none", "algorithm_safe": "ignored"}
LENIENT = ANYTHING | {"belief": 1, "gain": 1}


def reasons(policy: dict[str, Any], people: Any = PEOPLE, schema: uc.Schema = SCHEMA, **more: Any) -> list[Reason]:
    method = more.pop("method", uc.Mondrian(k=10))
    return list(uc.publish(people, schema, method, policy=policy, **more).verdict.reasons)


@pytest.mark.parametrize(("limit", "people"), [("1/10", 0), (0.0999, 20)])
def test_found(limit: Any, people: int) -> None:
    told = reasons(ANYTHING | {"found": limit})
    assert sum(reason.people or 0 for reason in told) == people
    assert {reason.weight for reason in told} <= {"stop"}
    assert all(reason.actual == pytest.approx(0.1) and reason.regulator == "singling out" for reason in told)


@pytest.mark.parametrize(
    ("belief", "gain", "people"), [(0.9, 0.2, 9), (0.91, 0.2, 0), (0.9, 0.21, 0), (0.5, 0.01, 9), (0.5, 0, 9)]
)
def test_belief_and_gain(belief: float, gain: float, people: int) -> None:
    # In the second class `a` is believed with 0.5, less than without the release; `b` with 0.5 and not with 0.3.
    told = reasons(ANYTHING | {"belief": belief, "gain": gain})
    expected = people + 5 * (belief == 0.5)
    believed = {0.91: 0, 0.9: 9, 0.5: 19}[belief]
    assert sum(reason.people or 0 for reason in told) == expected
    assert [reason.excused for reason in told] == [believed - expected] * bool(believed)
    if told:
        assert told[0].weight == ("stop" if expected else "note")
        assert told[0].text.startswith(f"`disease` can be inferred with {belief:.0%} or more for {believed} people.")
        assert (f"{believed - expected} of them are excused" in told[0].text) is (0 < expected < believed)
        assert ("All of them are excused" in told[0].text) is not expected


@pytest.mark.parametrize(("allowed", "weight"), [(0.45, "note"), (0.44, "stop")])
def test_the_share_of_exposed_people(allowed: float, weight: str) -> None:
    (told,) = reasons(ANYTHING | {"belief": 0.9, "gain": 0.2, "exposed": allowed})
    assert (told.weight, told.people, told.actual) == (weight, 9, 0.45)


@pytest.mark.parametrize(("harmful", "people"), [(["a"], 9), ("b", 0), (["a", "b"], 9)])
def test_harmful_values_only(harmful: Any, people: int) -> None:
    told = reasons(ANYTHING | {"belief": 0.9, "gain": 0.2, "harmful": {"disease": harmful}})
    assert sum(reason.people or 0 for reason in told) == people


@pytest.mark.parametrize(
    ("harmful", "told"),
    [
        ({"diesase": ["a"]}, "Did you mean `disease`"),
        ({"disease": ["HIV"]}, "`HIV` does not occur in `disease`"),
    ],
)
def test_harm_the_table_does_not_have_is_refused(harmful: Any, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        reasons(LENIENT | {"harmful": harmful})


def test_somebody_who_knows_one_other_value() -> None:
    # Who knows the one with `b` is certain of the nine others of the first class; without it nobody is above 0.9.
    limits = ANYTHING | {"belief": 0.95, "gain": 0.1}
    assert reasons(limits) == []
    (told,) = reasons(limits | {"known_values": True})
    assert (told.people, told.weight, told.attack) == (9, "stop", "ordinary-corruption")
    assert "certain" in told.text


@pytest.mark.parametrize(("share", "people"), [(0.05, 0), (0.04, 1)])
def test_singled_out_by_what_is_published_unchanged(share: float, people: int) -> None:
    table = PEOPLE.append_column("note", pa.array(["x", *["y"] * 10, *["z"] * 9]))
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", insensitive="note")
    told = reasons(ANYTHING | {"singled_out": share}, table, schema)
    assert sum(reason.people or 0 for reason in told) == people
    if told:
        assert told[0].text == "1 person: singled out by `note`, published unchanged."


def test_quasi_identifiers_that_are_published_unchanged_single_out() -> None:
    table = pa.table({"age": [1, 2, 3, 4], "disease": ["a", "b", "a", "b"]})
    (told,) = reasons(ANYTHING | {"singled_out": 0}, table, method=uc.Anatomy(l=2))
    assert (told.kind, told.people) == ("singled out", 4)


@pytest.mark.parametrize(("wish", "weight"), [("required", ["stop"]), ("preferred", ["ask"]), ("ignored", [])])
def test_algorithm_safety(wish: str, weight: list[str]) -> None:
    told = reasons(ANYTHING | {"algorithm_safe": wish}, method=uc.Mondrian(k=2, l="10/9"))
    assert [reason.weight for reason in told] == weight
    assert reasons(ANYTHING | {"algorithm_safe": wish}) == []


def test_a_membership_nobody_can_judge_is_asked_about() -> None:
    (told,) = reasons(ANYTHING | {"membership": 0.5})
    assert told.weight == "ask"
    assert "population" in told.text


def test_a_limit_no_release_of_so_few_can_keep() -> None:
    with pytest.raises(UnreachableError, match=r"Nearest: found = 0\.05") as failed:
        reasons(ANYTHING | {"found": "1/21"})
    assert failed.value.best == {"found": 1 / 20}
    assert uc.publish(PEOPLE.slice(0, 4), SCHEMA, uc.Mondrian(k=2)).verdict.withheld  # unasked it is judged


def test_no_policy_judges_nothing_and_says_so() -> None:
    verdict = uc.publish(PEOPLE, SCHEMA, uc.Mondrian(k=1), policy="none").verdict
    assert verdict.title == "Not judged"
    assert not verdict.withheld
    assert "Nothing was judged" in verdict.view().parts[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize(("limit", "people"), [(0.5, 0), (0.49, 20)])
def test_membership_by_the_share_of_the_population(limit: float, people: int) -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", population=0.5)
    told = reasons(ANYTHING | {"membership": limit}, schema=schema)
    assert sum(reason.people or 0 for reason in told) == people
    # The estimate exceeds a limit, or cannot be judged by: never nothing at all.
    assert [(reason.weight, reason.regulator) for reason in told] == [("stop" if people else "ask", "linkability")]


@pytest.mark.parametrize(("limit", "people"), [(0.05, 0), (0.049, 20)])
def test_found_among_the_population_where_presence_is_not_known(limit: float, people: int) -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", population=0.5)
    told = reasons(ANYTHING | {"found": limit, "presence_known": False}, schema=schema)
    assert sum(reason.people or 0 for reason in told) == people
    (asked,) = reasons(ANYTHING | {"found": limit, "presence_known": False})
    assert (asked.weight, "population" in asked.text) == ("ask", True)


def test_people_are_counted_and_not_their_rows() -> None:
    # Of twenty rows of one class five are of one person, who is found with 5/20 by whoever picks a row of it.
    who = ["P0"] * 5 + [f"P{i}" for i in range(1, 16)]
    table = pa.table({"who": who, "age": [30] * 20, "disease": ["a", "b"] * 10})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", unit="who")
    assert reasons(ANYTHING | {"found": 0.25}, table, schema, method=uc.Mondrian(k=4)) == []
    (told,) = reasons(ANYTHING | {"found": 0.249}, table, schema, method=uc.Mondrian(k=4))
    assert (told.people, told.actual) == (1, pytest.approx(0.25))
