"""CSV files in and out.

Reading: what the caller does not declare (separator, decimal mark, encoding) is found from the file, and what was
decided is handed back beside the table. Only an empty field is missing, quoted or not; ``NA``, ``None`` and ``nan``
are values unless ``nulls`` names them. Writing: missing is an empty field, quotation marks stand only where needed.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from undercover.errors import DataError, OutputError, damaged, listed, unreadable, unwritable
from undercover.io.cells import texts
from undercover.io.coded.columns import Tell, coded_table
from undercover.io.csv.quotes import Quotes, Watched
from undercover.io.csv.typed import CsvDecisions as CsvDecisions
from undercover.io.csv.typed import typed
from undercover.io.limits import Unpacked, check_columns, is_gzip, open_binary
from undercover.memory import Store
from undercover.wording import in_data

_CODED = pa.dictionary(pa.int32(), pa.string())
_BLOCK = 1 << 22
_BATCH = 1 << 17
_RAGGED_SHOWN = 5
_LONG = pa.large_string()
SEPARATORS = (",", ";", "\t", "|")
THOUSANDS = (",", ".", "'", " ")
SAMPLE = 1 << 18
_RECORDS = 200
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_csv(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    nulls: Sequence[str] | None = None,
    text: Collection[str] | None = (),
    dictionaries: Collection[str] = (),
    store: Store | None = None,
    tell: Tell | None = None,
) -> tuple[pa.Table, CsvDecisions]:
    """Read a CSV file, plain or ``.gz``, whose first line names the columns; what is ``None`` is found from the file.

    ``nulls`` mean missing beside the empty field. Columns named in ``text`` stay text whatever they hold, all where it
    is ``None``; those in ``dictionaries``, of few distinct texts, are read as such, several times faster. With a
    ``store`` all columns are, batch by batch.
    """
    place = Path(path)
    _check_options(separator, decimal, thousands, encoding)
    start = sample(place)
    if not start.strip():
        raise DataError(f"`{place}` is empty: it has neither a header nor rows.")
    if encoding is not None and start.startswith(codecs.BOM_UTF8) and _canonical(encoding) != "utf-8":
        raise DataError(
            f"`{place}` is declared {encoding} but begins with the mark of UTF-8. "
            f"Try {in_data(encoding='utf-8')}, or none."
        )
    missing = ("", *(nulls or ()))
    for candidate in (encoding,) if encoding else encodings_to_try(start):
        try:
            head = start.decode(candidate, errors="replace").removeprefix("\ufeff")
            mark = separator or separator_of(head)
            table, marks = _read(place, head, mark, candidate, missing, dictionaries, store, tell)
        except UnicodeDecodeError as error:
            problem = _wrong_encoding(place, candidate, error)
            continue
        except UnicodeError as error:
            raise DataError(f"`{place}` is not in the encoding {candidate}: {error}.") from error
        break
    else:
        raise problem
    said: dict[str, Any] = {"breaks": marks.cells, "first_break": f"line {marks.first}" if marks.cells else ""}
    decided = CsvDecisions(mark, decimal or ".", candidate, tuple(nulls or ()), thousands=thousands, **said)
    if text is None:
        return table, decided
    try:
        return typed(table, decided, decimal, text, leave=dictionaries, store=store)
    except DataError as error:
        raise DataError([f"`{place}`: {found}" for found in error.problems]) from error


def write_csv(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table; :func:`read_csv` gives the same cells back.

    Numbers and dates are written as everywhere in a release: whole numbers without a fraction, dates in ISO form.
    """
    try:
        with open(path, "wb") as stream:
            write_csv_to(table, stream)
    except OSError as error:
        raise OutputError(unwritable(f"`{path}`", error)) from error


def write_csv_to(table: pa.Table, stream: BinaryIO) -> None:
    """Write a table as CSV into an open binary stream."""
    names = pa.array(table.column_names, pa.string())
    stream.write((",".join(_quoted(names).to_pylist()) + "\n").encode())
    columns = [_coded(column) for column in table.columns]
    if not columns or not table.num_rows:
        return
    for batch in pa.table(columns, names=[str(number) for number in range(len(columns))]).to_batches(_BATCH):
        cells = [_as_cells(column) for column in batch.columns]
        if len(cells) == 1:
            # A lone empty field would be an empty line, which readers skip.
            cells = [pc.if_else(pc.equal(cells[0], ""), '""', cells[0])]
        cells = [*cells[:-1], pc.binary_join_element_wise(cells[-1], "\n", "")]
        lines = pc.binary_join_element_wise(*(cell.cast(_LONG) for cell in cells), pa.scalar(",", _LONG))
        begin, end = lines.buffers()[1], lines.buffers()[2]
        offsets = memoryview(begin).cast("q")[lines.offset : lines.offset + len(lines) + 1]
        stream.write(memoryview(end)[offsets[0] : offsets[-1]])


