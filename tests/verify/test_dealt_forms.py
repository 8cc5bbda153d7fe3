"""What a release says of values that were dealt anew, where somebody changes it: with the private run, and without."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import undercover as uc
from dealing import SHAPES, Dealing, Shape, dealt, people
from undercover import plugins
from undercover.forms.case import Case
from undercover.guarantees.contradictions import contradictions
from undercover.model.form import Drawn, form_entry, form_of_entry
from undercover.model.run import Run
from undercover.testing.attacks import by_name, truthful
from undercover.testing.forged import Folder, check_forged
from undercover.testing.forms import adds_up, has_words, is_refused_where_unknown, loses_what_it_lost, says_the_truth

pytestmark = pytest.mark.usefixtures("unjudged")

PERMUTED = Drawn(values="permuted", among=4, columns="permuted")


@pytest.mark.parametrize("shape", SHAPES)
def test_no_forgery_of_the_public_folder_goes_unnoticed(shape: Shape) -> None:
    check_forged(dealt(shape).release)


def test_a_form_comes_back_from_its_entry() -> None:
    assert form_of_entry(Drawn, form_entry(PERMUTED)) == PERMUTED
    assert form_entry(Drawn()) == {"name": "drawn"}
    assert form_of_entry(Drawn, {"name": "drawn", "order": "input"}).values == "own"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (Drawn(values="permuted", columns="permuted"), "must say how many"),
        (Drawn(values="permuted", columns="permuted", among=1), "must say how many"),
        (Drawn(values="permuted", columns="permuted", among=True), "must say how many"),
        (Drawn(values="permuted", among=4), "not permuted"),
        (Drawn(among=4), "rows' own, and that they were dealt"),
        (Drawn(values="swapped"), "there are own and permuted"),  # type: ignore[arg-type]
        (Drawn(columns="mixed"), "there are drawn and permuted"),  # type: ignore[arg-type]
    ],
)
def test_forms_that_contradict_themselves(form: Drawn, said: str) -> None:
    release = replace(dealt("layers").release, form=form)
    assert said in " ".join(form.problems(release.tables))
    assert uc.verify(release).holds is False


def with_form(run: Run, **changes: Any) -> Run:
    return replace(run, release=replace(run.release, form=replace(run.release.form, **changes)))


def without_promises(run: Run) -> Run:
    return replace(run, release=replace(run.release, guarantees=()))


def test_dealt_values_called_own_are_seen_by_the_promise_and_by_the_run() -> None:
    forged = with_form(dealt("layers"), values="own", among=None)
    assert "not dealt anew" in uc.verify(forged.release).findings[0].note
    silent = without_promises(forged)
    assert "the run dealt others" in " ".join(uc.verify(silent).problems)
    assert uc.verify(silent.release).holds is None  # nothing is promised, so nothing is verified


def test_more_than_was_dealt_is_seen_by_the_parameters_and_by_the_run() -> None:
    forged = with_form(dealt("groups"), among=9)
    assert any("the form 9" in problem for problem in uc.verify(forged.release).problems)
    run = replace(forged, release=replace(forged.release, parameters={"l": 9}, guarantees=()))
    assert "a group of 5" in " ".join(uc.verify(run).problems)
    told = uc.verify(run.release)
    assert told.holds is None
    assert any("is what the holder says" in note for note in told.notes)


@pytest.mark.parametrize("shape", ["layers", "groups"])
def test_a_folder_with_its_private_half_knows_what_was_written(shape: Shape, tmp_path: Path) -> None:
    uc.save(dealt(shape), tmp_path / "out")
    folder = Folder(tmp_path / "out" / "public")
    del folder.content["form"]["values"], folder.content["form"]["among"]
    folder.content["guarantees"] = folder.content["guarantees"][1:]
    folder.seal()
    assert "is not what the private run wrote" in " ".join(uc.verify(tmp_path / "out").problems)


def test_a_requirement_with_another_number_contradicts_nothing() -> None:
    data, schema = people()
    run = uc.publish(data, schema, Dealing(), require=[uc.AttributeCover(l=2)], seed=3)
    assert not contradictions(run.release)
    assert contradictions(replace(run.release, parameters={**run.release.parameters, "l": 3}))


@pytest.mark.parametrize("shape", SHAPES)
def test_saved_and_loaded_the_promises_hold(shape: Shape, tmp_path: Path) -> None:
    uc.save(dealt(shape, insensitive=True), tmp_path / "out")
    checked = uc.verify(tmp_path / "out")
    assert checked.holds
    assert not checked.problems
    stated = json.loads((tmp_path / "out" / "public" / "release.json").read_text("utf-8"))["form"]
    assert stated.get("among") == (None if shape == "blocks" else 4)
    assert not any("groups" in path.name for path in (tmp_path / "out" / "public").iterdir())


@pytest.mark.parametrize("shape", SHAPES)
def test_against_the_original_every_column_is_there_as_often(shape: Shape) -> None:
    run = dealt(shape, insensitive=True)
    found = uc.verify(run, original=people(insensitive=True)[0])
    assert found.holds
    assert [finding.name for finding in found.findings].count("column-preserved") == 3
    assert found.findings[-1].name == "dealt-as-kept"


def changed_cell(run: Run, name: str, row: int, value: Any) -> Run:
    (table,) = run.release.tables
    cells = table.data.column(name).to_pylist()
    cells[row] = value
    data = table.data.set_column(table.data.column_names.index(name), name, [cells])
    return replace(run, release=replace(run.release, tables=(replace(table, data=data),)))


@pytest.mark.parametrize("name", ["age", "pet"])
def test_a_changed_value_is_found(name: str) -> None:
    run, data = dealt("layers", insensitive=True), people(insensitive=True)[0]
    cells = run.release.published().data.column(name).to_pylist()
    forged = changed_cell(run, name, 0, next(value for value in cells if value != cells[0]))
    failed = {(finding.name, finding.parameters.get("column")) for finding in uc.verify(forged, original=data).failures}
    assert ("column-preserved", name) in failed


@pytest.mark.parametrize(("shape", "name"), [("layers", "age"), ("blocks", "ill"), ("groups", "pet")])
def test_values_that_left_their_group_are_found(shape: Shape, name: str) -> None:
    run, data = dealt(shape, insensitive=True), people(insensitive=True)[0]
    place = run.frames["published_rows"].column("cells").to_numpy()
    blocks = run.frames["blocks"].column("block").to_numpy() if shape == "layers" else run.groups.labels
    cells = run.release.published().data.column(name).to_pylist()
    first, second = (
        int(place[0]),
        next(int(place[i]) for i in np.flatnonzero(blocks != blocks[0]) if cells[place[i]] != cells[place[0]]),
    )
    forged = changed_cell(changed_cell(run, name, first, cells[second]), name, second, cells[first])
    assert [finding.name for finding in uc.verify(forged, original=data).failures] == ["dealt-as-kept"]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_every_form_must_pass(shape: Shape) -> None:
    case = Case.of(dealt(shape, insensitive=True))
    says_the_truth(case)
    adds_up(case)
    has_words(case.reading)
    is_refused_where_unknown(case.run)  # type: ignore[arg-type]
    loses_what_it_lost(case)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", plugins.BUILT_IN["attacks"])
def test_every_attacker_runs_or_says_why_not(shape: Shape, name: str) -> None:
    truthful(by_name(name), Case.of(dealt(shape)))
