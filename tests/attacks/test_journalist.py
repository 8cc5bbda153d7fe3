"""The journalist: how many of the population fit a class, counted and estimated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import undercover as uc
from undercover.attacks.journalist import JournalistResult
from undercover.errors import DataError, ParameterError

EVERYBODY = pa.table({"age": [30, 30, 30, 30, 31, 31, 40, 41, 41, 55], "sex": list("ffffmmfmmf")})
SAMPLE = EVERYBODY.take(pa.array([0, 1, 4, 5, 6, 7])).append_column("ill", pa.array(list("abcdef")))


def journalist(method: object, data: pa.Table = SAMPLE, **said: object) -> JournalistResult:
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", **said)  # type: ignore[arg-type]
    run = uc.publish(data, schema, method, policy="none")  # type: ignore[arg-type]
    found: JournalistResult = uc.attack(run, uc.Journalist())
    return found


def test_a_table_of_the_population_is_counted() -> None:
    """Classes of one combination each: 4 women of 30, 2 men of 31, one woman of 40, 2 men of 41."""
    for method in (uc.Mondrian(k=1), uc.Incognito(k=1)):
        found = journalist(method, population=EVERYBODY)
        assert found.found.tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2, 1 / 2, 1, 1 / 2])
        assert found.membership.tolist() == pytest.approx([2 / 4, 2 / 4, 1, 1, 1, 1 / 2])
        assert found.k_map == 1


def test_whoever_a_cell_covers_fits() -> None:
    found = journalist(uc.Mondrian(k=6), population=EVERYBODY)
    inside = [30 <= age <= 41 for age in EVERYBODY["age"].to_pylist()]
    assert found.k_map == sum(inside) == 9
    assert found.found.tolist() == pytest.approx([1 / 9] * 6)


def test_buckets_show_quasi_identifiers_as_they_are() -> None:
    found = journalist(uc.Anatomy(l=2), population=EVERYBODY)
    assert found.found.tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2, 1 / 2, 1, 1 / 2])


def test_a_population_is_read_from_its_file(tmp_path: Path) -> None:
    place = tmp_path / "everybody.csv"
    pyarrow.csv.write_csv(EVERYBODY, place)
    assert journalist(uc.Mondrian(k=6), population=place).k_map == 9
    with pytest.raises(DataError, match=r"Nobody of the population has 1 value .* in `age`"):
        journalist(uc.Mondrian(k=6), population=EVERYBODY.slice(0, 7))


def test_a_share_and_weights_are_estimates() -> None:
    found = journalist(uc.Mondrian(k=6), population=0.01)
    assert found.k_map == pytest.approx(600)
    assert found.membership.tolist() == pytest.approx([0.01] * 6)
    weighted = SAMPLE.append_column("w", pa.array([10.0, 20.0, 1.0, 1.0, 5.0, 0.5]))
    found = journalist(uc.Mondrian(k=1), weighted, weight="w")
    assert found.found.tolist() == pytest.approx([1 / 30, 1 / 30, 1 / 2, 1 / 2, 1 / 5, 1])  # one person at least


def test_a_household_with_several_rows_is_counted_once() -> None:
    data = SAMPLE.append_column("home", pa.array([1, 1, 2, 3, 4, 4])).append_column(
        "w", pa.array([4.0, 2.0] + [3.0] * 4)
    )
    found = journalist(uc.Mondrian(k=1), data, unit="home", weight="w")
    # Women of 30 are of one home of mean weight 3; the other rows of home 4 are alone in their classes.
    assert found.found.tolist() == pytest.approx([1 / 3, 1 / 6, 1 / 6, 1 / 3])
    assert found.membership.tolist() == pytest.approx([1 / 3, 2 / 6, 2 / 6, 1 / 3])
    assert found.rows.tolist() == [0, 2, 3, 4]


def test_it_applies_where_somebody_says_whom_the_table_is_a_sample_of() -> None:
    with pytest.raises(ParameterError, match="whom the table is a sample of: give `weight` or `population`"):
        journalist(uc.Mondrian(k=2))
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", population=0.5)
    run = uc.publish(SAMPLE, schema, uc.Mondrian(k=2), policy="none")
    assert [exposure.attack for found in run.attacks for exposure in found.exposures() if exposure.population] == [
        "journalist"
    ]
    assert "k-map" in str(uc.attack(run, uc.Journalist()).view())


def test_nobody_is_found_more_surely_than_by_somebody_who_knows_that_he_is_in_the_table() -> None:
    draw = np.random.default_rng(5)
    data = pa.table({"age": draw.integers(20, 60, 200), "sex": draw.choice(["f", "m"], 200), "ill": ["x", "y"] * 100})
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", population=data)
    run = uc.publish(data, schema, uc.Mondrian(k=4), policy="none")
    found = uc.attack(run, uc.Journalist())
    assert (found.found <= uc.attack(run).after.identity + 1 / 4).all()
    assert (found.membership <= 1).all()
    assert found.found.max() <= 1 / 4
