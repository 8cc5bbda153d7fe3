"""Non-centralized l-diversity: the two offices, theorems 3 and 4, shared columns, what is refused, what is written."""

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.joint.attack import JointRelease
from undercover.datasets import hospital
from undercover.engines.local import LocalEngine
from undercover.errors import DataError, ParameterError, SchemaError, UnreachableError
from undercover.guarantees.joint.tables import foreign_table, released_table
from undercover.methods.noncentralized.method import NonCentralized
from undercover.model.protocols import public_parameters
from undercover.model.published import Published
from undercover.model.table import Table
from undercover.parameters import make
from undercover.randomness import Randomness

pytestmark = pytest.mark.usefixtures("unjudged")

AGES = uc.Hierarchy([(str(age), ">= 40" if age >= 40 else "< 40") for age in range(18, 61)])
ZIPS = uc.Hierarchy(
    [
        (str(code), f"{code // 1000}k", ">= 20k" if code >= 20000 else "< 20k")
        for code in hospital("noncentralized-census").table["zip_code"].to_pylist()
    ]
)


def office(name: str, hierarchy: uc.Hierarchy, column: str) -> tuple[pa.Table, uc.Schema]:
    given = hospital(name)
    schema = uc.Schema(
        identifiers="name",
        quasi_identifiers=[column],
        sensitive="salary_class",
        columns={column: uc.Column(kind="categorical", hierarchy=hierarchy)},
    )
    return given.table, schema


REVENUE = office("noncentralized-revenue", AGES, "age")
CENSUS = office("noncentralized-census", ZIPS, "zip_code")


def test_the_two_offices_of_the_paper() -> None:
    first = uc.publish(*REVENUE, uc.Incognito(k=1, l=2, diversity="distinct"))
    assert set(first.release.table()["age"].to_pylist()) == {"< 40", ">= 40"}
    alone = uc.publish(*CENSUS, uc.Incognito(k=1, l=2, diversity="distinct"))
    assert set(alone.release.table()["zip_code"].to_pylist()) == {"< 20k", ">= 20k"}
    # Each is 2-diverse; together they give Kate away.
    assert uc.joint_risk([first, alone]).l == 1
    beside = uc.publish(*CENSUS, NonCentralized(l=2, others=[uc.published(first, name="revenue")]))
    assert uc.joint_risk([first, beside]).l == 2
    assert beside.diagnostics["joint"]["l"] == 2
    assert beside.release.guarantees[0]["name"] == "joint-diversity"
    assert beside.release.guarantees[0]["actual"] == 2
    assert not beside.release.algorithm_safe


def draft_of(table: Table, method: NonCentralized) -> Any:
    return method.anonymize(table, engine=LocalEngine(), randomness=Randomness(1))


def test_whoever_is_first_publishes_what_incognito_would() -> None:
    people = uc.datasets.census(3000, seed=1)
    table = Table.from_arrow(people, uc.datasets.census_schema(["age", "sex", "education"]))
    ours = NonCentralized(l=10).candidates(table)
    theirs = uc.Incognito(k=1, l=10, diversity="distinct").candidates(table)
    assert ours.equals(theirs)
    draft = draft_of(table, NonCentralized(l=10))
    levels = tuple(draft.diagnostics["levels"].values())
    least = min(theirs.to_pylist(), key=lambda row: (round(row["average level"], 9), round(row["loss"], 9)))
    assert levels == (least["age"], least["sex"], least["education"])


def random_world(rng: np.random.Generator, n: int = 60) -> tuple[pa.Table, uc.Schema, list[Published]]:
    salary = [f"s{s}" for s in rng.integers(0, 5, n)]
    trees = {}
    columns: dict[str, list[str]] = {}
    for name in ("a", "b", "c"):
        columns[name] = [f"v{v}" for v in rng.integers(0, 4, n)]
        trees[name] = uc.Hierarchy([(f"v{v}", f"w{v // 2}", "*") for v in range(4)])
    schema = uc.Schema(
        quasi_identifiers=list(columns),
        sensitive="salary",
        columns={name: uc.Column(hierarchy=tree) for name, tree in trees.items()},
    )
    others = [
        foreign_table(
            pa.table({f"q{number}": [f"c{c}" for c in rng.integers(0, 2, n)], "salary": salary}),
            f"other {number}",
            sensitive="salary",
        )
        for number in range(2)
    ]
    return pa.table({**columns, "salary": salary}), schema, others


