"""What the recipient's snippets have in common: reading files, and counting with ranges, sets and nodes.

Every way to count leaves behind which rows surely count (``certain``), which may (``possible``) and with which share a
row is expected to (``likely``); what follows is written in terms of these. The data frame is called ``table``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from undercover.errors import DataError
from undercover.model.cells import EVERYTHING, read_interval
from undercover.model.formats import Files
from undercover.model.formats import variables as file_names
from undercover.model.release import PublishedTable

if TYPE_CHECKING:
    from undercover.forms.reading import Reading

Snippet = dict[str, str]
Scale = Literal["float", "pd.Timestamp"]

_RANGES = '''\
def ends(cell):
    """Smallest and largest value a cell stands for; `*` and missing are unknown."""
    if cell in ("*", ""):
        return {unknown}, {unknown}
    low, _, high = cell.strip("[]").partition(", ")
    return {convert}(low), {convert}(high or low)

span = pd.DataFrame([ends(cell) for cell in table[{name}]], columns=["low", "high"])
span["low"] = span["low"].fillna(span["low"].min())
span["high"] = span["high"].fillna(span["high"].max())

# the range you ask about
low, high = span["low"].quantile(0.25){day}, span["high"].quantile(0.75){day}
certain = (span["low"] >= low) & (span["high"] <= high)
possible = (span["high"] >= low) & (span["low"] <= high)
print("between", certain.sum(), "and", possible.sum(), "rows")

step = {step}  # from one value to the next: whole {steps}
width = span["high"] - span["low"] + step
likely = (span["high"].clip(upper=high) - span["low"].clip(lower=low) + step) / width
likely = likely.clip(0, 1).where(possible, 0)
print("about", round(likely.sum()), "rows, if values are spread evenly in their cells")
'''

_MIDDLE = """\
known = ~table[{name}].isin(["*", ""])  # the others say nothing
least, most = span["low"][known].mean(), span["high"][known].mean()
print("mean of", known.sum(), "rows between", least, "and", most)
"""

_SETS = '''\
import csv

def members(cell):
    """The values a set cell may stand for."""
    if cell.startswith("{{"):
        return next(csv.reader([cell[1:-1]], skipinitialspace=True))
    return [cell]

choices = table[{name}].map(members)
values = sorted(set(choices.explode()) - {{"*"}})
choices = choices.map(lambda chosen: values if chosen == ["*"] else chosen)

value = choices.explode().mode()[0]  # the value you ask about
certain = choices.map(lambda chosen: chosen == [value])
possible = choices.map(lambda chosen: value in chosen)
print("at least", certain.sum(), "and at most", possible.sum(), "rows")
likely = possible / choices.map(len)
print("about", round(likely.sum()), "rows, if every member of a set is equally likely")
'''

_SPREAD = """\
size = choices.map(len)
shares = (1 / size).repeat(size)  # a row counts as 1, spread over its members
spread = shares.groupby(choices.explode().to_numpy()).sum()
print(spread.round(1))
"""

_NODES = """\
nodes = table[{name}].value_counts()
print(nodes)
node = nodes.drop("*", errors="ignore").index[0]  # the node you ask about
below, above = [], ["*"]  # further nodes under it and over it: ask for the hierarchy
certain = table[{name}].isin([node, *below])
possible = certain | table[{name}].isin(above)
likely = certain.astype(float)
print("at least", certain.sum(), "rows")
print("at most", possible.sum(), "rows, if you have listed all of these nodes")
"""

_LEVEL = """\
nodes = table[{name}].value_counts()
print(nodes)
node = nodes.index[0]  # the node you ask about
certain = possible = table[{name}] == node
likely = certain.astype(float)
print(certain.sum(), "published rows")
"""

_VALUES = """\
{ask}
certain = possible = {condition}
likely = certain.astype(float)
print(certain.sum(), "rows")
"""


_READ = {
    "csv": "pd.read_csv({file}, dtype=str, keep_default_na=False)",
    "parquet": "pd.read_parquet({file})",
    "xlsx": 'pd.read_excel({file}, engine="openpyxl", dtype=str, keep_default_na=False)',
    "dta": "pd.read_stata({file}{option})",
    "sav": "pd.read_spss({file}{option})",
}


ALSO = {"xlsx": " pandas needs openpyxl to read it.", "sav": " pandas needs pyreadstat to read it."}
"""What the code needs beside pandas, by the format of the files."""


def reads(table: PublishedTable, file_format: str, call: str) -> str:
    """An expression that reads a table by a call of pandas for each of its files."""
    pattern = Files(file_format).pattern(table.name, table.rows)
    if "*" not in pattern:
        return call.format(file=f'"{pattern}"')
    return f'pd.concat([{call.format(file="part")} for part in sorted(glob("{pattern}"))], ignore_index=True)'


def imports(tables: Sequence[PublishedTable], file_format: str) -> list[str]:
    """What code that reads these tables begins with."""
    parts = any(Files(file_format).parts(table.rows) > 1 for table in tables)
    return [*(["from glob import glob", ""] if parts else []), "import pandas as pd", ""]


def reading_lines(table: PublishedTable, file_format: str, name: str) -> list[str]:
    """Code that reads one table with pandas: numbers are numbers, every other cell is text, missing is empty."""
    names = [column.name for column in table.columns]
    numbers = [column.name for column in table.columns if column.form == "value" and is_number(table, column.name)]
    to_numbers = [f"{name}[{one!r}] = pd.to_numeric({name}[{one!r}])" for one in numbers]
    first = f"{name} = {reads(table, file_format, _READ[file_format].replace('{option}', ''))}"
    if file_format in ("csv", "xlsx"):
        return [first, *to_numbers]
    texts = [column.name for column in table.columns if column.form != "value"]
    if file_format == "parquet":
        return [first, *(f"{name}[{one!r}] = {name}[{one!r}].astype(object).fillna('')" for one in texts)]
    plain = reads(table, file_format, _READ[file_format].replace("{option}", ", convert_categoricals=False"))
    lines = [first, f"codes = {plain}  # numbers, even where some have labels"] if numbers else [first]
    for one, own in zip(names, file_names(names, file_format), strict=True):
        column: Any = table.data.column(one)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if one in numbers:
            whole = ".astype(int)" if pa.types.is_integer(kind) and not column.null_count else ""
            lines.append(f"{name}[{one!r}] = pd.to_numeric(codes[{own!r}]){whole}")
        else:
            cell = f"{name}.pop({own!r})" if own != one else f"{name}[{one!r}]"
            dates = pa.types.is_date(kind) and column.null_count < len(column)
            cell = f"pd.to_datetime({cell}).dt.strftime('%Y-%m-%d')" if dates else cell
            lines.append(f"{name}[{one!r}] = {cell}.astype(object).fillna('')")
    return [*lines, f"{name} = {name}[{names}]"] if file_names(names, file_format) != names else lines


def reading_tables(tables: Sequence[PublishedTable], file_format: str, variables: Sequence[str] = ()) -> Snippet:
    """How to read the tables, each into a data frame of its own name or into one of ``variables``."""
    lines = imports(tables, file_format)
    for table, name in zip(tables, variables or [table.name for table in tables], strict=True):
        lines += reading_lines(table, file_format, name)
    silent = [name for table in tables for name in table.names("quasi-identifier") if not cells_of(table, name)]
    text = (
        "Read cells as text, so that intervals, sets and the star stay as they are written. An empty cell is missing."
    ) + ALSO.get(file_format, "")
    if silent:
        text += f" Nothing is known of {', '.join(silent)}: every cell is a star or missing."
    title = "Read the table" if len(tables) == 1 else "Read both tables"
    return {"title": title, "text": text, "code": "\n".join(lines) + "\n"}


def counting(table: PublishedTable, *, one_level: bool = False) -> list[Snippet]:
    """Counts by one quasi-identifier of each form, ranges last, because what follows goes on with the last of them.

    With ``one_level`` all nodes of a column lie on the same level of its hierarchy.
    """
    quasi = [name for name in table.names("quasi-identifier") if cells_of(table, name)]
    found = []
    nodes = [name for name in quasi if table.form(name) == "node"]
    if nodes:
        found.append(_nodes(nodes[0], one_level))
    sets = [name for name in quasi if table.form(name) == "set"]
    if sets:
        found += _sets(sets[0])
    ranges = [(name, kind) for name in quasi if (kind := scale(table, name)) is not None]
    if ranges:
        found += _ranges(*ranges[0])
    plain = [name for name in quasi if table.form(name) == "value"]
    if plain and not found:
        found.append(_plain(table, plain))
    return found


def _ranges(name: str, kind: Scale) -> list[Snippet]:
    number = kind == "float"
    code = _RANGES.format(
        name=repr(name),
        convert=kind,
        unknown='float("nan")' if number else "pd.NaT",
        day="" if number else ".normalize()",
        step="1" if number else "pd.Timedelta(days=1)",
        steps="numbers; 0.01 for two decimals" if number else "days",
    )
    counted = (
        "A cell [28, 35] stands for a value from 28 to 35. A count is known up to the cells that straddle its edge: "
        "the first line is certain, the second rests on an assumption. Star and missing cells may lie anywhere."
    )
    mean = (
        "The true mean of these rows lies between the mean of the lower and the mean of the upper ends. The middle of "
        "the two is not an estimate to rely on: cells are wider where people are rare."
    )
    return [
        {"title": f"Count with ranges: {name}", "text": counted, "code": code},
        {"title": f"Mean {name}, with bounds", "text": mean, "code": _MIDDLE.format(name=repr(name))},
    ]


def _sets(name: str) -> list[Snippet]:
    counted = (
        "A cell {a, b} stands for one of its members. The bounds are certain; the estimate takes the members to be "
        "equally likely, which favours rare values."
    )
    weights = (
        "Instead of choosing one member, let a row count for each of its members with an equal weight. Use these "
        "weights wherever you would count rows; never repeat a row with weight 1 for every member."
    )
    return [
        {"title": f"Count with sets: {name}", "text": counted, "code": _SETS.format(name=repr(name))},
        {"title": f"Weights for {name}", "text": weights, "code": _SPREAD},
    ]


def _nodes(name: str, one_level: bool) -> Snippet:
    text = (
        "All rows show this column on the same level of its hierarchy, so counts by node are exact for the published "
        "rows. A suppressed row may lie below any node: add their number to the upper bound."
        if one_level
        else "A row counts where it is known to lie. Rows of a node above the one you ask about may lie below it, too, "
        "and rows of nodes under it do: only the hierarchy says which these are."
    )
    code = (_LEVEL if one_level else _NODES).format(name=repr(name))
    return {"title": f"Count by node: {name}", "text": text, "code": code}


def _plain(table: PublishedTable, names: Sequence[str]) -> Snippet:
    numbers = [name for name in names if is_number(table, name)]
    name = (numbers or names)[0]
    column = f"table[{name!r}]"
    if numbers:
        ask = f"# the range you ask about\nlow, high = {column}.quantile(0.25), {column}.quantile(0.75)"
        condition = f"{column}.between(low, high)"
    else:
        ask, condition = f"value = {column}.mode()[0]  # the value you ask about", f"{column} == value"
    text = "Quasi-identifiers are published as they are: counts over them alone are exact."
    return {"title": f"Count by {name}", "text": text, "code": _VALUES.format(ask=ask, condition=condition)}


def is_number(table: PublishedTable, name: str) -> bool:
    """Whether a published column holds numbers, not text; of one without any value some files do not tell."""
    column = table.data.column(name)
    kind = column.type
    if column.null_count == len(column):
        return False
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def scale(table: PublishedTable, name: str) -> Scale | None:
    """How the ends of an interval column are read: ``float``, ``pd.Timestamp``, or not at all."""
    if table.form(name) != "interval":
        return None
    try:
        ends = [end for cell in cells_of(table, name) for end in read_interval(cell)]
    except DataError:
        return None
    readers: tuple[tuple[Callable[[str], Any], Scale], ...] = (
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


def cells_of(table: PublishedTable, name: str) -> list[str]:
    """The different cells of a column that say something."""
    texts = [str(cell) for cell in table.different[name].drop_null().to_pylist()]
    return [cell for cell in texts if cell not in ("", EVERYTHING)]


def telling(table: PublishedTable) -> str:
    """The quasi-identifier to make groups of: one of words, if there is any that says something."""
    names = table.names("quasi-identifier")
    spoken = [name for name in names if cells_of(table, name)]
    words = [name for name in spoken if table.form(name) != "interval" and not is_number(table, name)]
    return (words or spoken or list(names))[0]


_LOAD = """\
import undercover as uc
from undercover.io.manifest import load_release

