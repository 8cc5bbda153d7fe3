"""Every door through which a file comes in: what a good one looks like, how it is changed, and who reads it.

A reader may refuse what it is given, by an :class:`UndercoverError`; whatever else it raises is a fault of ours.
"""

from __future__ import annotations

import atexit
import gzip
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyreadstat
import xlsxwriter
from mutations import Way, as_arrow, as_bytes, as_json, as_json_lines, as_lines, as_toml, in_gzip, in_zip, written

import undercover as uc
from undercover.errors import UndercoverError
from undercover.hierarchies.file import read_hierarchy
from undercover.io.distance_file import read_distances
from undercover.io.release.contents import read_json
from undercover.io.release.decision import decision_of
from undercover.io.release.folder import save
from undercover.io.release.manifest import load_release
from undercover.io.release.package import said_in
from undercover.io.signatures import new_key, private_key
from undercover.io.source import ReadOptions, read
from undercover.io.spec.load import load_spec, resolve
from undercover.model.policy import policy_of
from undercover.studies.experiments.folder import Journal
from undercover.utility.queries.asked import read_queries
from undercover.verbs.joint import method_of

PEOPLE = b"name,age,sex,born,zip,pay,ill\n" + b"".join(
    b"Ann %d,%d,%s,19%d-0%d-11,0%d,%d.50,%s\n"
    % (
        n,
        20 + 3 * n,
        (b"F", b"M")[n % 2],
        50 + 2 * n,
        1 + n % 9,
        100 + n % 4,
        10 * n,
        (b"flu", b"cold", b"gout")[n % 3],
    )
    for n in range(12)
)
ILL = uc.Column(domain=("flu", "cold", "gout"))
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", identifiers=["name"], columns={"ill": ILL})
SPEC = b"""
[data]
missing = "drop"
nulls = ["NA"]
separator = ","
encoding = "utf-8"
[roles]
identifiers = "name"
quasi_identifiers = ["age", "sex", "zip", "born"]
sensitive = "ill"
drop = "*"
population = 0.5
[columns.age]
kind = "numeric"
weight = 2
hierarchy = {intervals = [5, 10], origin = 0}
[columns.zip]
hierarchy = {prefixes = [2, 1]}
[columns.born]
hierarchy = {dates = ["year", "decade"]}
[columns.ill]
domain = ["flu", "cold", "gout"]
description = "what they have"
[method]
name = "mondrian"
k = 2
[[require]]
name = "k-anonymity"
k = 2
[about]
title = "People"
date = 2024-01-31
[policy]
found = "1/3"
harmful = {ill = ["gout"]}
"""
POLICY = b'name = "open"\nfound = "1/20"\nbelief = 0.5\nharmful = {ill = ["gout"]}\nalgorithm_safe = "ignored"\n'
QUERIES = b"""
[[count]]
where = {age = {between = [20, 30]}, sex = "F", ill = ["flu", "cold"]}
[[count]]
where = {age = {between = ["any", 30]}, ill = {not = ["gout"]}}
"""
HIERARCHY = b"level0,level1,level2\nBonn,West,*\nKoeln,West,*\nJena,East,*\n"
DISTANCES = b",flu,cold,gout\nflu,0,0.5,1\ncold,0.5,0,1\ngout,1,1,0\n"
JOURNAL = b"""{"experiment": "sizes"}
{"key": "a1", "method": "mondrian", "values": {"loss": 0.5}, "refused": null, "seconds": 0.25}
{"key": "a2", "method": "mondrian", "values": {}, "refused": "no", "seconds": 0.0}
"""
DECISION = b'{"because":"a","by":"b","when":"2024-01-31","verdict":"v","reasons":[],"policy":null,"release":"0"}'
METHODS: dict[str, Any] = {
    "mondrian": uc.Mondrian(k=2),
    "anatomy": uc.Anatomy(l=2),
    "perturbed": uc.PerturbedGeneralization(k=2, p=0.3),
    "dealt": uc.MutualCover(delta="1/2", l=2),
    "cross-bucket": uc.CrossBucket(k=2, l=2, joined=True),
}


COUNTED = ("mondrian", "anatomy", "cross-bucket")
"""Whose cells recipients count as they stand."""


@dataclass(frozen=True)
class Target:
    """One door: good files, how they are changed, who reads them, and whether that takes a moment only."""

    seeds: Callable[[], Sequence[bytes]]
    way: Way
    read: Callable[[Path, bytes], object]
    quick: bool = True


@cache
def seeds_of(target: Target) -> Sequence[bytes]:
    """Good files, made once."""
    return target.seeds()


def typed(target: Target, folder: Path, data: bytes) -> UndercoverError | None:
    """Have a file read: what its reader says against it, if anything; any other error goes on."""
    try:
        target.read(folder, data)
    except UndercoverError as error:
        str(error).encode()  # a message that cannot be shown is none
        return error
    return None


@cache
def work() -> Path:
    """A folder for as long as the process runs."""
    place = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


@cache
def original() -> Path:
    """The file of the people whose releases are read."""
    path = work() / "original.csv"
    path.write_bytes(PEOPLE)
    return path


