"""Protect: policies in the words of a table, requirements, and what others publish about the same people."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from decided import ONE, decided, patients
from serving import post, service_of, serving
from starlette.testclient import TestClient

import undercover as uc
from undercover.guarantees.requirements import guarantees_from_entries
from undercover.model.policy import POLICIES, Policy, policy_of
from undercover.studies.inspect.inspection import inspect
from undercover.waiting import no_progress
from undercover.web.desks.project import Project
from undercover.web.jobs.joining import join
from undercover.web.jobs.publishing import publish
from undercover.web.looks import environment, prepare
from undercover.web.protecting.feasible import holding_of
from undercover.web.protecting.policies import meaning
from undercover.web.texts import LANGUAGES, Texts


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serving(tmp_path_factory.mktemp("protect")) as client:
        yield client


@pytest.fixture
def project(client: TestClient) -> Project:
    return decided(service_of(client).settings.workspace, patients(), ONE)


def now(project: Project) -> Project:
    """As it is on disk."""
    return Project(project.folder)


def said(policy: Policy, project: Project, language: str = "en") -> str:
    """What a policy means for a table, as one text."""
    assert project.profile is not None
    found = meaning(policy, holding_of(project), project.profile, language)
    return " ".join(Texts(language)(key, **values) for key, values in found)


def test_before_columns_are_decided_on_there_is_nothing_to_protect(client: TestClient, project: Project) -> None:
    project.change(spec={})
    page = client.get(f"/tables/{project.id}/protect").text
    assert f'href="/tables/{project.id}/columns"' in page
    assert "Decide on the columns first" in page


def test_a_policy_is_said_in_figures_of_the_table(project: Project) -> None:
    together = {one.columns: one.unique_rows for _, one in inspect(patients(), project.loaded().schema).everything}
    text = said(POLICIES["standard"], project)
    assert "everybody must look like 5 people or more" in text
    assert f"Today {holding_of(project).alone} of your 60 people are the only ones" in text
    assert holding_of(project).alone == together[("age", "sex")]
    assert "Without any release `flu` is guessed with 33.3%" in text
    assert "Nobody at all may be exposed" in text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"belief": 0.3, "gain": 0.1}, {"en": "which alone reaches the limit", "de": "das allein erreicht die Grenze"}),
        ({"belief": 0.9, "gain": 0.7}, {"en": "so they are excused", "de": "sie sind entschuldigt"}),
        ({"exposed": "1/20"}, {"en": "At most 3 people may be exposed", "de": "Höchstens 3 Personen dürfen"}),
        ({"harmful": {"disease": ["gout"]}}, {"en": "whoever has `gout`", "de": "Wer `gout` hat"}),
        ({"presence_known": False}, {"en": "among the people of the population", "de": "der Bevölkerung"}),
        ({"membership": "1/2"}, {"en": "in the table with more than 50%", "de": "mit mehr als 50 % geglaubt"}),
        ({"known_values": True}, {"en": "sensitive value of one other", "de": "Wert einer anderen Person"}),
        ({"name": "none"}, {"en": "Nothing is judged", "de": "Nichts wird beurteilt"}),
    ],
)
def test_every_limit_has_words(project: Project, language: str, changed: Any, expected: dict[str, str]) -> None:
    assert expected[language] in said(policy_of({"name": "own", **changed}), project, language)


@pytest.mark.parametrize("name", POLICIES)
def test_a_built_in_policy_is_taken_by_its_name(client: TestClient, project: Project, name: str) -> None:
    answer = post(client, f"/tables/{project.id}/protect/policy", policy=name, revision=project.revision)
    assert answer.status_code == 200
    assert now(project).loaded().policy == POLICIES[name]


OWN = {
    "policy": "own", "found": "10 %", "belief": "0,5", "gain": "1/10", "exposed": "0", "singled_out": "",
    "algorithm_safe": "required", "known_values": "true", "presence_known": "true", "membership": "",
    "harmful.disease": ["gout", "angina"],
}  # fmt: skip


def test_a_policy_of_ones_own_says_what_was_filled_in(client: TestClient, project: Project) -> None:
    assert post(client, f"/tables/{project.id}/protect/policy", **OWN).status_code == 200
    policy = now(project).loaded().policy
    assert policy == Policy(
        name="own", found="1/10", belief=0.5, gain="1/10", exposed=0, singled_out=None, algorithm_safe="required",
        known_values=True, harmful={"disease": ("gout", "angina")},
    )  # fmt: skip
    page = client.get(f"/tables/{project.id}/protect").text
    assert 'value="1/10"' in page
    assert page.count("<option selected>") == 2


def test_a_policy_that_contradicts_itself_is_explained_and_not_kept(client: TestClient, project: Project) -> None:
    wrong = {**OWN, "gain": "0.9", "found": "2"}
    answer = post(client, f"/tables/{project.id}/protect/policy", **wrong)
    assert answer.status_code == 400
    assert "The &#39;found&#39; parameter of Policy must be a number in (0, 1]" in answer.text
    assert "policy" not in now(project).spec
    part = post(client, f"/tables/{project.id}/protect/policy/look", headers={"hx-request": "true"}, **wrong)
    assert "must be a number in (0, 1]" in part.text
    good = post(client, f"/tables/{project.id}/protect/policy/look", headers={"hx-request": "true"}, **OWN)
    assert "everybody must look like 10 people or more" in good.text
    assert "policy" not in now(project).spec


def test_two_tabs_do_not_overwrite_each_other(client: TestClient, project: Project) -> None:
    where = f"/tables/{project.id}/protect/policy"
    assert post(client, where, policy="open", revision=project.revision).status_code == 200
    assert post(client, where, policy="none", revision=project.revision).status_code == 409
    assert now(project).spec["policy"] == {"name": "open"}


def test_requirements_are_added_and_removed(client: TestClient, project: Project) -> None:
    where = f"/tables/{project.id}/protect/require"
    for key, value in (("k", "3"), ("distinct-l", "2"), ("t", "0,6"), ("recursive-l", "2, c=3")):
        assert post(client, where, key=key, value=value).status_code == 200
    entries = now(project).spec["require"]
    names = [one.name for one in guarantees_from_entries(entries)]
    assert names == ["k-anonymity", "l-diversity", "t-closeness", "l-diversity"]
    assert entries[2]["t"] == 0.6
    page = post(client, where, remove="0").text
    assert [one["name"] for one in now(project).spec["require"]] == names[1:]
    assert "And beyond that: " in page
    assert post(client, where, key="k", value="x").status_code == 400
    assert post(client, where, remove="9").status_code == 400


def test_what_is_asked_for_stands_first(client: TestClient, project: Project) -> None:
    project.change(spec={**project.spec, "method": {"name": "mondrian", "k": 4}, "policy": {"name": "open"}})
    page = client.get(f"/tables/{project.id}/protect").text
    first = page.partition('class="verdict asks"')[2].partition("</section>")[0]
    assert "Method: Mondrian, k=4" in first
    assert "Policy: Open" in first
    assert f'href="/tables/{project.id}/run"' in first


def public_zip(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"public/{file.name}")
    return packed.getvalue()


def test_tables_of_others_are_kept_joined_and_published_beside(
    client: TestClient, project: Project, tmp_path: Path
) -> None:
    schema = uc.Schema(quasi_identifiers=["job"], sensitive="disease", drop="*")
    uc.save(uc.publish(patients(), schema, uc.Mondrian(k=10), policy="none"), tmp_path / "office")
    where = f"/tables/{project.id}/protect/others"
    sent = {"the office.zip": public_zip(tmp_path / "office" / "public"), "list.csv": b"a,disease\n1,flu\n"}
    for name, content in sent.items():
        assert post(client, where, files={"file": (name, content)}).status_code == 200
    assert [one["name"] for one in now(project).choices["others"]] == ["the-office", "list.csv"]
    assert post(client, where, files={"file": ("a.exe", b"MZ")}).status_code == 400
    assert post(client, where, files={"file": ("a.zip", b"no zip")}).status_code == 400
    assert post(client, where, remove="list.csv").status_code == 200
    assert [place.name for place in (project.folder / "others").iterdir()] == ["the-office"]

    for elsewhere in ("/etc/hostname", "../project.json", "project.json"):
        stolen = post(client, f"/tables/{project.id}/method/noncentralized", l="1", others=elsewhere)
        assert stolen.status_code == 400
    taken = post(client, f"/tables/{project.id}/method/noncentralized", l="1", others="others/the-office")
    assert taken.status_code == 200
    assert now(project).spec["method"] == {"name": "noncentralized", "l": 1, "others": ["others/the-office"]}
    made = publish(now(project), {}, no_progress)
    release = uc.load(project.folder / "releases" / str(made["release"])).release
    (claim,) = (entry for entry in release.guarantees if entry["name"] == "joint-diversity")
    assert claim["holds"]
    assert release.parameters["others"] == ["the-office"]
    found = join(now(project), {}, no_progress)
    assert found["l"] >= 1
    assert "<h4>" in found["html"]

    assert post(client, where, remove="the-office").status_code == 200
    assert now(project).spec["method"]["others"] == []


def test_a_release_of_this_desk_can_stand_beside_and_no_other(client: TestClient, project: Project) -> None:
    workspace = service_of(client).settings.workspace
    other = decided(workspace, patients(), ONE, desk="other")
    for each in (project, other):
        each.change(spec={**each.spec, "method": {"name": "mondrian", "k": 5}, "policy": {"name": "none"}})
        publish(now(each), {}, no_progress)
    page = client.get(f"/tables/{project.id}/protect").text
    assert f"{project.id}/1" in page
    assert f"{other.id}/1" not in page
    where = f"/tables/{project.id}/protect/others"
    assert post(client, where, release=f"{other.id}/1").status_code == 404
    assert post(client, where, release=f"{project.id}/1").status_code == 200
    assert (project.folder / now(project).choices["others"][0]["path"] / "release.json").is_file()
    assert not list((project.folder / "others").rglob("run.json"))


@pytest.mark.parametrize("page", ["protect", "method", "method/mondrian", "recommend"])
def test_pages_speak_german(client: TestClient, project: Project, page: str) -> None:
    client.cookies.set("language", "de")
    try:
        text = client.get(f"/tables/{project.id}/{page}").text
    finally:
        client.cookies.delete("language")
    assert '<html lang="de">' in text
    assert any(word in text for word in ("Richtlinie", "Verfahren"))


def test_what_pages_need_is_prepared_before_anybody_waits_for_it() -> None:
    templates = environment()
    assert templates.cache is not None
    templates.cache.clear()
    prepare()
    assert len(templates.cache) == len(templates.list_templates(extensions=["j2"]))
