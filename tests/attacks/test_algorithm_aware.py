"""The adversary who knows the algorithm, against every method of the project: each is held to its own word."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover import plugins
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, UnreachableError
from undercover.model.about import about_of
from undercover.model.groups import Groups, Seen, seen_groups
from undercover.model.protocols import lists_outcomes
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.attack import AlgorithmAware, AlgorithmAwareResult
from undercover.testing.tables import tiny
from undercover.verbs.joint import method_of

SCHEMA = uc.Schema(quasi_identifiers=["x"], sensitive="s")


def people(x: Sequence[int], counts: Sequence[int], **columns: Sequence[Any]) -> Table:
    """A table with the given quasi-identifier and as many rows of value s1, s2, ... as ``counts`` says."""
    values = [f"s{i + 1}" for i, count in enumerate(counts) for _ in range(count)]
    schema = replace_quasi_identifiers(tuple(columns))
    return Table.from_arrow(pa.table({"x": list(x), **columns, "s": values}), schema)


def replace_quasi_identifiers(more: tuple[str, ...]) -> uc.Schema:
    domain = tuple(f"s{i + 1}" for i in range(6))
    return uc.Schema(quasi_identifiers=["x", *more], sensitive="s", columns={"s": uc.Column(domain=domain)})


def attacked(method: Any, x: Sequence[int], counts: Sequence[int]) -> AlgorithmAwareResult:
    """Through all it lists; run a few times only (tests/attacks/test_what_is_published.py is about that)."""
    return AlgorithmAware(trials=8).on(people(x, counts), method, randomness=Randomness(8))


def eligible_counts(n: int, l: int) -> Iterator[tuple[int, ...]]:  # noqa: E741
    """Every multiset of colours of n rows, most frequent first, that l-diverse groups exist for."""
    for colours in range(l, n + 1):
        for counts in combinations_with_replacement(range(n, 0, -1), colours):
            if sum(counts) == n and max(counts) * l <= n:
                yield counts


SHAPES = [(0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 1, 2, 5), (0, 0, 1, 1, 1, 1)]
HELD = [(table["x"].codes.tolist(), Counter(table["s"].codes.tolist())) for table in tiny()]
"""Tables that tests/conformance/test_plugins.py goes through as well, and more closely."""


def is_held(x: Sequence[int], counts: Sequence[int]) -> bool:
    return (np.unique(x, return_inverse=True)[1].tolist(), Counter(dict(enumerate(counts)))) in HELD


def examples(expected: str) -> list[Any]:
    return [
        plugins.load("methods", name)(**example.parameters)
        for name in plugins.BUILT_IN["methods"]
        for example in about_of(name).examples
        if example.expected == expected
    ]


def test_two_tables_of_six_people_are_those_of_the_checks() -> None:
    assert [counts for counts in eligible_counts(6, 2) if is_held(SHAPES[-1], counts)] == [(2, 2, 2), (2, 1, 1, 1, 1)]


@pytest.mark.parametrize("name", plugins.BUILT_IN["methods"])
def test_every_method_has_examples_to_be_attacked_and_one_it_refuses(name: str) -> None:
    expected = {example.expected for example in about_of(name).examples}
    assert expected & {"safe", "unsafe"}
    assert "unreachable" in expected


@pytest.mark.parametrize("method", examples("unreachable"), ids=repr)
def test_what_cannot_be_reached_is_refused(method: Any) -> None:
    with pytest.raises(UnreachableError):
        method.anonymize(people(range(6), (2, 2, 2)), engine=LocalEngine(), randomness=Randomness(1))


def is_slow(method: Any) -> bool:
    """Whether to list all it can make of six people takes seconds."""
    return method.name == "perturbed-generalization" or (getattr(method, "algorithm", None), method.l) == ("ria", 2)


def all_differ(counts: Sequence[int]) -> bool:
    """Whether six people have six values, which makes 720 tables; those of five people say the same sooner."""
    return len(counts) == 6


def tells_no_more(method: Any, shapes: Sequence[Sequence[int]], counted: Callable[..., bool] | None = None) -> int:
    """Hold a method to its word that it is safe, on every table of these shapes; how many there were."""
    assert method.algorithm_safe
    least = getattr(method, "l", None) or 2
    tried, refused = 0, []
    for x in shapes:
        for counts in eligible_counts(len(x), least):
            if counted is not None and not counted(counts):
                continue
            if len(x) == 6 and is_held(x, counts):
                continue
            try:
                found = attacked(method, x, counts)
            except UnreachableError:
                refused.append(counts)
                continue
            assert found.exact
            assert found.safe, found.largest_gain
            assert found.differs is None
            assert not found.refusal_tells
            if getattr(method, "l", None) and method.name not in ("mondrian", "incognito", "perturbed-generalization"):
                assert found.worst.posterior <= Fraction(1, least)
            tried += 1
    assert not refused or method.algorithm == "ria"  # every draw of RIA is a dead end on some
    return tried


@pytest.mark.parametrize("method", examples("safe"), ids=repr)
def test_safe_methods_tell_no_more_than_the_release(method: Any) -> None:
    shapes = [x for x in SHAPES if len(x) < 6 or not is_slow(method)]
    assert tells_no_more(method, shapes, lambda counts: not all_differ(counts)) > 3


@pytest.mark.soak
@pytest.mark.parametrize("method", [method for method in examples("safe") if is_slow(method)], ids=repr)
def test_slow_methods_tell_no_more_of_six_people(method: Any) -> None:
    assert tells_no_more(method, [x for x in SHAPES if len(x) == 6], lambda counts: not all_differ(counts)) > 3


@pytest.mark.soak
@pytest.mark.parametrize("method", [method for method in examples("safe") if not is_slow(method)], ids=repr)
def test_safe_methods_tell_no_more_of_six_people_who_all_differ(method: Any) -> None:
    assert tells_no_more(method, [x for x in SHAPES if len(x) == 6], all_differ) == 1


@pytest.mark.parametrize("method", examples("unsafe"), ids=repr)
def test_unsafe_methods_are_caught(method: Any) -> None:
    assert not method.algorithm_safe
    caught = (result for result in tried(method) if not result.safe)
    surest = next(result for result in caught if result.worst.posterior > Fraction(1, 2))
    assert not surest.declared_safe


def tried(method: Any) -> Iterator[AlgorithmAwareResult]:
    """What is found on one table after the other, but for those of which it publishes nothing."""
    for x in SHAPES:
        for counts in eligible_counts(len(x), 2):
            attack = attacked if lists_outcomes(method, people(x, counts)) else watched
            try:
                yield attack(method, x, counts)
            except UnreachableError:
                continue


def watched(method: Any, x: Sequence[int], counts: Sequence[int]) -> AlgorithmAwareResult:
    return AlgorithmAware(trials=300).on(people(x, counts), method, randomness=Randomness(8))


def test_mondrian_that_does_not_cut_tells_why() -> None:
    # Wong et al.'s minimality: six people in one group, because the two of x=0 have the same value.
    found = attacked(uc.Mondrian(k=2, l=2, cut="median"), (0, 0, 1, 1, 1, 1), (2, 1, 1, 1, 1))
    assert found.worst.posterior == 1
    assert found.worst.value == "s1"
    assert found.worst.row in (0, 1)
    assert found.worst.alone == Fraction(1, 3)
    assert [rows for rows, _ in found.worst.groups] == [(0, 1, 2, 3, 4, 5)]


def test_gda_is_inverted_at_four_people() -> None:
    found = attacked(uc.Streamliner(l=2, algorithm="gda", allow_unsafe=True), (0, 1, 2, 3), (2, 1, 1))
    assert found.worst.posterior == 1
    assert found.worst.groups == (((0, 2), ("s1", "s2")), ((1, 3), ("s1", "s3")))


class RdaInRowOrder(uc.Streamliner):
    """Table 6 as a reader may do it: rows of a value in the order of the input."""

    def outcomes(self, table: Table) -> Iterable[tuple[Fraction, Seen]]:
        deal = self._deal(table, "s")
        yield Fraction(1), seen_groups(deal.assign(deal.slots), table["s"].codes)


def test_rda_in_row_order_leaks_and_is_caught() -> None:
    found = attacked(RdaInRowOrder(l=2, algorithm="rda"), (0, 1, 2, 3), (2, 1, 1))
    assert not found.safe
    assert found.worst.posterior == 1


class BestOf(uc.Streamliner):
    """`wrap` several times, keeping the partition whose groups are narrowest: never do this."""

    runs = 2

    def outcomes(self, table: Table) -> Iterable[tuple[Fraction, Seen]]:
        x, codes = table["x"].codes.astype(int), table["s"].codes
        ways = [(chance, labels) for chance, labels in self._deal(table, "s").outcomes()]

        def cost(labels: np.ndarray) -> int:
            return sum(int(np.ptp(x[labels == group])) for group in set(labels.tolist()))

        for first_chance, first in ways:
            for second_chance, second in ways:
                best = first if cost(first) <= cost(second) else second
                yield first_chance * second_chance, seen_groups(best, codes)


def test_retrying_until_the_utility_is_good_leaks() -> None:
    found = attacked(BestOf(l=2), (0, 1, 2, 10, 11, 12), (2, 2, 1, 1))
    assert not found.safe
    assert found.worst.posterior == Fraction(16, 25)


def test_guided_is_safe_with_strata_and_ties() -> None:
    method = uc.Streamliner(l=2, algorithm="guided", strata=("sex",), weights={"x": 3, "sex": 1})
    found = AlgorithmAware(trials=500).on(people((5, 1, 1, 2, 7, 3), (2, 2, 2), sex=list("MMFFMF")), method)
    assert found.safe
    assert found.refused  # some tables leave a stratum that is not eligible
    assert not found.refusal_tells  # the message names neither a stratum by its values nor the frequent value
    assert found.worst.posterior <= Fraction(1, 2)


def test_the_release_alone_is_the_share_in_the_group() -> None:
    found = attacked(uc.Anatomy(l=2), (0, 1, 2, 3), (2, 1, 1))
    assert (found.tables, found.people, found.exact) == (12, 4, True)
    assert found.worst.posterior == found.worst.alone == Fraction(1, 2)
    figures = found.to_dict()
    assert figures["worst"]["posterior"] == 0.5
    assert figures["safe"] is figures["declared_safe"] is True


def test_probabilities_of_all_outcomes_add_up_to_one() -> None:
    table = people((0, 1, 2, 3, 4), (2, 1, 1, 1))
    listing = [method for method in examples("safe") + examples("unsafe") if lists_outcomes(method, table)]
    assert len(listing) > 20
    for method in listing:
        try:
            outcomes = list(method.outcomes(table))
        except UnreachableError:
            continue
        assert sum(chance for chance, _ in outcomes) == 1


DRAWN = [*(uc.Streamliner(l=2, algorithm=name) for name in ("wrap", "rda", "ria")), uc.Anatomy(l=2)]


@pytest.mark.parametrize("method", DRAWN, ids=repr)
def test_what_is_listed_is_what_is_drawn(method: Any) -> None:
    """Outcomes with their probabilities against the frequencies of real draws, for the kernel with real words."""
    from scipy import stats

    table = people((0, 1, 2, 3, 4), (2, 1, 1, 1))
    chances: Counter[Seen] = Counter()
    for chance, release in method.outcomes(table):
        chances[release] += chance
    drawn: Counter[Seen] = Counter()
    for seed in range(1_000):
        labels = (
            method.groups(table, Randomness(seed)).labels
            if isinstance(method, uc.Streamliner)
            else anatomy_labels(table, seed)
        )
        drawn[seen_groups(labels, table["s"].codes)] += 1
    assert set(drawn) <= set(chances)
    releases = sorted(chances, key=repr)
    observed = [drawn[release] for release in releases]
    assert stats.chisquare(observed, [1_000 * float(chances[release]) for release in releases]).pvalue > 1e-6


def anatomy_labels(table: Table, seed: int) -> Any:
    from undercover.methods.anatomy.method import deal

    return deal(table, "s", 2, Randomness(seed)).labels


@dataclass(frozen=True)
class Silent:
    """A method that lists nothing."""

    name: ClassVar[str] = "silent"
    algorithm_safe: ClassVar[bool] = True
    inner: Any

    def public(self) -> dict[str, Any]:
        return {}

    def private(self) -> dict[str, Any]:
        return {}

    def claims(self, table: Table) -> tuple[Any, ...]:
        return ()

    def anonymize(self, table: Table, **given: Any) -> Any:
        return self.inner.anonymize(table, **given)


def test_sampling_agrees_with_listing() -> None:
    table = people((0, 1, 2, 3), (2, 1, 1))
    attack = AlgorithmAware(trials=500)
    safe = attack.on(table, Silent(uc.Streamliner(l=2)), randomness=Randomness(4))
    assert not safe.exact
    assert safe.safe
    assert safe.releases == attack.on(table, uc.Streamliner(l=2)).releases
    low, high = safe.worst.interval
    assert low <= 0.5 <= high
    longer, unsafe = AlgorithmAware(trials=2_000), Silent(uc.Streamliner(l=2, algorithm="gda", allow_unsafe=True))
    caught = longer.on(table, unsafe, randomness=Randomness(4))
    assert not caught.safe
    assert caught.worst.posterior == 1
    assert caught.largest_gain.gain > 0.4


@pytest.mark.parametrize("trials", range(1, 8))
@pytest.mark.parametrize(("x", "counts"), [((0, 0, 1, 1), (2, 2)), ((0, 0, 1, 1, 2, 2), (2, 2, 1, 1))])
def test_too_few_runs_of_what_lists_nothing_are_refused_in_a_sentence(
    x: tuple[int, ...], counts: tuple[int, ...], trials: int
) -> None:
    with pytest.raises(ParameterError, match=rf"at least 8 of them .* Got {trials} from {trials} runs. Raise 'trials'"):
        AlgorithmAware(trials=trials).on(people(x, counts), Silent(uc.Streamliner(l=2)))
    assert AlgorithmAware(trials=8).on(people(x, counts), Silent(uc.Streamliner(l=2))).draws == 8


def test_few_runs_of_what_lists_too_much_are_refused_and_of_what_lists_all_they_are_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = people((0, 0, 1, 1), (2, 2))
    assert AlgorithmAware(trials=1).on(table, uc.Anatomy(l=2)).exact
    monkeypatch.setattr("undercover.studies.algorithm_aware.attack.MOST_OUTCOMES", 3)
    with pytest.raises(ParameterError, match="Got 1 from 1 runs"):
        AlgorithmAware(trials=1).on(table, uc.Anatomy(l=2))


def test_refused_runs_are_no_releases_to_learn_from() -> None:
    table, silent = people((0, 0, 1, 1), (3, 1)), Silent(uc.Streamliner(l=2))  # no table of these values is published
    with pytest.raises(ParameterError, match="Got 0 from 7 runs"):
        AlgorithmAware(trials=7).on(table, silent)
    with pytest.raises(UnreachableError, match="publishes nothing of any table"):
        AlgorithmAware(trials=8).on(table, silent)


def test_whoever_may_know_more_people_than_there_are_knows_all_others() -> None:
    table = people((0, 0, 1, 1), (2, 2))
    few, many = (AlgorithmAware(trials=8, known=known).on(table, uc.Streamliner(l=2)) for known in (3, 10**18))
    assert (few.worst, few.leaks) == (many.worst, many.leaks)


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="2 problems"):
        AlgorithmAware(trials=0, confidence=1.0)
    with pytest.raises(ParameterError, match="at most 8 people"):
        attacked(uc.Anatomy(l=2), range(9), (3, 3, 3))
    table = people((0, 1, 2, 3), (2, 1, 1), t=list("abcd"))
    twice = replace(table, schema=uc.Schema(quasi_identifiers=["x"], sensitive=["s", "t"]))
    with pytest.raises(ParameterError, match="exactly one sensitive column"):
        AlgorithmAware().on(twice, uc.Mondrian(k=2))
    drawn = uc.PerturbedGeneralization(k=2, p=0.5)
    with pytest.raises(ParameterError, match="at most 6 people"):
        attacked(drawn, range(7), (3, 2, 2))
    with pytest.raises(UnreachableError, match="publishes nothing"):
        attacked(uc.Mondrian(k=5), (0, 1, 2, 3), (2, 1, 1))


class Leaky(uc.Streamliner):
    """The streamliner by name and parameters; but the first person's partner stands nearer where that one has s1."""

    def groups(self, table: Table, randomness: Randomness) -> Groups:
        codes = table["s"].codes
        others = np.flatnonzero(codes != codes[0])
        partner = others[0 if codes[0] == codes.min() else -1]
        return Groups(np.isin(np.arange(len(codes)), (0, partner)).astype(np.int32), 2)


