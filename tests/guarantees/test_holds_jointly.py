"""What guarantees say across releases, beside every world that two releases of a few people allow."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import undercover as uc
from undercover.attacks.joint.overlap import OverlapResult, overlap
from undercover.forms.disclosure import distinct_rows
from undercover.guarantees.checking import holds_jointly
from undercover.model.beliefs import BeliefBlock, JointBeliefs, Judgement, at_least_left, at_most
from undercover.model.release import PublishedColumn, PublishedTable, Release

PEOPLE = 7
VALUES = ("a", "b", "c")


def released(name: str, classes: NDArray[np.int64], values: list[str]) -> Release:
    """A table of classes, each published as its own number."""
    cells = pa.table({name: classes, "ill": values})
    columns = (PublishedColumn(name, "quasi-identifier", "value"), PublishedColumn("ill", "sensitive", "value"))
    return Release("mondrian", {}, (PublishedTable("table", columns, cells),), False)


def drawn(seed: int) -> tuple[list[NDArray[np.int64]], list[str], OverlapResult]:
    """Two partitions of a few people with values, and what the attack makes of their releases."""
    random = np.random.default_rng(seed)
    parts = [random.integers(0, 3, PEOPLE) for _ in range(2)]
    values = [VALUES[code] for code in random.permutation([0, 1, 2, *random.integers(0, 3, PEOPLE - 3)])]
    schema = uc.Schema(quasi_identifiers=["x", "y"], sensitive="ill")
    table = uc.Table.from_arrow(pa.table({"x": parts[0], "y": parts[1], "ill": values}), schema)
    releases = [released(name, part, values) for name, part in zip("xy", parts, strict=True)]
    return parts, values, overlap(releases, table)


def truth(parts: list[NDArray[np.int64]], values: list[str], labels: tuple[str, ...]) -> NDArray[np.float64]:
    """(n_people, n_values) how many of the worlds that both releases allow give each person each value."""
    seen = [Counter(zip(part.tolist(), values, strict=True)) for part in parts]
    found = np.zeros((PEOPLE, len(labels)))
    for world in set(permutations(values)):
        if all(Counter(zip(part.tolist(), world, strict=True)) == one for part, one in zip(parts, seen, strict=True)):
            found[np.arange(PEOPLE), [labels.index(value) for value in world]] += 1
    return found / found.sum(axis=1, keepdims=True)


def of_people(beliefs: JointBeliefs, parts: list[NDArray[np.int64]]) -> BeliefBlock:
    """The blocks as one, a row per person."""
    codes = [np.unique(part, return_inverse=True)[1].reshape(-1) for part in parts]
    target, _ = distinct_rows(np.stack(codes, axis=1).astype(np.int64))
    blocks = list(beliefs.blocks())
    whole = (
        np.concatenate([getattr(block, name) for block in blocks])[target] for name in ("least", "most", "assumed")
    )
    return BeliefBlock(np.ones(PEOPLE, dtype=np.int64), *whole)


SEEDS = range(60)
PROMISES = [
    *(uc.LDiversity(l=value) for value in (1.4, 2, 3)),
    *(uc.LDiversity(l=value, form="distinct") for value in (2, 3)),
    uc.LDiversity(l=1.8, form="entropy"),
    uc.LDiversity(l=2, form="recursive", c=2),
    uc.KLAnonymity(k=1, l=2),
    *(uc.TCloseness(t=value) for value in (0.1, 0.3, 0.6)),
    uc.TCloseness(t=0.3, distance="ordered"),
    uc.TCloseness(t=0.3, distance="hierarchical", hierarchy=[("a", "1"), ("b", "1"), ("c", "2")]),
    uc.DeltaDisclosure(delta=0.7),
    uc.BetaLikeness(beta=0.5),
    uc.BetaLikeness(beta=2, enhanced=True),
]


def kept(promise: object, shares: NDArray[np.float64], overall: NDArray[np.float64]) -> bool:
    """Whether one person's exact belief keeps a promise, by its definition."""
    there = overall > 0
    if isinstance(promise, uc.KLAnonymity) or (isinstance(promise, uc.LDiversity) and promise.form == "frequency"):
        return bool(shares.max() <= 1 / float(promise.l) + 1e-9)
    if isinstance(promise, uc.LDiversity):
        ordered = sorted(shares[shares > 0], reverse=True)
        if promise.form == "distinct":
            return len(ordered) >= promise.l
        if promise.form == "entropy":
            return -sum(share * math.log(share) for share in ordered) >= math.log(promise.l) - 1e-9
        return ordered[0] <= float(promise.c or 0) * sum(ordered[int(promise.l) - 1 :]) + 1e-9
    if isinstance(promise, uc.TCloseness):
        gap = shares - overall
        if promise.distance == "equal":
            return bool(np.abs(gap).sum() / 2 <= float(promise.t) + 1e-9)
        if promise.distance == "ordered":
            places = max(int(there.sum()) - 1, 1)
            return bool(np.abs(np.cumsum(gap[there])[:-1]).sum() / places <= float(promise.t) + 1e-9)
        upper = np.array([gap[:2].sum(), gap[2]])
        return bool((np.abs(gap).sum() / 2 + np.abs(upper).sum() / 2) / 2 <= float(promise.t) + 1e-9)
    if isinstance(promise, uc.DeltaDisclosure):
        if (shares[there] == 0).any():
            return False
        return bool((np.abs(np.log(shares[there] / overall[there])) < float(promise.delta)).all())
    assert isinstance(promise, uc.BetaLikeness)
    limit = np.full(int(there.sum()), float(promise.beta))
    limit = np.minimum(limit, -np.log(overall[there])) if promise.enhanced else limit
    return bool(((shares - overall)[there] / overall[there] <= limit + 1e-9).all())


