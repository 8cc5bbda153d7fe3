"""Privacy Streamliner: hand-computed tables, plain twins, properties on random tables, and uniform secret dealing."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_streamliner import gda_groups, rda_group_count

import undercover as uc
from undercover.errors import ParameterError, UnreachableError
from undercover.model.groups import Groups
from undercover.model.release import NOT_SAFE, REPRODUCIBLE
from undercover.model.table import Table
from undercover.parameters import make, to_mapping
from undercover.randomness import Randomness
from undercover.steps.dealing import groups as streamlining
from undercover.steps.dealing.groups import strata_of

Uniform = Callable[[Sequence[int]], bool]
SAFE = ("wrap", "guided", "rda")


def people(colours: Sequence[Any], **quasi_identifiers: Sequence[Any]) -> Table:
    columns = quasi_identifiers or {"x": list(range(len(colours)))}
    schema = uc.Schema(quasi_identifiers=list(columns), sensitive="s")
    return Table.from_arrow(pa.table({**columns, "s": [f"c{c:03d}" for c in colours]}), schema)


def groups_of(table: Table, l: int, algorithm: str, seed: int = 0, **more: Any) -> Groups:  # noqa: E741
    method = uc.Streamliner(l=l, algorithm=algorithm, allow_unsafe=True, **more)
    return method.groups(table, Randomness(seed))


def members(groups: Groups) -> list[list[int]]:
    return [groups.rows_of(g).tolist() for g in range(groups.count)]


@st.composite
def eligible(draw: st.DrawFn) -> tuple[list[int], int]:
    """Colours of the rows of an l-eligible table in any order, and l."""
    l = draw(st.integers(2, 6))  # noqa: E741
    counts = draw(st.lists(st.integers(1, 12), min_size=l, max_size=12))
    while max(counts) * l > sum(counts):
        counts[counts.index(max(counts))] -= 1
    colours = [c for c, count in enumerate(counts) for _ in range(count)]
    return draw(st.permutations(colours)), l


@given(eligible(), st.sampled_from([*SAFE, "gda"]), st.integers(0, 1000))
def test_every_group_has_at_least_l_rows_of_different_values(
    case: tuple[list[int], int], algorithm: str, seed: int
) -> None:
    colours, l = case  # noqa: E741
    groups = groups_of(people(colours), l, algorithm, seed)
    assert sorted(row for rows in members(groups) for row in rows) == list(range(len(colours)))
    for rows in members(groups):
        values = [colours[row] for row in rows]
        assert len(values) >= l
        assert len(set(values)) == len(values)


@given(eligible(), st.integers(0, 1000))
def test_wrap_and_guided_and_gda_have_the_smallest_groups_there_can_be(case: tuple[list[int], int], seed: int) -> None:
    colours, l = case  # noqa: E741
    n = len(colours)
    q, r = divmod(n, n // l)
    for algorithm in ("wrap", "guided"):
        sizes = Counter(groups_of(people(colours), l, algorithm, seed).sizes.tolist())
        assert sizes == Counter({q: n // l - r, q + 1: r}) - Counter()
    assert groups_of(people(colours), l, "gda").count == n // l


@given(eligible())
def test_rda_makes_as_many_groups_as_a_plain_reading_of_table_6(case: tuple[list[int], int]) -> None:
    colours, l = case  # noqa: E741
    counts = list(Counter(colours).values())
    assert groups_of(people(colours), l, "rda").count == rda_group_count(counts, l)


def test_rda_appends_to_the_smallest_compatible_group() -> None:
    # Two rounds (a b c) (a b d); then e e is left with one colour: one e to each group.
    groups = groups_of(people([0, 0, 1, 1, 2, 3, 4, 4]), 3, "rda")
    assert sorted(groups.sizes.tolist()) == [4, 4]
    # Counts 3 3 3: the paper's loop leaves nothing over.
    assert sorted(groups_of(people([0, 0, 0, 1, 1, 1, 2, 2, 2]), 3, "rda").sizes.tolist()) == [3, 3, 3]


@given(eligible(), st.integers(0, 2**32))
def test_gda_is_table_7_with_the_repair(case: tuple[list[int], int], seed: int) -> None:
    colours, l = case  # noqa: E741
    # No two distances are equal, so that no tie is left open.
    weighted = np.random.default_rng(seed).integers(0, 1 << 50, len(colours))
    found = streamlining.gda(people(colours), "s", l, weighted)
    labels = found.assign(found.slots)
    assert {frozenset(np.flatnonzero(labels == g).tolist()) for g in range(found.count)} == {
        frozenset(group) for group in gda_groups(colours, weighted.tolist(), l)
    }


def test_gda_where_table_7_has_no_compatible_group_left() -> None:
    # The method page's case: as the paper writes it, the last row finds every group holding its colour.
    colours = [1, 1, 2, 2, 3, 4]
    found = streamlining.gda(people(colours), "s", 3, np.array([1, 100, 50, 60, 2, 3]))
    labels = found.assign(found.slots)
    assert found.count == 2
    for g in range(2):
        values = [colours[row] for row in np.flatnonzero(labels == g)]
        assert len(values) == len(set(values)) == 3


def test_ria_keeps_partners_together_and_percolates() -> None:
    generator = np.random.default_rng(5)
    colours = generator.integers(0, 20, 600).tolist()
    assert groups_of(people(colours), 3, "ria", 1).count < 5
    pairs = groups_of(people([0, 1] * 3), 2, "ria", 2)
    for rows in members(pairs):
        assert sum(rows[i] % 2 for i in range(len(rows))) * 2 == len(rows)


def test_ria_draws_again_at_a_dead_end_and_gives_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # A row that draws both values that occur once leaves a single value for the other row of its colour.
    table = people([0, 0, 1, 1, 2, 3])
    for seed in range(20):
        assert (groups_of(table, 3, "ria", seed).sizes >= 3).all()
    monkeypatch.setattr(streamlining, "REDRAWS", 1)
    given_up = 0
    for seed in range(20):
        try:
            groups_of(table, 3, "ria", seed)
        except UnreachableError as refusal:
            given_up += "RIA found no 2 partners" in str(refusal)
    assert 0 < given_up < 20


def test_guided_joins_near_rows_of_the_same_values() -> None:
    # Two colours twice each: a single bucket, so rows are zipped in the order of their rank, whatever is drawn.
    for seed in range(5):
        groups = groups_of(people([0, 0, 1, 1], x=[1, 9, 2, 8]), 2, "guided", seed)
        assert {tuple(sorted(rows)) for rows in members(groups)} == {(0, 2), (1, 3)}


def test_guided_never_mixes_strata() -> None:
    table = people([0, 1, 2, 0, 1, 2, 0, 1], x=[5, 3, 4, 9, 9, 1, 2, 6], sex=list("MFMFMFMF"))
    for seed in range(10):
        for rows in members(groups_of(table, 2, "guided", seed, strata="sex")):
            assert len({row % 2 for row in rows}) == 1


def test_a_stratum_that_is_not_eligible_is_named_and_nothing_is_published() -> None:
    table = people([0, 0, 1, 1, 2, 3], sex=list("FFFMMM"))
    with pytest.raises(
        UnreachableError,
        match=r"1 of 2 strata: in stratum 1 by sex, the most frequent .* is 66\.7% .* feasible l .* is 1",
    ):
        groups_of(table, 2, "guided", strata=("sex",))


def test_strata_of_a_hierarchy_level() -> None:
    towns = uc.Hierarchy([("Bonn", "DE"), ("Ulm", "DE"), ("Lyon", "FR"), ("Nice", "FR")])
    schema = uc.Schema(
        quasi_identifiers=["town"], sensitive="s", columns={"town": uc.Column(hierarchy=towns)}, missing="category"
    )
    data = pa.table({"town": ["Bonn", "Lyon", "Ulm", "Nice", None], "s": list("abcde")})
    table = Table.from_arrow(data, schema)
    strata, name = strata_of(table, ["town:1"])
    assert strata.tolist() == [0, 1, 0, 1, 2]
    assert [name(i) for i in range(3)] == [f"stratum {i} by town:1" for i in (1, 2, 3)]
    for wrong, said in (("town:9", "Level '9' of `town`"), ("twon:1", "Stratum `twon:1` is not known")):
        with pytest.raises(ParameterError, match=said):
            strata_of(table, [wrong])
    with pytest.raises(ParameterError, match="`x` has no hierarchy"):
        strata_of(people([0, 1]), ["x:1"])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=30))
def test_strata_are_numbered_without_gaps_and_tell_the_columns_apart(rows: list[tuple[int, int, int]]) -> None:
    a, b, c = zip(*rows, strict=True)
    table = people(range(len(rows)), a=a, b=b, c=c)
    strata, _ = strata_of(table, ["a", "b", "c"])
    assert set(strata.tolist()) == set(range(len(set(rows))))
    assert len(set(zip(strata.tolist(), rows, strict=True))) == len(set(rows))


def test_weighted_ranks_by_hand() -> None:
    table = people([0, 1, 2], age=[30, 20, 40], sex=["M", "F", "F"])
    assert streamlining.weighted_ranks(table, [1, 100]).tolist() == [2 + 200, 1 + 100, 3 + 100]
    method = uc.Streamliner(l=2, algorithm="guided", weights={"sex": 7})
    assert streamlining.rank_weights(table, method.weights) == [1, 7]
    weighed = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="s", columns={"age": uc.Column(weight=0.5)})
    one = Table.from_arrow(pa.table({"age": [1], "sex": ["F"], "s": ["a"]}), weighed)
    assert streamlining.rank_weights(one, uc.Streamliner(l=2, algorithm="guided").weights) == [1, 2]
    with pytest.raises(ParameterError, match="Did you mean `sex`"):
        uc.Streamliner(l=2, algorithm="guided", weights={"sexx": 7}).groups(table, Randomness(seed=1))


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=200), st.sampled_from([3, 11, 22, 31, 33, 40]))
def test_rows_by_rank_are_sorted_and_stable(keys: list[int], bits: int) -> None:
    weighted = np.array(keys, dtype=np.int64) % (1 << bits)
    assert streamlining.by_weighted_rank(weighted).tolist() == np.argsort(weighted, kind="stable").tolist()


def partners(labels_of: Callable[[int], Any]) -> list[int]:
    """How often rows 0, 1, 2 of one colour meet rows 3, 4, 5 of another in each of the six ways."""
    counts = Counter()
    for seed in range(2400):
        labels = labels_of(seed)
        counts[tuple(int(np.flatnonzero(labels[3:] == labels[row])[0]) for row in range(3))] += 1
    return [counts[order] for order in permutations(range(3))]


@pytest.mark.parametrize("algorithm", ["wrap", "rda"])
def test_every_way_to_meet_is_equally_likely(algorithm: str, uniform: Uniform) -> None:
    table = people([0, 0, 0, 1, 1, 1])
    assert uniform(partners(lambda seed: groups_of(table, 2, algorithm, seed).labels))


def test_dealing_without_a_shuffle_is_found_out(uniform: Uniform, monkeypatch: pytest.MonkeyPatch) -> None:
    table = people([0, 0, 0, 1, 1, 1])
    monkeypatch.setattr(streamlining, "shuffle_within", lambda *given: None)
    assert not uniform(partners(lambda seed: groups_of(table, 2, "wrap", seed).labels))


@pytest.mark.parametrize("algorithm", [*SAFE, "gda", "ria"])
def test_what_is_published_holds_and_says_what_it_is(algorithm: str) -> None:
    data = uc.datasets.census(2_000, seed=3)
    schema = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="income")
    unsafe = algorithm == "gda"
    run = uc.publish(data, schema, uc.Streamliner(l=4, algorithm=algorithm, allow_unsafe=unsafe), seed=1)
    assert uc.verify(run.release, original=data, schema=schema).holds
    assert run.release.algorithm_safe is not unsafe
    assert run.release.warnings == (*((NOT_SAFE,) if unsafe else ()), REPRODUCIBLE)
    assert run.diagnostics["smallest_group"] >= 4
    assert run.release.guarantees[0]["actual"] >= 4


def test_rows_inside_a_class_are_in_no_order() -> None:
    table = people(range(40), x=[1] * 40)
    data = pa.table({"x": [1] * 40, "s": [f"s{i * i}" for i in range(40)]})
    orders = {
        tuple(uc.publish(data, table.schema, uc.Streamliner(l=40)).release.table()["s"].to_pylist()) for _ in range(3)
    }
    assert len(orders) == 3


def test_a_seed_is_reproducible_and_chance_is_not() -> None:
    table = people(list(range(10)) * 5)
    same = [groups_of(table, 5, "wrap", 7).labels.tolist() for _ in range(2)]
    assert same[0] == same[1]
    method = uc.Streamliner(l=5)
    assert method.groups(table, Randomness()).labels.tolist() != method.groups(table, Randomness()).labels.tolist()


def test_not_eligible_names_what_is_feasible() -> None:
    table = people([0, 0, 0, 1, 2, 3])
    for algorithm in (*SAFE, "gda", "ria"):
        with pytest.raises(
            UnreachableError, match=r"l=3 cannot .* 50\.0% .*\(3 of 6\); the largest feasible l is 2"
        ) as e:
            groups_of(table, 3, algorithm)
        assert e.value.best == {"l": 2}


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"l": 1}, "must be an int in"),
        ({"l": True}, "must be an int in"),
        ({"l": 2, "algorithm": "warp"}, "Did you mean `wrap`"),
        ({"l": 2, "strata": ("x",)}, "`wrap` of Streamliner has no strata"),
        ({"l": 2, "algorithm": "rda", "weights": {"x": 1}}, "has no weights"),
        ({"l": 2, "algorithm": "guided", "weights": {"x": -1}}, r"must be an int in \[0, inf\) by column"),
        ({"l": 2, "algorithm": "guided", "weights": "x"}, r"must be an int in \[0, inf\) by column"),
        ({"l": 2, "algorithm": "gda"}, "allow_unsafe=True"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        uc.Streamliner(**parameters)


def test_one_sensitive_column() -> None:
    data = pa.table({"x": [1, 2], "s": ["a", "b"], "t": ["a", "b"]})
    with pytest.raises(ParameterError, match="exactly one sensitive column"):
        uc.publish(data, uc.Schema(quasi_identifiers=["x"], sensitive=["s", "t"]), uc.Streamliner(l=2))


def test_weights_too_large_for_exact_ranks() -> None:
    with pytest.raises(ParameterError, match="too large"):
        groups_of(people([0, 1]), 2, "guided", weights={"x": 1 << 60})


def test_from_text_and_back() -> None:
    method = make(
        "methods", "streamliner", {"l": "4", "algorithm": "guided", "strata": "sex,age:1", "weights": "age:1,sex:10"}
    )
    assert method == uc.Streamliner(l=4, algorithm="guided", strata=("sex", "age:1"), weights={"age": 1, "sex": 10})
    assert make("methods", "streamliner", to_mapping(method)) == method
