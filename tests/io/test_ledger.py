"""The ledger's files: who is recognised, what is in them, and that nothing half-written or lost ever stands there."""

import json
import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, OutputError
from undercover.io.ledger.book import Ledger
from undercover.io.ledger.people import digests, keys_of, shared

pytestmark = pytest.mark.usefixtures("unjudged")

FACTS: dict[str, Any] = {
    "method": "somebody's",
    "parameters": {"k": 5},
    "guarantees": [],
    "sensitive": ["disease"],
    "domain": None,
    "likelihood_ratio": None,
    "people": 3,
    "exact": True,
    "state": "published",
}
NAMED = uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers=["name"])
NAMELESS = uc.Schema(quasi_identifiers=["zip", "age"], sensitive="disease")


def table(names: list[str | None], ages: list[int | None] | None = None, **more: Any) -> pa.Table:
    ages = ages or [30 + i for i in range(len(names))]
    return pa.table({"name": pa.array(names, pa.string()), "age": ages, "disease": ["flu"] * len(names), **more})


def enter(ledger: Ledger, data: pa.Table, schema: uc.Schema = NAMED, **facts: Any) -> int:
    rows = np.arange(data.num_rows)
    entered = {**FACTS, "exact": keys_of(schema)[1], "people": data.num_rows, **facts}
    return ledger.enter(entered, ledger.people(data, schema, rows)).number


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "people.ledger")


def test_people_are_recognised_by_name_however_it_is_written(ledger: Ledger) -> None:
    enter(ledger, table(["Ann Li", "Bo", "Cy"]))
    before = ledger.before(table(["ANN  LI ", "Dee", "ｂｏ", None]))
    (earlier,) = before.earlier
    assert (earlier.shared, earlier.rows, earlier.known_by, earlier.exact) == (2, 4, ("name",), True)
    assert before.rows[0].tolist() == [True, False, True, False]
    assert earlier.sentence().startswith("2 of the 4 rows (50.0%) are of people of release 1")
    assert ledger.before(table(["Eve"])).earlier == ()


def test_one_person_is_an_overlap(ledger: Ledger) -> None:
    enter(ledger, table([f"person {i}" for i in range(1000)]))
    (earlier,) = ledger.before(table([f"person {i}" for i in range(999, 1999)])).earlier
    assert earlier.shared == 1


def test_without_identifiers_all_quasi_identifiers_together_and_it_is_said(ledger: Ledger) -> None:
    first = table(["a", "b"], [30, 40], zip=["10", "20"])
    enter(ledger, first, NAMELESS)
    new = table(["c", "d", "e"], [30, 30, 40], zip=["10", "20", "20"])
    (earlier,) = ledger.before(new).earlier
    assert (earlier.shared, earlier.exact, earlier.known_by) == (2, False, ("age", "zip"))
    assert "they may be different people, and are counted as the same" in earlier.sentence()


def test_parts_of_a_key_do_not_run_into_each_other(ledger: Ledger) -> None:
    enter(ledger, table(["a"], [1], zip=["12"]), NAMELESS)
    assert not ledger.before(table(["a"], [11], zip=["2"])).earlier
    assert ledger.before(table(["a"], [1], zip=["12"])).earlier


def test_the_worse_of_two_identifiers_counts(ledger: Ledger) -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers=["name", "number"])
    enter(ledger, table(["a", "b", "c"], number=["1", "2", "3"]), schema)
    (earlier,) = ledger.before(table(["x", "y", "c"], number=["1", "2", "9"])).earlier
    assert (earlier.shared, earlier.known_by) == (2, ("number",))


def test_what_cannot_be_compared_is_said(ledger: Ledger) -> None:
    enter(ledger, table(["a"]))
    before = ledger.before(pa.table({"age": [30], "disease": ["flu"]}))
    assert before.earlier == ()
    (sentence,) = before.unknown
    assert "known by `name`, which this table does not have" in sentence


