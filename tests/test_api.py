"""The verbs: every kind of frame in and out, there and back through a folder, nothing private in public."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import undercover as uc
import undercover.model.figures
from undercover.errors import (
    DataError,
    InputError,
    InternalError,
    OutputError,
    ParameterError,
    SchemaError,
    UnreachableError,
)
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.io.source import ReadOptions
from undercover.model.release import REPRODUCIBLE
from undercover.model.run import Draft
from undercover.verbs.report import summarize
from undercover.verbs.store import original_of, schema_of

pytestmark = pytest.mark.usefixtures("unjudged")

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"])
METHODS = [uc.Mondrian(k=4), uc.Mondrian(k=4, l=2, recoding="regions"), uc.Anatomy(l=4)]


def as_kind(path: Path, kind: str) -> Any:
    table = pyarrow.csv.read_csv(path)
    return {
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "pyarrow": lambda: table,
        "path": lambda: path,
        "text": lambda: str(path),
    }[kind]()


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table, "path": pa.Table, "text": pa.Table}


@pytest.mark.parametrize("kind", list(FRAMES))
@pytest.mark.parametrize("method", METHODS)
def test_every_kind_of_table_gives_the_same_release_in_its_own_kind(people: Path, kind: str, method: Any) -> None:
    run = uc.publish(as_kind(people, kind), SCHEMA, method, seed=3)
    expected = uc.publish(people, SCHEMA, method, seed=3)
    for published, wanted in zip(run.release.tables, expected.release.tables, strict=True):
        assert published.data.to_pydict() == wanted.data.to_pydict()
        frame = run.release.table(published.name)
        assert isinstance(frame, FRAMES[kind])
        assert list(frame.columns if kind in ("pandas", "polars") else frame.column_names) == wanted.data.column_names
        assert len(frame) == wanted.rows
    assert run.release.guarantees == expected.release.guarantees
    assert uc.verify(run.release).holds


def test_the_frame_that_was_given_stays_as_it_was(people: Path) -> None:
    frame = as_kind(people, "pandas")
    copy = frame.copy(deep=True)
    uc.publish(frame, SCHEMA, uc.Mondrian(k=4))
    pd.testing.assert_frame_equal(frame, copy)


def test_several_tables_are_asked_for_by_name(people: Path) -> None:
    release = uc.publish(people, SCHEMA, uc.Anatomy(l=4)).release
    with pytest.raises(InputError, match="Name one: qit, sat"):
        release.table()
    assert release.table("sat").column_names == ["bucket", "disease", "count"]


def assert_the_same(found: Any, expected: Any) -> None:
    """Equal, but for the last digits of floating-point sums: a loaded table adds its cells up in another order."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert_the_same(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_the_same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    else:
        assert found == expected


@pytest.mark.parametrize("format_", ["csv", "parquet"])
@pytest.mark.parametrize("method", METHODS)
def test_a_loaded_run_is_treated_like_a_fresh_one(people: Path, tmp_path: Path, method: Any, format_: Any) -> None:
    run = uc.publish(people, SCHEMA, method)
    folder = uc.save(run, tmp_path / "out", format=format_)
    loaded = uc.load(folder)
    assert loaded.original is None
    assert loaded.groups.labels.tolist() == run.groups.labels.tolist()
    beside = ("notes", "stated")  # what files and the private run show besides
    wanted = {name: found for name, found in uc.verify(run.release).to_dict().items() if name not in beside}
    for target in (loaded, loaded.release, folder, str(folder), folder / "public"):
        assert {name: found for name, found in uc.verify(target).to_dict().items() if name not in beside} == wanted
    assert uc.attack(loaded).to_dict() == uc.attack(run).to_dict() == uc.attack(folder).to_dict()
    costs = uc.measure(people, run).to_dict()
    assert_the_same(uc.measure(people, loaded).to_dict(), costs)
    assert_the_same(uc.measure(people, loaded.release).to_dict(), costs)
    assert_the_same(uc.measure(people, loaded.release, schema=SCHEMA).to_dict(), costs)
    assert uc.verify(folder, original=people).holds
    assert uc.verify(folder / "public", original=people, schema=SCHEMA).holds


def test_a_seed_makes_it_reproducible_and_says_so(people: Path) -> None:
    for method in METHODS:
        one, two, other = (uc.publish(people, SCHEMA, method, seed=seed) for seed in (5, 5, 6))
        assert [table.data for table in one.release.tables] == [table.data for table in two.release.tables]
        assert [table.data for table in one.release.tables] != [table.data for table in other.release.tables]
        assert one.randomness == {"source": "seed", "seed": 5}
        assert any("not for publication" in warning for warning in one.warnings)
        assert one.release.warnings.count(REPRODUCIBLE) == 1  # told that, not which
        assert not any("5" in warning for warning in one.release.warnings)


