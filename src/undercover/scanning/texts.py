"""Everything the files of a public folder say beside the cells of their tables: words, labels, properties, metadata.

Pages are read with their attributes, comments and what is embedded in them, office files with their properties and the
times of their parts, Parquet files with the metadata of file and columns.
"""

from __future__ import annotations

import base64
import json
import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

NEVER = 1980
"""The year of whatever has to have a time and must not tell one."""

_EMBEDDED = re.compile(r"data:[\w/+.-]+;base64,([A-Za-z0-9+/=]{16,})")
_CELLS = re.compile(r"xl/(worksheets/|sharedStrings)")
_MEASURE = re.compile(r"[\w:.-]+=[-+\d.,% ]+")
_XML = (".xml", ".rels")


class Said(NamedTuple):
    """A text of a public file, and where it stands; a ``figure`` is a number that counts something."""

    file: str
    where: str
    text: str
    figure: bool = False


class Page(HTMLParser):
    """A page in pieces: everything between, in and instead of tags, and its figures.

    >>> Page('<p title="a">b<!-- c --> <data value="7">7</data></p>').pieces
    ['title=a', 'b', ' c ', '']
    """

    def __init__(self, source: str) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.figures: list[tuple[str, str]] = []
        self._figure: str | None = None
        self.feed(source)
        self.close()

    @property
    def text(self) -> str:
        """Everything but tags."""
        return "".join(self.pieces)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag: its attributes are pieces, the value of ``<data>`` is a figure."""
        self._figure = ""
        for name, value in attrs:
            if (tag, name) == ("data", "value"):
                self._figure = value
            else:
                self.pieces.append(f"{name}={value}")
        if tag != "data":
            self._figure = None

    def handle_data(self, data: str) -> None:
        """A run of text."""
        if self._figure is None:
            self.pieces.append(" ".join(data.split()))
        else:
            self.figures.append((self._figure, data))
            self._figure = None

    def handle_comment(self, data: str) -> None:
        """A comment, a declaration, an instruction."""
        self.pieces.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment  # type: ignore[assignment]


def said_in(folder: Path, known: Collection[str]) -> Iterator[Said]:
    """Every text of the files of a folder that is no cell of a table; of a file that is not ``known``, all of it."""
    for path in sorted(folder.iterdir()):
        yield Said(path.name, "its name", path.name)
        for found in (_READ.get(path.suffix, _of_text) if path.name in known else _of_text)(path):
            where, text, *figure = found
            yield Said(path.name, where, text, bool(figure))


def _of_json(path: Path) -> Iterator[tuple[str, ...]]:
    yield from _leaves(json.loads(path.read_text(encoding="utf-8")), "")


def _leaves(value: Any, where: str) -> Iterator[tuple[str, ...]]:
    """Keys and texts with where they stand, and numbers as figures."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield where or "its keys", str(key)
            yield from _leaves(item, f"{where}.{key}".strip("."))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, where)
    elif isinstance(value, str):
        yield where, value
    elif value is not None and not isinstance(value, bool):
        yield where, str(value), "figure"


def _of_page(path: Path) -> Iterator[tuple[str, ...]]:
    source = path.read_text(encoding="utf-8")
    page = Page(source)
    yield from (("its text", piece) for piece in _telling(page))
    yield from (("its figures", value, "figure") for value, _ in page.figures)
    for found in _EMBEDDED.finditer(source):
        yield "what is embedded", base64.b64decode(found[1] + "==").decode("latin-1")


def _telling(page: Page) -> list[str]:
    """The pieces of a page, each once, but for attributes that measure something."""
    return [piece for piece in dict.fromkeys(page.pieces) if piece and not _MEASURE.fullmatch(piece)]


def _of_parquet(path: Path) -> Iterator[tuple[str, ...]]:
    import pyarrow.parquet as arrow_parquet

    found = arrow_parquet.read_metadata(path)
    schema = found.schema.to_arrow_schema()
    yield "created_by", found.created_by
    for where, held in (("its metadata", found.metadata), ("its schema", schema.metadata)):
        yield from ((where, text) for text in _texts(held))
    for column in schema:
        yield "its columns", column.name
        yield from ((f"the metadata of `{column.name}`", text) for text in _texts(column.metadata))


def _texts(held: Mapping[bytes, bytes] | None) -> list[str]:
    pairs = [pair for pair in (held or {}).items() if pair[0] != b"ARROW:schema"]  # which is read as a schema
    return [part.decode("utf-8", "replace") for pair in pairs for part in pair]


def _of_workbook(path: Path) -> Iterator[tuple[str, ...]]:
    with zipfile.ZipFile(path) as book:
        for part in book.infolist():
            yield "the names of its parts", part.filename
            if part.date_time[0] != NEVER:
                yield "the times of its parts", "{}-{:02}-{:02}T{:02}:{:02}".format(*part.date_time)
            if part.filename.endswith(_XML) and not _CELLS.match(part.filename):
                source = book.read(part).decode("utf-8", "replace")
                yield from ((f"`{part.filename}`", piece) for piece in _telling(Page(source)))
                yield from re.findall(r"<(?:dc:|cp:)?(creator|lastModifiedBy|manager)>([^<]+)<", source, re.I)
            elif not _CELLS.match(part.filename):
                yield f"`{part.filename}`", book.read(part).decode("latin-1")


def _of_statistics(path: Path) -> Iterator[tuple[str, ...]]:
    import pyreadstat

    read = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    found = read(str(path), metadataonly=True, output_format="dict")[1]  # its own choice would be pandas
    yield "its label", str(found.file_label or "")
    yield from (("its notes", str(note)) for note in found.notes or ())
    yield from (("the labels of its columns", str(label)) for label in found.column_labels if label)
    for labels in found.variable_value_labels.values():
        yield from (("the labels of its values", str(label)) for label in labels.values())
    for when in (found.creation_time, found.modification_time):
        if when is not None and when.year != NEVER:
            yield "its times", when.isoformat()


def _of_csv(path: Path) -> Iterator[tuple[str, ...]]:
    with path.open(encoding="utf-8") as lines:
        yield "its header", lines.readline()


def _of_text(path: Path) -> Iterator[tuple[str, ...]]:
    yield "its text", path.read_bytes()[: 1 << 20].decode("utf-8", "replace")


_READ: dict[str, Callable[[Path], Iterator[tuple[str, ...]]]] = {
    ".json": _of_json,
    ".html": _of_page,
    ".parquet": _of_parquet,
    ".xlsx": _of_workbook,
    ".dta": _of_statistics,
    ".sav": _of_statistics,
    ".csv": _of_csv,
}
