"""The formats in which tables are published: their files, their limits, and the names they allow for columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from undercover.errors import DataError

Format = Literal["csv", "parquet", "xlsx", "dta", "sav"]


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