def test_without_a_seed_two_releases_differ_in_order_only(people: Path) -> None:
    # 240 people: that two shuffles agree is beyond chance.
    one, two = (uc.publish(people, SCHEMA, uc.Mondrian(k=4)) for _ in range(2))
    first, second = (run.release.table().to_pylist() for run in (one, two))
    assert first != second
    assert sorted(map(str, first)) == sorted(map(str, second))
    assert one.randomness == {"source": "os"}
    buckets = [uc.publish(people, SCHEMA, uc.Anatomy(l=4)).groups.labels.tolist() for _ in range(2)]
    assert buckets[0] != buckets[1]


def public_bytes(folder: Path) -> bytes:
    """Everything in the public folder, files as they are and Parquet cells as text too."""
    pieces = []
    for path in (folder / "public").rglob("*"):
        pieces += [path.name.encode(), path.read_bytes()]
        if path.suffix == ".parquet":
            pieces.append(json.dumps(pyarrow.parquet.read_table(path).to_pylist(), default=str).encode())
            pieces.append(str(pyarrow.parquet.read_metadata(path).metadata).encode())
    return b"\n".join(pieces)


@pytest.mark.parametrize("format_", ["csv", "parquet"])
@pytest.mark.parametrize("method", METHODS)
def test_nothing_private_is_in_the_public_folder(people: Path, tmp_path: Path, method: Any, format_: Any) -> None:
    seed = 918273645
    folder = uc.save(uc.publish(people, SCHEMA, method, seed=seed), tmp_path / "out", format=format_)
    public = public_bytes(folder)
    names = pyarrow.csv.read_csv(people)["name"].to_pylist()
    assert len(names) == 240
    for secret in (*names, "Person-", str(seed), str(people), people.name, str(tmp_path)):
        assert secret.encode() not in public
    assert b"disease" in public
    private = (folder / "private" / "run.json").read_bytes()
    assert str(seed).encode() in private
    assert os.stat(folder / "private").st_mode & 0o777 == 0o700


def test_the_search_for_secrets_finds_one_in_every_format(people: Path, tmp_path: Path) -> None:
    careless = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", insensitive=["name"])
    for format_ in ("csv", "parquet"):
        folder = uc.save(uc.publish(people, careless, uc.Mondrian(k=4)), tmp_path / format_, format=format_)  # type: ignore[arg-type]
        assert b"Person-0123" in public_bytes(folder)


def test_columns_without_a_role_are_not_published_and_it_says_so(people: Path) -> None:
    run = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="disease"), uc.Mondrian(k=4))
    assert run.release.table().column_names == ["age", "disease"]
    assert "Columns without a role are not published: `name`, `sex`, `zip`." in run.warnings


def test_several_rows_of_a_person_are_told_loudly(people: Path) -> None:
    frame = as_kind(people, "pandas")
    frame.loc[1, "name"] = frame.loc[0, "name"]
    run = uc.publish(frame, SCHEMA, uc.Mondrian(k=4))
    assert any("Identifier `name` repeats: 2 of 240 rows" in warning for warning in run.warnings)


def test_requirements_are_checked_beyond_the_claims(people: Path) -> None:
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=6), require=[KAnonymity(k=5), {"name": "l-diversity", "l": 1}])
    assert [entry["required"] for entry in run.release.guarantees] == [6, 5, 1]
    with pytest.raises(UnreachableError, match="k-anonymity asks for 100, the release reaches") as caught:
        uc.publish(people, SCHEMA, uc.Mondrian(k=6), require=[KAnonymity(k=100)])
    assert 6 <= caught.value.best["k-anonymity"] < 100
    with pytest.raises(ParameterError, match="Did you mean `k-anonymity`"):
        uc.publish(people, SCHEMA, uc.Mondrian(k=6), require=[{"name": "k-anonimity", "k": 2}])


class Liar(uc.Mondrian):
    """Claims twice the k it makes."""

    def claims(self, table: Any) -> Any:
        return (KAnonymity(k=table.n_rows),)

    def anonymize(self, *arguments: Any, **options: Any) -> Draft:
        return uc.Mondrian(k=2).anonymize(*arguments, **options)


