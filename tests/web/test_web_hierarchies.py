"""Levels of a column: what each does to people beside plain counting, groups edited by hand, rules, files and pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import desk_of, post, profiled, serving
from starlette.testclient import TestClient

from undercover.errors import HierarchyError
from undercover.hierarchies.build import from_cuts
from undercover.hierarchies.file import read_hierarchy
from undercover.io.source import read
from undercover.io.spec.load import resolve
from undercover.model.hierarchy import ROOT, Hierarchy
from undercover.model.table import Table
from undercover.web.desks.columns.groups import Row, add_level, dissolve, put, remove_level, rename
from undercover.web.desks.columns.levels import MOST, keep_values, kept_values, levels_of
from undercover.web.desks.columns.profiled import Profiled
from undercover.web.desks.project import Project

TOWNS = ("Bonn", "Köln", "Lyon", "Nice", "")
ROWS = [
    {
        "age": str(20 + row * 7 % 23),
        "town": TOWNS[row * 3 % 5],
        "born": f"{1 + row % 28:02d}.{1 + row % 12:02d}.{1970 + row % 9}",
        "sex": "fm"[row % 2],
        "ill": "abc"[row % 3],
    }
    for row in range(60)
]
NAMES = list(ROWS[0])
KNOWN = ("age", "town", "born", "sex")
SPEC: dict[str, Any] = {
    "roles": {"quasi_identifiers": list(KNOWN), "sensitive": ["ill"]},
    "data": {"missing": "category"},
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serving(tmp_path_factory.mktemp("workspace")) as client:
        yield client


@pytest.fixture
def project(client: TestClient) -> Iterator[Project]:
    desk = desk_of(client)
    lines = [",".join(NAMES), *(",".join(row.values()) for row in ROWS)]
    made = profiled(desk, "\n".join(lines) + "\n")
    yield made.change(spec=SPEC)
    desk.remove(made)


def path_of(project: Project, name: str) -> str:
    return f"/tables/{project.id}/columns/{NAMES.index(name)}"


def settings_of(project: Project, name: str) -> dict[str, Any]:
    found: dict[str, Any] = Project(project.folder).spec.get("columns", {}).get(name, {})
    return found


def send(client: TestClient, project: Project, name: str, do: str, **fields: Any) -> Any:
    last = str(Project(project.folder).revision)
    return post(client, path_of(project, name), do=do, revision=last, **fields)


def published(project: Project, name: str) -> Hierarchy | None:
    """The hierarchy that publishing would find, read and checked against all rows."""
    spec = Project(project.folder).loaded()
    given = read(project.whence, options=spec.options)
    return Table.from_arrow(given.data, resolve(spec, given.data))[name].settings.hierarchy


def alone(labels: Mapping[str, str], name: str, rows: list[dict[str, str]]) -> int:
    """People who are alone where one column is written coarser; missing is a value of its own."""
    others = [other for other in KNOWN if other != name]
    keys = [(labels.get(row[name], "?"), *(row[other] for other in others)) for row in rows]
    return sum(times == 1 for times in Counter(keys).values())


@pytest.mark.parametrize("policy", ["category", "drop"])
@pytest.mark.parametrize("name", ["age", "town"])
def test_levels_are_those_of_plain_counting(project: Project, name: str, policy: str) -> None:
    rows = [row for row in ROWS if policy == "category" or row["town"]]
    table, spec = Profiled(project), {**SPEC, "data": {"missing": policy}}
    own = Hierarchy([("Bonn", "DE"), ("Köln", "DE"), ("Lyon", "FR"), ("Nice", "FR"), ("Oslo", "NO")])
    found = table.levels(name, {}, own if name == "town" else None)
    assert found is not None
    assert found.depth > 2
    label_of = {row[0]: row for row in found.rows}
    for level in table.looked_at(name, found, spec):
        labels = {value: row[level.number] for value, row in label_of.items()}
        if level.number == found.depth - 1:
            labels[""] = labels[next(iter(label_of))]
        assert level.people is not None
        assert level.people.alone == alone(labels, name, rows)
        counted = Counter(labels[row[name]] for row in rows if row[name])
        assert dict(level.nodes) == dict(counted)
        assert level.empty == sum(not row[name] for row in rows)


def test_values_are_kept_as_they_are(tmp_path: Path) -> None:
    for values in (pa.array([1.5, 2.0]), pa.array(["a", ""]), pa.array([True, False]), pa.array([3, 1])):
        keep_values(tmp_path / "values.arrow", values)
        kept = kept_values(tmp_path / "values.arrow")
        assert kept is not None
        assert kept.equals(values)
    keep_values(tmp_path / "many.arrow", pa.array(range(MOST + 1)))
    assert kept_values(tmp_path / "many.arrow") is None


def test_an_empty_text_is_a_missing_value(tmp_path: Path) -> None:
    found = levels_of("town", pa.array(["Bonn", "", "Ahr"]), {}, tmp_path)
    assert (found.rows, found.leaves) == ((("Ahr", ROOT), ("Bonn", ROOT)), (1, -1, 0))


def test_cuts_must_be_nested_numbers() -> None:
    hierarchy = from_cuts(range(10, 30), [[15, 20, 25], [20]])
    assert hierarchy.rows[0] == ("10", "[10, 14]", "[10, 19]", ROOT)
    assert hierarchy.rows[-1] == ("29", "[25, 29]", "[20, 29]", ROOT)
    assert from_cuts([1, 2, 3], [[2, 3]]).rows[1] == ("2", "2", ROOT)
    for values, cuts, told in (
        ([1, 2], [[1], [2]], "nested"),
        ([1, 2], [[float("inf")]], "finite"),
        ([1, 2], [[]], "at least one cut"),
        ([1, 2], [], "at least one cut"),
        (["a"], [[1]], "need numbers"),
    ):
        with pytest.raises(HierarchyError, match=told):
            from_cuts(values, cuts)


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["put", "rename", "dissolve", "add", "remove"]),
        st.integers(0, 4),
        st.sampled_from(["a", "b", "c", "d", "x", "y"]),
        st.lists(st.sampled_from(["a", "b", "c", "d", "x", "y"]), max_size=3),
    ),
    max_size=15,
)


@settings(max_examples=150, deadline=None)
@given(EDITS)
def test_any_edits_leave_every_value_in_one_group_of_each_level(
    edits: list[tuple[str, int, str, list[str]]],
) -> None:
    rows: list[Row] = [(value, ROOT) for value in "abcd"]
    for do, level, group, chosen in edits:
        try:
            if do == "put":
                rows = put(rows, level, chosen, group)
                assert {row[level] for row in rows if row[level - 1] in chosen} == {group}
            elif do == "rename":
                rows = rename(rows, level, group, "".join(chosen))
            elif do == "dissolve":
                rows = dissolve(rows, level, group)
            else:
                rows = add_level(rows) if do == "add" else remove_level(rows, level)
        except HierarchyError:
            continue
        assert Hierarchy(rows).leaves == ("a", "b", "c", "d")
        assert Hierarchy(rows).tree.labels


def test_groups_are_made_by_forms_alone(client: TestClient, project: Project) -> None:
    assert "no level between" in client.get(path_of(project, "town")).text
    assert send(client, project, "town", "add").status_code == 200
    answer = send(client, project, "town", "put", level="1", node=["Bonn", "Köln"], group=" West ")
    assert "<legend>West</legend>" in answer.text
    first = settings_of(project, "town")["hierarchy"]
    send(client, project, "town", "put", level="1", node=["Nice", "Lyon"], group="South")
    send(client, project, "town", "rename", level="1", old="West", new="Rhine")
    answer = send(client, project, "town", "dissolve", level="1", old="South")
    kept = settings_of(project, "town")["hierarchy"]
    assert (project.folder / first).exists(), "a release that waits may be made of it"
    rows = {row[0]: row[1] for row in read_hierarchy(project.folder / kept).rows}
    assert rows == {"Bonn": "Rhine", "Köln": "Rhine", "Lyon": "Lyon", "Nice": "Nice"}
    assert published(project, "town") == read_hierarchy(project.folder / kept)
    for do, fields, told in (
        ("put", {"level": "1", "node": "Bonn", "group": "*"}, "stands for everything"),
        ("put", {"level": "1", "group": "Nowhere"}, "at least one value"),
        ("put", {"level": "2", "node": "Bonn", "group": "Root"}, "no such level"),
        ("rename", {"level": "1", "old": "Rhine", "new": "Nice"}, "already"),
        ("dissolve", {"level": "1", "old": "West"}, "no group <code>West</code>"),
        ("strange", {}, "Choose one"),
    ):
        refused = send(client, project, "town", do, **fields)
        assert refused.status_code == 400
        assert (told in refused.text) or do == "strange"
    assert settings_of(project, "town")["hierarchy"] == kept
    assert "automatic" in send(client, project, "town", "automatic").text
    assert settings_of(project, "town") == {}


@pytest.mark.parametrize(
    ("name", "do", "fields", "rule"),
    [
        ("age", "intervals", {"intervals": "5, 10", "origin": "2"}, {"intervals": [5, 10], "origin": 2}),
        ("town", "prefixes", {"prefixes": "2 1"}, {"prefixes": [2, 1]}),
        ("born", "dates", {"dates": ["year", "month"]}, {"dates": ["month", "year"]}),
    ],
)
def test_rules_stand_in_the_spec(
    client: TestClient, project: Project, name: str, do: str, fields: dict[str, Any], rule: dict[str, Any]
) -> None:
    shown = post(client, f"{path_of(project, name)}/preview", headers={"hx-request": "true"}, do=do, **fields)
    assert "nothing is saved" in shown.text
    assert settings_of(project, name) == {}
    answer = send(client, project, name, do, **fields)
    assert answer.status_code == 200
    assert settings_of(project, name)["hierarchy"] == rule
    assert "built by a rule" in answer.text
    assert published(project, name) is not None
    for wrong in ({"intervals": "5, 7"}, {"intervals": "x"}) if do == "intervals" else ():
        refused = send(client, project, name, do, **wrong)
        assert refused.status_code == 400
        assert f'value="{wrong["intervals"]}"' in refused.text
        part = post(client, f"{path_of(project, name)}/preview", headers={"hx-request": "true"}, do=do, **wrong)
        assert part.status_code == 400


def test_intervals_are_cut_by_hand_and_cut_again(client: TestClient, project: Project) -> None:
    shown = post(client, f"{path_of(project, 'age')}/preview", do="cuts", cuts=["25, 30, 35", "30", ""])
    assert "[30, 42]" in shown.text
    answer = send(client, project, "age", "cuts", cuts=["25, 30, 35", "30", ""])
    assert 'name="cuts" value="25, 30, 35"' in answer.text
    assert 'name="cuts" value="30"' in answer.text
    refused = send(client, project, "age", "cuts", cuts=["25", "30"])
    assert refused.status_code == 400
    assert "nested" in refused.text


def test_dates_in_groups_stay_dates(client: TestClient, project: Project) -> None:
    assert send(client, project, "born", "add").status_code == 200
    assert settings_of(project, "born")["kind"] == "date"
    levels = Profiled(project).levels("born", settings_of(project, "born"))
    assert levels is not None
    assert levels.origin == "file"
    assert published(project, "born") is not None


def test_uploaded_levels_are_taken_or_explained_by_line(client: TestClient, project: Project) -> None:
    def upload(text: str) -> Any:
        return send(client, project, "town", "upload", files={"file": ("my towns.csv", text.encode())})

    good = "level0,level1\nBonn,DE\nKöln,DE\nLyon,FR\nNice,FR\n"
    assert upload(good).status_code == 200
    assert settings_of(project, "town")["hierarchy"].startswith("hierarchies/town-1-")
    for text, told in (
        ("level0,level1\nBonn,DE\nBonn,FR\n", "<code>my towns.csv</code>, line 3: its leaf is already on line 2"),
        ("level0,level1\nBonn\n", "line 2: 1 labels where the header has 2"),
        ("town,country\nBonn,DE\n", "line 1: the header must be"),
        ("level0,level1\nBonn,DE\nKöln,DE\nLyon,FR\n", "does not cover"),
        ("", "is empty"),
    ):
        refused = upload(text)
        assert refused.status_code == 400
        assert told in refused.text
        assert str(project.folder) not in refused.text
    assert send(client, project, "town", "upload").status_code == 400
    assert len(list((project.folder / "hierarchies").iterdir())) == 1


def test_an_old_tab_changes_no_levels(client: TestClient, project: Project) -> None:
    send(client, project, "town", "add")
    kept = settings_of(project, "town")["hierarchy"]
    old = post(client, path_of(project, "town"), do="put", revision="0", level="1", node="Bonn", group="DE")
    assert old.status_code == 409
    assert path_of(project, "town") in old.text
    assert [place.name for place in (project.folder / "hierarchies").iterdir()] == [Path(kept).name]


def test_only_what_others_may_know_has_levels(client: TestClient, project: Project) -> None:
    assert "Add a coarser" not in client.get(path_of(project, "ill")).text
    refused = send(client, project, "ill", "add")
    assert refused.status_code == 400
    assert "Only a column that others may know" in refused.text
    assert settings_of(project, "ill") == {}


def test_a_column_that_is_not_there_is_told(client: TestClient, project: Project) -> None:
    assert client.get(f"/tables/{project.id}/columns/99").status_code == 400
