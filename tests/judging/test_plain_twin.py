"""The verdict beside its plain twin: who is found and who is exposed, counted one person after the other."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercover as uc
from effort import TIMES
from undercover.model.verdict import Reason

Person = tuple[int, str, str]
SHARES = st.fractions(0, 1, max_denominator=1000)  # finer ones are below what floating point is trusted with
PEOPLE = st.lists(
    st.tuples(st.integers(20, 29), st.sampled_from("mf"), st.sampled_from("abc")), min_size=6, max_size=24
)


def fits(cell: str, value: object) -> bool:
    """Whether a value lies in a published cell, read as the contract says."""
    if cell == "*":
        return True
    if cell.startswith("["):
        low, high = (int(end) for end in cell[1:-1].split(", "))
        return low <= int(str(value)) <= high
    if cell.startswith("{"):
        return str(value) in cell[1:-1].split(", ")
    return cell == str(value)


def attacked(people: list[Person], release: uc.Release) -> Iterator[tuple[Person, Fraction, Fraction]]:
    """Everybody with the probability of the own row and of the true value, from the published cells alone."""
    rows = release.published("table").data.to_pylist() if len(release.tables) == 1 else []
    buckets: dict[int, Counter[str]] = {}
    if not rows:
        rows = release.published("qit").data.to_pylist()
        for entry in release.published("sat").data.to_pylist():
            buckets.setdefault(entry["bucket"], Counter())[str(entry["disease"])] += entry["count"]
    for person in people:
        near = [row for row in rows if fits(str(row["age"]), person[0]) and fits(str(row["sex"]), person[1])]
        if buckets:
            shares = [buckets[row["bucket"]] for row in near]
            believed = sum((Fraction(each[person[2]], each.total()) for each in shares), Fraction())
        else:
            believed = Fraction(sum(row["disease"] == person[2] for row in near))
        yield person, Fraction(1, len(near)), believed / len(near)


def counted(reasons: tuple[Reason, ...], kind: str) -> int:
    return sum(reason.people or 0 for reason in reasons if reason.kind == kind)


@pytest.mark.parametrize("method", [uc.Mondrian(k=2), uc.Mondrian(k=3), uc.Anatomy(l=2)])
@settings(max_examples=25 * TIMES)
@given(people=PEOPLE, found=SHARES, belief=SHARES, gain=SHARES)
def test_people_found_and_exposed(
    method: object, people: list[Person], found: Fraction, belief: Fraction, gain: Fraction
) -> None:
    values = Counter(disease for _, _, disease in people)
    if isinstance(method, uc.Anatomy) and 2 * max(values.values()) > len(people):
        return  # no bucket of two different values for everybody
    found, belief = max(found, Fraction(1, len(people))), max(belief, gain, Fraction(1, 100))
    table = pa.table(dict(zip(("age", "sex", "disease"), map(list, zip(*people, strict=True)), strict=True)))
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="disease")
    policy = uc.Policy(found=found, belief=belief, gain=gain, singled_out=None, algorithm_safe="ignored")
    run = uc.publish(table, schema, method, policy=policy)  # type: ignore[arg-type]
    judged = list(attacked(people, run.release))
    assert counted(run.verdict.reasons, "found") == sum(row > found for _, row, _ in judged)
    prior = {value: Fraction(count, len(people)) for value, count in values.items()}
    exposed = sum(true >= belief and true - prior[person[2]] >= gain for person, _, true in judged)
    assert counted(run.verdict.reasons, "exposed") == exposed
