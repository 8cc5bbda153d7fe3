"""Outcomes called beliefs: a permuted release was said to teach a wage with 100%, where 18.7% of guesses were right.

Where columns were permuted or drawn, the rows that fit a person fit by chance. That one of them shows the true value is
luck, and nobody can tell whose. Reports, attacks, verdicts and comparisons took the luckiest case for what somebody
believes. And insensitive columns that were permuted were called "published unchanged".
"""

from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.attacks.views import OUTCOMES
from undercover.pages.summary import headline
from undercover.verbs.report import attacks_on

PEOPLE = uc.datasets.census(1_500, seed=2)
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="salary", insensitive=["hours"], drop="*")
BLOCKS = uc.MutualCover(delta="1/5", variant="blocks")
PERMUTED = [BLOCKS, uc.MutualCover(delta="1/5", l=4), uc.MutualCover(l=4, variant="groups")]
PAPER = uc.MutualCover(delta="1/4", l=4, variant="paper")


def published(method: Any) -> uc.Run:
    """A release of a census with an insensitive column that some people have alone."""
    return uc.publish(PEOPLE, SCHEMA, method, seed=1)


@pytest.mark.parametrize("method", PERMUTED, ids=lambda method: method.variant)
def test_the_headline_is_what_somebody_may_believe(method: Any) -> None:
    run = published(method)
    found = {attack.to_dict()["attack"]: attack.to_dict() for attack in attacks_on(run)}
    told = found["told-groups"]["attribute"]["salary"]["max"]
    top = headline(list(found.values()))
    assert top is not None
    assert top["attribute"]["after"] <= told + 1e-9 < 1, (
        "the nearest row, which happened to show it, was taken for 100%"
    )
    assert "outcome" not in top["attribute"]


@pytest.mark.parametrize("method", [BLOCKS, PAPER], ids=lambda method: method.variant)
def test_linkage_believes_nothing_where_rows_fit_by_chance(method: Any) -> None:
    result = uc.attack(published(method), uc.Linkage())
    assert all(not exposure.belief for exposure in result.exposures())
    found = result.to_dict()
    figures = found["after"]["attribute"]["salary"]
    assert found["beliefs"] is False
    assert figures["max"] is None
    assert figures["certain_rows"] is None
    assert 0 < figures["guess_success"] < 0.5
    assert all(row["attribute"] == {} for row in found["worst_rows"])
    shown = [str(part) for part in result.view().parts]
    assert OUTCOMES in shown
    assert not [part for part in shown if "sure of" in part or "is certain" in part]


def test_matching_on_some_columns_believes_nothing_either() -> None:
    run = published(BLOCKS)
    for attack in (uc.Linkage(p_match=0.7), uc.PartialKnowledge()):
        found = uc.attack(run, attack).to_dict()
        assert found["beliefs"] is False
        assert all(entry["attribute"]["salary"]["max"] is None for entry in found["sweep"])
        assert all(entry["attribute"]["salary"]["max"] is not None for entry in found["sweep_before"])


def test_a_release_whose_law_is_published_is_weighed_by_it() -> None:
    found = uc.attack(published(PERMUTED[1]), uc.Linkage()).to_dict()
    assert "beliefs" not in found  # as everywhere: only where they are none it is said
    assert found["after"]["attribute"]["salary"]["max"] <= 1 / 4 + 1e-9


@pytest.mark.parametrize("method", PERMUTED, ids=lambda method: method.variant)
def test_permuted_columns_are_not_called_published_unchanged(method: Any) -> None:
    reasons = published(method).verdict.reasons
    assert not [reason for reason in reasons if "unchanged" in reason.text + reason.change]
    assert not [reason for reason in reasons if reason.kind == "singled out"]


def test_columns_that_stay_are_still_called_unchanged() -> None:
    reasons = published(uc.Mondrian(k=5)).verdict.reasons
    assert [reason for reason in reasons if reason.kind == "singled out" and "published unchanged" in reason.text]


def test_a_comparison_takes_beliefs_from_whoever_is_told_the_groups(tmp_path: Path) -> None:
    own = ("mutual-cover", {"delta": "1/5", "variant": "blocks"})
    compared = uc.compare(PEOPLE, SCHEMA, tmp_path / "compared", methods=["mutual-cover"], own=own, queries=5)
    found = [one["privacy"]["attribute"] for one in compared["releases"] if one["parameters"] == own[1]]
    assert [one["attack"] for one in found] == ["told-groups"]
    assert found[0]["worst"] < 1
