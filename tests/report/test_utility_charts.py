import pytest

from undercover.pages.svg import svg
from undercover.utility.queries.views import query_error_chart
from undercover.utility.views import (
    MOST_CATEGORIES,
    MOST_COLUMNS,
    MOST_PAIRS,
    association_chart,
    distribution_chart,
)

NASTY = "<script>alert('x')</script>"


def column(name, count, *, ordered=True):
    bins = [{"label": f"{name} {place}", "before": place + 1, "after": float(count - place)} for place in range(count)]
    return {"name": name, "ordered": ordered, "bins": bins}


def test_shares_add_up_and_the_farthest_column_comes_first():
    chart = distribution_chart([column("a", 4), column("b", 3)], {"a": 0.1, "b": 0.2})
    assert list(dict.fromkeys(row["column"] for row in chart.values)) == ["b", "a"]
    for name in "ab":
        for side in ("before", "after"):
            shares = [row["share"] for row in chart.values if (row["column"], row["release"]) == (name, side)]
            assert sum(shares) == pytest.approx(1)


def test_negative_estimates_are_drawn_as_nothing():
    bins = [{"label": "x", "before": 1, "after": -2.0}, {"label": "y", "before": 1, "after": 4.0}]
    chart = distribution_chart([{"name": "a", "ordered": True, "bins": bins}], {"a": 0.5})
    assert [row["share"] for row in chart.values if row["release"] == "after"] == [0.0, 1.0]


def test_rare_categories_are_put_together():
    chart = distribution_chart([column("a", 30, ordered=False)], {"a": 0.1})
    labels = list(dict.fromkeys(row["bin"] for row in chart.values))
    assert len(labels) == MOST_CATEGORIES
    assert labels[0] == "a 29"
    assert labels[-1] == "all others"
    assert sum(row["share"] for row in chart.values if row["release"] == "before") == pytest.approx(1)


def test_wide_tables_stay_readable_and_small():
    many = [column(f"column {place}", 20) for place in range(60)]
    chart = distribution_chart(many, {entry["name"]: 0.1 for entry in many})
    assert len({row["column"] for row in chart.values}) == MOST_COLUMNS
    assert len(svg(chart)) < 300_000
    pairs = [
        {"columns": [f"a{place}", "b"], "kind": "Cramér's V", "before": place / 900, "after": 0.1, "change": 0.1}
        for place in range(300)
    ]
    assert len(association_chart(pairs).values) == MOST_PAIRS


def test_pairs_that_cannot_be_told_are_left_out():
    known = {"columns": ["a", "b"], "kind": "Cramér's V", "before": 0.2, "after": 0.1, "change": -0.1}
    chart = association_chart([known, {**known, "columns": ["a", "c"], "before": None, "change": None}])
    assert [row["pair"] for row in chart.values] == ["a × b"]
    assert "0.1" in chart.sentence


def test_the_workload_about_most_columns_is_drawn():
    answers = [{"from": 0.001, "to": 0.005, "queries": 3, "median": 0.2, "p90": 0.7}]
    one = {"quasi_identifiers": ["a"], "sensitive": "s", "by_answer": [], "median": 0.0}
    both = {"quasi_identifiers": ["a", "b"], "sensitive": "s", "by_answer": answers, "median": 0.2}
    chart = query_error_chart([one, both, one])
    assert [(row["answer"], row["error"]) for row in chart.values] == [("0.1% to 0.5%", 0.2), ("0.1% to 0.5%", 0.7)]
    assert "20%" in chart.sentence


@pytest.mark.parametrize("name", [NASTY, "a.b", "a[0]", "it's", 'say "so"', "back\\slash"])
def test_any_name_of_a_column_is_drawn(name):
    chart = distribution_chart([column(name, 3), column("other", 2, ordered=False)], {name: 0.2, "other": 0.1})
    drawn = svg(chart)
    assert "<script>" not in drawn
    assert drawn.count("<path") > 5 + 3  # bars of both panels
    pair = {"columns": [name, "b"], "kind": "Cramér's V", "before": 0.2, "after": 0.1, "change": -0.1}
    assert "<script>" not in svg(association_chart([pair]))
