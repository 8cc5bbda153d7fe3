"""The recipes whose releases are held: every method with several parameter sets, on the built-in census.

A recipe says which table is published, by which method and with which seed, and which commands are asked about the
release. Everything is synthetic and follows from the seeds, so that a recipe gives the same bytes on every machine.
Only public names are used here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

import undercover as uc

ROWS = 2000
FEW = ("age", "sex", "education")
SOME = ("age", "sex", "marital_status", "work_class")
OTHERS = "others"  # the folder, beside the release, in which the tables of others stand


@dataclass(frozen=True)
class Recipe:
    """One release and what is asked about it.

    ``attacks`` are the options of further runs of ``undercover attack``, beside the one without options. ``require`` is
    asked when publishing, ``also_verify`` when verifying. ``others`` is a recipe that is published first, next to which
    this one stands. ``noise``, in usual tolerances, is that of figures which a solver leaves to the processor.
    """

    method: Callable[[], Any]
    quasi_identifiers: Sequence[str] = FEW
    sensitive: str | Sequence[str] = "income"
    hierarchies: bool = True
    rows: int = ROWS
    seed: int = 1
    format: Literal["csv", "parquet"] = "csv"
    attacks: Sequence[Sequence[str]] = ()
    require: Sequence[Mapping[str, Any]] = ()
    identifiers: Sequence[str] = ()
    insensitive: Sequence[str] = ()
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    others: "Recipe | None" = None
    also_verify: Sequence[str] = ("k=2",)
    noise: float = 1.0

    def table(self) -> pa.Table:
        """The people; with a column of names where the recipe has identifiers."""
        people = uc.datasets.census(self.rows, seed=self.seed)
        for name in self.identifiers:
            people = people.append_column(name, pa.array([f"{name} {number:05d}" for number in range(self.rows)]))
        return people

    def schema(self) -> uc.Schema:
        """The roles of its columns."""
        made = uc.datasets.census_schema(self.quasi_identifiers, self.sensitive, hierarchies=self.hierarchies)
        settings = {name: replace(made.column(name), **changed) for name, changed in self.columns.items()}
        return uc.Schema(
            quasi_identifiers=made.quasi_identifiers,
            sensitive=made.sensitive,
            identifiers=self.identifiers,
            insensitive=self.insensitive,
            columns={**made.columns, **settings},
        )


PARTLY_KNOWN = (("--known", "age,sex"), ("--p-match", "0.5"))

RECIPES: dict[str, Recipe] = {
    "mondrian-k": Recipe(
        lambda: uc.Mondrian(k=10),
        quasi_identifiers=("age", "sex", "education", "marital_status", "race", "work_class", "birthplace", "hours"),
        attacks=(*PARTLY_KNOWN, ("--knows-algorithm",)),
    ),
    "mondrian-frequency-l-without-hierarchies": Recipe(
        lambda: uc.Mondrian(k=2, l=2),  # groups so small that the minimality attack draws nothing: it has no seed
        quasi_identifiers=SOME,
        hierarchies=False,
        seed=2,
        attacks=(*PARTLY_KNOWN, ("--knows-algorithm",)),
    ),
    "mondrian-ordered-t-regions": Recipe(
        lambda: uc.Mondrian(k=8, t=0.2, distance="ordered", recoding="regions"),
        quasi_identifiers=SOME,
        seed=3,
        format="parquet",
    ),
    "mondrian-entropy-l-median-two-sensitive": Recipe(
        lambda: uc.Mondrian(k=6, l=2.5, diversity="entropy", cut="median", refine=False),
        sensitive=("income", "relationship"),
        seed=4,
        identifiers=("name",),
        insensitive=("race",),
        require=({"name": "k-anonymity", "k": 6},),
        attacks=(("--known", "age"),),
    ),
    "anatomy-income": Recipe(lambda: uc.Anatomy(l=4), seed=5, attacks=PARTLY_KNOWN, also_verify=("l=3",)),
    "anatomy-occupation": Recipe(
        lambda: uc.Anatomy(l=7),
        quasi_identifiers=SOME,
        sensitive="occupation",
        hierarchies=False,
        seed=6,
        format="parquet",
        also_verify=("l=5",),
    ),
    "incognito-k": Recipe(lambda: uc.Incognito(k=10), quasi_identifiers=SOME, seed=7, attacks=PARTLY_KNOWN),
    "incognito-recursive-l-suppression": Recipe(
        lambda: uc.Incognito(k=5, l=3, diversity="recursive", c=2, suppression=0.05, choose="dm"),
        seed=8,
        attacks=PARTLY_KNOWN,
    ),
    "incognito-hierarchical-t-weights": Recipe(
        lambda: uc.Incognito(
            k=4, t=0.3, distance="hierarchical", suppression=0.02, choose="weights", weights={"age": 3, "sex": 1}
        ),
        quasi_identifiers=("age", "sex", "work_class"),
        columns={"income": {"hierarchy": uc.datasets.census_hierarchies()["income"]}},
        seed=9,
    ),
    "streamliner-wrap": Recipe(lambda: uc.Streamliner(l=4), quasi_identifiers=SOME, seed=10, attacks=PARTLY_KNOWN),
    "streamliner-guided-strata": Recipe(
        lambda: uc.Streamliner(l=3, algorithm="guided", strata=("sex", "education:2"), weights={"age": 2}),
        seed=11,
    ),
    "streamliner-rda": Recipe(lambda: uc.Streamliner(l=4, algorithm="rda"), hierarchies=False, seed=12),
    "streamliner-gda": Recipe(lambda: uc.Streamliner(l=3, algorithm="gda", allow_unsafe=True), seed=13),
    "streamliner-classes": Recipe(lambda: uc.Streamliner(l=4, algorithm="classes"), quasi_identifiers=SOME, seed=25),
    "mutual-cover-layers": Recipe(
        lambda: uc.MutualCover(delta="1/5", l=5), quasi_identifiers=SOME, seed=26, attacks=PARTLY_KNOWN
    ),
    "mutual-cover-blocks": Recipe(
        lambda: uc.MutualCover(delta="1/4", variant="blocks"), hierarchies=False, seed=27, attacks=PARTLY_KNOWN
    ),
    "mutual-cover-groups": Recipe(
        lambda: uc.MutualCover(l=4, variant="groups", robust=True), hierarchies=False, seed=28, attacks=PARTLY_KNOWN
    ),
    "mutual-cover-optimal": Recipe(
        lambda: uc.MutualCover(variant="paper", delta="1/5", l=5),
        quasi_identifiers=("age", "sex", "education", "hours"),
        hierarchies=False,
        seed=14,
        attacks=(*PARTLY_KNOWN, ("--knows-tables",)),
        noise=100.0,  # its tables are solved up to a gap of 1e-8, and processors differ below that
    ),
    "mutual-cover-paper": Recipe(
        lambda: uc.MutualCover(
            variant="paper",
            delta="1/4",
            l=4,
            k=6,
            columns="integer_range",
            tables="uniform",
            unchanged="paper",
            median_rule="paper",
            keep_order=True,
        ),
        quasi_identifiers=("income", "sex"),  # every whole number in the range of incomes occurs
        sensitive="occupation",
        hierarchies=False,
        seed=15,
        attacks=(("--knows-tables",),),
    ),
    "mutual-cover-guided": Recipe(
        lambda: uc.MutualCover(variant="paper", delta="1/3", l=3, partition="guided", strata=("sex",)),
        quasi_identifiers=("age", "sex", "hours"),
        hierarchies=False,
        seed=16,
        attacks=(("--knows-tables",),),
    ),
    "cross-bucket": Recipe(
        lambda: uc.CrossBucket(k=3, l=6), quasi_identifiers=SOME, seed=17, attacks=PARTLY_KNOWN, also_verify=("k=3",)
    ),
    "cross-bucket-robust-joined": Recipe(
        lambda: uc.CrossBucket(k=5, l=4, boxes="exact", robust=True, joined=True), hierarchies=False, seed=18
    ),
    "cross-bucket-paper": Recipe(
        lambda: uc.CrossBucket(k=3, l=6, variant="paper"),
        quasi_identifiers=SOME,
        seed=17,
        attacks=PARTLY_KNOWN,
        also_verify=("k=3",),
    ),
    "cross-bucket-paper-joined": Recipe(
        lambda: uc.CrossBucket(k=5, l=4, joined=True, variant="paper"), hierarchies=False, seed=18, also_verify=("k=3",)
    ),
    "perturbed-mondrian": Recipe(
        lambda: uc.PerturbedGeneralization(k=6, p=0.3),
        quasi_identifiers=SOME,
        seed=19,
        attacks=(("--known", "age,sex"), ("--victim", "7"), ("--victim", "12", "--corrupted", "none")),
        also_verify=(),
    ),
    "perturbed-boxes-rho": Recipe(
        lambda: uc.PerturbedGeneralization(k=8, rho=(0.2, 0.45), skew=0.1, cells="boxes", bound="paper"),
        hierarchies=False,
        seed=20,
        also_verify=(),
    ),
    "perturbed-specialize-driven": Recipe(
        lambda: uc.PerturbedGeneralization(
            sample=0.1, growth=0.3, recoding="specialize", labels="driven", allow_unsafe=True
        ),
        seed=21,
        also_verify=(),
    ),
    "noncentralized-first": Recipe(
        lambda: uc.NonCentralized(l=3), seed=22, attacks=(("--known", "age,sex"),), also_verify=()
    ),
    "noncentralized-beside-others": Recipe(
        lambda: uc.NonCentralized(l=2, others=(OTHERS,), choose="loss"),
        quasi_identifiers=("age", "education"),
        seed=23,
        also_verify=(),
        others=Recipe(lambda: uc.Incognito(k=40, l=4), quasi_identifiers=("sex", "marital_status"), seed=23),
    ),
    "noncentralized-nested-strict": Recipe(
        lambda: uc.NonCentralized(l=2, others=(OTHERS,), shared="nested", strict=True, choose="dm"),
        quasi_identifiers=("age", "sex", "work_class"),
        seed=24,
        also_verify=(),
        others=Recipe(lambda: uc.Incognito(k=60, l=4), quasi_identifiers=("age", "race"), seed=24),
    ),
}
