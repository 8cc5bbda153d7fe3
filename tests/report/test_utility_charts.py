import pyarrow as pa
import pytest

import undercover as uc
from undercover.pages.svg import svg
from undercover.utility.queries.views import answer_views, query_error_chart
from undercover.utility.views import (
    MOST_CATEGORIES,
    MOST_COLUMNS,
    MOST_PAIRS,
    association_chart,
    distribution_chart,
    in_their_order,
    measures_view,
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


@pytest.mark.parametrize(
    ("order", "column"),
    [
        (["0-19", "20-99", "100+"], uc.Column()),
        (["<5k", "5-10k", ">10k"], uc.Column()),
        (["low", "middle", "high"], uc.Column(kind="ordinal", domain=["low", "middle", "high"])),
    ],
)
def test_what_has_an_order_is_drawn_and_listed_in_it(order, column):
    people = pa.table({"age": list(range(20, 50)), "pay": [order[2], order[1], order[0]] * 10})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="pay", columns={"pay": column})
    found = uc.publish(people, schema, uc.Mondrian(k=5), seed=1, policy="none")
    view = measures_view(uc.measure(people, found).to_dict())
    (drawn,) = [part for part in pictures_in(view.to_dict()) if part["name"] == "distributions"]
    rows = [row for row in drawn["spec"]["data"]["values"] if row["column"] == "pay"]
    assert list(dict.fromkeys(row["bin"] for row in rows)) == order
    (panel,) = [panel for panel in drawn["spec"]["concat"] if panel["title"] == "pay"]
    assert panel["encoding"]["x"]["sort"] == order
    (listed,) = [part for part in tables_in(view) if part.title == "The figures of every column"]
    assert [row[1] for row in listed.rows if row[0] == "`pay`"] == order


def test_words_have_no_order():
    words = {"name": "town", "ordered": False, "bins": [{"label": "Ulm"}, {"label": "Bonn"}]}
    assert in_their_order(words) is words


def tables_in(part):
    return (
        [part] if hasattr(part, "rows") else [found for one in getattr(part, "parts", ()) for found in tables_in(one)]
    )


def pictures_in(part):
    if isinstance(part, list):
        return [found for one in part for found in pictures_in(one)]
    if not isinstance(part, dict):
        return []
    return [part] if "spec" in part else pictures_in(list(part.values()))


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


ANSWERS = [
    {"from": 0.0, "to": 0.0, "queries": 9, "median": 0.1, "p90": 0.3},
    {"from": 0.001, "to": 0.005, "queries": 3, "median": 0.2, "p90": 0.7},
    {"from": 0.2, "to": 1.0, "queries": 3, "median": 0.0, "p90": 0.01},
]


def test_errors_of_counts_are_drawn_by_size_of_the_answer():
    chart = query_error_chart(ANSWERS)
    assert [(row["answer"], row["error"]) for row in chart.values] == [
        ("0.1% to 0.5%", 0.2),
        ("0.1% to 0.5%", 0.7),
        ("20% and more", 0.0),
        ("20% and more", 0.01),
    ]
    assert "0.1% to 0.5%: 20% and 70%; 20% and more: 0% and 1%." in chart.sentence


def shown_of(by_answer):
    one = {"quasi_identifiers": ["a"], "sensitive": "s", "queries": 15, "median": 0.0, "mean": 0.1, "p90": 0.7}
    (view,) = answer_views({"query_errors": [one], "query_errors_by_answer": by_answer})
    return view.parts


def test_what_cannot_be_drawn_is_said():
    assert callable(shown_of(ANSWERS)[1])
    assert [cell if isinstance(cell, str) else cell.value for cell in shown_of(ANSWERS)[-1].rows[0]] == [
        "nothing", 9, 0.1, 0.3
    ]  # fmt: skip
    right = [{**entry, "median": 0.0, "p90": 0.0} for entry in ANSWERS]
    assert "are right" in shown_of(right)[1]
    assert "too small" in shown_of(ANSWERS[:1])[1]


@pytest.mark.parametrize("name", [NASTY, "a.b", "a[0]", "it's", 'say "so"', "back\\slash"])
def test_any_name_of_a_column_is_drawn(name):
    chart = distribution_chart([column(name, 3), column("other", 2, ordered=False)], {name: 0.2, "other": 0.1})
    drawn = svg(chart)
    assert "<script>" not in drawn
    assert drawn.count("<path") > 5 + 3  # bars of both panels
    pair = {"columns": [name, "b"], "kind": "Cramér's V", "before": 0.2, "after": 0.1, "change": -0.1}
    assert "<script>" not in svg(association_chart([pair]))
