"""The first steps with a release in languages other than pandas: read its tables, count one range with its bounds.

The question is the one of the pandas snippets, so that the answers are the same: how many rows lie between the lower
quartile of the lower ends and the upper quartile of the upper ends. Where rows cannot be counted like that (cells that
do not cover the truth, rows that stand for several people, no range of numbers), the tables are read and no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from undercover.forms.reading import Reading
from undercover.forms.snippets import Snippet, cells_of, is_number, scale
from undercover.model.formats import Files, variables
from undercover.model.release import PublishedTable

NEEDS = {
    "polars": "Python with polars",
    "R": "R; the package arrow for Parquet",
    "DuckDB SQL": "DuckDB, run in the folder of the tables",
    "Stata": "Stata; Python with pandas beside it for Parquet. Stata leaves out of the name of a column what its own "
    "names must not have",
}
"""By the name of a language: what its code needs for CSV and Parquet."""

_COMMUNITY = "DuckDB with its community extension read_stat (alone it does not read {}), which gives codes, not labels"
_BESIDES = {
    "xlsx": {
        "polars": "Python with polars and openpyxl",
        "R": "R with the package readxl",
        "DuckDB SQL": "DuckDB with its extension excel, run in the folder of the tables",
        "Stata": "Stata, which leaves out of the name of a column what its own names must not have",
    },
    "dta": {
        "polars": "Python with polars and pyreadstat",
        "R": "R with the package haven",
        "DuckDB SQL": _COMMUNITY.format("Stata files"),
        "Stata": "Stata 14 or later",
    },
    "sav": {
        "polars": "Python with polars and pyreadstat",
        "R": "R with the package haven",
        "DuckDB SQL": _COMMUNITY.format("SPSS files"),
        "Stata": "Stata 16 or later",
    },
}
"""The same for other formats."""

_POLARS = """\
cell = pl.col({name}).cast(pl.String).str.strip_chars("[]").str.split(", ")
low, high = cell.list.first().cast(pl.Float64, strict=False), cell.list.last().cast(pl.Float64, strict=False)
span = {table}.select(low=low.fill_null(low.min()), high=high.fill_null(high.max()))  # `*` and missing: anywhere

# the range you ask about
low, high = span["low"].quantile(0.25, "linear"), span["high"].quantile(0.75, "linear")
certain = span.filter(pl.col("low") >= low, pl.col("high") <= high).height
possible = span.filter(pl.col("high") >= low, pl.col("low") <= high).height
print("between", certain, "and", possible, "rows")
"""

_R = """\
cells <- strsplit(gsub("[][]", "", as.character({table}[[{name}]])), ", ")
number <- function(text) suppressWarnings(as.numeric(text))
low <- number(vapply(cells, function(cell) head(cell, 1), ""))
high <- number(vapply(cells, function(cell) tail(cell, 1), ""))
low[is.na(low)] <- min(low, na.rm = TRUE) # `*` and missing: anywhere
high[is.na(high)] <- max(high, na.rm = TRUE)

# the range you ask about
from <- quantile(low, 0.25)
to <- quantile(high, 0.75)
cat("between", sum(low >= from & high <= to), "and", sum(high >= from & low <= to), "rows\\n")
"""

_SQL = """\
WITH cells AS (SELECT trim(CAST({name} AS VARCHAR), '[]') AS cell FROM {table}),
ends AS (
    SELECT
        TRY_CAST(split_part(cell, ', ', 1) AS DOUBLE) AS low,
        TRY_CAST(split_part(cell, ', ', -1) AS DOUBLE) AS high
    FROM cells
),
span AS ( -- `*` and missing: anywhere
    SELECT coalesce(low, min(low) OVER ()) AS low, coalesce(high, max(high) OVER ()) AS high FROM ends
),
asked AS ( -- the range you ask about
    SELECT quantile_cont(low, 0.25) AS least, quantile_cont(high, 0.75) AS most FROM span
)
SELECT
    count(*) FILTER (low >= least AND high <= most) AS certain,
    count(*) FILTER (high >= least AND low <= most) AS possible
FROM span, asked;
"""

_STATA = """\
{use}generate cell = subinstr(subinstr({name}, "[", "", .), "]", "", .)
generate comma = strpos(cell, ", ")
generate double low = real(cond(comma, substr(cell, 1, comma - 1), cell))
generate double high = real(cond(comma, substr(cell, comma + 2, .), cell))
summarize low
replace low = r(min) if missing(low) // `*` and missing: anywhere
summarize high
replace high = r(max) if missing(high)

