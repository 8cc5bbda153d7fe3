"""With ``--json`` an error once was a sentence on stderr, and stdout empty: scripts had nothing to read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main

from undercover.cli import main as program
from undercover.cli.main import COMMANDS, app, main
from undercover.verbs import publish as publishing

Ran = tuple[int, str, str]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Ran]:
    def run(*arguments: Any) -> Ran:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["undercover", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return int(left.value.code or 0), printed.out, printed.err

    return run


def error_of(out: str) -> dict[str, Any]:
    """The only thing on stdout."""
    content: dict[str, Any] = json.loads(out)
    assert list(content) == ["error"]
    assert {"kind", "exit_code", "message", "problems"} <= content["error"].keys()
    return content["error"]  # type: ignore[no-any-return]


def with_json() -> list[list[str]]:
    """Every command, also those in groups, that has the option."""
    found = []
    program_ = typer.main.get_command(app)
    for name, one in program_.commands.items():  # type: ignore[attr-defined]
        inner = {(name, sub): each for sub, each in getattr(one, "commands", {}).items()} or {(name,): one}
        for words, each in inner.items():
            options = [text for option in getattr(each, "loaded", each).params for text in option.opts]
            found += [list(words)] if "--json" in options else []
    return found


def test_there_are_commands_with_json() -> None:
    known = {words[0] for words in with_json()}
    assert {"publish", "verify", "inspect", "attack", "measure", "hierarchy", "ledger"} <= known
    assert known <= {*COMMANDS, "hierarchy", "ledger"}


@pytest.mark.parametrize("words", with_json(), ids=" ".join)
def test_a_wrong_option_of_every_command(words: list[str], command: Callable[..., Ran]) -> None:
    code, out, err = command(*words, "--no-such-option", "--json")
    error = error_of(out)
    assert (code, error["exit_code"], error["kind"]) == (2, 2, "usage")
    assert "no-such-option" in error["message"]
    assert "no-such-option" in err


@pytest.mark.parametrize("words", [w for w in with_json() if w[0] in ("publish", "verify", "inspect", "recommend")])
def test_a_file_that_is_not_there(words: list[str], command: Callable[..., Ran]) -> None:
    out_option = ["--out", "out"] if words[0] == "publish" else []
    code, out, err = command(*words, "nothing.csv", *out_option, "--json")
    error = error_of(out)
    assert (code, error["kind"], error["exit_code"]) == (2, "data", 2)
    assert error["problems"] == [error["message"]]
    assert error["message"].startswith("There is no file `nothing.csv`.")
    assert "error: There is no file" in err


def test_all_problems_are_listed(command: Callable[..., Ran], people: Path) -> None:
    _, out, _ = command(
        "publish", people, "--qi", "aeg,sxe", "--method", "mondrian", "--set", "k=5", "--out", "o", "--json"
    )
    assert len(error_of(out)["problems"]) == 2


def test_what_cannot_be_reached(command: Callable[..., Ran], people: Path) -> None:
    options = ["--qi", "age", "--sensitive", "disease", "--method", "anatomy", "--set", "l=99", "--out", "o", "--json"]
    code, out, _ = command("publish", people, *options)
    error = error_of(out)
    assert (code, error["kind"], error["exit_code"]) == (3, "unreachable", 3)
    assert error["best"]["l"] == 8


def test_a_bug(command: Callable[..., Ran], people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("inside")

    monkeypatch.setattr(publishing, "encoded", broken)
    options = ["--qi", "age", "--method", "mondrian", "--set", "k=5", "--out", "o", "--json"]
    code, out, _ = command("publish", people, *options)
    assert (code, error_of(out)["kind"]) == (1, "internal")


def test_what_was_printed_stays_the_only_object(command: Callable[..., Ran], people: Path) -> None:
    """A table that does not hold is a result with exit code 4, not an error beside it."""
    code, out, _ = command("verify", people, "--qi", "age,sex,zip", "--require", "k=5", "--json")
    assert code == 4
    assert "error" not in json.loads(out)


def test_without_the_option_nothing_changes(command: Callable[..., Ran]) -> None:
    code, out, err = command("inspect", "nothing.csv")
    assert (code, out) == (2, "")
    assert "error: There is no file" in err
    assert program.TOLD.json is False
