"""How much memory may be used: on the command line, in a spec, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("said", "asked", "code", "err"),
    [
        ('memory = "1kB"', (), 2, "1 kB may be used. Allow more (--memory …)"),
        ('memory = "1kB"', ("--memory", "lots"), 2, "must be a size such as '8GB' or '500MB'. Got 'lots' instead"),
        ("", ("--memory", "2 kB"), 2, "2 kB may be used"),
        ('memory = "1kB"', ("--memory", "1GB"), 0, ""),
    ],
)
def test_memory(
    undercover: Command, people: Path, tmp_path: Path, said: str, asked: tuple[str, ...], code: int, err: str
) -> None:
    spec = f'[data]\n{said}\n[roles]\nquasi_identifiers = ["age", "sex"]\nsensitive = "disease"\n'
    (tmp_path / "s.toml").write_text(spec)
    how = ("--spec", tmp_path / "s.toml", "--method", "mondrian", "--set", "k=5", "--policy", "none")
    done = undercover("publish", people, *how, "--out", tmp_path / "out", *asked)
    assert (done.code, err in done.err) == (code, True), done.err
