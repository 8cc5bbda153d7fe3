"""Methods by hand: forms of all of them, what becomes of what is posted, and ranges that publishing agrees with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from decided import DISEASES, ONE, decided, patients
from serving import post, serving
from starlette.testclient import TestClient

import undercover as uc
from undercover import plugins
from undercover.engines.local import LocalEngine
from undercover.errors import UndercoverError, UnreachableError
from undercover.io.source import read
from undercover.model.about import Wanted, about_of
from undercover.parameters import describe, make
from undercover.randomness import Randomness
from undercover.verbs.encode import encoded
from undercover.web.desks.project import Project
from undercover.web.protecting.feasible import holding_of, policy_asked
from undercover.web.protecting.fields import written
from undercover.web.protecting.methods import card, expected, start_of

METHODS = plugins.names("methods")
ROLES: dict[str, dict[str, Any]] = {
    "one sensitive": ONE,
    "two sensitive": {"quasi_identifiers": ["age", "sex"], "sensitive": ["disease", "job"]},
    "none sensitive": {"quasi_identifiers": ["age", "sex"]},
    "several rows": {**ONE, "unit": "patient"},
    "undeclared": {"quasi_identifiers": ["age", "sex"], "sensitive": ["job"]},
    "one unchanged": {**ONE, "insensitive": ["job"]},
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serving(tmp_path_factory.mktemp("methods")) as client:
        yield client


@pytest.fixture(scope="module")
def projects(client: TestClient) -> dict[str, Project]:
    """Tables of the same people, by what was decided of their columns."""
    workspace: Path = client.app.state.service.settings.workspace  # type: ignore[attr-defined]
    return {name: decided(workspace, patients(), roles) for name, roles in ROLES.items()}


@pytest.fixture(scope="module")
def project(projects: Mapping[str, Project]) -> Project:
    return projects["one sensitive"]


def published(project: Project, name: str, parameters: Mapping[str, Any]) -> uc.Run:
    """A release as a run would make it."""
    return uc.publish(patients(), project.loaded().schema, make("methods", name, parameters), policy="none")


def sent(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Parameters as somebody fills them in."""
    return {name: written(value) for name, value in parameters.items()}


@pytest.mark.parametrize("name", METHODS)
def test_a_form_asks_for_every_parameter(client: TestClient, project: Project, name: str) -> None:
    page = client.get(f"/tables/{project.id}/method/{name}")
    assert page.status_code == 200
    assert about_of(name).title in page.text
    for parameter in describe(plugins.load("methods", name)):
        assert f'name="{parameter.name}"' in page.text or parameter.name in getattr(
            plugins.load("methods", name), "paths", ()
        )


@pytest.mark.parametrize("name", METHODS)
def test_what_is_posted_becomes_the_method_of_the_spec(client: TestClient, project: Project, name: str) -> None:
    runnable = [example.parameters for example in about_of(name).examples if example.expected != "unreachable"]
    assert runnable
    for parameters in runnable:
        answer = post(client, f"/tables/{project.id}/method/{name}", follow_redirects=False, **sent(parameters))
        assert answer.status_code == 303, answer.text
        method = dict(Project(project.folder).spec["method"])
        assert method.pop("name") == name
        assert make("methods", name, method) == make("methods", name, parameters)
        assert f"/tables/{project.id}/method/{name}" in client.get(f"/tables/{project.id}/protect").text


@pytest.mark.parametrize("name", [name for name in METHODS if plugins.origin("methods", name) == plugins.HOME])
def test_a_method_proposes_what_can_be_taken(project: Project, name: str) -> None:
    holding = holding_of(project)
    first = start_of(name, card(name, holding, policy_asked(project)).first)
    assert first
    assert make("methods", name, first)


@pytest.mark.parametrize("roles", ROLES)
def test_who_cannot_run_says_so_and_who_can_does(projects: Mapping[str, Project], roles: str) -> None:
    project = projects[roles]
    for name in METHODS:
        found = card(name, holding_of(project), policy_asked(project))
        runs = []
        for example in about_of(name).examples:
            with suppress(UndercoverError):
                runs.append(published(project, name, example.parameters))
            if runs:
                break
        assert bool(runs) == found.fits, (name, found)


@pytest.mark.parametrize("roles", [*ROLES, "missing", "one row each"])
def test_counts_from_codes_are_those_of_the_table(
    client: TestClient, projects: Mapping[str, Project], roles: str
) -> None:
    """What is counted without reading a row is what publishing would find."""
    table, workspace = patients(), client.app.state.service.settings.workspace  # type: ignore[attr-defined]
    if roles == "missing":
        ages = pa.array([None if row % 7 == 0 else age for row, age in enumerate(table["age"].to_pylist())])
        table = table.set_column(1, "age", ages)
        project = decided(workspace, table, ONE, data={"missing": "drop"})
    elif roles == "one row each":
        project = decided(workspace, table, {**ONE, "unit": "patient", "one_row_per": "last"})
    else:
        project = projects[roles]
    policy = policy_asked(project)
    given = read(project.whence, options=project.loaded().options).data
    whole = encoded(given, project.loaded().schema, Randomness(0), engine=LocalEngine())
    assert holding_of(project).wanted(policy) == Wanted.of(whole, policy)
    assert holding_of(project).rows == whole.n_rows


