"""The classifier for perturbed releases: leaves by hand, scikit-learn's conventions, and what it must reach."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import undercover as uc
from undercover.analysis.learning.features import PerturbedFeatures
from undercover.errors import ParameterError

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from undercover.analysis.learning.choice import best, candidates, held_out_gains, majority_is_clear
from undercover.analysis.learning.classifier import PerturbedClassifier, fit_release, release_accuracy

CLASSES = {"low": uc.Between(0, 24), "high": uc.Between(25, 49)}
QUASI_IDENTIFIERS = ("age", "sex", "education", "birthplace", "occupation", "race", "work_class", "marital_status")
WEIGHTS = {
    "age": 4,
    "sex": 4,
    "education": 8,
    "occupation": 8,
    "marital_status": 4,
    "work_class": 2,
    "race": 0.1,
    "birthplace": 0.1,
}


def census_schema() -> uc.Schema:
    """The columns of SAL, with the weights anybody would give who has never seen this table."""
    schema = uc.datasets.census_schema(QUASI_IDENTIFIERS, hierarchies=False)
    columns = dict(schema.columns)
    for name, weight in WEIGHTS.items():
        settings = columns.get(name, uc.Column())
        kind = "numeric" if name == "occupation" else settings.kind
        columns[name] = uc.Column(kind=kind, domain=settings.domain, weight=weight)
    return uc.Schema(quasi_identifiers=QUASI_IDENTIFIERS, sensitive="income", columns=columns)


def two_leaves(p: float = 0.5) -> tuple[Any, np.ndarray, np.ndarray]:
    """Below 0 mostly a, above mostly b; three values of which two are of class x."""
    X = np.array([[-1.0]] * 100 + [[1.0]] * 100)
    y = np.array(["a"] * 60 + ["b"] * 20 + ["c"] * 20 + ["a"] * 20 + ["b"] * 60 + ["c"] * 20)
    class_of = {"a": "x", "b": "y", "c": "x"}
    model = PerturbedClassifier(p=p, domain=["a", "b", "c"], class_of=class_of, min_samples_leaf=10, tau=1)
    return model, X, y


def test_leaves_are_inverted() -> None:
    model, X, y = two_leaves()
    model.fit(X, y)
    # Left: x is seen 80 times in 100; by chance it would be 2/3 · 1/2, so 2 (0.8 - 1/3). Right: 2 (0.4 - 1/3).
    assert model.classes_.tolist() == ["x", "y"]
    left, right = model.leaf_shares_[model.tree_.apply(np.array([[-1.0], [1.0]]))]
    assert left == pytest.approx([2 * (0.8 - 1 / 3), 2 * (0.2 - 1 / 6)])
    assert right == pytest.approx([2 * (0.4 - 1 / 3), 2 * (0.6 - 1 / 6)])
    assert model.predict([[-1.0], [1.0]]).tolist() == ["x", "y"]
    assert model.predict_proba([[1.0]])[0] == pytest.approx(right / right.sum())


def test_a_stock_tree_would_label_the_leaf_wrong() -> None:
    """Two of three values are of class x, so noise alone makes it look frequent."""
    X = np.array([[0.0]] * 100)
    y = np.array(["b"] * 45 + ["a"] * 30 + ["c"] * 25)
    model = PerturbedClassifier(p=0.3, domain=["a", "b", "c"], class_of={"a": "x", "b": "y", "c": "x"}).fit(X, y)
    assert model.tree_.predict(X)[0] == 0  # x: 55 of 100
    assert model.predict(X)[0] == "y"  # 0.55 and 0.45 less 0.7 · 2/3 and 0.7 · 1/3


def test_accuracy_from_perturbed_values() -> None:
    model, X, y = two_leaves()
    model.fit(X, y)
    # Hits: 80 of 100 and 60 of 100; by chance 2/3 and 1/3 of a half.
    found = model.perturbed_accuracy(X, y)
    assert found.value == pytest.approx(((80 - 100 / 3) + (60 - 100 / 6)) / (0.5 * 200))
    assert found.standard_error > 0
    weights = np.array([2.0] * 100 + [1.0] * 100)
    weighted = model.perturbed_accuracy(X, y, weights)
    assert weighted.value == pytest.approx((2 * (80 - 100 / 3) + (60 - 100 / 6)) / (0.5 * 300))


def test_scikit_learn_conventions() -> None:
    model, X, y = two_leaves()
    assert clone(model).get_params() == model.get_params()
    assert clone(model).set_params(tau=3).tau == 3
    piped = make_pipeline(StandardScaler(), model).fit(X, y)
    assert piped.predict(X).tolist() == model.fit(X, y).predict(X).tolist()
    values = np.where(y == "b", "y", "x")  # p = 1 and classes of their own: an ordinary tree
    plain = PerturbedClassifier(min_samples_leaf=10)
    folds = KFold(4, shuffle=True, random_state=0)
    assert (cross_val_predict(plain, X, values, cv=folds) == np.where(X[:, 0] < 0, "x", "y")).all()
    assert plain.fit(X, values).score(X, values) == pytest.approx(0.7)
    with pytest.raises(ValueError, match="features"):
        model.predict([[1.0, 2.0]])


def test_bad_input() -> None:
    model, X, y = two_leaves()
    with pytest.raises(ValueError, match="nothing can be learnt"):
        clone(model).set_params(p=0).fit(X, y)
    with pytest.raises(ValueError, match="declared domain"):
        clone(model).fit(X, np.where(y == "a", "z", y))
    with pytest.raises(ValueError, match="weights"):
        clone(model).fit(X, y, sample_weight=np.ones(3))
    people, schema = uc.datasets.census(500, seed=1), uc.datasets.census_schema(["age"])
    release = uc.publish(people, schema, uc.PerturbedGeneralization(k=5, p=0.5), seed=1).release
    with pytest.raises(ParameterError, match="in no class"):
        PerturbedFeatures(release, {"low": uc.Between(0, 24)})
    with pytest.raises(ParameterError, match="more than one class"):
        PerturbedFeatures(release, {"low": uc.Between(0, 24), "high": uc.Between(20, 49)})
    nothing = uc.publish(people, schema, uc.PerturbedGeneralization(k=5, p=0), seed=1).release
    with pytest.raises(ParameterError, match="nothing can be learnt"):
        PerturbedFeatures(nothing, CLASSES)


def test_features_of_cells_and_rows() -> None:
    people = uc.datasets.census(2000, seed=1)
    for hierarchies in (True, False):
        schema = uc.datasets.census_schema(["age", "education", "race"], hierarchies=hierarchies)
        release = uc.publish(people, schema, uc.PerturbedGeneralization(k=5, p=0.5), seed=1).release
        features = PerturbedFeatures(release, CLASSES)
        X, y, weight = features.cells()
        assert X.shape == (release.table().num_rows, 3)
        assert weight.sum() == 2000
        exact = features.rows(people)
        assert (exact[:, 0] == np.array(people["age"].to_pylist())).all()
        assert X[:, 0].min() >= 17
        assert X[:, 0].max() <= 95
        points, values, weights = features.cells(points=3)
        assert (len(points), len(values)) == (3 * len(y), 3 * len(y))
        assert weights.sum() == pytest.approx(2000)
        assert (points[:, 0] >= 17).all()
        assert (features.rows(people.to_pandas()) == exact).all()


def test_a_column_that_tells_nothing() -> None:
    people, schema = uc.datasets.census(300, seed=1), uc.datasets.census_schema(["age", "race"], hierarchies=False)
    light = uc.Schema(
        quasi_identifiers=schema.quasi_identifiers,
        sensitive="income",
        columns={**schema.columns, "race": uc.Column(weight=1e-6)},
    )
    release = uc.publish(people, light, uc.PerturbedGeneralization(k=100, p=0.5), seed=1).release
    assert set(release.table()["race"].to_pylist()) == {"*"}
    features = PerturbedFeatures(release, CLASSES)
    assert (features.cells()[0][:, 1] == 0).all()
    assert (features.rows(people)[:, 1] == 0).all()


def test_without_scikit_learn_the_extra_is_named() -> None:
    """In a process of its own: the module is not to be loaded twice here."""
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import undercover as uc\n"
        "from undercover.errors import MissingExtraError\n"
        "try:\n    uc.fit_release\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert "pip install 'undercover[analysis]'" in done.stdout


def census_accuracy(p: float, rows: int) -> tuple[float, float, float, Any]:
    """(majority, optimistic, ours) on all rows, and what is estimated from the release alone."""
    people, schema = uc.datasets.census(rows, seed=1), census_schema()
    release = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=p), seed=5).release
    model = fit_release(release, CLASSES)
    exact, true = model.features_.rows(people), model.features_.classes_of(people)
    sample = np.random.default_rng(0).choice(rows, rows // 6, replace=False)
    optimistic = PerturbedClassifier().fit(exact[sample], true[sample])
    majority = max(np.unique(true, return_counts=True)[1]) / rows
    return majority, (optimistic.predict(exact) == true).mean(), (model.predict(exact) == true).mean(), model.accuracy_


@pytest.mark.parametrize(("p", "gate"), [(0.3, 0.65), (0.45, 0.75)])
def test_most_of_what_can_be_learnt_is_learnt(p: float, gate: float) -> None:
    majority, optimistic, ours, estimated = census_accuracy(p, 200_000)
    assert (ours - majority) / (optimistic - majority) >= gate
    assert abs(estimated.value - ours) < 4 * estimated.standard_error + 0.01


def test_cross_validation_does_not_see_its_own_cells() -> None:
    """Pure noise: on the cells it was fitted to a deep tree looks good, on others it does not."""
    rng = np.random.default_rng(3)
    X, y = rng.random((2000, 3)), np.array(["a", "b"])[rng.integers(0, 2, 2000)]
    model = PerturbedClassifier(p=0.5, domain=["a", "b"], tau=0, min_samples_leaf=5)
    weight = np.ones(2000)
    assert model.fit(X, y).perturbed_accuracy(X, y).value > 0.7
    honest = release_accuracy(model, X, y, weight)
    assert abs(honest.value - 0.5) < 4 * honest.standard_error


def chosen(rows: int, seed: int) -> tuple[str, dict[str, float]]:
    """What is taken where three of four have class a and twenty columns tell nothing; how often each is right."""
    rng, unseen = np.random.default_rng(seed), np.random.default_rng(99)

    def people(count: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return draw.random((count, 20)), np.where(draw.random(count) < 0.75, "a", "b")

    X, true = people(rows, rng)
    y = np.where(rng.random(rows) < 0.15, true, np.array(["a", "b"])[rng.integers(0, 2, rows)])
    weight = rng.integers(6, 13, rows).astype(float)
    model = PerturbedClassifier(p=0.15, domain=["a", "b"])
    gains = held_out_gains(model, X, y, weight, np.arange(rows) % 5)
    new, answers = people(4000, unseen)
    right = {}
    for name, (settings, weights) in candidates(weight).items():
        fitted = clone(model).set_params(**settings).fit(X, y, sample_weight=weights)
        right[name] = float((fitted.predict(new) == answers).mean())
    clear = majority_is_clear(fitted.leaf_shares_[0], weight, 0.15)  # the last one has no split
    return best(gains, clear=clear), right


def test_noise_is_not_taken_for_something_to_learn() -> None:
    """Nothing can be learnt beyond the majority, and a tree alone falls far below it."""
    found = [chosen(2000, seed) for seed in range(12)]
    assert sum(right["people"] < right["majority"] - 0.01 for _, right in found) >= 9
    assert all(right[taken] >= right["majority"] for taken, right in found)


def test_a_tree_must_be_well_ahead_unless_the_majority_is_a_guess() -> None:
    rows = np.tile([3.0, -1.0], 8)
    gains = {"people": rows, "alike": rows - 1, "majority": np.zeros(16)}
    ahead = rows.sum() / np.sqrt((rows**2).sum())
    assert 1 < ahead < 2
    assert best(gains, clear=True) == "majority"
    assert best(gains, clear=True, ahead=1.5) == "people"
    assert best(gains, clear=False) == "people"
    assert best({**gains, "people": rows - 1.1}, clear=False) == "majority"
    nothing = np.zeros(16)
    assert best(dict.fromkeys(gains, nothing), clear=False) == "majority"  # ties


def test_a_release_says_what_its_classifier_came_from() -> None:
    people, schema = uc.datasets.census(3000, seed=1), uc.datasets.census_schema(["age", "sex"])
    release = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.05), seed=2).release
    model = fit_release(release, {"few": [str(value) for value in range(5)], "most": uc.Between(5, 49)})
    true = model.features_.classes_of(people)
    predicted = model.predict(model.features_.rows(people))
    assert (model.learnt_, model.majority_clear_) == ("majority", False)
    assert set(predicted) == {"most"}
    assert (predicted == true).mean() == (true == "most").mean()
