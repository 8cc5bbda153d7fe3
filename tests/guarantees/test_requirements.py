"""Requirements of several numbers, and what the schema adds to them."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError
from undercover.guarantees.breach.bounds import growth_bound, rho2_bound
from undercover.guarantees.breach.rho import DeltaGrowth, RhoBreach
from undercover.guarantees.requirements import guarantees_from_entries, guarantees_from_requirements, requirement_keys
from undercover.guarantees.verify import verify_table
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column

TREE = Hierarchy([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")])
PEOPLE = uc.datasets.census(2000, seed=1)
SCHEMA = uc.datasets.census_schema(["age", "sex"])


@pytest.fixture(scope="module")
def release() -> uc.Release:
    return uc.publish(PEOPLE, SCHEMA, uc.PerturbedGeneralization(k=6, p=0.3), seed=1).release


def smallest(release: uc.Release) -> int:
    return min(release.table()["G"].to_pylist())


@pytest.mark.parametrize(
    "written", [["rho1=0.2,rho2=0.5"], ["rho1=0.2", "rho2=0.5"], ["rho2=1/2", "rho1=1/5"], ["rho2=0.5,rho1=0.2,skew=1"]]
)
def test_two_numbers_make_one_requirement(written: list[str]) -> None:
    (found,) = guarantees_from_requirements(written)
    assert isinstance(found, RhoBreach)
    assert (Fraction(str(found.rho1)), Fraction(str(found.rho2))) == (Fraction(1, 5), Fraction(1, 2))
    assert found.p is None


def test_companions_go_to_each_or_to_all() -> None:
    found = guarantees_from_requirements(["rho1=0.1,rho2=0.3", "rho1=0.2,rho2=0.5", "growth=1/4", "skew=0.1"])
    assert [(type(one).__name__, one.parameters()) for one in found] == [
        ("RhoBreach", {"rho2": 0.3, "rho1": 0.1, "skew": 0.1, "bound": "tight"}),
        ("RhoBreach", {"rho2": 0.5, "rho1": 0.2, "skew": 0.1, "bound": "tight"}),
        ("DeltaGrowth", {"growth": "1/4", "skew": 0.1, "bound": "tight"}),
    ]


@pytest.mark.parametrize(
    ("requirements", "message"),
    [
        (["rho2=0.5"], "rho2 needs one rho1: rho1=0.2,rho2=0.5"),
        (["rho1=0.5"], "belongs to rho2"),
        (["rho1=0.5,rho2=0.2"], "0 < rho1 < rho2 < 1"),
        (["growth=2"], r"number in \[0, 1\]"),
        (["growth=0.2,p=0.3"], "both `p` and `domain`"),
        (["skew=0.1"], "belongs to rho2 and growth"),
        (["growth=0.2,skew=7"], "'skew' parameter"),
        (["growth=0.2,skew=no"], "'skew' parameter"),
        (["growth=0.2,p=3,domain=50"], "'p'"),
        (["rho1=0.1,rho1=0.2,rho2=0.3,rho2=0.4,rho2=0.5"], "needs one rho1"),
    ],
)
def test_what_is_missing_or_wrong(requirements: list[str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        guarantees_from_requirements(requirements)


def test_an_unknown_key_names_all_there_are() -> None:
    with pytest.raises(ParameterError) as caught:
        guarantees_from_requirements(["rho=0.5"])
    assert all(f"`{key}`" in str(caught.value) for key in requirement_keys())
    assert "more" not in str(caught.value)


def test_the_release_says_how_values_were_drawn(release: uc.Release) -> None:
    k, size = smallest(release), 50
    rho, growth = uc.verify(release, also=guarantees_from_requirements(["rho1=0.2,rho2=0.99", "growth=0.99"])).findings[
        -2:
    ]
    assert rho.actual == rho2_bound(rho1=0.2, p=0.3, k=k, domain=size)
    assert growth.actual == growth_bound(p=0.3, k=k, domain=size)
    assert rho.holds is True
    assert (rho.parameters["p"], rho.parameters["domain"]) == (0.3, 50)
    # With a skew the same release promises more.
    skewed = uc.verify(release, also=guarantees_from_requirements(["growth=0.99,skew=0.1"])).findings[-1]
    assert skewed.actual == growth_bound(p=0.3, k=k, domain=size, skew=0.1)
    assert skewed.actual < growth.actual
    # A requirement just below what is reached fails.
    assert not uc.verify(release, also=[DeltaGrowth(growth=growth.actual * 0.999)]).holds


def test_the_requirement_cannot_say_otherwise(release: uc.Release) -> None:
    asked = guarantees_from_requirements(["growth=0.99,p=0.01,domain=50"])
    with pytest.raises(ParameterError, match=r"The release states p = 0\.3"):
        uc.verify(release, also=asked)
    same = guarantees_from_requirements(["growth=0.99,p=0.3,domain=50"])
    assert uc.verify(release, also=same).holds


def test_cells_cut_by_labels_count_one_person() -> None:
    method = uc.PerturbedGeneralization(k=6, p=0.3, recoding="specialize", labels="driven", allow_unsafe=True)
    made = uc.publish(PEOPLE, SCHEMA, method, seed=1, require=[{"name": "delta-growth", "growth": 0.99}])
    assert made.release.guarantees[-1]["actual"] == growth_bound(p=0.3, k=1, domain=50)


def test_nothing_was_drawn_in_any_other_release() -> None:
    made = uc.publish(PEOPLE, SCHEMA, uc.Mondrian(k=5), seed=1)
    found = uc.verify(made.release, also=[DeltaGrowth(growth=0.5)]).findings[-1]
    assert found.holds is False
    assert "no column `G`" in found.note


def test_a_table_with_its_column_of_people(release: uc.Release) -> None:
    table = release.table()
    asked = guarantees_from_requirements(["growth=0.99,p=0.3,domain=50", "k=6"])
    found = verify_table(table, ["age", "sex"], ["income"], asked)
    assert found.holds
    assert found.findings[0].actual == growth_bound(p=0.3, k=smallest(release), domain=50)
    assert found.findings[1].actual == smallest(release)
    with pytest.raises(ParameterError, match=r"p=0\.3,domain=50"):
        verify_table(table, ["age", "sex"], ["income"], guarantees_from_requirements(["growth=0.99"]))
    bare = verify_table(table.drop_columns(["G"]), ["age", "sex"], ["income"], asked)
    assert bare.findings[0].holds is False


def test_a_recipe_keeps_the_requirement_open() -> None:
    method = uc.PerturbedGeneralization(k=6, p=0.3)
    made = uc.publish(PEOPLE, SCHEMA, method, seed=1, require=guarantees_from_requirements(["growth=0.9"]))
    assert made.requirements == ({"name": "delta-growth", "growth": 0.9, "skew": 1, "bound": "tight"},)


def test_the_tree_comes_from_the_column() -> None:
    columns = {"ill": Column(hierarchy=TREE)}
    (found,) = guarantees_from_requirements(["hierarchical-t=0.3"], columns=columns)
    assert (found.hierarchy, found.column) == (TREE, "ill")  # type: ignore[attr-defined]
    entry = {"name": "t-closeness", "t": 0.3, "distance": "hierarchical"}
    assert guarantees_from_entries([entry], columns) == (found,)
    two = guarantees_from_entries([entry], {**columns, "job": Column(hierarchy=TREE)})
    assert [one.column for one in two] == ["ill", "job"]  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="hierarchy of `job`"):
        guarantees_from_entries([entry], {**columns, "job": Column()})
    (only,) = guarantees_from_entries([{**entry, "column": "ill"}], {**columns, "job": Column()})
    assert only == found


def test_the_tree_of_the_column_decides() -> None:
    # Two classes, {a, b} and {c, c}: by the tree a and b are near each other.
    data = pa.table({"age": [1, 1, 2, 2], "ill": ["a", "b", "c", "c"]})
    (asked,) = guarantees_from_requirements(["hierarchical-t=1/2"], columns={"ill": Column(hierarchy=TREE)})
    found = verify_table(data, ["age"], ["ill"], [asked]).findings[0]
    assert found.actual == pytest.approx(0.5)


def test_the_order_comes_from_an_ordinal_column_or_from_bins() -> None:
    (ordinal,) = guarantees_from_requirements(
        ["ordered-t=0.3"], columns={"ill": Column(kind="ordinal", domain=("none", "mild", "bad"))}
    )
    assert ordinal.order == ("none", "mild", "bad")  # type: ignore[attr-defined]
    (binned,) = guarantees_from_requirements(["ordered-t=0.3"], columns={"pay": Column(bins=(0, 10, 100, 200))})
    assert binned.order == ("[0, 9]", "[10, 99]", "[100, 200]")  # type: ignore[attr-defined]
    (plain,) = guarantees_from_requirements(["ordered-t=0.3"], columns={"pay": Column()})
    assert plain.order is None  # type: ignore[attr-defined]
