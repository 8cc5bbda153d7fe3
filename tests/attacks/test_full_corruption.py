import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.corruption.true_values import full_corruption
from undercover.errors import ParameterError
from undercover.forms import read
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.table import Table

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
METHODS = (
    uc.Mondrian(k=20, l=3),
    uc.Anatomy(l=4),
    uc.Streamliner(l=4),
    uc.MutualCover(variant="paper", delta="1/4", l=4),
)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_true_values_give_away_the_last_one_however_they_are_grouped(method):
    run = uc.publish(uc.datasets.census(600, seed=1), SCHEMA, method, seed=1)
    assert (full_corruption(run.original, read(run.release))["income"] == 1.0).all()


def of_values(values, shown):
    original = Table.from_arrow(
        pa.table({"age": list(range(len(values))), "ill": values}),
        uc.Schema(quasi_identifiers=["age"], sensitive="ill"),
    )
    columns = PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("ill", "sensitive", "value")
    data = pa.table({"age": ["*"] * len(shown), "ill": shown})
    return original, Release("mondrian", {}, (PublishedTable("table", columns, data),), True)


def test_a_value_that_was_changed_is_not_given_away():
    """Published: one flu too many, one gout too few; the victim with gout seems to have flu."""
    original, release = of_values(["flu", "cold", "gout"], ["flu", "cold", "flu"])
    found = full_corruption(original, read(release))["ill"]
    assert found.tolist() == [0.5 * 2, 0.5, 0.0] or found.tolist() == [1.0, 0.5, 0.0]


def test_of_a_suppressed_person_only_the_frequency_is_known():
    original, release = of_values(["flu", "cold", "flu", "gout"], ["flu", "cold", "flu"])
    published = np.array([True, True, True, False])
    assert full_corruption(original, read(release), published=published)["ill"].tolist() == [1.0, 1.0, 1.0, 0.25]


def test_perturbed_values_are_the_case_of_another_attack():
    run = uc.publish(
        uc.datasets.census(600, seed=1),
        uc.datasets.census_schema(["age", "sex"]),
        uc.PerturbedGeneralization(k=6, p=0.3),
        seed=1,
    )
    with pytest.raises(ParameterError, match="Corruption"):
        full_corruption(run.original, read(run.release))
