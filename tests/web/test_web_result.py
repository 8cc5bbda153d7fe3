"""The pages of a release: what they say is what the private run says, and who may not see them does not."""

from __future__ import annotations

import re
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from releasing import OPEN, READY, WITHHELD, Released
from serving import at, desk_of, post, service_of
from starlette.testclient import TestClient

import undercover as uc
from undercover.errors import ParameterError, UnreachableError
from undercover.forms import read
from undercover.model.about import Wanted
from undercover.model.policy import STANDARD
from undercover.model.table import Table
from undercover.studies.recommend.search import candidates_of
from undercover.waiting import no_progress
from undercover.web.desks.desk import Desk
from undercover.web.desks.outcomes import PARTS, outcome, outcomes, page_folder
from undercover.web.desks.progress import made as made_one
from undercover.web.desks.progress import next_number
from undercover.web.desks.project import Project
from undercover.web.jobs import whatif as whatifs
from undercover.web.jobs.accepting import accept
from undercover.web.jobs.frontier import redraw
from undercover.web.jobs.showing import asked_of, exposed_most, people_before_and_after, recipe_of
from undercover.web.jobs.whatif import whatif
from undercover.web.released.compared import points, tries
from undercover.web.texts import Texts


@pytest.fixture
def copied(made: Released) -> Iterator[Released]:
    """The same table under another id, for tests that change it."""
    place = made.project.folder.with_name(secrets.token_hex(6))
    shutil.copytree(made.project.folder, place, symlinks=True)
    yield replace(made, project=Project(place))
    shutil.rmtree(place)


def test_the_verdict_its_reasons_and_all_releases(holder: TestClient, made: Released) -> None:
    newest = holder.get(f"/tables/{made.project.id}/result").text
    assert "Release 3" in newest
    assert "The tables are withheld" in newest
    assert made.at(READY) in newest
    for number, run in made.runs.items():
        text = holder.get(made.at(number)).text
        assert f"Release {number}" in text
        for reason in outcome(made.project, number).facts["reasons"]:
            assert reason["text"].split("`")[0] in text.replace("&#39;", "'")
        assert run.release.method in outcome(made.project, number).facts["asked"]["method"]["name"]
    assert [one.verdict for one in outcomes(made.project)] == ["Do not publish", "Decide", "Ready"]
    assert [one.ready for one in outcomes(made.project)] == [False, False, True]


def test_a_cell_says_what_became_of_it(holder: TestClient, made: Released) -> None:
    """Against the order in which the private run put rows into the table, which nobody else has."""
    run = made.runs[READY]
    assert run.order is not None
    shown = outcome(made.project, READY).part("rows")
    assert shown is not None
    assert len(shown["rows"]) == 16
    reading = read(run.release)
    published = {int(run.rows[grouped]): place for place, grouped in enumerate(run.order)}
    cells = {
        name: np.array(reading.column(name).labels)[reading.column(name).codes] for name in ("age", "sex", "education")
    }
    alike = Counter(zip(*cells.values(), strict=True))
    page = holder.get(made.at(READY, "rows")).text
    for row in shown["rows"]:
        place = published[row["row"]]
        own = {name: labels[place] for name, labels in cells.items()}
        for cell in row["cells"]:
            assert cell["before"] == str(made.table.column(cell["column"])[row["row"]].as_py())
            if cell["column"] in own:
                assert cell["after"] == own[cell["column"]]
                assert cell["became"] == ("same" if cell["after"] == cell["before"] else "covered")
            else:
                assert (cell["column"], cell["became"]) == ("work_class", "same")
        assert row["others"] == alike[tuple(own.values())] - 1
    first = next(cell for cell in shown["rows"][0]["cells"] if cell["became"] == "covered")
    others = shown["rows"][0]["others"]
    assert (
        f"<code>{first['column']}</code> {first['before']} is published as {first['after']}. With {others} others"
        in page
    )


