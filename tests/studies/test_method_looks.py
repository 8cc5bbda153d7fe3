"""Looks: a method has the same colour and mark wherever it is drawn, and nobody else has them."""

import pytest

from undercover import plugins
from undercover.model.about import about_of
from undercover.pages.looks import COLORS, SHAPES, looks

EVERYBODY = {
    sweep.label: name for name in plugins.names("methods") for sweep in about_of(name).sweeps
} | {"Somebody's": "swap", "Another's": "k-means"}  # fmt: skip


@pytest.mark.parametrize("series", EVERYBODY)
def test_a_look_does_not_depend_on_what_else_is_compared(series):
    alone = looks([series], EVERYBODY)[series]
    assert looks(EVERYBODY, EVERYBODY)[series] == alone
    assert looks([*reversed(EVERYBODY), "l = 4"], EVERYBODY)[series] == alone


def test_no_two_series_look_alike_and_methods_differ_by_mark_as_by_colour():
    found = looks(EVERYBODY, EVERYBODY)
    assert len({(look.color, look.mark) for look in found.values()}) == len(EVERYBODY)
    home = looks(plugins.BUILT_IN["methods"])
    assert {look.color for look in home.values()} == set(COLORS)
    assert {look.mark for look in home.values()} == set(SHAPES)


def test_variants_have_the_outline_and_colour_of_their_method_with_a_hole():
    names = ["mutual cover", "mutual cover, layers", "mutual cover, blocks", "mutual cover, groups", "mutual cover (x)"]
    first, *others = looks(names).values()
    for look in others:
        assert look.color == first.color
        assert look.mark.startswith(first.mark)
    assert len({(look.mark, *look.dash) for look in (first, *others)}) == len({look.mark for look in others}) + 1 == 5


def test_no_method_from_elsewhere_has_the_pair_of_a_built_in_one():
    home = {(look.color, look.mark) for look in looks(plugins.BUILT_IN["methods"]).values()}
    for number in range(200):
        (look,) = looks(["theirs"], {"theirs": f"method-{number}"}).values()
        assert (look.color, look.mark) not in home
    many = {f"series {number}": f"method-{number}" for number in range(40)}  # some hashes are alike
    assert len({(look.color, look.mark) for look in looks(many, many).values()}) == 40


def test_what_is_of_no_method_has_no_look_of_one():
    home = {(look.color, look.mark) for look in looks(plugins.BUILT_IN["methods"]).values()}
    found = looks(["mondrian", "rda", "gda", "wrap", "guided", "class dealing"])
    assert not home & {(look.color, look.mark) for name, look in found.items() if name != "mondrian"}
    assert len({look.color for look in found.values()}) == 6
    many = looks([f"l = {l}" for l in range(30)])  # noqa: E741
    assert len({(look.color, look.mark, *look.dash) for look in many.values()}) == 30


def test_a_series_is_of_the_method_with_the_longest_name_it_begins_with(monkeypatch):
    names = plugins.names("methods")
    monkeypatch.setattr(plugins, "names", lambda kind: [*names, "mondrian-plus"])
    found = looks(["Mondrian plus, k=5", "Mondrian"])
    assert found["Mondrian plus, k=5"].color != found["Mondrian"].color
