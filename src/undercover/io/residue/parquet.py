"""Parquet files: every byte belongs to a column chunk or the footer, and the footer says what the cells say.

Row group by row group the cells are written again. The same library makes the same bytes. Where bytes differ, pages are
compared unpacked, which another version of the compression does not change. Pages that another version of Arrow has cut
or headed otherwise are compared by their sizes and statistics, and a note says that no more was compared.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from undercover.io.parquet import SLICE, write_slices
from undercover.io.residue.found import ADVICE, Residue
from undercover.io.residue.thrift import has_one_frame, read_pages

_MAGIC = b"PAR1"
_ENDS = 12  # the mark at both ends, and the length of the footer
_SCHEMA = b"ARROW:schema"
_CODEC = "ZSTD"
_MORE = 256  # bytes by which an unpacked column chunk of another version may be larger


def find_in_parquet(path: Path) -> Residue:
    """Compare a file with what its cells make when they are written again."""
    found = Residue()
    with path.open("rb") as source, arrow_parquet.ParquetFile(source) as file:
        about, schema = file.metadata, file.schema_arrow
        found.problems.extend(_footer_problems(path, about, schema))
        if found.problems:
            return found
        written_by = ""
        for group in range(about.num_row_groups):
            again = pa.BufferOutputStream()
            write_slices([file.read_row_group(group)], again)
            canonical = again.getvalue()
            own = arrow_parquet.read_metadata(pa.BufferReader(canonical))
            if group == 0 and schema != own.schema.to_arrow_schema():
                found.problems.append(_said(path, "its columns are of types that we do not write"))
                return found
            for number in range(about.num_columns):
                theirs, ours = about.row_group(group).column(number), own.row_group(0).column(number)
                source.seek(_start(theirs))
                chunk = source.read(theirs.total_compressed_size)
                start = _start(ours)
                mine = canonical.slice(start, ours.total_compressed_size).to_pybytes()
                fault = "" if chunk == mine else _difference(chunk, mine)
                fault = fault or _statistics_fault(theirs, ours)
                if fault and about.created_by != own.created_by and _is_plausible(theirs, ours):
                    written_by = own.created_by
                elif fault:
                    found.problems.append(_said(path, f"in column `{theirs.path_in_schema}` {fault}"))
                    return found
        if written_by:
            found.notes.append(
                f"`{path.name}` says that `{_printable(about.created_by)}` wrote it; here it would be `{written_by}`. "
                "Its pages were compared by size and statistics alone. That version can compare every byte."
            )
    return found


def _said(path: Path, what: str) -> str:
    return f"`{path.name}` holds more than its cells: {what}. {ADVICE}"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:80]


def _start(column: Any) -> int:
    first = column.dictionary_page_offset if column.has_dictionary_page else None
    return int(column.data_page_offset if first is None else min(first, column.data_page_offset))


def _footer_problems(path: Path, about: Any, schema: pa.Schema) -> list[str]:
    """What the footer says beside the schema, and bytes that belong to nothing."""
    kept = {key for key in about.metadata or {} if key != _SCHEMA}
    if kept or schema.metadata:
        return [_said(path, "it has metadata of its own")]
    if any(field.metadata for field in schema):
        return [_said(path, "a column has metadata of its own")]
    again = io.BytesIO()
    about.write_metadata_file(again)
    if len(again.getvalue()) - _ENDS != about.serialized_size:
        return [_said(path, "its footer has fields that belong to no Parquet file this version of Arrow knows")]
    if not about.created_by.startswith("parquet-cpp-arrow version ") or len(about.created_by) > 80:
        return [_said(path, "it was not written by Arrow")]
    place = len(_MAGIC)
    for group in range(about.num_row_groups):
        rows = about.row_group(group)
        if rows.num_rows != min(SLICE, about.num_rows - SLICE * group):
            return [_said(path, "its rows are cut into other groups than we cut them")]
        for number in range(rows.num_columns):
            column = rows.column(number)
            if column.compression != _CODEC or column.file_path:
                return [_said(path, f"column `{column.path_in_schema}` is not packed as we pack it")]
            if column.has_offset_index or column.has_column_index or column.bloom_filter_offset is not None:
                return [_said(path, f"column `{column.path_in_schema}` has an index")]
            if _start(column) != place:
                return [_said(path, "bytes lie between its columns")]
            place += column.total_compressed_size
    if place + about.serialized_size + _ENDS - len(_MAGIC) != path.stat().st_size:
        return [_said(path, "bytes lie between its columns and its footer")]
    return []


def _difference(chunk: bytes, mine: bytes) -> str:
    """What differs in a column chunk beside how it is packed; nothing where that is all."""
    try:
        theirs, ours = list(read_pages(chunk)), list(read_pages(mine))
    except ValueError as error:
        return f"a page cannot be read: {error}"
    if [page.header for page in theirs] != [page.header for page in ours]:
        return "headers of pages say something else than the cells"
    for one, other in zip(theirs, ours, strict=True):
        if one.size != other.size or _unpacked(one.body, one.size) != _unpacked(other.body, other.size):
            return "pages hold something else than the cells"
        if not has_one_frame(one.body):
            return "bytes lie behind a page"
    return ""


def _unpacked(body: bytes, size: int) -> bytes | None:
    try:
        found: bytes = pa.Codec("zstd").decompress(body, size, asbytes=True)
    except (pa.ArrowException, OSError, ValueError):
        return None
    return found


def _statistics_fault(theirs: Any, ours: Any) -> str:
    """Whether the footer gives a column other statistics than its cells have."""
    mine = None if ours.statistics is None else ours.statistics.to_dict()
    said = None if theirs.statistics is None else theirs.statistics.to_dict()
    return "" if said == mine else "statistics say something else than the cells"


def _is_plausible(theirs: Any, ours: Any) -> bool:
    """Whether a column chunk of another version may hold the same cells and nothing else."""
    return (
        not _statistics_fault(theirs, ours)
        and theirs.total_uncompressed_size <= 1.02 * ours.total_uncompressed_size + _MORE
        and theirs.total_compressed_size <= 1.1 * ours.total_compressed_size + _MORE
    )
