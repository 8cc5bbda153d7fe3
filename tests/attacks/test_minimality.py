"""The minimality attack against brute force: every arrangement tried on the method itself."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.errors import DataError, ParameterError, UnreachableError
from undercover.methods.mondrian.following import Node
from undercover.methods.mondrian.minimality import beliefs as group_beliefs
from undercover.methods.mondrian.minimality.attack import Minimality
from undercover.methods.mondrian.minimality.beliefs import Belief, believe, cases, chernoff
from undercover.methods.mondrian.minimality.result import DRAWN, EXACT, GIVEN_UP, NO_EVIDENCE, MinimalityResult
from undercover.model.groups import Groups, seen_groups
from undercover.model.table import Table
from undercover.multisets import distinct_orders
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import kernel_checks
from undercover.studies.algorithm_aware.attack import AlgorithmAware

METHODS = [
    uc.Mondrian(k=2, l=2),
    uc.Mondrian(k=1, l=2),
    uc.Mondrian(k=2, l=2, cut="median"),
    uc.Mondrian(k=2, l=2, diversity="distinct"),
    uc.Mondrian(k=2, l=1.8, diversity="entropy"),
    uc.Mondrian(k=2, l=2, diversity="recursive", c=2),
]
CLOSE = [uc.Mondrian(k=2, t=0.3), uc.Mondrian(k=2, t=0.4, cut="median", recoding="regions")]
WHOLE_TABLE = [*METHODS, *CLOSE, uc.Mondrian(k=2, l=2, recoding="regions")]

Posterior = dict[tuple[int, int], Fraction]  # (row, code) -> probability


def people(x: Sequence[int], y: Sequence[int], values: Sequence[str]) -> Table:
    schema = uc.Schema(quasi_identifiers=["x", "y"], sensitive="s", columns={"s": uc.Column(domain=tuple("abcdef"))})
    return Table.from_arrow(pa.table({"x": list(x), "y": list(y), "s": list(values)}), schema)


def with_values(table: Table, codes: Sequence[int]) -> Table:
    column = replace(table["s"], codes=np.array(codes, dtype=table["s"].codes.dtype))
    return replace(table, columns={**table.columns, "s": column})


def grouped(table: Table, method: Any) -> Groups:
    return method._cutter(table)(table).groups  # what is published of them costs time and says no more


def attacked(table: Table, method: Any, **options: Any) -> MinimalityResult:
    return Minimality(**options).on(table, method, grouped(table, method), randomness=Randomness(3))


def by_brute_force(table: Table, rows: Sequence[int], method: Any) -> Posterior:
    """Give a group's values to its members in every way, and keep those in which the method leaves the group whole."""
    part = table.take(np.array(rows))
    kept: Counter[tuple[int, int]] = Counter()
    total = 0
    for codes in distinct_orders(part["s"].codes.tolist()):
        if grouped(with_values(part, codes), method).count == 1:
            total += 1
            kept.update(zip(rows, codes, strict=True))
    return {person: Fraction(count, total) for person, count in kept.items()}


def by_exhaustion(table: Table, method: Any) -> Posterior:
    """Every table with the same values of which the method makes the same release, each equally probable."""
    wanted = seen_groups(grouped(table, method).labels, table["s"].codes)
    kept: Counter[tuple[int, int]] = Counter()
    total = 0
    for codes in distinct_orders(table["s"].codes.tolist()):
        try:
            groups = grouped(with_values(table, codes), method)
        except UnreachableError:
            continue
        if seen_groups(groups.labels, np.array(codes)) == wanted:
            total += 1
            kept.update(enumerate(codes))
    return {person: Fraction(count, total) for person, count in kept.items()}


def tables(seed: int, n: int = 7, count: int = 40) -> Iterator[Table]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        values = rng.choice(list("aaabbcd"), n)
        yield people(rng.integers(0, 4, n), rng.integers(0, 2, n), values)


