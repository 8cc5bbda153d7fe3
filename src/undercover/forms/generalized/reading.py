"""One table of covering cells with true values, one person a row: what the base reads.

The snippets need pandas; the last of them needs undercover. They name the tables and columns of the release at hand and
contain no cell of it; whoever saves them beside the files can run them one after the other.
"""

from __future__ import annotations

from undercover.forms.chance import Check
from undercover.forms.own_rows import Made, check_row_order, compare_own_rows
from undercover.forms.reading import FormPlugin, Reading
from undercover.forms.snippets import (
    Snippet,
    cells_of,
    counting,
    is_number,
    reading_tables,
    scale,
    telling,
    with_undercover,
)
from undercover.model.finding import Finding
from undercover.model.form import Generalized
from undercover.model.release import PublishedTable

_SHARE = """\
found = table[{name}].value_counts().to_frame("rows")
found["share"] = found["rows"] / len(table)
found["error"] = (found["share"] * (1 - found["share"]) / len(table)) ** 0.5
print(found.head(10).round(3))
wanted = table[{name}].mode()[0]  # the value you ask about
seen = table[{name}] == wanted
print(seen.sum(), "of", len(table), "rows")
"""

_INSIDE = """\
print("between", (certain & seen).sum(), "and", (possible & seen).sum(), "rows")
groups = {{"inside": seen[certain], "outside": seen[~possible]}}
for which, rows in groups.items():
    error = (rows.mean() * (1 - rows.mean()) / max(len(rows), 1)) ** 0.5
    print(which, len(rows), "rows, share", round(rows.mean(), 3), "+/-", round(error, 3))
"""

_CROSS = """\
print(pd.crosstab(table[{quasi}], table[{name}], normalize="index").round(3))
"""

_BY = """\
print(table.groupby({quasi})[{name}].agg(["size", "mean", "sem"]))
"""

_MEAN = """\
amount = table[{name}]
print("mean", amount.mean(), "+/-", amount.sem(), "and sum", amount.sum())
"""

_MEAN_INSIDE = """\
print("mean inside", amount[certain].mean(), "+/-", amount[certain].sem())
print("mean outside", amount[~possible].mean(), "+/-", amount[~possible].sem())
doubtful = amount[possible & ~certain]
least = amount[certain].sum() + doubtful.clip(upper=0).sum()
most = amount[certain].sum() + doubtful.clip(lower=0).sum()
print("the sum inside lies between", least, "and", most)
"""

_SLOPE = """\
outcome = {outcome}
usable = known & outcome.notna()
middle = (span["low"] + span["high"])[usable] / 2
weight = 1 / (span["high"] - span["low"] + step)[usable]  # narrow cells say more
from_mean = middle - (weight * middle).sum() / weight.sum()
slope = (weight * from_mean * outcome[usable]).sum() / (weight * from_mean**2).sum()
print("per unit of", {by}, "about", slope)
"""


class GeneralizedReading(Reading):
    """As the base reads it; it adds worked code, and what is tested when a release is made."""

    form: Generalized

    def compare_rows(self, made: Made) -> tuple[Finding, ...]:
        """Every row beside its own person's, where the run says whose it is."""
        return super().compare_rows(made) if made.run.order is None else compare_own_rows(self, made)

    def test_law(self, made: Made) -> tuple[Check, ...] | None:
        """Rows of a group stand in a secret order."""
        return None if made.run.order is None else check_row_order(made)

    def snippets(self, file_format: str) -> list[Snippet]:
        """Titles, explanations and code, in the order in which they are to be run."""
        one_level = self.form.one_level
        return [*_one_table(self.main, file_format, one_level=one_level), with_undercover(self)]


def _one_table(table: PublishedTable, file_format: str, *, one_level: bool) -> list[Snippet]:
    """A generalised table: rows carry their sensitive values beside widened quasi-identifiers."""
    ways = counting(table, one_level=one_level)
    found = [reading_tables([table], file_format, ["table"]), *ways]
    if not table.names("sensitive"):
        return [*found, _classes(table)]
    sensitive, quasi = table.names("sensitive")[0], telling(table)
    number = table.form(sensitive) == "value" and is_number(table, sensitive)
    was = "were not changed" if table.form(sensitive) == "value" else "were put into declared bins and not changed"
    named = {"name": repr(sensitive), "quasi": repr(quasi)}
    found += [
        {
            "title": f"Distribution of {sensitive}",
            "text": f"Values of {sensitive} {was}: over all published rows, and over any class, their counts are "
            "exact. The standard error is for conclusions beyond the people in the table.",
            "code": _SHARE.format(**named),
        },
        {
            "title": f"{sensitive} by {quasi}",
            "text": "Rows that show the same cell are a group whose values are exact. Cells may overlap, and two "
            "neighbouring groups need not differ as their cells do: compare groups by the people who surely are in "
            "them, as below.",
            "code": (_BY if number else _CROSS).format(**named),
        },
    ]
    if ways:
        text = (
            "How many of the rows counted above have the value: bounds for both conditions together. Then those who "
            "surely satisfy the first one against those who surely do not. Rows in between are left out; where these "
            "are many, and differ from the others, the shares are off."
        )
        found.append({"title": "Compare two groups", "text": text, "code": _INSIDE.format()})
    if number:
        code = _MEAN.format(**named) + (_MEAN_INSIDE.format() if ways else "")
        text = "Mean and sum over all rows are exact. Rows that may or may not count widen the bounds of a sum."
        found.append({"title": f"Mean and sum of {sensitive}", "text": text, "code": code})
    ranges = [name for name in table.names("quasi-identifier") if cells_of(table, name) and scale(table, name)]
    if ranges and scale(table, ranges[0]) == "float" and len(cells_of(table, ranges[0])) > 1:
        outcome = f"table[{sensitive!r}]" if number else "seen.astype(float)"
        text = (
            "A straight line through the middles of the cells. The middle of a wide cell is a poor guess, which draws "
            "the slope towards 0; weigh narrow cells more, and do not trust the standard error a program prints."
        )
        code = _SLOPE.format(outcome=outcome, by=repr(ranges[0]))
        found.append({"title": f"Regression on {ranges[0]}", "text": text, "code": code})
    return found


def _classes(table: PublishedTable) -> Snippet:
    """Without a sensitive column: the classes themselves, as a table of all columns that say something."""
    spoken = [name for name in table.names("quasi-identifier") if cells_of(table, name)]
    names = spoken or list(table.names("quasi-identifier"))
    if len(names) == 1:
        code = f"print(table[{names[0]!r}].value_counts())\n"
    else:
        code = f"print(table.groupby({names!r}).size().sort_values())\n"
    text = (
        "Rows that agree in all cells cannot be told apart. Use their number as a weight where a program wants one "
        "line per combination; a class counts for a cell of your own table only if it lies inside it as a whole."
    )
    return {"title": "Classes by size", "text": text, "code": code}


PLUGIN = FormPlugin(form=Generalized, reading=GeneralizedReading)
