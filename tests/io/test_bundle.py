"""The release folder: complete, private where it must be, whole or not at all, and the same when read back."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from undercover import whole
from undercover.errors import DataError, InternalError, OutputError, ParameterError, VerificationError
from undercover.io.release import folder as bundle
from undercover.io.release import tables
from undercover.io.release.folder import load_run, save
from undercover.io.release.manifest import load_release
from undercover.model.formats import FORMATS
from undercover.model.groups import Groups
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.run import Run
from undercover.model.schema import Column, Schema
from undercover.model.table import write_values

PROMISE = {"name": "l-diversity", "required": 2, "columns": ["age", "town", "salary"]}


def make_run(seed: int | None = None) -> Run:
    unused = pa.array(["[28, 35]", "*", 'say "x"', "", "original-41"])
    qit = pa.table(
        {
            "age": pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, None], pa.int32()), unused),
            "town": pa.array(["{a, b}", "{a, b}", "Köln", "x\ny"]).dictionary_encode(),
            "salary": pa.array([1.5, 2.0, None, 1e20]),
            "code": pa.array(["01", "1.50", "2", None]),
            "born": pa.array([date(2024, 1, 2), None, date(1990, 5, 6), date(1990, 5, 6)]),
            "bucket": pa.array([0, 0, 1, 1], pa.int32()),
        }
    )
    columns = (
        PublishedColumn("age", "quasi-identifier", "interval"),
        PublishedColumn("town", "quasi-identifier", "set"),
        PublishedColumn("salary", "sensitive", "value"),
        PublishedColumn("code", "sensitive", "value"),
        PublishedColumn("born", "insensitive", "value"),
        PublishedColumn("bucket", "structure", "value"),
    )
    sat = pa.table({"bucket": [0, 1], "disease": ["flu", "cold"], "count": [2, 2]})
    sat_columns = tuple(
        PublishedColumn(name, role, "value")
        for name, role in (("bucket", "structure"), ("disease", "sensitive"), ("count", "structure"))
    )
    release = Release(
        method="anatomy",
        parameters={"l": Fraction(5, 2), "seed": seed, "weights": (1, 2)},
        tables=(PublishedTable("qit", columns, qit), PublishedTable("sat", sat_columns, sat)),
        algorithm_safe=True,
        suppressed_rows=1,
        guarantees=({**PROMISE, "actual": np.float64(2.5), "holds": np.True_},),
        warnings=("reproducible: not for publication",) if seed is not None else (),
        version="0.1.0",
    )
    return Run(
        release=release,
        schema=Schema(
            quasi_identifiers=["age", "town"],
            sensitive=["salary", "code", "disease"],
            insensitive=["born"],
            identifiers=["name"],
            columns={"age": Column(weight=2)},
            missing="drop",
        ),
        groups=Groups(np.array([0, 1, 1, 0], np.int32), 2),
        rows=np.array([0, 1, 3, 4]),
        source={"path": "people.csv", "sha256": "ab", "rows": 5},
        randomness={"source": "os"} if seed is None else {"source": "seed", "seed": seed},
        timings={"publish": 0.5},
        buckets=np.array([0, 0, 1, 1], np.int32),
        diagnostics={"worst": float("inf"), "sizes": np.array([2, 2])},
        frames={"output_tables": pa.table({"group": [0], "probability": [0.25]})},
        warnings=("careful",),
    )


def texts(table: pa.Table) -> dict[str, list[str]]:
    """Every cell as text, missing as empty."""
    found = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        written = iter(write_values(column.drop_null().combine_chunks()))
        found[name] = [next(written) if value else "" for value in column.is_valid().to_pylist()]
    return found


@pytest.mark.parametrize("format_", FORMATS)
def test_a_release_reads_back_the_same(tmp_path: Path, format_: Any) -> None:
    run = make_run()
    folder = save(run, tmp_path / "out", format=format_, report="<p>private</p>", datasheet="<p>public</p>")
    release, problems = load_release(folder / "public")
    assert problems == []
    for fresh, again in zip(run.release.tables, release.tables, strict=True):
        assert (again.name, again.columns, again.rows) == (fresh.name, fresh.columns, fresh.rows)
        assert texts(again.data) == texts(fresh.data)
    assert pa.types.is_dictionary(release.published("qit").data.schema.field("age").type)
    types = {field.name: field.type for field in release.published("qit").data.schema}
    assert types["salary"] == pa.float64()
    assert types["code"] == pa.string()
    assert types["born"] == pa.date32()
    assert pa.types.is_integer(types["bucket"])
    assert (release.method, release.algorithm_safe, release.suppressed_rows) == ("anatomy", True, 1)
    assert release.parameters == {"l": "5/2", "weights": [1, 2]}
    assert release.guarantees == ({**PROMISE, "actual": 2.5, "holds": True},)


def test_the_folder_is_as_the_contract_says(tmp_path: Path) -> None:
    folder = save(make_run(), tmp_path / "out", report="<p>private</p>", datasheet="<p>public</p>")
    assert sorted(p.name for p in (folder / "public").iterdir()) == [
        "datapackage.json",
        "datasheet.html",
        "qit.csv",
        "release.json",
        "sat.csv",
    ]
    assert sorted(p.name for p in (folder / "private").iterdir()) == [
        "groups.parquet",
        "output_tables.parquet",
        "report.html",
        "run.json",
        "spec.toml",
    ]
    assert stat.S_IMODE((folder / "private").stat().st_mode) == 0o700
    assert os.listdir(tmp_path) == ["out"]
    content = json.loads((folder / "public" / "release.json").read_text())
    assert list(content) == [
        "undercover",
        "layout",
        "method",
        "guarantees",
        "algorithm_safe",
        "corruption_robust",
        "choice",
        "form",
        "tables",
        "suppressed_rows",
        "warnings",
        "files",
    ]
    assert set(content["files"]) == {"datapackage.json", "datasheet.html", "qit.csv", "sat.csv"}
    assert list(content["tables"][0]) == ["name", "file", "rows", "sha256", "columns"]
    assert content["tables"][0]["columns"][1] == {"name": "town", "role": "quasi-identifier", "form": "set"}


def test_nothing_private_is_public(tmp_path: Path) -> None:
    for format_ in ("csv", "parquet"):
        folder = save(make_run(seed=987654321), tmp_path / format_, format=format_, datasheet="x")  # type: ignore[arg-type]
        public = b"".join(path.read_bytes() for path in (folder / "public").iterdir())
        assert b"987654321" not in public
        assert b"original-41" not in public
        assert b"people.csv" not in public
        assert b"987654321" in (folder / "private" / "run.json").read_bytes()


def test_the_last_look_stops_identifiers_and_the_seed(tmp_path: Path) -> None:
    run = make_run(seed=77)
    leaking = replace(run, release=replace(run.release, warnings=("made with seed 77",)))
    with pytest.raises(InternalError, match="seed"):
        save(leaking, tmp_path / "out")
    with pytest.raises(InternalError, match="seed"):
        save(run, tmp_path / "out", datasheet="Seed: 77")
    with pytest.raises(InternalError, match="Identifiers"):
        save(replace(run, schema=replace_identifier(run.schema)), tmp_path / "out")
    assert os.listdir(tmp_path) == []


def replace_identifier(schema: Schema) -> Schema:
    return Schema(quasi_identifiers=["age"], identifiers=["town"])


def test_a_run_reads_back_the_same(tmp_path: Path) -> None:
    run = make_run(seed=5)
    again = load_run(save(run, tmp_path / "out"))
    assert again.schema == run.schema
    assert again.groups.labels.tolist() == run.groups.labels.tolist()
    assert again.groups.count == 2
    assert again.rows.tolist() == run.rows.tolist()
    assert again.buckets is not None
    assert again.buckets.tolist() == [0, 0, 1, 1]
    assert again.randomness == {"source": "seed", "seed": 5}
    assert (again.source, again.timings, again.warnings) == (run.source, run.timings, run.warnings)
    assert again.diagnostics == {"worst": None, "sizes": [2, 2]}
    assert again.frames["output_tables"].equals(run.frames["output_tables"])
    assert again.original is None


def test_groups_have_a_row_for_every_input_row(tmp_path: Path) -> None:
    from undercover.io.parquet import read_parquet

    table = read_parquet(save(make_run(), tmp_path / "out") / "private" / "groups.parquet")
    assert table.column_names == ["row", "group", "bucket"]
    assert dict(zip(table["row"].to_pylist(), table["group"].to_pylist(), strict=True)) == {
        0: 0,
        1: 1,
        3: 1,
        4: 0,
        2: None,
    }


def test_changed_tables_are_told(tmp_path: Path) -> None:
    public = save(make_run(), tmp_path / "out") / "public"
    path = public / "sat.csv"
    original = path.read_text()

    path.write_text(original.replace("flu,2", "flu,3"))
    release, problems = load_release(public)
    assert len(problems) == 1
    assert "`sat.csv` was changed" in problems[0]
    assert release.published("sat").data.column("count").to_pylist() == [3, 2]
    assert any("sat.csv" in warning for warning in load_run(public.parent).warnings)

    path.write_text("".join(original.splitlines(keepends=True)[:-1]))
    _, problems = load_release(public)
    assert any("has 1 rows where release.json says 2" in problem for problem in problems)

    path.write_text(original.replace("count", "number"))
    release, problems = load_release(public)
    assert any("has the columns" in problem for problem in problems)
    assert release.published("sat").data.column_names == ["bucket", "disease"]

    path.write_text(original + "ragged\n")
    with pytest.raises(VerificationError, match="was changed"):
        load_release(public)


def test_folders_that_are_no_release(tmp_path: Path) -> None:
    folder = save(make_run(), tmp_path / "out")
    with pytest.raises(DataError, match=r"There is no release.json in .*Give .*public"):
        load_release(folder)
    with pytest.raises(DataError, match=r"There is no private/run.json"):
        load_run(tmp_path)
    (folder / "public" / "sat.csv").unlink()
    with pytest.raises(DataError, match=r"lacks `sat.csv`"):
        load_release(folder / "public")
    text = (folder / "public" / "release.json").read_text()
    for broken, message in (
        ("{", "cannot be read"),
        ("{}", "not the manifest of a release: `undercover`"),
        (text.replace('"sat.csv"', '"../private/run.json"'), "outside its folder"),
    ):
        (folder / "public" / "release.json").write_text(broken)
        with pytest.raises(DataError, match=message):
            load_release(folder / "public")
    (folder / "private" / "run.json").write_text("[]")
    with pytest.raises(DataError, match="cannot be read as a run"):
        load_run(folder)


def test_an_existing_folder_is_refused_and_replaced_by_force(tmp_path: Path) -> None:
    target = tmp_path / "out"
    save(make_run(), target)
    before = (target / "public" / "release.json").read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        save(make_run(), target)
    assert (target / "public" / "release.json").read_bytes() == before
    save(make_run(), target, force=True, format="parquet")
    assert (target / "public" / "qit.parquet").exists()
    assert not (target / "public" / "qit.csv").exists()
    assert os.listdir(tmp_path) == ["out"]


def test_force_never_deletes_what_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    (tmp_path / "file").write_text("x")
    for name, why in (("home", r"does not know as its own \(`thesis.tex`\)"), ("file", "is not a folder")):
        with pytest.raises(OutputError, match=why):
            save(make_run(), tmp_path / name, force=True)
    assert (tmp_path / "home" / "thesis.tex").read_text() == "years of work"
    assert sorted(os.listdir(tmp_path)) == ["file", "home"]


def test_places_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is not a folder"):
        save(make_run(), tmp_path / "file" / "out")
    (tmp_path / "file").unlink()
    with pytest.raises(OutputError, match="cannot be a new folder"):
        save(make_run(), "/")
    with pytest.raises(ParameterError, match="one of `csv`, `parquet`, `xlsx`, `dta`, `sav`"):
        save(make_run(), tmp_path / "out", format="xls")  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="Permission denied"):
            save(make_run(), tmp_path / "out")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), OutputError),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES)), OutputError),
        (OutputError("inner"), OutputError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (SystemExit(143), SystemExit),
        (RuntimeError("bug"), RuntimeError),
    ],
)
def test_a_failure_in_the_middle_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: BaseException, expected: type[BaseException], force: bool
) -> None:
    target = tmp_path / "out"
    if force:
        save(make_run(), target)
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    write = tables.write_csv

    def fail_on_the_second_table(table: pa.Table, path: Path) -> None:
        if path.name == "sat.csv":
            raise raised
        write(table, path)

    monkeypatch.setattr(tables, "write_csv", fail_on_the_second_table)
    with pytest.raises(expected):
        save(make_run(), target, force=force)
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before
    if force:
        assert load_release(target / "public")[1] == []


def test_a_failed_rename_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where folders cannot change places in one step."""
    target = save(make_run(), tmp_path / "out")
    monkeypatch.setattr(whole, "_exchange", lambda *_: False)
    rename = Path.rename

    def fail_for_the_new_one(self: Path, to: Path) -> Path:
        if ".tmp-" in self.name:
            raise KeyboardInterrupt
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", fail_for_the_new_one)
    with pytest.raises(KeyboardInterrupt):
        save(make_run(), target, force=True)
    assert os.listdir(tmp_path) == ["out"]
    assert load_release(target / "public")[1] == []


