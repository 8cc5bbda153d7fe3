"""The formats in which tables are published: their files, their limits, and the names they allow for columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from undercover.errors import DataError, ParameterError
from undercover.wording import option

Format = Literal["csv", "parquet", "xlsx", "dta", "sav"]

ROWS_PER_FILE = 10_000_000
"""What a file takes where nobody says otherwise: a table of more lies in several."""

IN_PARTS = ("csv", "parquet")
"""The formats of which a table may lie in several files."""


SPREADSHEETS = ("csv", "xlsx")
"""The formats that spreadsheets open."""


class Kind(NamedTuple):
    """What a format is called, what catalogues call it, and the most that a file of it holds."""

    title: str
    media_type: str
    rows: int | None = None
    columns: int | None = None
    characters: int | None = None  # of a cell; of SPSS bytes


FORMATS: dict[str, Kind] = {
    "csv": Kind("CSV", "text/csv"),
    "parquet": Kind("Parquet", "application/vnd.apache.parquet"),
    "xlsx": Kind(
        "Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", 1_048_575, 16_384, 32_767
    ),
    "dta": Kind("Stata", "application/x-stata-dta", 2**31 - 1, 32_767),
    "sav": Kind("SPSS", "application/x-spss-sav", 2**31 - 1, None, 32_767),
}
"""By the ending of its files. The first row of a sheet has the names."""

_LONGEST = {"dta": 32, "sav": 64}
"""Characters of a name in Stata, bytes of one in SPSS."""

_TAKEN = {
    "dta": (
        *("_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip", "byte", "double", "float", "if", "in"),
        *("int", "long", "strl", "using", "with"),
    ),
    "sav": ("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"),
}
"""Words of a program that cannot name a column."""


class Files(str):
    """A format by its name that knows how many rows a file of it takes: a table of more lies in several files.

    And whether its cells are escaped for spreadsheets.

    It is a text, since whoever writes code for recipients is handed the name of a format (``Reading.snippets``).

    >>> Files("csv", 4).names("table", 9), Files("csv", 4).pattern("table", 9), Files("csv").pattern("table", 9)
    (['table-00000.csv', 'table-00001.csv', 'table-00002.csv'], 'table-*.csv', 'table.csv')
    """

    rows: int | None
    escaped: bool  # so that no spreadsheet takes a cell for a formula

    def __new__(cls, name: str, rows: int | None = None, escaped: bool = False) -> Files:  # noqa: D102
        if rows is not None and name in FORMATS and name not in IN_PARTS:
            raise ParameterError(
                f"A table lies in one file of {FORMATS[name].title}. Leave {option(rows_per_file=rows)} out, or choose "
                "the format csv or parquet."
            )
        if rows is not None and rows < 1:
            raise ParameterError(f"A file takes at least one row. Got {option(rows_per_file=rows)} instead.")
        if escaped and name not in SPREADSHEETS:
            raise ParameterError(
                f"{FORMATS[name].title} files are not opened by spreadsheets as texts. Leave "
                f"{option(safe_for_spreadsheets=True)} out, or choose the format {' or '.join(SPREADSHEETS)}."
            )
        found = super().__new__(cls, name)
        found.escaped = escaped or getattr(name, "escaped", False)
        found.rows = rows or getattr(name, "rows", ROWS_PER_FILE if name in IN_PARTS else None)
        return found

    def parts(self, rows: int) -> int:
        """In how many files a table of so many rows lies."""
        return 1 if self.rows is None else max(1, -(-rows // self.rows))

    def names(self, table: str, rows: int) -> list[str]:
        """The files of a table, in their order."""
        count = self.parts(rows)
        return [f"{table}.{self}"] if count == 1 else [f"{table}-{part:05d}.{self}" for part in range(count)]

    def pattern(self, table: str, rows: int) -> str:
        """What fits the names of all of them."""
        return f"{table}.{self}" if self.parts(rows) == 1 else f"{table}-*.{self}"


def variables(names: Sequence[str], file_format: str) -> list[str]:
    """The names of columns in a file of this format: letters, digits and underscores where a program allows no more.

    >>> variables(["zip code", "Zip_code", "2020", "if"], "dta"), variables(["zip code"], "csv")
    (['zip_code', 'Zip_code_2', 'v2020', 'if_'], ['zip code'])
    """
    if file_format not in _LONGEST:
        return list(names)
    found: list[str] = []
    used: set[str] = set()
    for name in names:
        plain = re.sub(r"\W", "_", name).strip("_") or "v"
        plain = plain if plain[0].isalpha() else f"v{plain}"
        taken = plain.lower() in _TAKEN[file_format] or (file_format == "dta" and re.fullmatch(r"(?i)str\d+", plain))
        plain = f"{plain}_" if taken else plain
        chosen, number = _cut(plain, "", file_format), 1
        while chosen.lower() in used:  # SPSS does not tell capitals apart
            number += 1
            chosen = _cut(plain, f"_{number}", file_format)
        used.add(chosen.lower())
        found.append(chosen)
    return found


def _cut(name: str, end: str, file_format: str) -> str:
    """A name that is short enough, and ends so."""
    while len(name + end) > _LONGEST[file_format] or len((name + end).encode()) > 64:
        name = name[:-1]
    return name + end


def check_size(rows: int, columns: int, file_format: str) -> None:
    """Refuse a table that a file of this format cannot hold.

    >>> check_size(2_000_000, 3, "xlsx")
    Traceback (most recent call last):
    undercover.errors.DataError: A table of 2,000,000 rows does not fit a file of Excel, which holds 1,048,575. ...
    """
    kind = FORMATS[file_format]
    for count, most, what in ((rows, kind.rows, "rows"), (columns, kind.columns, "columns")):
        if most is not None and count > most:
            raise DataError(
                f"A table of {count:,} {what} does not fit a file of {kind.title}, which holds {most:,}. "
                "Choose the format csv or parquet."
            )
