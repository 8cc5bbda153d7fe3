"""What `import undercover` must not load: it would cost every user of the command line a second."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "pandas", "polars", "altair", "duckdb", "vl_convert", "scipy", "sklearn")


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import undercover",
        "import undercover.model.table, undercover.model.run, undercover.model.protocols",
        "import undercover.steps.cutting.partition",
        "import undercover; undercover.Mondrian(k=5); undercover.Schema(quasi_identifiers=['age'])",
        "import undercover.cli.main",
    ],
)
def test_nothing_heavy_is_loaded(statement: str) -> None:
    assert not loaded_by(statement) & set(HEAVY)


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["hierarchy", "--help"], ["publsh"]])
def test_the_command_line_answers_without_loading_a_command(words: list[str]) -> None:
    asked = (
        f"import sys; sys.argv[1:] = {words}\nfrom undercover.cli.main import main\ntry: main()\nexcept SystemExit: 0"
    )
    assert not loaded_by(asked) & {*HEAVY, "numpy", "pyarrow", "rich"}


def test_pyarrow_is_not_needed_to_look_around() -> None:
    assert "pyarrow" not in loaded_by("import undercover; dir(undercover); undercover.__version__")


def test_the_check_notices_what_is_loaded() -> None:
    assert "numba" in loaded_by("import undercover.steps.cutting.splits")