def left_beside(data: pa.Table, schema: uc.Schema, node: dict[str, int], others: list[Published]) -> int:
    """The values that a node leaves next to the others, from its published form."""
    recoded = {}
    for name, level in node.items():
        tree = schema.column(name).hierarchy
        assert tree is not None
        recoded[name] = [tree.generalize(value, level) for value in data[name].to_pylist()]
    table = foreign_table(pa.table({**recoded, "salary": data["salary"]}), "own", sensitive="salary", suppressed=True)
    return JointRelease(worst=1).run([table, *others]).l


@pytest.mark.parametrize("seed", range(5))
def test_theorems_3_and_4_and_the_candidates_by_brute_force(seed: int) -> None:
    data, schema, others = random_world(np.random.default_rng(seed))
    names = schema.quasi_identifiers
    nodes = list(product(range(3), repeat=3))
    left = {node: left_beside(data, schema, dict(zip(names, node, strict=True)), others) for node in nodes}
    for node in nodes:
        # Theorem 3: whatever is more general leaves at least as many values.
        assert all(left[up] >= left[node] for up in nodes if all(a >= b for a, b in zip(up, node, strict=True)))
    for node in nodes[::5]:
        # Theorem 4: so does whatever drops columns.
        for size in (1, 2):
            for kept in combinations(range(3), size):
                smaller = {names[axis]: node[axis] for axis in kept}
                assert left_beside(data, schema, smaller, others) >= left[node]
    table = Table.from_arrow(data, schema)
    for l in (1, 2, 3):  # noqa: E741
        expected = {node for node in nodes if left[node] >= l}
        try:
            found = NonCentralized(l=l, others=others).candidates(table)
        except UnreachableError:
            assert max(left.values()) < l
            continue
        assert {tuple(row[name] for name in names) for row in found.to_pylist()} == expected


def test_columns_others_have_published_are_dropped(tmp_path: Path) -> None:
    people = uc.datasets.census(3000, seed=2)
    first = uc.publish(people, uc.datasets.census_schema(["age", "race"]), NonCentralized(l=20))
    schema = uc.datasets.census_schema(["age", "sex", "education"])
    second = uc.publish(people, schema, NonCentralized(l=10, others=[uc.published(first, name="first")]))
    assert second.release.table().column_names == ["sex", "education", "income"]
    assert any("left out: `age`" in warning for warning in second.warnings)
    assert uc.joint_risk([first, second]).l >= 10
    assert uc.verify(second.release, original=people, schema=schema).holds
    # What was dropped is neither attacked nor measured, in memory or read back.
    uc.save(second, tmp_path / "second")
    again = uc.load(tmp_path / "second")
    assert again.schema.quasi_identifiers == ("sex", "education")
    assert set(uc.measure(people, again).to_dict()["loss"]["arx"]["per_column"]) == {"sex", "education"}
    assert uc.attack(again, original=people).after.identity.max() == uc.attack(second).after.identity.max()
    with pytest.raises(SchemaError, match="nothing is left to publish"):
        uc.publish(people, uc.datasets.census_schema(["age"]), NonCentralized(l=10, others=[uc.published(first)]))


def test_nested_columns_are_kept_and_verified() -> None:
    people = uc.datasets.census(4000, seed=3)
    first = uc.publish(people, uc.datasets.census_schema(["age", "race"]), NonCentralized(l=20, choose="loss"))
    schema = uc.datasets.census_schema(["age", "sex", "education"])
    method = NonCentralized(l=10, others=[uc.published(first, name="first")], shared="nested", choose="loss")
    second = uc.publish(people, schema, method)
    assert "age" in second.release.table().column_names
    again = uc.verify(second.release)
    assert again.holds
    assert again.findings[0].actual >= 10
    assert again.findings[0].actual == second.diagnostics["joint"]["l"]
    # Brute force over classes that overlap in age.
    assert overlap_least(first, second, schema) == again.findings[0].actual


