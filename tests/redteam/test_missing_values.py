"""People whose value is missing were "certain", and people who have one were hidden among them.

A class whose incomes are all missing exposed everybody in it. And a class of nine missing incomes and one that is not
showed a belief of 10 % in the only income that there is.
"""

from typing import Any

import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError
from undercover.model.run import Run
from undercover.model.verdict import Reason

SCHEMA = uc.Schema(quasi_identifiers=["age"], sensitive="income", missing="category")


def published(income: list[Any], policy: Any = "standard", **more: Any) -> Run:
    """Twenty people of each age, with incomes in order; the ages are published as they are."""
    age = [20 + i // 20 for i in range(len(income))]
    schema, method = more.get("schema", SCHEMA), more.get("method", uc.Mondrian(k=20))
    return uc.publish(pa.table({"age": age, "income": income}), schema, method, policy=policy)


def exposed(run: Run) -> list[Reason]:
    return [reason for reason in run.verdict.reasons if reason.kind == "exposed"]


MIXED = ["low", "high", "low", "mid", "high"] * 4  # a class in which nobody is exposed


def test_nobody_is_exposed_by_a_missing_value() -> None:
    run = published([None] * 20 + MIXED)
    assert run.verdict.status == "ready"
    assert exposed(run) == []
    figures = uc.attack(run).to_dict()["after"]["attribute"]["income"]
    assert (figures["certain_rows"], figures["missing_rows"]) == (0, 20)
    assert figures["max"] == 0.4  # of the class where there are values


def test_missing_values_do_not_hide_the_only_value_there_is() -> None:
    # Nineteen are missing, one has a value: whoever knows that somebody answered knows what.
    run = published(["high"] + [None] * 19 + MIXED)
    (told,) = exposed(run)
    assert (told.weight, told.people, told.certain) == ("stop", 1, 1)


def test_belief_is_asked_among_those_who_have_a_value() -> None:
    # Nine of ten values are `high`; half of the class has none.
    run = published(["high"] * 9 + ["low"] + [None] * 10 + MIXED + MIXED)
    (told,) = exposed(run)
    assert (told.people, told.highest) == (9, pytest.approx(0.9))


def test_what_the_whole_table_says_is_asked_among_those_who_have_a_value() -> None:
    # 57 of 60 values are `high`, and 40 rows are missing: nobody gains ten points, although 57 of 100 is little.
    income = (["high"] * 19 + ["low"]) * 3 + [None] * 40
    (told,) = exposed(published(income))
    assert (told.weight, told.people, told.excused) == ("note", 0, 57)


def test_the_holder_can_say_that_missing_is_a_secret() -> None:
    policy = {"name": "standard", "harmful": {"income": ["missing"]}}
    (told,) = exposed(published([None] * 20 + MIXED * 4, policy))
    assert (told.weight, told.people, told.certain) == ("stop", 20, 20)
    assert exposed(published(MIXED + MIXED[:-1] + [None], policy)) == []


def test_missing_names_the_value_that_is_written_so_where_there_is_one() -> None:
    policy = {"name": "standard", "harmful": {"income": ["missing"]}}
    assert exposed(published([None] * 20 + [*MIXED, *MIXED[:-1], "missing"], policy)) == []
    (told,) = exposed(published(["missing"] * 20 + [*MIXED, *MIXED[:-1], None], policy))
    assert (told.people, told.certain) == (20, 20)
    empty = {"name": "standard", "harmful": {"income": [""]}}  # always what is not there
    (told,) = exposed(published([None] * 20 + [*MIXED, *MIXED[:-1], "missing"], empty))
    assert (told.people, told.certain) == (20, 20)


def test_a_table_without_missing_values_has_none_to_name() -> None:
    with pytest.raises(ParameterError, match="harmful value `missing` does not occur in `income`") as refused:
        published(MIXED, {"name": "standard", "harmful": {"income": ["missing"]}})
    assert "''" not in str(refused.value)
    with pytest.raises(ParameterError, match="harmful value `mising` does not occur in `income`"):
        published([*MIXED[:-1], None], {"name": "standard", "harmful": {"income": ["mising"]}})


@pytest.mark.parametrize("policy", ["standard", "open"])
@pytest.mark.parametrize(
    "method",
    [
        uc.Mondrian(k=20),
        uc.Anatomy(l=2),
        uc.CrossBucket(k=5, l=2),
        uc.Streamliner(l=2),
        uc.MutualCover(delta="1/2", l=2),
    ],
    ids=lambda method: method.name,
)
def test_no_form_exposes_anybody_by_a_missing_value(method: Any, policy: str) -> None:
    income = [None, "low", "mid", "high", "top"] * 24
    run = published(income, policy, method=method)
    lacking = {i for i, value in enumerate(income) if value is None}
    for attack in run.attacks:
        for each in attack.exposures():
            for found in each.belief.values():
                assert found.max(initial=0.0) <= 1.0
    assert not any("''" in reason.text for reason in run.verdict.reasons)
    named = {"name": "own", "found": "none", "belief": 1, "gain": 0, "harmful": {"income": ["missing"]}}
    told = exposed(published([None] * 20 + income, named, method=uc.Mondrian(k=20)))
    assert [reason.people for reason in told] == [20]
    assert lacking


def test_people_with_several_rows() -> None:
    # Everybody has two rows of one age; of ten people of the first age one has a value at all, in one row.
    who = [f"P{i // 2}" for i in range(60)]
    age = [20 + i // 20 for i in range(60)]
    income = ["high"] + [None] * 19 + MIXED * 2
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="income", unit="who", missing="category")
    run = uc.publish(pa.table({"who": who, "age": age, "income": income}), schema, uc.Mondrian(k=10))
    (told,) = exposed(run)
    assert (told.weight, told.people, told.certain) == ("stop", 1, 1)