def test_a_method_that_breaks_its_claim_is_a_bug_and_publishes_nothing(people: Path) -> None:
    with pytest.raises(InternalError, match="own claim does not hold"):
        uc.publish(people, SCHEMA, Liar(k=4))


def test_verify_asks_more_where_more_is_asked(people: Path) -> None:
    release = uc.publish(people, SCHEMA, uc.Mondrian(k=4)).release
    assert not uc.verify(release, also=[LDiversity(l=8)]).holds
    assert uc.verify(release, also=[LDiversity(l=1)]).holds


def test_a_release_of_another_table_does_not_cover_this_one(people: Path) -> None:
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=4))
    other = as_kind(people, "pandas")
    other["age"] = other["age"] + 3
    assert uc.verify(run, original=people).holds
    assert not uc.verify(run.release, original=other).holds
    with pytest.raises(DataError, match="is not the table the release was made from"):
        uc.verify(run, original=other)


def test_the_original_of_a_run(people: Path, tmp_path: Path) -> None:
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=4))
    assert original_of(run) is run.original
    loaded = uc.load(uc.save(run, tmp_path / "out"))
    again = original_of(loaded)
    for name in ("age", "sex", "zip", "disease"):
        assert again[name].codes.tolist() == run.original[name].codes.tolist()  # type: ignore[index]
    assert original_of(loaded, as_kind(people, "polars")).n_rows == 240
    people.write_text(people.read_text().replace("Person-0000", "Person-9999"))
    with pytest.raises(DataError, match="has changed since the release was made"):
        original_of(loaded)
    people.unlink()
    with pytest.raises(DataError, match="no longer at"):
        original_of(loaded)


def test_a_frame_in_memory_is_asked_for_again(people: Path, tmp_path: Path) -> None:
    frame = as_kind(people, "pandas")
    loaded = uc.load(uc.save(uc.publish(frame, SCHEMA, uc.Mondrian(k=4)), tmp_path / "out"))
    with pytest.raises(DataError, match="does not know where its original table is"):
        uc.attack(loaded)
    assert uc.attack(loaded, original=frame).after.matches.min() >= 4


def test_how_a_file_was_read_is_remembered(people: Path, tmp_path: Path) -> None:
    path = tmp_path / "semicolons.csv"
    path.write_text(people.read_text().replace(",", ";").replace("gout", "?"))
    options = ReadOptions(separator=";", nulls=("?",))
    schema = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", missing="drop")
    run = uc.publish(path, schema, uc.Mondrian(k=4), options=options)
    assert len(run.rows) == 210
    assert any("30 of 240 rows have a missing value" in warning for warning in run.warnings)
    loaded = uc.load(uc.save(run, tmp_path / "out"))
    assert original_of(loaded).n_rows == 210
    assert uc.attack(loaded).to_dict() == uc.attack(run).to_dict()


def test_the_schema_of_a_release(people: Path) -> None:
    for method in METHODS:
        found = schema_of(uc.publish(people, SCHEMA, method).release)
        assert (found.quasi_identifiers, found.sensitive) == (SCHEMA.quasi_identifiers, SCHEMA.sensitive)
        assert found.missing == "category"
    towns = uc.Hierarchy([("M", "*"), ("F", "*")])
    schema = uc.Schema(quasi_identifiers=["sex"], columns={"sex": uc.Column(hierarchy=towns)})
    with pytest.raises(SchemaError, match="Give it: schema="):
        schema_of(uc.publish(people, schema, uc.Mondrian(k=4)).release)


def test_the_report_is_written(people: Path, tmp_path: Path) -> None:
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=4, l=2))
    page = uc.report(run, tmp_path / "report.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert "4-anonymity" in page
    assert "Person-0" not in page


def test_report_is_a_verb() -> None:
    assert callable(uc.report)
    assert not hasattr(uc.report, "__path__")


def test_a_summary_made_before_is_not_made_again(people: Path, tmp_path: Path) -> None:
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=4))
    facts = summarize(run)
    stages: list[str] = []
    uc.save(run, tmp_path / "out", summary=facts, progress=lambda stage, share: stages.append(stage))
    assert stages == ["writing", "looking at what is published", "drawing the report"]
    assert facts["private"] is True


def test_progress_names_the_stages(people: Path) -> None:
    stages: list[str] = []

    def progress(stage: str, share: float) -> None:
        assert 0.0 <= share <= 1.0
        if stage not in stages and not stage.startswith("compiling"):
            stages.append(stage)

    uc.publish(people, SCHEMA, uc.Mondrian(k=4), progress=progress)
    assert stages == [
        "reading",
        "encoding",
        "anonymising with mondrian",
        "cutting",
        "verifying",
        "verifying: k-anonymity",
        "testing what was drawn",
    ]


