"""Corruption of people of some cells, drawn at random, against that of everybody."""

from __future__ import annotations

import numpy as np
import pytest

import undercover as uc
from undercover.attacks.corruption import channel
from undercover.attacks.corruption.channel import Corruption
from undercover.forms.case import Case
from undercover.model.run import Run

ROWS, SAMPLE = 4000, 800


@pytest.fixture(scope="module")
def run() -> Run:
    people, schema = uc.datasets.census(ROWS, seed=2), uc.datasets.census_schema(["age", "sex"])
    return uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.3), seed=1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "EVERYBODY", ROWS // 2)
    monkeypatch.setattr(channel, "SAMPLE", SAMPLE)


@pytest.mark.usefixtures("few")
def test_people_of_some_cells_stand_for_everybody(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    some = Corruption(shares=(0, 1)).run(Case.of(run))
    monkeypatch.setattr(channel, "EVERYBODY", ROWS)
    whole = Corruption(shares=(0, 1)).run(Case.of(run))
    assert whole.one_known.of is None
    assert some.one_known.of == ROWS
    assert some.to_dict()["of"] == ROWS
    assert 0.7 * SAMPLE < some.people < 1.3 * SAMPLE
    believed, truth = some.one_known.belief["income"], whole.one_known.belief["income"]
    np.testing.assert_allclose(believed, truth[some.one_known.rows])  # whoever else is in the cell is there, too
    assert truth.max() <= some.one_known.belief_at_most["income"] + 1e-12
    for one, other in zip(some.sweep, whole.sweep, strict=True):
        assert one["growth"]["max"] <= one["bound"] * (1 + 1e-9)
        assert one["confidence"]["mean"] == pytest.approx(other["confidence"]["mean"], abs=0.05)
    assert "of 4,000, all those of cells drawn at random" in some._repr_html_()
