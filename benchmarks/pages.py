"""Pages: what they cost beyond the release, how large they are, whether their figures are those of the JSON."""

from __future__ import annotations

import json
import math
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import undercover as uc
from benchmarks.measure import Book
from undercover.datasets import census_schema
from undercover.io.release import folder as bundle
from undercover.io.release.contents import public_part
from undercover.model.protocols import Method
from undercover.studies.compare.compare import compare
from undercover.verbs.report import summarize

METHODS: dict[str, Method] = {
    "Mondrian k=10, l=3": uc.Mondrian(k=10, l=3),
    "Anatomy l=8": uc.Anatomy(l=8),
    "Streamliner l=8": uc.Streamliner(l=8),
    "Mutual cover": uc.MutualCover(delta="1/5", l=10),
    "Cross-bucket k=5, l=5": uc.CrossBucket(k=5, l=5),
    "Perturbed generalization": uc.PerturbedGeneralization(k=6, p=0.3),
}
REPORT_SECONDS, PAGE_MEGABYTES, COMPARE_SECONDS = 20, 2, 90


def pages(book: Book, rows: int) -> None:
    """Measure both."""
    reports(book, rows)
    comparison(book, 30_000)


def reports(book: Book, rows: int) -> None:
    book.section(f"Report and datasheet of {rows:,} rows: verified, attacked, measured, drawn, written")
    schema = census_schema(hierarchies=False)
    people = uc.datasets.census(rows, seed=1)
    small = uc.datasets.census(2_000, seed=1)
    within = rows <= 1_000_000
    for name, method in METHODS.items():
        with tempfile.TemporaryDirectory() as folder:
            uc.save(uc.publish(small, schema, method), Path(folder, "compiled"))
            started = time.perf_counter()
            run = uc.publish(people, schema, method)
            published, working = time.perf_counter(), time.process_time()
            facts = summarize(run)
            out = uc.save(run, Path(folder, "out"), summary=facts)
            saved, worked = time.perf_counter(), time.process_time()
            bundle.save(run, Path(folder, "without pages"))
            seconds = saved - published - (time.perf_counter() - saved)
            spent = worked - working - (time.process_time() - worked)
            note = f"{spent:.1f} s of processors; {seconds / (published - started):.2f}x the release"
            book.add(f"{name}: beyond the release", seconds, "s", REPORT_SECONDS if within else None, note=note)
            page = (out / "private" / "report.html").read_text("utf-8")
            sheet = (public_part(out) / "datasheet.html").read_text("utf-8")
            size = max(len(page.encode()), len(sheet.encode())) / 1e6
            book.add(f"{name}: the larger page", size, "MB", PAGE_MEGABYTES)
            written = json.loads((out / "private" / "report.json").read_text("utf-8"))
            book.add(f"{name}: figures of the report not in its JSON", _strangers(page, written), "", 0)


def comparison(book: Book, rows: int) -> None:
    book.section(f"compare: every method with a sweep of its parameter, {rows:,} rows of the tour's census")
    people, schema = uc.datasets.census(rows, seed=1), census_schema()
    with tempfile.TemporaryDirectory() as folder:
        compare(uc.datasets.census(2_000, seed=1), schema, Path(folder, "compiled"))
        started = time.perf_counter()
        found = compare(people, schema, Path(folder, "out"))
        seconds = time.perf_counter() - started
        releases = len(found["releases"])
        size = Path(folder, "out", "compare.html").stat().st_size / 1e6
    book.add("compare: the whole command, compiled", seconds, "s", COMPARE_SECONDS, note=f"{releases} releases")
    book.add("compare: the page", size, "MB", PAGE_MEGABYTES)


def _strangers(page: str, facts: Any) -> int:
    """How many figures of a page are not among the numbers of its JSON."""
    known = set(_numbers(facts))
    shown = re.findall(r'<data value="([^"]*)">', page)
    return sum(not _among(text, known) for text in shown)


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for inner in value.values() for number in _numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in _numbers(inner)]
    if isinstance(value, bool) or value is None:
        return []
    try:
        return [float(value)]
    except ValueError:
        return []


def _among(text: str, known: set[float]) -> bool:
    try:
        return float(text) in known or math.isinf(float(text))
    except ValueError:
        return text in ("None", "True", "False")
