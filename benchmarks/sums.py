"""Random sums: how many times faster compiled loops answer them than the numpy they replaced, release by release."""

from __future__ import annotations

from typing import Any

import undercover as uc
from benchmarks import plain
from benchmarks.measure import Book, side_by_side
from undercover.forms import read
from undercover.forms.answers.recipient import Sums
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.utility.queries.sums import SumError, _known_values
from undercover.verbs.publish import publish_table

ROWS, QUERIES, LIMIT = 22_517, 1000, 0.2


def sums(book: Book) -> None:
    """On as many rows as the papers have, whatever the size of the other benchmarks."""
    book.section(f"{QUERIES:,} random sums, {ROWS:,} rows x 8 quasi-identifiers, against numpy query by query")
    schema = uc.datasets.census_schema(sensitive="salary", hierarchies=False)
    table = Table.from_arrow(uc.datasets.census(ROWS, seed=1), schema)
    measure = SumError(queries=QUERIES)
    drawn = measure.drawn(table)
    methods: list[Any] = [
        uc.MutualCover(delta="1/5", l=10, variant="paper"),
        uc.CrossBucket(k=3, l=10),
        uc.Anatomy(l=10),
    ]
    for method in (*methods, uc.Mondrian(k=10, l=10)):
        release = publish_table(table, method, randomness=Randomness(1)).release
        reading = read(release)
        known = table if reading.covers else _known_values(table, schema.quasi_identifiers, reading)

        def asked_plainly(release: Any = release, known: Any = known) -> None:
            plain.sums(Sums(release, "salary", known), drawn.asked)

        measure.of_release(table, release, drawn)
        new, old = side_by_side(lambda release=release: measure.of_release(table, release, drawn), asked_plainly, 3)
        note = f"old / new {old / new:.1f}, {1e3 * new / QUERIES:.2f} ms each"
        book.add(f"sums from {method.name}: time / numpy", new / old, "x", LIMIT, note=note)


if __name__ == "__main__":
    sums(Book())
