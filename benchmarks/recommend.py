"""Recommending: how long until a release that satisfies the standard policy is found, and whether one is Ready.

Tables are the built-in census, one of which 92.5 % have one value, and where they are at hand Adult and the patients of
diabetes130, who have several rows each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import undercover as uc
from benchmarks.measure import Book
from undercover.errors import UnreachableError
from undercover.io.source import read
from undercover.model.schema import Schema
from undercover.studies.recommend.recommend import recommend

SECONDS = 120
ADULT_QI = ("age", "sex", "education", "marital-status", "race", "hours-per-week")


def recommending(book: Book, data: Path) -> None:
    """One line per table; 0 questions left open is Ready."""
    book.section(f"Recommend, policy standard, at most {SECONDS} s")
    for name, table, schema in _tables(data):
        started = time.perf_counter()
        try:
            found = recommend(table, schema, time=SECONDS)
            note = f"{found.verdict.title}: {found.candidate.title}" + ("" if found.confirmed else ", unconfirmed")
            asked = len(found.verdict.weighing("ask"))
        except UnreachableError as error:
            note, asked = str(error)[:160], -1
        book.add(f"{name}, {len(table):,} rows", time.perf_counter() - started, "s", SECONDS, note=note)
        book.add(f"{name}: questions left open by the best", asked, "questions")


def _tables(data: Path) -> Iterator[tuple[str, Any, Schema]]:
    census = uc.datasets.census(30_000, seed=1)
    roles = uc.datasets.census_schema(["age", "sex", "education", "marital_status", "race"], hierarchies=False)
    yield "census, income", census, Schema(**_roles(roles))
    values = np.random.default_rng(0).choice(["no", "yes"], 20_000, p=[0.925, 0.075])
    skewed = census.slice(0, 20_000).select(["age", "sex", "education", "race"]).append_column("ill", pa.array(values))
    names = ["age", "sex", "education", "race"]
    yield "92.5 % one value", skewed, Schema(quasi_identifiers=names, sensitive="ill")
    adult = data / "adult" / "adult_complete.csv.gz"
    if adult.is_file():
        table = read(adult).data
        yield "Adult, occupation", table, Schema(quasi_identifiers=ADULT_QI, sensitive="occupation", drop="*")
        yield "Adult, salary-class", table, Schema(quasi_identifiers=ADULT_QI, sensitive="salary-class", drop="*")
    diabetes = data / "diabetes130" / "diabetic_data.csv.gz"
    if diabetes.is_file():
        names = ["race", "gender", "age", "admission_type_id"]
        schema = Schema(quasi_identifiers=names, sensitive="diag_1", unit="patient_nbr", drop="*", missing="category")
        yield "diabetes130 by patient, diag_1", read(diabetes).data, schema


def _roles(schema: Schema) -> dict[str, Any]:
    return {
        "quasi_identifiers": schema.quasi_identifiers,
        "sensitive": schema.sensitive,
        "columns": schema.columns,
        "drop": "*",
    }
