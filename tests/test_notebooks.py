"""The notebooks in ``examples/notebooks/`` run, and what is stored in them is what they show."""

from __future__ import annotations

import ast
import copy
import getpass
import importlib.util
import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from undercover import plugins

FOLDER = Path(__file__).parent.parent / "examples" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
MOST_BYTES = 300_000


def script() -> ModuleType:
    """``execute.py``, which is no module of a package."""
    spec = importlib.util.spec_from_file_location("execute_notebooks", FOLDER / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell: Any) -> list[tuple[str, str]]:
    """What a cell says in plain text: what it printed, and the text of what it shows."""
    said = []
    for output in cell.outputs:
        if output.output_type == "stream":
            said.append((output.name, output.text))
        elif output.output_type == "error":
            said.append(("error", f"{output.ename}: {output.evalue}"))
        else:
            said.append(("shown", output.data["text/plain"]))
    return said


def differences(one: Any, other: Any) -> list[str]:
    """Where two notebooks do not say the same."""
    first, second = code_cells(one), code_cells(other)
    if len(first) != len(second):
        return [f"{len(first)} code cells against {len(second)}"]
    return [
        f"cell {number}: {texts(left)} against {texts(right)}"
        for number, (left, right) in enumerate(zip(first, second, strict=True), 1)
        if texts(left) != texts(right) or left.source != right.source
    ]


def test_every_method_has_a_notebook() -> None:
    assert sorted(name.replace("-", "_") for name in plugins.BUILT_IN["methods"]) == NAMES


