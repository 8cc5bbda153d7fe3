"""Partial knowledge against the exhaustive attack, and corruption of ordinary releases against counting by hand."""

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.corruption.true_values import OrdinaryCorruption
from undercover.attacks.partial.attack import PartialKnowledge, attacked
from undercover.attacks.partial.profile import profile
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError
from undercover.forms import read
from undercover.forms.case import Case, as_release

COLUMNS = ["age", "sex", "education", "marital_status"]
METHODS = (
    uc.Mondrian(k=5),
    uc.Anatomy(l=3),
    uc.Incognito(k=5),
    uc.CrossBucket(k=5, l=3),
    uc.MutualCover(variant="paper", delta="1/5", l=5),
)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_equal_to_going_through_every_subset(method):
    run = uc.publish(uc.datasets.census(400, seed=3), uc.datasets.census_schema(COLUMNS), method, seed=1)
    own = read(run.release).own_rows(run)
    result = PartialKnowledge().run(Case(run.original, run.release, run, engine=LocalEngine(threads=2)))
    found = {"sweep": result.sweep, "sweep_before": result.sweep_before}
    known = run.schema.quasi_identifiers
    sides = {
        "sweep": profile(read(run.release), run.original, known, own=own),
        "sweep_before": profile(read(as_release(run.original)), run.original, known),
    }
    for name, exhaustive in sides.items():
        for entry in found[name]:
            truth = exhaustive.means(entry["p"])
            for part, other in (
                (entry["identity"], truth["identity"]),
                (entry["attribute"]["income"], truth["attribute"]["income"]),
            ):
                assert part["mean"] == pytest.approx(other["mean"], abs=1e-12)
                assert part["max"] == pytest.approx(other["max"], abs=1e-12)


def test_by_hand():
    people = pa.table({"age": [1, 1, 2], "ill": ["a", "b", "a"]})
    run = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), uc.Mondrian(k=3))
    found = PartialKnowledge().run(Case(run.original, run.release)).to_dict()
    (half,) = (entry for entry in found["sweep_before"] if entry["p"] == 0.5)
    # Not knowing the age: one of 3 rows. Knowing it: one of 2, 2 and 1.
    assert half["identity"]["mean"] == pytest.approx((1 / 3 + (0.5 + 0.5 + 1) / 3) / 2)
    assert half["attribute"]["ill"]["max"] == pytest.approx((2 / 3 + 1) / 2)
    (half,) = (entry for entry in found["sweep"] if entry["p"] == 0.5)
    assert half["identity"] == {"mean": pytest.approx(1 / 3), "max": pytest.approx(1 / 3)}


def test_a_part_of_the_people_comes_with_an_interval_that_holds():
    run = uc.publish(uc.datasets.census(3000, seed=1), uc.datasets.census_schema(COLUMNS), uc.Mondrian(k=5), seed=1)
    some = PartialKnowledge(pairs=1).run(Case(run.original, run.release)).to_dict()
    everybody = PartialKnowledge().run(Case(run.original, run.release)).to_dict()
    assert some["targets"] == 500
    assert not some["everybody"]
    inside = [
        part["identity"]["low"] <= whole["identity"]["mean"] <= part["identity"]["high"]
        for part, whole in zip(some["sweep_before"], everybody["sweep_before"], strict=True)
    ]
    assert all(inside)
    last = some["sweep_before"][-1]["identity"]
    assert last["high"] - last["low"] < 0.1
    assert not last["low"] <= last["mean"] + 0.1 <= last["high"]  # another mean is outside


def test_who_is_attacked_does_not_change():
    assert attacked(10_000, 1).tolist() == attacked(10_000, 1).tolist()
    assert len(set(attacked(10_000, 1).tolist())) == 500


def test_what_does_not_apply_is_refused():
    schema = uc.datasets.census_schema(["age", "sex"])
    run = uc.publish(uc.datasets.census(300), schema, uc.PerturbedGeneralization(k=6, p=0.3))
    with pytest.raises(ParameterError, match="one person"):
        PartialKnowledge().run(Case(run.original, run.release))
    with pytest.raises(ParameterError, match="use Corruption"):
        OrdinaryCorruption().run(Case.of(run))


def test_corruption_of_a_class_by_hand():
    people = pa.table({"age": [1, 1, 1, 1], "ill": ["a", "a", "b", "c"]})
    run = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), uc.Mondrian(k=4))
    none, everybody = OrdinaryCorruption(shares=(0, 1)).run(Case.of(run)).sweep
    assert none["attribute"]["ill"] == {"mean": (0.5 + 0.5 + 0.25 + 0.25) / 4, "max": 0.5, "certain_rows": 0}
    assert everybody["attribute"]["ill"] == {"mean": 1.0, "max": 1.0, "certain_rows": 4}


def test_corruption_counts_one_by_one_and_suppressed_people_are_no_victims():
    schema = uc.datasets.census_schema(["age", "sex"])
    run = uc.publish(uc.datasets.census(500, seed=2), schema, uc.Incognito(k=20, suppression=0.2), seed=1)
    found = OrdinaryCorruption(shares=(0.5,)).run(Case.of(run)).to_dict()
    n = len(run.rows)
    assert found["targets"] == n
    order = uc.randomness.Randomness(0).words("corrupted", n).argsort(kind="stable")
    corrupted = set(order[: round(0.5 * n)].tolist())
    values = run.original["income"].codes[np.searchsorted(run.original.rows, run.rows)]
    sure = []
    for victim in range(n):
        left = [
            values[other]
            for other in np.flatnonzero(run.groups.labels == run.groups.labels[victim])
            if other == victim or other not in corrupted
        ]
        sure.append(left.count(values[victim]) / len(left))
    assert found["sweep"][0]["attribute"]["income"]["mean"] == pytest.approx(np.mean(sure))
    assert found["sweep"][0]["attribute"]["income"]["max"] == pytest.approx(max(sure))
