"""How a generalised cell is written, and how it is read back.

==========  ======================  ===========================================
form        example                 meaning
==========  ======================  ===========================================
value       ``34``                  exactly this value
interval    ``[28, 35]``            closed; both ends occur unless they are rounded
set         ``{flu, "a, b"}``       one of these, written as in a CSV file
node        ``Europe``              a node of the column's hierarchy
(any)       ``*``                   everything
==========  ======================  ===========================================

An empty cell is a missing value; inside a set it is written ``""``. Days are not listed: a range of them beside a
missing one is ``{"[1980-01-01, 1989-12-31]", ""}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from undercover.errors import DataError, shape_of

CellForm = Literal["value", "interval", "node", "set"]

EVERYTHING = "*"
_DAYS = re.compile(r"\[\d{4}-\d\d-\d\d[^,]*, \d{4}-\d\d-\d\d[^,]*\]")
_NEEDS_QUOTES = (",", '"', "{", "}", "[", "]", "\n", "\r")


def write_interval(low: str, high: str) -> str:
    """A closed interval; a single value plain, an end quoted only where it would be misread."""
    if low == high and not looks_generalized(low):
        return low
    return f"[{quote(low)}, {quote(high)}]"


def write_set(values: Iterable[str]) -> str:
    """A set in braces; a single value plain, quoted only where it would be misread."""
    members = list(values)
    if len(members) == 1 and not looks_generalized(members[0]):
        return members[0]
    return "{" + ", ".join(quote(value) for value in members) + "}"


def looks_generalized(cell: str) -> bool:
    """Whether a cell would be read as something else than the value it spells."""
    return cell == EVERYTHING or (cell[:1], cell[-1:]) in {("[", "]"), ("{", "}")}


def read_interval(cell: str) -> tuple[str, str]:
    """Both ends of an interval cell, as text."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return cell, cell
    ends = _read_list(cell)
    if len(ends) != 2:
        raise DataError(f"A cell ({shape_of(cell)}) is not an interval: expected `[low, high]`.")
    return ends[0], ends[1]


def read_set(cell: str) -> tuple[str, ...]:
    """The members of a set cell."""
    if not (cell.startswith("{") and cell.endswith("}")):
        return (cell,)
    return _read_list(cell)


def is_days(member: str) -> bool:
    """Whether a member of a set is a range of days or moments."""
    return _DAYS.fullmatch(member) is not None


def named(cell: str) -> tuple[str, ...]:
    """The values that a range or a set names: its ends or members, both ends of a range of days among these.

    >>> named("[3, 7]"), named('{"[1980-01-01, 1989-12-31]", ""}')
    (('3', '7'), ('1980-01-01', '1989-12-31', ''))
    """
    if cell[:1] != "{":
        return read_interval(cell)
    return tuple(
        value for member in read_set(cell) for value in (read_interval(member) if is_days(member) else (member,))
    )


def _read_list(cell: str) -> tuple[str, ...]:
    """What stands between the brackets, separated by commas; blanks around a member count only inside quotes."""
    body = cell[1:-1].strip()
    if '"' not in body:
        return tuple([member.strip() for member in body.split(",")]) if body else ()
    members: list[str] = []
    position = 0
    while body:
        if body[position : position + 1] == '"':
            member, position = _read_quoted(body, position, cell)
            while body[position : position + 1].isspace():
                position += 1
        else:
            end = body.find(",", position)
            end = len(body) if end < 0 else end
            member, position = body[position:end].rstrip(), end
        members.append(member)
        if position == len(body):
            break
        if body[position] != ",":
            raise DataError(
                f"A cell ({shape_of(cell)}) cannot be read: expected a comma after its member {len(members)}."
            )
        position += 1
        while body[position : position + 1].isspace():
            position += 1
    return tuple(members)


def quote(value: str) -> str:
    """A value inside brackets or braces: in quotation marks where it would be misread."""
    if value == "" or value != value.strip() or any(mark in value for mark in _NEEDS_QUOTES):
        return '"' + value.replace('"', '""') + '"'
    return value


def _read_quoted(body: str, position: int, cell: str) -> tuple[str, int]:
    pieces = []
    position += 1
    while True:
        end = body.find('"', position)
        if end < 0:
            raise DataError(f"A cell ({shape_of(cell)}) cannot be read: a quotation mark is not closed.")
        pieces.append(body[position:end])
        if body[end + 1 : end + 2] != '"':
            return "".join(pieces), end + 1
        pieces.append('"')
        position = end + 2