def cells(*sources: str) -> Any:
    content = [nbformat.v4.new_code_cell(source) for source in sources]
    return nbformat.from_dict({"cells": content, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def one_after_the_other(notebooks: Sequence[Any], folders: Sequence[Path]) -> list[Any]:
    """Fresh runs by one kernel, whose start takes longest; each finds no name of the one before, and its own folder."""
    joined = cells()
    for notebook, folder in zip(notebooks, folders, strict=True):
        joined.cells += [*cells(f"%reset -f\n%cd -q {folder}").cells, *notebook.cells]
    ran = iter(script().executed(joined).cells)
    made = [[next(ran) for _ in range(1 + len(notebook.cells))][1:] for notebook in notebooks]
    return [nbformat.from_dict({**joined, "cells": content}) for content in made]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folders = [tmp_path_factory.mktemp(name) for name in NAMES]
    return dict(zip(NAMES, one_after_the_other([stored(name) for name in NAMES], folders), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_fresh_run_shows_what_is_stored(name: str, fresh: dict[str, Any]) -> None:
    assert differences(stored(name), fresh[name]) == [], "run `make notebooks` and look at what changed"


def test_a_notebook_finds_nothing_of_the_one_before(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    first = cells("left = 1", "open('behind.txt', 'w').close()")
    second = cells("print('left' in globals())\nimport os\nprint(os.listdir())")
    _, ran = one_after_the_other([first, second], [tmp_path / "a", tmp_path / "b"])
    assert texts(ran.cells[0]) == [("stdout", "False\n[]\n")]


@pytest.mark.parametrize("name", NAMES)
def test_stored_as_executed_in_one_go(name: str) -> None:
    notebook = stored(name)
    assert script().normalized(notebook, outputs=True) == notebook
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell.outputs for cell in cells)
    assert {kind for cell in cells for kind, _ in texts(cell)} <= {"stdout", "shown"}
    assert 8 <= len(notebook.cells) <= 14
    assert (FOLDER / f"{name}.ipynb").stat().st_size < MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_tells_the_whole_story(name: str) -> None:
    notebook = stored(name)
    source = "\n".join(cell.source for cell in code_cells(notebook))
    for verb in ("uc.publish(", "uc.verify(", "uc.measure(", "uc.Schema(|uc.datasets.census_schema("):
        assert any(part in source for part in verb.split("|")), verb
    assert "uc.attack(" in source or "uc.joint_risk(" in source
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "not for publication" in prose
    assert "## Limits, and when to choose another method" in prose
    for link in re.findall(r"\]\(([^)]+)\)", prose):
        assert (FOLDER / link).is_file(), link
    shown = "\n".join(_html(notebook))
    assert "<svg" in shown
    assert "border-left:4px solid" in shown


@pytest.mark.parametrize("name", NAMES)
def test_every_release_is_drawn_with_a_seed(name: str) -> None:
    calls = [
        node
        for cell in code_cells(stored(name))
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "publish"
    ]
    assert calls
    assert all("seed" in {keyword.arg for keyword in call.keywords} for call in calls)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_tell_nothing_of_machine_seed_or_time(name: str) -> None:
    assert leaks(stored(name)) == []


def leaks(notebook: Any) -> list[str]:
    """Paths, users, seeds and times among the outputs; runs, whose cards have the last two, are not shown."""
    said = [text for cell in code_cells(notebook) for _, text in texts(cell)] + _html(notebook)
    patterns = [
        rf"(?<![\w<])/(?:home|root|tmp|work|usr|var|Users)\b|[A-Z]:\\\\|{re.escape(str(Path.home()))}/",
        r"\bseeds?\b|reproducible",
        r"<Run of|>time</td>|\d (?:ms|s)</td>",
        rf"\b{re.escape(getpass.getuser())}\b(?=[/@])|{re.escape(os.uname().nodename)}",
    ]
    return [found for text in said for pattern in patterns for found in re.findall(pattern, text)]


def _html(notebook: Any) -> list[str]:
    shown = [output for cell in code_cells(notebook) for output in cell.outputs if "data" in output]
    return [output.data["text/html"] for output in shown if "text/html" in output.data]


def test_a_planted_fault_is_caught() -> None:
    notebook = stored("mondrian")
    assert differences(notebook, copy.deepcopy(notebook)) == []
    for planted in (_changed_figure, _changed_print, _dropped_output, _dropped_cell, _changed_source):
        faulty = copy.deepcopy(notebook)
        planted(faulty)
        assert len(differences(notebook, faulty)) == 1, planted.__name__


def _changed_figure(notebook: Any) -> None:
    data = next(output.data for cell in code_cells(notebook) for output in cell.outputs if "data" in output)
    data["text/plain"] = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), data["text/plain"], count=1)


def _changed_print(notebook: Any) -> None:
    streams = [out for cell in code_cells(notebook) for out in cell.outputs if out.output_type == "stream"]
    streams[-1].text = streams[-1].text.replace("0.", "1.", 1)


def _dropped_output(notebook: Any) -> None:
    code_cells(notebook)[-1].outputs.pop()


def _dropped_cell(notebook: Any) -> None:
    notebook.cells.remove(code_cells(notebook)[-1])


def _changed_source(notebook: Any) -> None:
    code_cells(notebook)[0].source += " "


@pytest.mark.parametrize(
    "text",
    ["/home/somebody/table.csv", str(Path.home() / "x"), "seed = 7", "<Run of mondrian", "<td>12.3 s</td>"],
)
def test_a_planted_leak_is_caught(text: str) -> None:
    notebook = stored("mondrian")
    code_cells(notebook)[0].outputs[0].data["text/html"] = text
    assert leaks(notebook) != []


def test_kernels_listen_on_this_machine_only_and_end() -> None:
    code = (
        "import os\nfrom ipykernel.kernelapp import IPKernelApp\n"
        "print(os.getpid(), IPKernelApp.instance().ip, IPKernelApp.instance().transport)"
    )
    process, address, transport = texts(code_cells(script().executed(cells(code)))[0])[0][1].split()
    assert (address, transport) == ("127.0.0.1", "tcp")
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


def test_the_environment_is_as_before() -> None:
    before = dict(os.environ)
    with script().settings("elsewhere"):
        assert os.environ["IPYTHONDIR"] == "elsewhere"
    assert dict(os.environ) == before


def test_an_error_in_a_cell_is_no_quiet_output() -> None:
    from nbclient.exceptions import CellExecutionError

    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        script().executed(cells("1 / 0"))
