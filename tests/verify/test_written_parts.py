"""Releases that are written in parts: they hold what one file holds, and whatever is done to a part is told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from received import PEOPLE, kept, made

import undercover as uc
from undercover.errors import DataError, ParameterError
from undercover.io.parquet import write_parquet
from undercover.io.release import manifest as manifests
from undercover.io.release.manifest import read_public, write_tables
from undercover.model.formats import ROWS_PER_FILE, Files
from undercover.model.release import PublishedColumn, PublishedTable, Release

pytestmark = pytest.mark.usefixtures("unjudged")

KINDS = ("csv", "parquet")


@cache
def saved_once(method: str, kind: str, place: Path) -> Path:
    return uc.save(made(method), place / f"{method}-{kind}", format=kind, rows_per_file=100)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    place = tmp_path_factory.mktemp("parts")
    return lambda method="mondrian", kind="parquet": saved_once(method, kind, place)


@pytest.fixture
def mine(saved: Callable[..., Path], tmp_path: Path) -> Path:
    """A copy of a release in three parts, to be forged."""
    return Path(shutil.copytree(saved(), tmp_path / "out"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["mondrian", "anatomy", "mutual-cover", "perturbed", "cross-bucket"])
def test_parts_hold_what_one_file_holds(method: str, kind: str, tmp_path: Path) -> None:
    release = made(method).release
    read = []
    for rows in (None, 70):
        folder = tmp_path / str(rows)
        folder.mkdir()
        write_tables(release, folder, format=kind, rows_per_file=rows)  # type: ignore[arg-type]
        read.append(read_public(folder))
    whole, parted = read
    assert parted.problems == []
    for entry, table in zip(parted.content["tables"], release.tables, strict=True):
        sizes = [part["rows"] for part in entry.get("parts", ())]
        assert sum(sizes) == (table.rows if table.rows > 70 else 0)
        assert max(sizes, default=0) - min(sizes, default=0) <= 1
        assert ("file" in entry) == ("sha256" in entry) == (table.rows <= 70)
    for one, other in zip(whole.release.tables, parted.release.tables, strict=True):
        assert one.data.to_pylist() == other.data.to_pylist()
        assert one.data.schema.types == other.data.schema.types


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_table_stays_coded(kind: str, saved: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    public = saved("mondrian", kind) / "public"
    small, before = read_public(public).release, uc.verify(public).manifest_entries()
    monkeypatch.setattr(manifests, "LARGE", 200)
    large, after = read_public(public).release, uc.verify(public).manifest_entries()
    assert small.tables[0].data.to_pylist() == large.tables[0].data.to_pylist()
    assert after == before
    held: list[Any] = large.tables[0].data.schema.types
    assert {(str(type_.index_type), str(type_.value_type)) for type_ in held} == {("int8", "string")}
    assert small.table().equals(large.table())  # as it is handed over
    # A file alone is read like that as well.
    alone = read_public(kept("mondrian", False) / "public").release
    assert alone.tables[0].data.schema.types == held


def test_whoever_reads_a_release_reads_parts(saved: Callable[..., Path]) -> None:
    parted, whole = saved(), kept("mondrian", False)
    assert uc.verify(parted).holds
    assert uc.verify(parted / "public").holds
    run = uc.load(parted)
    assert run.release.tables[0].data.to_pylist() == made("mondrian").release.tables[0].data.to_pylist()
    assert run.rows.tolist() == made("mondrian").rows.tolist()
    query = uc.CountQuery(where={"age": uc.Between(30, 50), "disease": "flu"})
    assert uc.answer(run.release, query) == uc.answer(uc.load(whole).release, query)
    attacked = [uc.attack(uc.load(place), uc.Linkage(), original=PEOPLE).to_dict() for place in (parted, whole)]
    assert attacked[0] == attacked[1]
    other = uc.publish(PEOPLE, uc.Schema(quasi_identifiers=["hospital"], sensitive="disease"), uc.Mondrian(k=5)).release
    found = [uc.joint_risk([place / "public", other]) for place in (parted, whole)]
    assert found[0].l == found[1].l
    assert found[0].alone == found[1].alone


def test_a_release_in_parts_is_signed(mine: Path, tmp_path: Path) -> None:
    key = uc.new_key(tmp_path / "key")
    uc.sign(mine, tmp_path / "key")
    assert uc.verify(mine / "public", trusted_by=key).holds


def forged(path: Path) -> None:
    """One cell of a part is another one."""
    table = pq.read_table(path)
    cells = table.column("disease").to_pylist()
    cells[0] = next(cell for cell in cells if cell != cells[0])
    write_parquet(table.set_column(table.column_names.index("disease"), "disease", pa.array(cells)), path)


def swapped(public: Path) -> None:
    first, second = public / "table-00000.parquet", public / "table-00001.parquet"
    first.rename(public / "aside")
    second.rename(first)
    (public / "aside").rename(second)


def shorter(public: Path) -> None:
    path = public / "table-00001.parquet"
    write_parquet(pq.read_table(path).slice(1), path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda public: forged(public / "table-00001.parquet"), ["`table-00001.parquet` was changed"]),
        (swapped, ["`table-00000.parquet` was changed", "`table-00001.parquet` was changed"]),
        (shorter, ["`table-00001.parquet` has 79 rows where release.json says 80", "Table `table` has 239 rows"]),
        (
            lambda public: shutil.copy(public / "table-00000.parquet", public / "table-00003.parquet"),
            ["`table-00003.parquet` lies in the public folder and release.json does not name it"],
        ),
    ],
)
def test_whatever_is_done_to_a_part_is_told(change: Callable[[Path], Any], said: list[str], mine: Path) -> None:
    change(mine / "public")
    for place in (mine, mine / "public"):
        found = uc.verify(place)
        assert not found.holds
        for sentence in said:
            assert sentence in " ".join(found.problems)


def test_a_missing_part_is_told(mine: Path) -> None:
    (mine / "public" / "table-00001.parquet").unlink()
    for place in (mine, mine / "public"):
        with pytest.raises(DataError, match=r"lacks `table-00001\.parquet`, which its release\.json names"):
            uc.verify(place)


def test_a_part_that_is_no_file_any_more_is_told(mine: Path) -> None:
    (mine / "public" / "table-00002.parquet").write_bytes(b"PAR1")
    with pytest.raises(uc.errors.VerificationError, match=r"`table-00002\.parquet` was changed.*cannot even be read"):
        uc.verify(mine)


def test_parts_that_were_put_in_another_order_are_told_by_the_private_run(mine: Path) -> None:
    path = mine / "public" / "release.json"
    content = json.loads(path.read_text())
    content["tables"][0]["parts"].reverse()
    path.write_text(json.dumps(content))
    assert "`tables` in release.json is not what the private run wrote" in " ".join(uc.verify(mine).problems)


def test_files_of_parts_tell_no_more_than_their_rows(tmp_path: Path) -> None:
    """The same writer for every part, row groups by number alone, and no value in a file whose rows do not have it."""
    values = pa.array([f"cell-{number}" for number in range(40)])
    codes = pa.array([row % 7 if row < 500 else 20 + row % 3 for row in range(1000)], pa.int8())
    column = PublishedColumn("age", "quasi-identifier", "interval")
    table = PublishedTable("table", (column,), pa.table({"age": pa.DictionaryArray.from_arrays(codes, values)}))
    write_tables(Release("somebody's", {}, (table,), True), tmp_path, format="parquet", rows_per_file=500)
    files = [pq.ParquetFile(tmp_path / name) for name in ("table-00000.parquet", "table-00001.parquet")]
    assert [file.metadata.num_row_groups for file in files] == [1, 1]
    assert files[0].schema_arrow == files[1].schema_arrow
    assert files[0].metadata.metadata == files[1].metadata.metadata
    assert set(files[0].metadata.metadata) == {b"ARROW:schema"}
    assert files[0].metadata.created_by == files[1].metadata.created_by
    known = [file.read().column("age").chunk(0).dictionary.to_pylist() for file in files]  # of the dictionary page
    assert known == [[f"cell-{number}" for number in range(7)], ["cell-22", "cell-20", "cell-21"]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_data_package_lists_the_parts(kind: str, saved: Callable[..., Path]) -> None:
    public = saved("mondrian", kind) / "public"
    (resource,) = json.loads((public / "datapackage.json").read_text())["resources"]
    names = [f"table-0000{number}.{kind}" for number in range(3)]
    assert resource["path"] == names
    assert resource["bytes"] == sum((public / name).stat().st_size for name in names)
    assert not {"hash", "profile"} & set(resource)
    page = (public / "datasheet.html").read_text()
    assert f"<code>table-*.{kind}</code> with" in page
    assert '<data value="3">3</data> files' in page
    assert f'glob("table-*.{kind}")' in page.replace("&#34;", '"')


def test_digits_after_the_point_are_those_of_the_whole_table(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("age,pay\n" + "".join(f"{30 + row % 9},{row % 11}.{row % 4 * 25:02d}\n" for row in range(90)))
    run = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="pay"), uc.Mondrian(k=3))
    write_tables(run.release, tmp_path, rows_per_file=20)
    (entry,) = json.loads((tmp_path / "release.json").read_text())["tables"]
    assert len(entry["parts"]) == 5
    assert entry["columns"][1]["digits"] == 2
    cells = [line.split(",")[-1] for line in (tmp_path / "table-00004.csv").read_text().split()[1:]]
    assert len(cells) == 18
    assert all(len(cell.partition(".")[2]) == 2 for cell in cells)
    assert read_public(tmp_path).release.tables[0].data.column("pay").type == pa.float64()


@pytest.mark.parametrize(
    ("kind", "rows", "said"),
    [
        ("xlsx", 100, r"one file of Excel\. Leave rows_per_file=100 out"),
        ("csv", 0, "at least one row. Got rows_per_file=0"),
    ],
)
def test_what_cannot_be_written_like_that_is_refused(kind: Any, rows: int, said: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=said):
        uc.save(made("mondrian"), tmp_path / "out", format=kind, rows_per_file=rows)
    assert not (tmp_path / "out").exists()


def test_ten_million_rows_fill_a_file() -> None:
    assert Files("parquet").names("qit", ROWS_PER_FILE) == ["qit.parquet"]
    assert Files("parquet").names("qit", ROWS_PER_FILE + 1) == ["qit-00000.parquet", "qit-00001.parquet"]
    assert Files("dta").names("qit", 3 * ROWS_PER_FILE) == ["qit.dta"]
    assert Files(Files("csv", 7)).rows == 7
