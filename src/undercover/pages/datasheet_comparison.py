"""Compare a datasheet with the release it lies beside: make it anew, and hold the two against each other.

A page says by a digest which version of words and templates made it. If it is this version the two must be equal, word
by word. Of a page that another version made, honest wording cannot be told from forged wording, so what can be told is
checked: elements, attributes and scripts that a datasheet has, nothing hidden, no comments, no rows, no number that
neither the release nor the page made anew has. A note says that its sentences rest on the holder's word.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from undercover.errors import UndercoverError
from undercover.guarantees.declared import declared_method
from undercover.io.release.contents import DATASHEET, PACKAGE, pieces_of, read_json
from undercover.io.release.manifest import Public
from undercover.io.release.package import said_in
from undercover.io.residue.cells import has_rows
from undercover.io.residue.found import ADVICE, Residue
from undercover.model.formats import Files
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.jinja import script_text, template_digest
from undercover.pages.render import datasheet_html
from undercover.parsing import MALFORMED

KNOWN_SCRIPTS = frozenset({"MnhevQWFzOIBHvYtxKnIbII/7AN7onWpUskN0iiwyhM="})
"""Digests of the scripts that datasheets of earlier versions have."""

_TEMPLATE = re.compile(r'<meta name="template" content="([0-9a-f]{12})">\n')
_DATE = re.compile(r"<dt>Date</dt><dd>([^<\n]{1,40})</dd>")
_ELEMENTS = frozenset(
    {
        *("html", "head", "meta", "title", "style", "body", "header", "footer", "main", "section", "div", "span"),
        *("script", "h1", "h2", "h3", "p", "dl", "dt", "dd", "ul", "li", "code", "pre", "strong", "em", "small"),
        *("data", "table", "thead", "tbody", "tr", "th", "td", "input", "label"),
    }
)
_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "html": frozenset({"lang"}),
    "meta": frozenset({"charset", "name", "content", "http-equiv"}),
    "data": frozenset({"value"}),
    "input": frozenset({"type", "name", "id", "checked"}),
    "label": frozenset({"for"}),
    "section": frozenset({"id"}),
    "td": frozenset({"class", "data-label"}),
    "th": frozenset({"class", "colspan", "rowspan", "scope"}),
    **dict.fromkeys(("div", "span", "p", "table", "small", "ul", "dl", "h2", "h3"), frozenset({"class"})),
}
_WORD = re.compile(r"[\w #:.-]{0,60}")
_TELLING_STYLE = re.compile(r"url\(|@import|expression\(|content\s*:\s*(?!attr\()[\"'][^\"']{12}")
_METAS = ("viewport", "robots", "generator", "template", "Content-Security-Policy", None)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_LARGE = 100  # numbers below are found in code and lists of any page


def compare_datasheet(place: Path, public: Public) -> Residue:
    """What a datasheet says that the release beside it does not account for."""
    path = place / DATASHEET
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return Residue([f"`{DATASHEET}` is not a page of text. {ADVICE}"])
    made_by = _TEMPLATE.search(text)
    # A page takes words from its method; nobody here has those of a method that is not installed.
    has_words = declared_method(public.release.method) is not None
    is_ours = has_words and made_by is not None and made_by[1] == template_digest()
    try:
        again = _made_anew(place, public, text)
    except (UndercoverError, *MALFORMED):
        again = ""
    if _TEMPLATE.sub("", text) == _TEMPLATE.sub("", again):
        return Residue()
    if is_ours:
        line = _first_difference(text, again)
        return Residue(
            [
                f"`{DATASHEET}` is not the one that belongs to this release: line {line} is not what the release makes "
                f"of it. {ADVICE}"
            ]
        )
    page = _Page(text, _numbers_of(public.content, again))
    if page.faults:
        faults = "; ".join(dict.fromkeys(page.faults))
        return Residue([f"`{DATASHEET}` holds what no datasheet has: {faults}. {ADVICE}"])
    return Residue(
        [],
        [
            f"The sentences of `{DATASHEET}` rest on the holder's word: another version of undercover or of a plug-in "
            "made it, so that they could not be compared. Its structure, scripts and numbers were."
        ],
    )


def _made_anew(place: Path, public: Public, text: str) -> str:
    """The datasheet of a release, by what its folder says."""
    package = place / PACKAGE
    said: dict[str, Any] = said_in(read_json(package)) if package.is_file() else {"about": {}, "columns": {}}
    date = _DATE.search(text)
    if date is not None and "date" not in said["about"]:  # a year or a quarter stands on the datasheet alone
        said["about"]["date"] = date[1]
    return datasheet_html(datasheet_summary(public.release, said, file_format=_files(public.content["tables"])))


def _files(tables: list[dict[str, Any]]) -> Files:
    """The format of the tables, with as many rows in a file as make the files there are."""
    pieces = [pieces_of(table) for table in tables]
    kind = Path(pieces[0][0]["file"]).suffix[1:] if pieces else "csv"
    parted = [-(-sum(piece["rows"] for piece in own) // len(own)) for own in pieces if len(own) > 1]
    escaped = any(table.get("escaped") for table in tables)
    return Files(kind, max(parted, default=0) or None, escaped)


def _first_difference(text: str, again: str) -> int:
    """The first line in which two pages differ."""
    theirs, mine = text.splitlines(), again.splitlines()
    pairs = enumerate(zip(theirs, mine, strict=False), 1)
    return next((number for number, (one, other) in pairs if one != other), min(len(theirs), len(mine)) + 1)


def _numbers_of(content: Mapping[str, Any], again: str) -> set[str]:
    """Every number that a manifest or a page has."""
    return {_plain(found) for found in _NUMBER.findall(json.dumps(content) + again)}


def _plain(number: str) -> str:
    return number.replace(",", "").rstrip(".")


class _Page(HTMLParser):
    """A page, looked through for what no datasheet has; ``faults`` name it without repeating it."""

    def __init__(self, text: str, numbers: set[str]) -> None:
        super().__init__()
        self.faults: list[str] = []
        self._numbers = numbers
        self._within = ""
        self._scripts = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element and its attributes."""
        self._within = tag
        if tag not in _ELEMENTS:
            self.faults.append("an element that no datasheet has")
        for name, value in attrs:
            if name not in _ATTRIBUTES.get(tag, frozenset()):
                self.faults.append("an attribute that no datasheet has")
            elif tag == "data":
                self._check_numbers(value or "")
            elif tag != "meta" and not _WORD.fullmatch(value or ""):
                self.faults.append("an attribute with a long text")
        if tag == "meta":
            given = dict(attrs)
            if (given.get("name") or given.get("http-equiv")) not in _METAS or len(given.get("content") or "") > 300:
                self.faults.append("metadata of its own")
        self._scripts += tag == "script"
        if self._scripts > 1:
            self.faults.append("several scripts")

    def handle_data(self, data: str) -> None:
        """A text, a style or a script."""
        if self._within == "script" and data.strip():
            known = {*KNOWN_SCRIPTS, _digest(script_text())}
            if _digest(data) not in known and self._scripts:
                self.faults.append("a script of its own")
            self._within = ""
        elif self._within == "style":
            if re.search(_TELLING_STYLE, data):
                self.faults.append("a style with texts or addresses in it")
        elif has_rows(data) and self._within not in ("code", "pre"):
            self.faults.append("rows of a table")
        elif self._within not in ("code", "pre"):
            self._check_numbers(data)

    def _check_numbers(self, text: str) -> None:
        for found in map(_plain, _NUMBER.findall(text)):
            if found not in self._numbers and float(found) >= _LARGE:
                self.faults.append("numbers that the release does not have")

    def handle_endtag(self, tag: str) -> None:
        """What follows is text."""
        self._within = ""

    def handle_comment(self, data: str) -> None:
        """A comment."""
        self.faults.append("comments")

    def handle_decl(self, decl: str) -> None:
        """A declaration."""
        if decl.lower() != "doctype html":
            self.faults.append("declarations")

    def handle_pi(self, data: str) -> None:
        """An instruction."""
        self.faults.append("instructions")

    def unknown_decl(self, data: str) -> None:
        """A declaration nobody knows."""
        self.faults.append("declarations")


def _digest(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()
