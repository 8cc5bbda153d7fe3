"""One other's value known, of a sample of the people: against everybody, and the worst off by hand."""

from __future__ import annotations

import numpy as np
import pytest

import undercover as uc
from undercover.attacks import sampled
from undercover.attacks.corruption import true_values
from undercover.attacks.corruption.true_values import OrdinaryCorruption
from undercover.forms.case import Case
from undercover.model.groups import Groups
from undercover.model.run import Run
from undercover.model.verdict import one_struck_out

ROWS, SAMPLE = 3000, 500


@pytest.fixture(scope="module", params=["anatomy", "mondrian"])
def run(request: pytest.FixtureRequest) -> Run:
    methods = {"anatomy": uc.Anatomy(l=2), "mondrian": uc.Mondrian(k=4)}
    schema = uc.datasets.census_schema(["age", "sex"], "relationship", hierarchies=False)
    return uc.publish(uc.datasets.census(ROWS, seed=3), schema, methods[request.param], seed=1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled, "EVERYBODY", ROWS // 2)
    monkeypatch.setattr(true_values, "EVERYBODY", ROWS // 2)
    monkeypatch.setattr(sampled, "SAMPLE", SAMPLE)
    monkeypatch.setattr(true_values, "WORST_OFF", 10)


def plain(case: Case) -> np.ndarray:
    """Everybody's belief, class by class."""
    assert case.run is not None
    labels = case.run.groups.labels if case.run.buckets is None else case.run.buckets
    codes = case.original["relationship"].codes
    found = np.zeros(len(labels))
    groups = Groups(labels, int(labels.max()) + 1)
    for group in range(groups.count):
        rows = groups.rows_of(group)
        times = (codes[rows][:, None] == codes[rows]).sum(axis=1)
        found[rows] = one_struck_out(times / len(rows), np.full(len(rows), len(rows)))
    return found


@pytest.mark.usefixtures("few")
def test_a_sample_the_worst_off_and_what_nobody_is_beyond(run: Run) -> None:
    case = Case.of(run)
    truth = plain(case)
    drawn, worst = OrdinaryCorruption().run(case).exposures()
    assert drawn.of == ROWS
    assert len(drawn.rows) == SAMPLE
    np.testing.assert_allclose(drawn.belief["relationship"], truth[drawn.rows])
    np.testing.assert_allclose(worst.belief["relationship"], truth[worst.rows])
    assert drawn.belief_at_most["relationship"] == pytest.approx(truth.max())
    assert np.sort(truth)[-len(worst.rows)] == pytest.approx(worst.belief["relationship"].min())


def test_everybody_where_there_are_few(run: Run) -> None:
    (found,) = OrdinaryCorruption().run(Case.of(run)).exposures()
    np.testing.assert_allclose(found.belief["relationship"], plain(Case.of(run)))


def test_very_many_are_corrupted_by_their_words_to_about_the_same_shares(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    exactly = OrdinaryCorruption().run(Case.of(run)).to_dict()["sweep"]
    monkeypatch.setattr(true_values, "EVERYBODY", 10)
    monkeypatch.setattr(true_values, "_WORDS", 1000)  # in several parts
    by_words = OrdinaryCorruption().run(Case.of(run)).to_dict()["sweep"]
    for one, other in zip(exactly, by_words, strict=True):
        means = one["attribute"]["relationship"]["mean"], other["attribute"]["relationship"]["mean"]
        assert means[0] == pytest.approx(means[1], abs=0.03)
    assert by_words[0] == exactly[0]
    assert by_words[-1]["attribute"]["relationship"]["mean"] == 1.0