@cache
def released(method: str, *, withheld: bool = False) -> Path:
    """A release of twelve people, with its ledger and its key."""
    place = work() / f"{method}-{withheld}"
    place.mkdir()
    policy = "standard" if withheld else "none"
    run = uc.publish(original(), SCHEMA, METHODS[method], seed=1, policy=policy, ledger=place / "ledger")
    new_key(place / "key")
    return uc.save(run, place / "out", sign=place / "key")


@cache
def table() -> pa.Table:
    return read(original()).data


def _as(name: str, **options: Any) -> Callable[[Path, bytes], object]:
    """Read a file of this name as a table."""

    def reading(folder: Path, data: bytes) -> object:
        (folder / name).write_bytes(data)
        return read(folder / name, options=ReadOptions(**options))

    return reading


def _asked(folder: Path, data: bytes) -> object:
    """A file whose first line says how to read it, as JSON."""
    said, _, rest = data.partition(b"\n")
    try:
        options = ReadOptions(**{name: str(word) for name, word in json.loads(said).items()})
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    (folder / "asked.csv").write_bytes(rest)
    return read(folder / "asked.csv", options=options)


def _by(reader: Callable[[Path], object]) -> Callable[[Path, bytes], object]:
    """Read a file of no particular name."""

    def reading(folder: Path, data: bytes) -> object:
        (folder / "file").write_bytes(data)
        return reader(folder / "file")

    return reading


def _spec(path: Path) -> object:
    spec = load_spec(path)
    resolve(spec, table())
    return spec


def _published(folder: Path, data: bytes) -> None:
    """Whatever can be read is published by its own first columns, and what is published verifies."""
    (folder / "people.csv").write_bytes(data)
    given = read(folder / "people.csv")
    names = given.data.column_names
    turn = len(data) % len(names)
    *quasi, last = [*names[turn:], *names[:turn]][:4]
    values = given.data.column(last).unique().cast(pa.string()).drop_null().to_pylist()[:100]
    columns = {last: uc.Column(kind="categorical", domain=tuple(values))} if len(values) > 1 else {}
    schema = uc.Schema(quasi_identifiers=quasi, sensitive=[last], columns=columns, missing="category")
    method = list(METHODS.values())[sum(data) % len(METHODS)]
    run = uc.publish(given, schema, method, seed=1, policy="none")
    shutil.rmtree(folder / "out", ignore_errors=True)
    found = uc.verify(save(run, folder / "out") / "public", original=folder / "people.csv", schema=schema)
    assert found.holds, found


def _public_file(method: str, name: str) -> Target:
    """A file of a public folder, changed; verified and asked by whoever receives it."""

    def reading(folder: Path, data: bytes) -> None:
        place = folder / f"{method}-{name}"
        if not place.exists():
            shutil.copytree(released(method) / "public", place)
        (place / name).write_bytes(data)
        uc.verify(place)
        said_in(read_json(place / "datapackage.json"))
        if method in COUNTED:
            uc.answer(load_release(place)[0], uc.CountQuery(where={"age": uc.Between(20, 30)}))

    way = {"json": as_json, "csv": as_lines, "sig": as_json}[name.rpartition(".")[2]]
    return Target(lambda: [(released(method) / "public" / name).read_bytes()], way, reading, False)


def _private_file(method: str, name: str, way: Way) -> Target:
    """A file of a private folder, changed; read by the holder in every way there is."""

    def reading(folder: Path, data: bytes) -> None:
        place = folder / f"{method}-private"
        if not place.exists():
            shutil.copytree(released(method), place)
        for file in (released(method) / "private").iterdir():
            if file.suffix != ".html":
                shutil.copyfile(file, place / "private" / file.name)
        (place / "private" / name).write_bytes(data)
        uc.verify(place)
        run = uc.load(place)
        repr(run), method_of(run)
        uc.attack(run, original=original())
        uc.measure(original(), run)

    return Target(lambda: [(released(method) / "private" / name).read_bytes()], way, reading, False)


def _withheld_file(name: str, way: Way) -> Target:
    """A private file of a release that is withheld, changed; then it is accepted."""

    def reading(folder: Path, data: bytes) -> None:
        out = released("mondrian", withheld=True)
        again = folder / "withheld"
        if not again.exists():
            shutil.copytree(out.parent, again)
        shutil.rmtree(out.parent)
        shutil.copytree(again, out.parent)
        (out / "private" / name).write_bytes(data)
        uc.accept(out, because="It may.", by="us")

    def seeds() -> list[bytes]:
        kept = work() / "withheld" / "out"
        return [((kept if kept.exists() else released("mondrian", withheld=True)) / "private" / name).read_bytes()]

    return Target(seeds, way, reading, False)


def _ledger(part: str, way: Way) -> Target:
    """A file of the ledger, changed; a table is looked up in it."""

    def reading(folder: Path, data: bytes) -> None:
        place = folder / "book"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(released("mondrian").parent, place, ignore=shutil.ignore_patterns("out"))
        (place / part).write_bytes(data)
        book = uc.Ledger(place / "ledger")
        book.entries()
        book.before(table())
        book.forget("1")

    return Target(lambda: [(released("mondrian").parent / part).read_bytes()], way, reading, False)


