"""Runs made by hand: small census, toy grouping, and an attack's result in the form the report expects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from undercover.attacks.views import linkage_view
from undercover.datasets import census
from undercover.forms.case import Case
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.verify import Verification, verify
from undercover.model.form import Buckets
from undercover.model.groups import Groups
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.model.view import View, Viewable
from undercover.utility.measures import measure
from undercover.utility.queries.counts import about_each

ROWS = 400
SECRET_PATH = "/vault/ward-7-secret-file.csv"
SECRET_SEED = 918273645
SECRET_NAME = "Ludmilla Wolkenstein"


def interval(values: Any) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"[{low}, {high}]"


def set_cell(values: Any) -> str:
    members = sorted(set(values))
    return members[0] if len(members) == 1 else "{" + ", ".join(members) + "}"


def build_run(
    *,
    sensitive: tuple[str, ...] = ("income",),
    rename: Mapping[str, str] | None = None,
    seed: int | None = None,
    algorithm_safe: bool = True,
    group_size: int = 10,
    **more: Any,
) -> Run:
    """A generalised table: people sorted by age, every ``group_size`` of them one class."""
    names = {name: (rename or {}).get(name, name) for name in ("age", "sex", *sensitive)}
    people = census(ROWS, seed=3)
    data = pa.table({new: people.column(old) for old, new in names.items()})
    data = data.append_column("name", pa.array([SECRET_NAME] * 2 + [f"person {i}" for i in range(ROWS - 2)]))
    schema = Schema(
        quasi_identifiers=[names["age"], names["sex"]],
        sensitive=[names[column] for column in sensitive],
        identifiers=["name"],
    )
    original = Table.from_arrow(data, schema)
    age, sex = data.column(names["age"]).to_pylist(), data.column(names["sex"]).to_pylist()
    order = np.argsort(age, kind="stable")
    labels = np.empty(ROWS, dtype=np.int32)
    labels[order] = np.arange(ROWS) // group_size
    groups = Groups(labels, int(labels.max()) + 1)
    cells: dict[str, list[Any]] = {name: [] for name in names.values()}
    for group in range(groups.count):
        rows = groups.rows_of(group)
        cells[names["age"]] += [interval([age[row] for row in rows])] * len(rows)
        cells[names["sex"]] += [set_cell([sex[row] for row in rows])] * len(rows)
        for column in sensitive:
            values = data.column(names[column]).to_pylist()
            cells[names[column]] += [values[row] for row in rows]
    columns = (
        PublishedColumn(names["age"], "quasi-identifier", "interval"),
        PublishedColumn(names["sex"], "quasi-identifier", "set"),
        *(PublishedColumn(names[column], "sensitive", "value") for column in sensitive),
    )
    release = Release(
        method="mondrian",
        parameters={"k": group_size, "diversity": "frequency"},
        tables=(PublishedTable("table", columns, pa.table(cells)),),
        algorithm_safe=algorithm_safe,
        corruption_robust=algorithm_safe,
        version="0.1.0",
    )
    return finish(release, schema, groups, original, seed=seed, claims=[KAnonymity(k=group_size)], **more)


def build_anatomy(**more: Any) -> Run:
    """Two tables: pairs of people with different incomes share a bucket."""
    people = census(ROWS, seed=3).select(["age", "sex", "income"])
    schema = Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    income = people.column("income").to_pylist()
    order = np.argsort(income, kind="stable")
    half = ROWS // 2
    labels = np.empty(ROWS, dtype=np.int32)
    labels[order[:half]] = np.arange(half)
    labels[order[half:]] = np.arange(half)
    qit = pa.table({"age": people.column("age"), "sex": people.column("sex"), "bucket": pa.array(labels)})
    pairs, counts = np.unique(labels.astype(np.int64) * 100 + income, return_counts=True)
    sat = pa.table({"bucket": pairs // 100, "income": pairs % 100, "count": counts})
    tables = (
        PublishedTable(
            "qit",
            (
                PublishedColumn("age", "quasi-identifier", "value"),
                PublishedColumn("sex", "quasi-identifier", "value"),
                PublishedColumn("bucket", "structure", "value"),
            ),
            qit,
        ),
        PublishedTable(
            "sat",
            (
                PublishedColumn("bucket", "structure", "value"),
                PublishedColumn("income", "sensitive", "value"),
                PublishedColumn("count", "structure", "value"),
            ),
            sat,
        ),
    )
    release = Release("anatomy", {"l": 2}, tables, algorithm_safe=True, version="0.1.0", form=Buckets())
    original = Table.from_arrow(people, schema)
    return finish(release, schema, Groups(labels, half), original, claims=[LDiversity(l=2)], **more)


def finish(
    release: Release, schema: Schema, groups: Groups, original: Table, *, claims: list[Any], seed: int | None = None
) -> Run:
    found = verify(release, claims)
    return Run(
        release=release.with_guarantees(found.manifest_entries()),
        schema=schema,
        groups=groups,
        rows=original.rows,
        source={"path": SECRET_PATH, "sha256": "f" * 64, "rows": ROWS + 5, "columns": ["shoe size", *schema.published]},
        randomness={"source": "os"} if seed is None else {"source": "seed", "seed": seed},
        timings={"read": 0.25, "anonymize": 1.5},
        warnings=("A warning with `code` in it.",),
        original=original,
    )


@dataclass(frozen=True)
class Made(Viewable):
    """A result made by hand, shown as linkage is; of any other attack only the story is known."""

    found: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return dict(self.found)

    def view(self) -> View:
        return linkage_view(self.found) if self.found["attack"] == "linkage" else super().view()


def linkage_result(columns: tuple[str, ...]) -> dict[str, Any]:
    """A result of the linkage attack with figures nobody would make up twice."""

    def side(shift: float) -> dict[str, Any]:
        return {
            "identity": {"mean": 0.123 * shift, "max": 0.456 * shift, "at_risk_share": 0.31 * shift, "unique_rows": 17},
            "attribute": {
                name: {"mean": 0.211 * shift, "max": 0.777 * shift, "guess_success": 0.345 * shift, "certain_rows": 13}
                for name in columns
            },
        }

    bins = [(1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None)]
    return {
        "attack": "linkage",
        "targets": ROWS,
        "story": "The attacker knows `age` and <b>looks</b> for it.",
        "known": ["age", "sex"],
        "before": side(1.2),
        "after": side(0.9),
        "baseline": {
            "identity": 1 / ROWS,
            "attribute": {name: {"mean": 0.0421, "guess_success": 0.0987} for name in columns},
        },
        "match_sizes": {
            name: [{"from": low, "to": high, "rows": 10 * place + offset} for place, (low, high) in enumerate(bins)]
            for name, offset in (("before", 1), ("after", 2))
        },
        "attribute_histogram": {
            name: {
                "edges": [round(0.05 * step, 2) for step in range(21)],
                "before": list(range(20)),
                "after": list(range(20, 40)),
            }
            for name in columns
        },
        "worst_rows": [
            {"row": 31337, "matches": 3, "identity": 1 / 3, "attribute": dict.fromkeys(columns, 0.6543)},
        ],
    }


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    return build_run


@pytest.fixture(scope="session")
def make_anatomy() -> Callable[..., Run]:
    return build_anatomy


@pytest.fixture(scope="session")
def linkage() -> Callable[[tuple[str, ...]], dict[str, Any]]:
    return linkage_result


@pytest.fixture(scope="session")
def summary_of() -> Callable[..., dict[str, Any]]:
    """The summary of a run with everything there can be in it."""
    from undercover.pages.summary import summarize

    def summary(run: Run, *more: Mapping[str, Any], attacks: bool = True, measures: bool = True) -> dict[str, Any]:
        assert run.original is not None
        verification: Verification = verify(run.release)
        return summarize(
            run,
            verification=verification,
            attacks=[Made(found) for found in (linkage_result(run.schema.sensitive), *more) if attacks],
            measures=measure(Case.of(run), query_error=about_each(run.release)) if measures else None,
        )

    return summary


@pytest.fixture(scope="session")
def secrets() -> dict[str, str]:
    """What stands in a run made by hand and must not reach the public."""
    return {
        "path": "ward-7-secret-file",
        "seed": str(SECRET_SEED),
        "name": SECRET_NAME,
        "identifier column": ">name<",
        "column without a role": "shoe size",
        "digest": "f" * 64,
        "worst row": "31337",
    }


@pytest.fixture(scope="session")
def secret_seed() -> int:
    return SECRET_SEED
