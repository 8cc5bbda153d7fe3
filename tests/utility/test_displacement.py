"""How far drawn values were moved: by hand, against a loop over rows, and where nobody can tell."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, NotTold
from undercover.forms import read
from undercover.forms.displacement import displacement, papers_iloss
from undercover.model.form import Drawn
from undercover.model.release import PublishedColumn, PublishedTable, Release

TOWNS = uc.Hierarchy([("Ulm", "South", "*"), ("Wien", "South", "*"), ("Kiel", "North", "*"), ("Oslo", "North", "*")])


def release(data: pa.Table, **parameters: Any) -> Release:
    columns = tuple(PublishedColumn(name, "quasi-identifier", "value") for name in data.column_names)
    return Release(
        "mutual-cover",
        parameters,
        (PublishedTable("table", columns, data),),
        False,
        form=Drawn(order="input"),
    )


def original(data: pa.Table, **columns: uc.Column) -> uc.Table:
    schema = uc.Schema(quasi_identifiers=data.column_names, columns=columns, missing="category")
    return uc.Table.from_arrow(data, schema)


def test_by_hand() -> None:
    before = pa.table({"age": [20, 30, 40, 60], "sex": list("fmfm"), "town": ["Wien", "Ulm", "Kiel", "Oslo"]})
    after = pa.table({"age": [30, 30, 20, 60], "sex": list("ffmm"), "town": ["Ulm", "Ulm", "Oslo", "Wien"]})
    found = displacement(original(before, town=uc.Column(hierarchy=TOWNS)), read(release(after)))
    # Ages: 10 + 20 over 4 values, in 4 rows; over a width of 40. Sexes: 2 of 4. Towns: 1/3 + 1/3 + 1 in 4 rows.
    assert found.iloss["age"] == pytest.approx(30 / 4 / 4)
    assert found.shift["age"] == pytest.approx(30 / 40 / 4)
    assert found.iloss["sex"] == found.shift["sex"] == 0.5
    assert found.iloss["town"] == pytest.approx(5 / 3 / 4)
    assert found.iloss_sum == pytest.approx(30 / 4 + 2 + 5 / 3)
    assert found.changed == {"age": 0.5, "sex": 0.5, "town": 0.75}
    loss = found.losses()["shift"]
    assert loss.arithmetic == pytest.approx((30 / 160 + 0.5 + 5 / 12) / 3)
    assert loss.geometric == pytest.approx((1 + 30 / 160) ** (1 / 3) * 1.5 ** (1 / 3) * (1 + 5 / 12) ** (1 / 3) - 1)


def test_weights_missing_values_ranks_and_whole_numbers_nobody_has() -> None:
    before = pa.table({"age": [20, 30, None, None], "size": ["S", "M", "L", "L"]})
    after = pa.table({"age": [25, None, 20, None], "size": ["L", "M", "M", "L"]})
    table = original(before, age=uc.Column(weight=3), size=uc.Column(kind="ordinal", domain=("S", "M", "L")))
    found = displacement(table, read(release(after)))
    # 5, then twice the whole width of 10 between a number and a missing value, and 0.
    assert found.shift["age"] == pytest.approx((5 + 10 + 10) / 10 / 4)
    assert found.iloss["age"] == pytest.approx((5 + 10 + 10) / 2 / 4)
    assert found.changed["age"] == 0.75
    assert found.iloss["size"] == pytest.approx((2 + 0 + 1 + 0) / 3 / 4)
    assert found.shift["size"] == pytest.approx((2 + 0 + 1 + 0) / 2 / 4)
    expected = (3 * found.shift["age"] + found.shift["size"]) / 4
    assert found.losses()["shift"].weighted == pytest.approx(expected)


def test_own_distances_by_hand() -> None:
    before = pa.table({"age": [20, 30, 40, 60], "size": ["S", "M", "L", None]})
    after = pa.table({"age": [30, 30, 20, 60], "size": ["L", "M", None, "S"]})
    ages = uc.Distances([20, 30, 40, 60, 99], np.abs(np.subtract.outer(*[[0, 1, 3, 4, 50]] * 2)))
    sizes = uc.Distances(["S", "M", "L"], [[0, 1, 5], [1, 0, 2], [5, 2, 0]])
    table = original(before, age=uc.Column(distance=ages), size=uc.Column(distance=sizes))
    found = displacement(table, read(release(after)))
    # Ages: 1 + 3, over 4 values as differences are; the widest of those that occur is 4. Sizes: 5, 0, and twice 5.
    assert found.iloss["age"] == pytest.approx((1 + 3) / 4 / 4)
    assert found.shift["age"] == pytest.approx((1 + 3) / 4 / 4)
    assert found.iloss["size"] == pytest.approx((5 + 0 + 5 + 5) / 4)
    assert found.shift["size"] == pytest.approx((1 + 0 + 1 + 1) / 4)
    assert found.changed == {"age": 0.5, "size": 0.75}
    with pytest.raises(DataError, match=r"published with 1 value .* that the original column does not have"):
        displacement(table, read(release(after.set_column(0, "age", pa.array([25, 30, 20, 60])))))


def test_own_distances_equal_to_the_usual_ones_measure_the_same() -> None:
    people = uc.datasets.census(300, seed=2).select(["age", "sex", "income"])
    usual = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    ages = sorted(set(people["age"].to_pylist()))
    columns = {
        "age": uc.Column(distance=uc.Distances(ages, np.abs(np.subtract.outer(ages, ages)))),
        "sex": uc.Column(distance=uc.Distances(sorted(set(people["sex"].to_pylist())), 1 - np.eye(2))),
    }
    own = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", columns=columns)
    runs = [
        uc.publish(people, schema, uc.MutualCover(variant="paper", delta="1/4", l=4), seed=5) for schema in (usual, own)
    ]
    assert runs[0].release.table().equals(runs[1].release.table())
    assert uc.measure(people, runs[0]).to_dict() == uc.measure(people, runs[1]).to_dict()


def test_what_is_measured_is_what_was_optimised() -> None:
    # Without a second draw the expected sum of the distances is what the linear programs cost.
    known = ["age", "sex", "hours", "education"]
    people = uc.datasets.census(3000, seed=3).select([*known, "income"])
    values = sorted(set(people["education"].to_pylist()))
    apart = np.triu(np.random.default_rng(1).uniform(0, 9, (len(values), len(values))), 1)
    apart += apart.T
    method = uc.MutualCover(variant="paper", delta="1/4", l=4, unchanged="off")

    def published(**settings: Any) -> tuple[uc.Run, float]:
        columns = {"education": uc.Column(kind="categorical", **settings)}
        run = uc.publish(
            people, uc.Schema(quasi_identifiers=known, sensitive="income", columns=columns), method, seed=1
        )
        return run, 3000 * uc.measure(people, run).to_dict()["loss"]["iloss"]["per_column"]["education"]

    run, found = published(distance=uc.Distances(values, apart))
    tables = [frame.to_pandas() for frame in (run.frames["certificates"], run.frames["output_tables"])]
    certificates, cells = (table[table["attribute"] == "education"] for table in tables)
    expected = certificates["objective"].sum()
    place = {str(value): position for position, value in enumerate(values)}
    steps = apart[cells["original"].map(place).astype(int), cells["output"].map(place).astype(int)]
    weights = cells["records"] * cells["probability"]
    assert float((weights * steps).sum()) == pytest.approx(expected)
    deviation = float(np.sqrt((weights * steps**2).sum()))
    assert abs(found - expected) < 5 * deviation
    assert abs(published()[1] - expected) > 5 * deviation  # the 0 or 1 of other categories is not it


@pytest.mark.parametrize("columns", ["observed", "integer_range"])
def test_a_run_knows_whose_row_is_whose(columns: str, tmp_path: Any) -> None:
    people = uc.datasets.census(300, seed=2).select(["age", "sex", "education", "income"])
    schema = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="income")
    run = uc.publish(people, schema, uc.MutualCover(variant="paper", delta="1/4", l=4, columns=columns), seed=5)
    found = uc.measure(people, run).to_dict()
    own = read(run.release).own_rows(run)
    assert own is not None
    rows, published = people.to_pylist(), run.release.table().to_pylist()
    sizes = {name: len(set(people[name].to_pylist())) for name in schema.quasi_identifiers}
    total = 0.0
    for i, row in enumerate(rows):
        shown = published[own[i]]
        assert shown["income"] == row["income"]
        total += abs(shown["age"] - row["age"]) / sizes["age"]
        total += (shown["sex"] != row["sex"]) + (shown["education"] != row["education"])
    assert found["displacement"]["iloss_sum"] == pytest.approx(total)
    assert found["loss"]["iloss"]["arithmetic"] == pytest.approx(total / 3 / 300)
    assert found["discernibility"] is None
    assert papers_iloss(run.original, read(run.release), own) == pytest.approx(total)  # type: ignore[arg-type]
    again = uc.load(uc.save(run, tmp_path / "out"))
    assert uc.measure(people, again).to_dict() == found


def test_from_public_alone_nobody_can_tell() -> None:
    people = uc.datasets.census(200, seed=2)
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    run = uc.publish(people, schema, uc.MutualCover(variant="paper", delta="1/4", l=4))
    found = uc.measure(people, run.release)
    assert found.loss == {}
    assert "stays in the private run" in found.to_dict()["note"]
    assert "no loss measured" in repr(found)
    assert run.original is not None
    with pytest.raises(NotTold, match="stays in the private run"):
        displacement(run.original, read(run.release))
    kept = uc.publish(people, schema, uc.MutualCover(variant="paper", delta="1/4", l=4, keep_order=True))
    assert uc.measure(people, kept.release).to_dict() == uc.measure(people, kept).to_dict()


def test_generalised_cells_as_the_paper_counts_them() -> None:
    people = pa.table({"age": [20, 21, 30, 34], "sex": ["f", "m", "f", "f"]})
    run = uc.publish(people, uc.Schema(quasi_identifiers=["age", "sex"]), uc.Mondrian(k=2, cut="median"))
    assert sorted(run.release.table()["age"].to_pylist()) == ["[20, 21]"] * 2 + ["[30, 34]"] * 2
    assert run.original is not None
    # Ages: (1 + 1 + 4 + 4) / 4 values; sexes: two cells stand for both.
    assert papers_iloss(run.original, read(run.release)) == pytest.approx(10 / 4 + 2)


def test_what_cannot_be_measured() -> None:
    table = original(pa.table({"sex": ["f", "m"]}))
    with pytest.raises(DataError, match="does not have"):
        displacement(table, read(release(pa.table({"sex": ["f", "x"]}))))
    with pytest.raises(DataError, match="2 rows, the original 1"):
        displacement(original(pa.table({"sex": ["f"]})), read(release(pa.table({"sex": ["f", "f"]}))))
    with pytest.raises(DataError, match="nothing was moved"):
        displacement(table, read(Release("mondrian", {}, (), True)))
