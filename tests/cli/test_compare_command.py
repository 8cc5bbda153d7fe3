import json
import re

from undercover import waiting
from undercover.cli import compare as command

NARROW = ("--methods", "mondrian,perturbed-generalization", "--queries", "4")


def test_a_table_and_its_roles(undercover, people, roles, tmp_path, monkeypatch):
    for name in ("BETWEEN_LINES", "_LOOK"):
        monkeypatch.setattr(waiting, name, 0.001)  # however fast it is, it says how far it is
    done = undercover("compare", people, *roles, "--out", tmp_path / "out", *NARROW)
    assert done.code == 0, done.err
    assert "Mondrian, k=5" in done.out
    assert "Recommended: Mondrian" in done.out
    assert "safe: from somebody who knows the algorithm" in done.out
    assert "cannot run: Perturbed generalization (3)" in done.out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "cells.jsonl",
        "compare.csv",
        "compare.html",
        "compare.json",
    }
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0
    assert re.search(r"compare: .+, \d+ s so far", done.err)


def test_a_spec_with_and_without_a_method(undercover, people, tmp_path):
    spec = tmp_path / "s.toml"
    spec.write_text('[roles]\nquasi_identifiers = ["age", "sex"]\nsensitive = "disease"\n')
    plain = undercover("compare", people, "--spec", spec, "--out", tmp_path / "a", *NARROW, "--json")
    assert plain.code == 0, plain.err
    spec.write_text(spec.read_text() + '[method]\nname = "mondrian"\nk = 7\n')
    own = undercover("compare", people, "--spec", spec, "--out", tmp_path / "b", *NARROW, "--json")
    titles = [[release["title"] for release in json.loads(done.out)["releases"]] for done in (plain, own)]
    assert titles[1] == [*titles[0], "As in the spec"]


def test_json_is_the_content_of_the_file(undercover, people, roles, tmp_path):
    done = undercover("compare", people, *roles, "--out", tmp_path / "out", *NARROW, "--json")
    assert json.loads(done.out) == json.loads((tmp_path / "out" / "compare.json").read_text())


def test_bad_input_is_told(undercover, people, tmp_path):
    assert undercover("compare", people, "--out", tmp_path / "out").code == 2
    unknown = undercover("compare", people, "--qi", "age", "--out", tmp_path / "out", "--methods", "anatomi")
    assert unknown.code == 2
    assert "Did you mean `anatomy`" in unknown.err


def test_an_interruption_says_that_it_can_go_on(undercover, people, roles, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "compare", interrupted)
    done = undercover("compare", people, *roles, "--out", tmp_path / "out", *NARROW)
    assert done.code == 130
    assert "goes on from there" in done.err
