"""Told the groups of a sample of the people, and of those of whom most is known: against everybody."""

from __future__ import annotations

import re

import numpy as np
import pytest

import undercover as uc
from undercover.attacks import sampled, told_groups
from undercover.attacks.told_groups import ToldGroups
from undercover.forms.case import Case

ROWS, SAMPLE = 2000, 400


def test_a_sample_stands_for_everybody_and_nobody_is_beyond_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = uc.datasets.census_schema(["age", "sex"], "relationship", hierarchies=False)
    run = uc.publish(uc.datasets.census(ROWS, seed=3), schema, uc.MutualCover(delta="1/3", l=2), seed=1)
    whole = ToldGroups().run(Case.of(run))
    monkeypatch.setattr(sampled, "EVERYBODY", ROWS // 2)
    monkeypatch.setattr(sampled, "SAMPLE", SAMPLE)
    monkeypatch.setattr(told_groups, "WORST_OFF", 5)
    some = ToldGroups().run(Case.of(run))
    assert some.of == ROWS
    assert len(some.rows) == SAMPLE
    np.testing.assert_allclose(some.identity, whole.identity[some.rows])
    np.testing.assert_allclose(some.attribute["relationship"], whole.attribute["relationship"][some.rows])
    told, truth = some.to_dict(), whole.to_dict()
    both = [(each["identity"], each["attribute"]["relationship"]) for each in (told, truth)]
    for found, true in zip(*both, strict=True):
        assert found["max"] == true["max"]
        assert found["interval"][0] <= true["mean"] <= found["interval"][1]
    everybody = whole.exposures()
    for drawn, all_of_them in zip(some.exposures()[:2], everybody, strict=True):
        assert drawn.of == ROWS
        assert drawn.belief_at_most["relationship"] == pytest.approx(all_of_them.belief["relationship"].max())
    assert "400 of 2,000, drawn at random" in re.sub("<[^>]*>", "", some._repr_html_())
