"""Mutual cover by permuting: layers, blocks and groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError, UnreachableError
from undercover.model.table import Table
from undercover.parameters import make, to_mapping
from undercover.randomness import Randomness

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", insensitive=["shoes"], identifiers=["name"])
VARIANTS: list[dict[str, Any]] = [
    {"delta": "1/5", "l": 4},
    {"delta": "1/3", "l": 4, "robust": True},
    {"delta": "2/7", "variant": "blocks"},
    {"l": 4, "variant": "groups"},
    {"l": 4, "variant": "groups", "robust": True},
]
SAFE = pytest.mark.parametrize("parameters", VARIANTS, ids=str)


def people(n: int, seed: int = 1) -> pa.Table:
    drawn = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": drawn.integers(20, 80, n),
            "sex": [("f", "m")[code] for code in drawn.integers(0, 2, n)],
            "ill": [f"v{code}" for code in drawn.integers(0, 9, n)],
            "shoes": drawn.integers(36, 46, n),
        }
    )


@SAFE
def test_columns_are_permuted_inside_their_groups_and_nothing_else_happens(parameters: dict[str, Any]) -> None:
    data = people(307)
    run = uc.publish(data, SCHEMA, uc.MutualCover(**parameters), seed=1)
    published = run.release.tables[0].data.to_pandas()
    before = data.to_pandas()
    for name in ("age", "sex", "ill", "shoes"):
        assert sorted(published[name]) == sorted(before[name])
    rows = run.frames["published_rows"].to_pandas().sort_values("row")
    values = before["ill"].to_numpy()
    assert (published["ill"].to_numpy()[rows["published"]] == values).all()  # everybody's value is where it is said
    blocks = run.groups.labels
    if "blocks" in run.frames:
        blocks = run.frames["blocks"].to_pandas().sort_values("row")["block"].to_numpy()
    for name in ("age", "sex", "shoes"):
        shown = published[name].to_numpy()[rows["cells"]]
        for block in range(int(blocks.max()) + 1):
            assert sorted(shown[blocks == block]) == sorted(before[name][blocks == block])
    method = uc.MutualCover(**parameters)
    least = -(-1 // method.share)
    assert np.bincount(blocks).min() >= least
    for group in range(run.groups.count if method.l else 0):
        inside = run.groups.labels == group
        assert inside.sum() >= 4
        assert len(set(values[inside])) == inside.sum()
        assert sorted(rows["published"][inside]) == sorted(rows["cells"][inside])
    assert all(finding.holds for finding in uc.verify(run).findings)
    assert all(
        finding.holds
        for finding in uc.verify(run.release, original=data, schema=SCHEMA).findings
        if finding.needs != "private"
    )


@SAFE
def test_labels(parameters: dict[str, Any]) -> None:
    method = uc.MutualCover(**parameters)
    assert method.algorithm_safe
    assert method.corruption_robust is (method.robust or method.variant == "blocks")
    run = uc.publish(people(60), SCHEMA, method, seed=1)
    assert run.release.algorithm_safe
    assert run.release.form.values == ("own" if method.variant == "blocks" else "permuted")  # type: ignore[attr-defined]
    assert "output_tables" not in run.frames
    assert make("methods", "mutual-cover", to_mapping(method)) == method


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"delta": "1/5"}, "`layers` of MutualCover needs l"),
        ({"l": 4}, "`layers` of MutualCover needs delta"),
        ({"l": 4, "variant": "blocks"}, "`blocks` of MutualCover needs delta"),
        ({"delta": "1/5", "l": 4, "variant": "blocks"}, "promises nothing by l"),
        ({"delta": "1/5", "l": 4, "variant": "groups"}, "takes no delta: it is 1/l"),
        ({"delta": "1/5", "variant": "blocks", "robust": True}, "no choice of robust groups"),
        ({"delta": "1/5", "l": 5, "variant": "paper", "robust": True}, "no choice of robust groups"),
        ({"delta": "1/5", "l": 4, "keep_order": True}, "takes no keep_order; `paper` does"),
        ({"delta": "1/5", "l": 4, "k": 4, "unchanged": "off"}, "takes no unchanged; `paper` does"),
        ({"delta": "1/5", "l": 4, "variant": "paper"}, "needs groups of 5 rows"),
    ],
)
def test_what_does_not_go_together_is_refused(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        uc.MutualCover(**parameters)


@SAFE
def test_several_rows_of_one_person_are_refused(parameters: dict[str, Any]) -> None:
    data = people(80)
    twice = pa.concat_tables([data, data.slice(0, 3)])
    with pytest.raises(ParameterError, match=r"6 rows share their `name` with another\. Keep one row of each person"):
        uc.publish(twice, SCHEMA, uc.MutualCover(**parameters))


def test_an_identifier_that_does_not_repeat_is_enough() -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", identifiers=["name", "sex"])
    assert uc.publish(people(60), schema, uc.MutualCover(delta="1/2", l=2), seed=1).release.tables[0].rows == 60


def test_unreachable() -> None:
    with pytest.raises(UnreachableError, match="l=40 cannot be reached"):
        uc.publish(people(80), SCHEMA, uc.MutualCover(delta="1/5", l=40))
    with pytest.raises(UnreachableError):
        uc.publish(people(80), SCHEMA, uc.MutualCover(delta="1/100", variant="blocks"))


def test_blocks_carry_several_sensitive_columns_together() -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive=["ill", "shoes"])
    data = people(50)
    published = uc.publish(data, schema, uc.MutualCover(delta="1/5", variant="blocks"), seed=1).release.tables[0].data
    pairs = [
        sorted(zip(table["ill"].to_pylist(), table["shoes"].to_pylist(), strict=True)) for table in (data, published)
    ]
    assert pairs[0] == pairs[1]
    with pytest.raises(ParameterError, match="exactly one sensitive column"):
        uc.publish(data, schema, uc.MutualCover(delta="1/5", l=2))


def tiny(columns: dict[str, list[Any]], values: str) -> Table:
    schema = uc.Schema(quasi_identifiers=list(columns), sensitive="ill")
    return Table.from_arrow(pa.table({**columns, "ill": list(values)}), schema)


@pytest.mark.parametrize(
    "parameters",
    [
        {"delta": "1/2", "l": 2},
        {"delta": "1/2", "l": 2, "robust": True},
        {"delta": "1/2", "variant": "blocks"},
        {"l": 2, "variant": "groups"},
    ],
    ids=str,
)
def test_the_published_table_tells_no_more_than_the_law(parameters: dict[str, Any]) -> None:
    """Where the paper's variant lets somebody who knows the method be certain (x = 0..3, aabc, delta = 1/2, l = 2)."""
    method = uc.MutualCover(**parameters)
    attack = uc.AlgorithmAware(trials=40)  # tests/conformance/test_plugins.py has more runs of the same table
    found = attack.on(tiny({"x": [0, 1, 2, 3]}, "aabc"), method, randomness=Randomness(3))
    assert found.exact
    assert found.differs is None
    assert not found.leaks
    assert found.largest_gain.gain == 0


