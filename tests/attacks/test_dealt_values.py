"""Attackers before values that were dealt anew: every belief follows the law, beside a plain twin that counts rows."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from dealing import SHAPES, Dealing, Shape, dealt, people
from undercover.attacks.corruption.true_values import full_corruption
from undercover.attacks.partial.profile import profile
from undercover.forms.case import Case
from undercover.forms.dealt.law import Law
from undercover.forms.dealt.rows import row_codes
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.verbs.publish import publish_table

DEALT: tuple[Shape, ...] = ("layers", "groups")
KNOWN = ("age", "town")


def plain_belief(value: str, shown: list[str], everywhere: list[str], among: int) -> float:
    """The law as it is written, row by row."""
    share = {label: everywhere.count(label) / len(everywhere) for label in everywhere}
    rows = [
        1 / among if value == seen else (1 - 1 / among) * share.get(value, 0.0) / (1 - share[seen]) for seen in shown
    ]
    return sum(rows) / len(rows) if rows else 0.0


def fitting(run: uc.Run, person: int, known: tuple[str, ...]) -> list[str]:
    """The values of the published rows that fit a person."""
    published, original = run.release.published().data.to_pylist(), run.original
    mine = {name: original[name].domain.labels[int(original[name].codes[person])] for name in known}
    return [row["ill"] for row in published if all(str(row[name]) == mine[name] for name in known)]


def truth_of(run: uc.Run) -> list[str]:
    column = run.original["ill"]
    return [column.domain.labels[code] for code in column.codes.tolist()]


def everywhere(run: uc.Run) -> list[str]:
    return list(run.release.published().data.column("ill").to_pylist())


@pytest.mark.parametrize("shape", DEALT)
@pytest.mark.parametrize("known", [KNOWN, ("town",), ("age",)])
def test_linkage_believes_the_law(shape: Shape, known: tuple[str, ...]) -> None:
    run = dealt(shape)
    found = uc.attack(run, uc.Linkage(known=known)).after
    expected = [
        plain_belief(truth, fitting(run, person, known), everywhere(run), 4)
        for person, truth in enumerate(truth_of(run))
    ]
    assert found.attribute["ill"] == pytest.approx(expected)
    assert found.attribute["ill"].max() <= 1 / 4
    guessed = [
        right_guess(truth, fitting(run, person, known), everywhere(run), 4)
        for person, truth in enumerate(truth_of(run))
    ]
    assert found.hits["ill"] == pytest.approx(guessed)


def plain_identity(run: uc.Run, person: int, known: tuple[str, ...]) -> float:
    """Whoever picks one of the rows that fit: each is the own one if it is of the group, one in so many."""
    original, published = run.original, run.release.published().data.to_pylist()
    mine = {name: original[name].domain.labels[int(original[name].codes[person])] for name in known}
    fit = [row for row, cells in enumerate(published) if all(str(cells[name]) == mine[name] for name in known)]
    places = run.frames["published_rows"].column("published").to_numpy()
    group = places[run.groups.labels == run.groups.labels[person]]
    return len(set(fit) & set(group.tolist())) / len(group) / len(fit) if fit else 0.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("known", [KNOWN, ("town",)])
def test_nobody_is_found_more_surely_than_rows_were_dealt(shape: Shape, known: tuple[str, ...]) -> None:
    run = dealt(shape)
    found = uc.attack(run, uc.Linkage(known=known)).after.identity
    assert found == pytest.approx([plain_identity(run, person, known) for person in range(40)])
    assert 0 < found.max() <= 1 / 5
    nearest = uc.attack(run, uc.NearestRow(known=known)).identity["nearest"]
    assert nearest.max() <= 1 / 5
    if known == ("town",):
        assert nearest == pytest.approx(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_whoever_knows_a_part_finds_no_more(shape: Shape) -> None:
    run, p, d = dealt(shape), 0.7, len(KNOWN)
    expected = [
        sum(
            p ** len(subset) * (1 - p) ** (d - len(subset)) * plain_identity(run, i, subset)
            for subset in subsets(KNOWN)
        )
        for i in range(40)
    ]
    assert uc.attack(run, uc.Linkage(p_match=p)).after.identity == pytest.approx(expected)
    swept = uc.attack(run, uc.PartialKnowledge()).sweep
    at_p = next(entry for entry in swept if entry["p"] == p)["identity"]
    assert at_p == pytest.approx({"mean": np.mean(expected), "max": max(expected)})


def right_guess(truth: str, shown: list[str], all_values: list[str], among: int) -> float:
    if not shown:
        return 0.0
    beliefs = {value: plain_belief(value, shown, all_values, among) for value in set(all_values)}
    best = [value for value in beliefs if beliefs[value] >= max(beliefs.values()) - 1e-12]
    return 1 / len(best) if truth in best else 0.0


def subsets(known: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [subset for size in range(len(known) + 1) for subset in combinations(known, size)]


@pytest.mark.parametrize("shape", DEALT)
def test_whoever_knows_a_part_believes_the_law(shape: Shape) -> None:
    run = dealt(shape)
    p, d, values = 0.7, len(KNOWN), everywhere(run)
    expected = [
        sum(
            p ** len(subset) * (1 - p) ** (d - len(subset)) * plain_belief(truth, fitting(run, i, subset), values, 4)
            for subset in subsets(KNOWN)
        )
        for i, truth in enumerate(truth_of(run))
    ]
    case = Case.of(run)
    by_profile = profile(case.reading, case.original, KNOWN, own=case.own).at(p)[2]["ill"]
    assert by_profile == pytest.approx(expected)
    swept = uc.attack(run, uc.PartialKnowledge()).sweep
    at_p = next(entry for entry in swept if entry["p"] == p)["attribute"]["ill"]
    assert at_p == pytest.approx({"mean": np.mean(expected), "max": max(expected)})
    assert max(entry["attribute"]["ill"]["max"] for entry in swept) <= 1 / 4


@pytest.mark.parametrize("shape", DEALT)
def test_the_nearest_row_is_believed_by_the_law(shape: Shape) -> None:
    run = dealt(shape)
    found = uc.attack(run, uc.NearestRow(known=("town",))).attribute["ill"]["nearest"]
    expected = [
        plain_belief(truth, fitting(run, person, ("town",)), everywhere(run), 4)
        for person, truth in enumerate(truth_of(run))
    ]
    assert found == pytest.approx(expected)  # every town is there, so the nearest rows are those that fit


def test_own_values_are_believed_as_they_stand() -> None:
    run = dealt("blocks")
    found = uc.attack(run, uc.Linkage(known=("town",))).after.attribute["ill"]
    shown = [fitting(run, person, ("town",)) for person in range(40)]
    assert found == pytest.approx(
        [rows.count(truth) / len(rows) for rows, truth in zip(shown, truth_of(run), strict=True)]
    )


@given(
    st.integers(2, 6).flatmap(
        lambda among: st.tuples(
            st.just(among),
            st.lists(st.integers(1, 9), min_size=among, max_size=12).filter(lambda c: max(c) * among <= sum(c)),
            st.lists(st.integers(0, among - 1), min_size=1, max_size=8),
        )
    )
)
def test_no_belief_exceeds_one_in_among_and_all_add_up(drawn: tuple[int, list[int], list[int]]) -> None:
    among, counts, shown = drawn
    law, n = Law.of(among, np.array(counts)), len(counts)
    spread = law.spread[shown].mean()
    beliefs = np.array([law.believed(v, np.mean(np.array(shown) == v), spread) for v in range(n)])
    everybody = [str(v) for v in range(n) for _ in range(counts[v])]
    assert beliefs == pytest.approx([plain_belief(str(v), list(map(str, shown)), everybody, among) for v in range(n)])
    assert beliefs.sum() == pytest.approx(1)
    assert beliefs.max() <= 1 / among


def test_a_table_of_one_value_tells_it() -> None:
    law = Law.of(2, np.array([5, 0]))
    assert float(law.believed(0, 1.0, law.spread[0])) == 1.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("attack", [uc.BucketMatching(), uc.OrdinaryCorruption(), uc.Corruption()])
def test_who_cannot_say_anything_says_why(shape: Shape, attack: Any) -> None:
    case = Case.of(dealt(shape))
    if shape == "blocks" and attack.name == "bucket-matching":
        assert attack.applies(case) is None  # its values are the rows' own
    else:
        assert attack.applies(case)


@pytest.mark.parametrize("shape", SHAPES)
def test_whoever_knows_all_values_but_one_knows_the_last(shape: Shape) -> None:
    case = Case.of(dealt(shape))
    assert full_corruption(case.original, case.reading)["ill"].tolist() == [1.0] * 40


@pytest.mark.parametrize(
    ("method", "identity", "attribute"),
    [
        (uc.MutualCover(delta="1/4", l=5), 1 / 5, 1 / 5),
        (uc.MutualCover(delta="1/4", variant="blocks"), 1 / 4, 1.0),
        (uc.MutualCover(l=5, variant="groups"), 1 / 5, 1 / 5),
    ],
)
def test_nobody_gets_more_out_of_a_release_than_it_promises(method: Any, identity: float, attribute: float) -> None:
    data, schema = (
        uc.datasets.census(600, seed=1),
        uc.datasets.census_schema(["age", "sex", "hours"], hierarchies=False),
    )
    run = uc.publish(data, schema, method, seed=1)
    assert uc.verify(run, original=data).holds
    linked, near = uc.attack(run, uc.Linkage()).after, uc.attack(run, uc.NearestRow())
    assert 0 < max(linked.identity.max(), *(found.max() for found in near.identity.values())) <= identity
    (name,) = run.schema.sensitive
    assert max(linked.attribute[name].max(), *(found.max() for found in near.attribute[name].values())) <= attribute


def came_out(shape: Shape, seeds: range, *, other: bool = False) -> float:
    """How many standard errors lie between how often rows fit and their chance; ``other``: that in other groups."""
    data, schema = people()
    table, found = Table.from_arrow(data, schema), []
    method = Dealing(shape=shape, l=None if shape == "blocks" else 4)
    for seed in seeds:
        case = Case.of(publish_table(table, method, randomness=Randomness(seed)))
        assert case.dealt is not None
        dealt = replace(case.dealt, groups=np.arange(40) % 8) if other else case.dealt
        cells, codes = row_codes(case.reading, ("town",), table), table["town"].codes[:, None].astype(np.int64)
        fits = case.reading.own_fits(("town",), table, case.own)
        assert fits is not None
        found.append(float((fits[:, 0] - dealt.chance(cells, codes)).sum()))
    return abs(float(np.mean(found))) / (float(np.std(found, ddof=1)) / len(found) ** 0.5)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_chance_of_a_row_is_how_often_it_comes_out(shape: Shape) -> None:
    assert came_out(shape, range(150)) < 4


def test_the_chance_in_other_groups_is_not() -> None:
    assert came_out("blocks", range(150), other=True) > 4