def test_whatever_the_method_every_cell_has_words_for_what_became_of_it() -> None:
    """The first candidate of every method that fits: all ways in which a value is published occur, and all are told."""
    people = uc.datasets.census(200, seed=3)
    domain = {"income": uc.Column(domain=[str(value) for value in range(50)])}
    schema = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="income", drop="*", columns=domain)
    first = {one.method: one for one in reversed(candidates_of(Wanted.of(Table.from_arrow(people, schema), STANDARD)))}
    seen = set()
    for candidate in first.values():
        run = uc.publish(people, schema, candidate.made(schema))
        shown = people_before_and_after(run)
        assert len(shown["rows"]) == 16, candidate.title
        assert asked_of(run)
        assert set(recipe_of(run)) >= set(candidate.parameters)
        for row in shown["rows"]:
            for cell in row["cells"]:
                seen.add(cell["became"])
                if cell["became"] == "same":
                    assert cell["after"] == cell["before"]
            if read(run.release).people is not None:  # a row stands for its whole group
                grouped = int(np.flatnonzero(run.rows == row["row"])[0])
                assert row["others"] + 1 >= run.groups.sizes[run.groups.labels[grouped]]
    assert seen >= {"same", "covered", "moved", "bucket", "noisy", "dealt"}
    for texts in (Texts("en"), Texts("de")):
        for became in seen - {"same"}:
            assert f"result.became.{became}" in texts
            assert became == "covered" or f"result.short.{became}" in texts


def test_distributions_are_plain_counts(holder: TestClient, made: Released) -> None:
    shown = outcome(made.project, READY).part("rows")
    assert shown is not None
    found = {column["name"]: column for column in shown["distributions"]}
    plain = Counter(made.table.column("sex").to_pylist())
    assert {one["label"]: one["before"] for one in found["sex"]["bins"]} == dict(plain)
    secret = Counter(made.table.column("work_class").to_pylist())
    assert {one["label"]: (one["before"], one["after"]) for one in found["work_class"]["bins"]} == {
        value: (count, count) for value, count in secret.items()
    }
    for column in shown["distributions"]:
        assert sum(one["before"] for one in column["bins"]) == 400
        assert sum(one["after"] for one in column["bins"]) == pytest.approx(400)
    assert f'<data value="{plain["Male"]}">' in holder.get(made.at(READY, "rows")).text


def test_the_riskiest_people_are_those_of_whom_an_attack_reaches_most(holder: TestClient, made: Released) -> None:
    run = made.runs[WITHHELD]
    chances = {}
    for attack in run.attacks:
        for exposure in attack.exposures():
            for each in (exposure.found, *exposure.belief.values()):
                for row, chance in zip(exposure.rows, [] if each is None else each, strict=False):
                    chances[int(row)] = max(chances.get(int(row), 0.0), float(chance))
    people = exposed_most(run)
    highest = sorted(chances.values(), reverse=True)[: len(people)]
    assert [one["reached"][0]["probability"] for one in people] == pytest.approx(highest)
    for one in people:
        assert one["reached"][0]["probability"] == pytest.approx(chances[one["row"]])
        assert one["known"]["age"] == str(made.table.column("age")[one["row"]].as_py())
        assert one["sensitive"] == {"work_class": made.table.column("work_class")[one["row"]].as_py()}
    page = holder.get(made.at(WITHHELD, "people")).text
    assert f"Row {people[0]['row']}" in page
    assert "do not pass it on" in page


def test_attacks_and_utility_are_the_sections_of_the_report(holder: TestClient, made: Released) -> None:
    report = (made.project.folder / "releases" / str(READY) / "private" / "report.html").read_text()
    for part, title in (("attacks", "What an attacker gets"), ("utility", "What it cost")):
        page = holder.get(made.at(READY, part)).text
        assert f"<h2>{title}</h2>" in page
        assert f"<h2>{title}</h2>" in report
        assert page.count("<svg")
        assert '<div class="wide">' not in page
        for picture in re.findall(r'<svg[^>]*aria-label="([^"]*)"', page):
            assert picture in report


def test_every_page_in_every_language_has_no_text_left_out(holder: TestClient, made: Released) -> None:
    for language, word in (("en", "Whole report"), ("de", "Ganzer Bericht")):
        for part in ("", *PARTS):
            answer = holder.get(made.at(READY, part), headers={"accept-language": language})
            assert answer.status_code == 200, part
            assert word in answer.text, part


