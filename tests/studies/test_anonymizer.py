"""The scikit-learn transformer: rows beside their y, people it has not seen, and what of it may leave the house."""

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import estimator_checks, get_tags

import undercover as uc
from undercover.errors import DataError, InputError, NotTold, ParameterError, SchemaError, UnreachableError
from undercover.studies.pipeline.places import known_rows, own_places

pytestmark = pytest.mark.usefixtures("unjudged")

COUNT = 90
RANDOM = np.random.default_rng(7)
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, COUNT),
        "sex": RANDOM.choice(["F", "M"], COUNT),
        "town": RANDOM.choice(["Bonn", "Kiel", "Ulm"], COUNT),
        "dose": np.arange(COUNT) / 2,
    },
    index=np.arange(COUNT) + 1000,
)
Y = pd.Series(np.where(X["age"] + RANDOM.normal(0, 12, COUNT) > 50, "high", "low"), index=X.index)
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "town"], sensitive="income", insensitive="dose")
SEVERAL = [["a", "b", "c", "d"][place % 4] for place in range(COUNT)]
NEW = pd.DataFrame({"age": [90, 19, 44], "sex": ["F", "M", "F"], "town": ["Ulm", "Bonn", "Kiel"], "dose": [0.25] * 3})


def fitted(method: Any = None, y: Any = Y, **more: Any) -> uc.Anonymizer:
    return uc.Anonymizer(method or uc.Mondrian(k=5), SCHEMA, **more).fit(X, y)


METHODS = [
    uc.Mondrian(k=5),
    uc.Mondrian(k=5, recoding="regions"),
    uc.Mondrian(k=5, l=2),
    uc.Streamliner(l=3),
    uc.Incognito(k=4, suppression=0.1),
    uc.MutualCover(l=3, delta=0.5),
    uc.MutualCover(l=3, variant="paper", delta=0.5),
]


@pytest.mark.parametrize("method", METHODS, ids=[f"{place}-{one.name}" for place, one in enumerate(METHODS)])
def test_rows_beside_y_are_the_rows_of_the_release(method: Any) -> None:
    anonymizer = fitted(method, SEVERAL)
    rows = anonymizer.transform(X).assign(income=SEVERAL)
    kept = rows[np.isin(np.arange(COUNT), anonymizer.run_.rows)]
    published = anonymizer.run_.release.table()[list(rows.columns)]
    assert len(rows) == COUNT
    assert sorted(map(tuple, kept.to_numpy().tolist())) == sorted(map(tuple, published.to_numpy().tolist()))


@pytest.mark.parametrize("method", METHODS[:5], ids=[one.name for one in METHODS[:5]])
def test_everybody_has_the_cells_of_the_own_class(method: Any) -> None:
    rows = fitted(method, SEVERAL, cells="bounds").transform(X)
    ages, inside = X["age"], rows["age_low"].notna()
    assert ((rows["age_low"] <= ages) & (ages <= rows["age_high"]))[inside].all()
    assert (rows["dose"] == X["dose"])[rows["dose"].notna()].all()
    moved = ages.to_numpy()[::-1]
    assert not ((rows["age_low"] <= moved) & (moved <= rows["age_high"]))[inside].all(), "and would be told"


def test_rows_that_were_suppressed_say_nothing() -> None:
    anonymizer = fitted(uc.Incognito(k=4, suppression=0.1))
    out = np.setdiff1d(np.arange(COUNT), anonymizer.run_.rows)
    rows = anonymizer.transform(X).iloc[out]
    assert len(out) == anonymizer.run_.release.suppressed_rows > 0
    assert (rows["age"] == "*").all()
    assert rows[["sex", "town", "dose"]].isna().all(axis=None), "columns that are published as they are"
    numbers = anonymizer.set_params(cells="midpoint").transform(X)
    assert numbers["age"].isna().to_numpy().nonzero()[0].tolist() == out.tolist()
    holes = X.assign(age=X["age"].astype(float).where(np.arange(COUNT) != 3))
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", missing="drop")
    assert uc.Anonymizer(uc.Mondrian(k=5), schema).fit_transform(holes, Y).iloc[3].tolist() == ["*", "*"]


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (uc.Anatomy(l=3), "by their bucket alone. Beside y they would be the original"),
        (uc.CrossBucket(k=2, l=3), "by their bucket alone"),
        (uc.PerturbedGeneralization(k=5, p=0.5), "stands for several people"),
    ],
)
def test_releases_without_a_row_for_every_y_are_refused(method: Any, why: str) -> None:
    columns = {"income": uc.Column(domain=("a", "b", "c", "d"))}
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", columns=columns)
    with pytest.raises(NotTold, match=why):
        uc.Anonymizer(method, schema).fit(X, SEVERAL)


