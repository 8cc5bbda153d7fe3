"""Options as they are written on the command line, and what stands in its tables."""

from undercover.cli.apply import _recipe
from undercover.cli.demo import _found
from undercover.cli.options import names, roles, settings_from_text


def test_columns_by_commas() -> None:
    assert (names("age, sex"), names(None)) == (("age", "sex"), None)


def test_only_roles_that_were_given() -> None:
    assert roles(qi="age,sex", sensitive=None) == {"quasi_identifiers": ("age", "sex")}


def test_settings_by_name() -> None:
    assert settings_from_text(["k=5", "cut=median"]) == {"k": "5", "cut": "median"}


def test_a_recipe_names_what_was_asked_for() -> None:
    assert (
        _recipe("mondrian", {"k": 5, "recoding": "boxes", "cut": "median", "used": {}}) == "mondrian, k=5, cut=median"
    )


def test_a_promise_in_the_table_of_the_tour() -> None:
    assert _found({"name": "k-anonymity", "parameters": {"k": 10}, "shown": "12", "holds": True}) == "k=12"
    assert (
        _found({"name": "delta-probability", "parameters": {"delta": "1/5"}, "shown": "", "holds": None})
        == "delta: private"
    )
