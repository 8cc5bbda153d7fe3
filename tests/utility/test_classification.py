import builtins

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.analysis.learning.classifier import fit_release
from undercover.errors import MissingExtraError, ParameterError
from undercover.forms import read
from undercover.forms.estimates import estimates_of_rows
from undercover.model.table import Table
from undercover.utility.classification import Classification, _random_positions, _spread

DOMAIN = tuple(str(value) for value in range(10))


def planted(rows=3000, seed=1, kind="numeric"):
    """The sensitive value follows from age and town but for a tenth of the people."""
    draw = np.random.default_rng(seed)
    age, town = draw.integers(2000, 6000, rows), draw.integers(0, 6, rows)  # in hundredths of a year
    high = (age >= 4000) ^ (town >= 4) ^ (draw.random(rows) < 0.1)
    value = np.where(high, 5 + draw.integers(0, 5, rows), draw.integers(0, 5, rows))
    values = value if kind == "numeric" else np.where(high, "yes", "no")
    data = pa.table({"age": age, "town": [f"town {t}" for t in town], "value": values})
    columns = {"value": uc.Column(domain=DOMAIN)} if kind == "numeric" else {}
    return data, uc.Schema(quasi_identifiers=["age", "town"], sensitive="value", columns=columns)


@pytest.mark.parametrize(
    ("method", "most"),
    [
        (uc.Mondrian(k=5), 0.16),
        (uc.Anatomy(l=2), 0.16),
        (uc.MutualCover(variant="paper", delta="1/2", l=2), 0.2),
        (uc.PerturbedGeneralization(k=2, p=0.9), 0.16),
        (uc.CrossBucket(k=2, l=2), 0.3),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_is_planted_is_learnt_from_every_form(method, most):
    data, schema = planted()
    run = uc.publish(data, schema, method, seed=1)
    found = Classification().of_release(run.original, run.release)
    assert found.original == pytest.approx(0.1, abs=0.03)
    assert found.majority == pytest.approx(0.5, abs=0.05)
    assert found.error < most


def test_labels_that_tell_nothing_are_not_learnt():
    data, schema = planted()
    mixed = np.random.default_rng(2).permutation(data["value"].to_numpy())
    run = uc.publish(data.set_column(2, "value", pa.array(mixed)), schema, uc.Mondrian(k=5), seed=1)
    assert Classification().of_release(run.original, run.release).error > 0.4
    truth = Table.from_arrow(data, schema)
    assert Classification().error(truth, read(run.release).estimates(run.original)) > 0.4


def test_perturbed_values_are_corrected():
    """Few values are kept and 9 of 10 drawn ones are high: whoever does not correct them says high of everybody."""
    draw = np.random.default_rng(1)
    age = draw.integers(2000, 6000, 6000)
    ill = np.where(age >= 4000, draw.choice(["b", "c", "d", "e", "f", "g", "h", "i", "j"], 6000), "a")
    columns = {"ill": uc.Column(domain=tuple("abcdefghij"))}
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", columns=columns)
    run = uc.publish(pa.table({"age": age, "ill": ill}), schema, uc.PerturbedGeneralization(k=2, p=0.4), seed=1)
    shown = read(run.release).estimates(run.original)
    shares = shown.sensitive["ill"].by_class(np.arange(10), 10).sum(axis=0) / shown.people.sum()
    assert shares[0] == pytest.approx(0.5, abs=0.05)
    task = Classification().task(run.original)
    assert task.n_classes == 10
    assert Classification().error(run.original, shown) < 0.62  # 0.5 · 8/9 at best


def test_it_agrees_with_the_classifier_for_perturbed_releases():
    people = uc.datasets.census(10_000, seed=1)
    schema = uc.datasets.census_schema(["age", "education", "hours"])
    run = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.5), seed=1)
    task = Classification().task(run.original)
    values = [int(label) for label in run.original["income"].domain.labels]
    middle = max(
        v for v, c in zip(values, np.bincount(run.original["income"].codes[task.true == 0]), strict=False) if c
    )
    model = fit_release(run.release, {"low": uc.Between(0, middle), "high": uc.Between(middle + 1, 49)})
    theirs = (model.predict(model.features_.rows(run.original)) != model.features_.classes_of(run.original)).mean()
    assert Classification().of_release(run.original, run.release).error == pytest.approx(theirs, abs=0.03)


def test_categories_are_classes():
    data, schema = planted(kind="text")
    run = uc.publish(data, schema, uc.Mondrian(k=5), seed=1)
    found = Classification().of_release(run.original, run.release)
    assert (found.classes, found.sensitive) == (2, "value")
    assert found.error < 0.16


def test_a_single_class_is_never_wrong():
    data = pa.table({"age": list(range(50)), "ill": ["flu"] * 50})
    run = uc.publish(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), uc.Mondrian(k=5), seed=1)
    assert Classification().of_release(run.original, run.release).to_dict()["error"] == 0.0


def test_points_are_uniform_over_what_cells_cover(uniform):
    from undercover.forms.coverage import Coverage

    cells = Coverage.of_members(np.array([0, 0, 0, 1]), np.array([2, 3, 7, 5]), 2, 9)
    words = np.random.default_rng(1).integers(0, 1 << 32, 3000, dtype=np.uint32)
    found = _random_positions(cells, np.zeros(3000, dtype=np.int64), words)
    assert uniform(np.bincount(found, minlength=9)[[2, 3, 7]].tolist())
    assert set(found.tolist()) == {2, 3, 7}
    assert set(_random_positions(cells, np.ones(10, dtype=np.int64), words[:10]).tolist()) == {5}
    assert _spread(cells, np.array([0, 1]), np.array([3.0, 2.0])).tolist() == [0, 0, 1, 1, 0, 2, 0, 1, 0]


def test_the_original_shows_everybody():
    data, schema = planted(rows=200)
    shown = estimates_of_rows(Table.from_arrow(data, schema))
    assert shown.people.tolist() == [1.0] * 200
    assert shown.sensitive["value"].weights.sum() == 200


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    data, schema = planted(rows=200)
    run = uc.publish(data, schema, uc.Mondrian(k=5), seed=1)
    real = builtins.__import__

    def absent(name, *rest, **named):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtraError, match=r"undercover\[analysis\]"):
        Classification().of_release(run.original, run.release)


def test_several_sensitive_columns_must_be_named():
    data = pa.table({"age": [1, 2, 3, 4], "a": ["x", "y"] * 2, "b": ["u", "u", "v", "v"]})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers=["age"], sensitive=["a", "b"]))
    with pytest.raises(ParameterError, match="name one"):
        Classification().task(table)
    assert Classification(sensitive="b").task(table).n_classes == 2
