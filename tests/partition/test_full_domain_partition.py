"""Full-domain cells for methods that draw values: disjoint, at least k rows, Incognito's node, no label seen."""

import numpy as np
import pyarrow as pa
import pytest
from random_tables import random_table

import undercover as uc
from undercover.errors import ParameterError, UnreachableError
from undercover.forms import classes_of
from undercover.forms.classes import classes_of_table
from undercover.guarantees.disjoint import DisjointCells
from undercover.methods.incognito.method import Incognito
from undercover.methods.perturbed_generalization.cells import full_domain_partition
from undercover.model.release import Release
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.recoding import generalized_table, region_cells


@pytest.mark.parametrize("seed", range(8))
def test_cells_are_those_of_incognito_and_do_not_overlap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, n=40, d=3, values=5, missing=seed % 2 == 0)
    parts = full_domain_partition(table, k=3)
    assert parts.groups.sizes.min() >= 3
    cells = region_cells(table, parts)
    made = Incognito(k=3)
    domain, condition = made._prepared(table)
    _, chosen = made._search(domain, condition, lambda stage, share: None)
    expected, first = domain.classes(chosen.levels)
    assert len(first) == parts.groups.count
    assert expected[first].tolist() == list(range(len(first)))
    assert len({*zip(expected.tolist(), parts.groups.labels.tolist(), strict=True)}) == len(first)
    published = generalized_table(table, parts.groups, cells, Randomness(1))
    trees = {
        name: table[name].settings.hierarchy.rows  # type: ignore[union-attr]
        for name in table.schema.quasi_identifiers
        if table[name].settings.hierarchy is not None
    }
    orders = {
        name: table[name].settings.domain
        for name in table.schema.quasi_identifiers
        if table[name].domain.kind == "ordinal"
    }
    classes = classes_of(Release("x", {}, (published,), True))
    assert classes.count == len(first)
    single = published.data.take(pa.array(classes.representatives))  # one row per cell, as they are drawn
    one_each = classes_of_table(single, table.schema.quasi_identifiers, suppressed_is_star=False)
    assert DisjointCells(trees=trees, orders=orders).check(one_each).holds


def test_sensitive_values_are_not_looked_at() -> None:
    rng = np.random.default_rng(3)
    table = random_table(rng, n=40, d=3, values=5)
    labels = full_domain_partition(table, k=2).groups.labels
    data = {name: table[name].domain.take(table[name].codes) for name in table.schema.quasi_identifiers}
    other = Table.from_arrow(pa.table({**data, "s": ["v0"] * 40, "t": [0] * 40}), table.schema)
    assert full_domain_partition(other, k=2).groups.labels.tolist() == labels.tolist()


def test_perturbed_generalization_by_full_domain_cells() -> None:
    people = uc.datasets.census(4000, seed=1)
    schema = uc.datasets.census_schema(["age", "sex", "education"])
    run = uc.publish(people, schema, uc.PerturbedGeneralization(k=10, p=0.3, recoding="incognito"))
    assert uc.verify(run.release).holds
    assert run.release.algorithm_safe
    published = run.release.table()
    assert min(published.column("G").to_pylist()) >= 10
    with pytest.raises(ParameterError, match="boxes"):
        uc.PerturbedGeneralization(k=10, p=0.3, recoding="incognito", cells="boxes")


def test_k_beyond_the_table() -> None:
    table = Table.from_arrow(pa.table({"x": [1, 2]}), uc.Schema(quasi_identifiers=["x"]))
    with pytest.raises(UnreachableError, match="k=3"):
        full_domain_partition(table, k=3)
