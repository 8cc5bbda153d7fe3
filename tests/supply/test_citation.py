"""What others quote is what this is."""

import re

import undercover
from supply.licences import ROOT


def test_the_version_to_cite_is_the_version_there_is() -> None:
    said = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.*)$", said, re.MULTILINE)[1] == undercover.__version__  # type: ignore[index]
    assert re.search(r"^license: (.*)$", said, re.MULTILINE)[1] == "Apache-2.0"  # type: ignore[index]
