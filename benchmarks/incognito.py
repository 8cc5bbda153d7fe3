"""Incognito and publishing next to others: the search against the literal one, and the optimum on Adult."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import undercover as uc
from benchmarks.measure import Book, best, peak_memory, side_by_side
from undercover.hierarchies.file import read_hierarchy
from undercover.io.source import read
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.steps.lattice.choice import Chooser, search
from undercover.steps.lattice.conditions import CellCondition, JointCondition
from undercover.steps.lattice.cubes import FullDomain
from undercover.steps.lattice.lattice import Levels, listed_nodes
from undercover.studies.experiments.bench import part
from undercover.studies.experiments.papers.noncentralized import Bench, build
from undercover.studies.experiments.request import Request

ADULT_QI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
LIMITS = {3: 0.2, 5: 0.8, 7: 3.0}


def incognito(book: Book, rows: int, adult: Path) -> None:
    """Measure both."""
    census(book, rows)
    optimum(book, adult)


def census(book: Book, rows: int) -> None:
    book.section(f"Lattice search, {rows:,} rows, four levels, distinct l = 10 and 30, k = 10")
    table = _bench(rows).table
    for columns, limit in LIMITS.items():
        for name, make in _conditions(table).items():
            seconds = best(lambda columns=columns, make=make: _search(table, columns, make), 3)
            book.add(f"{columns} quasi-identifiers, {name}", seconds, "s", limit if rows <= 700_000 else None)
    ours, literal = side_by_side(
        lambda: _search(table, 5, _conditions(table)["distinct l = 10"]), lambda: _literal(table, 5, 10), 1
    )
    found = set(listed_nodes(_search(table, 5, _conditions(table)["distinct l = 10"])))
    if found != _literal(table, 5, 10):
        raise AssertionError("The search and the literal Incognito do not find the same nodes.")
    note = f"{literal:.1f} s against {ours:.2f} s"
    book.add("5 quasi-identifiers, l = 10: time / literal Incognito", ours / literal, "x", 0.1, note=note)
    bench = _bench(rows)
    for l_pre, columns_pre in ((30, 2), (50, 4)):
        bench.previous(l_pre, columns_pre)
        columns = min(5, 7 - columns_pre)
        call = bench.measure(l=20, columns=columns, l_pre=l_pre, columns_pre=columns_pre)
        book.add(
            f"next to others: |QI| = {columns}, l = 20, l_pre = {l_pre}, |QI_pre| = {columns_pre}", call["elapsed"], "s"
        )
    memory = peak_memory(lambda: _search(table, 7, _conditions(table)["distinct l = 10"]))
    book.add("7 quasi-identifiers, l = 10: peak memory", memory / rows, "bytes/row")


def optimum(book: Book, folder: Path) -> None:
    if not (folder / "adult_complete.csv.gz").is_file():
        print(f"\nIncognito on Adult: not measured, there is no adult_complete.csv.gz in {folder} (see --data)")
        return
    book.section("Incognito on Adult (45,222 rows, 4,320 nodes), k=5, against exhaustive search by the same costs")
    trees = {name: Column(hierarchy=read_hierarchy(folder / "hierarchies" / f"{name}.csv")) for name in ADULT_QI}
    data = read(folder / "adult_complete.csv.gz").data
    table = Table.from_arrow(data, Schema(quasi_identifiers=ADULT_QI, sensitive="occupation", columns=trees))
    for share in (0, 0.05):
        limit = int(share * table.n_rows)
        _optimal(table, limit)
        ours, everything = side_by_side(
            lambda limit=limit: _optimal(table, limit), lambda limit=limit: _exhaustive(table, limit), 1
        )
        chosen, expected = _optimal(table, limit), _exhaustive(table, limit)
        if chosen != expected:
            raise AssertionError(f"The optimum differs from exhaustive search: {chosen} and {expected}.")
        note = f"{ours:.2f} s against {everything:.2f} s; levels {chosen[1]}"
        book.add(f"adult, {share:.0%} suppression: time / exhaustive search", ours / everything, "x", 1 / 3, note=note)
        book.add(f"adult, {share:.0%} suppression: geometric loss", chosen[0], "")


def _bench(rows: int) -> Bench:
    cell = build(Request(rows=rows, seed=1)).cells[0]
    bench: Bench = cell.measure.__self__  # type: ignore[attr-defined]
    return bench


def _conditions(table: Table) -> dict[str, Callable[[], Any]]:
    n_values = table["income"].domain.size
    return {
        "distinct l = 10": lambda: JointCondition(10, (), n_values),
        "distinct l = 30": lambda: JointCondition(30, (), n_values),
        "k = 10": lambda: CellCondition(table, 10),
    }


def _search(table: Table, columns: int, make: Callable[[], Any]) -> Any:
    domain = FullDomain(
        part(table, table.schema.quasi_identifiers[:columns]), table.schema.quasi_identifiers[:columns], ("income",)
    )
    return search(domain, make())


def _literal(table: Table, columns: int, l: int) -> set[Levels]:  # noqa: E741
    """Incognito as its paper has it: subset by subset, breadth first, a frequency set per node that is checked."""
    domain = FullDomain(table, table.schema.quasi_identifiers[:columns], ("income",))
    income = table["income"].codes.astype(np.int64)
    n_values = table["income"].domain.size
    heights = domain.lattice.heights

    def passes(node: tuple[tuple[int, int], ...]) -> bool:
        key = np.zeros(table.n_rows, dtype=np.int64)
        for column, level in node:
            on = domain.columns[column].levels[level]
            key = key * on.size + on.node_of[domain.codes[column]]
        pairs = np.unique(key * n_values + income)
        return bool(np.unique(pairs // n_values, return_counts=True)[1].min() >= l)

    survivors = {((column, level),) for column, height in enumerate(heights) for level in range(height + 1)}
    for size in range(1, columns + 1):
        if size > 1:
            joined = {
                (*first, second[-1])
                for first, second in product(survivors, repeat=2)
                if first[:-1] == second[:-1] and first[-1][0] < second[-1][0]
            }
            survivors = {node for node in joined if all(p in survivors for p in combinations(node, size - 1))}
        passed: set[Any] = set()
        failed = set()
        for node in sorted(survivors, key=lambda node: (sum(level for _, level in node), node)):
            if node in passed:
                continue
            if not passes(node):
                failed.add(node)
                continue
            ranges = [range(level, heights[column] + 1) for column, level in node]
            for levels in product(*ranges):
                passed.add(tuple((column, level) for (column, _), level in zip(node, levels, strict=True)))
        survivors -= failed
    return {tuple(level for _, level in node) for node in survivors}


def _optimal(table: Table, limit: int) -> tuple[float, Levels]:
    condition = CellCondition(table, 5, (), limit)
    domain = FullDomain(table, table.schema.quasi_identifiers)
    chosen = Chooser(domain, condition).best(search(domain, condition), suppressing=limit > 0)
    return chosen.cost, chosen.levels


def _exhaustive(table: Table, limit: int) -> tuple[float, Levels]:
    """The least loss over all nodes, each looked at."""
    condition = CellCondition(table, 5, (), limit)
    domain = FullDomain(table, table.schema.quasi_identifiers)
    chooser = Chooser(domain, condition)
    found = []
    for node in domain.lattice:
        cube = domain.cube(node, {"counts"})
        failing = condition.failing(cube)
        if int(cube.counts[failing].sum()) <= limit:
            found.append((chooser.cost_of(cube, failing)[0], node))
    return min(found)


def main() -> None:
    book = Book()
    incognito(book, 700_000, Path("../shared/data/adult"))
    print(uc.__version__)


if __name__ == "__main__":
    main()
