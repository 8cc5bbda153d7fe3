"""Worked code for the recipient: how to read the tables and answer questions with them.

The snippets need pandas and nothing of ours. They name the tables and columns of the release at hand and contain no
cell of it; whoever saves them beside the files can run them one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pyarrow as pa

from undercover.errors import DataError
from undercover.model.cells import EVERYTHING, read_interval
from undercover.model.drawn import is_drawn
from undercover.model.perturbation import is_perturbed
from undercover.model.release import PublishedTable, Release
from undercover.report import perturbed_wording
from undercover.report.cover_wording import snippets as cover_snippets

_ENDS = '''\
def ends(cell):
    """Smallest and largest value a cell stands for; `*` and missing are unknown."""
    if cell in ("*", ""):
        return {unknown}, {unknown}
    low, _, high = cell.strip("[]").partition(", ")
    return {convert}(low), {convert}(high or low)

span = pd.DataFrame([ends(cell) for cell in table[{name}]], columns=["low", "high"])
span["low"] = span["low"].fillna(span["low"].min())
span["high"] = span["high"].fillna(span["high"].max())

low, high = span["low"].quantile(0.25), span["high"].quantile(0.75)  # the range you ask about
certain = (span["low"] >= low) & (span["high"] <= high)
possible = (span["high"] >= low) & (span["low"] <= high)
print("between", certain.sum(), "and", possible.sum(), "rows")
'''

_MEMBERS = '''\
import csv

def members(cell):
    """The values a set cell may stand for."""
    if cell.startswith("{{"):
        return next(csv.reader([cell[1:-1]], skipinitialspace=True))
    return [cell]

choices = table[{name}].map(members)
values = sorted(set(choices.explode()) - {{"*"}})
choices = choices.map(lambda chosen: values if chosen == ["*"] else chosen)

value = values[0]  # the value you ask about
possible = choices.map(lambda chosen: value in chosen)
expected = (possible / choices.map(len)).sum()  # every member of a set equally likely
print("about", round(expected), "rows, at most", possible.sum())
'''

_JOIN = """\
sat["share"] = sat["count"] / sat.groupby("bucket")["count"].transform("sum")
joined = qit.merge(sat, on="bucket")
# Every person appears once for each value of the bucket; the shares of a person add up to 1.
"""


def snippets(release: Release, *, file_format: str = "csv") -> list[dict[str, str]]:
    """Titles, explanations and code, in the order in which they are to be run.

    Examples
    --------
    >>> from undercover.model.release import PublishedColumn
    >>> columns = (PublishedColumn("age", "quasi-identifier", "interval"),)
    >>> table = PublishedTable("table", columns, pa.table({"age": ["[28, 35]", "[28, 35]"]}))
    >>> [part["title"] for part in snippets(Release("mondrian", {"k": 2}, (table,), True))]
    ['Read the table', 'Count with ranges: age']
    """
    if is_drawn(release):
        return cover_snippets(release.published(), file_format)
    if {"qit", "sat"} <= {table.name for table in release.tables}:
        return _two_tables(release.published("qit"), release.published("sat"), file_format)
    if is_perturbed(release):
        table = release.published()
        reading = _reading([table], file_format, "Read the table", variable="table")
        return [reading, *perturbed_wording.snippets(release, table)]
    found = []
    for table in release.tables:
        found += _one_table(table, file_format)
    return found


def _one_table(table: PublishedTable, file_format: str) -> list[dict[str, str]]:
    found = [_reading([table], file_format, "Read the table", variable="table"), *_counting(table)]
    sensitive = table.names("sensitive")
    if sensitive:
        text = (
            "Sensitive values stand beside the generalised cells: those of all rows, and those of any class, are exact."
        )
        quasi = table.names("quasi-identifier")[0]
        code = f"print(table[{sensitive[0]!r}].value_counts(normalize=True))\n"
        if _is_number(table, sensitive[0]):
            code += f"print(table.groupby({quasi!r})[{sensitive[0]!r}].mean())\n"
        found.append({"title": f"Distribution of {sensitive[0]}", "text": text, "code": code})
    return found


def _counting(table: PublishedTable) -> list[dict[str, str]]:
    """Counts by one column of each form; the data frame is called ``table``."""
    found = []
    ranges = [(name, kind) for name in table.names("quasi-identifier") if (kind := _scale(table, name)) is not None]
    if ranges:
        name, kind = ranges[0]
        text = (
            "A cell [28, 35] stands for a value from 28 to 35. A count is known up to the cells that straddle its edge."
        )
        unknown = 'float("nan")' if kind == "float" else "pd.NaT"
        code = _ENDS.format(name=repr(name), convert=kind, unknown=unknown)
        found.append({"title": f"Count with ranges: {name}", "text": text, "code": code})
    sets = [name for name in table.names("quasi-identifier") if table.form(name) == "set" and _cells(table, name)]
    if sets:
        text = "A cell {a, b} stands for one of its members. Without further knowledge each is equally likely."
        code = _MEMBERS.format(name=repr(sets[0]))
        found.append({"title": f"Count with sets: {sets[0]}", "text": text, "code": code})
    nodes = [name for name in table.names("quasi-identifier") if table.form(name) == "node"]
    if nodes:
        text = "A row counts where it is known to lie: a node holds the rows that are known only that far."
        code = f"print(table[{nodes[0]!r}].value_counts())\n"
        found.append({"title": f"Count by node: {nodes[0]}", "text": text, "code": code})
    return found


def _two_tables(qit: PublishedTable, sat: PublishedTable, file_format: str) -> list[dict[str, str]]:
    sensitive = sat.names("sensitive")[0]
    quasi = qit.names("quasi-identifier")[0]
    found = [
        _reading([qit, sat], file_format, "Read both tables"),
        {
            "title": "Join them by bucket",
            "text": "Do not count the rows of the join: add up the shares.",
            "code": _JOIN,
        },
        {
            "title": f"Estimate how many have which {sensitive}, by {quasi}",
            "text": "Counts are drawn towards the overall distribution, the more the larger the buckets are: a strong "
            "connection between the two shows only weakly, however many rows are counted.",
            "code": f"print(joined.groupby([{quasi!r}, {sensitive!r}])['share'].sum())\n",
        },
    ]
    if _is_number(sat, sensitive):
        code = (
            f"weighted = (joined[{sensitive!r}] * joined['share']).groupby(joined[{quasi!r}]).sum()\n"
            f"print(weighted / joined.groupby({quasi!r})['share'].sum())\n"
        )
        text = "The mean of a group, every possible value weighted by its share."
        found.append({"title": f"Mean {sensitive} by {quasi}", "text": text, "code": code})
    counting = _counting(qit)
    if counting:
        counting[0]["code"] = "table = qit\n\n" + counting[0]["code"]
    return found + counting


def _reading(tables: list[PublishedTable], file_format: str, title: str, variable: str | None = None) -> dict[str, str]:
    lines = ["import pandas as pd", ""]
    for table in tables:
        name = variable or table.name
        if file_format == "parquet":
            lines.append(f'{name} = pd.read_parquet("{table.name}.parquet")')
            lines += [
                f"{name}[{column.name!r}] = {name}[{column.name!r}].astype(object).fillna('')"
                for column in table.columns
                if column.form != "value"
            ]
            continue
        lines.append(f'{name} = pd.read_csv("{table.name}.csv", dtype=str, keep_default_na=False)')
        lines += [
            f"{name}[{column.name!r}] = pd.to_numeric({name}[{column.name!r}])"
            for column in table.columns
            if column.role in ("sensitive", "structure") and _is_number(table, column.name)
        ]
    text = (
        "Read cells as text, so that intervals, sets and the star stay as they are written. An empty cell is missing."
    )
    return {"title": title, "text": text, "code": "\n".join(lines) + "\n"}


def _is_number(table: PublishedTable, name: str) -> bool:
    kind = table.data.column(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _scale(table: PublishedTable, name: str) -> str | None:
    """How the ends of an interval column are read: ``float``, ``pd.Timestamp``, or not at all."""
    if table.form(name) != "interval":
        return None
    try:
        ends = [end for cell in _cells(table, name) for end in read_interval(cell)]
    except DataError:
        return None
    readers: tuple[tuple[Callable[[str], Any], str], ...] = (
        (float, "float"),
        (datetime.fromisoformat, "pd.Timestamp"),
    )
    for reader, written in readers:
        try:
            for end in ends:
                reader(end)
        except ValueError:
            continue
        return written
    return None


def _cells(table: PublishedTable, name: str) -> list[str]:
    column: Any = table.data.column(name)
    texts = [str(cell) for cell in column.unique().drop_null().to_pylist()]
    return [cell for cell in texts if cell not in ("", EVERYTHING)]
