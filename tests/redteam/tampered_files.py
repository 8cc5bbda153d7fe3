"""Smuggled content: what somebody may hide in the files of a public folder beside the cells of its tables.

Every case keeps all cells as they are, so that every promise still holds, and hashes the folder anew.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from tampering import TamperedFolder, Tampering

from undercover.testing.forged import FORGERIES, SEALED_BY_THEMSELVES

RAW = "name,age,sex,zip,disease\nAda,34,F,10023,flu\nBob,35,M,10041,gout\n"
BLOB = "QWRhLDM0LEYsMTAwMjMsZmx1Cg==" * 40
Alter = Callable[[TamperedFolder], object]


# --- CSV ---------------------------------------------------------------------------------------------------------


def edit(change: Callable[[bytes], bytes]) -> Alter:
    return lambda folder: folder.edit_bytes(change)


def insert_after_lines(count: int, text: bytes) -> Alter:
    def change(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        return b"".join([*lines[:count], text, *lines[count:]])

    return edit(change)


def write_cells(change: Callable[[list[list[str]]], None]) -> Alter:
    """Change the cells of the first table of CSV and write it as we do."""

    def alter(folder: TamperedFolder) -> None:
        with folder.table.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        change(rows)
        with folder.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)

    return alter


def replace_cell(text: str, column: str = "disease") -> Alter:
    """Write another text into a cell whose class has the replaced value more than once."""

    def change(rows: list[list[str]]) -> None:
        rows[1][rows[0].index(column)] = text

    return write_cells(change)


def extend_value(value: str, addition: str, table: int = 0) -> Alter:
    """Append something to every cell of a value, so that every count stays as it is."""

    def alter(folder: TamperedFolder) -> None:
        path = folder.place / folder.content["tables"][table]["file"]
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        for row in rows[1:]:
            row[:] = [cell + addition if cell == value else cell for cell in row]
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)

    return alter


def rename_column(name: str, other: str) -> Alter:
    def alter(folder: TamperedFolder) -> None:
        write_cells(lambda rows: rows[0].__setitem__(rows[0].index(name), other))(folder)
        for table in folder.content["tables"]:
            for column in table["columns"]:
                column["name"] = other if column["name"] == name else column["name"]
        for claim in folder.claims:
            claim["columns"] = [other if one == name else one for one in claim["columns"]]
        content = json.loads(json.dumps(folder.package).replace(json.dumps(name), json.dumps(other)))
        folder.write_package(content)
        folder.drop_datasheet()

    return alter


BYTES = "`table.csv` holds more than its cells"
ROWS_IN_CELL = "has cells that hold lists of values"
CSV = [
    Tampering("a byte-order mark", edit(lambda data: b"\xef\xbb\xbf" + data), said=BYTES),
    Tampering("blank lines at the end", edit(lambda data: data + b"\n\n\n"), said=BYTES),
    Tampering("a blank line in between", insert_after_lines(20, b"\n"), said=BYTES),
    Tampering("blank lines that encode a message", insert_after_lines(9, b"\n" * 34), said=BYTES),
    Tampering("line ends of Windows", edit(lambda data: data.replace(b"\n", b"\r\n")), said=BYTES),
    Tampering("one carriage return", edit(lambda data: data.replace(b"\n", b"\r\n", 1)), said=BYTES),
    Tampering("no line end after the last row", edit(lambda data: data[:-1]), said=BYTES),
    Tampering("quotation marks around a header", edit(lambda data: data.replace(b"age", b'"age"', 1)), said=BYTES),
    Tampering("quotation marks around some cells", edit(lambda data: data.replace(b"gout", b'"gout"', 3)), said=BYTES),
    Tampering("rows in a quoted cell", extend_value("flu", "\n" + RAW), said=ROWS_IN_CELL),
    Tampering("rows with semicolons in a cell", extend_value("flu", "\n" + RAW.replace(",", ";")), said=ROWS_IN_CELL),
    Tampering("rows with tabs in a cell", extend_value("flu", "\n" + RAW.replace(",", "\t")), said=ROWS_IN_CELL),
    Tampering("rows with bars in a cell", extend_value("flu", "\n" + RAW.replace(",", "|")), said=ROWS_IN_CELL),
    Tampering("one raw row in a cell", extend_value("flu", ", 34, F, 10041"), said=ROWS_IN_CELL),
    Tampering("one raw row with semicolons in a cell", extend_value("flu", ";34;F;10041"), said=ROWS_IN_CELL),
    Tampering("rows in the name of a column", rename_column("zip", "zip\n" + RAW), said="has a name that holds rows"),
    Tampering(
        "letters that are not printed in a name", rename_column("zip", "zip\x1b[8m"), said="letters that are not"
    ),
    Tampering("a coded text in a cell", extend_value("flu", BLOB), on_word=True, said="rests on the holder's word"),
    Tampering("a line break in a cell", extend_value("flu", "\nAda"), on_word=True, said="rests on the holder's word"),
]
for _release in ("anatomy", "cross-bucket", "streamliner", "dealt", "drawn", "perturbed"):
    CSV += [
        Tampering(
            f"a byte-order mark, {_release}", edit(lambda data: b"\xef\xbb\xbf" + data), _release, said="holds more"
        ),
        Tampering(f"a blank line, {_release}", insert_after_lines(3, b"\n"), _release, said="holds more"),
    ]
CSV += [
    Tampering("rows in a cell of SAT", extend_value("flu", "\n" + RAW, 1), "anatomy", said=ROWS_IN_CELL),
    Tampering("rows in a cell of QIT", extend_value("M", "\n" + RAW), "anatomy", said=ROWS_IN_CELL),
    Tampering("rows in a cell of permuted values", extend_value("flu", "\n" + RAW), "dealt", said=ROWS_IN_CELL),
    Tampering("rows in a cell of drawn values", extend_value("flu", "\n" + RAW), "drawn", said=ROWS_IN_CELL),
]


# --- Parquet -----------------------------------------------------------------------------------------------------


def write_parquet(change: Callable[[pa.Table], pa.Table] = lambda table: table, **options: Any) -> Alter:
    """Write the first table again by Arrow, with a change or with other options."""

    def alter(folder: TamperedFolder) -> None:
        pq.write_table(change(pq.read_table(folder.table)), folder.table, **{"compression": "zstd", **options})

    return alter


def with_field_metadata(table: pa.Table) -> pa.Table:
    return table.cast(pa.schema([field.with_metadata({"note": RAW}) for field in table.schema]))


def with_unused_values(table: pa.Table) -> pa.Table:
    column = table.column("disease").combine_chunks()
    column = column if isinstance(column, pa.DictionaryArray) else column.cast(pa.string()).dictionary_encode()
    values = pa.concat_arrays([column.dictionary.cast(pa.string()), pa.array(["Ada", "Bob"])])
    return table.set_column(
        table.column_names.index("disease"), "disease", pa.DictionaryArray.from_arrays(column.indices, values)
    )


def parts_of_parquet(data: bytes) -> tuple[bytes, bytes]:
    """What lies before the footer, and the footer."""
    size = int.from_bytes(data[-8:-4], "little")
    return data[: -8 - size], data[-8 - size : -8]


def with_footer(body: bytes, footer: bytes) -> bytes:
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def stray_bytes(data: bytes) -> bytes:
    body, footer = parts_of_parquet(data)
    return with_footer(body + RAW.encode(), footer)


def unknown_footer_field(data: bytes) -> bytes:
    """A field 100 of the footer, which every reader passes over."""
    body, footer = parts_of_parquet(data)
    return with_footer(body, footer[:-1] + b"\x08\xc8\x01" + bytes([len(RAW)]) + RAW.encode() + b"\0")


def other_writer(data: bytes) -> bytes:
    body, footer = parts_of_parquet(data)
    text = re.search(rb"parquet-cpp-arrow version [\d.]+", footer)
    assert text is not None
    return with_footer(body, footer.replace(text[0], b"Ada,34,F,10023,flu;Bob,35,M,10041,gout"[: len(text[0])]))


def other_statistics(data: bytes) -> bytes:
    """The least disease that the footer states is another one."""
    body, footer = parts_of_parquet(data)
    return with_footer(body, footer.replace(b"asthma", b"Ada 34"))


def other_page_header(data: bytes) -> bytes:
    body, footer = parts_of_parquet(data)
    assert b"asthma" in body
    place = body.rindex(b"asthma")
    return with_footer(body[:place] + b"Ada 34" + body[place + 6 :], footer)


PARQUET_SAID = "`table.parquet` holds more than its cells"
PARQUET = [
    Tampering(name, alter, release, "parquet", said=said)
    for name, alter, release, said in [
        (
            "metadata of a Parquet file",
            write_parquet(lambda table: table.replace_schema_metadata({"rows": RAW})),
            "mondrian",
            "it has metadata of its own",
        ),
        (
            "metadata as pandas writes it",
            write_parquet(lambda table: table.replace_schema_metadata({"pandas": json.dumps({"raw": RAW})})),
            "perturbed",
            "it has metadata of its own",
        ),
        ("metadata of a Parquet column", write_parquet(with_field_metadata), "mondrian", "metadata of its own"),
        ("metadata of a Parquet column, dealt", write_parquet(with_field_metadata), "dealt", "metadata of its own"),
        ("values of a dictionary that no row has", write_parquet(with_unused_values), "mondrian", PARQUET_SAID),
        ("bytes before the footer", edit(stray_bytes), "mondrian", "bytes lie between its columns and its footer"),
        ("bytes before the footer, drawn", edit(stray_bytes), "drawn", "bytes lie between its columns and its footer"),
        ("a field of the footer nobody reads", edit(unknown_footer_field), "mondrian", "its footer has fields"),
        ("a row for the name of the writer", edit(other_writer), "mondrian", "it was not written by Arrow"),
        ("statistics of other values", edit(other_statistics), "mondrian", "statistics say something else"),
        ("statistics in a page header", edit(other_page_header), "mondrian", PARQUET_SAID),
        ("an index of pages", write_parquet(write_page_index=True), "mondrian", "has an index"),
        ("another compression", write_parquet(compression="gzip"), "mondrian", "is not packed as we pack it"),
        ("no compression", write_parquet(compression="none"), "mondrian", "is not packed as we pack it"),
        ("row groups as groups of people", write_parquet(row_group_size=5), "mondrian", "cut into other groups"),
        ("pages of another version", write_parquet(data_page_version="2.0"), "mondrian", PARQUET_SAID),
        ("pages cut where groups end", write_parquet(data_page_size=1, write_batch_size=5), "mondrian", PARQUET_SAID),
        ("no statistics", write_parquet(write_statistics=False), "mondrian", PARQUET_SAID),
        (
            "a column nobody names",
            write_parquet(lambda table: table.append_column("name", pa.array([f"P{n}" for n in range(len(table))]))),
            "mondrian",
            "has the columns",
        ),
    ]
]
PARQUET += [
    Tampering(
        "bytes after the end of a Parquet file",
        edit(lambda data: data + RAW.encode()),
        "mondrian",
        "parquet",
        said="is not a Parquet file that can be read",
        exit_code=2,
    ),
    Tampering(
        "rows in a cell of Parquet",
        write_parquet(
            lambda table: table.set_column(
                table.column_names.index("disease"),
                "disease",
                pa.array([f"flu\n{RAW}" if one == "flu" else one for one in table.column("disease").to_pylist()]),
            )
        ),
        "mondrian",
        "parquet",
        said=ROWS_IN_CELL,
    ),
]


# --- Excel -------------------------------------------------------------------------------------------------------


def rezip(
    change: Callable[[dict[str, bytes]], None] = lambda parts: None,
    describe: Callable[[zipfile.ZipInfo], None] = lambda info: None,
    comment: bytes = b"",
) -> Alter:
    """Change the parts of a workbook and pack them as they were."""

    def alter(folder: TamperedFolder) -> None:
        with zipfile.ZipFile(folder.table) as book:
            infos = {part.filename: part for part in book.infolist()}
            parts = {name: book.read(name) for name in infos}
        before = dict(parts)
        change(parts)
        assert parts != before or comment or describe is not None
        with zipfile.ZipFile(folder.table, "w", zipfile.ZIP_DEFLATED) as book:
            book.comment = comment
            for name, data in parts.items():
                info = zipfile.ZipInfo(name, infos[name].date_time if name in infos else (1980, 1, 31, 0, 0, 0))
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
                describe(info)
                book.writestr(info, data)

    return alter


def patch(part: str, old: str, new: str) -> Alter:
    def change(parts: dict[str, bytes]) -> None:
        assert old.encode() in parts[part], f"{old} is not in {part}"
        parts[part] = parts[part].replace(old.encode(), new.encode(), 1)

    return rezip(change)


def add_part(name: str, data: str) -> Alter:
    return rezip(lambda parts: parts.update({name: data.encode()}))


def add_sheet(state: str) -> Alter:
    """A second sheet with raw rows; Excel shows it if ``state`` says so."""

    def change(parts: dict[str, bytes]) -> None:
        cells = "".join(
            f'<row r="{number}"><c r="A{number}" t="inlineStr"><is><t>{line}</t></is></c></row>'
            for number, line in enumerate(RAW.splitlines(), 1)
        )
        space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        parts["xl/worksheets/sheet2.xml"] = (
            f'<worksheet xmlns="{space}"><sheetData>{cells}</sheetData></worksheet>'
        ).encode()
        hidden = f' state="{state}"' if state else ""
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
        for part, before, more in (
            ("xl/workbook.xml", "</sheets>", f'<sheet name="raw" sheetId="2"{hidden} r:id="rId9"/></sheets>'),
            (
                "xl/_rels/workbook.xml.rels",
                "</Relationships>",
                f'<Relationship Id="rId9" Type="{kind}" Target="worksheets/sheet2.xml"/></Relationships>',
            ),
            (
                "[Content_Types].xml",
                "</Types>",
                '<Override PartName="/xl/worksheets/sheet2.xml" ContentType="application/vnd.openxmlformats-'
                'officedocument.spreadsheetml.worksheet+xml"/></Types>',
            ),
        ):
            parts[part] = parts[part].replace(before.encode(), more.encode())

    return rezip(change)


def duplicate_member(folder: TamperedFolder) -> None:
    with zipfile.ZipFile(folder.table) as book:
        parts = [(part, book.read(part)) for part in book.infolist()]
    sheet = next(data for part, data in parts if part.filename.endswith("sheet1.xml"))
    from warnings import catch_warnings, simplefilter

    with catch_warnings(), zipfile.ZipFile(folder.table, "w", zipfile.ZIP_DEFLATED) as book:
        simplefilter("ignore")
        book.writestr(parts[0][0], parts[0][1])
        first = zipfile.ZipInfo("xl/worksheets/sheet1.xml", (1980, 1, 31, 0, 0, 0))
        book.writestr(first, RAW)
        for part, data in parts[1:]:
            book.writestr(part, sheet if part.filename.endswith("sheet1.xml") else data)


def pad_member(folder: TamperedFolder) -> None:
    """Bytes behind the packed last member, which its size counts in."""
    data = bytearray(folder.table.read_bytes())
    with zipfile.ZipFile(folder.table) as book:
        last = max(book.infolist(), key=lambda part: part.header_offset)
        start = book.start_dir
    extra = RAW.encode()
    size = (last.compress_size + len(extra)).to_bytes(4, "little")
    data[last.header_offset + 18 : last.header_offset + 22] = size
    entry = data.rindex(last.filename.encode()) - 46
    data[entry + 20 : entry + 24] = size
    data[-6:-2] = (start + len(extra)).to_bytes(4, "little")
    folder.table.write_bytes(bytes(data[:start]) + extra + bytes(data[start:]))


SHEET, BOOK, CORE, APP = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "docProps/core.xml", "docProps/app.xml"
MEMBERS, PART = "unknown members", "is not the one that belongs to a single plain sheet"
PLAIN = "another cell that is no plain value"
FLU = '<c r="A2" t="inlineStr">'
COMMENTS = f'<comments><commentList><comment ref="A1"><text><t>{RAW}</t></text></comment></commentList></comments>'
VALIDATION = (
    '<dataValidations count="1"><dataValidation type="list" sqref="A1">'
    f'<formula1>"{RAW}"</formula1></dataValidation></dataValidations>'
)
CONDITION = (
    '<conditionalFormatting sqref="A1"><cfRule type="expression">'
    f"<formula>{RAW}</formula></cfRule></conditionalFormatting>"
)
EXCEL = [
    Tampering(name, alter, release, "xlsx", said=said)
    for name, alter, release, said in [
        ("a very hidden sheet", add_sheet("veryHidden"), "mondrian", MEMBERS),
        ("a hidden sheet", add_sheet("hidden"), "mondrian", MEMBERS),
        ("a second sheet", add_sheet(""), "anatomy", MEMBERS),
        ("comments in a workbook", add_part("xl/comments1.xml", COMMENTS), "mondrian", MEMBERS),
        ("threaded comments", add_part("xl/threadedComments/threadedComment1.xml", RAW), "dealt", MEMBERS),
        ("an extra member", add_part("raw.csv", RAW), "mondrian", MEMBERS),
        ("an extra member, perturbed", add_part("xl/media/image1.png", RAW), "perturbed", MEMBERS),
        ("custom properties", add_part("docProps/custom.xml", f"<Properties>{RAW}</Properties>"), "mondrian", MEMBERS),
        ("a macro", add_part("xl/vbaProject.bin", RAW), "mondrian", MEMBERS),
        (
            "shared strings no cell has",
            add_part("xl/sharedStrings.xml", f"<sst><si><t>{RAW}</t></si></sst>"),
            "drawn",
            MEMBERS,
        ),
        ("settings of a printer", add_part("xl/printerSettings/printerSettings1.bin", RAW), "mondrian", MEMBERS),
        ("an external link", add_part("xl/externalLinks/externalLink1.xml", RAW), "mondrian", MEMBERS),
        ("a formula", patch(SHEET, FLU, f'<c r="A2" t="inlineStr"><f>"{RAW}"</f>'), "mondrian", PLAIN),
        (
            "a defined name",
            patch(BOOK, "<calcPr", f'<definedNames><definedName name="a">{RAW}</definedName></definedNames><calcPr'),
            "mondrian",
            PART,
        ),
        ("the creator of a workbook", patch(CORE, "<dc:creator>", f"<dc:creator>{RAW}"), "mondrian", PART),
        (
            "keywords of a workbook",
            patch(CORE, "<dc:creator>", f"<cp:keywords>{RAW}</cp:keywords><dc:creator>"),
            "mondrian",
            PART,
        ),
        ("the company of a workbook", patch(APP, "<Company>", f"<Company>{RAW}"), "mondrian", PART),
        ("another time of writing", patch(CORE, "1980-01-01", "2026-01-01"), "mondrian", PART),
        ("another name of the sheet", patch(BOOK, 'name="table"', 'name="Ada 34 flu"'), "mondrian", PART),
        (
            "a format of numbers that is a text",
            patch(
                "xl/styles.xml",
                "<fonts ",
                f'<numFmts count="1"><numFmt numFmtId="164" formatCode="&quot;{RAW}&quot;"/></numFmts><fonts ',
            ),
            "mondrian",
            PART,
        ),
        ("a text in the theme", patch("xl/theme/theme1.xml", 'name="Office"', f'name="{RAW}"'), "mondrian", PART),
        (
            "a comment in a sheet's text",
            patch(SHEET, "<sheetData>", f"<!-- {RAW} --><sheetData>"),
            "mondrian",
            "set up in another way",
        ),
        (
            "a hidden column",
            patch(SHEET, "<sheetData>", '<cols><col min="9" max="9" hidden="1"/></cols><sheetData>'),
            "mondrian",
            "set up in another way",
        ),
        (
            "a header for print",
            patch(SHEET, "</worksheet>", f"<headerFooter><oddHeader>{RAW}</oddHeader></headerFooter></worksheet>"),
            "mondrian",
            "below its cells",
        ),
        (
            "a list to choose from",
            patch(
                SHEET,
                "<pageMargins",
                VALIDATION + "<pageMargins",
            ),
            "mondrian",
            "below its cells",
        ),
        (
            "a conditional format",
            patch(
                SHEET,
                "<pageMargins",
                CONDITION + "<pageMargins",
            ),
            "mondrian",
            "below its cells",
        ),
        (
            "an extension of a sheet",
            patch(SHEET, "</worksheet>", f"<extLst><ext>{RAW}</ext></extLst></worksheet>"),
            "mondrian",
            "below its cells",
        ),
        ("a hidden row", patch(SHEET, '<row r="3">', '<row r="3" hidden="1">'), "mondrian", "hidden, out of order"),
        (
            "formatted runs of a text",
            patch(SHEET, FLU + "<is>", FLU + f"<is><rPh sb='0' eb='1'><t>{RAW}</t></rPh>"),
            "mondrian",
            PLAIN,
        ),
        (
            "a cell twice",
            patch(SHEET, FLU, f'<c r="A2" t="inlineStr"><is><t>{RAW}</t></is></c>' + FLU),
            "mondrian",
            "or one twice",
        ),
        ("a comment of the archive", rezip(comment=RAW.encode()), "mondrian", "comment or extra fields"),
        (
            "a comment of a member",
            rezip(describe=lambda info: setattr(info, "comment", RAW.encode())),
            "mondrian",
            "comment or extra fields",
        ),
        (
            "an extra field of a member",
            rezip(
                describe=lambda info: setattr(
                    info, "extra", b"\xfe\xca" + len(RAW).to_bytes(2, "little") + RAW.encode()
                )
            ),
            "mondrian",
            "comment or extra fields",
        ),
        (
            "times of members",
            rezip(describe=lambda info: setattr(info, "date_time", (2026, 1, 2, 3, 4, 6))),
            "mondrian",
            "times of writing",
        ),
        ("bytes before an archive", edit(lambda data: RAW.encode() + data), "mondrian", "bytes lie"),
        ("bytes behind a packed member", pad_member, "mondrian", "bytes lie behind a member"),
        ("a member twice", duplicate_member, "mondrian", "a member is there twice"),
    ]
]


def beside_table(folder: TamperedFolder) -> None:
    """A cell far to the right, in a row of the table."""
    patch(SHEET, "</row>", '<c r="ZZ1" t="inlineStr"><is><t>Ada</t></is></c></row>')(folder)


EXCEL += [
    Tampering("a cell beside the table", beside_table, "mondrian", "xlsx", said="cells beside the table"),
    Tampering(
        "bytes after an archive", edit(lambda data: data + RAW.encode()), "mondrian", "xlsx", said="bytes lie behind"
    ),
]


# --- Stata and SPSS ----------------------------------------------------------------------------------------------


def write_statistics(**options: Any) -> Alter:
    """Write the first table again with its labels and something more."""

    def alter(folder: TamperedFolder) -> None:
        kind = folder.table.suffix[1:]
        read, write = (getattr(pyreadstat, f"{verb}_{kind}") for verb in ("read", "write"))
        frame, about = read(str(folder.table), output_format="polars")
        kept = {"column_labels": {**about.column_names_to_labels, **options.get("column_labels", {})}}
        write(frame, str(folder.table), **({"version": 14} if kind == "dta" else {}), **{**options, **kept})

    return alter


def with_characteristics(data: bytes) -> bytes:
    """A note of Stata, as a characteristic of the data set; the map of the file is moved along."""
    text = b"<ch>" + (258 + len(RAW)).to_bytes(4, "little") + b"_dta".ljust(129, b"\0") + b"note1".ljust(129, b"\0")
    text += RAW.encode() + b"</ch>"
    place = data.index(b"<map>") + len(b"<map>")
    offsets = [int.from_bytes(data[place + 8 * n : place + 8 * n + 8], "little") for n in range(14)]
    moved = [offset + (len(text) if number > 8 else 0) for number, offset in enumerate(offsets)]
    data = data[:place] + b"".join(offset.to_bytes(8, "little") for offset in moved) + data[place + 8 * 14 :]
    return data.replace(b"<characteristics>", b"<characteristics>" + text)


STATISTICS = [
    Tampering(
        f"a label of a column, {kind}",
        write_statistics(column_labels={"disease": RAW[:70]}),
        "mondrian",
        kind,
        said="has a label that `datapackage.json` does not have",
    )
    for kind in ("dta", "sav")
]
STATISTICS += [
    Tampering(
        f"a label of the file, {kind}", write_statistics(file_label=RAW[:60]), "dealt", kind, said="a label of the"
    )
    for kind in ("dta", "sav")
]
STATISTICS += [
    Tampering("notes of a file", write_statistics(note=RAW), "mondrian", "sav", said="it has notes"),
    Tampering(
        "bytes after a Stata file", edit(lambda data: data + RAW.encode()), "mondrian", "dta", said="different bytes"
    ),
    Tampering(
        "characteristics of Stata",
        edit(with_characteristics),
        "mondrian",
        "dta",
        said="`table.dta` holds more than its cells",
    ),
    Tampering(
        "the time of writing a Stata file",
        edit(lambda data: data.replace(b"01 Jan 1980 00:00", b"02 Feb 2026 03:04")),
        "mondrian",
        "dta",
        said="different bytes",
    ),
    Tampering(
        "the time of writing an SPSS file",
        edit(lambda data: data.replace(b"01 Jan 8000:00:00", b"02 Feb 2603:04:05")),
        "mondrian",
        "sav",
        said="different bytes",
    ),
    Tampering(
        "labels of values that hold rows",
        write_statistics(variable_value_labels={"bucket": {9_999: RAW[:100]}}),
        "anatomy",
        "dta",
        said="hold rows",
    ),
]


# --- The data package --------------------------------------------------------------------------------------------


def repackage(change: Callable[[dict[str, Any]], object]) -> Alter:
    def alter(folder: TamperedFolder) -> None:
        content = folder.package
        change(content)
        folder.write_package(content)

    return alter


def describe_by_rows(folder: TamperedFolder) -> None:
    """Raw rows in the description, and on the datasheet where it belongs."""
    repackage(lambda package: package.update(description=RAW))(folder)
    folder.edit_page("</h1>\n", f"</h1>\n<p>{RAW}</p>")


def retitle(folder: TamperedFolder) -> None:
    """Another title, on all pages."""
    repackage(lambda package: package.update(title="Hospital visits", name="hospital-visits"))(folder)
    path = folder.place / "datasheet.html"
    path.write_text(path.read_text("utf-8").replace("Hospital stays", "Hospital visits"), "utf-8")


def field_of(package: dict[str, Any], number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = package["resources"][0]["schema"]["fields"][number]
    return found


ACCOUNT = "says something that the release does not account for"
PACKAGE = [
    Tampering(name, repackage(change), said=said)
    for name, change, said in [
        ("an unknown key of the package", lambda package: package.update(raw=RAW), ACCOUNT),
        ("sample rows of the package", lambda package: package["resources"][0].update(data=RAW.split()), ACCOUNT),
        ("an unknown key of a field", lambda package: field_of(package).update(example="Ada"), ACCOUNT),
        ("constraints of a field", lambda package: field_of(package).update(constraints={"enum": ["Ada"]}), ACCOUNT),
        ("a resource more", lambda package: package["resources"].append({"name": "raw", "data": RAW}), ACCOUNT),
        ("another role in the package", lambda package: field_of(package).update(role="sensitive"), ACCOUNT),
        ("another type in the package", lambda package: field_of(package).update(type=RAW), ACCOUNT),
        ("another media type", lambda package: package["resources"][0].update(mediatype=RAW), ACCOUNT),
        (
            "a contributor more",
            lambda package: package["contributors"].append({"title": "Ada", "role": "author"}),
            ACCOUNT,
        ),
        ("a licence more", lambda package: package["licenses"].append({"name": "Ada"}), ACCOUNT),
        ("sources", lambda package: package.update(sources=[{"title": RAW}]), ACCOUNT),
        (
            "missing values that are rows",
            lambda package: package["resources"][0]["schema"].update(missingValues=["", RAW]),
            ACCOUNT,
        ),
        ("another name of the package", lambda package: package.update(name="ada-34-flu"), ACCOUNT),
        (
            "a path to elsewhere",
            lambda package: package["resources"][0].update(path="https://example.org/raw.csv", name="raw"),
            ACCOUNT,
        ),
        ("keys that are rows", lambda package: package["resources"][0]["schema"].update({RAW: 1}), ACCOUNT),
        (
            "a description of a column that the page does not have",
            lambda package: field_of(package).update(description="Ada is 34"),
            "is not the one that belongs to this release",
        ),
    ]
]
PACKAGE += [
    Tampering("rows in the description", describe_by_rows, said="holds rows of a table in the words of"),
    Tampering("a package that is a list", lambda folder: folder.write_package([RAW]), said=ACCOUNT),
    Tampering("another title", retitle, on_word=True, said="in words rests on the holder's word"),
]


# --- The datasheet -----------------------------------------------------------------------------------------------


def repage(old: str, new: str) -> Alter:
    return lambda folder: folder.edit_page(old, new)


def as_another_version(alter: Alter) -> Alter:
    """The same, on a page that says that another version made it."""

    def both(folder: TamperedFolder) -> None:
        alter(folder)
        path = folder.place / "datasheet.html"
        text, times = re.subn(r'(name="template" content=")[0-9a-f]{12}', r"\g<1>0123456789ab", path.read_text("utf-8"))
        assert times == 1
        path.write_text(text, "utf-8")

    return both


END = "</main>"
PAGE_EDITS: list[tuple[str, Alter, str]] = [
    (
        "a hidden block",
        repage(END, f'<div style="display:none">{RAW}</div></main>'),
        "an attribute that no datasheet has",
    ),
    ("a hidden attribute", repage(END, f"<p hidden>{RAW}</p></main>"), "an attribute that no datasheet has"),
    ("a comment", repage(END, f"<!-- {RAW} --></main>"), "comments"),
    ("a script more", repage("</body>", f"<script>const raw = `{RAW}`;</script></body>"), "scripts"),
    ("data in the script", repage("<script>", f"<script>const raw = `{RAW}`;"), "a script of its own"),
    (
        "an embedded file",
        repage(END, f'<img src="data:text/csv;base64,{BLOB}"></main>'),
        "an element that no datasheet has",
    ),
    ("a link with data", repage(END, f'<a href="data:text/csv;base64,{BLOB}">x</a></main>'), "an element that no"),
    (
        "another figure",
        repage('<data value="240">240</data>', '<data value="2400">2,400</data>'),
        "numbers that the release",
    ),
    ("another exact figure", repage('<data value="240">', '<data value="10023.34">'), "numbers that the release"),
    ("a text in the style", repage("</style>", f'p::after {{ content: "{BLOB}"; }}</style>'), "a style with texts"),
    (
        "an address in the style",
        repage("</style>", f"p {{ background: url(data:text/csv,{BLOB}); }}</style>"),
        "a style with",
    ),
    ("rows in a paragraph", repage(END, f"<p>{RAW}</p></main>"), "rows of a table"),
    (
        "a meta description",
        repage("</head>", f'<meta name="description" content="{BLOB}"></head>'),
        "metadata of its own",
    ),
    ("a title of a block", repage("<main>", f'<main title="{BLOB}">'), "an attribute that no datasheet has"),
    ("a template element", repage(END, f"<template>{RAW}</template></main>"), "an element that no datasheet has"),
    ("a form", repage(END, '<form action="https://example.org"></form></main>'), "an element that no datasheet has"),
]
WORDS: list[tuple[str, Alter]] = [
    ("an approval", repage(END, "<p>Approved by the ministry.</p></main>")),
    ("a guarantee in other words", repage("Not algorithm-safe", "Algorithm-safe")),
    ("a limit taken out", repage("<h2>What this does not protect</h2>", "")),
]
DATASHEET = [
    Tampering(f"{name} of the datasheet", alter, said="is not the one that belongs to this release")
    for name, alter in [*((name, alter) for name, alter, _ in PAGE_EDITS), *WORDS]
]
DATASHEET += [
    Tampering(f"{name} of a datasheet of another version", as_another_version(alter), said=said)
    for name, alter, said in PAGE_EDITS
]
DATASHEET += [
    Tampering(
        f"{name} of a datasheet of another version",
        as_another_version(alter),
        on_word=True,
        said="The sentences of `datasheet.html` rest on the holder's word",
    )
    for name, alter in WORDS
]
DATASHEET += [
    Tampering(
        "a page in bytes nobody reads",
        lambda folder: (folder.place / "datasheet.html").write_bytes(b"\xff\xfe" + BLOB.encode("utf-16")),
        "anatomy",
        said="is not a page of text",
    ),
    Tampering(
        "the datasheet of another release",
        lambda folder: shutil.copy(_datasheet_of("anatomy"), folder.place / "datasheet.html"),
        said="is not the one that belongs to this release",
    ),
]


def _datasheet_of(release: str) -> Path:
    from tampering import save_honestly

    return save_honestly(release, "csv") / "public" / "datasheet.html"


# --- The folder --------------------------------------------------------------------------------------------------

MALFORMED = ("a hash removed", "a key twice")
"""Forgeries after which nobody can read the manifest: exit code 2."""
FOLDER = [
    Tampering(
        f"forged: {name}",
        change,
        said="missing or malformed" if name == "a hash removed" else said,
        sealed=change not in SEALED_BY_THEMSELVES,
        exit_code=2 if name in MALFORMED else 4,
    )
    for name, (change, said) in FORGERIES.items()
    if not name.startswith(("another p", "dealt values", "values dealt"))
]
FOLDER += [
    Tampering(f"forged: {name}", FORGERIES[name][0], "perturbed", said=FORGERIES[name][1])
    for name in ("another p claimed", "another p used", "another p in the form")
]
FOLDER += [
    Tampering(f"forged: {name}", FORGERIES[name][0], "dealt", said=FORGERIES[name][1])
    for name in ("dealt values called own", "values dealt among more")
]

FILES: list[Tampering] = [*CSV, *PARQUET, *EXCEL, *STATISTICS, *PACKAGE, *DATASHEET, *FOLDER]