def test_another_desk_finds_nothing(holder: TestClient, made: Released) -> None:
    stranger = at(holder, "other")
    for number in (READY, WITHHELD):
        for part in ("", *PARTS, "public.zip", "spec", "report", "report.html", "release.json", "command", "python"):
            assert stranger.get(made.at(number, part)).status_code == 404, part
        for act in ("accept", "decide", "remove", "whatif", "make"):
            assert post(stranger, made.at(number, act), sure="yes", by="x", because="y").status_code == 404
    assert stranger.get(f"/tables/{made.project.id}/result").status_code == 404


def test_what_does_not_exist_is_not_found(holder: TestClient, made: Released) -> None:
    for path in (made.at(99), made.at(0), made.at(READY, "nothing"), made.at(10**300), made.at(-1)):
        assert holder.get(path).status_code == 404, path
    assert holder.get(f"/tables/{made.project.id}/releases/..%2f..%2fproject.json").status_code in (404, 422)


def test_a_table_without_releases_says_what_comes_next(holder: TestClient) -> None:
    desk = desk_of(holder)
    project = desk.add("empty.csv", {"kind": "upload", "path": "table.csv"})
    page = holder.get(f"/tables/{project.id}/result").text
    desk.remove(project)
    assert "No release" in page
    assert f"/tables/{project.id}/run" in page


def test_a_release_without_a_page_is_shown_from_its_report(holder: TestClient, copied: Released) -> None:
    """Somebody ended the job after the release was written."""
    whole = outcome(copied.project, READY).facts
    shutil.rmtree(page_folder(copied.project, READY))
    found = outcome(copied.project, READY)
    for name in ("verdict", "reasons", "meaning", "headline", "loss", "counts", "title"):
        assert found.facts[name] == whole[name]
    for part in ("", *PARTS):
        assert holder.get(copied.at(READY, part)).status_code == 200, part


def test_accepting_needs_a_reason_and_a_tick(holder: TestClient, copied: Released) -> None:
    where = copied.at(WITHHELD, "accept")
    for fields in ({}, {"by": "the board"}, {"because": "x"}, {"sure": "yes"}):
        assert post(holder, where, **fields).status_code == 400
    assert post(holder, where, because="b" * 2001, sure="yes").status_code == 400
    assert holder.post(where, data={"by": "b", "because": "x", "sure": "yes"}).status_code == 403
    assert post(holder, copied.at(READY, "accept"), by="b", because="x", sure="yes").status_code == 400
    queue = service_of(holder).queue
    assert not queue.jobs(copied.project, "accept")
    page = post(holder, where, by="the board", because="Nobody of it exists.", sure="yes").text
    assert "verified once more" in page
    [job] = queue.jobs(copied.project, "accept")
    queue.cancel(copied.project, job.id)
    accept(copied.project, job.request, no_progress)
    found = outcome(copied.project, WITHHELD)
    assert not found.withheld
    assert found.accepted is not None
    assert found.accepted.by == "own"  # who is signed in, whatever a form says
    page = holder.get(copied.at(WITHHELD)).text
    assert "Nobody of it exists." in page
    assert "public.zip" in page


def test_what_is_open_is_decided_before_it_is_downloaded(holder: TestClient, copied: Released) -> None:
    page = holder.get(copied.at(OPEN)).text
    assert "public.zip" not in page
    assert outcome(copied.project, OPEN).asks
    assert holder.get(copied.at(OPEN, "public.zip")).status_code == 400
    assert post(holder, copied.at(OPEN, "decide"), by="Ada").status_code == 400
    assert "Decided by own" in post(holder, copied.at(OPEN, "decide"), by="Ada", sure="yes").text
    assert holder.get(copied.at(OPEN, "public.zip")).status_code == 200
    assert post(holder, copied.at(OPEN, "decide"), by="Bob", sure="yes").status_code == 400
    assert post(holder, copied.at(READY, "decide"), by="Bob", sure="yes").status_code == 400


def test_a_removed_release_is_gone_with_its_page(holder: TestClient, copied: Released) -> None:
    assert post(holder, copied.at(OPEN, "remove")).status_code == 400
    assert "Release 3" in post(holder, copied.at(OPEN, "remove"), sure="yes").text
    left = sorted(place.name for place in (copied.project.folder / "releases").iterdir())
    assert left == ["1", "1.page", "3", "3.page", "last"]
    assert holder.get(copied.at(OPEN)).status_code == 404
    [job] = service_of(holder).queue.jobs(copied.project, "frontier")
    service_of(holder).queue.cancel(copied.project, job.id)
    redraw(copied.project, job.request, no_progress)
    assert [one["number"] for one in points(copied.project)] == [3, 1]


