"""The page ``docs/licences.md``, from what installed packages say of themselves; ``make licences`` writes it."""

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "licences.md"
LOCKS = ROOT / "locks"
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;]+)(?: ; ([^\\]+))?", re.MULTILINE)
CLASSIFIED = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
}
"""What classifiers say in words, as SPDX writes it; of BSD they do not say how many clauses."""

ELSEWHERE = {"colorama": "BSD-3-Clause"}
"""Packages that are installed on other systems alone."""

ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "LLVM-exception", "MIT"),
    *("MIT-0", "PSF-2.0", "Zlib"),
}
"""Licences that ask for no more than to be named: undercover can be used, changed and sold beside all of them."""

SHIPPED = (
    ("htmx.org", "0BSD", "web pages"),
    ("htmx-ext-sse", "0BSD", "web pages"),
)
"""What lies in the package itself, with its licence beside it."""


def pinned(lock: str) -> dict[str, list[str]]:
    """The versions of a lock file, by name."""
    found: dict[str, list[str]] = {}
    for name, version, _ in PIN.findall((LOCKS / lock).read_text("utf-8")):
        found.setdefault(name, []).append(version)
    return found


def licence(name: str) -> str:
    """As SPDX writes it."""
    try:
        said = metadata(name)
    except PackageNotFoundError:
        return ELSEWHERE[name]
    if said["License-Expression"]:
        return said["License-Expression"]
    words = [one.split(" :: ")[-1] for one in said.get_all("Classifier") or () if one.startswith("License :: OSI")]
    known = [CLASSIFIED[word] for word in words if word in CLASSIFIED]
    return known[0] if known else said["License"]


def page() -> str:
    """The page as it must be."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Licences"
    yield ""
    yield "undercover is under the Apache License 2.0. What it is installed with, all optional parts but Spark, is"
    yield "listed here as the packages say it themselves; `make licences` writes this page, and a test holds it to what"
    yield "is locked in `locks/undercover.txt`. None of these licences asks for more than to be named."
    yield ""
    yield "| package | licence |"
    yield "|---|---|"
    for name in pinned("undercover.txt"):
        yield f"| {name} | {licence(name)} |"
    yield ""
    yield "Inside the package, each with its licence beside it:"
    yield ""
    yield "| what | licence | for |"
    yield "|---|---|---|"
    for name, said, use in SHIPPED:
        yield f"| {name} | {said} | {use} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