def test_known_values_of_others() -> None:
    table = tiny({"x": [0, 1, 2, 3]}, "aabb")
    attack = uc.AlgorithmAware(trials=40, known=1)
    dealt = attack.on(table, uc.MutualCover(delta="1/2", l=2), randomness=Randomness(3))
    assert dealt.largest_gain.posterior == 1
    robust = attack.on(table, uc.MutualCover(delta="1/2", l=2, robust=True), randomness=Randomness(3))
    assert robust.largest_gain.gain == 0


def test_exact_posterior_of_the_published_rows() -> None:
    """Layers, gone through by hand: every table of four people, every block, group and shuffle, from its rows alone."""
    from collections import defaultdict
    from itertools import permutations, product

    from undercover.multisets import distinct_orders
    from undercover.steps.blocks import block_outcomes
    from undercover.steps.dealing.classes import class_outcomes

    ages = [0, 1, 2, 3]
    weight: dict[Any, dict[tuple[int, str], Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    total: dict[Any, Fraction] = defaultdict(Fraction)

    def shuffles(labels: Any) -> list[tuple[int, ...]]:
        groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
        found = []
        for chosen in product(*(permutations(group) for group in groups)):
            source = [0] * len(labels)
            for group, moved in zip(groups, chosen, strict=True):
                for row, other in zip(group, moved, strict=True):
                    source[row] = other
            found.append(tuple(source))
        return found

    for values in distinct_orders(sorted("aabc")):
        table = tiny({"x": ages}, "".join(values))
        for (p, blocks), (q, groups) in product(block_outcomes(table, 2), list(class_outcomes(table, "ill", 2))):
            for x, y in product(shuffles(blocks), shuffles(groups)):
                seen = tuple(sorted((ages[x[row]], values[y[row]]) for row in range(4)))
                share = p * q / len(shuffles(blocks)) / len(shuffles(groups))
                total[seen] += share
                for row, value in enumerate(values):
                    weight[seen][row, value] += share
    assert max(share / total[seen] for seen, found in weight.items() for share in found.values()) == Fraction(1, 2)
