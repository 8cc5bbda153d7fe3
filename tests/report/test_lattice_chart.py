"""The lattice of Incognito and the map of promises: figures, and large lattices by their heights."""

from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.guarantees.breach.bounds import growth_bound
from undercover.guarantees.breach.map import guarantee_chart, guarantee_facts
from undercover.methods.incognito.about import MOST_NODES, lattice_chart, lattice_facts
from undercover.pages.render import report_html
from undercover.pages.svg import svg
from undercover.verbs.report import summarize


@pytest.fixture(scope="module")
def small():
    """Two columns without a hierarchy of which not both can be published as they are."""
    people = pa.table({"age": [34, 38, 34, 38], "sex": ["f", "f", "m", "m"]})
    return uc.publish(people, uc.Schema(quasi_identifiers=["age", "sex"]), uc.Incognito(k=2))


def test_a_lattice_by_hand(small):
    found = lattice_facts(small)
    kinds = {tuple(node["levels"]): node["kind"] for node in found["listed"]}
    taken = tuple(column["level"] for column in found["columns"])
    other = (1, 0) if taken == (0, 1) else (0, 1)
    assert kinds == {(0, 0): "does not", taken: "chosen", other: "minimal", (1, 1): "keeps the promise"}
    assert found["by_height"] == [
        {"height": 0, "passing": 0, "failing": 1},
        {"height": 1, "passing": 2, "failing": 0},
        {"height": 2, "passing": 1, "failing": 0},
    ]
    chart = lattice_chart(found)
    assert sum("x2" in row for row in chart.values) == 4  # edges
    assert sum("kind" in row for row in chart.values) == 4
    ElementTree.fromstring(svg(chart))


def test_a_large_lattice_is_counted_by_height():
    run = uc.publish(uc.datasets.census(500, seed=1), uc.datasets.census_schema(), uc.Incognito(k=5), seed=1)
    found = lattice_facts(run)
    assert found["nodes"] > MOST_NODES
    assert found["listed"] == []
    assert sum(entry["passing"] + entry["failing"] for entry in found["by_height"]) == found["nodes"]
    assert sum(entry["passing"] for entry in found["by_height"]) == found["passing"] == run.diagnostics["passing"]
    nodes = np.indices([column["height"] + 1 for column in found["columns"]]).sum(axis=0)
    counts = [entry["passing"] + entry["failing"] for entry in found["by_height"]]
    assert counts == np.bincount(nodes.ravel()).tolist()
    page = report_html(summarize(run))
    assert "Which generalisations keep the promise" in page
    assert len(page.encode()) < 2_000_000


def test_other_methods_have_neither():
    run = uc.publish(uc.datasets.census(300), uc.datasets.census_schema(["age", "sex"]), uc.Mondrian(k=5))
    assert lattice_facts(run) is None
    assert guarantee_facts(run.release) is None


def test_the_map_of_a_release_frames_its_k_and_p():
    schema = uc.datasets.census_schema(["age", "sex"])
    run = uc.publish(uc.datasets.census(800, seed=1), schema, uc.PerturbedGeneralization(k=7, p=0.33, skew=0.1))
    found = guarantee_facts(run.release)
    assert (found["p"], found["skew"], found["rho1"]) == (0.33, 0.1, None)
    (here,) = (entry for entry in found["grid"] if entry["k"] == found["k"] and entry["p"] == found["p"])
    assert here["growth"] == growth_bound(p=0.33, k=found["k"], domain=found["domain"], skew=0.1)
    assert "rho2" not in here
    chart = guarantee_chart(found["grid"], "growth", chosen=(found["k"], found["p"]))
    assert f"with k = {found['k']} and p = 0.33" in chart.sentence
    assert "What other k and p would promise" in report_html(summarize(run))


def test_nasty_names_stay_text(small):
    facts = lattice_facts(small)
    facts["columns"][0]["name"] = "<script>&"
    drawing = svg(lattice_chart(facts))
    ElementTree.fromstring(drawing)
    assert "<script" not in drawing
