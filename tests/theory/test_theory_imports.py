"""The theory room stands on the standard library, the errors and the orders of a multiset alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import undercover.methods.streamliner.theory

ROOM = Path(undercover.methods.streamliner.theory.__file__).parent


def foreign_imports(source: str) -> set[str]:
    """Modules that are neither the standard library, the errors nor the room itself."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or ".")
    return {
        name
        for name in names
        if name.split(".")[0] not in sys.stdlib_module_names
        and name not in ("undercover.errors", "undercover.multisets")
        and not name.startswith("undercover.methods.streamliner.theory")
    }


def test_nothing_foreign_is_imported() -> None:
    files = sorted(ROOM.glob("*.py"))
    assert len(files) >= 5
    assert {file.name: foreign_imports(file.read_text()) for file in files} == {file.name: set() for file in files}


def test_the_check_notices_a_foreign_import() -> None:
    assert foreign_imports("import itertools\nimport numpy as np\nfrom undercover.model import table") == {
        "numpy",
        "undercover.model",
    }
