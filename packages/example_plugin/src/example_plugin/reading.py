"""How a swapped table is read: as a drawn one, in which every single column is exact."""

from __future__ import annotations

from collections import Counter

import numpy as np

from example_plugin.form import Swapped
from undercover.forms.drawn.reading import DrawnReading
from undercover.forms.reading import FormPlugin
from undercover.forms.snippets import Snippet, reading_tables
from undercover.model.finding import Finding
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.table import Table

_ALONE = "for name in {names}:\n    print(table[name].value_counts())\n"
_TOGETHER = "print(pd.crosstab(table[{first!r}], table[{second!r}]))  # blurred\n"


class SwappedReading(DrawnReading):
    """Values changed places: none was added or lost, but what stands beside what need not belong together."""

    form: Swapped
    story = (
        " Values changed places among rows: the rows that fit need not include the person's own, and then he is wrong. "
        "He cannot tell whether they do."
    )

    def meaning(self, table: PublishedTable, column: PublishedColumn) -> str:
        """What a column stands for."""
        if column.role != "quasi-identifier":
            return super().meaning(table, column)
        return f"The column is exact as a whole; in {self.form.share:.0%} of the rows the value is another row's."

    def against(self, original: Table) -> tuple[Finding, ...]:
        """As of drawn tables, and every quasi-identifier has each of its values as often."""
        found = list(super().against(original))
        for name in self.main.names("quasi-identifier"):
            column, domain = self.column(name), original[name].domain
            after = Counter(dict(zip(column.labels, np.bincount(column.codes).tolist(), strict=True)))
            before = np.bincount(original[name].codes, minlength=domain.size).tolist()
            after.subtract(dict(zip(domain.labels, before, strict=True)))
            wrong = sum(map(abs, after.values())) // 2
            found.append(Finding("column-preserved", {"column": name}, 0, wrong, wrong == 0, sense="at most"))
        return tuple(found)

    def limits(self) -> list[str]:
        """What a swapped table leaves open."""
        share = self.form.share
        columns = len(self.main.names("quasi-identifier"))
        kept = (1 - share) ** columns
        return [
            "Nothing is promised. Whoever finds a row whose values were not swapped has found its owner, and the "
            "sensitive value beside them is his.",
            f"A row keeps all its {columns} quasi-identifiers with a probability of about {kept:.2g}, "
            "or more where others have the same values; which rows these are, nobody but the holder knows.",
            "Everybody who is in the table, with his values, can be told from single columns where a value is rare.",
            "Two swapped tables of the same people can be compared, and what stayed in both is likely true.",
        ]

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code: single columns as they are, pairs with a warning."""
        quasi = self.main.names("quasi-identifier")
        found = [
            reading_tables(self.release.tables, file_format, ["table"]),
            {
                "title": "Count by one column",
                "text": "Swapping keeps every column as a whole: counts of one column alone are exact.",
                "code": _ALONE.format(names=list(quasi)),
            },
        ]
        beside = [*quasi[1:], *self.main.names("sensitive")]
        if beside:
            text = (
                f"{self.form.share:.0%} of the values of every quasi-identifier stand in another's row, so tables of "
                "several columns are blurred: what goes with what shows weaker than it is. There are no bounds."
            )
            code = _TOGETHER.format(first=quasi[0], second=beside[0])
            found.append({"title": f"{quasi[0]} and {beside[0]} together", "text": text, "code": code})
        return found


PLUGIN = FormPlugin(form=Swapped, reading=SwappedReading)