def overlap_least(first: uc.Run, second: uc.Run, schema: uc.Schema) -> int:
    tree = schema.column("age").hierarchy
    assert tree is not None
    leaves: dict[str, set[str]] = {}
    for row in tree.rows:
        for label in row:
            leaves.setdefault(label, set()).add(row[0])
    sets = []
    for run in (first, second):
        found: dict[tuple[str, ...], set[str]] = {}
        table = run.release.table()
        names = [name for name in table.column_names if name != "income"]
        for row in table.to_pylist():
            found.setdefault(tuple(row[name] for name in names), set()).add(row["income"])
        at = names.index("age")
        sets.append([(leaves[cells[at]], values) for cells, values in found.items()])
    return min(len(a & b) for age_a, a in sets[0] for age_b, b in sets[1] if age_a & age_b)


def test_nested_refuses_what_may_cross() -> None:
    people = uc.datasets.census(2000, seed=3)
    mondrian = uc.publish(people, uc.datasets.census_schema(["age", "race"], hierarchies=False), uc.Mondrian(k=400))
    others = [uc.published(mondrian, name="mondrian")]
    schema = uc.datasets.census_schema(["age", "sex"])
    with pytest.raises(DataError, match="are no nodes of its hierarchy"):
        uc.publish(people, schema, NonCentralized(l=2, others=others, shared="nested"))
    bare = uc.datasets.census_schema(["age", "sex"], hierarchies=False)
    with pytest.raises(DataError, match="no hierarchy to nest it by"):
        uc.publish(people, bare, NonCentralized(l=2, others=others, shared="nested"))


def test_others_that_can_be_subtracted_from_each_other_are_refused() -> None:
    data, schema, _ = random_world(np.random.default_rng(4))
    ages = np.random.default_rng(4).integers(20, 60, 60)

    def cut(at: int, name: str) -> Published:
        cells = [f"[20, {at - 1}]" if age < at else f"[{at}, 60]" for age in ages]
        return foreign_table(pa.table({"age": cells, "salary": data["salary"]}), name, sensitive="salary")

    table = Table.from_arrow(data, schema)
    with pytest.raises(DataError, match="cross"):
        draft_of(table, NonCentralized(l=2, others=[cut(30, "first"), cut(45, "second")]))
    same = NonCentralized(l=1, others=[cut(45, "first"), cut(45, "second")])
    assert draft_of(table, same).diagnostics["passing"] >= 1
    everybody = ["[20, 60]"] * 60
    first = foreign_table(pa.table({"age": everybody, "salary": data["salary"]}), "first", sensitive="salary")
    third = foreign_table(
        pa.table({"a": ["*"] * 60, "age": everybody, "salary": data["salary"]}), "third", sensitive="salary"
    )
    with pytest.raises(DataError, match="share `age` among themselves"):
        draft_of(table, NonCentralized(l=1, others=[first, third], shared="nested"))


def test_strict_publishes_what_stays_possible() -> None:
    # N = (2, 2): the other table has H twice and L once in a class. Next to it a cell of two H and one L is not enough.
    other = foreign_table(
        pa.table({"x": ["1", "1", "1", "2"], "s": ["H", "H", "L", "L"]}),
        "o",
        sensitive="s",
    )
    data = pa.table({"y": ["1", "1", "1", "2"], "s": ["H", "H", "L", "L"]})
    schema = uc.Schema(quasi_identifiers=["y"], sensitive="s")
    whole = pa.table({"y": ["1"] * 4, "s": ["H", "H", "L", "L"]})
    table = Table.from_arrow(data, schema)
    plain = draft_of(table, NonCentralized(l=1, others=[other]))
    assert plain.diagnostics["levels"] == {"y": 0}
    assert plain.diagnostics["joint"]["possible_l"] == 1
    with pytest.raises(UnreachableError, match="others' tables alone leave 1"):
        draft_of(table, NonCentralized(l=2, others=[other]))
    open_one = foreign_table(pa.table({"x": ["1", "1", "1", "1"], "s": ["H", "H", "L", "L"]}), "o", sensitive="s")
    assert draft_of(table, NonCentralized(l=2, others=[open_one], strict=True)).diagnostics["levels"] == {"y": 1}
    assert (
        draft_of(Table.from_arrow(whole, schema), NonCentralized(l=2, strict=True)).diagnostics["joint"]["possible_l"]
        == 2
    )


