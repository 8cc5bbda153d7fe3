"""Step 2, the columns: edits of a spec, live figures beside plain counting, and the page with and without HTMX."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import desk_of, post, profiled, serving
from starlette.testclient import TestClient

from undercover.errors import SchemaError
from undercover.io.spec.load import ROLES, spec_from_mapping
from undercover.studies.inspect.uniqueness import CodedColumn
from undercover.web.desks.columns import singled_out as counting
from undercover.web.desks.columns.editing import (
    ANSWERS,
    begun,
    filled,
    named,
    numbers,
    placed,
    problems_of,
    role_of,
    undecided,
    with_roles,
)
from undercover.web.desks.columns.profiled import Profiled
from undercover.web.desks.columns.singled_out import Figures, Rows, singled_out
from undercover.web.desks.project import Project

PEOPLE = 60
ROWS = 90
NAMES = ("person_id", "age", "sex", "town", "born", "illness", "pay", "note")


def people() -> list[dict[str, str]]:
    """Rows of people of whom some have several; some have no town."""
    draw = np.random.default_rng(8)
    rows = []
    for row in range(ROWS):
        who = row if row < PEOPLE else int(draw.integers(PEOPLE))
        rows.append(
            {
                "person_id": f"P{who:03d}",
                "age": str(draw.integers(20, 40)),
                "sex": str(draw.choice(["f", "m"])),
                "town": str(draw.choice(["Bonn", "Köln", "Lyon", ""])),
                "born": f"{draw.integers(1, 28):02d}.{draw.integers(1, 12):02d}.19{draw.integers(60, 99)}",
                "illness": str(draw.choice(["flu", "gout", "cold"])),
                "pay": str(draw.integers(1000, 9000)),
                "note": str(draw.choice(["x1", "x2", "x3"])),
            }
        )
    return rows


def written(rows: Sequence[Mapping[str, str]]) -> str:
    return "\n".join([",".join(NAMES), *(",".join(row[name] for name in NAMES) for row in rows)]) + "\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serving(tmp_path_factory.mktemp("workspace")) as client:
        yield client


@pytest.fixture
def project(client: TestClient) -> Iterator[Project]:
    """The table of these people, profiled in this process."""
    desk = desk_of(client)
    made = profiled(desk, written(people()))
    yield made
    desk.remove(made)


SPEC = {
    "roles": {
        "identifiers": ["person_id"],
        "quasi_identifiers": ["age", "sex", "town"],
        "sensitive": ["illness"],
        "insensitive": ["note"],
        "drop": ["born", "pay"],
    },
    "data": {"missing": "category"},
}
KNOWN = ("age", "sex", "town", "note")


def twin(rows: Sequence[Mapping[str, str]], known: Sequence[str], unit: str | None = None) -> list[int]:
    """Of everybody, with how many people the least shared of their rows is shared."""
    groups: dict[tuple[str, ...], set[Any]] = defaultdict(set)
    for number, row in enumerate(rows):
        groups[tuple(row[name] for name in known)].add(row[unit] if unit else number)
    fewest: dict[Any, int] = {}
    for inside in groups.values():
        for who in inside:
            fewest[who] = min(fewest.get(who, len(rows)), len(inside))
    return list(fewest.values())


def same(found: Figures, alike: Sequence[int]) -> None:
    assert found.people == len(alike)
    assert found.alone == sum(one == 1 for one in alike)
    assert found.below == {most: sum(one < most for one in alike) for most in (5, 10)}
    assert found.highest == 1 / min(alike)
    assert found.mean == pytest.approx(sum(1 / one for one in alike) / len(alike))


@pytest.mark.parametrize("unit", [None, "person_id"])
@pytest.mark.parametrize("missing", ["category", "drop"])
def test_live_figures_are_those_of_plain_counting(project: Project, unit: str | None, missing: str) -> None:
    spec = {**SPEC, "roles": {**SPEC["roles"], "unit": unit}, "data": {"missing": missing}}
    found = Profiled(project).singled_out(spec)
    assert found is not None
    together, without = found
    rows = [row for row in people() if missing == "category" or row["town"]]
    same(together, twin(rows, KNOWN, unit))
    assert set(without) == set(KNOWN)
    for name, less in without.items():
        same(less, twin(rows, [other for other in KNOWN if other != name], unit))


@pytest.mark.parametrize("unit", [False, True])
def test_in_a_large_table_some_people_are_compared_with_all_of_it(monkeypatch: pytest.MonkeyPatch, unit: bool) -> None:
    draw = np.random.default_rng(2)
    columns = {f"c{size}": CodedColumn(draw.integers(0, size, 6000), size) for size in (4, 9, 30)}
    units = draw.integers(0, 4000, 6000) if unit else None
    kept = draw.random(6000) < 0.9
    exact, without = singled_out(columns, Rows(6000, units, kept))
    for limit in ("EXACT", "EXACT_UNITS"):
        monkeypatch.setattr(counting, limit, 100)
    monkeypatch.setattr(counting, "_STRETCH", 1000)
    monkeypatch.setattr(counting, "SAMPLE", 10_000)  # everybody: then the estimate is exact
    whole, whole_without = singled_out(columns, Rows(6000, units, kept))
    assert (whole.people, whole.alone, whole.below) == (exact.people, exact.alone, exact.below)
    assert {name: one.alone for name, one in whole_without.items()} == {n: one.alone for n, one in without.items()}
    monkeypatch.setattr(counting, "SAMPLE", 500)
    some, _ = singled_out(columns, Rows(6000, units, kept))
    assert (some.people, some.looked_at) == (exact.people, 500)
    assert some.between is not None
    assert some.between[0] <= exact.alone <= some.between[1]
    inside = counting.counted([], [None], Rows(6000, units, np.zeros(6000, dtype=bool)))[0]
    assert (inside.people, inside.alone) == (0, 0)


def test_uniqueness_within_a_sample_would_be_another_figure() -> None:
    """The planted fault: whoever only compares the sample with itself finds far more people alone."""
    codes = np.random.default_rng(3).integers(0, 2000, 6000)
    whole = singled_out({"c": CodedColumn(codes, 2000)}, Rows(6000))[0]
    part = singled_out({"c": CodedColumn(codes[:500], 2000)}, Rows(500))[0]
    assert part.share > 3 * whole.share


def test_what_is_suggested_becomes_a_spec(project: Project) -> None:
    inspection = Profiled(project).inspection
    spec = begun({"data": {"separator": ","}}, inspection)
    roles = {column["name"]: column["role"] for column in inspection["columns"]}
    for name, role in roles.items():
        expected = {"quasi-identifier": "quasi_identifiers", "identifier": "identifiers"}.get(role, role)
        assert role_of(spec, name) == ("" if expected == "none" else expected)
    assert spec["data"]["separator"] == ","
    assert spec["roles"].get("unit") == inspection["unit"] == "person_id"
    assert begun(SPEC, inspection) == SPEC


def test_settings_follow_their_role() -> None:
    spec = {**SPEC, "columns": {"age": {"hierarchy": {"intervals": [5]}}, "illness": {"bins": [0, 1]}}}
    changed = with_roles(spec, {"age": "sensitive", "illness": "quasi_identifiers"}, NAMES)
    assert "columns" not in changed
    assert named(changed, "sensitive") == ["age"]
    assert undecided(with_roles(spec, {"note": ""}, NAMES), NAMES) == ["note"]
    assert undecided({"roles": {"drop": ["*"], "quasi_identifiers": "age"}}, NAMES) == []
    assert undecided({"roles": {"weight": "pay", "unit": "person_id"}}, ["pay", "person_id", "age"]) == ["age"]


def test_a_form_is_taken_over_field_by_field() -> None:
    said = {
        "role-4": "quasi_identifiers",
        "kind-4": "date",
        "format-4": "DD.MM.YYYY",
        "role-6": "sensitive",
        "bins-6": "0, 5000; 10000",
        "kind-7": "ordinal",
        "domain-7": "x2\nx1\n x3 \n",
        "description-7": "A note",
        "missing": "drop",
        "unit": "person_id",
        "one_row_per": "first",
        "population": "5 %",
        "about-title": "People",
    }
    spec, wrong = filled(SPEC, NAMES, said)
    assert wrong == {}
    assert spec["columns"] == {
        "born": {"kind": "date", "format": "DD.MM.YYYY"},
        "pay": {"bins": [0, 5000, 10000]},
        "note": {"kind": "ordinal", "domain": ["x2", "x1", "x3"], "description": "A note"},
    }
    assert (spec["data"]["missing"], spec["about"]) == ("drop", {"title": "People"})
    who = {key: spec["roles"][key] for key in ("unit", "one_row_per", "population")}
    assert who == {"unit": "person_id", "one_row_per": "first", "population": 0.05}
    looked, _ = filled(SPEC, NAMES, {"names_nobody-7": "true"})
    assert looked["columns"]["note"]["names_nobody"] is True
    assert "note" not in filled(looked, NAMES, {"names_nobody-7": ""})[0].get("columns", {})
    back, _ = filled(
        spec, NAMES, {"kind-4": "", "kind-7": "", "description-7": "", "unit": "", "population": "", "about-title": ""}
    )
    assert back["columns"] == {"pay": {"bins": [0, 5000, 10000]}}
    assert set(back["roles"]) <= set(ROLES)
    assert "about" not in back
    assert filled(SPEC, NAMES, {})[0] == SPEC


@pytest.mark.parametrize(
    ("field", "text"), [("bins-5", "0, ten"), ("population", "0"), ("population", "many"), ("population", "101")]
)
def test_what_cannot_be_understood_is_told_by_its_field(field: str, text: str) -> None:
    _, wrong = filled(SPEC, NAMES, {field: text})
    assert list(wrong) == [field]
    assert text.split(", ")[-1] in wrong[field]


def test_numbers_are_finite() -> None:
    with pytest.raises(SchemaError, match="`nan` is no number"):
        numbers("1, nan")


EDITS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([f"role-{n}" for n in range(8)]), st.sampled_from(["", "-", "other", *ANSWERS])),
        st.tuples(st.sampled_from(["kind-1", "kind-7"]), st.sampled_from(["", "numeric", "categorical", "strange"])),
        st.tuples(st.just("bins-6"), st.sampled_from(["", "0, 10", "10, 0", "x"])),
        st.tuples(st.just("unit"), st.sampled_from(["", "person_id", "age", "nobody"])),
        st.tuples(st.just("one_row_per"), st.sampled_from(["", "first", "never"])),
        st.tuples(st.just("population"), st.sampled_from(["", "5", "500"])),
        st.tuples(st.just("weight"), st.sampled_from(["", "pay", "sex"])),
        st.tuples(st.just("missing"), st.sampled_from(["error", "drop", "category", "other"])),
        st.tuples(st.just("about-title"), st.sampled_from(["", "  ", "People"])),
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(EDITS)
def test_any_edits_that_are_accepted_leave_a_spec_that_loads(edits: list[tuple[str, str]]) -> None:
    kinds = {"age": "numeric", "pay": "numeric", "born": "date"}
    columns = [{"name": name, "kind": kinds.get(name, "categorical"), "missing": 0} for name in NAMES]
    spec: Mapping[str, Any] = SPEC
    for field, text in edits:
        changed, wrong = filled(spec, NAMES, {field: text})
        roles = Counter(name for role in ROLES for name in named(changed, role))
        assert all(times == 1 for times in roles.values())
        if not wrong and not problems_of(changed, {"columns": columns}, Path()):
            spec = changed
        schema = spec_from_mapping(spec).schema
        assert set(schema.published) <= set(NAMES)


def test_problems_stand_beside_their_columns() -> None:
    spec, _ = filled(SPEC, NAMES, {"kind-2": "numeric", "unit": "age", "kind-7": "ordinal"})
    columns = [{"name": name, "kind": "categorical", "missing": 3} for name in NAMES]
    about, others = placed(problems_of(spec, {"columns": columns}, Path()), NAMES)
    assert list(about) == ["note"]
    spec, _ = filled(SPEC, NAMES, {"kind-2": "numeric", "unit": "person_id", "weight": "pay"})
    about, others = placed(problems_of(spec, {"columns": columns}, Path()), NAMES)
    assert (set(about), others) == ({"person_id", "pay", "sex"}, [])


def test_the_page_asks_decides_and_goes_on(client: TestClient, project: Project) -> None:
    path = f"/tables/{project.id}/columns"
    page = client.get(path)
    assert page.status_code == 200
    assert "Nothing is decided" in page.text
    assert "P001" not in page.text
    spec = begun(project.spec, Profiled(project).inspection)
    asked = undecided(spec, NAMES)
    assert asked
    number = NAMES.index(asked[0])
    assert f'type="radio" name="role-{number}"' in page.text
    refused = post(client, path, do="right", revision=str(project.revision))
    assert refused.status_code == 400
    assert "Answer this first." in refused.text
    assert "roles" not in Project(project.folder).spec
    drop = {f"role-{NAMES.index(name)}": "drop" for name in asked}
    stops = post(client, path, do="right", revision=str(project.revision), missing="error", **drop)
    assert stops.status_code == 400
    assert "nothing could be published" in stops.text
    done = post(client, path, do="right", revision=str(project.revision), follow_redirects=False, **drop)
    assert (done.status_code, done.headers["location"]) == (303, f"/tables/{project.id}/protect")
    now = Project(project.folder)
    assert now.choices["columns_decided"] is True
    assert named(now.spec, "drop") == [name for name in NAMES if name in asked]
    assert "suggested" not in client.get(path).text.split("<form")[-1]
    old = post(client, path, do="save", revision=str(project.revision))
    assert old.status_code == 409
    assert path in old.text


def test_saving_decides_nothing_and_levels_are_one_button_away(client: TestClient, project: Project) -> None:
    path, last = f"/tables/{project.id}/columns", project.revision
    saved = post(client, path, do="levels-1", revision=str(last), follow_redirects=False, **{"role-1": ANSWERS[0]})
    assert saved.headers["location"] == f"{path}/1"
    assert Project(project.folder).choices["columns_decided"] is False
    rest = post(client, path, do="rest", revision=str(last + 1))
    assert rest.status_code == 200
    assert undecided(Project(project.folder).spec, NAMES) == []
    refused = post(client, path, do="save", revision=str(last + 2), **{"kind-2": "numeric", "bins-6": "x"})
    assert refused.status_code == 400
    assert "declared numeric" in refused.text
    nobody = post(client, path, revision=str(last + 2), **{f"role-{number}": "drop" for number in range(len(NAMES))})
    assert nobody.status_code == 400
    assert "quasi-identifier is needed" in nobody.text
    assert Project(project.folder).revision == last + 2


def test_figures_of_the_page_are_live_and_write_nothing(client: TestClient, project: Project) -> None:
    fields = {f"role-{NAMES.index(name)}": role for role in ANSWERS for name in SPEC["roles"].get(role, ())}
    where = f"/tables/{project.id}/columns/figures"
    begin = time.perf_counter()
    answer = post(client, where, headers={"hx-request": "true"}, unit="", missing="category", **fields)
    print(f"figures of a small table in {1000 * (time.perf_counter() - begin):.0f} ms")
    alone = sum(one == 1 for one in twin(people(), KNOWN))
    assert f">{alone}<" in answer.text
    less = sum(one == 1 for one in twin(people(), [name for name in KNOWN if name != "age"]))
    assert f"without <code>age</code> it would be {less} instead of {alone}<" in answer.text
    empty = sum(not row["town"] for row in people())
    assert f"{empty} of {ROWS} rows lack a value" in answer.text
    units = post(client, where, headers={"hx-request": "true"}, unit="person_id", **fields)
    assert f"{PEOPLE} people have {ROWS} rows" in units.text
    assert "not saved yet" in units.text
    assert "not saved yet" not in post(client, where, missing="category", unit="person_id").text
    none = post(client, where, **{f"role-{number}": "drop" for number in range(len(NAMES))})
    assert "Nobody is singled out yet" in none.text
    assert Project(project.folder).spec == project.spec


def test_before_the_profile_there_is_a_place_to_wait(client: TestClient) -> None:
    made = desk_of(client).add("later.csv", {"kind": "upload", "path": "table.csv"})
    assert f"/tables/{made.id}/data" in client.get(f"/tables/{made.id}/columns").text
    assert client.get(f"/tables/{made.id}/columns/0").status_code == 400
