"""Inputs made from others: changed in their bytes, in their words, or in their structure.

Every way takes the bytes of an input and a source of chance, and gives the bytes of another one; what is no longer
JSON, TOML or an archive is changed as bytes. Whoever searches (hypothesis, or a fuzzer that sees coverage) hands in the
chance, so that all of them find the same inputs.
"""

from __future__ import annotations

import gzip
import io
import json
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

WORDS = (
    *(
        "",
        " ",
        "*",
        "age",
        "G",
        "count",
        "group",
        "row",
        "rows",
        "nobody",
        "1/3",
        "1/0",
        "\x00",
        "\ufeffage",
        "\t",
        "<b>",
    ),
    *(
        "interval",
        "set",
        "node",
        "value",
        "sensitive",
        "structure",
        "identifier",
        "[20-30]",
        "{a;b}",
        "..",
        "/",
        "a" * 300,
    ),
    *(
        "0",
        "-0",
        "-0.0",
        "007",
        "1e308",
        "-1e309",
        "NaN",
        "inf",
        "1_000",
        "0x10",
        "9" * 40,
        "0." + "1" * 40,
        "1,5",
        "+7",
    ),
    *(
        "0000-01-01",
        "9999-12-31",
        "2024-02-30",
        "2024-01-01T25:00",
        "99999-01-01",
        "true",
        "null",
        "None",
        "é",
        "\U0001f600",
    ),
    *("\u202e", "\u0000\u0001", "ſ", "İ", "١٢", '"', "'", ",", ";", "\r", "\n", "=1+1", "$", "\\", "%s", "{}", "#REF!"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 10**30, -(10**30), 0.5, -0.0, 1e308, 5e-324, "\ud800"),
    *([], [1], ["age"], [[]], [None], {}, {"a": 1}, {"name": 1}, [{}], [["a", "b"]], {"": None}),
)
TOKENS = (
    *(
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\x1a",
        b"\r",
        b"\n",
        b"\r\n",
    ),
    *(
        b'"',
        b'""',
        b"'",
        b",",
        b";",
        b"\t",
        b"|",
        b"=",
        b"[",
        b"]",
        b"{",
        b"}",
        b"[[",
        b"&#0;",
        b"<!--",
        b"\\u0000",
        b"\\",
    ),
    *(b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x00\x00\x00\x00\x00\x00\x80", b"9" * 30),
)
Way = Callable[[Random, bytes], bytes]


def as_bytes(chance: Random, data: bytes) -> bytes:
    """A few bytes changed, put in, taken out, repeated, moved or cut off."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(found) + 1)
        end = min(len(found), at + chance.choice((1, 2, 4, 16, 200)))
        what = chance.randrange(7)
        if what == 0 and at < len(found):
            found[at] = chance.randrange(256)
        elif what == 1 and at < len(found):
            found[at] ^= 1 << chance.randrange(8)
        elif what == 2:
            found[at:at] = chance.choice(TOKENS)
        elif what == 3:
            del found[at:end]
        elif what == 4:
            found[at:at] = found[at:end] * chance.choice((1, 1, 3))
        elif what == 5:
            found[at:end] = chance.choice(WORDS).encode("utf-8", "surrogatepass")
        elif chance.randrange(4) == 0:
            del found[at:]
    return bytes(found)


def as_lines(chance: Random, data: bytes) -> bytes:
    """A table of texts with a cell, a name, a row or a column another one, in another dialect or encoding."""
    if chance.randrange(3) == 0:
        return as_bytes(chance, data)
    mark = chance.choice(",,,,;\t|")
    rows = [line.split(",") for line in data.decode("utf-8", "replace").removesuffix("\n").split("\n")]
    for _ in range(chance.choice((1, 1, 2, 5))):
        row = chance.choice(rows)
        at, what = chance.randrange(len(row)), chance.randrange(9)
        word = chance.choice(WORDS)
        if what < 3:
            row[at] = word
        elif what == 3:
            rows[0][chance.randrange(len(rows[0]))] = word
        elif what == 4:
            for each in rows[1:]:
                each[at % len(each)] = word
        elif what == 5:
            row[at] = '"' + row[at] + chance.choice(('"', "", '"x', '\n"', '""'))
        elif what == 6:
            rows[:] = chance.choice((rows[:1], rows[:2], rows[1:] or rows, [row[:1] for row in rows], rows + rows[1:]))
        elif what == 7:
            for each in rows:
                each.insert(at, chance.choice(WORDS))
        else:
            row.insert(at, word)
    text = chance.choice(("\n", "\n", "\r\n", "\r")).join(mark.join(row) for row in rows)
    return text.encode(chance.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1")), "replace")


def as_json(chance: Random, data: bytes) -> bytes:
    """JSON with some of its places another value, or gone; now and then nested deeply, or no longer JSON."""
    if chance.randrange(8) == 0:
        return chance.choice((as_bytes(chance, data), b"[" * 100_000, b'{"a":' * 5_000 + data, b"1" * 5_000))
    try:
        content = _elsewhere(chance, json.loads(data))
    except (ValueError, RecursionError):
        return as_bytes(chance, data)
    return json.dumps(content, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def as_json_lines(chance: Random, data: bytes) -> bytes:
    """Lines of JSON, of which one is another one."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    lines[at] = as_json(chance, lines[at])
    return b"\n".join(lines)


def as_toml(chance: Random, data: bytes) -> bytes:
    """TOML with some of its places another value, or gone; now and then nested deeply, or no longer TOML."""
    if chance.randrange(6) == 0:
        return chance.choice((as_bytes(chance, data), b"a = " + b"[" * 2_000, b"a" + b".a" * 300 + b" = 1\n" + data))
    try:
        written = _in_toml(_elsewhere(chance, tomllib.loads(data.decode())))[1:-1]
    except (ValueError, RecursionError):
        return as_bytes(chance, data)
    return written.replace("\x01", "\n").encode("utf-8", "surrogatepass")


def in_gzip(inner: Way) -> Way:
    """Of what is packed by gzip: what is inside, or what is outside."""

    def way(chance: Random, data: bytes) -> bytes:
        if chance.randrange(3) == 0:
            return as_bytes(chance, data)
        try:
            return gzip.compress(inner(chance, gzip.decompress(data)), 1, mtime=0)
        except (OSError, EOFError, zlib.error):
            return as_bytes(chance, data)

    return way


def in_zip(chance: Random, data: bytes) -> bytes:
    """An archive of which a file is changed, called otherwise, or not there; or its bytes."""
    if chance.randrange(4) == 0:
        return as_bytes(chance, data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as source:
            files = {name: source.read(name) for name in source.namelist()}
    except Exception:  # whatever a library makes of an archive that was changed before
        files = {}
    if not files:
        return as_bytes(chance, data)
    changed, what = chance.choice(list(files)), chance.randrange(8)
    if what == 0:
        del files[changed]
    elif what == 1:
        files[chance.choice((*WORDS, "a/../b.csv", "b.csv.gz", "c.zip"))[:200] or "x"] = files[changed]
    else:
        files[changed] = as_bytes(chance, files[changed])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for name, content in files.items():
            with suppress(ValueError):  # a name that cannot be written
                target.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # at no time of day
    return packed.getvalue()


def as_arrow(kind: str) -> Way:
    """A table of columns and types that few have; or the bytes of its file."""

    def way(chance: Random, data: bytes) -> bytes:
        if chance.randrange(2):
            return as_bytes(chance, data)
        return written(odd_table(chance), kind)

    return way


def written(table: pa.Table, kind: str) -> bytes:
    """A table as a file of Parquet, Feather or an Arrow stream."""
    stream = io.BytesIO()
    try:
        if kind == "parquet":
            pyarrow.parquet.write_table(table, stream)
        elif kind == "feather":
            pyarrow.feather.write_feather(table, stream, compression="uncompressed")
        else:
            with pa.ipc.new_stream(stream, table.schema) as writer:
                writer.write_table(table)
    except (pa.ArrowException, ValueError):  # a type that such a file does not have
        return written(table.select([]), kind) if table.num_columns else b""
    return stream.getvalue()


def odd_table(chance: Random) -> pa.Table:
    """Few rows of columns that are seldom seen, with names that nobody would give."""
    rows = chance.choice((0, 1, 2, 3, 6))
    columns = [_odd_column(chance, rows) for _ in range(chance.choice((0, 1, 2, 3)))]
    names = [chance.choice(("age", "sex", "pay", *WORDS)) for _ in columns]
    return pa.table(columns, names=names)


def _odd_column(chance: Random, rows: int) -> Any:
    numbers = [chance.choice((0, 1, -1, 5, 127, None)) for _ in range(rows)]
    texts = [chance.choice((*WORDS, None)) for _ in range(rows)]
    decimals = pa.array(numbers, pa.int64()).cast(pa.decimal128(38, 2))
    made: tuple[Callable[[], Any], ...] = (
        lambda: pa.array(numbers, pa.int64()),
        lambda: pa.array([one and one * 2**40 for one in numbers], pa.int64()).cast(
            pa.timestamp("us", tz="Asia/Kolkata")
        ),
        lambda: pa.array([one and one * 2**55 for one in numbers], pa.int64()).cast(pa.timestamp("s")),
        lambda: pa.array([one and one * 10**7 for one in numbers], pa.int32()).cast(pa.date32()),
        lambda: pa.array([one and one * 86_400_000 for one in numbers], pa.int64()).cast(pa.date64()),
        lambda: pa.array(numbers, pa.float64()).cast(pa.float16()) if rows else pa.array([], pa.float16()),
        lambda: pa.array(
            [chance.choice((float("nan"), float("inf"), -0.0, 1e308, None)) for _ in range(rows)], pa.float64()
        ),
        lambda: pa.array(texts, pa.string()),
        lambda: pa.array(texts, pa.large_string()),
        lambda: pa.array(texts, pa.string_view()),
        lambda: pa.array([one and one.encode("utf-8", "surrogatepass") for one in texts], pa.binary()),
        lambda: pa.array(texts, pa.string()).dictionary_encode(),
        lambda: pa.array(numbers, pa.int64()).dictionary_encode(),
        lambda: pa.array([[one] for one in numbers], pa.list_(pa.int64())),
        lambda: pa.array([{"a": one} for one in numbers], pa.struct({"a": pa.int64()})),
        lambda: pa.array([[("a", one)] for one in numbers], pa.map_(pa.string(), pa.int64())),
        lambda: pa.array(numbers, pa.int64()).cast(pa.duration("ns")),
        lambda: pa.array([one and abs(one) for one in numbers], pa.int64()).cast(pa.time64("us")),
        lambda: pa.array([one and one % 2**63 for one in numbers], pa.uint64()),
        lambda: pa.nulls(rows),
        lambda: pa.array([None if one is None else one > 0 for one in numbers], pa.bool_()),
        lambda: decimals,
        lambda: decimals.cast(pa.decimal256(60, 20)),
        lambda: pa.array([b"1234"] * rows, pa.binary(4)),
        lambda: pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), pa.array(["é", "é"]), ordered=True),
    )
    return chance.choice(made)()