def test_a_method_that_does_not_tell_is_refused() -> None:
    with pytest.raises(NotTold, match="this method does not tell"):
        own_places(replace(fitted().run_, order=None), COUNT)


def test_y_is_the_sensitive_column_that_x_lacks() -> None:
    method = uc.Mondrian(k=5, l=2, diversity="distinct")
    beside = uc.Anonymizer(method, SCHEMA, seed=1).fit(X, Y)
    inside = uc.Anonymizer(method, SCHEMA, seed=1).fit(X.assign(income=Y))
    assert beside.run_.release.table().equals(inside.run_.release.table())
    for same in (Y.tolist(), Y.to_numpy(), pl.Series(Y.tolist()), pa.array(Y.tolist())):
        assert uc.Anonymizer(method, SCHEMA, seed=1).fit(X, same).run_.release == beside.run_.release
    assert "income" not in beside.get_feature_names_out()
    days = pd.Series(pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(COUNT) % 3, unit="D"))
    for moments in (days, days.to_numpy(), days.to_numpy().reshape(-1, 1)):
        shown = uc.Anonymizer(uc.Mondrian(k=5), SCHEMA).fit(X, moments).run_.release.table()["income"]
        assert set(pd.to_datetime(shown)) == set(days)
    with pytest.raises(DataError, match=r"`income` is not in X\. Add it, or hand it over as y"):
        uc.Anonymizer(method, SCHEMA).fit(X)
    with pytest.raises(DataError, match="X has 90 rows and y 89"):
        uc.Anonymizer(method, SCHEMA).fit(X, Y[1:])


def test_people_it_has_seen_are_known_by_their_rows() -> None:
    anonymizer = fitted()
    rows = anonymizer.transform(X)
    pd.testing.assert_frame_equal(anonymizer.fit_transform(X, Y), anonymizer.transform(X))
    pd.testing.assert_frame_equal(fitted(seed=1).transform(X[::-1]), fitted(seed=1).transform(X)[::-1])
    pd.testing.assert_frame_equal(fitted(seed=1).transform(X[5:9]), fitted(seed=1).transform(X)[5:9])
    assert rows.index.equals(X.index)


def test_alike_people_who_were_published_differently_are_not_guessed() -> None:
    same = pd.DataFrame({"age": [30, 30, 30, 30, 50, 60]})
    schema = uc.Schema(quasi_identifiers="age", sensitive="ill")
    anonymizer = uc.Anonymizer(uc.Streamliner(l=3), schema).fit(same, ["a", "a", "b", "b", "c", "c"])
    assert len(anonymizer.transform(same)) == 6
    groups = anonymizer.run_.groups.labels[:4]
    assert len(set(groups)) == 2
    with pytest.raises(DataError, match="2 of the 2 rows fit several people who were published differently"):
        anonymizer.transform(same[:2])
    assert known_rows(pa.table({"a": [1]}), pa.table({"a": ["1", "2"]}), np.zeros(1))[0].tolist() == [0, -1]


def test_people_it_has_not_seen_are_refused() -> None:
    with pytest.raises(InputError, match=r'3 of the 3 rows .* not fitted on, .*unseen="apply".*unseen="nearest"'):
        fitted().transform(NEW)
    with pytest.raises(SchemaError, match="`town` of the recipe is not in the new table"):
        fitted(unseen="apply").transform(NEW.drop(columns="town"))
    with pytest.raises(ParameterError, match=r"'guess' is not known|`guess` is not known"):
        fitted(unseen="guess")


