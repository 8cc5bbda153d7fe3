"""The command line run in this process: what it prints and the code it leaves with."""

import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from undercover.cli.main import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Command = Callable[..., Result]


@pytest.fixture
def undercover(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Call it like the command: ``undercover("verify", folder, "--json")``."""
    handler = signal.getsignal(signal.SIGTERM)

    def run(*arguments: Any) -> Result:
        monkeypatch.setattr(sys, "argv", ["undercover", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Result(left.value.code, printed.out, printed.err)

    yield run
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def roles() -> list[str]:
    """The options that say what the columns of ``people`` are."""
    return ["--qi", "age,sex,zip", "--sensitive", "disease", "--identifiers", "name"]


@pytest.fixture
def release(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> Path:
    """A release of ``people`` by Mondrian with k = 5."""
    folder = tmp_path / "release"
    done = undercover("publish", people, *roles, "--method", "mondrian", "--set", "k=5", "--out", folder)
    assert done.code == 0, done.err
    return folder