def _decision(folder: Path, data: bytes) -> object:
    (folder / "private").mkdir(exist_ok=True)
    (folder / "private" / "decision.json").write_bytes(data)
    return decision_of(folder)


def _trusted(folder: Path, data: bytes) -> None:
    (folder / "key").write_bytes(data)
    if b"PRIVATE" in data:
        private_key(folder / "key")
    else:
        uc.verify(released("mondrian") / "public", trusted_by=folder / "key")


def _population(folder: Path, data: bytes) -> None:
    """A table of the population beside ours."""
    (folder / "population.csv").write_bytes(data)
    schema = replace(SCHEMA, population=str(folder / "population.csv"))
    run = uc.publish(table(), schema, METHODS["mondrian"], seed=1)
    run.verdict.to_dict()


def _office(kind: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        path = work() / f"seed.{kind}"
        data = table()
        if kind == "xlsx":
            with xlsxwriter.Workbook(path) as book:
                sheet = book.add_worksheet()
                for place, row in enumerate([data.column_names, *(map(str, one.values()) for one in data.to_pylist())]):
                    sheet.write_row(place, 0, row)
                sheet.write_column(1, 1, data.column("age").to_pylist(), book.add_format({"num_format": "0000"}))
        else:
            write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[kind]
            write(data.drop_columns(["born"]).to_pandas(), str(path))
        return [path.read_bytes()]

    return seeds


def _zipped() -> list[bytes]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        target.writestr(zipfile.ZipInfo("people.csv"), PEOPLE)
    return [packed.getvalue()]


def _lines() -> bytes:
    return b"".join(json.dumps(row, default=str).encode() + b"\n" for row in table().to_pylist())


TARGETS: dict[str, Target] = {
    "csv": Target(lambda: [PEOPLE, PEOPLE.replace(b",", b";").replace(b".", b",")], as_lines, _as("people.csv")),
    "csv-asked": Target(
        lambda: [b'{"encoding": "%s", "separator": ","}\n' % name + PEOPLE for name in (b"utf-8", b"cp1252")],
        lambda chance, data: b"\n".join(
            [as_json(chance, data.partition(b"\n")[0]), as_lines(chance, data.partition(b"\n")[2])]
        ),
        _asked,
    ),
    "csv-gz": Target(lambda: [gzip.compress(PEOPLE, mtime=0)], in_gzip(as_lines), _as("people.csv.gz")),
    "publish": Target(lambda: [PEOPLE], as_lines, _published, False),
    "parquet": Target(lambda: [written(table(), "parquet")], as_arrow("parquet"), _as("people.parquet")),
    "feather": Target(lambda: [written(table(), "feather")], as_arrow("feather"), _as("people.feather")),
    "stream": Target(lambda: [written(table(), "stream")], as_arrow("stream"), _as("people.arrows")),
    "jsonl": Target(lambda: [_lines()], as_json_lines, _as("people.jsonl")),
    "xlsx": Target(_office("xlsx"), in_zip, _as("people.xlsx")),
    "sav": Target(_office("sav"), as_bytes, _as("people.sav")),
    "dta": Target(_office("dta"), as_bytes, _as("people.dta")),
    "xpt": Target(_office("xpt"), as_bytes, _as("people.xpt")),
    "zip": Target(_zipped, in_zip, _as("people.zip")),
    "hierarchy": Target(lambda: [HIERARCHY], as_lines, _by(read_hierarchy)),
    "distance": Target(lambda: [DISTANCES], as_lines, _by(read_distances)),
    "spec": Target(lambda: [SPEC], as_toml, _by(_spec)),
    "policy": Target(lambda: [POLICY], as_toml, _by(policy_of)),
    "queries": Target(lambda: [QUERIES], as_toml, _by(read_queries)),
    "population": Target(lambda: [PEOPLE], as_lines, _population, False),
    "journal": Target(lambda: [JOURNAL], as_json_lines, _by(lambda path: Journal(path, "sizes"))),
    "key": Target(
        lambda: [(released("mondrian").parent / name).read_bytes() for name in ("key", "key.pub")],
        as_bytes,
        _trusted,
        False,
    ),
    **{f"manifest-{name}": _public_file(name, "release.json") for name in METHODS},
    "package": _public_file("mondrian", "datapackage.json"),
    "signature": _public_file("mondrian", "release.sig"),
    "public-table": _public_file("mondrian", "table.csv"),
    **{f"run-{name}": _private_file(name, "run.json", as_json) for name in METHODS},
    "groups": _private_file("mondrian", "groups.parquet", as_arrow("parquet")),
    **{f"accept-{name}": _withheld_file(name, as_json) for name in ("run.json", "report.json")},
    "accept-entry": _withheld_file("ledger-entry.npz", in_zip),
    "decision": Target(lambda: [DECISION], as_json, _decision),
    "ledger": _ledger("ledger", as_json),
    "ledger-key": _ledger("ledger.key", as_bytes),
    "ledger-people": _ledger("ledger.people/1-0.npy", as_bytes),
}