def test_strict_takes_a_more_general_node_than_the_plain_check() -> None:
    higher = 0
    for seed in range(30):
        data, schema, others = random_world(np.random.default_rng(seed), n=30)
        table = Table.from_arrow(data, schema)
        try:
            plain = draft_of(table, NonCentralized(l=2, others=others))
            strict = draft_of(table, NonCentralized(l=2, others=others, strict=True))
        except UnreachableError:
            continue
        assert strict.diagnostics["joint"]["possible_l"] >= 2
        assert strict.diagnostics["average_level"] >= plain.diagnostics["average_level"]
        higher += strict.diagnostics["average_level"] > plain.diagnostics["average_level"]
    assert higher


def test_others_that_leave_too_little_or_are_about_others() -> None:
    data, schema, others = random_world(np.random.default_rng(1))
    table = Table.from_arrow(data, schema)
    with pytest.raises(UnreachableError, match=r"5 distinct values, which is the largest feasible l") as caught:
        draft_of(table, NonCentralized(l=6, others=others))
    assert caught.value.best == {"l": 5}
    narrow = foreign_table(
        pa.table({"q": data["salary"].to_pylist(), "salary": data["salary"]}), "narrow", sensitive="salary"
    )
    with pytest.raises(UnreachableError, match=r"`narrow` q = s0.* largest feasible l is 1") as caught:
        draft_of(table, NonCentralized(l=2, others=[narrow]))
    assert caught.value.best == {"l": 1}
    strange = foreign_table(pa.table({"q": ["1"], "salary": ["s0"]}), "strange", sensitive="salary")
    with pytest.raises(DataError, match="`strange` is not about the same people"):
        draft_of(table, NonCentralized(l=2, others=[strange]))
    gaps = foreign_table(
        pa.table({"q": ["*", *["1"] * 59], "salary": data["salary"]}), "gaps", sensitive="salary", suppressed=True
    )
    with pytest.raises(DataError, match="1 suppressed rows"):
        draft_of(table, NonCentralized(l=2, others=[gaps]))


def test_parameters() -> None:
    with pytest.raises(ParameterError) as caught:
        NonCentralized(l=0, others=[7], shared="drop", choose="weights")  # type: ignore[list-item, arg-type]
    assert len(caught.value.problems) == 4
    with pytest.raises(ParameterError, match="are read by"):
        draft_of(Table.from_arrow(*CENSUS), NonCentralized(l=2, others=["elsewhere/public"]))
    made = make("methods", "noncentralized", {"l": "2", "others": "/home/me/../revenue/public, tax.csv"})
    assert public_parameters(made)["others"] == ["revenue", "tax.csv"]
    two = uc.Schema(quasi_identifiers=["zip_code"], sensitive=["salary_class", "name"])
    with pytest.raises(ParameterError, match="exactly one sensitive column"):
        draft_of(Table.from_arrow(CENSUS[0], two), NonCentralized(l=2))


def test_files_are_read_and_their_paths_stay_private(tmp_path: Path) -> None:
    first = uc.publish(*REVENUE, uc.Incognito(k=1, l=2, diversity="distinct"))
    uc.save(first, tmp_path / "revenue")
    run = uc.publish(*CENSUS, NonCentralized(l=2, others=[tmp_path / "revenue" / "public"]))
    uc.save(run, tmp_path / "census")
    public = (tmp_path / "census" / "public" / "release.json").read_text()
    assert str(tmp_path) not in public
    written = json.loads(public)
    assert written["method"]["parameters"]["others"] == ["revenue"]
    assert len(written["guarantees"][0]["others"][0]["sha256"]) == 64
    assert uc.verify(tmp_path / "census" / "public").holds
    assert uc.load(tmp_path / "census").recipe["others"] == [str(tmp_path / "revenue" / "public")]
    assert released_table(run.release, "census").quasi_identifiers == ("zip_code",)
