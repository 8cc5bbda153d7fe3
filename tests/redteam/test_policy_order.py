"""Verdicts that were green under a strict policy and red under a lax one, and certainty that `gain` hid.

The policy `open` had a larger `gain` than `standard`. Where a value is common, nobody can gain that much, so `open`
accepted releases that `standard` refused. And whoever was excused by `gain` was not even counted: hundreds of people
whose value was certain, under a verdict of Ready that said nothing of them.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import effort
import undercover as uc
from undercover.errors import UnreachableError
from undercover.model.policy import POLICIES, Policy
from undercover.model.run import Run
from undercover.model.verdict import Status
from undercover.verbs.judge import judge

SCHEMA = uc.Schema(quasi_identifiers=["age"], sensitive="ill", missing="category")
ORDERED = [POLICIES[name] for name in ("open", "standard", "research")]
SEVERITY: dict[Status, int] = {"ready": 0, "decide": 1, "do not publish": 2}
WISHES = ("required", "preferred", "ignored")


def status(run: Run, policy: Policy) -> Status:
    """The verdict of a run under another policy; its attacks are made once."""
    judged = replace(run, policy=policy)
    judged.__dict__["attacks"] = run.attacks
    return judge(judged).status


def is_ordered(run: Run, policies: list[Policy]) -> bool:
    """Whether no policy of a list, the strictest first, is kinder to a run than a later one."""
    found = [SEVERITY[status(run, policy)] for policy in policies]
    return found == sorted(found, reverse=True)


def published(ages: list[int], ill: list[Any], method: Any) -> Run:
    return uc.publish(pa.table({"age": ages, "ill": ill}), SCHEMA, method, policy="none")


def test_every_limit_of_a_stricter_policy_is_at_least_as_strict() -> None:
    for strict, lax in ((ORDERED[0], ORDERED[1]), (ORDERED[1], ORDERED[2])):
        for limit in ("found", "belief", "gain", "exposed", "singled_out"):
            assert getattr(strict, limit) <= getattr(lax, limit), limit
        assert WISHES.index(strict.algorithm_safe) <= WISHES.index(lax.algorithm_safe)
        assert strict.known_values >= lax.known_values
        assert strict.presence_known >= lax.presence_known
        assert (strict.membership, strict.harmful) == (lax.membership, lax.harmful)


METHODS = [
    uc.Mondrian(k=11),
    uc.Mondrian(k=5),
    uc.Mondrian(k=2),
    uc.Mondrian(k=5, l="3/2"),
    uc.Anatomy(l=2),
    uc.CrossBucket(k=5, l=2),
    uc.Streamliner(l=2),
]


@effort.examples(40)
@given(data=st.data())
def test_what_a_strict_policy_accepts_the_others_accept(data: st.DataObject) -> None:
    size = data.draw(st.integers(22, 60))
    ages = data.draw(st.lists(st.integers(20, 26), min_size=size, max_size=size))
    values = data.draw(
        st.sampled_from([["a", "a", "a", "a", "a", "a", "b"], ["a", "b"], ["a", "b", None], list("abcd")])
    )
    ill = data.draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))
    try:
        run = published(ages, ill, data.draw(st.sampled_from(METHODS)))
    except UnreachableError:
        assume(False)
    assert is_ordered(run, ORDERED)


# 17 of 20 have `a`, and everybody of the first class has.
COMMON = ([20] * 11 + [60] * 11, ["a"] * 11 + ["a"] * 8 + ["b"] * 3)


def test_a_common_value_that_is_certain_is_refused_by_open_as_by_standard() -> None:
    run = published(*COMMON, uc.Mondrian(k=11))
    assert [status(run, policy) for policy in ORDERED] == ["do not publish"] * 3


def test_the_check_finds_a_policy_whose_gain_is_larger() -> None:
    planted = replace(POLICIES["open"], gain=Fraction(1, 5))  # as it was
    run = published(*COMMON, uc.Mondrian(k=11))
    assert not is_ordered(run, [planted, POLICIES["standard"]])


# 760 of 800 have `no`, 720 of them in classes where nobody has anything else.
SKEWED = pa.table({"age": [20 + i // 40 for i in range(800)], "smoker": ["no"] * 720 + ["no", "yes"] * 40})
SMOKERS = uc.Schema(quasi_identifiers=["age"], sensitive="smoker")


@pytest.mark.parametrize("policy", ["standard", "open"])
def test_everybody_who_is_excused_is_counted_and_shown(policy: str) -> None:
    verdict = uc.publish(SKEWED, SMOKERS, uc.Mondrian(k=40), policy=policy).verdict
    (told,) = (reason for reason in verdict.reasons if reason.kind == "exposed" and reason.excused)
    assert (told.excused, told.certain, told.highest) == (720 + 40 * (policy == "open"), 720, 1.0)
    assert "excused: the release adds less than 10 points to what the whole table says" in told.text
    assert {"excused": told.excused, "certain": 720}.items() <= told.to_dict().items()


@pytest.mark.parametrize("policy", ["standard", "open", "research"])
def test_a_value_that_is_named_counts_as_soon_as_it_is_certain(policy: str) -> None:
    limits = {"name": policy, "harmful": {"smoker": ["no"]}}
    verdict = uc.publish(SKEWED, SMOKERS, uc.Mondrian(k=40), policy=limits).verdict
    (told,) = verdict.weighing("stop")
    assert (told.kind, told.people, told.certain) == ("exposed", 720, 720)


def test_who_counts_and_who_is_excused_stand_side_by_side() -> None:
    # In one more class everybody has `yes`, which is rare: those 40 count.
    more = pa.table({"age": [60] * 40, "smoker": ["yes"] * 40})
    run = uc.publish(pa.concat_tables([SKEWED, more]), SMOKERS, uc.Mondrian(k=40), policy="standard")
    (told,) = run.verdict.weighing("stop")
    assert (told.people, told.excused, told.certain) == (40, 720, 760)
    assert told.text == (
        "`smoker` can be inferred with certainty for 760 people. 720 of them are excused: the release adds less than "
        "10 points to what the whole table says. 40 count. The policy allows nobody."
    )