def test_a_recipe_that_carries_over_is_applied_and_one_that_does_not_is_refused() -> None:
    anonymizer = fitted(unseen="apply", cells="bounds")
    older = X.assign(age=X["age"] + 100)
    rows = anonymizer.transform(older)
    assert (rows["age_low"] <= older["age"]).all()
    assert (older["age"] <= rows["age_high"]).all()
    assert rows.groupby(["age_low", "age_high"]).size().min() >= 5
    with pytest.raises(UnreachableError, match="does not carry over to the new table"):
        anonymizer.transform(NEW)
    with pytest.raises(InputError, match="sensitive"):
        fitted(uc.Mondrian(k=5, l=2, diversity="distinct"), unseen="apply").transform(older)


def test_the_nearest_cells_cover_whoever_can_be_covered() -> None:
    anonymizer = fitted(uc.Mondrian(k=5, recoding="regions"), unseen="nearest", cells="bounds")
    inside = X.assign(dose=-1.0, age=X["age"].sample(frac=1, random_state=1).to_numpy())
    rows = anonymizer.transform(inside)
    assert ((rows["age_low"] <= inside["age"]) & (inside["age"] <= rows["age_high"])).all(), "regions leave no gap"
    published = anonymizer.run_.release.table(cells="bounds")
    far = anonymizer.transform(NEW[:1])
    assert far["age_high"].iloc[0] == published["age_high"].max(), "90 is beyond everybody"
    text = fitted(unseen="nearest").transform(NEW)
    assert set(text["sex"]) <= {"F", "M", "*", "{F, M}"}
    with pytest.raises(NotTold, match="not where its people are"):
        fitted(uc.MutualCover(l=3, delta=0.5), SEVERAL, unseen="nearest").transform(NEW)


def test_nearest_by_hand() -> None:
    ages, jobs = [20, 24, 40, 44, 60, 64, 80, 84], ["cook", "smith", "cook", "cook", "judge", "judge", "nurse", "nurse"]
    anonymizer = uc.Anonymizer(uc.Mondrian(k=2), uc.Schema(quasi_identifiers=["age", "job"]), unseen="nearest")
    anonymizer.fit(pd.DataFrame({"age": ages, "job": jobs}))
    new = pd.DataFrame({"age": [30, 34, 99, 62, 22], "job": ["smith", "cook", "judge", "pilot", "cook"]})
    found = ["[20, 24]", "[40, 44]", "[60, 64]", "[60, 64]", "[20, 24]"]
    assert anonymizer.transform(new)["age"].tolist() == found, (
        "a job outside the cell weighs as much as the whole scale"
    )
    schema = uc.Schema(quasi_identifiers="age", missing="category")
    unknown = uc.Anonymizer(uc.Mondrian(k=2), schema, unseen="nearest").fit(pd.DataFrame({"age": [20, 24, None, None]}))
    assert unknown.transform(pl.DataFrame({"age": [None, 23, 99]}))["age"].to_list() == [None, "[20, 24]", "[20, 24]"]


def pipeline(**more: Any) -> Pipeline:
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((words, ["sex", "town"]), remainder=StandardScaler())
    anonymizer = uc.Anonymizer(uc.Mondrian(k=5), SCHEMA, cells="midpoint", policy="none", **more)
    return make_pipeline(anonymizer, columns, LogisticRegression())


@pytest.mark.parametrize("unseen", ["nearest", "apply"])
def test_cross_validation(unseen: Any) -> None:
    scores = cross_val_score(pipeline(unseen=unseen), X, Y, cv=2, error_score="raise")
    assert scores.min() > 0.6


def test_a_search_over_k() -> None:
    grid = {"anonymizer__method__k": [2, 40]}
    search = GridSearchCV(pipeline(unseen="nearest"), grid, cv=2, error_score="raise").fit(X, Y)
    assert search.best_params_ == {"anonymizer__method__k": 2}
    best = search.best_estimator_
    assert best[0].run_.release.parameters["k"] == 2
    assert set(best.predict(NEW)) <= {"high", "low"}
    again = pickle.loads(pickle.dumps(best))
    assert (again.predict(NEW) == best.predict(NEW)).all()
    names = best.set_output(transform="pandas")[:-1].transform(X).columns
    assert list(names) == list(best[:-1].get_feature_names_out(X.columns))


