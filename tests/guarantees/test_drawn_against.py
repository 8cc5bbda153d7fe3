"""A release of mutual cover against its original: what is compared, and what is noticed."""

from dataclasses import replace

import pyarrow as pa
import pytest

import undercover as uc
from undercover.forms import read

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")


def published(columns: str = "observed") -> uc.Run:
    people = uc.datasets.census(300, seed=4)
    return uc.publish(people, SCHEMA, uc.MutualCover(variant="paper", delta="1/4", l=4, columns=columns), seed=1)


def judged(run: uc.Run, data: pa.Table) -> dict[str, bool | None]:
    assert run.original is not None
    table = replace(run.release.tables[0], data=data)
    found = read(replace(run.release, tables=(table,))).against(run.original)
    return {finding.name: finding.holds for finding in found}


@pytest.mark.parametrize("columns", ["observed", "integer_range"])
def test_what_was_published_holds(columns: str) -> None:
    run = published(columns)
    assert set(judged(run, run.release.tables[0].data).values()) == {True}
    assert uc.verify(run, original=run.original).holds


def test_rows_values_and_strangers_are_noticed() -> None:
    run = published()
    data = run.release.tables[0].data
    fewer = judged(run, data.slice(1))
    assert (fewer["rows-preserved"], fewer["sensitive-values-preserved"]) == (False, False)
    incomes = data["income"].to_pylist()
    incomes[0] = next(value for value in incomes if value != incomes[0])
    changed = data.set_column(data.column_names.index("income"), "income", pa.array(incomes, data["income"].type))
    assert judged(run, changed)["sensitive-values-preserved"] is False
    for stranger in (200, 5):
        ages = [stranger, *data["age"].to_pylist()[1:]]
        odd = data.set_column(data.column_names.index("age"), "age", pa.array(ages, data["age"].type))
        found = judged(run, odd)
        assert (found["values-of-the-original"], found["rows-preserved"]) == (False, True)


def test_a_column_the_original_does_not_have() -> None:
    run = published()
    people = uc.datasets.census(300, seed=4).select(["age", "income"])
    other = uc.Table.from_arrow(people, uc.Schema(quasi_identifiers=["age"], sensitive="income"))
    found = read(run.release).against(other)
    assert found[-1].holds is False
    assert "`sex`" in found[-1].note
