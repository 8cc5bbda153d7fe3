"""Incognito: hand-computed tables, every promise verified by other code, suppression, parameters, files."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, UnreachableError
from undercover.forms import read
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness
from undercover.methods.incognito.method import Incognito
from undercover.model.table import Table
from undercover.parameters import make, to_mapping
from undercover.randomness import Randomness

pytestmark = pytest.mark.usefixtures("unjudged")

ZIP = uc.Hierarchy(
    [("53715", "5371*", "537**"), ("53710", "5371*", "537**"), ("53706", "5370*", "537**"), ("53703", "5370*", "537**")]
)
BIRTH = uc.Hierarchy([("1/21/76",), ("2/28/76",), ("4/13/86",)])
SEX = uc.Hierarchy([("Male",), ("Female",)])
# The patients of LeFevre, DeWitt & Ramakrishnan 2005, Figure 1.
PATIENTS = pa.table(
    {
        "birth": ["1/21/76", "4/13/86", "2/28/76", "1/21/76", "4/13/86", "2/28/76"],
        "sex": ["Male", "Female", "Male", "Male", "Female", "Female"],
        "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
        "ill": ["flu", "hepatitis", "bronchitis", "broken arm", "sprained ankle", "hang nail"],
    }
)
SCHEMA = uc.Schema(
    quasi_identifiers=["birth", "sex", "zip"],
    sensitive="ill",
    columns={
        "birth": uc.Column(hierarchy=BIRTH),
        "sex": uc.Column(hierarchy=SEX),
        "zip": uc.Column(kind="categorical", hierarchy=ZIP),
    },
)


def draft_of(method: Incognito, data: pa.Table = PATIENTS, schema: uc.Schema = SCHEMA) -> Any:
    return method.anonymize(Table.from_arrow(data, schema), engine=LocalEngine(), randomness=Randomness(1))


def test_the_patients_of_the_paper() -> None:
    # By hand: of sex and a zip of four digits one man is alone; of birth and sex the two born on 2/28/76 are.
    found = Incognito(k=2).candidates(Table.from_arrow(PATIENTS, SCHEMA)).to_pylist()
    nodes = {(row["birth"], row["sex"], row["zip"]) for row in found}
    assert nodes == {(1, 1, 0), (1, 1, 1), (1, 1, 2), (1, 0, 2), (0, 1, 2)}
    assert {(r["birth"], r["sex"], r["zip"]) for r in found if r["minimal"]} == {(1, 1, 0), (1, 0, 2), (0, 1, 2)}


def test_the_least_loss_is_published() -> None:
    # All three minimal nodes give two columns up: (2 * 2 * 1)^(1/3) - 1. The first of them is taken.
    draft = draft_of(Incognito(k=2))
    assert draft.diagnostics["levels"] == {"birth": 0, "sex": 1, "zip": 2}
    assert draft.diagnostics["loss"] == pytest.approx(4 ** (1 / 3) - 1)
    (published,) = draft.tables
    assert published.data.select(["birth", "sex", "zip"]).to_pydict() == {
        "birth": ["1/21/76"] * 2 + ["2/28/76"] * 2 + ["4/13/86"] * 2,
        "sex": ["*"] * 6,
        "zip": ["537**"] * 6,
    }
    assert [sorted(published.data["ill"].to_pylist()[i : i + 2]) for i in (0, 2, 4)] == [
        ["broken arm", "flu"],
        ["bronchitis", "hang nail"],
        ["hepatitis", "sprained ankle"],
    ]


@pytest.mark.parametrize(
    ("method", "levels"),
    [
        (Incognito(k=2, choose="level"), (1, 1, 0)),  # levels add up to 2, 3 and 3
        (Incognito(k=2, choose="dm"), (0, 1, 2)),  # 12, 12 and 18
        (Incognito(k=2, choose="weights", weights={"birth": 9}), (0, 1, 2)),
        (Incognito(k=2, choose="weights", weights={"sex": 9}), (1, 0, 2)),
        (Incognito(k=2, choose="weights", weights={"zip": 9}), (1, 1, 0)),
        (Incognito(k=6), (1, 1, 2)),
        (Incognito(k=1), (0, 0, 0)),
        (Incognito(k=2, suppression=0.34), (0, 0, 2)),  # two rows may go: those born on 2/28/76
    ],
    ids=repr,
)
def test_choices(method: Incognito, levels: tuple[int, ...]) -> None:
    assert tuple(draft_of(method).diagnostics["levels"].values()) == levels


def census(n: int = 4000) -> tuple[pa.Table, uc.Schema]:
    return uc.datasets.census(n, seed=2), uc.datasets.census_schema(("age", "sex", "education", "work_class"))


FORMS = [
    ({}, []),
    ({"suppression": 0.05}, []),
    ({"l": 3}, [LDiversity(l=3)]),
    ({"l": 3, "suppression": 0.02}, [LDiversity(l=3)]),
    ({"l": 6, "diversity": "distinct", "suppression": 0.02}, [LDiversity(l=6, form="distinct")]),
    ({"l": 4, "diversity": "entropy"}, [LDiversity(l=4, form="entropy")]),
    ({"l": 3, "diversity": "recursive", "c": 2, "suppression": 0.02}, [LDiversity(l=3, form="recursive", c=2)]),
    ({"t": 0.3}, [TCloseness(t=0.3)]),
    ({"t": 0.3, "suppression": 0.05}, [TCloseness(t=0.3)]),
    ({"t": 0.15, "distance": "ordered", "suppression": 0.05}, [TCloseness(t=0.15, distance="ordered")]),
]


@pytest.mark.parametrize(("parameters", "promised"), FORMS, ids=lambda x: repr(x) if isinstance(x, dict) else "")
def test_what_is_published_is_verified(parameters: dict[str, Any], promised: list[Any]) -> None:
    people, schema = census()
    method = Incognito(k=5, **parameters)
    run = uc.publish(people, schema, method)
    also = [p if p.name != "t-closeness" else TCloseness(t=p.t, distance=p.distance) for p in promised]
    assert uc.verify(run.release, also=also).holds
    allowed = int(method.suppression * people.num_rows)
    assert run.release.suppressed_rows <= allowed
    assert run.release.published().rows == people.num_rows - run.release.suppressed_rows == len(run.rows)
    assert all(finding.holds for finding in read(run.release).against(Table.from_arrow(people, schema)))
    assert run.release.algorithm_safe == (not promised)


def test_suppression_buys_detail_and_is_written_down(tmp_path: Path) -> None:
    people, schema = census()
    without, with_it = (uc.publish(people, schema, Incognito(k=5, suppression=share)) for share in (0, 0.05))
    assert 0 < with_it.release.suppressed_rows <= 200
    assert with_it.diagnostics["loss"] < without.diagnostics["loss"]
    measured = uc.measure(people, with_it).to_dict()["loss"]["arx"]
    means = np.array(list(measured["per_column"].values()))
    assert np.expm1(np.log1p(means).mean()) == pytest.approx(with_it.diagnostics["loss"])
    uc.save(with_it, tmp_path / "out")
    again = uc.load(tmp_path / "out")
    assert again.release.suppressed_rows == with_it.release.suppressed_rows
    assert sorted(again.rows) == sorted(with_it.rows)
    groups = pa.parquet.read_table(tmp_path / "out" / "private" / "groups.parquet")
    assert groups.num_rows == people.num_rows
    assert groups.column("group").null_count == with_it.release.suppressed_rows
    assert uc.verify(tmp_path / "out" / "public").holds
    assert again.frames["candidates"].num_rows == again.diagnostics["passing"]


def test_several_sensitive_columns_each_hold() -> None:
    people = uc.datasets.census(3000, seed=4)
    schema = uc.datasets.census_schema(("age", "sex", "race"), ["income", "work_class"])
    run = uc.publish(people, schema, Incognito(k=5, l=1.5))
    assert uc.verify(
        run.release, also=[LDiversity(l=1.5, column="income"), LDiversity(l=1.5, column="work_class")]
    ).holds


def test_columns_without_a_hierarchy_are_published_or_not() -> None:
    data = pa.table({"age": [34, 34, 38, 38], "sex": list("fmfm")})
    run = uc.publish(data, uc.Schema(quasi_identifiers=["age", "sex"]), Incognito(k=2))
    assert run.release.table().to_pydict() == {"age": ["*"] * 4, "sex": ["f", "f", "m", "m"]} or (
        run.release.table().to_pydict()["sex"] == ["*"] * 4
    )
    assert any("no hierarchy" in warning for warning in run.warnings)


def test_out_of_reach() -> None:
    with pytest.raises(UnreachableError, match="k=7 cannot be reached"):
        draft_of(Incognito(k=7))
    with pytest.raises(UnreachableError, match="largest feasible l is 6"):
        draft_of(Incognito(k=1, l=7))
    with pytest.raises(UnreachableError, match="No full-domain generalisation"):
        draft_of(Incognito(k=1, l=7, suppression=0.4))


def test_parameters_are_checked_together() -> None:
    with pytest.raises(ParameterError) as caught:
        Incognito(k=0, suppression=-1, choose="best", weights={"age": 0}, distance="ordered")  # type: ignore[arg-type]
    assert len(caught.value.problems) == 6
    with pytest.raises(ParameterError, match="`zipp` is not known"):
        draft_of(Incognito(k=2, choose="weights", weights={"zipp": 1}))
    with pytest.raises(ParameterError, match="needs a sensitive column"):
        draft_of(Incognito(k=2, l=2), PATIENTS, uc.Schema(quasi_identifiers=["sex"]))
    made = make(
        "methods", "incognito", {"k": "5", "suppression": "1/20", "choose": "weights", "weights": "age:2,sex:1"}
    )
    assert to_mapping(made)["weights"] == {"age": 2.0, "sex": 1.0}


def test_ties_go_to_the_smaller_loss_then_to_the_first_node() -> None:
    data = pa.table({"a": ["1", "1", "2", "2"], "b": ["1", "2", "1", "2"]})
    draft = draft_of(Incognito(k=2), data, uc.Schema(quasi_identifiers=["a", "b"]))
    assert draft.diagnostics["levels"] == {"a": 0, "b": 1}
