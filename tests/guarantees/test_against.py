import numpy as np
import pyarrow as pa
import pytest

from undercover.forms import coverage, read
from undercover.forms.coverage import Cover, covered
from undercover.forms.meaning import NOTHING, Meaning, domain_values, leaf_values
from undercover.model.form import Buckets
from undercover.model.hierarchy import Hierarchy
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.schema import Column, Schema
from undercover.model.table import Table, encode

TOWNS = Hierarchy(
    [("Bonn", "Germany", "*"), ("Köln", "Germany", "*"), ("Lyon", "France", "*"), ("Nice", "France", "*")]
)
ORIGINAL = Table.from_arrow(
    pa.table(
        {
            "age": [20, 25, 30, 40],
            "town": ["Bonn", "Köln", "Lyon", "Bonn"],
            "job": ["cook", "clerk", "a, b", "cook"],
            "ill": ["flu", "cold", "flu", "gout"],
        }
    ),
    Schema(quasi_identifiers=["age", "town", "job"], sensitive="ill", columns={"town": Column(hierarchy=TOWNS)}),
)
FORMS = {"age": "interval", "town": "node", "job": "set"}
PUBLISHED = {
    "age": ["[30, 40]", "[20, 25]", "[30, 40]", "[20, 25]"],
    "town": ["*", "Germany", "*", "Germany"],
    "job": ['{"a, b", cook}', "{clerk, cook}", '{"a, b", cook}', "{clerk, cook}"],
    "ill": ["gout", "cold", "flu", "flu"],
}


def release(data, suppressed=0, forms=FORMS):
    columns = [PublishedColumn(name, "quasi-identifier", form) for name, form in forms.items()]
    table = PublishedTable("table", (*columns, PublishedColumn("ill", "sensitive", "value")), pa.table(data))
    return Release("mondrian", {}, (table,), True, suppressed_rows=suppressed)


def verdicts(made, original=ORIGINAL):
    return {finding.name: finding.holds for finding in read(made).against(original)}


ALL_WELL = {"rows-preserved": True, "sensitive-values-preserved": True, "rows-covered": True}


def test_a_faithful_release():
    assert verdicts(release(PUBLISHED)) == ALL_WELL


def test_a_removed_row():
    fewer = {name: cells[1:] for name, cells in PUBLISHED.items()}
    assert not any(verdicts(release(fewer)).values())
    assert verdicts(release(fewer, suppressed=1)) == ALL_WELL


def test_an_invented_value():
    made = release({**PUBLISHED, "ill": ["gout", "cold", "flu", "plague"]})
    findings = {finding.name: finding for finding in read(made).against(ORIGINAL)}
    assert findings["sensitive-values-preserved"].actual == 2  # one plague too many, one flu too few
    covered_rows = findings["rows-covered"]
    assert (covered_rows.actual, covered_rows.required, covered_rows.holds) == (3, 4, False)
    assert "row of the input: 0." in covered_rows.note


def test_two_swapped_sensitive_cells():
    # gout (40, Bonn) and cold (25, Köln) change places: the multiset stays, both people are no longer covered.
    made = release({**PUBLISHED, "ill": ["cold", "gout", "flu", "flu"]})
    assert verdicts(made) == {**ALL_WELL, "rows-covered": False}


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("age", ["[31, 40]", "[20, 25]", "[31, 40]", "[20, 25]"]),
        ("town", ["Germany", "Germany", "Germany", "Germany"]),
        ("job", ["cook", "{clerk, cook}", "cook", "{clerk, cook}"]),
        ("town", ["*", "Prussia", "*", "Prussia"]),
        ("age", ["[30, 40", "[20, 25]", "[30, 40", "[20, 25]"]),
    ],
)
def test_cells_that_leave_somebody_out(column, cells):
    assert verdicts(release({**PUBLISHED, column: cells})) == {**ALL_WELL, "rows-covered": False}


def test_cells_nobody_can_read_are_named():
    made = release({**PUBLISHED, "town": ["*", "Prussia", "*", "Prussia"]})
    assert "1 value (a text of 7 characters)" in read(made).against(ORIGINAL)[-1].note


def test_a_column_the_original_does_not_have():
    other = Table.from_arrow(pa.table({"age": [1], "ill": ["flu"]}), Schema(quasi_identifiers=["age"], sensitive="ill"))
    finding = read(release(PUBLISHED)).against(other)[-1]
    assert finding.holds is False
    assert "`town`" in finding.note


def test_missing_values_are_covered_by_missing_or_everything():
    schema = Schema(quasi_identifiers=["age"], sensitive="ill", missing="category")
    original = Table.from_arrow(pa.table({"age": [20, None, 30], "ill": ["flu", "cold", None]}), schema)
    forms = {"age": "interval"}
    for cells, well in (
        (["20", "", "30"], True),
        (["20", None, "30"], True),
        (["*", "*", "*"], True),
        (["[20, 30]", "[20, 30]", "[20, 30]"], False),
    ):
        made = release({"age": cells, "ill": ["flu", "cold", None]}, forms=forms)
        assert verdicts(made, original)["rows-covered"] is well, cells


def two_tables(ages, buckets, sat):
    qit = PublishedTable(
        "qit",
        (PublishedColumn("age", "quasi-identifier", "value"), PublishedColumn("bucket", "structure", "value")),
        pa.table({"age": ages, "bucket": buckets}),
    )
    columns = (
        PublishedColumn("bucket", "structure", "value"),
        PublishedColumn("ill", "sensitive", "value"),
        PublishedColumn("count", "structure", "value"),
    )
    second = PublishedTable(
        "sat", columns, pa.table(dict(zip(("bucket", "ill", "count"), zip(*sat, strict=True), strict=True)))
    )
    return Release("anatomy", {}, (qit, second), True, form=Buckets())


