"""What is recommended satisfies the policy, is the best that does, and says what stands in the way."""

import dataclasses
from importlib.metadata import EntryPoint
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover import plugins
from undercover.errors import InternalError, ParameterError, SchemaError, UnreachableError
from undercover.methods.mondrian.method import Mondrian
from undercover.model.about import About, Wanted, about_of
from undercover.model.policy import policy_of
from undercover.model.table import Table
from undercover.studies.recommend import search
from undercover.studies.recommend.purpose import nothing_kept, purpose_of
from undercover.studies.recommend.recommend import recommend
from undercover.studies.recommend.search import Candidate, ranked, sample_of

NARROW = ["mondrian", "cross-bucket"]


@pytest.fixture(scope="module")
def census():
    return uc.datasets.census(600, seed=1), uc.Schema(
        quasi_identifiers=["age", "sex", "education"], sensitive="income", drop="*"
    )


@pytest.fixture(scope="module")
def found(census):
    return recommend(*census, methods=NARROW)


@pytest.fixture(scope="module")
def skewed():
    """925 of 1,000 people have one value."""
    draw = np.random.default_rng(5)
    ill = draw.permutation(np.repeat(["no", "yes"], [925, 75]))
    data = pa.table({"age": draw.integers(20, 60, 1000), "town": draw.choice(list("abcd"), 1000), "ill": ill})
    return data, uc.Schema(quasi_identifiers=["age", "town"], sensitive="ill")


def proposing(monkeypatch, *parameters):
    """Mondrian proposes these and nothing else is asked."""
    told = dataclasses.replace(about_of("mondrian"), candidates=lambda wanted: parameters)
    monkeypatch.setattr(search, "about_of", lambda name: told)


def test_what_is_recommended_may_be_published(census, found):
    # All there is to decide is that it was chosen by looking.
    assert [(reason.kind, reason.weight) for reason in found.verdict.reasons] == [("choice", "ask")]
    assert found.confirmed
    assert uc.publish(*census, found.best).verdict.to_dict() == found.verdict.to_dict()
    assert all(run.verdict.status != "do not publish" for run in found.runs)


def test_the_best_loses_least_of_those_that_leave_least_to_decide(found):
    asks = [len(trial.verdict.weighing("ask")) for trial in found.trials]
    assert asks[0] == min(asks)
    alike = [trial.loss for trial, more in zip(found.trials, asks, strict=True) if more == asks[0]]
    assert alike[0] == min(alike)
    assert {trial.candidate.title for trial in found.tried} >= {trial.candidate.title for trial in found.trials}


def test_a_release_that_exposes_people_is_never_recommended(census, monkeypatch):
    """Planted: the candidate that keeps most finds everybody too easily."""
    proposing(monkeypatch, {"k": 2}, {"k": 8})
    found = recommend(*census, methods=["mondrian"], policy={"belief": "none", "gain": 0})
    bad, good = found.tried
    assert bad.loss < good.loss
    assert bad.verdict.title == "Do not publish"
    assert found.candidate.parameters == {"k": 8}
    assert [trial.candidate.parameters for trial in found.trials] == [{"k": 8}]


class Boasting(Mondrian):
    """Says that it is safe, whatever it does."""

    name: ClassVar[str] = "boasting"
    about: ClassVar[str] = f"{__name__}:BOAST"

    @property
    def algorithm_safe(self):
        return True


class Breaking(Mondrian):
    """Promises twice the k it keeps."""

    name: ClassVar[str] = "breaking"
    about: ClassVar[str] = f"{__name__}:BOAST"

    def claims(self, table):
        return (uc.KAnonymity(k=20 * self.k),)


BOAST = About(title="Boast", did=lambda release: "It boasted.", candidates=lambda wanted: [{"k": 5}])


@pytest.fixture
def liars(monkeypatch):
    offered = {
        kind.name: EntryPoint(kind.name, f"{__name__}:{kind.__name__}", "undercover.methods")
        for kind in (Boasting, Breaking)
    }
    monkeypatch.setattr(plugins, "_installed", lambda kind: offered if kind == "methods" else {})
    about_of.cache_clear()
    yield
    about_of.cache_clear()