def beliefs(table: Table, method: Any, drop: int = 0, evidence: Any = "groups", **options: Any) -> Iterator[Belief]:
    """What the attack believes in every case that has evidence; ``drop`` forgets that many of the refused cuts."""
    checks = kernel_checks(table, method.checks(table))
    codes = table["s"].codes.astype(np.int64)
    given = {"draws": 400, "wanted": 400, "most_draws": 40_000, "most_steps": 100_000, "seed": 5, **options}
    nodes = [Node(node.rows, node.refused[drop:], node.is_group) for node in method.follow(table)]
    for case in cases(nodes, codes, table["s"].domain.size, evidence):
        yield believe(case, codes, checks, **given)


def telling_tables(method: Any, few: int = 6, n: int = 7) -> list[Table]:
    """The first tables whose releases have a group with evidence, and as many in which several groups are tied."""
    alone: list[Table] = []
    tied: list[Table] = []
    for table in tables(4, n=n, count=3_000):
        try:
            found = cases(method.follow(table), table["s"].codes.astype(np.int64), table["s"].domain.size, "all")
        except UnreachableError:
            continue
        if any(case.n_groups > 1 for case in found) and len(tied) < few:
            tied.append(table)
        elif found and len(alone) < few:
            alone.append(table)
        if len(tied) == len(alone) == few:
            break
    return alone + tied


def differs(belief: Belief, table: Table, truth: Posterior) -> float:
    """The largest difference between a belief and the posterior it should be."""
    present = np.unique(table["s"].codes[belief.rows]).tolist()
    return max(
        abs(belief.posterior[i, v] - float(truth.get((int(row), code), 0)))
        for i, row in enumerate(belief.rows)
        for v, code in enumerate(present)
    )


def test_the_textbook_case_is_certain() -> None:
    # Wong et al.'s minimality: had the two of x=0 different values, they would have been parted from the others.
    for method in (uc.Mondrian(k=2, l=2), uc.Mondrian(k=2, l=2, cut="median")):
        found = attacked(people((0, 0, 1, 1, 1, 1), 6 * (0,), "aabcde"), method)
        assert found.informed.tolist() == [1, 1, 1 / 4, 1 / 4, 1 / 4, 1 / 4]
        assert found.alone.tolist() == [1 / 3, 1 / 3, 1 / 6, 1 / 6, 1 / 6, 1 / 6]
        assert (found.how == EXACT).all()
        told = found.to_dict()
        assert told["attribute"]["certain_rows"] == 2
        assert told["attribute"]["max_interval"] == [1, 1]
        assert told["beyond_promise"] == 2
        assert told["gain"]["max"] == pytest.approx(2 / 3)
        assert [worst["row"] for worst in told["worst_rows"][:2]] == [0, 1]


def test_by_hand_with_a_posterior_that_falls() -> None:
    # Five people, a twice: both on the side of two or both on the side of three, where 2 * 2 > 3, too.
    found = attacked(people((0, 0, 1, 1, 1), 5 * (0,), "aabcd"), uc.Mondrian(k=2, l=2))
    assert found.informed[:2].tolist() == pytest.approx([1 / 4, 1 / 4])  # 1 of 4 pairs, where the release says 2/5
    assert found.agreeing[0] == pytest.approx(4 / 10)
    assert found.to_dict()["gain"]["mean"] < 0


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_every_group_equals_brute_force(method: Any) -> None:
    compared = 0
    for table in tables(1, count=25):
        try:
            for belief in beliefs(table, method):
                assert belief.how == "exact"
                assert differs(belief, table, by_brute_force(table, belief.rows.tolist(), method)) < 1e-12
                compared += 1
        except UnreachableError:
            continue
    assert compared > 5


