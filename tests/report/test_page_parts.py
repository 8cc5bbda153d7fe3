"""Parts of pages, by hand."""

from typing import Any

import numpy as np

import undercover as uc
from undercover.attacks.corruption.true_values import OrdinaryCorruption
from undercover.attacks.views import partial_view
from undercover.model.view import Figure, FigureTable, View, say
from undercover.pages.compare import _decades
from undercover.pages.experiment import described
from undercover.pages.jinja import cell, render, with_code
from undercover.pages.pictures import EMPTY, picture_charts
from undercover.pages.render import guarantee_html, overview_html
from undercover.pages.sections import riskiest_view, sizes_of, sizes_view
from undercover.pages.views import card, section
from undercover.utility.measures import Measures
from undercover.utility.views import by_column, measures_view


def test_text_in_a_template_is_escaped() -> None:
    assert "<pre><code>a &lt; b</code></pre>" in render(
        "again.html.j2", summary={"again": {"command": "a < b", "notes": [], "spec": "", "files": []}}
    )


def test_an_interval_stands_beside_its_figure() -> None:
    assert (
        str(cell(Figure(0.5, "risk", interval=(0.4, 0.6)))).split("<small>")[1]
        == '<data value="0.4">40%</data> to <data value="0.6">60%</data></small>'
    )


def test_names_in_backticks_are_code() -> None:
    assert str(with_code("`age` < 5")) == "<code>age</code> &lt; 5"


def test_a_method_without_drawings_has_no_charts() -> None:
    assert picture_charts("mondrian", EMPTY) == {}


def test_a_view_as_section_and_as_card() -> None:
    assert str(section(View("a", "Sizes", (say("{count} rows.", 5),)))).split() == [
        "<h2>Sizes</h2>",
        "<p><data",
        'value="5">5</data>',
        "rows.</p>",
    ]
    assert "<strong>A &amp; B: it holds</strong>" in card(View("a", "A & B", said="it holds"))


def test_columns_of_the_riskiest_rows() -> None:
    row = {"row": 3, "known": {"age": "30"}, "matches": 2, "identity": 0.5, "attribute": {"": 0.5}}
    shown = riskiest_view([{"attack": "informed", "columns": [""], "rows": [row], "tied": 688}]).parts
    assert shown[0].columns == ("input row", "matches", "found", "value", "what he knows")
    assert shown[0].rows[0][-1] == "`age` 30"
    assert str(shown[1]).startswith("688 more rows are not shown")
    assert len(riskiest_view([{"attack": "informed", "columns": [""], "rows": [row], "tied": 0}]).parts) == 2


def test_sizes_of_groups() -> None:
    assert sizes_of(np.array([2, 4]), "group")["mean"] == 3.0
    assert sizes_view(sizes_of(np.array([2, 4]), "group")).title == "How large the groups are"


def test_ticks_of_a_logarithmic_axis() -> None:
    assert (_decades(0.09), _decades(0.001)) == (
        [0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0],
        [0.0001, 0.001, 0.01, 0.1, 1.0],
    )


def test_a_sentence_stands_in_for_a_chart() -> None:
    points = [{"panel": "", "series": "a", "x": x, "mean": x / 10} for x in (1, 2, 3)]
    assert described({"title": "Error", "unit": "share", "points": points}) == "Error: a 10% at 1 to 30% at 3."


def test_pages_of_nothing_and_of_a_grid() -> None:
    assert "Nothing was published" in overview_html([])
    grid = [{"k": 2, "p": 0.3, "rho2": 0.5, "growth": 0.3}]
    assert guarantee_html(grid, rho1=0.2, domain=50, skew=0.1, bound="tight").startswith("<!DOCTYPE html>")


def test_losses_by_column() -> None:
    assert by_column({"loss": {"arx": {"per_column": {"age": 0.1}}, "ncp": {"per_column": {"age": 0.2}}}}) == [
        {"name": "age", "arx": 0.1, "ncp": 0.2}
    ]
    costs = Measures(discernibility=8, average_class_size=2.0, classes=2, rows=4, loss={}, suppressed_rows=0)
    assert str(measures_view(costs.to_dict()).parts[0].rows[1][1]) == "2, of 2 rows on average"


def test_partial_knowledge_in_a_sentence() -> None:
    def at(p: float) -> dict[str, Any]:
        return {"p": p, "identity": {"mean": p / 5, "max": p / 4}, "attribute": {}}

    both = {"sweep": [at(0.5), at(1.0)], "sweep_before": [at(0.5), at(1.0)]}
    guess = {"identity": 0.01, "attribute": {}}
    view = partial_view({**both, "attack": "p-match", "known": ["age"], "targets": 9, "baseline": guess})
    assert view.title == "Matching on some of the values"
    assert (
        str(view.parts[1])
        == "Matching on everything he finds the row with 20% on average (original: 20%, guessing: 1%)."
    )


def test_values_of_others_are_a_table_for_each_column() -> None:
    schema = uc.datasets.census_schema(["age", "sex"], ["income", "marital_status"])
    run = uc.publish(uc.datasets.census(100), schema, uc.Mondrian(k=5), policy="none")
    shown = uc.attack(run, OrdinaryCorruption()).view()
    tables = [part for part in shown.parts if isinstance(part, FigureTable) and part.columns]
    assert [table.columns[1] for table in tables] == ["true `income`, mean", "true `marital_status`, mean"]
    assert {len(table.columns) for table in tables} == {5}  # side by side they are wider than a page
    sweep = uc.attack(run, OrdinaryCorruption()).to_dict()["sweep"]
    for name, table in zip(schema.sensitive, tables, strict=True):
        assert [row[1].value for row in table.rows] == [entry["attribute"][name]["mean"] for entry in sweep]