def test_what_if_moves_a_point_and_can_be_made(holder: TestClient, copied: Released) -> None:
    fields = {
        f"parameter-{one['name']}": "" if one["value"] is None else str(one["value"])
        for one in outcome(copied.project, READY).facts["parameters"]
    }
    unchanged = post(holder, copied.at(READY, "whatif"), **fields)
    assert unchanged.status_code == 400
    assert "Change a parameter first" in unchanged.text
    page = post(holder, copied.at(READY, "whatif"), **{**fields, "parameter-k": "80"}).text
    assert "Tried: k=80" in page
    queue = service_of(holder).queue
    [job] = queue.jobs(copied.project, "whatif")
    queue.cancel(copied.project, job.id)
    assert job.request["parameters"]["k"] == 80
    assert job.request["changed"] == "k=80"
    before = {one["number"]: one for one in points(copied.project)}
    found = whatif(copied.project, job.request, no_progress)
    assert found["whole"]
    assert found["rows"] == 400
    moved = points(copied.project)[-1]
    assert moved["number"] is None
    assert moved["label"].endswith("k=80?")
    assert moved["privacy"]["identity"]["mean"] < before[READY]["privacy"]["identity"]["mean"]
    assert moved["utility"]["pairwise"]["mean"] > before[READY]["utility"]["pairwise"]["mean"]
    assert [one.number for one in outcomes(copied.project)] == [3, 2, 1]  # nothing is saved
    page = holder.get(copied.at(READY, "compare")).text
    assert "k=80?" in page
    assert "k = 80" in page


def test_a_what_if_that_cannot_be_says_so(copied: Released) -> None:
    request = {"method": "mondrian", "parameters": {"k": "0"}, "changed": "k=0"}
    with pytest.raises(ParameterError, match="k"):
        whatif(copied.project, request, no_progress)
    with pytest.raises(UnreachableError):
        whatif(copied.project, {**request, "parameters": {"k": 5, "l": 300}}, no_progress)
    assert not list(tries(copied.project).glob("*.json"))


def test_of_a_large_table_a_sample_is_tried(copied: Released, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whatifs, "WHOLE", 150)
    found = whatif(copied.project, {"method": "mondrian", "parameters": {"k": 10}, "changed": "k=10"}, no_progress)
    assert not found["whole"]
    assert found["rows"] == 150


def test_what_was_tried_becomes_the_spec(holder: TestClient, copied: Released) -> None:
    """A job that is done is taken; one of another kind, or of an older revision of the table, is not."""
    queue = service_of(holder).queue
    job = queue.add(copied.project, "whatif", {"method": "mondrian", "parameters": {"k": 7}, "changed": "k=7"})
    queue.cancel(copied.project, job.id)
    at_revision = {"job": job.id, "revision": str(copied.project.revision)}
    assert post(holder, copied.at(READY, "make"), **at_revision).status_code == 404
    (copied.project.folder / "jobs" / job.id / "result.json").write_text("{}")
    assert post(holder, copied.at(READY, "make"), **{**at_revision, "revision": "0"}).status_code == 409
    answer = post(holder, copied.at(READY, "make"), **at_revision, follow_redirects=False)
    assert answer.headers["location"] == f"/tables/{copied.project.id}/run"
    assert Desk(service_of(holder).settings.workspace, "own").project(copied.project.id).spec["method"] == {
        "name": "mondrian",
        "k": 7,
    }


def test_the_number_of_a_removed_release_is_not_used_again(tmp_path: Path) -> None:
    project = Desk(tmp_path, "own").add("people.csv", {"kind": "example"})
    assert next_number(project) == 1
    (project.folder / "releases" / "1").mkdir()
    made_one(project, 1)
    (project.folder / "releases" / "1").rmdir()
    assert next_number(project) == 2
    (project.folder / "releases" / "4").mkdir()  # of a workspace from before numbers were remembered
    assert next_number(project) == 5
