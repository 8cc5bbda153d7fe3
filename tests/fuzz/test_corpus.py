"""Files that once were no typed error, or were read as something else: each is refused in words, or read, ever since.

A file ``corpus/TARGET/NAME`` goes through the door of that name; ``corpus/index.toml`` says of each what it was.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from targets import TARGETS, typed, work

CORPUS = Path(__file__).parent / "corpus"
SAID = tomllib.loads((CORPUS / "index.toml").read_text(encoding="utf-8"))
FILES = sorted(str(path.relative_to(CORPUS)) for path in CORPUS.glob("*/*"))


def test_every_file_is_explained() -> None:
    assert sorted(f"{target}/{name}" for target, names in SAID.items() for name in names) == FILES


@pytest.mark.parametrize("file", FILES)
def test_it_is_read_or_refused(file: str) -> None:
    target, name = file.split("/")
    refused = typed(TARGETS[target], work(), (CORPUS / file).read_bytes())
    assert (refused is not None) == SAID[target][name].startswith("refused:"), refused
