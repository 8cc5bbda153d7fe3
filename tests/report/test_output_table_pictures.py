"""Output tables as heat maps: which are shown, and that their figures are those of the run."""

from dataclasses import replace
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import undercover as uc
from undercover.methods.mutual_cover.about import MOST_TABLES, MOST_VALUES, output_table_chart, shown_tables
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.render import datasheet_html
from undercover.pages.svg import svg


@pytest.fixture(scope="module")
def run():
    schema = uc.datasets.census_schema(["age", "sex", "education"])
    return uc.publish(
        uc.datasets.census(600, seed=4), schema, uc.MutualCover(variant="paper", delta="1/5", l=5), seed=1
    )


def by_hand(rows):
    """A frame of output tables from (group, attribute, original, output, probability, records)."""
    names = ("group", "attribute", "original", "output", "probability", "records")
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})


def test_a_table_by_hand(run):
    rows = [
        (0, "sex", "f", "f", 1.0, 2),
        (0, "sex", "m", "f", 1 / 3, 3),
        (0, "sex", "m", "m", 2 / 3, 3),
        (1, "sex", "f", "f", 1.0, 9),
        (1, "sex", "m", "m", 1.0, 9),
    ]
    (found,) = shown_tables(replace(run, frames={"output_tables": by_hand(rows)}))
    assert (found["group"], found["records"], found["outputs"]) == (0, 5, ["f", "m"])  # group 1 changes nobody
    assert found["originals"] == [{"value": "f", "records": 2}, {"value": "m", "records": 3}]
    assert found["probabilities"] == [[1.0, 0.0], [1 / 3, 2 / 3]]
    assert found["kept"] == pytest.approx((2 + 2) / 5)
    assert found["largest_share"] == pytest.approx(1 / 3)  # of f: 1 / (2 + 3/3); of m: (2/3) / 2


@pytest.mark.parametrize(
    ("kind", "domain"),
    [("ordinal", ("low", "middle", "high", "top")), ("categorical", ("<5k", "5-10k", "10-50k", "50k+"))],
)
def test_values_stand_in_their_order(kind, domain):
    people = pa.table({"pay": [*domain[::-1]] * 5, "ill": ["flu", "cold"] * 10})
    columns = {"pay": uc.Column(kind=kind, domain=domain if kind == "ordinal" else None)}
    schema = uc.Schema(quasi_identifiers="pay", sensitive="ill", columns=columns)
    made = uc.publish(people, schema, uc.Mondrian(k=5), policy="none")
    one, two, three, four = domain
    rows = [(0, "pay", one, four, 0.5, 1), (0, "pay", one, two, 0.5, 1), (0, "pay", three, three, 1.0, 2)]
    (found,) = shown_tables(replace(made, frames={"output_tables": by_hand(rows[::-1])}))
    assert [line["value"] for line in found["originals"]] == [one, three]
    assert found["outputs"] == [two, three, four]
    assert found["probabilities"] == [[0.5, 0, 0.5], [0, 1, 0]]


def test_figures_are_those_of_the_frame_and_rows_add_up(run):
    frame = run.frames["output_tables"].to_pylist()
    known = {(row["group"], row["attribute"], row["original"], row["output"]): row["probability"] for row in frame}
    tables = shown_tables(run)
    assert 0 < len(tables) <= MOST_TABLES
    for table in tables:
        assert table["largest_share"] <= 0.2 * (1 + 1e-9)
        for line, chances in zip(table["originals"], table["probabilities"], strict=True):
            assert sum(chances) == pytest.approx(1)
            for output, chance in zip(table["outputs"], chances, strict=True):
                assert chance == known.get((table["group"], table["attribute"], line["value"], output), 0.0)
        chart = output_table_chart(table)
        assert [field["probability"] for field in chart.values] == [
            chance for chances in table["probabilities"] for chance in chances if chance > 0
        ]


def test_tables_too_large_to_read_are_left_out(run):
    rows = [(0, "age", str(i), str(i), 1.0, 1) for i in range(MOST_VALUES + 1)]
    assert shown_tables(replace(run, frames={"output_tables": by_hand(rows)})) == []
    assert shown_tables(replace(run, frames={})) == []


def test_the_largest_picture_is_bounded(run):
    n = MOST_VALUES
    rows = [(0, "age", str(i), str(j), 1 / n, 1) for i in range(n) for j in range(n)]
    (table,) = shown_tables(replace(run, frames={"output_tables": by_hand(rows)}))
    assert len(svg(output_table_chart(table))) < 150_000


def test_nasty_and_missing_values_stay_text(run):
    rows = [(0, "a<b", "<script>", "", 1.0, 1), (0, "a<b", "", "", 1.0, 2)]
    (table,) = shown_tables(replace(run, frames={"output_tables": by_hand(rows)}))
    assert table["outputs"] == ["(missing)"]
    drawing = svg(output_table_chart(table))
    ElementTree.fromstring(drawing)
    assert "<script" not in drawing


def test_the_recipient_sees_none_of_it(run):
    assert "output table of" not in datasheet_html(datasheet_summary(run.release)).lower()