def test_tables_that_cannot_be_published(people: Path, tmp_path: Path) -> None:
    empty = pa.table({name: pa.array([], pa.int64()) for name in ("name", "age", "sex", "zip", "disease")})
    with pytest.raises(DataError, match="empty"):
        uc.publish(empty, SCHEMA, uc.Mondrian(k=4))
    with pytest.raises(SchemaError, match="Did you mean `zip`"):
        uc.publish(people, uc.Schema(quasi_identifiers=["zipp"]), uc.Mondrian(k=4))
    with pytest.raises(DataError, match="There is no file"):
        uc.publish(tmp_path / "nothing.csv", SCHEMA, uc.Mondrian(k=4))
    with pytest.raises(ParameterError, match="The seed must be"):
        uc.publish(people, SCHEMA, uc.Mondrian(k=4), seed=-1)


def test_an_existing_folder_is_replaced_by_force_only(people: Path, tmp_path: Path) -> None:
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=4))
    folder = uc.save(run, tmp_path / "out")
    with pytest.raises(OutputError, match="already exists"):
        uc.save(run, folder)
    uc.save(replace(run, warnings=("again",)), folder, force=True)
    assert "again" in uc.load(folder).warnings


def test_tampering_with_the_folder_is_found(people: Path, tmp_path: Path) -> None:
    folder = uc.save(uc.publish(people, SCHEMA, uc.Mondrian(k=4)), tmp_path / "out")
    table = folder / "public" / "table.csv"
    table.write_text(table.read_text().replace("flu", "cold", 1))
    found = uc.verify(folder / "public")
    assert not found.holds
    assert "was changed" in found.problems[0]


def test_one_line_says_what_a_thing_is_and_what_to_do_next(people: Path) -> None:
    run = uc.publish(people, SCHEMA, uc.Mondrian(k=4))
    for thing in (run, run.release, uc.verify(run.release), uc.attack(run), uc.measure(people, run)):
        assert "\n" not in repr(thing)
        assert ";" in repr(thing)
        assert "Person-" not in repr(thing)


@pytest.mark.parametrize("kind", list(FRAMES))
def test_every_kind_of_table_is_inspected_alike(people: Path, kind: str) -> None:
    found = uc.inspect(as_kind(people, kind), SCHEMA)
    assert found.to_dict() == uc.inspect(people, SCHEMA).to_dict()
    assert found.named("quasi-identifier") == ("age", "sex", "zip")


def test_compare_takes_a_frame_and_a_folder_by_name(people: Path, tmp_path: Path) -> None:
    frame, folder = as_kind(people, "pandas"), str(tmp_path / "out")
    found = uc.compare(frame, SCHEMA, folder, methods=["anatomy"], queries=2)
    assert {release["method"] for release in found["releases"]} == {"anatomy"}
    assert json.loads(Path(folder, "compare.json").read_text())["counts"] == found["counts"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_from_an_inspection_to_a_release(people: Path, kind: str, tmp_path: Path) -> None:
    frame = as_kind(people, kind)
    found = uc.inspect(frame)
    assert found.schema().identifiers == ("name",)
    assert "[roles]" in found.write_spec(tmp_path / "spec.toml")
    assert (tmp_path / "spec.toml").read_text() == found.write_spec()
    schema = replace(found.schema(), sensitive=("disease",), quasi_identifiers=("age", "sex", "zip"))
    best = uc.recommend(frame, schema, methods="mondrian", policy="standard", time=20).best
    release = uc.publish(frame, schema, best).release
    assert isinstance(release.table(), FRAMES[kind])


def test_what_is_no_schema_or_method_is_refused_in_words(people: Path) -> None:
    with pytest.raises(ParameterError, match=r"Schema says .* Got \['age'\] instead"):
        uc.publish(people, ["age"], uc.Mondrian(k=2))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="Schema says"):
        uc.inspect(people, "age")  # type: ignore[arg-type]
    for method in ("mondrian", uc.Mondrian):
        with pytest.raises(ParameterError, match="A method is an object that has its parameters"):
            uc.publish(people, SCHEMA, method)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="Method `mondriann` is not known"):
        uc.recommend(people, SCHEMA, methods=["mondriann"], policy="standard")
    with pytest.raises(ParameterError, match=r"by its name here, such as .* Got Mondrian\("):
        uc.compare(people, SCHEMA, people.parent / "out", methods=[uc.Mondrian(k=2)])  # type: ignore[list-item]
