"""Releases of every form, saved once, and copies of them to be forged."""

from __future__ import annotations

import atexit
import csv
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import undercover as uc
from undercover.model.schema import Column

DISEASES = ("flu", "cold", "asthma", "ulcer", "gout", "rash")
ROWS = range(240)
PEOPLE = pa.table(
    {
        "age": [20 + (i * 37) % 55 for i in ROWS],
        "sex": ["MF"[(i * 7) % 2] for i in ROWS],
        "zip": [10000 + (i * 79) % 90 for i in ROWS],
        "disease": [DISEASES[(i * 5 + i // 9) % 6] for i in ROWS],
        "hospital": ["ABC"[(i * 11) % 3] for i in ROWS],
    }
)
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": "disease"}
SCHEMA = uc.Schema(**ROLES, columns={"disease": Column(domain=DISEASES)})
WITH_HOSPITAL = uc.Schema(**ROLES, insensitive=["hospital"])

METHODS: dict[str, Any] = {
    "mondrian": uc.Mondrian(k=5, l=2),
    "mondrian-k": uc.Mondrian(k=5),
    "anatomy": uc.Anatomy(l=3),
    "mutual-cover": uc.MutualCover(variant="paper", delta="1/3", l=3),
    "perturbed": uc.PerturbedGeneralization(k=6, p=0.3),
    "cross-bucket": uc.CrossBucket(k=2, l=3, joined=True),
    "dealt": uc.MutualCover(delta="1/3", l=3),
    "streamliner": uc.Streamliner(l=3),
}


@cache
def made(name: str, *, hospital: bool = False) -> uc.Run:
    return uc.publish(PEOPLE, WITH_HOSPITAL if hospital else SCHEMA, METHODS[name], seed=1)


@cache
def kept(name: str, hospital: bool) -> Path:
    """Where a release is saved once, for as long as the process runs."""
    place = tempfile.mkdtemp(prefix="received-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return uc.save(made(name, hospital=hospital), Path(place, "out"))


def saved(name: str, folder: Path, *, hospital: bool = False) -> Path:
    """A copy of a release folder to be forged."""
    return Path(shutil.copytree(kept(name, hospital), folder / name))


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write_rows(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
