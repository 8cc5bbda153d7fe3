"""Execute the example notebooks in place and store what they show: ``make notebooks``.

Each runs in a kernel of its own, on 127.0.0.1, in a temporary folder, without the user's IPython settings. What differs
from machine to machine or from run to run (kernel names, versions, times) is not stored.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
TIMEOUT = 600  # seconds a cell may take, for a machine that has compiled nothing yet


def executed(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The same notebook with fresh outputs."""
    fresh = normalized(notebook)
    with tempfile.TemporaryDirectory() as folder, settings(folder):
        client = NotebookClient(
            fresh,
            timeout=TIMEOUT,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            record_timing=False,
            coalesce_streams=True,
            extra_arguments=["--log-level=40"],  # that 127.0.0.1 is not encrypted need not be said each time
        )
        client.execute()
    return normalized(fresh, outputs=True)


@contextmanager
def settings(folder: str) -> Iterator[None]:
    """Keep IPython, in this process and in kernels, away from the user's home."""
    before = dict(os.environ)
    os.environ.update(IPYTHONDIR=folder, PYDEVD_DISABLE_FILE_VALIDATION="1")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def normalized(notebook: nbformat.NotebookNode, *, outputs: bool = False) -> nbformat.NotebookNode:
    """A copy without what depends on the machine; without outputs unless they are asked for."""
    cells = []
    for number, cell in enumerate(notebook.cells, 1):
        kept = nbformat.from_dict({**cell, "id": f"cell-{number:02}", "metadata": {}})
        if cell.cell_type == "code" and not outputs:
            kept.update(outputs=[], execution_count=None)
        cells.append(kept)
    return nbformat.from_dict({"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5})


def main(names: list[str]) -> None:
    """Execute the notebooks of these names, or all."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not names or path.stem in names:
            print(path.name)
            nbformat.write(executed(nbformat.read(path, as_version=4)), path)


if __name__ == "__main__":
    main(sys.argv[1:])
