"""Perturbed generalization over declared bins of numbers: the same as over their labels, and everything behind it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, ParameterError
from undercover.forms.answers.channel import PerturbedCounts
from undercover.io.spec.load import schema_from_mapping, schema_to_mapping
from undercover.model.bins import Bins
from undercover.utility.queries.counts import QueryError

pytestmark = pytest.mark.usefixtures("unjudged")

EDGES = (0, 20_000, 40_000, 60_000, 100_000, 400_000)
BINS = Bins(EDGES)
PEOPLE = uc.datasets.census(3000, seed=5).select(["age", "sex", "education", "salary"])
METHOD = uc.PerturbedGeneralization(k=5, p=0.5)
QI = ["age", "sex", "education"]
SCHEMA = uc.Schema(quasi_identifiers=QI, sensitive="salary", columns={"salary": uc.Column(bins=EDGES)})


def labelled() -> pa.Table:
    """The same people with their bin written in place of the salary."""
    place = BINS.place(PEOPLE["salary"].to_numpy())
    return PEOPLE.set_column(3, "salary", pa.array([BINS.labels[bin_] for bin_ in place]))


@pytest.fixture(scope="module")
def run() -> uc.Run:
    return uc.publish(PEOPLE, SCHEMA, METHOD, seed=3)


def test_bins_are_perturbed_as_their_labels_are(run: uc.Run) -> None:
    by_label = uc.Schema(quasi_identifiers=QI, sensitive="salary", columns={"salary": uc.Column(domain=BINS.labels)})
    other = uc.publish(labelled(), by_label, METHOD, seed=3)
    assert run.release.table().to_pydict() == other.release.table().to_pydict()
    assert run.release.parameters["used"] == other.release.parameters["used"]
    assert run.release.parameters["used"]["domain"] == list(BINS.labels)
    assert run.release.published().form("salary") == "interval"


def test_no_salary_leaves_the_house(run: uc.Run, tmp_path: Path) -> None:
    assert set(run.release.table()["salary"].to_pylist()) <= set(BINS.labels)
    folder = uc.save(run, tmp_path / "out")
    exact = [str(value) for value in PEOPLE["salary"].to_pylist() if value not in EDGES and value > 10_000]
    written = "".join(path.read_text("utf-8") for path in (folder / "public").iterdir() if path.suffix != ".html")
    assert not [value for value in exact if value in written]


def test_verified_alone_and_against_the_original(run: uc.Run) -> None:
    found = uc.verify(run, original=PEOPLE)
    assert found.holds
    declared = next(finding for finding in found.findings if finding.name == "values-declared")
    assert declared.holds is True
    assert declared.actual == 0
    # A planted fault: a schema that declares other bins.
    others = uc.Schema(quasi_identifiers=QI, sensitive="salary", columns={"salary": uc.Column(bins=(0, 1000, 400_000))})
    assert not uc.verify(run.release, original=PEOPLE, schema=others).holds


def test_attacked_and_measured(run: uc.Run) -> None:
    result = uc.attack(run, uc.Corruption())
    plain = uc.attack(run).to_dict()
    assert result.to_dict()
    assert plain
    seen, _ = uc.Corruption().victim(run.original, run.release, 7)
    assert set(seen.after) == set(BINS.labels)
    growth = next(entry for entry in run.release.guarantees if entry["name"] == "delta-growth")
    assert float(seen.largest_growth) <= growth["actual"]
    measured = uc.measure(PEOPLE, run, query_error=QueryError(queries=50, sensitive="salary")).to_dict()
    assert measured


def test_counts_by_bin_and_by_range(run: uc.Run) -> None:
    asked = PerturbedCounts(run.release)
    salaries = PEOPLE["salary"].to_numpy()
    first = asked.count({"salary": "[0, 19999]"})
    assert asked.count({"salary": uc.Between(0, 19_999)}) == first
    assert abs(first.value - (salaries < 20_000).sum()) < 4 * first.standard_error
    half = asked.count({"salary": uc.Between(0, 9_999)})
    assert half.value == pytest.approx(first.value / 2)
    rest = asked.count({"salary": uc.NoneOf(["[0, 19999]"])})
    assert first.value + rest.value == pytest.approx(3000)
    two = asked.count({"salary": uc.Between(0, 39_999)}).value
    assert two == pytest.approx(first.value + asked.count({"salary": "[20000, 39999]"}).value)
    assert asked.count({"salary": uc.Between(high=400_000)}).value == pytest.approx(3000)
    assert [line["salary"] for line in asked.marginal()] == list(BINS.labels)


def test_counts_over_bins_of_decimals() -> None:
    columns = {"salary": uc.Column(bins=[float(edge) for edge in EDGES])}
    schema = uc.Schema(quasi_identifiers=QI, sensitive="salary", columns=columns)
    asked = PerturbedCounts(uc.publish(PEOPLE, schema, METHOD, seed=3).release)
    first = asked.count({"salary": "[0, 20000]"})
    assert asked.count({"salary": uc.Between(0, 20_000)}).value == pytest.approx(first.value)
    assert asked.count({"salary": uc.Between(0, 2_500.5)}).value == pytest.approx(first.value * 2_500.5 / 20_000)
    assert asked.chosen(uc.Between(0, 30_000)).tolist() == [True, False, False, False, False]


def test_sums_by_the_ends_of_bins(run: uc.Run) -> None:
    asked = PerturbedCounts(run.release)
    least, most = asked.sum_between({"sex": "Female"})
    middle = asked.sum({"sex": "Female"})
    assert middle.value == pytest.approx((least.value + most.value) / 2)
    women = np.array(PEOPLE["sex"].to_pylist()) == "Female"
    true = PEOPLE["salary"].to_numpy()[women].sum()
    assert least.value - 4 * least.standard_error < true < most.value + 4 * most.standard_error
    assert asked.mean({"sex": "Female"}).value == pytest.approx(middle.value / women.sum())


def test_classes_of_bins(run: uc.Run) -> None:
    pytest.importorskip("sklearn")
    model = uc.fit_release(run.release, {"low": uc.Between(0, 39_999), "high": uc.Between(40_000, 400_000)})
    known = Bins((0, 40_000, 400_000)).place(PEOPLE["salary"].to_numpy())
    for original in (run.original, PEOPLE):  # encoded, and with the salaries themselves
        assert model.features_.classes_of(original).tolist() == [("low", "high")[place] for place in known]
    with pytest.raises(DataError, match="outside the bins"):
        model.features_.classes_of(pa.table({"salary": [500_000]}))
    with pytest.raises(ParameterError):
        uc.fit_release(run.release, {"low": uc.Between(0, 30_000), "high": uc.Between(30_001, 400_000)})


def test_saved_loaded_and_applied(run: uc.Run, tmp_path: Path) -> None:
    assert schema_from_mapping(schema_to_mapping(SCHEMA)) == SCHEMA
    folder = uc.save(run, tmp_path / "out")
    loaded = uc.load(folder)
    assert loaded.schema == SCHEMA
    assert loaded.release.table().to_pydict() == run.release.table().to_pydict()
    assert uc.verify(folder, original=PEOPLE).holds
    fresh = uc.datasets.census(2000, seed=6).select(["age", "sex", "education", "salary"])
    again = uc.apply(loaded, fresh, original=PEOPLE, seed=1)
    assert again.schema.column("salary").bins == EDGES
    assert again.release.parameters["used"]["domain"] == list(BINS.labels)


def test_other_methods_publish_the_bin() -> None:
    for method in (
        uc.Mondrian(k=5, t="2/5", distance="ordered"),
        uc.Anatomy(l=2),
        uc.CrossBucket(k=2, l=2, joined=True),
    ):
        made = uc.publish(PEOPLE, SCHEMA, method, seed=1)
        assert uc.verify(made, original=PEOPLE).holds
        name = "sat" if len(made.release.tables) > 1 else "table"
        assert made.release.published(name).form("salary") == "interval"
        asked = uc.Recipient(made.release)
        true = int((PEOPLE["salary"].to_numpy() < 20_000).sum())
        for predicate in ("[0, 19999]", uc.Between(0, 19_999)):
            found = asked.answer(uc.CountQuery(where={"salary": predicate}))
            assert (found.lower, found.estimate, found.upper) == (true, pytest.approx(true), true)
        total = uc.answer_sum(made.release, uc.SumQuery("salary"))
        assert total.lower <= PEOPLE["salary"].to_numpy().sum() <= total.upper
        some = uc.answer_sum(made.release, uc.SumQuery("salary", where={"sex": "Female"}))
        women = np.array(PEOPLE["sex"].to_pylist()) == "Female"
        assert some.lower <= PEOPLE["salary"].to_numpy()[women].sum() <= some.upper


def test_a_salary_outside_stops_the_run() -> None:
    schema = uc.Schema(quasi_identifiers=QI, sensitive="salary", columns={"salary": uc.Column(bins=(0, 10, 20))})
    with pytest.raises(DataError, match="rows outside its declared bins"):
        uc.publish(PEOPLE, schema, METHOD)
