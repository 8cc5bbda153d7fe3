"""Titles, promises and limits in words."""

from undercover.forms.drawn import reading as drawn
from undercover.methods.mutual_cover.about import did
from undercover.model.form import Drawn
from undercover.model.release import Release
from undercover.pages.words import (
    algorithm_words,
    asked_parameters,
    declared_by,
    limits,
    promise_title,
    promise_words,
    release_title,
    sense_of,
)


def test_parameters_that_promises_are_about() -> None:
    assert asked_parameters({"k": 5, "diversity": "frequency", "t": 0.2, "distance": "equal", "seed": 7}) == {
        "k": 5,
        "t": 0.2,
        "distance": "equal",
    }


def test_titles_of_releases_and_promises() -> None:
    assert release_title(Release("mondrian", {"k": 5, "l": 3, "cut": "loss"}, (), False)) == "Mondrian, k = 5, l = 3"
    assert promise_title("l-diversity", {"l": 3, "form": "frequency"}) == "3-diversity (frequency)"
    assert promise_title("rows-covered", {}) == "Rows covered"


def test_promises_in_words() -> None:
    assert (
        promise_words("k-anonymity", {"k": 5})
        == "Everybody shares all published quasi-identifier cells with at least 4 other rows."
    )
    assert (sense_of("t-closeness"), sense_of("k-anonymity")) == ("at most", "at least")


def test_what_an_outsider_declares_is_said_to_be_declared() -> None:
    assert (declared_by("mondrian"), declared_by("my-own-method")) == (
        "",
        "declared by the maker of the release, not checked here",
    )
    assert (
        algorithm_words(Release("mondrian", {}, (), True)).split(":")[0]
        == "Knowing how the release was made does not help an attacker"
    )
    assert (
        algorithm_words(Release("my-own-method", {}, (), True)).split(".")[0]
        == "This is declared by the maker of the release, not checked here"
    )


def test_limits_say_what_is_not_promised() -> None:
    found = limits(Release("mondrian", {"k": 5}, (), True, guarantees=({"name": "k-anonymity", "k": 5},)))
    assert found[0].split(":")[0] == "Nothing is promised about sensitive values"
    assert (
        drawn.limits(Release("any", {}, (), False), Drawn(order="input"))[0].split(":")[0]
        == "The rows stand in the order of the input"
    )


def test_what_was_done_in_words() -> None:
    assert did(Release("mutual-cover", {"unchanged": "off"}, (), False)).endswith("left as they are.")