def test_no_value_is_in_any_file(ledger: Ledger, tmp_path: Path) -> None:
    enter(ledger, table(["Zebediah Quint", "Bo"], [77123, 30]), NAMED)
    for path in tmp_path.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert b"zebediah" not in content.lower()
        assert b"77123" not in content
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_digests_need_the_key() -> None:
    people = table(["a", "b"])
    own, known = digests(people, ("name",), b"one key")
    other, _ = digests(people, ("name",), b"another")
    assert known.all()
    assert not set(own.tolist()) & set(other.tolist())
    assert shared(own, known, np.unique(own)).all()
    assert not shared(own, known, np.unique(other)).any()


def test_a_ledger_without_its_key_is_not_used(ledger: Ledger, tmp_path: Path) -> None:
    enter(ledger, table(["a"]))
    (tmp_path / "people.ledger.key").unlink()
    with pytest.raises(DataError, match="without its key"):
        ledger.before(table(["a"]))
    with pytest.raises(DataError, match="without its key"):
        enter(ledger, table(["b"]))


def test_a_withdrawn_release_stays_noted_and_does_not_count(ledger: Ledger, tmp_path: Path) -> None:
    enter(ledger, table(["a"]))
    enter(ledger, table(["a", "b"]))
    assert ledger.forget("1").state == "withdrawn"
    assert [entry.number for entry in ledger.before(table(["a"])).earlier] == [2]
    assert [entry.state for entry in ledger.entries()] == ["withdrawn", "published"]
    assert sorted(path.name for path in (tmp_path / "people.ledger.people").iterdir()) == ["2-0.npy"]
    with pytest.raises(DataError, match="Release `7` is not known"):
        ledger.forget("7")
    assert enter(ledger, table(["c"])) == 3


def test_a_failed_write_leaves_the_old_ledger(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(ledger, table(["a"]))
    old = (tmp_path / "people.ledger").read_bytes()

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        enter(ledger, table(["b"]))
    monkeypatch.undo()
    assert (tmp_path / "people.ledger").read_bytes() == old
    assert not list(tmp_path.rglob(".*tmp*"))
    assert [entry.number for entry in ledger.entries()] == [1]


def test_a_file_that_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_text("{}")
    with pytest.raises(DataError, match="is not a ledger"):
        Ledger(path).entries()
    path.write_text(json.dumps({"ledger": 99, "releases": []}))
    with pytest.raises(DataError, match="later version"):
        Ledger(path).entries()


def test_somebody_else_was_quicker(ledger: Ledger) -> None:
    """Two publish the same people at once: the second is told to look again."""
    data = table(["a", "b"])
    people = ledger.people(data, NAMED, np.arange(2))
    seen = [entry.number for entry in ledger.entries()]
    enter(ledger, table(["b", "c"]))
    with pytest.raises(OutputError, match=r"Release 1 of the same people was entered .* in the meantime"):
        ledger.enter(FACTS, people, seen)
    ledger.enter(FACTS, ledger.people(table(["d"]), NAMED, np.arange(1)), seen)
    assert len(ledger.entries()) == 2


def _many(path: Path, first: int) -> None:
    ledger = Ledger(path)
    for i in range(first, first + 5):
        enter(ledger, table([f"person {i}"]))


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "people.ledger"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_many, args=(path, 10 * number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    ledger = Ledger(path)
    assert [entry.number for entry in ledger.entries()] == list(range(1, 16))
    known = [f"person {10 * number + i}" for number in range(3) for i in range(5)]
    assert len(ledger.before(table(known)).earlier) == 15


def test_an_entry_whose_folder_never_stood_does_not_count(ledger: Ledger, tmp_path: Path) -> None:
    number = enter(ledger, table(["a"]), state="entered", folder=str(tmp_path / "out"))
    assert not ledger.before(table(["a"])).earlier
    (tmp_path / "out" / "public").mkdir(parents=True)
    (tmp_path / "out" / "public" / "release.json").write_text("{}")
    assert [entry.number for entry in ledger.before(table(["a"])).earlier] == [number]  # it stands: it was published
    ledger.drop(number)
    assert ledger.entries() == ()
