"""Two tables that meet in buckets: rows with the number of a bucket, and the values of each bucket.

A row has each value of its bucket with the probability of its share there (Xiao & Tao 2006, Section 3).
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from undercover.errors import DataError
from undercover.forms.bucket_table import BucketTable
from undercover.forms.buckets import words
from undercover.forms.buckets.classes import bucket_classes
from undercover.forms.classes import Classes
from undercover.forms.reading import FormPlugin, Reading
from undercover.forms.snippets import Snippet
from undercover.model.form import Buckets
from undercover.model.release import PublishedColumn, PublishedTable, Release


class BucketsReading(Reading):
    """Rows of one bucket cannot be told apart as to their sensitive values."""

    unit: ClassVar[str] = "bucket"

    def __init__(self, release: Release) -> None:
        assert isinstance(release.form, Buckets)
        super().__init__(release)
        self.form = release.form

    @cached_property
    def main(self) -> PublishedTable:
        """The table with the quasi-identifiers."""
        problems = self.form.problems(self.release.tables)
        if problems:
            raise DataError(problems)
        return self.release.published(self.form.rows)

    @cached_property
    def buckets(self) -> BucketTable:
        """The values of buckets, from a table of their own."""
        rows, values = self.column(self.form.bucket), self.release.published(self.form.values)
        return BucketTable.of(rows, values, self.form.bucket, self.form.count)

    @cached_property
    def classes(self) -> Classes:
        """The buckets, beside the rows that are written alike; a joined view shows nothing that they do not."""
        return bucket_classes(self, self.form)

    @property
    def charged(self) -> Classes:
        """Buckets where quasi-identifiers are published as they are, else the rows that are written alike."""
        found = self.classes
        as_they_are = all(self.main.form(name) == "value" for name in found.quasi_identifiers)
        return found if as_they_are or found.boxes is None else found.boxes

    def meaning(self, table: PublishedTable, column: PublishedColumn) -> str:
        """What a column stands for; the values of a joined view belong to the bucket, not to the row."""
        if table.name == self.form.joined and column.role == "sensitive":
            return words.DRAWN
        structure = {self.form.bucket: words.BUCKET, self.form.count: words.COUNT}
        return structure.get(column.name) or super().meaning(table, column)

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code for two tables."""
        return words.snippets(self, file_format)


PLUGIN = FormPlugin(form=Buckets, reading=BucketsReading)