def _elsewhere(chance: Random, content: Any) -> Any:
    """The same with one or a few of its places another value, or gone."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        found = list(_places(content))
        if not found:
            return deepcopy(chance.choice(VALUES))
        *above, last = chance.choice(found)
        inner = content
        for key in above:
            inner = inner[key]
        what = chance.randrange(10)
        if what == 0:
            del inner[last]
        elif what == 1 and isinstance(inner, list):
            inner.append(deepcopy(inner[last]))
        elif what == 2 and isinstance(inner, dict):
            inner[chance.choice(WORDS)] = deepcopy(inner[last])
        elif what == 3:
            inner[last] = [inner[last]]
        else:
            inner[last] = deepcopy(chance.choice((*WORDS, *VALUES)))
    return content


def _places(content: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inside:
        yield (*where, key)
        yield from _places(value, (*where, key))


def _in_toml(value: Any) -> str:
    """A value as TOML writes it; a line ends, at the top, where there is a byte 1."""
    if isinstance(value, dict):
        return "{" + "\x01".join(f"{json.dumps(str(key))} = {_inline(one)}" for key, one in value.items()) + "}"
    return f"{{whole = {_inline(value)}}}"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return (
        '"none"' if value is None else json.dumps(value) if isinstance(value, str | bool | int | float) else str(value)
    )
