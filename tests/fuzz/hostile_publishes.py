"""Small tables with hostile contents, published in every way: ``python hostile_publishes.py FIRST COUNT [METHOD]``.

A seed says everything: which columns there are and what is in them, their roles, the method and its parameters, what
the table is handed over as, and the format of the release. The release is saved with its report, verified from both of
its parts, attacked and measured. It may be refused, by an :class:`UndercoverError` with a message. Whatever else is
raised is a fault of ours, and so is anything wrong with what was written.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import undercover as uc
from undercover.errors import UndercoverError
from undercover.model.formats import FORMATS
from undercover.pages import jinja

MARK = "Qzxjk"
"""In every value of an identifier, and nowhere else."""
LONGEST = 60.0
"""Seconds that a dozen rows may take."""
CONTROL = "\x00\x01\x07\x08\x0b\x0c\r\x1b\x1f\x7f\x85\x9b\u200b\u202e\u2028\ufeff\ufffe\uffff\U0001fffe"
TEXTS = (
    *("a", "b", "c", "B", "", " ", "  b", "c ", "*", "NA", "null", "nan", "-", "?", "true", "0", "007", "1e5", "1,5"),
    *("[1, 2]", "[1 - 2]", "{a, b}", "a, b", '"', "'", '""', "\\", "a;b", "a\tb", "a\nb", "a\r\nb", "\n", "=1+1", "@x"),
    *(
        "<script>alert(1)</script>",
        "</td>",
        "{{ 7*7 }}",
        "%s",
        "${x}",
        "`a`",
        "é",
        "e\u0301",
        "ß",
        "İ",
        "🙂",
        "\U0010ffff",
    ),
    *("عربي", "中文", "2020-01-02", "31.12.1999", "12/31/1999", "20-29", ">=65", "inf", "-0", "1_000", "x" * 400),
    *(f"a{one}b" for one in CONTROL),
    *(f"\x1b[{code}m" for code in (31, 0)),
    "\x1b]0;title\x07",
    "y" * 5000,
)
NAMES = (
    *("age", "sex", "zip", "pay", "ill", "note", "", " ", "a b", "a,b", "a\nb", "a\x00b", "\x1b[31mred", "é", "\ufffe"),
    *(
        "=1+1",
        "<b>bold</b>",
        "`x`",
        "{{ x }}",
        "count",
        "group",
        "bucket",
        "row",
        "id",
        "_all",
        "if",
        "*",
        "a.b",
        "a/b",
    ),
    *(
        "../up",
        "CON",
        "n" * 70,
        "n" * 300,
        "🙂",
        "\u202eabc",
        "%d",
        "'",
        '"',
        "Age",
        "AGE",
        "value",
        "x",
        "y",
        "column",
    ),
)
Wrong = list[str]


@dataclass(frozen=True)
class Outcome:
    """What became of a seed: that it was published, or which error refused it; and what is wrong."""

    became: str
    wrong: tuple[str, ...] = ()


def column(chance: Random, rows: int) -> pa.Array:
    """A column of anything."""
    kinds: list[Callable[[], pa.Array]] = [
        lambda: pa.array([chance.choice(few) for _ in range(rows)], pa.string()),
        lambda: pa.array([chance.choice("abcdef") for _ in range(rows)], pa.string()),
        lambda: pa.array([f"{chance.choice(TEXTS)[:40]}{n}" for n in range(rows)], pa.string()),
        lambda: pa.array([chance.randrange(6) for _ in range(rows)], pa.int64()),
        lambda: pa.array([chance.randrange(20, 90) for _ in range(rows)], pa.int32()),
        lambda: pa.array(list(range(rows)), pa.int16()),
        lambda: pa.array([chance.choice((-(2**63), 2**63 - 1, 2**53 + 1, 0, -1)) for _ in range(rows)], pa.int64()),
        lambda: pa.array([chance.choice((2**64 - 1, 0, 2**63)) for _ in range(rows)], pa.uint64()),
        lambda: pa.array([chance.choice((1.5, 2.25, -0.0, 0.0, 0.1)) for _ in range(rows)], pa.float64()),
        lambda: pa.array(
            [chance.choice((math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1.0)) for _ in range(rows)]
        ),
        lambda: pa.array([chance.choice((1e308, -1e308, 5e-324, 1.0, 1e16, 1e-9)) for _ in range(rows)]),
        lambda: pa.array([chance.gauss(0, 1) for _ in range(rows)], pa.float32()),
        lambda: pa.array([chance.choice(("one",)) for _ in range(rows)], pa.string()),
        lambda: pa.array([7] * rows, pa.int8()),
        lambda: pa.nulls(rows, chance.choice((pa.string(), pa.float64(), pa.null(), pa.date32()))),
        lambda: pa.array([date(1950, 1, 1) + timedelta(chance.randrange(20000)) for _ in range(rows)]),
        lambda: pa.array([chance.choice((date.min, date.max, date(1970, 1, 1))) for _ in range(rows)]),
        lambda: pa.array(
            [datetime(2020, 1, 1) + timedelta(seconds=chance.randrange(10**7)) for _ in range(rows)],
            pa.timestamp(chance.choice(("s", "ms", "us", "ns")), chance.choice((None, "UTC", "Europe/Berlin"))),
        ),
        lambda: pa.array([chance.random() < 0.5 for _ in range(rows)], pa.bool_()),
        lambda: pa.array([chance.choice((b"a", b"\x00\xff", b"")) for _ in range(rows)], pa.binary()),
        lambda: pa.array([Decimal(chance.randrange(10**6)) / 100 for _ in range(rows)], pa.decimal128(20, 2)),
        lambda: pa.array([chance.choice(few) for _ in range(rows)], pa.string()).dictionary_encode(),
        lambda: pa.array([[1], None, []] * rows, pa.list_(pa.int64()))[:rows],
        lambda: pa.array([chance.randrange(86400) for _ in range(rows)], pa.time32("s")),
        lambda: pa.array([chance.randrange(86400) for _ in range(rows)], pa.duration("s")),
    ]
    few = chance.sample(TEXTS, chance.randint(1, 5))
    usual = chance.random() < 0.65
    made = chance.choice([*kinds[:5], kinds[1]] if usual else kinds)()
    if chance.random() < 0.12:
        gone = pa.array([chance.random() < 0.2 for _ in range(rows)])
        made = pa.compute.if_else(gone, pa.scalar(None, made.type), made) if _can_miss(made.type) else made
    return made


def _can_miss(kind: pa.DataType) -> bool:
    return not (pa.types.is_dictionary(kind) or pa.types.is_list(kind) or pa.types.is_null(kind))


def methods(chance: Random, method: str) -> Any:
    """A method with parameters of which most can be kept."""
    k, l = chance.choice((1, 2, 2, 3, 5)), chance.choice((2, 2, 3))  # noqa: E741
    several: dict[str, list[Callable[[], Any]]] = {
        "mondrian": [
            lambda: uc.Mondrian(k=k),
            lambda: uc.Mondrian(k=k, recoding="regions", cut=chance.choice(("loss", "median"))),
            lambda: uc.Mondrian(k=k, l=l, diversity=chance.choice(("frequency", "distinct", "entropy"))),
            lambda: uc.Mondrian(k=k, t=0.5, distance=chance.choice(("equal", "ordered"))),
        ],
        "incognito": [
            lambda: uc.Incognito(k=k, suppression=chance.choice((0, 0.1, 0.5))),
            lambda: uc.Incognito(k=k, l=l, suppression=0.3),
        ],
        "anatomy": [lambda: uc.Anatomy(l=l)],
        "streamliner": [
            lambda: uc.Streamliner(l=l),
            lambda: uc.Streamliner(l=l, algorithm=chance.choice(("guided", "classes")), allow_unsafe=True),
        ],
        "mutual-cover": [
            lambda: uc.MutualCover(delta="1/2", l=2),
            lambda: uc.MutualCover(delta="1/2", l=2, k=k, variant="paper"),
            lambda: uc.MutualCover(delta="1/2", l=2, variant="blocks"),
        ],
        "perturbed-generalization": [
            lambda: uc.PerturbedGeneralization(k=k, p=0.3),
            lambda: uc.PerturbedGeneralization(k=k, growth=0.5, recoding=chance.choice(("mondrian", "full-domain"))),
        ],
        "noncentralized": [lambda: uc.NonCentralized(l=chance.choice((1, 2)))],
        "cross-bucket": [
            lambda: uc.CrossBucket(k=k, l=l),
            lambda: uc.CrossBucket(k=k, l=l, variant="paper"),
        ],
    }
    return chance.choice(several[method])()


METHODS = (
    *("mondrian", "incognito", "anatomy", "streamliner", "mutual-cover", "perturbed-generalization"),
    *("noncentralized", "cross-bucket"),
)


def table(chance: Random) -> tuple[pa.Table, list[str]]:
    """A table, and which of its columns are identifiers."""
    rows = chance.choice((1, 2, 3, 12, 20, 20, 30, 40, 40, 60))
    names = chance.sample(NAMES, chance.choice((1, 2, 3, 3, 4, 4, 5, 6)))
    if chance.random() < 0.4:
        names = [f"c{place}" for place in range(len(names))]
    if chance.random() < 0.03:
        names.append(names[0])
    marked = [f"{MARK}{n}{chance.choice(('', '', *CONTROL))}{chance.choice('xyz')}" for n in range(rows)]
    columns = [column(chance, rows) for _ in names]
    identifiers = []
    if chance.random() < 0.6:
        identifiers = ["who"]
        names, columns = [*names, "who"], [*columns, pa.array(marked)]
    return pa.Table.from_arrays(columns, names=names), identifiers


def roles(chance: Random, names: list[str], method: str) -> dict[str, Any]:
    """Roles of columns: most tables have what their method needs."""
    left = list(dict.fromkeys(names))
    chance.shuffle(left)
    found: dict[str, Any] = {}
    wanted = (
        chance.choice((1,) * 12 + (0, 2)) if method not in ("mondrian", "incognito") else chance.choice((0, 1, 1, 2))
    )
    if wanted and len(left) > wanted:
        found["sensitive"] = [left.pop() for _ in range(wanted)]
    found["quasi_identifiers"] = [left.pop() for _ in range(min(len(left), chance.choice((1, 1, 2, 3, 4))))]
    if left and chance.random() < 0.5:
        found["insensitive"] = [left.pop()]
    if left and chance.random() < 0.7:
        found["drop"] = left
    return found


def handed_over(chance: Random, data: pa.Table, home: Path) -> Any:
    """The table itself, or a file of it."""
    way = chance.choice(("arrow", "arrow", "csv", "parquet", "feather", "polars"))
    place = home / "given"
    try:
        if way == "csv":
            pa.csv.write_csv(data, place.with_suffix(".csv"))
            return place.with_suffix(".csv")
        if way == "parquet":
            pa.parquet.write_table(data, place.with_suffix(".parquet"))
            return place.with_suffix(".parquet")
        if way == "feather":
            pa.feather.write_feather(data, str(place.with_suffix(".feather")))
            return place.with_suffix(".feather")
        if way == "polars":
            import polars

            return polars.from_arrow(data)
    except Exception:  # a format that cannot hold it; the table itself can always be handed over
        place.with_suffix(f".{way}").unlink(missing_ok=True)
    return data


def published(seed: int, home: Path, method: str | None = None, *, drawn: bool = False) -> Outcome:
    """Publish what a seed says into an empty folder."""
    chance = Random(seed)
    named = method or chance.choice(METHODS)
    data, identifiers = table(chance)
    given = handed_over(chance, data, home)
    kept = sorted(path.name for path in home.iterdir())
    file_format = chance.choice(("csv", "csv", *FORMATS))
    policy = chance.choice(("none", "none", "none", "none", "standard", "open", "research"))
    missing = chance.choice(("category", "category", "category", "drop", "error"))
    parts = roles(chance, [name for name in data.column_names if name not in identifiers], named)
    places = home / "temporary"
    places.mkdir()
    started = time.perf_counter()
    wrong: Wrong = []
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(tempfile, "tempdir", str(places)))
        if not drawn:
            stack.enter_context(mock.patch.object(jinja, "drawings", return_value="<svg></svg>"))
        try:
            schema = uc.Schema(**parts, identifiers=identifiers, missing=missing)
            run = uc.publish(given, schema, methods(chance, named), policy=policy, seed=chance.randrange(99))
            out = uc.save(run, home / "out", format=file_format)  # type: ignore[arg-type]
            became = "published"
        except UndercoverError as error:
            became = type(error).__name__
            wrong += [] if str(error).strip() else ["an error without a message"]
            wrong += ["something was left of a release that was refused"] if (home / "out").exists() else []
        else:
            wrong += looked_at(run, out, given, drawn)
    wrong += [f"left behind: {path.name}" for path in places.iterdir()]
    places.rmdir() if not wrong else None
    allowed = {*kept, "out", "temporary"}
    wrong += [f"left behind: {path.name}" for path in home.iterdir() if path.name not in allowed]
    took = time.perf_counter() - started
    wrong += [f"it took {took:.0f} s"] if took > LONGEST else []
    return Outcome(became, tuple(wrong))


def looked_at(run: uc.Run, out: Path, given: Any, drawn: bool) -> Wrong:
    """What is wrong with a release that was saved."""
    wrong: Wrong = []
    tables = next(out / name for name in ("public", "withheld") if (out / name).is_dir())
    for target in (out, tables):
        found = uc.verify(target)
        wrong += [f"not verified: {problem}" for problem in found.problems]
        wrong += [f"does not hold: {finding.name}" for finding in found.findings if finding.holds is False]
    try:
        uc.attack(uc.load(out), original=run.original)
        uc.attack(run)
        uc.measure(run.original, run)
    except UndercoverError as error:
        wrong.append(f"{type(error).__name__} after it was saved: {error}")
    for path in sorted(tables.rglob("*")):
        if MARK.encode() in content(path):
            wrong.append(f"an identifier stands in {path.name}")
    page = (out / "private" / "report.html").read_text("utf-8")
    wrong += (
        ["the report holds control characters"] if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]", page) else []
    )
    wrong += ["a chart was not drawn"] if drawn and 'class="undrawn"' in page else []
    json.loads((out / "private" / "report.json").read_text("utf-8"))
    return wrong


def content(path: Path) -> bytes:
    """What a file says, unpacked."""
    if path.suffix == ".parquet":
        return repr(pa.parquet.read_table(path).to_pylist()).encode("utf-8", "replace") + path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            return b"".join(packed.read(name) for name in packed.namelist())
    return path.read_bytes()


def main(first: int, count: int, method: str | None) -> int:
    """Try many seeds, and print each that shows a fault."""
    import traceback
    import warnings

    warnings.simplefilter("error")

    became: Counter[str] = Counter()
    faults = 0
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = published(seed, Path(folder), method, drawn=seed % 8 == 0)
            except BaseException as error:  # libraries in Rust panic by what is no Exception
                if isinstance(error, KeyboardInterrupt):
                    raise
                print(f"seed {seed}:\n{traceback.format_exc(limit=-4)}", flush=True)
                became["CRASH"] += 1
                faults += 1
                continue
        became[outcome.became] += 1
        if outcome.wrong:
            faults += 1
            print(f"seed {seed}: {outcome.became}: {outcome.wrong}", flush=True)
    print(dict(became), faults, "faults", flush=True)
    return faults


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)))
