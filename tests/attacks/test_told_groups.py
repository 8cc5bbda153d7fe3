"""Told the groups: the worst case of releases whose columns were permuted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError
from undercover.forms.case import Case

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")


def people(n: int, values: int, seed: int = 1) -> pa.Table:
    drawn = np.random.default_rng(seed)
    return pa.table(
        {
            "age": drawn.integers(20, 80, n),
            "sex": [("f", "m")[code] for code in drawn.integers(0, 2, n)],
            "ill": [f"v{code}" for code in np.minimum(drawn.geometric(0.25, n), values)],
        }
    )


@pytest.mark.parametrize(
    "parameters",
    [{"delta": "1/5", "l": 3}, {"delta": "1/5", "l": 3, "robust": True}, {"l": 3, "variant": "groups"}],
    ids=str,
)
def test_a_value_is_one_of_l(parameters: dict[str, Any]) -> None:
    run = uc.publish(people(200, 9), SCHEMA, uc.MutualCover(**parameters), seed=1)
    found = uc.attack(run, uc.ToldGroups())
    sizes = np.bincount(run.groups.labels)[run.groups.labels]
    assert np.array_equal(found.attribute["ill"], 1 / sizes)
    assert np.array_equal(found.identity, 1 / sizes)
    assert found.to_dict()["attribute"]["ill"]["max"] <= 1 / 3
    assert found.to_dict()["attribute"]["ill"]["certain_rows"] == 0


def test_blocks_promise_nothing_of_values_and_it_is_seen() -> None:
    data = people(300, 2)
    run = uc.publish(data, SCHEMA, uc.MutualCover(delta="1/5", variant="blocks"), seed=1)
    found = uc.attack(run, uc.ToldGroups())
    values, blocks = np.array(data["ill"].to_pylist()), run.groups.labels
    plain = [np.mean(values[blocks == blocks[row]] == values[row]) for row in range(300)]
    assert np.allclose(found.attribute["ill"], plain)
    assert found.identity.max() <= 1 / 5
    certain = found.to_dict()["attribute"]["ill"]["certain_rows"]
    assert certain == int(np.sum(np.array(plain) == 1)) > 0
    assert uc.verify(run).holds  # the promise is kept, and these people are exposed: the report has both


def test_it_is_the_worst_case_of_the_others() -> None:
    run = uc.publish(people(300, 9), SCHEMA, uc.MutualCover(delta="1/5", l=3), seed=1)
    told = uc.attack(run, uc.ToldGroups())
    linked = uc.attack(run)
    assert linked.after.identity.max() <= told.identity.max() + 1e-12
    assert linked.after.attribute["ill"].max() <= told.attribute["ill"].max() + 1e-12


def test_where_it_does_not_apply() -> None:
    with pytest.raises(ParameterError, match="No columns of this release were permuted"):
        uc.attack(uc.publish(people(60, 9), SCHEMA, uc.Mondrian(k=3)), uc.ToldGroups())
    run = uc.publish(people(60, 9), SCHEMA, uc.MutualCover(delta="1/3", variant="blocks"))
    assert run.original is not None
    said = uc.ToldGroups().applies(Case(run.original, run.release))
    assert said is not None
    assert "stays in the private run" in said
