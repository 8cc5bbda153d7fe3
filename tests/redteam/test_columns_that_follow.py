"""Once a column published unchanged could repeat a quasi-identifier: exact ages beside intervals of ages verified."""

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError
from undercover.forms import read
from undercover.guarantees.cells import followers, misread_cells
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.schema import Column

N = 900
RANDOM = np.random.default_rng(7)
AGE = RANDOM.integers(18, 90, N)
TABLE = pa.table(
    {
        "age": AGE,
        "zip": RANDOM.integers(10_000, 10_090, N),
        "disease": RANDOM.choice(list("abcdef"), N),
        "years": AGE,
        "born": [f"{2020 - age}-01-01" for age in AGE],
        "spouse": np.clip(AGE + RANDOM.integers(-9, 10, N), 18, 90),
        "height": RANDOM.integers(150, 200, N),
        "hours": RANDOM.integers(0, 60, N),
    }
)
METHODS = [uc.Mondrian(k=5), uc.Mondrian(k=60), uc.Streamliner(l=3), uc.CrossBucket(k=3, l=3), uc.Incognito(k=3)]


def schema(insensitive: str) -> uc.Schema:
    return uc.Schema(quasi_identifiers=["age", "zip"], sensitive="disease", insensitive=[insensitive], drop="*")


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_copy_is_refused(method: object) -> None:
    with pytest.raises(DataError, match="`years` is published unchanged and follows `age`"):
        uc.publish(TABLE, schema("years"), method, seed=1, policy="none")


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", ["spouse", "height", "hours"])
def test_columns_that_merely_overlap_are_not(method: object, name: str) -> None:
    """Also a spouse's age, which is close to the person's, and whatever lies inside very wide intervals."""
    run = uc.publish(TABLE, schema(name), method, seed=1, policy="none")
    assert followers(read(run.release)) == []


def release(cells: list[str], form: str, values: list[object], claims: tuple[dict[str, object], ...] = ()) -> Release:
    columns = (PublishedColumn("place", "quasi-identifier", form), PublishedColumn("town", "insensitive", "value"))  # type: ignore[arg-type]
    table = PublishedTable("table", columns, pa.table({"place": cells, "town": values}))
    return Release("somebody's", {}, (table,), True, guarantees=claims)


def test_a_member_of_every_set_follows() -> None:
    sets = ["{a, b}", "{c, d}", "{e, f}"] * 20
    inside = ["a", "d", "e"] * 20
    assert len(followers(read(release(sets, "set", inside)))) == 1
    assert followers(read(release(sets, "set", ["a", "a", "a"] * 20))) == []


def test_a_leaf_below_every_node_follows_where_the_tree_is_known() -> None:
    nodes, leaves = ["north", "south"] * 40, ["kiel", "ulm"] * 40
    rows = [["kiel", "north"], ["husum", "north"], ["ulm", "south"], ["passau", "south"]]
    tree = [[leaf, node, "*"] for leaf, node in rows]
    plain = release(nodes, "node", leaves)
    assert followers(read(plain)) == []
    assert len(followers(read(plain), {"place": tree})) == 1
    claim = {"name": "disjoint-cells", "trees": {"place": tree}}
    assert len(followers(read(release(nodes, "node", leaves, (claim,))))) == 1


def test_days_are_compared_as_days() -> None:
    cells = ["[1950-01-01, 1959-12-31]", "[1960-01-01, 1969-12-31]", "[1970-01-01, 1979-12-31]"] * 20
    inside = ["1955-05-05", "1966-06-06", "1977-07-07"] * 20
    assert len(followers(read(release(cells, "interval", inside)))) == 1
    assert followers(read(release(cells, "interval", inside[1:] + inside[:1]))) == []


def test_few_rows_and_wide_cells_are_chance() -> None:
    assert followers(read(release(["[1, 5]", "[6, 9]"] * 2, "interval", [3, 7] * 2))) == []
    wide = release(["[1, 99]", "[2, 100]"] * 400, "interval", [int(x) for x in np.arange(800) % 98 + 2])
    assert followers(read(wide)) == []


def test_memory_stays_linear_in_an_all_different_column() -> None:
    """60,000 values beside 30,000 cells: a table of all pairs would take 1.8 GB."""
    n = 60_000
    cells = [f"[{row // 2 * 2}, {row // 2 * 2 + 1}]" for row in range(n)]
    shuffled = np.random.default_rng(1).permutation(n)
    assert followers(read(release(cells, "interval", [int(x) for x in shuffled]))) == []
    assert len(followers(read(release(cells, "interval", list(range(n)))))) == 1


@pytest.mark.parametrize(
    ("form", "cells", "wrong"),
    [
        ("interval", ["[1, 2]", "3", "*", ""], False),
        ("interval", ['{1, 2, ""}', "[1, 2]"], False),
        ("interval", ["[low, high]"], False),
        ("interval", ["{1, 2}"], True),
        ("interval", ["[2, 1]"], True),
        ("interval", ["[1, 2, 3]"], True),
        ("set", ["{a, b}", "a", "*"], False),
        ("set", ["[1, 2]"], True),
        ("value", ["[1, 2]", "[3, 4]", "5"], True),
        ("value", ["[sic]", "{x}", "plain"], False),
        ("value", ["[1, 2]", "plain", "text"], False),
        ("node", ["[20-29]", "Europe"], False),
    ],
)
def test_cells_of_another_form_are_told(form: str, cells: list[str], wrong: bool) -> None:
    assert bool(misread_cells(read(release(cells, form, ["x"] * len(cells))))) is wrong


def test_a_leaf_below_a_node_is_refused_although_no_published_tree_tells() -> None:
    towns = [f"{region}{number}" for region in ("north", "south", "east", "west") for number in range(5)]
    tree = uc.Hierarchy([[town, town[:-1], "*"] for town in towns])
    lived = [towns[row % len(towns)] for row in range(200)]
    table = pa.table({"town": lived, "seen": lived, "ill": [list("abcd")[row // 20 % 4] for row in range(200)]})
    with pytest.raises(DataError, match="`seen` is published unchanged and follows `town`"):
        uc.publish(
            table,
            uc.Schema(
                quasi_identifiers=["town"],
                sensitive="ill",
                insensitive=["seen"],
                columns={"town": Column(hierarchy=tree)},
            ),
            uc.Mondrian(k=20),
            seed=1,
            policy="none",
        )
