"""What `import undercover` must not load: it would cost every user of the command line a second."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import undercover as uc

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


def test_next_to_nothing_is_loaded_before_a_name_is_used() -> None:
    code = "import undercover, sys; print(*(name for name in sys.modules if name.startswith('undercover')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert set(done.stdout.split()) == {"undercover", "undercover.version"}
    assert "numpy" not in loaded_by("import undercover; dir(undercover); undercover.__all__")


WATCHED = """
import sys

def watch(event, given):
    if event.split(".")[0] in ("socket", "subprocess", "urllib") or event in ("os.system", "os.exec", "os.posix_spawn",
            "os.fork", "os.forkpty", "http.client.connect", "ssl.wrap_socket"):
        raise SystemExit(f"{event} while importing")

sys.addaudithook(watch)
"""


@pytest.mark.parametrize("named", ["undercover.cli.publish, undercover.cli.verify, undercover.pages.render"])
def test_importing_asks_no_network_and_starts_no_program(named: str) -> None:
    """All that is loaded to publish and to verify, with a hook that the interpreter itself calls."""
    assert "numpy" in loaded_by(f"{WATCHED}\nimport {named}")
    for reaching in ("import socket; socket.socket()", "import subprocess; subprocess.run(['true'])"):
        with pytest.raises(subprocess.CalledProcessError):
            loaded_by(f"{WATCHED}\n{reaching}")


def test_what_type_checkers_see_is_what_there_is() -> None:
    lines = ast.parse(Path(str(uc.__file__)).with_suffix(".pyi").read_text("utf-8")).body
    seen = {name.asname: line.module for line in lines if isinstance(line, ast.ImportFrom) for name in line.names}
    extra = {"PerturbedClassifier", "fit_release"}
    assert {*seen, "__version__"} - extra == set(uc.__all__) == set(dir(uc))
    assert all(getattr(uc, str(name)) is getattr(import_module(str(home)), str(name)) for name, home in seen.items())


def test_the_check_notices_what_is_loaded() -> None:
    assert "numba" in loaded_by("import undercover.steps.cutting.splits")


def test_tests_install_what_the_extra_asks_for_and_no_undercover_of_somebody_else() -> None:
    content = tomllib.loads((Path(uc.__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    groups = content["dependency-groups"]
    assert groups["spark"] == content["project"]["optional-dependencies"]["spark"]
    assert not [wanted for group in groups.values() for wanted in group if str(wanted).startswith("undercover")]
