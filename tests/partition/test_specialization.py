"""Top-down specialisation against its plain twin, and what must hold of every result."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_specialization import plain_specialized
from random_tables import random_table

import undercover as uc
from undercover.errors import UnreachableError
from undercover.methods.perturbed_generalization.cells import specialized
from undercover.model.table import Table


@given(
    seed=st.integers(0, 2**32), n=st.integers(2, 60), d=st.integers(1, 4), k=st.integers(1, 8), missing=st.booleans()
)
def test_against_the_plain_twin(seed: int, n: int, d: int, k: int, missing: bool) -> None:
    table = random_table(np.random.default_rng(seed), n=n, d=d, values=6, missing=missing)
    if k > n:
        with pytest.raises(UnreachableError):
            specialized(table, k=k)
        return
    found = specialized(table, k=k)
    regions = [tuple(map(tuple, found.bounds[label].tolist())) for label in found.groups.labels]
    assert regions == plain_specialized(table, k)
    assert found.groups.sizes.min() >= k
    assert len({*map(str, found.bounds.tolist())}) == found.groups.count  # a cell is a region, and conversely


def test_by_hand() -> None:
    """Sex saves its whole range and goes first; halving the ages would then leave a single man among the older."""
    data = pa.table({"age": [1, 1, 2, 2, 3, 3, 4, 4], "sex": list("MFMFFFFM"), "s": list("abababab")})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers=["age", "sex"], sensitive="s"))
    assert sorted(specialized(table, k=2).groups.sizes.tolist()) == [3, 5]
    # With twice the weight the ages go first: they save 2 · 2/3, and then sex cannot be told.
    weighted = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="s", columns={"age": uc.Column(weight=2)})
    found = specialized(Table.from_arrow(data, weighted), k=2)
    assert found.groups.sizes.tolist() == [2, 2, 2, 2]
    assert sorted(bounds[0] for bounds in found.bounds.tolist()) == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_weights_decide_what_is_cut_first() -> None:
    data = pa.table({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "s": list("abcd")})
    for heavy, light in (("x", "y"), ("y", "x")):
        schema = uc.Schema(quasi_identifiers=["x", "y"], sensitive="s", columns={heavy: uc.Column(weight=2)})
        found = specialized(Table.from_arrow(data, schema), k=2)
        column = schema.quasi_identifiers.index(heavy)
        other = schema.quasi_identifiers.index(light)
        assert (found.bounds[:, column, 0] == found.bounds[:, column, 1]).all()
        assert (found.bounds[:, other] == [0, 1]).all()


def test_labels_drive_only_when_they_are_given() -> None:
    data = pa.table({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "s": list("abab")})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers=["x", "y"], sensitive="s"))
    free = specialized(table, k=2)
    driven = specialized(table, k=2, labels=table["s"].codes)
    assert (free.bounds[:, 0, 0] == free.bounds[:, 0, 1]).all()  # the first column, all else being equal
    assert (driven.bounds[:, 1, 0] == driven.bounds[:, 1, 1]).all()  # the one that tells the labels apart