* the range you ask about
_pctile low, percentiles(25)
local from = r(r1)
_pctile high, percentiles(75)
local to = r(r1)
count if low >= `from' & high <= `to'
count if high >= `from' & low <= `to'
"""


_PROGRAMS = ("dta", "sav")

_LABELS = """\
for name, labels in about.variable_value_labels.items():
    if {table}[name].drop_nulls().is_in(list(labels)).all():  # labels stand for codes where every code has one
        {table} = {table}.with_columns(pl.col(name).replace_strict(labels, default=None, return_dtype=pl.String))
"""

_EXTENSION = {
    "xlsx": ("INSTALL excel;", "LOAD excel;"),
    "dta": ("INSTALL read_stat FROM community;", "LOAD read_stat;"),
    "sav": ("INSTALL read_stat FROM community;", "LOAD read_stat;"),
}
_SQL_FROM = {
    "csv": "read_csv('{file}', header = true, all_varchar = true)",
    "parquet": "read_parquet('{file}')",
    "xlsx": "read_xlsx('{file}', header = true, all_varchar = true)",
    "dta": "read_stat('{file}')",
    "sav": "read_stat('{file}')",
}
_STATA_FROM = {
    "csv": 'import delimited "{file}", clear varnames(1) case(preserve) stringcols(_all) bindquote(strict) '
    'encoding("UTF-8")',
    "xlsx": 'import excel "{file}", firstrow allstring case(preserve) clear',
    "dta": 'use "{file}", clear',
    "sav": 'import spss using "{file}", clear',
}


_STATA_PARTS = """\
local parts : dir "." files "{file}"
clear
tempfile read
save `read', emptyok
foreach part of local parts {{
    {use}
    append using `read'
    save `read', replace
}}"""


def languages(reading: Reading, file_format: str) -> list[Snippet]:
    """One piece of code for each language, with what it needs."""
    tables, main = reading.release.tables, reading.main
    ranges = [name for name in main.names("quasi-identifier") if cells_of(main, name) and scale(main, name) == "float"]
    name = ranges[0] if ranges and reading.covers and reading.one_each else None
    counted = (
        f"It counts a range of {name}: the first number is certain, the second is possible."
        if name
        else "It reads the tables; how to count with them is worked out under pandas."
    )
    needs = _BESIDES.get(file_format, NEEDS)
    return [
        {"title": title, "text": f"It needs {needs[title]}. {counted}", "code": write(tables, main, name, file_format)}
        for title, write in _WRITERS.items()
    ]


def _polars(tables: Sequence[PublishedTable], main: PublishedTable, name: str | None, file_format: str) -> str:
    program = file_format in _PROGRAMS
    lines = ["import polars as pl", *(["import pyreadstat"] if program else []), ""]
    for table in tables:
        called, file = _called(table), Files(file_format).pattern(table.name, table.rows)
        if program:
            lines += [f'{called}, about = pyreadstat.read_{file_format}("{file}", output_format="polars")']
            lines += _LABELS.format(table=called).splitlines()
            renamed = {own: name for name, own in _renamed(table, file_format).items()}
            lines += [f"{called} = {called}.rename({renamed})"] if renamed else []
        elif file_format == "parquet":
            lines.append(f'{called} = pl.read_parquet("{file}")')
        elif file_format == "xlsx":
            lines.append(f'{called} = pl.read_excel("{file}", engine="openpyxl", infer_schema_length=0)')
        else:
            names = [column.name for column in table.columns]
            own = f", new_columns={names}" if '"' in "".join(names) else ""  # polars keeps quotes in a header doubled
            lines.append(f'{called} = pl.read_csv("{file}", infer_schema=False{own})')
        if _numbers(table) and file_format != "parquet":
            listed = ", ".join(map(repr, _numbers(table)))
            lines.append(f"{called} = {called}.with_columns(pl.col([{listed}]).cast(pl.Float64))")
    counting = [_POLARS.format(name=repr(name), table=_called(main))] if name else []
    return "\n".join([*lines, "", *counting])


def _r(tables: Sequence[PublishedTable], main: PublishedTable, name: str | None, file_format: str) -> str:
    lines = []
    for table in tables:
        called, file = _called(table), Files(file_format).pattern(table.name, table.rows)
        numbers = [f"{called}[[{_c(one)}]] <- as.numeric({called}[[{_c(one)}]])" for one in _numbers(table)]
        if file_format in _PROGRAMS:
            lines.append(f'{called} <- haven::read_{file_format}("{file}")')
            lines += [
                f"names({called})[names({called}) == {_c(own)}] <- {_c(one)}"
                for one, own in _renamed(table, file_format).items()
            ]
            lines += [*numbers, f"{called} <- as.data.frame(haven::as_factor({called}))"]
        elif file_format == "parquet":
            lines.append(f"{called} <- {_r_parts(file, 'as.data.frame(arrow::read_parquet({}))')}")
        elif file_format == "xlsx":
            options = 'col_types = "text", trim_ws = FALSE'
            lines += [f'{called} <- as.data.frame(readxl::read_excel("{file}", {options}))', *numbers]
        else:
            options = 'colClasses = "character", na.strings = "", check.names = FALSE, encoding = "UTF-8"'
            lines += [f"{called} <- {_r_parts(file, f'read.csv({{}}, {options})')}", *numbers]
    counting = [_R.format(name=_c(name), table=_called(main))] if name else []
    return "\n".join([*lines, "", *counting])


def _r_parts(file: str, call: str) -> str:
    """A call for a file, or for every part of a table."""
    if "*" not in file:
        return call.format(f'"{file}"')
    return f'do.call(rbind, lapply(Sys.glob("{file}"), function(part) {call.format("part")}))'


def _sql(tables: Sequence[PublishedTable], main: PublishedTable, name: str | None, file_format: str) -> str:
    lines = list(_EXTENSION.get(file_format, ()))
    for table in tables:
        own = _renamed(table, file_format)
        texts = [] if file_format in ("parquet", *_PROGRAMS) else _numbers(table)
        numbers = ", ".join(f"CAST({_q(one)} AS DOUBLE) AS {_q(one)}" for one in texts)
        changed = f" REPLACE ({numbers})" if numbers else ""
        changed += f" RENAME ({', '.join(f'{_q(other)} AS {_q(one)}' for one, other in own.items())})" if own else ""
        source = _SQL_FROM[file_format].format(file=Files(file_format).pattern(table.name, table.rows))
        lines.append(f'CREATE VIEW "{_called(table)}" AS SELECT *{changed}\nFROM {source};')
    counting = [_SQL.format(name=_q(name), table=f'"{_called(main)}"')] if name else []
    return "\n".join([*lines, "", *counting])


def _stata(tables: Sequence[PublishedTable], main: PublishedTable, name: str | None, file_format: str) -> str:
    lines = ["* one table at a time is in memory; the others are frames"] if len(tables) > 1 else []
    for table in tables:
        file, one = Files(file_format).pattern(table.name, table.rows), f"{table.name}.{file_format}"
        if file_format == "parquet":
            parts = f'concat(map(pandas.read_parquet, sorted(glob.glob("{file}"))))'
            read = f'pandas; pandas.read_parquet("{file}")' if file == one else f"glob, pandas; pandas.{parts}"
            file = one = f"{table.name}.csv"
            lines.append(f'python: import {read}.to_csv("{file}", index=False)')
        lines += [f"frame create {_called(table)}", f"frame change {_called(table)}"] if len(tables) > 1 else []
        from_file = _STATA_FROM.get(file_format, _STATA_FROM["csv"])
        each = from_file.format(file=file if file == one else "`part'")
        lines.append(each if file == one else _STATA_PARTS.format(file=file, use=each))
        numbers = [] if file_format in _PROGRAMS else _numbers(table)
        lines += [f"destring {_plain(one)}, replace" for one in numbers]
    use = f"frame change {_called(main)}\n" if len(tables) > 1 else ""
    own = _renamed(main, file_format) if file_format in _PROGRAMS else {name: _plain(name)} if name else {}
    counting = [_STATA.format(name=own.get(name, name), use=use)] if name else []
    return "\n".join([*lines, "", *counting])


_Writer = Callable[[Sequence[PublishedTable], PublishedTable, str | None, str], str]
_WRITERS: dict[str, _Writer] = {"polars": _polars, "R": _r, "DuckDB SQL": _sql, "Stata": _stata}


def _called(table: PublishedTable) -> str:
    """What a table is called in code: by its name, which must be no word of any of the languages."""
    plain = re.sub(r"\W", "_", table.name)
    return "published" if plain == "table" else plain


def _renamed(table: PublishedTable, file_format: str) -> dict[str, str]:
    """The names in the file of columns that have another one there."""
    names = [column.name for column in table.columns]
    return {one: own for one, own in zip(names, variables(names, file_format), strict=True) if one != own}


def _numbers(table: PublishedTable) -> list[str]:
    return [one.name for one in table.columns if one.form == "value" and is_number(table, one.name)]


def _c(text: str) -> str:
    """A string of R, by the rules of C."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _q(text: str) -> str:
    """A name in SQL."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _plain(text: str) -> str:
    """A name in Stata, as it is made of a column's."""
    return re.sub(r"\W", "", text)[:32]
