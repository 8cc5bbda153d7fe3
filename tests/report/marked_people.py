"""A table of people none of whose values could stand anywhere by accident, and every kind of release made of it.

Numbers are of five digits, words begin with a letter and a q: what is found of them in a public file was leaked. The
two sets of rows have nothing in common but the columns and the declared trees and domains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import undercover as uc
from undercover.model.run import Run

SEED = 918273645
FILE = "jqvault-73917.csv"
WEIGHT = 7.3919
K, L = 12, 6

BANDS = uc.Hierarchy([(str(y), f"bandq-{y // 20}", f"wideq-{y // 40}", "*") for y in range(72000, 72400)])
SCHOOLS = uc.Hierarchy([(f"Wqleaf-{i}{side}", f"wqbranch-{i % 3}", "*") for i in range(9) for side in "ab"])
GRADES = tuple(f"Oqgrade-{i}" for i in range(7))
ILLNESSES = tuple(f"Xqill-{i}{side}" for side in "ab" for i in range(12))
BINS = tuple(range(51000, 51900, 100))
PAYS = tuple(str(51007 + 13 * i) for i in range(60))


def people(which: str = "first") -> pa.Table:
    """240 or 276 people; the last three or five of them stand out by their years."""
    n, few, side, start = (240, 3, "a", 72005) if which == "first" else (276, 5, "b", 72202)
    rows = range(n)
    return pa.table(
        {
            "hqholder": [f"Vqname-{side}{i}" for i in rows],
            "yqremark": [f"Yqnote-{side}{i}" for i in rows],
            "years": [start + (i * 37) % 110 if i < n - few else start + 180 + i - n for i in rows],
            "place": [f"Zqmoor-{(i * i + i // 7) % 8}{side}" for i in rows],
            "school": [f"Wqleaf-{(i * 5 + i // 11) % 9}{side}" for i in rows],
            "grade": [GRADES[(i * 3 + i // 9) % 6 + (side == "b")] for i in rows],
            "wave": [f"Uqwave-{i % 2}{side}" for i in rows],
            "illness": [f"Xqill-{(i * 7 + i // 12) % 12}{side}" for i in rows],
            "pay": [int(PAYS[(i * 11 + i // 30) % 30 + 30 * (side == "b")]) for i in rows],
        }
    )


def schema(
    *quasi: str,
    sensitive: str | None = "illness",
    trees: bool = False,
    insensitive: bool = False,
    bins: bool = False,
) -> uc.Schema:
    settings = {
        "years": uc.Column(weight=WEIGHT, hierarchy=BANDS if trees else None),
        "school": uc.Column(hierarchy=SCHOOLS),
        "grade": uc.Column(kind="ordinal", domain=GRADES),
        "illness": uc.Column(domain=ILLNESSES),
        "pay": uc.Column(bins=BINS) if bins else uc.Column(domain=PAYS),
    }
    known = [*quasi, *([sensitive] if sensitive else [])]
    return uc.Schema(
        quasi_identifiers=quasi,
        sensitive=sensitive or (),
        identifiers="hqholder",
        insensitive="wave" if insensitive else (),
        columns={name: column for name, column in settings.items() if name in known},
    )


@dataclass(frozen=True)
class Recipe:
    """One kind of release: roles and method."""

    schema: uc.Schema
    method: Callable[[str], Any]


PLAIN, TREES = ("years", "place"), {"trees": True}
RECIPES = {
    "mondrian": Recipe(schema(*PLAIN), lambda _: uc.Mondrian(k=K)),
    "mondrian of numbers": Recipe(schema(*PLAIN, sensitive="pay"), lambda _: uc.Mondrian(k=K)),
    "mondrian with l": Recipe(schema(*PLAIN, insensitive=True), lambda _: uc.Mondrian(k=K, l=L)),
    "mondrian with t": Recipe(schema(*PLAIN), lambda _: uc.Mondrian(k=K, t=0.5)),
    "mondrian with trees": Recipe(schema("years", "school", **TREES), lambda _: uc.Mondrian(k=K)),
    "mondrian in regions": Recipe(schema("grade", "years"), lambda _: uc.Mondrian(k=K, recoding="regions")),
    "mondrian without sensitive": Recipe(schema("place", "years", sensitive=None), lambda _: uc.Mondrian(k=K)),
    "mondrian of everything": Recipe(schema("grade", "place"), lambda _: uc.Mondrian(k=200)),
    "mondrian in bins": Recipe(schema(*PLAIN, sensitive="pay", bins=True), lambda _: uc.Mondrian(k=K)),
    "anatomy in bins": Recipe(schema(*PLAIN, sensitive="pay", bins=True), lambda _: uc.Anatomy(l=3)),
    "mutual cover in bins": Recipe(
        schema(*PLAIN, sensitive="pay", bins=True), lambda _: uc.MutualCover(variant="paper", delta="1/3", l=3)
    ),
    "perturbed bins": Recipe(
        schema(*PLAIN, sensitive="pay", bins=True), lambda _: uc.PerturbedGeneralization(k=K, p=0.5)
    ),
    "anatomy": Recipe(schema(*PLAIN), lambda _: uc.Anatomy(l=L)),
    "anatomy of numbers": Recipe(schema(*PLAIN, sensitive="pay"), lambda _: uc.Anatomy(l=L)),
    "incognito": Recipe(schema("years", "school", **TREES), lambda _: uc.Incognito(k=K)),
    "incognito with suppression": Recipe(schema("years", **TREES), lambda _: uc.Incognito(k=K, suppression=0.02)),
    "incognito with l": Recipe(schema("years", "school", **TREES), lambda _: uc.Incognito(k=K, l=3, suppression=0.05)),
    "streamliner wrap": Recipe(schema(*PLAIN), lambda _: uc.Streamliner(l=L)),
    "streamliner guided": Recipe(schema(*PLAIN), lambda _: uc.Streamliner(l=L, algorithm="guided")),
    "streamliner rda": Recipe(schema(*PLAIN), lambda _: uc.Streamliner(l=L, algorithm="rda")),
    "streamliner gda": Recipe(schema(*PLAIN), lambda _: uc.Streamliner(l=L, algorithm="gda", allow_unsafe=True)),
    "streamliner ria": Recipe(schema(*PLAIN), lambda _: uc.Streamliner(l=L, algorithm="ria")),
    "mutual cover": Recipe(schema(*PLAIN), lambda _: uc.MutualCover(variant="paper", delta="1/3", l=L)),
    "mutual cover of numbers": Recipe(
        schema(*PLAIN, sensitive="pay"), lambda _: uc.MutualCover(variant="paper", delta="1/3", l=L)
    ),
    "mutual cover in order": Recipe(
        schema(*PLAIN), lambda _: uc.MutualCover(variant="paper", delta="1/3", l=L, keep_order=True)
    ),
    "cross-bucket": Recipe(schema(*PLAIN), lambda _: uc.CrossBucket(k=3, l=L)),
    "cross-bucket of numbers": Recipe(schema(*PLAIN, sensitive="pay"), lambda _: uc.CrossBucket(k=3, l=L)),
    "cross-bucket joined": Recipe(schema(*PLAIN), lambda _: uc.CrossBucket(k=3, l=L, joined=True)),
    "perturbed": Recipe(schema("years", "grade"), lambda _: uc.PerturbedGeneralization(k=K, growth=0.4)),
    "perturbed numbers": Recipe(schema(*PLAIN, sensitive="pay"), lambda _: uc.PerturbedGeneralization(k=K, p=0.5)),
    "perturbed boxes": Recipe(schema(*PLAIN), lambda _: uc.PerturbedGeneralization(k=K, p=0.5, cells="boxes")),
    "perturbed specialize": Recipe(
        schema("years", "school", **TREES), lambda _: uc.PerturbedGeneralization(k=K, p=0.5, recoding="specialize")
    ),
    "perturbed incognito": Recipe(
        schema("years", "school", **TREES),
        lambda _: uc.PerturbedGeneralization(k=K, rho=(0.2, 0.6), recoding="incognito"),
    ),
    "perturbed driven": Recipe(
        schema("years", "school", **TREES),
        lambda _: uc.PerturbedGeneralization(k=K, p=0.5, recoding="specialize", labels="driven", allow_unsafe=True),
    ),
    "noncentralized": Recipe(schema("years", "school", **TREES), lambda _: uc.NonCentralized(l=L)),
    "noncentralized beside": Recipe(
        schema("years", "school", **TREES), lambda which: uc.NonCentralized(l=2, others=(neighbour(which),))
    ),
}


def neighbour(which: str = "first") -> Any:
    """What somebody else has published about the same people."""
    return uc.published(uc.publish(people(which), schema("place"), uc.Incognito(k=K)), name="census")


@cache
def published(name: str, which: str = "first", source: Path | None = None) -> Run:
    """The release of one kind, of a file where one is given; nobody changes it, so everybody may share it."""
    recipe = RECIPES[name]
    return uc.publish(source or people(which), recipe.schema, recipe.method(which), seed=SEED)


def write_people(folder: Path, which: str = "first") -> Path:
    """The same people as a file with a name that must not be told."""
    path = folder / FILE
    pyarrow.csv.write_csv(people(which), path)
    return path