@pytest.mark.usefixtures("liars")
def test_what_a_plug_in_says_of_its_safety_does_not_make_it_the_first(census):
    found = recommend(*census, methods=["streamliner", "boasting", "breaking"])
    assert found.candidate.method == "streamliner"
    by_method = {trial.candidate.method: trial for trial in found.tried}
    assert by_method["boasting"].loss < found.trials[0].loss  # it would have been
    assert by_method["boasting"].verdict.title == "Decide"
    assert "does not hold" in by_method["breaking"].refused
    assert "cannot run: Boast" in " ".join(map(str, found.view().parts))


def test_a_bug_of_ours_is_not_a_reason(census, monkeypatch):
    monkeypatch.setattr(Mondrian, "claims", lambda self, table: (uc.KAnonymity(k=500),))
    with pytest.raises(InternalError):
        recommend(*census, methods=["mondrian"])


def test_a_policy_nothing_satisfies_names_the_nearest(skewed):
    with pytest.raises(UnreachableError) as stopped:
        recommend(*skewed, policy={"belief": "1/20", "gain": 0, "known_values": False}, methods=["mondrian"])
    said = str(stopped.value)
    assert "Nearest: Mondrian, k=" in said
    assert "`ill` can be inferred with 5% or more for" in said
    assert "92.5% of the rows have the same `ill`" in said
    assert stopped.value.best["method"] == "mondrian"
    assert stopped.value.exit_code == 3


def test_a_skewed_table_has_a_release_that_exposes_nobody(skewed):
    found = recommend(*skewed, methods=["mondrian", "streamliner", "anatomy"])
    assert [reason.kind for reason in found.verdict.weighing("ask")] == ["choice"]
    assert not found.verdict.weighing("stop")
    assert found.cannot == (
        "92.5% of the rows have the same `ill`: as long as values stay true, no release can leave less belief than "
        "that in it, and l is at most 1. Everybody knows that without the release, so the policy excuses these people "
        "(`gain`).",
    )


def test_somebody_in_a_hurry_gets_an_answer(census, monkeypatch):
    monkeypatch.setattr(search, "SAMPLE", 200)
    quick = recommend(*census, methods=NARROW, time=0.001)
    assert quick.confirmed
    assert quick.left_out
    hurried = recommend(*census, methods=NARROW, time=0.001, patient=False)
    assert not hurried.confirmed
    assert "time was up" in hurried.why()
    assert "unconfirmed" in repr(hurried)


def test_the_best_of_a_sample_is_confirmed_on_everybody(census, monkeypatch):
    """Planted: on the sample the first is good, on the whole table it is not."""
    monkeypatch.setattr(search, "SAMPLE", 200)
    proposing(monkeypatch, {"k": 5}, {"k": 100})
    real = search.Trial.satisfies.fget

    def satisfies(self):
        return real(self) and not (self.whole and self.candidate.parameters["k"] == 5)

    monkeypatch.setattr(search.Trial, "satisfies", property(satisfies))
    found = recommend(*census, methods=["mondrian"], policy={"belief": "none", "gain": 0})
    assert found.confirmed
    assert found.candidate.parameters == {"k": 100}
    assert found.trials[0].rows == 600


def test_what_promises_less_is_tried_before_what_loses_less_by_chance():
    def trial(k, loss):
        return search.Trial(Candidate("mondrian", {"k": k}), 100, 0.1, loss=loss, kept=0.5)

    order = search._expected_order([trial(5, 0.3), trial(10, 0.2), trial(20, 0.4)])
    assert [one.candidate.parameters["k"] for one in order] == [5, 10, 20]


def test_a_useless_release_comes_after_a_useful_one_that_leaves_something_to_decide():
    useless, useful, exposing = ranked(0.0, 0.05, 0, 0.7), ranked(0.0, 0.6, 1, 0.2), ranked(0.01, 0.9, 0, 0.1)
    assert sorted([useless, useful, exposing]) == [useful, useless, exposing]


def test_a_sample_has_all_rows_of_its_people():
    draw = np.random.default_rng(2)
    data = pa.table({"who": draw.integers(0, 300, 1000), "age": draw.integers(20, 60, 1000), "ill": ["a", "b"] * 500})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers="age", sensitive="ill", unit="who"))
    small = sample_of(table, 200)
    assert 150 < small.n_rows <= 200
    assert np.unique(small.units).tolist() == list(range(small.units.max() + 1))  # numbered anew
    whose = table.units[np.isin(table.rows, small.rows)]
    for person in np.unique(whose):
        assert (whose == person).sum() == (table.units == person).sum()
    assert sample_of(table, 1000) is table