def test_brute_force_notices_a_forgotten_cut() -> None:
    method = uc.Mondrian(k=1, l=2)
    wrong = [
        differs(belief, table, by_brute_force(table, belief.rows.tolist(), method))
        for table in tables(1)
        if 2 * max(Counter(table["s"].codes.tolist()).values()) <= table.n_rows
        for belief in beliefs(table, method, drop=1)
    ]
    assert max(wrong) > 0.05


@pytest.mark.parametrize("method", WHOLE_TABLE, ids=repr)
def test_a_table_in_one_group_equals_exhaustion(method: Any) -> None:
    # There is nothing on the way to the whole table, so that the group's evidence is all there is.
    compared = 0
    for table in tables(2, n=6, count=100):
        try:
            if grouped(table, method).count > 1:
                continue
        except UnreachableError:
            continue
        for belief in beliefs(table, method):
            assert differs(belief, table, by_exhaustion(table, method)) < 1e-12
            compared += 1
    assert compared > 2


def test_the_worst_equals_that_of_the_exhaustive_attack() -> None:
    table = people((0, 0, 1, 1, 1, 1), 6 * (0,), "aabcde")
    method = uc.Mondrian(k=2, l=2, cut="median")
    worst = AlgorithmAware(trials=5).on(table, method).worst
    assert attacked(table, method).to_dict()["attribute"]["max"] == worst.posterior == 1


@pytest.mark.parametrize("method", [*METHODS[:3], *CLOSE], ids=repr)
def test_whoever_uses_everything_scores_at_least_as_high(method: Any) -> None:
    """Given the release, everything beats part of it; given a group's evidence, that beats nothing.

    The expected logarithmic score is compared: confidence in the true value may fall for one person.
    """
    compared = 0
    for table in tables(3, n=6):
        try:
            groups = grouped(table, method)
        except UnreachableError:
            continue
        if groups.count == 1:
            continue
        everything = by_exhaustion(table, method)
        for belief in beliefs(table, method):
            present = np.unique(table["s"].codes[belief.rows]).tolist()
            for i, row in enumerate(belief.rows.tolist()):
                full = np.array([float(everything.get((row, code), 0)) for code in present])
                part = belief.posterior[i]
                assert (part[full > 0] > 0).all()  # nothing that is possible is excluded
                assert score(full, full) >= score(full, part) - 1e-12
                assert score(full, full) >= score(full, belief.alone[i]) - 1e-12
                assert score(part, part) >= score(part, belief.alone[i]) - 1e-12
                assert full.max() >= full[part.argmax()]
                compared += 1
    assert compared > 0


def test_what_was_refused_on_the_way_can_tell_more() -> None:
    table = people((3, 1, 3, 1, 0, 2, 3), (1, 0, 1, 0, 0, 0, 0), "abacdbd")
    method = uc.Mondrian(k=2, l=2)
    everything = by_exhaustion(table, method)
    (part,) = beliefs(table, method)
    assert differs(part, table, everything) == pytest.approx(1 / 2)
    for belief in beliefs(table, method, evidence="all"):
        assert differs(belief, table, everything) < 1e-12


@pytest.mark.parametrize("method", WHOLE_TABLE, ids=repr)
def test_all_evidence_equals_exhaustion(method: Any) -> None:
    compared = tied = 0
    for table in telling_tables(method, few=4 if method.cut == "loss" else 2):
        groups = grouped(table, method)
        truth = by_exhaustion(table, method)
        found = Minimality().on(table, method, groups)
        expected = [float(truth[person]) for person in enumerate(table["s"].codes.tolist())]
        assert found.informed == pytest.approx(expected, abs=1e-12)
        assert set(found.how.tolist()) <= {NO_EVIDENCE, EXACT}
        for belief in beliefs(table, method, evidence="all"):
            assert differs(belief, table, truth) < 1e-12
            compared += 1
            tied += len(set(groups.labels[belief.rows].tolist())) > 1
    assert compared > 3
    assert tied > 0 or method.t is not None


