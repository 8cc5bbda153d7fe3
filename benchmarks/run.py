"""``make bench``: prints every figure as a ratio within this run and writes ``bench.json``.

Kernels are compiled before anything is timed. Options: ``--rows`` for a smaller run, ``--data`` for a folder with
``adult/adult_complete.csv.gz``, ``adult/hierarchies`` and ``acs2024/acs2024_workers.parquet``; figures of what is not
there are left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import undercover as uc
from benchmarks import plain
from benchmarks.cross_bucket import cross_bucket
from benchmarks.cross_bucket_safe import cross_bucket_safe
from benchmarks.files import files
from benchmarks.incognito import incognito
from benchmarks.measure import Book, best, peak_memory, side_by_side
from benchmarks.memory import memory
from benchmarks.minimality import minimality
from benchmarks.mutual_cover import mutual_cover
from benchmarks.pages import pages
from benchmarks.perturbed_generalization import perturbed_generalization
from benchmarks.recommend import recommending
from benchmarks.safe_covers import safe_covers
from benchmarks.streamliner import streamliner
from benchmarks.sums import sums
from benchmarks.threads import threads as speed_up
from undercover.engines.local import LocalEngine
from undercover.forms import read as reading_of
from undercover.forms.boxes import boxes_of, match
from undercover.hierarchies.file import read_hierarchy
from undercover.io.source import read
from undercover.methods.anatomy.method import deal
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import Check
from undercover.steps.cutting.partition import partition
from undercover.steps.recoding import box_cells, generalized_table

ADULT_QI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
ARX = {"k=5": 0.0276, "k=5, distinct l=5": 0.0455}  # ARX's local recoding on the same table, cells as nodes


def census_table(rows: int) -> Table:
    return Table.from_arrow(uc.datasets.census(rows, seed=1), uc.datasets.census_schema(hierarchies=False))


def mondrian(book: Book, rows: int, threads: int) -> None:
    book.section(f"Mondrian, k=10, {rows:,} rows x 8 quasi-identifiers, {threads} threads, against np.lexsort")
    table, tenth = census_table(rows), census_table(rows // 10)
    columns = [codes.astype(np.int32) for codes in table.codes(table.schema.quasi_identifiers)]
    for cut, limit in (("median", 1.0), ("loss", 2.5)):

        def cut_it(part: Table, cut: Any = cut) -> None:
            partition(part, k=10, cut=cut, threads=threads)

        cut_it(tenth)
        ours, sort = side_by_side(lambda: cut_it(table), lambda: np.lexsort(columns))
        book.add(f"mondrian, cut={cut}: time / np.lexsort", ours / sort, "x", limit, note=f"{ours:.2f} s")
        small = best(lambda: cut_it(tenth), 5)
        book.add(f"mondrian, cut={cut}: growth {rows // 10:,} -> {rows:,}", ours / small, "x", 12)
        memory = peak_memory(lambda: cut_it(table))
        book.add(f"mondrian, cut={cut}: peak memory", memory / rows, "bytes/row", 80)
    single, double = side_by_side(
        lambda: partition(table, k=10, threads=1), lambda: partition(table, k=10, threads=threads), 3
    )
    book.add(f"mondrian, cut=loss: {threads} threads / 1 thread", double / single, "x")


def growth_beyond(book: Book, rows: int, threads: int) -> None:
    book.section(f"Growth from {rows:,} to {10 * rows:,} rows")
    for cut in ("median", "loss"):
        table = census_table(rows)
        small = best(lambda: partition(table, k=10, cut=cut, threads=threads), 2)  # noqa: B023
        table = census_table(10 * rows)
        large = best(lambda: partition(table, k=10, cut=cut, threads=threads), 1)  # noqa: B023
        book.add(f"mondrian, cut={cut}: growth {rows:,} -> {10 * rows:,}", large / small, "x", note=f"{large:.1f} s")
    small_table, large_table = census_table(rows), table
    small = best(lambda: deal(small_table, "income", 8, Randomness()), 2)
    large = best(lambda: deal(large_table, "income", 8, Randomness()), 1)
    book.add(f"anatomy: growth {rows:,} -> {10 * rows:,}", large / small, "x", note=f"{large:.1f} s")


def anatomy(book: Book, rows: int) -> None:
    book.section(f"Anatomy, l=8, {rows:,} rows, against np.argsort(kind='stable') of random int32")
    table, tenth = census_table(rows), census_table(rows // 10)
    numbers = np.random.default_rng(0).integers(0, 2**31, rows).astype(np.int32)
    deal(tenth, "income", 8, Randomness())
    ours, sort = side_by_side(
        lambda: deal(table, "income", 8, Randomness()), lambda: np.argsort(numbers, kind="stable")
    )
    book.add("anatomy: time / np.argsort, random bytes included", ours / sort, "x", 1.0, note=f"{ours * 1e3:.0f} ms")
    small = best(lambda: deal(tenth, "income", 8, Randomness()), 5)
    book.add(f"anatomy: growth {rows // 10:,} -> {rows:,}", ours / small, "x")
    book.add("anatomy: peak memory", peak_memory(lambda: deal(table, "income", 8, Randomness())) / rows, "bytes/row")


def kernels(book: Book) -> None:
    book.section("Kernels against their plain numpy twins (how many times faster)")
    table = census_table(20_000)
    names = table.schema.quasi_identifiers
    codes = np.stack(table.codes(names), axis=1).astype(np.int64)
    sizes = np.array([table[name].domain.size for name in names])
    partition(table, k=10, cut="median")
    ours, theirs = side_by_side(
        lambda: partition(table, k=10, cut="median"), lambda: plain.median_mondrian(codes, sizes, 10), 2
    )
    book.add("mondrian, median cut: numpy / kernel", theirs / ours, "x")
    income = table["income"].codes.astype(np.int64)
    deal(table, "income", 8, Randomness())
    ours, theirs = side_by_side(
        lambda: deal(table, "income", 8, Randomness()), lambda: plain.deal(income, table["income"].domain.size, 8), 2
    )
    book.add("anatomy, dealing: numpy / kernel", theirs / ours, "x")
    from undercover.steps.shuffling import shuffle_within

    items, offsets = np.arange(1_000_000), np.arange(0, 1_000_001, 10)
    shuffle_within(items, offsets, Randomness(seed=1), "bench")
    ours, theirs = side_by_side(
        lambda: shuffle_within(items, offsets, Randomness(), "bench"),
        lambda: plain.shuffle_segments(items, offsets, 1),
        2,
    )
    book.add("shuffling inside groups: numpy / kernel", theirs / ours, "x")
    parts = partition(table, k=10)
    published = generalized_table(table, parts.groups, box_cells(table, parts.groups), Randomness(seed=1))
    release = uc.Release("mondrian", {}, (published,), True)
    boxes = boxes_of(reading_of(release), table, names, ("income",))
    targets = codes[:2000]
    starts = parts.groups.offsets[:-1]
    ordered = codes[parts.groups.order]
    low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
    match(boxes, targets, 1)
    ours, theirs = side_by_side(lambda: match(boxes, targets, 1), lambda: plain.matches(low, high, targets), 2)
    book.add("matching people to boxes: numpy / kernel", theirs / ours, "x")


def adult(book: Book, folder: Path) -> None:
    if not (folder / "adult_complete.csv.gz").is_file():
        print(f"\nAdult: not measured, there is no adult_complete.csv.gz in {folder} (see --data)")
        return
    book.section("Adult (45,222 rows), k=5, nothing suppressed; ARX's loss with the leaves of the hierarchy files")
    data = read(folder / "adult_complete.csv.gz").data
    trees = {name: read_hierarchy(folder / "hierarchies" / f"{name}.csv") for name in ADULT_QI}
    along = {name: Column(hierarchy=tree) for name, tree in trees.items()}
    plain_table = Table.from_arrow(data, Schema(quasi_identifiers=ADULT_QI, sensitive="occupation"))
    tree_table = Table.from_arrow(data, Schema(quasi_identifiers=ADULT_QI, sensitive="occupation", columns=along))
    threads = LocalEngine().threads
    partition(plain_table, k=5, threads=threads)
    seconds = best(lambda: partition(plain_table, k=5, threads=threads), 7)
    book.add("adult, k=5: partitioning the encoded table", seconds, "s")
    method = uc.Mondrian(k=5)
    engine = LocalEngine()
    whole = best(lambda: method.anonymize(plain_table, engine=engine, randomness=Randomness()), 7)
    book.add("adult, k=5: the method on the encoded table", whole, "s", 0.15)
    method.anonymize(tree_table, engine=engine, randomness=Randomness())
    nodes = best(lambda: method.anonymize(tree_table, engine=engine, randomness=Randomness()), 7)
    book.add("adult, k=5: the method on the encoded table, cells as nodes", nodes, "s", 1.0)
    for asked, limit, method in (
        ("k=5", 0.0105, uc.Mondrian(k=5)),
        ("k=5, distinct l=5", 0.021, uc.Mondrian(k=5, l=5, diversity="distinct")),
    ):
        for table, form, bound in ((plain_table, "sets and ranges", limit), (tree_table, "nodes", ARX[asked])):
            draft = method.anonymize(table, engine=engine, randomness=Randomness())
            release = uc.Release("mondrian", {}, draft.tables, True)
            # Measured against the leaves of the hierarchy files, whether or not the method saw them.
            loss = uc.measure(tree_table, release).to_dict()["loss"]["arx"]["arithmetic"]
            note = f"ARX {ARX[asked]}" if form == "nodes" else ""
            book.add(f"adult, {asked}: loss, cells as {form}", loss, "", bound, note=note)
    draft = uc.Mondrian(k=5, cut="median").anonymize(plain_table, engine=engine, randomness=Randomness())
    loss = uc.measure(tree_table, uc.Release("mondrian", {}, draft.tables, True)).to_dict()["loss"]["arx"]["arithmetic"]
    book.add("adult, k=5: loss, median cut, sets and ranges", loss, "")
    seconds = best(
        lambda: partition(
            plain_table, k=5, checks=[Check(column="occupation", kind="distinct", limit=5)], threads=threads
        ),
        5,
    )
    book.add("adult, k=5, distinct l=5: partitioning", seconds, "s")


def surface(book: Book, rows: int) -> None:
    book.section("Command line and files")
    executable = Path(sys.executable).with_name("undercover")
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder, "bare.py")
        bare.write_text(
            "import typer\n\napp = typer.Typer()\n\n\n@app.command()\ndef hello(name: str = 'you') -> None:\n"
            "    '''Say hello.'''\n    print(name)\n\n\n@app.command()\ndef bye() -> None:\n    '''Say bye.'''\n\n\n"
            "app()\n"
        )
        ours, theirs = side_by_side(
            lambda: subprocess.run([executable, "--help"], capture_output=True, check=True),
            lambda: subprocess.run([sys.executable, bare, "--help"], capture_output=True, check=True),
            9,
        )
        book.add("undercover --help / a bare typer program", ours / theirs, "x", 1.5, note=f"{ours * 1e3:.0f} ms")
        seconds = best(lambda: uc.datasets.census(rows, seed=2), 3)
        book.add(f"census of {rows:,} rows", seconds, "s", 2.0 if rows <= 1_000_000 else None)
        people = uc.datasets.census(rows, seed=1)
        run = uc.publish(people, uc.datasets.census_schema(hierarchies=False), uc.Mondrian(k=10, l=3))
        from undercover.io.release import folder as bundle

        bundle.save(run, Path(folder, "out"))
        command = [executable, "verify", Path(folder, "out", "public")]
        seconds = best(lambda: subprocess.run(command, capture_output=True, check=True), 3)
        limit = 3.0 if rows <= 1_000_000 else None
        book.add(f"undercover verify of {rows:,} rows, the whole command", seconds, "s", limit)
        seconds = best(lambda: uc.verify(run.release), 3)
        book.add(f"verifying {rows:,} rows in memory", seconds, "s")
        seconds = best(lambda: uc.attack(run), 1)
        book.add(f"linkage attack on {rows:,} people, before and after", seconds, "s")
        some = people.slice(0, rows // 10)
        two = [
            uc.publish(some, uc.datasets.census_schema(names, hierarchies=False), uc.Mondrian(k=10))
            for names in (["age", "sex", "education"], ["age", "race", "hours"])
        ]
        book.add(f"two releases together on {rows // 10:,} people", best(lambda: uc.joint_attack(two), 1), "s")
        seconds = best(lambda: uc.measure(run.original, run), 1)
        book.add(f"measuring {rows:,} rows", seconds, "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--large", action="store_true", help="also ten times the rows")
    parser.add_argument("--out", type=Path, default=Path("bench.json"))
    options = parser.parse_args()
    threads = len(os.sched_getaffinity(0))
    book = Book()
    mondrian(book, options.rows, threads)
    anatomy(book, options.rows)
    kernels(book)
    adult(book, options.data / "adult")
    streamliner(book, 6 * options.rows // 10, large=options.large)
    perturbed_generalization(book, 7 * options.rows // 10, threads)
    cross_bucket(book, options.rows, threads)
    cross_bucket_safe(book, options.rows, options.data)
    incognito(book, 7 * options.rows // 10, options.data / "adult")
    mutual_cover(book, options.rows, threads)
    safe_covers(book, options.rows, threads, options.data)
    minimality(book, threads)
    speed_up(book, options.rows)
    sums(book)
    recommending(book, options.data)
    surface(book, options.rows)
    pages(book, options.rows)
    files(book)
    memory(book, 4 * options.rows)
    if options.large:
        growth_beyond(book, options.rows, threads)
    book.write(options.out)
    missed = [figure.name for figure in book.figures if figure.holds is False]
    print(f"\n{len(book.figures)} figures, {len(missed)} missed" + (": " + "; ".join(missed) if missed else ""))


if __name__ == "__main__":
    main()
