"""Numbers that Excel shows with leading zeros: 1234 in the format ``00000`` is the postcode 01234 to everybody.

The zeros are in the style of a cell, which readers of values do not see. The sheet itself is looked through only where
the workbook has such a style.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_ZEROS = re.compile(r"^(?:\[[^]]*\])?(0{2,})(?:;@)?$")
_CELL = re.compile(r"([A-Z]+)(\d+)")


def leading_zeros(path: Path, sheet: str) -> dict[tuple[int, int], int]:
    """How many digits a number is shown with, by row and column (counted from 0), where its style fills up zeros."""
    with zipfile.ZipFile(path) as packed:
        digits = _styles(packed)
        return dict(_styled(packed, _file_of(packed, sheet), digits)) if digits else {}


def _styles(packed: zipfile.ZipFile) -> dict[str, int]:
    """The digits that a style fills up to, by the number that cells call it by."""
    if "xl/styles.xml" not in packed.namelist():
        return {}
    root = ElementTree.fromstring(packed.read("xl/styles.xml"))
    formats = {item.get("numFmtId"): _ZEROS.match(item.get("formatCode", "")) for item in root.iter(f"{_MAIN}numFmt")}
    uses = [item.get("numFmtId") for item in root.iterfind(f"{_MAIN}cellXfs/{_MAIN}xf")]
    found = ((str(number), formats.get(use)) for number, use in enumerate(uses))
    return {number: len(match[1]) for number, match in found if match}


def _file_of(packed: zipfile.ZipFile, sheet: str) -> str:
    book = ElementTree.fromstring(packed.read("xl/workbook.xml"))
    keys = {item.get("name"): item.get(_ID) for item in book.iter(f"{_MAIN}sheet")}
    parts = ElementTree.fromstring(packed.read("xl/_rels/workbook.xml.rels"))
    targets = {item.get("Id"): item.get("Target", "") for item in parts}
    target = targets[keys[sheet]]
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _styled(packed: zipfile.ZipFile, file: str, digits: dict[str, int]) -> Iterator[tuple[tuple[int, int], int]]:
    with packed.open(file) as stream:
        for _, item in ElementTree.iterparse(stream):
            if item.tag == f"{_MAIN}c" and item.get("s") in digits and item.find(f"{_MAIN}v") is not None:
                if match := _CELL.match(item.get("r", "")):
                    yield (int(match[2]) - 1, number_of(match[1])), digits[str(item.get("s"))]
            elif item.tag == f"{_MAIN}row":
                item.clear()


def number_of(letters: str) -> int:
    """The number of a column, counted from 0.

    >>> number_of("A"), number_of("AB")
    (0, 27)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def letters_of(number: int) -> str:
    """The letters of a column.

    >>> letters_of(0), letters_of(27)
    ('A', 'AB')
    """
    above, last = divmod(number, 26)
    return (letters_of(above - 1) if above else "") + chr(ord("A") + last)