def test_exhaustion_notices_what_was_forgotten() -> None:
    method = uc.Mondrian(k=2, l=2)
    for table in telling_tables(method, few=4):
        truth = by_exhaustion(table, method)
        if any(differs(belief, table, truth) > 0.05 for belief in beliefs(table, method, evidence="groups")):
            break
    else:
        pytest.fail("nobody missed what was refused on the way")


@pytest.mark.parametrize("counts", [(2, 1, 1, 1, 1), (2, 2, 1, 1), (3, 2, 1), (2, 2, 2)])
def test_the_worst_over_all_releases_is_that_of_the_exhaustive_attack(counts: tuple[int, ...]) -> None:
    values = [value for value, count in zip("abcdef", counts, strict=False) for _ in range(count)]
    table = people((0, 0, 1, 2, 2, 5), (0, 1, 0, 1, 0, 0), values)
    method = uc.Mondrian(k=2, l=2)
    worst, gain = 0.0, 0.0
    for codes in distinct_orders(table["s"].codes.tolist()):
        told = Minimality().on(other := with_values(table, codes), method, grouped(other, method)).to_dict()
        worst, gain = max(worst, told["attribute"]["max"]), max(gain, told["gain"]["max"])
    exhaustive = AlgorithmAware(trials=5).on(table, method)
    assert worst == pytest.approx(float(exhaustive.worst.posterior))
    assert (gain > 1e-12) == (not exhaustive.safe)


def test_tied_groups_by_drawing() -> None:
    method, several = uc.Mondrian(k=2, l=2), 0
    for table in telling_tables(method):
        counted = beliefs(table, method, evidence="all")
        for exact, drawn in zip(counted, beliefs(table, method, evidence="all", most_steps=0), strict=True):
            low, high = drawn.interval(math.log(6 * 7 * 40 / 0.001))
            assert drawn.how == "drawn"
            assert (low <= exact.informed).all()
            assert (exact.informed <= high).all()
            assert drawn.agreeing == pytest.approx(exact.agreeing, abs=0.15)
            several += drawn.rest is None
    assert several > 2


def score(truth: np.ndarray, belief: np.ndarray) -> float:
    return math.fsum(p * math.log(q) for p, q in zip(truth, belief, strict=True) if p > 0)


@given(st.integers(0, 10_000), st.sampled_from(["loss", "median"]), st.sampled_from(["boxes", "regions"]))
def test_a_method_that_sees_no_sensitive_values_tells_nothing(seed: int, cut: Any, recoding: Any) -> None:
    rng = np.random.default_rng(seed)
    table = people(rng.integers(0, 9, 30), rng.integers(0, 3, 30), rng.choice(list("abcd"), 30))
    found = attacked(table, uc.Mondrian(k=2, cut=cut, recoding=recoding))
    assert (found.gain == 0).all()
    assert (found.how == NO_EVIDENCE).all()
    assert found.to_dict()["gain"] == {"mean": 0.0, "max": 0.0}


def test_streamliner_tells_nothing() -> None:
    run = uc.publish(uc.datasets.census(400, seed=1), census_schema(), uc.Streamliner(l=3), seed=1)
    found = uc.attack(run, uc.Minimality())
    assert found.safe
    assert (found.gain == 0).all()
    assert (found.hits == found.hits_alone).all()
    assert "nothing to exclude" in found.story


def census_schema() -> uc.Schema:
    return uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="occupation")


