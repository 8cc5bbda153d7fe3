"""``undercover`` itself: help, version, unknown commands; and ``inspect``, from whose spec a release can be made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from undercover.version import VERSION

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]


def test_version_and_help(undercover: Command) -> None:
    assert undercover("--version").out.strip() == VERSION
    done = undercover("--help")
    assert done.code == 0
    for name in ("demo", "inspect", "publish", "verify", "attack", "measure"):
        assert name in done.out
        assert undercover(name, "--help").code == 0


def test_unknown_commands_and_lacking_arguments_are_bad_usage(undercover: Command) -> None:
    assert undercover("publsh").code == 2
    assert undercover("publish").code == 2
    assert undercover("demo", "--rows", "many").code == 2
    assert undercover("demo", "--rows", "10").code == 2


def test_inspect_says_what_it_sees(undercover: Command, people: Path) -> None:
    done = undercover("inspect", people)
    assert done.code == 0
    assert "240 rows, 5 columns" in done.out
    assert "Risk if published as it is" in done.out
    content = json.loads(undercover("inspect", people, "--json").out)
    assert {column["name"]: column["role"] for column in content["columns"]}["name"] == "identifier"
    assert content["rows"] == 240


def test_from_inspect_to_a_release(undercover: Command, people: Path, tmp_path: Path) -> None:
    spec = tmp_path / "people.toml"
    done = undercover("inspect", people, "--write-spec", spec)
    assert done.code == 0
    assert f"--spec {spec}" in done.out
    refused = undercover("inspect", people, "--write-spec", spec)
    assert refused.code == 2
    assert undercover("inspect", people, "--write-spec", spec, "--force").code == 0
    done = undercover("publish", people, "--spec", spec, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["rows"] == 240
    public = (tmp_path / "out" / "public" / "table.csv").read_text()
    assert "Person-" not in public
    assert undercover("verify", tmp_path / "out" / "public").code == 0
    assert undercover("verify", tmp_path / "out" / "public", "--original", people, "--spec", spec).code == 0
    assert undercover("measure", tmp_path / "out", "--original", people, "--spec", spec, "--json").code == 0


def test_inspect_asks_and_writes_a_page(undercover: Command, people: Path, tmp_path: Path) -> None:
    page = tmp_path / "people.html"
    done = undercover("inspect", people, "--qi", "age,sex", "--html", page)
    assert "publish, drop, or may somebody know it?" in done.out
    assert "To decide" in page.read_text(encoding="utf-8")
    assert undercover("inspect", people, "--html", page).code == 2
    more = ("--unit", "name", "--drop", "*", "--insensitive", "zip")
    assert undercover("inspect", people, "--qi", "age,sex", *more, "--html", page, "--force").code == 0
    assert "every column was decided on" in page.read_text(encoding="utf-8")
    assert undercover("inspect", people, "--html", tmp_path / "nowhere" / "page.html").code == 2


def test_options_win_over_the_spec(undercover: Command, people: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        '[roles]\nidentifiers = ["name"]\nquasi_identifiers = ["age", "sex"]\nsensitive = "disease"\n'
        '[method]\nname = "mondrian"\nk = 6\n[[require]]\nname = "k-anonymity"\nk = 5\n'
    )
    done = undercover("publish", people, "--spec", spec, "--set", "k=9", "--out", tmp_path / "a", "--json")
    content = json.loads(done.out)
    assert content["method"]["parameters"]["k"] == 9
    assert [entry["required"] for entry in content["guarantees"]] == [9, 5]
    done = undercover("publish", people, "--spec", spec, "--set", "k=1", "--out", tmp_path / "b")
    assert (done.code, "k-anonymity asks for 5, the release reaches" in done.err) == (3, True)
    method = ["--method", "anatomy", "--set", "l=3"]
    done = undercover("publish", people, "--spec", spec, *method, "--out", tmp_path / "c", "--json")
    assert (done.code, "k-anonymity" in done.err) == (3, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[roles", "is not TOML"),
        ("[rolls]\nquasi_identifiers = ['age']\n", "Did you mean `roles`?"),
        ("[roles]\nquasi_identifiers = ['agee']\n[method]\nname = 'mondrian'\nk = 3\n", "Did you mean `age`?"),
        ("[roles]\nquasi_identifiers = ['age']\n[method]\nname = 'mondrian'\nkk = 3\n", "Did you mean `k`?"),
        ("[roles]\nquasi_identifiers = ['age']\n", "Name a method"),
        ("", "At least one quasi-identifier is needed"),
    ],
)
def test_specs_that_are_wrong(undercover: Command, people: Path, tmp_path: Path, text: str, message: str) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(text)
    done = undercover("publish", people, "--spec", spec, "--out", tmp_path / "out")
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "out").exists()
