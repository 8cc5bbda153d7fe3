"""The minimality attack: what it costs beside publishing, and what counting a group costs beside drawing it."""

from __future__ import annotations

import undercover as uc
from benchmarks.measure import Book, side_by_side
from undercover.engines.local import LocalEngine
from undercover.model.table import Table
from undercover.randomness import Randomness

ROWS = 30_000


def minimality(book: Book, threads: int) -> None:
    """On 30,000 rows, whatever the size of the other benchmarks: it is not run by publish."""
    book.section(f"Minimality attack, Mondrian k=5, {ROWS:,} rows x 8 quasi-identifiers, {threads} threads")
    table = Table.from_arrow(uc.datasets.census(ROWS, seed=1), uc.datasets.census_schema(hierarchies=False))
    engine = LocalEngine(threads=threads)
    for diversity in (2, 3):
        method = uc.Mondrian(k=5, l=diversity)
        groups = method.anonymize(table, engine=engine, randomness=Randomness(1)).groups

        def attack(evidence: str, method: uc.Mondrian = method, groups: object = groups) -> object:
            attacker = uc.Minimality(evidence=evidence)
            return attacker.on(table, method, groups, randomness=Randomness(1), threads=threads)

        attack("all")
        for evidence in ("groups", "all"):
            ours, publishing = side_by_side(
                lambda evidence=evidence: attack(evidence),
                lambda method=method: method.anonymize(table, engine=engine, randomness=Randomness(1)),
                2,
            )
            name = f"minimality, l={diversity}, evidence={evidence}: time / anonymize"
            book.add(name, ours / publishing, "x", note=f"{ours:.1f} s")