release, problems = load_release(".")
print(problems or "the tables are those of release.json")
"""


def again_with_undercover(text: str, lines: list[str]) -> Snippet:
    """The last of the snippets, for whoever has undercover installed.

    It goes on where the others end: ``low``, ``high``, ``value`` and ``wanted`` are what was asked there.
    """
    return {"title": "The same with undercover", "text": text, "code": _LOAD + "\n".join(lines) + "\n"}


def with_undercover(reading: Reading) -> Snippet:
    """The questions of the snippets before, asked again with undercover: counts with bounds, and sums."""
    main, values = reading.main, reading.values_table
    where = _asked(main)
    sensitive = values.names("sensitive")
    number = bool(sensitive) and values.form(sensitive[0]) == "value" and is_number(values, sensitive[0])
    both = [*where, *([f"{sensitive[0]!r}: {'wanted.item()' if number else 'wanted'}"] if sensitive else [])]
    lines = [f"query = uc.CountQuery(where={{{', '.join(both)}}})", "print(uc.answer(release, query))"]
    if number:
        lines += [
            f"total = uc.SumQuery({sensitive[0]!r}, where={{{', '.join(where)}}})",
            "print(uc.answer_sum(release, total))",
        ]
    text = "It checks the files against release.json, reads every form of cell, and bounds any combination of columns."
    nodes = [name for name in main.names("quasi-identifier") if main.form(name) == "node"]
    if nodes:
        text += (
            f" To ask about {nodes[0]} it needs the hierarchy, which is not in the release: "
            f"domains={{{nodes[0]!r}: uc.Hierarchy(...)}}."
        )
    return again_with_undercover(text, lines)


def _asked(table: PublishedTable) -> list[str]:
    """The predicate on a quasi-identifier that the last way of counting has left names for."""
    quasi = [name for name in table.names("quasi-identifier") if cells_of(table, name)]
    for name in quasi:
        kind = scale(table, name)
        if kind is not None:
            ends = "float(low), float(high)" if kind == "float" else "low.date(), high.date()"
            return [f"{name!r}: uc.Between({ends})"]
    sets = [name for name in quasi if table.form(name) == "set"]
    if sets:
        return [f"{sets[0]!r}: value"]
    plain = [name for name in quasi if table.form(name) == "value"]
    if not plain or any(table.form(name) == "node" for name in quasi):
        return []
    numbers = [name for name in plain if is_number(table, name)]
    return [f"{numbers[0]!r}: uc.Between(float(low), float(high))" if numbers else f"{plain[0]!r}: value"]