def test_parameters() -> None:
    anonymizer = uc.Anonymizer(uc.Mondrian(k=5), SCHEMA, cells="bounds")
    copied = clone(anonymizer.set_output(transform="polars"))
    assert copied.get_params() == anonymizer.get_params()
    assert anonymizer.get_params()["method__k"] == 5
    assert "method__k" not in anonymizer.get_params(deep=False)
    assert anonymizer.set_params(method__k=7, seed=1).method == uc.Mondrian(k=7)
    assert copied.method == uc.Mondrian(k=5)
    assert repr(copied).endswith("cells='bounds')")
    assert isinstance(copied.fit_transform(X, Y), pl.DataFrame)
    with pytest.raises(ParameterError, match="`method__q` is not known"):
        anonymizer.set_params(method__q=1)
    with pytest.raises(ParameterError, match="`numpy` is not known"):
        anonymizer.set_output(transform="numpy")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has seen nobody yet"):
        copied.set_params(cells="text").__class__(uc.Mondrian(k=5), SCHEMA).transform(X)
    with pytest.raises(DataError, match=r"whose columns have names\. Got ndarray"):
        anonymizer.fit(X.to_numpy(), Y)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_every_kind_of_frame_and_output(kind: str) -> None:
    frame = {"pandas": X, "polars": pl.from_pandas(X), "pyarrow": pa.Table.from_pandas(X, preserve_index=False)}[kind]
    anonymizer = uc.Anonymizer(uc.Mondrian(k=5), SCHEMA, cells="bounds")
    rows = anonymizer.fit_transform(frame, Y)
    names = ["age_low", "age_high", "sex", "town", "dose"]
    assert type(rows) is type(frame)
    assert list(anonymizer.get_feature_names_out()) == names
    assert anonymizer.feature_names_in_.tolist() == list(X.columns)
    with sklearn.config_context(transform_output="polars"):
        assert anonymizer.transform(frame).columns == names
    assert isinstance(anonymizer.set_output(transform="pandas").transform(frame), pd.DataFrame)
    assert isinstance(anonymizer.set_output(transform="default").transform(frame), type(frame))
    if kind != "polars":
        said = rows.attrs if kind == "pandas" else {k.decode(): v.decode() for k, v in rows.schema.metadata.items()}
        assert said["undercover"].startswith("private")


CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_get_params_invariance",
    "check_set_params",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
]


@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_scikit_learn_that_need_no_table_of_its_own(check: str) -> None:
    anonymizer = uc.Anonymizer(uc.Mondrian(k=5), SCHEMA)
    getattr(estimator_checks, check)("Anonymizer", anonymizer)
    assert not get_tags(anonymizer).input_tags.two_d_array


def test_a_release_to_be_withheld_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"Do not publish the release of this fit: .* people: their row is found"):
        uc.Anonymizer(uc.Mondrian(k=2), SCHEMA, policy="standard").fit(X, Y)


def test_only_the_run_is_published_and_the_order_stays_in_memory(tmp_path: Path) -> None:
    anonymizer = fitted(policy="none")
    order = anonymizer.run_.order
    assert order is not None
    assert sorted(order) == list(range(COUNT))
    uc.save(anonymizer.run_, tmp_path / "out")
    assert uc.load(tmp_path / "out").order is None
    assert order.tobytes() not in pickle.dumps(anonymizer.run_.release)
    assert order.tobytes() in pickle.dumps(anonymizer.run_), "and would be found"
    published = uc.load(tmp_path / "out").release.table()
    assert published.num_rows == COUNT
    assert uc.verify(tmp_path / "out").holds


def test_scikit_learn_may_be_absent() -> None:
    code = """
import sys
sys.modules["sklearn"] = None
import pyarrow as pa, undercover as uc
schema = uc.Schema(quasi_identifiers="age")
found = uc.Anonymizer(uc.Mondrian(k=2), schema, policy="none").fit_transform(pa.table({"age": [1, 9, 2, 8]}))
print(found.column("age").to_pylist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("['[1, 2]', '[8, 9]', '[1, 2]', '[8, 9]']", "")
