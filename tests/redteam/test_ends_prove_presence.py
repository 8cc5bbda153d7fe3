"""Interval ends that are somebody's values: they proved who is in a table although the report said "certain: 0"."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.journalist import JournalistResult, _one_of
from undercover.io.release.manifest import load_release
from undercover.model.cells import read_interval


def population(rows: int = 4000, seed: int = 5) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 90, rows),
            "pay": rng.integers(0, 100_000, rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )


def attack(method: object, people: pa.Table, in_table: int, **columns: uc.Column) -> tuple[uc.Run, JournalistResult]:
    data = people.slice(0, in_table).append_column("ill", pa.array(["abcdefgh"[i % 8] for i in range(in_table)]))
    schema = uc.Schema(quasi_identifiers=people.column_names, sensitive="ill", population=people, columns=columns)
    run = uc.publish(data, schema, method, policy="none")  # type: ignore[arg-type]
    return run, uc.attack(run, uc.Journalist())


@pytest.mark.parametrize("recoding", ["boxes", "regions"])
def test_ends_that_one_person_of_the_population_has_are_counted_as_certain(recoding: str) -> None:
    people = population()
    _, found = attack(uc.Mondrian(k=5, recoding=recoding), people, 400)  # type: ignore[arg-type]
    membership = found.to_dict()["membership"]
    assert membership["certain"] >= 20
    assert membership["certain_by_ends"] == membership["certain"]
    assert "because an end of an interval is their value" in str(found.view())


def test_whoever_is_certain_by_an_end_is_proven_by_the_published_table_alone() -> None:
    """Brute force: for every class and every end, count the people of the population who fit and have that value."""
    people = population(1500, 6)
    run, found = attack(uc.Mondrian(k=4), people, 150)
    everybody = people.to_pylist()
    proven = set()
    rows = [tuple(row.values()) for row in run.release.table().select(people.column_names).to_pylist()]
    for row in set(rows):
        cells = dict(zip(people.column_names, row, strict=True))
        fitting = [i for i, person in enumerate(everybody) if all(covers(cells[n], person[n]) for n in cells)]
        for name in ("age", "pay"):
            for end in read_interval(cells[name]):
                alike = [i for i in fitting if everybody[i][name] == int(end)]
                proven |= set(alike) if len(alike) == 1 else set()
        if len(fitting) == rows.count(row):  # everybody who fits is in the table
            proven |= set(fitting)
    certain = set(found.rows[found.membership > 1 - 1e-12].tolist())
    assert proven <= set(range(150))
    assert certain == proven


def covers(cell: str, value: object) -> bool:
    if isinstance(value, str):
        return cell == "*" or value in cell.strip("{}").split(", ")
    low, high = read_interval(cell)
    return float(low) <= float(value) <= float(high)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inside", "fitting", "having"), [(3, 8, 1), (3, 8, 2), (5, 8, 3), (2, 9, 9), (1, 6, 4), (4, 4, 2)]
)
def test_the_belief_is_that_of_somebody_who_draws_every_possible_sample(inside: int, fitting: int, having: int) -> None:
    possible = [set(drawn) for drawn in combinations(range(fitting), inside) if set(drawn) & set(range(having))]
    share = sum(0 in drawn for drawn in possible) / len(possible)
    found = _one_of(np.array([inside]), np.array([float(fitting)]), np.array([float(having)]))
    assert found[0] == pytest.approx(share)


@pytest.mark.parametrize("recoding", ["boxes", "regions"])
def test_rounded_ends_prove_nothing(recoding: str) -> None:
    rounded = uc.Column(ends="rounded")
    method = uc.Mondrian(k=5, recoding=recoding)  # type: ignore[arg-type]
    run, found = attack(method, population(), 400, age=rounded, pay=rounded)
    assert found.to_dict()["membership"]["certain_by_ends"] == 0
    assert [column.ends for column in run.release.tables[0].columns] == ["rounded", "rounded", "exact", "exact"]


@pytest.mark.parametrize(
    "method",
    [
        uc.Mondrian(k=5),
        uc.Mondrian(k=5, recoding="regions"),
        uc.CrossBucket(k=5, l=2),
        uc.Streamliner(l=2),
        uc.PerturbedGeneralization(k=5, p=0.3),
    ],
    ids=lambda method: f"{method.name} {getattr(method, 'recoding', '')}".strip(),
)
def test_numbers_with_many_digits_are_not_given_away(method: object, tmp_path: object) -> None:
    """Two exact ages stood in every cell: [26.27789185489391, 31.44...]."""
    rng = np.random.default_rng(7)
    ages = rng.uniform(18, 90, 600)
    data = pa.table({"age": ages, "sex": rng.choice(["f", "m"], 600), "ill": [i % 4 for i in range(600)]})
    illness = uc.Column(kind="categorical", domain=("0", "1", "2", "3"))
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", columns={"ill": illness})
    run = uc.publish(data, schema, method, policy="none")  # type: ignore[arg-type]
    ends = {
        float(end)
        for cell in run.release.tables[0].different["age"].cast(pa.string()).to_pylist()
        for end in read_interval(cell)
    }
    assert not ends & set(ages.tolist())
    assert max(len(str(end)) for end in ends) <= 8
    assert all(finding.holds for finding in uc.verify(run, original=data).findings)
    folder = uc.save(run, tmp_path / "out")  # type: ignore[operator]
    assert uc.verify(folder / "public").holds
    assert load_release(folder / "public")[0].tables[0].columns[0].ends == "rounded"
    assert "rounded outwards" in (folder / "public" / "datasheet.html").read_text()


def test_rounded_classes_are_in_the_order_of_their_cells() -> None:
    """Sorted by exact ends, the order of rows would tell which rounded end hides the smaller value."""
    rng = np.random.default_rng(8)
    data = pa.table(
        {"age": rng.uniform(18, 90, 900), "pay": rng.uniform(0, 9, 900), "ill": [i % 4 for i in range(900)]}
    )
    schema = uc.Schema(quasi_identifiers=["age", "pay"], sensitive="ill")
    cells = uc.publish(data, schema, uc.Mondrian(k=3), policy="none").release.table().select(["age", "pay"]).to_pylist()
    keys = [tuple(float(end) for name in ("age", "pay") for end in read_interval(row[name])) for row in cells]
    assert keys == sorted(keys)
