"""Views and their parts, by hand."""

from undercover.model.view import Figure, FigureTable, Picture, Said, View, certainty, facts, listed, room, say


def test_figures_stand_in_sentences() -> None:
    assert str(Said("Exact for {} of the people.", (Figure(0.5, "baseline"),))) == "Exact for 50% of the people."


def test_columns_of_figures_and_of_text() -> None:
    table = FigureTable("Linkage", ("", "release"), (("finds the row", Figure(0.1, "risk")),))
    assert (table.is_text(0), table.is_text(1)) == (True, False)


def test_a_picture_has_the_values_it_draws() -> None:
    assert Picture("points", {"data": {"values": [{"x": 1}]}, "mark": "point"}, "One point.").values == [{"x": 1}]


def test_a_view_is_read_back_from_its_plain_values() -> None:
    view = View("a", "Attack", (facts(("people", 5)), say("{risk} at worst.", 0.1)), said="nobody is certain")
    assert View.of(view.to_dict()) == view


def test_what_names_rows_can_be_left_out() -> None:
    assert (
        View("a", "A", (FigureTable("worst", ("row",), ((Figure(3),),), private=True),)).without_private().parts == ()
    )


def test_counts_in_facts() -> None:
    assert facts(("people", 1000)).rows[0][1].shown == "1,000"


def test_long_lists_are_cut() -> None:
    assert (listed(["age", "sex"]), listed([str(number) for number in range(14)])[-10:]) == ("age, sex", "and 2 more")


def test_room_for_labels() -> None:
    assert room(["age", "education"]) == 67.5


def test_how_sure_is_sure() -> None:
    assert (certainty(0.1), certainty(1 / 3), certainty(1.0)) == (
        ("good", "nobody is certain"),
        ("plain", "nobody is certain"),
        ("bad", "somebody is certain"),
    )