def test_draws_agree_with_counting_and_a_wrong_count_is_noticed() -> None:
    rng = np.random.default_rng(41)
    table = people(rng.integers(0, 4, 12), rng.integers(0, 2, 12), list("aaabbbccddef"))
    method = uc.Mondrian(k=3, l=3)
    (exact,) = beliefs(table, method, most_steps=10_000_000)
    (drawn,) = beliefs(table, method, most_steps=0, draws=20_000)
    assert (exact.how, drawn.how) == ("exact", "drawn")
    assert drawn.agreeing == pytest.approx(exact.agreeing, abs=5 * math.sqrt(0.25 / drawn.drawn))
    low, high = drawn.interval(math.log(6 * 12 / 0.001))
    assert (low <= exact.informed).all()
    assert (exact.informed <= high).all()
    assert (high - low).max() < 0.12
    forgetful = list(beliefs(table, method, drop=1, most_steps=0, draws=20_000))
    assert forgetful
    low, high = forgetful[0].interval(math.log(6 * 12 / 0.001))
    assert ((exact.informed < low) | (exact.informed > high)).any()


@pytest.mark.parametrize("agreeing", [0.2, 0.6, 1.0])
def test_intervals_hold(agreeing: float) -> None:
    """Coverage of the interval of a mean over draws that agree, with known expectations."""
    rng = np.random.default_rng(9)
    doubt, missed, given_agrees, given_rest = math.log(6 / 0.05), 0, 0.7, 0.2
    alone = agreeing * given_agrees + (1 - agreeing) * given_rest
    for _ in range(200):
        agrees = rng.random(500) < agreeing
        x = rng.random(500) < np.where(agrees, given_agrees, given_rest)
        accepted = int(agrees.sum())
        found, rest = x[agrees].mean(), x[~agrees].mean() if accepted < 500 else 0.0
        mean = group_beliefs._steadied(np.array([[found]]), np.array([[rest]]), np.array([[alone]]), accepted, 500)
        belief = Belief(
            np.array([0]), np.array([0]), np.array([[alone]]), mean, "drawn", accepted / 500, accepted, 500,
            np.array([[found]]), np.array([[rest]]),
        )  # fmt: skip
        (low,), (high,) = belief.interval(doubt)
        assert low <= mean[0, 0] <= high
        missed += not low <= given_agrees <= high
    assert missed <= 10
    if agreeing == 1.0:
        assert high - low < 0.03  # all agree: next to nothing can have been excluded


def test_chernoff_contains_what_it_must() -> None:
    low, high = chernoff(np.array([0.0, 0.3, 1.0]), 100, 5.0)
    assert low[0] == 0
    assert high[2] == 1
    assert high[0] == pytest.approx(1 - math.exp(-5 / 100))
    assert low[2] == pytest.approx(math.exp(-5 / 100))
    assert 0.15 < low[1] < 0.3 < high[1] < 0.46


def test_a_group_without_agreeing_draws_is_given_up() -> None:
    x = [0] * 15 + list(range(1, 16))
    table = people(x, 30 * (0,), ["a"] * 15 + list("bcdef" * 3))
    method = uc.Mondrian(k=2, l=2)
    found = attacked(table, method, draws=50, most_draws=50, most_steps=0)
    assert (found.how == GIVEN_UP).any()
    given_up = found.how == GIVEN_UP
    assert (found.informed[given_up] == found.alone[given_up]).all()
    assert found.to_dict()["groups"]["given_up"] == 1


def test_a_large_release() -> None:
    run = uc.publish(uc.datasets.census(2_000, seed=1), census_schema(), uc.Mondrian(k=3, l=3), seed=1)
    stages: list[str] = []
    found = uc.attack(
        run, uc.Minimality(draws=500, most_steps=20_000), progress=lambda stage, share: stages.append(stage)
    )
    told = found.to_dict()
    assert told["attack"] == "minimality"
    assert told["targets"] == 2_000
    assert "excluding arrangements" in stages
    groups = told["groups"]
    assert groups["all"] == run.groups.count
    assert groups["with_evidence"] == groups["exact"] + groups["drawn"] + groups["given_up"] > 0
    assert told["baseline"]["max"] <= 1 / 3 + 1e-12
    assert (found.low <= found.informed).all()
    assert (found.informed <= found.high).all()
    assert (found.informed[found.how == EXACT] > 0).all()  # the truth agrees with the evidence
    assert {NO_EVIDENCE, EXACT, DRAWN} <= set(found.how.tolist())
    assert repr(found).startswith("<Minimality on 2,000 people: 0.333 -> ")