def _coded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as codes of its cells, where it is one or its values are not written in a moment; else as it is."""
    kind: Any = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind):
        return column
    encoded = (column if pa.types.is_dictionary(kind) else column.dictionary_encode()).unify_dictionaries()
    if not encoded.num_chunks:
        return encoded
    cells = _quoted(texts(encoded.chunk(0).dictionary))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(chunk.indices, cells) for chunk in encoded.chunks])


def _as_cells(column: pa.Array) -> pa.Array:
    """Cells as text, quoted where needed, missing as empty."""
    if pa.types.is_dictionary(column.type):
        return pc.fill_null(column.dictionary.take(column.indices), "")
    if pa.types.is_integer(column.type):
        return pc.fill_null(column.cast(pa.string()), "")
    return pc.fill_null(_quoted(column.cast(pa.string())), "")


def _quoted(values: Any) -> Any:
    special = pc.match_substring_regex(values, '[,"\r\n]|^\ufeff')  # the last: not to be taken for a mark of the file
    if not pc.any(special).as_py():
        return values
    doubled = pc.replace_substring(values, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), values)


def _check_options(separator: str | None, decimal: str | None, thousands: str | None, encoding: str | None) -> None:
    problems = []
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0'):
        problems.append(f"The separator must be a single character such as ',' or ';'. Got {separator!r} instead.")
    if decimal is not None and decimal not in (".", ","):
        problems.append(f"The decimal mark must be '.' or ','. Got {decimal!r} instead.")
    if thousands is not None and (thousands not in THOUSANDS or thousands == decimal):
        problems.append(
            f"The mark between thousands must be one of {listed(THOUSANDS)}, and not that of decimals. Got "
            f"{thousands!r} instead."
        )
    if encoding is not None:
        try:
            b"a,\xc3".decode(encoding, "replace")
        except (LookupError, ValueError):  # none, none of texts, or one that cannot read files
            problems.append(f"The encoding {encoding!r} is not known. Try 'utf-8', 'latin-1' or 'cp1252'.")
    if problems:
        raise DataError(problems)


def _canonical(encoding: str) -> str:
    return codecs.lookup(encoding).name.removesuffix("-sig")


def _read(
    path: Path,
    head: str,
    separator: str,
    encoding: str,
    missing: Sequence[str],
    dictionaries: Collection[str],
    store: Store | None,
    tell: Tell | None,
) -> tuple[pa.Table, Quotes]:
    """Every column as text, and what quotation marks do; raises UnicodeDecodeError where the encoding is wrong."""
    names = next((record for _, record in records(head, separator, limit=1)), [])
    check_columns(f"`{path}`, line 1", len(names), names)
    how = _how(names, separator, missing, dictionaries if store is None else names)
    table, marks = _arrow_read(path, encoding, how, store, tell)
    if any(type_ not in (pa.string(), _CODED) for type_ in table.schema.types) and store is None:
        how = _how(table.column_names, separator, missing, dictionaries)
        table, marks = _arrow_read(path, encoding, how, None, None)
    repeated = [name for name, count in Counter(table.column_names).items() if count > 1]
    if repeated:
        raise DataError(f"`{path}`, line 1: more than one column is named {listed(repeated)}. Rename them.")
    if not table.num_rows:
        raise DataError(f"`{path}` has a header and no rows.")
    return table, marks


def _how(
    names: Collection[str], separator: str, missing: Sequence[str], dictionaries: Collection[str]
) -> dict[str, Any]:
    return {
        "read_options": arrow_csv.ReadOptions(block_size=_BLOCK),
        "parse_options": arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            column_types={name: _CODED if name in dictionaries else pa.string() for name in names},
            null_values=list(missing),
            strings_can_be_null=True,
        ),
    }


def _arrow_read(
    path: Path, encoding: str, how: dict[str, Any], store: Store | None, tell: Tell | None
) -> tuple[pa.Table, Quotes]:
    separator = how["parse_options"].delimiter
    try:
        with watched(path, encoding, separator) as stream:
            table = _arrow_table(stream, how, store, tell)
            if table is None:
                return _arrow_read(path, encoding, how, store, tell)
            marks = stream.seen()
    except pa.ArrowInvalid as error:
        if "invalid UTF8" in str(error):
            raise _first_wrong_byte(path) from error
        check_quotes(path, encoding, separator)
        raise DataError(_ragged(path, separator, encoding)) from error
    except OSError as error:
        raise DataError(unreadable(f"`{path}`", error)) from error
    _refuse(path, marks)
    return table, marks


def _arrow_table(stream: Watched, how: dict[str, Any], store: Store | None, tell: Tell | None) -> pa.Table | None:
    """All rows; none where the header is not what it seemed to be, after which ``how`` goes by it."""
    if store is None:
        return arrow_csv.read_csv(stream, **how)
    reader = arrow_csv.open_csv(stream, **how)
    if all(type_ == _CODED for type_ in reader.schema.types):
        return coded_table(reader, store, tell)
    how["convert_options"].column_types = dict.fromkeys(reader.schema.names, _CODED)
    return None


@contextmanager
def watched(path: Path, encoding: str, separator: str) -> Iterator[Watched]:
    """A file as bytes in UTF-8, unpacked where it is packed, whose quotation marks are watched."""
    with pa.input_stream(str(path), compression="gzip" if is_gzip(path) else None) as stream:
        utf8 = stream if _canonical(encoding) == "utf-8" else pa.transcoding_input_stream(stream, encoding, "utf8")
        bounded = Unpacked(utf8, path, quiet=True) if is_gzip(path) else None
        try:
            yield Watched(bounded or utf8, separator)
        except pa.ArrowInvalid:
            if bounded is not None:
                bounded.check()
            raise
        if bounded is not None:
            bounded.check()


def check_quotes(path: Path, encoding: str, separator: str) -> None:
    """Refuse a file in which a quotation mark is not closed, or text follows one; the file is read for that alone."""
    with watched(path, encoding, separator) as stream:
        _refuse(path, stream.seen())


def _refuse(path: Path, marks: Quotes) -> None:
    if marks.problem:
        raise DataError(f"`{path}`, {marks.problem}")


def _first_wrong_byte(path: Path) -> UnicodeDecodeError:
    for _, error in _undecodable(path, "utf-8"):
        return error
    raise DataError(f"`{path}` is not valid UTF-8.")


def _wrong_encoding(path: Path, encoding: str, error: UnicodeDecodeError) -> DataError:
    decoder_input = bytes(error.object[error.start : error.start + 1])
    line = next((number for number, _ in _undecodable(path, encoding)), 1)
    others = [other for other in ("utf-8", "latin-1", "cp1252") if other != _canonical(encoding)]
    return DataError(
        f"`{path}`, line {line}: the byte 0x{decoder_input.hex()} is not possible in the encoding {encoding}. "
        f"Try {in_data(encoding=others[0])}, or {listed(others[1:])}."
    )


def _undecodable(path: Path, encoding: str) -> Iterator[tuple[int, UnicodeDecodeError]]:
    """The numbers of lines that are not in an encoding, and why."""
    with open_binary(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                yield number, error


def _ragged(path: Path, separator: str, encoding: str) -> list[str]:
    """Rows with too few or too many fields, each with its line."""
    problems: list[str] = []
    expected = 0
    try:
        with open_text(path, encoding) as stream:
            for line, record in records(stream, separator):
                expected = expected or len(record)
                if len(record) != expected:
                    spans = " Is a quotation mark not closed?" if any("\n" in cell for cell in record) else ""
                    problems.append(
                        f"`{path}`, line {line}: {len(record)} fields where the header has {expected}.{spans}"
                    )
                if len(problems) == _RAGGED_SHOWN:
                    break
    except DataError as error:
        problems += [f"`{path}`, {problem}" for problem in error.problems]
    return problems or [
        f"`{path}` is not a CSV file that can be read: its lines have not as many cells as its header. Look for "
        "cells that hold the separator or line breaks and are not between quotation marks, or name the separator: "
        f"{in_data(separator=...)}."
    ]


def sample(path: Path) -> bytes:
    """The first bytes of a file, unpacked where it is gzip."""
    try:
        with open_binary(path) as stream:
            return stream.read(SAMPLE)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(damaged(f"`{path}`", "it cannot be unpacked to its end")) from error
    except OSError as error:
        raise DataError(unreadable(f"`{path}`", error)) from error


def open_text(path: Path, encoding: str) -> TextIO:
    """Open a file for reading text, unpacked where its name ends in ``.gz``; a mark at its start is left out."""
    name = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    return io.TextIOWrapper(open_binary(path), encoding=name, newline="")


def encodings_to_try(start: bytes) -> tuple[str, ...]:
    """The encodings a file that begins with ``start`` may have, the likeliest first."""
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return (encoding,)
    for place, encoding in enumerate(("utf-16-be", "utf-16-le")):  # without a mark: every other byte is 0
        if start[place::2].count(0) * 3 > len(start) and not start[1 - place :: 2].count(0):
            return (encoding,)
    return ("utf-8", "cp1252", "latin-1")


def separator_of(text: str) -> str:
    """The separator that cuts most records into as many fields as the header; a comma where there is one column."""
    best, best_score = ",", (0.0, 1)
    for separator in SEPARATORS:
        counts = [len(record) for _, record in records(text, separator, limit=_RECORDS)]
        if len(text) >= SAMPLE // 2 and len(counts) > 2:
            counts = counts[:-1]  # the sample may end within a record
        if not counts or counts[0] == 1:
            continue
        score = (sum(count == counts[0] for count in counts) / len(counts), counts[0])
        if score > best_score:
            best, best_score = separator, score
    return best


def records(text: str | TextIO, separator: str, *, limit: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV text, each with the line it begins on; blank lines are left out."""
    stream = io.StringIO(text, newline="") if isinstance(text, str) else text
    reader = csv.reader(stream, delimiter=separator)
    begins = 1
    found = 0
    try:
        for record in reader:
            if record:
                yield begins, record
                found += 1
                if found == limit:
                    return
            begins = reader.line_num + 1
    except csv.Error as error:
        if limit is None:
            raise DataError(f"line {begins}: {error}. Is a quotation mark not closed?") from error
