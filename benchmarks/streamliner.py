"""Privacy Streamliner: speed against a sort, sizes of groups against the optimum, query error with strata."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import undercover as uc
from benchmarks.measure import Book, best, side_by_side
from undercover.datasets.population import BIRTHPLACES, EDUCATIONS
from undercover.model.groups import Groups
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.steps.dealing import groups as streamlining
from undercover.steps.dealing.groups import Deal, strata_of
from undercover.steps.shuffling import shuffle_within
from undercover.utility.discernibility import optimal_discernibility
from undercover.utility.queries.counts import query_errors

# Education and birthplace in the order of their codes, so that groups are published as the paper's rectangles.
SCHEMA = uc.Schema(
    quasi_identifiers=["age", "sex", "education", "birthplace"],
    sensitive="income",
    columns={
        "education": uc.Column(kind="ordinal", domain=tuple(label for label, _ in EDUCATIONS)),
        "birthplace": uc.Column(kind="ordinal", domain=BIRTHPLACES),
    },
)
WEIGHTS = {"age": 1, "sex": 10_000, "education": 1, "birthplace": 1}  # the paper's
# With strata for sex its weight is spent; the others are told apart one after the other.
WITHIN_STRATA = {"age": 1, "sex": 0, "education": 100, "birthplace": 10_000}
LIMITS = {"wrap": 0.5, "rda": 1.5, "guided": 1.5, "gda": 5.0}
ALL = ("age", "sex", "education", "birthplace")


def streamliner(book: Book, rows: int, *, large: bool) -> None:
    base = Table.from_arrow(uc.datasets.census(rows, seed=1), SCHEMA)
    for copies in (1, 10) if large else (1,):
        table = base.take(np.tile(np.arange(rows), copies)) if copies > 1 else base
        n = table.n_rows
        book.section(f"Streamliner, l=8, {n:,} rows, 50 values, against np.argsort(kind='stable') of random int32")
        numbers = np.random.default_rng(0).integers(-(2**31), 2**31, n).astype(np.int32)
        for name, group in algorithms(table, 8).items():
            group()
            ours, sort = side_by_side(group, lambda numbers=numbers: np.argsort(numbers, kind="stable"), 3)
            note = f"{ours * 1e3:.0f} ms"
            book.add(f"streamliner {name}: time / np.argsort, {n:,} rows", ours / sort, "x", LIMITS[name], note=note)
    _sizes(book, base)
    _insensitive(book, base)
    _query_error(book, base)


def algorithms(
    table: Table,
    l: int,  # noqa: E741
    given: dict[str, int] = WEIGHTS,
) -> dict[str, Callable[[], Any]]:
    """From codes to the group of every row, random bytes included; without the lay-out that publishing needs."""
    weights = [given[name] for name in table.schema.quasi_identifiers]

    def dealt(deal: Deal) -> Any:
        slots = deal.slots.copy()
        shuffle_within(slots, deal.offsets, Randomness(), "slots")
        return deal.assign(slots)

    def guided() -> Any:
        strata, names = strata_of(table, ("sex",))
        return dealt(
            streamlining.guided(table, "income", l, strata, streamlining.weighted_ranks(table, weights), names)
        )

    def rda() -> Any:
        column = table["income"]
        ranking = streamlining.rank_values(np.bincount(column.codes, minlength=column.domain.size), Randomness())
        return dealt(streamlining.rda(table, "income", l, ranking))

    return {
        "wrap": lambda: dealt(streamlining.wrap(table, "income", l)),
        "rda": rda,
        "guided": guided,
        "gda": lambda: dealt(streamlining.gda(table, "income", l, streamlining.weighted_ranks(table, weights))),
    }


def _sizes(book: Book, table: Table) -> None:
    book.section(f"Streamliner: discernibility over its optimum, {table.n_rows:,} rows and fewer, l = 2 to 10")
    worst = dict.fromkeys(("wrap", "rda", "gda"), 0.0)
    rng = np.random.default_rng(1)
    for diversity in range(2, 11):
        for n in (table.n_rows, int(rng.integers(1_000, table.n_rows)), 997):
            part = table.take(np.arange(n)) if n < table.n_rows else table
            groups = algorithms(part, diversity)
            for name in worst:
                sizes = np.bincount(groups[name]())
                worst[name] = max(worst[name], int((sizes**2).sum()) / optimal_discernibility(n, diversity))
    for name, ratio in worst.items():
        book.add(f"streamliner {name}: worst discernibility / optimum", ratio, "x", 1.0 if name == "wrap" else None)


def _insensitive(book: Book, table: Table) -> None:
    book.section("Streamliner: time against l and against the number of quasi-identifiers")
    for name in LIMITS:
        times = [best(algorithms(table, diversity)[name], 3) for diversity in (2, 10)]
        book.add(f"streamliner {name}: time at l=10 / l=2", times[1] / times[0], "x")
    narrow = Table.from_arrow(
        uc.datasets.census(table.n_rows, seed=1), uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    )
    for name in LIMITS:
        two, four = best(algorithms(narrow, 8)[name], 3), best(algorithms(table, 8)[name], 3)
        book.add(f"streamliner {name}: time with 4 quasi-identifiers / 2", four / two, "x")


def _query_error(book: Book, table: Table) -> None:
    book.section("Streamliner: query workload error of 4 x 1,000 queries, l=8 (guided: strata = sex)")
    errors: dict[str, np.ndarray] = {}
    own = {"guided, own weights": algorithms(table, 8, WITHIN_STRATA)["guided"]}
    for name, group in (algorithms(table, 8) | own).items():
        labels = group()
        groups = Groups(labels, int(labels.max()) + 1)
        asked = [
            query_errors(
                table,
                groups,
                quasi_identifiers=[("sex",), ALL],
                queries=1_000,
                randomness=Randomness(seed=seed),
            )
            for seed in range(4)
        ]
        errors[name] = np.mean([[found["sex",].mean, found[ALL].mean] for found in asked], axis=0)
        book.add(f"streamliner {name}: query error on sex", errors[name][0], "", 1e-12 if "guided" in name else None)
        book.add(f"streamliner {name}: query error on all four", errors[name][1], "")
    for name, limit in (("guided", None), ("guided, own weights", 1.0)):
        ratio = errors[name][1] / errors["gda"][1]
        book.add(f"streamliner: error of {name} / error of gda, all four", ratio, "x", limit)