def test_what_is_wanted_is_read_off_table_and_policy(skewed):
    table = Table.from_arrow(*skewed)
    wanted = Wanted.of(table, policy_of("standard"))
    rows = list(zip(*(skewed[0].column(name).to_pylist() for name in ("age", "town")), strict=True))
    assert wanted.alike == min(rows.count(row) for row in set(rows))
    assert (wanted.k, wanted.largest_l, wanted.ls, wanted.l_and_k) == (5, 1, (), None)
    assert float(wanted.closeness) == pytest.approx(0.825)
    assert wanted.barely_diverse is None
    strict = Wanted.of(table, policy_of("open"))
    assert (strict.k, strict.unsafe) == (11, False)
    assert (wanted.ks, strict.ks) == ((5, 10, 20), (11,))


def test_values_below_the_limit_of_closeness_expose_nobody(skewed):
    t = float(Wanted.of(Table.from_arrow(*skewed), policy_of("standard")).closeness) - 0.001
    found = uc.publish(*skewed, uc.Mondrian(k=5, t=t)).verdict
    assert "exposed" not in {reason.kind for reason in found.weighing("stop")}


@pytest.mark.parametrize("method", list(plugins.BUILT_IN["methods"]))
def test_candidates_are_parameters_of_their_method(census, method):
    for name in ("standard", "open", "research"):
        wanted = Wanted.of(Table.from_arrow(*census), policy_of(name))
        for parameters in about_of(method).candidates(wanted):
            made = Candidate(method, parameters).made(census[1])
            assert made.algorithm_safe or wanted.unsafe


def test_several_sensitive_columns_are_each_protected():
    people = uc.datasets.census(600, seed=3)
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive=["income", "occupation"], drop="*")
    found = recommend(people, schema, methods=["mondrian", "cross-bucket"])
    assert found.verdict.status != "do not publish"
    assert set(found.runs[0].schema.sensitive) == {"income", "occupation"}


@pytest.mark.parametrize("name", ["looking", "queries", "learning:income"])
def test_loss_is_least_for_the_table_itself_and_most_for_nothing(census, name):
    table = Table.from_arrow(*census)
    loss = purpose_of(name, census[1]).on(table)
    exact = loss(uc.publish(*census, uc.Mondrian(k=1), policy="none").release)
    near = loss(uc.publish(*census, uc.Mondrian(k=5), policy="none").release)
    nothing = loss(nothing_kept(table))
    assert exact == pytest.approx(0, abs=0.03)
    assert exact <= near <= nothing
    assert nothing > 0.01


def test_purposes_that_do_not_fit_are_refused(census, tmp_path):
    schema = census[1]
    with pytest.raises(ParameterError, match="Did you mean `queries`"):
        purpose_of("querys", schema)
    with pytest.raises(SchemaError, match="What is learnt is a sensitive column"):
        purpose_of("learning:age", schema)
    with pytest.raises(SchemaError, match="no sensitive column"):
        purpose_of("queries", uc.Schema(quasi_identifiers="age"))
    with pytest.raises(ParameterError, match="asks for something else"):
        purpose_of("learning:income", schema, workload=tmp_path)
    with pytest.raises(ParameterError, match="judges nothing"):
        recommend(*census, policy="none")
    with pytest.raises(ParameterError, match="'time' parameter"):
        recommend(*census, time=0)


def test_the_view_says_why_and_what_it_costs(found):
    said = [str(part) for part in found.view().parts]
    assert said[0].startswith(f"{found.candidate.title} is Decide under `standard` on all 600 rows")
    assert any(text.startswith("Next best: ") for text in said)
    assert "fresh draw" in said[-1]
    assert found.view().verdict == "care"
    assert "Recommended" in found._repr_html_()


def test_what_is_told_as_plain_data(found):
    content = found.to_dict()
    assert {"recommend", "verdict", "reasons", "confirmed", "method", "why", "next", "cannot", "policy"} < set(content)
    assert content["method"] == {"name": found.candidate.method, "parameters": dict(found.candidate.parameters)}
    assert content["releases"][0]["verdict"] == content["verdict"] == "Decide"
    assert len(content["tried"]) == len(found.tried)