SCRIPT = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    sys.path.insert(0, {tests!r})
    from test_bundle import make_run
    from undercover.io.release import folder as bundle
    from undercover.io.release import tables
    write = tables.write_csv
    def slowly(table, path):
        write(table, path)
        print("writing", flush=True)
        time.sleep(60)
    tables.write_csv = slowly
    bundle.save(make_run(), Path({target!r}), force={force})
    """
)


def interrupted(tmp_path: Path, number: signal.Signals, *, force: bool = False) -> int:
    script = SCRIPT.format(tests=str(Path(__file__).parent), target=str(tmp_path / "out"), force=force)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(number)
        return process.wait(timeout=30)


def test_ctrl_c_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    assert interrupted(tmp_path, signal.SIGINT) != 0
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("force", [False, True])
def test_a_kill_in_the_middle_leaves_no_release_and_the_next_run_clears_up(tmp_path: Path, force: bool) -> None:
    if force:
        save(make_run(), tmp_path / "out", format="parquet")
    assert interrupted(tmp_path, signal.SIGKILL, force=force) == -signal.SIGKILL
    left = [name for name in os.listdir(tmp_path) if name != "out"]
    assert len(left) == 1
    assert left[0].startswith(".out.tmp-")
    assert stat.S_IMODE((tmp_path / left[0]).stat().st_mode) == 0o700
    assert (tmp_path / "out").exists() == force
    if force:
        assert load_release(tmp_path / "out" / "public")[1] == []
    save(make_run(), tmp_path / "out", force=force)
    assert os.listdir(tmp_path) == ["out"]


def test_the_old_folder_of_a_killed_replacement_is_put_back(tmp_path: Path) -> None:
    target = save(make_run(), tmp_path / "out")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    target.rename(tmp_path / f".out.old-{process.pid}-0011aabb")
    with pytest.raises(OutputError, match="already exists"):
        save(make_run(), target)
    assert os.listdir(tmp_path) == ["out"]


def test_the_temporary_folder_of_a_living_run_is_left_alone(tmp_path: Path) -> None:
    living = tmp_path / f".out.tmp-{os.getpid()}-0011aabb"
    other = tmp_path / ".other.tmp-1-zz"
    living.mkdir()
    other.mkdir()
    handle = os.open(living, os.O_RDONLY)
    assert whole.locked(handle) == "mine"
    save(make_run(), tmp_path / "out")
    os.close(handle)
    assert living.exists()
    assert other.exists()
    assert bundle.load_run(tmp_path / "out").groups.count == 2


def test_groups_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    """They had eight bytes for the number of a row, and all rows in one piece."""
    run = make_run()
    place = save(run, tmp_path / "out") / "private" / "groups.parquet"
    found = pa.parquet.read_table(place)
    assert [str(kind) for kind in found.schema.types][:2] == ["int32", "int32"]
    before = load_run(tmp_path / "out")
    old = found.set_column(0, "row", found.column("row").cast(pa.int64())).combine_chunks()
    pa.parquet.write_table(old, place, compression="zstd")
    after = load_run(tmp_path / "out")
    assert after.rows.tolist() == before.rows.tolist() == run.rows.tolist()
    assert after.groups.labels.tolist() == before.groups.labels.tolist() == run.groups.labels.tolist()
