"""What parts cost: the loss of every method on 1, 4, 16 and 64 parts of one table, beside what one part loses.

``python -m benchmarks.parts`` on the built-in census (100,000 rows), ``--rows 1000000`` on as many generated ones. The
limit: 16 parts of a million rows lose at most 2 % more than one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

import undercover as uc
from undercover.model.protocols import Method
from undercover.model.table import Table
from undercover.parameters import to_mapping
from undercover.randomness import Randomness
from undercover.verbs.attack import case_of
from undercover.verbs.publish import publish_table

PARTS = (1, 4, 16, 64)
MOST = 0.02
METHODS: tuple[Method, ...] = (
    uc.Mondrian(k=10),
    uc.Mondrian(k=10, recoding="regions"),
    uc.Mondrian(k=10, l=3),
    uc.Incognito(k=10),
    uc.Streamliner(l=4),
    uc.Streamliner(l=4, algorithm="classes"),
    uc.CrossBucket(k=10, l=4),
    uc.MutualCover(delta="1/5", l=4),
    uc.PerturbedGeneralization(k=10, p=0.3),
    uc.Anatomy(l=4),
)
VALUES = tuple(f"illness {number:02}" for number in range(20))


def generated(rows: int, columns: int = 6) -> Table:
    """So many people whose values hang together a little, as those of real people do."""
    draw = np.random.default_rng(0)
    kind = draw.integers(0, 8, rows)
    data = {f"q{j}": (kind * (j + 1) + draw.integers(0, 10 + 12 * j, rows)) % (20 + 15 * j) for j in range(columns)}
    ill = np.minimum(draw.integers(0, 20, rows), draw.integers(0, 24, rows)) % 20
    data["ill"] = pa.DictionaryArray.from_arrays(pa.array(ill.astype(np.int8)), pa.array(VALUES))
    schema = uc.Schema(
        quasi_identifiers=[f"q{j}" for j in range(columns)],
        sensitive="ill",
        columns={"q1": uc.Column(kind="categorical"), "ill": uc.Column(domain=VALUES)},
    )
    return Table.from_arrow(pa.table(data), schema)


def census(rows: int) -> Table:
    """The built-in census."""
    people = uc.datasets.census(rows, seed=1)
    domain = tuple(sorted(set(map(str, people["occupation"].unique().to_pylist()))))
    schema = uc.Schema(
        quasi_identifiers=["age", "sex", "education", "birthplace", "marital_status", "work_class"],
        sensitive="occupation",
        columns={"occupation": uc.Column(domain=domain)},
    )
    return Table.from_arrow(people, schema)


def measured(table: Table, methods: Sequence[Method], parts: Sequence[int]) -> Iterator[tuple[str, int, int, float]]:
    """(method, parts asked for, parts made, loss) of every run."""
    for method in methods:
        for asked in parts:
            engine = uc.LocalEngine(parts=asked)
            run = publish_table(table, method, engine=engine, randomness=Randomness(1))
            made = run.diagnostics.get("parts", {"made": 1})["made"]
            yield f"{method.name} {_said(method)}", asked, made, loss(run, table)


def loss(run: uc.Run, table: Table) -> float:
    """The mean loss of a cell, or how far its values were moved; of cells that lose nothing, the error of counts."""
    case = case_of(run, table)
    lost = next(iter(case.reading.losses(table, case.own).values())).arithmetic
    if lost:
        return lost
    few = (table.schema.quasi_identifiers[:2],)
    errors = uc.QueryError(quasi_identifiers=few, queries=200).of_release(table, run.release)
    return float(np.mean([one.mean for one in errors.values()]))


def _said(method: Method) -> str:
    known = {"k", "l", "delta", "p", "algorithm", "recoding"}
    return ", ".join(f"{name}={value}" for name, value in to_mapping(method).items() if name in known and value)


def main() -> None:
    """Print the table, and whether 16 parts stay within the limit."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=0, help="of a generated table; 0: the census")
    asked.add_argument("--only", default="", help="methods whose line begins so")
    asked.add_argument("--parts", default=",".join(map(str, PARTS)), help="how many; 1 first")
    chosen = asked.parse_args()
    table = generated(chosen.rows) if chosen.rows else census(100_000)
    names = table.schema.quasi_identifiers
    print(f"{table.n_rows:,} rows, {len(names)} quasi-identifiers; limit at 16 parts: {MOST:+.0%}")
    base, before = 0.0, ""
    methods = [m for m in METHODS if f"{m.name} {_said(m)}".startswith(chosen.only)]
    started = time.perf_counter()
    for name, parts, made, lost in measured(table, methods, [int(number) for number in chosen.parts.split(",")]):
        base = lost if parts == 1 else base if name == before else 0.0
        before = name
        more = lost / base - 1 if base else float("nan")
        verdict = "" if parts != 16 or not base else "  within" if more <= MOST else "  MISSED"
        print(f"{name:60s} {parts:3d} parts ({made:2d} made)  loss {lost:.5f}  {more:+7.2%}{verdict}", flush=True)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
