import json

import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, ParameterError, SchemaError
from undercover.forms import read
from undercover.forms.case import Case
from undercover.forms.classes import classes_of_table
from undercover.forms.loss import losses
from undercover.model.form import Buckets
from undercover.model.hierarchy import Hierarchy
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.utility.discernibility import average_class_size, discernibility
from undercover.utility.measures import measure

TOWNS = Hierarchy([("Bonn", "Germany"), ("Köln", "Germany"), ("Lyon", "France"), ("Nice", "France"), ("Rome", "Italy")])
AGES = [20, 25, 30, 40]
SCHEMA = Schema(
    quasi_identifiers=["age", "town"],
    sensitive="ill",
    columns={"age": Column(weight=3.0), "town": Column(hierarchy=TOWNS)},
)
ORIGINAL = Table.from_arrow(
    pa.table({"age": AGES, "town": ["Bonn", "Köln", "Lyon", "Bonn"], "ill": ["flu", "cold", "flu", "gout"]}), SCHEMA
)


def release(data, forms, suppressed=0):
    columns = [PublishedColumn(name, "quasi-identifier", form) for name, form in forms.items()]
    return Release("mondrian", {}, (PublishedTable("table", tuple(columns), pa.table(data)),), True, suppressed)


def test_discernibility_and_class_size():
    classes = classes_of_table(pa.table({"q": [1, 1, 1, 2, 2]}), ["q"], suppressed_is_star=True)
    assert discernibility(classes) == 9 + 4
    assert average_class_size(classes) == 2.5
    assert average_class_size(classes, k=2) == 1.25
    with pytest.raises(ParameterError, match="'k' parameter"):
        average_class_size(classes, k=0)
    # 2 of 4 rows suppressed: 2² + 2 · 4
    made = release({"age": ["[20, 25]"] * 2, "town": ["Germany"] * 2}, {"age": "interval", "town": "node"}, 2)
    assert discernibility(made) == 12


def test_loss_by_hand():
    data = {
        "age": ["[20, 25]", "[20, 25]", "[30, 40]", "[30, 40]"],
        "town": ["Germany", "Germany", "*", "*"],
    }
    found = losses(ORIGINAL, read(release(data, {"age": "interval", "town": "node"})))
    # Age: 4 values, no hierarchy: every cell covers 2, (2-1)/(4-1) = 1/3.
    # Town: 5 leaves: Germany (2-1)/(5-1) = 1/4, * 1.
    arx = found["arx"]
    assert arx.per_column == pytest.approx({"age": 1 / 3, "town": (1 / 4 + 1) / 2})
    assert arx.arithmetic == pytest.approx((1 / 3 + 5 / 8) / 2)
    assert arx.weighted == pytest.approx((3 * 1 / 3 + 5 / 8) / 4)
    # Over the columns, as ARX has it: sqrt((1 + 1/3) (1 + 5/8)) - 1.
    assert arx.geometric == pytest.approx((4 / 3 * 13 / 8) ** 0.5 - 1)
    # ILoss: age (2-1)/4 each; town 1/5 and 4/5.
    assert found["iloss"].per_column == pytest.approx({"age": 1 / 4, "town": 1 / 2})
    # NCP: age 5/20 and 10/20; town as ARX.
    assert found["ncp"].per_column == pytest.approx({"age": 3 / 8, "town": 5 / 8})
    assert found["ncp"].weighted == pytest.approx((3 * 3 / 8 + 5 / 8) / 4)


def test_values_and_everything():
    exact = {"age": AGES, "town": ["Bonn", "Köln", "Lyon", "Bonn"]}
    for loss in losses(ORIGINAL, read(release(exact, {"age": "value", "town": "value"}))).values():
        assert (loss.arithmetic, loss.geometric, loss.weighted) == (0, 0, 0)
    stars = {"age": ["*"] * 4, "town": ["*"] * 4}
    everything = losses(ORIGINAL, read(release(stars, {"age": "interval", "town": "node"})))
    assert everything["arx"].arithmetic == everything["ncp"].weighted == pytest.approx(1)
    assert everything["arx"].geometric == pytest.approx(1)


def test_suppressed_rows_have_lost_everything():
    half = release({"age": ["20", "25"], "town": ["Bonn", "Köln"]}, {"age": "interval", "town": "node"}, suppressed=2)
    found = losses(ORIGINAL, read(half))
    for loss in found.values():
        assert loss.arithmetic == loss.geometric == loss.weighted == 0.5
        assert loss.per_column == {"age": 0.5, "town": 0.5}


def test_sets_and_intervals_are_measured_on_the_hierarchy():
    tree = Hierarchy([(str(age), f"{age // 10}0s") for age in range(20, 41)])  # 21 leaves
    original = Table.from_arrow(
        pa.table({"age": AGES}), Schema(quasi_identifiers=["age"], columns={"age": Column(hierarchy=tree)})
    )
    # [20, 25] covers six leaves: 5/20; {20, 40} two: 1/20; 30s ten: 9/20; 25 one.
    cells = {"interval": ("[20, 25]", 5 / 20), "set": ("{20, 40}", 1 / 20), "node": ("30s", 9 / 20), "value": ("25", 0)}
    for form, (cell, loss) in cells.items():
        assert losses(original, read(release({"age": [cell]}, {"age": form})))["arx"].arithmetic == pytest.approx(loss)