def test_what_is_out_of_range_is_explained_beside_its_field(client: TestClient, project: Project) -> None:
    before = Project(project.folder).spec.get("method")
    answer = post(client, f"/tables/{project.id}/method/mondrian", k="0", l="x")
    assert answer.status_code == 400
    for name in ("k", "l"):
        beside = answer.text.partition(f'id="{name}-wrong"')[2].partition("</div>")[0]
        assert f"The &#39;{name}&#39; parameter of Mondrian must be" in beside
    assert Project(project.folder).spec.get("method") == before


def test_of_a_group_exactly_one_is_asked_for(client: TestClient, project: Project) -> None:
    where = f"/tables/{project.id}/method/perturbed-generalization"
    assert client.get(where).text.count("Give exactly one of these") == 2
    answer = post(client, where, k="2", p="1/2", growth="1/5")
    assert answer.status_code == 400
    assert "needs exactly one of p, rho and growth. Got p and growth." in answer.text


def test_what_is_not_safe_needs_to_be_allowed(client: TestClient, project: Project) -> None:
    where = f"/tables/{project.id}/method/streamliner"
    assert "may give people away to somebody who knows how it was made" in client.get(where).text
    assert post(client, where, l="2", algorithm="gda").status_code == 400
    taken = post(client, where, l="2", algorithm="gda", allow_unsafe="true", follow_redirects=False)
    assert taken.status_code == 303


def with_l() -> list[tuple[str, dict[str, Any]]]:
    """Every method that has an l, in every way in which it counts it."""
    found: list[tuple[str, dict[str, Any]]] = []
    for name in METHODS:
        declared = {each.name: each for each in describe(plugins.load("methods", name))}
        if "l" not in declared:
            continue
        key = "diversity" if "diversity" in declared else "variant"
        ways = declared[key].choices if key in declared else ()
        found += [(name, {key: way}) for way in ways if way != "blocks"] or [(name, {})]
    return found


@pytest.mark.parametrize(("name", "way"), with_l())
def test_the_largest_l_is_the_largest_that_can_be_published(project: Project, name: str, way: dict[str, Any]) -> None:
    holding = holding_of(project)
    declared = {each.name for each in describe(plugins.load("methods", name)) if each.required}
    given: dict[str, Any] = {**({"k": 2} if "k" in declared else {}), **way}
    given |= {"c": 2} if way.get("diversity") == "recursive" else {}
    given |= {"delta": "1/2"} if way.get("variant") in ("layers", "paper") and "k" not in declared else {}
    (reach,) = (each for each in about_of(name).reach(given, holding) if each.parameter == "l")
    assert reach.most is not None
    largest = floor(reach.most)
    assert published(project, name, {**given, "l": largest}).release.tables
    assert not expected(name, {**given, "l": largest}, holding).wrong
    with pytest.raises(UnreachableError):
        published(project, name, {**given, "l": largest + 1})
    assert list(expected(name, {**given, "l": largest + 1}, holding).beyond) == ["l"]


WITH_K = [name for name in METHODS if {"k"} <= {p.name for p in describe(plugins.load("methods", name))}]


@pytest.mark.parametrize("name", [name for name in WITH_K if name != "mutual-cover"])
def test_the_largest_k_is_the_largest_that_can_be_published(projects: Mapping[str, Project], name: str) -> None:
    for roles in ("one sensitive", "several rows"):
        project = projects[roles]
        holding = holding_of(project)
        if not card(name, holding, policy_asked(project)).fits:
            continue
        more = {"l": 2} if name == "cross-bucket" else {"p": "1/2"} if name.startswith("perturbed") else {}
        (reach,) = (each for each in about_of(name).reach(more, holding) if each.parameter == "k")
        assert reach.most == (60 if roles == "one sensitive" else 30)
        assert published(project, name, {**more, "k": int(reach.most)}).release.tables
        with pytest.raises(UnreachableError):
            published(project, name, {**more, "k": int(reach.most) + 1})
        assert list(expected(name, {**more, "k": int(reach.most) + 1}, holding).beyond) == ["k"]


def test_the_paper_takes_k_different_values_together(project: Project) -> None:
    given, holding = {"variant": "paper", "l": 2}, holding_of(project)
    (reach,) = (each for each in about_of("cross-bucket").reach(given, holding) if each.parameter == "k")
    assert reach.most == Fraction(60, 20)
    assert published(project, "cross-bucket", {**given, "k": 3}).release.tables
    with pytest.raises(UnreachableError):
        published(project, "cross-bucket", {**given, "k": 4})


def test_what_k_and_p_promise_is_what_the_release_promises(client: TestClient, project: Project) -> None:
    name = "perturbed-generalization"
    parameters = {"k": 6, "p": "3/10"}
    told = expected(name, parameters, holding_of(project)).told
    (grid,) = (part for part in told if not isinstance(part, str))
    assert grid.chosen == ("0.3", "6")
    (figure,) = (figures[grid.columns.index("6")] for row, figures in grid.rows if row == "0.3")
    run = published(project, name, {**parameters, "recoding": "incognito"})
    (claim,) = (entry for entry in run.release.guarantees if entry["name"] == "delta-growth")
    assert figure[0] >= float(claim["actual"]) > 0
    part = post(client, f"/tables/{project.id}/method/{name}/look", headers={"hx-request": "true"}, **sent(parameters))
    assert "<html" not in part.text
    assert f'value="{figure[0]}"' in part.text
    assert len(DISEASES) == 5  # of which the map is made: skew is at least a fifth
    assert post(client, f"/tables/{project.id}/method/{name}", k="6", p="0.3", skew="0.1").status_code == 400


def test_a_method_that_is_not_there_is_not_found(client: TestClient, project: Project) -> None:
    assert client.get(f"/tables/{project.id}/method/nothing").status_code == 404