class Leakier(uc.Streamliner):
    """The same, by another way of making the tables."""

    def anonymize(self, table: Table, **how: Any) -> Draft:
        return Leaky(l=self.l).anonymize(table, **how)


@pytest.mark.parametrize("method", [Leaky(l=2), Leakier(l=2)], ids=lambda method: type(method).__name__)
def test_a_namesake_is_attacked_itself_and_not_the_method_whose_name_it_bears(method: uc.Streamliner) -> None:
    data = pa.table({"x": [0, 1, 2, 3], "s": ["s1", "s2", "s1", "s2"]})
    run = uc.publish(data, SCHEMA, method)
    assert run.release.method == "streamliner"
    assert run.method is method
    found = uc.attack(run, AlgorithmAware(trials=400))
    assert not found.safe
    assert found.worst.posterior == 1
    assert found.leaks["groups"].posterior in (0, 1)
    honest = uc.attack(uc.publish(data, SCHEMA, uc.Streamliner(l=2)), AlgorithmAware(trials=100))
    assert (honest.safe, honest.exact) == (True, True)


def test_a_run_read_back_makes_its_method_again(tmp_path: Path) -> None:
    run = uc.publish(
        uc.datasets.census(200), uc.datasets.census_schema(["age"]), uc.MutualCover(variant="paper", delta="1/3", l=3)
    )
    uc.save(run, tmp_path / "made")
    read = uc.load(tmp_path / "made")
    assert read.method is None
    assert method_of(read) == run.method
