"""The files of ``docs/extending.md`` make a package, each below a hundred lines, whose plug-ins pass their checks."""

from __future__ import annotations

import runpy
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from test_docs_commands import File, steps
from undercover import plugins

PAGE = Path(__file__).parent.parent / "docs" / "extending.md"
FILES = {step.name: step.text for step in steps(PAGE.read_text("utf-8")) if isinstance(step, File)}
MOST_LINES = 99


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """The package as an installer would leave it: its folder, and beside it who offers what."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "shuffled" / "__init__.py").touch()
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    beside = tmp_path / f"{project['name']}-{project['version']}.dist-info"
    beside.mkdir()
    said = {"Metadata-Version": "2.1", "Name": project["name"], "Version": project["version"]}
    (beside / "METADATA").write_text("".join(f"{key}: {value}\n" for key, value in said.items()))
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in all_.items()) for group, all_ in groups]
    (beside / "entry_points.txt").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(tmp_path))
        plugins._installed.cache_clear()
        yield tmp_path
    plugins._installed.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "shuffled"]:
        del sys.modules[name]


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".py")])
def test_each_is_below_a_hundred_lines(name: str) -> None:
    assert 10 < len(FILES[name].splitlines()) <= MOST_LINES


def test_what_the_page_makes_passes_its_checks(package: Path) -> None:
    assert plugins.origin("methods", "shuffle") == "shuffled 0.1.0"
    runpy.run_path(str(package / "check.py"))


def test_a_form_that_says_something_false_does_not(package: Path) -> None:
    form = package / "shuffled" / "form.py"
    form.write_text(
        FILES["shuffled/form.py"].replace(
            "class ShuffledReading(DrawnReading):\n", "class ShuffledReading(DrawnReading):\n    covers = True\n"
        )
    )
    with pytest.raises(AssertionError):
        runpy.run_path(str(package / "check.py"))
