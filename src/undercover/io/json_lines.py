"""JSON lines: an object on every line, a column for every key; a key that a line does not have is missing there."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Collection
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from undercover.errors import DataError, damaged, unreadable
from undercover.io.cells import column
from undercover.io.csv.text import open_text
from undercover.io.csv.typed import Written, dated
from undercover.io.limits import check_columns, check_unpacked
from undercover.parsing import check_letters

_NESTED = {dict, list}
_TOLD_APART = 15  # characters up to which every number is a double of its own


def read_json_lines(path: Path, text: Collection[str] = ()) -> Written:
    """Read a file of JSON lines, plain or ``.gz``; texts that are all ISO dates are dates, unless named in ``text``."""
    columns: dict[str, list[Any]] = {}
    rows = 0
    try:
        check_unpacked(path)
        with open_text(path, "utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                for name, cell in _record(path, number, line).items():
                    held = columns.get(name)
                    if held is None:
                        held = columns[name] = [None] * rows
                    elif len(held) < rows:
                        held.extend([None] * (rows - len(held)))
                    held.append(cell)
                rows += 1
                check_columns(f"`{path}`, line {number}", len(columns))
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(damaged(f"`{path}`", "it is not a file of JSON lines that can be read")) from error
    except OSError as error:
        raise DataError(unreadable(f"`{path}`", error)) from error
    for held in columns.values():
        held.extend([None] * (rows - len(held)))
    return dated(pa.table({name: column(held) for name, held in columns.items()}), text)


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = _DECODER.decode(line)
        check_letters(line, record)
    except (ValueError, RecursionError) as error:
        said = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise DataError(f"`{path}`, line {number}: not JSON: {said}. Every line must be an object.") from error
    if not isinstance(record, dict):
        raise DataError(f'`{path}`, line {number}: every line must be an object, such as {{"age": 34}}.')
    if not _NESTED.isdisjoint(map(type, record.values())):
        name = next(name for name, cell in record.items() if type(cell) in _NESTED)
        raise DataError(f"`{path}`, line {number}: `{name}` holds more than one value. Write them as columns.")
    return record


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number; leave the key out, or write null")


def _number(text: str) -> float | str:
    """A number; as it is written where a float does not tell it from its neighbours."""
    found = float(text)
    sure = len(text) <= _TOLD_APART and 1e-300 < abs(found) < 1e300
    return found if sure or Decimal(text) == Decimal(repr(found)) else text


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_number)