def test_missing_values():
    schema = Schema(quasi_identifiers=["age"], missing="category")
    original = Table.from_arrow(pa.table({"age": [20, 30, None]}), schema)
    for cell, arx, ncp in (("", 0, 0), ("*", 1, 1), ("[20, 30]", 1 / 2, 1), ('{20, ""}', 1 / 2, 1), ("20", 0, 0)):
        found = losses(original, read(release({"age": [cell]}, {"age": "interval"})))
        assert (found["arx"].arithmetic, found["ncp"].arithmetic) == pytest.approx((arx, ncp)), cell


def test_a_column_of_one_value_has_nothing_to_lose():
    original = Table.from_arrow(pa.table({"age": [20, 20]}), Schema(quasi_identifiers=["age"]))
    for cell in ("20", "*"):
        found = losses(original, read(release({"age": [cell] * 2}, {"age": "interval"})))
        assert found["arx"].arithmetic == found["ncp"].arithmetic == found["iloss"].arithmetic == 0


def test_two_tables_lose_nothing_and_count_buckets():
    original = Table.from_arrow(
        pa.table({"age": AGES, "ill": ["flu", "cold", "flu", "gout"]}),
        Schema(quasi_identifiers=["age"], sensitive="ill"),
    )
    qit = PublishedTable(
        "qit",
        (PublishedColumn("age", "quasi-identifier", "value"), PublishedColumn("bucket", "structure", "value")),
        pa.table({"age": AGES, "bucket": [1, 1, 2, 2]}),
    )
    sat = PublishedTable(
        "sat",
        (
            PublishedColumn("bucket", "structure", "value"),
            PublishedColumn("ill", "sensitive", "value"),
            PublishedColumn("count", "structure", "value"),
        ),
        pa.table({"bucket": [1, 1, 2, 2], "ill": ["flu", "cold", "flu", "gout"], "count": [1, 1, 1, 1]}),
    )
    found = measure(Case(original, Release("anatomy", {}, (qit, sat), True, form=Buckets())))
    assert (found.classes, found.discernibility, found.average_class_size) == (2, 8, 2.0)
    assert found.loss["arx"].arithmetic == 0


def test_measures_as_a_dictionary():
    made = release({"age": ["[20, 25]"] * 2, "town": ["Germany"] * 2}, {"age": "interval", "town": "node"}, 2)
    found = json.loads(json.dumps(measure(Case(ORIGINAL, made)).to_dict(), allow_nan=False))
    assert found["suppressed_share"] == 0.5
    assert (found["classes"], found["discernibility"], found["suppressed_rows"]) == (1, 12, 2)
    assert set(found["loss"]) == {"arx", "iloss", "ncp"}
    assert set(found["loss"]["arx"]) == {"arithmetic", "weighted", "geometric", "per_column"}
    # Age: (1/3 · 2 + 2)/4, town: (1/4 · 2 + 2)/4
    assert found["loss"]["arx"]["per_column"] == pytest.approx({"age": 2 / 3, "town": 5 / 8})


def test_everything_suppressed():
    made = release(
        {"age": pa.array([], pa.string()), "town": pa.array([], pa.string())}, {"age": "interval", "town": "node"}, 4
    )
    found = measure(Case(ORIGINAL, made)).to_dict()
    assert (found["classes"], found["average_class_size"], found["discernibility"]) == (0, 0.0, 16)
    assert found["loss"]["arx"]["arithmetic"] == 1.0


def test_cells_and_columns_that_do_not_belong():
    with pytest.raises(DataError, match=r"Cells of `town` .* 1 value"):
        losses(ORIGINAL, read(release({"age": ["20"], "town": ["Prussia"]}, {"age": "interval", "town": "node"})))
    with pytest.raises(SchemaError, match="Did you mean `age`"):
        losses(ORIGINAL, read(release({"agee": ["20"]}, {"agee": "interval"})))


def test_groups_published_with_the_same_cells_are_counted_both_ways():
    """Four people alike in two groups of two: a recipient sees one class of four."""
    alike = pa.table({"age": [30] * 4 + [50, 50], "ill": ["flu", "cold"] * 3})
    schema = Schema(quasi_identifiers=["age"], sensitive="ill")
    run = uc.publish(alike, schema, uc.Streamliner(l=2, algorithm="wrap"), seed=1)
    found = uc.measure(alike, run)
    boxes = sorted(run.release.table()["age"].to_pylist())
    sizes = [boxes.count(box) for box in sorted(set(boxes))]
    assert run.groups.count == 3
    assert found.discernibility == sum(size**2 for size in sizes)
    assert (found.discernibility_by_groups, found.discernibility_optimum) == (12, 12)
    assert found.discernibility > 12
    assert "discernibility by groups" in str(found.view().parts[0].rows)
    released_only = uc.measure(alike, run.release, schema=schema)
    assert released_only.discernibility_by_groups is None
    assert "discernibility_by_groups" not in released_only.to_dict()


@pytest.mark.parametrize("suppression", [0, 0.1])
def test_the_geometric_loss_is_the_one_incognito_makes_small(suppression):
    people, schema = uc.datasets.census(600, seed=3), uc.datasets.census_schema(["age", "education", "race"])
    run = uc.publish(people, schema, uc.Incognito(k=5, suppression=suppression))
    assert (run.release.suppressed_rows > 0) == (suppression > 0)
    assert uc.measure(people, run).loss["arx"].geometric == pytest.approx(run.diagnostics["loss"], abs=1e-9)