def test_whoever_is_certain_could_not_have_another_value() -> None:
    """On a table too large for exhaustion: give a certain person a neighbour's value, and the release changes."""
    schema = uc.Schema(quasi_identifiers=["age", "sex", "education", "birthplace"], sensitive="occupation")
    table = Table.from_arrow(uc.datasets.census(3_000, seed=1), schema)
    method = uc.Mondrian(k=3, l=2)
    groups = grouped(table, method)
    found = Minimality(draws=200, most_draws=2_000).on(table, method, groups, randomness=Randomness(2))
    codes = table["occupation"].codes
    release = seen_groups(groups.labels, codes)

    def same_with(person: int, other: int) -> bool:
        swapped = codes.copy()
        swapped[[person, other]] = swapped[[other, person]]
        column = replace(table["occupation"], codes=swapped)
        again = replace(table, columns={**table.columns, "occupation": column})
        return seen_groups(grouped(again, method).labels, swapped) == release

    def others(person: int) -> list[int]:
        return [row for row in groups.rows_of(groups.labels[person]).tolist() if codes[row] != codes[person]]

    certain = np.flatnonzero(found.low > 1 - 1e-12)[:5]
    assert len(certain) > 0
    assert not any(same_with(person, other) for person in certain.tolist() for other in others(person))
    free = np.flatnonzero(found.how == NO_EVIDENCE)[::200][:5]
    assert all(same_with(person, other) for person in free.tolist() for other in others(person)[:2])


def test_all_beliefs_of_a_person_add_up() -> None:
    table = Table.from_arrow(uc.datasets.census(1_000, seed=2), census_schema())
    table = replace(table, columns={**table.columns, "s": table["occupation"]})
    for belief in beliefs(table, uc.Mondrian(k=4, l=3), most_steps=2_000):
        assert belief.posterior.sum(axis=1) == pytest.approx(1.0, abs=0.02 if belief.how == "drawn" else 1e-9)
        # Every value is somebody's as often as the release says.
        assert belief.posterior.sum(axis=0) == pytest.approx(
            belief.alone.sum(axis=0), abs=0.5 if belief.how == "drawn" else 1e-9
        )


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="4 problems"):
        Minimality(draws=0, most_steps=-1, confidence=1.0, evidence="some")
    table = people((0, 0, 1, 1, 1, 1), 6 * (0,), "aabcde")
    groups = grouped(table, uc.Mondrian(k=2, l=2))
    with pytest.raises(ParameterError, match="incognito groups rows in another way"):
        Minimality().on(table, uc.Incognito(k=2, l=2), groups)
    twice = replace(table, schema=uc.Schema(quasi_identifiers=["x"], sensitive=["s", "y"]))
    with pytest.raises(ParameterError, match="exactly one sensitive column"):
        Minimality().on(twice, uc.Mondrian(k=2, l=2), groups)
    with pytest.raises(DataError, match="falls into other groups"):
        Minimality().on(with_values(table, (0, 1, 0, 2, 3, 4)), uc.Mondrian(k=2, l=2), groups)
    with pytest.raises(DataError, match="groups 6 rows, the table has 4"):
        Minimality().on(table.take(np.arange(4)), uc.Mondrian(k=2, l=2), groups)
    few = pa.table({"x": [0, 0, 1, 1], "s": ["a", "b", "a", "b"]})
    schema = uc.Schema(quasi_identifiers=["x"], sensitive="s", columns={"s": uc.Column(domain=("a", "b"))})
    drawn = uc.publish(few, schema, uc.PerturbedGeneralization(k=2, p=0.5))
    with pytest.raises(ParameterError, match="values were drawn"):
        uc.attack(drawn, Minimality())