def test_bounds_hold_in_every_world() -> None:
    met = 0
    for seed in SEEDS:
        parts, values, result = drawn(seed)
        assert result.beliefs is not None
        exact = truth(parts, values, result.beliefs.labels)
        found = of_people(result.beliefs, parts).tightened()
        assert (found.least <= exact + 1e-9).all()
        assert (exact <= found.most + 1e-9).all()
        met += int(found.settled.sum())
    assert met > 20  # bounds that meet are common enough to be tried


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.title())
def test_yes_and_no_are_right_in_every_world(promise: uc.LDiversity) -> None:
    answers = Counter()
    for seed in SEEDS:
        parts, values, result = drawn(seed)
        assert result.beliefs is not None
        exact = truth(parts, values, result.beliefs.labels)
        right = all(kept(promise, shares, result.beliefs.shares) for shares in exact)
        answer = holds_jointly(promise, result.beliefs)
        assert answer is None or answer is right
        answers[answer] += 1
    assert answers[False] or answers[True]


def planted(beliefs: JointBeliefs, change: Callable[[BeliefBlock], BeliefBlock]) -> JointBeliefs:
    def blocks() -> Iterator[BeliefBlock]:
        yield from map(change, beliefs.blocks())

    return JointBeliefs(beliefs.column, beliefs.labels, beliefs.overall, blocks, beliefs.alike)


def test_bounds_that_are_not_sound_are_found() -> None:
    """The comparison above rejects somebody who takes what is assumed for a bound."""
    wrong = 0
    for seed in SEEDS:
        parts, values, result = drawn(seed)
        assert result.beliefs is not None
        exact = truth(parts, values, result.beliefs.labels)
        assumed = planted(result.beliefs, lambda block: block._replace(least=block.assumed, most=block.assumed))
        found = of_people(assumed, parts)
        wrong += bool((np.abs(found.least - exact) > 1e-6).any())
    assert wrong > 5


def block(least: list[float], most: list[float]) -> BeliefBlock:
    return BeliefBlock(np.ones(1, np.int64), np.array([least]), np.array([most]), np.array([most]))


def test_what_follows_because_beliefs_add_up() -> None:
    assert block([0, 0, 0], [0.7, 0.2, 0.2]).tightened().least[0] == pytest.approx([0.6, 0.1, 0.1])
    assert block([0.6, 0, 0], [1, 1, 0]).tightened().most[0] == pytest.approx([1, 0.4, 0])
    assert block([0, 0], [0, 1]).tightened().least[0] == pytest.approx([0, 1])
    assert block([0, 0], [0, 0]).tightened().least[0] == pytest.approx([0, 0])


def test_by_hand() -> None:
    two_left = block([0, 0, 0], [1, 1, 0])
    assert at_most(two_left, 0.4) == Judgement(np.array([False]), np.array([True]))  # one of two has 1/2 at least
    assert at_most(two_left, 0.5) == Judgement(np.array([False]), np.array([False]))
    assert at_least_left(two_left, 3).fails.tolist() == [True]
    assert at_least_left(two_left, 2) == Judgement(np.array([False]), np.array([False]))
    assert at_least_left(block([0.5, 0.5], [0.5, 0.5]), 2).holds.tolist() == [True]


def test_people_of_whom_releases_contradict_each_other_decide_nothing() -> None:
    beliefs = JointBeliefs("ill", ("a", "b"), np.array([1, 1]), lambda: iter([block([0, 0], [0, 0])]))
    assert holds_jointly(uc.LDiversity(l=2), beliefs) is None


def test_a_promise_about_another_column_holds_here() -> None:
    beliefs = JointBeliefs("ill", ("a", "b"), np.array([1, 1]), lambda: iter([block([1, 0], [1, 0])]))
    promises = [
        uc.LDiversity(l=2, column="pay"),
        uc.TCloseness(t=0.1, column="pay"),
        uc.DeltaDisclosure(delta=1, column="pay"),
        uc.BetaLikeness(beta=1, column="pay"),
        uc.KLAnonymity(k=1, l=2, column="pay"),
    ]
    assert {holds_jointly(promise, beliefs) for promise in promises} == {True}
    assert holds_jointly(uc.LDiversity(l=2, per="name"), beliefs) is None
    assert holds_jointly(uc.KAnonymity(k=2), beliefs) is None
    assert holds_jointly(uc.KAnonymity(k=1), beliefs) is True
