"""COUNT and SUM errors of perturbed generalization: corrected as a recipient corrects them."""

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.forms.answers.channel import PerturbedCounts
from undercover.forms.meaning import leaf_values
from undercover.randomness import Randomness
from undercover.utility.queries.counts import QueryError
from undercover.utility.queries.sums import SumError
from undercover.utility.queries.workload import draw_workload


@pytest.fixture
def run():
    people, schema = uc.datasets.census(2000, seed=3), uc.datasets.census_schema(["age", "sex", "education"])
    return uc.publish(people, schema, uc.PerturbedGeneralization(k=5, p=0.5), seed=3)


def test_counts_are_those_of_the_recipient(run):
    (found,) = (
        QueryError(quasi_identifiers=[["age", "sex"]], queries=25, seed=4)
        .of_release(run.original, run.release)
        .values()
    )
    asked = draw_workload(run.original, ["age", "sex"], "income", 25, Randomness(seed=4))
    counts = PerturbedCounts(run.release, run.original)
    ages, sexes = (leaf_values(run.original[name]).labels for name in ("age", "sex"))
    for i in range(25):
        where = {
            "age": uc.Between(ages[asked.lows[i, 0]], ages[asked.highs[i, 0]]),
            "sex": sexes[asked.lows[i, 1]],
            "income": run.original["income"].domain.labels[asked.values[i]],
        }
        assert found.estimated[i] == pytest.approx(counts.count(where).value, abs=1e-9)


def test_the_evaluators_agree(run):
    sets = [["age"], ["age", "sex"]]
    cube, direct = (
        QueryError(quasi_identifiers=sets, queries=50, evaluator=way).of_release(run.original, run.release)
        for way in ("cube", "direct")
    )
    for names in cube:
        np.testing.assert_allclose(cube[names].estimated, direct[names].estimated, atol=1e-9)


def test_what_is_kept_whole_is_counted_exactly():
    """Everybody has an age of his own, so that k = 1 and p = 1 publish everybody as he is."""
    people = pa.table({"age": list(range(200)), "ill": ["flu", "cold", "gout", "rash"] * 50})
    columns = {"ill": uc.Column(domain=("flu", "cold", "gout", "rash", "angina"))}
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", columns=columns)
    whole, half = (uc.publish(people, schema, uc.PerturbedGeneralization(k=1, p=p), seed=3) for p in (1, 0.5))
    assert QueryError(queries=100).of_release(whole.original, whole.release)["age",].mean == pytest.approx(0, abs=1e-9)
    assert QueryError(queries=100).of_release(half.original, half.release)["age",].mean > 0.05


def test_sums_are_those_of_the_recipient(run):
    measure = SumError(queries=15, seed=2)
    found = measure.of_release(run.original, run.release)
    asked, exact = measure.workload(run.original)
    counts = PerturbedCounts(run.release, run.original)
    assert not found.bounded
    assert found.estimated.tolist() == [counts.sum(where).value for where in asked]
    assert found.exact.tolist() == exact.tolist()