def test_two_tables():
    schema = Schema(quasi_identifiers=["age"], sensitive="ill")
    original = Table.from_arrow(pa.table({"age": [20, 25, 25, 40], "ill": ["flu", "cold", "flu", "gout"]}), schema)
    sat = [(1, "flu", 1), (1, "cold", 1), (2, "flu", 1), (2, "gout", 1)]
    well = {**ALL_WELL, "quasi-identifiers-preserved": True}
    assert verdicts(two_tables([25, 40, 20, 25], [2, 2, 1, 1], sat), original) == well
    # 40 sits in the bucket without gout: same people, same values, but not linked as they are.
    assert verdicts(two_tables([25, 20, 40, 25], [2, 2, 1, 1], sat), original) == {**well, "rows-covered": False}
    changed = verdicts(two_tables([25, 40, 20, 20], [2, 2, 1, 1], sat), original)
    assert changed["quasi-identifiers-preserved"] is False
    contradicting = [(1, "flu", 2), *sat[1:]]
    assert (
        verdicts(two_tables([25, 40, 20, 25], [2, 2, 1, 1], contradicting), original)["sensitive-values-preserved"]
        is False
    )


def test_several_sensitive_columns_are_matched_together():
    schema = Schema(quasi_identifiers=["age"], sensitive=["a", "b"])
    original = Table.from_arrow(pa.table({"age": [1, 1, 2, 2], "a": list("xyxy"), "b": list("uvuv")}), schema)
    columns = (
        PublishedColumn("age", "quasi-identifier", "interval"),
        PublishedColumn("a", "sensitive", "value"),
        PublishedColumn("b", "sensitive", "value"),
    )

    def made(b):
        data = pa.table({"age": ["[1, 2]"] * 4, "a": list("xyxy"), "b": list(b)})
        return Release("mondrian", {}, (PublishedTable("table", columns, data),), True)

    assert verdicts(made("uvuv"), original)["rows-covered"]
    assert not verdicts(made("vuvu"), original)["rows-covered"]


@pytest.mark.parametrize("seed", range(30))
def test_covering_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 3)
    n_points, n_boxes = int(rng.integers(1, 600)), int(rng.integers(1, 300))
    points = [rng.integers(0, size, n_points) for size in sizes]
    covers, members = [], []
    for size in sizes:
        sets = [sorted(set(rng.integers(0, size, rng.integers(1, 4)).tolist())) for _ in range(6)]
        meanings = [Meaning(s[0], s[-1], None if s[-1] - s[0] + 1 == len(s) else tuple(s)) for s in sets] + [NOTHING]
        covers.append(Cover.of(meanings, int(size)))
        members.append([*map(set, sets), set()])
    boxes = [rng.integers(0, 7, n_boxes) for _ in sizes]
    expected = [
        any(all(points[c][p] in members[c][boxes[c][b]] for c in range(3)) for b in range(n_boxes))
        for p in range(n_points)
    ]
    assert covered(points, boxes, covers).tolist() == expected


def test_many_equal_points_and_many_boxes():
    points, boxes = [np.zeros(1000, dtype=np.int64)], [np.zeros(1000, dtype=np.int64)]
    assert coverage._PAIRS < 1000 * 1000  # more than are compared at once where points can be halved
    assert covered(points, boxes, [Cover.of([Meaning(0, 0)], 1)]).all()
    assert not covered(points, boxes, [Cover.of([Meaning(1, 1)], 2)]).any()


def test_reading_cells():
    age = encode("age", pa.array([20, 25, 30, None]), Column(), missing="category")
    values = domain_values(age)
    assert values.read("", "interval") == Meaning(3, 3)
    assert values.read("[20, 29]", "interval") == Meaning(0, 1)
    assert values.read("[26, 29]", "interval") == NOTHING
    assert values.read("*", "interval").size == 4
    assert values.read('{20, ""}', "set") == Meaning(0, 3, (0, 3))
    starry = encode("mark", pa.array(["*", "a"]), Column(), missing="error")
    assert domain_values(starry).read("*", "value") == Meaning(0, 0)
    assert domain_values(starry).read("*", "set").size == 2
    assert domain_values(starry).read("{*}", "set") == Meaning(0, 0)


def test_dates_and_ordinal_ranges():
    import datetime

    born = encode("born", pa.array([datetime.date(1990, 1, d) for d in (1, 5, 9)]), Column(), missing="error")
    assert domain_values(born).read("[1990-01-01, 1990-01-07]", "interval") == Meaning(0, 1)
    grade = encode(
        "grade", pa.array(["low", "high"]), Column(kind="ordinal", domain=("low", "mid", "high")), missing="error"
    )
    assert domain_values(grade).read("[low, high]", "interval") == Meaning(0, 1)
    assert domain_values(grade).read("[high, low]", "interval") == NOTHING


def test_leaves_of_a_numeric_hierarchy_are_in_order():
    tree = Hierarchy([(str(age), f"{age // 10}x") for age in (30, 9, 11, 10)])
    age = encode("age", pa.array([9, 30]), Column(hierarchy=tree), missing="error")
    leaves = leaf_values(age)
    assert leaves.labels == ("9", "10", "11", "30")
    assert leaves.read("[9, 11]", "interval").size == 3
    assert leaves.read("1x", "node") == Meaning(1, 2)
    assert domain_values(age).read("1x", "node") == NOTHING
